"""Every design ends: with a private channel and a bound that says something, or at once."""

import numpy as np
import pytest

from mechdesign import Domain, Prior, Problem, design
from mechdesign.evidence.formulas import nothing_constrained
from mechdesign.kernel.verify import verify
from mechdesign.notions import LDP, LIP, AsymmetricLift, ContextAwareLDP, MetricPrivacy
from mechdesign.search.coarse.groups import grouped
from mechdesign.search.highs import limit_time
from mechdesign.search.limits import Limits
from mechdesign.utilities import (
    BayesAccuracy,
    Distortion,
    EuclideanDistance,
    HammingLoss,
    L2Risk,
    MeanAbsoluteError,
    MutualInformation,
    PosteriorMeanSquaredError,
)

RNG = np.random.default_rng(0)
LOSSES = np.where(np.eye(12, dtype=bool), 0, RNG.integers(1, 50, (12, 12)))
BUDGETS = np.where(np.eye(7, dtype=bool), 0, RNG.integers(1, 20, (7, 7)) / 10)
UNEVEN = Prior.from_counts(range(1, 13))
TEN = Prior.from_counts(range(3, 13))

FAMILIES = {
    "posterior mean, metric": Problem(
        range(12), MetricPrivacy("0.1", "absolute"), PosteriorMeanSquaredError(), prior=UNEVEN
    ),
    "a table, LDP": Problem(range(12), LDP(1), Distortion(LOSSES.tolist()), prior=UNEVEN),
    "a table, worst case": Problem(range(12), LDP(1), Distortion(LOSSES.tolist(), True)),
    "a grid": Problem(Domain.grid(4, 4), MetricPrivacy(1, "euclidean"), EuclideanDistance()),
    "a matrix of budgets": Problem(range(7), ContextAwareLDP(BUDGETS.tolist()), BayesAccuracy()),
    "information": Problem(range(7), ContextAwareLDP(BUDGETS.tolist()), MutualInformation()),
    "a risk": Problem(range(12), LDP(1), L2Risk(), prior=UNEVEN),
    "lifts": Problem(range(10), LIP("0.5"), HammingLoss(), prior=TEN),
    "two lifts": Problem(range(10), AsymmetricLift("0.3", 1), MeanAbsoluteError(), prior=TEN),
}


def trivial(problem: Problem) -> float:
    statement = problem.compiled.statement
    return float(statement.sign * nothing_constrained(problem.compiled).bound(statement))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_search_without_time_has_a_channel_and_a_bound(name: str) -> None:
    """The bound is proved, and better than that which ignores privacy."""
    problem = FAMILIES[name]
    found = design(problem, time_limit=1e-6)
    sign = problem.compiled.statement.sign
    assert sign * trivial(problem) < sign * float(found.bound) <= sign * float(found.value) + 1e-9
    assert verify(found.document()).bound == found.bound


@pytest.mark.parametrize("name", [name for name in FAMILIES if "lifts" not in name])
def test_groups_bound_the_value_of_the_search(name: str) -> None:
    problem = FAMILIES[name]
    certificate, statement = grouped(problem), problem.compiled.statement
    assert certificate is not None
    best = statement.sign * float(design(problem, time_limit=5).value)
    assert float(certificate.bound(statement)) <= best + 1e-9


def test_there_are_no_groups_without_ratios() -> None:
    assert grouped(FAMILIES["lifts"]) is None
    assert grouped(Problem([0], LDP(1), HammingLoss())) is None
    free = ContextAwareLDP([[0, "inf"], ["inf", 0]])
    assert grouped(Problem(range(2), free, HammingLoss())) is None


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_solver_without_limits_of_its_own_ends_with_the_design() -> None:
    clock, until = Clock(), []

    class Solver:
        def getRunTime(self) -> float:  # noqa: N802
            return 2.0

        def setOptionValue(self, option: str, value: float) -> None:  # noqa: N802
            until.append((option, value))

    limit_time(Solver(), None)  # type: ignore[arg-type]
    limits = Limits(seconds=1, clock=clock)
    with limits.hold():
        clock.now = 1.5
        limit_time(Solver(), None)  # type: ignore[arg-type]
        clock.now = 0.25
        limit_time(Solver(), limits)  # type: ignore[arg-type]
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
