"""Shuffled reports with hidden senders: a sharper bound where sets of reports overlap."""

from __future__ import annotations

import math

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.accounting.shuffling.blankets import odds
from mechdesign.accounting.shuffling.comparisons import SLACK, Comparison
from mechdesign.accounting.shuffling.crossings import COARSE, bisected
from mechdesign.accounting.shuffling.lattice_sums import LARGEST, Part, log_moments, positive_part

__all__ = ["Hidden"]

MOST_SUMS = 150
"""Laws of sums that are computed at most, until a budget is given up."""

MOST_KINDS = 4
"""Different laws of the others' terms, at most."""

DIGITS = 14
"""To which mantissas of rows are rounded that are compared: a rounded matrix has almost equal ones.

Rows that are the same so differ by a factor of at most 1 + 2e-14."""

NEAR = 1e-13
"""Added to laws that stand for almost equal ones, relative to each entry of a row."""

TAIL = 1e-2
"""The part of delta that may go to data sets with few reports of the common part."""


class Hidden:
    """Bounds on the delta of n shuffled reports, for one pair of rows.

    Let B be the common part of the rows, g its mass, and let each of the n - 1 others report by B
    with probability g, so that M of them do. The report of the one that differs takes the place of
    one of these, whose own report goes to the end; each place, and the end, is taken with
    probability 1 / (max(M, m) + 1), and the rest, below Pr(M < m), is revealed. The reports in this
    order leak no less than their counts. Given them, the other at place i reported by B with
    probability b = B / R, R the row of its input, independently of the rest. So the likelihoods
    differ by at most

        delta <= Pr(M < m) + g / (m + 1) E[(Z + V_2 + ... + V_n)_+],
        Z = (P - e**epsilon P') / B at a report by B / g,
        V = (P - e**epsilon P') / R at a report by R,   if < 0 divided by 1 + (1 - b) / (m + 1),

    where the quotient bounds how the mean of 1 / (max(M, m) + 1) depends on whether i is one of M.
    Where the blanket shows who reports by B, this takes the mean over it within the positive part.

    Every data set has to be covered. Of those whose inputs are known but for r, each of the r terms
    is replaced by Z' (with probability g, else 0), which is larger in convex order, as V is its
    mean given the report. Where that is not enough one more share of the r gets each input.

    Parameters
    ----------
    comparison
        With the rows of all inputs.
    pair
        Which of its pairs.
    n
        How many reports, at least 2.
    delta
        What the bound is compared with; it fixes m.
    """

    def __init__(self, comparison: Comparison, pair: int, n: int, delta: float) -> None:
        self._first, self._second = comparison.rows_of(pair)
        self._least, self._n, self._delta = comparison.least, n, delta
        self._rows = _kinds(comparison, pair)
        self._share = float(self._least.sum())
        self._enough, self._tail = _few(n - 1, self._share * (1 - 2 * SLACK), TAIL * delta)

    @property
    def applies(self) -> bool:
        """Whether there are so many reports of the common part, and few kinds of others."""
        return self._enough > 1 and 0 < len(self._rows) <= MOST_KINDS

    def _laws(self, epsilon: float) -> tuple[Part, Part, list[Part], float]:
        """Return the laws of Z, of Z', of V for each kind of row, and the revealed part."""
        shared = self._least > 0
        least, told_apart = self._least[shared], self._apart(epsilon, SLACK)
        clear = float(np.maximum(told_apart[~shared], 0).sum()) * (1 + SLACK)
        apart, kinds = self._apart(epsilon, NEAR)[shared], []
        for row in self._rows[:, shared]:
            reported = 1 - least / row * (1 - 4 * NEAR)
            values = np.where(apart < 0, apart / (1 + reported / (self._enough + 1)), apart) / row
            values += 2 * NEAR * np.abs(values)
            rest = max(1 - float(row.sum()), 0.0) + NEAR * len(row)
            kinds.append(self._others(values, row * (1 + NEAR), rest))
        terms = told_apart[shared] / least
        terms += SLACK * np.abs(terms)
        own = Part(terms, least / self._share * (1 + 4 * SLACK), 1)
        raised = np.where(terms < 0, terms / (1 + 1 / (self._enough + 1)) * (1 - 2 * SLACK), terms)
        rest = max(1 - self._share, 0.0) + SLACK * (2 + len(least))
        return own, self._others(raised, least * (1 + SLACK), rest), kinds, clear

    def _others(self, values: FloatArray, masses: FloatArray, rest: float) -> Part:
        """Return the law of the n - 1 others, where a rest of the mass adds nothing."""
        return Part(np.append(values, 0.0), np.append(masses, rest), self._n - 1)

    def _apart(self, epsilon: float, slack: float) -> FloatArray:
        """Return P - e**epsilon P', rounded up."""
        first, second = self._first * (1 + slack), self._second * (1 - slack)
        return np.asarray(first - odds(epsilon, up=False) * second)

    def _delta_of(self, parts: list[Part], tolerance: float) -> float:
        found = positive_part([part for part in parts if part.n], tolerance)
        return self._tail + self._share / (self._enough + 1) * found * (1 + 8 * SLACK)

    def guess(self, epsilon: float, tolerance: float = COARSE) -> float:
        """Return the most that data sets give in which all others hold one input."""
        own, _, kinds, clear = self._laws(epsilon)
        if max(float(each.values.max()) for each in (own, *kinds)) > LARGEST:
            return 1.0
        return clear + max(self._delta_of([own, each], tolerance) for each in kinds)

    def is_within(self, epsilon: float) -> bool:
        """Whether all data sets are surely within (epsilon, delta)."""
        own, told, kinds, clear = self._laws(epsilon)
        left = [(np.zeros(len(kinds), dtype=np.int64), self._n - 1)]
        most = self._delta - clear
        for _ in range(MOST_SUMS):
            if not left:
                return True
            known, rest = left.pop()
            counted = [each._replace(n=int(m)) for each, m in zip(kinds, known, strict=True)]
            parts = [own, *counted, told._replace(n=rest)]
            if self._by_moments(parts, kinds, rest) <= most or (
                self._delta_of(parts, COARSE / 4) <= most
            ):
                continue
            if not rest:
                return False
            share = -(-rest // len(kinds))  # one of the inputs is held by so many at least
            units = np.eye(len(kinds), dtype=np.int64)
            left += [(known + share * unit, rest - share) for unit in units]
        return False

    def _by_moments(self, parts: list[Part], kinds: list[Part], rest: int) -> float:
        """Return a looser bound, by s_+ <= e**(t s - 1) / t for every t > 0.

        A moment of the rest is largest where all of them hold one input.
        """
        known = [part for part in parts[:-1] if part.n]
        top = max(float(np.abs(part.values).max()) for part in (*known, *kinds))
        variance = sum(self._n * float(each.masses @ each.values**2) for each in kinds) / len(kinds)
        tilts = np.minimum(np.geomspace(0.5, 64, 43) / math.sqrt(variance), 600 / top)
        grown = log_moments(known, tilts)
        grown += rest * np.max([log_moments([each._replace(n=1)], tilts) for each in kinds], axis=0)
        best = float((grown - 1 - np.log(tilts)).min())
        scale = self._share / (self._enough + 1)
        return self._tail + scale * math.exp(min(best, 700.0)) * (1 + 1e-6)


def _kinds(comparison: Comparison, pair: int) -> FloatArray:
    """Return the rows of all inputs; of rows almost equal up to the order of reports, one."""
    both = comparison.rows[comparison.pairs[pair]]
    seen: dict[bytes, FloatArray] = {}
    for row in comparison.rows:
        mantissas, exponents = np.frexp(np.vstack([both, comparison.least, row]))
        columns = np.ldexp(np.round(mantissas, DIGITS), exponents)
        seen.setdefault(columns[:, np.lexsort(columns)].tobytes(), row)
    return np.array(list(seen.values()))


def _few(n: int, share: float, tail: float) -> tuple[int, float]:
    """Return an m, and a bound on Pr(M < m) for M of n with a probability each; 0 if none serves.

    Pr(M <= a n) <= e**(-n D(a, share)) for a below the share, D the divergence (Chernoff).
    """

    def bound(m: int) -> float:
        a = (m - 1) / n
        apart = a * math.log(a / share) if a else 0.0
        apart += (1 - a) * math.log((1 - a) / (1 - share)) if share < 1 else math.inf
        return math.exp(-n * apart * (1 - 1e-9) + 1e-9)

    m, _ = bisected(lambda m: bound(m) <= tail, 0, math.floor(n * share), 1)
    return m, (bound(m) if m else 0.0)
