"""The kinds of files of records, by the endings of their names."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from mechdesign.collection.records.csv_files import CSVReader, CSVWriter
from mechdesign.collection.records.parquet_files import ParquetReader, ParquetWriter
from mechdesign.collection.records.record_files import FileKind
from mechdesign.errors import InputError, shown

__all__ = ["KINDS", "check_has_text_cells", "kind_of"]

KINDS = {
    ".csv": FileKind(CSVReader, CSVWriter),
    ".csv.gz": FileKind(partial(CSVReader, packed=True), partial(CSVWriter, packed=True)),
    ".parquet": FileKind(ParquetReader, ParquetWriter),
}
"""The kinds of files, by how their names end."""


def kind_of(path: str | os.PathLike[str]) -> FileKind:
    """Return the kind of a file by how its name ends, in small letters or large ones.

    Raises
    ------
    InputError
        If it ends in none of the known ways.
    """
    name = Path(path).name.lower()
    for ending, kind in KINDS.items():
        if name.endswith(ending):
            return kind
    raise InputError(str(path), f"a name that ends in {', '.join(KINDS)}", shown(Path(path).name))


def check_has_text_cells(path: str | os.PathLike[str]) -> None:
    """Raise InputError unless a file is CSV, whose cells a spreadsheet may run."""
    if kind_of(path) is KINDS[".parquet"]:
        raise InputError("spreadsheet_safe", "a CSV file", shown(Path(path).name))
