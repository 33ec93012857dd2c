"""The kinds of files of records, by the endings of their names; folders of parts; pipes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from mechdesign.collection.records.arrow_files import ArrowReader, ArrowWriter
from mechdesign.collection.records.byte_streams import STANDARD
from mechdesign.collection.records.csv_files import CSVReader, CSVWriter
from mechdesign.collection.records.json_lines import NDJSONReader, NDJSONWriter
from mechdesign.collection.records.parquet_files import ParquetReader, ParquetWriter
from mechdesign.collection.records.record_files import FileKind, Reader, Rows
from mechdesign.errors import InputError, shown

__all__ = ["KINDS", "check_has_text_cells", "kind_of", "open_records", "parts_of"]

PACKINGS = {"": None, ".gz": "gzip", ".zst": "zstd"}

TEXT_KINDS: dict[str, tuple[Any, Any]] = {
    ".csv": (CSVReader, CSVWriter),
    ".tsv": (partial(CSVReader, usual="\t"), partial(CSVWriter, usual="\t")),
    ".ndjson": (NDJSONReader, NDJSONWriter),
    ".jsonl": (NDJSONReader, NDJSONWriter),
}

KINDS = {
    **{
        ending + packing: FileKind(
            partial(reader, packed=packed),
            partial(writer, packed=packed),
            ending in (".csv", ".tsv"),
        )
        for ending, (reader, writer) in TEXT_KINDS.items()
        for packing, packed in PACKINGS.items()
    },
    ".parquet": FileKind(ParquetReader, ParquetWriter),
    ".arrow": FileKind(ArrowReader, partial(ArrowWriter, footed=True)),
    ".feather": FileKind(ArrowReader, partial(ArrowWriter, footed=True)),
    ".arrows": FileKind(ArrowReader, partial(ArrowWriter, footed=False)),
}
"""The kinds of files, by how their names end."""

MOST_PARTS = 1 << 16
"""Files that a folder or a pattern stands for, at most."""


def kind_of(path: str | os.PathLike[str], form: str = "csv") -> FileKind:
    """Return the kind of a file by how its name ends, in small letters or large ones.

    Parameters
    ----------
    path
        The file; ``-`` for standard input or output.
    form
        The ending that ``-`` stands for.

    Raises
    ------
    InputError
        If it ends in none of the known ways.
    """
    standard = Path(path) == STANDARD
    name = f"-.{str(form).removeprefix('.')}" if standard else Path(path).name.lower()
    if standard and name in ("-.parquet", "-.arrow", "-.feather"):
        expected = "csv, tsv, ndjson or arrows, which are read in one pass"
        raise InputError("format", expected, shown(form))
    for ending, kind in KINDS.items():
        if name.endswith(ending):
            return kind
    key, given = ("format", form) if standard else (str(path), Path(path).name)
    raise InputError(key, f"a name that ends in {', '.join(KINDS)}", shown(given))


def parts_of(source: Path) -> list[Path]:
    """Return the files that a source stands for: itself, those in a folder, or of a pattern.

    A pattern, as ``part-*.csv``, is for names in one folder. Files of a folder whose names begin
    with a dot or an underscore are no parts of it.

    Raises
    ------
    InputError
        If there are none, or too many.
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


def open_records(source: Path, separator: str | None, form: str = "csv") -> Reader:
    """Open a file of records, a folder or a pattern of such files, or standard input."""
    parts = parts_of(source)
    if parts == [source]:
        return kind_of(source, form).reader(source, separator)
    return PartsReader(source, separator, parts)


class PartsReader(Reader):
    """Rows of several files, one after the other, by their names."""

    def __init__(self, source: Path, separator: str | None, parts: Sequence[Path]) -> None:
        self._file, self._separator, self._parts = str(source), separator, parts
        self.rows, self._done = 0, 0
        self._reader: Reader | None = None
        with self._opened_part(parts[0]) as first:
            self.schema = first.schema

    def _opened_part(self, part: Path) -> Reader:
        return kind_of(part).reader(part, self._separator)

    def _opened(self) -> pa.Schema:
        raise AssertionError  # each part is opened when it is read

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Rows]:
        """Yield the rows of some columns."""
        types = [self.schema.field(name).type for name in names]
        for part in self._parts:
            with self._opened_part(part) as reader:
                self._reader = reader
                reader.check(names)
                self.schema = reader.schema
                if types != [reader.schema.field(name).type for name in names]:
                    raise InputError(str(part), "columns of the types of the first", "others")
                for table, place in reader.chunks(names, size):
                    yield table, partial(_in_part, part.name, place)
            self._reader = None
            self._done += 1

    def share(self) -> float:
        """Return how many of the files were read."""
        current = self._reader.share() if self._reader is not None else 0.0
        return (self._done + (current or 0.0)) / len(self._parts)

    def close(self) -> None:
        """Close what is open."""
        if self._reader is not None:
            self._reader.close()


def _in_part(name: str, place: Callable[[int], str], row: int) -> str:
    return f"{name}: {place(row)}"


def check_has_text_cells(path: str | os.PathLike[str], form: str = "csv") -> None:
    """Raise InputError unless a file is CSV or TSV, whose cells a spreadsheet may run."""
    if not kind_of(path, form).has_text_cells:
        raise InputError("spreadsheet_safe", "a CSV file", shown(Path(path).name))
