"""Numbers from reports: unbiased frequencies, means, totals and sums, and posterior means."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.domain import Domain, clean_label
from mechdesign.errors import InputError, UnsupportedError, choose, shown
from mechdesign.estimation.least_squares import TARGETS, reference_distribution, standard_error
from mechdesign.estimation.report_models import ReportData, ReportModel
from mechdesign.estimation.result import Covariance, Estimate, ScalarEstimate
from mechdesign.estimation.unbiased import Unbiased
from mechdesign.exact import as_fraction
from mechdesign.labels import aligned, labels_of, split
from mechdesign.prior import Prior
from mechdesign.reports import Reports, ReportSource, Tally
from mechdesign.text import printable

MOST_DISTINCT = 1 << 14

UNBIASED = 1e-9
"""Tolerance for the bias of readings, relative to the largest reading, due to floats."""


def survey(
    mechanism: ReportSource,
    reports: ReportData,
    value: Any,
    *,
    prior: Prior | None = None,
    target: str = "population",
) -> ScalarEstimate:
    """Return an unbiased estimate of the frequency of an input or of a set of inputs.

    Parameters
    ----------
    mechanism, reports, prior, target
        As for :func:`estimate`.
    value
        An input label, or a list or set of them.

    Raises
    ------
    InputError
        If a label is not in the domain, or the reports do not determine the frequency: the
        indicator must be a combination of columns of the channel.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> survey(warner, Tally.of([60, 40]), "yes")
    frequency of 'yes' = 0.7 +- 0.0985 (standard error), unbiased, of the population, from 100
    reports
    """
    model = ReportModel(mechanism)
    inputs = model.inputs
    labels = _labels(inputs, value)
    weights = np.zeros(len(inputs))
    for label in labels:
        weights[inputs.index(label, "value")] = 1.0
    named = ", ".join(repr(printable(x)) if isinstance(x, str) else repr(x) for x in labels[:4])
    quantity = f"frequency of {named}{', ...' if len(labels) > 4 else ''}"
    return _weighted(quantity, _asked(model, reports, prior, target), weights)


def mean(
    mechanism: ReportSource,
    reports: ReportData,
    values: Sequence[Any] | None = None,
    *,
    prior: Prior | None = None,
    target: str = "population",
    readings: Sequence[Any] | None = None,
) -> ScalarEstimate:
    """Return an unbiased estimate of the mean of numbers f(x): Sum_x f_x p_x.

    Parameters
    ----------
    mechanism, reports, prior, target
        As for :func:`estimate`.
    values
        ``(n_inputs,)`` numbers f(x); default the inputs themselves, if they are numbers.
    readings
        For a channel, ``(n_outputs,)`` numbers whose mean at each input is f(x), such as the
        ``decoder`` of a solution for :class:`~mechdesign.utilities.UnbiasedVariance`. By default
        those of least variance at the prior. For a continuous channel they are unbiased for the
        number, and the error is that of the population, as numbers vary within cells.

    Raises
    ------
    InputError
        If the values are invalid, the reports do not determine the mean, or the readings are biased
        for these values.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> mean(warner, Tally.of([60, 40]), target="respondents")
    mean = 0.3 +- 0.0866 (standard error), unbiased, of the respondents, from 100 reports
    """
    model = ReportModel(mechanism)
    weights = numeric_values(model.inputs, values)
    choose(TARGETS, target, "target")
    v = None if readings is None else _readings(mechanism, readings, weights)
    if v is not None and isinstance(mechanism, ContinuousChannel):
        target = "population"
    return _weighted("mean", _asked(model, reports, prior, target), weights, v)


def total(
    mechanism: ReportSource,
    reports: ReportData,
    values: Sequence[Any] | None = None,
    *,
    prior: Prior | None = None,
    target: str = "population",
) -> ScalarEstimate:
    """Return an unbiased estimate of the sum of f over the records: n times the mean.

    Parameters and exceptions are those of :func:`mean`.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> total(warner, Tally.of([60, 40])).value
    30.0
    """
    found = mean(mechanism, reports, values, prior=prior, target=target)
    value, error = (found.reports * v for v in (found.value, found.standard_error))
    return replace(found, quantity="total", value=value, standard_error=error)


def weighted_sum(
    mechanism: ReportSource,
    reports: ReportData,
    weights: Iterable[Any],
    values: Sequence[Any] | None = None,
    *,
    prior: Prior | None = None,
    target: str = "population",
) -> ScalarEstimate:
    """Return an unbiased estimate of Sum_i c_i f(X_i) with a weight c_i for each record.

    The estimate is Sum_i c_i s(Y_i) with the score s of f. For the respondents its variance is
    Sum_i c_i**2 Var(s(Y_i) | X_i).

    Parameters
    ----------
    mechanism, values, prior, target
        As for :func:`mean`.
    reports
        The reports; counts do not suffice, as the order of the records matters.
    weights
        ``(n_reports,)`` numbers c_i, in the order of the reports.

    Raises
    ------
    InputError
        If the weights do not fit the reports, or the reports do not determine the sum.
    UnsupportedError
        If there are more than 16,384 distinct reports of a structured mechanism.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> reports = Reports(np.array([0, 1, 1]), warner.alphabet, simulated=False)
    >>> weighted_sum(warner, reports, [1, 2, 2]).value
    5.5
    """
    model = ReportModel(mechanism)
    f = numeric_values(model.inputs, values)
    sent = model.as_reports(reports)
    if isinstance(sent, Tally):
        raise InputError("reports", "the Reports, one for each weight", type(reports).__name__)
    asked = _asked(model, sent, prior, target)
    c = _numbers("weights", weights, len(sent), "report")
    s, truth = _scores_of_reports(asked, mechanism, sent, f), None
    if asked.truth(f[None, :]) is not None:
        truth = _scores_of_reports(asked, mechanism, sent, f**2)
    size, n = c**2, len(sent)
    of_mean = np.array([size.sum() * s.mean() ** 2])
    known = None if truth is None else np.array([size @ truth])
    error = math.sqrt(n) * float(standard_error(np.array([size @ s**2]), of_mean, known, n)[0])
    return _scalar_estimate("weighted sum", float(c @ s), error, asked.tally, target)


def numeric_values(inputs: Domain, values: Sequence[Any] | None) -> FloatArray:
    """Return one number for each input, by default the inputs themselves, or raise InputError."""
    if values is None:
        if inputs.numbers is None:
            raise InputError("values", "one number for each input, which are labels", "none")
        values = inputs.numbers
    given: Any = values
    if labels_of(values, "values") is not None:
        given = aligned(*split(values, "values", "numbers"), inputs.labels, "values")
    return _numbers("values", given, len(inputs), "input")


def _numbers(key: str, given: Any, size: int, what: str) -> FloatArray:
    """Return numbers as an array of the given size."""
    if isinstance(given, np.ndarray) and given.dtype.kind in "iuf":
        array = given.astype(np.float64)
    else:
        listed, _ = split(given, key, f"{size} numbers, one for each {what}")
        array = np.array([float(as_fraction(v, f"{key}[{i}]")) for i, v in enumerate(listed)])
    if array.shape != (size,):
        raise InputError(key, f"{size} numbers, one for each {what}", f"shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(key, "finite numbers", "nan or infinity")
    return array


def _labels(inputs: Domain, value: Any) -> list[Any]:
    """Return a label, or a collection of labels, as a list."""
    single = isinstance(value, Hashable) and value in inputs.labels
    if not single and isinstance(value, list | tuple | set | frozenset) and value:
        return list(dict.fromkeys(clean_label(label, "value") for label in value))
    return [value]


def _weighted(
    quantity: str, asked: Unbiased, weights: FloatArray, readings: FloatArray | None = None
) -> ScalarEstimate:
    """Return the mean score, or the mean reading, of the reports."""
    if readings is None:
        mean, square = asked.scored(weights[None, :])
    else:
        h = asked.tally.counts / asked.tally.total
        mean, square = np.array([h @ readings]), np.array([h @ readings**2])
    truth = asked.truth(weights[None, :])
    error = standard_error(square, mean**2, truth, asked.tally.total)
    return _scalar_estimate(quantity, float(mean[0]), float(error[0]), asked.tally, asked.target)


def _asked(model: ReportModel, reports: ReportData, prior: Prior | None, target: str) -> Unbiased:
    return Unbiased([model], [model.tally(reports)], prior, target)


def _readings(mechanism: ReportSource, readings: Sequence[Any], weights: FloatArray) -> FloatArray:
    """Return the readings of a channel as floats, or raise InputError if they are biased."""
    channel = mechanism.nodes if isinstance(mechanism, ContinuousChannel) else mechanism
    if not isinstance(channel, Channel):
        raise InputError("readings", "a Channel that they belong to", type(mechanism).__name__)
    v = _numbers("readings", readings, len(channel.outputs), "output")
    off = float(np.abs(channel.matrix @ v - weights).max())
    if off > UNBIASED * float(np.abs(v).max()):
        raise InputError("readings", "numbers whose mean at each input is its value", "others")
    return v


def _scores_of_reports(
    asked: Unbiased, mechanism: ReportSource, reports: Reports, weights: FloatArray
) -> FloatArray:
    """Return the score of each report."""
    distinct, place = np.unique(reports.data, axis=0, return_inverse=True)
    if len(distinct) > MOST_DISTINCT:
        raise UnsupportedError(
            "reports",
            f"at most {MOST_DISTINCT} different reports",
            len(distinct),
            "sum the totals of the groups with one weight instead",
        )
    single = [distinct[n : n + 1] for n in range(len(distinct))]
    tallies = [mechanism.tally(replace(reports, data=data, digest=None)) for data in single]
    (group,) = asked.groups
    found = [group._replace(tally=one).combinations(weights[None, :])[0][0] for one in tallies]
    return np.array(found)[place.ravel()]


def _scalar_estimate(
    quantity: str, value: float, error: float, tally: Tally, target: str
) -> ScalarEstimate:
    return ScalarEstimate(
        quantity, value, error, tally.total, "unbiased", True, tally.simulated, target
    )


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
    joint = p[:, None] * observed.matrix
    n, outputs = observed.total, joint.sum(axis=0)
    if (outputs <= 0).any():
        expected = "a prior under which every report can occur"
        raise InputError("prior", expected, "one that rules a report out")
    posterior = joint / outputs
    frequencies = posterior @ observed.shares
    spread = np.diag(frequencies) - (posterior * observed.shares) @ posterior.T
    deviation = Covariance(spread / n)
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
