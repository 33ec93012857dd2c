"""Unbiased estimates from one or more groups of reports: means of scores, with their errors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import InputError, choose
from mechdesign.estimation.least_squares import (
    POPULATION,
    TARGETS,
    ColumnScores,
    reference_distribution,
    standard_error,
)
from mechdesign.estimation.report_models import ReportModel
from mechdesign.mechanisms import Mechanism
from mechdesign.prior import Prior
from mechdesign.reports import Tally

LEAST_VARIANCE = 1e-9
"""Lower limit of variances: without noise, that of an input of probability 0 is 0."""


class Group(NamedTuple):
    """The scores of a group, with its share of the reports and its weights W_g."""

    scores: ColumnScores | Mechanism
    tally: Tally
    share: float
    weights: FloatArray

    def combinations(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the mean squares of the scores of combinations."""
        weights = weights * self.weights
        if isinstance(self.scores, ColumnScores):
            return self.scores.combinations(self.tally, weights)
        pairs = [self.scores.combination(self.tally, row) for row in weights]
        mean, square = np.array(pairs).reshape(-1, 2).T
        return mean, square


class Unbiased:
    """The mean scores of reports; calling it with weights returns standard errors.

    For the population, several channels form one channel that also reports the group: its columns
    are theirs, multiplied by the shares n_g / n of the reports, and the estimate is least squares
    for it. Otherwise the estimate is Sum_g (n_g / n) W_g p_g, input by input, with W_g proportional
    to 1 / Var_g for the population, and 1 for the respondents.
    """

    def __init__(
        self,
        models: Sequence[ReportModel],
        tallies: Sequence[Tally],
        prior: Prior | None,
        target: str,
    ) -> None:
        choose(TARGETS, target, "target")
        self.target, inputs = target, models[0].inputs
        n, simulated = sum(tally.total for tally in tallies), any(t.simulated for t in tallies)
        shares, W = [tally.total / n for tally in tallies], np.ones((len(tallies), len(inputs)))
        self.tally = tallies[0]
        if len(models) > 1:
            counts = np.concatenate([tally.counts for tally in tallies])
            self.tally = Tally(counts, n, simulated)
        pooled = target == POPULATION and len(models) > 1
        matrices = [model.matrix for model in models if model.matrix is not None]
        self._strata = list(zip(shares, matrices, strict=False))
        self._columns: ColumnScores | None = None
        if pooled and len(matrices) == len(models):
            columns = np.hstack([share * Q for share, Q in self._strata])
            self._columns = ColumnScores(columns, reference_distribution(prior, inputs), inputs)
            self.groups = [Group(self._columns, self.tally, 1.0, W[0])]
            return
        scores = [model.scores(prior) for model in models]
        if pooled:
            at = Prior.uniform(len(inputs)) if prior is None else prior
            least = np.maximum(at.array * (1 - at.array), LEAST_VARIANCE)
            W = 1 / np.array([np.maximum(own.variances(at), least) for own in scores])
            W /= np.array(shares) @ W
        self.groups = list(map(Group, scores, tallies, shares, W))

    @property
    def values(self) -> FloatArray:
        """``(n_inputs,)`` estimated frequencies."""
        return self._frequencies[0]

    @cached_property
    def _frequencies(self) -> tuple[FloatArray, FloatArray]:
        """The mean and the mean square of the score of each input."""
        mean, square = np.zeros((2, len(self.groups[0].weights)))
        for group in self.groups:
            found = group.scores.frequencies(group.tally)
            mean += group.share * group.weights * found.estimates
            square += group.share * group.weights**2 * found.squares
        return mean, square

    def scored(self, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the means and mean squares of the scores of combinations.

        One for each row w of ``(n, n_inputs)`` weights; by default for each input.
        """
        if weights is None:
            return self._frequencies
        mean, square = np.zeros((2, len(weights)))
        for group in self.groups:
            own = group.combinations(weights)
            mean += group.share * own[0]
            square += group.share * own[1]
        return mean, square

    def __call__(self, weights: FloatArray | None = None) -> FloatArray:
        """Return the standard errors of combinations; by default of the frequencies."""
        mean, square = self.scored(weights)
        of_mean, truth = self._of_mean(mean, weights), self.truth(weights)
        return standard_error(square, of_mean, truth, self.tally.total)

    def truth(self, weights: FloatArray | None) -> FloatArray | None:
        """Return estimates of Sum_x w_x**2 p_x for the variance of the respondents.

        None for the population, and if they are not estimable: the larger variance of the
        population is used then.
        """
        if self.target == POPULATION:
            return None
        if weights is None:
            return self.values
        try:
            return self.scored(weights**2)[0]
        except InputError:
            return None

    def _of_mean(self, mean: FloatArray, weights: FloatArray | None) -> FloatArray:
        """Return the mean over the groups of the squares of the expected scores."""
        if self._columns is None and len(self.groups) == 1:
            return mean**2
        found, start = 0 * mean, 0
        if self._columns is None:
            for group in self.groups:
                own = group.weights * self.values
                found += group.share * (own if weights is None else weights @ own) ** 2
            return found
        scores = self._columns.scores(np.eye(len(mean)) if weights is None else weights)
        for share, Q in self._strata:  # the estimate is the mean of a score over all groups
            block = scores[:, start : start + Q.shape[1]]
            found += share * (block @ (self.values @ Q)) ** 2
            start += Q.shape[1]
        return found
