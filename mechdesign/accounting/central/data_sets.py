"""Bounds over all data sets of the other people, by branch and bound.

Changing one value from a to b changes only the entries a and b of the sum. Given the data they are
independent: the own bit, plus Bin(m, p) + Bin(n - 1 - m, q) if m of the others hold the value of
the entry. So only the counts m_a and m_b of a data set matter, with m_a + m_b <= n - 1.

For m between l and h, at least l people send Bern(p) and at least n - 1 - h send Bern(q). The entry
is the sum of their bits and the own bit, plus independent bits of h - l people, whose law does not
depend on the own value. These bits are added noise, so by data processing the entry without them
leaks at least as much, for every m in the range. Ranges are halved until each pair of them is
within delta; a range of one number is exact.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from mechdesign.accounting.central.bit_sums import BitSum, bit_sum, hockey_stick
from mechdesign.accounting.central.crossings import crossing
from mechdesign.accounting.central.result import Central

Range = tuple[int, int]

CERTAIN = BitSum(np.ones(1), np.ones(1), np.zeros(1), 0.0, 0.0, 0.0)
"""The law of an entry that does not depend on the input."""

MOST_WORK = 10**7
"""Maximum number of places of laws visited in one search over data sets."""

MARGINS = (0.003, 0.01, 0.03, 0.08, 0.2, 0.5, 1.0, 3.0)
"""Relative margins above a lower bound at which a budget is tried for a proof."""

LEAST_GUESS = 1e-6


class SummedReports:
    """The sum of n bit vectors: a bit is 1 with probability p at the person's value, else q.

    Parameters
    ----------
    n, k
        The numbers of people and of values.
    delta
        The delta to compare with; it determines how far the tails of the laws are computed.
    chances
        p and q, 0 < q < p < 1.
    local
        The epsilon of one report.
    single
        Whether one entry determines the sum, as for two values and one bit.
    """

    def __init__(
        self,
        n: int,
        delta: float,
        chances: tuple[Fraction, Fraction],
        k: int,
        local: float = math.inf,
        *,
        single: bool = False,
    ) -> None:
        self._others, self._delta, self._k, self._local = n - 1, delta, k, local
        self._chances, self._single = chances, single
        self._law = lru_cache(maxsize=512)(self._computed)

    def _computed(self, least: int, most: int) -> BitSum:
        """Return the law of an entry for a range of the number of people with its value."""
        return bit_sum(*self._chances, least, self._others - most, self._delta)

    def _bound(self, first: Range, second: Range, epsilon: float, *, up: bool) -> float:
        other = CERTAIN if self._single else self._law(*second)
        return hockey_stick(self._law(*first), other, epsilon, up=up)

    @property
    def suspects(self) -> list[tuple[int, int]]:
        """The counts m_a and m_b of data sets that are likely to be the worst."""
        n = self._others
        near = {*range(4), n // 4, n // 2, n - n // 4, *range(n - 3, n + 1)}
        held = sorted(m for m in near if 0 <= m <= n)
        whole = [(m, n - m) for m in held]
        return whole if self._k == 2 else [*whole, *((m, 0) for m in held if m < n)]

    def delta_below(self, epsilon: float, suspect: tuple[int, int] | None = None) -> float:
        """Return a delta that one of the data sets needs."""
        tried = self.suspects if suspect is None else [suspect]
        return max(self._bound((a, a), (b, b), epsilon, up=False) for a, b in tried)

    def exceeds(self, epsilon: float) -> bool:
        """Whether the sum is provably not private at an epsilon."""
        return self.delta_below(math.nextafter(epsilon, math.inf)) > self._delta

    def central(self) -> Central:
        """Return bounds on the central epsilon."""
        below, worst = 0.0, self.suspects[0]
        for suspect in self.suspects:
            if self.delta_below(below, suspect) > self._delta:

                def at(epsilon: float, _: float, suspect: tuple[int, int] = suspect) -> float:
                    return self.delta_below(epsilon, suspect)

                below = crossing(at, self._delta, below, self._local, below=False)
                worst = suspect
        tried = (max(below * (1 + margin), LEAST_GUESS) for margin in MARGINS)
        above = next((e for e in tried if e < self._local and self.is_within(e)), self._local)
        n = self._others + 1
        return Central(n, self._delta, above, below, self._local, others=worst)

    def is_within(self, epsilon: float) -> bool:
        """Whether the sum is provably private at an epsilon, for all data sets."""
        if epsilon >= self._local:
            return True
        if self.delta_below(epsilon) > self._delta:
            return False
        whole, work = (0, self._others), MOST_WORK
        left = [(whole, whole)]
        while left:
            first, second = left.pop()
            work -= sum(len(self._law(*each).loss) for each in (first, second))
            if self._bound(first, second, epsilon, up=True) <= self._delta:
                continue
            wide = first if first[1] - first[0] >= second[1] - second[0] else second
            if wide[0] == wide[1] or work < 0:
                return False
            middle = (wide[0] + wide[1]) // 2
            for half in ((wide[0], middle), (middle + 1, wide[1])):
                pair = (half, second) if wide is first else (first, half)
                if self._occurs(*pair):
                    left.append(pair)
        return True

    def _occurs(self, first: Range, second: Range) -> bool:
        """Whether some data set has its counts in these ranges."""
        fewest, most = first[0] + second[0], first[1] + second[1]
        return fewest <= self._others and (self._k > 2 or most >= self._others)
