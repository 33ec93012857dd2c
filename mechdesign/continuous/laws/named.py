"""Laws of a number that the kernel knows by name."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from mechdesign.continuous.domain import end_text
from mechdesign.continuous.laws.base import Law
from mechdesign.continuous.laws.samples import Samples
from mechdesign.domain import whole_number
from mechdesign.errors import InputError, UnsupportedError, did_you_mean, listed, shown
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.kernel.rounding import laws as kernel
from mechdesign.kernel.rounding.laws import FAMILIES, Normal
from mechdesign.prior import distribution, exact_numbers
from mechdesign.resources import check_size

SHAPES = {"lognormal": ("shape",), "beta": ("a", "b")}
"""The shape parameters of laws that have any; location and scale follow them."""

SAME = {"norm": "normal", "expon": "exponential", "lognorm": "lognormal"}
"""Accepted synonyms: the names in scipy.stats."""

MOST_PARTS = 8
"""The largest number of normal laws in a fitted mixture."""


class NamedLaw(Law):
    """A law given by its name and its parameters in ``scipy.stats``.

    Parameters
    ----------
    name
        ``"normal"`` (or ``"norm"``), ``"uniform"``, ``"exponential"``, ``"laplace"``,
        ``"lognormal"`` or ``"beta"``.
    parameters
        The shape parameters, if the law has any, then optionally location and scale, as in
        ``scipy.stats``: ``[mean, deviation]`` for a normal law, ``[a, b]`` for a beta law, ``[low,
        length]`` for a uniform one.

    Raises
    ------
    InputError
        If there is no such law, or the parameters do not match it.

    Notes
    -----
    Laws without a mean, such as Cauchy's, are not supported: no loss could be bounded.

    Examples
    --------
    >>> NamedLaw("norm", [0, 2]).measure
    Normal(location=Fraction(0, 1), scale=Fraction(2, 1))
    """

    def __init__(self, name: str, parameters: Iterable[Any] = ()) -> None:
        self.law = SAME.get(name, name)
        if self.law not in FAMILIES:
            expected = f"one of {', '.join(FAMILIES)}, which have a mean"
            hint = did_you_mean(str(name), [*FAMILIES, *SAME])
            raise InputError("law.name", expected, shown(name), hint)
        names = SHAPES.get(self.law, ())
        found, shapes = exact_list(parameters, "law.parameters"), len(names)
        if not shapes <= len(found) <= shapes + 2:
            expected = f"{shapes} to {shapes + 2} numbers, as scipy.stats takes them"
            raise InputError("law.parameters", expected, f"{len(found)}")
        found += [Fraction(0), Fraction(1)][len(found) - shapes :]
        for n, parameter in enumerate(found):
            if n != shapes and parameter <= 0:
                raise InputError(f"law.parameters[{n}]", "a number > 0", shown(str(parameter)))
        self.parameters = tuple(found)
        named: dict[str, Any] = dict(zip((*names, "location", "scale"), found, strict=True))
        self.measure = FAMILIES[self.law](**named)

    def to_table(self) -> dict[str, Any]:
        """Return the name and the parameters."""
        return {"law": {"name": self.law, "parameters": list(map(fraction_text, self.parameters))}}


class Histogram(Law):
    """A law with a constant density on each bin.

    Parameters
    ----------
    edges
        Increasing numbers, one more than there are bins.
    masses
        The probability of each bin; they sum to 1 within 1e-6, and are normalized exactly.

    Raises
    ------
    InputError
        If the edges are not increasing, or the masses do not match.

    Examples
    --------
    >>> Histogram([0, 1, 3], [0.5, 0.5]).masses
    (Fraction(1, 2), Fraction(1, 2))
    """

    key = "histogram.edges"

    def __init__(self, edges: Iterable[Exact], masses: Iterable[Exact]) -> None:
        self.edges = rising(edges, self.key)
        found = exact_numbers(masses, "histogram.masses")
        if len(found) != len(self.edges) - 1:
            expected = f"{len(self.edges) - 1} numbers, one for each bin"
            raise InputError("histogram.masses", expected, f"{len(found)} numbers")
        self.masses = distribution(found, "histogram.masses")
        self.extent = ((self.edges[0], self.edges[-1]),)
        self.measure = kernel.Histogram(self.edges, self.masses)

    def to_table(self) -> dict[str, Any]:
        """Return the edges and the masses."""
        columns = {"edges": self.edges, "masses": self.masses}
        return {"histogram": {key: list(map(fraction_text, c)) for key, c in columns.items()}}


class GaussianMixture(Law):
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
        If the numbers are invalid, or not one for each part.

    Examples
    --------
    >>> GaussianMixture([1, 3], [-1, 1], [1, 2]) == GaussianMixture([0.25, 0.75], [-1, 1], [1, 2])
    Traceback (most recent call last):
    mechdesign.errors.InputError: mixture.weights: expected numbers that sum to 1, given sum 4
    """

    def __init__(
        self, weights: Iterable[Any], means: Iterable[Any], deviations: Iterable[Any]
    ) -> None:
        given = exact_numbers(weights, "mixture.weights")
        self.weights = distribution(given, "mixture.weights")
        self.means = tuple(exact_list(means, "mixture.means"))
        self.deviations = exact_numbers(deviations, "mixture.deviations")
        for key, part in (("means", self.means), ("deviations", self.deviations)):
            if len(part) != len(self.weights):
                expected = f"{len(self.weights)} numbers, one for each weight"
                raise InputError(f"mixture.{key}", expected, f"{len(part)}")
        if min(self.deviations) <= 0:
            raise InputError("mixture.deviations", "numbers > 0", "0")
        parts = map(Normal, self.means, self.deviations)
        self.measure = kernel.Mixture(self.weights, tuple(parts))

    @classmethod
    def normal(cls, mean: Any, deviation: Any) -> GaussianMixture:
        """Return a single normal law.

        Raises
        ------
        InputError
            If the mean is not a number, or the deviation not above 0.

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
            The number of normal laws; default the number from 1 to 8 with the least Bayesian
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

    def to_table(self) -> dict[str, Any]:
        """Return the weights, means and deviations."""
        columns = {"weights": self.weights, "means": self.means, "deviations": self.deviations}
        return {
            "mixture": {key: [fraction_text(x) for x in column] for key, column in columns.items()}
        }


def exact_list(given: Any, key: str) -> list[Fraction]:
    """Return a list of numbers, exact.

    Raises
    ------
    InputError
        If it is not a list of numbers.
    """
    numbers = listed(given, key, "a list of numbers")
    check_size("entries", len(numbers), key)
    return [as_fraction(number, f"{key}[{n}]") for n, number in enumerate(numbers)]


def rising(given: Any, key: str) -> tuple[Fraction, ...]:
    """Return at least two exact numbers in increasing order.

    Raises
    ------
    InputError
        If they are not.
    """
    found = exact_list(given, key)
    if len(found) < 2:
        raise InputError(key, "at least two positions", len(found))
    for low, high in pairwise(found):
        if not low < high:
            raise InputError(key, "positions that rise", f"{end_text(low)} before {end_text(high)}")
    return tuple(found)
