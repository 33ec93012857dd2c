"""Each closed form is the optimum exactly where its condition holds, and refused elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, Channel, Distortion, HammingLoss, Prior, Problem, design
from mechdesign.closed_forms import (
    CLOSED_FORMS,
    BinaryUniversal,
    ClosedForm,
    IndependentRelease,
    LIPRandomizedResponse,
    Optimum,
    RandomizedResponse,
    Unconstrained,
)
from mechdesign.exact import exp_lower
from mechdesign.mechanisms.randomized_response import leakage_of_formula
from mechdesign.notions import Notion
from mechdesign.utilities import Utility
from tests.documents import proved
from tests.strategies import (
    KINDS,
    Case,
    budgets,
    cases,
    decimal,
    examples,
    exp,
    leakage,
    optimum,
    priors,
    utilities,
)


def value_of(form: ClosedForm, problem: Problem) -> float:
    """The loss of the formula as it is, in floats, and a look at whether it is a channel."""
    found = form.optimum(problem).formula()
    assert found.matrix.min() >= 0
    assert np.allclose(found.matrix.sum(axis=1), 1, atol=1e-14)
    assert found.matrix.shape == (len(problem.domain), len(found.outputs))
    assert np.all(problem.cone.matrix() @ found.matrix <= 1e-13)
    channel = Channel.from_matrix(found.matrix, inputs=problem.domain, outputs=found.outputs)
    return float(problem.utility.value(channel, problem.prior, problem.outputs))


def assert_optimal(form: ClosedForm, problem: Problem) -> None:
    assert form.holds(problem)
    best = optimum(problem)
    assert value_of(form, problem) == pytest.approx(best, abs=1e-8)
    solution = proved(problem)
    assert float(solution.value) == pytest.approx(best, abs=1e-8)
    assert float(solution.bound) == pytest.approx(best, abs=1e-8)
    assert solution.route.startswith("closed-form")


# --- two inputs -----------------------------------------------------------------------------------


@pytest.mark.slow
@examples(40)
@given(cases(KINDS, k=2), st.data())
def test_the_binary_channel_is_optimal_for_every_notion_and_utility(case: Case, data: Any) -> None:
    utility = data.draw(utilities(2))
    problem = Problem(case.domain, case.notion, utility, prior=case.prior)
    assert_optimal(BinaryUniversal(), problem)


@examples(24)
@given(cases(KINDS, k=2), cases(("ldp", "lip", "pml", "lift", "context-aware"), k=2), st.data())
def test_and_for_every_intersection(case: Case, other: Case, data: Any) -> None:
    utility = data.draw(utilities(2))
    problem = Problem(case.domain, [case.notion, other.notion], utility, prior=case.prior)
    assert_optimal(BinaryUniversal(), problem)


def warner(epsilon: float) -> np.ndarray:
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    return np.array([[p, 1 - p], [1 - p, p]])


def binary_channel(notion: Any, prior: Any = None) -> np.ndarray:
    problem = Problem(range(2), notion, md.MutualInformation(), prior=prior)
    return BinaryUniversal().optimum(problem).formula().matrix


@examples(20)
@given(st.floats(1e-6, 30), st.floats(1e-6, 30))
def test_warner_and_mangat_and_the_general_channel(a: float, b: float) -> None:
    """theory: [[t0 A, t1], [t0, t1 B]], t0 = (B-1)/(AB-1), t1 = (A-1)/(AB-1)"""
    A, B = math.exp(a), math.exp(b)
    t0, t1 = (B - 1) / (A * B - 1), (A - 1) / (A * B - 1)

    def of(up: Any, down: Any) -> np.ndarray:
        return binary_channel(md.ContextAwareLDP([[0, up], [down, 0]]))

    assert np.allclose(of(a, b), [[t0 * A, t1], [t0, t1 * B]], atol=1e-9)
    assert np.allclose(of(a, a), warner(a), atol=1e-9)
    assert np.allclose(of("inf", b), [[1 - math.exp(-b), math.exp(-b)], [0, 1]], atol=1e-9)
    assert np.allclose(of(a, "inf"), [[1, 0], [math.exp(-a), 1 - math.exp(-a)]], atol=1e-9)
    assert np.allclose(of("inf", "inf"), np.eye(2))
    assert np.allclose(of(0, b), [[1], [1]])


def lip_limits(p: float, epsilon: float) -> float:
    """theory 2.4, with p the prior of the input that is divided by."""
    e = math.exp(epsilon)
    found = [(e - p) / (1 - p)] if p < 1 else []
    if e * (1 - p) < 1:
        found.append(e * p / (1 - e * (1 - p)))
    return min(found, default=math.inf)


@examples(30)
@given(st.integers(0, 20), budgets("0.001", "5"))
def test_the_limits_of_lip_are_those_of_the_formula(twentieths: int, epsilon: Fraction) -> None:
    p = Fraction(twentieths, 20)
    assume(abs(float(1 / (1 - p)) - math.exp(epsilon)) > 1e-6 if p < 1 else True)
    assume(abs(float(1 / p) - math.exp(epsilon)) > 1e-6 if p > 0 else True)
    U, e = binary_channel(LIP(epsilon), [1 - p, p]), float(epsilon)
    with np.errstate(divide="ignore"):
        a, b = U[0, 0] / U[1, 0], U[1, -1] / U[0, -1]
    assert a == pytest.approx(lip_limits(float(p), e), rel=1e-9)
    assert b == pytest.approx(lip_limits(1 - float(p), e), rel=1e-9)


def test_two_reports_need_as_many_outputs() -> None:
    few = Problem([0, 1], LDP(1), md.PosteriorMeanSquaredError(values=[0, 1]), outputs=["only"])
    with pytest.raises(md.UnsupportedError, match="at least 2 labels"):
        design(few)


# --- randomized response for LIP ------------------------------------------------------------------


def in_region(prior: Prior, epsilon: Fraction) -> bool:
    """theory 2.5: P_min >= 1/(e**eps + 1)"""
    return decimal(prior.minimum) * (exp(epsilon) + 1) >= 1


metrics = (HammingLoss, md.MeanAbsoluteError, md.EuclideanDistance)


@pytest.mark.slow
@examples(60)
@given(st.integers(2, 4).flatmap(lambda k: priors(k, 1)), budgets("0.05"), st.data())
def test_lip_randomized_response_is_optimal_on_its_region_only(
    prior: Prior, epsilon: Fraction, data: Any
) -> None:
    k = len(prior)
    labels = data.draw(st.lists(st.integers(-5, 9), min_size=k, max_size=k, unique=True))
    utility = data.draw(st.sampled_from(metrics))()
    if data.draw(st.booleans()):
        values = data.draw(st.lists(st.integers(-5, 9), min_size=k, max_size=k))
        utility = md.PosteriorMeanSquaredError(values=values)
    problem = Problem(labels, LIP(epsilon), utility, prior=prior)
    form = LIPRandomizedResponse()
    verdict = form.decide(problem)
    assert isinstance(verdict, Optimum) == in_region(prior, epsilon)
    if isinstance(verdict, Optimum):
        assert_optimal(form, problem)
        e = math.exp(-epsilon)
        formula = (1 - e) * np.eye(k) + e * np.tile(prior.array, (k, 1))
        assert np.allclose(form.optimum(problem).formula().matrix, formula, atol=1e-15)
    else:
        assert "outside its region" in str(verdict)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("beyond", [Fraction(1, 10**12), Fraction(0), -Fraction(1, 10**12)])
def test_the_border_of_the_region_is_decided_exactly(k: int, beyond: Fraction) -> None:
    """P_min = 1/k: the border is eps = ln(k - 1), that is e**eps = k - 1."""
    if k == 2:
        assert LIPRandomizedResponse().holds(survey(k, Fraction(0)))
        return
    epsilon = Fraction(repr(math.log(k - 1))) + beyond
    holds = exp_lower(epsilon) >= k - 1
    assert LIPRandomizedResponse().holds(survey(k, epsilon)) == holds
    if beyond:
        assert holds == (beyond > 0)


def survey(k: int, epsilon: Fraction) -> Problem:
    utility = md.PosteriorMeanSquaredError(values=list(range(k)))
    return Problem(range(k), LIP(epsilon), utility, prior=Prior.uniform(k))


@pytest.mark.parametrize("outputs", [None, [0, 1], [2, 1, 0]])
@pytest.mark.parametrize(
    "utility", [md.MeanSquaredDistance(), HammingLoss(), Distortion(lambda x, y: abs(x - y) ** 3)]
)
def test_its_reports_serve_every_loss(utility: Utility, outputs: Any) -> None:
    """Where the loss is no metric, the best output for a report may be another label."""
    problem = Problem(range(3), LIP(2), utility, prior=[0.3, 0.3, 0.4], outputs=outputs)
    assert_optimal(LIPRandomizedResponse(), problem)


# --- k-ary randomized response --------------------------------------------------------------------


@examples(24)
@given(st.integers(2, 6), budgets())
def test_k_ary_randomized_response(k: int, epsilon: Fraction) -> None:
    problem = Problem([f"v{x}" for x in range(k)], LDP(epsilon), HammingLoss())
    form = RandomizedResponse()
    assert form.holds(problem)
    e = math.exp(epsilon)
    off = 1 / (e + k - 1)
    formula = np.where(np.eye(k, dtype=bool), e * off, off)
    assert np.allclose(form.optimum(problem).formula().matrix, formula, atol=1e-14)
    assert_optimal(form, problem)


# --- budget nothing, and nothing constrained ------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda _: LDP(0),
        lambda k: md.ContextAwareLDP([["0"] * k] * k),
        lambda k: md.ContextAwareLDP(
            [["0" if z == (x + 1) % k else "inf" for z in range(k)] for x in range(k)]
        ),
        lambda k: md.ContextAwareLDP(
            [["0" if z == 0 else "5" for z in range(k)] for _ in range(k)]
        ),
        lambda _: md.HighLowLDP(0, [0]),
        lambda k: md.BlockLDP(0, [range(k)]),
        lambda _: md.MetricPrivacy(0, "absolute"),
        lambda k: md.MetricPrivacy(3, [[0] * k] * k),
        lambda _: LIP(0),
        lambda _: md.PML(0),
        lambda _: md.AsymmetricLift(0, "inf"),
        lambda _: md.AsymmetricLift(7, 0),
        lambda k: md.BoundedPriorLIP(0, center=[Fraction(1, k)] * k, radius="0.1"),
        lambda k: md.BoundedPriorLIP(0, priors=[[1] + [0] * (k - 1)]),
        lambda _: md.AsymmetricLift(0, 5),
        lambda _: [LIP(1), LDP(0)],
    ],
)
@examples(8)
@given(st.integers(1, 4).flatmap(lambda k: st.tuples(priors(k), utilities(k))))
def test_under_a_budget_of_nothing_one_output_is_best(make: Any, pair: Any) -> None:
    prior, utility = pair
    k = len(prior)
    problem = Problem(range(k), make(k), utility, prior=prior)
    form = IndependentRelease()
    assert form.holds(problem)
    found = form.optimum(problem).formula()
    assert found.matrix.tolist() == [[1.0]] * k
    universal = md.universal_channel(range(k), make(k), prior=prior)
    assert (universal.simplicial, len(universal.facets)) == (True, k)
    assert universal.channel.matrix.tolist() == [[1.0]] * k
    for other, value in (
        (md.MutualInformation(), 0),
        (md.BayesAccuracy(), max(prior)),
        (md.PosteriorMeanSquaredError(histogram=True), 1 - prior.mean(prior)),
    ):
        same = design(Problem(range(k), make(k), other, prior=prior))
        assert k == 1 or same.value == value
        assert float(same.bound) == pytest.approx(float(same.value), abs=1e-28)
    solution = design(problem)
    if isinstance(utility, md.PosteriorMeanSquaredError):
        f = utility.values(problem.domain)
        best = prior.mean([v * v for v in f]) - prior.mean(f) ** 2
    else:
        table = utility.loss(problem.domain, problem.outputs or ())
        columns = range(table.shape[1])
        best = min(prior.mean([table.lower(x, y) for x in range(k)]) for y in columns)
    if k > 1:
        assert solution.value == best
        assert 0 <= best - solution.bound <= Fraction(1, 10**25)  # prices are in fixed point
    assert solution.status == "optimal"
    for notion in problem.privacy:
        assert abs(notion.leakage(solution.channel, prior)) == 0 or k == 1


def test_in_the_worst_case_a_mixture_of_outputs_is_better() -> None:
    problem = Problem(range(3), LDP(0), HammingLoss(worst_case=True))
    solution = design(problem)
    assert float(solution.value) == pytest.approx(2 / 3, abs=1e-12)
    assert solution.status == "optimal"


@pytest.mark.slow
@pytest.mark.parametrize(
    "notion",
    [
        md.ContextAwareLDP([["inf"] * 3] * 3),
        md.BlockLDP(0, [[0], [1], [2]]),
        md.AsymmetricLift("inf", "inf"),
        md.AsymmetricLift("inf", "1.7"),
        md.PML("1.7"),
    ],
)
@examples(20)
@given(utilities(3))
def test_where_nothing_is_constrained_every_input_gets_its_best(
    notion: Notion, utility: Utility
) -> None:
    prior = Prior([0.2, 0.3, 0.5])  # ln 5 = 1.609...
    problem = Problem(range(3), notion, utility, prior=prior)
    assert_optimal(Unconstrained(), problem)


def test_and_in_the_worst_case_too() -> None:
    for worst_case, value in ((False, Fraction(3, 2)), (True, 2)):
        utility = Distortion([[3, 1], [2, 9]], worst_case)
        solution = design(
            Problem([0, 1], md.AsymmetricLift("inf", "inf"), utility, prior=[0.5, 0.5])
        )
        assert solution.value == solution.bound == value


# --- every closed form, on every problem ----------------------------------------------------------


@pytest.mark.slow
@examples(60)
@given(cases(KINDS), st.data())
def test_whatever_holds_is_optimal(case: Case, data: Any) -> None:
    k = len(case.domain)
    assume(k < 4)
    utility = data.draw(utilities(k))
    problem = Problem(case.domain, case.notion, utility, prior=case.prior)
    for form in CLOSED_FORMS:
        if form.holds(problem):
            assert value_of(form, problem) == pytest.approx(optimum(problem), abs=1e-8)


def test_the_leakage_of_a_formula_with_a_prior_of_zero() -> None:
    assert leakage_of_formula(Prior([0, 1]), Fraction(1)) == math.inf
    case = Case(LIP(1), Problem([0, 1], LDP(1), HammingLoss()).domain, Prior([0, 1]), LIP)
    formula = Channel.from_matrix([[1 - 1 / math.e, 1 / math.e], [0, 1]])
    assert leakage(case, formula) == math.inf


# --- both sides of every condition, by examples ---------------------------------------------------

FORMS = {form.name: form for form in CLOSED_FORMS}
SKEWED, EVEN = ["0.2", "0.3", "0.5"], ["1/3"] * 3
HAMMING, WORST = HammingLoss(), HammingLoss(worst_case=True)
ONE_PAIR = md.ContextAwareLDP([["0", "0", "inf"], ["inf", "0", "inf"], ["inf", "inf", "0"]])
FAR = md.MetricPrivacy(1, [[0, 99, 99], [99, 0, 99], [99, 99, 0]])
CYCLE = md.ContextAwareLDP([["0", "1", "2.5"], ["2.5", "0", "1.5"], ["1", "2", "0"]])
FREE = [
    md.PML("1.7"),
    md.AsymmetricLift("inf", 3),
    md.BlockLDP(1, [[0], [1], [2]]),
]  # ln 5 = 1.609...


class Own(md.ColumnUtility):
    """A gain of the user's own, which no file can prove."""

    name = "own"

    def gain(self, columns: np.ndarray, prior: np.ndarray) -> np.ndarray:
        return columns.max(axis=0)


Stated = tuple[Any, Any, dict[str, Any]]

HOLDS: dict[str, list[Stated]] = {
    "binary universal": [(LDP(1), HAMMING, {"domain": 2})],
    "LIP randomized response": [(LIP(2), HAMMING, {})],
    "universal channel": [
        (CYCLE, HAMMING, {}),
        (CYCLE, md.L2Risk(), {}),
        (CYCLE, Own(), {}),
        (md.HighLowLDP(1, [0]), HAMMING, {}),
    ],
    "k-ary randomized response": [
        (LDP(1), HAMMING, {"prior": None}),
        (LDP(1), HAMMING, {"prior": EVEN}),
    ],
    "independent release": [
        ([LDP(5), md.PML(0)], HAMMING, {}),
        (md.DifferentialIdentifiability(0), HAMMING, {"prior": EVEN}),
    ],
    "identity": [(FREE, HAMMING, {})],
    "randomized response on bins": [
        (LDP(1), md.MeanAbsoluteError(), {}),
        (LDP(1), HAMMING, {"domain": md.Domain.grid(2, 2)}),
    ],
    "the likeliest inputs": [(md.MaximalLeakage("0.5"), md.BayesAccuracy(), {})],
    "subset selection by lifts": [
        (LIP(1), md.L2Risk(), {"prior": EVEN}),
        (md.AsymmetricLift(1, "0.5"), md.L2Risk(), {"prior": EVEN}),
    ],
}

REFUSED: dict[str, list[Stated]] = {
    "binary universal": [
        (LDP(1), HAMMING, {}),
        (LDP(1), HAMMING, {"domain": 1}),
        (LDP(1), WORST, {"domain": 2}),
    ],
    "LIP randomized response": [
        (LDP(2), HAMMING, {}),
        ([LIP(2), LDP(2)], HAMMING, {}),
        (LIP(2), WORST, {}),
        (LIP("0.1"), HAMMING, {}),
    ],
    "universal channel": [
        (CYCLE, WORST, {}),
        (CYCLE, md.L2Risk(worst_case=True), {}),
        ([md.HighLowLDP(1, [0]), LDP(2)], HAMMING, {}),
        (md.HighLowLDP(1, [0]), HAMMING, {"domain": 1}),
    ],
    "k-ary randomized response": [
        (LDP(1), HAMMING, {}),
        (LDP(1), WORST, {"prior": EVEN}),
        (LDP(1), HAMMING, {"prior": EVEN, "outputs": [0, 1]}),
        (LDP(1), md.MeanAbsoluteError(), {"prior": EVEN}),
        ([LDP(1), LDP(2)], HAMMING, {"prior": EVEN}),
        (LIP(1), HAMMING, {"prior": EVEN}),
    ],
    "independent release": [
        (LDP("1e-30"), HAMMING, {}),
        (LDP(0), WORST, {}),
        (md.BlockLDP(0, [[0, 1], [2]]), HAMMING, {}),
        (ONE_PAIR, HAMMING, {}),
    ],
    "identity": [
        (notion, HAMMING, {})
        for notion in (
            md.PML("1.6"),
            md.AsymmetricLift("100", "inf"),
            LDP(700),
            FAR,
            md.HighLowLDP(9, [0]),
            md.BlockLDP(9, [[0, 1], [2]]),
            md.BoundedPriorLIP(5, priors=[SKEWED]),
        )
    ],
    "randomized response on bins": [
        (LIP(1), md.MeanAbsoluteError(), {}),
        ([LDP(1), LIP(1)], md.MeanAbsoluteError(), {}),
        (LDP(0), md.MeanAbsoluteError(), {}),
        (LDP(1), md.MeanAbsoluteError(worst_case=True), {}),
        (LDP(1), md.MutualInformation(), {}),
        (LDP(1), md.EuclideanDistance(), {"domain": md.Domain.grid(2, 2)}),
    ],
    "the likeliest inputs": [(md.MaximalLeakage("0.5"), md.MutualInformation(), {})],
    "subset selection by lifts": [
        (LIP(1), md.L2Risk(), {}),
        (LIP(1), HAMMING, {"prior": EVEN}),
        (md.AsymmetricLift("1e-15", 1), md.L2Risk(), {"prior": EVEN}),
        (md.AsymmetricLift(1, "1e-15"), md.L2Risk(), {"prior": EVEN}),
    ],
}


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("name", HOLDS)
def test_the_condition_is_checked(name: str, holds: bool) -> None:
    assert FORMS[name].source
    for notion, utility, keys in (HOLDS if holds else REFUSED)[name]:
        options = {"prior": SKEWED if "domain" not in keys else None, **keys}
        problem = Problem(options.pop("domain", 3), notion, utility, **options)
        assert FORMS[name].holds(problem) is holds, (notion, utility, keys)
