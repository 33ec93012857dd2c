"""Estimates as CSV files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from mechdesign.collection.records.sinks import csv_sink, safe_table, write_tables
from mechdesign.collection.tables.cells import text_array
from mechdesign.collection.tables.jobs import NOTE
from mechdesign.errors import InputError, shown
from mechdesign.sampling import SIMULATION
from mechdesign.writing.atomic import atomic_file, check_different

if TYPE_CHECKING:
    from mechdesign.estimation import Estimate


def check_table_name(
    path: str | os.PathLike[str], source: str | os.PathLike[str] | None = None
) -> Path:
    """Return a path, or raise :class:`InputError` unless it is a CSV file other than the source."""
    file = Path(path)
    if file.suffix.lower() != ".csv":
        raise InputError(str(path), "a file name that ends in .csv", shown(file.name))
    if source is not None:
        check_different(Path(source), file)
    return file


def save_estimate(
    estimate: Estimate,
    path: str | os.PathLike[str],
    confidence: float = 0.95,
    *,
    spreadsheet_safe: bool = False,
) -> None:
    """Write an estimate atomically to a CSV file with one row per input.

    The columns are ``input``, ``frequency``, ``standard_error``, ``lower`` and ``upper``; unknown
    values are empty. A column ``note`` marks an estimate from a simulation.

    Parameters
    ----------
    estimate
        The estimate.
    path
        A file name ending in ``.csv``.
    confidence
        Confidence of the intervals from ``lower`` to ``upper``.
    spreadsheet_safe
        Whether to prefix labels that a spreadsheet would run with an apostrophe.

    Raises
    ------
    InputError
        If the file cannot be written, or the confidence is out of range.
    """
    file, names = check_table_name(path), ("frequency", "standard_error", "lower", "upper")
    columns: dict[str, Sequence[str | None]] = {"input": estimate.inputs.texts}
    for name, numbers in zip(names, estimate.columns(confidence).T, strict=True):
        columns[name] = _numbers(numbers.tolist())
    if estimate.simulated:
        columns[NOTE] = [SIMULATION] * len(estimate.inputs)
    save_table(file, columns, spreadsheet_safe=spreadsheet_safe)


def save_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, Sequence[str | None]],
    *,
    spreadsheet_safe: bool = False,
) -> None:
    """Write columns of text atomically to a CSV file."""
    table = pa.table({name: text_array(cells) for name, cells in columns.items()})
    with atomic_file(path) as stream:
        write_tables(stream, csv_sink, [safe_table(table) if spreadsheet_safe else table])


def _numbers(values: Iterable[float]) -> list[str | None]:
    return [repr(value) if math.isfinite(value) else None for value in values]
