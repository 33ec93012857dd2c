"""f-divergences of the reports of two mixtures of inputs: how well a report separates them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Self, cast

from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError
from mechdesign.prior import Prior
from mechdesign.utilities.input_values import InputValues
from mechdesign.utilities.kernel_gain import KernelGain


class Divergence(KernelGain):
    """Sum_y f(a_y, b_y) of the laws a and b of the report under two mixtures of inputs, maximized.

    Under the first hypothesis the input has the law ``first``, under the second ``second``; a and b
    are the laws of the output. Each f is convex and homogeneous, so that extreme rays are optimal.

    Parameters
    ----------
    first, second
        An input by its label, or weights of inputs that sum to 1: a list or an array for all
        inputs, or a dict or a Series by label, with weight 0 for inputs that are left out.
    """

    sense = "maximize"
    finite_on = "reports of the first mixture that the second sends too"
    may_be_infinite = False
    """Whether it is infinite if only the first hypothesis sends a report."""

    def __init__(self, first: Any, second: Any) -> None:
        sides = {"first": first, "second": second}
        super().__init__(**{key: InputValues.mixture(v, key) for key, v in sides.items()})

    def weights(self, domain: Domain) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """Return the weights of both mixtures on the inputs, exact."""
        first, second = (cast(InputValues, part) for part in self._arguments.values())
        return first.numbers(domain), second.numbers(domain)

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> Self:
        """Return the divergence with its weights in the order of the domain."""
        first, second = self.weights(domain)
        if first == second:
            fault = "the two mixtures are equal"
            raise InputError("second", "another mixture", "the same", fault=fault)
        return super().aligned(domain, outputs)

    def check_prior(self, prior: Prior) -> None:
        """Reject a prior that is 0 at an input of the mixtures: bounds are found per report."""
        for key, part in self._arguments.items():
            mixture = cast(InputValues, part)
            pairs = zip(mixture.given or (), prior, strict=False)
            if mixture.is_aligned and any(w and not p for w, p in pairs):
                fault = f"an input of {key} has probability 0"
                raise InputError("prior", "probabilities > 0", "0", fault=fault)


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
