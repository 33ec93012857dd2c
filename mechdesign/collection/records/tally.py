"""Tally a file: the counts of the reports in it."""

from __future__ import annotations

import os
from pathlib import Path

from mechdesign.channel import Channel
from mechdesign.collection.records.file_kinds import check_has_text_cells, kind_of
from mechdesign.collection.records.policies import read_strictly
from mechdesign.collection.records.record_files import (
    NOTE,
    Progress,
    check_columns,
    chunk_size,
)
from mechdesign.errors import InputError
from mechdesign.mechanisms import Mechanism
from mechdesign.reports import Reports, Tally
from mechdesign.sampling import SIMULATION
from mechdesign.writing.spreadsheets import spreadsheet_safe as safe_text

__all__ = ["tally_file"]


def tally_file(
    mechanism: Channel | Mechanism,
    source: str | os.PathLike[str],
    column: str,
    *,
    separator: str | None = None,
    spreadsheet_safe: bool = False,
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Tally:
    r"""Count the reports in a column of a file.

    A cell that is no report of the mechanism is refused: leaving it out would bias the estimate.
    The tally says that it is of a simulation if any row says so in its column ``note``, or the
    file does.

    Parameters
    ----------
    mechanism
        What the reports were drawn by.
    source
        A file that ends in ``.csv``, ``.csv.gz`` or ``.parquet``.
    column
        The column of the reports, by name.
    separator
        What stands between the cells of a CSV file; default a comma.
    spreadsheet_safe
        Whether the file was written with this option of :func:`privatize_file`.
    chunk
        Rows that are held at once; default 65,536, fewer where a report is long.
    progress
        Called after each chunk with the rows so far and the share of the file that was read.

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
    """
    size = chunk_size(mechanism, chunk)
    source, alphabet, rows = Path(source), mechanism.alphabet, 0
    total: Tally | None = None
    if spreadsheet_safe:
        check_has_text_cells(source)
        column = safe_text(column)
    with kind_of(source).reader(source, separator) as reader:
        check_columns(reader, [column], source)
        noted = column != NOTE and reader.names.count(NOTE) == 1
        for part in reader.chunks([column, NOTE] if noted else [column], size):
            cells = part.cells(source, column)
            if spreadsheet_safe:
                cells.restore()
            data = read_strictly(alphabet.read, cells)
            simulated = reader.says_simulation or (
                noted and SIMULATION in part.cells(source, NOTE).texts
            )
            tally = mechanism.tally(Reports(data, alphabet, simulated))
            total = tally if total is None else total + tally
            rows += part.table.num_rows
            if progress is not None:
                progress(rows, reader.share())
    if total is None or total.total == 0:
        raise InputError(str(source), "at least one report", "none")
    return total
