"""One entry of the sum of bit vectors: its law, and the leakage of one bit, between bounds.

An entry is the own bit plus R = Bin(m, p) + Bin(r, q). All of it follows from the ratios
rho_s = Pr(R = s - 1) / Pr(R = s), which grow with s (R is a sum of independent bits, so its law is
log-concave). The generating function G(z) = (1 - p + p z)**m (1 - q + q z)**r has

    (1 - p + p z) (1 - q + q z) G' = (m p (1 - q + q z) + r q (1 - p + p z)) G,

and comparing the coefficients of z**s gives, with N = m + r,
s0 = (m p (1 - q) + r q (1 - p)) / a and a = p (1 - q) + q (1 - p):

    (1 - p) (1 - q) (s + 1) / rho_(s+1) + a (s - s0) = p q (N - s + 1) rho_s

Upward for s < s0 and downward for s > s0 every term is positive: an error in one ratio shrinks in
the next, which adds at most 16 units of 2**-53 of its own. So far out it suffices to start from the
ratios of Bin(N, p) and Bin(N, q), which bracket those of R (Sum_i w_i e_(s-1)(w without i)
= s e_s(w) for the odds w of the bits). Once the two recursions meet, the ratio is known. The mass
further out is bounded by a geometric series, since the ratios grow.

Bounds over all data sets of the other people, by branch and bound.

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
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dgttrf

from mechdesign._typing import FloatArray
from mechdesign.accounting.central.result import Central
from mechdesign.accounting.crossings import crossing

UNIT = 2.0**-53

STEP = 16
"""Rounding error of a step from one ratio to the next, in units of 2**-53."""

MET = 64
"""A ratio counts as known once its bounds are within this many units."""

SPARE, KEPT = 80.0, 30.0
"""How far beyond delta, in log mass, the ratios start and the masses are kept.

The difference covers the factor e**30 between p and q, and 2**-53.
"""

SCALE = 2.0**300
"""Keeps LAPACK from exchanging rows; a power of 2, so that it rounds nothing."""


class BitSum(NamedTuple):
    """The laws of one entry if the person's own bit is Bern(p) or Bern(q).

    ``high`` and ``low`` are their masses at the places kept, of shape ``(n_places,)``, and ``loss``
    the increasing logarithms of the mass ratios. ``spare`` bounds the mass left out, ``wrong`` the
    error of the losses, and e**``factor`` the error of a factor common to both masses of a place.
    """

    high: FloatArray
    low: FloatArray
    loss: FloatArray
    spare: float
    wrong: float
    factor: float


def bit_sum(p: Fraction, q: Fraction, m: int, r: int, delta: float) -> BitSum:
    """Return the law of a bit plus Bin(m, p) + Bin(r, q), q < p, but for a share of ``delta``."""
    masses, (low, top), spare, n_steps = _masses(p, q, m, r, math.log(1 / delta))
    padded = np.concatenate([[0.0], masses, [0.0]])
    kept = slice(int(low > 0), len(padded) - 1 - int(top < m + r))
    high, less = ((float(c) * padded[:-1] + float(1 - c) * padded[1:])[kept] for c in (p, q))
    spare += masses[0] * (low > 0) + masses[-1] * (top < m + r)
    wrong = UNIT * (STEP * n_steps + MET + 64)
    # both laws have the same monotone likelihood ratios
    loss = np.maximum.accumulate(np.log(high / less))
    return BitSum(high, less, loss, float(spare), wrong, (len(padded) + 2) * (wrong + 512 * UNIT))


def _masses(
    p: Fraction, q: Fraction, m: int, r: int, reach: float
) -> tuple[FloatArray, tuple[int, int], float, int]:
    """Return the masses of R, their first and last place, and a bound on the remaining mass."""
    n, mean = m + r, float(m * p + r * q)
    spread = float(m * p * (1 - p) + r * q * (1 - q))
    away = reach + SPARE
    width = math.sqrt(2 * spread * away) + away  # Bernstein's inequality
    low, top = max(0, math.floor(mean - width)), min(n, math.ceil(mean + width))
    logs, good = _log_ratios(p, q, m, r, low, top)
    n_steps, known = len(logs), np.flatnonzero(good)
    if not known.size:
        return np.ones(1), (low, low), float(n > 0), 1
    low, logs = low + int(known[0]), logs[known[0] : known[-1] + 1]
    heights = np.append(0.0, -np.cumsum(logs))
    heights -= heights.max()
    first, last = np.flatnonzero(heights >= -reach - KEPT)[[0, -1]].tolist()
    # at least two places: one ratio bounds the decay of the masses outside
    first = min(first, len(logs) - 1)
    last = max(last, first + 1)
    masses, logs = np.exp(heights[first : last + 1]), logs[first:last]
    low, top = low + first, low + last
    masses /= masses.sum()
    slack = 1 + 1e-6
    below = _geometric(logs[0], slack) * masses[0] if low > 0 else 0.0
    above = _geometric(-logs[-1], slack) * masses[-1] if top < n else 0.0
    return masses, (low, top), float(min(below + above, 1.0)), n_steps


def _geometric(log: float, slack: float) -> float:
    """Return x + x**2 + ... for x = e**log, rounded up; inf if the series diverges."""
    x = math.exp(min(log, 1.0)) * slack
    return x / (1 - x) * slack if x < 1 else math.inf


def _log_ratios(
    p: Fraction, q: Fraction, m: int, r: int, low: int, top: int
) -> tuple[FloatArray, FloatArray]:
    """Return ln rho_s for low < s <= top, and which of them are known."""
    n = m + r
    both, none = p * q, (1 - p) * (1 - q)
    apart = p + q - 2 * both
    turn = (m * p * (1 - q) + r * q * (1 - p)) / apart
    whole = math.floor(turn + Fraction(1, 2))
    rest, odds = float(turn - whole), [float(c / (1 - c)) for c in (p, q)]

    s = np.arange(low, min(whole, top), dtype=np.float64)  # from rho_s to rho_(s+1)
    over = float(none) * (s + 1)
    starts = [low / ((n - low + 1) * w) for w in odds]
    away = (whole - s) + rest
    up = _chains(float(apart) * away / over, float(both) * (n - s + 1) / over, starts)

    s = np.arange(top, max(whole, low), -1, dtype=np.float64)  # from rho_(s+1) to rho_s
    over = float(both) * (n - s + 1)
    starts = [(n - top) * w / (top + 1) for w in odds]
    away = (s - whole) - rest
    down = _chains(float(apart) * away / over, float(none) * (s + 1) / over, starts)[:, ::-1]
    ends = np.concatenate([1 / up, down], axis=1)
    return np.log(ends[0]), np.abs(ends[0] - ends[1]) <= MET * UNIT * ends[0]


def _chains(added: FloatArray, factors: FloatArray, starts: list[float]) -> FloatArray:
    """Return y_1 = a_1 + f_1 z, y_2 = a_2 + f_2 / y_1, ... for each start z, all terms positive.

    These are the pivots of a tridiagonal matrix.
    """
    found = np.empty((len(starts), len(added)))
    below = np.append(-factors[1:] / SCALE, np.zeros(2))  # two rows more, as LAPACK asks for three
    for row, start in zip(found, starts, strict=True) if len(added) else ():
        pivots = np.append(added, np.ones(2))
        pivots[0] += factors[0] * start
        row[:] = dgttrf(below, pivots, np.full(len(below), SCALE))[1][:-2]
    return found


def hockey_stick(a: BitSum, b: BitSum, epsilon: float, *, up: bool) -> float:
    """Return a bound on the hockey-stick divergence of (p, q) against (q, p) in two entries.

    That is Sum (high_a low_b - e**epsilon low_a high_b)_+. The total loss loss_a - loss_b increases
    in the first place and decreases in the second, so the sum is over tails. Both masses of a place
    share their error except for that of the loss, so the exact sum is a sum at an epsilon shifted
    by that error, times a factor.
    """
    moved = a.wrong + b.wrong + 8 * UNIT * (1 + abs(epsilon))
    central = epsilon - moved if up else epsilon + moved
    cut = np.searchsorted(b.loss, a.loss - central)
    inside = float(a.high @ np.append(0.0, np.cumsum(b.low))[cut])
    outside = float(a.low @ np.append(0.0, np.cumsum(b.high))[cut]) * math.exp(central)
    rounded = 4 * (len(a.loss) + len(b.loss) + 4) * UNIT * (inside + outside)
    spare, factor = a.spare + b.spare, math.exp(a.factor + b.factor)
    if up:
        return min((inside - outside + rounded) * factor + spare, 1.0) * (1 + 8 * UNIT)
    return max(inside - outside - rounded, 0.0) / factor * max(1 - spare, 0.0) * (1 - 8 * UNIT)


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

    There are ``k`` values; ``delta`` determines how far the tails of the laws are computed,
    ``local`` is the epsilon of one report. ``single`` states that one entry determines the sum, as
    for two values and one bit.
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
