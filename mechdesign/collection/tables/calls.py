"""Privatize and tally columns and tables of all supported libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mechdesign.collection.tables.adapters import Adapter, adapter_of, arrow_column
from mechdesign.collection.tables.jobs import (
    ALONE,
    Drawer,
    Policies,
    PrivatizeJob,
    TallyJob,
    by_column,
)
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.reports import Tally
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
            raise InputError("ids", "a column of ids in memory, one a record", shown_kind(ids))
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
    """Return the adapter for data.

    Raises
    ------
    InputError
        If the class is unknown, or the data are a column and the mechanisms are for a table, or the
        reverse.
    """
    adapter = adapter_of(data)
    if adapter is None:
        raise InputError("data", "a column or a table of a known kind", shown_kind(data))
    if adapter.is_column == isinstance(mechanisms, Mapping):
        expected = "one mechanism" if adapter.is_column else "a dict of mechanisms, by column"
        given = "a dict" if adapter.is_column else "one alone"
        raise InputError("mechanisms", f"{expected} for {shown_kind(data)}", given)
    return adapter
