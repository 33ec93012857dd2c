"""Bounds on ratios of two entries of a column: the E matrix of context-aware LDP.

    q_x <= factor * e**(base + slope * epsilon) * q_x'     for some ordered pairs (x, x')

Acharya et al. 2020, Definition 2 (context-aware LDP), and its special cases: LDP, high-low,
block-structured and metric privacy, differential identifiability.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.domain import Label
from mechdesign.errors import shown
from mechdesign.kernel.generators import Key
from mechdesign.notions.rows.family import Edges, Family, components
from mechdesign.notions.rows.ratio_steps import FREE, Raising
from mechdesign.notions.rows.row import Bound, BoundsAt, CarryBack, Multipliers, Row

__all__ = ["FREE", "PairRows"]


class PairRows(Family):
    """Bounds on ``q_x / q_x'`` for ordered pairs of inputs.

    Parameters
    ----------
    name
        The notion, for the names of the rows.
    bounds
        The distinct bounds.
    index
        ``(size, size)`` integers: the bound on ``q_x / q_x'``, or -1 for none. The diagonal is
        ignored.
    epsilon
        The epsilon of the bounds.
    near
        ``(size, size)`` truth values: pairs whose bounds imply all others at any epsilon >= 0, such
        as neighbors on a line; only these are checked. None: all pairs are.

    Notes
    -----
    No channel satisfies a bound below 1, since rows sum to 1, and the notions reject such
    parameters. It may occur when the leakage of a channel is computed.
    """

    def __init__(
        self,
        name: str,
        bounds: Sequence[Bound],
        index: IntArray,
        epsilon: Fraction,
        near: BoolArray | None = None,
    ) -> None:
        self.name, self.bounds, self.epsilon, self.near = name, tuple(bounds), epsilon, near
        self._at = BoundsAt(self.bounds, epsilon)
        self.index = index.copy()
        np.fill_diagonal(self.index, FREE)
        self.size = len(index)

    @classmethod
    def on(cls, pairs: npt.ArrayLike, name: str, epsilon: Fraction) -> PairRows:
        """Bound the ratios of the pairs that are true in ``(size, size)`` by e**epsilon."""
        return cls(name, [Bound()], np.where(pairs, 0, FREE), epsilon)

    def ratio_rows(self) -> PairRows:
        """Return these rows."""
        return self

    def _on(self, index: IntArray, near: BoolArray | None = None) -> PairRows:
        """Return rows with the same bounds, without recomputing their numbers."""
        found = PairRows(self.name, self.bounds, index, self.epsilon, near)
        found._at = self._at
        return found

    @property
    def exponents(self) -> tuple[Fraction, ...]:
        """``base + slope * epsilon`` of each bound."""
        return self._at.exponents

    @cached_property
    def _checked(self) -> IntArray:
        """The index on the checked pairs, which imply the others."""
        return self.index if self.near is None else np.where(self.near, self.index, FREE)

    @cached_property
    def _pairs(self) -> Edges:
        x, other = np.nonzero(self._checked != FREE)
        return x, other

    @cached_property
    def _raising(self) -> Raising | None:
        """The rows in machine integers; None if a bound is below 1, as at a trial epsilon."""
        if not self._at.are_at_least_1[self._checked[self._pairs]].all():
            return None
        return Raising(self._checked, [max(limit, Fraction(1)) for limit in self._at.limits])

    @cached_property
    def grouped(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, ...]]]:
        """Group the bounds of each row x: (x, bound, number of the set of inputs against it).

        The rows of x with bound b, against all x' of a set S, are ``q_x <= b * min over S of q``.
        The input x joins S if b >= 1; inputs with the same bound to all others then share one set.
        """
        sets: dict[tuple[int, ...], int] = {}
        groups = []
        takes_itself = self._at.are_at_least_1.tolist()
        for x, row in enumerate(self._checked):
            order = np.argsort(row, kind="stable")
            starts = np.flatnonzero(np.diff(row[order], prepend=FREE)).tolist()
            places, bound = order.tolist(), row[order].tolist()
            for first, last in pairwise([*starts, self.size]):
                members, b = places[first:last], bound[first]
                if takes_itself[b]:
                    insort(members, x)
                groups.append((x, b, sets.setdefault(tuple(members), len(sets))))
        return groups, list(sets)

    @property
    def inverse(self) -> FloatArray:
        """``e**(-exponent)`` of each bound, as floats in (0, 1]."""
        shrunk: FloatArray = np.exp(-np.array(self.exponents, dtype=np.float64))
        return shrunk

    @cached_property
    def _log_factors(self) -> FloatArray:
        return np.log(self.factors)

    @property
    def factors(self) -> FloatArray:
        """The factor of each bound, as floats."""
        return np.array([float(bound.factor) for bound in self.bounds])

    @property
    def n_pairs(self) -> int:
        """The number of constrained pairs."""
        return int((self.index != FREE).sum())

    @property
    def n_checked(self) -> int:
        """The number of checked pairs, which imply the others."""
        return int((self._checked != FREE).sum())

    def lengths(self) -> FloatArray:
        """Return E of shape ``(size, size)``: q_x <= e**E[x, x'] q_x', inf without a row.

        The diagonal is 0. In floating point, for use by algorithms only.

        Examples
        --------
        >>> from mechdesign import ContextAwareLDP, Domain
        >>> ContextAwareLDP([[0, 0.5], ["inf", 0]]).family(Domain(["a", "b"])).lengths()
        array([[0. , 0.5],
               [inf, 0. ]])
        """
        exponents = np.array(self.exponents, dtype=np.float64)
        of_bound = np.append(exponents + np.log(self.factors), np.inf)
        E: FloatArray = np.where(self.index == FREE, np.inf, of_bound[self.index])
        np.fill_diagonal(E, 0.0)
        return E

    def on_pairs(self, kept: BoolArray) -> PairRows:
        """Return the rows on a subset of the pairs, ``(size, size)`` truth values."""
        index = np.where(kept, self.index, FREE)
        return self._on(index, kept)

    def rows(self) -> Iterator[Row]:
        """Yield ``e**(-a) q_x <= factor q_x'`` for every constrained pair."""
        for x, other in np.argwhere(self.index != FREE).tolist():
            yield self._row(f"{self.name} ratio x={x} to {other}", x, other)

    def matrix(self) -> sp.csr_array:
        """Return one row for each constrained pair."""
        x, other = np.nonzero(self.index != FREE)
        b = self.index[x, other]
        row = np.arange(len(x))
        values = np.concatenate([self.inverse[b], -self.factors[b]])
        places = (np.concatenate([row, row]), np.concatenate([x, other]))
        return sp.csr_array((values, places), shape=(len(x), self.size))

    def binds(self) -> bool:
        """Return whether any pair is constrained: the column of x alone violates its rows."""
        return bool((self.index != FREE).any())

    def at(self, epsilon: Fraction) -> PairRows:
        """Return the same rows at another epsilon."""
        near = self.near if epsilon >= 0 else None
        return self._moved(PairRows(self.name, self.bounds, self.index, epsilon, near))

    def restricted(self, inputs: IntArray) -> PairRows:
        """Return the rows on some of the inputs."""
        part = np.ix_(inputs, inputs)
        near = None if self.near is None else self.near[part]
        return self._on(self.index[part], near)

    def merged(self, member_of: IntArray) -> tuple[PairRows, CarryBack]:
        """Bound each pair of classes by the tightest bound on any of their pairs."""
        E = self.lengths()
        order = np.argsort(-E, axis=None, kind="stable")  # the tightest is written last
        x, other = np.unravel_index(order, E.shape)
        n = int(member_of.max()) + 1
        first, second = np.zeros((2, n, n), dtype=np.intp)
        first[member_of[x], member_of[other]] = x
        second[member_of[x], member_of[other]] = other

        def carry_back(found: Multipliers) -> Multipliers:
            pair = found.x, found.other
            return replace(found, x=first[pair], other=second[pair])

        index = self.index[first, second]
        np.fill_diagonal(index, FREE)
        return self._on(index), carry_back

    def row_of(self, key: Key, column: Sequence[int]) -> Row:
        """Return the row of a pair."""
        if self.kernel is None:
            return super().row_of(key, column)
        return self._row(f"{self.name} ratio x={key[1]} to {key[2]}", *key[1:])

    def surely_holding(self, columns: npt.NDArray[Any]) -> BoolArray:
        """Return for each column whether its rows hold in machine integers."""
        if columns.dtype == object or self._raising is None:
            return np.zeros(columns.shape[1], dtype=bool)
        return self._raising.holds(columns)

    def worst(self, columns: npt.NDArray[Any]) -> tuple[int, Row | None]:
        """Compare each entry with the least of its sets: ``(ln ratio - ln factor - base) / slope``.

        In floats; exact differences keep the digits of ratios near 1.
        """
        best, found, at, last = -np.inf, None, 0, None
        groups, sets = self.grouped
        for x, b, s in groups:
            if s != last:
                last, least = s, columns[list(sets[s])].min(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                rise = (columns[x] - least).astype(np.float64) / least.astype(np.float64)
                rise[columns[x] == 0] = -1
                y, bound = int(rise.argmax()), self.bounds[b]
                log = np.log1p(rise[y]) - self._log_factors[b]
                excess = (log - float(bound.base)) / float(bound.slope)
            if excess > best:
                best, at, found = excess, y, (x, s)
        column = columns[:, at].tolist()
        if found is not None:
            z = min((z for z in sets[found[1]] if z != found[0]), key=column.__getitem__)
            row = self._row(self.name, found[0], z)
            if not row.holds(column):
                return at, row
        return at, self.broken(column)

    def links(self) -> Edges:
        """Return every constrained pair."""
        return self._pairs

    def forced_equal(self) -> Edges:
        """Return pairs whose bound is 1: two rows of Q, one never above the other, are equal."""
        x, other = np.nonzero(np.isin(self._checked, self.bounds_of_one()))
        return x, other

    def bounds_of_one(self) -> list[int]:
        """Return the bounds that are exactly 1: e**a is rational for a = 0 only."""
        return [
            b
            for b, (bound, exponent) in enumerate(zip(self.bounds, self.exponents, strict=True))
            if exponent == 0 and bound.factor == 1
        ]

    def equations(self, exact: bool = False) -> list[list[Fraction]]:
        """Return none: bounds of 1 make entries equal, which :meth:`forced_equal` covers."""
        return []

    def support(self, positive: BoolArray) -> BoolArray:
        """Add every x' that bounds a member, until nothing changes."""
        bounded = self._checked != FREE
        if (bounded == bounded.T).all():  # symmetric: whole components are positive
            label = components(self.size, [self._pairs])
            order = np.argsort(label, kind="stable")
            first = np.flatnonzero(np.diff(label[order], prepend=-1))
            touched: BoolArray = np.logical_or.reduceat(positive[order], first)
            return touched[label]
        graph = sp.csr_array(bounded.T, dtype=np.float64)
        while True:
            wider: BoolArray = positive | (graph @ positive.astype(np.float64) > 0)
            if (wider == positive).all():
                return wider
            positive = wider

    def raised(self, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Raise every entry to the least value that the others' bounds allow, to a fixed point.

        A solver's absolute tolerance violates the scaled rows e**-a q_x <= factor q_x' by little,
        so that a small raise of q_x' satisfies them, however large a is.
        """
        return columns if self._raising is None else self._raising.raised(columns)

    def read_dual(self, weights: FloatArray) -> list[Multipliers]:
        """Give each multiplier the pair of its row."""
        x, other = np.nonzero(self.index != FREE)
        row, output = np.nonzero(weights > 0)
        weight = weights[row, output]
        return [Multipliers("ratio", output, x[row], other[row], weight)]

    def rows_of(self, found: Multipliers, labels: Sequence[Label]) -> list[Row]:
        """Return the row of each pair."""
        names = [shown(label) for label in labels]
        pairs = zip(found.x.tolist(), found.other.tolist(), strict=True)
        return [self._row(f"{names[x]} against {names[z]}", x, z) for x, z in pairs]

    def _row(self, name: str, x: int, other: int) -> Row:
        b = self.index[x, other]
        bound, exponent = self.bounds[b], self.exponents[b]
        return Row(name, {x: Fraction(1)}, exponent, {other: bound.factor}, bound.slope)

    def add_terms(self, costs: FloatArray, found: Multipliers) -> None:
        """Add w e**-a at x and -w factor at x'."""
        b = self.index[found.x, found.other]
        np.add.at(costs, (found.x, found.output), found.weight * self.inverse[b])
        np.add.at(costs, (found.other, found.output), -found.weight * self.factors[b])

    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Solve each violated row for t; a row whose slack does not grow with t has no solution."""
        groups, sets = self.grouped
        least = [min(column[z] for z in members) for members in sets]
        needed = 0
        for x, b, s in groups:
            limit = self._at.limits[b]
            if column[x] * limit.denominator <= limit.numerator * least[s]:
                continue
            for z in sets[s]:
                lack = column[x] * limit.denominator - limit.numerator * column[z]
                if z == x or lack <= 0:
                    continue
                gain = limit.numerator * direction[z] - limit.denominator * direction[x]
                if gain <= 0:
                    return None
                needed = max(needed, -(-lack // gain))
        return needed
