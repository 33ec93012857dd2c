"""The Gaussian mechanism under approximate local differential privacy, exactly and by its bound."""

from __future__ import annotations

import math
from fractions import Fraction

from mechdesign.accounting.arguments import below_one, limited, positive
from mechdesign.accounting.continuous.enclosures import FloatEnclosure, normal_mass
from mechdesign.accounting.continuous.least_noise import least_noise, within
from mechdesign.exact import Exact, exp_upper, log_upper, sqrt_upper
from mechdesign.exact.enclosures import Bounds, Enclosure, exponential

__all__ = [
    "analytic_gaussian_delta",
    "analytic_gaussian_deviation",
    "vanilla_gaussian_delta",
    "vanilla_gaussian_deviation",
]


def analytic_gaussian_delta(epsilon: Exact, deviation: float, sensitivity: float) -> Bounds:
    """Return bounds on the least delta with which Gaussian noise is (epsilon, delta)-LDP.

        delta = Phi(D/(2 s) - epsilon s/D) - e**epsilon Phi(-D/(2 s) - epsilon s/D)

    with D the sensitivity and s the deviation. It is attained by two inputs D apart: exact, not a
    bound, at every epsilon.

    Parameters
    ----------
    epsilon
        In nats.
    deviation
        The standard deviation of the noise, the same for all inputs.
    sensitivity
        The length of the interval of inputs.

    Raises
    ------
    InputError
        If a number is out of range.

    Notes
    -----
    Source: Balle and Wang 2018, Theorem 8; Jiang et al. 2021 (TIFS), (24).

    Examples
    --------
    >>> analytic_gaussian_delta(1, 10, 20)
    Bounds(low=0.50986..., high=0.50986...)
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

    At the upper bound delta is proved to hold, at the lower one not to.

    Parameters
    ----------
    epsilon, sensitivity
        As for :func:`analytic_gaussian_delta`.
    delta
        Between 0 and 1, both excluded.
    relative
        How far apart the bounds may be, relative to them.

    Raises
    ------
    InputError
        If a number is out of range.

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


def vanilla_gaussian_delta(epsilon: Exact, deviation: float, sensitivity: float) -> float:
    """Return the bound 1.25 exp(-epsilon**2 s**2 / (2 D**2)) on delta, rounded up.

    It is a bound for 0 < epsilon < 1 only. Beyond it may be below the exact delta:

    >>> claimed = vanilla_gaussian_delta(10, 1.69, 10)
    >>> bool(claimed < 0.31 < 0.8 < analytic_gaussian_delta(10, 1.69, 10).low)
    True

    Source: Dwork and Roth 2014, Theorem A.1; Jiang et al. 2021 (TIFS), Section IV-C.2, which states
    it for every epsilon.

    Raises
    ------
    InputError
        If a number is out of range.
    """
    s, D = positive(deviation, "deviation"), positive(sensitivity, "sensitivity")
    ratio = limited(epsilon) * Fraction(s) / Fraction(D)
    return Enclosure.of(Fraction(5, 4) * exp_upper(-ratio * ratio / 2)).ends.high


def vanilla_gaussian_deviation(epsilon: Exact, delta: float, sensitivity: float) -> float:
    """Return the noise D sqrt(2 ln(1.25/delta))/epsilon, at which the vanilla bound is delta.

    It is rounded up.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> round(vanilla_gaussian_deviation(1, 1e-5, 1), 4)
    4.8448
    """
    budget, failure = limited(epsilon), below_one(delta, "delta")
    positive(budget, "epsilon")
    root = sqrt_upper(2 * log_upper(Fraction(5, 4) / Fraction(failure)))
    length = Fraction(positive(sensitivity, "sensitivity"))
    return Enclosure.of(length * root / budget).ends.high
