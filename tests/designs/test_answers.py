"""One attempt is the whole way from a raw answer to the proof; after a failure comes the next."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.closed_forms import CLOSED_FORMS
from mechdesign.designs import answers as answers_module, design as design_module
from mechdesign.designs.answers import SolutionPool
from mechdesign.kernel import verify
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.oracles import DoubleDescription, Rays
from mechdesign.kernel.packed import Numbers
from mechdesign.search import RawSolution, Route
from mechdesign.search.limits import Limits, Progress
from mechdesign.search.starts.route import Start
from tests.faults_support import FAULTS, Faults

PRIOR = [0.2, 0.5, 0.3]
LEAST = 0.2 + 0.8 / (1 + math.e)
"""The optimum of the problem below: the likeliest two inputs are told apart (Ghazi et al. 2021)."""


@pytest.fixture(autouse=True)
def _as_for_users(monkeypatch: pytest.MonkeyPatch, _mistakes_show: None) -> None:
    monkeypatch.undo()


def problem(utility: Any = None, epsilon: Any = 1) -> md.Problem:
    return md.Problem(range(3), md.LDP(epsilon), utility or md.HammingLoss(), prior=PRIOR)


class Failing(Route):
    """A route that raises, or returns what it is told."""

    name = "failing"
    summary = "for tests"

    def __init__(self, error: Exception | None = None, raw: RawSolution | None = None) -> None:
        self.error, self.raw = error, raw

    def suits(self, problem: md.Problem, named: bool = False) -> str:
        return "asked for"

    def solve(self, problem: md.Problem, limits: Limits) -> RawSolution:
        if self.error is not None:
            raise self.error
        assert self.raw is not None
        return self.raw


def answered(*routes: Route, to: md.Problem | None = None) -> SolutionPool:
    found = SolutionPool(to or problem(), Limits())
    found.run(iter([(route, "asked for") for route in routes]), Start())
    return found


NUMERICAL = (ZeroDivisionError, OverflowError, FloatingPointError, ValueError, IndexError, KeyError)
FAILURES: list[Exception] = [
    md.InputError("prior", "numbers", "text"),
    MemoryError(),
    *(kind("no") for kind in (md.SolverError, md.CertificateError, RuntimeWarning, *NUMERICAL)),
    np.linalg.LinAlgError("no"),
]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_failure_is_noted_and_the_next_route_tried(error: Exception) -> None:
    """Where all fail the start is left: randomized response on the two likeliest inputs."""
    good = Start().solve(problem(), Limits())
    found = answered(Failing(error), Failing(raw=good))
    assert found.best.why == "asked for"
    (failure,) = found.failures
    assert str(error) in failure or type(error).__name__ in failure
    (note,) = (text for text in found.solution().notes if "gave no answer, as " in text)
    assert "no" not in note.partition(", as ")[2].split()  # nothing of the exception
    solution = answered(Failing(error), Failing(error)).solution()
    assert solution.status == "bounded"
    assert solution.value == pytest.approx(LEAST)
    verify(solution.document())


MISTAKES = [kind("no") for kind in (TypeError, AttributeError, NameError, RuntimeError)]
FINAL = [AssertionError(), md.InfeasibleError("no"), KeyboardInterrupt(), SystemExit()]


@pytest.mark.parametrize("error", [*MISTAKES, *FINAL], ids=lambda error: type(error).__name__)
def test_a_bug_or_a_final_error_ends_the_attempts(error: Any) -> None:
    with pytest.raises(type(error)):
        answered(Failing(error))


def test_a_problem_without_a_route_is_refused() -> None:
    error = md.UnsupportedError("utility", "another", "this")
    with pytest.raises(md.UnsupportedError) as caught:
        answered(Failing(error), Failing(md.UnsupportedError("a", "b", "c")))
    assert caught.value is error
    solution = answered(Failing(error), Failing(md.SolverError("no"))).solution()
    assert solution.value == pytest.approx(LEAST)


def test_a_channel_stands_without_evidence_that_proves_nothing() -> None:
    best = md.design(problem())

    def nonsense(_problem: md.Problem) -> Certificate:
        return Certificate(Costs(), Rays(DoubleDescription()), (), (), Numbers([math.nan] * 3))

    raw = RawSolution(best.channel.matrix, best.channel.outputs, [nonsense], "failing")
    solution = answered(Failing(raw=raw)).solution()
    assert solution.value == pytest.approx(best.value)
    assert 0 < solution.bound < best.bound
    verify(solution.document())


@pytest.mark.parametrize("step", ["repair", "Channel", "value"])
def test_memory_may_run_out_at_any_step(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the repair or the proof of the first answer; the next one stands."""
    real, calls = getattr(answers_module, step), list[int]()

    def scarce(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise MemoryError
        return real(*args, **kwargs)

    monkeypatch.setattr(answers_module, step, scarce)
    assert md.design(problem()).status == "optimal"
    assert len(calls) > 1


def test_a_router_that_fails_leaves_the_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    def scarce(*_: Any) -> Any:
        raise MemoryError
        yield

    monkeypatch.setattr(design_module, "plan", scarce)
    solution = md.design(problem())
    assert "the router gave no answer, as it ran out of memory" in solution.notes
    assert solution.value == pytest.approx(LEAST)


@pytest.mark.parametrize(
    "error", [MemoryError(), md.SolverError("no"), np.linalg.LinAlgError("no")]
)
def test_a_closed_form_whose_condition_fails_is_not_taken(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two inputs have a closed form; without it a linear program has the same optimum."""

    def fails(*_: Any) -> Any:
        raise error

    def binary() -> md.Problem:
        return md.Problem(["yes", "no"], md.LDP(1), md.HammingLoss(), prior=["0.4", "0.6"])

    by_formula = md.design(binary())
    for form in CLOSED_FORMS:
        monkeypatch.setattr(form, "decide", fails)
    found = md.design(binary())
    assert by_formula.route.startswith("closed-form")
    assert not found.route.startswith("closed-form")
    assert found.status == "optimal"
    assert float(found.value) == pytest.approx(float(by_formula.value))
    assert all(one.reason.startswith("not decided: ") for one in found.considered)


class OwnError(ValueError):
    """Exceptions of a user's function."""


class OwnGain(md.ColumnUtility):
    """A gain of the user's own that fails."""

    name, sense = "own", "maximize"

    def gain(self, columns: Any, prior: Any) -> Any:
        raise OwnError


class OwnLoss(md.ConvexUtility):
    """A loss of the user's own that fails."""

    name = "own"

    def objective(self, *_: Any) -> Any:
        raise OwnError


@pytest.mark.parametrize("utility", [OwnGain(), OwnLoss()])
def test_an_error_of_the_users_own_utility_is_shown(utility: Any) -> None:
    with pytest.raises(OwnError):
        md.design(problem(utility))


@pytest.mark.parametrize("route", ["columns", "interior", "extreme-rays", "auto"])
def test_an_error_of_the_users_own_callback_is_shown(route: str) -> None:
    def fails(_: Progress) -> None:
        raise OwnError

    utility = md.MutualInformation() if route in ("extreme-rays", "auto") else md.HammingLoss()
    with pytest.raises(OwnError):
        md.design(problem(utility), route=route, progress=fails)


def broken(kind: str, most: int = 20_000) -> Faults:
    return Faults(FAULTS[kind], lasting=True, most=most)


KINDS = ["raises MemoryError", "raises Panic", "both: all NaN", "both: zeros", "claims infeasible"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("utility", [md.HammingLoss(), md.L2Risk(), md.MutualInformation()])
def test_a_frontier_without_a_solver(kind: str, utility: Any) -> None:
    with broken(kind).planted():
        curve = md.design_frontier(problem(utility), ["0.5", 1, 3])
    assert len(curve.solutions) == 3
    for solution in curve.solutions:
        verify(solution.document())


@pytest.mark.parametrize("kind", KINDS)
def test_the_least_epsilon_without_a_solver_is_none_too_small(kind: str) -> None:
    """Either a channel reaches the loss, or that is said not to be decided."""
    right = md.min_epsilon(problem(), "0.3", precision="0.01")
    with broken(kind).planted(), suppress(md.SolverError):
        found = md.min_epsilon(problem(), "0.3", precision="0.01")
        assert found.solution.value <= 0.3
        assert found.epsilon >= right.epsilon - Fraction(1, 100)
