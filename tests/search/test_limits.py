"""Limits: whatever ends a search, its channel is private, and its bound is on the right side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import mechdesign as md
from mechdesign.search.conic.cvxpy_solver import TIME_LIMITS, solve_conic
from mechdesign.search.conic.non_conic import solve_non_conic
from mechdesign.search.estimation_risk.ray_classes import RayClasses
from mechdesign.search.estimation_risk.solve import solve_estimation
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.limits import Limits, Progress
from mechdesign.search.lp.linear_program import by_highs, solve_linear
from mechdesign.search.presolve.chain import conic_program
from mechdesign.search.presolve.reductions import reduced_costs
from tests.search.routes_support import uneven


def test_the_limit_ends_a_search_that_would_take_minutes() -> None:
    scalar = md.PosteriorMeanSquaredError()
    problem = md.Problem(range(200), md.MetricPrivacy("0.1", "absolute"), scalar, prior=uneven(200))
    solution = md.design(problem, time_limit=1)
    assert any("time limit" in note for note in solution.notes)
    assert solution.bound <= solution.value
    assert problem.cone.holds(solution.channel)


@pytest.mark.parametrize(
    ("k", "utility"), [(12, md.PosteriorMeanSquaredError(histogram=True)), (30, None)]
)
def test_a_large_gap_takes_fewer_rounds_than_a_small_one(k: int, utility: Any) -> None:
    counts = []
    for gap in (0.3, None):
        rounds: list[Progress] = []
        problem = md.Problem(
            range(k), md.LIP(1), utility or md.PosteriorMeanSquaredError(), prior=uneven(k)
        )
        md.design(problem, gap=gap, progress=rounds.append)
        counts.append(len(rounds))
    assert 1 <= counts[0] < counts[1]


@pytest.mark.parametrize(
    "risk", [md.L2Risk(worst_case=True), md.TVRisk(worst_case=True), md.TVRisk()]
)
@pytest.mark.parametrize("notion", [md.LDP(1), md.LDP("0.1")])
def test_classes_cut_short_need_few_outputs(notion: md.LDP, risk: md.L2Risk | md.TVRisk) -> None:
    """All 2**14 - 2 rays are in use when the search begins; few of them tell as much."""
    problem = md.Problem(range(14), notion, risk)
    assert RayClasses.of(problem.cone) is not None
    limits = Limits(watch=lambda _: setattr(limits, "interrupted", True))
    raw = solve_estimation(problem, limits)
    assert raw.matrix.shape[1] <= 14 * 15 + 1
    solution = md.design(problem, route="estimation", time_limit=1e-9)
    assert len(solution.channel.outputs) <= 14 * 15 + 1
    assert 0.01 < solution.gap < 1


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
def test_highs_stops_between_its_steps_and_when_time_is_over(method: str) -> None:
    limits = AskedOften()
    with pytest.raises(md.SolverError, match=rf"HiGHS \({method}\) stopped: asked often enough"):
        solve_lp(assignment(60), method, limits)
    assert limits.asked > limits.most
    words = rf"HiGHS \({method}\) stopped: the time limit of 0.02 s was reached"
    with pytest.raises(md.SolverError, match=words):
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
    utility = md.MeanAbsoluteError(worst_case=worst_case)
    program, _ = conic_program(md.Problem(range(30), md.LDP(1), utility))
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
    problem = md.Problem(range(3), md.LDP(1), md.HammingLoss())
    raw = solve_conic(problem, name, Limits(seconds=60))
    assert raw.matrix == pytest.approx(solve_conic(problem, name).matrix, abs=1e-6)


@pytest.mark.parametrize("name", ["CLARABEL", "HIGHS"])
def test_solvers_of_cvxpy_stop_when_time_is_over(name: str) -> None:
    problem = md.Problem(range(30), md.MetricPrivacy("0.2", "absolute"), md.MeanAbsoluteError())
    with pytest.raises(md.SolverError, match=f"{name} .*: the time limit of 0.01 s"):
        solve_conic(problem, name, Limits(seconds=0.01))
    with pytest.raises(md.SolverError, match=f"{name} was not started: the time limit"):
        solve_conic(problem, name, Limits(seconds=0.0))


def test_an_interrupt_stops_the_next_step() -> None:
    limits = Limits()
    limits.interrupted = True
    problem = md.Problem(
        range(9), md.ApproximateLDP(1, "0.01"), md.MeanAbsoluteError(), prior=uneven(9)
    )
    for solve in (solve_non_conic, solve_linear):
        with pytest.raises(md.SolverError, match="interrupted"):
            solve(problem, "simplex", limits)
    with pytest.raises(md.SolverError, match="interrupted"):
        solve_conic(problem, "CLARABEL", limits)
