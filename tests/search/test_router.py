"""The registry of routes: names and docs agree, the router picks by it, and it takes ones own."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import mechdesign as md
from mechdesign.cli.design import COMMANDS
from mechdesign.kernel import verify
from mechdesign.search import AUTO, NOISE, ROUTES, RawSolution, Route, plan, router
from mechdesign.search.conic.cvxpy_solver import TIME_LIMITS, solve_conic
from mechdesign.search.conic.non_conic import solve_non_conic
from mechdesign.search.estimation_risk.ray_classes import RayClasses
from mechdesign.search.estimation_risk.solve import solve_estimation
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.interior import solve as interior
from mechdesign.search.limits import Limits, Progress
from mechdesign.search.lp.linear_program import by_highs, solve_linear
from mechdesign.search.presolve.chain import PRESOLVE, conic_program
from mechdesign.search.presolve.reductions import ConicProgram, Reduced, reduced_costs
from tests.refusals_support import check_refused
from tests.search.routes_support import uneven

DOCS = Path(__file__).resolve().parents[2] / "docs"

SKEWED = [0.5, 0.3, 0.2]

PROBLEMS = {
    "a formula": md.Problem(range(3), md.LDP(1), md.HammingLoss()),
    "a loss on a line": md.Problem(range(3), md.LDP(1), md.MeanAbsoluteError(), prior=SKEWED),
    "a small program": md.Problem(
        range(3), [md.LDP(1), md.LIP(1)], md.MeanAbsoluteError(), prior=SKEWED
    ),
    "a worst case": md.Problem(range(3), md.LDP(1), md.HammingLoss(worst_case=True), prior=SKEWED),
    "a line": md.Problem(range(24), md.MetricPrivacy(1, "absolute"), md.MeanAbsoluteError()),
    "a large program": md.Problem(
        range(40),
        md.LDP(1),
        md.Distortion([[abs(x * x - y * y) % 7 for y in range(40)] for x in range(40)]),
        outputs=range(40),
        prior=[(x + 1) / 820 for x in range(40)],
    ),
    "a guess": md.Problem(range(3), md.LDP(1), md.BayesAccuracy(), prior=SKEWED),
    "a scalar": md.Problem(range(3), md.LDP(1), md.PosteriorMeanSquaredError(), prior=SKEWED),
    "information": md.Problem(range(3), md.LDP(1), md.MutualInformation(), prior=SKEWED),
    "a risk": md.Problem(range(3), md.LDP(1), md.L2Risk(), prior=SKEWED),
    "the whole channel": md.Problem(
        range(3), md.ApproximateLDP(1, "0.1"), md.HammingLoss(), prior=SKEWED
    ),
}

PLANS = {
    "a formula": ["closed-form", "linear-program", "linear-program", "linear-program"],
    "a loss on a line": ["closed-form", "linear-program", "linear-program", "linear-program"],
    "a small program": ["linear-program"] * 3,
    "a worst case": ["linear-program"] * 3,
    "a line": ["columns", "linear-program", "linear-program", "linear-program"],
    "a large program": ["interior", "linear-program", "linear-program", "linear-program"],
    "a guess": ["closed-form", *["linear-program"] * 3, "extreme-rays"],
    "a scalar": ["decoder-grid"],
    "information": ["extreme-rays"],
    "a risk": ["estimation"],
    "the whole channel": ["conic"] * 3,
}
"""The routes that the router tries, in order, until the gap is small enough."""


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_router_tries_the_most_suitable_route_first(name: str) -> None:
    attempts = list(plan(PROBLEMS[name], AUTO, Limits(), []))
    assert [route.name for route, _ in attempts] == PLANS[name]
    again = ["another method for a smaller gap" in why for _, why in attempts]
    assert again == [n > 0 for n in range(len(attempts))]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_route_solves_the_problems_that_it_accepts(name: str, route: str) -> None:
    """And refuses the rest, in one line that names the route or the utility."""
    problem, asked = PROBLEMS[name], "cvxpy:CLARABEL" if route == "cvxpy" else route
    chosen = ROUTES[route]
    if name in ("a line", "a large program") and route == "cvxpy":
        pytest.skip("too slow")
    able = problem.is_conic or chosen.allows_non_conic
    if (
        able
        and chosen.suits(problem, named=True)
        and (route != "cvxpy" or problem.utility.linear_form)
    ):
        raw = next(plan(problem, asked, Limits(), []))[0].solve(problem, Limits())
        assert raw.matrix.shape[0] == len(problem.domain)
        assert raw.matrix.sum(axis=1) == pytest.approx(1, abs=1e-6)
    else:
        with pytest.raises(md.UnsupportedError, match=r"^(route|utility\.objective|objective): "):
            md.design(problem, route=asked)


def test_the_docs_list_the_registry() -> None:
    """With the summary of each."""
    text = (DOCS / "problem_files.md").read_text(encoding="utf-8")
    table = text.split("## Routes")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([a-z-]+)(?::[A-Z]+)?` \| (.*) \|$", table, re.MULTILINE)
    assert listed[0][0] == AUTO
    assert dict(listed[1:]) == {name: route.summary for name, route in ROUTES.items()}
    settings = dict(re.findall(r"^\| `([a-z-]+):([A-Z]+)`", table, re.MULTILINE))
    assert settings == {name: route.setting for name, route in ROUTES.items() if route.setting}


def test_the_command_and_the_docstring_name_every_route() -> None:
    parser = argparse.ArgumentParser()
    COMMANDS[0].add_to(parser.add_subparsers())
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    (action,) = [a for a in commands.choices["solve"]._actions if "--route" in a.option_strings]
    words = re.findall(r"[a-z-]+(?=[,:]| or | and |$)", action.help or "")
    assert set(words) & {AUTO, *ROUTES} == {AUTO, *ROUTES}
    quoted = re.findall(r'``"([a-z-]+)(?::NAME)?"``', md.design.__doc__ or "")
    assert {AUTO, *ROUTES} <= set(quoted)


def test_the_error_of_an_unknown_route_lists_the_registry() -> None:
    caught = check_refused("", md.design, PROBLEMS["a formula"], route="colums")
    assert caught.expected == f"one of {', '.join((AUTO, *ROUTES, NOISE))}"
    assert caught.hint == "did you mean 'columns'?"


def test_a_refusal_names_the_purpose_of_the_route() -> None:
    problem = PROBLEMS["information"]
    for route in ("interior", "estimation"):
        with pytest.raises(md.UnsupportedError) as caught:
            md.design(problem, route=route)
        assert caught.value.hint == f"it is {ROUTES[route].summary}"


# --- a method and a reduction of one's own --------------------------------------------------------


class RandomizedResponse(Route):
    """Randomized response, for Hamming loss under LDP."""

    name = "own"
    summary = "randomized response"

    def suits(self, problem: md.Problem, named: bool = False) -> str | None:
        """Ask for Hamming loss under one budget."""
        suits = problem.sole_notion(md.LDP) is not None and isinstance(
            problem.utility, md.HammingLoss
        )
        return "the loss counts errors" if suits else None

    def solve(self, problem: md.Problem, limits: Limits) -> RawSolution:
        """Return the channel, without a proof."""
        k, notion = len(problem.domain), problem.sole_notion(md.LDP)
        Q = np.ones((k, k)) + np.expm1(float(notion.epsilon)) * np.eye(k)
        return RawSolution(Q / Q.sum(axis=1), problem.outputs or (), (), "own: by hand")


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> RandomizedResponse:
    """The method in a temporary registry, before all others."""
    route = RandomizedResponse()
    monkeypatch.setattr(router, "ROUTES", {route.name: route, **router.ROUTES})
    return route


def test_a_method_is_one_class_and_one_line(own: RandomizedResponse) -> None:
    """It is repaired and proved like any other, and tried first where it suits."""
    problem = md.Problem(range(5), md.LDP(1), md.HammingLoss())
    found, best = md.design(problem, route="own"), md.design(problem, route="linear-program")
    assert found.route == "own: by hand"
    assert found.why == "the loss counts errors"
    assert float(found.value) == pytest.approx(float(best.value))
    assert 0 < found.bound <= best.bound  # that which needs no search
    verify(found.document())
    assert next(plan(problem, AUTO, Limits(), []))[0] is own
    assert md.design(problem).status == "optimal"  # the next one closes the gap
    other = md.Problem(range(5), md.LDP(1), md.MeanAbsoluteError())
    assert own not in [route for route, _ in plan(other, AUTO, Limits(), [])]


def without_repeated_outputs(program: ConicProgram) -> Reduced | None:
    """Leave out outputs that cost what an earlier one does at every input."""
    m = program.cost.shape[1]
    _, first = np.unique(program.cost, axis=1, return_index=True)
    kept = np.sort(first)
    if len(kept) == m:
        return None

    def invert(answers):
        (answer,) = answers
        matrix = np.zeros((len(program.cost), m))
        matrix[:, kept] = answer.matrix
        assert program.is_priced  # prices hold for the outputs left out, which cost the same
        return replace(answer, matrix=matrix)

    left = replace(program, cost=program.cost[:, kept])
    return Reduced((left,), f"{m - len(kept)} outputs are repeated", invert)


def test_a_reduction_is_one_function_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report names it, and the proof is that of the whole problem."""
    losses = [[abs(x - y % 3) ** 2 + x * (y % 3) for y in range(6)] for x in range(4)]
    problem = md.Problem(
        range(4), md.LDP(1), md.Distortion(losses), prior=[0.1, 0.2, 0.3, 0.4], outputs=range(6)
    )
    plain = md.design(problem, route="interior")
    monkeypatch.setattr(interior, "PRESOLVE", (without_repeated_outputs, *PRESOLVE))
    monkeypatch.setattr(interior, "symmetries", lambda _: None)
    found = md.design(problem, route="interior")
    assert any("3 outputs are repeated" in note for note in found.notes)
    assert found.status == plain.status == "optimal"
    assert float(found.value) == pytest.approx(float(plain.value))
    verify(found.document())


# Limits: whatever ends a search, its channel is private, and its bound is on the right side.


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
