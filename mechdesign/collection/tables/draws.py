"""Draws for rows of a table: several columns, each with a mechanism of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import AnyArray, BoolArray, Int64Array, IntArray
from mechdesign.channel import Channel
from mechdesign.collection.tables.cells import Cells
from mechdesign.collection.tables.number_cells import NumberReader
from mechdesign.collection.tables.policies import LabelReader, Reader
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InputError, shown_kind
from mechdesign.mechanisms import Mechanism
from mechdesign.reports import Reports, drawn
from mechdesign.sampling import Source, below

__all__ = ["NOTE", "ColumnDraws", "Drawer", "Policies", "RowDraws", "RowReports", "as_mechanism"]

NOTE = "note"
"""The column in which a simulation says that it is one."""

Policies = str | Mapping[Any, str]
"""A policy for all columns, or one for each by name."""


Drawer = Channel | Mechanism | ContinuousChannel
"""What draws a report for each record of a column."""


def as_mechanism(given: Any) -> Drawer:
    """Return a channel or a structured mechanism as it is, or raise InputError."""
    if not isinstance(given, Drawer):
        expected = "a Channel or a Mechanism, or for numbers a ContinuousChannel"
        raise InputError("mechanism", expected, shown_kind(given))
    return given


class ColumnDraws:
    """What one column is drawn by, and what became of its cells so far."""

    def __init__(self, mechanism: Drawer, unknown: str, missing: str) -> None:
        self.mechanism = as_mechanism(mechanism)
        self.reader: Reader
        if isinstance(mechanism, ContinuousChannel):
            self.reader = NumberReader(mechanism, unknown, missing)
        else:
            self.reader = LabelReader(mechanism.inputs, unknown, missing)


@dataclass(frozen=True)
class RowReports:
    """Reports for the rows of a table.

    Attributes
    ----------
    drawn_for
        What the reports of each column were drawn for, where they are asked for.
    reports
        Those of each column.
    rows
        The rows that they are of; None for all.
    asked
        For each of these rows the number of the column that is sent; None where all are.
    """

    drawn_for: list[AnyArray]
    reports: list[Reports]
    rows: IntArray | None
    asked: Int64Array | None

    def sent(self, n: int, columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
        """Return the columns of the reports of one attribute, empty where another was asked."""
        if self.asked is None:
            return dict(columns)
        own = pa.array(self.asked == n)
        return {name: pc.if_else(own, cells, None) for name, cells in columns.items()}


class RowDraws:
    """Draws a report for each column of each row, and leaves out rows by the policies.

    Parameters
    ----------
    mechanisms
        What each column is drawn by, by the name of the column.
    unknown, missing
        What becomes of cells that are no label, and of cells that hold nothing.
    one_each
        Whether each person is asked for one column only, each as likely.

    Raises
    ------
    InputError
        If a mechanism is none, or a policy does not fit what it takes.
    """

    def __init__(
        self,
        mechanisms: Mapping[Any, Drawer],
        unknown: Policies,
        missing: Policies,
        one_each: bool = False,
    ) -> None:
        self._one_each = one_each
        self.columns = {
            name: ColumnDraws(mechanism, _policy(unknown, name), _policy(missing, name))
            for name, mechanism in mechanisms.items()
        }

    def draw(self, cells: Sequence[Cells], sources: Sequence[Source]) -> RowReports:
        """Return the reports of each column, for the rows that stay.

        Parameters
        ----------
        cells
            Those of each column.
        sources
            Where the bits for each column come from, and last those for the choice of a column.

        Raises
        ------
        InputError
            For the first cell of a column that is refused; the key is its place.
        """
        values: list[AnyArray] = []
        stays: BoolArray | None = None
        for column, held in zip(self.columns.values(), cells, strict=True):
            found, good = column.reader.read(held)
            values.append(found)
            if good is not None:
                stays = good if stays is None else stays & good
        rows = None if stays is None else np.flatnonzero(stays)
        if rows is not None:
            values, sources = [found[rows] for found in values], [one.of(rows) for one in sources]
        asked = None
        if self._one_each:
            asked = below(sources[-1], len(values[0]), len(self.columns))
        reports = [
            drawn(column.mechanism, found, source)
            for column, found, source in zip(self.columns.values(), values, sources, strict=False)
        ]
        if asked is not None:
            values = [found[asked == n] for n, found in enumerate(values)]
        return RowReports(values, reports, rows, asked)


def _policy(given: Policies, name: Any) -> str:
    return given.get(name, "refuse") if isinstance(given, Mapping) else given
