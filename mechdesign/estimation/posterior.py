"""The Bayes estimator under a known prior: sums of posterior means over the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import InputError, shown
from mechdesign.estimation.functionals import numeric_values
from mechdesign.estimation.least_squares import reference_distribution
from mechdesign.estimation.report_models import DistinctReports, ReportData, ReportModel
from mechdesign.estimation.result import Estimate, ScalarEstimate
from mechdesign.prior import Prior
from mechdesign.reports import ReportSource

NOTE = "Bayes-optimal if the prior is right; standard errors are posterior standard deviations"


def posterior_mean(
    mechanism: ReportSource,
    reports: ReportData,
    prior: Prior,
    values: Sequence[Any] | None = None,
    *,
    histogram: bool = False,
) -> ScalarEstimate | Estimate:
    """Estimate a sum over the respondents, or their histogram, with the least squared error.

    If the records are independent draws from the prior, Sum_i E[f(X_i) | Y_i = y_i] has the least
    expected squared error of all estimates of Sum_i f(X_i). Given the reports this error is
    Sum_i Var(f(X_i) | y_i), whose root is the standard error; its expectation for one report is the
    posterior mean squared error of the channel. Under another prior the estimate is biased.

    Parameters
    ----------
    mechanism
        A Channel, or a Mechanism of moderate size.
    reports
        As for :func:`estimate`.
    prior
        The distribution of a record.
    values
        ``(n_inputs,)`` numbers f(x), such as an indicator for a survey. Default the inputs
        themselves, if they are numbers.
    histogram
        Whether to estimate the frequencies of all inputs instead.

    Returns
    -------
    ScalarEstimate or Estimate
        The sum over the records; for the histogram an Estimate, whose ``counts`` are the sums.

    Raises
    ------
    InputError
        If the prior or the values do not fit, or a report is impossible under the prior.

    Notes
    -----
    Source: Jiang et al. 2018 (CNS), Section III.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.reports import Tally
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> posterior_mean(warner, Tally.of([60, 40]), Prior([0.5, 0.5]), values=[1, 0])
    posterior mean of the sum = 55 +- 4.33 (standard error), biased, of the respondents, from 100
    reports
    """
    model = ReportModel(mechanism)
    inputs = model.inputs
    if not isinstance(histogram, bool):
        raise InputError("histogram", "true or false", shown(histogram))
    if prior is None:
        raise InputError("prior", f"a Prior of {len(inputs)} probabilities", "none")
    p = reference_distribution(prior, inputs)
    if histogram and values is not None:
        raise InputError("histogram", "values or histogram = true, not both", "both")
    f = None if histogram else numeric_values(inputs, values)
    observed = model.observed(reports)
    deviation = _PosteriorDeviation(_posterior(observed, p), observed.counts)
    n, frequencies = observed.total, deviation.posterior @ observed.counts / observed.total
    common: dict[str, Any] = {
        "reports": n,
        "method": "posterior-mean",
        "unbiased": False,
        "simulated": observed.simulated,
        "target": "respondents",
    }
    if f is not None:
        error = n * float(deviation((f - f.mean())[None, :])[0])  # centered against cancellation
        value = n * float(f @ frequencies)
        return ScalarEstimate("posterior mean of the sum", value, error, **common)
    errors = deviation(np.eye(len(inputs)))
    return Estimate(inputs, frequencies, errors, **common, deviation=deviation, notes=(NOTE,))


@dataclass(frozen=True)
class _PosteriorDeviation:
    """The posterior standard deviations of combinations of the frequencies."""

    posterior: FloatArray
    counts: FloatArray

    def __call__(self, weights: FloatArray) -> FloatArray:
        spread = np.maximum(weights**2 @ self.posterior - (weights @ self.posterior) ** 2, 0.0)
        return np.asarray(np.sqrt(spread @ self.counts) / self.counts.sum())


def _posterior(observed: DistinctReports, p: FloatArray) -> FloatArray:
    """Return P(x|y) for the distinct reports, ``(n_inputs, n_distinct)``."""
    joint = p[:, None] * observed.matrix
    outputs = joint.sum(axis=0)
    if (outputs <= 0).any():
        raise InputError(
            "prior", "a prior under which every report can occur", "one that rules a report out"
        )
    return np.asarray(joint / outputs)
