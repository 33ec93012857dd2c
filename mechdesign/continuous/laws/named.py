"""Named laws and mixtures of normal laws, truncated to the interval; their moments are enclosed."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.continuous.interval import End, Interval
from mechdesign.continuous.laws.base import CellMoments, Law
from mechdesign.continuous.laws.enclosures import (
    Enclosure,
    beta_below,
    exponential,
    logarithm,
    normal_below,
    normal_density,
)
from mechdesign.domain import whole_number
from mechdesign.errors import InputError, UnsupportedError, did_you_mean, listed, shown
from mechdesign.exact import as_fraction, fraction_text
from mechdesign.prior import SUM_TOLERANCE, Prior, exact_numbers

__all__ = ["GaussianMixture", "NamedLaw"]

Moments = tuple[Enclosure, Enclosure, Enclosure]
"""The integrals of 1, x and x**2."""

MASS_BITS = 96
"""Masses are rounded to multiples of 2**-96; the integrals of x and x**2 to those of the length
and its square."""

NONE: Moments = (Enclosure.of(0),) * 3


class DensityLaw(Law):
    """A law that is given by the integrals of 1, x and x**2 below each position."""

    @abstractmethod
    def below(self, position: End) -> Moments:
        """Return the integrals from the lower end of the law to a position, maybe infinite."""

    @abstractmethod
    def quantile(self, probabilities: FloatArray) -> FloatArray:
        """Return the quantiles of the law, not truncated."""

    @abstractmethod
    def distribution(self, position: float) -> float:
        """Return the probability below a position of the law, not truncated."""

    def check(self, interval: Interval) -> None:
        """Raise InputError unless the interval has a mass that can be divided by."""
        mass = self.below(interval.high)[0] - self.below(interval.low)[0]
        if mass.low < Fraction(1, 10**12):
            expected = f"a law with a mass of 1e-12 or more on {interval!r}"
            raise InputError("law", expected, f"{float(mass.high):.3g} of {self!r}")

    def cells(self, edges: Sequence[End]) -> CellMoments:
        """Enclose each moment, and round it to a rational nearby.

        What the masses then lack of 1 goes to the heaviest cell.
        """
        below = [self.below(edge) for edge in edges]
        whole = below[-1][0] - below[0][0]
        finite = [abs(edge) for edge in edges if isinstance(edge, Fraction)]
        length = Fraction(2) ** math.ceil(math.log2(max([*finite, Fraction(1)])))
        rows, enclosed = list[list[Fraction]](), list[list[Enclosure]]()
        for power in range(3):
            unit = length**power / (1 << MASS_BITS)
            found = [(high[power] - low[power]) / whole for low, high in pairwise(below)]
            row = [round(part.middle / unit) * unit for part in found]
            if power == 0:
                row = [max(mass, Fraction(0)) for mass in row]
                row[row.index(max(row))] += 1 - sum(row)
            rows.append(row)
            enclosed.append(found)
        cells = zip(pairwise(edges), zip(*rows, strict=True), strict=True)
        rows = [list(row) for row in zip(*(_of_a_law(*cell) for cell in cells), strict=True)]
        errors = [
            _rounded_up(sum(max(e.high - x, x - e.low) for x, e in zip(row, found, strict=True)))
            for row, found in zip(rows, enclosed, strict=True)
        ]
        return CellMoments.of(edges, rows, errors)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DensityLaw):
            return NotImplemented
        return self.to_table() == other.to_table()

    def __hash__(self) -> int:
        return hash(str(self.to_table()))

    def quantiles(self, interval: Interval, probabilities: Sequence[float]) -> list[float]:
        """Return quantiles of the truncated law, in floating point."""
        low, high = (self.distribution(float(end)) for end in (interval.low, interval.high))
        inside = low + (high - low) * np.asarray(probabilities, dtype=float)
        found: list[float] = self.quantile(inside).tolist()
        return found


def _of_a_law(ends: tuple[End, End], moments: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return the moments of a cell; of a point in it where no law has them, once rounded."""
    mass, first, second = moments
    finite = [end for end in ends if isinstance(end, Fraction)]
    signs = [1 if end == ends[0] else -1 for end in finite]
    inside = all(s * (first - end * mass) >= 0 for s, end in zip(signs, finite, strict=True))
    if len(finite) == 2:
        inside = inside and second <= sum(finite) * first - finite[0] * finite[1] * mass
    if not finite or (inside and mass * second >= first * first and (mass or not second)):
        return moments
    place = Fraction(sum(finite)) / len(finite)
    return mass, mass * place, mass * place * place


def _rounded_up(number: Fraction | int) -> Fraction:
    """Return a number of a few digits that is at least a small one."""
    if number == 0:
        return Fraction(0)
    shift = max(0, math.floor(-math.log2(number)) + 8)
    return Fraction(math.ceil(number * (1 << shift)), 1 << shift)


def _normal(position: End, mean: Fraction, deviation: Fraction) -> Moments:
    """Return the moments of a normal law.

    With z = (x - m)/s they are F, m F - s f and (m**2 + s**2) F - s (2 m + s z) f, of its
    distribution F and density f at z.
    """
    if isinstance(position, float):
        if position < 0:
            return NONE
        square = mean * mean + deviation * deviation
        return Enclosure.of(1), Enclosure.of(mean), Enclosure.of(square)
    z = (position - mean) / deviation
    mass, density = normal_below(z), normal_density(z)
    first = mass * mean - density * deviation
    second = mass * (mean * mean + deviation * deviation)
    return mass, first, second - density * (deviation * (2 * mean + deviation * z))


def _uniform(position: End, low: Fraction, width: Fraction) -> Moments:
    end = min(max(position, low), low + width)
    found = [(Fraction(end) ** k - low**k) / (k * width) for k in (1, 2, 3)]
    return Enclosure.of(found[0]), Enclosure.of(found[1]), Enclosure.of(found[2])


def _exponential(position: End, start: Fraction, scale: Fraction) -> Moments:
    """Return the moments of start + scale T, with P(T < t) = 1 - e**-t."""
    if position <= start:
        return NONE
    if isinstance(position, float):
        return _shifted((Enclosure.of(1), Enclosure.of(1), Enclosure.of(2)), start, scale)
    t = (position - start) / scale
    tail, one, two = exponential(-t), Enclosure.of(1), Enclosure.of(2)
    second = two - tail * (2 + 2 * t + t * t)
    return _shifted((one - tail, one - tail * (1 + t), second), start, scale)


def _shifted(plain: Moments, start: Fraction, scale: Fraction) -> Moments:
    """Return the moments of start + scale T from those of T."""
    mass, first, second = plain
    square = mass * (start * start) + first * (2 * start * scale) + second * (scale * scale)
    return mass, mass * start + first * scale, square


def _laplace(position: End, center: Fraction, scale: Fraction) -> Moments:
    """Return the moments of center +- scale T, each sign with probability 1/2."""
    half = Fraction(1, 2)
    left = _exponential(math.inf, -center, scale)  # of minus X, below the center
    if position < center:
        cut = _exponential(-position, -center, scale)
        left = (left[0] - cut[0], left[1] - cut[1], left[2] - cut[2])
    right = _exponential(position, center, scale)
    return (
        (left[0] + right[0]) * half,
        (right[1] - left[1]) * half,
        (left[2] + right[2]) * half,
    )


def _lognormal(position: End, shape: Fraction, start: Fraction, scale: Fraction) -> Moments:
    """Return the moments of start + scale T, T = e**(shape Z) with a standard normal Z.

    Under the density of T**k, Z is shifted by k shape; the whole is e**(k**2 shape**2 / 2).
    """
    if position <= start:
        return NONE
    found = []
    for k in range(3):
        mean = exponential(k * k * shape * shape / 2)
        if isinstance(position, float):
            found.append(mean)
            continue
        log = logarithm((position - start) / scale)
        low, high = (normal_below(_short(end / shape - k * shape)) for end in (log.low, log.high))
        found.append(mean * Enclosure(low.low, high.high))
    return _shifted((found[0], found[1], found[2]), start, scale)


def _short(number: Fraction) -> Fraction:
    """Return a number with 128 bits beyond the point: what it moves is in what is enclosed."""
    return Fraction(round(number * (1 << 128)), 1 << 128)


def _beta(position: End, a: Fraction, b: Fraction, start: Fraction, scale: Fraction) -> Moments:
    """Return the moments of start + scale T, whose k-th is the beta integral B(a + k, b) over B.

    By parts, (a + b) B(a + 1, b) = a B(a, b) - t**a (1 - t)**b for the integrals up to t.
    """
    t = Fraction(0) if position <= start else Fraction(min(position, start + scale) - start) / scale
    if not 0 < t < 1:
        mean = a / (a + b)
        full = (Fraction(1), mean, mean * (a + 1) / (a + b + 1))
        zero, one, two = (Enclosure.of(moment if t else 0) for moment in full)
        return _shifted((zero, one, two), start, scale)
    found = [_beta_integral(t, a, b)]
    edge = exponential(logarithm(t) * a + logarithm(1 - t) * b)
    for k in range(2):
        found.append((found[-1] * (a + k) - edge) / (a + k + b))
        edge = edge * t
    whole = _beta_integral(Fraction(1), a, b)
    zero, one, two = (part / whole for part in found)
    return _shifted((zero, one, two), start, scale)


def _beta_integral(t: Fraction, a: Fraction, b: Fraction) -> Enclosure:
    """Return the incomplete beta integral, from the nearer end."""
    middle = a / (a + b)
    if t <= middle:
        return beta_below(t, a, b)
    whole = beta_below(middle, a, b) + beta_below(1 - middle, b, a)
    return whole - beta_below(1 - t, b, a)


Formula = Callable[..., Moments]

FAMILIES: dict[str, tuple[Formula, str, int]] = {
    "normal": (_normal, "norm", 0),
    "uniform": (_uniform, "uniform", 0),
    "exponential": (_exponential, "expon", 0),
    "laplace": (_laplace, "laplace", 0),
    "lognormal": (_lognormal, "lognorm", 1),
    "beta": (_beta, "beta", 2),
}
"""For each law its moments, its name in scipy.stats, and how many shape parameters it has; behind
these stand its location and its scale, by default 0 and 1."""

SAME = {row[1]: name for name, row in FAMILIES.items()}
"""Names of scipy.stats, which are accepted too."""


class NamedLaw(DensityLaw):
    """A law by its name and its parameters in ``scipy.stats``.

    Parameters
    ----------
    name
        ``"normal"`` (or ``"norm"``), ``"uniform"``, ``"exponential"``, ``"laplace"``,
        ``"lognormal"`` or ``"beta"``.
    parameters
        The shape parameters, if the law has any, then location and scale, which may be left out:
        as ``scipy.stats`` takes them. ``[mean, deviation]`` for a normal law, ``[a, b]`` for a
        beta law, ``[low, length]`` for a uniform one.

    Raises
    ------
    InputError
        If there is no such law, or the parameters are not its own.

    Notes
    -----
    A law without a mean, such as Cauchy's, is none of them: nothing could be proved of a loss.

    Examples
    --------
    >>> law = NamedLaw("normal", [0, 1])
    >>> cells = law.cells([float("-inf"), Fraction(0), float("inf")])
    >>> cells.masses[0] == Fraction(1, 2), round(float(cells.first[1]), 6)
    (True, 0.398942)
    """

    name = "law"

    def __init__(self, name: str, parameters: Iterable[Any] = ()) -> None:
        known = SAME.get(name, name)
        if known not in FAMILIES:
            expected = f"one of {', '.join(FAMILIES)}, which have a mean"
            hint = did_you_mean(str(name), [*FAMILIES, *SAME])
            raise InputError("law.name", expected, shown(name), hint)
        self.law = known
        self._formula, self._scipy, shapes = FAMILIES[known]
        given = listed(parameters, "law.parameters", "a list of numbers")
        if not shapes <= len(given) <= shapes + 2:
            expected = f"{shapes} to {shapes + 2} numbers, as scipy.stats.{self._scipy} takes them"
            raise InputError("law.parameters", expected, f"{len(given)}")
        found = [as_fraction(p, f"law.parameters[{n}]") for n, p in enumerate(given)]
        found += [Fraction(0), Fraction(1)][len(found) - shapes :]
        for n, parameter in enumerate(found):
            if n != shapes and parameter <= 0:
                raise InputError(f"law.parameters[{n}]", "a number > 0", shown(str(parameter)))
        self.parameters = tuple(found)

    def below(self, position: End) -> Moments:
        """Return the integrals of 1, x and x**2 below a position."""
        return self._formula(position, *self.parameters)

    def _frozen(self) -> Any:
        """Return the law as scipy has it."""
        from scipy import stats

        return getattr(stats, self._scipy)(*map(float, self.parameters))

    def quantile(self, probabilities: FloatArray) -> FloatArray:
        """Return quantiles, by scipy."""
        return np.asarray(self._frozen().ppf(probabilities))

    def distribution(self, position: float) -> float:
        """Return the probability below a position, by scipy."""
        return float(self._frozen().cdf(position))

    def to_table(self) -> dict[str, Any]:
        """Return the name and the parameters."""
        return {
            "law": {"name": self.law, "parameters": [fraction_text(p) for p in self.parameters]}
        }


class GaussianMixture(DensityLaw):
    """A mixture of normal laws.

    Parameters
    ----------
    weights
        The probability of each part; they sum to 1 within 1e-6, and are normalized exactly.
    means, deviations
        Those of each part; deviations are > 0.

    Raises
    ------
    InputError
        If they are no such numbers, or not one for each part.

    Examples
    --------
    >>> mixture = GaussianMixture([0.5, 0.5], [-1, 1], [1, 2])
    >>> float(sum(mixture.cells([Fraction(-9), Fraction(0), Fraction(9)]).masses))
    1.0
    """

    name = "mixture"

    def __init__(
        self, weights: Iterable[Any], means: Iterable[Any], deviations: Iterable[Any]
    ) -> None:
        given = exact_numbers(weights, "mixture.weights")
        whole = sum(given, Fraction(0))
        if abs(whole - 1) > SUM_TOLERANCE:
            shown_sum = f"sum {float(whole):.12g}"
            raise InputError("mixture.weights", "numbers that sum to 1", shown_sum)
        self.weights = Prior(given).probabilities
        centers = listed(means, "mixture.means", "a list of numbers")
        self.means = tuple(as_fraction(m, f"mixture.means[{n}]") for n, m in enumerate(centers))
        self.deviations = exact_numbers(deviations, "mixture.deviations")
        for key, part in (("means", self.means), ("deviations", self.deviations)):
            if len(part) != len(self.weights):
                expected = f"{len(self.weights)} numbers, one for each weight"
                raise InputError(f"mixture.{key}", expected, f"{len(part)}")
        if min(self.deviations) <= 0:
            raise InputError("mixture.deviations", "numbers > 0", "0")

    @classmethod
    def normal(cls, mean: Any, deviation: Any) -> GaussianMixture:
        """Return a single normal law.

        Raises
        ------
        InputError
            If the mean is no number, or the deviation none above 0.

        Examples
        --------
        >>> GaussianMixture.normal(0, 5).deviations
        (Fraction(5, 1),)
        """
        return cls([1], [mean], [deviation])

    @classmethod
    def fit(cls, samples: Iterable[Any], parts: int | None = None) -> GaussianMixture:
        """Fit a mixture to samples by expectation-maximization, with scikit-learn.

        Parameters
        ----------
        samples
            Numbers.
        parts
            How many normal laws; default the number from 1 to 8 with the least Bayesian
            information criterion.

        Raises
        ------
        UnsupportedError
            If scikit-learn is not installed.
        """
        try:
            from sklearn.mixture import GaussianMixture as Fitted
        except ImportError:
            hint = "pip install scikit-learn"
            raise UnsupportedError("fit", "scikit-learn to be installed", "none", hint) from None
        from mechdesign.continuous.laws.empirical import Samples

        values = np.array(list(map(float, Samples(samples).values)))[:, None]
        if parts is not None:
            parts = whole_number(parts, "parts", most=len(values))
        tried = range(1, min(MOST_PARTS, len(values)) + 1) if parts is None else [parts]
        fits = [Fitted(count, random_state=0).fit(values) for count in tried]
        best = min(fits, key=lambda fit: float(fit.bic(values)))
        order = np.argsort(best.means_[:, 0])
        deviations = np.sqrt(best.covariances_[order, 0, 0])
        columns = (best.weights_[order], best.means_[order, 0], deviations)
        return cls(*([f"{number:.9g}" for number in column] for column in columns))

    def below(self, position: End) -> Moments:
        """Return the integrals of 1, x and x**2 below a position."""
        total = list(NONE)
        parts = zip(self.weights, self.means, self.deviations, strict=True)
        for weight, mean, deviation in parts:
            for k, moment in enumerate(_normal(position, mean, deviation)):
                total[k] = total[k] + moment * weight
        return total[0], total[1], total[2]

    def distribution(self, position: float) -> float:
        """Return the probability below a position."""
        from scipy import stats

        parts = zip(self.weights, self.means, self.deviations, strict=True)
        return float(
            sum(float(w) * stats.norm.cdf(position, float(m), float(s)) for w, m, s in parts)
        )

    def quantile(self, probabilities: FloatArray) -> FloatArray:
        """Return quantiles, by bisection."""
        from scipy import stats

        weights, means, deviations = (
            np.array(list(map(float, column)))[:, None]
            for column in (self.weights, self.means, self.deviations)
        )
        wanted = np.clip(probabilities, 1e-15, 1 - 1e-15)
        low = np.full(wanted.shape, float((means - 9 * deviations).min()))
        high = np.full(wanted.shape, float((means + 9 * deviations).max()))
        for _ in range(60):
            middle = (low + high) / 2
            below = (weights * stats.norm.cdf(middle, means, deviations)).sum(axis=0)
            low, high = (
                np.where(below < wanted, middle, low),
                np.where(below < wanted, high, middle),
            )
        return np.asarray((low + high) / 2)

    def to_table(self) -> dict[str, Any]:
        """Return the weights, means and deviations."""
        columns = {"weights": self.weights, "means": self.means, "deviations": self.deviations}
        return {
            "mixture": {key: [fraction_text(x) for x in column] for key, column in columns.items()}
        }


MOST_PARTS = 8
"""Normal laws of a mixture that is fitted, at most."""
