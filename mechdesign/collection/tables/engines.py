"""Tables of engines: streams of Arrow, DuckDB, Dask and Spark, a piece at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from mechdesign.collection.tables.frames import PandasFrameKind, PandasSeriesKind
from mechdesign.collection.tables.jobs import PrivatizeJob, TallyJob
from mechdesign.collection.tables.kinds import ArrowBatchKind, ArrowTableKind, Kind, check_names
from mechdesign.errors import InputError
from mechdesign.reports import Tally

__all__ = ["ENGINE_KINDS"]

BATCHES, TABLES = ArrowBatchKind(), ArrowTableKind()


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

    @classmethod
    def holds(cls, data: Any) -> bool:
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

    @classmethod
    def holds(cls, data: Any) -> bool:
        """Return whether data are a relation."""
        return Kind.holds.__func__(cls, data)  # type: ignore[attr-defined, no-any-return]

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a relation; the reports are drawn once, and held."""
        drawn_reports = super().privatize(data, job)
        found = data.query("records", "SELECT * FROM drawn_reports")  # the name of the local table
        del drawn_reports
        return found


class DaskFrameKind(Kind):
    """A DataFrame of Dask: a partition is drawn for when it is computed, anew each time."""

    module, name = "dask.dataframe", "DataFrame"
    draws_again = True
    piece: PandasFrameKind | PandasSeriesKind = PandasFrameKind()

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a DataFrame of Dask."""
        meta = self.piece.privatize(data._meta, job)
        return data.map_partitions(self.piece.privatize, job, meta=meta)

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Count each partition where it is, and merge the counts."""
        dask = sys.modules["dask"]
        count = dask.delayed(self.piece.tally)
        parts = [count(part, job) for part in data.to_delayed()]
        return job.merged(dask.compute(*parts))


class DaskSeriesKind(DaskFrameKind):
    """A Series of Dask."""

    name, is_column = "Series", True
    piece = PandasSeriesKind()


class SparkKind(Kind):
    """A DataFrame of Spark: a partition is drawn for when it is computed, anew each time."""

    module, name = "pyspark.sql", "DataFrame"
    draws_again = True

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return a DataFrame of Spark."""
        check_names([*job.wanted(), *job.keep], data.columns)
        types = sys.modules["pyspark.sql.types"]
        found = job.run(lambda _: pa.array([], pa.string())).columns
        fields = [
            types.StructField(name, getattr(types, SPARK_TYPES[column.type])())
            for name, column in found.items()
        ]
        fields += [data.schema[name] for name in job.keep]

        def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return (BATCHES.privatize(batch, job) for batch in batches)

        return data.mapInArrow(draw, types.StructType(fields))

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Count each partition where it is, and merge the counts."""
        check_names(job.mechanisms, data.columns)
        names = list(job.mechanisms)

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            parts = [BATCHES.tally(batch, job) for batch in batches]
            if parts:
                yield _as_rows(job.merged(parts))

        schema = "name int, counts array<bigint>, total bigint, simulated boolean"
        empty = TABLES.tally(pa.table({name: pa.array([], pa.string()) for name in names}), job)
        found = dict(empty)
        for row in data.mapInArrow(count, schema).collect():
            counts = np.array(row.counts, dtype=np.int64)
            found[names[row.name]] += Tally(
                counts, row.total, row.simulated, found[names[row.name]].digest
            )
        return found


SPARK_TYPES: Mapping[pa.DataType, str] = {
    pa.int64(): "LongType",
    pa.float64(): "DoubleType",
    pa.string(): "StringType",
}
"""What Spark calls the types of reports."""


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
    DuckDBKind(),
    DaskFrameKind(),
    DaskSeriesKind(),
    SparkKind(),
    ProtocolKind(),
)
"""What engines hold, and last what speaks the protocol."""
