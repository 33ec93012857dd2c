"""Rows on ratios of two entries of a column: the E-matrix family.

    q_x <= factor * e**(base + slope * epsilon) * q_x'     for some ordered pairs (x, x')

Acharya et al. 2020, Definition 2 (context-aware LDP), and all that specialises it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from mechdesign.exact import exp_lower
from mechdesign.notions.cone import (
    BoolArray,
    Bound,
    Family,
    FloatArray,
    IntArray,
    Multipliers,
    Row,
)
from mechdesign.prior_sets import Weights

__all__ = ["FREE", "PairRows"]

FREE = -1
"""The index of a pair that is not constrained."""


class PairRows(Family):
    """Bounds on ``q_x / q_x'`` for ordered pairs of inputs.

    Parameters
    ----------
    name
        The notion, for the names of the rows.
    bounds
        The bounds that differ.
    index
        ``(size, size)`` integers: the bound on ``q_x / q_x'``, or -1 for none. The diagonal is
        ignored.
    epsilon
        Where the bounds stand.

    Notes
    -----
    A bound below 1 cannot be met, since rows sum to 1; the notions refuse such parameters. It may
    be asked about, though, when the leakage of a channel is measured.
    """

    def __init__(
        self, name: str, bounds: Sequence[Bound], index: IntArray, epsilon: Fraction
    ) -> None:
        self.name, self.bounds, self.epsilon = name, tuple(bounds), epsilon
        self.index = index.copy()
        np.fill_diagonal(self.index, FREE)
        self.size = len(index)
        self._limits = [exp_lower(bound.exponent(epsilon)) * bound.factor for bound in self.bounds]
        self._groups, self._sets = self._grouped()

    def _grouped(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, ...]]]:
        """Group the bounds of each row x: (x, bound, number of the set of inputs against it).

        A row with bound b against all x' of a set S says ``q_x <= b * min over S of q``. The input
        x itself joins S if b >= 1; then rows with the same bound to all share one set.
        """
        sets: dict[tuple[int, ...], int] = {}
        groups = []
        for x in range(self.size):
            row = self.index[x]
            for b in np.unique(row[row != FREE]):
                members = row == b
                members[x] = self._limits[b] >= 1
                key = tuple(np.flatnonzero(members).tolist())
                groups.append((x, int(b), sets.setdefault(key, len(sets))))
        return groups, list(sets)

    @property
    def groups(self) -> list[tuple[int, int, int]]:
        """``(x, bound, set)``: q_x is at most that bound times the least entry of that set."""
        return self._groups

    @property
    def sets(self) -> list[tuple[int, ...]]:
        """The sets that :attr:`groups` refers to."""
        return self._sets

    @property
    def inverse(self) -> FloatArray:
        """``e**(-exponent)`` of each bound, as floats in (0, 1]."""
        exponents = [float(bound.exponent(self.epsilon)) for bound in self.bounds]
        shrunk: FloatArray = np.exp(-np.array(exponents))
        return shrunk

    @property
    def factors(self) -> FloatArray:
        """The factor of each bound, as floats."""
        return np.array([float(bound.factor) for bound in self.bounds])

    def rows(self) -> Iterator[Row]:
        """Yield ``e**(-a) q_x <= factor q_x'`` for every constrained pair."""
        for x, other in np.argwhere(self.index != FREE).tolist():
            bound = self.bounds[self.index[x, other]]
            name = f"{self.name} ratio x={x} to {other}"
            left, right = {x: Fraction(1)}, {other: bound.factor}
            yield Row(name, left, bound.exponent(self.epsilon), right)

    def matrix(self) -> sp.csr_array:
        """Return one row for each constrained pair."""
        x, other = np.nonzero(self.index != FREE)
        b = self.index[x, other]
        row = np.arange(len(x))
        values = np.concatenate([self.inverse[b], -self.factors[b]])
        places = (np.concatenate([row, row]), np.concatenate([x, other]))
        return sp.csr_array((values, places), shape=(len(x), self.size))

    def binds(self) -> bool:
        """Return whether any pair is constrained: the column of x alone breaks its rows."""
        return bool((self.index != FREE).any())

    def at(self, epsilon: Fraction) -> PairRows:
        """Return the same rows at another epsilon."""
        return PairRows(self.name, self.bounds, self.index, epsilon)

    def restricted(self, inputs: IntArray) -> PairRows:
        """Return the rows on some of the inputs."""
        index = self.index[np.ix_(inputs, inputs)]
        return PairRows(self.name, self.bounds, index, self.epsilon)

    def violation(self, column: Sequence[int]) -> str | None:
        """Compare every entry with the least entry of each of its sets, in integers."""
        least = [min(column[z] for z in members) for members in self._sets]
        for x, b, s in self._groups:
            limit = self._limits[b]
            if column[x] * limit.denominator > limit.numerator * least[s]:
                other = min(self._sets[s], key=lambda z: column[z])
                return f"{self.name} ratio x={x} to {other}"
        return None

    def estimate(self, columns: Sequence[Sequence[int]]) -> float:
        """Return the largest ``(ln(q_x / q_x') - ln factor - base) / slope``."""
        x, other = np.nonzero(self.index != FREE)
        b = self.index[x, other]
        base = np.array([float(bound.base) for bound in self.bounds])[b]
        slope = np.array([float(bound.slope) for bound in self.bounds])[b]
        factor = self.factors[b]
        worst = -np.inf
        for column in columns:
            # the difference is exact, so that a ratio near 1 keeps its digits
            q = np.array(column, dtype=np.int64 if max(column) < 2**63 else object)
            with np.errstate(divide="ignore", invalid="ignore"):
                below = q[other].astype(np.float64)
                log_ratio = np.log1p((q[x] - q[other]).astype(np.float64) / below)
                excess = (np.where(q[x] == 0, -np.inf, log_ratio) - np.log(factor) - base) / slope
            worst = max(worst, float(np.nanmax(excess, initial=-np.inf)))
        return worst

    @property
    def largest_base(self) -> float:
        """The largest base of a bound."""
        return max((float(bound.base) for bound in self.bounds), default=0.0)

    def links(self) -> sp.csr_array:
        """Join the inputs of every constrained pair."""
        return sp.csr_array((self.index != FREE).astype(np.float64))

    def forced_equal(self) -> sp.csr_array:
        """Join pairs whose bound is 1: rows that sum to 1 and never exceed are equal."""
        ones = [b for b, limit in enumerate(self._limits) if limit == 1]
        return sp.csr_array(np.isin(self.index, ones).astype(np.float64))

    def support(self, positive: BoolArray) -> BoolArray:
        """Add every x' that bounds a member, until nothing changes."""
        bounded = self.index != FREE
        while True:
            wider: BoolArray = positive | bounded[positive].any(axis=0)
            if (wider == positive).all():
                return wider
            positive = wider

    def raised(self, column: list[int]) -> list[int]:
        """Raise every entry to the least that the others' bounds allow, until nothing changes.

        The scaled rows e**-a q_x <= factor q_x' are broken by a solver's absolute tolerance, so
        that raising q_x' by as much mends them, however large a is.
        """
        column = list(column)
        changed = True
        while changed:
            changed = False
            floors = [0] * len(self._sets)
            for x, b, s in self._groups:
                limit = self._limits[b]
                floors[s] = max(floors[s], -(-column[x] * limit.denominator // limit.numerator))
            for floor, members in zip(floors, self._sets, strict=True):
                for z in members:
                    if column[z] < floor:
                        column[z] = floor
                        changed = True
        return column

    def read_dual(self, weights: FloatArray) -> tuple[list[Multipliers], tuple[Weights, ...]]:
        """Give each weight the pair of its row."""
        x, other = np.nonzero(self.index != FREE)
        row, output = np.nonzero(weights > 0)
        weight = weights[row, output]
        return [Multipliers("ratio", output, x[row], other[row], weight)], ()

    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Solve each broken row for t; a row whose slack does not grow with t cannot be mended."""
        least = [min(column[z] for z in members) for members in self._sets]
        needed = 0
        for x, b, s in self._groups:
            limit = self._limits[b]
            if column[x] * limit.denominator <= limit.numerator * least[s]:
                continue
            for z in self._sets[s]:
                lack = column[x] * limit.denominator - limit.numerator * column[z]
                if z == x or lack <= 0:
                    continue
                gain = limit.numerator * direction[z] - limit.denominator * direction[x]
                if gain <= 0:
                    return None
                needed = max(needed, -(-lack // gain))
        return needed
