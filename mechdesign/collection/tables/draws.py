"""Draws for rows of a table: several columns, each with a mechanism of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mechdesign._typing import BoolArray, Int64Array, IntArray
from mechdesign.channel import Channel
from mechdesign.collection.tables.cells import Cells
from mechdesign.collection.tables.policies import LabelReader, Policy, policy_of
from mechdesign.errors import InputError, shown_kind
from mechdesign.mechanisms import Mechanism
from mechdesign.reports import Reports, drawn
from mechdesign.sampling import Source

__all__ = ["NOTE", "ColumnDraws", "Policies", "RowDraws", "as_mechanism"]

NOTE = "note"
"""The column in which a simulation says that it is one."""

Policies = str | Mapping[Any, str]
"""A policy for all columns, or one for each by name."""


def as_mechanism(given: Any) -> Channel | Mechanism:
    """Return a channel or a structured mechanism as it is, or raise InputError."""
    if not isinstance(given, Channel | Mechanism):
        raise InputError("mechanism", "a Channel or a Mechanism", shown_kind(given))
    return given


class ColumnDraws:
    """What one column is drawn by, and what became of its cells so far."""

    def __init__(self, mechanism: Channel | Mechanism, unknown: str, missing: str) -> None:
        self.mechanism = as_mechanism(mechanism)
        self.unknown: Policy = policy_of(unknown, "unknown", mechanism.inputs)
        self.missing: Policy = policy_of(missing, "missing", mechanism.inputs)
        self.labels = LabelReader(mechanism.inputs, self.unknown, self.missing)


class RowDraws:
    """Draws a report for each column of each row, and leaves out rows by the policies.

    Parameters
    ----------
    mechanisms
        What each column is drawn by, by the name of the column.
    unknown, missing
        What becomes of cells that are no label, and of cells that hold nothing.

    Raises
    ------
    InputError
        If a mechanism is none, or a policy does not fit its domain.
    """

    def __init__(
        self, mechanisms: Mapping[Any, Channel | Mechanism], unknown: Policies, missing: Policies
    ) -> None:
        self.columns = {
            name: ColumnDraws(mechanism, _policy(unknown, name), _policy(missing, name))
            for name, mechanism in mechanisms.items()
        }

    def draw(
        self, cells: Sequence[Cells], sources: Sequence[Source]
    ) -> tuple[list[Reports], IntArray | None]:
        """Return the reports of each column, and the rows that stay; None if all do.

        Parameters
        ----------
        cells
            Those of each column.
        sources
            Where the bits for each column come from.

        Raises
        ------
        InputError
            For the first cell of a column that is refused; the key is its place.
        """
        codes: list[Int64Array] = []
        stays: BoolArray | None = None
        for column, held in zip(self.columns.values(), cells, strict=True):
            found, good = column.labels.read(held)
            codes.append(found)
            if good is not None:
                stays = good if stays is None else stays & good
        rows = None if stays is None else np.flatnonzero(stays)
        reports = []
        for column, found, source in zip(self.columns.values(), codes, sources, strict=True):
            some = found if rows is None else found[rows]
            column.labels.count(some)
            own = source if rows is None else source.of(rows)
            reports.append(drawn(column.mechanism, some, own))
        return reports, rows


def _policy(given: Policies, name: Any) -> str:
    return given.get(name, "refuse") if isinstance(given, Mapping) else given
