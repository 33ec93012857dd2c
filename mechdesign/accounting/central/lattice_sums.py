"""Sums of independent steps on a lattice: their law by FFT, with bounds on every error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.optimize import brentq

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.solver_guard import called

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
"""Values beyond this are bounded without a lattice: their squares overflow."""

LOOSE = math.inf
"""The tolerance at which a bound by exponential moments suffices."""

MOST_POINTS = 1 << 22
"""Maximum number of lattice points; beyond it the lattice is coarser and the bounds looser."""


SPACINGS, TILTS = np.geomspace(1, 128, 700), np.geomspace(0.5, 64, 29)
"""Spacings and tilts that are tried, relative to the first guess."""


class Part(NamedTuple):
    """``n`` summands of one law: ``values`` and ``masses`` of shape ``(n_values,)``."""

    values: FloatArray
    masses: FloatArray
    n: int


@dataclass(frozen=True)
class SumLaw:
    """The law of a sum of steps: Pr(S = s) = scale e**(-theta (s - c)) (mass_s +- pointwise).

    theta is the tilt, c (``center``) a place near the mean of the tilted law, and the scale
    E[e**(theta (S - c))]. ``masses`` are those of the tilted law in the window from ``low`` to
    ``high``, even in exact arithmetic slightly larger, as the mass outside is wrapped into it;
    ``outside`` bounds that mass below and above. ``pointwise`` bounds the rounding error of each
    mass, ``relative`` that of the scale from the rounding of the steps' masses.
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

    def positive_part(self) -> float:
        """Return an upper bound on E[S_+].

        Above the window s <= m e**(t (s - high)) for m = max(high, high - c, 1) and a tilt
        t >= 1 / (high - c); the Chernoff bound on the mass there bounds its mean as well.
        """
        places = np.arange(max(1, self.low), self.high + 1)
        ends = np.array([1, max(1, self.high)])
        with np.errstate(over="ignore"):
            weights = places * self._scaled(places)
            below, above = self._scaled(ends).tolist()
        masses = self.masses[len(self.masses) - len(places) :] + self.pointwise
        inside = float(weights @ np.maximum(masses, 0))
        most = max(self.high, self.high - self.center, 1)
        for mass, factor in zip(self.outside, (below if self.low > 1 else 0.0, above), strict=True):
            inside += most * mass * factor if mass else 0.0  # the factor may be infinite
        return inside * (1 + self.relative)

    def _scaled(self, places: AnyArray) -> FloatArray:
        """Return scale e**(-theta (s - c)): either factor alone may leave the range of floats."""
        return np.exp(self.log_scale - self.theta * (places - self.center))


def saddle_point(parts: Sequence[Part]) -> float:
    """Return the t >= 0 where E[e**(t S)] is least; 0 if it does not fall, or S is never > 0."""
    largest = max(float(part.values.max()) for part in parts)
    never = sum(part.n * float(part.values.max()) for part in parts) <= 0

    def slope(t: float) -> float:
        return sum(float(part.masses @ part.values) * part.n for part in _tilted(parts, t))

    if never or slope(0.0) >= 0:
        return 0.0
    end = 1 / largest
    while slope(end) < 0:
        end *= 2
    return float(called("SciPy", brentq, slope, 0, end, xtol=1e-12 * end, rtol=1e-10))


def _tilted(parts: Sequence[Part], t: float) -> list[Part]:
    """Return the laws tilted by t, with masses of sum 1."""
    weights = [part.masses * np.exp(t * (part.values - part.values.max())) for part in parts]
    return [p._replace(masses=w / w.sum()) for p, w in zip(parts, weights, strict=True)]


def is_spread(values: FloatArray) -> bool:
    """Whether some value exceeds 0 by more than rounding error."""
    return bool(values.max() > 1e-12 * max(1.0, float(np.abs(values).max())))


def lattice_for(parts: Sequence[Part], tolerance: float) -> tuple[list[Part], float, float]:
    """Return parts whose negligible values are raised, their saddle point, and a lattice spacing.

    A sum with a value below -n max is never positive; values with a tilted mass below e**-100
    hardly ever occur.

    A value between two points is randomized between them, with the same mean. For a spacing h this
    adds at most n h**2/4 of variance, hence a factor of about 1 + n (tilt h)**2/8. The largest of a
    few hundred spacings that stays within the tolerance is returned, for example if the values are
    near lattice points. Few summands have a law of few atoms and get a finer lattice.
    """
    n = sum(part.n for part in parts)
    least = -n * max(float(part.values.max()) for part in parts)
    kept = [part._replace(values=np.maximum(part.values, least)) for part in parts]
    tilt = saddle_point(kept)
    if tilt > 0:
        kept = [part._replace(values=np.maximum(part.values, -100 / tilt)) for part in kept]
    tilted = _tilted(kept, tilt)
    squares = sum(
        p.n * (float(p.masses @ p.values**2) - float(p.masses @ p.values) ** 2) for p in tilted
    )
    values = np.concatenate([part.values for part in tilted])
    weights = np.concatenate([part.masses * (part.n / n) for part in tilted])
    moved = float(weights[values != 0].sum())
    tolerance *= min(n / 300, 1) ** 2
    widest = 4 * math.sqrt(tolerance * max(squares / n, 1e-300) / max(moved, 1e-300))
    if tilt > 0 and moved > 0:
        widest = min(widest, math.sqrt(8 * tolerance / (n * moved)) / tilt)
    (below, _), (above, _) = _extents(tilted)
    tried = max(widest, 1.1 * (below + above) / MOST_POINTS) * SPACINGS
    places = values[:, None] / tried
    shares = places - np.floor(places)
    added = (weights @ (shares * (1 - shares))) * tried**2
    good = np.flatnonzero(added <= 0.25 * moved * widest**2)
    return kept, tilt, float(tried[good[-1] if good.size else 0])


def sum_law(parts: Sequence[Part], theta: float) -> SumLaw:
    """Return the law of a sum of independent integer steps, tilted so that e**(theta s) is finite.

    Masses may have relative errors of 8 units, which ``relative`` includes. Raising a transform to
    the power n multiplies its error by n, in units of the largest mass. This is small relative to
    the sum if the law is tilted so that its mean is where the sum matters (Esscher 1932).
    """
    n = sum(part.n for part in parts)
    tilted, log_total, mean, roundings = [], 0.0, 0.0, 0.0
    for part in parts:
        top = theta * float(part.values.max())  # may exceed 709, where e**top overflows
        weights = part.masses * np.exp(theta * part.values - top)
        total = float(weights.sum())
        tilted.append(Part(part.values, weights / total, part.n))
        log_total += part.n * (math.log(total) + top)
        mean += part.n * float(tilted[-1].masses @ part.values)
        largest = float(np.abs(part.values).max())
        roundings += part.n * 4 * (abs(theta) * largest + abs(math.log(total)) + 12)
    center = round(mean)
    shift = (center - mean) / n
    moved = [p._replace(values=p.values - float(p.masses @ p.values) - shift) for p in tilted]
    (below, under), (above, over) = _extents(moved)
    low, high = center - math.ceil(below), center + math.ceil(above)
    size = int(fft.next_fast_len(high - low + 1, real=True))
    level = FFT_LEVEL * UNIT * max(math.log2(size), 1)
    powered: AnyArray = np.ones(size // 2 + 1, dtype=complex)
    heights, wrong = np.ones(len(powered)), np.zeros(len(powered))
    for part in tilted:
        placed = np.zeros(size)
        np.add.at(placed, part.values.astype(np.int64) % size, part.masses)
        spectrum = fft.rfft(placed)
        height = np.abs(spectrum)
        powered = powered * _power(spectrum, part.n)
        heights = heights * (height + level) ** part.n
        wrong = wrong + part.n * level / (height + level)
    # |prod (z + e)**n - prod z**n| <= prod (|z| + |e|)**n sum n |e| / (|z| + |e|), and a tree of
    # complex products of that many factors
    wrong = (wrong + math.expm1(3 * n * UNIT) + level) * heights
    found = np.roll(fft.irfft(powered, size), -low)[: high - low + 1]
    return SumLaw(
        theta,
        center,
        log_total - theta * center,
        low,
        high,
        found,
        1.01 * 2 * float(np.sum(wrong)) / size,
        (under, over),
        math.expm1(roundings * UNIT),
    )


def _power(values: AnyArray, n: int) -> AnyArray:
    """Return values**n by squaring: n - 1 products, counting each as often as it is used."""
    found = None
    while True:
        if n & 1:
            found = values.copy() if found is None else found * values
        n >>= 1
        if not n:
            return np.asarray(found)
        values = values * values


def _extents(parts: Sequence[Part]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return how far below and above 0 the sum has more than negligible mass, and its bounds.

    The mean of the sum is near 0. Pr(S > s) <= E[e**(t S)] e**(-t s) for every t > 0 (Chernoff).
    """
    squares = sum(part.n * float(part.masses @ part.values**2) for part in parts)
    largest = max(float(np.abs(part.values).max()) for part in parts)

    def extent(sign: int) -> tuple[float, float]:
        most = sum(part.n * float((sign * part.values).max()) for part in parts)
        if most <= 0 or not squares > 0:
            return max(most, 0.0), 0.0
        normal = math.sqrt(2 * NEGLIGIBLE / squares)
        # a normal sum needs tilts near the first, rare jumps near one over the largest value
        tilts = np.geomspace(min(1e-3 * normal, 1 / largest), min(1e3 * normal, 600 / largest), 241)
        heights = _log_moments(parts, sign * tilts)
        # at least 1 / t, as the bound on the mass above requires
        reach = float((np.maximum(heights + NEGLIGIBLE + 0.1, 1) / tilts).min())
        return (reach, math.exp(-NEGLIGIBLE)) if reach < most else (most, 0.0)

    return extent(-1), extent(1)


def _log_moments(parts: Sequence[Part], tilts: FloatArray) -> FloatArray:
    """Return ln E[e**(t S)] of the sum for each of some tilts, with largest exponents below 700.

    A moment that underflows is replaced by a larger one.
    """
    moments = ((np.exp(np.outer(tilts, part.values)) @ part.masses, part.n) for part in parts)
    return np.asarray(sum(n * np.log(np.maximum(moment, 1e-300)) for moment, n in moments))


def moment_bound(parts: Sequence[Part], kinds: Sequence[Part] = (), n_others: int = 0) -> float:
    """Return an upper bound on E[s_+] for a sum s, by s_+ <= e**(t s - 1) / t for every t > 0.

    ``n_others`` further summands have laws among ``kinds``: a moment is largest if all have one.
    """
    other = [part._replace(n=1) for part in kinds] if n_others else []
    every, n = [*parts, *other], n_others + sum(part.n for part in parts)
    top = max(float(part.values.max()) for part in every)
    squares = sum(part.n * _mean_square(part) for part in parts)
    squares += n_others * sum(map(_mean_square, other)) / max(len(other), 1)
    scale = math.sqrt(squares) + 1e-300
    tilts = np.minimum(TILTS / scale, 600 / max(top, 1e-300))
    grown = _log_moments(parts, tilts)
    if other:
        grown += n_others * np.max([_log_moments([part], tilts) for part in other], axis=0)
    # each of the n factors is a sum of rounded terms, and of exponentials of up to 600
    grown += n * (max(len(part.masses) for part in every) + 700) * 2.0**-52
    return math.exp(min(float((grown - 1 - np.log(tilts)).min()), 700.0))


def _mean_square(part: Part) -> float:
    """Return E[V**2], whose largest term may fit in a float although the square does not."""
    return float(part.masses * part.values @ part.values)


def positive_part(parts: Sequence[Part], tolerance: float) -> float:
    """Return an upper bound on E[(V_1 + ... + V_n)_+] for independent V, to a relative tolerance.

    Values and masses may be rounded up, as the expectation is monotone in both. A value between two
    lattice points is randomized between them with the same mean: by Jensen's inequality the
    expectation does not decrease.
    """
    if tolerance == LOOSE:
        return moment_bound(parts)
    # a sum's positive part is at most the sum of the positive parts
    crude = sum(p.n * float(p.masses @ np.maximum(p.values, 0)) for p in parts) * (1 + 1e-12)
    values = np.concatenate([part.values for part in parts])
    # two nonzero values at once are rarer still
    rarely = sum(p.n * float(p.masses[p.values != 0].sum()) for p in parts) < 1e-3
    alone = sum(part.n for part in parts) == 1
    if alone or rarely or not is_spread(values) or values.max() > LARGEST:
        return crude
    parts, tilt, spacing = lattice_for(parts, tolerance)
    law = sum_law([_split(part, spacing) for part in parts], tilt * spacing)
    return min(crude, spacing * law.positive_part() * (1 + 1e-12))


def _split(part: Part, spacing: float) -> Part:
    """Return a law on the lattice: each value becomes one of two points, with the same mean."""
    places = part.values / spacing
    places += 4 * UNIT * np.abs(places)
    floors = np.floor(places)
    shares = places - floors
    steps, index = np.unique(np.concatenate([floors, floors + 1]), return_inverse=True)
    split = np.concatenate([part.masses * (1 - shares), part.masses * shares]) * (1 + 8 * UNIT)
    return Part(steps, np.bincount(index, split).astype(np.float64), part.n)
