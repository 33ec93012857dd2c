"""The start: never worse than a constant, randomized response and the exponential mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import mechdesign as md
from mechdesign.designs.answers import SolutionPool
from mechdesign.kernel import verify
from mechdesign.notions import Notion, Row
from mechdesign.search import plan
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import FEWEST_OUTPUTS
from mechdesign.search.starts.baseline import lengths
from mechdesign.search.starts.route import Start
from tests.search.routes_support import TwoGuesses, uneven
from tests.search.test_random_problems import INTERSECTION, estimates, random_problem
from tests.strategies import examples

KINDS = ("ldp", "lip", "pml", "lift", "context-aware", "high-low", "block", "metric")
KINDS += ("bounded-prior-lip", "differential-identifiability", "linear", INTERSECTION)

few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


def is_private(problem: md.Problem, Q: np.ndarray, room: float = 1e-9) -> bool:
    columns = Q[:, Q.max(axis=0) > 0]
    rows = problem.cone.matrix() @ (columns / columns.max(axis=0))
    return not rows.size or bool(rows.max() <= room)


def by_hand(problem: md.Problem) -> list[np.ndarray]:
    """Channels from the textbook that are private, found without the library's own starts."""
    k = len(problem.domain)
    found = [np.ones((k, 1))]
    for share in 1 - 2.0 ** -np.arange(1, 40):
        response = (1 - share) / k + share * np.eye(k)
        if is_private(problem, response, 1e-14):  # e**-20 is 2e-9
            found.append(response)
    d = lengths(problem.cone)
    if d is not None:
        exponential = np.exp(-d / 2)
        exponential /= exponential.sum(axis=1, keepdims=True)
        if is_private(problem, exponential, 1e-14):
            found.append(exponential)
    return found


def least_loss(problem: md.Problem, Q: np.ndarray) -> float:
    """The expected loss with the best decision for each output."""
    loss = problem.expected_loss
    cost = loss.cost(problem.domain, problem.prior, problem.outputs or ())
    return float((cost.T @ Q).min(axis=0).sum())


def early(problem: md.Problem) -> SolutionPool:
    """Design with a search that is interrupted before its first step."""
    limits = Limits()
    limits.interrupted = True
    answers = SolutionPool(problem, limits)
    answers.run(plan(problem, "auto", limits, []), Start())
    return answers


@pytest.mark.parametrize("name", KINDS)
def test_never_worse_than_the_standard_mechanisms(name: str) -> None:
    """The start itself, and a design that was interrupted before its first step."""

    @few
    @given(st.data())
    def check(data: st.DataObject) -> None:
        problem = data.draw(random_problem(name))
        if problem.expected_loss is None:
            return
        raw = Start().solve(problem, Limits())
        assert raw.matrix.sum(axis=1) == pytest.approx(1)
        cost = problem.expected_loss.cost(problem.domain, problem.prior, problem.outputs or ())
        slack = 1e-7 * float(cost.max())
        best = min(least_loss(problem, Q) for Q in by_hand(problem))
        assert raw.value <= best + slack
        solution = early(problem).solution()
        assert float(solution.value) <= best + slack
        verify(solution.document())

    check()


@pytest.mark.parametrize("name", ["ldp", "metric", "lip"])
def test_a_sum_of_gains_is_not_worse_either(name: str) -> None:
    @few
    @given(st.data())
    def check(data: st.DataObject) -> None:
        problem = data.draw(random_problem(name))
        gains = data.draw(estimates(len(problem.domain)))
        own = md.Problem(problem.domain, problem.privacy, gains, prior=problem.prior)
        raw = Start().solve(own, Limits())
        p = own.prior.array
        most = float(gains.on(own.domain).gain(raw.matrix, p).sum())
        for Q in by_hand(own):
            assert most >= float(gains.on(own.domain).gain(Q, p).sum()) - 1e-9 * (1 + abs(most))

    check()


@given(st.integers(2, 7), st.randoms(use_true_random=False), st.booleans())
@examples(12)
def test_a_worst_case_is_not_worse_than_randomized_response(
    k: int, random: st.DrawFn, plain: bool
) -> None:
    loss = [[random.randint(0, 9) for _ in range(k)] for _ in range(k)]
    notion = md.LDP(1) if plain else md.MetricPrivacy(1, "absolute")
    problem = md.Problem(range(k), notion, md.Distortion(loss, worst_case=True))
    raw = Start().solve(problem, Limits())
    value = (raw.matrix * np.array(loss)).sum(axis=1).max()
    assert raw.value == pytest.approx(value)
    for Q in by_hand(problem)[1:]:
        assert value <= (Q * np.array(loss)).sum(axis=1).max() + 1e-6
    assert value <= np.array(loss).max(axis=0).min() + 1e-9


NON_CONIC: list[Notion] = [
    md.ApproximateLDP("0.5", "0.05"),
    md.MaximalLeakage("0.7"),
    md.MutualInformationLeakage("0.2"),
]


@pytest.mark.parametrize("notion", NON_CONIC)
def test_a_constraint_on_the_whole_channel_is_met(notion: Notion) -> None:
    problem = md.Problem(range(6), notion, md.MeanAbsoluteError(), prior=uneven(6))
    solution = early(problem).solution()
    cost = problem.utility.linear_form.cost(problem.domain, problem.prior, range(6))
    assert float(solution.value) < 0.999 * cost.sum(axis=0).min()
    assert notion.holds(solution.channel, problem.prior)
    verify(solution.document())


def test_it_comes_near_the_optimum() -> None:
    line = md.Problem(range(30), md.MetricPrivacy("0.3", "absolute"), md.MeanAbsoluteError())
    bins = md.Problem(range(30), md.LDP(3), md.MeanAbsoluteError())
    plane = md.Problem(md.Domain.grid(5, 6), md.MetricPrivacy(1, "euclidean"), md.HammingLoss())
    optima = [float(md.design(problem).value) for problem in (line, bins, plane)]
    for problem, optimum in zip((line, bins, plane), optima, strict=True):
        raw = Start().solve(problem, Limits())
        assert is_private(problem, raw.matrix[:, raw.matrix.max(axis=0) > 1e-9])
        assert optimum <= raw.value + 1e-9
        assert raw.value <= 1.05 * optimum


@given(st.data())
@examples(12)
def test_with_equal_rows_it_is_the_best_output(data: st.DataObject) -> None:
    k, m = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    entries = st.integers(0, 9).map(lambda n: Fraction(n, 3))
    loss = data.draw(st.lists(st.lists(entries, min_size=m, max_size=m), min_size=k, max_size=k))
    problem = md.Problem(
        range(k), md.LDP(0), md.Distortion(loss), outputs=range(m), prior=uneven(k)
    )
    raw = Start().solve(problem, Limits())
    assert raw.matrix == pytest.approx(np.tile(raw.matrix[0], (k, 1)))
    totals = [sum(p * row[y] for p, row in zip(uneven(k), loss, strict=True)) for y in range(m)]
    assert raw.value == pytest.approx(float(min(totals)))


@pytest.mark.parametrize("risk", [md.L2Risk(), md.TVRisk(), md.L2Risk(worst_case=True)])
@pytest.mark.parametrize(
    "notion", [md.LDP(1), md.LDP("1e-6"), md.LIP("0.1"), md.ContextAwareLDP([[0, 1], [3, 0]])]
)
def test_for_a_risk_it_is_randomized_response(notion: Notion, risk: md.L2Risk | md.TVRisk) -> None:
    """It is private as it stands, its rows differ, and so its risk is finite."""
    k = 2 if isinstance(notion, md.ContextAwareLDP) else 5
    problem = md.Problem(range(k), notion, risk, prior=uneven(k))
    raw = Start().solve(problem, Limits())
    channel = md.Channel.from_matrix(raw.matrix, inputs=problem.domain)
    assert problem.cone.holds(channel)
    assert np.linalg.matrix_rank(raw.matrix, tol=1e-12) == k
    assert risk.value(channel, risk.reference(problem.prior)) > 0


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "2", "5"])
@pytest.mark.parametrize("k", [20, 97, 150])
def test_for_a_risk_under_ldp_it_is_as_good_as_subset_selection(k: int, epsilon: str) -> None:
    """From 97 inputs on its sets are those of a projective geometry; the prior is not uniform."""
    problem = md.Problem(range(k), md.LDP(epsilon), md.L2Risk(), prior=uneven(k))
    raw = Start().solve(problem, Limits())
    assert raw.value <= 1.06 * md.mechanisms.SubsetSelection(k, epsilon).risk
    assert raw.matrix.shape[1] <= (k * k if k == 20 else 4 * k)


ROWS = [Row(f"{x}, {z}", {x: 1}, 1, {z: 1}) for x in range(12) for z in range(12) if x != z]
WEAKER: dict[str, Any] = {
    "lift": md.LIP(1),
    "upper lift": md.PML(1),
    "two priors": md.BoundedPriorLIP(1, priors=[uneven(12), ["1/12"] * 12]),
    "rows": md.LinearNotion(ROWS),
    "two": [md.LIP(1), md.LDP("1.5")],
    "line": md.MetricPrivacy(1, "absolute"),
}


@pytest.mark.parametrize("name", WEAKER)
@pytest.mark.parametrize("risk", [md.L2Risk(), md.TVRisk()])
def test_for_a_risk_a_weaker_notion_than_ldp_is_not_worse(name: str, risk: md.L2Risk) -> None:
    problem = md.Problem(range(12), WEAKER[name], risk, prior=md.Prior.uniform(12))
    raw = Start().solve(problem, Limits())
    assert is_private(problem, raw.matrix)
    others = [md.mechanisms.SubsetSelection(12, 1).dense()]
    if name == "line":
        others = [md.mechanisms.GeometricNoise(problem.domain, problem.privacy[0]).dense()]
    assert raw.value is not None
    assert raw.value <= min(float(risk.value(c, problem.prior)) for c in others) * (1 + 1e-6)


def test_a_sum_of_ones_own_has_the_bound_of_telling_all() -> None:
    own = md.Problem(range(3), md.LDP(1), TwoGuesses(), prior=uneven(3))
    raw = Start().solve(own, Limits())
    assert raw.numeric_bound == pytest.approx(1)
    p = sorted(uneven(3))
    assert raw.value >= float(p[1] + p[2])


def test_information_of_many_alike_is_that_of_half_of_them() -> None:
    """By windows of inputs in a row: 16 alike under LDP tell as much by sets of 8 as by any."""
    problem = md.Problem(range(16), md.LDP(1), md.MutualInformation())
    assert float(early(problem).solution().value) == pytest.approx(float(md.design(problem).value))


def test_few_outputs_are_used_where_time_is_short() -> None:
    """So many as can be proved; with more time there are more, and the value is no worse."""
    prior = md.Prior.from_counts([x * x % 17 + 1 for x in range(144)])
    domain = md.Domain.grid(12, 12)
    problem = md.Problem(
        domain, md.MetricPrivacy("0.7", "euclidean"), md.EuclideanDistance(), prior=prior
    )
    used, values = [], []
    for seconds in (0.01, 0.2, 10.0, math.inf):
        raw = Start().solve(problem, Limits(seconds=seconds, clock=lambda: 0.0))
        assert raw.matrix.sum(axis=1) == pytest.approx(1)
        assert raw.value is not None
        used.append(int((raw.matrix.max(axis=0) > 0).sum()))
        values.append(raw.value)
    assert used[0] <= FEWEST_OUTPUTS < used[2] == used[3]
    assert used == sorted(used)
    assert values == sorted(values, reverse=True)
