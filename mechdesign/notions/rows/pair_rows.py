"""Bounds on ratios of two entries of a column: the E matrix of context-aware LDP.

    q_x <= scale * e**a * q_x'     for some ordered pairs (x, x')

Acharya et al. 2020, Definition 2 (context-aware LDP), and its special cases: LDP, high-low,
block-structured and metric privacy, differential identifiability.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import AnyArray, BoolArray, FloatArray, Int64Array, IntArray
from mechdesign.domain import Label
from mechdesign.errors import shown
from mechdesign.exact import exp_lower
from mechdesign.kernel.generators import Constant, Distance, Key, ListedRow, Matrix, Ratio
from mechdesign.kernel.generators.ratio import sufficient_pairs
from mechdesign.notions.rows.family import Edges, Family, Keys, components
from mechdesign.notions.rows.ratio_steps import FREE, Raising
from mechdesign.notions.rows.row import Multipliers, Row
from mechdesign.prior_sets import Weights
from mechdesign.tables import ExactTable

__all__ = ["FREE", "PairRows"]


class PairRows(Family):
    """Bounds on ``q_x / q_x'`` for ordered pairs of inputs.

    No channel satisfies a bound below 1, since rows sum to 1, and the notions reject such
    parameters. It may occur when the leakage of a channel is computed.

    Attributes
    ----------
    units, scales
        The distinct bounds ``scale * e**exponent``, each with its exponent in the generator, which
        is at epsilon = 1, or at the excess 0 for a notion without a budget.
    index
        ``(size, size)`` integers: the bound on ``q_x / q_x'``, or -1 for none.
    near
        ``(size, size)`` truth values: pairs whose bounds imply all others at any epsilon >= 0, such
        as neighbors on a line; only these are checked. None: all pairs are.
    """

    def __init__(
        self, name: str, part: Ratio, size: int, epsilon: Fraction, *, has_epsilon: bool = True
    ) -> None:
        self.name, self.part, self.size = name, part, size
        self.epsilon, self.has_epsilon = epsilon, has_epsilon
        self.units, self.scales, self.index, self.near = bounds_of(part, size)

    def ratio_rows(self) -> PairRows:
        """Return these rows."""
        return self

    @cached_property
    def exponents(self) -> tuple[Fraction, ...]:
        """The exponent of each bound."""
        return tuple(map(self._exponent, self.units))

    @cached_property
    def limits(self) -> tuple[Fraction, ...]:
        """A rational lower bound for each."""
        pairs = zip(self.exponents, self.scales, strict=True)
        return tuple(exp_lower(exponent) * scale for exponent, scale in pairs)

    @cached_property
    def _checked(self) -> IntArray:
        """The index on the checked pairs, which imply the others."""
        if self.near is None or self.epsilon < 0:
            return self.index
        return np.where(self.near, self.index, FREE)

    @cached_property
    def _pairs(self) -> Edges:
        x, other = np.nonzero(self._checked != FREE)
        return x, other

    @cached_property
    def _raising(self) -> Raising | None:
        """The rows in machine integers; None if a bound is below 1, as at a trial epsilon."""
        index = self._checked
        if any(self.limits[b] < 1 for b in np.unique(index[self._pairs]).tolist()):
            return None
        part = self.part and self.generator
        if isinstance(part, Ratio) and isinstance(part.exponents, Matrix):
            index = np.full_like(index, FREE)  # but for the pairs that the exact test compares
            for (x,), _, others in part.exponents.groups(self.size):
                index[x, others] = self.index[x, others]
        return Raising(index, [max(limit, Fraction(1)) for limit in self.limits])

    @cached_property
    def grouped(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, ...]]]:
        """Group the bounds of each row x: (x, bound, number of the set of inputs against it).

        The rows of x with bound b, against all x' of a set S, are ``q_x <= b * min over S of q``.
        The input x joins S if b >= 1; inputs with the same bound to all others then share one set.
        """
        sets: dict[tuple[int, ...], int] = {}
        groups = []
        takes_itself = [limit >= 1 for limit in self.limits]
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

    @property
    def factors(self) -> FloatArray:
        """The scale of each bound, as floats."""
        return np.array(list(map(float, self.scales)))

    @property
    def n_pairs(self) -> int:
        """The number of constrained pairs."""
        return int((self.index != FREE).sum())

    @property
    def n_checked(self) -> int:
        """The number of checked pairs, which imply the others."""
        return int((self._checked != FREE).sum())

    def lengths(self) -> FloatArray:
        """Return E, ``(size, size)`` floats: q_x <= e**E[x, x'] q_x', inf without a row.

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
        return self._with(index=np.where(kept, self.index, FREE), near=kept, part=None)

    def keys(self) -> list[Keys]:
        """Return every constrained pair."""
        x, other = np.nonzero(self.index != FREE)
        return [("", x, other)]

    def _row(self, key: Key, _priors: Sequence[Weights]) -> Row:
        """Return ``q_x <= scale e**a q_x'``."""
        _, x, other = key
        b = self.index[x, other]
        one = Fraction(1)
        return self._moved(ListedRow(((x, one),), self.units[b], ((other, self.scales[b]),)))

    def _name(
        self, _row: Row, key: Key, labels: Sequence[Label] | None, _priors: Sequence[Weights]
    ) -> str:
        _, x, other = key
        if labels is None:
            return f"{self.name} ratio x={x} to {other}"
        return f"{shown(labels[x])} against {shown(labels[other])}"

    def terms(self, keys: Keys, _priors: Sequence[Weights] = ()) -> sp.csr_array:
        """Return e**-a at x and -scale at x'."""
        _, x, other = keys
        b, row = self.index[x, other], np.arange(len(x))
        values = np.concatenate([self.inverse[b], -self.factors[b]])
        places = (np.concatenate([row, row]), np.concatenate([x, other]))
        return sp.csr_array((values, places), shape=(len(x), self.size))

    def restricted(self, inputs: IntArray) -> PairRows:
        """Return the rows on some of the inputs."""
        kept = np.ix_(inputs, inputs)
        near = None if self.near is None else self.near[kept]
        return self._with(index=self.index[kept], near=near, size=len(inputs), part=None)

    def renamed(self, found: Multipliers, inputs: IntArray) -> Multipliers:
        """Rename both inputs of each pair."""
        return replace(found, x=inputs[found.x], other=inputs[found.other])

    def holding(self, columns: AnyArray) -> BoolArray:
        """Decide in machine integers where the rows surely hold."""
        if columns.dtype == object or self._raising is None:
            return super().holding(columns)
        good = self._raising.holds(columns)
        good[~good] = super().holding(columns[:, ~good])
        return good

    def worst(self, columns: AnyArray) -> tuple[int, Row | None]:
        """Compare each entry with the least of its sets: ``ln(ratio / scale)`` by epsilon.

        In floats; exact differences keep the digits of ratios near 1.
        """
        best, found, at, last = -np.inf, None, 0, None
        (groups, sets), log_factors = self.grouped, np.log(self.factors)
        for x, b, s in groups:
            if s != last:
                last, least = s, columns[list(sets[s])].min(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                rise = (columns[x] - least).astype(np.float64) / least.astype(np.float64)
                rise[columns[x] == 0] = -1
                y, unit = int(rise.argmax()), float(self.units[b])
                log = np.log1p(rise[y]) - log_factors[b]
                excess = log / unit if self.has_epsilon else log - unit
            if excess > best:
                best, at, found = excess, y, (x, s)
        column = columns[:, at].tolist()
        if found is not None:
            z = min((z for z in sets[found[1]] if z != found[0]), key=column.__getitem__)
            row = self._named(("", found[0], z), None, ())
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
        pairs = zip(self.exponents, self.scales, strict=True)
        return [b for b, (a, scale) in enumerate(pairs) if a == 0 and scale == 1]

    def equations(self, exact: bool = False) -> list[list[Fraction]]:
        """Return none: bounds of 1 make entries equal, which :meth:`forced_equal` covers."""
        return []

    def support(self, positive: BoolArray) -> BoolArray:
        """Add every x' that bounds a member, until nothing changes."""
        bounded = self._checked != FREE
        if (bounded == bounded.T).all():  # symmetric: whole components are positive
            label = components(self.size, [self._pairs])
            touched = np.zeros_like(positive)
            np.logical_or.at(touched, label, positive)
            return touched[label]
        graph = sp.csr_array(bounded.T, dtype=np.float64)
        while True:
            wider: BoolArray = positive | (graph @ positive.astype(np.float64) > 0)
            if (wider == positive).all():
                return wider
            positive = wider

    def raised(self, columns: Int64Array) -> Int64Array:
        """Raise every entry to the least value that the others' bounds allow, to a fixed point.

        A solver's absolute tolerance violates the scaled rows e**-a q_x <= factor q_x' by little,
        so that a small raise of q_x' satisfies them, however large a is.
        """
        return columns if self._raising is None else self._raising.raised(columns)


ONE = Fraction(1)
Levels: TypeAlias = tuple[list[Fraction], IntArray]
"""Distinct numbers, and the index of the number of each pair of inputs."""


def bounds_of(
    part: Ratio, size: int
) -> tuple[list[Fraction], list[Fraction], IntArray, BoolArray | None]:
    """Return the distinct exponents and scales, their index for each pair, and the near pairs."""
    near, factors = None, [ONE]
    if isinstance(part.exponents, Constant):
        levels, index = _of_blocks(part.exponents, size)
    elif isinstance(part.exponents, Matrix):
        levels, index = _of_table(part.exponents)
    else:
        (levels, index), near = _of_distance(part.exponents), _near(part.exponents)
    if part.prior is not None:
        number = {p: n for n, p in enumerate(dict.fromkeys(part.prior))}
        factors = [z / x for x in number for z in number]
        own = np.array([number[p] for p in part.prior])
        scale = own + len(number) * own[:, None]
        index = np.where(index == FREE, FREE, index * len(factors) + scale)
    np.fill_diagonal(index, FREE)
    return [a for a in levels for _ in factors], factors * len(levels), index, near


def _of_blocks(given: Constant, size: int) -> Levels:
    block = np.array(given.block or [0] * size)
    pairs = block[:, None] == block
    if given.protected is not None:
        pairs &= np.isin(np.arange(size), given.protected)[:, None]
    return [given.exponent], np.where(pairs, 0, FREE)


def _of_table(given: Matrix) -> Levels:
    """Number the distinct exponents."""
    number: dict[Fraction, int] = {}
    rows = [
        [FREE if isinstance(a, str) else number.setdefault(a, len(number)) for a in row]
        for row in given.table
    ]
    return list(number), np.array(rows, dtype=np.intp)


def _of_distance(given: Distance) -> Levels:
    """Number the distinct distances, by integer steps between points of a lattice."""
    table = ExactTable.distances(given.points, given.points, given.name)
    sizes, index = _levels(table.numerators)
    return [given.per_unit * table.bound(n, up=False) + given.offset for n in sizes], index


def _levels(numerators: AnyArray) -> tuple[list[int], IntArray]:
    """Return the distinct numbers in increasing order, and the index of each entry among them."""
    if numerators.dtype != object and int(numerators.max()) <= numerators.size:
        occurs = np.zeros(int(numerators.max()) + 1, dtype=bool)
        occurs[numerators] = True
        places: IntArray = np.cumsum(occurs, dtype=np.intp) - 1
        return np.flatnonzero(occurs).tolist(), places[numerators]
    levels, index = np.unique(numerators, return_inverse=True)
    return levels.tolist(), index.reshape(numerators.shape).astype(np.intp)


def _near(given: Distance) -> BoolArray | None:
    """Return the pairs whose bounds imply all others; None if these are all pairs."""
    size = len(given.points)
    pairs, _, _ = sufficient_pairs(given.points, given.is_rooted, given.offset > 0)
    if len(pairs) == comb(size, 2):
        return None
    near = np.zeros((size, size), dtype=bool)
    near[tuple(np.array(pairs, dtype=np.intp).T)] = True
    return near | near.T
