"""Adapters for tables and columns of other libraries, which are read as Arrow.

Only libraries that the user has loaded are used: a pandas table exists only if pandas is imported.
All adapters draw and count by :mod:`~mechdesign.collection.tables.jobs`: data in memory are one
batch, an engine computes many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from mechdesign.collection.tables.cells import Batch, Column, Metadata
from mechdesign.collection.tables.jobs import ALONE, Drawn, PrivatizeJob, TallyJob
from mechdesign.errors import InputError, shown
from mechdesign.reports import Tally

__all__ = ["ADAPTERS", "Adapter", "adapter_of"]


@dataclass(frozen=True)
class Adapter:
    """The adapter for a class of a library: a column, a table, or a lazy table.

    Attributes
    ----------
    place
        The name of the class, such as ``"pandas.DataFrame"``; empty for any class with the Arrow C
        stream protocol.
    privatize
        Returns the reports in the same class; the arguments are the data, the job, and whether row
        numbers in errors refer to a part.
    tally
        Returns the tally of each column; the arguments are the data and the job.
    is_column
        Whether it is a single column, not a table with named columns.
    draws_again
        Whether it is lazy, so that a part may be drawn more than once.
    column
        Returns a column of data in memory, by name, as an Arrow array; None for an engine.
    """

    place: str
    privatize: Callable[..., Any]
    tally: Callable[[Any, TallyJob], dict[Any, Tally]]
    is_column: bool = False
    draws_again: bool = False
    column: Callable[[Any, Any], Column] | None = None

    def holds(self, data: Any) -> bool:
        """Return whether data have this class."""
        if not self.place:
            return hasattr(data, "__arrow_c_stream__")
        module, _, name = self.place.rpartition(".")
        kind = getattr(sys.modules.get(module), name, None)
        return kind is not None and isinstance(data, kind)


def adapter_of(data: Any) -> Adapter | None:
    """Return the adapter for data, or None for an unknown class."""
    return next((adapter for adapter in ADAPTERS if adapter.holds(data)), None)


def _in_memory(
    place: str,
    column: Callable[[Any, Any], Column],
    give: Callable[[Any, Drawn, Sequence[Any]], Any],
    names: Callable[[Any], Iterable[Any]] | None = None,
    metadata: Callable[[Any], Metadata] = lambda _: None,
) -> Adapter:
    """Return the adapter for data in memory, whose columns Arrow can read.

    ``give`` returns the reports and the kept columns in the class of the library; ``names`` returns
    the columns of a table, and is None for a single column.
    """

    def batch(data: Any, read: Sequence[Any], in_part: bool = False) -> Batch:
        columns = [ALONE] if names is None else list(names(data))
        _check_names(read, columns)
        return Batch(partial(column, data), partial(_where, in_part), columns, metadata(data))

    def privatize(data: Any, job: PrivatizeJob, in_part: bool = False) -> Any:
        return give(data, job.draw(batch(data, job.read, in_part)), job.keep)

    def tally(data: Any, job: TallyJob) -> dict[Any, Tally]:
        return job.count(batch(data, job.read))

    return Adapter(place, privatize, tally, is_column=names is None, column=column)


def _where(in_part: bool, names: tuple[Any, ...], row: int | None = None) -> str:
    named = "data" if names == (ALONE,) else f"data[{names[0]!r}]"
    return named if row is None else f"{named}, row {row}{' of a part' * in_part}"


def _check_names(wanted: Iterable[Any], names: list[Any]) -> None:
    """Raise InputError unless a table has each of some columns exactly once."""
    for name in wanted:
        if names.count(name) != 1:
            given = "several" if name in names else f"the columns {shown(names)}"
            raise InputError("data", f"one column {shown(name)}", given)


# --- Python, NumPy and Arrow ----------------------------------------------------------------------


def _typed(column: Any, convert: Callable[[Any], Column] = pa.array) -> Column:
    """Return a column as an Arrow array.

    Raises
    ------
    InputError
        If its cells have several types, or a type unknown to Arrow.
    """
    try:
        return convert(column)
    except (pa.ArrowException, OverflowError, ValueError):  # their messages quote a cell
        dtype = str(getattr(column, "dtype", "")) if hasattr(column, "to_arrow") else ""
        given = dtype or "cells of other types"
        raise InputError("data", "a column of text or numbers", given) from None


def _from_numpy(data: Any, _: Any) -> Column:
    if data.ndim != 1:
        raise InputError("data", "an array of one axis", f"one of {data.ndim}")
    return _typed(data)


def _to_numpy(data: Any, drawn: Drawn, _: Any) -> Any:
    """Return a NumPy array, of text if the reports are text."""
    made = drawn.columns[ALONE]
    if pa.types.is_string(made.type):
        return np.array(made.to_pylist(), dtype=object if data.dtype == object else str)
    return made.to_numpy(zero_copy_only=False)


def _to_arrow(data: Any, drawn: Drawn, keep: Sequence[Any]) -> Any:
    columns = {**drawn.columns, **{name: drawn.kept(data.column(name)) for name in keep}}
    made = type(data).from_arrays(list(columns.values()), names=list(columns))
    return made.replace_schema_metadata(drawn.metadata)


def _arrow(place: str) -> Adapter:
    """Return the adapter for an Arrow table or record batch."""
    return _in_memory(
        place,
        lambda data, name: data.column(name),
        _to_arrow,
        lambda data: data.schema.names,
        lambda data: data.schema.metadata,
    )


TABLE, BATCH = _arrow("pyarrow.Table"), _arrow("pyarrow.RecordBatch")


# --- pandas and Polars ----------------------------------------------------------------------------

_from_pandas = partial(_typed, convert=partial(pa.array, from_pandas=True))


def _pandas(drawn: Drawn, index: Any) -> Any:
    """Return the columns of reports as a pandas DataFrame with numbered columns."""
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
    """Return a Polars Series as an Arrow array; some types have none, such as 128-bit integers."""
    if str(series.dtype) == "Object":
        raise InputError("data", "a column of text or numbers", "Python objects")
    return _typed(series, lambda given: given.to_arrow())


def _to_polars(data: Any, drawn: Drawn, keep: Sequence[Any]) -> Any:
    frame, some = sys.modules["polars"].from_arrow(pa.table(drawn.columns)), data.select(keep)
    return frame.hstack(some if drawn.rows is None else some[drawn.rows])


PANDAS_SERIES = _in_memory(
    "pandas.Series",
    lambda data, _: _from_pandas(data),
    lambda data, drawn, _: _pandas(drawn, data.index)["0"].rename(data.name),
)
PANDAS_FRAME = _in_memory(
    "pandas.DataFrame",
    lambda data, name: _from_pandas(data[name]),
    _to_pandas,
    lambda data: data.columns,
)
POLARS_FRAME = _in_memory(
    "polars.DataFrame",
    lambda data, name: _from_polars(data.get_column(name)),
    _to_polars,
    lambda data: data.columns,
)


# --- engines --------------------------------------------------------------------------------------


def _stream_privatize(data: Any, job: PrivatizeJob) -> Any:
    """Return a reader of batches, whose reports are drawn when a batch is read."""
    empty = TABLE.privatize(data.schema.empty_table(), job)
    return pa.RecordBatchReader.from_batches(
        empty.schema, (BATCH.privatize(batch, job) for batch in data)
    )


def _stream_tally(data: Any, job: TallyJob) -> dict[Any, Tally]:
    empty = TABLE.tally(data.schema.empty_table(), job)
    return job.merged([empty, *(BATCH.tally(batch, job) for batch in data)])


def _stream(data: Any) -> Any:
    """Return the record batches of an object with the Arrow C stream protocol.

    Raises
    ------
    InputError
        If they are not rows of a table.
    """
    try:
        return pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, TypeError):
        raise InputError("data", "a stream of rows of a table", "another stream") from None


def _duckdb_privatize(data: Any, job: PrivatizeJob) -> Any:
    """Return a relation of the same connection; the reports are drawn once and stored."""
    drawn_reports = _stream_privatize(_stream(data), job).read_all()
    relation = data.query("records", "SELECT * FROM drawn_reports")  # the name of the local table
    del drawn_reports
    return relation


def _polars_plan_privatize(data: Any, job: PrivatizeJob) -> Any:
    """Return a LazyFrame whose reports are drawn anew each time it is collected."""
    empty = sys.modules["polars"].DataFrame(schema=data.collect_schema())
    # later filters and projections apply to reports, so they must not be pushed before the draw
    return data.map_batches(
        partial(POLARS_FRAME.privatize, job=job, in_part=True),
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
        schema=POLARS_FRAME.privatize(empty, job).schema,
        streamable=True,
    )


def _dask(name: str, piece: Adapter) -> Adapter:
    """Return a Dask adapter; the reports of a partition are drawn when it is computed."""

    def privatize(data: Any, job: PrivatizeJob) -> Any:
        meta = piece.privatize(data._meta, job)
        return data.map_partitions(piece.privatize, job, in_part=True, meta=meta)

    def tally(data: Any, job: TallyJob) -> dict[Any, Tally]:
        dask = sys.modules["dask"]
        parts = [dask.delayed(piece.tally)(part, job) for part in data.to_delayed()]
        return job.merged(dask.compute(*parts))

    return Adapter(f"dask.dataframe.{name}", privatize, tally, piece.is_column, draws_again=True)


SPARK_TYPES: Mapping[pa.DataType, str] = {
    pa.int64(): "LongType",
    pa.float64(): "DoubleType",
    pa.string(): "StringType",
}
"""The Spark types of reports."""


def _spark_privatize(data: Any, job: PrivatizeJob) -> Any:
    """Return a Spark DataFrame; the reports of a partition are drawn when it is computed."""
    _check_names(job.read, data.columns)
    types = sys.modules["pyspark.sql.types"]
    empty = Batch(lambda _: pa.array([], pa.string()), lambda *_: "data", job.read)
    fields = [
        types.StructField(name, getattr(types, SPARK_TYPES[column.type])())
        for name, column in job.draw(empty).columns.items()
    ]
    fields += [data.schema[name] for name in job.keep]

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (BATCH.privatize(batch, job, in_part=True) for batch in batches)

    return data.mapInArrow(draw, types.StructType(fields))


def _spark_tally(data: Any, job: TallyJob) -> dict[Any, Tally]:
    """Count each partition on its worker, as rows with a column index, and merge the counts."""
    _check_names(job.read, data.columns)
    kinds = {
        "name": pa.int32(),
        "counts": pa.list_(pa.int64()),
        "total": pa.int64(),
        "simulated": pa.bool_(),
    }

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [BATCH.tally(batch, job) for batch in batches]
        if parts:
            rows = [
                {"name": n, "counts": one.counts, "total": one.total, "simulated": one.simulated}
                for n, one in enumerate(job.merged(parts).values())
            ]
            yield pa.RecordBatch.from_pylist(rows, pa.schema(kinds))

    schema = "name int, counts array<bigint>, total bigint, simulated boolean"
    empty = pa.table({name: pa.array([], pa.string()) for name in job.read})
    found, names = TABLE.tally(empty, job), job.read
    for row in data.mapInArrow(count, schema).collect():
        name, counts = names[row.name], np.array(row.counts, dtype=np.int64)
        found[name] += Tally(counts, row.total, row.simulated, found[name].digest)
    return found


ADAPTERS: tuple[Adapter, ...] = (
    _in_memory(
        "builtins.list",
        lambda data, _: _typed(data),
        lambda _, drawn, __: drawn.columns[ALONE].to_pylist(),
    ),
    _in_memory("numpy.ndarray", _from_numpy, _to_numpy),
    _in_memory("pyarrow.Array", lambda data, _: data, lambda _, drawn, __: drawn.columns[ALONE]),
    _in_memory(
        "pyarrow.ChunkedArray",
        lambda data, _: data,
        lambda _, drawn, __: pa.chunked_array([drawn.columns[ALONE]]),
    ),
    TABLE,
    BATCH,
    PANDAS_SERIES,
    PANDAS_FRAME,
    _in_memory(
        "polars.Series",
        lambda data, _: _from_polars(data),
        lambda data, drawn, _: type(data)(data.name, drawn.columns[ALONE]),
    ),
    POLARS_FRAME,
    Adapter("pyarrow.RecordBatchReader", _stream_privatize, _stream_tally),
    Adapter(
        "polars.LazyFrame",
        _polars_plan_privatize,
        lambda data, job: POLARS_FRAME.tally(data.collect(), job),
        draws_again=True,
    ),
    Adapter(
        "duckdb.DuckDBPyRelation",
        _duckdb_privatize,
        lambda data, job: _stream_tally(_stream(data), job),
    ),
    _dask("DataFrame", PANDAS_FRAME),
    _dask("Series", PANDAS_SERIES),
    Adapter("pyspark.sql.DataFrame", _spark_privatize, _spark_tally, draws_again=True),
    Adapter(
        "",
        lambda data, job: _stream_privatize(_stream(data), job).read_all(),
        lambda data, job: _stream_tally(_stream(data), job),
    ),
)
"""The known classes, with the Arrow stream protocol last."""
