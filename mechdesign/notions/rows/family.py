"""The rows of one notion in a cone, and what follows from them.

Every row of every notion here is one inequality on a column q,

    left . q <= e**a (right . q)          left, right >= 0.

A family has three parts: its **rows**, exact and as a float matrix; their **repair**, which makes a
nearly private column satisfy them; and their **leakage**, the least epsilon at which they hold. All
of it follows from :meth:`Family.rows` alone. A family with more structure, such as ratios of two
entries, overrides the methods that it can compute faster.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

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

if TYPE_CHECKING:
    from mechdesign.notions.rows.lift_rows import LiftRows
    from mechdesign.notions.rows.pair_rows import PairRows

__all__ = ["Edges", "Family", "components", "edges_of"]

F = TypeVar("F", bound="Family")

Edges: TypeAlias = tuple[IntArray, IntArray]
"""Pairs of inputs, as an array of the first ones and one of the second ones."""

FAR = 4000
"""The largest exponent of e with a rational upper bound."""


class Family(ABC):
    """The rows of one notion, on columns of ``size`` entries.

    Attributes
    ----------
    size
        The number of inputs.
    epsilon
        The epsilon of the bounds.
    """

    size: int
    epsilon: Fraction
    kernel: Callable[[Fraction], Cone] | None = None
    """Returns the generator at an epsilon; without it, the generator lists the rows."""

    floor: float = 0.0
    """The smallest reported leakage."""

    # --- rows -------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the rows, exact and named."""

    @abstractmethod
    def at(self, epsilon: Fraction) -> Family:
        """Return the same rows at another epsilon."""

    def _moved(self, found: F) -> F:
        """Return rows at another epsilon, with the kernel and the floor of these."""
        found.kernel, found.floor = self.kernel, self.floor
        return found

    @abstractmethod
    def restricted(self, inputs: IntArray) -> Family:
        """Return the rows on a subset of the inputs that shares no row with the others.

        Numbered rows keep their numbers.
        """

    def merged(self, _member_of: IntArray) -> tuple[Family, CarryBack] | None:
        """Return the rows after merging each class of inputs with equal entries into one input.

        Parameters
        ----------
        member_of
            ``(size,)``: the index of the class of each input.

        Returns
        -------
        family, carry_back
            Rows on columns with one entry for each class, and the function that maps multipliers on
            them back: the terms w (e**-a left - right) of the inputs in a class sum to those of the
            class. None if the rows cannot be merged.
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
        """The number of each row in multipliers, in increasing order."""
        return np.arange(len(self._exact.rows))

    def matrix(self) -> sp.csr_array:
        """Return the rows as a float matrix G of shape ``(n_rows, size)``: G q <= 0."""
        return self._exact.matrix

    def binds(self) -> bool:
        """Return whether any column violates a row, exactly: if not, nothing is constrained."""
        return any(v > 0 for row in self._exact.integers for v in row.values())

    def links(self) -> Edges:
        """Return edges that connect the inputs that share a row."""
        return edges_of((min(row), x) for row in self._exact.integers for x in row)

    def read_dual(self, weights: FloatArray) -> list[Multipliers]:
        """Convert multipliers of the rows of :meth:`matrix`, ``(n_rows, n_outputs)``."""
        row, output = np.nonzero(weights > 0)
        weight = weights[row, output] / self._exact.scale[row]
        number = self.row_numbers[row]
        return [Multipliers(NUMBERED, output, number, np.zeros_like(number), weight)]

    def rows_of(self, found: Multipliers, _labels: Sequence[Label]) -> list[Row]:
        """Return the row of each multiplier, with the user's labels in its name.

        Parameters
        ----------
        found
            Multipliers on rows of this family.
        labels
            The labels of the inputs that multipliers refer to by number.
        """
        places = np.searchsorted(self.row_numbers, found.x)
        return [self._exact.rows[r] for r in places.tolist()]

    def add_terms(self, costs: FloatArray, found: Multipliers) -> None:
        """Add the terms w (e**-a left - right) of multipliers w to the costs of the entries of Q.

        Parameters
        ----------
        costs
            ``(size, n_outputs)``, changed in place. No term is positive at a private column, so the
            sum over inputs of their least costs is then a lower bound on the optimum.
        found
            Multipliers on rows of this family.
        """
        row = np.searchsorted(self.row_numbers, found.x)
        shape = (len(self.row_numbers), costs.shape[1])
        weights = sp.csr_array((found.weight, (row, found.output)), shape=shape)
        costs += (self._exact.terms.T @ weights).toarray()

    def __getstate__(self) -> dict[str, Any]:
        """Drop the cached test function."""
        return {key: value for key, value in vars(self).items() if key != "_test"}

    # --- what holds -------------------------------------------------------------------------------

    def generator(self) -> Cone:
        """Return the kernel generator of the rows, which decides what holds."""
        if self.kernel is not None:
            return self.kernel(self.epsilon)
        return Rows(tuple(map(_listed, self.rows())))

    @cached_property
    def _test(self) -> Test:
        return self.generator().test(self.size)

    def row_of(self, key: Key, _column: Sequence[int]) -> Row:
        """Return the row with a generator's key, which a column violates."""
        return next(islice(self.rows(), key[1], None))

    def broken(self, column: Sequence[int]) -> Row | None:
        """Return a row that an integer column violates, exactly; None if none."""
        key = self._test(column)
        return None if key is None else self.row_of(key, column)

    def violation(self, column: Sequence[int]) -> str | None:
        """Return the name of a row that an integer column violates, exactly; None if none."""
        row = self.broken(column)
        return None if row is None else row.name

    def worst(self, columns: npt.NDArray[Any]) -> tuple[int, Row | None]:
        """Return a column and a row that it violates; the worst, if that is fast to find."""
        return 0, self.broken(columns[:, 0].tolist())

    def surely_holding(self, columns: npt.NDArray[Any]) -> BoolArray:
        """Return for each column whether a fast test proves that it satisfies the rows."""
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

        A row that a column violates gives a lower bound, and the search goes on with the columns
        that violate the rows there: in random order, few columns raise the bound.
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
        """Return rows g with g . q = 0 in every column; :meth:`forced_equal` may cover ties.

        Let g . 1 = 0. The columns of a channel sum to 1, so their g . q sum to 0; as none is
        positive, each is 0.

        Parameters
        ----------
        exact
            Whether to leave out rows whose bound was rounded to 1. Channels that are proved private
            in integers satisfy those as well.
        """
        found = {}
        for r in self._exact.tight:
            row = self._exact.integers[r]
            if exact and self._exact.rows[r].exponent:
                continue
            head = row[min(row)]  # normalizes the sign and scale of the equation
            line = [Fraction(row.get(x, 0), head) for x in range(self.size)]
            found[tuple(line)] = line
        return list(found.values())

    def forced_equal(self) -> Edges:
        """Return pairs of inputs whose rows of Q are equal by bounds of 1.

        Ties in :meth:`equations` may be left out.
        """
        return edges_of(())

    def support(self, positive: BoolArray) -> BoolArray:
        """Return the least supports of columns that contain the given ones.

        A row that is positive on its left needs a positive entry on its right. Where there is a
        choice, the whole right-hand side is added.

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
        """Raise entries of columns as far as that surely satisfies rows.

        ``columns`` are integers from 0 to 2**62, shape ``(n_inputs, n_outputs)``. In general a
        larger entry satisfies one row and violates another, and nothing is raised.
        """
        return columns

    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Return the least t >= 0 that makes ``column + t * direction`` satisfy the rows.

        ``direction`` has an integer >= 0 for each input. None if no t does.
        """
        return self._exact.raise_needed(column, direction)


def edges_of(pairs: Iterable[tuple[int, int]]) -> Edges:
    """Return pairs of inputs as two arrays."""
    x, other = np.array([*pairs], dtype=np.intp).reshape(-1, 2).T
    return x, other


def components(size: int, graphs: Sequence[Edges]) -> IntArray:
    """Return the number of the component of each input in the union of some graphs, from 0.

    Components are numbered in the order of their first inputs. Each label is an input of the
    component, at most the input itself: the labels of an edge fall to the smaller of both.
    """
    x, other = np.hstack(graphs)
    label = np.arange(size)
    while ((a := label[x]) != (b := label[other])).any():
        least = np.minimum(a, b)
        np.minimum.at(label, a, least)
        np.minimum.at(label, b, least)
        while (label != (further := label[label])).any():
            label = further
    return np.unique(label, return_inverse=True)[1]


def _listed(row: Row) -> ListedRow:
    """Return a row for the kernel; e to a very negative exponent becomes 0."""
    if row.exponent < -FAR:
        return ListedRow(tuple(row.left.items()), Fraction(0), ())
    return ListedRow(tuple(row.left.items()), row.exponent, tuple(row.right.items()))
