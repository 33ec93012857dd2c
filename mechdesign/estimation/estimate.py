"""From reports to the distribution of the inputs: the entry, and the methods by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain
from mechdesign.estimation.counts import (
    Collected,
    Evidence,
    Source,
    check_mechanism,
    evidence_of,
    tally_of,
)
from mechdesign.estimation.estimands import Moments, check_target
from mechdesign.estimation.least_squares import Scores, combinations, scores_of
from mechdesign.estimation.likelihood import Progress, fit, observed_information
from mechdesign.estimation.options import chosen
from mechdesign.estimation.result import Estimate
from mechdesign.prior import Prior
from mechdesign.reports import Tally

__all__ = ["METHODS", "Question", "estimate", "likeliest"]


@dataclass(frozen=True)
class Question:
    """What a method is asked; the attributes are the parameters of :func:`estimate`."""

    mechanism: Source
    reports: Collected
    prior: Prior | None
    target: str
    tolerance: float | None
    progress: Progress | None


def estimate(
    mechanism: Source,
    reports: Collected,
    *,
    method: str = "unbiased",
    prior: Prior | None = None,
    target: str = "population",
    tolerance: float | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate the distribution of the inputs from reports.

    Parameters
    ----------
    mechanism
        The Channel or the Mechanism that they were drawn from.
    reports
        Reports, a Tally, or for a Channel plain counts, one for each output.
    method
        ``"unbiased"``: the mean of a score of each report; for a Channel by generalised least
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
        min(1e-9, 1e-3 / n).
    progress
        For maximum likelihood, called at every step with the number of steps and the gap.

    Raises
    ------
    InputError
        If the reports do not fit the mechanism, or do not determine the distribution.
    UnsupportedError
        If a mechanism is too large for maximum likelihood.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> estimate(warner, [60, 40])
    Estimate(2 inputs, from 100 reports, unbiased, of the population)
    input   frequency  standard error
    yes      0.700000        0.098473
    no       0.300000        0.098473
    """
    check_mechanism(mechanism)
    check_target(target)
    way = chosen(METHODS, method, "method")
    return way(Question(mechanism, reports, prior, target, tolerance, progress))


@dataclass(frozen=True)
class _ScoreDeviation:
    """Standard errors of combinations, from the mean squares of their scores."""

    scores: Scores
    tally: Tally
    target: str

    def __call__(self, weights: FloatArray) -> FloatArray:
        mean, square = combinations(self.scores, self.tally, weights)
        truth, _ = combinations(self.scores, self.tally, weights**2)
        moments = Moments(square, mean**2, truth)
        return np.sqrt(check_target(self.target)(moments, self.tally.total))


@dataclass(frozen=True)
class _InverseDeviation:
    """Standard errors of combinations, from the inverse of the information."""

    law: FloatArray
    inverse: FloatArray
    reports: int
    target: str

    def __call__(self, weights: FloatArray) -> FloatArray:
        unknown = np.isnan(self.inverse.diagonal())
        known = np.where(np.isnan(self.inverse), 0.0, self.inverse)
        square = ((weights @ known) * weights).sum(axis=1)
        square[(weights[:, unknown] != 0).any(axis=1)] = np.nan
        moments = Moments(square, (weights @ self.law) ** 2, weights**2 @ self.law)
        return np.sqrt(check_target(self.target)(moments, self.reports))


def _unbiased(question: Question) -> Estimate:
    tally = tally_of(question.mechanism, question.reports)
    scores = scores_of(question.mechanism, question.prior)
    found = scores.frequencies(tally)
    p = found.estimates
    variance = check_target(question.target)(Moments(found.squares, p**2, p), tally.total)
    return Estimate(
        inputs=question.mechanism.inputs,
        values=p,
        standard_errors=np.sqrt(variance),
        reports=tally.total,
        method="unbiased",
        unbiased=True,
        simulated=tally.simulated,
        target=question.target,
        deviation=_ScoreDeviation(scores, tally, question.target),
    )


def _projected(question: Question) -> Estimate:
    return _unbiased(question).projected()


def _clipped(question: Question) -> Estimate:
    return _unbiased(question).clipped()


def _maximum_likelihood(question: Question) -> Estimate:
    return likeliest(
        evidence_of(question.mechanism, question.reports),
        question.mechanism.inputs,
        target=question.target,
        tolerance=question.tolerance,
        progress=question.progress,
    )


def likeliest(
    evidence: Evidence,
    inputs: Domain,
    *,
    target: str,
    tolerance: float | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """Return the maximum-likelihood estimate, with what proves it and its standard errors."""
    found = fit(evidence, tolerance, progress)
    inverse, inside = observed_information(evidence, found.law, found.slopes)
    deviation = _InverseDeviation(found.law, inverse, evidence.total, target)
    notes = [
        f"log-likelihood within {found.gap:.1e} nats per report of the largest, "
        f"{found.iterations} steps",
        "standard errors from the observed information: approximate",
    ]
    if not inside.any():
        notes[1] = "standard errors are not known: other distributions are as likely"
    elif not inside.all():
        notes.append(f"not known for {int((~inside).sum())} inputs at the boundary")
    return Estimate(
        inputs=inputs,
        values=found.law,
        standard_errors=deviation(np.eye(len(inputs))),
        reports=evidence.total,
        method="maximum-likelihood",
        unbiased=False,
        simulated=evidence.simulated,
        target=target,
        deviation=deviation,
        notes=tuple(notes),
        gap=found.gap,
        iterations=found.iterations,
    )


METHODS: dict[str, Callable[[Question], Estimate]] = {
    "unbiased": _unbiased,
    "maximum-likelihood": _maximum_likelihood,
    "projected": _projected,
    "clipped": _clipped,
}
"""Every method by its word."""
