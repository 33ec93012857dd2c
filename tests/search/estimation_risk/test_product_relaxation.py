"""Bounds by products of rows, and the search that they go with, where rays cannot be listed."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest

from mechdesign import (
    LIP,
    ContextAwareLDP,
    L2Risk,
    LinearNotion,
    MetricPrivacy,
    Prior,
    Problem,
    Solution,
    TVRisk,
    design,
)
from mechdesign.errors import SolverError
from mechdesign.kernel import verify
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions import Notion
from mechdesign.search.estimation_risk import solve
from mechdesign.search.estimation_risk.product_relaxation import product_bound
from mechdesign.search.limits import Limits
from mechdesign.utilities import EstimationRisk
from problems.families import random_context_aware

PRIOR = Prior.from_counts([1, 2, 3, 4, 3])


def as_if_many(problem: Problem) -> Solution:
    """Solve as where the rays are too many to list, by products alone."""
    with (
        mock.patch.object(solve, "_listed", return_value=None),
        mock.patch.object(solve, "relaxed", return_value=None),
        mock.patch.object(solve, "separable_bound", return_value=None),
    ):
        return design(problem, route="estimation")


@pytest.mark.parametrize("utility", [L2Risk(), TVRisk(), L2Risk(True), TVRisk(True)])
@pytest.mark.parametrize(
    "notion", [MetricPrivacy(1, "absolute"), LIP(1), random_context_aware(5).privacy[0]]
)
def test_a_search_of_rays_meets_the_optimum_and_products_bound_it(
    notion: Notion, utility: EstimationRisk
) -> None:
    problem = Problem(range(5), notion, utility, prior=PRIOR)
    best, found = design(problem), as_if_many(problem)
    assert math.isclose(float(found.value), float(best.value), rel_tol=1e-3)
    assert found.bound <= best.value
    assert isinstance(found.certificate, Certificate)
    assert found.certificate.oracle.kind == "products"
    assert found.gap < 0.5
    assert verify(found.document())


def test_rays_are_found_whose_mixture_identifies_all_inputs() -> None:
    like = random_context_aware(12)
    problem = Problem(like.domain, like.privacy, L2Risk(), prior=like.prior)
    solution = design(problem, time_limit=20)
    assert solution.value < 800
    assert solution.gap < 0.2
    assert isinstance(solution.certificate, Certificate)
    assert solution.certificate.oracle.kind == "products"


def test_other_rows_than_on_ratios_and_lifts_have_no_forms() -> None:
    rows = [{"name": "a", "left": {0: 1}, "exponent": 1, "right": {1: 1, 2: 1}}]
    problem = Problem(range(3), LinearNotion(rows), L2Risk())
    assert product_bound(problem, L2Risk(), np.full(3, 1 / 3), Limits()) is None


def test_it_ends_in_time() -> None:
    problem = Problem(
        range(5),
        ContextAwareLDP([[0.0 if x == z else 1.0 + x for z in range(5)] for x in range(5)]),
        L2Risk(),
    )
    with pytest.raises(SolverError, match="cut short: the time limit"):
        product_bound(problem, L2Risk(), np.full(5, 0.2), Limits(seconds=1e-9))
