"""f-divergences of the reports of two mixtures of inputs: how well a report separates them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, UnsupportedError
from mechdesign.exact import fraction_text
from mechdesign.prior import Prior
from mechdesign.utilities.column import ColumnUtility
from mechdesign.utilities.gains.mixtures import Mixture

__all__ = ["ChiSquared", "Divergence", "KullbackLeibler", "SquaredHellinger", "TotalVariation"]


class Divergence(ColumnUtility):
    """Sum_y f(a_y, b_y) of the laws a and b of the report under two mixtures of inputs, maximized.

    Under the first hypothesis the input has the law ``first``, under the second ``second``; a and b
    are the laws of the output. Each f is convex and homogeneous, so that extreme rays are optimal.

    Parameters
    ----------
    first, second
        An input by its label, or weights of inputs that sum to 1: a list or an array for all
        inputs, or a dict or a Series by label, with weight 0 for inputs that are left out.

    Raises
    ------
    InputError
        If the weights are invalid.
    """

    sense = "maximize"
    finite_on = "reports of the first mixture that the second sends too"
    may_be_infinite = False
    """Whether it is infinite if only the first hypothesis sends a report."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = Mixture.of(first, "first"), Mixture.of(second, "second")

    def weights(self, domain: Domain) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """Return the weights of both mixtures on the inputs, exact."""
        return self.first.on(domain, "first"), self.second.on(domain, "second")

    def check(self, domain: Domain, outputs: Sequence[Label] | None) -> None:
        """Check that the labels are in the domain."""
        first, second = self.weights(domain)
        if first == second:
            fault = "the two mixtures are equal"
            raise InputError("second", "another mixture", "the same", fault=fault)

    def on(self, domain: Domain) -> Divergence:
        """Return the divergence with weights for all inputs, in the order of the domain."""
        if self.first.is_aligned and self.second.is_aligned:
            return self
        return type(self)(*map(list, self.weights(domain)))

    def check_prior(self, prior: Prior) -> None:
        """Reject a prior that is 0 at an input of the mixtures: bounds are found per report."""
        for key, mixture in (("first", self.first), ("second", self.second)):
            pairs = zip(mixture.given, prior, strict=True)
            if mixture.is_aligned and any(w and not p for w, p in pairs):
                fault = f"an input of {key} has probability 0"
                raise InputError("prior", "probabilities > 0", "0", fault=fault)

    @abstractmethod
    def term(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return f(a, b) for each report, in floats."""

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        """Return f(first . q, second . q).

        Raises
        ------
        UnsupportedError
            If the weights are not aligned with the inputs: see :meth:`on`.
        """
        if not (self.first.is_aligned and self.second.is_aligned):
            raise UnsupportedError("first", "weights in the order of the domain", "labels")
        a, b = (np.array(list(map(float, m.given))) @ columns for m in (self.first, self.second))
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.term(a, b)

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table, with weights for all inputs."""
        first, second = (list(map(fraction_text, side)) for side in self.weights(domain))
        return {"objective": self.name, "first": first, "second": second}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.first!r}, {self.second!r})"


class TotalVariation(Divergence):
    """Sum_y |a_y - b_y| / 2: 1 minus the sum of both errors of the best test.

    Notes
    -----
    The least mean error of a test, at even odds, is (1 - TV) / 2. The binary mechanism is optimal
    under LDP (Kairouz, Oh and Viswanath 2014).

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"])
    >>> TotalVariation("a", "b").value(warner, Prior([0.5, 0.5]))
    Fraction(1, 2)
    >>> TotalVariation("a", {"a": "1/2", "b": "1/2"}).value(warner, Prior([0.5, 0.5]))
    Fraction(1, 4)
    """

    name = "total-variation"
    title = "total variation between the reports of two mixtures of inputs"
    exact = True

    def term(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return |a - b| / 2."""
        return np.asarray(np.abs(a - b) / 2)


class KullbackLeibler(Divergence):
    """Sum_y a_y ln(a_y / b_y) in nats: the decay rate of the error of a test with more reports.

    Notes
    -----
    Source: Kairouz, Oh and Viswanath 2014, with the Chernoff-Stein lemma.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(float(KullbackLeibler([1, 0], [0, 1]).value(warner, Prior([0.5, 0.5]))), 6)  # ln(3)/2
    0.549306
    """

    name = "kullback-leibler"
    title = "Kullback-Leibler divergence between the reports of two mixtures of inputs, in nats"
    exact = True
    may_be_infinite = True

    def term(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return a ln(a / b)."""
        return np.asarray(np.where(a > 0, a * np.log(a / b), 0.0))


class ChiSquared(Divergence):
    """Sum_y (a_y - b_y)**2 / b_y.

    Notes
    -----
    Source: Kairouz, Oh and Viswanath 2014, as one of the f-divergences.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> ChiSquared([1, 0], [0, 1]).value(warner, Prior([0.5, 0.5]))
    Fraction(4, 3)
    """

    name = "chi-squared"
    title = "chi-squared divergence between the reports of two mixtures of inputs"
    exact = True
    may_be_infinite = True

    def term(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return (a - b)**2 / b."""
        return np.asarray(np.where((a > 0) | (b > 0), (a - b) ** 2 / b, 0.0))


class SquaredHellinger(Divergence):
    """Sum_y (sqrt(a_y) - sqrt(b_y))**2 / 2, from 0 to 1: 1 - Sum_y sqrt(a_y b_y).

    Notes
    -----
    Source: Kairouz, Oh and Viswanath 2014, as one of the f-divergences.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["4/5", "1/5"], ["1/5", "4/5"]])
    >>> round(float(SquaredHellinger([1, 0], [0, 1]).value(warner, Prior([0.5, 0.5]))), 12)
    0.2
    """

    name = "squared-hellinger"
    title = "squared Hellinger distance between the reports of two mixtures of inputs"
    exact = True

    def term(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return (sqrt(a) - sqrt(b))**2 / 2."""
        return np.asarray((np.sqrt(a) - np.sqrt(b)) ** 2 / 2)
