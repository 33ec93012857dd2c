"""File formats of records by file extension, folders of files, and pipes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from mechdesign.collection.records.arrow_files import ArrowFile, ArrowStream
from mechdesign.collection.records.base import STANDARD, RecordFile
from mechdesign.collection.records.csv_files import CSVFile, TSVFile
from mechdesign.collection.records.json_lines import NDJSONFile
from mechdesign.collection.records.parquet_files import ParquetFile
from mechdesign.collection.tables.cells import Batch
from mechdesign.collection.tables.jobs import Drawer, by_column, names_of
from mechdesign.domain import whole_number
from mechdesign.errors import InputError, shown
from mechdesign.files.mechanisms import load_mechanism
from mechdesign.files.reading import place_of_column

CHUNK = 1 << 15
"""Default number of rows per chunk."""

CHUNK_BITS = 1 << 26
"""Maximum number of bits of reports per chunk, which are also held as numbers and as text."""

MOST_PARTS = 1 << 16
"""Maximum number of files in a folder or matching a pattern."""

AnyPath = str | os.PathLike[str]

ColumnName = str | tuple[str, str]
"""The name of a column, or two names for pairs of numbers such as the points of a grid."""

Progress = Callable[[int, float | None], None]
"""Called after each batch with the number of rows so far and the share of the file, if known."""


TEXT_FORMATS: dict[str, type[RecordFile]] = {
    ".csv": CSVFile,
    ".tsv": TSVFile,
    ".ndjson": NDJSONFile,
    ".jsonl": NDJSONFile,
}
PACKINGS = {"": None, ".gz": "gzip", ".zst": "zstd"}

FORMATS: dict[str, tuple[type[RecordFile], str | None]] = {
    **{
        ending + packing: (kind, packed)
        for ending, kind in TEXT_FORMATS.items()
        for packing, packed in PACKINGS.items()
    },
    ".parquet": (ParquetFile, None),
    ".arrow": (ArrowFile, None),
    ".feather": (ArrowFile, None),
    ".arrows": (ArrowStream, None),
}
"""The file formats by extension, with the compression."""


def format_of(path: AnyPath, form: str = "csv") -> tuple[type[RecordFile], str | None]:
    """Return the format and the compression by the extension; ``form`` is that of ``-``."""
    standard = Path(path) == STANDARD
    name = f"-.{str(form).removeprefix('.')}" if standard else Path(path).name.lower()
    if standard and name in ("-.parquet", "-.arrow", "-.feather"):
        expected = "csv, tsv, ndjson or arrows, which are read in one pass"
        raise InputError("format", expected, shown(form))
    for ending, found in FORMATS.items():
        if name.endswith(ending):
            return found
    key, given = ("format", form) if standard else (str(path), Path(path).name)
    raise InputError(key, f"a name that ends in {', '.join(FORMATS)}", shown(given))


def check_has_text_cells(path: AnyPath, form: str = "csv") -> None:
    """Raise InputError unless a file is CSV or TSV, which a spreadsheet may open."""
    if not format_of(path, form)[0].separated:
        raise InputError("spreadsheet_safe", "a CSV file", shown(Path(path).name))


def parts_of(source: Path) -> list[Path]:
    """Return the files of a source: a single file, a folder, or a pattern.

    A pattern such as ``part-*.csv`` matches names in one folder. Files in a folder whose names
    begin with a dot or an underscore are ignored.
    """
    if source.is_dir():
        found = [file for file in source.iterdir() if file.name[:1] not in "._"]
    elif not source.exists() and any(letter in source.name for letter in "*?["):
        found = [file for file in source.parent.glob(source.name) if not file.is_dir()]
    else:
        return [source]
    if not 0 < len(found) <= MOST_PARTS:
        raise InputError(str(source), f"from 1 to {MOST_PARTS} files in it", len(found))
    return sorted(found)


class Records:
    """The rows of a file, of several files, or of standard input; ``rows`` counts those read."""

    def __init__(self, source: Path, separator: str | None, form: str = "csv") -> None:
        self._parts, self._separator, self._form = parts_of(source), separator, form
        self._reader, self.rows = self._opened(self._parts[0]), 0
        self.schema = self._reader.schema

    def _opened(self, part: Path) -> RecordFile:
        kind, packed = format_of(part, self._form)
        return kind(part, self._separator, packed)

    def batches(
        self, names: Sequence[str], size: int, progress: Progress | None = None
    ) -> Iterator[Batch]:
        """Yield batches of some columns, file by file: an empty one, then at most ``size`` rows.

        All files must have each of the columns exactly once, of the same type.
        """
        read: pa.Schema | None = None
        for n, part in enumerate(self._parts):
            self._reader = reader = self._reader if n == 0 else self._opened(part)
            with closing(reader):
                for name in names:
                    key = f"{reader.file}: column"
                    place_of_column(name, reader.schema.names, key, "the file")
                empty = reader.empty(names)
                if read is None:
                    yield self._batch(empty, 0, 0)
                elif read.types != empty.schema.types:
                    raise InputError(str(part), "columns of the types of the first", "others")
                read, before = empty.schema, 0
                for table in reader.tables(names, size):
                    for start in range(0, table.num_rows, size):
                        rows = table.slice(start, size)
                        self.rows += rows.num_rows
                        yield self._batch(rows, before, start)
                        if progress is not None:
                            progress(self.rows, self._share(n))
                    before += table.num_rows

    def _batch(self, rows: pa.Table, before: int, start: int) -> Batch:
        """Return rows of a table that begins after some rows of the current file."""
        reader = self._reader

        def where(names: tuple[str, ...], row: int | None = None) -> str:
            """Return the key for errors about columns, or about their cell in a row."""
            place = "" if row is None else f"{reader.place(before, start + row)}, "
            several = "s" * (len(names) > 1)
            return f"{reader.file}: {place}column{several} {', '.join(map(repr, names))}"

        return Batch(rows.column, where, reader.schema.names, reader.schema.metadata)

    def _share(self, part: int) -> float | None:
        """Return the share of all files read so far; None if unknown."""
        share = self._reader.share()
        if share is None and len(self._parts) == 1:
            return None
        return (part + (share or 0)) / len(self._parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._reader.close()


def checked_mechanisms(mechanism: Any, column: Any) -> tuple[dict[ColumnName, Drawer], list[Path]]:
    """Return the mechanism of each column, and the files of mechanisms.

    Mechanisms are given for a column, or in a dict by column; columns are names or pairs of names.
    """
    if isinstance(mechanism, Mapping) != (column is None):
        given = "neither" if column is None else "both"
        raise InputError("column", "a column, or a dict of mechanisms by column", given)
    named = mechanism if isinstance(mechanism, Mapping) else {column: mechanism}
    for name in named:
        pair = isinstance(name, tuple) and len(name) == 2
        if not isinstance(name, str) and not (pair and all(isinstance(x, str) for x in name)):
            raise InputError("column", "the name of a column, or a pair of names", shown(name))
    each = [part for name in named for part in names_of(name)]
    if not each or len(set(each)) < len(each):
        raise InputError("column", "at least one column, each once", shown(each))
    files = {name: Path(one) for name, one in named.items() if isinstance(one, str | os.PathLike)}
    loaded = {name: load_mechanism(file).mechanism for name, file in files.items()}
    return by_column({**named, **loaded}), [*files.values()]


def chunk_size(mechanisms: Mapping[Any, Drawer], wanted: Any) -> int:
    """Return the number of rows per chunk, by default from the length of the reports."""
    bits = sum(max(mechanism.bits_per_report, 1) for mechanism in mechanisms.values())
    if wanted is None:
        return max(1, min(CHUNK, int(CHUNK_BITS / bits)))
    return whole_number(wanted, "chunk")
