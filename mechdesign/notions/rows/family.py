"""The rows that one notion contributes to a cone, and what follows from them.

Every row of every notion here is one inequality on a column q,

    left . q <= e**a (right . q)          left, right >= 0.

A family has three parts: its **rows**, exact and as a float matrix; their **repair**, how a nearly
private column is made to satisfy them; and their **leakage**, the least epsilon at which they hold.
All of it follows from :meth:`Family.rows` alone. A family that knows more about its rows, that they
are ratios of two entries, say, overrides what it can do better.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, Int64Array, IntArray
from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.exact import as_fraction
from mechdesign.notions.rows.exact_rows import ExactRows
from mechdesign.notions.rows.row import NUMBERED, CarryBack, Multipliers, Row, log_ratio
from mechdesign.prior_sets import Weights

if TYPE_CHECKING:
    from mechdesign.notions.rows.lift_rows import LiftRows
    from mechdesign.notions.rows.pair_rows import PairRows

__all__ = ["Family"]

LARGEST_EPSILON = Fraction(10**300)
"""Stands for an infinite epsilon."""

LEAST_STEP = 1e-290

FEW_UNITS = 4
"""So many units in the last place a leakage may be too large."""

CLOSE = 1e-9
"""Ratios whose logarithms in floating point are this near the largest are compared again."""


class Family(ABC):
    """Rows that one notion contributes, on columns of ``size`` entries.

    Attributes
    ----------
    size
        The number of inputs.
    epsilon
        The value at which the bounds stand.
    """

    size: int
    epsilon: Fraction

    # --- rows -------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the rows, exact and named."""

    @abstractmethod
    def at(self, epsilon: Fraction) -> Family:
        """Return the same rows at another epsilon."""

    @abstractmethod
    def restricted(self, inputs: IntArray) -> Family:
        """Return the rows on some of the inputs, which share none with the others.

        Where multipliers number the rows, the numbers stay.
        """

    def merged(self, _member_of: IntArray) -> tuple[Family, CarryBack] | None:
        """Return the rows with one input for each class of inputs whose entries are equal.

        Parameters
        ----------
        member_of
            ``(size,)``: the class of each input, from 0.

        Returns
        -------
        family, carry_back
            Rows on columns with one entry for each class, and what takes multipliers on them back:
            the terms w (e**-a left - right) of an input class sum to those on the class. None where
            the rows cannot be stated so.
        """
        return None

    def ratio_rows(self) -> PairRows | None:
        """Return these rows as bounds on ratios of two entries; None if they are not."""
        return None

    def lift_rows(self) -> LiftRows | None:
        """Return these rows as bounds on the lift; None if they are not."""
        return None

    @cached_property
    def _exact(self) -> ExactRows:
        return ExactRows(list(self.rows()), self.size)

    @cached_property
    def row_numbers(self) -> IntArray:
        """The number by which multipliers call each row, in rising order."""
        return np.arange(len(self._exact.rows))

    def matrix(self) -> sp.csr_array:
        """Return the rows as a float matrix G of shape ``(n_rows, size)``: G q <= 0."""
        return self._exact.matrix

    def binds(self) -> bool:
        """Return whether any column breaks a row: if not, nothing is constrained. Exact."""
        return any(v > 0 for row in self._exact.integers for v in row.values())

    def violation(self, column: Sequence[int]) -> str | None:
        """Return the name of a row that an integer column breaks, exactly; None if none."""
        row = self._exact.broken(column)
        return None if row is None else self._exact.rows[row].name

    def all_hold(self, numerators: npt.NDArray[Any]) -> bool:
        """Return whether every column of ``(n_inputs, n_outputs)`` integers satisfies the rows."""
        return bool(self.holding(numerators).all())

    def links(self) -> sp.csr_array:
        """Return a graph on the inputs that joins those which share a row."""
        edges = [(min(row), x) for row in self._exact.integers for x in row]
        return self._graph(*np.array(edges, dtype=np.intp).reshape(-1, 2).T)

    def _graph(self, x: IntArray, other: IntArray) -> sp.csr_array:
        """Return the graph on the inputs with these edges."""
        return sp.csr_array((np.ones(len(x)), (x, other)), shape=(self.size, self.size))

    def read_dual(self, weights: FloatArray) -> tuple[list[Multipliers], tuple[Weights, ...]]:
        """Turn multipliers of the rows of :meth:`matrix`, ``(n_rows, n_outputs)``, to named ones.

        Returns
        -------
        multipliers, priors
            The multipliers, and the priors that those on lift rows refer to.
        """
        row, output = np.nonzero(weights > 0)
        weight = weights[row, output] / self._exact.scale[row]
        number = self.row_numbers[row]
        return [Multipliers(NUMBERED, output, number, np.zeros_like(number), weight)], ()

    def rows_of(
        self, found: Multipliers, _priors: Sequence[Weights], _labels: Sequence[Label]
    ) -> list[Row]:
        """Return the row that each multiplier is on, named in terms of the user's labels.

        Parameters
        ----------
        found
            Multipliers on rows of this family.
        priors, labels
            What the numbers of priors and of inputs in them stand for; no priors given: the
            vertices of the set.
        """
        places = np.searchsorted(self.row_numbers, found.x)
        return [self._exact.rows[r] for r in places.tolist()]

    def add_terms(
        self,
        costs: FloatArray,
        found: Multipliers,
        _priors: Sequence[Sequence[Fraction | float]] = (),
    ) -> None:
        """Add the terms w (e**-a left - right) of multipliers w to the costs of the entries of Q.

        Parameters
        ----------
        costs
            ``(size, n_outputs)``, changed in place. As no private column makes a term positive, the
            sum over inputs of their least costs is then a lower bound on the optimum.
        found
            Multipliers on rows of this family.
        priors
            What those on lift rows refer to; none given: the vertices of the set.
        """
        row = np.searchsorted(self.row_numbers, found.x)
        shape = (len(self.row_numbers), costs.shape[1])
        weights = sp.csr_array((found.weight, (row, found.output)), shape=shape)
        costs += (self._exact.terms.T @ weights).toarray()

    # --- repair -----------------------------------------------------------------------------------

    def equations(self, exact: bool = False) -> list[list[Fraction]]:
        """Return rows g with g . q = 0 in every column; :meth:`forced_equal` may state ties.

        Let g . 1 = 0. The columns of a channel add up to 1, so that their g . q add up to 0; as
        none is positive, each is 0.

        Parameters
        ----------
        exact
            Whether to leave out rows whose bound is so near 1 that it was rounded to 1. Channels
            that are shown to be private in integers obey those as well.
        """
        found = {}
        for r in self._exact.tight:
            row = self._exact.integers[r]
            if exact and self._exact.rows[r].exponent:
                continue
            head = row[min(row)]  # the same equation is stated once, whatever its sign and scale
            line = [Fraction(row.get(x, 0), head) for x in range(self.size)]
            found[tuple(line)] = line
        return list(found.values())

    def forced_equal(self) -> sp.csr_array:
        """Return a graph on the inputs that joins those whose rows of Q bounds of 1 make equal.

        Ties that :meth:`equations` states need not be in it.
        """
        return sp.csr_array((self.size, self.size))

    def support(self, positive: BoolArray) -> BoolArray:
        """Return the least sets of inputs, with those given, that columns can be positive on.

        A row with something positive on its left needs something positive on its right. Where
        there is a choice, all of the right-hand side is taken.

        Parameters
        ----------
        positive
            Of shape ``(n_inputs, n_outputs)``.
        """
        plus, minus = self._exact.sides
        tight = self._exact.tight
        left, right = sp.vstack([plus, minus[tight]]), sp.vstack([minus, plus[tight]])
        while True:
            given = positive.astype(np.float64)
            missing = (left @ given > 0) & ~(right @ given > 0)
            wider: BoolArray = positive | (right.T @ missing.astype(np.float64) > 0)
            if (wider == positive).all():
                return wider
            positive = wider

    def raised(self, columns: Int64Array) -> Int64Array:
        """Raise entries of columns as far as that is sure to satisfy rows.

        ``columns`` are integers from 0 to 2**62, shape ``(n_inputs, n_outputs)``. In general a
        larger entry satisfies one row and breaks another, and nothing is raised.
        """
        return columns

    def holding(self, columns: npt.NDArray[Any]) -> BoolArray:
        """Return for each column whether it satisfies the rows, exactly."""
        return self._exact.holding(columns)

    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Return the least t >= 0 that makes ``column + t * direction`` satisfy the rows.

        ``direction`` is a whole number >= 0 on each input. None: no t does.
        """
        return self._exact.raise_needed(column, direction)

    # --- leakage ----------------------------------------------------------------------------------

    @property
    def largest_base(self) -> float:
        """The largest base of a bound: it sets the rounding error of :meth:`estimate`."""
        bases = (row.exponent - row.slope * self.epsilon for row in self._exact.rows)
        return max((abs(float(base)) for base in bases), default=0.0)

    def estimate(self, numerators: npt.NDArray[Any]) -> float:
        """Return the least epsilon at which all rows hold, in floating point.

        It is -inf where no bound moves with epsilon, and inf where no epsilon does.
        """
        moving = [row for row in self._exact.rows if row.slope > 0]
        if not moving:
            return -math.inf
        spare = max(0, int(numerators.max()).bit_length() - 1000)  # integers that fit a float
        q = (numerators >> spare).astype(np.float64)
        columns = numerators.T.tolist()
        found = np.empty((len(moving), len(columns)))
        for r, row in enumerate(moving):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.log(_dot(row.left, q)) - np.log(_dot(row.right, q))
            ratio[np.isnan(ratio)] = -math.inf  # 0 <= 0
            found[r] = (ratio - float(row.exponent - row.slope * self.epsilon)) / float(row.slope)
        worst = float(found.max())
        if math.isinf(worst):
            return worst
        close = np.argwhere(found >= worst - CLOSE * (1 + abs(worst)))
        return max(self._least_epsilon(moving[r], columns[y]) for r, y in close.tolist())

    def _least_epsilon(self, row: Row, column: list[int]) -> float:
        """Return the epsilon at which a row holds with equality, from exact sums."""
        left, right = (
            sum((v * column[x] for x, v in side.items()), Fraction(0))
            for side in (row.left, row.right)
        )
        ratio = Fraction(left, right) if right else Fraction(1, 1)
        base = float(row.exponent - row.slope * self.epsilon)
        return (log_ratio(ratio.numerator, ratio.denominator) - base) / float(row.slope)

    def leakage(self, channel: Channel) -> float:
        """Return the smallest float epsilon at which the exact channel satisfies the rows.

        The estimate is rounded up until the exact check passes, so it is never too small, and
        too large by a few units in the last place at most. What was asked for is tried first.
        """
        numerators = channel.numerators

        def holds(epsilon: Fraction) -> bool:
            family = self if epsilon == self.epsilon else self.at(epsilon)
            return family.all_hold(numerators)

        guess = self.estimate(numerators)
        if guess >= LARGEST_EPSILON:
            return math.inf
        if guess == -math.inf:
            return 0.0 if holds(LARGEST_EPSILON) else math.inf
        asked = float(self.epsilon)
        step = max(2.0**-52 * max(abs(guess), self.largest_base), LEAST_STEP)
        for near in (asked, math.nextafter(asked, 2 * asked)):
            if -FEW_UNITS * step <= guess - near <= CLOSE * (1 + near) and holds(as_fraction(near)):
                return near  # the budget asked for holds, and floats tell no smaller one from it
        is_first = True
        while not holds(as_fraction(guess)):
            if is_first and not holds(LARGEST_EPSILON):
                return math.inf
            is_first = False
            guess += step
            step *= 2
        return guess


def _dot(side: Any, q: FloatArray) -> FloatArray:
    """Return side . q of every column."""
    total: FloatArray = sum((float(v) * q[x] for x, v in side.items()), np.zeros(q.shape[1]))
    return total
