"""One distribution from several groups of respondents, each with a mechanism of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign.errors import InputError, choose, shown
from mechdesign.estimation.estimands import check_target
from mechdesign.estimation.estimate import METHODS, EstimationTask
from mechdesign.estimation.likelihood import Progress
from mechdesign.estimation.pooling import (
    POOLED_TARGETS,
    InverseVarianceAverage,
    JointLeastSquares,
    PooledEstimate,
)
from mechdesign.estimation.report_models import (
    DistinctReports,
    ReportData,
    ReportModel,
    model_of,
    undigested,
)
from mechdesign.estimation.result import Estimate
from mechdesign.prior import Prior, prior_on
from mechdesign.reports import ReportSource, Tally

__all__ = ["GROUP_METHODS", "estimate_groups"]

GROUP_METHODS = METHODS
"""Every method by its name: those of one mechanism serve several."""


@dataclass(frozen=True)
class GroupTask(EstimationTask):
    """Reports of several groups, each with a channel or mechanism of its own."""

    models: list[ReportModel]
    reports: list[ReportData]

    def tallies(self) -> list[Tally]:
        """Return the counts of each group."""
        found = []
        for g, (model, reports) in enumerate(zip(self.models, self.reports, strict=True)):
            try:
                found.append(model.tally(reports))
            except InputError as error:
                raise error.inside_file(f"groups[{g}]") from None
        return found

    def unbiased(self) -> Estimate:
        """Return least squares on all reports, or the weighted average of the groups' estimates."""
        tallies, prior, target = self.tallies(), self.prior, self.target
        matrices = [matrix for model in self.models if (matrix := model.matrix) is not None]
        found: PooledEstimate
        if len(matrices) == len(tallies) and target in POOLED_TARGETS:
            found = JointLeastSquares(self.inputs, matrices, tallies, prior, target)
        else:
            found = InverseVarianceAverage(self.models, tallies, prior, target)
        return Estimate(
            inputs=self.inputs,
            values=found.values,
            standard_errors=found.errors(),
            reports=found.tally.total,
            method="unbiased",
            unbiased=True,
            simulated=found.tally.simulated,
            target=target,
            deviation=found,
        )

    def observed(self) -> DistinctReports:
        """Return the distinct reports of all groups, for the population."""
        if self.target not in POOLED_TARGETS:
            raise InputError(
                "target", "'population' for maximum likelihood of several groups", "'respondents'"
            )
        pairs = zip(self.models, self.reports, strict=True)
        each = [model.distinct(reports) for model, reports in pairs]
        return DistinctReports(
            np.hstack([one.matrix for one in each]),
            np.concatenate([one.counts for one in each]),
            any(one.simulated for one in each),
        )


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

    For the population, every group must be a sample: who is in which group may not depend on the
    records. For channels the estimate is least squares on all reports at once,

        (Sum_g n_g M_g)**-1 Sum_g n_g Q_g Lambda_g**-1 h_g

    to which even a group contributes that alone does not determine the distribution. Where a
    mechanism is structured, each group must determine it, and the groups' estimates of each input
    are averaged with weights n_g / Var_g. Both are computed at the reference distribution before
    any report is seen, so the result is unbiased whatever the truth.

    For the respondents, the groups' own frequencies count by size: Sum_g (n_g / n) p_g. Then no
    group depends on another.

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

    Raises
    ------
    InputError
        If the groups are on different domains, or a parameter is out of range.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> careful = Channel.from_matrix([["3/5", "2/5"], ["2/5", "3/5"]])
    >>> open_ = Channel.from_matrix([["9/10", "1/10"], ["1/10", "9/10"]])
    >>> estimate_groups([(careful, Tally.of([60, 40])), (open_, Tally.of([70, 30]))])
    Estimate(2 inputs, from 200 reports, unbiased, of the population)
    input   frequency  standard error
    0        0.764706        0.055396
    1        0.235294        0.055396
    """
    check_target(target)
    estimator = choose(METHODS, method, "method")
    models, reports = _models(groups)
    for g, model in enumerate(models):
        try:
            reports[g] = model.checked(reports[g]) if check else undigested(reports[g])
        except InputError as error:
            raise error.inside_file(f"groups[{g}]") from None
    prior = None if prior is None else prior_on(prior, models[0].inputs)
    return estimator(
        GroupTask(models[0].inputs, prior, target, tolerance, progress, models, reports)
    )


def _models(groups: Any) -> tuple[list[ReportModel], list[ReportData]]:
    """Return the models and the reports of the groups, all on one domain."""
    if not isinstance(groups, Sequence) or len(groups) == 0:
        raise InputError("groups", "a list of pairs (mechanism, reports)", shown(groups))
    if any(not isinstance(group, tuple | list) or len(group) != 2 for group in groups):
        raise InputError("groups", "pairs (mechanism, reports)", "something else")
    models = [model_of(mechanism) for mechanism, _ in groups]
    for g, model in enumerate(models):
        if model.inputs != models[0].inputs:
            expected = f"a mechanism on {models[0].inputs!r}"
            raise InputError(f"groups[{g}]", expected, f"one on {model.inputs!r}")
    return models, [reports for _, reports in groups]
