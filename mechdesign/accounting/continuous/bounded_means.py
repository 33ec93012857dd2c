"""Mechanisms for one number of an interval under LDP: their exact loss, input by input.

Each sends a number whose law is a density of two levels, e**epsilon apart, or has two atoms, or is
a mixture of both. So moments of the report are sums over a few intervals, privacy is read from the
levels, and the worst input is known. All results are enclosures: e**epsilon is irrational.

Sources: Duchi, Jordan and Wainwright 2018 (two values); Wang et al. 2019, ICDE (the piecewise and
the hybrid mechanism); Zheng et al. 2025, PETS (piecewise mechanisms that are best for the absolute
error).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign.accounting.continuous.arguments import finite, limited
from mechdesign.accounting.continuous.enclosures import Bounds, Enclosure, between, exp_of, log_of
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import Exact

__all__ = [
    "BoundedMechanism",
    "DuchiMechanism",
    "HybridMechanism",
    "OptimalPiecewiseMechanism",
    "PiecewiseMechanism",
]

ONE, TWO, HALF = Enclosure.of(1.0), Enclosure.of(2.0), Enclosure.of(0.5)


@dataclass(frozen=True)
class BoundedMechanism(ABC):
    """An epsilon-LDP mechanism for a number of an interval.

    Parameters
    ----------
    epsilon
        In nats, from 1e-3 to 100.

    Raises
    ------
    InputError
        If epsilon is out of range.
    """

    epsilon: Fraction

    name: ClassVar[str]
    interval: ClassVar[tuple[float, float]]
    """The inputs that it takes; others are scaled to it."""

    worst_inputs: ClassVar[tuple[float, ...]]
    """Inputs of which one is the worst, whatever epsilon."""

    def __init__(self, epsilon: Exact) -> None:
        given = limited(epsilon)
        if given < Fraction(1, 1000):
            raise InputError("epsilon", "a number from 0.001 to 100", shown(epsilon))
        object.__setattr__(self, "epsilon", given)

    @abstractmethod
    def loss_enclosure(self, x: Enclosure) -> Enclosure:
        """Return the expected loss at an input."""

    @abstractmethod
    def leakage(self) -> Bounds:
        """Return bounds on the largest log-ratio of two densities, or masses, of one report."""

    def loss(self, x: float) -> Bounds:
        """Return bounds on the expected loss at an input.

        Raises
        ------
        InputError
            If it is outside of the interval.
        """
        given, (low, high) = finite(x, "x"), self.interval
        if not low <= given <= high:
            raise InputError("x", f"a number from {low:g} to {high:g}", shown(x))
        return self.loss_enclosure(Enclosure.of(given)).ends

    def worst_loss(self) -> Bounds:
        """Return bounds on the largest expected loss over all inputs."""
        return Bounds.largest(self.loss(x) for x in self.worst_inputs)

    def mean_loss(self, points: Iterable[Any], weights: Iterable[Any]) -> Bounds:
        """Return bounds on the loss averaged over a law of finitely many inputs.

        Parameters
        ----------
        points, weights
            ``(n,)`` inputs and their probabilities, as floats.

        Raises
        ------
        InputError
            If these are not equally many, or a point is outside of the interval.
        """
        at = [self.loss(x) for x in listed(points, "points", "a list of numbers")]
        shares = [finite(w, "weights") for w in listed(weights, "weights", "a list of numbers")]
        if len(at) != len(shares):
            raise InputError("weights", f"{len(at)} numbers, one for each point", len(shares))
        losses = between([b.low for b in at], [b.high for b in at])
        return (losses * Enclosure.of(shares)).sum().ends

    @property
    def _grown(self) -> Enclosure:
        return exp_of(self.epsilon)

    @property
    def _half_grown(self) -> Enclosure:
        return exp_of(self.epsilon / 2)


class DuchiMechanism(BoundedMechanism):
    """Report c or -c, with c = (e**epsilon + 1)/(e**epsilon - 1), so that the mean is x in [-1, 1].

    The loss is the variance, c**2 - x**2, which is largest at 0.

    Examples
    --------
    >>> DuchiMechanism(1).worst_loss()
    Bounds(low=4.68269..., high=4.68269...)
    """

    name, interval, worst_inputs = "duchi", (-1.0, 1.0), (0.0,)

    @property
    def size(self) -> Enclosure:
        """The size c of a report."""
        return (self._grown + ONE) / (self._grown - ONE)

    def probability(self, x: Enclosure) -> Enclosure:
        """Return the probability 1/2 + x/(2 c) of the report c."""
        return HALF + x / (TWO * self.size)

    def loss_enclosure(self, x: Enclosure) -> Enclosure:
        """Return the variance c**2 - x**2, as c**2 - 1 = 4 e**epsilon / (e**epsilon - 1)**2."""
        shrink = ONE / self._grown
        rest = Enclosure.of(4.0) * shrink / (ONE - shrink).square()
        return rest + (ONE - x) * (ONE + x)

    def leakage(self) -> Bounds:
        """Return bounds on the log-ratio of the report c at 1 and at -1."""
        whole = self._grown + ONE  # over which both probabilities are e**epsilon and 1
        return log_of((self._grown / whole) / (ONE / whole))


@dataclass(frozen=True)
class Window:
    """A density of two levels: one on [start, end], the other on the rest of [low, high]."""

    low: Enclosure
    high: Enclosure
    start: Enclosure
    end: Enclosure
    inside: Enclosure
    outside: Enclosure

    def mass(self) -> Enclosure:
        """Return the integral of the density: 1, but for rounding."""
        return self._integral(*self._ends)

    def mean(self) -> Enclosure:
        """Return E[Y]."""
        return self._integral(*(y.square() * HALF for y in self._ends))

    def square(self) -> Enclosure:
        """Return E[Y**2]."""
        return self._integral(*(y * y.square() / Enclosure.of(3.0) for y in self._ends))

    def absolute(self, x: Enclosure) -> Enclosure:
        """Return E|Y - x| for x inside the window."""
        whole = (self.high - x).square() + (x - self.low).square()
        part = (self.end - x).square() + (x - self.start).square()
        return HALF * (self.outside * whole + (self.inside - self.outside) * part)

    @property
    def _ends(self) -> tuple[Enclosure, ...]:
        return self.low, self.high, self.start, self.end

    def _integral(
        self, low: Enclosure, high: Enclosure, start: Enclosure, end: Enclosure
    ) -> Enclosure:
        """Return the integral of a function, from its antiderivative at the four ends."""
        return self.outside * (high - low) + (self.inside - self.outside) * (end - start)


class PiecewiseMechanism(BoundedMechanism):
    """A report near x with a higher density, without bias: the piecewise mechanism.

    With E = e**(epsilon/2) and C = (E + 1)/(E - 1), the density is (e**epsilon - E)/(2 E + 2) on
    [l, l + C - 1], l = (C + 1) x/2 - (C - 1)/2, and e**-epsilon times that on the rest of [-C, C].
    The loss is the variance, x**2 / (E - 1) + (E + 3) / (3 (E - 1)**2) (Wang et al. 2019, Lemma 1):
    a parabola in x that opens upward, largest at both ends.

    Examples
    --------
    >>> PiecewiseMechanism(4).worst_loss()
    Bounds(low=0.24136..., high=0.24136...)
    """

    name, interval, worst_inputs = "piecewise", (-1.0, 1.0), (-1.0, 1.0)

    def window(self, x: Enclosure) -> Window:
        """Return the law of the report at an input."""
        E = self._half_grown
        C = (E + ONE) / (E - ONE)
        inside = (self._grown - E) / (TWO * E + TWO)
        start = (C + ONE) * x * HALF - (C - ONE) * HALF
        return Window(-C, C, start, start + C - ONE, inside, inside / self._grown)

    def loss_enclosure(self, x: Enclosure) -> Enclosure:
        """Return the variance."""
        E = self._half_grown
        rest = (E + Enclosure.of(3.0)) / (Enclosure.of(3.0) * (E - ONE).square())
        return x.square() / (E - ONE) + rest

    def leakage(self) -> Bounds:
        """Return bounds on the log-ratio of the two levels."""
        found = self.window(Enclosure.of(0.0))
        return log_of(found.inside / found.outside)


class HybridMechanism(BoundedMechanism):
    """The piecewise mechanism with probability 1 - e**(-epsilon/2), else Duchi's.

    Up to epsilon = 0.61 it is Duchi's alone. The loss is the variance. The reports of both have the
    mean x, so variances average. Where it is a mixture the terms in x**2 cancel: every input is the
    worst.

    Examples
    --------
    >>> HybridMechanism(4).worst_loss()
    Bounds(low=0.2189..., high=0.2190...)
    """

    name, interval, worst_inputs = "hybrid", (-1.0, 1.0), (0.0, 1.0)

    THRESHOLD: ClassVar[Fraction] = Fraction(61, 100)

    @property
    def share(self) -> Enclosure:
        """The probability of the piecewise mechanism."""
        return ONE - self._duchi if self.epsilon > self.THRESHOLD else Enclosure.of(0.0)

    @property
    def _duchi(self) -> Enclosure:
        """The probability of Duchi's mechanism, with all its digits where it is small."""
        return exp_of(-self.epsilon / 2) if self.epsilon > self.THRESHOLD else ONE

    def loss_enclosure(self, x: Enclosure) -> Enclosure:
        """Return the variance."""
        near, two = PiecewiseMechanism(self.epsilon), DuchiMechanism(self.epsilon)
        return self.share * near.loss_enclosure(x) + self._duchi * two.loss_enclosure(x)

    def leakage(self) -> Bounds:
        """Return bounds on the larger log-ratio: atoms and densities do not meet."""
        parts: list[BoundedMechanism] = [DuchiMechanism(self.epsilon)]
        if self.share.low > 0:
            parts.append(PiecewiseMechanism(self.epsilon))
        return Bounds.largest(part.leakage() for part in parts)


class OptimalPiecewiseMechanism(BoundedMechanism):
    """The piecewise mechanism on [0, 1] that is best for the worst absolute error.

    The density is e**(epsilon/2) on a window of width w = 1/(e**(epsilon/2) + 1), and e**-epsilon
    times that on the rest of [0, 1]; the window has x in its middle, unless it would leave [0, 1].
    Nothing is unbiased here: the report itself is the estimate, the loss E|Y - x|.

    It is convex in x wherever the window stands still, that is for x <= w/2 and x >= 1 - w/2, and
    in between too, where it is e**(-epsilon/2) (x**2 + (1 - x)**2)/2 and a constant. So it is
    largest at an end of one of these pieces: 0, w/2 and their mirror images. At 0 it is w, at w/2
    less. Zheng et al. 2025 find such a mechanism the best of all that are piecewise constant on
    windows, by numerical search (0.37754077 at epsilon = 1); among all mechanisms it is not.

    Examples
    --------
    >>> OptimalPiecewiseMechanism(1).worst_loss()
    Bounds(low=0.3775406687..., high=0.3775406687...)
    """

    name, interval, worst_inputs = "optimal-piecewise", (0.0, 1.0), (0.0, 1.0)

    def window(self, x: Enclosure) -> Window:
        """Return the law of the report at an input."""
        E = self._half_grown
        w = ONE / (E + ONE)
        zero = Enclosure.of(0.0)
        start = x - w * HALF
        low, high = np.maximum(start.low, 0.0), np.maximum(start.high, 0.0)
        last = ONE - w
        start = between(np.minimum(low, last.low), np.minimum(high, last.high))
        return Window(zero, ONE, start, start + w, E, E / self._grown)

    def loss_enclosure(self, x: Enclosure) -> Enclosure:
        """Return the mean absolute error."""
        return self.window(x).absolute(x)

    def leakage(self) -> Bounds:
        """Return bounds on the log-ratio of the two levels."""
        found = self.window(HALF)
        return log_of(found.inside / found.outside)
