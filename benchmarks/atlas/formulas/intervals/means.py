"""Means of numbers: the unbiased mechanisms for [-1, 1], where the data lies in [-w, w].

A mechanism made for [-1, 1] is used on [-w, w], for lack of a better bound on the data.
Its worst variance there is enclosed; the least one is w**2 times that for [-1, 1], since kernels
and readings scale with the data, so one design for each budget is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import ClassVar

from benchmarks.atlas.base import Axis, Entry, Measured, Optimum, Point, shares
from mechdesign.accounting import DuchiMechanism, HybridMechanism, PiecewiseMechanism
from mechdesign.accounting.continuous.bounded_means import BoundedMechanism
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.design import design
from mechdesign.exact.enclosures import logarithm
from mechdesign.notions import LDP
from mechdesign.utilities import UnbiasedVariance

GAP = 2e-3


class Mean(Entry):
    """A mechanism for [-1, 1] whose reports have the mean x, on data in [-w, w]."""

    axis = Axis(
        "w",
        "half-width w of the data",
        shares("0.5 0.55 0.6 0.65 0.7 0.75 0.8 0.85 0.9 0.95 1"),
        shares("0.5 1"),
    )
    gap = GAP

    kind: ClassVar[type[BoundedMechanism]]

    def problem(self, at: Point) -> ContinuousProblem:
        """Return the problem."""
        return least_variance(at.epsilon, at.parameter)

    def optima(self, points: Sequence[Point], n_jobs: int | None = None) -> Iterator[Optimum]:
        """Yield the optima, of one design for each budget."""
        for at in points:
            best, scale = optimum(at.epsilon), float(at.parameter**2)
            yield best._replace(value=best.value * scale, bound=best.bound * scale)

    def measured(self, at: Point) -> Measured:
        """Return the enclosures of the leakage and of the variance at the worst x."""
        made = self.kind(at.epsilon)
        worst = (at.parameter * Fraction(x) for x in made.worst_inputs)
        return Measured(self.leakage(at), max(made.loss_enclosure(x).ends.high for x in worst))

    def leakage(self, at: Point) -> float:
        """Return that between any two inputs: two levels of a density meet wherever they differ."""
        return self.kind(at.epsilon).leakage().high


class DuchiMean(Mean):
    """One of two values; it leaks less on a part of the interval."""

    name = "duchi-mean"
    title = "Duchi et al., LDP, data in [−w, w]\nworst variance of an unbiased reading"
    source = "Duchi, Jordan and Wainwright 2018"
    claim = "order-optimal for small ε, unbiased for x in [−1, 1]; measured on [−w, w]"
    kind = DuchiMechanism

    def leakage(self, at: Point) -> float:
        """Return the log-ratio of a report at w and at -w."""
        made, w = DuchiMechanism(at.epsilon), at.parameter
        return logarithm(made.probability(w) / made.probability(-w)).ends.high


class PiecewiseMean(Mean):
    """A density of two levels, the higher one around x."""

    name = "piecewise-mean"
    title = "Piecewise mechanism, LDP, data in [−w, w]\nworst variance of an unbiased reading"
    source = "Wang et al. 2019 (ICDE)"
    claim = "less variance than Duchi et al. for large ε, unbiased on [−1, 1]; measured on [−w, w]"
    kind = PiecewiseMechanism


class HybridMean(DuchiMean):
    """Mixes both above ε = 0.61, and is the two values below."""

    name = "hybrid-mean"
    title = "Hybrid mechanism, LDP, data in [−w, w]\nworst variance of an unbiased reading"
    source = "Wang et al. 2019 (ICDE)"
    claim = "the least worst variance of all mixtures of both; measured on [−w, w]"
    kind = HybridMechanism

    def leakage(self, at: Point) -> float:
        """Return the larger of both, where both are in use."""
        if at.epsilon <= HybridMechanism.THRESHOLD:
            return super().leakage(at)
        return max(super().leakage(at), PiecewiseMechanism(at.epsilon).leakage().high)


def least_variance(epsilon: Fraction, w: Fraction) -> ContinuousProblem:
    """Return the problem of an unbiased reading of numbers in [-w, w] with the least variance."""
    return ContinuousProblem([-w, w], LDP(epsilon), UnbiasedVariance(worst_case=True))


@cache
def optimum(epsilon: Fraction) -> Optimum:
    """Return the optimum on [-1, 1]."""
    found = design(least_variance(epsilon, Fraction(1)), gap=GAP)
    return Optimum(float(found.value), float(found.bound), found.route)
