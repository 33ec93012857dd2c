"""The Gaussian mechanism under approximate local differential privacy, exactly."""

from __future__ import annotations

import math

from mechdesign.accounting.arguments import below_one, limited, positive
from mechdesign.accounting.bisection import least_noise, within
from mechdesign.accounting.continuous.enclosures import FloatEnclosure, normal_mass
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

    Raises
    ------
    InputError
        If a number is out of range.

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
