"""Counts of the reports in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mechdesign.collection.records.record_files import (
    AnyPath,
    ColumnName,
    Progress,
    Records,
    check_has_text_cells,
    checked_mechanisms,
    chunk_size,
)
from mechdesign.collection.records.sources import STANDARD
from mechdesign.collection.tables.cells import Batch, Cells, Column
from mechdesign.collection.tables.jobs import Drawer, TallyJob, names_of
from mechdesign.collection.tables.provenance import CHANNELS, stamp_of
from mechdesign.errors import InputError
from mechdesign.reports import Tally
from mechdesign.writing.spreadsheets import spreadsheet_restored, spreadsheet_safe as safe_text


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
) -> Any:
    r"""Count the reports in a column of a file, or in several columns in one pass.

    A cell that is not a report of the mechanism raises: omitting it would bias the estimate. The
    tally is marked as a simulation if the metadata of the file, or any cell of the column ``note``,
    marks one.

    Parameters
    ----------
    mechanism
        The mechanism of the reports, or the name of its file; or a dict of these by column, instead
        of ``column``.
    source
        A file, a folder or a pattern of files, or ``-``, as for :func:`privatize_file`.
    column
        The name of the column of reports; a pair of names for pairs of numbers in two columns.
    separator
        The separator of a CSV file; default a comma.
    spreadsheet_safe
        Whether the file was written with this option of :func:`privatize_file`.
    one_each
        Whether each person was asked for one column only, so that cells may be empty.
    check
        Whether to reject reports that state another channel: in the metadata of a Parquet or Arrow
        file, or in a column of :func:`privatize_file` with ``stamp=True``. The tally states the
        channel used for counting.
    form
        The format of ``-``, as for :func:`privatize_file`.
    chunk
        Number of rows per chunk; default 32,768, fewer for long reports.
    progress
        Called after each chunk with the number of rows so far and the share of the file read.

    Returns
    -------
    Tally or dict
        The tally of the column; for a dict of mechanisms, a dict of tallies by column.

    Raises
    ------
    InputError
        If the file or a row cannot be read, or a cell is not a report; see :func:`privatize_file`.

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
    mechanisms, _ = checked_mechanisms(mechanism, column)
    size, source = chunk_size(mechanisms, chunk), Path(source)
    job = TallyJob(mechanisms, one_each, check, in_file=True)
    if spreadsheet_safe:
        check_has_text_cells(source, form)
    totals = dict[ColumnName, Tally]()
    with Records(source, separator, form) as reader:
        names = list(reader.schema.names)
        if spreadsheet_safe:
            names = list(map(spreadsheet_restored, names))
        read = [*job.read, *job.beside(names)]
        in_file = list(map(safe_text, read)) if spreadsheet_safe else read
        for batch in reader.batches(in_file, size, progress):
            found = job.count(_restored(batch) if spreadsheet_safe else batch)
            totals = {name: tally + totals.get(name, 0) for name, tally in found.items()}
    if not reader.rows:
        raise InputError(str(source), "at least one report", "none")
    return totals if column is None else totals[column]


def states_channel(
    source: AnyPath, columns: Iterable[ColumnName], separator: str | None, form: str
) -> bool:
    """Return whether a file states the channel of its reports; standard input is not read."""
    if Path(source) == STANDARD:
        return True
    with Records(Path(source), separator, form) as records:
        metadata, names = records.schema.metadata or {}, records.schema.names
    return CHANNELS in metadata or all(stamp_of(names_of(name)) in names for name in columns)


def _restored(batch: Batch) -> Batch:
    """Return the original rows of a batch that was made safe for spreadsheets."""

    def column(name: str) -> Column:
        return Cells(batch.column(safe_text(name)), name, str).changed(spreadsheet_restored)

    return replace(batch, column=column, names=list(map(spreadsheet_restored, batch.names)))
