"""Draws for rows of a table: several columns, each with a mechanism of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import AnyArray, BoolArray, IntArray
from mechdesign.channel import Channel
from mechdesign.collection.tables.cells import Cells
from mechdesign.collection.tables.number_cells import NumberReader
from mechdesign.collection.tables.policies import LabelReader, Reader
from mechdesign.collection.tables.provenance import metadata_of, stamp_of, stamps
from mechdesign.collection.tables.report_columns import ReportColumns
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.mechanisms import Mechanism
from mechdesign.reports import drawn
from mechdesign.sampling import SIMULATION, Source, below

__all__ = ["NOTE", "ColumnDraws", "Drawer", "Found", "Policies", "RowDraws", "as_mechanism"]

NOTE = "note"
"""The column in which a simulation says that it is one."""

Policies = str | Mapping[Any, str]
"""A policy for all columns, or one for each by name."""


Drawer = Channel | Mechanism | ContinuousChannel
"""What draws a report for each record of a column."""


def as_mechanism(given: Any) -> Drawer:
    """Return a channel or a structured mechanism as it is, or raise InputError."""
    if not isinstance(given, Drawer):
        expected = "a Channel or a Mechanism, for numbers or points a channel of those"
        raise InputError("mechanism", expected, shown_kind(given))
    return given


class ColumnDraws:
    """What one column is drawn by, what became of its cells so far, and how reports are written."""

    def __init__(self, name: Any, mechanism: Drawer, unknown: str, missing: str) -> None:
        self.name, self.mechanism = name, as_mechanism(mechanism)
        self.reader: Reader
        if isinstance(mechanism, ContinuousChannel):
            self.reader = NumberReader(mechanism, unknown, missing)
        else:
            self.reader = LabelReader(mechanism.inputs, unknown, missing)

    @cached_property
    def in_table(self) -> ReportColumns:
        """How reports stand in a table in memory: in one column, which numbers stay numbers."""
        return ReportColumns(self.mechanism.alphabet, (self.name,), floats=True)

    @cached_property
    def in_file(self) -> ReportColumns:
        """How they stand in a file: pairs in two columns, if two are named."""
        names = (self.name,) if isinstance(self.name, str) else self.name
        return ReportColumns(self.mechanism.alphabet, names)


@dataclass(frozen=True)
class Found:
    """What became of a table: columns of reports, and the rows that they are of.

    Attributes
    ----------
    columns
        The reports, by the names of their columns.
    rows
        Positions of the rows that stay; None if all do.
    metadata
        What the reports say of themselves.
    """

    columns: dict[Any, pa.Array]
    rows: IntArray | None
    metadata: dict[bytes, bytes]

    def kept(self, cells: Any) -> Any:
        """Return the cells of a column that is copied, of the rows that stay."""
        return cells if self.rows is None else cells.take(pa.array(self.rows))


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
    noted
        Whether a column says that the reports are a simulation.
    stamped
        Whether a column beside each column of reports states its channel.

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
        noted: bool = False,
        stamped: bool = False,
    ) -> None:
        self._one_each, self._noted, self._stamped = one_each, noted, stamped
        for key, policies in (("unknown", unknown), ("missing", missing)):
            for name in policies if isinstance(policies, Mapping) else ():
                if name not in mechanisms:
                    raise InputError(key, "columns that are to be private", shown(name))
        self.columns = [
            ColumnDraws(name, mechanism, _policy(unknown, name), _policy(missing, name))
            for name, mechanism in mechanisms.items()
        ]

    def draw(
        self, cells: Sequence[Cells], sources: Sequence[Source], *, in_file: bool, counts: bool
    ) -> Found:
        """Return the reports of each column, for the rows that stay.

        Parameters
        ----------
        cells
            Those of each column.
        sources
            Where the bits for each column come from, and last those for the choice of a column.
        in_file
            Whether the reports are for a file, where one of a few texts is given by its number;
            else for a table in memory, where categories give categories.
        counts
            Whether readers count what reports were drawn for.

        Raises
        ------
        InputError
            For the first cell of a column that is refused; the key is its place.
        """
        values: list[AnyArray] = []
        stays: BoolArray | None = None
        for column, held in zip(self.columns, cells, strict=True):
            found, good = column.reader.read(held)
            values.append(found)
            if good is not None:
                stays = good if stays is None else stays & good
        rows = None if stays is None else np.flatnonzero(stays)
        if rows is not None:
            values, sources = [found[rows] for found in values], [one.of(rows) for one in sources]
        asked = below(sources[-1], len(values[0]), len(self.columns)) if self._one_each else None
        sent: dict[Any, pa.Array] = {}
        for n, column in enumerate(self.columns):
            data = drawn(column.mechanism, values[n], sources[n]).data
            written = column.in_file if in_file else column.in_table
            columns = written.of(data, written.are_few_texts if in_file else cells[n].categorical)
            own = None if asked is None else asked == n
            if own is not None:
                columns = {name: pc.if_else(own, one, None) for name, one in columns.items()}
            if counts:
                column.reader.count(values[n] if own is None else values[n][own])
            sent |= columns
            if self._stamped:
                sent[stamp_of(written.names)] = stamps(column.mechanism.digest, len(values[0]))
        if self._noted:
            sent[NOTE] = pa.repeat(SIMULATION, len(values[0]))
        return Found(sent, rows, self.metadata(in_file=in_file))

    def stamps(self, *, in_file: bool) -> list[str]:
        """Return the names of the columns that state channels."""
        written = [column.in_file if in_file else column.in_table for column in self.columns]
        return [stamp_of(each.names) for each in written] if self._stamped else []

    def metadata(self, *, in_file: bool) -> dict[bytes, bytes]:
        """Return what the reports say of themselves, in the metadata of a table."""
        digests = {
            name: column.mechanism.digest
            for column in self.columns
            for name in (column.in_file if in_file else column.in_table).names
        }
        return metadata_of(digests, self._noted)


def _policy(given: Policies, name: Any) -> str:
    return given.get(name, "refuse") if isinstance(given, Mapping) else given
