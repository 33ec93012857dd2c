"""PENA (Akter and Hashem 2017): means and sums of numbers under personalized LDP."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.channel import Channel
from mechdesign.collection.personalized.groups import (
    Group,
    GroupedReports,
    budgets_of,
    distinct,
    draw_groups,
)
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InputError, listed, shown
from mechdesign.estimation.result import ScalarEstimate
from mechdesign.exact import Exact, as_fraction, fraction_text, log_upper
from mechdesign.labels import check_index
from mechdesign.mechanisms.base import WHOLE, held_mass, informative
from mechdesign.notions import LDP
from mechdesign.reports import Tally
from mechdesign.sampling import Randomness

WEIGHTS = {"information": "population", "size": "respondents"}
"""Weightings of reports with different budgets, with the estimand that each is unbiased for."""


class TwoValuedResponder(ContinuousChannel):
    """Report +c or -c, with mean t: the value scaled from its safe range to [-1, 1].

        c = (e**eps + 1) / (e**eps - 1),      Pr(+c) = 1/2 + t / (2c)

    A value is rounded to one of the ends of the range without bias, and the end is sent by
    randomized response: +c has probability h/2**62 at the upper end and 1 - h/2**62 at the lower
    end, with h the largest integer that the budget allows. So c = 2**62 / (2h - 2**62), and
    E(report) = t exactly. The ends have the most extreme probabilities, so their ratio
    h / (2**62 - h) <= e**eps determines the leakage.

    Parameters
    ----------
    low, high
        The safe range, within which values are epsilon-indistinguishable. Membership in the range
        is not protected.
    epsilon
        The budget in nats, > 0 and at most 30.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Akter and Hashem 2017, Algorithm 2; Nguyên et al. 2016.

    Examples
    --------
    >>> salary = TwoValuedResponder(0, 10_000, "0.2")
    >>> salary
    TwoValuedResponder([0, 10000], LDP(epsilon=0.2), reports +-10.0333)
    >>> round(float(salary.probability(800)), 2)
    0.46
    >>> salary.privatize([800, 10_000], rng=1).labels()
    [-10.03331113225399, 10.03331113225399]
    """

    def __init__(self, low: Exact, high: Exact, epsilon: Exact) -> None:
        self.low, self.high = as_fraction(low, "low"), as_fraction(high, "high")
        if self.low >= self.high:
            given = f"{fraction_text(self.high)} with low = {fraction_text(self.low)}"
            raise InputError("high", "a number above low", given)
        self.privacy = informative(LDP(epsilon), LDP)
        held = held_mass(self.privacy.epsilon, 1, 1)
        self.size = Fraction(WHOLE, 2 * held - WHOLE)
        ends = [self.low, self.high]
        outputs = [-float(self.size), float(self.size)]
        response = Channel([[held, WHOLE - held], [WHOLE - held, held]], outputs=outputs)
        super().__init__(ends, "linear", ends, response)

    @property
    def epsilon(self) -> Fraction:
        """The budget."""
        return self.privacy.epsilon

    @property
    def leakage(self) -> float:
        """The smallest epsilon for all pairs of values in the range, rounded up."""
        least, most = (int(mass) for mass in self.nodes.numerators[1])
        return math.nextafter(float(log_upper(Fraction(most, least))), math.inf)

    def scaled(self, value: Exact) -> Fraction:
        """Return t, the value scaled to [-1, 1]."""
        return (2 * self.probability(value) - 1) * self.size

    def probability(self, value: Exact) -> Fraction:
        """Return the exact probability of the report +c."""
        return self.density(value)[1]

    def channel(self, values: Iterable[Exact]) -> Channel:
        """Return the channel on some values, with entries rounded to multiples of 2**-62."""
        inputs = list(values)
        rows = [self.density(value) for value in inputs]
        return Channel.from_matrix(rows, inputs=inputs, outputs=self.outputs)

    def mean_value(self, tally: Tally) -> Fraction:
        """Return the exact unbiased estimate low + (high - low)(mean report + 1)/2 of the mean.

        Raises
        ------
        InputError
            If there are no reports.
        """
        if tally.total < 1:
            raise InputError("tally", "at least one report", "none")
        surplus = int(tally.counts[1]) - int(tally.counts[0])
        mean_report = self.size * Fraction(surplus, tally.total)
        return self.low + (self.high - self.low) * (mean_report + 1) / 2

    def __repr__(self) -> str:
        ends = f"[{fraction_text(self.low)}, {fraction_text(self.high)}]"
        return f"TwoValuedResponder({ends}, {self.privacy!r}, reports +-{float(self.size):.6g})"


class NumberReports(GroupedReports):
    """Two-valued reports of numbers, by safe range and budget; see :func:`collect_numbers`."""

    groups: tuple[Group[TwoValuedResponder], ...]

    def subsets(
        self, weights: str = "information"
    ) -> dict[tuple[Fraction, Fraction], ScalarEstimate]:
        """Return the mean of each subset, the records of one safe range, by that range.

        Parameters
        ----------
        weights
            See :meth:`mean`.
        """
        ranges: dict[tuple[Fraction, Fraction], list[Group[TwoValuedResponder]]] = {}
        for group in self.groups:
            ranges.setdefault((group.mechanism.low, group.mechanism.high), []).append(group)
        return {key: _pooled(groups, weights) for key, groups in ranges.items()}

    def mean(self, weights: str = "information") -> ScalarEstimate:
        """Return an estimate of the mean over all records.

        Subsets with different safe ranges are different populations, so their means are weighted by
        size. Within a subset, ``weights`` determines the weights of the budgets.

        Parameters
        ----------
        weights
            ``"information"``: each report has weight 1/c**2, the inverse of its variance without
            that of the values. This is the most precise, and unbiased if the values do not depend
            on the budgets. ``"size"``: all reports have equal weight. This is always unbiased for
            the mean of these respondents, but small budgets add large errors.

        Raises
        ------
        InputError
            If the weights are unknown, or there are no records.
        """
        means = list(self.subsets(weights).values())
        total = len(self)
        if not total:
            raise InputError("values", "at least one number", "none")
        value = math.fsum(mean.reports * mean.value for mean in means) / total
        spread = math.sqrt(math.fsum((m.reports * m.standard_error) ** 2 for m in means)) / total
        return _estimate_of("mean", value, spread, weights, self.groups)

    def sum(self, weights: str = "information") -> ScalarEstimate:
        """Return an estimate of the sum over all records: their number times the mean."""
        mean, n = self.mean(weights), len(self)
        return _estimate_of("sum", n * mean.value, n * mean.standard_error, weights, self.groups)

    def _line(self, group: Group[TwoValuedResponder]) -> str:
        one, count = group.mechanism, len(group.reports)
        ends = f"[{fraction_text(one.low)}, {fraction_text(one.high)}]"
        return (
            f"{ends:<20} epsilon {fraction_text(one.epsilon):<8} "
            f"{count:>9} records  +-{float(one.size):.6g}"
        )


def collect_numbers(
    values: Iterable[Any],
    epsilons: Any,
    low: Any,
    high: Any,
    *,
    levels: Any = None,
    outside: str = "refuse",
    rng: Randomness = None,
    progress: bool | None = None,
) -> NumberReports:
    """Draw a two-valued report for each number, private in its own safe range at its own budget.

    Means and sums have unbiased estimates. The minimum, the maximum and quantiles are not
    estimable: the law of the reports depends on the values through their mean alone, so values in
    the middle look like values of which half lie at each end. Use a
    :class:`~mechdesign.continuous.ContinuousChannel` on ``"cells"`` for these.

    Parameters
    ----------
    values
        Numbers, one for each record.
    epsilons
        Budgets in nats, > 0: one for all, or one for each record.
    low, high
        The ends of the safe range: one for all, or one for each record.
    levels
        None to use each budget unchanged. A list of budgets, or the number of levels to choose:
        each budget is rounded *down* to a level, which preserves its guarantee.
    outside
        ``"refuse"`` values outside their range, or ``"clip"`` them to the nearer end. Clipping is
        equally private, but biases the mean.
    rng
        None for the cryptographic source of the operating system; a seed or a
        ``numpy.random.Generator`` for a simulation.
    progress
        Whether to show a progress bar; by default only if standard error is a terminal.

    Raises
    ------
    InputError
        If a value, a budget or a range is invalid.

    Notes
    -----
    Source: Akter and Hashem 2017, Algorithms 1 and 2. The mean there, (T_max - T_min) mean(f), is
    wrong in general: E f is the value scaled to [-1, 1], so the mean is
    T_min + (T_max - T_min)(mean(f) + 1)/2.

    Examples
    --------
    >>> people = collect_numbers([800] * 5000 + [20_000] * 5000, [0.5, 1] * 5000,
    ...                          0, [10_000] * 5000 + [40_000] * 5000, rng=4)
    >>> people
    NumberReports(10000 records in 4 groups; simulation, not for release)
      [0, 10000]           epsilon 0.5           2500 records  +-4.08299
      [0, 10000]           epsilon 1             2500 records  +-2.16395
      [0, 40000]           epsilon 0.5           2500 records  +-4.08299
      [0, 40000]           epsilon 1             2500 records  +-2.16395
    >>> low, high = people.mean().interval(0.999)
    >>> low < 10_400 < high
    True
    """
    records = (
        values if isinstance(values, np.ndarray) else listed(values, "values", "a list of numbers")
    )
    count = len(records)
    for key, given in (("epsilons", epsilons), ("low", low), ("high", high)):
        check_index(values, given, key)
    budgets, budget_of = budgets_of(epsilons, count, levels)
    lows, low_of = distinct(low, count, "low")
    highs, high_of = distinct(high, count, "high")

    def responder_at(i: int, j: int, e: int) -> tuple[TwoValuedResponder, Fraction]:
        return TwoValuedResponder(lows[i], highs[j], budgets[e]), budgets[e]

    indices = low_of, high_of, budget_of
    groups = draw_groups(records, indices, responder_at, rng, progress, outside=outside)
    return NumberReports(groups)


def _pooled(groups: Sequence[Group[TwoValuedResponder]], weights: str) -> ScalarEstimate:
    """Return the weighted mean of groups with one range; the weights do not depend on the reports.

    With weights w_g of sum 1 and T = Sum_g w_g (mean report of g) of expectation t,

        Var T = V = Sum_g w_g**2 (c_g**2 - t**2) / n_g = A - B t**2,      E T**2 = t**2 + V,

    so (A - B T**2) / (1 - B) is unbiased for V. T**2 is clipped to 1, as t**2 <= 1, and groups with
    different means have a smaller V, so the error is conservative.
    """
    if weights not in WEIGHTS:
        raise InputError("weights", "'information' or 'size'", shown(weights))
    tallies = [group.mechanism.tally(group.reports) for group in groups]
    sizes = np.array([float(group.mechanism.size) for group in groups])
    n = np.array([tally.total for tally in tallies], dtype=np.float64)
    surplus = np.array([float(tally.counts[1] - tally.counts[0]) for tally in tallies])
    w = n / sizes**2 if weights == "information" else n
    w = w / w.sum()
    T = float(w @ (sizes * surplus / n))
    A, B = float(w**2 @ (sizes**2 / n)), float(w**2 @ (1 / n))
    V = (A - B * min(T**2, 1.0)) / (1 - B) if B < 1 else A  # one report alone does not determine t
    low, high = float(groups[0].mechanism.low), float(groups[0].mechanism.high)
    value, error = low + (high - low) * (T + 1) / 2, (high - low) / 2 * math.sqrt(V)
    return _estimate_of("mean", value, error, weights, groups)


def _estimate_of(
    quantity: str,
    value: float,
    error: float,
    weights: str,
    groups: Sequence[Group[TwoValuedResponder]],
) -> ScalarEstimate:
    return ScalarEstimate(
        quantity=quantity,
        value=value,
        standard_error=error,
        reports=sum(len(group.reports) for group in groups),
        method="two-valued reports",
        unbiased=True,
        simulated=any(group.reports.simulated for group in groups),
        target=WEIGHTS[weights],
    )
