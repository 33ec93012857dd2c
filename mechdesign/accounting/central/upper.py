"""Upper bounds on the leakage of n shuffled reports: the blanket, and hidden senders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.accounting.central.comparisons import MOST_EPSILON, SLACK, Pair
from mechdesign.accounting.central.lattice_sums import (
    LARGEST,
    LOOSE,
    Part,
    moment_bound,
    positive_part,
)
from mechdesign.accounting.crossings import (
    COARSE,
    FINE,
    bisected,
    coarse_crossing,
    crossing,
)
from mechdesign.exact import exp_lower, exp_upper

MARGINS, STEPS = (1.002, 1.005, 1.01, 1.02, 1.05, 1.1), [1.02 * 1.2**n for n in range(50)]
"""Budgets and deltas relative to a guess, of which the first that is proved is returned."""

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


def _apart(pair: Pair, epsilon: float, slack: float = SLACK) -> FloatArray:
    """Return P - e**epsilon P', rounded up."""
    growth = odds(epsilon, up=False) * (1 - slack)
    return np.asarray(pair.first * (1 + slack) - growth * pair.second)


def _blanket(pair: Pair, epsilon: float) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return Z at each report of the common part B, B, B and the rest, and the revealed part."""
    apart, shared = _apart(pair, epsilon), pair.least > 0
    clear, least = float(np.maximum(apart[~shared], 0).sum()) * (1 + SLACK), pair.least[shared]
    terms = apart[shared] / least
    terms += SLACK * np.abs(terms)
    rest = max(1 - float(least.sum()) + SLACK * (2 + len(least)), 0.0)
    return terms, least, np.append(least * (1 + SLACK), rest), clear


def delta_of_pair(pair: Pair, n: int, epsilon: float, tolerance: float) -> float:
    """Return an upper bound on the delta of n shuffled reports of which one differs.

        delta <= (1 / n) E[(Z_1 + ... + Z_n)_+],    Z = (P(Y) - e**epsilon P'(Y)) / B(Y),  Y ~ B

    with Z = 0 if the report is not drawn from the common part B of the rows, which has mass below 1
    (Balle et al. 2019, Lemma 5.3). The reports that are not drawn from B are revealed, with their
    senders: a report with B = 0 adds (P - e**epsilon P')_+.
    """
    terms, _, masses, clear = _blanket(pair, epsilon)
    found = positive_part([Part(np.append(terms, 0.0), masses, n)], tolerance)
    return found / n * (1 + SLACK) + clear


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
    M. The blanket reveals who reports by B; here the mean over it is inside the positive part. The
    delta to compare with determines m.

    The bound must hold for every data set. If all inputs but r are fixed, each of the r remaining
    terms is replaced by Z' (with probability g, else 0), which is larger in convex order, as V is
    its mean given the report. If that does not suffice, a further share of the r gets each input.
    """

    def __init__(self, pair: Pair, n: int, delta: float) -> None:
        self._pair, self._n, self._delta = pair, n, delta
        self._rows = _kinds(pair)
        self._share = float(pair.least.sum())
        self._enough, self._tail = _few(n - 1, self._share * (1 - 2 * SLACK), TAIL * delta)

    @classmethod
    def of(cls, pair: Pair, n: int, delta: float) -> Hidden | None:
        """Return the bound if it applies: many reports from the common part, and few row kinds."""
        if n < 2 or not pair.complete or not delta > 0:
            return None
        found = cls(pair, n, delta)
        return found if found._enough > 1 and 0 < len(found._rows) <= MOST_KINDS else None

    def _laws(self, epsilon: float) -> tuple[Part, Part, list[Part], float]:
        """Return the laws of Z, of Z', of V for each kind of row, and the revealed part."""
        terms, least, masses, clear = _blanket(self._pair, epsilon)
        shared, kinds = self._pair.least > 0, []
        apart = _apart(self._pair, epsilon, NEAR)[shared]
        for row in self._rows[:, shared]:
            reported = 1 - least / row * (1 - 4 * NEAR)
            values = np.where(apart < 0, apart / (1 + reported / (self._enough + 1)), apart) / row
            values += 2 * NEAR * np.abs(values)
            rest = max(1 - float(row.sum()), 0.0) + NEAR * len(row)
            kinds.append(self._others(values, np.append(row * (1 + NEAR), rest)))
        own = Part(terms, least / self._share * (1 + 4 * SLACK), 1)
        raised = np.where(terms < 0, terms / (1 + 1 / (self._enough + 1)) * (1 - 2 * SLACK), terms)
        return own, self._others(raised, masses), kinds, clear

    def _others(self, values: FloatArray, masses: FloatArray) -> Part:
        """Return the law of the terms of the n - 1 others, 0 with the remaining mass."""
        return Part(np.append(values, 0.0), masses, self._n - 1)

    def _delta_of(self, parts: list[Part], tolerance: float) -> float:
        return self._bound(positive_part([part for part in parts if part.n], tolerance))

    def _bound(self, mean: float) -> float:
        """Return the bound on delta, less the revealed part, for a mean of (Z + V + ...)_+."""
        return self._tail + self._share / (self._enough + 1) * mean * (1 + 8 * SLACK)

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
            counts, rest = left.pop()
            counted = [each._replace(n=int(m)) for each, m in zip(kinds, counts, strict=True)]
            parts = [own, *counted, told._replace(n=rest)]
            known = [part for part in parts[:-1] if part.n]
            if self._bound(moment_bound(known, kinds, rest)) <= most or (
                self._delta_of(parts, COARSE / 4) <= most
            ):
                continue
            if not rest:
                return False
            share = -(-rest // len(kinds))  # at least so many hold one of the inputs
            units = np.eye(len(kinds), dtype=np.int64)
            left += [(counts + share * unit, rest - share) for unit in units]
        return False


def _kinds(pair: Pair) -> FloatArray:
    """Return the rows of all inputs, without near duplicates up to the order of the reports."""
    seen: dict[bytes, FloatArray] = {}
    for row in pair.rows:
        mantissas, exponents = np.frexp(np.array([pair.first, pair.second, pair.least, row]))
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


def epsilon_above(pairs: Sequence[Pair], n: int, delta: float) -> tuple[float, Pair]:
    """Return an epsilon with which n shuffled reports are private, and the pair that needs it."""
    end = min(max(pair.local_epsilon for pair in pairs), MOST_EPSILON)
    most, worst = 0.0, pairs[0]
    for pair in pairs:
        if pair_within(pair, n, most, delta):
            continue
        at = partial(delta_of_pair, pair, n)
        if end == MOST_EPSILON and not _reaches(at, end, delta):
            return math.inf, pair
        found = crossing(at, delta, most, end, below=True)
        if hidden := Hidden.of(pair, n, delta):
            guess = coarse_crossing(hidden.guess, delta, 0.0, found)
            found = _first(guess, MARGINS, found, hidden.is_within)
        if found > most:
            most, worst = found, pair
    return most, worst


def delta_above(pairs: Sequence[Pair], n: int, epsilon: float) -> tuple[float, Pair]:
    """Return a delta with which n shuffled reports are private, and the pair that needs it."""
    most, worst = 0.0, pairs[0]
    for pair in pairs:
        if pair_within(pair, n, epsilon, most):
            continue
        found = delta_of_pair(pair, n, epsilon, FINE)
        if hidden := Hidden.of(pair, n, found):
            passes = partial(_hidden_within, pair, n, epsilon)
            found = _first(hidden.guess(epsilon), STEPS, found, passes)
        if found > most:
            most, worst = found, pair
    return min(most, 1.0), worst


def pair_within(pair: Pair, n: int, epsilon: float, delta: float) -> bool:
    """Whether a pair is provably within (epsilon, delta)."""
    at = partial(delta_of_pair, pair, n)
    known = epsilon >= pair.local_epsilon or _reaches(at, epsilon, delta)
    return known or _hidden_within(pair, n, epsilon, delta)


def _hidden_within(pair: Pair, n: int, epsilon: float, delta: float) -> bool:
    """Whether the bound for hidden senders proves (epsilon, delta)."""
    hidden = Hidden.of(pair, n, delta)
    return hidden is not None and hidden.guess(epsilon) <= delta and hidden.is_within(epsilon)


def _reaches(delta_at: Callable[[float, float], float], epsilon: float, delta: float) -> bool:
    """Whether a bound is at most delta, on a lattice as fine as it takes."""
    if delta_at(epsilon, LOOSE) <= delta or (coarse := delta_at(epsilon, COARSE)) <= delta:
        return True
    return coarse <= (1 + 5 * COARSE) * delta and delta_at(epsilon, FINE) <= delta


def _first(
    guess: float, margins: Iterable[float], most: float, passes: Callable[[float], bool]
) -> float:
    """Return the first multiple of a guess, in (0, most), that passes, else ``most``."""
    tried = (guess * margin for margin in margins)
    return next((each for each in tried if 0 < each < most and passes(each)), most)


# --- published bounds, for comparison: never below those above ------------------------------------


def feldman_epsilon(local: float, n: int, delta: float) -> float:
    """Return the bound of Feldman, McMillan and Talwar 2021, Theorem 3.1; local if it is larger.

    ln(1 + (p - 1)/(p + 1) (8 sqrt(p ln(4/delta) / n) + 8 p / n)),   p = e**local,
    where local <= ln(n / (16 ln(2/delta)))
    """
    if local > math.log(n / (16 * math.log(2 / delta))):
        return local
    p = math.exp(local)
    spread = 8 * math.sqrt(p * math.log(4 / delta) / n) + 8 * p / n
    return min(local, math.log1p((p - 1) / (p + 1) * spread) * (1 + 1e-12))


def variation_ratio_epsilon(pairs: Sequence[Pair], n: int, delta: float) -> float:
    """Return the bound from three numbers of the channel; inf if it does not apply.

    Rows P and P' differ by at most a ratio p and a total variation b, and each is at most q times
    the common part. With a = b / (p - 1) it suffices to bound

        P = (p a, a, c),   P' = (a, p a, c),   B = (p a, p a, c) / q,   c = 1 - (p + 1) a.

    Source: Wang et al. 2023 (arXiv 2304.05007). The third part of B is omitted there; with it, the
    bound also increases in b, by convex order.
    """
    local = max(pair.local_epsilon for pair in pairs)
    distance = max(float(np.maximum(p.first - p.second, 0).sum()) for p in pairs) + 2 * SLACK
    largest = np.max([row for pair in pairs for row in (pair.first, pair.second)], axis=0)
    least = pairs[0].least
    if math.isinf(local) or (largest[least == 0] > 0).any():
        return math.inf
    ratio, shared = math.exp(local) * (1 + SLACK), least > 0
    if ratio <= 1 + 4 * SLACK:
        return 0.0 if distance <= delta else local
    excess = float((largest[shared] / least[shared]).max()) * (1 + 4 * SLACK)
    a = min(distance / (ratio - 1) * (1 + SLACK), 1 / (ratio + 1))
    c = max(1 - (ratio + 1) * a, 0.0)
    one, other = np.array([ratio * a, a, c]), np.array([a, ratio * a, c])
    common = np.maximum(one, other) / excess * (1 - SLACK)
    delta_at = partial(delta_of_pair, Pair(one, other, common), n)
    if delta_at(0.0, FINE) <= delta:
        return 0.0
    return crossing(delta_at, delta, 0.0, local, below=True)
