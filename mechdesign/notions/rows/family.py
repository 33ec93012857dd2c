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
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, Int64Array, IntArray
from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.kernel.generators import Cone, Key, ListedRow, Rows
from mechdesign.kernel.generators.base import Test
from mechdesign.notions.rows.exact_rows import ExactRows
from mechdesign.notions.rows.least import decimal, reported
from mechdesign.notions.rows.row import NUMBERED, CarryBack, Multipliers, Row
from mechdesign.prior_sets import Weights

if TYPE_CHECKING:
    from mechdesign.notions.rows.lift_rows import LiftRows
    from mechdesign.notions.rows.pair_rows import PairRows

__all__ = ["Family"]

F = TypeVar("F", bound="Family")

FAR = 4000
"""e to this still has a bound from above."""


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
    kernel: Callable[[Fraction], Cone] | None = None
    """Makes the generator at an epsilon; without it, the generator is the list of the rows."""

    floor: float = 0.0
    """The least epsilon that is called a leakage."""

    # --- rows -------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the rows, exact and named."""

    @abstractmethod
    def at(self, epsilon: Fraction) -> Family:
        """Return the same rows at another epsilon."""

    def _moved(self, found: F) -> F:
        """Return these rows at another epsilon, with what makes their generator."""
        found.kernel, found.floor = self.kernel, self.floor
        return found

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

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the test, a function that is made when it is wanted."""
        return {key: value for key, value in vars(self).items() if key != "_test"}

    # --- what holds -------------------------------------------------------------------------------

    def generator(self) -> Cone:
        """Return the rows as the kernel has them, which decides what holds."""
        if self.kernel is not None:
            return self.kernel(self.epsilon)
        return Rows(tuple(map(_listed, self.rows())))

    @cached_property
    def _test(self) -> Test:
        return self.generator().test(self.size)

    def row_of(self, key: Key, _column: Sequence[int]) -> Row:
        """Return the row that the generator names, and that a column breaks."""
        return next(islice(self.rows(), key[1], None))

    def broken(self, column: Sequence[int]) -> Row | None:
        """Return a row that an integer column breaks, exactly; None if none."""
        key = self._test(column)
        return None if key is None else self.row_of(key, column)

    def violation(self, column: Sequence[int]) -> str | None:
        """Return the name of a row that an integer column breaks, exactly; None if none."""
        row = self.broken(column)
        return None if row is None else row.name

    def worst(self, columns: npt.NDArray[Any]) -> tuple[int, Row | None]:
        """Return a column, and a row that it breaks; the worst, where that is quick."""
        return 0, self.broken(columns[:, 0].tolist())

    def surely_holding(self, columns: npt.NDArray[Any]) -> BoolArray:
        """Return for each column whether it is quickly seen that it satisfies the rows."""
        return self._exact.surely_holding(columns)

    def holding(self, columns: npt.NDArray[Any]) -> BoolArray:
        """Return for each column of ``(size, n_outputs)`` integers whether the rows hold."""
        good = self.surely_holding(columns)
        for y in np.flatnonzero(~good).tolist():
            good[y] = self._test(columns[:, y].tolist()) is None
        return good

    def all_hold(self, columns: npt.NDArray[Any]) -> bool:
        """Return whether all columns satisfy the rows, exactly."""
        return bool(self.holding(columns).all())

    def leakage(self, channel: Channel) -> float:
        """Return the least float epsilon at which the exact channel satisfies the rows.

        One row that one column breaks says how large it is at least; then so does one of those that
        still break, and so on: few columns are above all before them, in random order.
        """
        columns = np.random.default_rng(0).permutation(channel.numerators, axis=1)
        family, found = self.at(decimal(self.floor)), self.floor
        while columns.shape[1]:
            y, row = family.worst(columns)
            if row is not None:
                least = row.least_epsilon(columns[:, y].tolist(), family.epsilon)
                found = max(math.nextafter(found, math.inf), least)
                if math.isinf(found):
                    return found
                family = self.at(decimal(found))
            columns = columns[:, ~family.holding(columns)]
        return reported(max(0.0, found) if found == self.floor else found, self.epsilon)

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

    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Return the least t >= 0 that makes ``column + t * direction`` satisfy the rows.

        ``direction`` is a whole number >= 0 on each input. None: no t does.
        """
        return self._exact.raise_needed(column, direction)


def _listed(row: Row) -> ListedRow:
    """Return a row as the kernel has it; e to a number far below 0 counts as 0."""
    if row.exponent < -FAR:
        return ListedRow(tuple(row.left.items()), Fraction(0), ())
    return ListedRow(tuple(row.left.items()), row.exponent, tuple(row.right.items()))
