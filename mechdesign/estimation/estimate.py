"""Distribution estimation from reports: the entry point, and the registry of its methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.continuous import ContinuousChannel
from mechdesign.domain import Domain
from mechdesign.errors import InputError, choose
from mechdesign.estimation.continuous.histogram import ContinuousEstimate
from mechdesign.estimation.estimands import Moments, check_target
from mechdesign.estimation.likelihood import Progress, fit, observed_information
from mechdesign.estimation.report_models import (
    DistinctReports,
    ReportData,
    ReportModel,
    model_of,
    undigested,
)
from mechdesign.estimation.result import Deviation, Estimate
from mechdesign.estimation.scores import Scores
from mechdesign.prior import Prior, prior_on
from mechdesign.reports import ReportSource, Tally

__all__ = ["METHODS", "EstimationTask", "estimate"]


@dataclass(frozen=True)
class EstimationTask(ABC):
    """The target, the data and the options of an estimate: the parameters of a method."""

    inputs: Domain
    prior: Prior | None
    target: str
    tolerance: float | None
    progress: Progress | None

    @abstractmethod
    def unbiased(self) -> Estimate:
        """Return the unbiased estimate."""

    @abstractmethod
    def observed(self) -> DistinctReports:
        """Return the distinct reports, with their counts and likelihoods."""

    def maximum_likelihood(self) -> Estimate:
        """Return the maximum-likelihood estimate, with its optimality gap and standard errors."""
        observed = self.observed()
        found = fit(observed, self.tolerance, self.progress)
        deviation: Deviation = _unknown
        notes = [
            f"log-likelihood within {found.gap:.1e} nats per report of the largest, "
            f"{found.iterations} steps",
            "standard errors are not known for so many inputs",
        ]
        if observed.is_written:
            inverse, inside = observed_information(observed, found.distribution, found.gradient)
            deviation = _InverseDeviation(found.distribution, inverse, observed.total, self.target)
            notes[1] = "standard errors from the observed information: approximate"
            if not inside.any():
                notes[1] = "standard errors are not known: other distributions are as likely"
            elif not inside.all():
                notes.append(f"not known for {int((~inside).sum())} inputs at the boundary")
        k = len(self.inputs)
        errors = deviation(np.eye(k)) if observed.is_written else np.full(k, np.nan)
        return Estimate(
            inputs=self.inputs,
            values=found.distribution,
            standard_errors=errors,
            reports=observed.total,
            method="maximum-likelihood",
            unbiased=False,
            simulated=observed.simulated,
            target=self.target,
            deviation=deviation,
            notes=tuple(notes),
            gap=found.gap,
            iterations=found.iterations,
        )


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

    A note warns where most values are below their standard error.

    Parameters
    ----------
    mechanism
        The Channel, the Mechanism or the ContinuousChannel that they were drawn from. For a channel
        of points the estimate is of its nodes; for one of numbers it is a
        :class:`~mechdesign.estimation.ContinuousEstimate`, over its cells or nodes.
    reports
        Reports, a Tally of them, or what else holds a report for each record: a list, a NumPy
        array, an Arrow array, a column of pandas or Polars.
    counts
        In place of the reports of a Channel, how often each output was sent: in the order of the
        outputs, or by output, as a dict or ``value_counts()`` of pandas.
    method
        ``"unbiased"``: the mean of a score of each report; for a Channel by generalized least
        squares, M**-1 Q Lambda**-1 h. ``"maximum-likelihood"``: the distribution under which the
        reports are likeliest. ``"projected"``: the distribution nearest to the unbiased estimate.
        ``"clipped"``: its positive parts, scaled to sum to 1. All but the first are biased.
    prior
        For a Channel, a guess of the distribution at which the variance of the unbiased estimate
        is to be least; default uniform. It stays unbiased whatever the guess.
    target
        ``"population"`` if the records are an independent sample of what is estimated;
        ``"respondents"`` if it is the frequencies among these records. Only the standard errors
        differ.
    tolerance
        For maximum likelihood, the gap to stop at, in nats per report; default
        min(1e-9, 1e-3 / n), and 1e-2 for noise on more inputs than a matrix is written out for.
    progress
        For maximum likelihood, called at every step with the number of steps and the gap.
    check
        Whether reports are refused that state another channel, by its digest, or that no
        distribution of the inputs explains under this one: of reports that the channel drew at most
        one collection in a million, whatever the records are. Structured mechanisms with more than
        2**18 expected counts are not tested so.

    Raises
    ------
    InputError
        If the reports do not fit the mechanism, or do not determine the distribution.

    Notes
    -----
    Without a digest only what no records explain can be refused. The reports of a channel whose
    categories are permuted, and those of one that is this one with noise added, are explained by
    other records.
    UnsupportedError
        If a mechanism is too large for maximum likelihood.

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
    model = model_of(mechanism)
    check_target(target)
    prior = None if prior is None else prior_on(prior, model.inputs)
    estimator = choose(METHODS, method, "method")
    if (reports is None) == (counts is None):
        given = "neither" if counts is None else "both"
        raise InputError("reports", "reports, or counts in place of them", given)
    if counts is not None:
        reports = model.read_counts(counts)
    reports = model.checked(reports) if check else undigested(reports)
    task = SourceTask(model.inputs, prior, target, tolerance, progress, model, reports)
    found = estimator(task)
    below = int((abs(found.values) < found.standard_errors).sum())
    if 2 * below > len(found.values):
        told = f"{below} of {len(found.values)} values are below their standard error"
        found = replace(found, notes=(*found.notes, f"{told}: collect more, or merge inputs"))
    if isinstance(mechanism, ContinuousChannel) and len(mechanism.sides) == 1:
        return ContinuousEstimate.of(found, mechanism)
    return found


@dataclass(frozen=True)
class _ScoreDeviation:
    """Standard errors of combinations, from the mean squares of their scores."""

    scores: Scores
    tally: Tally
    target: str

    def __call__(self, weights: FloatArray) -> FloatArray:
        mean, square = self.scores.combinations(self.tally, weights)
        truth, _ = self.scores.combinations(self.tally, weights**2)
        moments = Moments(square, mean**2, truth)
        return np.sqrt(check_target(self.target)(moments, self.tally.total))


def _unknown(weights: FloatArray) -> FloatArray:
    """Return standard errors that are not known."""
    return np.full(len(weights), np.nan)


@dataclass(frozen=True)
class _InverseDeviation:
    """Standard errors of combinations, from the inverse of the observed information."""

    p: FloatArray
    inverse: FloatArray
    reports: int
    target: str

    def __call__(self, weights: FloatArray) -> FloatArray:
        unknown = np.isnan(self.inverse.diagonal())
        known = np.where(np.isnan(self.inverse), 0.0, self.inverse)
        square = ((weights @ known) * weights).sum(axis=1)
        square[(weights[:, unknown] != 0).any(axis=1)] = np.nan
        moments = Moments(square, (weights @ self.p) ** 2, weights**2 @ self.p)
        return np.sqrt(check_target(self.target)(moments, self.reports))


@dataclass(frozen=True)
class SourceTask(EstimationTask):
    """Reports of one channel or mechanism."""

    model: ReportModel
    reports: ReportData

    def unbiased(self) -> Estimate:
        """Return the mean scores of the reports."""
        tally, scores = self.model.tally(self.reports), self.model.scores(self.prior)
        found = scores.frequencies(tally)
        p = found.estimates
        variance = check_target(self.target)(Moments(found.squares, p**2, p), tally.total)
        return Estimate(
            inputs=self.inputs,
            values=p,
            standard_errors=np.sqrt(variance),
            reports=tally.total,
            method="unbiased",
            unbiased=True,
            simulated=tally.simulated,
            target=self.target,
            deviation=_ScoreDeviation(scores, tally, self.target),
        )

    def observed(self) -> DistinctReports:
        """Return the distinct reports of the model."""
        return self.model.observed(self.reports)


METHODS: dict[str, Callable[[EstimationTask], Estimate]] = {
    "unbiased": lambda task: task.unbiased(),
    "maximum-likelihood": lambda task: task.maximum_likelihood(),
    "projected": lambda task: task.unbiased().projected(),
    "clipped": lambda task: task.unbiased().clipped(),
}
"""Every method by its name."""
