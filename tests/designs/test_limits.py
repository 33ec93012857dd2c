"""Time and memory: a route that is too large is left out, and more time is never worse."""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign import resources
from mechdesign.cli.common import memory_size
from mechdesign.designs import answers as module
from mechdesign.designs.answers import SolutionPool
from mechdesign.errors import LimitError
from mechdesign.evidence.formulas import nothing_constrained
from mechdesign.kernel import verify
from mechdesign.kernel.linearizations import Boxes
from mechdesign.search import ROUTES, RawSolution, highs, plan
from mechdesign.search.coarse.groups import grouped
from mechdesign.search.highs import RestrictedMaster, WarmStartedLP, limit_time
from mechdesign.search.limits import Limits, Progress
from mechdesign.search.rays import extreme_rays
from mechdesign.search.rays.boxes import BoxSearch
from mechdesign.search.starts import baseline as baselines, route as starts
from mechdesign.search.starts.baseline import reach
from mechdesign.search.starts.route import Start
from mechdesign.tables import ExactTable
from tests.designs.test_answers import Failing

LDP1, RISING = md.LDP(1), md.Prior.from_counts(range(1, 7))


def plane(n: int = 3) -> md.Problem:
    domain = md.Domain.grid(n, n)
    prior = [x * x % 17 + 1 for x in range(n * n)]
    return md.Problem(
        domain,
        md.MetricPrivacy("0.7", "euclidean"),
        md.EuclideanDistance(),
        prior=md.Prior.from_counts(prior),
    )


def line_estimate(n: int) -> md.Problem:
    """Return the error of the best estimate of a place on a line."""
    prior = md.Prior.from_counts([x * x % 17 + 1 for x in range(n)])
    notion = md.MetricPrivacy("0.5", "absolute")
    return md.Problem(range(n), notion, md.PosteriorMeanSquaredError(), prior=prior)


PROBLEMS = [
    plane(),
    md.Problem(range(6), LDP1, md.MeanAbsoluteError(worst_case=True)),
    md.Problem(range(6), LDP1, md.PosteriorMeanSquaredError(histogram=True), prior=RISING),
    md.Problem(range(6), LDP1, md.MutualInformation(), prior=RISING),
    md.Problem(
        range(4),
        md.ApproximateLDP(1, "0.01"),
        md.HammingLoss(),
        prior=md.Prior.from_counts([1, 2, 3, 4]),
    ),
]


def test_a_route_by_name_is_left_out_as_well() -> None:
    found = md.design(plane(), route="linear-program", memory_limit=1)
    assert found.route.startswith("start")
    (reason,) = (one.reason for one in found.considered if one.name == "linear-program")
    assert reason.startswith("it needs about")


@pytest.mark.parametrize("name", ROUTES)
def test_memory_grows_with_the_problem_and_holds_the_channel(name: str) -> None:
    small, large = (
        ROUTES[name].memory(md.Problem(range(k), LDP1, md.MeanAbsoluteError())) for k in (10, 100)
    )
    assert 8 * 10**2 <= small <= large / 50


def test_sizes_on_the_command_line() -> None:
    sizes = {"2 GB": 2e9, "2000mb": 2e9, "1.5k": 1500, "7": 7}
    assert {text: memory_size(text) for text in sizes} == sizes
    for wrong in ("", "GB", "-1", "2 XB", "0", "1.2.3 GB", "nan"):
        with pytest.raises(argparse.ArgumentTypeError):
            memory_size(wrong)


DESIGN, NOISE = "mechdesign.designs.design.", "mechdesign.designs.noise."
RATE = "mechdesign.designs.answers.STEPS_A_SECOND"
LISTED, POINT = (f"{DESIGN}LISTED_SECONDS", 1, 3), (f"{NOISE}POINT_SECONDS", 1, 3)
CITY, EYE = md.Domain.grid(70, 70), np.eye(3).tolist()
LINE = md.Problem(md.Domain.range(5000), md.MetricPrivacy(1, "absolute"), md.MeanAbsoluteError())


def city(epsilon: str) -> md.Problem:
    return md.Problem(CITY, md.MetricPrivacy(epsilon, "euclidean"), md.EuclideanDistance())


TOO_LARGE: dict[str, tuple[md.Problem, tuple[str, float, float], str]] = {
    "matrix": (
        md.Problem(range(1000), LDP1, md.HammingLoss()),
        ("", 0, 0.01),
        r"have [\d,]{1,7} entries",
    ),
    "gains": (
        md.Problem(range(3), LDP1, md.GVulnerability(EYE)),
        LISTED,
        "3 s it may have 4 entries",
    ),
    "risk": (
        md.Problem(range(12), LDP1, md.TVRisk()),
        (RATE, 2000, 3),
        "with 12 inputs take too long: for a time limit of 3 s there may be 8",
    ),
    "limits": (
        md.Problem(range(12), md.ApproximateLDP(1, "0.1"), md.HammingLoss()),
        (RATE, 4000, 3),
        "with 12 inputs take too long: for a time limit of 3 s there may be 7",
    ),
    "information": (
        md.Problem(range(12), LDP1, md.MutualInformation()),
        (RATE, 4000, 3),
        "with 12 inputs take too long: for a time limit of 3 s there may be 6",
    ),
    "losses": (md.Problem(range(3), LDP1, md.Distortion(EYE)), LISTED, "3 s it may have 4 entries"),
    "numbers": (LINE, POINT, "limit of 3 s there may be 4 points"),
    "grid": (city("1"), POINT, "noise on 4,900 points .* there may be 4 points"),
    "loss of noise": (city("0.01"), (f"{NOISE}STEPS_A_SECOND", 10, 1), "too long for"),
}
"""The problem; a constant, its value here, and the time limit; and the message."""


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_problem_too_large_for_its_time_limit_is_refused_with_a_size(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No distances are made before, nor a floating-point prior of very many inputs."""
    problem, (constant, value, seconds), message = TOO_LARGE[name]
    if constant:
        monkeypatch.setattr(constant, value)
    if constant.endswith("POINT_SECONDS"):
        monkeypatch.setattr(ExactTable, "distances", None)
    with pytest.raises(md.SolverError, match=message):
        md.design(problem, time_limit=seconds)
    assert not constant.endswith("POINT_SECONDS") or problem.prior._array is None
    assert name != "limits" or "compiled" not in vars(problem)


def ticking() -> Callable[[], float]:
    """Return a clock that goes on by a second whenever it is looked at."""
    seconds = itertools.count()
    return lambda: float(next(seconds))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.utility.name)
def test_a_longer_time_limit_is_never_worse(problem: md.Problem) -> None:
    """Time is counted in looks at the clock, so that every machine ends alike."""
    values = []
    sign = -1 if problem.utility.is_maximized else 1
    for seconds in (3, 10, 30, 300):
        answers = SolutionPool(problem, Limits(seconds=seconds, clock=ticking()))
        answers.run(plan(problem, "auto", Limits(), []), Start())
        values.append(sign * float(answers.solution().value))
    for early, late in itertools.pairwise(values):
        assert late <= early + 1e-7 * abs(early)


def test_the_start_comes_first_where_a_search_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a search may end as soon as its bound is near enough to the start."""
    problem = plane()
    assert not Start().is_first(problem)
    assert Start().is_first(plane(14))
    monkeypatch.setattr(starts, "LONG", 1)
    assert Start().is_first(problem)
    raw = Start().solve(problem, Limits())
    seen: list[Progress] = []
    found = md.design(problem, gap=0.2, progress=seen.append, route="interior")
    assert all(progress.value <= raw.value for progress in seen)
    assert found.gap <= 0.2
    assert float(found.value) <= raw.value + 1e-9


def test_a_round_that_would_end_late_is_not_begun() -> None:
    clock = Clock()
    limits = Limits(seconds=10, clock=clock)
    part = limits.part(unit=1.0)
    for clock.now, is_late in ((0.0, False), (3.0, False), (6.0, False), (9.0, True)):
        assert part.report(1, 2.0, 1.0) == is_late
    assert limits.expired()
    assert "time limit of 10 s" in limits.ended


def test_an_incumbent_counts_for_the_whole_only() -> None:
    limits = Limits(gap=0.1)
    limits.incumbent = 1.0
    part = limits.part(unit=2.0)
    other = limits.part()
    assert not part.report(1, 3.0, 0.4)
    assert part.report(2, 3.0, 0.46)
    assert not other.report(2, 3.0, 0.46)


def uniform(proofs: Any = ()) -> RawSolution:
    """The channel that tells nothing, with the proofs of another."""
    return RawSolution(np.full((9, 9), 1 / 9), plane().outputs or (), proofs, "poor")


def inside(problem: md.Problem) -> SolutionPool:
    """The answer of the interior-point method."""
    answers = SolutionPool(problem, Limits())
    answers.attempt(*next(plan(problem, "interior", Limits(), [])))
    assert answers.best is not None
    return answers


def test_the_channel_of_the_start_takes_the_place_of_a_worse_answer() -> None:
    """It is repaired in its place, and the evidence of the answer proves the bound beside it."""
    problem = plane()
    answers = inside(problem)
    bound = float(answers.solution().bound)
    solution = begun(problem, uniform(answers.best.raw.proofs))
    start = Start().solve(problem, Limits())
    assert float(solution.value) == pytest.approx(start.value)
    # multipliers are rounded as far as the gap allows, by a small share of it
    slack = 0.05 * (float(solution.value) - bound)
    assert bound - slack <= float(solution.bound) <= bound + 1e-9
    assert solution.route == f"{start.route}; the bound by poor"
    verify(solution.document())


class First(Start):
    """A start that comes before any search."""

    def is_first(self, problem: md.Problem) -> bool:
        return True


def begun(problem: md.Problem, raw: RawSolution, seconds: float = math.inf) -> md.Solution:
    """Solve by a start and then a route that returns an answer."""
    answers = SolutionPool(problem, Limits(seconds=seconds))
    answers.run(iter([(Failing(raw=raw), "asked for")]), First())
    return answers.solution()


def test_the_start_stands_where_the_repair_makes_an_answer_worse() -> None:
    """A matrix that tells everything has no loss, until it is made private."""
    problem = plane()
    told = RawSolution(np.eye(9), problem.outputs or (), (), "told")
    alone = SolutionPool(problem, Limits())
    alone.attempt(Failing(raw=told), "asked for")
    start = Start().solve(problem, Limits())
    assert alone.best is not None
    assert float(alone.value) > 1.01 * start.value
    assert float(begun(problem, told).value) == pytest.approx(start.value)


def test_where_time_is_limited_a_bound_is_proved_before_the_search() -> None:
    """A search that finds nothing better changes nothing, and loses nothing."""
    problem = plane()
    solution = begun(problem, uniform(), seconds=1e6)
    start = Start().solve(problem, Limits())
    assert float(solution.value) == pytest.approx(start.value)
    assert solution.route.startswith("coarse: ")
    optimum = md.design(problem)
    assert 0.5 * float(optimum.bound) <= float(solution.bound) <= float(optimum.value)
    verify(solution.document())


def test_a_search_with_the_better_channel_keeps_the_bound_from_before() -> None:
    problem = plane()
    answers = inside(problem)
    bare = replace(answers.best.raw, proofs=(), route="good")
    found = begun(problem, bare, seconds=1e6)
    assert float(found.value) == pytest.approx(float(answers.value))
    assert found.route.startswith("good; the bound by coarse: ")
    assert 0 < float(found.bound) <= float(found.value) + 1e-12
    verify(found.document())


def test_an_early_interrupt_of_a_long_search_proves_nothing_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A channel with a bound precedes the search, whose first steps are worse."""
    monkeypatch.setattr(module, "MANY_ROWS", 1)
    limits, took = Limits(clock=lambda: 0.0), list[str]()

    def watch(now: Progress) -> None:
        limits.interrupted = now.rounds == 2

    limits.watch = watch
    answers = SolutionPool(plane(6), limits)
    prove = answers._take_proof
    monkeypatch.setattr(
        answers,
        "_take_proof",
        lambda make, route, most: took.append(route) or prove(make, route, most),
    )
    answers.run(plan(plane(6), "interior", limits, []), First())
    found = answers.solution()
    assert [route for route in took if route] == ["coarse: start: a channel done by hand, 1 round"]
    assert 0 < float(found.bound) <= float(found.value)
    assert any("interrupted" in note for note in found.notes)


@pytest.mark.parametrize("problem", [plane(6), line_estimate(30)], ids=["plane", "line"])
def test_an_interrupt_before_the_first_round_leaves_a_bound(problem: md.Problem) -> None:
    """The clock stands still, so that the proof has its seconds on any machine."""
    limits = Limits(clock=lambda: 0.0)
    limits.interrupted = True
    answers = SolutionPool(problem, limits)
    answers.run(plan(problem, "auto", limits, []), First())
    found = answers.solution()
    assert 0 < float(found.bound) <= float(found.value)
    assert any("interrupted" in note for note in found.notes)
    verify(found.document())


# --- every design ends ----------------------------------------------------------------------------


RNG = np.random.default_rng(0)
LOSSES = np.where(np.eye(12, dtype=bool), 0, RNG.integers(1, 50, (12, 12)))
BUDGETS = np.where(np.eye(7, dtype=bool), 0, RNG.integers(1, 20, (7, 7)) / 10)
UNEVEN = md.Prior.from_counts(range(1, 13))
TEN = md.Prior.from_counts(range(3, 13))

FAMILIES = {
    "posterior mean, metric": md.Problem(
        range(12), md.MetricPrivacy("0.1", "absolute"), md.PosteriorMeanSquaredError(), prior=UNEVEN
    ),
    "a table, LDP": md.Problem(range(12), md.LDP(1), md.Distortion(LOSSES.tolist()), prior=UNEVEN),
    "a table, worst case": md.Problem(range(12), md.LDP(1), md.Distortion(LOSSES.tolist(), True)),
    "a grid": md.Problem(
        md.Domain.grid(4, 4), md.MetricPrivacy(1, "euclidean"), md.EuclideanDistance()
    ),
    "a matrix of budgets": md.Problem(
        range(7), md.ContextAwareLDP(BUDGETS.tolist()), md.BayesAccuracy()
    ),
    "information": md.Problem(
        range(7), md.ContextAwareLDP(BUDGETS.tolist()), md.MutualInformation()
    ),
    "a risk": md.Problem(range(12), md.LDP(1), md.L2Risk(), prior=UNEVEN),
    "two hypotheses": md.Problem(
        range(12),
        md.HighLowLDP(1, range(6)),
        md.TotalVariation(list(UNEVEN), list(UNEVEN)[::-1]),
    ),
    "lifts": md.Problem(range(10), md.LIP("0.5"), md.HammingLoss(), prior=TEN),
    "two lifts": md.Problem(
        range(10), md.AsymmetricLift("0.3", 1), md.MeanAbsoluteError(), prior=TEN
    ),
}


def trivial(problem: md.Problem) -> float:
    statement = problem.compiled.statement
    return float(statement.sign * nothing_constrained(problem.compiled).bound(statement))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_search_without_time_has_a_channel_and_a_bound(name: str) -> None:
    """The bound is proved, and better than that which ignores privacy."""
    problem = FAMILIES[name]
    found = md.design(problem, time_limit=1e-6)
    sign = problem.compiled.statement.sign
    assert sign * trivial(problem) < sign * float(found.bound) <= sign * float(found.value) + 1e-9
    assert verify(found.document()).bound == found.bound


def test_there_are_no_groups_without_ratios() -> None:
    assert grouped(FAMILIES["lifts"]) is None
    assert grouped(md.Problem([0], md.LDP(1), md.HammingLoss())) is None
    free = md.ContextAwareLDP([[0, "inf"], ["inf", 0]])
    assert grouped(md.Problem(range(2), free, md.HammingLoss())) is None


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("name", ["information", "posterior mean, metric"])
def test_an_answer_whose_value_would_end_late_does_not_replace_the_start(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start has few outputs then: it is valued in its place, beside the bound of the search."""
    problem = FAMILIES[name]
    usual = md.design(problem)
    monkeypatch.setattr(module, "STEPS_A_SECOND", 100)
    monkeypatch.setattr(SolutionPool, "_check_work", lambda *_: None)
    found = md.design(problem, time_limit=5)
    assert found.route.startswith("start: ")
    assert found.value != usual.value
    assert verify(found.document()).value == found.value
    monkeypatch.setattr(baselines, "STEPS_A_SECOND", 1)
    assert Start().solve(problem, Limits(seconds=5)).matrix.shape[1] <= 8


def test_a_start_follows_no_direction_after_its_time() -> None:
    """A clock that ticks at every look leaves three of seven; the constant column is private."""
    problem = FAMILIES["a matrix of budgets"]
    far = reach(problem.cone, np.eye(7), Limits(seconds=4, clock=ticking()))
    assert far.tolist() == [*reach(problem.cone, np.eye(7))[:3], 0, 0, 0, 0]


def test_a_search_for_rays_that_takes_too_long_is_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of the time is left to the start then."""
    monkeypatch.setattr(extreme_rays, "ENTRIES_A_STEP", 1e-9)
    monkeypatch.setattr(extreme_rays, "BoxSearch", None)
    problem = FAMILIES["information"]
    with pytest.raises(md.SolverError, match="rays on 7 inputs takes too long"):
        extreme_rays.solve_by_rays(problem, Limits(seconds=20))
    assert md.design(problem, time_limit=20).route.startswith("start: ")


def test_a_search_for_rays_ends_while_it_bounds_ratios() -> None:
    problem = FAMILIES["information"]
    with pytest.raises(md.SolverError, match="7 inputs were not bounded: the time limit of 4 s"):
        BoxSearch.of(problem, problem.utility, Limits(seconds=4, clock=ticking()))


def test_a_proof_by_boxes_that_takes_too_long_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = FAMILIES["information"]
    search = BoxSearch.of(problem, problem.utility)
    priced = search.price(np.zeros(7), 1.0, 1)
    assert priced.proof(problem) is not None
    monkeypatch.setattr(Boxes, "nodes", None)
    with resources.allow(proof_steps=1000), pytest.raises(LimitError, match="relaxation"):
        priced.proof(problem)


def test_a_solver_that_ends_late_is_not_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    master, calls = RestrictedMaster(np.eye(2), np.ones(2)), list[str]()
    load = WarmStartedLP._load
    monkeypatch.setattr(WarmStartedLP, "_load", lambda *a: calls.append("load") or load(*a))
    monkeypatch.setattr(highs, "is_optimal", lambda _: False)
    for is_late, loads in ((True, 0), (False, 3)):
        monkeypatch.setattr(highs, "is_late", lambda _, late=is_late: late)
        with pytest.raises(md.SolverError, match="stopped: Optimal"):
            master.solve()
        assert len(calls) == loads


def test_a_solver_without_limits_of_its_own_ends_with_the_design() -> None:
    clock, until = Clock(), []

    class Solver:
        def getRunTime(self) -> float:  # noqa: N802
            return 2.0

        def setOptionValue(self, option: str, value: float) -> None:  # noqa: N802
            until.append((option, value))

    limit_time(Solver(), None)
    limits = Limits(seconds=1, clock=clock)
    with limits.hold():
        clock.now = 1.5
        limit_time(Solver(), None)
        clock.now = 0.25
        limit_time(Solver(), limits)
    assert until == [("time_limit", pytest.approx(2.56)), ("time_limit", pytest.approx(2.76))]


def test_a_step_has_half_of_the_time_left_and_an_interrupt_leaves_a_few_seconds_once() -> None:
    clock = Clock()
    limits = Limits(seconds=10, clock=clock)
    for clock.now, left in ((4.0, 3), (10.5, 0.5)):
        assert limits.step().left == pytest.approx(left)
    assert limits.expired()
    limits, clock.now = Limits(clock=clock), 0.0
    assert limits.grace == np.inf
    limits.interrupted = True
    for clock.now, left in ((0.0, 5), (4.0, 1), (9.0, 0.1)):
        assert limits.grace == pytest.approx(left)
