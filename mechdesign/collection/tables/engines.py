"""Tables of engines: streams of Arrow, plans of Polars, DuckDB, Dask and Spark, by their parts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from mechdesign.collection.tables.cells import Batch
from mechdesign.collection.tables.jobs import PrivatizeJob, TallyJob
from mechdesign.collection.tables.kinds import (
    BATCHES,
    PANDAS_FRAMES,
    PANDAS_SERIES,
    POLARS_FRAMES,
    TABLES,
    Kind,
    MemoryKind,
    check_names,
)
from mechdesign.errors import InputError
from mechdesign.reports import Tally

__all__ = ["ENGINE_KINDS"]


class ArrowStreamKind(Kind):
    """A reader of batches of Arrow: a batch is drawn for when it is read."""

    module, name = "pyarrow", "RecordBatchReader"

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a reader of batches."""
        empty = TABLES.privatize(data.schema.empty_table(), job)
        batches = (BATCHES.privatize(batch, job) for batch in data)
        return pa.RecordBatchReader.from_batches(empty.schema, batches)

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Read all batches, and count them."""
        empty = TABLES.tally(data.schema.empty_table(), job)
        return job.merged([empty, *(BATCHES.tally(batch, job) for batch in data)])


class ProtocolKind(ArrowStreamKind):
    """A table of any library that speaks the Arrow C stream protocol; reports are Arrow tables."""

    def holds(self, data: Any) -> bool:
        """Return whether data speak the protocol."""
        return hasattr(data, "__arrow_c_stream__")

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a table of Arrow."""
        return super().privatize(_stream(data), job).read_all()

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Read the stream, and count it."""
        return super().tally(_stream(data), job)


def _stream(data: Any) -> Any:
    """Return the batches of what speaks the protocol.

    Raises
    ------
    InputError
        If they are no rows of a table.
    """
    try:
        return pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, TypeError):
        raise InputError("data", "a stream of rows of a table", "another stream") from None


class DuckDBKind(ProtocolKind):
    """A relation of DuckDB; the reports are a relation of the same connection."""

    module, name = "duckdb", "DuckDBPyRelation"

    def holds(self, data: Any) -> bool:
        """Return whether data are a relation."""
        return Kind.holds(self, data)

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a relation; the reports are drawn once, and held."""
        drawn_reports = super().privatize(data, job)
        found = data.query("records", "SELECT * FROM drawn_reports")  # the name of the local table
        del drawn_reports
        return found


class PolarsPlanKind(Kind):
    """A LazyFrame of Polars: reports are drawn when it is collected, anew each time."""

    module, name = "polars", "LazyFrame"
    draws_again = True

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a LazyFrame."""
        empty = sys.modules["polars"].DataFrame(schema=data.collect_schema())
        # a filter or a choice of columns that follows is about reports: it stays behind the draw
        return data.map_batches(
            partial(POLARS_FRAMES.privatize, job=job, in_part=True),
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
            schema=POLARS_FRAMES.privatize(empty, job).schema,
            streamable=True,
        )

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Collect the columns that are counted, and count them."""
        return POLARS_FRAMES.tally(data.collect(), job)


class DaskKind(Kind):
    """A DataFrame or a Series of Dask: a partition is drawn for when it is computed, each time."""

    module = "dask.dataframe"
    draws_again = True

    def __init__(self, piece: MemoryKind) -> None:
        self.name, self.is_column, self._piece = piece.name, piece.is_column, piece

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a DataFrame or a Series of Dask."""
        meta = self._piece.privatize(data._meta, job)
        return data.map_partitions(self._piece.privatize, job, in_part=True, meta=meta)

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Count each partition where it is, and merge the counts."""
        dask = sys.modules["dask"]
        count = dask.delayed(self._piece.tally)
        parts = [count(part, job) for part in data.to_delayed()]
        return job.merged(dask.compute(*parts))


class SparkKind(Kind):
    """A DataFrame of Spark: a partition is drawn for when it is computed, anew each time."""

    module, name = "pyspark.sql", "DataFrame"
    draws_again = True

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a DataFrame of Spark."""
        check_names(job.read, data.columns)
        types = sys.modules["pyspark.sql.types"]
        empty = Batch(lambda _: pa.array([], pa.string()), lambda *_: "data", job.read)
        fields = [
            types.StructField(name, getattr(types, SPARK_TYPES[column.type])())
            for name, column in job.draw(empty).columns.items()
        ]
        fields += [data.schema[name] for name in job.keep]

        def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return (BATCHES.privatize(batch, job, in_part=True) for batch in batches)

        return data.mapInArrow(draw, types.StructType(fields))

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Count each partition where it is, and merge the counts."""
        check_names(job.read, data.columns)

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            parts = [BATCHES.tally(batch, job) for batch in batches]
            if parts:
                yield _as_rows(job.merged(parts))

        schema = "name int, counts array<bigint>, total bigint, simulated boolean"
        empty = pa.table({name: pa.array([], pa.string()) for name in job.read})
        found, names = TABLES.tally(empty, job), job.read
        for row in data.mapInArrow(count, schema).collect():
            name, counts = names[row.name], np.array(row.counts, dtype=np.int64)
            found[name] += Tally(counts, row.total, row.simulated, found[name].digest)
        return found


SPARK_TYPES: Mapping[pa.DataType, str] = {
    pa.int64(): "LongType",
    pa.float64(): "DoubleType",
    pa.string(): "StringType",
}
"""Spark's names of the types of reports."""


def _as_rows(tallies: dict[Any, Tally]) -> pa.RecordBatch:
    """Return tallies as rows, a column of the table being named by its number."""
    each = tallies.values()
    return pa.record_batch(
        {
            "name": pa.array(range(len(tallies)), pa.int32()),
            "counts": pa.array([tally.counts for tally in each], pa.list_(pa.int64())),
            "total": pa.array([tally.total for tally in each], pa.int64()),
            "simulated": pa.array([tally.simulated for tally in each], pa.bool_()),
        }
    )


ENGINE_KINDS: tuple[Kind, ...] = (
    ArrowStreamKind(),
    PolarsPlanKind(),
    DuckDBKind(),
    DaskKind(PANDAS_FRAMES),
    DaskKind(PANDAS_SERIES),
    SparkKind(),
    ProtocolKind(),
)
"""The kinds that engines hold, and last those that speak the protocol."""
