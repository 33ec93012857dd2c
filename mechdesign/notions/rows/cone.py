"""Cones of columns: the private columns q under one or several conic notions.

Rows come in families with a common structure, one family for each notion: ratios of entries
(`pair_rows`), ratios to the output distribution (`lift_rows`), either of them on a latent variable
(`of_generators`), or any rows (`family`). An intersection of notions is a list of families.

A budget of 0 about a sensitive attribute makes Pr(y|s) equal for all its values s: equations on
every column, which no mixing loosens. Their solutions are the combinations of a rational basis;
those whose free entries are multiples of its common denominator are integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import AnyArray, FloatArray, Int64Array, IntArray
from mechdesign.channel import Channel
from mechdesign.notions.rows.family import Family, components
from mechdesign.notions.rows.row import Multipliers, Row

if TYPE_CHECKING:
    from mechdesign.notions.rows.pair_rows import PairRows


Basis: TypeAlias = list[tuple[Fraction, ...]]
"""``(size, n_basis)``: a row for each entry, unit vectors for the free entries."""

MOST_UNIT = 1 << 40
"""The largest useful grid unit."""


def null_space(rows: Sequence[Sequence[Fraction]], size: int) -> Basis:
    """Return a basis of {v : row . v = 0 for all rows}, by Gauss and Jordan.

    Examples
    --------
    >>> equation = [Fraction(2), Fraction(-1), Fraction(-1)]
    >>> [[str(v) for v in row] for row in null_space([equation], 3)]
    [['1/2', '1/2'], ['1', '0'], ['0', '1']]
    """
    pivots = reduced(rows, size)
    free = [x for x in range(size) if x not in pivots]
    return [
        tuple(-pivots[x][z] for z in free) if x in pivots else tuple(Fraction(x == z) for z in free)
        for x in range(size)
    ]


def reduced(rows: Sequence[Sequence[Fraction]], size: int) -> dict[int, list[Fraction]]:
    """Return the reduced rows by pivot: each is 1 at its pivot, and 0 at the other pivots.

    Pivots are among the first ``size`` entries; right-hand sides may follow them.
    """
    pivots: dict[int, list[Fraction]] = {}
    for equation in rows:
        row = list(equation)
        for place, head in pivots.items():
            row = _less(row, row[place], head)
        pivot = max(range(size), key=lambda x: abs(row[x]))
        if not row[pivot]:
            continue
        row = [entry / row[pivot] for entry in row]
        for place, head in pivots.items():
            pivots[place] = _less(head, head[pivot], row)
        pivots[pivot] = row
    return pivots


def _less(row: list[Fraction], times: Fraction, other: list[Fraction]) -> list[Fraction]:
    return [a - times * b for a, b in zip(row, other, strict=True)] if times else row


def on_grid(basis: Basis, Q: FloatArray, whole: int) -> Int64Array | None:
    """Return integer columns in the span of a basis, near ``whole`` times those of a channel.

    The span contains the constants, and the rows of the result sum to ``whole``. None if the grid
    is too coarse, or an entry would be negative.
    """
    unit = math.lcm(*(entry.denominator for row in basis for entry in row))
    if unit > MOST_UNIT:
        return None
    width = len(basis[0])
    units = [tuple(Fraction(i == j) for j in range(width)) for i in range(width)]
    free = [basis.index(row) for row in units]
    steps = [[round(v * (whole / unit)) for v in Q[x].tolist()] for x in free]
    scaled = np.array([[int(entry * unit) for entry in row] for row in basis], dtype=object)
    columns = scaled @ np.array(steps, dtype=object)
    columns[:, int(np.argmax(Q.min(axis=0)))] += whole - columns.sum(axis=1)
    return columns.astype(np.int64) if columns.min() >= 0 else None


__all__ = ["Cone", "Family", "Multipliers", "Row"]


class Cone:
    """The columns allowed by one or more notions: the intersection of their families."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = tuple(families)
        self.size = self.families[0].size

    def rows(self) -> Iterator[Row]:
        """Yield all rows, exact and named."""
        for family in self.families:
            yield from family.rows()

    def matrix(self) -> sp.csr_array:
        """Return G as a sparse float matrix, in the order of :meth:`rows`."""
        return sp.csr_array(sp.vstack([family.matrix() for family in self.families]))

    @property
    def ratios(self) -> dict[int, PairRows]:
        """The families of bounds on ratios of two entries, by their places."""
        found = ((n, family.ratio_rows()) for n, family in enumerate(self.families))
        return {n: rows for n, rows in found if rows is not None}

    @property
    def is_by_ratios(self) -> bool:
        """Whether all families are bounds on ratios of two entries."""
        return len(self.ratios) == len(self.families)

    def lengths(self) -> FloatArray:
        """Return the least E with ln(q_x / q_x') <= E[x, x'] in a family; inf without a bound."""
        found = np.full((self.size, self.size), np.inf)
        for rows in self.ratios.values():
            np.minimum(found, rows.lengths(), out=found)
        return found

    def restricted(self, inputs: IntArray) -> Cone:
        """Return the cone on a subset of the inputs that shares no row with the others."""
        if len(inputs) == self.size:
            return self
        return Cone([family.restricted(inputs) for family in self.families])

    def violation(self, column: Sequence[int]) -> str | None:
        """Return the name of a row that an integer column violates, exactly; None if none."""
        found = (family.violation(column) for family in self.families)
        return next((name for name in found if name is not None), None)

    def all_hold(self, columns: AnyArray) -> bool:
        """Return whether all ``(size, n_outputs)`` integers satisfy every row, exactly."""
        return all(family.all_hold(columns) for family in self.families)

    def holds(self, channel: Channel) -> bool:
        """Return whether the exact channel satisfies every row, exactly."""
        return self.all_hold(channel.numerators)

    def components(self) -> IntArray:
        """Return the index of the component of each input.

        Inputs in different components share no row, so a utility that is linear in Q splits.
        """
        return components(self.size, [family.links() for family in self.families])

    def equal_classes(self, exact: bool = False) -> IntArray:
        """Return the class of each input; rows of Q in one class must be equal.

        Rows x and x' are equal in every Q that satisfies the equations of the families if rows x
        and x' of a basis of the solutions are equal. See :meth:`Family.equations` for ``exact``.
        """
        return self._ties(exact=True)[0] if exact else self._nearly_tied[0]

    def flat_basis(self) -> Basis | None:
        """Return a basis of the columns that satisfy all equations; None if these only tie rows."""
        classes, basis = self._nearly_tied
        return basis if basis is not None and len(basis[0]) <= max(classes) else None

    @cached_property
    def _nearly_tied(self) -> tuple[IntArray, Basis | None]:
        return self._ties(exact=False)

    def _ties(self, exact: bool) -> tuple[IntArray, Basis | None]:
        """The classes, and a basis if a family has equations on more than two entries."""
        classes = components(self.size, [family.forced_equal() for family in self.families])
        equations = [row for family in self.families for row in family.equations(exact)]
        if not equations:
            return classes, None
        first: dict[Any, int] = {}
        for x, c in enumerate(classes.tolist()):
            one = first.setdefault(c, x)
            if one < x:
                equations.append([Fraction((z == x) - (z == one)) for z in range(self.size)])
        basis = null_space(equations, self.size)
        numbers: dict[tuple[Fraction, ...], int] = {}
        return np.array([numbers.setdefault(row, len(numbers)) for row in basis]), basis
