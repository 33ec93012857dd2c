"""Privatize the records of a file, one report for each in their order; count reports in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from mechdesign.accounting.channel_leakage import rounded
from mechdesign.collection.ledger import Spending, add_draw, read_ledger, spending
from mechdesign.collection.records.base import STANDARD, safe_table, whole_output, write_tables
from mechdesign.collection.records.record_files import (
    AnyPath,
    ColumnName,
    Progress,
    Records,
    check_has_text_cells,
    checked_mechanisms,
    chunk_size,
    format_of,
    parts_of,
)
from mechdesign.collection.tables.cells import Batch, Cells, Column
from mechdesign.collection.tables.jobs import (
    CHANNELS,
    NOTE,
    Drawer,
    Policies,
    PrivatizeJob,
    RecordTags,
    TallyJob,
    check_distinct,
    names_of,
    stamp_of,
)
from mechdesign.errors import InputError, shown
from mechdesign.reports import Tally
from mechdesign.sampling import SIMULATION, Randomness
from mechdesign.writing.atomic import check_different
from mechdesign.writing.text import spreadsheet_restored, spreadsheet_safe as safe_text


@dataclass(frozen=True)
class PrivatizedFile:
    """Summary of privatizing a file of records.

    Attributes
    ----------
    source, target
        The input file and the output file.
    columns
        The privatized columns.
    channels
        The digest of the mechanism of each column.
    rows, reports
        The numbers of rows read and of reports written.
    unknown, missing
        For each column, the numbers of cells that were not labels and of empty cells, and how they
        were treated.
    kept
        The columns that were copied unchanged and are not protected.
    simulated
        Whether the reports were drawn from a seed and must not be released.
    spends
        The total leakage per person, if there are several columns.
    """

    source: str
    target: str
    columns: tuple[str, ...]
    channels: Mapping[ColumnName, str]
    rows: int
    reports: int
    unknown: Mapping[ColumnName, tuple[int, str]]
    missing: Mapping[ColumnName, tuple[int, str]]
    kept: tuple[str, ...]
    simulated: bool
    spends: Spending | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "source": self.source,
            "target": self.target,
            "column": self.columns[0] if len(self.columns) == 1 else list(self.columns),
            "channels": {_joined(name): digest for name, digest in self.channels.items()},
            "rows": self.rows,
            "reports": self.reports,
            "unknown": _as_json(self.unknown),
            "missing": _as_json(self.missing),
            "not_protected": list(self.kept),
            "simulated": self.simulated,
            **({} if self.spends is None else {"spends": self.spends.to_json()}),
        }

    def __repr__(self) -> str:
        columns = f"column{'s' * (len(self.columns) > 1)} {', '.join(map(repr, self.columns))}"
        lines = [
            f"records    {self.rows} rows of {self.source}, {columns}",
            f"reports    {self.reports} rows in {self.target}",
        ]
        for sort, cells in (("unknown", self.unknown), ("missing", self.missing)):
            for name, (count, done) in cells.items():
                of = f" of {shown(_joined(name))}" if len(cells) > 1 else ""
                if count:
                    lines.append(f"{sort:<10} {count} cell{'s' * (count > 1)}{of}: {done}")
        if self.reports < self.rows:
            lines.append("           a row that was dropped shows that it held no label")
        if self.kept:
            names = ", ".join(map(repr, self.kept))
            lines.append(f"kept       {names}: copied as they are, not protected")
        if self.spends is not None:
            nats = [f"{rounded(value)} ({name})" for name, value in self.spends.total.items()]
            how = "for one column each" if self.spends.one_each else "for all columns together"
            lines.append(f"spends     at most {', '.join(nats)} nats a person, {how}")
        if self.simulated:
            lines.append(f"note       {SIMULATION}")
        return "\n".join(lines)


def _as_json(cells: Mapping[ColumnName, tuple[int, str]]) -> dict[str, Any]:
    """Return the treatment of cells, by column if there are several."""
    found = {_joined(name): {"cells": n, "policy": done} for name, (n, done) in cells.items()}
    return found if len(found) > 1 else next(iter(found.values()))


def _joined(name: ColumnName) -> str:
    return ", ".join(names_of(name))


def privatize_file(
    mechanism: Drawer | AnyPath | Mapping[ColumnName, Drawer | AnyPath],
    source: AnyPath,
    target: AnyPath,
    column: ColumnName | None = None,
    *,
    rng: Randomness = None,
    unknown: Policies = "refuse",
    missing: Policies = "refuse",
    keep: Sequence[str] = (),
    separator: str | None = None,
    ledger: AnyPath | None = None,
    key: bytes | None = None,
    ids: str | None = None,
    one_each: bool = False,
    spreadsheet_safe: bool = False,
    form: str = "csv",
    force: bool = False,
    stamp: bool = False,
    chunk: int | None = None,
    progress: Progress | None = None,
) -> PrivatizedFile:
    r"""Write one report for each row of a file of records, in the order of the rows.

    The target contains the reports under the name of the column, and other columns only on request.
    It is written atomically: if the run fails, an existing target stays unchanged.

    Parameters
    ----------
    mechanism
        A :class:`mechdesign.Channel` or a structured mechanism on the labels of the column, or a
        :class:`mechdesign.continuous.ContinuousChannel` for one or two columns of numbers; or the
        name of its file, whose claims are checked. Or a dict of these by column, instead of
        ``column``. Draws for several columns are independent: the total leakage per person is at
        most the sum.
    source, target
        Files that end in ``.csv``, ``.tsv``, ``.ndjson`` or ``.jsonl``, optionally followed by
        ``.gz`` or ``.zst``; in ``.parquet``; or in ``.arrow``, ``.feather`` or ``.arrows`` (an
        Arrow stream). ``-`` is standard input or output. The source may be a folder of such files,
        or a pattern such as ``"part-*.parquet"``. The target must not be one of the input files.
    column
        The name of the column to privatize. A pair of names denotes pairs of numbers in two
        columns, such as the points of a grid or a box; reports that are pairs get two columns, too.
    rng
        None for the cryptographic source of the operating system. A seed or a
        ``numpy.random.Generator`` makes a simulation, marked by a column ``note`` in the file.
    unknown, missing
        The treatment of cells that are not labels of the domain, and of empty cells: ``"refuse"``
        raises, ``"drop"`` omits the row, ``"map:LABEL"`` replaces the cell by a label before the
        draw. An omitted row reveals that its cell was not a label. For numbers in an interval,
        ``unknown="clip"`` clips numbers to the interval and rejects cells that are not numbers. Or
        a dict of these by column; the default for columns not in it is ``"refuse"``.
    keep
        Columns to copy unchanged. They are not protected.
    separator
        The separator of CSV files, for input and output; default a comma.
    ledger
        A file in which the draw is recorded before the target appears; see
        :func:`~mechdesign.collection.read_ledger`. It is created if missing, and
        not available for simulations.
    key, ids
        A secret key of the collection and the column of record ids, as for
        :func:`mechdesign.privatize`: the same file yields the same reports again. To detect
        duplicate ids, 16 bytes per row are held in memory.
    one_each
        Whether each person is asked for one column only, as for :func:`mechdesign.privatize`.
    spreadsheet_safe
        Whether to prefix cells and column names of a CSV file that a spreadsheet would run with an
        apostrophe; see :func:`mechdesign.writing.text.spreadsheet_safe`.
    form
        The format of ``-``: ``"csv"``, ``"tsv"``, ``"ndjson"``, any of these with ``".gz"`` or
        ``".zst"``, or ``"arrows"``, an Arrow stream.
    force
        Whether to replace an existing target. Otherwise it raises, and an empty file claims the
        name of the target at the start, so that only one of several concurrent runs draws.
    stamp
        Whether to add a column ``NAME_channel_sha256`` for each column of reports, with the first
        16 digits of the digest of its channel: for CSV and NDJSON, and for files whose rows will be
        combined. Parquet and Arrow files always have the digests in their metadata.
    chunk
        Number of rows per chunk; default 32,768, fewer for long reports.
    progress
        Called after each chunk with the number of rows so far and the share of the file read.

    Warns
    -----
    RepeatedDrawWarning
        If the ledger has a draw for the same records.

    Raises
    ------
    CertificateError
        If a claim in the file of a mechanism does not hold.
    InputError
        If a file or a row cannot be read, or an argument is invalid. The message gives the line of
        a CSV file, with the header as line 1, or the row of a Parquet file, counted from 1.

    Examples
    --------
    >>> import tempfile
    >>> from mechdesign.channel import Channel
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "records.csv").write_text("name,ill\nAnn,yes\nBob,no\n")
    >>> warner = Channel.from_matrix(
    ...     [["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"], outputs=["yes", "no"]
    ... )
    >>> done = privatize_file(warner, folder / "records.csv", folder / "reports.csv", "ill")
    >>> done.reports, (folder / "reports.csv").read_text().splitlines()[0]
    (2, 'ill')
    """
    source, target = Path(source), Path(target)
    (written, packed), parts = format_of(target, form), parts_of(source)
    mechanisms, files = checked_mechanisms(mechanism, column)
    _check_files([*parts, *files], target, ledger)
    size = chunk_size(mechanisms, chunk)
    job = PrivatizeJob(
        mechanisms,
        unknown,
        missing,
        keep=keep,
        rng=rng,
        key=key,
        ids=ids,
        one_each=one_each,
        stamp=stamp,
        in_file=True,
    )
    if job.noted and ledger is not None:
        fault = "a simulation is not for release, so a ledger does not record it"
        raise InputError("ledger", "none for a simulation", "one", fault=fault)
    if spreadsheet_safe:
        check_has_text_cells(target, form)
    seen: list[RecordTags] = []
    with (
        Records(source, separator, form) as reader,
        whole_output(target, force) as stream,
    ):

        def reports() -> Iterator[pa.Table]:
            for batch in reader.batches(job.read, size, progress):
                made = job.draw(batch, seen, counts=ledger is not None)
                found = made.columns
                for name in job.keep:
                    kind = reader.schema.field(name).type
                    found[name] = made.kept(batch.column(name)).cast(kind)
                if job.noted:
                    found[NOTE] = found.pop(NOTE)  # the last column
                table = pa.table(found)
                yield safe_table(table) if spreadsheet_safe else table

        writer = partial(written.writer, separator=separator, packed=packed)
        reported = write_tables(stream, writer, reports(), job.metadata)
        if seen:
            check_distinct(seen, lambda row: f"{source}: record {row + 1}")
        if ledger is not None:  # before the reports appear, so that no draw is lost
            for each in job.columns:
                add_draw(ledger, each.mechanism, each.reader.counts(), ", ".join(each.read))
    return PrivatizedFile(
        source=str(source),
        target=str(target),
        columns=tuple(part for each in job.columns for part in each.read),
        channels={name: each.digest for name, each in mechanisms.items()},
        rows=reader.rows,
        reports=reported,
        unknown={each.name: each.reader.unknown.used for each in job.columns},
        missing={each.name: each.reader.missing.used for each in job.columns},
        kept=job.keep,
        simulated=job.noted,
        spends=spending(mechanisms, one_each=one_each) if len(mechanisms) > 1 else None,
    )


def _check_files(sources: Iterable[Path], target: Path, ledger: AnyPath | None) -> None:
    """Raise InputError if the target is an input or the ledger, or the ledger is invalid."""
    read = [file for file in sources if file != STANDARD]
    for file in read:
        check_different(file, target)
    if ledger is not None:
        for file in (*read, target):
            check_different(file, Path(ledger))
        if Path(ledger).exists() and Path(ledger).stat().st_size:
            read_ledger(ledger)


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
