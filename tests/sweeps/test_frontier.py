"""The frontier: what design gives at every budget, and the least budget for a loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.designs import design as design_module, min_epsilon as min_epsilon_module
from mechdesign.designs.min_epsilon import Reach
from mechdesign.search.limits import Limits
from problems import families
from solvers import SOLVERS
from tests.strategies import examples

PROBLEMS = {
    "ldp, small": families.ldp_numeric(6),
    "ldp, large": families.ldp_numeric(20),
    "lip, large": families.lip_numeric(14),
    "grid": families.euclidean_grid(3, seed=2),
    "grid, by symmetry": families.euclidean_grid(4),
    "line": families.line_metric(20),
    "a survey": md.Problem(
        ["yes", "no"], md.LIP(1), md.PosteriorMeanSquaredError([1, 0]), prior=[0.1, 0.9]
    ),
    "accuracy": md.Problem(
        families.euclidean_grid(3).domain,
        md.MetricPrivacy(1, "euclidean"),
        md.BayesAccuracy(),
        prior=families.random_prior(9),
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_is_what_design_gives_at_each_budget(name: str) -> None:
    problem, budgets = PROBLEMS[name], [1, "0.5", Fraction(4, 5)]
    found = md.design_frontier(problem, budgets)
    for budget, solution in zip(budgets, found, strict=True):
        alone = md.design(problem.at(budget))
        assert solution.problem.privacy == problem.at(budget).privacy
        assert solution.status == "optimal"
        assert math.isclose(float(solution.value), float(alone.value), rel_tol=2e-6)
        assert solution.problem.privacy[0].holds(solution.channel, solution.problem.prior)
    sign = -1 if problem.utility.is_maximized else 1
    losses = [sign * float(s.value) for s in (found[1], found[2], found[0])]
    assert losses[0] >= losses[1] - 1e-9
    assert losses[1] >= losses[2] - 1e-9


def test_budgets_may_be_none() -> None:
    assert md.design_frontier(PROBLEMS["grid"], []) == []


# where no channel is private, where time is short, where the user has had enough


LEVELS = md.Problem(
    range(3), md.DifferentialIdentifiability(2), md.HammingLoss(), prior=[0.1, 0.2, 0.7]
)
"""No channel is private below ln 7 = 1.9459."""


def test_infeasible_budgets_are_listed_or_refused() -> None:
    curve = md.design_frontier(LEVELS, [2, "1.9", "1.95"], errors="return")
    assert [point.status for point in curve.points] == ["optimal", "infeasible", "optimal"]
    assert [point.epsilon for point in curve.points] == [2, Fraction("1.9"), Fraction("1.95")]
    assert "1.94591" in curve.points[1].reason
    assert [len(curve.solutions), curve.label] == [2, "differential-identifiability"]
    told = curve.to_json()["points"]
    assert told[1] == {
        "epsilon": 1.9,
        "status": "infeasible",
        **dict.fromkeys(["value", "bound", "gap", "route"]),
        "reason": curve.points[1].reason,
    }
    assert told[0]["value"] == float(curve.solutions[0].value)
    assert [row.split()[-1] for row in repr(curve).splitlines()[2:]] == [p["status"] for p in told]
    with pytest.raises(md.InfeasibleError, match=r"1\.94591"):
        md.design_frontier(LEVELS, [2, "1.9"])


def test_an_interrupt_ends_the_whole_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: md.Problem, limits: Limits, *__: object) -> None:
        limits.interrupted = True

    monkeypatch.setattr(design_module, "designed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        md.design_frontier(PROBLEMS["a survey"], [1, 2, 3])


def test_an_interrupt_leaves_the_budgets_that_are_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    designed, real = 0, design_module.designed

    def pressed(problem: md.Problem, limits: Limits, *asked: Any) -> object:
        nonlocal designed
        designed += 1
        limits.interrupted = designed > 2
        return real(problem, limits, *asked)

    monkeypatch.setattr(design_module, "designed", pressed)
    curve = md.design_frontier(PROBLEMS["a survey"], [4, 2, 3, 1], errors="return")
    assert [float(point.epsilon) for point in curve.points] == [2, 1]
    assert curve.ended == "interrupted: 2 of 4 budgets are designed"
    assert curve.to_json()["ended"] == curve.ended
    assert curve.ended in repr(curve).splitlines()[0]
    designed = 0
    with pytest.warns(UserWarning, match="2 of 4 budgets"):
        found = md.design_frontier(PROBLEMS["a survey"], [4, 2, 3, 1])
    assert [solution.problem.privacy[0].epsilon for solution in found] == [2, 1]
    designed = -10
    whole = md.design_frontier(PROBLEMS["a survey"], [1, 2])
    assert whole.ended == ""
    assert "ended" not in whole.to_json()


def test_a_frame_has_a_row_for_each_budget() -> None:
    frame = md.design_frontier(
        md.Problem(["yes", "no"], md.LDP(1), md.HammingLoss()), [0.5, 1]
    ).to_frame()
    assert list(frame.columns) == ["epsilon", "status", "value", "bound", "gap", "route"]
    assert frame["epsilon"].tolist() == [0.5, 1]
    for epsilon, value in zip(frame["epsilon"], frame["value"], strict=True):
        assert math.isclose(value, 1 / (1 + math.exp(epsilon)), rel_tol=1e-9)
    assert set(frame["status"]) == {"optimal"}


# the least budget for a loss


def survey_error(epsilon: float, p: float = 0.1) -> float:
    """The error of the best two-output channel: its posteriors are at the ends of their range."""
    low = max(math.exp(-epsilon) * p, 1 - math.exp(epsilon) * (1 - p))
    high = min(math.exp(epsilon) * p, 1 - math.exp(-epsilon) * (1 - p))
    return p * (1 - p) - (p - low) * (high - p)


def risk(epsilon: float, k: int = 3) -> float:
    """The variance of the estimator of randomized response, n times, at the uniform prior."""
    e = math.exp(epsilon)
    return (1 - 1 / k) * ((e + k - 1) / (e - 1)) ** 2


FORMULAS: dict[str, tuple[md.Problem, Callable[[float], float], list[str]]] = {
    "warner": (
        md.Problem(["yes", "no"], md.LDP(1), md.HammingLoss()),
        lambda e: 1 / (1 + math.exp(e)),
        ["0.4", "0.25", "0.001"],
    ),
    "randomized response": (
        md.Problem(range(5), md.LDP(1), md.HammingLoss()),
        lambda e: 4 / (4 + math.exp(e)),
        ["0.7", "0.3"],
    ),
    "survey": (PROBLEMS["a survey"], survey_error, ["0.07", "0.004"]),
    "risk": (md.Problem(range(3), md.LDP(1), md.L2Risk()), risk, ["5.5", "0.9"]),
    "accuracy": (
        md.Problem(range(4), md.LIP(1), md.BayesAccuracy(), prior=[0.25] * 4),
        lambda e: -min(math.exp(e) / 4, 1 - 3 * math.exp(-e) / 4),
        ["0.3", "0.6", "0.9"],
    ),
}
"""Losses that fall with epsilon, by formula; gains with their sign changed."""


@pytest.mark.parametrize("name", FORMULAS)
def test_the_least_budget_is_that_of_the_formula(name: str) -> None:
    problem, formula, losses = FORMULAS[name]
    sign = -1 if problem.utility.is_maximized else 1
    for wanted in losses:
        low, high = 0.0, 40.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            low, high = (low, middle) if formula(middle) <= sign * float(wanted) else (middle, high)
        reach = md.min_epsilon(problem, wanted)
        assert reach.epsilon - reach.below == Fraction("1e-6")
        assert float(reach.below) - 1e-9 <= high <= float(reach.epsilon) + 1e-9
        assert_both_sides(reach, Fraction(wanted))


def assert_both_sides(reach: Reach, wanted: Fraction) -> None:
    """The channel is private at epsilon and good enough; at what is below, none can be."""
    sign = -1 if reach.solution.problem.utility.is_maximized else 1
    problem = reach.solution.problem
    (notion,) = problem.privacy
    assert notion == problem.at(reach.epsilon).privacy[0]
    assert notion.holds(reach.solution.channel, problem.prior)
    assert sign * reach.solution.value <= sign * wanted
    assert reach.proof.problem.privacy == problem.at(reach.below).privacy
    assert sign * reach.proof.bound > sign * wanted
    assert reach.proof.bound_proved


@pytest.mark.parametrize(
    ("problem", "wanted"),
    [
        (families.ldp_numeric(6), "0.9"),
        (
            md.Problem(range(4), md.LIP(1), md.MutualInformation(), prior=[0.1, 0.2, 0.3, 0.4]),
            "0.5",
        ),
        (md.Problem(range(5), md.MetricPrivacy(1, "absolute"), md.MeanAbsoluteError()), "0.5"),
    ],
    ids=["ldp", "information", "metric"],
)
def test_other_solvers_agree_on_both_sides(problem: md.Problem, wanted: str) -> None:
    reach = md.min_epsilon(problem, wanted, precision="1e-4")
    assert_both_sides(reach, Fraction(wanted))
    solver = SOLVERS["vertices" if problem.utility.is_maximized else "direct-lp"]
    above, below = (solver(problem.at(e)).value for e in (reach.epsilon, reach.below))
    assert min(above, below) - 1e-9 <= float(wanted) <= max(above, below) + 1e-9


def test_below_the_ratio_of_the_prior_no_channel_is_private() -> None:
    reach = md.min_epsilon(LEVELS, "0.3", precision="1e-3")
    assert (reach.below, reach.proof) == (Fraction("1.945"), None)
    assert reach.epsilon == Fraction("1.946")
    assert "1.94591" in reach.reason
    assert reach.to_json()["unreachable_up_to"] == 1.945


def test_a_loss_of_the_constant_channel_needs_no_budget() -> None:
    reach = md.min_epsilon(FOUR, "0.75")
    assert (reach.epsilon, reach.below, reach.proof, reach.is_free) == (0, 0, None, True)
    assert "no smaller epsilon is needed" in repr(reach)
    assert reach.to_json()["unreachable_up_to"] is None


FOUR = md.Problem(range(4), md.LDP(1), md.HammingLoss())
TWO_LIFTS = md.Problem(
    range(2), [md.LIP(1), md.AsymmetricLift(1, 1)], md.HammingLoss(), prior=[0.5, 0.5]
)
BEYOND: dict[str, tuple[md.Problem, str, str]] = {
    "too few outputs": (
        md.Problem(range(4), md.LDP(1), md.HammingLoss(), outputs=[0, 1, 2]),
        "0.2",
        "the loss 0.2: no private channel is below 0.25",
    ),
    "too much": (
        md.Problem(range(4), md.LDP(1), md.BayesAccuracy()),
        "1.2",
        "the gain 1.2: no private channel is above",
    ),
    "only in the limit": (FOUR, "0", "the loss 0: no private channel is below 1.27"),
    "another notion": (TWO_LIFTS, "0.1", "the loss 0.1: no private channel is below 0.18"),
}


@pytest.mark.parametrize("name", BEYOND)
def test_an_unreachable_loss_is_proved(name: str) -> None:
    problem, wanted, message = BEYOND[name]
    with pytest.raises(md.InfeasibleError, match=f"no epsilon up to 40 reaches {message}"):
        md.min_epsilon(problem, wanted)


@examples(25)
@given(
    at=st.fractions(Fraction(1, 50), Fraction(9), max_denominator=999),
    width=st.sampled_from(["0", "0.001", "0.02", "0.3"]),
    curve=st.sampled_from([lambda e: 10 / (1 + e), lambda e: 10 - e, lambda e: 10 - 10 * (e > 3)]),
)
def test_both_ends_are_as_close_as_the_gap_allows(
    at: Fraction, width: str, curve: Callable[[Fraction], Fraction]
) -> None:
    """With losses by formula, and bounds below them by so much, the two ends are exact."""
    problem, step, wanted = PROBLEMS["a survey"], Fraction("1e-3"), curve(at)
    asked = []

    def answer(_: float, there: md.Problem, *__: object, **___: object) -> object:
        epsilon = getattr(there.privacy[0], "epsilon", None)
        loss = Fraction(-1) if epsilon is None else Fraction(curve(epsilon))
        asked.append(epsilon)
        return SimpleNamespace(value=loss, bound=loss - Fraction(width))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(min_epsilon_module, "design_until", answer)
        reach = md.min_epsilon(problem, wanted, precision=step)
    assert curve(reach.epsilon) <= wanted
    assert reach.is_free or wanted < curve(reach.epsilon - step)
    if reach.proof is None:
        assert reach.below == 0
        assert reach.is_free or curve(Fraction(0)) - Fraction(width) <= wanted
    else:
        assert curve(reach.below) - Fraction(width) > wanted
        assert curve(reach.below + step) - Fraction(width) <= wanted
    assert len(asked) <= 50


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (SimpleNamespace(value=Fraction(1), bound=Fraction(0)), "whether epsilon = 40 reaches"),
        (md.SolverError("out of memory"), ".*: out of memory"),
    ],
)
def test_what_is_not_decided_is_reported(found: Any, message: str) -> None:
    def answer(*_: object, **__: object) -> object:
        if isinstance(found, md.SolverError):
            raise found
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(min_epsilon_module, "design_until", answer)
        with pytest.raises(md.SolverError, match=f"not decided {message}"):
            md.min_epsilon(PROBLEMS["a survey"], "0.5")


class Distance(md.ConvexUtility):
    """The distance of a channel from telling all."""

    name = "distance"

    def objective(self, Q: Any, domain: Any, prior: Any, outputs: Any) -> Any:
        return cp.sum(cp.abs(Q - np.eye(2)))


def test_a_bound_that_is_only_computed_is_called_so() -> None:
    """Warner's channel leaves 1 / (1 + e) in each of four entries."""
    problem = md.Problem(range(2), md.LDP(1), Distance(), outputs=[0, 1])
    reach = md.min_epsilon(problem, "1.2", precision="1e-3")
    exact = math.log(4 / 1.2 - 1)
    assert float(reach.below) - 1e-5 <= exact <= float(reach.epsilon) + 1e-5
    assert repr(reach).endswith("there, computed and not proved")
    assert reach.to_json()["bound_proved"] is False
