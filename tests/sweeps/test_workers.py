"""Processes that die, cannot answer or are interrupted cost their own task, and none is left."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pickle import PicklingError
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.designs import design as design_module
from mechdesign.kernel import verify
from mechdesign.search.limits import Limits
from mechdesign.sweeps import design_each, tasks
from mechdesign.sweeps.many import Processes
from tests.sweeps.failing import fail, handler, process

DESIGNED = design_module.designed

FAILURES = ["killed", "memory", "result", "not read"]


LOST = [BrokenProcessPool(), PicklingError("no"), MemoryError()]


def children() -> list[Any]:
    return [p for p in multiprocessing.active_children() if p.is_alive()]


@pytest.fixture(autouse=True)
def leaves_no_process() -> Iterator[None]:
    before = children()
    yield
    assert children() == before


# --- the processes --------------------------------------------------------------------------------


def test_every_failure_costs_its_task_only() -> None:
    """Also that of a task that cannot be sent; a process of two that dies takes both with it."""
    asked: list[Any] = [1, *FAILURES, threading.Lock(), 2, 3]
    with closing(Processes(2)) as processes:
        found = dict(processes.work(fail, asked))
    assert sorted(found) == list(range(len(asked)))
    for n, task in enumerate(asked):
        assert found[n] == task if isinstance(task, int) else isinstance(found[n], BaseException)
    assert isinstance(found[asked.index("memory")], MemoryError)


def test_processes_live_on_from_work_to_work_and_end_with_their_tasks() -> None:
    """They ignore Ctrl-C, come back after a death, and end when they are closed amid their work."""
    processes = Processes(1)
    first, again = (dict(processes.work(process, [0]))[0] for _ in range(2))
    assert first == again != os.getpid()
    assert dict(processes.work(handler, [0])) == {0: signal.SIG_IGN}
    assert isinstance(dict(processes.work(fail, ["killed"]))[0], BaseException)
    assert next(processes.work(process, list(range(100))))[1] not in (first, os.getpid())
    assert children()
    processes.close()
    assert not children()


# --- designs in processes -------------------------------------------------------------------------


class FailingError(md.MeanAbsoluteError):
    """A loss that fails as told where it is worked on in a process of its own."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    @property
    def is_maximized(self) -> bool:
        fail(self.how)
        return False


def users(count: int) -> list[md.Problem]:
    prior = ["0.1", "0.2", "0.3", "0.4"]
    losses = (md.MeanAbsoluteError(), md.MeanSquaredDistance())
    return [md.Problem(range(4), md.LIP(n + 1), losses[n % 2], prior=prior) for n in range(count)]


def failing(how: str) -> md.Problem:
    return md.Problem(range(3), md.LIP(1), FailingError(how), prior=[0.2, 0.3, 0.5])


def test_a_process_that_fails_costs_its_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "SINGLES", 1)
    problems = users(2)
    problems.insert(1, failing("killed"))
    found: list[Any] = md.design_many(problems, n_jobs=2, errors="return", route="linear-program")
    assert [isinstance(answer, md.Solution) for answer in found] == [True, False, True]
    assert isinstance(found[1], md.MechdesignError)
    assert str(found[1]).startswith("problems[1]: ")
    for answer, problem in zip(found, problems, strict=True):
        if isinstance(answer, md.Solution):
            assert answer.problem is problem
            verify(answer.document())


@pytest.mark.parametrize(
    ("lost", "error", "match"),
    [
        *((lost, md.SolverError, r"problems\[1\]") for lost in LOST),
        (ZeroDivisionError("by zero"), ZeroDivisionError, "by zero"),
    ],
)
def test_the_death_of_a_process_is_an_error_of_the_library(
    lost: Exception, error: type[Exception], match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception of another package is raised as it is."""
    monkeypatch.setattr(tasks, "SINGLES", 1)
    monkeypatch.setattr(
        Processes, "work", lambda _, run, asked: iter([(0, run(asked[0])), (1, lost)])
    )
    with pytest.raises(error, match=match):
        md.design_many(users(2), n_jobs=2, route="linear-program")


def test_memory_that_runs_out_here_costs_its_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    problems, real = users(3), design_module.designed

    def short(problem: md.Problem, *asked: Any) -> Any:
        if problem is problems[1]:
            raise MemoryError
        return real(problem, *asked)

    monkeypatch.setattr(design_module, "designed", short)
    found: list[Any] = md.design_many(problems, errors="return", route="linear-program")
    assert [isinstance(answer, md.Solution) for answer in found] == [True, False, True]
    assert str(found[1]) == "problems[1]: out of memory"
    with pytest.raises(md.SolverError, match=r"problems\[1\]: out of memory"):
        md.design_many(problems, route="linear-program")


# --- time and Ctrl-C ------------------------------------------------------------------------------


def test_a_problem_not_started_in_time_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that each design moves on by a second, for which it gets what is left."""
    now, limits, real = [1000.0], list[float](), design_module.designed

    def slow(problem: md.Problem, within: Limits, *asked: Any) -> Any:
        now[0] += 1
        limits.append(within.seconds)
        within.seconds = np.inf
        return real(problem, within, *asked)

    monkeypatch.setattr(design_module, "designed", slow)
    monkeypatch.setattr(time, "time", lambda: now[0])
    found: list[Any] = md.design_many(
        users(5), errors="return", time_limit=2.5, route="linear-program"
    )
    assert limits == [2.5, 1.5, 0.5]
    assert [isinstance(answer, md.Solution) for answer in found] == [True] * 3 + [False] * 2
    late = "not started, as the time limit was reached"
    assert [str(answer) for answer in found[3:]] == [f"problems[{n}]: {late}" for n in (3, 4)]
    now[0] = 1000.0
    with pytest.raises(md.SolverError, match=r"problems\[3\]: not started"):
        md.design_many(users(5), time_limit=2.5, route="linear-program")


def interrupting(monkeypatch: pytest.MonkeyPatch, last: int) -> None:
    """Let the user press Ctrl-C while problem number ``last`` is designed."""
    designed, real = [0], DESIGNED

    def pressed(problem: md.Problem, limits: Limits, *asked: Any) -> Any:
        designed[0] += 1
        limits.interrupted = designed[0] > last
        return real(problem, limits, *asked)

    monkeypatch.setattr(design_module, "designed", pressed)


def test_ctrl_c_returns_finished_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = users(5)
    interrupting(monkeypatch, 2)
    with pytest.warns(UserWarning, match="interrupted: 2 of 5 problems are designed"):
        found = md.design_many(problems, route="linear-program")
    assert [solution.problem for solution in found] == problems[:2]
    interrupting(monkeypatch, 2)
    answers: list[Any] = md.design_many(problems, errors="return", route="linear-program")
    assert [isinstance(answer, md.Solution) for answer in answers] == [True] * 2 + [False] * 3
    assert str(answers[4]) == "problems[4]: interrupted"


def test_ctrl_c_before_anything_is_finished_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupting(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        md.design_many(users(3), route="linear-program")
    with pytest.raises(KeyboardInterrupt):
        list(design_each(users(3), route="linear-program"))


def test_ctrl_c_while_processes_work_returns_finished_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The answers of the fourth and later problems are there; those of the first two, and more."""
    monkeypatch.setattr(tasks, "SINGLES", 1)

    def some(_processes: Any, run: Any, asked: list[Any]) -> Iterator[tuple[int, Any]]:
        for n in (1, 0, 3):
            yield n, run(asked[n])
        raise KeyboardInterrupt

    monkeypatch.setattr(Processes, "work", some)
    problems = users(6)
    with pytest.warns(UserWarning, match="interrupted: 2 of 6"):
        found = md.design_many(problems, n_jobs=2, route="linear-program")
    assert [solution.problem for solution in found] == problems[:2]
    answers: list[Any] = md.design_many(problems, n_jobs=2, errors="return", route="linear-program")
    assert [isinstance(a, md.Solution) for a in answers] == [True, True, False, True, False, False]
