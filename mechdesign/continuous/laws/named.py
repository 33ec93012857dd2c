"""Named laws and mixtures of normal laws, truncated to the interval; their moments are enclosed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.continuous.interval import Interval
from mechdesign.continuous.laws.base import NumberLaw
from mechdesign.domain import whole_number
from mechdesign.errors import InputError, UnsupportedError, did_you_mean, listed, shown
from mechdesign.exact import as_fraction, fraction_text
from mechdesign.kernel.rounding.families import Normal
from mechdesign.kernel.rounding.laws import Mixture
from mechdesign.kernel.rounding.shaped import FAMILIES
from mechdesign.prior import SUM_TOLERANCE, Prior, exact_numbers

__all__ = ["GaussianMixture", "NamedLaw"]

SHAPES = {"lognormal": ("shape",), "beta": ("a", "b")}
"""The shape parameters of laws that have any; behind them stand location and scale."""

SCIPY = {
    "normal": "norm",
    "uniform": "uniform",
    "exponential": "expon",
    "laplace": "laplace",
    "lognormal": "lognorm",
    "beta": "beta",
}
"""The names in scipy.stats, which are accepted too."""

SAME = {other: name for name, other in SCIPY.items()}


class DensityLaw(NumberLaw):
    """A law that the kernel knows by name."""

    @abstractmethod
    def quantile(self, probabilities: FloatArray) -> FloatArray:
        """Return the quantiles of the law, not truncated."""

    @abstractmethod
    def distribution(self, position: float) -> float:
        """Return the probability below a position of the law, not truncated."""

    def quantiles(
        self, side: Interval, probabilities: Sequence[float], axis: int = 0
    ) -> list[float]:
        """Return quantiles of the truncated law, in floating point."""
        low, high = (self.distribution(float(end)) for end in (side.low, side.high))
        inside = low + (high - low) * np.asarray(probabilities, dtype=float)
        found: list[float] = self.quantile(inside).tolist()
        return found


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
    >>> NamedLaw("norm", [0, 2]).known
    Normal(location=Fraction(0, 1), scale=Fraction(2, 1))
    """

    name = "law"

    def __init__(self, name: str, parameters: Iterable[Any] = ()) -> None:
        known = SAME.get(name, name)
        if known not in SCIPY:
            expected = f"one of {', '.join(SCIPY)}, which have a mean"
            hint = did_you_mean(str(name), [*SCIPY, *SAME])
            raise InputError("law.name", expected, shown(name), hint)
        self.law, names = known, SHAPES.get(known, ())
        self._scipy, shapes = SCIPY[known], len(names)
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
        named = dict(zip((*names, "location", "scale"), found, strict=True))
        self.known: Any = FAMILIES[known](**named)

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
    >>> GaussianMixture([1, 3], [-1, 1], [1, 2]) == GaussianMixture([0.25, 0.75], [-1, 1], [1, 2])
    Traceback (most recent call last):
    mechdesign.errors.InputError: mixture.weights: expected numbers that sum to 1, given sum 4
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
        parts = zip(self.means, self.deviations, strict=True)
        self.known = Mixture(self.weights, tuple(Normal(m, s) for m, s in parts))

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
            fault = "scikit-learn is not installed"
            raise UnsupportedError("fit", "scikit-learn", "none", hint, fault) from None
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
