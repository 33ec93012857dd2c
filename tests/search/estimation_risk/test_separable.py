"""The bound by the diagonal of the information matrix: below every channel, and not far."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign import LDP, LIP, L2Risk, MetricPrivacy, Problem, TVRisk, design
from mechdesign.notions import Notion
from mechdesign.prior import Prior
from mechdesign.search.estimation_risk.separable import separable_bound
from mechdesign.search.limits import Limits

PRIOR = Prior.from_counts([1, 2, 3, 4, 3])


@pytest.mark.parametrize("worst_case", [False, True])
@pytest.mark.parametrize("make", [L2Risk, TVRisk])
@pytest.mark.parametrize("notion", [LDP(1), LIP(1), MetricPrivacy(1, "absolute")])
def test_no_channel_is_below_the_bound_and_it_is_at_least_half(
    notion: Notion, make: Any, worst_case: bool
) -> None:
    best = design(Problem(range(5), notion, make(worst_case), prior=PRIOR))
    worst = PRIOR.probabilities if worst_case else None
    found = separable_bound(best.problem, best.channel.matrix, worst, Limits())
    assert found is not None
    certificate = found[1](best.problem)
    assert certificate is not None
    bound = certificate.bound(best.problem.compiled.statement)
    assert best.value / 2 <= bound <= best.value * (1 + Fraction(1, 10**9))


def test_an_uneven_prior_of_many_inputs_is_bounded_within_a_limit() -> None:
    weights = np.random.default_rng(20).integers(1, 1000, size=20).tolist()
    problem = Problem(range(20), LDP(1), L2Risk(), prior=Prior.from_counts(weights))
    solution = design(problem, time_limit=10)
    assert solution.bound <= solution.value <= 2 * solution.bound
