"""Privatize and count tables of every kind, and get back the same kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mechdesign.collection.tables.adapters import Adapter, adapter_of
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

__all__ = ["privatize", "tally"]

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

    What comes back is of the kind that is given. A table has the columns of reports, and no other
    column unless it is kept.

    Parameters
    ----------
    data
        A column: a list, an array of NumPy or Arrow, a Series of pandas, Polars or Dask. Or a
        table: of Arrow, also a batch or a reader of batches; a DataFrame of pandas, Polars, Dask or
        Spark; a LazyFrame; a relation of DuckDB; or what else speaks the Arrow C stream protocol,
        of which Arrow tables are made.
    mechanisms
        For a column, a Channel, a Mechanism, or for numbers, or points as text, "(0.5, 2)", a
        ContinuousChannel; for a table, one for each column by name. Draws are independent: what one
        person spends is the sum over the columns (:func:`spending`).
    rng
        None for the cryptographic source of the operating system; a seed or a
        ``numpy.random.Generator`` for a simulation, which the column ``note`` of a table marks.
    unknown, missing
        What becomes of a cell that is no label of the domain, and of one that holds nothing:
        ``"refuse"``, ``"drop"`` (the whole row) or ``"map:LABEL"``; for numbers of an interval also
        ``unknown="clip"``, to the nearer end; or a dict of these by column.
    keep
        Columns to copy as they are. They are not protected; nor is the index of pandas.

    key, ids
        A secret of the collection, 32 to 64 random bytes, and the column of the ids of the records,
        by name; for a column alone, the ids. A record's coins are then a keyed function of its id,
        the column and the mechanism: what is computed twice, as an engine may do, sends the same
        reports. Keep the key as you keep the records, use it for one collection, and let no id
        occur twice; that is checked within a table, or a part of it that an engine computes.
    one_each
        Whether each person is asked for one column only, chosen at random, whatever the record is;
        the other cells hold nothing. What one person spends is the largest budget, not the sum.
    stamp
        Whether a table gets, beside each column of reports, a column ``NAME_channel_sha256`` with
        the first 16 digits of the digest of its channel. :func:`tally` reads it, whatever was
        done to the rows since. Tables and batches of Arrow state the digests in their metadata,
        too, which is lost or kept for all rows where tables are joined.

    Raises
    ------
    InputError
        If a cell is refused: the key names its row, counted from 0, in a plan that of a part of
        the table; or an argument is wrong.

    Notes
    -----
    Cells are read as in files: as text, in which ``0.50`` is the number 0.5. Reports are whole
    numbers or floats where all outputs are such, else text; categories give categories.

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
        if source is None or source.column is None or not source.is_column:
            raise InputError("ids", "a column of ids in memory, one a record", shown_kind(ids))
        ids = source.column(ids, ALONE)
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
        What :func:`privatize` gave, or any data of those kinds.
    mechanisms
        What the reports were drawn by: one for a column, or a dict by column for a table.
    one_each
        Whether each person was asked for one column only, so that cells may hold nothing.
    check
        Whether reports are refused that state another channel, in the metadata of an Arrow table or
        in a column of :func:`privatize` with ``stamp=True``.

    Returns
    -------
    Tally or dict
        The tally of a column; for a table, one for each column by name. Tallies of parts add up.

    Raises
    ------
    InputError
        If a cell is no report of its mechanism: leaving it out would bias estimates.
    """
    adapter = _adapter_for(data, mechanisms)
    found: dict[Any, Tally] = adapter.tally(data, TallyJob(by_column(mechanisms), one_each, check))
    return found if isinstance(mechanisms, Mapping) else found[ALONE]


def _adapter_for(data: Any, mechanisms: Mechanisms) -> Adapter:
    """Return the adapter of some data, which fits what is asked for it.

    Raises
    ------
    InputError
        If it is of no known kind, or a column where a table is wanted, or the reverse.
    """
    adapter = adapter_of(data)
    if adapter is None:
        raise InputError("data", "a column or a table of a known kind", shown_kind(data))
    if adapter.is_column == isinstance(mechanisms, Mapping):
        expected = "one mechanism" if adapter.is_column else "a dict of mechanisms, by column"
        given = "a dict" if adapter.is_column else "one alone"
        raise InputError("mechanisms", f"{expected} for {shown_kind(data)}", given)
    return adapter
