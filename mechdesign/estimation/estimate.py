"""Distribution estimation from the reports of one or more groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.continuous import ContinuousChannel
from mechdesign.domain import Domain
from mechdesign.errors import InputError, choose, shown
from mechdesign.estimation.least_squares import POPULATION, TARGETS
from mechdesign.estimation.likelihood import Fit, Progress, fit, observed_information
from mechdesign.estimation.report_models import DistinctReports, ReportData, ReportModel
from mechdesign.estimation.result import Covariance, Deviation, Estimate
from mechdesign.estimation.unbiased import Unbiased
from mechdesign.prior import Prior, prior_on
from mechdesign.reports import ReportSource

METHODS = {
    "unbiased": "the mean of a score of each report",
    "maximum-likelihood": "the distribution under which the reports are likeliest",
    "projected": "the distribution nearest to the unbiased estimate",
    "clipped": "the positive parts of the unbiased estimate, scaled to sum to 1",
}
"""Descriptions of the methods by name."""


def estimate(
    mechanism: ReportSource,
    reports: ReportData = None,
    *,
    counts: Any = None,
    method: str = "unbiased",
    prior: Prior | None = None,
    target: str = "population",
    tolerance: float | None = None,
    progress: Progress | None = None,
    check: bool = True,
) -> Estimate:
    """Estimate the distribution of the inputs from reports.

    A note is added if most values are below their standard error.

    Parameters
    ----------
    mechanism
        The Channel, Mechanism or ContinuousChannel that the reports were drawn from. For a channel
        on points or numbers the estimate is over its nodes or cells.
    reports
        Reports, a Tally of them, or one report per record in a list, a NumPy or Arrow array, or a
        column of pandas or Polars.
    counts
        Instead of the reports of a Channel, the count of each output: in the order of the outputs,
        or by output, as a dict or ``value_counts()`` of pandas.
    method
        ``"unbiased"``: the mean of a score of each report; for a Channel by generalized least
        squares, M**-1 Q Lambda**-1 h. ``"maximum-likelihood"``: the distribution that maximizes the
        likelihood. ``"projected"``: the distribution nearest to the unbiased estimate.
        ``"clipped"``: its positive parts, scaled to sum to 1. All but the first are biased.
    prior
        For a Channel, a guess of the distribution at which the unbiased estimate has minimal
        variance; default uniform. The estimate is unbiased for any guess.
    target
        ``"population"`` if the records are an independent sample of the estimated distribution;
        ``"respondents"`` to estimate the frequencies among these records. Only the standard errors
        differ.
    tolerance
        For maximum likelihood, the gap to stop at, in nats per report; default
        min(1e-9, 1e-3 / n), and 1e-2 if there are too many inputs for a matrix.
    progress
        For maximum likelihood, called at every step with the number of steps and the gap.
    check
        Whether to reject reports that state another channel by its digest, or that are inconsistent
        with every distribution of the inputs under this one. The test rejects at most one in a
        million collections drawn by the channel, for any records. It is skipped for structured
        mechanisms with more than 2**18 expected counts.

    Raises
    ------
    InputError
        If the reports do not fit the mechanism, or do not determine the distribution.
    UnsupportedError
        If a mechanism is too large for maximum likelihood.

    Notes
    -----
    Without a digest, reports of another channel can be rejected only if no records are consistent
    with them. Reports of a channel with permuted categories, and reports with added noise, are
    consistent with other records.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> estimate(warner, counts=[60, 40])
    Estimate(2 inputs, from 100 reports, unbiased, of the population)
    input   frequency  standard error
    yes      0.700000        0.098473
    no       0.300000        0.098473
    """
    model = ReportModel(mechanism)
    choose(TARGETS, target, "target")
    choose(METHODS, method, "method")
    if (reports is None) == (counts is None):
        given = "neither" if counts is None else "both"
        raise InputError("reports", "reports, or counts in place of them", given)
    if counts is not None:
        reports = model.read_counts(counts)
    reports = model.checked(reports, check)
    found = _estimated([model], [reports], method, prior, target, tolerance, progress)
    below = int((abs(found.values) < found.standard_errors).sum())
    if 2 * below > len(found.values):
        told = f"{below} of {len(found.values)} values are below their standard error"
        found = replace(found, notes=(*found.notes, f"{told}: collect more, or merge inputs"))
    if isinstance(mechanism, ContinuousChannel) and len(mechanism.sides) == 1:
        return replace(found, numbers=mechanism)
    return found


def estimate_groups(
    groups: Sequence[tuple[ReportSource, ReportData]],
    *,
    method: str = "unbiased",
    prior: Prior | None = None,
    target: str = "population",
    tolerance: float | None = None,
    progress: Progress | None = None,
    check: bool = True,
) -> Estimate:
    """Estimate one distribution from groups whose reports come from different mechanisms.

    For the population, every group must be a sample: the assignment to groups must not depend on
    the records. For channels the estimate is least squares on all reports at once,

        (Sum_g n_g M_g)**-1 Sum_g n_g Q_g Lambda_g**-1 h_g

    which also uses groups that do not determine the distribution alone. If a mechanism is
    structured, each group must determine it, and the groups' estimates of each input are averaged
    with weights n_g / Var_g. The weights depend on the reference distribution only, not on the
    reports, so the result is unbiased.

    For the respondents, the frequencies of the groups are averaged by size: Sum_g (n_g / n) p_g.
    Then the groups are independent.

    Parameters
    ----------
    groups
        Pairs of a mechanism and its reports, all on the same domain.
    method
        ``"unbiased"``, ``"maximum-likelihood"`` (over all groups at once), ``"projected"`` or
        ``"clipped"``.
    prior
        The reference distribution; default uniform.
    target
        ``"population"`` or ``"respondents"``; maximum likelihood estimates the population only.
    tolerance, progress, check
        As for :func:`estimate`.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.reports import Tally
    >>> careful = Channel.from_matrix([["3/5", "2/5"], ["2/5", "3/5"]])
    >>> open_ = Channel.from_matrix([["9/10", "1/10"], ["1/10", "9/10"]])
    >>> estimate_groups([(careful, Tally.of([60, 40])), (open_, Tally.of([70, 30]))])
    Estimate(2 inputs, from 200 reports, unbiased, of the population)
    input   frequency  standard error
    0        0.764706        0.055396
    1        0.235294        0.055396
    """
    choose(TARGETS, target, "target")
    choose(METHODS, method, "method")
    models, reports = _models(groups)
    for g, model in enumerate(models):
        try:
            reports[g] = model.checked(reports[g], check)
        except InputError as error:
            raise error.inside_file(f"groups[{g}]") from None
    return _estimated(models, reports, method, prior, target, tolerance, progress)


def _models(groups: Any) -> tuple[list[ReportModel], list[ReportData]]:
    """Return the models and the reports of the groups, all on one domain."""
    if not isinstance(groups, Sequence) or len(groups) == 0:
        raise InputError("groups", "a list of pairs (mechanism, reports)", shown(groups))
    if any(not isinstance(group, tuple | list) or len(group) != 2 for group in groups):
        raise InputError("groups", "pairs (mechanism, reports)", "something else")
    models = [ReportModel(mechanism) for mechanism, _ in groups]
    for g, model in enumerate(models):
        if model.inputs != models[0].inputs:
            expected = f"a mechanism on {models[0].inputs!r}"
            raise InputError(f"groups[{g}]", expected, f"one on {model.inputs!r}")
    return models, [reports for _, reports in groups]


def _estimated(
    models: Sequence[ReportModel],
    reports: Sequence[ReportData],
    method: str,
    prior: Prior | None,
    target: str,
    tolerance: float | None,
    progress: Progress | None,
) -> Estimate:
    """Return the estimate from checked reports of one or more groups."""
    prior = None if prior is None else prior_on(prior, models[0].inputs)
    if method == "maximum-likelihood":
        observed = _observed(models, reports, target)
        return _likeliest(models[0].inputs, observed, fit(observed, tolerance, progress), target)
    tallies = [model.tally(given) for model, given in zip(models, reports, strict=True)]
    found = Unbiased(models, tallies, prior, target)
    made = Estimate(
        inputs=models[0].inputs,
        values=found.values,
        standard_errors=found(),
        reports=found.tally.total,
        method="unbiased",
        unbiased=True,
        simulated=found.tally.simulated,
        target=target,
        deviation=found,
    )
    if method == "unbiased":
        return made
    return made.projected() if method == "projected" else made.clipped()


def _observed(
    models: Sequence[ReportModel], reports: Sequence[ReportData], target: str
) -> DistinctReports:
    """Return the distinct reports of all groups, with their counts and likelihoods."""
    each = [model.observed(given) for model, given in zip(models, reports, strict=True)]
    if len(each) == 1:
        return each[0]
    if target != POPULATION:
        expected = "'population' for maximum likelihood of several groups"
        raise InputError("target", expected, "'respondents'")
    return DistinctReports(
        np.hstack([one.matrix for one in each]),
        np.concatenate([one.counts for one in each]),
        any(one.simulated for one in each),
    )


def _likeliest(inputs: Domain, observed: DistinctReports, found: Fit, target: str) -> Estimate:
    """Return the maximum-likelihood estimate, with its optimality gap and standard errors."""
    deviation: Deviation = _unknown
    errors = np.full(len(inputs), np.nan)
    notes = [
        f"log-likelihood within {found.gap:.1e} nats per report of the largest, "
        f"{found.iterations} steps",
        "standard errors are not known for so many inputs",
    ]
    if observed.is_written:
        inverse, inside = observed_information(observed, found.distribution, found.gradient)
        notes[1] = "standard errors from the observed information: approximate"
        if not inside.any():
            notes[1] = "standard errors are not known: other distributions are as likely"
        elif not inside.all():
            notes.append(f"not known for {int((~inside).sum())} inputs at the boundary")
        p, freedom = found.distribution, observed.total - (target == POPULATION)
        center = np.outer(p, p) if target == POPULATION else np.diag(p)
        deviation = Covariance((inverse - center) / (freedom or np.nan))
        errors = deviation(np.eye(len(inputs)))
    return Estimate(
        inputs=inputs,
        values=found.distribution,
        standard_errors=errors,
        reports=observed.total,
        method="maximum-likelihood",
        unbiased=False,
        simulated=observed.simulated,
        target=target,
        deviation=deviation,
        notes=tuple(notes),
        gap=found.gap,
        iterations=found.iterations,
    )


def _unknown(weights: FloatArray) -> FloatArray:
    """Return NaN for each standard error."""
    return np.full(len(weights), np.nan)
