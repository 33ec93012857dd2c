"""Tables and columns of other libraries, which are read as Arrow: privatize and count.

Only libraries that the user has loaded are used: a pandas table exists only if pandas is imported.
All adapters draw and count by :mod:`~mechdesign.collection.tables.jobs`: data in memory are one
batch, an engine computes many.
"""

from __future__ import annotations

import pickle
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from mechdesign.collection.tables.cells import Batch, Column
from mechdesign.collection.tables.jobs import (
    ALONE,
    Drawer,
    Drawn,
    Policies,
    PrivatizeJob,
    RecordTags,
    TallyJob,
    by_column,
    check_distinct,
)
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.reports import Reports, Tally
from mechdesign.sampling import Randomness

Mechanisms = Drawer | Mapping[Any, Drawer]


def privatize(
    data: Any,
    mechanisms: Mechanisms,
    *,
    rng: Randomness = None,
    unknown: Policies = "refuse",
    missing: Policies = "refuse",
    keep: Iterable[Any] = (),
    key: bytes | None = None,
    ids: Any = None,
    one_each: bool = False,
    stamp: bool = False,
) -> Any:
    """Draw a report for each record of a column, or for each record and column of a table.

    The result has the type of ``data``. A table contains the columns of reports, and other columns
    only if they are in ``keep``.

    Parameters
    ----------
    data
        A column: a list, a NumPy or Arrow array, a Series of pandas, Polars or Dask. Or a table: an
        Arrow table, record batch or reader of batches; a DataFrame of pandas, Polars, Dask or
        Spark; a LazyFrame; a DuckDB relation; or any other object with the Arrow C stream protocol,
        for which the result is an Arrow table.
    mechanisms
        For a column, a Channel, a Mechanism, or, for numbers or for points as text such as
        "(0.5, 2)", a ContinuousChannel; for a table, one for each column by name. Draws are
        independent: the total leakage per person is the sum over the columns (:func:`spending`).
    rng
        None for the cryptographic source of the operating system; a seed or a
        ``numpy.random.Generator`` for a simulation, marked by the column ``note`` of a table.
    unknown, missing
        The treatment of cells that are not labels of the domain, and of empty cells: ``"refuse"``,
        ``"drop"`` (the whole row) or ``"map:LABEL"``; for numbers in an interval also
        ``unknown="clip"``, to the nearer end; or a dict of these by column.
    keep
        Columns to copy unchanged. They are not protected; nor is the index of pandas.

    key, ids
        A secret key of the collection, 32 to 64 random bytes, and the name of the column of record
        ids, or for a single column the ids. The coins of a record are then a keyed function of its
        id, the column and the mechanism, so repeated computations, as in an engine, yield the same
        reports. Keep the key as safe as the records, and use it for one collection only. Ids must
        be unique; this is checked within a table, or within each part that an engine computes.
    one_each
        Whether each person is asked for one column only, chosen at random and independently of the
        record; the other cells are empty. The total leakage is the largest budget, not the sum.
    stamp
        Whether to add to a table a column ``NAME_channel_sha256`` for each column of reports, with
        the first 16 digits of the digest of its channel. :func:`tally` checks it for each row, also
        after rows were rearranged. Arrow tables and batches also have the digests in their
        metadata, which may be lost, or attributed to all rows, when tables are combined.

    Raises
    ------
    InputError
        If a cell is rejected, where the key gives its row, counted from 0 within the table or the
        part of a lazy table; or if an argument is invalid.

    Notes
    -----
    Cells are read as in files: as text, in which ``0.50`` is the number 0.5. Reports are integers
    or floats if all outputs are, else text; categorical columns give categorical reports.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> table = pa.table({"name": ["Ann", "Bob"], "ill": ["yes", "no"]})
    >>> reports = privatize(table, {"ill": warner})
    >>> reports.column_names, reports.num_rows
    (['ill'], 2)
    >>> tally(reports, {"ill": warner})["ill"].total
    2
    """
    adapter = _adapter_for(data, mechanisms)
    if adapter.is_column and ids is not None:
        source = adapter_of(ids)
        if source is None or not source.is_column or source.draws_again:
            raise InputError(
                "ids", "a column of ids in memory, one a record", shown_kind(type(ids))
            )
        ids = arrow_column(ids)
    job = PrivatizeJob(
        by_column(mechanisms),
        unknown,
        missing,
        keep=keep,
        rng=rng,
        key=key,
        ids=ids,
        one_each=one_each,
        stamp=stamp,
    )
    if adapter.draws_again and job.rng is not None:
        expected = f"none for {shown_kind(data)}, whose parts may be drawn for more than once"
        raise InputError("rng", expected, shown(rng))
    return adapter.privatize(data, job)


def tally(data: Any, mechanisms: Mechanisms, *, one_each: bool = False, check: bool = True) -> Any:
    """Count the reports in a column, or in the columns of a table.

    Parameters
    ----------
    data
        The result of :func:`privatize`, or any data of the same types.
    mechanisms
        The mechanisms of the reports: one for a column, or a dict by column for a table.
    one_each
        Whether each person was asked for one column only, so that cells may be empty.
    check
        Whether to reject reports that state another channel, in the metadata of an Arrow table or
        in a column of :func:`privatize` with ``stamp=True``.

    Returns
    -------
    Tally or dict
        The tally of a column; for a table, a dict of tallies by column. Tallies of parts add up.

    Raises
    ------
    InputError
        If a cell is not a report of its mechanism: omitting it would bias estimates.
    """
    adapter = _adapter_for(data, mechanisms)
    found: dict[Any, Tally] = adapter.tally(data, TallyJob(by_column(mechanisms), one_each, check))
    return found if isinstance(mechanisms, Mapping) else found[ALONE]


def _adapter_for(data: Any, mechanisms: Mechanisms) -> Adapter:
    """Return the adapter for data, which must be a column or a table as the mechanisms are."""
    adapter = adapter_of(data)
    if adapter is None:
        hint = "mechanism.tally(reports) counts Reports" if isinstance(data, Reports) else ""
        expected = "a column or a table of a known kind"
        raise InputError("data", expected, shown_kind(type(data)), hint)
    if adapter.is_column == isinstance(mechanisms, Mapping):
        expected = "one mechanism" if adapter.is_column else "a dict of mechanisms, by column"
        given = "a dict" if adapter.is_column else "one alone"
        raise InputError("mechanisms", f"{expected} for {shown_kind(data)}", given)
    return adapter


# --- adapters -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Adapter:
    """The adapter for a class of a library: a column, a table, or a lazy table.

    ``place`` names the class, such as ``"pandas.DataFrame"``; it is empty for any class with the
    Arrow C stream protocol. ``privatize`` returns the reports in the same class, from the data, the
    job, and whether row numbers in errors refer to a part, or the rows and records of a stream that
    came before; ``tally`` the tally of each column. A part of a lazy class may be drawn more than
    once (``draws_again``).
    """

    place: str
    privatize: Callable[..., Any]
    tally: Callable[..., dict[Any, Tally]]
    is_column: bool = False
    draws_again: bool = False

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


# --- data in memory -------------------------------------------------------------------------------

Give = Callable[[Any, Drawn, Sequence[Any]], Any]
"""Returns reports in the class of the data; the last argument is the columns to copy."""


def arrow_column(data: Any) -> Column:
    """Return a column in memory as an Arrow array; its cells must have one known type."""
    dtype = str(getattr(data, "dtype", ""))
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return data
    if isinstance(data, np.ndarray) and data.ndim != 1:
        raise InputError("data", "an array of one axis", f"one of {data.ndim}")
    if dtype == "Object":  # of Polars
        raise InputError("data", "a column of text or numbers", "Python objects")
    is_polars = hasattr(data, "to_arrow")
    try:
        return data.to_arrow() if is_polars else pa.array(data, from_pandas=True)
    except (pa.ArrowException, OverflowError, ValueError):  # their messages quote a cell
        given = dtype if is_polars else "cells of other types"
        raise InputError("data", "a column of text or numbers", given) from None


def _in_memory(place: str, give: Give, *, is_column: bool = False) -> Adapter:
    """Return the adapter for data in memory, which are one batch."""

    def batch(data: Any, read: Sequence[Any], in_part: bool = False, before: int = 0) -> Batch:
        is_arrow = isinstance(data, pa.Table | pa.RecordBatch)
        names = [ALONE] if is_column else data.schema.names if is_arrow else list(data.columns)
        _check_names(read, names)
        return Batch(
            lambda name: arrow_column(data if is_column else data[name]),
            partial(_where, in_part, before),
            names,
            data.schema.metadata if is_arrow else None,
        )

    def privatize(
        data: Any,
        job: PrivatizeJob,
        in_part: bool = False,
        before: int = 0,
        seen: list[RecordTags] | None = None,
    ) -> Any:
        return give(data, job.draw(batch(data, job.read, in_part, before), seen), job.keep)

    def tally(data: Any, job: TallyJob, before: int = 0) -> dict[Any, Tally]:
        return job.count(batch(data, job.read, before=before))

    return Adapter(place, privatize, tally, is_column)


def _where(in_part: bool, before: int, names: tuple[Any, ...], row: int | None = None) -> str:
    named = "data" if names == (ALONE,) else f"data[{names[0]!r}]"
    return named if row is None else f"{named}, row {before + row}{' of a part' * in_part}"


def _check_names(wanted: Iterable[Any], names: list[Any]) -> None:
    """Raise InputError unless a table has each of some columns exactly once."""
    for name in wanted:
        if names.count(name) != 1:
            given = "several" if name in names else f"the columns {shown(names)}"
            raise InputError("data", f"one column {shown(name)}", given)


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


def _to_polars(data: Any, drawn: Drawn, keep: Sequence[Any]) -> Any:
    frame, some = sys.modules["polars"].from_arrow(pa.table(drawn.columns)), data.select(keep)
    return frame.hstack(some if drawn.rows is None else some[drawn.rows])


TABLE = _in_memory("pyarrow.Table", _to_arrow)
BATCH = _in_memory("pyarrow.RecordBatch", _to_arrow)
PANDAS_FRAME = _in_memory("pandas.DataFrame", _to_pandas)
POLARS_FRAME = _in_memory("polars.DataFrame", _to_polars)

COLUMNS: dict[str, Give] = {
    "builtins.list": lambda _, drawn, __: drawn.columns[ALONE].to_pylist(),
    "numpy.ndarray": _to_numpy,
    "pyarrow.Array": lambda _, drawn, __: drawn.columns[ALONE],
    "pyarrow.ChunkedArray": lambda _, drawn, __: pa.chunked_array([drawn.columns[ALONE]]),
    "pandas.Series": lambda data, drawn, _: _pandas(drawn, data.index)["0"].rename(data.name),
    "polars.Series": lambda data, drawn, _: type(data)(data.name, drawn.columns[ALONE]),
}


# --- engines --------------------------------------------------------------------------------------


def _streaming(place: str, give: Callable[[Any, Any], Any]) -> Adapter:
    """Return the adapter for a class with the Arrow C stream protocol.

    ``give`` returns the result, from the data and a reader of batches of reports, each drawn when
    it is read.
    """

    def stream(data: Any) -> Any:
        try:
            return pa.RecordBatchReader.from_stream(data)
        except (pa.ArrowException, TypeError):
            raise InputError("data", "a stream of rows of a table", "another stream") from None

    def privatize(data: Any, job: PrivatizeJob) -> Any:
        batches = stream(data)
        empty = TABLE.privatize(batches.schema.empty_table(), job)
        return give(data, pa.RecordBatchReader.from_batches(empty.schema, _drawn(batches, job)))

    def tally(data: Any, job: TallyJob) -> dict[Any, Tally]:
        batches = stream(data)
        parts, before = [TABLE.tally(batches.schema.empty_table(), job)], 0
        for batch in batches:
            parts.append(BATCH.tally(batch, job, before))
            before += batch.num_rows
        return job.merged(parts)

    return Adapter(place, privatize, tally)


def _drawn(
    batches: Iterable[pa.RecordBatch], job: PrivatizeJob, in_part: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield the reports of each batch of a stream or a part, all of whose ids differ."""
    before, seen = 0, list[RecordTags]()
    for batch in batches:
        yield BATCH.privatize(batch, job, in_part, before, seen)
        before += batch.num_rows
    if seen:
        check_distinct(seen, partial(_where, in_part, 0, (job.ids,)))


def _to_duckdb(data: Any, reports: Any) -> Any:
    """Return a relation of the same connection; the reports are drawn once and stored.

    DuckDB reads the variable of a name only if no table of the connection has it, so it is random.
    """
    name = f"reports_{secrets.token_hex(16)}"
    globals()[name] = reports.read_all()
    try:
        return data.query("records", f"SELECT * FROM {name}")
    finally:
        del globals()[name]


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


def _empty(data: Any, job: PrivatizeJob | TallyJob) -> pa.Table:
    """Return a table without rows of the columns of a Spark DataFrame that are read."""
    _check_names(job.read, data.columns)
    return pa.table({name: pa.array([], pa.string()) for name in job.read})


def _spark_privatize(data: Any, job: PrivatizeJob) -> Any:
    """Return a Spark DataFrame; the reports of a partition are drawn when it is computed."""

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _drawn(batches, job, in_part=True)

    types = import_module("pyspark.sql.pandas.types")
    reports = types.from_arrow_schema(TABLE.privatize(_empty(data, job), job).schema)
    fields = [data.schema[f.name] if f.name in job.keep else f for f in reports]
    return data.mapInArrow(draw, type(reports)(fields))


def _spark_tally(data: Any, job: TallyJob) -> dict[Any, Tally]:
    """Count each partition on its worker, and merge the counts."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = [pickle.dumps(BATCH.tally(batch, job)) for batch in batches]
        yield pa.record_batch({"counts": pa.array(counts, pa.binary())})

    rows = data.mapInArrow(count, "counts binary").collect()
    empty = TABLE.tally(_empty(data, job), job)
    return job.merged([empty, *(pickle.loads(row.counts) for row in rows)])


ADAPTERS: tuple[Adapter, ...] = (
    TABLE,
    BATCH,
    PANDAS_FRAME,
    POLARS_FRAME,
    *(_in_memory(place, give, is_column=True) for place, give in COLUMNS.items()),
    _dask("DataFrame", PANDAS_FRAME),
    _dask("Series", _in_memory("pandas.Series", COLUMNS["pandas.Series"], is_column=True)),
    Adapter(
        "polars.LazyFrame",
        _polars_plan_privatize,
        lambda data, job: POLARS_FRAME.tally(data.collect(), job),
        draws_again=True,
    ),
    Adapter("pyspark.sql.DataFrame", _spark_privatize, _spark_tally, draws_again=True),
    _streaming("pyarrow.RecordBatchReader", lambda _, reports: reports),
    _streaming("duckdb.DuckDBPyRelation", _to_duckdb),
    _streaming("", lambda _, reports: reports.read_all()),
)
"""The known classes, with the Arrow stream protocol last."""
