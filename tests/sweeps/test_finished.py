"""A folder of finished certificates: nothing is designed twice, and nothing in it is believed."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mechdesign as md
from mechdesign.designs import design as design_module
from mechdesign.kernel import digest, verify
from mechdesign.sweeps import design_each, tasks
from mechdesign.sweeps.tasks import Finished
from tests.refusals_support import check_refused
from tests.sweeps.test_many import users

RARE = [0.01, 0.24, 0.25, 0.5]


def of_every_kind() -> list[md.Problem]:
    """Problems whose files differ in what they hold: decoders, estimators, readings, dual parts."""
    return [
        md.Problem(range(4), md.LIP(1), md.MeanAbsoluteError(), prior=RARE),
        md.Problem(range(4), md.LDP(1), md.BayesAccuracy(), prior=RARE),
        md.Problem(range(3), md.LIP(1), md.MutualInformation(), prior=[0.2, 0.3, 0.5]),
        md.Problem(range(3), md.LIP(1), md.PosteriorMeanSquaredError(), prior=[0.2, 0.3, 0.5]),
        md.Problem(range(4), md.LDP(1), md.PosteriorMeanSquaredError(histogram=True), prior=RARE),
        md.Problem(range(3), md.LDP(1), md.L2Risk(), prior=[0.2, 0.3, 0.5]),
        md.Problem(range(3), md.LDP(1), md.L2Risk(worst_case=True)),
        md.Problem(range(3), md.LDP(1), md.UnbiasedVariance()),
        md.Problem(range(4), md.LDP(1), md.MeanAbsoluteError(worst_case=True)),
        md.Problem(["a", "b"], [md.LIP(1), md.LDP("1.2")], md.HammingLoss(), prior=[0.3, 0.7]),
        md.Problem(range(4), md.MetricPrivacy("0.5", "absolute"), md.HammingLoss()),
    ]


@pytest.fixture
def designed(monkeypatch: pytest.MonkeyPatch) -> list[md.Problem]:
    """The problems that are designed, one by one or together, in order."""
    seen: list[md.Problem] = []
    one, batch = design_module.designed, tasks._solve_batch

    def noted(problem: md.Problem, *options: Any) -> Any:
        seen.append(problem)
        return one(problem, *options)

    def batch_noted(asked: Any, *options: Any) -> dict[int, md.Solution]:
        found = batch(asked, *options)
        seen.extend(problem for place, problem in asked if place in found)
        return found

    monkeypatch.setattr(design_module, "designed", noted)
    monkeypatch.setattr(tasks, "_solve_batch", batch_noted)
    return seen


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_finished_certificates_are_returned_unchanged(
    n_jobs: int, tmp_path: Path, designed: list[md.Problem]
) -> None:
    """Also those of other processes."""
    problems = of_every_kind()
    first = md.design_many(problems, n_jobs=n_jobs, cache=tmp_path)
    assert len(designed) == (len(problems) if n_jobs == 1 else 0)
    designed.clear()
    again = md.design_many(problems, cache=tmp_path)
    assert not designed
    for one, other, problem in zip(first, again, problems, strict=True):
        assert other.problem is problem
        assert other.document() == one.document()
        assert (other.value, other.decoder) == (one.value, one.decoder)
        assert other.bound == verify(one.document()).bound
        assert [row.row for row in other.binding] == [row.row for row in one.binding]
    files = list(tmp_path.rglob("*.json.gz"))
    assert len(files) == len(problems)
    assert all(md.load_channel(file).verified.bound is not None for file in files)


def test_a_batch_has_the_missing_problems(tmp_path: Path, designed: list[md.Problem]) -> None:
    problems = users(4, size=9)  # for nine inputs no formula holds
    md.design_many(problems[1:2], cache=tmp_path)
    designed.clear()
    found = md.design_many(problems, cache=tmp_path)
    assert designed == [problems[0], *problems[2:]]
    assert "3 problems" in found[0].route
    assert all(solution.status == "optimal" for solution in found)


def test_another_question_has_another_file(tmp_path: Path, designed: list[md.Problem]) -> None:
    (problem,) = users(1)
    for options in ({}, {"gap": 0.1}, {"route": "linear-program:simplex"}):
        md.design_many([problem], cache=tmp_path, **options)
    md.design_many([problem.at("1.5")], cache=tmp_path)
    assert len(designed) == len(list(tmp_path.rglob("*.gz"))) == 4


FORGED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "value": lambda document: document.update(value=0.9 * document["value"]),
    "bound": lambda document: document.update(bound=document["value"]),
    "channel": lambda document: document["channel"]["numerators"][0].reverse(),
    "numeric": lambda document: document.update(certificate=None, bound_proved=False),
    "another problem": lambda document: document.update(md.design(users(1)[0].at(3)).document()),
}
NO_FILE = {"cut": gzip.compress(b"{}" * 99)[:-30], "text": b"none", "empty": b""}


@pytest.mark.parametrize("where", ["a file", "another certificate", "nowhere", "itself"])
def test_a_link_is_replaced_and_never_written_through(
    where: str, tmp_path: Path, designed: list[md.Problem]
) -> None:
    problem, other = users(2)
    folder, own = tmp_path / "cache", tmp_path / "own"
    own.write_bytes(b"of somebody else")
    md.design_many([problem, other], cache=folder)
    path, others = (Finished(folder, "auto", None).path(each) for each in (problem, other))
    before = others.read_bytes()
    path.unlink()
    led = {"a file": own, "another certificate": others, "nowhere": tmp_path / "no", "itself": path}
    path.symlink_to(led[where])
    designed.clear()
    md.design_many([problem], cache=folder)
    assert designed == [problem]
    assert path.is_file()
    assert not path.is_symlink()
    assert (own.read_bytes(), others.read_bytes()) == (b"of somebody else", before)
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("how", [*FORGED, *NO_FILE])
def test_a_file_that_does_not_hold_is_no_answer(
    how: str, tmp_path: Path, designed: list[md.Problem]
) -> None:
    problem = users(1)[0]
    honest = md.design_many([problem], cache=tmp_path)[0]
    (file,), document = tmp_path.rglob("*.json.gz"), honest.document()
    if how in FORGED:
        FORGED[how](document)
        document["digest"] = digest(document)
    file.write_bytes(NO_FILE.get(how, gzip.compress(json.dumps(document).encode())))
    designed.clear()
    (again,) = md.design_many([problem], cache=tmp_path)
    assert designed == [problem]
    assert again.value == honest.value
    assert md.load_channel(file).verified.value == honest.value  # and the file is replaced


def test_a_pipe_in_the_folder_holds_nothing_up(tmp_path: Path) -> None:
    problem = users(1)[0]
    file = Finished(tmp_path, "auto", None).path(problem)
    file.parent.mkdir()
    os.mkfifo(file)
    check_refused("not a regular file", md.design_many, [problem], cache=tmp_path)


def test_what_a_limit_cuts_short_is_not_kept(tmp_path: Path) -> None:
    finished, solution = Finished(tmp_path, "auto", None), md.design(users(1)[0])
    finished.keep(replace(solution, notes=(*solution.notes, "ended early: the time limit")))
    finished.keep(replace(solution, certificate=None))
    assert not list(tmp_path.rglob("*.gz"))
    finished.keep(solution)
    assert list(tmp_path.rglob("*.gz")) == [finished.path(solution.problem)]


def test_two_writers_at_once_leave_files_that_hold(tmp_path: Path) -> None:
    problems = users(6)
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(md.design_many, problems, cache=tmp_path) for _ in range(2)]
        answers = [run.result() for run in runs]
    assert [a.value for a in answers[0]] == [a.value for a in answers[1]]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == len(problems)  # and nothing half written beside them
    assert {md.load_channel(file).verified.value for file in files} == {a.value for a in answers[0]}


KILLED = """
    import os, signal, sys
    from mechdesign.sweeps import design_each, many
    from tests.sweeps.test_many import users
    many.WINDOW = 3
    for n, _ in enumerate(design_each(iter(users(6)), cache=sys.argv[1])):
        if n == 3:  # the second window has begun
            os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, designed: list[md.Problem]) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)], check=False
    )
    assert killed.returncode == -9
    kept = len(list(tmp_path.rglob("*.json.gz")))
    assert kept >= 4
    found = md.design_many(users(6), cache=tmp_path)
    assert len(designed) == 6 - kept
    assert [solution.status for solution in found] == ["optimal"] * 6


def test_an_invalid_folder_is_refused_before_the_work(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for given in (file, file / "below", 3, "a\0b"):
        check_refused("cache", design_each, [], cache=given)
        with pytest.raises(md.InputError, match="cache"):
            md.design_frontier(users(1)[0], [1], cache=given)
    (problem,) = users(1)
    Finished(tmp_path, "auto", None).path(problem).parent.write_text("no folder")
    with pytest.raises(md.InputError, match="cache: expected a folder that can be written"):
        md.design_many([problem], cache=tmp_path)


def test_a_frontier_is_kept_and_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = users(1)[0]
    first = md.design_frontier(problem, [2, "0.5", 1], cache=tmp_path)
    monkeypatch.setattr("mechdesign.designs.design.designed", None)  # nothing is designed
    again = md.design_frontier(problem, [1, 2, "0.5"], cache=tmp_path)
    assert [s.value for s in again] == [first.points[n].solution.value for n in (2, 0, 1)]
    assert len(list(tmp_path.rglob("*.gz"))) == 3


def test_budgets_at_once_give_the_same_frontier(tmp_path: Path) -> None:
    """A budget of 0 tells no two inputs apart: there is no unbiased estimate."""
    problem = md.Problem(range(3), md.LDP(1), md.L2Risk(), prior=[0.2, 0.3, 0.5])
    alone = md.design_frontier(problem, [1, 0, 2], errors="return")
    spread = {"n_jobs": 2, "backend": "threading", "cache": tmp_path}
    both = md.design_frontier(problem, [1, 0, 2], errors="return", **spread)
    assert [p.status for p in both.points] == ["optimal", "infeasible", "optimal"]
    assert both.points[1].reason == alone.points[1].reason
    for one, other in zip(both.solutions, alone.solutions, strict=True):
        assert float(one.value) == pytest.approx(float(other.value), rel=1e-6)
    check_refused("n_jobs", md.design_frontier, problem, [1], n_jobs=0)
