"""Privatize a file: one report for each record, in the order of the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from mechdesign.accounting.measure.leakage_table import rounded
from mechdesign.collection.records.ledger import add_draw, read_ledger
from mechdesign.collection.records.record_files import (
    AnyPath,
    ColumnName,
    Progress,
    Records,
    check_has_text_cells,
    checked_mechanisms,
    chunk_size,
    kind_of,
    parts_of,
)
from mechdesign.collection.records.sinks import safe_table, whole_output
from mechdesign.collection.records.sources import STANDARD
from mechdesign.collection.spending import Spending, spending
from mechdesign.collection.tables.jobs import NOTE, Drawer, Policies, PrivatizeJob, names_of
from mechdesign.collection.tables.keyed_coins import SeenRecords
from mechdesign.errors import InputError, shown
from mechdesign.sampling import SIMULATION, Randomness
from mechdesign.writing.atomic import check_different

__all__ = ["PrivatizedFile", "privatize_file"]


@dataclass(frozen=True)
class PrivatizedFile:
    """Summary of privatizing a file of records.

    Attributes
    ----------
    source, target
        The file that was read and the file that was written.
    columns
        The columns that were made private.
    channels
        The digest of what each of them was drawn by.
    rows, reports
        How many rows were read, and how many reports were written.
    unknown, missing
        For each column, by name, how many cells were no label, and how many held nothing, with what
        was done to them.
    kept
        The columns that were copied as they are: not protected.
    simulated
        Whether the reports were drawn from a seed: not for release.
    spends
        What one person spends in all, where there are several columns.
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
        """Return everything as JSON has it."""
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
    """Return what became of cells, by column where there are several."""
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

    The target holds the reports under the name of the column, and nothing else unless it is asked
    for. It appears under its name when it is whole: if anything goes wrong before, whatever was
    there stays.

    Parameters
    ----------
    mechanism
        A :class:`mechdesign.Channel` or a structured mechanism, on the labels of the column, or a
        :class:`mechdesign.continuous.ContinuousChannel`, for a column of numbers, or two; or the
        name of a file of one, whose claims are then checked. Or a dict of these by column, in place
        of the next but two. Draws for several columns are independent: what one person spends in
        all is at most the sum.
    source, target
        Files that end in ``.csv``, ``.tsv``, ``.ndjson`` or ``.jsonl``, maybe with ``.gz`` or
        ``.zst`` behind; in ``.parquet``; or in ``.arrow``, ``.feather`` or ``.arrows``, a stream of
        Arrow. ``-`` is standard input or output. The source may be a folder of such files, or a
        pattern such as ``"part-*.parquet"``. The target is none of the files that are read.
    column
        The column that is to be private, by name. A pair of names is for pairs of numbers in two
        columns, as the points of a grid or a box; reports that are pairs get two columns, too.
    rng
        None for the cryptographic source of the operating system. A seed or a
        ``numpy.random.Generator`` makes a simulation, which a column ``note`` of the file marks.
    unknown, missing
        What becomes of a cell that is no label of the domain, and of one that holds nothing:
        ``"refuse"`` raises, ``"drop"`` leaves the row out, ``"map:LABEL"`` takes it as a label
        and makes that private. A row that is left out shows that its cell was no label. Where
        numbers of an interval are expected, ``unknown="clip"`` takes a number outside as the nearer
        end, and refuses cells that are not numbers. Or a dict of these by column; a column that is
        not in it refuses.
    keep
        Columns to copy as they are. They are not protected.
    separator
        What stands between the cells of a CSV file, read and written; default a comma.
    ledger
        A file in which the draw is recorded before the target appears; see
        :func:`~mechdesign.collection.records.ledger.read_ledger`. It is made if there is
        none. A simulation has none.
    key, ids
        A secret of the collection and the column of the ids of the records, as for
        :func:`mechdesign.privatize`: the same file gives the same reports again. To see that no id
        occurs twice, 16 bytes a row are kept, of long files in a temporary one, encrypted.
    one_each
        Whether each person is asked for one column only, as for :func:`mechdesign.privatize`.
    spreadsheet_safe
        Whether cells and names of columns that a spreadsheet would run are written with an
        apostrophe before them, in a CSV file for people; see
        :func:`mechdesign.writing.spreadsheets.spreadsheet_safe`.
    form
        What ``-`` holds: ``"csv"``, ``"tsv"``, ``"ndjson"``, any of these with ``".gz"`` or
        ``".zst"``, or ``"arrows"``, a stream of Arrow.
    force
        Whether a target that exists is replaced. Otherwise it is refused, and an empty file claims
        the name of the target when the run begins, so that of several runs at once only one draws.
    stamp
        Whether a column ``NAME_channel_sha256`` stands beside each column of reports, with the
        first 16 digits of the digest of its channel: for CSV and NDJSON, and for files of which
        rows are put together. Parquet and Arrow state the digests in their metadata always.
    chunk
        Rows that are held at once; default 32,768, fewer where a report is long.
    progress
        Called after each chunk with the rows so far and the share of the file that was read.

    Warns
    -----
    RepeatedDrawWarning
        If the ledger has a draw for the same records.

    Raises
    ------
    CertificateError
        If a claim in the file of a mechanism does not hold.
    InputError
        If a file or a row cannot be read, or an argument is wrong. The message names the line of
        a CSV file, the header being line 1, or the row of a Parquet file, counted from 1.

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
    written, parts = kind_of(target, form), parts_of(source)
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
        raise InputError("ledger", "none for a simulation, which is not for release", "one")
    if spreadsheet_safe:
        check_has_text_cells(target, form)
    reported = 0
    with Records(source, separator, form) as reader:
        reader.check(job.read)
        with (
            whole_output(target, force) as stream,
            written.sink(stream, separator, job.metadata) as write,
            closing(SeenRecords(lambda row: f"{source}: record {row + 1}")) as seen,
        ):
            for batch in reader.batches(job.read, size, progress):
                made = job.draw(batch, seen, counts=ledger is not None)
                found = made.columns
                for name in job.keep:
                    kind = reader.schema.field(name).type
                    found[name] = made.kept(batch.column(name)).cast(kind)
                if job.noted:
                    found[NOTE] = found.pop(NOTE)  # the last column
                table = pa.table(found)
                write(safe_table(table) if spreadsheet_safe else table)
                reported += table.num_rows
            seen.check()
            if ledger is not None:  # before the reports appear, so that no draw is lost
                for each in job.columns:
                    add_draw(ledger, each.mechanism, each.reader.counts())
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
    """Refuse to write over what is read, or over the ledger; read the ledger before the work."""
    read = [file for file in sources if file != STANDARD]
    for file in read:
        check_different(file, target)
    if ledger is not None:
        for file in (*read, target):
            check_different(file, Path(ledger))
        if Path(ledger).exists() and Path(ledger).stat().st_size:
            read_ledger(ledger)
