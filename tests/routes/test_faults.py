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
    ColumnUtility,
    ContextAwareLDP,
    ConvexUtility,
    HammingLoss,
    InfeasibleError,
    L2Risk,
    MeanAbsoluteError,
    MetricPrivacy,
    MutualInformation,
    MutualInformationPrivacy,
    PosteriorMeanSquaredError,
    Problem,
    SolverError,
    TVRisk,
    design,
)
from mechdesign.certify import verify
from mechdesign.designs.solution import Solution
from mechdesign.routes.rays import enumerate as rays
from tests.faults_support import FAULTS, Fault, Faults
from tests.routes.test_limits import TwoGuesses, budgets, uneven


class Roughness(ConvexUtility):
    """A loss of the user's own, convex in the channel."""

    name = "roughness"

    def objective(self, Q: Any, domain: Any, prior: Any, outputs: Any) -> Any:
        return cp.sum(cp.multiply(np.abs(np.subtract.outer(range(4), range(4))), Q)) + cp.sum_squares(
            Q[1:, :] - Q[:-1, :]
        )


@dataclass(frozen=True)
class Case:
    """A small problem, and how it is designed.

    Attributes
    ----------
    problem
        Makes the problem anew, as some answers are remembered by problem.
    constant
        The value of the best single output; None where it is infinite.
    """

    problem: Callable[[], Problem]
    route: str = "auto"
    constant: float | None = None
    options: Callable[[Problem], dict[str, Any]] = lambda problem: {}
    few_rays: bool = False


def case(*args: Any, route: str = "auto", few_rays: bool = False, **more: Any) -> Case:
    k = len(args[0])
    prior = uneven(k)

    def make() -> Problem:
        return Problem(*args, prior=prior, **more)

    return Case(make, route, few_rays=few_rays)


SCALAR, HISTOGRAM = PosteriorMeanSquaredError(), PosteriorMeanSquaredError(histogram=True)
ANY = ContextAwareLDP(budgets(4))
LINE = MetricPrivacy("0.5", "absolute")

CASES: dict[str, Case] = {
    "columns on a line": case(range(5), LINE, HammingLoss(), route="columns"),
    "columns by subsets": case(range(4), LDP(1), MeanAbsoluteError(), route="columns"),
    "columns by programs": case(range(4), ANY, HammingLoss(), route="columns"),
    "interior, arrow": case(range(4), LDP(1), MeanAbsoluteError(), route="interior"),
    "interior, dense": case(range(4), ANY, HammingLoss(), route="interior"),
    "linear program": case(range(4), ANY, MeanAbsoluteError()),
    "worst case": case(range(4), LIP(1), HammingLoss(worst_case=True)),
    "set of priors": case(
        range(4), BoundedPriorLIP(1, lower=[0.1] * 4, upper=[0.5] * 4), HammingLoss(), route="linear-program"
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
    "information bounded": case(range(4), MutualInformationPrivacy("0.2"), HammingLoss()),
    "by cvxpy": case(range(4), LDP(1), HammingLoss(), route="cvxpy:CLARABEL"),
    "convex loss": case(range(4), LDP(1), Roughness()),
    "closed form": case(range(4), LDP(1), L2Risk()),
}


def constant_value(problem: Problem) -> float | None:
    """The value of the best single output, as a loss; None where it is infinite."""
    from mechdesign import Channel

    if problem.utility.tells_inputs_apart:
        return None
    labels = problem.outputs or (0,)
    values = []
    for label in labels:
        sent = Channel.from_matrix([[1]] * len(problem.domain), inputs=problem.domain, outputs=[label])
        values.append(as_loss(problem, problem.utility.value(sent, problem.prior, problem.outputs)))
    return min(values)


def as_loss(problem: Problem, number: Fraction) -> float:
    return float(-number if problem.utility.is_maximized else number)


def assert_honest(problem: Problem, solution: Solution, optimum: float) -> None:
    """The saved file is verified, the value no worse than that of a constant, the bound no lie."""
    verify(solution.document())
    slack = 1e-6 * max(1.0, abs(optimum))
    value, bound = as_loss(problem, solution.value), as_loss(problem, solution.bound)
    assert bound <= value
    assert bound <= optimum + slack <= value + 2 * slack
    most = constant_value(problem)
    assert most is None or value <= most + 1e-9 * max(1.0, abs(most))
    assert (solution.status == "optimal") == (solution.gap <= 1e-6)


def run(case: Case, faults: Faults) -> tuple[Problem, Solution]:
    problem = case.problem()
    with pytest.MonkeyPatch.context() as patch, faults.planted():
        if case.few_rays:
            patch.setattr(rays, "MOST_RAYS", 4)
        return problem, design(problem, route=case.route)


KNOWN: dict[str, tuple[float, int]] = {}


def known(name: str) -> tuple[float, int]:
    """The optimum of a case, as a loss, and the number of calls of solvers that it takes."""
    if name not in KNOWN:
        faults = Faults()
        problem, solution = run(CASES[name], faults)
        KNOWN[name] = as_loss(problem, solution.value), len(faults.calls)
    return KNOWN[name]


def places(calls: int, most: int) -> list[int]:
    """The first calls, the last one, and some between."""
    return sorted({n for n in (0, 1, 2, 3, calls // 2, calls - 1) if 0 <= n < calls})[:most]


@pytest.mark.parametrize("name", CASES)
def test_every_case_asks_a_solver(name: str) -> None:
    _, calls = known(name)
    assert calls > 0


def attack(name: str, fault: Fault, at: int, lasting: bool) -> None:
    optimum, calls = known(name)
    faults = Faults(fault, at, lasting=lasting, most=50 * calls + 20_000)
    problem, solution = run(CASES[name], faults)
    assert_honest(problem, solution, optimum)


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("name", CASES)
def test_every_fault_at_every_call(
    name: str, kind: str, lasting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    for at in places(known(name)[1], 6):
        attack(name, FAULTS[kind], at, lasting)
