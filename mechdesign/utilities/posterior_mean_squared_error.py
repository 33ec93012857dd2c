"""The mean squared error of the best estimate of f(X) from a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown
from mechdesign.utilities.input_values import InputValues
from mechdesign.utilities.kernel_gain import KernelGain


class PosteriorMeanSquaredError(KernelGain):
    """E |f(X) - E[f(X) | Y]|**2 = E |f(X)|**2 - Sum_y |Sum_x P_x f_x Q[x,y]|**2 / lambda_y.

    It does not depend on the labels of the outputs. Minimizing it is a concave problem, which a
    convex solver does not accept.

    Parameters
    ----------
    values
        ``(n_inputs,)`` numbers f(x), a dict or a Series by label; default: the inputs themselves,
        if they are numbers. The indicator of one input gives a survey, multiples of it a weighted
        sum.
    histogram
        Whether f(x) is instead the vector of indicators of the inputs: the error of the whole
        posterior, summed over the inputs.

    Notes
    -----
    Source: Jiang et al. 2018 (CNS), eq. (7).

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> survey = PosteriorMeanSquaredError(values=[1, 0])
    >>> survey.value(warner, Prior([0.5, 0.5]))
    Fraction(3, 16)
    >>> PosteriorMeanSquaredError(histogram=True).value(warner, Prior([0.5, 0.5]))
    Fraction(3, 8)
    """

    name = "posterior-mean-squared-error"
    title = "error of the best estimate of f(X)"
    exact = True

    def __init__(
        self, values: Sequence[Any] | Mapping[Any, Any] | None = None, histogram: bool = False
    ) -> None:
        if not isinstance(histogram, bool):
            raise InputError("histogram", "true or false", shown(histogram))
        if histogram and values is not None:
            fault = "give values or histogram = true, not both"
            raise InputError("histogram", "one of them", "both", fault=fault)
        super().__init__(**({} if histogram else {"values": InputValues.of(values)}))
        self.histogram = self.treats_inputs_alike = histogram

    @property
    def given(self) -> tuple[Fraction, ...] | None:
        """The given values; None if they are the inputs themselves."""
        return None if self.histogram else cast(InputValues, self._arguments["values"]).given

    @property
    def on_interval(self) -> str:  # type: ignore[override]
        """The error of the best estimate of the number itself."""
        return "" if self.histogram or self.given is not None else "estimate"

    def values(self, domain: Domain) -> tuple[Fraction, ...]:
        """Return f(x) for each input, exact."""
        return cast(InputValues, self._arguments["values"]).numbers(domain)

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table, values included."""
        own = {"histogram": True} if self.histogram else {}
        return {**super().to_table(domain), **own}

    def __repr__(self) -> str:
        values = "" if self.given is None else f"values={self._arguments['values']!r}"
        return f"{type(self).__name__}({'histogram=True' if self.histogram else values})"
