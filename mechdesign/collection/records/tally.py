"""Tally a file: the counts of the reports in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, overload

from mechdesign.collection.records.file_kinds import check_has_text_cells, open_records
from mechdesign.collection.records.record_files import (
    ColumnName,
    Progress,
    check_columns,
    checked,
    chunk_size,
    named_columns,
    names_of,
)
from mechdesign.collection.tables.draws import NOTE, Drawer
from mechdesign.collection.tables.jobs import tally_of
from mechdesign.collection.tables.provenance import (
    check_stamps,
    check_stated,
    says_simulation,
    stamp_of,
)
from mechdesign.errors import InputError
from mechdesign.reports import Tally
from mechdesign.sampling import SIMULATION
from mechdesign.writing.spreadsheets import spreadsheet_restored, spreadsheet_safe as safe_text

__all__ = ["tally_file"]

AnyPath = str | os.PathLike[str]


@overload
def tally_file(
    mechanism: Drawer | AnyPath,
    source: AnyPath,
    column: ColumnName,
    *,
    separator: str | None = ...,
    spreadsheet_safe: bool = ...,
    one_each: bool = ...,
    check: bool = ...,
    form: str = ...,
    chunk: int | None = ...,
    progress: Progress | None = ...,
) -> Tally: ...


@overload
def tally_file(
    mechanism: Mapping[Any, Drawer | AnyPath],
    source: AnyPath,
    column: None = None,
    *,
    separator: str | None = ...,
    spreadsheet_safe: bool = ...,
    one_each: bool = ...,
    check: bool = ...,
    form: str = ...,
    chunk: int | None = ...,
    progress: Progress | None = ...,
) -> dict[ColumnName, Tally]: ...


def tally_file(
    mechanism: Drawer | AnyPath | Mapping[Any, Drawer | AnyPath],
    source: AnyPath,
    column: ColumnName | None = None,
    *,
    separator: str | None = None,
    spreadsheet_safe: bool = False,
    one_each: bool = False,
    check: bool = True,
    form: str = "csv",
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Tally | dict[ColumnName, Tally]:
    r"""Count the reports in a column of a file, or in several columns in one pass.

    A cell that is no report of the mechanism is refused: leaving it out would bias the estimate.
    The tally says that it is of a simulation if any row says so in its column ``note``, or the
    file does.

    Parameters
    ----------
    mechanism
        What the reports were drawn by, or the name of its file; or a dict of these by column, in
        place of the next but one.
    source
        A file, a folder or a pattern of files, or ``-``, as for :func:`privatize_file`.
    column
        The column of the reports, by name; a pair of names for pairs of numbers in two columns.
    separator
        What stands between the cells of a CSV file; default a comma.
    spreadsheet_safe
        Whether the file was written with this option of :func:`privatize_file`.
    one_each
        Whether each person was asked for one column only, so that cells may hold nothing.
    check
        Whether reports are refused that state another channel: in the metadata of a Parquet or an
        Arrow file, or in a column of :func:`privatize_file` with ``stamp=True``. A tally states the
        channel that it was counted by.
    form
        What ``-`` holds, as for :func:`privatize_file`.
    chunk
        Rows that are held at once; default 32,768, fewer where a report is long.
    progress
        Called after each chunk with the rows so far and the share of the file that was read.

    Returns
    -------
    Tally or dict
        The tally of the column; for a dict of mechanisms, one for each column by name.

    Raises
    ------
    InputError
        If the file or a row cannot be read, or holds no report; see :func:`privatize_file`.

    Examples
    --------
    >>> import tempfile
    >>> from mechdesign.channel import Channel
    >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["head", "tail"])
    >>> file = Path(tempfile.mkdtemp()) / "reports.csv"
    >>> _ = file.write_text("coin\nhead\nhead\ntail\n")
    >>> tally_file(coin, file, "coin").counts
    array([2, 1])
    >>> tally_file({"coin": coin}, file)["coin"].total
    3
    """
    mechanisms = {name: checked(each) for name, each in named_columns(mechanism, column).items()}
    size = chunk_size(mechanisms.values(), chunk)
    source, rows, totals = Path(source), 0, dict[ColumnName, Tally]()
    in_file = {name: name for name in mechanisms}  # what each column is called there
    stamps = {name: stamp_of(names_of(name)) for name in mechanisms} if check else {}
    if spreadsheet_safe:
        check_has_text_cells(source, form)
        in_file = {name: _safe(name) for name in mechanisms}
        stamps = {name: safe_text(stamp) for name, stamp in stamps.items()}
    read = [part for name in in_file.values() for part in names_of(name)]
    with open_records(source, separator, form) as reader:
        check_columns(reader, read, source)
        beside = [NOTE, *stamps.values()]
        beside = [name for name in beside if name not in read and reader.names.count(name) == 1]
        for part in reader.chunks([*read, *beside], size):
            simulated = says_simulation(reader.metadata) or (
                NOTE in beside and SIMULATION in part.cells(source, NOTE).texts
            )
            for name, each in mechanisms.items():
                if check:
                    key, _ = part.names(source, in_file[name])
                    check_stated(reader.metadata, names_of(name), each.digest, key)
                    if stamps[name] in beside:
                        check_stamps(part.cells(source, stamps[name]), each.digest)
                cells = part.cells(source, in_file[name])
                if spreadsheet_safe:
                    cells.restore(spreadsheet_restored)
                found = tally_of(each, cells, one_each, simulated)
                totals[name] = found + totals.get(name, 0)
            rows += part.table.num_rows
            if progress is not None:
                progress(rows, reader.share())
    if not rows:
        raise InputError(str(source), "at least one report", "none")
    return totals if column is None else totals[column]


def _safe(name: ColumnName) -> ColumnName:
    """Return how columns are called in a file that was made safe for spreadsheets."""
    return safe_text(name) if isinstance(name, str) else (safe_text(name[0]), safe_text(name[1]))
