"""Pooled estimates of several groups: joint least squares, or inverse-variance averages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain
from mechdesign.estimation.estimands import Moments, check_target
from mechdesign.estimation.least_squares import ColumnScores, reference_distribution
from mechdesign.estimation.report_models import ReportModel
from mechdesign.prior import Prior
from mechdesign.reports import Tally

__all__ = ["POOLED_TARGETS", "InverseVarianceAverage", "JointLeastSquares", "PooledEstimate"]


POOLED_TARGETS = {"population"}
"""Targets for which the reports of all groups estimate one distribution."""

LEAST_VARIANCE = 1e-9
"""Weights are no larger than those of it: without noise, an input of probability 0 has none."""


class PooledEstimate(ABC):
    """Unbiased frequencies from several groups; called with weights, it returns standard errors.

    Attributes
    ----------
    tally
        The reports of all groups.
    values
        ``(n_inputs,)`` the frequencies.
    """

    target: str
    tally: Tally
    values: FloatArray

    @abstractmethod
    def _moments(self, weights: FloatArray) -> Moments:
        """Return the moments of the scores of combinations, one for each row of weights."""

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Return standard errors of combinations."""
        return self._errors(self._moments(weights))

    def errors(self) -> FloatArray:
        """Return the standard errors of the frequencies."""
        return self(np.eye(len(self.values)))

    def _errors(self, moments: Moments) -> FloatArray:
        return np.sqrt(check_target(self.target)(moments, self.tally.total))


class JointLeastSquares(PooledEstimate):
    """Generalized least squares on the reports of all channels at once.

    Side by side, each times its share n_g / n of the reports, their columns are those of one
    channel that also reports the group; the scores of that channel are averaged. Within a group the
    mean of a score is not what is estimated, so the variance is
    Sum_g (n_g / n) (E_g s**2 - (E_g s)**2), with E_g s from the estimate itself.
    """

    def __init__(
        self,
        inputs: Domain,
        matrices: Sequence[FloatArray],
        tallies: Sequence[Tally],
        prior: Prior | None,
        target: str,
    ) -> None:
        self.target = target
        self.tally = Tally(
            np.concatenate([tally.counts for tally in tallies]),
            sum(tally.total for tally in tallies),
            any(tally.simulated for tally in tallies),
        )
        self.matrices = matrices
        self.shares = [tally.total / self.tally.total for tally in tallies]
        columns = np.hstack([n * Q for n, Q in zip(self.shares, matrices, strict=True)])
        self.scores = ColumnScores(columns, reference_distribution(prior, inputs), inputs)
        self.values = self.scores.frequencies(self.tally).estimates

    def _moments(self, weights: FloatArray) -> Moments:
        scores = self.scores.information.scores(weights)
        square = scores**2 @ (self.tally.counts / self.tally.total)
        of_mean, start = np.zeros(len(weights)), 0
        for share, Q in zip(self.shares, self.matrices, strict=True):
            own = scores[:, start : start + Q.shape[1]]
            of_mean += share * (own @ (self.values @ Q)) ** 2
            start += Q.shape[1]
        # the last moment is for the respondents, whom these scores do not estimate
        return Moments(square, of_mean, np.zeros(len(weights)))


class InverseVarianceAverage(PooledEstimate):
    """Weighted averages of the groups' own estimates: Sum_g (n_g / n) W_g p_g, input by input.

    Of the population W_g is in proportion to 1 / Var_g; of the respondents it is 1.
    """

    def __init__(
        self,
        models: Sequence[ReportModel],
        tallies: Sequence[Tally],
        prior: Prior | None,
        target: str,
    ) -> None:
        k = len(models[0].inputs)
        self.target = target
        n = sum(tally.total for tally in tallies)
        self.tally = Tally(np.zeros(0, dtype=np.int64), n, any(t.simulated for t in tallies))
        scores = [model.scores(prior) for model in models]
        shares = [tally.total / n for tally in tallies]
        weights = np.ones((len(tallies), k))
        if target in POOLED_TARGETS:
            reference = reference_distribution(prior, models[0].inputs)
            variances = np.array([own.variances(reference) for own in scores])
            weights = 1 / np.maximum(variances, LEAST_VARIANCE)
            weights /= np.array(shares) @ weights
        self.groups = list(zip(scores, tallies, shares, weights, strict=True))
        self.found = [own.frequencies(tally) for own, tally, _, _ in self.groups]
        self.values = np.zeros(k)
        for found, (_, _, share, W) in zip(self.found, self.groups, strict=True):
            self.values += share * W * found.estimates

    def _moments(self, weights: FloatArray) -> Moments:
        square, of_mean, truth = (np.zeros(len(weights)) for _ in range(3))
        for scores, tally, share, W in self.groups:
            own = weights * W
            square += share * scores.combinations(tally, own)[1]
            of_mean += share * (own @ self.values) ** 2
            truth += share * scores.combinations(tally, own**2)[0]
        return Moments(square, of_mean, truth)

    def errors(self) -> FloatArray:
        """Return the standard errors of the frequencies, whose scores come in bulk."""
        square, of_mean, truth = (np.zeros(len(self.values)) for _ in range(3))
        for found, (_, _, share, W) in zip(self.found, self.groups, strict=True):
            square += share * W**2 * found.squares
            of_mean += share * (W * self.values) ** 2
            truth += share * W**2 * found.estimates
        return self._errors(Moments(square, of_mean, truth))
