"""Columns and data frames of pandas and Polars."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import pyarrow as pa

from mechdesign.collection.tables.draws import Found
from mechdesign.collection.tables.jobs import ALONE, Column, PrivatizeJob, TallyJob
from mechdesign.collection.tables.kinds import EagerKind, Kind, typed
from mechdesign.errors import InputError
from mechdesign.reports import Tally

__all__ = ["FRAME_KINDS"]


FROM_PANDAS = partial(pa.array, from_pandas=True)


class PandasSeriesKind(EagerKind):
    """A Series of pandas; its index and its name are kept, categories go by their codes."""

    module, name, is_column = "pandas", "Series", True

    def column(self, data: Any, name: Any) -> Column:
        """Return the values."""
        return typed(data, FROM_PANDAS)

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return a Series."""
        series = _pandas(found)["0"]
        series.index = data.index if found.rows is None else data.index[found.rows]
        return series.rename(data.name)


class PandasFrameKind(EagerKind):
    """A DataFrame of pandas; its index is kept."""

    module, name = "pandas", "DataFrame"

    def names(self, data: Any) -> list[Any]:
        """Return the names of the columns."""
        return list(data.columns)

    def column(self, data: Any, name: Any) -> Column:
        """Return the values of a column."""
        return typed(data[name], FROM_PANDAS)

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return a DataFrame."""
        pandas, frame = sys.modules["pandas"], _pandas(found)
        frame.columns = pandas.Index(list(found.columns), tupleize_cols=False)
        some = data if found.rows is None else data.iloc[found.rows]
        frame.index = some.index
        for name in keep:
            frame[name] = some[name]
        return frame


def _pandas(found: Found) -> Any:
    """Return the columns of reports as a DataFrame of pandas, numbered."""
    names = [str(n) for n in range(len(found.columns))]
    return pa.table(list(found.columns.values()), names=names).to_pandas()


class PolarsSeriesKind(EagerKind):
    """A Series of Polars; its name is kept."""

    module, name, is_column = "polars", "Series", True

    def column(self, data: Any, name: Any) -> Column:
        """Return the values."""
        return _from_polars(data)

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return a Series."""
        return sys.modules["polars"].Series(data.name, found.columns[ALONE])


class PolarsFrameKind(EagerKind):
    """A DataFrame of Polars."""

    module, name = "polars", "DataFrame"

    def names(self, data: Any) -> list[Any]:
        """Return the names of the columns."""
        return list(data.columns)

    def column(self, data: Any, name: Any) -> Column:
        """Return the values of a column."""
        return _from_polars(data.get_column(name))

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return a DataFrame."""
        frame = sys.modules["polars"].from_arrow(pa.table(found.columns))
        some = data.select(keep)
        return frame.hstack(some if found.rows is None else some[found.rows])


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


class PolarsPlanKind(Kind):
    """A LazyFrame of Polars: reports are drawn when it is collected, anew each time."""

    module, name = "polars", "LazyFrame"
    draws_again = True

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a LazyFrame."""
        eager = PolarsFrameKind()
        empty = sys.modules["polars"].DataFrame(schema=data.collect_schema())
        schema = eager.privatize(empty, job).schema
        # a filter or a choice of columns that follows is about reports: it stays behind the draw
        return data.map_batches(
            lambda frame: eager.privatize(frame, job),
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
            schema=schema,
            streamable=True,
        )

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Collect the columns that are counted, and count them."""
        return PolarsFrameKind().tally(data.collect(), job)


FRAME_KINDS: tuple[Kind, ...] = (
    PandasSeriesKind(),
    PandasFrameKind(),
    PolarsSeriesKind(),
    PolarsFrameKind(),
    PolarsPlanKind(),
)
"""What pandas and Polars hold."""
