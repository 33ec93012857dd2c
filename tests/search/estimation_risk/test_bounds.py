"""Bounds where rays are too many to list: products of rows, the diagonal, and an implied LDP."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

import mechdesign as md
from mechdesign.evidence.formulas import nothing_constrained
from mechdesign.kernel import verify
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.relaxations import Implied
from mechdesign.notions import Notion
from mechdesign.search.estimation_risk import solve
from mechdesign.search.estimation_risk.product_relaxation import product_bound
from mechdesign.search.estimation_risk.proofs import relaxed
from mechdesign.search.estimation_risk.separable import separable_bound
from mechdesign.search.limits import Limits
from mechdesign.search.rays import enumerate as listing
from mechdesign.search.starts.route import Start
from mechdesign.utilities import EstimationRisk
from problems.families import random_context_aware
from tests.search.routes_support import uneven

PRIOR = md.Prior.from_counts([1, 2, 3, 4])
E = [[0, 1, "inf", 2], ["0.5", 0, 1, "inf"], [2, "inf", 0, 1], ["inf", 1, 1, 0]]
NOTIONS: list[Notion] = [
    md.LIP("0.3"),
    md.BoundedPriorLIP("0.3", center=PRIOR.probabilities, radius="0.05"),
    md.MetricPrivacy("0.5", "absolute"),
    md.ContextAwareLDP(E),
]
RISKS = [md.L2Risk(), md.TVRisk(), md.L2Risk(worst_case=True), md.TVRisk(worst_case=True)]


@contextmanager
def only(bound: str) -> Iterator[None]:
    """Let no rays be listed, and no other bound be computed."""
    with ExitStack() as stack:
        if bound == "relaxed":  # the rays of the implied LDP are listed by their classes
            stack.enter_context(mock.patch.object(listing, "MOST_RAYS", 3))
        else:
            stack.enter_context(mock.patch.object(solve, "_listed", return_value=None))
        for name in {"product_bound", "separable_bound", "relaxed"} - {bound}:
            stack.enter_context(mock.patch.object(solve, name, return_value=None))
        yield


@pytest.mark.parametrize(
    ("notion", "utility"),
    [(notion, RISKS[(n + m) % 4]) for n, notion in enumerate(NOTIONS) for m in (0, 1)],
)
def test_each_bound_is_below_the_optimum_and_proved(
    notion: Notion, utility: EstimationRisk
) -> None:
    """Both are above the bound without privacy, and products are close."""
    problem = md.Problem(range(4), notion, utility, prior=PRIOR)
    optimum, blind = md.design(problem), nothing_constrained(problem.compiled)
    least = blind.bound(problem.compiled.statement)
    for bound in ("product_bound", "relaxed"):
        with only(bound):
            found = md.design(problem, route="estimation")
        assert isinstance(found.certificate, Certificate)
        assert least < found.bound <= optimum.value
        assert math.isclose(found.value, optimum.value, rel_tol=1e-3)
        assert verify(found.document())
        if bound == "relaxed":
            assert Implied() in found.certificate.relaxations
        else:
            assert found.certificate.oracle.kind == "products"
            assert found.gap < 0.5


@pytest.mark.parametrize("utility", RISKS)
@pytest.mark.parametrize("notion", [md.LDP(1), md.LIP(1), md.MetricPrivacy(1, "absolute")])
def test_the_bound_of_the_diagonal_is_at_least_half(
    notion: Notion, utility: EstimationRisk
) -> None:
    best = md.design(md.Problem(range(4), notion, utility, prior=PRIOR))
    worst = PRIOR.probabilities if utility.worst_case else None
    found = separable_bound(best.problem, best.channel.matrix, worst, Limits())
    certificate = found[1](best.problem)
    bound = certificate.bound(best.problem.compiled.statement)
    assert best.value / 2 <= bound <= best.value * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize(
    ("notion", "budget"),
    [
        (NOTIONS[0], "0.6"),
        (NOTIONS[1], "0.6"),
        (NOTIONS[2], "1.5"),
        (NOTIONS[3], "2"),
        (md.LDP(1), "1"),
        (md.PML(1), None),
    ],
)
def test_the_implied_budget_is_the_longest_chain_of_bounds(
    notion: Notion, budget: str | None
) -> None:
    problem = md.Problem(range(4), notion, md.L2Risk(), prior=PRIOR)
    statement, found = problem.compiled.statement, relaxed(problem, None)
    if budget is None:
        assert found is None
        with pytest.raises(md.CertificateError, match="no ratio of all pairs is bounded"):
            Implied()(statement)
        return
    (ratio,) = Implied()(statement).ratios
    assert ratio.exponents.at(0, 1, up=True) == Fraction(budget)
    (implied,) = found.privacy
    assert float(implied.epsilon) == pytest.approx(float(budget))


@pytest.mark.parametrize("notion", [random_context_aware(7).privacy, md.LDP(1)])
def test_rays_found_by_local_search_are_nearly_the_best(notion: Notion) -> None:
    """Their mixture identifies all inputs, and the bound by products is close."""
    problem = md.Problem(
        range(7), notion, md.L2Risk(), prior=md.Prior.from_counts([9, 2, 4, 1, 7, 3, 30])
    )
    optimum = md.design(problem)
    with only("product_bound"):
        solution = md.design(problem, route="estimation")
    assert any("local search" in note for note in solution.notes)
    assert solution.bound <= optimum.value
    assert optimum.bound <= solution.value
    assert math.isclose(solution.value, optimum.value, rel_tol=1e-3)
    assert solution.gap < 0.2


@pytest.mark.parametrize("utility", [md.L2Risk(), md.TVRisk()])
@pytest.mark.parametrize(
    ("notion", "counts"),
    [
        (md.LDP("0.001"), [1, 2, 3, 4, 5]),
        (md.LIP("0.002"), [1, 2, 3, 4, 5]),
        (md.MetricPrivacy("0.001", "absolute"), [1, 2, 3, 4, 5]),
        (md.LDP(5), [1, 2, 3, 4, 5]),
        (md.DifferentialIdentifiability("2.5"), [1, 2, 3, 4, 5]),
        (md.DifferentialIdentifiability(3), [1, 2, 3, 4, 5]),
        (md.PML("0.009"), [1, 2, 3, 4, 10**8]),
        (md.PML("0.5"), [1, 2, 3, 4, 5]),
        (md.BoundedPriorLIP("0.1", lower=["3/20"] * 5, upper=["1/4"] * 5), [1] * 5),
        (md.BoundedPriorLIP("0.1", center=["1/5"] * 5, radius="1/20"), [1] * 5),
    ],
)
def test_products_are_close(notion: Notion, counts: list[int], utility: EstimationRisk) -> None:
    """Where reports say little, and where an input is rare; bounds have the risk's unit."""
    problem = md.Problem(range(5), notion, utility, prior=md.Prior.from_counts(counts))
    best, prior = md.design(problem), problem.prior.array
    bound, proof = product_bound(problem, utility, best.channel.matrix, prior, Limits())
    exact = proof(problem).bound(problem.compiled.statement)
    assert bound == pytest.approx(float(exact), rel=1e-6)
    assert Fraction(4, 5) * best.value <= exact <= best.value


def test_products_need_rows_on_ratios_or_lifts_and_time() -> None:
    rows = [{"name": "a", "left": {0: 1}, "exponent": 1, "right": {1: 1, 2: 1}}]
    problem = md.Problem(range(3), md.LinearNotion(rows), md.L2Risk())
    assert product_bound(problem, md.L2Risk(), np.eye(3), np.full(3, 1 / 3), Limits()) is None
    problem = md.Problem(range(4), md.ContextAwareLDP(E), md.L2Risk())
    with pytest.raises(md.SolverError, match="cut short: the time limit"):
        product_bound(problem, md.L2Risk(), np.eye(4), np.full(4, 0.25), Limits(seconds=1e-9))


@pytest.mark.parametrize("k", [60, 100])
def test_with_little_time_it_is_the_start_and_the_bound_of_its_diagonal(k: int) -> None:
    """The value alone takes the time that is left: no search for rays begins."""
    problem = md.Problem(range(k), md.LDP(1), md.L2Risk(), prior=uneven(k))
    raw = solve.solve_estimation(problem, Limits(seconds=1, clock=lambda: 0.0))
    start = Start().solve(problem, Limits())
    assert (raw.matrix == start.matrix).all()
    (proof,) = raw.proofs
    certificate = proof(problem)
    assert raw.value / 2 <= certificate.bound(problem.compiled.statement) <= raw.value
