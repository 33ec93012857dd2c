"""Whatever an outside solver does, a design is a private channel with a bound that is proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    ApproximateLDP,
    BayesAccuracy,
    BoundedPriorLIP,
    Channel,
    ContextAwareLDP,
    ConvexUtility,
    Distortion,
    HammingLoss,
    L2Risk,
    MeanAbsoluteError,
    MetricPrivacy,
    MutualInformation,
    MutualInformationLeakage,
    PosteriorMeanSquaredError,
    Problem,
    TVRisk,
    design,
)
from mechdesign.designs.solution import Solution
from mechdesign.kernel import verify
from mechdesign.search.rays import enumerate as rays
from mechdesign.utilities import EstimationRisk, ReadingVariance
from tests.faults_support import FAULTS, Faults
from tests.search.test_limits import TwoGuesses, budgets, uneven

GAPS = np.abs(np.subtract.outer(range(4), range(4)))


class Roughness(ConvexUtility):
    """A loss of the user's own, convex in the channel."""

    name = "roughness"

    def objective(self, Q: Any, domain: Any, prior: Any, outputs: Any) -> Any:
        return cp.sum(cp.multiply(GAPS, Q)) + cp.sum_squares(Q[1:, :] - Q[:-1, :])


@dataclass(frozen=True)
class Case:
    """A small problem, and how it is designed.

    Attributes
    ----------
    problem
        Makes the problem anew, as some answers are remembered by problem.
    route
        As for :func:`design`.
    terms
        Constraints and an objective of the user's own.
    few_rays
        Whether rays are to be found by local search.
    """

    problem: Callable[[], Problem]
    route: str = "auto"
    terms: Callable[[Problem], dict[str, Any]] | None = None
    few_rays: bool = False


def case(
    *args: Any,
    route: str = "auto",
    terms: Callable[[Problem], dict[str, Any]] | None = None,
    few_rays: bool = False,
) -> Case:
    prior = uneven(len(args[0]))
    return Case(lambda: Problem(*args, prior=prior), route, terms, few_rays)


def same_law(problem: Problem) -> dict[str, Any]:
    """The reports are distributed as the inputs are."""
    return {"constraints": [problem.output_distribution == problem.prior.array]}


def smooth(problem: Problem) -> dict[str, Any]:
    """An objective of the user's own, with a constraint beside it."""
    loss = cp.sum(cp.multiply(GAPS, problem.Q)) + 0.1 * cp.sum_squares(problem.Q)
    return {"objective": cp.Minimize(loss), "constraints": [problem.Q[0, 0] >= 0.1]}


SCALAR, HISTOGRAM = PosteriorMeanSquaredError(), PosteriorMeanSquaredError(histogram=True)
ANY = ContextAwareLDP(budgets(4))
LINE = MetricPrivacy("0.5", "absolute")

CASES: dict[str, Case] = {
    "columns on a line": case(range(5), LINE, Distortion(budgets(5)), route="columns"),
    "columns by subsets": case(range(4), LDP(1), MeanAbsoluteError(), route="columns"),
    "columns by programs": case(range(4), ANY, HammingLoss(), route="columns"),
    "interior, arrow": case(range(4), LDP(1), MeanAbsoluteError(), route="interior"),
    "interior, dense": case(range(4), ANY, HammingLoss(), route="interior"),
    "linear program": case(range(4), ANY, MeanAbsoluteError()),
    "worst case": case(range(4), LIP(1), HammingLoss(worst_case=True)),
    "set of priors": case(
        range(4),
        BoundedPriorLIP(1, lower=[0.1] * 4, upper=[0.5] * 4),
        HammingLoss(),
        route="linear-program",
    ),
    "scalar by bands": case(range(4), LIP(1), SCALAR),
    "scalar, any cone": case(range(4), ANY, SCALAR),
    "information": case(range(4), ANY, MutualInformation()),
    "information, lifts": case(range(9), LIP(1), MutualInformation()),
    "histogram by local search": case(range(4), ANY, HISTOGRAM, few_rays=True),
    "guess by rays": case(range(4), ANY, BayesAccuracy(), route="extreme-rays"),
    "of one's own": case(range(4), ANY, TwoGuesses()),
    "risk": case(range(4), ANY, L2Risk()),
    "risk, roots": case(range(4), LDP(1), TVRisk(), route="estimation"),
    "risk, worst case": case(range(4), LDP(1), L2Risk(worst_case=True), route="estimation"),
    "risk by local search": case(range(4), ANY, L2Risk(), few_rays=True),
    "whole channel": case(range(4), ApproximateLDP(1, "0.01"), MeanAbsoluteError()),
    "information bounded": case(range(4), MutualInformationLeakage("0.2"), HammingLoss()),
    "by cvxpy": case(range(4), LDP(1), HammingLoss(), route="cvxpy:CLARABEL"),
    "convex loss": case(range(4), LDP(1), Roughness()),
    "closed form": case(range(4), LDP(1), L2Risk()),
    "constraint of one's own": case(range(4), LDP(1), MeanAbsoluteError(), terms=same_law),
    "objective of one's own": case(range(4), LDP(1), HammingLoss(), terms=smooth),
}


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


def as_loss(problem: Problem, number: Fraction) -> float:
    return float(-number if problem.utility.is_maximized else number)


def assert_honest(case: Case, problem: Problem, solution: Solution, optimum: float) -> None:
    """The saved file is verified, the value no worse than that of a constant, the bound no lie.

    Where the user adds constraints, the repair may break them: the value is then below the optimum.
    """
    verify(solution.document())
    slack = 1e-6 * max(1.0, abs(optimum))
    value, bound = as_loss(problem, solution.value), as_loss(problem, solution.bound)
    assert bound <= value
    assert bound <= optimum + slack
    assert (solution.status == "optimal") == (solution.gap <= 1e-6)
    if case.terms is None:
        assert value >= optimum - slack
        most = constant_value(problem)
        assert most is None or value <= most + 1e-9 * max(1.0, abs(most))


def run(case: Case, faults: Faults) -> tuple[Problem, Solution]:
    problem = case.problem()
    terms = {} if case.terms is None else case.terms(problem)
    with pytest.MonkeyPatch.context() as patch, faults.planted():
        if case.few_rays:
            patch.setattr(rays, "MOST_RAYS", 4)
        return problem, design(problem, route=case.route, **terms)


KNOWN: dict[str, tuple[float, int]] = {}


def known(name: str) -> tuple[float, int]:
    """The optimum of a case, as a loss, and the number of calls of solvers that it takes."""
    if name not in KNOWN:
        faults = Faults()
        problem, solution = run(CASES[name], faults)
        KNOWN[name] = as_loss(problem, solution.value), len(faults.calls)
    return KNOWN[name]


@pytest.mark.parametrize("name", CASES)
def test_every_case_asks_a_solver(name: str) -> None:
    _, calls = known(name)
    assert calls > 0


def attack(name: str, kind: str, at: int, *, lasting: bool) -> None:
    """Design with a fault; what fails says which fault it was."""
    optimum, calls = known(name)
    faults = Faults(FAULTS[kind], at, lasting=lasting, most=50 * calls + 20_000)
    try:
        problem, solution = run(CASES[name], faults)
        assert_honest(CASES[name], problem, solution, optimum)
    except BaseException as error:
        error.add_note(f"{kind!r} at call {at} of {calls}, {'lasting' if lasting else 'once'}")
        raise


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("name", CASES)
def test_faults_at_the_first_call(
    name: str, lasting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every kind of fault for some of the cases."""
    monkeypatch.undo()
    for kind in list(FAULTS)[list(CASES).index(name) :: len(CASES)]:
        attack(name, kind, 0, lasting=lasting)


GROUPS = sorted({kind.split()[0] for kind in FAULTS})


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_fault_for_every_case(
    name: str, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a call that is drawn, and from the first one on."""
    monkeypatch.undo()
    rng = np.random.default_rng(list(CASES).index(name))
    for kind in FAULTS:
        if kind.split()[0] == group:
            attack(name, kind, int(rng.integers(known(name)[1])), lasting=False)
            attack(name, kind, 0, lasting=True)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["raises MemoryError", "both: all NaN", "both: noise of 1e-3"])
@pytest.mark.parametrize("name", CASES)
def test_some_kinds_of_fault_at_every_call(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first forty calls, and at forty of the others where they are more."""
    monkeypatch.undo()
    calls = known(name)[1]
    for at in sorted({*range(min(40, calls)), *range(0, calls, max(1, calls // 40))}):
        attack(name, kind, at, lasting=False)
