"""Several groups with mechanisms of their own: one estimate that weights them by what they tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign.channel import Channel
from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown
from mechdesign.estimation.counts import (
    Collected,
    Evidence,
    Source,
    check_mechanism,
    evidence_of,
    tally_of,
)
from mechdesign.estimation.estimands import check_target
from mechdesign.estimation.estimate import likeliest
from mechdesign.estimation.likelihood import Progress
from mechdesign.estimation.options import chosen
from mechdesign.estimation.pooling import BORROWING, Averaged, Pooled
from mechdesign.estimation.result import Estimate
from mechdesign.prior import Prior
from mechdesign.reports import Tally

__all__ = ["GROUP_METHODS", "estimate_groups"]


@dataclass(frozen=True)
class GroupQuestion:
    """What a method is asked about groups."""

    mechanisms: list[Source]
    reports: list[Collected]
    prior: Prior | None
    target: str
    tolerance: float | None
    progress: Progress | None

    @property
    def inputs(self) -> Domain:
        """The domain that all share."""
        return self.mechanisms[0].inputs

    def tallies(self) -> list[Tally]:
        """Return the counts of each group."""
        found = []
        for g, (mechanism, reports) in enumerate(zip(self.mechanisms, self.reports, strict=True)):
            try:
                found.append(tally_of(mechanism, reports))
            except InputError as error:
                raise error.inside_file(f"groups[{g}]") from None
        return found


def estimate_groups(
    groups: Sequence[tuple[Source, Collected]],
    *,
    method: str = "unbiased",
    prior: Prior | None = None,
    target: str = "population",
    tolerance: float | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate one distribution from groups whose reports come from different mechanisms.

    Of the population, every group must be a sample: who is in which group may not depend on the
    records. For channels the estimate is least squares on all reports at once,

        (Sum_g n_g M_g)**-1 Sum_g n_g Q_g Lambda_g**-1 h_g

    to which a group adds that alone does not determine the distribution. Where a mechanism is
    structured, each group must determine it, and each input's estimates are averaged with weights
    n_g / Var_g. Both are made at the reference law before a report is looked at, so that the result
    is unbiased whatever the truth.

    Of the respondents, the groups' own frequencies count by size: Sum_g (n_g / n) p_g. Nothing may
    then be borrowed from one group for another.

    Parameters
    ----------
    groups
        Pairs of a mechanism and its reports, all on the same domain.
    method
        ``"unbiased"``, ``"maximum-likelihood"`` (over all groups at once), ``"projected"`` or
        ``"clipped"``.
    prior
        The reference law; default uniform.
    target
        ``"population"`` or ``"respondents"``; maximum likelihood estimates the population only.
    tolerance, progress
        As for :func:`estimate`.

    Raises
    ------
    InputError
        If the groups are on different domains, or a parameter is out of range.

    Examples
    --------
    >>> careful = Channel.from_matrix([["3/5", "2/5"], ["2/5", "3/5"]])
    >>> open_ = Channel.from_matrix([["9/10", "1/10"], ["1/10", "9/10"]])
    >>> estimate_groups([(careful, [60, 40]), (open_, [70, 30])])
    Estimate(2 inputs, from 200 reports, unbiased, of the population)
    input   frequency  standard error
    0        0.764706        0.055396
    1        0.235294        0.055396
    """
    check_target(target)
    way = chosen(GROUP_METHODS, method, "method")
    pairs = _pairs(groups)
    mechanisms, reports = [m for m, _ in pairs], [r for _, r in pairs]
    return way(GroupQuestion(mechanisms, reports, prior, target, tolerance, progress))


def _pairs(groups: Any) -> list[tuple[Source, Collected]]:
    """Return the groups, all on one domain."""
    if not isinstance(groups, Sequence) or len(groups) == 0:
        raise InputError("groups", "a list of pairs (mechanism, reports)", shown(groups))
    if any(not isinstance(group, tuple | list) or len(group) != 2 for group in groups):
        raise InputError("groups", "pairs (mechanism, reports)", "something else")
    pairs = [(check_mechanism(mechanism), reports) for mechanism, reports in groups]
    for g, (mechanism, _) in enumerate(pairs):
        if mechanism.inputs != pairs[0][0].inputs:
            expected = f"a mechanism on {pairs[0][0].inputs!r}"
            raise InputError(f"groups[{g}]", expected, f"one on {mechanism.inputs!r}")
    return pairs


def _unbiased(question: GroupQuestion) -> Estimate:
    channels = [m for m in question.mechanisms if isinstance(m, Channel)]
    tallies, prior, target = question.tallies(), question.prior, question.target
    found: Pooled | Averaged
    if len(channels) == len(tallies) and target in BORROWING:
        found = Pooled(channels, tallies, prior, target)
    else:
        found = Averaged(question.mechanisms, tallies, prior, target)
    return Estimate(
        inputs=question.inputs,
        values=found.values,
        standard_errors=found.errors(),
        reports=found.tally.total,
        method="unbiased",
        unbiased=True,
        simulated=found.tally.simulated,
        target=question.target,
        deviation=found,
    )


def _projected(question: GroupQuestion) -> Estimate:
    return _unbiased(question).projected()


def _clipped(question: GroupQuestion) -> Estimate:
    return _unbiased(question).clipped()


def _maximum_likelihood(question: GroupQuestion) -> Estimate:
    if question.target not in BORROWING:
        raise InputError(
            "target", "'population' for maximum likelihood of several groups", "'respondents'"
        )
    pairs = zip(question.mechanisms, question.reports, strict=True)
    each = [evidence_of(mechanism, reports) for mechanism, reports in pairs]
    evidence = Evidence(
        np.hstack([one.columns for one in each]),
        np.concatenate([one.counts for one in each]),
        any(one.simulated for one in each),
    )
    return likeliest(
        evidence,
        question.inputs,
        target=question.target,
        tolerance=question.tolerance,
        progress=question.progress,
    )


GROUP_METHODS: dict[str, Callable[[GroupQuestion], Estimate]] = {
    "unbiased": _unbiased,
    "maximum-likelihood": _maximum_likelihood,
    "projected": _projected,
    "clipped": _clipped,
}
"""Every method by its word."""
