"""Estimates of a distribution or of a number, with standard errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain, plain_label
from mechdesign.estimation import simplex
from mechdesign.estimation.quantiles import Quantile, normal_quantile, quantile_of
from mechdesign.labels import data_frame
from mechdesign.sampling import SIMULATION
from mechdesign.text import Table, Tabular, html_lines, shortened

if TYPE_CHECKING:
    import pandas as pd

Deviation = Callable[[FloatArray], FloatArray]
"""The standard errors of Sum_x w_x p_x for each row w of ``(n, n_inputs)`` weights."""

MOST_ROWS = 24

UNSEEN = 1e-9
"""Smaller standard errors are rounding: all reports agree, or the estimand is constant."""

UNSEEN_NOTE = "standard error not estimable: the reports show no spread"


@dataclass(frozen=True, eq=False)
class ScalarEstimate:
    """A number estimated from reports.

    Attributes
    ----------
    quantity
        The name of the estimated quantity.
    value
        The estimate.
    standard_error
        Its standard error.
    reports
        Number of reports.
    method
        The name of the method.
    unbiased
        Whether the estimate is unbiased.
    simulated
        Whether any report was drawn from a seed.
    target
        ``"population"`` or ``"respondents"``.

    Examples
    --------
    >>> ScalarEstimate("mean", 2.5, 0.25, 100, "unbiased", True, False, "population")
    mean = 2.5 +- 0.25 (standard error), unbiased, of the population, from 100 reports
    """

    quantity: str
    value: float
    standard_error: float
    reports: int
    method: str
    unbiased: bool
    simulated: bool
    target: str

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the normal confidence interval, value -+ z standard_error.

        The ends are NaN if the reports show no spread.

        Examples
        --------
        >>> found = ScalarEstimate("mean", 2.5, 0.25, 100, "unbiased", True, False, "population")
        >>> [round(end, 3) for end in found.interval(0.95)]
        [2.01, 2.99]
        """
        margin = normal_quantile(confidence) * float(_known(self.standard_error))
        return self.value - margin, self.value + margin

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as plain data for JSON; null for an unknown standard error."""
        return {**asdict(self), "standard_error": plain(float(_known(self.standard_error)))}

    def _repr_html_(self) -> str:
        return html_lines([("", repr(self))])

    def __repr__(self) -> str:
        note = f"; {SIMULATION}" if self.simulated else ""
        return (
            f"{self.quantity} = {self.value:.6g} {_spread(self.standard_error)}, "
            f"{bias_word(self.unbiased)}, of the {self.target}, from {self.reports} reports{note}"
        )


@dataclass(frozen=True, eq=False)
class Estimate(Tabular):
    """An estimated distribution of the inputs.

    Attributes
    ----------
    inputs
        The domain.
    values
        ``(n_inputs,)`` estimated frequencies. Unbiased ones may be negative and need not sum to 1.
    standard_errors
        ``(n_inputs,)``, NaN if unknown.
    reports
        Number of reports.
    method
        The name of the method.
    unbiased
        Whether the estimate is unbiased.
    simulated
        Whether any report was drawn from a seed.
    target
        ``"population"``: the records are an independent sample of the estimated distribution;
        ``"respondents"``: the frequencies among exactly these records are estimated, so only the
        mechanism adds error.
    deviation
        The standard errors of linear combinations.
    notes
        Further notes, one per line.
    gap
        For maximum likelihood: bound on the distance of the log-likelihood per report from its
        maximum.
    iterations
        For maximum likelihood: number of steps.
    """

    inputs: Domain
    values: FloatArray
    standard_errors: FloatArray
    reports: int
    method: str
    unbiased: bool
    simulated: bool
    target: str
    deviation: Deviation = field(repr=False)
    notes: tuple[str, ...] = ()
    gap: float | None = None
    iterations: int | None = None

    @property
    def stretches(self) -> FloatArray | None:
        """``(n_inputs, 2)`` the interval that each input represents; None for labels."""
        return None

    @property
    def counts(self) -> FloatArray:
        """The estimated number of records of each input, ``(n_inputs,)``: n times the values."""
        return self.values * self.reports

    def interval(self, confidence: float = 0.95, *, simultaneous: bool = False) -> FloatArray:
        """Return normal confidence intervals, ``(n_inputs, 2)``.

        Parameters
        ----------
        confidence
            Above 0 and below 1, for each interval.
        simultaneous
            Whether the confidence is for all intervals jointly, by Bonferroni's inequality.

        Notes
        -----
        The intervals of a biased estimate, which is a distribution, are clipped to [0, 1]. Those of
        unknown standard errors, and of reports without spread, are NaN.
        """
        parts = len(self.values) if simultaneous else 1
        margin = normal_quantile(confidence, parts) * _known(self.standard_errors)
        ends = np.stack([self.values - margin, self.values + margin], axis=1)
        return ends if self.unbiased else np.clip(ends, 0.0, 1.0)

    def quantile(self, q: float, confidence: float = 0.95) -> Quantile:
        """Return a quantile of a numeric domain, with a confidence set.

        Parameters
        ----------
        q
            Above 0 and below 1; 0.5 is the median.
        confidence
            Above 0 and below 1.

        Raises
        ------
        InputError
            If the inputs are not numbers, or a parameter is out of range.
        """
        return quantile_of(self.inputs, self.values, self.deviation, q, confidence)

    def projected(self) -> Estimate:
        """Return the nearest distribution; biased, and never farther from the truth."""
        return self._within(simplex.projected(self.values), "projected")

    def clipped(self) -> Estimate:
        """Return the positive parts, scaled to sum to 1; biased."""
        return self._within(simplex.clipped(self.values), "clipped")

    def _within(self, values: FloatArray, method: str) -> Estimate:
        note = f"the standard errors are those of the {self.method} estimate"
        return replace(
            self, values=values, method=method, unbiased=False, notes=(*self.notes, note)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as plain data for JSON; null for unknown standard errors."""
        found: dict[str, Any] = {
            "inputs": [plain_label(label) for label in self.inputs],
            "values": self.values.tolist(),
            "standard_errors": [plain(error) for error in _known(self.standard_errors).tolist()],
            "reports": self.reports,
            "method": self.method,
            "unbiased": self.unbiased,
            "target": self.target,
            "simulated": self.simulated,
            "notes": list(self.notes),
        }
        if self.gap is not None:
            found |= {"gap": self.gap, "iterations": self.iterations}
        return found

    def to_frame(self, confidence: float = 0.95) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per input.

        The columns are ``value``, ``standard_error``, and the ends ``low`` and ``high`` of
        :meth:`interval`.
        """
        columns = ("value", "standard_error", "low", "high")
        return data_frame(self.columns(confidence), self.inputs.labels, columns)

    def columns(self, confidence: float = 0.95) -> FloatArray:
        """Return value, standard error and interval of each input, ``(n_inputs, 4)``."""
        errors = _known(self.standard_errors)
        return np.column_stack([self.values, errors, self.interval(confidence)])

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), self._table().text(least=10)])

    def _lines(self) -> list[str]:
        words = dict.fromkeys([self.method, bias_word(self.unbiased)])
        label = ", ".join(words)
        head = (
            f"{type(self).__name__}({len(self.inputs)} inputs, "
            f"from {self.reports} reports, {label}, of the {self.target})"
        )
        unseen = self.standard_errors < UNSEEN
        dashes = [UNSEEN_NOTE if unseen.all() else f"-: {UNSEEN_NOTE}"] if unseen.any() else []
        return [head, *([SIMULATION.upper()] if self.simulated else []), *self.notes, *dashes]

    def _table(self) -> Table:
        k, half = len(self.values), MOST_ROWS // 2
        places = list(range(k)) if k <= MOST_ROWS else [*range(half), *range(k - half, k)]
        rows = [
            (
                shortened(self.inputs.labels[x], 24),
                f"{self.values[x]:.6f}",
                _error(self.standard_errors[x]),
            )
            for x in places
        ]
        if k > MOST_ROWS:
            rows.insert(half, ("…", "", ""))
        return Table(("input", "frequency", "standard error"), rows, "<>>")


def _known(errors: Any) -> FloatArray:
    """Return standard errors, NaN in place of those of reports without spread."""
    return np.where(np.asarray(errors) < UNSEEN, np.nan, errors)


def _error(error: float) -> str:
    """Return a standard error as text, or a dash if it is 0 up to rounding."""
    return "-" if error < UNSEEN else f"{error:.6f}" if error >= 5e-6 else f"{error:.0e}"


def _spread(error: float) -> str:
    return f"({UNSEEN_NOTE})" if error < UNSEEN else f"+- {error:.3g} (standard error)"


def bias_word(unbiased: bool) -> str:
    """Return ``"unbiased"`` or ``"biased"``."""
    return "unbiased" if unbiased else "biased"


def plain(number: float) -> float | None:
    """Return a number for JSON: None for NaN and infinity.

    Examples
    --------
    >>> plain(float("nan")) is None
    True
    """
    return float(number) if np.isfinite(number) else None
