"""Sums of independent steps on a lattice: their law by FFT, with bounds on every error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import fft
from scipy.optimize import brentq

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.outside import called

__all__ = [
    "LARGEST",
    "SumLaw",
    "clipped",
    "is_spread",
    "positive_part",
    "saddle_point",
    "spacing_for",
    "sum_law",
]

UNIT = 2.0**-53

FFT_LEVEL = 8.0
"""Roundings for each factor 2 of the length, in units of 2**-53.

An output of a fast Fourier transform is a sum over the inputs, each times one rounded root of unity
for each of log2(N) levels, added in a tree of that height. A level costs a product of complex
numbers (sqrt(5) units; Brent, Percival and Zimmermann 2007), the root's own rounding and an
addition: less than 5 units. So the error of an output is at most 8 log2(N) units of the sum of the
absolute values of the inputs (Higham 2002, Theorem 24.2, states the same in the 2-norm).
"""

NEGLIGIBLE = 34.0
"""The mass of the tilted sum outside the window is below exp(-34) on each side."""

LARGEST = 1e100
"""Values beyond it are bounded without a lattice: their squares are no floats."""

MOST_POINTS = 1 << 22
"""Points of the lattice at most; beyond that it is made coarser, and the bounds looser."""


@dataclass(frozen=True)
class SumLaw:
    """The law of a sum of n steps: Pr(S = s) = scale e**(-theta (s - c)) (mass_s +- pointwise).

    Attributes
    ----------
    theta
        The tilt.
    center
        A place c near the mean of the tilted law.
    log_scale
        The logarithm of the scale, E[e**(theta (S - c))].
    low, high
        The window of s.
    masses
        ``(high - low + 1,)`` masses of the tilted law; in exact arithmetic a bit more, as what
        lies outside the window is wrapped into it.
    pointwise
        What rounding may have changed in each mass.
    outside
        Bounds on the tilted mass below and above the window.
    relative
        The relative error of the scale and of the masses from the rounding of the steps' masses.
    """

    theta: float
    center: int
    log_scale: float
    low: int
    high: int
    masses: FloatArray
    pointwise: float
    outside: tuple[float, float]
    relative: float


def saddle_point(values: FloatArray, masses: FloatArray) -> float:
    """Return the t >= 0 where Sum masses e**(t values) is least; 0 if no value is above 0."""
    if values.max() <= 0 or masses @ values >= 0:
        return 0.0
    largest = values.max()

    def slope(t: float) -> float:
        weights = masses * np.exp(t * (values - largest))
        return float(weights @ values)

    end = 1 / largest
    while slope(end) < 0:
        end *= 2
    return float(called("SciPy", brentq, slope, 0, end, xtol=1e-12 * end, rtol=1e-10))


def is_spread(values: FloatArray) -> bool:
    """Whether some value is above 0 by more than what rounding may have added."""
    return bool(values.max() > 1e-12 * max(1.0, float(np.abs(values).max())))


def clipped(values: FloatArray, masses: FloatArray, n: int) -> tuple[FloatArray, float]:
    """Return values raised where it makes next to no difference, and their saddle point.

    Below -n max no sum with such a value is positive; where the tilted mass is below e**-100 there
    hardly is any.
    """
    values = np.maximum(values, -n * values.max())
    tilt = saddle_point(values, masses)
    return (np.maximum(values, -100 / tilt) if tilt > 0 else values), tilt


def spacing_for(
    values: FloatArray, masses: FloatArray, n: int, tilt: float, tolerance: float
) -> float:
    """Return a spacing for which rounding values to the lattice changes little.

    A value between two points becomes one of them at random, with the same mean. That adds at most
    n h**2/4 of variance for a spacing h, hence a factor of about 1 + n (tilt h)**2/8. Of a few
    hundred spacings the largest is taken that adds no more, as where the values are near points.
    Few summands have a law of few jumps, not a smooth one, and get a finer lattice.
    """
    weights = masses * np.exp(tilt * (values - values.max()))
    weights /= weights.sum()
    moved = float(weights[values != 0].sum())
    deviation = math.sqrt(max(float(weights @ values**2) - float(weights @ values) ** 2, 1e-300))
    tolerance *= min(n / 300, 1) ** 2
    widest = 4 * math.sqrt(tolerance / max(moved, 1e-300)) * deviation
    if tilt > 0 and moved > 0:
        widest = min(widest, math.sqrt(8 * tolerance / (n * moved)) / tilt)
    nearest = 1.1 * (_extent(values, weights, n)[0] + _extent(-values, weights, n)[0]) / MOST_POINTS
    tried = max(widest, nearest) * np.geomspace(1, 128, 700)
    places = values[:, None] / tried
    parts = places - np.floor(places)
    added = (weights @ (parts * (1 - parts))) * tried**2
    good = added <= 0.25 * moved * widest**2
    # the largest spacing that adds no more than the widest may; the first always serves
    return float(tried[np.flatnonzero(good)[-1]]) if good.any() else float(tried[0])


def sum_law(steps: Int64Array, masses: FloatArray, n: int, theta: float) -> SumLaw:
    """Return the law of the sum of n independent steps.

    Parameters
    ----------
    steps
        ``(n_steps,)`` places on the lattice.
    masses
        ``(n_steps,)`` masses >= 0, relative errors of at most 8 units included in ``relative``.
    n
        How many, at least 1.
    theta
        The tilt, such that e**(theta s) does not overflow.

    Notes
    -----
    Raising a transform to the power n multiplies its error by n, in units of the largest mass. With
    the law tilted so that its mean is where the sum matters (Esscher 1932), that is small beside
    what is summed.
    """
    weights = masses * np.exp(theta * steps)
    total = float(weights.sum())
    weights /= total
    largest = float(np.abs(steps).max())
    center = round(n * float(weights @ steps))
    moved = np.asarray(steps - center / n, dtype=np.float64)
    below, under = _extent(-moved, weights, n)
    above, over = _extent(moved, weights, n)
    low, high = center - math.ceil(below), center + math.ceil(above)
    size = int(fft.next_fast_len(high - low + 1, real=True))
    placed = np.zeros(size)
    np.add.at(placed, steps % size, weights)
    spectrum = fft.rfft(placed)
    level = FFT_LEVEL * UNIT * max(math.log2(size), 1)
    height = np.abs(spectrum)
    # |(z + e)**n - z**n| <= n |e| (|z| + |e|)**(n - 1), and a tree of n - 1 complex products
    wrong = n * level * (height + level) ** (n - 1) + math.expm1(3 * n * UNIT) * height**n
    powered = _power(spectrum, n)
    wrong += level * np.abs(powered)
    found = np.roll(fft.irfft(powered, size), -low)[: high - low + 1]
    roundings = 2 * (abs(theta) * largest + abs(math.log(total)) + 12)
    return SumLaw(
        theta,
        center,
        n * math.log(total) - theta * center,
        low,
        high,
        found,
        1.01 * 2 * float(wrong.sum()) / size,
        (under, over),
        math.expm1(n * roundings * UNIT),
    )


def _power(values: AnyArray, n: int) -> AnyArray:
    """Return values**n by squaring: n - 1 products, if equal ones are counted as often as used."""
    found = None
    while True:
        if n & 1:
            found = values.copy() if found is None else found * values
        n >>= 1
        if not n:
            return np.asarray(found)
        values = values * values


def _extent(steps: FloatArray, weights: FloatArray, n: int) -> tuple[float, float]:
    """Return a place above which the sum of n steps has next to no mass, and how much at most.

    The mean of the steps is near 0. Pr(S > s) <= E[e**(t S)] e**(-t s) for every t > 0 (Chernoff).
    """
    most = n * float(steps.max())
    if most <= 0:
        return 0.0, 0.0
    normal, largest = (
        math.sqrt(2 * NEGLIGIBLE / (n * float(weights @ steps**2))),
        np.abs(steps).max(),
    )
    # a normal sum asks for the first of these, a few rare jumps for one over the largest
    tilts = np.geomspace(min(1e-3 * normal, 1 / largest), min(1e3 * normal, 600 / largest), 241)
    heights = n * np.log(np.exp(np.outer(tilts, steps)) @ weights)
    # at least 1 / t, which the bound on what lies above asks for
    reach = float((np.maximum(heights + NEGLIGIBLE + 0.1, 1) / tilts).min())
    return (reach, math.exp(-NEGLIGIBLE)) if reach < most else (most, 0.0)


def positive_part(values: FloatArray, masses: FloatArray, n: int, tolerance: float) -> float:
    """Return an upper bound on E[(V_1 + ... + V_n)_+] for independent V.

    Parameters
    ----------
    values, masses
        ``(n_values,)`` what V may be, and how likely. Each may exceed what is meant: the
        expectation grows with both.
    n
        How many, at least 1.
    tolerance
        The relative change that rounding to the lattice may make, > 0.

    Notes
    -----
    A value between two lattice points becomes one of them at random with the same mean: by
    Jensen's inequality the expectation does not fall.
    """
    # a sum's positive part is at most the sum of the positive parts
    crude = n * float(masses @ np.maximum(values, 0)) * (1 + 1e-12)
    rarely = n * float(masses[values != 0].sum()) < 1e-3  # two at once are rarer still
    if n == 1 or rarely or not is_spread(values) or values.max() > LARGEST:
        return crude
    values, tilt = clipped(values, masses, n)
    spacing = spacing_for(values, masses, n, tilt, tolerance)
    places = values / spacing
    places += 4 * UNIT * np.abs(places)
    floors = np.floor(places)
    parts = places - floors
    points = np.concatenate([floors, floors + 1]).astype(np.int64)
    steps, index = np.unique(points, return_inverse=True)
    split = np.concatenate([masses * (1 - parts), masses * parts]) * (1 + 8 * UNIT)
    law = sum_law(steps, np.bincount(index, split).astype(np.float64), n, tilt * spacing)
    first, last = max(law.low, 1), max(law.high, 1)
    sums = np.arange(first, law.high + 1)
    with np.errstate(over="ignore"):  # then the other bound is taken
        tilted = sums * np.exp(-law.theta * (sums - law.center))
    inside = float(tilted @ np.maximum(law.masses[first - law.low :] + law.pointwise, 0))
    # above the window: s <= most e**(t (s - high)) for the tilt t >= 1 / (high - center) of the
    # Chernoff bound, which is the bound of that exponential's mean as well
    most = max(last, law.high - law.center)
    above = most * math.exp(-law.theta * (last - law.center)) * law.outside[1]
    slack = (1 + law.relative) * (1 + 1e-12)
    return min(crude, spacing * math.exp(law.log_scale) * (inside + above) * slack)
