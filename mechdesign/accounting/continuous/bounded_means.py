"""LDP mechanisms for a number in an interval, with their exact loss at each input.

A report has a density of two levels with ratio e**epsilon, or two atoms with this largest ratio, or
it is a mixture of both. So the leakage is epsilon, the moments are sums over a few intervals, and
the worst input is known. All results are enclosures, as e**epsilon is irrational.

Sources: Duchi, Jordan and Wainwright 2018 (two values); Wang et al. 2019, ICDE (the piecewise and
the hybrid mechanism); Zheng et al. 2025, PETS (piecewise mechanisms that are best for the absolute
error).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mechdesign.accounting.arguments import limited
from mechdesign.exact import Exact, as_fraction
from mechdesign.exact.enclosures import Bounds, Enclosure, exponential

Number = Enclosure | Fraction

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class BoundedMechanism(ABC):
    """An epsilon-LDP mechanism for a number in an interval, for 0.001 <= epsilon <= 100 in nats."""

    epsilon: Fraction

    interval: ClassVar[tuple[float, float]]
    """The interval of inputs; other intervals are rescaled to it."""

    worst_inputs: ClassVar[tuple[float, ...]]
    """Inputs that contain a worst one at every epsilon."""

    def __init__(self, epsilon: Exact) -> None:
        object.__setattr__(self, "epsilon", limited(epsilon, least=Fraction(1, 1000)))

    @abstractmethod
    def loss_enclosure(self, x: Number) -> Enclosure:
        """Return the expected loss at an input."""

    def leakage(self) -> Bounds:
        """Return bounds on the largest log-ratio of two densities or masses: epsilon."""
        return Enclosure.of(self.epsilon).ends

    def loss(self, x: float) -> Bounds:
        """Return bounds on the expected loss at an input inside of the interval."""
        low, high = map(Fraction, self.interval)
        expected = f"a number from {low} to {high}"
        return self.loss_enclosure(
            as_fraction(x, "x", expected=expected, least=low, most=high)
        ).ends

    def worst_loss(self) -> Bounds:
        """Return bounds on the largest expected loss over all inputs."""
        return Bounds.largest(self.loss(x) for x in self.worst_inputs)

    def _exp(self, factor: Fraction | int) -> Enclosure:
        """Return e**(factor epsilon)."""
        return exponential(factor * self.epsilon)


class DuchiMechanism(BoundedMechanism):
    """Report c or -c, with c = (e**epsilon + 1)/(e**epsilon - 1), so that the mean is x in [-1, 1].

    The loss is the variance, c**2 - x**2, which is largest at 0.

    Examples
    --------
    >>> DuchiMechanism(1).worst_loss()
    Bounds(low=4.68269..., high=4.68269...)
    """

    interval, worst_inputs = (-1.0, 1.0), (0.0,)

    @property
    def size(self) -> Enclosure:
        """The size c of a report."""
        return (self._exp(1) + 1) / (self._exp(1) - 1)

    def probability(self, x: Number) -> Enclosure:
        """Return the probability 1/2 + x/(2 c) of the report c."""
        return x / (self.size * 2) + HALF

    def loss_enclosure(self, x: Number) -> Enclosure:
        """Return the variance c**2 - x**2, as c**2 - 1 = 4 e**epsilon / (e**epsilon - 1)**2."""
        shrink = self._exp(-1)
        return shrink * 4 / (1 - shrink).square() + (1 - x) * (1 + x)


@dataclass(frozen=True)
class Window:
    """A density of two levels: one on [start, end], the other on the rest of [low, high]."""

    low: Enclosure
    high: Enclosure
    start: Enclosure
    end: Enclosure
    inside: Enclosure
    outside: Enclosure


class PiecewiseMechanism(BoundedMechanism):
    """The piecewise mechanism: an unbiased report with a higher density near x.

    With E = e**(epsilon/2) and C = (E + 1)/(E - 1), the density is (e**epsilon - E)/(2 E + 2) on
    [l, l + C - 1], l = (C + 1) x/2 - (C - 1)/2, and e**-epsilon times that on the rest of [-C, C].
    The loss is the variance, x**2 / (E - 1) + (E + 3) / (3 (E - 1)**2) (Wang et al. 2019, Lemma 1):
    a parabola in x that opens upward, largest at both ends.

    Examples
    --------
    >>> PiecewiseMechanism(4).worst_loss()
    Bounds(low=0.24136..., high=0.24136...)
    """

    interval, worst_inputs = (-1.0, 1.0), (-1.0, 1.0)

    def window(self, x: Number) -> Window:
        """Return the law of the report at an input."""
        E = self._exp(HALF)
        C = (E + 1) / (E - 1)
        inside = (self._exp(1) - E) / (E * 2 + 2)
        start = ((C + 1) * x - (C - 1)) * HALF
        return Window(-C, C, start, start + C - 1, inside, inside / self._exp(1))

    def loss_enclosure(self, x: Number) -> Enclosure:
        """Return the variance."""
        E = self._exp(HALF)
        return x * x / (E - 1) + (E + 3) / ((E - 1).square() * 3)


class HybridMechanism(BoundedMechanism):
    """The piecewise mechanism with probability 1 - e**(-epsilon/2), else Duchi's.

    For epsilon up to 0.61 it is Duchi's mechanism. The loss is the variance. The reports of both
    have mean x, so variances average. In the mixture the terms in x**2 cancel: all inputs have the
    same loss.

    Examples
    --------
    >>> HybridMechanism(4).worst_loss()
    Bounds(low=0.2189..., high=0.2190...)
    """

    interval, worst_inputs = (-1.0, 1.0), (0.0, 1.0)

    THRESHOLD: ClassVar[Fraction] = Fraction(61, 100)

    def loss_enclosure(self, x: Number) -> Enclosure:
        """Return the variance."""
        duchi = DuchiMechanism(self.epsilon).loss_enclosure(x)
        if self.epsilon <= self.THRESHOLD:
            return duchi
        rare = self._exp(-HALF)
        return rare * duchi + (1 - rare) * PiecewiseMechanism(self.epsilon).loss_enclosure(x)


class OptimalPiecewiseMechanism(BoundedMechanism):
    """A piecewise mechanism on [0, 1] for the worst-case absolute error.

    The density is e**(epsilon/2) on a window of width w = 1/(e**(epsilon/2) + 1), and e**-epsilon
    times that on the rest of [0, 1]. The window is centered at x, or shifted to stay in [0, 1]. The
    report is a biased estimate; the loss is E|Y - x|.

    The loss is convex in x while the window is fixed, that is for x <= w/2 and x >= 1 - w/2, and
    also in between, where it is e**(-epsilon/2) (x**2 + (1 - x)**2)/2 plus a constant. So it is
    largest at an end of one of these pieces: 0, w/2 or their mirror images. It is w at 0, and less
    at w/2. Zheng et al. 2025 find by numerical search that such a mechanism is optimal among those
    that are piecewise constant on windows (0.37754077 at epsilon = 1); it is not optimal among all
    mechanisms.

    Examples
    --------
    >>> OptimalPiecewiseMechanism(1).worst_loss()
    Bounds(low=0.3775406687..., high=0.3775406687...)
    """

    interval, worst_inputs = (0.0, 1.0), (0.0, 1.0)

    def window(self, x: Number) -> Window:
        """Return the law of the report at an input."""
        E = self._exp(HALF)
        w = 1 / (E + 1)
        start, last = (x - w * HALF).positive(), 1 - w
        start = Enclosure(min(start.low, last.low), min(start.high, last.high))
        return Window(Enclosure.of(0), Enclosure.of(1), start, start + w, E, E / self._exp(1))

    def loss_enclosure(self, x: Number) -> Enclosure:
        """Return the mean absolute error."""
        law = self.window(x)
        everywhere = (law.high - x).square() + (x - law.low).square()
        part = (law.end - x).square() + (x - law.start).square()
        return HALF * (law.outside * everywhere + (law.inside - law.outside) * part)
