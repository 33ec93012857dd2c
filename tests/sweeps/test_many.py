"""Designing many problems gives what designing each does, whoever does the work."""

from __future__ import annotations

import pickle
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.designs import design as design_module
from mechdesign.kernel import verify
from mechdesign.notions import Notion
from mechdesign.search.limits import Limits
from mechdesign.sweeps import design_each, many, tasks


def users(count: int, size: int = 5, seed: int = 0) -> list[md.Problem]:
    """One problem for each user, of one shape: a prior, a budget and a loss of their own."""
    rng = np.random.default_rng(seed)
    made = []
    for n in range(count):
        prior = md.Prior.from_counts(rng.integers(1, 1000, size).tolist())
        loss = md.MeanAbsoluteError() if n % 3 else md.MeanSquaredDistance()
        made.append(md.Problem(range(size), md.LIP(1 + (n % 4) / 4), loss, prior=prior))
    return made


def mixed() -> list[md.Problem]:
    """Problems of many shapes and routes, in no order."""
    rare, even = [0.01, 0.24, 0.25, 0.5], [0.25] * 4
    notions: list[Notion] = [
        md.LDP(1),
        md.PML("0.5"),
        md.AsymmetricLift(lower=1, upper=2),
        md.LIP(1),
        md.LDP(2),
    ]
    found = [md.Problem(range(4), notion, md.MeanAbsoluteError(), prior=rare) for notion in notions]
    found += [
        md.Problem(range(4), md.LIP(1), md.HammingLoss(), prior=p) for p in (rare, even, rare)
    ]
    found += [
        md.Problem(range(4), [md.LIP(1), md.LDP("1.2")], md.MeanAbsoluteError(), prior=rare)
    ] * 2
    found += [md.Problem(range(5), md.MetricPrivacy(1, "absolute"), md.MeanAbsoluteError())]
    found += [md.Problem(range(3), md.LIP(1), md.MutualInformation(), prior=[0.2, 0.3, 0.5])]
    found += [md.Problem(range(4), md.LDP(1), md.MeanAbsoluteError(worst_case=True))]
    found += [md.Problem(range(4), md.LIP(0), md.MeanAbsoluteError(), prior=rare)]
    found += [md.Problem(["a", "b"], md.LDP(1), md.HammingLoss())] * 2
    return found + users(3)


def assert_same(found: md.Solution, problem: md.Problem) -> None:
    """The same problem, certified, with a value that differs by the two gaps at most."""
    alone = md.design(problem)
    assert found.problem is problem
    assert found.status == alone.status == "optimal"
    slack = (found.gap + alone.gap) * float(alone.value) + 1e-15
    assert abs(float(found.value - alone.value)) <= slack
    assert [claim.notion for claim in found.privacy] == list(problem.privacy)
    assert verify(found.document()).value == found.value


@pytest.mark.slow
@pytest.mark.parametrize(("n_jobs", "backend"), [(1, None), (2, None), (2, "threading")])
def test_the_solutions_are_those_of_design_in_order(n_jobs: int, backend: str | None) -> None:
    problems = mixed()
    found = md.design_many(problems, n_jobs=n_jobs, backend=backend)
    assert len(found) == len(problems)
    for solution, problem in zip(found, problems, strict=True):
        assert_same(solution, problem)


def test_problems_of_one_shape_are_solved_together() -> None:
    problems = users(4, size=9)  # for nine inputs no formula holds
    found = md.design_many(problems)
    assert {solution.route.split(":")[0] for solution in found} == {"interior"}
    assert all("4 problems" in solution.route for solution in found)
    for solution, problem in zip(found, problems, strict=True):
        assert_same(solution, problem)


def test_a_prior_with_zeros_and_a_budget_of_each_size() -> None:
    counts = [[0, 1, 2, 3], [1, 0, 0, 1], [1000, 1, 1, 1], [1, 1, 1, 1]]
    problems = [
        md.Problem(
            range(4), md.LIP(epsilon), md.MeanAbsoluteError(), prior=md.Prior.from_counts(prior)
        )
        for prior in counts
        for epsilon in ("0.001", 1, 5)
    ]
    for solution, problem in zip(md.design_many(problems), problems, strict=True):
        assert_same(solution, problem)


def test_a_generator_is_read_window_by_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "WINDOW", 3)
    problems, read = users(8, size=3), 0

    def reading() -> Iterator[md.Problem]:
        nonlocal read
        for problem in problems:
            read += 1
            yield problem

    found = design_each(reading())
    first = next(found)
    assert isinstance(first, md.Solution)
    assert first.problem is problems[0]
    assert read == 3
    rest = list(found)
    assert [s.problem for s in rest if isinstance(s, md.Solution)] == problems[1:]
    assert read == 8
    assert md.design_many([]) == list(design_each(iter([]))) == []


def test_an_error_is_returned_in_its_place() -> None:
    good = md.Problem(range(3), md.LDP(1), md.HammingLoss())
    without_formula = users(1)[0]
    problems: list[Any] = [good, without_formula, "no problem", good]
    found = md.design_many(problems, route="closed-form", errors="return")
    assert [isinstance(answer, md.Solution) for answer in found] == [True, False, False, True]
    assert isinstance(found[1], md.UnsupportedError)
    assert isinstance(found[2], md.InputError)
    for n in (1, 2):
        assert str(found[n]).startswith(f"problems[{n}]")


def test_an_error_is_raised_with_its_place() -> None:
    problems = [md.Problem(range(3), md.LDP(1), md.HammingLoss()), *users(1)] * 3
    with pytest.raises(md.UnsupportedError, match=r"problems\[1\]"):
        md.design_many(problems, route="closed-form")


def test_a_fault_that_is_ours_is_raised_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> md.Solution:
        raise ZeroDivisionError

    monkeypatch.setattr(design_module, "designed", fails)
    with pytest.raises(ZeroDivisionError) as caught:
        md.design_many([md.Problem(range(3), md.LDP(1), md.HammingLoss())])
    assert caught.value.__notes__ == ["while problems[0] was designed"]


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_may_stop_listening(n_jobs: int) -> None:
    found = design_each(users(100, size=3), n_jobs=n_jobs)
    assert isinstance(next(found), md.Solution)
    assert isinstance(found, Generator)
    found.close()


@pytest.mark.parametrize(
    "given", [md.SolverError("lost"), md.UnsupportedError("a", "b", "c"), None]
)
def test_where_a_batch_fails_each_is_designed_by_itself(
    given: md.MechdesignError | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_problems: list[md.Problem], _limits: Limits) -> None:
        if given is not None:
            raise given

    monkeypatch.setattr(tasks, "solve_interior_batch", fails)
    problems = users(3, size=9)
    for solution, problem in zip(md.design_many(problems), problems, strict=True):
        assert_same(solution, problem)
        assert "problems" not in solution.route


def test_noise_and_continuous_inputs_come_as_design_gives_them() -> None:
    """They are equal after a way between processes, by pickle."""
    interval = md.ContinuousProblem((0, 1), md.LDP(1), md.PosteriorMeanSquaredError())
    line = md.Problem(range(9), md.MetricPrivacy(1, "absolute"), md.MeanAbsoluteError())
    (kernel,) = md.design_many([interval], gap=0.5)
    (noise,) = md.design_many([line], route="noise", gap=0.5)
    assert kernel.problem is interval
    assert noise.problem is line
    for found in (kernel, noise, md.design(users(1)[0])):
        document = found.document()
        assert verify(document).bound is not None
        assert pickle.loads(pickle.dumps(found)).document() == document
    assert not pickle.loads(pickle.dumps(users(1)[0].prior)).array.flags.writeable


def test_a_bar_is_shown_when_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "DELAY", 0)
    md.design_many(users(4), progress=True)
    assert "4/4" in capsys.readouterr().err
    md.design_many(users(4), progress=False)
    md.design_many(users(4))  # standard error is no terminal here
    assert capsys.readouterr().err == ""


def test_a_cluster_does_the_same_work() -> None:
    distributed = pytest.importorskip("distributed", reason="pip install -e '.[cluster]'")
    import joblib

    problems = [*users(6), md.Problem(md.Domain(["a", "b", "c"]), md.LDP(1), md.HammingLoss())]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        found = md.design_many(problems)
    for solution, problem in zip(found, problems, strict=True):
        assert_same(solution, problem)
