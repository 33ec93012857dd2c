"""Upper bounds on the leakage of n shuffled reports: the blanket, and hidden senders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.accounting.central.comparisons import MOST_EPSILON, SLACK, Comparison
from mechdesign.accounting.central.crossings import (
    COARSE,
    FINE,
    bisected,
    coarse_crossing,
    crossing,
)
from mechdesign.accounting.central.lattice_sums import (
    LARGEST,
    Part,
    log_moments,
    positive_part,
)
from mechdesign.exact import exp_lower, exp_upper

__all__ = [
    "Hidden",
    "chernoff_deltas",
    "delta_above",
    "delta_of_pair",
    "epsilon_above",
    "is_within",
    "odds",
]

MARGINS = (1.002, 1.005, 1.01, 1.02, 1.05, 1.1)
"""Budgets relative to a guess, of which the first that is proved is returned."""


MOST_SUMS = 150
"""Maximum number of laws of sums computed for one budget."""

MOST_KINDS = 4
"""Maximum number of distinct laws of the others' terms."""

DIGITS = 14
"""Decimal digits that rows are compared to, since a rounded matrix has almost equal rows.

Rows that compare equal differ by a factor of at most 1 + 2e-14."""

NEAR = 1e-13
"""Margin added to the law that represents almost equal ones, relative to each entry of a row."""

TAIL = 1e-2
"""The share of delta reserved for few reports from the common part."""


def odds(epsilon: float, up: bool) -> float:
    """Return e**epsilon, rounded up or down."""
    exact = Fraction(epsilon)
    near = float(exp_upper(exact) if up else exp_lower(exact))
    return math.nextafter(near, math.inf if up else 0.0)


def _terms(
    first: FloatArray, second: FloatArray, least: FloatArray, epsilon: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the term of each report, its mass in the common part, and the revealed part.

    The terms are (P - e**epsilon P') / B, rounded up, and 0 with the remaining mass 1 - |B|. A
    report with B = 0 reveals its sender: it adds (P - e**epsilon P')_+. P and P' may contain the
    rows of many pairs.
    """
    apart = first * (1 + SLACK) - odds(epsilon, up=False) * (1 - SLACK) * second
    shared = least > 0
    clear = np.maximum(apart[..., ~shared], 0).sum(axis=-1) * (1 + SLACK)
    terms = apart[..., shared] / least[shared]
    terms += SLACK * np.abs(terms)
    rest = max(1 - float(least.sum()) + SLACK * (2 + len(least)), 0.0)
    terms = np.concatenate([terms, np.zeros((*terms.shape[:-1], 1))], axis=-1)
    return terms, np.append(least[shared] * (1 + SLACK), rest), clear


def delta_of_pair(
    first: FloatArray,
    second: FloatArray,
    least: FloatArray,
    n: int,
    epsilon: float,
    tolerance: float,
) -> float:
    """Return an upper bound on the delta of n shuffled reports of which one differs.

        delta <= (1 / n) E[(Z_1 + ... + Z_n)_+],    Z = (P(Y) - e**epsilon P'(Y)) / B(Y),  Y ~ B

    with Z = 0 if the report is not drawn from the common part B of the rows, which has mass below 1
    (Balle et al. 2019, Lemma 5.3). The reports that are not drawn from B are revealed, with their
    senders.

    Parameters
    ----------
    first, second
        ``(n_reports,)`` the rows P and P' of the input that differs.
    least
        ``(n_reports,)`` B: at most the row of any input.
    n
        Number of reports, at least 1.
    epsilon
        In nats.
    tolerance
        Relative error allowed for the lattice.
    """
    terms, masses, clear = _terms(first, second, least, epsilon)
    found = positive_part([Part(terms, masses, n)], tolerance)
    return found / n * (1 + SLACK) + float(clear)


def chernoff_deltas(comparison: Comparison, n: int, epsilon: float) -> FloatArray:
    """Return looser bounds for all pairs at once, by z_+ <= e**(t z - 1) / t for every t > 0.

    Returns
    -------
    ndarray
        ``(n_pairs,)`` upper bounds on :func:`delta_of_pair`.
    """
    rows, pairs = comparison.rows, comparison.pairs
    found = np.empty(len(pairs))
    for start in range(0, len(pairs), 256):
        first, second = rows[pairs[start : start + 256].T]
        terms, masses, clear = _terms(first, second, comparison.least, epsilon)
        scale = np.sqrt(n * (terms**2 @ masses)) + 1e-300
        top = np.maximum(terms.max(axis=1), 1e-300)
        best = np.full(len(terms), math.inf)
        for step in np.geomspace(0.5, 64, 29):
            tilt = np.minimum(step / scale, 600 / top)
            grown = np.log(np.exp(tilt[:, None] * terms) @ masses)
            best = np.minimum(best, n * grown - 1 - np.log(tilt))
        # each of the n factors is a sum of rounded terms, and of exponentials of up to 600
        best += n * (len(masses) + 700) * 2.0**-52
        found[start : start + 256] = (np.exp(np.minimum(best, 700)) / n + clear) * (1 + SLACK)
    return found


class Hidden:
    """Bounds on the delta of n shuffled reports, for one pair of rows.

    Let B be the common part of the rows, g its mass, and let each of the n - 1 others report by B
    with probability g, so that M of them do. The report of the person whose input differs takes the
    place of one of these, whose own report moves to the end; each place, and the end, is chosen
    with probability 1 / (max(M, m) + 1), and the rest, below Pr(M < m), is revealed. The reports in
    this order leak at least as much as their counts. Given them, the other person at place i
    reported by B with probability b = B / R, R the row of that input, independently of the rest. So
    the likelihoods differ by at most

        delta <= Pr(M < m) + g / (m + 1) E[(Z + V_2 + ... + V_n)_+],
        Z = (P - e**epsilon P') / B at a report by B / g,
        V = (P - e**epsilon P') / R at a report by R,   if < 0 divided by 1 + (1 - b) / (m + 1),

    where the quotient bounds how the mean of 1 / (max(M, m) + 1) depends on whether i is one of the
    M. The blanket reveals who reports by B; here the mean over it is inside the positive part.

    The bound must hold for every data set. If all inputs but r are fixed, each of the r remaining
    terms is replaced by Z' (with probability g, else 0), which is larger in convex order, as V is
    its mean given the report. If that does not suffice, a further share of the r gets each input.

    Parameters
    ----------
    comparison
        A comparison with the rows of all inputs.
    pair
        Index of one of its pairs.
    n
        Number of reports, at least 2.
    delta
        The delta to compare with; it determines m.
    """

    def __init__(self, comparison: Comparison, pair: int, n: int, delta: float) -> None:
        self._first, self._second = comparison.rows_of(pair)
        self._least, self._n, self._delta = comparison.least, n, delta
        self._rows = _kinds(comparison, pair)
        self._share = float(self._least.sum())
        self._enough, self._tail = _few(n - 1, self._share * (1 - 2 * SLACK), TAIL * delta)

    @classmethod
    def of(cls, comparison: Comparison, pair: int, n: int, delta: float) -> Hidden | None:
        """Return the bound if it applies: many reports from the common part, and few row kinds."""
        if n < 2 or not comparison.complete or not delta > 0:
            return None
        found = cls(comparison, pair, n, delta)
        return found if found._enough > 1 and 0 < len(found._rows) <= MOST_KINDS else None

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
        """Return the law of the terms of the n - 1 others, 0 with the remaining mass."""
        return Part(np.append(values, 0.0), np.append(masses, rest), self._n - 1)

    def _apart(self, epsilon: float, slack: float) -> FloatArray:
        """Return P - e**epsilon P', rounded up."""
        first, second = self._first * (1 + slack), self._second * (1 - slack)
        return np.asarray(first - odds(epsilon, up=False) * second)

    def _delta_of(self, parts: list[Part], tolerance: float) -> float:
        found = positive_part([part for part in parts if part.n], tolerance)
        return self._tail + self._share / (self._enough + 1) * found * (1 + 8 * SLACK)

    def guess(self, epsilon: float, tolerance: float = COARSE) -> float:
        """Return the largest bound over data sets in which all others hold one input."""
        own, _, kinds, clear = self._laws(epsilon)
        if max(float(each.values.max()) for each in (own, *kinds)) > LARGEST:
            return 1.0
        return clear + max(self._delta_of([own, each], tolerance) for each in kinds)

    def is_within(self, epsilon: float) -> bool:
        """Whether all data sets are provably within (epsilon, delta)."""
        own, told, kinds, clear = self._laws(epsilon)
        left = [(np.zeros(len(kinds), dtype=np.int64), self._n - 1)]
        most = self._delta - clear
        for _ in range(MOST_SUMS):
            if not left:
                return True
            known, rest = left.pop()
            counted = [each._replace(n=int(m)) for each, m in zip(kinds, known, strict=True)]
            parts = [own, *counted, told._replace(n=rest)]
            if self._by_moments(parts, kinds) <= most or (
                self._delta_of(parts, COARSE / 4) <= most
            ):
                continue
            if not rest:
                return False
            share = -(-rest // len(kinds))  # at least so many hold one of the inputs
            units = np.eye(len(kinds), dtype=np.int64)
            left += [(known + share * unit, rest - share) for unit in units]
        return False

    def _by_moments(self, parts: list[Part], kinds: list[Part]) -> float:
        """Return a bound on all data sets at once, by s_+ <= e**(t s - 1) / t for every t > 0.

        A moment of the people whose inputs are not fixed is largest if all hold one input.
        """
        known, rest = [part for part in parts[:-1] if part.n], parts[-1].n
        top = max(float(np.abs(part.values).max()) for part in (*known, *kinds))
        variance = sum(self._n * float(each.masses @ each.values**2) for each in kinds) / len(kinds)
        tilts = np.minimum(np.geomspace(0.5, 64, 43) / math.sqrt(variance), 600 / top)
        grown = log_moments(known, tilts)
        grown += rest * np.max([log_moments([each._replace(n=1)], tilts) for each in kinds], axis=0)
        best = float((grown - 1 - np.log(tilts)).min())
        scale = self._share / (self._enough + 1)
        return self._tail + scale * math.exp(min(best, 700.0)) * (1 + 1e-6)


def _kinds(comparison: Comparison, pair: int) -> FloatArray:
    """Return the rows of all inputs, without near duplicates up to the order of the reports."""
    both = comparison.rows[comparison.pairs[pair]]
    seen: dict[bytes, FloatArray] = {}
    for row in comparison.rows:
        mantissas, exponents = np.frexp(np.vstack([both, comparison.least, row]))
        columns = np.ldexp(np.round(mantissas, DIGITS), exponents)
        seen.setdefault(columns[:, np.lexsort(columns)].tobytes(), row)
    return np.array(list(seen.values()))


def _few(n: int, share: float, tail: float) -> tuple[int, float]:
    """Return an m and a bound on Pr(M < m) for M ~ Bin(n, share); m = 0 if none is small enough.

    Pr(M <= a n) <= e**(-n D(a, share)) for a < share, D the divergence (Chernoff).
    """

    def bound(m: int) -> float:
        a = (m - 1) / n
        apart = a * math.log(a / share) if a else 0.0
        apart += (1 - a) * math.log((1 - a) / (1 - share)) if share < 1 else math.inf
        return math.exp(-n * apart * (1 - 1e-9) + 1e-9)

    m, _ = bisected(lambda m: bound(m) <= tail, 0, math.floor(n * share), 1)
    return m, (bound(m) if m else 0.0)


def _by_divergence(comparison: Comparison) -> IntArray:
    """Return the pairs by decreasing chi-square divergence relative to B, the worst guess first."""
    rows, least, (one, other) = comparison.rows, comparison.least, comparison.pairs.T
    weights = 1 / np.maximum(least, 1e-12)
    return np.argsort(-(((rows[one] - rows[other]) ** 2) @ weights), kind="stable")


def _open(
    comparison: Comparison, pairs: IntArray, n: int, epsilon: float, delta: float
) -> IntArray:
    """Return the pairs that a cheap bound does not prove to be within delta."""
    some = replace(comparison, pairs=comparison.pairs[pairs])
    return pairs[chernoff_deltas(some, n, epsilon) > delta]


def _blanket(comparison: Comparison, pair: int, n: int) -> Callable[[float, float], float]:
    """Return the bound of the blanket on a pair, at an epsilon and a tolerance."""
    return partial(delta_of_pair, *comparison.rows_of(pair), comparison.least, n)


def _pair_within(comparison: Comparison, pair: int, n: int, epsilon: float, delta: float) -> bool:
    """Whether the blanket puts a pair within (epsilon, delta)."""
    at = _blanket(comparison, pair, n)
    coarse = at(epsilon, COARSE)
    if not delta < coarse <= (1 + 5 * COARSE) * delta:  # a finer lattice would not change this
        return coarse <= delta
    return at(epsilon, FINE) <= delta


def is_within(comparison: Comparison, n: int, epsilon: float, delta: float) -> bool:
    """Whether n shuffled reports are provably within (epsilon, delta)."""
    if epsilon >= comparison.local_epsilon:
        return True
    for pair in _open(comparison, _by_divergence(comparison), n, epsilon, delta).tolist():
        if not _pair_within(comparison, pair, n, epsilon, delta):
            hidden = Hidden.of(comparison, pair, n, delta)
            if not hidden or hidden.guess(epsilon) > delta or not hidden.is_within(epsilon):
                return False
    return True


def epsilon_above(comparison: Comparison, n: int, delta: float) -> tuple[float, int]:
    """Return an epsilon with which n shuffled reports are private, and the pair that needs it."""
    end = min(comparison.local_epsilon, MOST_EPSILON)

    def needed(pair: int, found: float) -> float:
        if _pair_within(comparison, pair, n, found, delta):
            return found
        if end == MOST_EPSILON and not _pair_within(comparison, pair, n, end, delta):
            return math.inf
        blanket = crossing(_blanket(comparison, pair, n), delta, found, end, below=True)
        hidden = Hidden.of(comparison, pair, n, delta)
        if not hidden:
            return blanket
        guess = coarse_crossing(hidden.guess, delta, 0.0, blanket)
        return _first((guess * m for m in MARGINS), blanket, hidden.is_within)

    return _worst(comparison, n, needed, lambda found: (found, delta))


def delta_above(comparison: Comparison, n: int, epsilon: float) -> tuple[float, int]:
    """Return a delta with which n shuffled reports are private, and the pair that needs it."""
    if epsilon >= comparison.local_epsilon:
        return 0.0, 0

    def needed(pair: int, found: float) -> float:
        blanket = _blanket(comparison, pair, n)(epsilon, FINE)
        hidden = Hidden.of(comparison, pair, n, blanket) if blanket > found else None
        if not hidden:
            return blanket
        guess = 1.02 * hidden.guess(epsilon)
        steps = range(math.ceil(math.log(blanket / guess, 1.2))) if 0 < guess < blanket else ()

        def passes(delta: float) -> bool:
            hidden = Hidden.of(comparison, pair, n, delta)
            return hidden is not None and hidden.is_within(epsilon)

        return _first((guess * 1.2**step for step in steps), blanket, passes)

    found, worst = _worst(comparison, n, needed, lambda found: (epsilon, found))
    return min(found, 1.0), worst


def _first(tried: Iterable[float], most: float, passes: Callable[[float], bool]) -> float:
    """Return the first number in (0, most) that passes, else ``most``."""
    return next((each for each in tried if 0 < each < most and passes(each)), most)


def _worst(
    comparison: Comparison,
    n: int,
    needed: Callable[[int, float], float],
    budget: Callable[[float], tuple[float, float]],
) -> tuple[float, int]:
    """Return the largest epsilon or delta that any pair needs, and that pair.

    ``needed`` maps a pair and the maximum so far to the new maximum; ``budget`` maps the maximum to
    an (epsilon, delta), to skip pairs within it by a cheap bound.
    """
    found, worst, left = 0.0, 0, _by_divergence(comparison)
    while len(left):
        pair = int(left[0])
        more = needed(pair, found)
        if more > found:
            found, worst = more, pair
        if found == math.inf:
            break
        left = _open(comparison, left[1:], n, *budget(found))
    return found, worst
