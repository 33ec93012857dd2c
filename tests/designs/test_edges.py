"""The corners: no budget, endless budget, one input, one output, zeros, ties; all with values."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BlockLDP,
    BoundedPriorLIP,
    ContextAwareLDP,
    Distortion,
    Domain,
    EuclideanDistance,
    HammingLoss,
    HighLowLDP,
    MeanAbsoluteError,
    MetricPrivacy,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    Solution,
    design,
)
from mechdesign.kernel import verify
from tests.strategies import lp_optimum

ROUTES = ("auto", "linear-program", "linear-program:ipm", "cvxpy:CLARABEL")


def solved(problem: Problem, route: str = "auto") -> Solution:
    """Solve, and let the checker read the saved file."""
    solution = design(problem, route=route)
    assert all(n.holds(solution.channel, problem.prior) for n in problem.privacy)
    verify(json.loads(json.dumps(solution.document())))
    return solution


def notions(k: int, epsilon: Any) -> list[Any]:
    some = list(range((k + 1) // 2))
    return [
        LDP(epsilon),
        LIP(epsilon),
        PML(epsilon),
        AsymmetricLift(epsilon, epsilon),
        MetricPrivacy(epsilon, "absolute"),
        ContextAwareLDP([[epsilon] * k] * k),
        HighLowLDP(epsilon, some),
        BoundedPriorLIP(epsilon, center=[Fraction(1, k)] * k, radius="0.1"),
    ]


MAE, ABSOLUTE = MeanAbsoluteError(), {"utility": MeanAbsoluteError(), "prior": [0.2, 0.3, 0.5]}
FIXED = {"prior": [0.25, 0.25, 0.5], "outputs": ["only"]}
CORNERS: dict[str, tuple[int, Any, dict[str, Any], float | None]] = {
    "no budget": (3, 0, ABSOLUTE, 0.7),  # always 1: 0.2 + 0.5
    "hardly any budget": (3, "1e-12", ABSOLUTE, 0.7),
    "an endless budget": (3, 800, ABSOLUTE, 0),
    "one input": (1, 1, {"utility": Distortion([[3, 1, 2]]), "prior": [1], "outputs": [*"abc"]}, 1),
    "one output": (3, 1, {"utility": Distortion([[1], [2], [4]]), **FIXED}, 2.75),
    "one output, worst case": (3, 1, {"utility": Distortion([[1], [2], [4]], True), **FIXED}, 4),
    "a certain prior": (3, 1, {"utility": HammingLoss(), "prior": [0, 1, 0]}, 0),
    "an input that never comes": (3, 1, {"utility": MAE, "prior": [0.5, 0.5, 0]}, None),
}
"""The number of inputs, the budget, the rest of the problem, and the least loss: by hand, or None
for that of a linear program."""


@pytest.mark.parametrize(
    ("name", "notion", "route"),
    [
        (name, notion, route)
        for c, (name, (k, e, *_)) in enumerate(CORNERS.items())
        for n, notion in enumerate(notions(k, e))
        for r, route in enumerate(ROUTES)
        if r == 0 or (c + n) % 3 == r - 1  # each other route on a third of them
    ],
)
def test_every_notion_has_its_optimum_at_the_corners(name: str, notion: Any, route: str) -> None:
    k, _, rest, value = CORNERS[name]
    problem = Problem(range(k), notion, **rest)
    solution = solved(problem, route)
    expected = lp_optimum(problem).value if value is None else value
    assert float(solution.value) == pytest.approx(expected, abs=1e-8)
    assert solution.status == "optimal" or 0 <= solution.value < Fraction(1, 10**9)
    rows = solution.channel.numerators
    if name == "no budget":
        assert (rows == rows[0]).all()
    if name == "an endless budget":
        assert np.abs(solution.channel.matrix - np.eye(3)).max() < 1e-8
        # the others let no output rule an input out
        assert isinstance(notion, PML | HighLowLDP) or rows.min() > 0


E = math.e
FAR = [["0", "1e-9", "40"], ["700", "0", "inf"], ["3", "1e-9", "0"]]
ALIKE = [["0", "0", "1"], ["inf", "0", "1"], ["1", "inf", "0"]]
SAME_ROWS = Distortion([[0, 1, 2], [0, 1, 2], [2, 1, 0]])
MERGED = Problem(range(2), LDP(1), Distortion([["0.5", "2"], [5, 0]]), prior=[0.5, 0.5])


def alike(notion: Any) -> Problem:
    """Two inputs at distance 0, in one direction or in both, are one with their joint prior."""
    return Problem(range(3), notion, Distortion([[0, 3], [1, 1], [5, 0]]), prior=[0.25, 0.25, 0.5])


VALUES: dict[str, tuple[Problem, float | None]] = {
    "one input and an estimate": (
        Problem([5], LIP(1), PosteriorMeanSquaredError(), prior=[1]),
        0,
    ),
    "fewer outputs than inputs": (Problem(range(5), LDP(1), MAE, outputs=[1, 3]), None),
    "more outputs than inputs": (
        Problem([0, 10], LDP(1), MeanAbsoluteError(worst_case=True), outputs=range(11)),
        10 / (1 + E),
    ),
    "unlimited pairs": (
        Problem(range(3), ContextAwareLDP([["inf"] * 3] * 3), EuclideanDistance()),
        0,
    ),
    "blocks of one": (Problem(range(3), BlockLDP(0, [[0], [1], [2]]), EuclideanDistance()), 0),
    "no loss": (Problem(range(3), LDP(1), Distortion([[0] * 3] * 3)), 0),
    "alike at distance 0": (
        alike(MetricPrivacy(1, [[0, 0, 1], [0, 0, 1], [1, 1, 0]])),
        lp_optimum(MERGED).value,
    ),
    "alike one way": (alike(ContextAwareLDP(ALIKE)), lp_optimum(MERGED).value),
    "equal values": (Problem(["a", "b"], LDP(1), PosteriorMeanSquaredError(values=[2, 2])), 0),
    "equal rows": (Problem(["a", "b", "c"], LDP(1), SAME_ROWS, outputs=["x", "y", "z"]), None),
    "equal outputs": (
        Problem(range(2), LDP(1), Distortion([[0, 0, 1, 1], [1, 1, 0, 0]])),
        1 / (1 + E),
    ),
    "budgets of all sizes": (Problem(range(3), ContextAwareLDP(FAR), MAE), None),
    "a grid of one point": (Problem(Domain.grid(1, 1), LDP(1), EuclideanDistance()), 0),
}
for _k in (2, 5):
    for _e in ("1e-12", "1e-6", "0.1", "30", "800"):
        _odds = (_k - 1) * math.exp(-float(_e))
        _problem = Problem(range(_k), LDP(_e), HammingLoss())
        VALUES[f"randomized response on {_k} at {_e}"] = _problem, _odds / (1 + _odds)
for _make in (LIP, PML):
    for _e in ("0.1", "1", "10"):
        for _p in map(Fraction, ("1e-12", "1e-6", "0.01")):
            _problem = Problem(range(3), _make(_e), HammingLoss(), prior=[_p, _p, 1 - 2 * _p])
            VALUES[f"inputs of {float(_p)} under {_make.__name__} at {_e}"] = _problem, None


@pytest.mark.parametrize("name", VALUES)
def test_an_odd_problem_has_its_optimum(name: str) -> None:
    problem, value = VALUES[name]
    solution = solved(problem)
    expected = lp_optimum(problem).value if value is None else value
    tolerance = 1e-15 if "response" in name else 1e-6 if "sizes" in name else 1e-8
    assert float(solution.value) == pytest.approx(expected, abs=tolerance)
    assert solution.status == "optimal" or solution.value - solution.bound <= Fraction(1, 10**9)


@pytest.mark.parametrize("scale", ["1e-9", "1e-4", "1e6", "1e12"])
@pytest.mark.parametrize("route", ["auto", "linear-program:ipm"])
def test_the_unit_of_the_loss_does_not_matter(scale: str, route: str) -> None:
    """The same channel, in micrometres and in light years."""
    loss = [[abs(x - y) for y in range(5)] for x in range(5)]
    scaled = [[Fraction(scale) * d for d in row] for row in loss]
    one = design(Problem(range(5), LDP(1), Distortion(loss)), route=route)
    other = design(Problem(range(5), LDP(1), Distortion(scaled)), route=route)
    assert float(other.value) == pytest.approx(float(scale) * float(one.value), rel=1e-7)
    assert other.status == "optimal"


@pytest.mark.slow
def test_sixty_inputs_with_random_budgets_finish() -> None:
    rng = np.random.default_rng(60)
    E = rng.uniform(0.5, 3, (60, 60)).round(3)
    budgets = [["inf" if rng.random() < 0.2 else repr(float(e)) for e in row] for row in E]
    prior = Prior.from_counts(rng.integers(1, 50, 60).tolist())
    problem = Problem(range(60), ContextAwareLDP(budgets), MeanAbsoluteError(), prior=prior)
    steps = list[object]()
    solution = design(problem, progress=steps.append)
    assert 0 < len(steps) <= 100
    assert solution.status == "optimal"
    assert problem.privacy[0].holds(solution.channel)
    blind = (prior.mean([abs(Fraction(x - y)) for x in range(60)]) for y in range(60))
    assert 0 < solution.value < min(blind)
