"""Estimates of a distribution or of a number, with standard errors, quantiles and projections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from mechdesign._typing import FloatArray, Int64Array
from mechdesign.domain import Domain, plain_label, whole_number
from mechdesign.errors import InputError, shown
from mechdesign.labels import data_frame
from mechdesign.sampling import SIMULATION, pieces
from mechdesign.text import Table, Tabular, abridged, html_lines, shortened

if TYPE_CHECKING:
    import pandas as pd

    from mechdesign.continuous import ContinuousChannel


def projected(values: FloatArray) -> FloatArray:
    """Return the distribution that is nearest in Euclidean distance.

        argmin |p - v|**2 over p >= 0 with Sum_x p_x = 1;        p_x = max(0, v_x - t)

    If the j largest values are positive in p, then t_j = (their sum - 1) / j; the correct j is the
    last for which the j-th value exceeds t_j. The true distribution lies in the simplex, so p is
    never farther from it than v.

    Examples
    --------
    >>> projected(np.array([0.9, 0.3, -0.2]))
    array([0.8, 0.2, 0. ])
    """
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    level = levels[np.flatnonzero(falling > levels)[-1]]
    return np.asarray(np.maximum(values - level, 0.0))


def clipped(values: FloatArray) -> FloatArray:
    """Return the positive parts, scaled to sum to 1; the uniform distribution if there are none.

    Examples
    --------
    >>> clipped(np.array([0.9, 0.3, -0.2]))
    array([0.75, 0.25, 0.  ])
    """
    positive = np.maximum(values, 0.0)
    total = positive.sum()
    if total <= 0:
        return np.full(len(values), 1 / len(values))
    return np.asarray(positive / total)


CELLS = 1 << 22
"""Maximum number of weights held at once."""

ROUNDING = 1e-12
"""Rounding error allowed in a cumulative sum in floating point."""


@dataclass(frozen=True)
class Quantile:
    """A quantile: the least value v with Pr(X <= v) >= q.

    Attributes
    ----------
    q
        The probability of the quantile.
    value
        The estimate, a value of the domain.
    low, high
        The ends of the confidence set, values of the domain.
    confidence
        A lower bound on the asymptotic coverage probability of the set.
    """

    q: float
    value: float
    low: float
    high: float
    confidence: float


def share(value: Any, key: str) -> float:
    """Return a number strictly between 0 and 1, or raise InputError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(key, "a number above 0 and below 1", shown(value))
    return float(value)


def normal_quantile(confidence: float, parts: int = 1) -> float:
    """Return z such that ``parts`` intervals of +- z standard errors hold simultaneously.

    Examples
    --------
    >>> round(normal_quantile(0.95), 4), round(normal_quantile(0.95, parts=10), 4)
    (1.96, 2.807)
    """
    left = (1 - share(confidence, "confidence")) / (2 * whole_number(parts, "parts"))
    return -float(ndtri(left))


def quantile_of(
    inputs: Domain,
    values: FloatArray,
    deviation: Callable[[FloatArray], FloatArray],
    q: float,
    confidence: float,
) -> Quantile:
    """Return the quantile of an estimate by inverting the intervals of its cumulative sums.

    Let F_j be the estimate of Pr(X <= v_j), s_j its standard error, and J the true quantile. Since
    Pr(X <= v_J) >= q, F_J + z s_J >= q is likely, so the first j with F_j + z s_j >= q is at most
    J; since Pr(X <= v_(J-1)) < q, F_(J-1) - z s_(J-1) < q is likely, so the last such j is at least
    J - 1. Each event fails with probability (1 - confidence) / 2, whether F is monotone or not. F_k
    is set to 1. The estimate is the quantile of the mean of the running maximum of F from the left
    and the running minimum from the right, which is monotone; it lies in the set.

    Notes
    -----
    Source: Woodruff 1952.
    """
    if inputs.numbers is None:
        raise InputError("inputs", "a domain of numbers, which have an order", repr(inputs))
    q, z = share(q, "q"), normal_quantile(confidence)
    k = len(inputs)
    order = sorted(range(k), key=lambda x: inputs.numbers[x])  # type: ignore[index]
    F = np.append(np.cumsum(values[order])[:-1], 1.0)
    monotone = (np.maximum.accumulate(F) + np.minimum.accumulate(F[::-1])[::-1]) / 2
    q_down = q - ROUNDING
    margin = z * np.append(_of_sums(deviation, np.array(order)), 0.0)
    margin[np.isnan(margin)] = np.inf
    places = [
        int(np.argmax(monotone >= q_down)),
        int(np.argmax(F + margin >= q_down)),
        int(np.flatnonzero(np.append(True, F - margin < q_down))[-1]),
    ]
    value, low, high = (float(inputs.numbers[order[place]]) for place in places)
    return Quantile(q, value, low, high, float(confidence))


def _of_sums(deviation: Callable[[FloatArray], FloatArray], order: Int64Array) -> FloatArray:
    """Return the standard errors of the sums of the first 1, 2, ..., k - 1 inputs in order."""
    k = len(order)
    found, place = np.zeros(k - 1), np.argsort(order)
    for piece in pieces(k - 1, max(1, CELLS // k)):
        ends = np.arange(piece.start, piece.stop)[:, None]
        found[piece] = deviation((place <= ends).astype(np.float64))
    return found


Deviation = Callable[[FloatArray], FloatArray]
"""The standard errors of Sum_x w_x p_x for each row w of ``(n, n_inputs)`` weights."""


@dataclass(frozen=True)
class Covariance:
    """The standard errors of combinations, from the covariances of the inputs.

    Those of unknown inputs are NaN.
    """

    matrix: FloatArray

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Return the standard error of Sum_x w_x p_x for each row w."""
        unknown = np.isnan(self.matrix.diagonal())
        square = ((weights @ np.nan_to_num(self.matrix)) * weights).sum(axis=1)
        square[(weights[:, unknown] != 0).any(axis=1)] = np.nan
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))


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


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Tabular):
    """An estimated distribution of the inputs.

    For numbers rounded to cells the values are their histogram. For linear nodes they are the
    distribution of the node, whose mean is the mean of the numbers; the node of a number is one of
    its two neighbors.

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
    numbers
        The channel on the numbers of an interval whose nodes are the inputs; None for labels.
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
    numbers: ContinuousChannel | None = None

    @property
    def stretches(self) -> FloatArray | None:
        """``(n_inputs, 2)`` the interval that each input represents; None for labels.

        These are the cells, or the intervals between midpoints of adjacent nodes. An unbounded cell
        is shown as wide as its neighbor.
        """
        if self.numbers is None:
            return None
        places, supports = self.numbers.positions, self.numbers.supports
        if self.numbers.kind != "cells":
            middles = (places[1:] + places[:-1]) / 2
            ends = np.concatenate([places[:1], middles, places[-1:]])
        else:
            ends = np.append(supports[:, 0], supports[-1, 1])
            inner = ends[np.isfinite(ends)]
            first, last = np.diff(inner)[[0, -1]] if len(inner) > 1 else (1.0, 1.0)
            ends = np.clip(ends, inner[0] - first, inner[-1] + last)
        return np.column_stack([ends[:-1], ends[1:]])

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
        """Return a quantile of a numeric domain, or of the numbers, with a confidence set.

        Of numbers in cells the value is interpolated linearly in the cell at the quantile of the
        cells; of other numbers it is the node at the quantile of the nodes. The set runs from the
        lower end of the support of the lowest node in the nodes' confidence set to the upper end of
        that of the highest: nodes are in order, so X is at most the upper end of node i's support
        if its node is at most i, and at least the lower end if its node is at least i.

        Parameters
        ----------
        q
            Above 0 and below 1; 0.5 is the median.
        confidence
            Above 0 and below 1.
        """
        if self.numbers is None:
            return quantile_of(self.inputs, self.values, self.deviation, q, confidence)
        places = Domain.range(len(self.values))
        found = quantile_of(places, self.values, self.deviation, q, confidence)
        node, first, last = (int(number) for number in (found.value, found.low, found.high))
        supports, value = self.numbers.supports, float(self.numbers.positions[node])
        if self.numbers.kind == "cells" and np.isfinite(supports[node]).all():
            sums = np.concatenate([[0.0], np.cumsum(projected(self.values))])
            value = float(np.interp(q, sums[node : node + 2], supports[node]))
        ends = float(supports[first, 0]), float(supports[last, 1])
        return Quantile(found.q, value, *ends, found.confidence)

    def projected(self) -> Estimate:
        """Return the nearest distribution; biased, and never farther from the truth."""
        return self._within(projected(self.values), "projected")

    def clipped(self) -> Estimate:
        """Return the positive parts, scaled to sum to 1; biased."""
        return self._within(clipped(self.values), "clipped")

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

    def _lines(self) -> list[str]:
        words = dict.fromkeys([self.method, bias_word(self.unbiased)])
        label = ", ".join(words)
        head = (
            f"Estimate({len(self.inputs)} inputs, "
            f"from {self.reports} reports, {label}, of the {self.target})"
        )
        unseen = self.standard_errors < UNSEEN
        dashes = [UNSEEN_NOTE if unseen.all() else f"-: {UNSEEN_NOTE}"] if unseen.any() else []
        return [head, *([SIMULATION.upper()] if self.simulated else []), *self.notes, *dashes]

    def _table(self) -> Table:
        labels, values, errors = self.inputs.labels, self.values, self.standard_errors
        rows = [
            ("…", "", "")
            if x is None
            else (shortened(labels[x], 24), f"{values[x]:.6f}", _error(errors[x]))
            for x in abridged(len(values), MOST_ROWS)
        ]
        return Table(("input", "frequency", "standard error"), rows, "<>>", least=10)


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
