"""The mean squared error of the best estimate of f(X) from a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, UnsupportedError, shown
from mechdesign.exact import fraction_text
from mechdesign.prior import Prior
from mechdesign.utilities.column import ColumnUtility
from mechdesign.utilities.input_values import InputValues

__all__ = ["PosteriorMeanSquaredError"]


class PosteriorMeanSquaredError(ColumnUtility):
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
        self.histogram = histogram
        self._values = InputValues.of(values)

    @property
    def given(self) -> tuple[Fraction, ...] | None:
        """The given values; None if they are the inputs themselves."""
        return self._values.given

    @property
    def on_interval(self) -> str:  # type: ignore[override]
        """The error of the best estimate of the number itself."""
        return "" if self.histogram or self.given is not None else "estimate"

    def values(self, domain: Domain) -> tuple[Fraction, ...]:
        """Return f(x) for each input, exact."""
        return self._values.on(domain)

    def treats_inputs_alike(self, domain: Domain, outputs: Sequence[Label] | None) -> bool:
        """Return whether it is the error of the whole posterior."""
        return self.histogram

    def scalar_values(self, domain: Domain) -> tuple[Fraction, ...] | None:
        """Return f(x) for each input; None for the error of the whole posterior."""
        return None if self.histogram else self.values(domain)

    def check(self, domain: Domain, outputs: Sequence[Label] | None) -> None:
        """Check that the labels of the values are in the domain."""
        if not self.histogram:
            self.values(domain)

    def on(self, domain: Domain) -> PosteriorMeanSquaredError:
        """Return the error with explicit values, in the order of the domain."""
        if self.histogram or self._values.is_aligned:
            return self
        return PosteriorMeanSquaredError(self.values(domain))

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> PosteriorMeanSquaredError:
        """Return the error with its values in the order of the domain."""
        return self if self._values.labels is None else self.on(domain)

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        """Return |Sum_x P_x f_x q_x|**2 / (P . q), with f(x) as given or the indicators.

        Raises
        ------
        UnsupportedError
            If the values are those of a domain: see :meth:`on`.
        """
        law = prior @ columns
        if self.histogram:
            square = ((prior[:, None] * columns) ** 2).sum(axis=0)
        else:
            if self.given is None or not self._values.is_aligned:
                raise UnsupportedError("values", "values written out", "those of the domain")
            given = np.array([float(v) for v in self.given])
            square = ((prior * given) @ columns) ** 2
        return np.asarray(np.divide(square, law, out=np.zeros_like(law), where=law > 0))

    def coordinate_gain(self, x: IntArray, r: FloatArray, prior: FloatArray) -> Any:
        """Return (P_x r)**2 for the histogram."""
        return (prior[x] * r) ** 2 if self.histogram else None

    def offset(self, domain: Domain, prior: Prior) -> Fraction:
        """Return E |f(X)|**2."""
        if self.histogram:
            return Fraction(1)
        return prior.mean([v * v for v in self.values(domain)])

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table, values included."""
        if self.histogram:
            return {"objective": self.name, "histogram": True}
        return {
            "objective": self.name,
            "values": [fraction_text(value) for value in self.values(domain)],
        }

    def __repr__(self) -> str:
        if self.histogram:
            return f"{type(self).__name__}(histogram=True)"
        return f"{type(self).__name__}({self._values!r})"
