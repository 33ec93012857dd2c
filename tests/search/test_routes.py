"""The contract of all routes: private, proved and optimal; and honest, whatever ends the search.

The limits are time, memory, a gap and Ctrl-C; the faults are those of outside solvers.
"""

from __future__ import annotations

import itertools
import math
import signal
from typing import Any

import numpy as np
import pytest

from mechdesign import Channel, Problem
from mechdesign.designs.solution import Solution
from mechdesign.kernel import verify
from mechdesign.search.limits import Progress
from mechdesign.utilities import EstimationRisk, ReadingVariance
from solvers import SOLVERS
from tests.faults_support import FAULTS, Faults
from tests.search.routes_support import CASES, Case, as_loss, known


def constant_value(problem: Problem) -> float | None:
    """The value of the best single output, as a loss; None where it is infinite."""
    if isinstance(problem.utility, EstimationRisk | ReadingVariance):
        return None
    values = []
    for label in problem.outputs or (0,):
        one = [[1]] * len(problem.domain)
        sent = Channel.from_matrix(one, inputs=problem.domain, outputs=[label])
        values.append(as_loss(problem, problem.utility.value(sent, problem.prior, problem.outputs)))
    return min(values)


def assert_honest(case: Case, problem: Problem, solution: Solution, optimum: float) -> None:
    """The saved file is verified, the value no worse than that of a constant, the bound no lie.

    Where the user adds constraints, the repair may break them: the value is then below the optimum.
    """
    verify(solution.document())
    assert len(solution.privacy) == len(problem.privacy)
    slack = 1e-6 * max(1.0, abs(optimum))
    value, bound = as_loss(problem, solution.value), as_loss(problem, solution.bound)
    assert bound <= value
    assert bound <= optimum + slack
    assert (solution.status == "optimal") == (solution.gap <= 1e-6)
    if case.terms is None:
        assert value >= optimum - slack
        most = constant_value(problem)
        assert most is None or value <= most + 1e-9 * max(1.0, abs(most))


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_private_proved_and_optimal(name: str) -> None:
    """It asks a solver, and its value is that of an independent one."""
    case, found = CASES[name], known(name)
    problem, solution = found.problem, found.solution
    assert_honest(case, problem, solution, found.optimum)
    assert found.calls > 0
    if case.terms is None:
        utility = problem.utility
        assert utility.value(solution.channel, problem.prior, problem.outputs) == solution.value
    for notion in problem.privacy:
        assert notion.holds(solution.channel, problem.prior)
    if case.reference:
        assert solution.status == "optimal"
        reference = SOLVERS[case.reference](problem).value
        assert float(solution.value) == pytest.approx(reference, rel=2e-6)
    # what is reported on the way is on the right side, and the best so far
    value, bound = found.optimum, as_loss(problem, solution.bound)
    slack = 1e-6 * max(1.0, abs(value))
    values = [p.value for p in found.told if not math.isnan(p.value)]
    bounds = [p.bound for p in found.told if not math.isnan(p.bound)]
    assert all(told <= value + slack for told in bounds)
    assert all(told >= bound - slack for told in values)
    assert values == sorted(values, reverse=True)
    assert all(late >= early - slack for early, late in itertools.pairwise(bounds)), bounds
    assert [p.seconds for p in found.told] == sorted(p.seconds for p in found.told)


@pytest.mark.parametrize(
    "limit", [{"time_limit": 1e-9}, {"memory_limit": 1}, {"gap": 0.3}], ids=str
)
@pytest.mark.parametrize("name", CASES)
def test_a_limit_leaves_an_honest_answer(name: str, limit: dict[str, Any]) -> None:
    rounds: list[Progress] = []
    problem, solution = CASES[name].run(**limit, progress=rounds.append)
    assert_honest(CASES[name], problem, solution, known(name).optimum)
    if "gap" in limit:
        assert solution.gap <= 0.3
        assert all(p.gap > 0.3 for p in rounds[:-1])
        assert len(rounds) <= len(known(name).told) or CASES[name].few_rays
    if "time_limit" in limit:
        noted = any("time limit" in note for note in solution.notes)
        assert noted == (solution.status != "optimal")
    if "memory_limit" in limit and solution.route.startswith("start"):
        assert any("memory" in one.reason for one in solution.considered)


@pytest.mark.parametrize("name", CASES)
def test_ctrl_c_leaves_an_honest_answer(name: str) -> None:
    told: list[Progress] = []

    def watch(progress: Progress) -> None:
        told.append(progress)
        if len(told) == 1:
            signal.raise_signal(signal.SIGINT)

    problem, solution = CASES[name].run(progress=watch)
    assert_honest(CASES[name], problem, solution, known(name).optimum)
    assert len(told) == min(1, len(known(name).told))
    if len(known(name).told) > 1:
        assert "ended early: interrupted" in solution.notes


# --- faults ---------------------------------------------------------------------------------------


FAULTED = [name for name in CASES if not name.startswith("readings")]
"""Readings have no answer where every linear system is wrong: that of the start takes one too."""


def attack(name: str, kind: str, at: int, *, lasting: bool) -> None:
    """Design with a fault; what fails says which fault it was."""
    calls = known(name).calls
    faults = Faults(FAULTS[kind], at, lasting=lasting, most=50 * calls + 20_000)
    try:
        problem, solution = CASES[name].run(faults)
        assert_honest(CASES[name], problem, solution, known(name).optimum)
    except BaseException as error:
        error.add_note(f"{kind!r} at call {at} of {calls}, {'lasting' if lasting else 'once'}")
        raise


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("name", FAULTED)
def test_faults_at_the_first_call(
    name: str, lasting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every kind of fault for some of the cases."""
    monkeypatch.undo()
    for kind in list(FAULTS)[FAULTED.index(name) :: len(FAULTED)]:
        attack(name, kind, 0, lasting=lasting)


GROUPS = sorted({kind.split()[0] for kind in FAULTS})


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("name", FAULTED)
def test_every_kind_of_fault_for_every_case(
    name: str, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a call that is drawn, and from the first one on."""
    monkeypatch.undo()
    rng = np.random.default_rng(FAULTED.index(name))
    for kind in FAULTS:
        if kind.split()[0] == group:
            attack(name, kind, int(rng.integers(known(name).calls)), lasting=False)
            attack(name, kind, 0, lasting=True)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["raises MemoryError", "both: all NaN", "both: noise of 1e-3"])
@pytest.mark.parametrize("name", FAULTED)
def test_some_kinds_of_fault_at_every_call(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first forty calls, and at forty of the others where they are more."""
    monkeypatch.undo()
    calls = known(name).calls
    for at in sorted({*range(min(40, calls)), *range(0, calls, max(1, calls // 40))}):
        attack(name, kind, at, lasting=False)
