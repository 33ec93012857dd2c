"""Adapters of columns and tables in memory: how their columns are read, and reports given back.

No library is imported that a user has not loaded: a table of pandas exists only if pandas is there.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from mechdesign.collection.tables.cells import Batch, Column, Metadata
from mechdesign.collection.tables.jobs import ALONE, Drawn, PrivatizeJob, TallyJob
from mechdesign.errors import InputError, shown
from mechdesign.reports import Tally

__all__ = ["BATCHES", "MEMORY_KINDS", "PANDAS_FRAMES", "PANDAS_SERIES", "POLARS_FRAMES", "TABLES"]
__all__ += ["Kind", "MemoryKind", "check_names", "same_kind"]


class Kind(ABC):
    """A kind of data of a library: a column, a table, or a plan of one."""

    module: str
    """Where the library has its class."""

    name: str
    """The class."""

    is_column: bool = False
    """Whether it is one column; else it has several, by name."""

    draws_again: ClassVar[bool] = False
    """Whether it is a plan, by which a part may be drawn for more than once."""

    def holds(self, data: Any) -> bool:
        """Return whether data are of this kind."""
        found = getattr(sys.modules.get(self.module), self.name, None)
        return found is not None and isinstance(data, found)

    @abstractmethod
    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return the reports, in data of the same kind."""

    @abstractmethod
    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Return the tally of each column."""


@dataclass(frozen=True)
class MemoryKind(Kind):
    """Data in memory, whose columns Arrow can read: one batch.

    Attributes
    ----------
    module, name
        The class.
    column
        Returns a column of the data by its name, as Arrow has it.
    give
        Returns the reports, and the columns of the data that are kept, as the library has them.
    names
        Returns the names of the columns; None for a kind of column.
    metadata
        Returns the metadata of a table.
    """

    module: str
    name: str
    column: Callable[[Any, Any], Column]
    give: Callable[[Any, Drawn, Sequence[Any]], Any]
    names: Callable[[Any], Iterable[Any]] | None = None
    metadata: Callable[[Any], Metadata] | None = None

    @property
    def is_column(self) -> bool:  # type: ignore[override]
        """Whether it is one column."""
        return self.names is None

    def privatize(self, data: Any, job: PrivatizeJob, *, in_part: bool = False) -> Any:
        """Return the reports, in data of the same kind; errors count rows of a part, if it is one.

        Raises
        ------
        InputError
            If the table lacks a column, or a cell is refused.
        """
        return self.give(data, job.draw(self._batch(data, job.read, in_part)), job.keep)

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Return the tally of each column."""
        return job.count(self._batch(data, job.read))

    def _batch(self, data: Any, read: Sequence[Any], in_part: bool = False) -> Batch:
        names = [ALONE] if self.names is None else list(self.names(data))
        check_names(read, names)
        metadata = None if self.metadata is None else self.metadata(data)
        return Batch(partial(self.column, data), partial(_where, in_part), names, metadata)


def _where(in_part: bool, names: tuple[Any, ...], row: int | None = None) -> str:
    named = "data" if names == (ALONE,) else f"data[{names[0]!r}]"
    return named if row is None else f"{named}, row {row}{' of a part' * in_part}"


def check_names(wanted: Iterable[Any], names: list[Any]) -> None:
    """Raise InputError unless a table has each of some columns exactly once."""
    for name in wanted:
        if names.count(name) != 1:
            given = "several" if name in names else f"the columns {shown(names)}"
            raise InputError("data", f"one column {shown(name)}", given)


def same_kind(kinds: Sequence[Kind], data: Any) -> Kind | None:
    """Return the first kind that data are of; None if they are of none."""
    return next((kind for kind in kinds if kind.holds(data)), None)


# --- Python, NumPy and Arrow ----------------------------------------------------------------------


def _typed(column: Any, convert: Callable[[Any], Column] = pa.array) -> Column:
    """Return what Arrow makes of a column.

    Raises
    ------
    InputError
        If its cells are of several types.
    """
    try:
        return convert(column)
    except (pa.ArrowException, OverflowError, ValueError):  # whose words quote a cell
        raise InputError("data", "a column of text or numbers", "cells of other types") from None


def _from_numpy(data: Any, _: Any) -> Column:
    if data.ndim != 1:
        raise InputError("data", "an array of one axis", f"one of {data.ndim}")
    return _typed(data)


def _to_numpy(data: Any, drawn: Drawn, _: Any) -> Any:
    """Return an array, of text where the reports are text."""
    made = drawn.columns[ALONE]
    if pa.types.is_string(made.type):
        return np.array(made.to_pylist(), dtype=object if data.dtype == object else str)
    return made.to_numpy(zero_copy_only=False)


def _to_arrow(data: Any, drawn: Drawn, keep: Sequence[Any]) -> Any:
    columns = {**drawn.columns, **{name: drawn.kept(data.column(name)) for name in keep}}
    made = type(data).from_arrays(list(columns.values()), names=list(columns))
    return made.replace_schema_metadata(drawn.metadata)


def _arrow(name: str) -> MemoryKind:
    """Return the kind of a table or of a batch of Arrow."""
    return MemoryKind(
        "pyarrow",
        name,
        lambda data, name: data.column(name),
        _to_arrow,
        lambda data: data.schema.names,
        lambda data: data.schema.metadata,
    )


TABLES, BATCHES = _arrow("Table"), _arrow("RecordBatch")


# --- pandas and Polars ----------------------------------------------------------------------------

FROM_PANDAS = partial(pa.array, from_pandas=True)


def _pandas(drawn: Drawn, index: Any) -> Any:
    """Return the columns of reports as a DataFrame of pandas, numbered."""
    names = [str(n) for n in range(len(drawn.columns))]
    frame = pa.table(list(drawn.columns.values()), names=names).to_pandas()
    frame.index = index if drawn.rows is None else index[drawn.rows]
    return frame


def _to_pandas(data: Any, drawn: Drawn, keep: Sequence[Any]) -> Any:
    frame = _pandas(drawn, data.index)
    frame.columns = sys.modules["pandas"].Index(list(drawn.columns), tupleize_cols=False)
    some = data if drawn.rows is None else data.iloc[drawn.rows]
    for name in keep:
        frame[name] = some[name]
    return frame


def _from_polars(series: Any) -> Column:
    """Return a Series of Polars as Arrow has it.

    Raises
    ------
    InputError
        If Arrow has no such cells.
    """
    if str(series.dtype) == "Object":
        raise InputError("data", "a column of text or numbers", "Python objects")
    try:
        return series.to_arrow()
    except (pa.ArrowException, ValueError):  # as for integers of 128 bits
        raise InputError("data", "a column of text or numbers", str(series.dtype)) from None


def _to_polars(data: Any, drawn: Drawn, keep: Sequence[Any]) -> Any:
    frame, some = sys.modules["polars"].from_arrow(pa.table(drawn.columns)), data.select(keep)
    return frame.hstack(some if drawn.rows is None else some[drawn.rows])


PANDAS_SERIES = MemoryKind(
    "pandas",
    "Series",
    lambda data, _: _typed(data, FROM_PANDAS),
    lambda data, drawn, _: _pandas(drawn, data.index)["0"].rename(data.name),
)
PANDAS_FRAMES = MemoryKind(
    "pandas",
    "DataFrame",
    lambda data, name: _typed(data[name], FROM_PANDAS),
    _to_pandas,
    lambda data: data.columns,
)
POLARS_FRAMES = MemoryKind(
    "polars",
    "DataFrame",
    lambda data, name: _from_polars(data.get_column(name)),
    _to_polars,
    lambda data: data.columns,
)

MEMORY_KINDS: tuple[MemoryKind, ...] = (
    MemoryKind(
        "builtins",
        "list",
        lambda data, _: _typed(data),
        lambda _, drawn, __: drawn.columns[ALONE].to_pylist(),
    ),
    MemoryKind("numpy", "ndarray", _from_numpy, _to_numpy),
    MemoryKind("pyarrow", "Array", lambda data, _: data, lambda _, drawn, __: drawn.columns[ALONE]),
    MemoryKind(
        "pyarrow",
        "ChunkedArray",
        lambda data, _: data,
        lambda _, drawn, __: pa.chunked_array([drawn.columns[ALONE]]),
    ),
    TABLES,
    BATCHES,
    PANDAS_SERIES,
    PANDAS_FRAMES,
    MemoryKind(
        "polars",
        "Series",
        lambda data, _: _from_polars(data),
        lambda data, drawn, _: type(data)(data.name, drawn.columns[ALONE]),
    ),
    POLARS_FRAMES,
)
"""The kinds that Python, NumPy, Arrow, pandas and Polars hold in memory."""
