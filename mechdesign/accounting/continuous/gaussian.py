"""The Gaussian mechanism under approximate local differential privacy, exactly.

The Gaussian mechanism on an interval under approximate LIP: proved bounds on delta(epsilon).

Source: Jiang et al. 2021 (TIFS), Section IV-C.2, Definition 5, Theorem 5 and Corollary 10; Balle,
Barthe and Gaboardi 2018 for the hockey-stick divergence.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign.accounting.arguments import (
    below_one,
    finite,
    limited,
    noises,
    numbers,
    positive,
)
from mechdesign.accounting.continuous.enclosures import FloatEnclosure, between, normal_mass
from mechdesign.accounting.continuous.hockey_stick import (
    CELLS,
    BinnedNormals,
    Law,
    Normals,
    excess,
    hockey_stick,
    mass_between,
)
from mechdesign.accounting.crossings import least_noise, within
from mechdesign.continuous.laws import GaussianMixture
from mechdesign.errors import InputError, UnsupportedError, shown
from mechdesign.exact import Exact
from mechdesign.exact.enclosures import Bounds, exponential


def analytic_gaussian_delta(epsilon: Exact, deviation: float, sensitivity: float) -> Bounds:
    """Return bounds on the least delta with which Gaussian noise is (epsilon, delta)-LDP.

        delta = Phi(D/(2 s) - epsilon s/D) - e**epsilon Phi(-D/(2 s) - epsilon s/D)

    with D the sensitivity and s the deviation. This is exact at every epsilon: two inputs at
    distance D attain it.

    Parameters
    ----------
    epsilon
        In nats.
    deviation
        The standard deviation of the noise, the same for all inputs.
    sensitivity
        The length of the interval of inputs.

    Notes
    -----
    Source: Balle and Wang 2018, Theorem 8; Jiang et al. 2021 (TIFS), (24). The bound
    1.25 exp(-epsilon**2 s**2 / (2 D**2)) of Dwork and Roth 2014, Theorem A.1, holds for epsilon < 1
    only, and is never smaller than the exact delta there; Jiang et al. state it for every epsilon.

    Examples
    --------
    >>> analytic_gaussian_delta(1, 10, 20)
    Bounds(low=0.50986..., high=0.50986...)
    >>> analytic_gaussian_delta(10, 1.69, 10).low > 0.8 > 0.31 > 1.25 * math.exp(-(1.69**2) / 2)
    True
    """
    budget = limited(epsilon)
    s = FloatEnclosure.of(positive(deviation, "deviation"))
    D = FloatEnclosure.of(positive(sensitivity, "sensitivity"))
    half, shift = D / (s * 2), budget * s / D
    least, grown = FloatEnclosure.of(-math.inf), FloatEnclosure.of(exponential(budget))
    own, other = normal_mass(least, half - shift), normal_mass(least, -half - shift)
    return (own - grown * other).positive().ends


def analytic_gaussian_deviation(
    epsilon: Exact, delta: float, sensitivity: float, relative: float = 1e-9
) -> Bounds:
    """Return bounds on the least noise that is (epsilon, delta)-LDP, by bisection.

    The upper bound provably satisfies delta, the lower one provably does not.

    Parameters
    ----------
    epsilon, sensitivity
        As for :func:`analytic_gaussian_delta`.
    delta
        Strictly between 0 and 1.
    relative
        The relative width of the bounds.

    Examples
    --------
    >>> analytic_gaussian_deviation(1, 1e-5, 1)
    Bounds(low=3.7306..., high=3.7306...)
    """
    failure = below_one(delta, "delta")
    length = positive(sensitivity, "sensitivity")
    return least_noise(
        lambda noise: within(analytic_gaussian_delta(epsilon, noise, length), failure),
        length,
        relative,
    )


ROOT = 0.7978845608028654
"""E|N| = sqrt(2 / pi) for a standard normal N, rounded."""

MOST_CELLS = 10**7
"""Maximum number of cells of the law of Y times its number of normal parts: about 1 GB."""

MOST_BOXES = 2000
"""Maximum number of input intervals searched; then the current bounds are returned."""


@dataclass(frozen=True, init=False)
class GaussianMechanism:
    """Y = X + s(X) N for X in an interval, with N standard normal and s constant on bins.

    It is (epsilon, delta)-LIP iff for every x of the interval, with f_x the density of Y given
    X = x and g that of Y,

        e**-epsilon E(f_x || g) <= delta   and   E(g || f_x) <= delta,

    where E is the hockey-stick divergence at e**epsilon (Definition 5; sets of inputs follow since
    f_S is a mixture of the f_x and E is convex in its arguments). Theorem 5 requires
    E(f_x || g) <= delta without the factor, which is sufficient. Over all x of the line the
    supremum is 1 for any noise, so the interval is part of the statement.

    Parameters
    ----------
    law
        The law of X.
    edges
        ``(n + 1,)`` increasing: the ends of the interval and the bin edges between them.
    deviations
        ``(n,)`` the standard deviation s of the noise in each bin, or one number for all bins.
    truncated
        Whether X has the law conditioned on the interval. If not, Y has the law of X + s N for X
        on the whole line, as in Theorem 5, which needs a single s; the guarantee then covers only
        the inputs inside the interval.

    Notes
    -----
    With noise that depends on x, the law of Y is not normal although each f_x is; Corollary 10
    replaces it by N(mu, s_X**2 + s(x)**2), a different law for each x. This class uses the true law
    of Y.

    Examples
    --------
    Fig. 8 of the paper, for inputs up to two standard deviations from the mean:

    >>> gaussian = GaussianMechanism(GaussianMixture.normal(0, 5), [-10, 10], 10, truncated=False)
    >>> gaussian.delta(1, width=1e-6)
    Bounds(low=0.14687..., high=0.14687...)

    Salaries between 0 and 200 (thousand), with more noise where they are rare:

    >>> law = GaussianMixture([0.4, 0.6], [30, 60], [9, 15])
    >>> binned = GaussianMechanism(law, [0, 80, 120, 200], [100, 150, 250])
    >>> bounds = binned.delta(1, width=1e-4)
    >>> bounds.high - bounds.low < 1e-4
    True
    """

    law: GaussianMixture
    edges: tuple[float, ...]
    deviations: tuple[float, ...]
    truncated: bool = True

    def __init__(
        self,
        law: GaussianMixture,
        edges: Iterable[Any],
        deviations: Any,
        *,
        truncated: bool = True,
    ) -> None:
        if not isinstance(law, GaussianMixture):
            raise InputError("law", "a GaussianMixture", shown(law))
        marks = numbers(edges, "edges")
        if len(marks) < 2 or any(a >= b for a, b in itertools.pairwise(marks)):
            raise InputError("edges", "at least two numbers that rise", shown(list(marks)))
        sizes = noises(deviations, len(marks) - 1, "deviations", "bin")
        if not truncated and len(set(sizes)) > 1:
            raise InputError("truncated", "true where the noise depends on the input", "false")
        if truncated and mass_between(law, marks[0], marks[-1]).low < 1e-9:
            expected = "an interval that has 1e-9 of the mass of the law, or more"
            raise InputError("edges", expected, shown([marks[0], marks[-1]]))
        vars(self).update(law=law, edges=marks, deviations=sizes, truncated=truncated)

    @cached_property
    def output_law(self) -> Law:
        """The law of Y."""
        own = Normals.of(self.law)
        if not self.truncated:
            noise = FloatEnclosure.of(self.deviations[0])
            spread = (own.deviations.square() + noise.square()).root()
            return Normals(own.weights, own.means, spread)
        bins, parts = len(self.deviations), len(own.weights.low)
        cells = bins * parts * CELLS * (self.edges[-1] - self.edges[0]) / min(self.deviations)
        if cells > MOST_CELLS:
            expected = "fewer bins, or noise that is less small beside the interval"
            raise UnsupportedError("deviations", expected, shown(min(self.deviations)))
        mass = mass_between(self.law, self.edges[0], self.edges[-1])
        part, place = np.indices((parts, bins)).reshape(2, -1)
        weights, means, deviations = (
            (own.weights / mass)[part],
            own.means[part],
            own.deviations[part],
        )
        return BinnedNormals(weights, means, deviations, *np.array(self._bins).T[:, place])

    def deviation_at(self, x: float) -> float:
        """Return the standard deviation of the noise at an input."""
        if not self.edges[0] <= x <= self.edges[-1]:
            expected = f"a number from {self.edges[0]:g} to {self.edges[-1]:g}"
            raise InputError("x", expected, shown(x))
        n = int(np.searchsorted(self.edges, x, side="right")) - 1
        return self.deviations[min(n, len(self.deviations) - 1)]

    def delta_at(self, x: float, epsilon: Exact, width: float = 1e-9) -> Bounds:
        """Return bounds on the least delta at one input.

        Parameters
        ----------
        x
            The input, inside the interval.
        epsilon
            In nats.
        width
            The approximate width of the bounds.
        """
        noise = self.deviation_at(finite(x, "x"))
        own = Normals.single(FloatEnclosure.of(x), noise)
        aim = positive(width, "width") / 2
        return Bounds.largest(side.at(own, aim).ends for side in self._sides(epsilon))

    def delta(self, epsilon: Exact, width: float = 1e-6) -> Bounds:
        """Return bounds on the least delta over all inputs of the interval.

        Parameters
        ----------
        epsilon
            In nats.
        width
            The width of the bounds. They are wider only if 2,000 intervals of inputs do not
            suffice, or if the enclosure of the law of Y is too wide.
        """
        return _largest(self._sides(epsilon), self._bins, positive(width, "width"))

    def expected_error(self) -> Bounds:
        """Return bounds on E|Y - X| = sqrt(2/pi) E s(X).

        Examples
        --------
        >>> law = GaussianMixture.normal(0, 5)
        >>> GaussianMechanism(law, [-10, 10], 10).expected_error()
        Bounds(low=7.97884560802..., high=7.97884560802...)
        """
        mean = FloatEnclosure.of(self.deviations[0])
        if len(set(self.deviations)) > 1:
            parts = (mass_between(self.law, a, b) * noise for a, b, noise in self._bins)
            mean = sum(parts, FloatEnclosure.of(0.0))
            mean = mean / mass_between(self.law, self.edges[0], self.edges[-1])
        return (mean * between(np.nextafter(ROOT, 0), np.nextafter(ROOT, 1))).ends

    @property
    def _bins(self) -> list[tuple[float, float, float]]:
        """The ends and the noise of each bin."""
        return list(zip(self.edges[:-1], self.edges[1:], self.deviations, strict=True))

    def _sides(self, epsilon: Exact) -> tuple[_Side, _Side]:
        budget = limited(epsilon)
        grow, shrink = (FloatEnclosure.of(exponential(e)) for e in (budget, -budget))
        return (
            _Side(self.output_law, grow, shrink, forward=True),
            _Side(self.output_law, grow, FloatEnclosure.of(1.0), forward=False),
        )


@dataclass(frozen=True, eq=False)
class _Side:
    """The left-hand side of an inequality of Definition 5: scale E(f_x || g), or E(g || f_x)."""

    law: Law
    gamma: FloatEnclosure
    scale: FloatEnclosure
    forward: bool

    def at(self, own: Normals, width: float) -> FloatEnclosure:
        """Return the value at the input whose law of reports is ``own``."""
        f, g = (own, self.law) if self.forward else (self.law, own)
        return self.scale * hockey_stick(f, g, self.gamma, width)

    def slope(self, inputs: FloatEnclosure, noise: float) -> FloatEnclosure:
        """Return the range of the derivative over an interval of inputs.

        The value is integral of (f_x - gamma g)_+, so its derivative is the integral of df_x/dx
        = -df_x/dy over the set where the integrand is positive (Lebesgue: the integrand is
        Lipschitz in x, with an integrable constant). Over a run [a, b] of the set that is
        f_x(a) - f_x(b). An open cell contributes at most its width times max |df_x/dx| in absolute
        value, and a tail at most the density at its end. The other side has the factor -gamma.
        """
        family = Normals.single(inputs, noise)
        narrowest = float(inputs.high - inputs.low) / 4
        f, g = (family, self.law) if self.forward else (self.law, family)
        found = excess(f, g, self.gamma, 0.0, narrowest)
        starts, ends = (family.density(FloatEnclosure.of(x)) for x in (found.starts, found.ends))
        runs = (starts - ends).sum()
        cells = between(found.open_starts, found.open_ends)
        steep = -family.slope(cells)
        steep = between(np.minimum(steep.low, 0.0), np.maximum(steep.high, 0.0))
        width = FloatEnclosure.of(found.open_ends) - found.open_starts
        last = family.density(FloatEnclosure.of([found.tails[0][1], found.tails[1][0]])).sum()
        flux = runs + (width * steep).sum() + between(-last.high, last.high)
        return self.scale * (flux if self.forward else -(self.gamma * flux))


def _largest(
    sides: Sequence[_Side], bins: Sequence[tuple[float, float, float]], width: float
) -> Bounds:
    """Return bounds on the supremum over the inputs of all bins, by branch and bound.

    Over an interval of inputs the value is at most that at its middle plus half its length times
    the largest derivative there; if the derivative keeps its sign, it is at most that at one end.
    """
    low, number = 0.0, itertools.count()
    waiting = [(-1.0, next(number), *pair) for pair in itertools.product(sides, bins)]
    for _ in range(MOST_BOXES):
        top, _, side, (start, end, noise) = waiting[0]
        if start == end or -top <= low + width:
            break
        heapq.heappop(waiting)
        slope = side.slope(between(start, end), noise)
        middle = (start + end) / 2
        x = end if slope.low >= 0 else start if slope.high <= 0 else middle
        most = side.at(Normals.single(FloatEnclosure.of(x), noise), width / 4)
        low, parts = max(low, float(most.low)), [(x, x)]
        if x == middle:
            steepest = between(0.0, max(-float(slope.low), float(slope.high)))
            most += (FloatEnclosure.of(end) - start) * steepest * (0.5 + 1e-12)
            parts = [(start, middle), (middle, end)]
        for part in parts:
            heapq.heappush(waiting, (-float(most.high), next(number), side, (*part, noise)))
    return Bounds(low, min(1.0, max(low, -waiting[0][0])))


def least_deviation(
    law: GaussianMixture,
    interval: Sequence[float],
    epsilon: Exact,
    delta: float,
    *,
    truncated: bool = True,
    relative: float = 1e-4,
) -> Bounds:
    """Return bounds on the least noise, equal for all inputs, that is (epsilon, delta)-LIP.

    Increasing the noise adds independent noise to both laws, which does not increase a divergence,
    so bisection applies: delta provably holds at the upper bound, and provably fails at the lower.

    Parameters
    ----------
    law, interval, truncated
        As for :class:`GaussianMechanism`.
    epsilon
        In nats.
    delta
        Strictly between 0 and 1.
    relative
        The relative width of the bounds.

    Examples
    --------
    >>> law = GaussianMixture.normal(0, 5)
    >>> least_deviation(law, [-10, 10], 1, 1e-4, truncated=False)
    Bounds(low=35.27..., high=35.27...)
    """
    failure = below_one(delta, "delta")

    def holds(noise: float) -> bool | None:
        made = GaussianMechanism(law, interval, noise, truncated=truncated)
        width = failure / 8
        while True:
            verdict = within(made.delta(epsilon, width), failure)
            if verdict is not None or width < failure * 1e-5:
                return verdict
            width /= 8

    return least_noise(holds, float(interval[-1] - interval[0]), relative)
