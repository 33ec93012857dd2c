"""The exact leakage of the Laplace mechanism on finitely many values under pure LIP.

Source: Jiang et al. 2021 (TIFS), Section IV-C.2, Theorem 6.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign.accounting.arguments import limited, noises, numbers, positive
from mechdesign.accounting.bisection import least_noise, within
from mechdesign.accounting.continuous.enclosures import FloatEnclosure, between, exponential
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, exp_lower, log_lower, log_upper
from mechdesign.exact.enclosures import Bounds, Enclosure, logarithm
from mechdesign.prior import Prior
from mechdesign.solver_guard import called

MOST_EXPONENT = 600.0
"""Largest exponent of a ratio of densities; larger ones may overflow and are rejected."""

DOWN, UP = 1 - 2.0**-51, 1 + 2.0**-51
"""Factors that cover the rounding of a quotient of floats and of the product with the factor."""


@dataclass(frozen=True, init=False)
class LaplaceMechanism:
    """Y = X + b(X) L for X among finitely many values, with L of density e**-|l| / 2.

    It is epsilon-LIP iff e**-epsilon <= g(y) / f_x(y) <= e**epsilon for every report y and value x,
    with f_x the density of Y given X = x and g that of Y.

    Parameters
    ----------
    values
        ``(n,)`` distinct numbers, at least two: the discretized data.
    prior
        ``(n,)`` probabilities of the values, all positive.
    scales
        ``(n,)`` the scale b of the noise at each value, or a number for all of them.
    clamp
        ``(low, high)`` around all values: reports outside are clamped to the nearer end. None if
        reports are unbounded; then different scales have infinite leakage, since the ratio of the
        densities of the wider and the narrower noise is unbounded. So (26) of the paper, whose
        scale depends on the value, is not epsilon-LIP for any epsilon without a clamp.

    Raises
    ------
    InputError
        If values repeat, a scale is not positive or so small that densities overflow, a prior
        probability is zero, or a value is outside the clamp.

    Examples
    --------
    Fig. 10: (25) is valid, but adds more noise than necessary.

    >>> values, prior = [0, 1, 2], Prior(["13/30", "10/30", "7/30"])
    >>> scale = laplace_scale(values, prior, 1)
    >>> LaplaceMechanism(values, prior, scale).leakage()
    Bounds(low=0.80557..., high=0.80557...)
    >>> least_laplace_scale(values, prior, 1).high < scale
    True
    >>> LaplaceMechanism(values, prior, [1, 1, 2]).leakage().low
    inf
    """

    values: tuple[float, ...]
    prior: Prior
    scales: tuple[float, ...]
    clamp: tuple[float, float] | None

    def __init__(
        self,
        values: Iterable[Any],
        prior: Prior,
        scales: Any,
        *,
        clamp: Sequence[Any] | None = None,
    ) -> None:
        points = _points(values, prior)
        widths = noises(scales, len(points), "scales", "value")
        ends = None if clamp is None else numbers(clamp, "clamp")
        if ends and not (len(ends) == 2 and ends[0] <= min(points) <= max(points) <= ends[1]):
            raise InputError("clamp", "two numbers around all values", shown(list(ends)))
        around = [*points, *(ends or ())]
        reach = max(around) - min(around)
        if reach / min(widths) > MOST_EXPONENT:
            least = reach / MOST_EXPONENT
            raise InputError("scales", f"numbers of {least:.6g} at least", shown(min(widths)))
        vars(self).update(values=points, prior=prior, scales=widths, clamp=ends)

    def leakage(self) -> Bounds:
        """Return bounds on the least epsilon for which it is LIP, in nats.

        Notes
        -----
        Between neighboring points among the values and the ends of the clamp, the ratio g / f_x is
        a sum of exponentials with positive coefficients, hence convex, and largest at one of these
        points. Its minimum is located approximately in floats; for any z in a segment of length l,
        the convex function r is at least r(z) - l |r'(z)| on the whole segment. Beyond all values
        every ratio is constant if the scales are equal. At the ends of a clamp the masses replace
        the densities.
        """
        if self.clamp is None and len(set(self.scales)) > 1:
            return Bounds(math.inf, math.inf)
        points = np.unique([*self.values, *(self.clamp or ())]).tolist()
        ratios = []
        for x in range(len(self.values)):
            ratios += [self._terms(x, y).sum() for y in points]
            ratios += [self._least(x, *segment) for segment in itertools.pairwise(points)]
            # the mass at the end z of a clamp is e**-(|z - x|/b)/2: unlike a density, without 1/b
            own = FloatEnclosure.of(self.scales) / self.scales[x]
            ratios += [(self._terms(x, end) * own).sum() for end in self.clamp or ()]
        lows, highs = ([float(getattr(r, end)) for r in ratios] for end in ("low", "high"))
        attained, most = max(*lows, 1 / min(highs)) * DOWN, max(*highs, 1 / min(lows)) * UP
        return logarithm(Enclosure(Fraction(attained), Fraction(most))).positive().ends

    def expected_error(self) -> float:
        """Return E|Y - X|, in floats: the mean of b(X) where nothing is clamped."""
        weights = self.prior.array
        x, b = np.array(self.values), np.array(self.scales)
        if self.clamp is None:
            return float(weights @ b)
        low, high = self.clamp
        kept = b * (1 - (np.exp(-(x - low) / b) + np.exp(-(high - x) / b)) / 2)
        return float(weights @ kept)

    def _least(self, x: int, start: float, end: float) -> FloatEnclosure:
        """Return bounds on the least g / f_x over a segment without interior breakpoints."""
        from scipy.optimize import brentq

        values, scales = np.array(self.values), np.array(self.scales)
        signs = np.sign((start + end) / 2 - values)
        factors = self.prior.array / scales * (signs[x] / scales[x] - signs / scales)

        def slope_at(y: float) -> float:
            away = signs * (y - values) / scales
            return float(factors @ np.exp(away[x] - away))

        # approximate minimizer; the proof does not depend on it
        if slope_at(start) >= 0:
            z = start
        elif slope_at(end) <= 0:
            z = end
        else:
            z = float(called("scipy", brentq, slope_at, start, end, xtol=1e-300, rtol=1e-15))
        terms, rates = self._terms(x, z), FloatEnclosure.of(signs) / scales
        value, slope = terms.sum(), (terms * (rates[x] - rates)).sum()
        if (z == start and slope.low >= 0) or (z == end and slope.high <= 0):
            return value
        steepest = max(abs(float(slope.low)), abs(float(slope.high)))
        drop = (FloatEnclosure.of(end) - start) * between(0.0, steepest)
        # a ratio is at least its own term, P_x
        least = max(float((value - drop).low), Enclosure.of(self.prior[x]).ends.low)
        return between(least, value.high)

    def _terms(self, x: int, y: float) -> FloatEnclosure:
        """Return the terms of g / f_x at y: P_z b_x/b_z exp(|y - x|/b_x - |y - z|/b_z)."""
        values, scales = np.array(self.values), FloatEnclosure.of(self.scales)
        away = (FloatEnclosure.of(y) - values) * np.sign(y - values) / scales
        return self._weights * self.scales[x] / scales * exponential(away[x] - away)

    @cached_property
    def _weights(self) -> FloatEnclosure:
        return FloatEnclosure.row(self.prior)


def laplace_scale(values: Iterable[Any], prior: Prior, epsilon: Exact) -> float:
    """Return the scale of (25), the same for all values, rounded up.

    With D the distance of the extreme values and p the least prior probability, it is
    D / ln((e**epsilon - p) / (1 - p)), and D / epsilon if epsilon >= ln(1/p). The first is valid at
    every epsilon > 0: g / f_x <= p + (1 - p) e**(D/b), and f_x / g <= 1/(p + (1 - p) e**(-D/b)),
    which is at most e**epsilon too since (e**epsilon - p)(e**-epsilon - p) <= (1 - p)**2. The
    second is larger.

    Raises
    ------
    InputError
        If epsilon is not positive, or the values and the prior do not fit.
    """
    points = _points(values, prior)
    given, least = limited(epsilon), min(prior)
    positive(given, "epsilon")
    reach = Fraction(max(points)) - Fraction(min(points))
    if given >= log_upper(1 / least):
        return Enclosure.of(reach / given).ends.high
    rise = max(exp_lower(given) - 1, given) / (1 - least)
    # ln(1 + v) >= v / (1 + v) > 0 for v below the precision of the logarithm
    return Enclosure.of(reach / max(log_lower(1 + rise), rise / (1 + rise))).ends.high


def least_laplace_scale(
    values: Iterable[Any], prior: Prior, epsilon: Exact, relative: float = 1e-9
) -> Bounds:
    """Return bounds on the least scale, equal for all values, that is epsilon-LIP.

    Laplace noise of a larger scale b' is noise of scale b plus independent noise, which is 0 with
    probability (b/b')**2 and else of scale b' (the characteristic functions are 1/(1 + b**2 t**2)),
    so the leakage decreases with the scale. It is provably within the budget at the upper bound,
    and provably not at the lower bound.

    Raises
    ------
    InputError
        If epsilon is not positive, or the values and the prior do not fit.
    """
    points, given = numbers(values, "values"), limited(epsilon)
    return least_noise(
        lambda scale: within(LaplaceMechanism(points, prior, scale).leakage(), given),
        laplace_scale(points, prior, epsilon),
        relative,
    )


def _points(values: Iterable[Any], prior: Prior) -> tuple[float, ...]:
    points = numbers(values, "values")
    if len(set(points)) < max(2, len(points)):
        raise InputError("values", "at least two numbers, all different", shown(list(points)))
    if len(prior) != len(points) or min(prior) == 0:
        raise InputError("prior", f"{len(points)} positive probabilities", shown(prior))
    return points
