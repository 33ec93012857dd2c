"""Limits: whatever ends a search, its channel is private, and its bound is on the right side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from mechdesign import (
    LDP,
    LIP,
    ApproximateLDP,
    BayesAccuracy,
    ColumnUtility,
    ContextAwareLDP,
    HammingLoss,
    L2Risk,
    MeanAbsoluteError,
    MetricPrivacy,
    MutualInformation,
    MutualInformationLeakage,
    PosteriorMeanSquaredError,
    Problem,
    Solution,
    SolverError,
    TVRisk,
    design,
)
from mechdesign.kernel import verify
from mechdesign.kernel.linearizations import Boxes
from mechdesign.search.base import RawSolution
from mechdesign.search.conic.cvxpy_solver import TIME_LIMITS, solve_conic
from mechdesign.search.conic.non_conic import solve_non_conic
from mechdesign.search.decoders.search import solve_decoders
from mechdesign.search.estimation_risk.ray_classes import RayClasses
from mechdesign.search.estimation_risk.solve import solve_estimation
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.limits import Limits, Progress
from mechdesign.search.lp.linear_program import by_highs, solve_linear
from mechdesign.search.presolve.chain import conic_program
from mechdesign.search.presolve.reductions import reduced_costs
from mechdesign.search.rays import enumerate as rays
from mechdesign.search.rays.extreme_rays import solve_by_rays
from solvers.base import FloatArray

HISTOGRAM = PosteriorMeanSquaredError(histogram=True)
SCALAR = PosteriorMeanSquaredError()


def uneven(k: int) -> list[Fraction]:
    """A prior that no permutation keeps, all of it in hundredths or so."""
    weights = [3 + 7 * x % 11 + 5 * (x % 3) for x in range(k)]
    return [Fraction(w, sum(weights)) for w in weights]


def budgets(k: int) -> list[list[Fraction]]:
    """Budgets that differ by pair, and by direction."""
    return [
        [Fraction(0) if x == z else Fraction(4 + (3 * x + 5 * z) % 13, 10) for z in range(k)]
        for x in range(k)
    ]


class TwoGuesses(ColumnUtility):
    """An accuracy of the user's own: one of two guesses is right."""

    name = "two-guesses"
    sense = "maximize"

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        both: FloatArray = np.sort(prior[:, None] * columns, axis=0)[-2:].sum(axis=0)
        return both


@dataclass(frozen=True)
class Case:
    """A problem that takes a search, and the route for it."""

    problem: Problem
    route: str = "auto"


CASES = {
    "histogram, lifts": Case(Problem(range(12), LIP(1), HISTOGRAM, prior=uneven(12))),
    "histogram, any cone": Case(
        Problem(range(6), ContextAwareLDP(budgets(6)), HISTOGRAM, prior=uneven(6))
    ),
    "information, lifts": Case(Problem(range(12), LIP(1), MutualInformation(), prior=uneven(12))),
    "information, any cone": Case(
        Problem(range(6), ContextAwareLDP(budgets(6)), MutualInformation(), prior=uneven(6))
    ),
    "scalar, lifts": Case(Problem(range(30), LIP(1), SCALAR, prior=uneven(30))),
    "scalar, any cone": Case(
        Problem(range(9), ContextAwareLDP(budgets(9)), SCALAR, prior=uneven(9))
    ),
    "risk, classes of rays": Case(Problem(range(7), LDP(1), L2Risk(worst_case=True)), "estimation"),
    "risk, roots": Case(Problem(range(7), LDP(1), TVRisk()), "estimation"),
    "whole channel": Case(
        Problem(range(9), ApproximateLDP(1, "0.01"), MeanAbsoluteError(), prior=uneven(9))
    ),
    "information bounded": Case(
        Problem(range(6), MutualInformationLeakage("0.2"), MeanAbsoluteError(), prior=uneven(6))
    ),
    "linear program": Case(
        Problem(range(12), MetricPrivacy("0.2", "absolute"), MeanAbsoluteError(), prior=uneven(12)),
        "linear-program",
    ),
    "worst case": Case(Problem(range(9), LIP(1), HammingLoss(worst_case=True), prior=uneven(9))),
    "guess": Case(
        Problem(range(6), ContextAwareLDP(budgets(6)), BayesAccuracy(), prior=uneven(6)),
        "extreme-rays",
    ),
    "of one's own": Case(Problem(range(9), LIP(1), TwoGuesses(), prior=uneven(9))),
}


@cache
def whole(name: str) -> tuple[Solution, list[Progress]]:
    """Return the design of a case without limits, and its reports."""
    told: list[Progress] = []
    return design(CASES[name].problem, route=CASES[name].route, progress=told.append), told


def is_private(problem: Problem, solution: Solution) -> bool:
    """Every notion is claimed, and the exact checker has agreed."""
    kept = problem.cone.holds(solution.channel)
    return kept and len(solution.privacy) == len(problem.privacy)


def as_loss(problem: Problem, number: Fraction) -> float:
    """An objective with its sign changed where it is a gain."""
    return float(-number if problem.utility.is_maximized else number)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1e-9, 0.1])
@pytest.mark.parametrize("name", CASES)
def test_a_time_limit_leaves_a_private_channel_and_an_honest_bound(
    name: str, seconds: float
) -> None:
    problem, route = CASES[name].problem, CASES[name].route
    solution = design(problem, route=route, time_limit=seconds)
    assert is_private(problem, solution)
    assert as_loss(problem, solution.bound) <= as_loss(problem, solution.value)
    noted = any("time limit" in note for note in solution.notes)
    assert noted == (solution.status != "optimal") or seconds > 1e-6
    verify(solution.document())


def test_the_limit_ends_a_search_that_would_take_minutes() -> None:
    problem = Problem(range(200), MetricPrivacy("0.1", "absolute"), SCALAR, prior=uneven(200))
    solution = design(problem, time_limit=1)
    assert any("time limit" in note for note in solution.notes)
    assert solution.bound <= solution.value
    assert is_private(problem, solution)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.3, 0.02])
@pytest.mark.parametrize("name", CASES)
def test_a_gap_that_is_wanted_is_met_and_ends_the_search_no_later(name: str, gap: float) -> None:
    problem, route = CASES[name].problem, CASES[name].route
    (best, all_rounds), rounds = whole(name), list[Progress]()
    found = design(problem, route=route, gap=gap, progress=rounds.append)
    assert is_private(problem, found)
    least = as_loss(problem, best.bound)
    assert as_loss(problem, found.bound) <= as_loss(problem, best.value)
    assert least <= as_loss(problem, found.value) + 1e-12
    assert len(rounds) <= len(all_rounds)
    assert found.gap <= gap or best.gap > gap
    verify(found.document())


@pytest.mark.parametrize("name", ["histogram, lifts", "scalar, lifts", "scalar, any cone"])
def test_a_large_gap_takes_fewer_rounds_than_a_small_one(name: str) -> None:
    rounds: list[Progress] = []
    design(CASES[name].problem, gap=0.3, progress=rounds.append)
    assert 1 <= len(rounds) < len(whole(name)[1])


@pytest.mark.parametrize("name", CASES)
def test_reported_bounds_and_values_are_on_the_right_side(name: str) -> None:
    """A bound that is told is below the optimum; a value is not below what is proved."""
    problem, (solution, told) = CASES[name].problem, whole(name)
    value, bound = as_loss(problem, solution.value), as_loss(problem, solution.bound)
    slack = 1e-9 * max(1.0, abs(value))
    assert all(math.isnan(p.bound) or p.bound <= value + slack for p in told)
    assert all(math.isnan(p.value) or p.value >= bound - slack for p in told)
    assert [p.seconds for p in told] == sorted(p.seconds for p in told)


Solver = Callable[[Problem, Limits], RawSolution]

SOLVERS: dict[str, Solver] = {
    "histogram, lifts": solve_by_rays,
    "information, lifts": solve_by_rays,
    "scalar, lifts": solve_decoders,
    "scalar, any cone": solve_decoders,
    "risk, classes of rays": solve_estimation,
    "risk, roots": solve_estimation,
}


@dataclass
class Stopped:
    """Limits that the user interrupts after some rounds."""

    after: int
    told: list[Progress] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.limits = Limits(watch=self.watch)

    def watch(self, progress: Progress) -> None:
        self.told.append(progress)
        self.limits.interrupted = len(self.told) >= self.after


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("name", SOLVERS)
def test_an_interrupt_keeps_the_best_so_far(name: str, rounds: int) -> None:
    problem = CASES[name].problem
    optimum = as_loss(problem, whole(name)[0].bound)
    stopped = Stopped(rounds)
    raw = SOLVERS[name](problem, stopped.limits)
    assert stopped.limits.ended == "interrupted"
    assert len(stopped.told) == rounds
    assert np.allclose(raw.matrix.sum(axis=1), 1, atol=1e-6)
    assert raw.proofs
    last = stopped.told[-1]
    assert last.bound <= optimum + 1e-9 * abs(optimum)
    assert optimum <= last.value + 1e-9 * abs(optimum)


@pytest.mark.parametrize("name", ["histogram, lifts", "information, lifts", "scalar, lifts"])
def test_values_and_bounds_are_the_best_so_far(name: str) -> None:
    stopped = Stopped(1000)
    SOLVERS[name](CASES[name].problem, stopped.limits)
    values, bounds = ([getattr(p, side) for p in stopped.told] for side in ("value", "bound"))
    assert len(values) > 2
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("utility", [HISTOGRAM, MutualInformation()])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_an_interrupt_of_local_search(
    utility: ColumnUtility, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rays are too many, the bound comes last, and there is one all the same."""
    problem = Problem(range(5), ContextAwareLDP(budgets(5)), utility, prior=uneven(5))
    optimum = as_loss(problem, design(problem).bound)
    monkeypatch.setattr(rays, "MOST_RAYS", 5)
    stopped = Stopped(rounds)
    raw = solve_by_rays(problem, stopped.limits)
    assert stopped.limits.ended == "interrupted"
    assert isinstance(raw.proofs[0](problem).linearization, Boxes)
    assert all(p.bound <= optimum <= p.value + 1e-9 for p in stopped.told)
    values = [p.value for p in stopped.told]
    assert values == sorted(values, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("utility", [HISTOGRAM, MutualInformation()])
def test_local_search_within_a_gap(utility: ColumnUtility, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(range(4), ContextAwareLDP(budgets(4)), utility, prior=uneven(4))
    monkeypatch.setattr(rays, "MOST_RAYS", 4)
    found, best = design(problem, gap=0.1), design(problem)
    assert best.gap < found.gap <= 0.1
    assert as_loss(problem, found.bound) <= as_loss(problem, best.value)


@pytest.mark.parametrize("risk", [L2Risk(worst_case=True), TVRisk(worst_case=True), TVRisk()])
@pytest.mark.parametrize("notion", [LDP(1), LDP("0.1")])
def test_classes_cut_short_need_few_outputs(notion: LDP, risk: L2Risk | TVRisk) -> None:
    """All 2**14 - 2 rays are in use when the search begins; few of them tell as much."""
    problem = Problem(range(14), notion, risk)
    assert RayClasses.of(problem.cone) is not None
    raw = solve_estimation(problem, Stopped(1).limits)
    assert raw.matrix.shape[1] <= 14 * 15 + 1
    solution = design(problem, route="estimation", time_limit=1e-9)
    assert len(solution.channel.outputs) <= 14 * 15 + 1
    assert 0.01 < solution.gap < 1


@pytest.mark.slow
def test_a_risk_of_many_rays_has_a_channel_and_a_bound_at_any_limit() -> None:
    problem = Problem(range(16), LIP(1), L2Risk(), prior=uneven(16))
    raw = solve_estimation(problem, Limits(seconds=1e-9))
    assert raw.matrix.sum(axis=1) == pytest.approx(np.ones(16))
    assert raw.proofs
    for seconds in (1e-9, 2):
        solution = design(problem, time_limit=seconds)
        assert is_private(problem, solution)
        assert 0 < solution.bound < solution.value


# --- linear programs ------------------------------------------------------------------------------


def assignment(n: int) -> LPModel:
    """A program that takes both methods of HiGHS hundreds of steps."""
    rng = np.random.default_rng(0)
    one = np.ones(2 * n)
    pairs = [(x, x * n + y) for x in range(n) for y in range(n)]
    pairs += [(n + y, x * n + y) for x in range(n) for y in range(n)]
    A = sp.csr_array((np.ones(len(pairs)), tuple(np.array(pairs).T)))
    return LPModel(rng.uniform(size=n * n), A, one, one)


class AskedOften(Limits):
    """Limits that are over when asked for the so-manieth time."""

    asked = 0
    most = 20

    def expired(self) -> bool:
        self.asked += 1
        self.ended = "asked often enough" if self.asked > self.most else ""
        return bool(self.ended)


@pytest.mark.parametrize("method", ["simplex", "ipm"])
def test_highs_asks_between_its_steps(method: str) -> None:
    limits = AskedOften()
    with pytest.raises(SolverError, match=rf"HiGHS \({method}\) stopped: asked often enough"):
        solve_lp(assignment(60), method, limits)
    assert limits.asked > limits.most


@pytest.mark.parametrize("method", ["simplex", "ipm"])
def test_highs_stops_when_time_is_over(method: str) -> None:
    words = rf"HiGHS \({method}\) stopped: the time limit of 0.02 s was reached"
    with pytest.raises(SolverError, match=words):
        solve_lp(assignment(250), method, Limits(seconds=0.02))


def test_enough_time_changes_nothing() -> None:
    program = assignment(20)
    free, limited = (
        solve_lp(program, "simplex", limits).primal for limits in (None, Limits(seconds=1000))
    )
    assert np.array_equal(free, limited)


@pytest.mark.parametrize("method", ["simplex", "ipm"])
@pytest.mark.parametrize("worst_case", [False, True])
def test_a_linear_program_that_is_cut_short_still_bounds(method: str, worst_case: bool) -> None:
    """The multipliers of any step bound the optimum, and there is a channel to be repaired."""
    utility = MeanAbsoluteError(worst_case=worst_case)
    program, _ = conic_program(Problem(range(30), LDP(1), utility))
    program = replace(program, is_priced=False)  # multipliers are asked for
    best, limits = by_highs(program, Limits()), AskedOften()
    limits.most = 100
    found = by_highs(program, limits, method)
    assert limits.ended == "asked often enough"
    mass = np.ones(30)
    if (losses := found.worst_case_multipliers) is not None:
        mass = losses / losses.sum()
    weighed = replace(program, cost=mass[:, None] * program.cost)
    bound = float(reduced_costs(weighed, found.duals).min(axis=1).sum())
    optimum = float((weighed.cost * best.matrix).sum())
    assert bound < optimum
    assert worst_case or bound > 0.1 * optimum
    assert np.allclose(found.matrix.sum(axis=1), 1)
    assert found.matrix.min() >= 0


@pytest.mark.parametrize("name", sorted(set(TIME_LIMITS) & set(cp.installed_solvers())))
def test_solvers_of_cvxpy_know_their_time_limit(name: str) -> None:
    problem = Problem(range(3), LDP(1), HammingLoss())
    raw = solve_conic(problem, name, Limits(seconds=60))
    assert raw.matrix == pytest.approx(solve_conic(problem, name).matrix, abs=1e-6)


@pytest.mark.parametrize("name", ["CLARABEL", "HIGHS"])
def test_solvers_of_cvxpy_stop_when_time_is_over(name: str) -> None:
    problem = Problem(range(30), MetricPrivacy("0.2", "absolute"), MeanAbsoluteError())
    with pytest.raises(SolverError, match=f"{name} .*: the time limit of 0.01 s"):
        solve_conic(problem, name, Limits(seconds=0.01))
    with pytest.raises(SolverError, match=f"{name} was not started: the time limit"):
        solve_conic(problem, name, Limits(seconds=0.0))


def test_an_interrupt_stops_the_next_step() -> None:
    limits = Limits()
    limits.interrupted = True
    problem = CASES["whole channel"].problem
    for solve in (solve_non_conic, solve_linear):
        with pytest.raises(SolverError, match="interrupted"):
            solve(problem, "simplex", limits)
    with pytest.raises(SolverError, match="interrupted"):
        solve_conic(problem, "CLARABEL", limits)
