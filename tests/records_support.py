"""Tables read and written without the code under test, and a channel that hides nothing."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mechdesign.channel import Channel
from mechdesign.collection import records

privatize_file = partial(records.privatize_file, force=True)
"""Which replaces a target that is there."""


def identity(labels: Sequence[Any]) -> Channel:
    """Reports are the truth: what is read can be seen in what is written."""
    matrix = np.eye(len(labels)).astype(int).tolist()
    return Channel.from_matrix(matrix, inputs=labels, outputs=labels)


def opened(path: Path, mode: str = "r") -> Any:
    if path.suffix == ".gz":
        return gzip.open(path, f"{mode}t", encoding="utf-8", newline="")
    return path.open(mode, encoding="utf-8", newline="")


def save(path: Path, columns: dict[str, list[Any]]) -> Path:
    """Write a table without the code under test."""
    if path.suffix.lower() == ".parquet":
        pq.write_table(pa.table(columns), path)
        return path
    with opened(path, "w") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def load(path: Path) -> dict[str, list[Any]]:
    """Read a table without the code under test."""
    if path.suffix.lower() == ".parquet":
        table: dict[str, list[Any]] = pq.read_table(path).to_pydict()
        return table
    with opened(path) as stream:
        head, *rows = csv.reader(stream)
    return {name: [row[n] for row in rows] for n, name in enumerate(head)}
