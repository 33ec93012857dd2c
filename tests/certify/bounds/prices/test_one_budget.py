"""Prices under one budget, or bounds on one lift, prove what all extreme rays prove, no more.

The rays, the textbook linear program and its dual variables are those of the tests.
"""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BayesAccuracy,
    BlockLDP,
    BoundedPriorLIP,
    CertificateError,
    ContextAwareLDP,
    DifferentialIdentifiability,
    Distortion,
    HammingLoss,
    HighLowLDP,
    L2Risk,
    LinearNotion,
    MeanAbsoluteError,
    MetricPrivacy,
    MutualInformation,
    Problem,
    design,
)
from mechdesign.certify.bounds.duality import dual_bound
from mechdesign.certify.bounds.prices.lifts import lifts_bound
from mechdesign.certify.bounds.prices.one_budget import one_budget_bound
from mechdesign.certify.problem import number
from mechdesign.certify.proof import BOUNDS
from mechdesign.notions import Notion, SensitiveAttribute, SensitiveAttributePrivacy
from tests.documents import refused
from tests.prices_support import (
    lift_problems,
    one_budget_problems,
    price_bound,
    random_prices,
    weights_of,
)
from tests.strategies import ORACLE, dual_table, examples, lp_optimum, statement_of

BOUND = {"one-budget": one_budget_bound, "lifts": lifts_bound}
PROBLEMS = st.one_of(
    st.tuples(st.just("one-budget"), one_budget_problems(None)),
    st.tuples(st.just("lifts"), lift_problems(None)),
)
SIZES = st.sampled_from([0.01, 0.3, 3.0])
SEEDS = st.integers(0, 2**32)


def proved(form: str, problem: Problem, prices: Any, weights: Any = None) -> Fraction:
    dual = {"weights": weights, "rows": [], "potential": list(prices)}
    return BOUND[form](statement_of(problem), dual)


@examples(150)
@given(PROBLEMS, SEEDS, SIZES)
def test_the_bound_is_that_of_all_rays_but_for_rounding(
    stated: tuple[str, Problem], seed: int, size: float
) -> None:
    form, problem = stated
    rng = np.random.default_rng(seed)
    k = len(problem.domain)
    prices, weights = random_prices(rng, k, size), None
    mass = list(problem.prior)
    if problem.utility.worst_case:
        weights = weights_of(rng, k)
        exact = [number(w) for w in weights]
        mass = [w / sum(exact) for w in exact]
    wanted = price_bound(problem, [Fraction(u) for u in prices], mass)
    found = proved(form, problem, prices, weights)
    assert wanted - Fraction(1, 2**90) <= found <= wanted + Fraction(1, 2**140)


@examples(60)
@given(PROBLEMS, SEEDS, SIZES)
def test_any_prices_are_a_bound(stated: tuple[str, Problem], seed: int, size: float) -> None:
    form, problem = stated
    best, rng = lp_optimum(problem), np.random.default_rng(seed)
    prices = best.potentials + random_prices(rng, len(problem.domain), size)
    weights = None if best.input_weights is None else list(best.input_weights)
    assert float(proved(form, problem, prices, weights)) <= best.value + ORACLE


@examples(60)
@given(PROBLEMS)
def test_the_best_prices_prove_what_the_best_multipliers_do(stated: tuple[str, Problem]) -> None:
    form, problem = stated
    best = lp_optimum(problem)
    table = dual_table(problem, best.row_weights, best.input_weights)
    by_rows = float(dual_bound(statement_of(problem), table))
    weights = None if best.input_weights is None else list(best.input_weights)
    found = float(proved(form, problem, best.potentials, weights))
    # the solver's tolerance, times the largest entry of a ray with least entry 1
    slack = 1e-7 * (1 + best.value)
    assert abs(found - by_rows) <= slack
    assert best.value - slack <= found <= best.value + ORACLE


@pytest.mark.parametrize("epsilon", ["0", "1e-12", "90", "800"])
@pytest.mark.parametrize("notion", [LDP, LIP, PML])
def test_at_extreme_budgets_it_is_still_a_bound(notion: Any, epsilon: str) -> None:
    form = "one-budget" if notion is LDP else "lifts"
    problem = Problem(range(4), notion(epsilon), MeanAbsoluteError(), prior=["0.25"] * 4)
    best = 1.0 if epsilon in ("0", "1e-12") else 0.0
    for prices in ([0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.375, 0.125, 0.125, 0.375]):
        assert proved(form, problem, prices) <= best + 1e-9
    if epsilon == "0":
        assert proved(form, problem, [0.375, 0.125, 0.125, 0.375]) == 1


def test_one_input_tells_nothing() -> None:
    for form, notion in (("one-budget", LDP(1)), ("lifts", LIP(1))):
        problem = Problem(range(1), notion, Distortion([[2, 3]]), prior=[1])
        assert proved(form, problem, [2]) == 2


PRIOR = ["0.1", "0.4", "0.2", "0.3"]
SOLVED: dict[str, tuple[Notion, str]] = {
    "ldp": (LDP(1), "one-budget"),
    "high-low": (HighLowLDP(1, [0, 2]), "one-budget"),
    "block": (BlockLDP(1, [[0, 1, 2], [3]]), "one-budget"),
    "lip": (LIP("0.5"), "lifts"),
    "pml": (PML("0.5"), "lifts"),
    "line": (MetricPrivacy(1, "absolute"), "chain"),
}
ROUTES = ["linear-program", "columns", "interior"]
AIMS: dict[str, Any] = {
    "loss": HammingLoss(),
    "worst": MeanAbsoluteError(worst_case=True),
    "accuracy": BayesAccuracy(),
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("name", SOLVED)
def test_every_route_proves_its_optimum_by_prices(name: str, aim: str, route: str) -> None:
    if (aim, route) == ("worst", "columns"):
        pytest.skip("columns are for expected losses")
    notion, form = SOLVED[name]
    solution = design(Problem(range(4), notion, AIMS[aim], prior=PRIOR), route=route)
    dual = solution.certificate["dual"]
    assert (dual["search"], dual["rows"], len(dual["potential"])) == (form, [], 4)
    assert solution.status == "optimal"


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("epsilon", ["4", "9", "16"])
def test_large_budgets_do_not_magnify_the_errors_of_a_solver(epsilon: str, route: str) -> None:
    prior = [f"{n}/120" for n in range(1, 16)]
    for notion in (LDP(epsilon), HighLowLDP(epsilon, range(9))):
        problem = Problem(range(15), notion, MeanAbsoluteError(), prior=prior)
        assert design(problem, route=route).gap < 1e-6


def test_the_multipliers_of_an_intersection_are_not_dropped() -> None:
    dual = design(Problem(range(4), [LDP(1), LIP("0.5")], HammingLoss(), prior=PRIOR)).certificate[
        "dual"
    ]
    assert dual["rows"]
    assert "potential" not in dual


@pytest.fixture(scope="module", params=["ldp", "high-low", "lip", "pml", "line"])
def document(request: pytest.FixtureRequest) -> dict[str, Any]:
    notion, _ = SOLVED[request.param]
    loss = MeanAbsoluteError(worst_case=request.param in ("high-low", "pml"))
    problem = Problem(range(4), notion, loss, prior=PRIOR)
    found: dict[str, Any] = json.loads(
        json.dumps(design(problem, route="linear-program").document())
    )
    return found


@pytest.mark.parametrize(
    ("place", "by"), [(0, -0.01), (1, -0.01), (2, -0.01), (3, -0.01), (0, 0.01)]
)
def test_perturbed_prices_are_refused(document: dict[str, Any], place: int, by: float) -> None:
    changed = copy.deepcopy(document)
    changed["certificate"]["dual"]["potential"][place] += by
    refused(changed, "the bound proved is")


def test_prices_are_complete(document: dict[str, Any]) -> None:
    for change in (lambda u: u[:-1], lambda u: [*u, 0.0]):
        changed = copy.deepcopy(document)
        dual = changed["certificate"]["dual"]
        dual["potential"] = change(dual["potential"])
        refused(changed, "one potential for each input")


@pytest.mark.parametrize("search", ["chain", "one-budget", "lifts", "rays", "sums"])
def test_another_search_is_refused(document: dict[str, Any], search: str) -> None:
    changed = copy.deepcopy(document)
    if changed["certificate"]["dual"]["search"] != search:
        changed["certificate"]["dual"]["search"] = search
        refused(changed)


def test_weights_are_for_a_worst_case(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    dual = changed["certificate"]["dual"]
    if dual["weights"] is None:
        dual["weights"] = [0.1, 0.4, 0.2, 0.3]
        refused(changed, "is no bound on the objective")
        return
    for wrong in ([0.0] * 4, [0.1] * 3, [-0.1, 0.4, 0.4, 0.3]):
        dual["weights"] = wrong
        refused(changed, "no distribution|number >= 0")
    dual["weights"] = None
    refused(changed, "is no bound on the objective")


def test_a_wider_notion_is_refused(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    changed["problem"]["privacy"][0]["epsilon"] = "1.2"
    changed["privacy"][0]["epsilon"] = 1.2
    refused(changed, "the bound proved is")


OTHERS: list[tuple[str, Any, str]] = [
    ("one-budget", LIP(1), "needs a notion"),
    ("one-budget", MetricPrivacy(1, "absolute"), "one budget"),
    ("one-budget", ContextAwareLDP([[0, 1, 1], [1, 0, 2], [1, 1, 0]]), "one budget"),
    ("one-budget", DifferentialIdentifiability("1.3"), "one budget"),
    ("one-budget", [LDP(1), LDP(2)], "single notion"),
    ("one-budget", LinearNotion([("row", {0: 1}, 1, {1: 1})]), "needs a notion"),
    ("one-budget", LDP(5000), "one budget"),
    ("lifts", LDP(1), "needs a notion"),
    ("lifts", BoundedPriorLIP(1, priors=[["0.3", "0.3", "0.4"]]), "one prior"),
    ("lifts", BoundedPriorLIP(1, center=["0.2", "0.3", "0.5"], radius="0.1"), "one prior"),
    ("lifts", [LIP(1), PML(1)], "single notion"),
    ("lifts", AsymmetricLift("inf", "inf"), ""),
]


@pytest.mark.parametrize(("form", "notion", "reason"), OTHERS, ids=lambda v: str(v)[:40])
def test_other_notions_are_refused(form: str, notion: Any, reason: str) -> None:
    problem = Problem(range(3), notion, HammingLoss(), prior=["0.2", "0.3", "0.5"])
    dual = {"weights": None, "rows": [], "potential": [0.1, 0.1, 0.1]}
    if not reason:  # nothing is bounded: the mean of the least costs
        assert BOUNDS[f"dual {form}"](statement_of(problem), dual) <= 0
        return
    with pytest.raises(CertificateError, match=reason):
        BOUNDS[f"dual {form}"](statement_of(problem), dual)


def test_a_notion_of_a_sensitive_attribute_is_refused() -> None:
    secret = SensitiveAttribute(["a", "b", "c"], given_input=np.eye(3).tolist())
    for form, notion in (("one-budget", LDP(1)), ("lifts", LIP(1))):
        hidden, prior = SensitiveAttributePrivacy(notion, secret), ["0.2", "0.3", "0.5"]
        problem = Problem(range(3), hidden, HammingLoss(), prior=prior)
        with pytest.raises(CertificateError, match="needs a notion"):
            BOUNDS[f"dual {form}"](statement_of(problem), {"potential": [0, 0, 0]})


@pytest.mark.parametrize("form", ["one-budget", "lifts", "chain"])
@pytest.mark.parametrize("utility", [MutualInformation(), L2Risk()], ids=repr)
def test_other_objectives_are_refused(form: str, utility: Any) -> None:
    problem = Problem(range(3), LDP(1), utility)
    with pytest.raises(CertificateError, match="is no bound on the objective"):
        BOUNDS[f"dual {form}"](statement_of(problem), {"potential": [0, 0, 0]})
