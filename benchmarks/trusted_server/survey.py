"""Centralized information privacy: a trusted server counts n bits and publishes a private report.

Each bit D_i is 1 with probability P, independently; S is their sum, Y the report. The notion is

    e**-eps <= Pr(D_i = d | Y = y) / Pr(D_i = d) <= e**eps     for every i, d and y,

LIP of each single bit. By symmetry Pr(D_i = 1 | y) = E[S|y] / n, so it says exactly that every
posterior mean of S lies in an interval [a, b] around nP, and the best report makes these means as
spread as they can be.

**The optimum.** For the distribution of S_hat = E[S|Y] let H(z) = E (S_hat - z)_+. It is convex, at
most c(z) = E (S - z)_+, equal to nP - z for z <= a, and 0 for z >= b. The largest such function,
the convex envelope of these limits, belongs to one distribution, and every convex function of S_hat
has its largest mean under it; so Var S_hat is largest and the mean squared error Var S - Var S_hat
least, whatever the report, even one that looks at single bits. The envelope consists of the
tangents from (a, nP - a) and (b, 0) to c and of c between: all sums in a lower tail make one
report, with mean a, all in an upper tail another, with mean b, and those between are reported as
they are. Where the tangents cross it is the line between the two points: two reports, with means a
and b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.stats

from mechdesign.accounting.ratios import log_above
from mechdesign.channel import BITS, Channel
from mechdesign.errors import CertificateError, InputError, UnsupportedError, shown
from mechdesign.exact import Exact, as_fraction, exp_lower, exp_upper
from mechdesign.notions.base import budget
from mechdesign.text import Matrix

WHOLE = 1 << BITS

MOST_PEOPLE = 2000
"""People for whom a channel is written out."""

STEP = Fraction(1, 2**52)
"""How much of the interval is given up, at first, if rounding breaks the notion."""

Number = TypeVar("Number", Fraction, float)


@dataclass(frozen=True)
class CentralSurvey:
    """The best report of a trusted server on how many of n people say yes.

    Attributes
    ----------
    people, probability, epsilon
        n, P and the budget in nats.
    channel
        From the sum 0..n to the report, exact.
    estimates
        The exact posterior mean of the sum for each report.
    error
        The exact mean squared error of that estimate.
    """

    people: int
    probability: Fraction
    epsilon: Fraction
    channel: Channel
    estimates: tuple[Fraction, ...]
    error: Fraction

    @property
    def leakage(self) -> float:
        """The smallest epsilon that each single bit satisfies, in nats, rounded up."""
        return _leakage(self.people, self.probability, self.estimates)

    def __repr__(self) -> str:
        head = (
            f"CentralSurvey({self.people} people, epsilon={float(self.epsilon):.6g}, "
            f"error {float(self.error):.6g})"
        )
        estimates = [f"{float(estimate):.4f}" for estimate in self.estimates]
        table = Matrix(self.channel.matrix, self.channel.inputs.labels, estimates).text()
        return f"{head}\n{table}"


def central_survey(people: int, probability: Exact, epsilon: Exact) -> CentralSurvey:
    """Return the best report of a trusted server that keeps each person's bit private.

    Parameters
    ----------
    people
        How many people n there are, from 1 to 2000.
    probability
        The chance P that a person's bit is 1, in (0, 1).
    epsilon
        The budget in nats, >= 0.

    Raises
    ------
    InputError, UnsupportedError
        If a parameter is out of range.

    Notes
    -----
    Source of the notion: Jiang et al. 2019 (arXiv), Definition 4; the optimum is ours. Proposition
    5 there takes [a, b] = [e**-eps nP, n - e**-eps n (1 - P)], which leaves out the upper bounds on
    the posterior: they bind where P or 1 - P is below 1 / (e**eps + 1).

    Examples
    --------
    >>> survey = central_survey(10, "0.1", 1)
    >>> [round(float(estimate), 4) for estimate in survey.estimates]
    [0.3679, 1.0, 2.0, 2.7183]
    >>> round(float(survey.error), 6), survey.leakage
    (0.185243, 1.0)
    """
    n, chance, spent = _checked(people, probability, epsilon)
    if n > MOST_PEOPLE:
        raise UnsupportedError("people", f"at most {MOST_PEOPLE}, for a channel", n)
    ones, zeros = chance.numerator, chance.denominator - chance.numerator
    masses = [math.comb(n, s) * ones**s * zeros ** (n - s) for s in range(n + 1)]
    whole = sum(masses)
    weights = [Fraction(mass, whole) for mass in masses]
    low, high = mean_range(n, chance, spent)
    mean, kept = n * chance, Fraction(1)
    while kept > 0:
        ends = mean - (mean - low) * kept, mean + (high - mean) * kept
        shares = _shares(weights, *ends)
        table = _rounded(*shares)
        estimates, error = _read(table, masses, whole)
        if all(low <= estimate <= high for estimate in estimates):
            channel = Channel(table, inputs=range(n + 1))
            return CentralSurvey(n, chance, spent, channel, estimates, error)
        kept = 1 - STEP if kept == 1 else 1 - 16 * (1 - kept)
    raise CertificateError("no rounding of the report keeps its posterior means in their interval")


def central_error(people: int, probability: Exact, epsilon: Exact) -> float:
    """Return the least mean squared error of a trusted server's report, for any number of people.

    In floating point, without a channel; parameters as for :func:`central_survey`.

    Examples
    --------
    >>> round(central_error(3, "1/2", "0.6931471805599453"), 6)
    0.1875
    """
    n, chance, spent = _checked(people, probability, epsilon)
    weights = scipy.stats.binom.pmf(np.arange(n + 1), n, float(chance))
    low, high = mean_range(n, chance, spent)
    return error_within(weights, float(low), float(high))


def error_within(weights: npt.NDArray[np.float64], low: float, high: float) -> float:
    """Return the least error of a report on S whose posterior means stay between low and high.

    Parameters
    ----------
    weights
        The distribution of S on 0..n, ``(n + 1,)``.
    low, high
        The interval, which holds the mean of S.

    Examples
    --------
    >>> error_within(np.array([0.25, 0.5, 0.25]), 0.5, 1.5)
    0.25
    """
    sums = np.arange(len(weights))
    lower, upper = (np.array(share) for share in _shares(weights.tolist(), low, high))
    explained = 0.0
    for share in (lower, upper):
        mass = float(share @ weights)
        if mass > 0:
            explained += float((share * sums) @ weights) ** 2 / mass
    alone = np.maximum(1 - lower - upper, 0.0)
    explained += float((alone * sums**2) @ weights)
    return max(0.0, float((sums.astype(float) ** 2) @ weights) - explained)


def local_error(people: int, probability: Exact, epsilon: Exact) -> float:
    """Return the least error of the sum where each person sends an epsilon-LIP report instead.

    That is n times the error of one bit, P(1 - P) - Var E[D|Y], with the two-output channel whose
    posteriors are the ends of their range: the same as a server that counts one person.

    Examples
    --------
    >>> local_error(10, 0.5, 0) == 2.5
    True
    """
    n, chance, spent = _checked(people, probability, epsilon)
    return n * central_error(1, chance, spent)


def mean_range(people: int, probability: Fraction, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return [a, b], where posterior means of the sum may lie; rational ends, rounded inward.

        a = n max{e**-eps P, 1 - e**eps (1 - P)},    b = n min{e**eps P, 1 - e**-eps (1 - P)}

    Examples
    --------
    >>> [round(float(end), 6) for end in mean_range(10, Fraction(1, 10), Fraction(1))]
    [0.367879, 2.718282]
    """
    rest, rise, fall = 1 - probability, exp_lower(epsilon), exp_upper(-epsilon)
    low = max(fall * probability, 1 - rise * rest)
    high = min(rise * probability, 1 - fall * rest)
    return people * low, people * high


def _shares(weights: list[Number], low: Number, high: Number) -> tuple[list[Number], list[Number]]:
    """Return how much of each sum goes to the report with mean low, and to that with mean high."""
    n = len(weights) - 1
    lower = _tail(weights, low)
    upper = _tail(weights[::-1], n - high)[::-1]
    if all(a + b <= 1 for a, b in zip(lower, upper, strict=True)):
        return lower, upper
    return _two_reports(weights, low, high)


def _tail(weights: list[Number], mean: Number) -> list[Number]:
    """Return the shares of a lower tail with that mean: all of it, then part of one sum."""
    zero = weights[0] * 0
    shares, lack = [zero] * len(weights), zero  # lack = Sum (mean - s) weight over the tail
    for s, weight in enumerate(weights):
        if s >= mean and lack <= 0:
            break
        gain = (s - mean) * weight
        if gain > lack:
            shares[s] = lack / gain
            break
        shares[s] = zero + 1
        lack -= gain
    return shares


def _two_reports(
    weights: list[Number], low: Number, high: Number
) -> tuple[list[Number], list[Number]]:
    """Split the sums in two by size, and mix that with a report at random until the means fit."""
    zero = weights[0] * 0
    mean = sum((s * weight for s, weight in enumerate(weights)), zero)
    if high <= low:
        return [zero + 1] * len(weights), [zero] * len(weights)
    mass = (high - mean) / (high - low)
    split, left, moment = [zero] * len(weights), mass, zero
    for s, weight in enumerate(weights):
        taken = min(weight, left)
        split[s] = taken / weight if weight > 0 else zero
        left -= taken
        moment += s * taken
    spread = mean * mass - moment  # of the split; that wanted is (mean - low) mass
    kept = min(zero + 1, (mean - low) * mass / spread) if spread > 0 else zero
    lower = [kept * share + (1 - kept) * mass for share in split]
    return lower, [1 - share for share in lower]


def _rounded(lower: list[Fraction], upper: list[Fraction]) -> list[list[int]]:
    """Return the channel in integers: tails get no less, what is left is reported as it is."""
    size, rows = len(lower), []
    for s, (a, b) in enumerate(zip(lower, upper, strict=True)):
        first = math.ceil(a * WHOLE)
        last = min(math.ceil(b * WHOLE), WHOLE - first)
        alone = [0] * size
        alone[s] = WHOLE - first - last
        rows.append([first, *alone, last])
    used = [y for y in range(size + 2) if any(row[y] for row in rows)]
    return [[row[y] for y in used] for row in rows]


def _read(
    table: list[list[int]], masses: list[int], whole: int
) -> tuple[tuple[Fraction, ...], Fraction]:
    """Return the exact posterior mean of each report, and the mean squared error."""
    estimates, explained = [], Fraction(0)
    for y in range(len(table[0])):
        joint = [mass * row[y] for mass, row in zip(masses, table, strict=True)]
        total, moment = sum(joint), sum(s * part for s, part in enumerate(joint))
        estimates.append(Fraction(moment, total))
        explained += Fraction(moment * moment, total)
    square = Fraction(sum(s * s * mass for s, mass in enumerate(masses)), whole)
    return tuple(estimates), square - explained / (whole * WHOLE)


def _leakage(people: int, chance: Fraction, estimates: tuple[Fraction, ...]) -> float:
    worst = Fraction(1)
    for estimate in estimates:
        posterior = estimate / people
        for after, before in ((posterior, chance), (1 - posterior, 1 - chance)):
            if after == 0:
                return math.inf
            worst = max(worst, after / before, before / after)
    return log_above(worst)


def _checked(people: Any, probability: Exact, epsilon: Exact) -> tuple[int, Fraction, Fraction]:
    if isinstance(people, bool) or not isinstance(people, int) or people < 1:
        raise InputError("people", "a whole number >= 1", shown(people))
    chance = as_fraction(probability, "probability", expected="a number in (0, 1)")
    if not 0 < chance < 1:
        raise InputError("probability", "a number in (0, 1)", shown(probability))
    return people, chance, budget(epsilon)
