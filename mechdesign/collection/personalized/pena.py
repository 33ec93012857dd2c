"""PENA (Akter and Hashem 2017): means and sums of numbers under personalized LDP."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import Int64Array
from mechdesign.collection.personalized.budgets import (
    GroupedReports,
    budgets_of,
    distinct,
    draw_groups,
)
from mechdesign.collection.personalized.two_valued_response import TwoValuedResponder
from mechdesign.errors import InputError, listed, shown
from mechdesign.estimation.result import ScalarEstimate
from mechdesign.exact import fraction_text
from mechdesign.labels import check_index
from mechdesign.reports import Reports
from mechdesign.sampling import Randomness

__all__ = ["NumberGroup", "NumberReports", "collect_numbers"]

WEIGHTS = {"information": "population", "size": "respondents"}
"""How reports of different budgets may be weighted, and whose mean is then unbiased."""


@dataclass(frozen=True, eq=False)
class NumberGroup:
    """The records of one safe range and one budget.

    Attributes
    ----------
    responder
        The mechanism that drew their reports.
    places
        The numbers of these records.
    reports
        Their reports, in the same order.
    """

    responder: TwoValuedResponder
    places: Int64Array
    reports: Reports

    def mean(self) -> ScalarEstimate:
        """Return the unbiased estimate of the mean of these records."""
        return _pooled([self], "size")


class NumberReports(GroupedReports):
    """Two-valued reports of numbers, by safe range and budget; see :func:`collect_numbers`."""

    groups: tuple[NumberGroup, ...]

    def values(self) -> list[float]:
        """Return the reports +-c as numbers, in the order of the records."""
        reports = np.empty(len(self))
        for group in self.groups:
            size = float(group.responder.size)
            reports[group.places] = np.where(group.reports.data == 1, size, -size)
        return [float(report) for report in reports]

    def subsets(
        self, weights: str = "information"
    ) -> dict[tuple[Fraction, Fraction], ScalarEstimate]:
        """Return the mean of each subset, the records of one safe range, by that range.

        Parameters
        ----------
        weights
            See :meth:`mean`.
        """
        ranges: dict[tuple[Fraction, Fraction], list[NumberGroup]] = {}
        for group in self.groups:
            key = (group.responder.low, group.responder.high)
            ranges.setdefault(key, []).append(group)
        return {key: _pooled(groups, weights) for key, groups in ranges.items()}

    def mean(self, weights: str = "information") -> ScalarEstimate:
        """Return an estimate of the mean over all records.

        Subsets of different safe ranges are different populations, so that their means are always
        weighted by their sizes. Inside a subset there is a choice between the budgets.

        Parameters
        ----------
        weights
            ``"information"``: each report weighs 1/c**2, the inverse of its variance but for what
            the values themselves add. That is the most precise, and unbiased where the values do
            not depend on the budgets that people choose. ``"size"``: each report weighs the same,
            which is unbiased whatever the budgets depend on, the mean of just these respondents;
            small budgets then add large errors.

        Raises
        ------
        InputError
            If the weights are none of these, or there are no records.
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

    def _line(self, group: NumberGroup) -> str:
        one, count = group.responder, len(group.reports)
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

    Means and sums are estimated without bias. The minimum, the maximum and quantiles cannot be:
    the probability of a report depends on the distribution of the values through its mean alone, so
    that values in the middle look like values of which half lie at each end. For those draw from a
    :class:`~mechdesign.continuous.ContinuousChannel` on ``"cells"``.

    Parameters
    ----------
    values
        Numbers, one for each record.
    epsilons
        Budgets in nats, > 0: one for all, or one for each record.
    low, high
        The ends of the safe range: one for all, or one for each record.
    levels
        None to use each budget as it is. A list of budgets, or how many to choose, to round each
        budget *down* to one of them, which keeps every promise: fewer, larger groups.
    outside
        ``"refuse"`` values outside their range, or ``"clip"`` them.
    rng
        None for the cryptographic source of the operating system; a seed or a
        ``numpy.random.Generator`` for a simulation.
    progress
        Whether to show a bar; None where standard error is a terminal.

    Raises
    ------
    InputError
        If a value, a budget or a range is none.

    Notes
    -----
    Source: Akter and Hashem 2017, Algorithms 1 and 2. The mean there, (T_max - T_min) mean(f), is
    wrong but for ranges where it happens to hold: E f is the value scaled to [-1, 1], so that the
    mean is T_min + (T_max - T_min)(mean(f) + 1)/2.

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
    shape = len(lows), len(highs), len(budgets)

    def responder_at(key: int) -> TwoValuedResponder:
        i, j, e = np.unravel_index(key, shape)
        return TwoValuedResponder(lows[i], highs[j], budgets[e], outside=outside)

    keys = (low_of * len(highs) + high_of) * len(budgets) + budget_of
    drawn = draw_groups(records, keys, responder_at, rng, progress)
    groups = (NumberGroup(one, places, reports) for _, one, places, reports in drawn)
    return NumberReports(tuple(groups))


def _pooled(groups: list[NumberGroup], weights: str) -> ScalarEstimate:
    """Return the weighted mean of groups of one range; the weights do not look at the reports.

    With weights w_g of sum 1 and T = Sum_g w_g (mean report of g), whose expectation is t,

        Var T = V = Sum_g w_g**2 (c_g**2 - t**2) / n_g = A - B t**2,      E T**2 = t**2 + V,

    so that (A - B T**2) / (1 - B) is unbiased for V. T**2 is cut off at 1, as t**2 is at most 1,
    and groups of different means make V smaller, so that the error is overstated if anything.
    """
    if weights not in WEIGHTS:
        raise InputError("weights", "'information' or 'size'", shown(weights))
    tallies = [group.responder.tally(group.reports) for group in groups]
    sizes = np.array([float(group.responder.size) for group in groups])
    n = np.array([tally.total for tally in tallies], dtype=np.float64)
    surplus = np.array([float(tally.counts[1] - tally.counts[0]) for tally in tallies])
    w = n / sizes**2 if weights == "information" else n
    w = w / w.sum()
    T = float(w @ (sizes * surplus / n))
    A, B = float(w**2 @ (sizes**2 / n)), float(w**2 @ (1 / n))
    V = (A - B * min(T**2, 1.0)) / (1 - B) if B < 1 else A  # one report alone does not determine t
    low, width = float(groups[0].responder.low), float(groups[0].responder.width)
    return _estimate_of(
        "mean", low + width * (T + 1) / 2, width / 2 * math.sqrt(V), weights, groups
    )


def _estimate_of(
    quantity: str, value: float, error: float, weights: str, groups: Sequence[NumberGroup]
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
