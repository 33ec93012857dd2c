"""The corners: no budget, endless budget, one input, one output, zeros, ties; all with values."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BlockLDP,
    BoundedPriorLIP,
    Channel,
    ContextAwareLDP,
    DifferentialIdentifiability,
    Distortion,
    Domain,
    EuclideanDistance,
    HammingLoss,
    HighLowLDP,
    InfeasibleError,
    InputError,
    MeanAbsoluteError,
    MetricPrivacy,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    Solution,
    design,
)
from mechdesign.kernel import verify
from mechdesign.search.limits import Progress
from mechdesign.sweeps.many import design_many
from tests.strategies import lp_optimum

ROUTES = ("auto", "linear-program", "linear-program:ipm", "cvxpy:CLARABEL")


def solved(problem: Problem, route: str = "auto") -> Solution:
    """Solve, and let the checker read the saved file."""
    solution = design(problem, route=route)
    assert all(n.holds(solution.channel, problem.prior) for n in problem.privacy)
    verify(json.loads(json.dumps(solution.document())))
    return solution


def notions(k: int, epsilon: Any) -> list[Any]:
    some = list(range((k + 1) // 2))
    return [
        LDP(epsilon),
        LIP(epsilon),
        PML(epsilon),
        AsymmetricLift(epsilon, epsilon),
        MetricPrivacy(epsilon, "absolute"),
        ContextAwareLDP([[epsilon] * k] * k),
        HighLowLDP(epsilon, some),
        BoundedPriorLIP(epsilon, center=[Fraction(1, k)] * k, radius="0.1"),
    ]


# --- how large the budget is ----------------------------------------------------------------------


@pytest.mark.parametrize("notion", notions(3, 0), ids=lambda n: n.name)
@pytest.mark.parametrize("route", ROUTES)
def test_with_no_budget_the_best_guess_is_all(notion: Any, route: str) -> None:
    problem = Problem(range(3), notion, MeanAbsoluteError(), prior=[0.2, 0.3, 0.5])
    solution = solved(problem, route)
    assert float(solution.value) == pytest.approx(0.7, abs=1e-8)  # always 1: 0.2 + 0.5
    assert solution.status == "optimal"
    rows = solution.channel.numerators.tolist()
    assert rows[0] == rows[1] == rows[2]


@pytest.mark.parametrize("notion", notions(3, "1e-12"), ids=lambda n: n.name)
@pytest.mark.parametrize("route", ROUTES)
def test_with_hardly_any_budget_hardly_more(notion: Any, route: str) -> None:
    problem = Problem(range(3), notion, MeanAbsoluteError(), prior=[0.2, 0.3, 0.5])
    solution = solved(problem, route)
    assert float(solution.value) == pytest.approx(0.7, abs=1e-9)
    assert solution.status == "optimal"
    assert all(claim.leakage <= 1e-12 for claim in solution.privacy)


@pytest.mark.parametrize("notion", notions(3, 800), ids=lambda n: n.name)
@pytest.mark.parametrize("route", ROUTES)
def test_with_an_infinite_budget_the_truth_is_released(notion: Any, route: str) -> None:
    problem = Problem(range(3), notion, MeanAbsoluteError(), prior=[0.2, 0.3, 0.5])
    solution = solved(problem, route)
    assert 0 <= solution.value < Fraction(1, 10**9)
    assert np.abs(solution.channel.matrix - np.eye(3)).max() < 1e-8
    if not isinstance(notion, PML | HighLowLDP):  # the others let no output rule an input out
        assert solution.channel.numerators.min() > 0


def test_every_budget_between_is_worth_something() -> None:
    values = [
        float(design(Problem(range(4), LDP(e), MeanAbsoluteError())).value)
        for e in ("0", "0.1", "0.5", "1", "2", "5", "20")
    ]
    assert all(a > b for a, b in itertools.pairwise(values))
    assert values[0] == 1
    assert values[-1] < 1e-7


@pytest.mark.parametrize("epsilon", ["1e-12", "1e-6", "0.1", "30", "800"])
@pytest.mark.parametrize("k", [2, 5])
def test_randomized_response_at_any_budget(epsilon: str, k: int) -> None:
    solution = solved(Problem(range(k), LDP(epsilon), HammingLoss()))
    e = math.exp(-float(epsilon))
    assert float(solution.value) == pytest.approx((k - 1) * e / (1 + (k - 1) * e), abs=1e-15)
    assert solution.status == "optimal" or solution.value < Fraction(1, 10**12)


# --- one of everything ----------------------------------------------------------------------------


@pytest.mark.parametrize("notion", notions(1, 1), ids=lambda n: n.name)
@pytest.mark.parametrize("route", ROUTES)
def test_one_input(notion: Any, route: str) -> None:
    problem = Problem([0], notion, Distortion([[3, 1, 2]]), prior=[1], outputs=["a", "b", "c"])
    solution = solved(problem, route)
    assert solution.channel.outputs == ("b",)
    assert float(solution.value) == pytest.approx(1, abs=1e-9)
    assert solution.status == "optimal"


def test_one_input_and_an_estimate() -> None:
    solution = solved(Problem([5], LIP(1), PosteriorMeanSquaredError(), prior=[1]))
    assert solution.value == solution.bound == 0
    assert solution.decoder == (5,)


@pytest.mark.parametrize("notion", notions(3, 1), ids=lambda n: n.name)
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("worst_case", [False, True])
def test_one_output(notion: Any, route: str, worst_case: bool) -> None:
    loss = Distortion([[1], [2], [4]], worst_case)
    problem = Problem(range(3), notion, loss, prior=[0.25, 0.25, 0.5], outputs=["only"])
    solution = solved(problem, route)
    assert solution.channel.matrix.tolist() == [[1], [1], [1]]
    assert solution.value == (4 if worst_case else Fraction(11, 4))
    assert solution.status == "optimal"


def test_fewer_outputs_than_inputs() -> None:
    problem = Problem(range(5), LDP(1), MeanAbsoluteError(), outputs=[1, 3])
    solution = solved(problem)
    assert set(solution.channel.outputs) <= {1, 3}
    assert float(solution.value) == pytest.approx(lp_optimum(problem).value, abs=1e-9)
    assert solution.status == "optimal"


def test_more_outputs_than_inputs() -> None:
    problem = Problem([0, 10], LDP(1), MeanAbsoluteError(worst_case=True), outputs=range(11))
    solution = solved(problem)
    assert float(solution.value) == pytest.approx(10 / (1 + math.e), abs=1e-9)


# --- zeros ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("notion", notions(3, 1), ids=lambda n: n.name)
@pytest.mark.parametrize("route", ROUTES)
def test_an_input_that_never_comes_is_protected_and_costs_nothing(notion: Any, route: str) -> None:
    problem = Problem(range(3), notion, MeanAbsoluteError(), prior=[0.5, 0.5, 0])
    solution = solved(problem, route)
    assert float(solution.value) == pytest.approx(lp_optimum(problem).value, abs=1e-8)
    assert solution.status == "optimal" or solution.value < Fraction(1, 10**12)


@pytest.mark.parametrize("notion", notions(3, 1), ids=lambda n: n.name)
def test_a_prior_that_is_certain(notion: Any) -> None:
    problem = Problem(range(3), notion, HammingLoss(), prior=[0, 1, 0])
    solution = solved(problem)
    assert solution.value == 0
    assert solution.status == "optimal"
    two = Problem(range(2), type(notion)(**half(notion)), PosteriorMeanSquaredError(), prior=[0, 1])
    assert solved(two).value == 0


def half(notion: Any) -> dict[str, Any]:
    """The keys of the same kind of notion on two inputs."""
    table = next(n for n in notions(2, 1) if n.name == notion.name).to_table()
    return {key: value for key, value in table.items() if key != "notion"}


def test_differential_identifiability_needs_every_input() -> None:
    with pytest.raises(InfeasibleError, match="input 2 has prior 0"):
        Problem(range(3), DifferentialIdentifiability(9), HammingLoss(), prior=[0.5, 0.5, 0])


def test_an_infinite_budget_protects_no_input() -> None:
    for notion in (ContextAwareLDP([["inf"] * 3] * 3), BlockLDP(0, [[0], [1], [2]])):
        solution = solved(Problem(range(3), notion, EuclideanDistance()))
        assert solution.value == solution.bound == 0
        assert np.array_equal(solution.channel.matrix, np.eye(3))
        by_program = solved(Problem(range(3), notion, EuclideanDistance()), "linear-program")
        assert by_program.value == 0
        assert by_program.status == "optimal"


def test_a_loss_of_nothing() -> None:
    for route in ROUTES:
        solution = solved(Problem(range(3), LDP(1), Distortion([[0] * 3] * 3)), route)
        assert solution.value == 0
        assert solution.status == "optimal"


@pytest.mark.parametrize("scale", ["1e-9", "1e-4", "1e6", "1e12"])
@pytest.mark.parametrize("route", ["auto", "linear-program:ipm"])
def test_the_unit_of_the_loss_does_not_matter(scale: str, route: str) -> None:
    """The same channel, in micrometres and in light years."""
    loss = [[abs(x - y) for y in range(5)] for x in range(5)]
    scaled = [[Fraction(scale) * d for d in row] for row in loss]
    one = design(Problem(range(5), LDP(1), Distortion(loss)), route=route)
    other = design(Problem(range(5), LDP(1), Distortion(scaled)), route=route)
    assert float(other.value) == pytest.approx(float(scale) * float(one.value), rel=1e-7)
    assert other.status == "optimal"


# --- ties -----------------------------------------------------------------------------------------


def test_two_inputs_that_must_look_alike() -> None:
    """Points at distance 0, in one direction or in both, are one input with their joint prior."""
    distance = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    loss = [[0, 3], [1, 1], [5, 0]]
    for notion in (
        MetricPrivacy(1, distance),
        ContextAwareLDP([["0", "0", "1"], ["inf", "0", "1"], ["1", "inf", "0"]]),
    ):
        problem = Problem(range(3), notion, Distortion(loss), prior=[0.25, 0.25, 0.5])
        solution = solved(problem)
        rows = solution.channel.numerators.tolist()
        assert rows[0] == rows[1]
        merged = Problem(range(2), LDP(1), Distortion([["0.5", "2"], [5, 0]]), prior=[0.5, 0.5])
        assert float(solution.value) == pytest.approx(lp_optimum(merged).value, abs=1e-9)
        assert solution.status == "optimal"


def test_inputs_with_the_same_values_need_not_look_alike() -> None:
    """Estimating f with f(a) = f(b): nothing is lost by telling them apart or not."""
    f = PosteriorMeanSquaredError(values=[2, 2])
    assert solved(Problem(["a", "b"], LDP(1), f)).value == 0
    loss = Distortion([[0, 1, 2], [0, 1, 2], [2, 1, 0]])
    problem = Problem(["a", "b", "c"], LDP(1), loss, outputs=["x", "y", "z"])
    solution = solved(problem)
    assert float(solution.value) == pytest.approx(lp_optimum(problem).value, abs=1e-9)


def test_equal_outputs() -> None:
    problem = Problem(range(2), LDP(1), Distortion([[0, 0, 1, 1], [1, 1, 0, 0]]))
    solution = solved(problem)
    assert float(solution.value) == pytest.approx(1 / (1 + math.e), abs=1e-12)


def test_a_label_cannot_come_twice() -> None:
    with pytest.raises(InputError, match="occurs twice"):
        Problem([1, 1], LDP(1), HammingLoss())
    with pytest.raises(InputError, match="occurs twice"):
        Problem([1, 2], LDP(1), HammingLoss(), outputs=[1, 1.0])


# --- skew and size --------------------------------------------------------------------------------


@pytest.mark.parametrize("least", ["1e-12", "1e-6", "0.01"])
@pytest.mark.parametrize("make", [LIP, PML])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "10"])
def test_rare_inputs(make: Any, least: str, epsilon: str) -> None:
    p = Fraction(least)
    problem = Problem(range(3), make(epsilon), HammingLoss(), prior=[p, p, 1 - 2 * p])
    solution = solved(problem)
    assert float(solution.value) == pytest.approx(lp_optimum(problem).value, abs=1e-8)
    assert solution.bound is not None
    assert float(solution.value - solution.bound) <= 1e-9


@pytest.mark.parametrize("low", ["1e-9", "0.5"])
def test_budgets_of_very_different_sizes(low: str) -> None:
    matrix = [["0", low, "40"], ["700", "0", "inf"], ["3", low, "0"]]
    problem = Problem(range(3), ContextAwareLDP(matrix), MeanAbsoluteError())
    solution = solved(problem)
    assert float(solution.value) == pytest.approx(lp_optimum(problem).value, abs=1e-6)
    assert solution.status == "optimal"


@pytest.mark.slow
def test_sixty_inputs_with_random_budgets_finish() -> None:
    rng = np.random.default_rng(60)
    E = rng.uniform(0.5, 3, (60, 60)).round(3)
    budgets = [["inf" if rng.random() < 0.2 else repr(float(e)) for e in row] for row in E]
    problem = Problem(
        range(60),
        ContextAwareLDP(budgets),
        MeanAbsoluteError(),
        prior=Prior.from_counts(rng.integers(1, 50, 60).tolist()),
    )
    steps = list[Progress]()
    solution = design(problem, progress=steps.append)
    assert 0 < len(steps) <= 100
    assert solution.status == "optimal"
    assert problem.privacy[0].holds(solution.channel)
    blind = min(
        float(problem.prior.mean([abs(Fraction(x - y)) for x in range(60)])) for y in range(60)
    )
    assert 0 < float(solution.value) < blind


def test_many_priors_at_once() -> None:
    """A ball with too many vertices to list."""
    k = 14
    problem = Problem(
        range(k),
        BoundedPriorLIP(1, center=[Fraction(1, k)] * k, radius="0.25"),
        MeanAbsoluteError(),
    )
    solution = solved(problem)
    assert solution.status == "optimal"
    lower = float(design(Problem(range(k), LDP(1), MeanAbsoluteError())).value)
    upper = float(
        design(Problem(range(k), LIP(1), MeanAbsoluteError(), prior=Prior.uniform(k))).value
    )
    assert upper - 1e-9 <= float(solution.value) <= lower + 1e-9


def test_a_posterior_error_of_an_output_that_never_comes() -> None:
    channel = Channel.from_matrix([[1, 0, 0], [0, 1, 0]])
    prior = Prior([1, 0])
    f = PosteriorMeanSquaredError(values=[3, 7])
    assert f.value(channel, prior) == 0
    assert f.decoder(channel, prior) == (3, 3, 3)


def test_a_grid_of_one_point() -> None:
    solution = solved(Problem(Domain.grid(1, 1), LDP(1), EuclideanDistance()))
    assert solution.value == 0
    assert solution.channel.outputs == ((0, 0),)


@pytest.mark.parametrize("given", [LDP(1), "x", None, 3, [LDP(1)], Problem])
def test_only_a_problem_is_designed(given: Any) -> None:
    with pytest.raises(InputError, match=r"^problem: expected a Problem, given ") as caught:
        design(given)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"^problems\[0\]\.problem: expected a Problem"):
        design_many([given])
