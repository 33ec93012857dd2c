"""Optimal remapping: no column has a better output, and the loss is never larger."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.notions import Cone
from mechdesign.search.starts.baseline import FARTHEST, inside, raised, reach
from mechdesign.search.starts.remapping import remapped, without_rare
from mechdesign.utilities import Utility
from tests.strategies import examples

WHOLE = 1 << 62


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.randoms(use_true_random=False))
@examples(40)
def test_every_column_gets_its_best_output(k: int, m: int, n: int, random: Any) -> None:
    loss = [[Fraction(random.randint(0, 9), 3) for _ in range(m)] for _ in range(k)]
    outputs = [f"output {y}" for y in range(m)]
    problem = md.Problem(range(k), md.LDP(1), md.Distortion(loss), outputs=outputs)
    labels = [random.choice(outputs) for _ in range(min(n, m))]
    labels = list(dict.fromkeys(labels))
    shares = np.array([[random.randint(0, 9) for _ in labels] for _ in range(k)]) + 1
    rows = (shares * (WHOLE // shares.sum(axis=1, keepdims=True))).astype(np.int64)
    rows[:, 0] += WHOLE - rows.sum(axis=1)
    before = md.Channel(rows, inputs=problem.domain, outputs=labels)
    found, named = remapped(problem, rows, labels)
    after = md.Channel(found, inputs=problem.domain, outputs=named)
    value = problem.utility.value(after, problem.prior, outputs)
    assert value <= problem.utility.value(before, problem.prior, outputs)
    best = sum(
        min(sum(row[y] * q for row, q in zip(loss, column, strict=True)) for y in range(m))
        for column in before.columns()
    )
    assert float(value) == pytest.approx(float(Fraction(best, k * WHOLE)))
    in_floats, same = remapped(problem, rows / WHOLE, labels)
    assert same == named
    assert in_floats == pytest.approx(found / WHOLE)


def test_a_channel_that_is_best_stays_the_same_object() -> None:
    """Also where another output is as good."""
    problem = md.Problem(
        range(2), md.LDP(1), md.Distortion([[0, 1, 0], [1, 0, 1]]), outputs=list("abc")
    )
    matrix = np.array([[0.5, 0.2, 0.3], [0.2, 0.6, 0.2]])
    found, labels = remapped(problem, matrix, "abc")
    assert found is matrix
    assert labels == ["a", "b", "c"]


@pytest.mark.parametrize(
    "utility", [md.Distortion([[5, 0], [5, 0]], worst_case=True), md.BayesAccuracy()]
)
def test_other_losses_keep_their_channel(utility: Any) -> None:
    problem = md.Problem(md.Domain.range(2), md.LDP(1), utility)
    matrix = np.array([[0.7, 0.3], [0.3, 0.7]])
    assert remapped(problem, matrix, [0, 1])[0] is matrix


def test_constraints_of_ones_own_may_speak_of_outputs() -> None:
    problem = md.Problem(range(2), md.LDP(1), md.Distortion([[5, 0], [5, 0]]))
    matrix = np.array([[0.7, 0.3], [0.3, 0.7]])
    assert remapped(problem, matrix, [0, 1])[0].shape == (2, 1)
    problem.quoted = ("half of the reports are 0",)
    assert remapped(problem, matrix, [0, 1])[0] is matrix


@given(st.integers(2, 6), st.integers(2, 6), st.randoms(use_true_random=False))
@examples(40)
def test_rare_outputs_are_left_out_at_next_to_no_loss(k: int, m: int, random: Any) -> None:
    """Those that are left are sums of columns, so that whatever is private stays so."""
    loss = [[random.randint(1, 9) for _ in range(m)] for _ in range(k)]
    problem = md.Problem(range(k), md.LDP(1), md.Distortion(loss), outputs=range(m))
    shares = np.array([[random.choice([1e-13, 1e-10, 1.0]) for _ in range(m)] for _ in range(k)])
    shares[:, 0] = 1.0
    matrix = shares / shares.sum(axis=1, keepdims=True)
    found, labels = without_rare(problem, matrix, range(m), 1e-9)
    table = np.array(loss) / k
    before, after = (table * matrix).sum(), (table[:, labels] * found).sum()
    assert after <= before * (1 + 1.1e-9)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-15)
    left_out = [y for y in range(m) if y not in labels]
    added = found.sum(axis=1) - matrix[:, labels].sum(axis=1)
    assert added == pytest.approx(matrix[:, left_out].sum(axis=1), abs=1e-15)
    for y in left_out:
        assert matrix[:, y].max() < 1e-6
    every, same = without_rare(problem, matrix, range(m), 0.0)
    assert after == before or len(same) > len(labels)
    assert (table[:, same] * every).sum() <= before * (1 + 1e-15)


def test_an_interior_optimum_has_no_outputs_of_rounding() -> None:
    """It uses five; the interior-point method leaves something at about sixty."""
    prior = md.Prior.from_counts(np.random.default_rng(0).integers(1, 1001, 150).tolist())
    problem = md.Problem(range(150), md.LIP(1), md.MeanAbsoluteError(), prior=prior)
    found = md.design(problem, route="interior")
    assert len(found.channel.outputs) <= 8
    assert found.gap < 2e-8


class Tail(md.ConvexUtility):
    """The mean of the two largest losses of four, next to a bound that the optimum attains."""

    name = "tail"

    def objective(self, Q: Any, domain: Any, prior: Any, outputs: Any) -> Any:
        distances = np.abs(np.subtract.outer(range(4), range(4)))[:, : Q.shape[1]]
        losses = cp.sum(cp.multiply(distances, Q), axis=1)
        return cp.maximum(cp.sum_largest(losses, 2) / 2, 2.5)


def dust(k: int) -> np.ndarray:
    return 1e-10 * np.append(np.ones(k - 1), np.e)[:, None]


def skewed(utility: Utility) -> md.Problem:
    return md.Problem(range(3), md.LDP(1), utility, prior=["0.8", "0.1", "0.1"])


WORST = md.Problem(range(3), md.LDP(1), md.MeanAbsoluteError(worst_case=True), outputs=range(3))
OWN = md.Problem(range(4), md.LDP(1), Tail(), prior=["0.4", "0.3", "0.2", "0.1"])
USEFUL = np.array([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0], [0.4, 0.6, 0.0]]) * (1 - 1e-6)
REPORTS, ALONE = np.full((3, 3), 0.2) + 0.4 * np.eye(3), np.hstack([1 - dust(3), dust(3)])
ALL_THERE_IS: list[Utility] = [md.MutualInformation(), md.L2Risk(), md.TVRisk()]
UTILITIES: list[Utility] = [
    md.BayesAccuracy(),
    md.GVulnerability([[1, 1, 0], [1, 0, 1], [0, 1, 1]]),
    md.PosteriorMeanSquaredError(),
    *ALL_THERE_IS,
    md.L2Risk(worst_case=True),
]

DUST: dict[str, tuple[md.Problem, np.ndarray, list[int]]] = {
    "beside a constant": (WORST, np.hstack([np.zeros((3, 1)), ALONE]), [1]),
    "of a solver, below 0": (WORST, np.tile([-1e-17, 1 + 1e-12, 2e-16], (3, 1)), [1]),
    "worth more than the share": (WORST, USEFUL + np.array([0, 0, 1e-6]), [0, 1, 2]),
    "an objective of one's own": (OWN, np.hstack([1 - dust(4), dust(4)]), [0]),
    **{
        f"beside reports, {u!r}": (
            skewed(u),
            np.hstack([REPORTS * (1 - dust(3)), dust(3)]),
            [0, 1, 2],
        )
        for u in UTILITIES
    },
    **{f"all there is, {u!r}": (skewed(u), ALONE, [0, 1]) for u in ALL_THERE_IS},
}
"""A problem, a channel with an output of next to no probability, and the outputs that are left."""


@pytest.mark.parametrize("name", DUST)
def test_dust_is_no_report(name: str) -> None:
    """Unless the channel without it is worth less, as where it has all the information."""
    problem, matrix, left = DUST[name]
    m = matrix.shape[1]
    found, labels = without_rare(problem, matrix, range(m), 3e-9)
    assert labels == left
    assert (found is matrix) == (len(left) == m)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-15) or found is matrix
    assert found == pytest.approx(matrix[:, left], abs=1e-9)
    same, labels = without_rare(problem, matrix, range(m), 0.0)
    assert (same is matrix) == (len(labels) == m)


# Columns that are known to be private: they are, and farther out they are not.


SLACK = 1e-9

PLANE = md.MetricPrivacy("0.5", "euclidean")
NOTIONS: dict[str, Any] = {
    "ldp": md.LDP(1),
    "lip": md.LIP("0.5"),
    "pml": md.PML("0.5"),
    "lift": md.AsymmetricLift("0.2", "inf"),
    "block": md.BlockLDP(1, blocks=[[(0, 0), (0, 1)], [(0, 2), (1, 0), (1, 1), (1, 2)]]),
    "context-aware": md.ContextAwareLDP(
        [[0 if x == y else 1 + (x * y) % 3 for y in range(6)] for x in range(6)]
    ),
    "metric": PLANE,
    "walk": md.MetricPrivacy("0.3", "manhattan"),
    "set of priors": md.BoundedPriorLIP(1, lower=["0.05"] * 6, upper=["0.4"] * 6),
    "two": [PLANE, md.LIP(1)],
}


def cone_of(name: str) -> Cone:
    prior = [0.1, 0.2, 0.3, 0.1, 0.2, 0.1]
    return md.Problem(md.Domain.grid(2, 3), NOTIONS[name], md.HammingLoss(), prior=prior).cone


def excess(cone: Cone, columns: np.ndarray) -> float:
    """Return the largest left side of the rows G q <= 0, of columns with largest entry 1."""
    return float((cone.matrix() @ (columns / np.maximum(columns.max(axis=0), SLACK))).max())


@given(st.data())
@examples(25)
@pytest.mark.parametrize("name", NOTIONS)
def test_reach_is_the_end_of_the_private_segment(name: str, data: st.DataObject) -> None:
    cone = cone_of(name)
    numbers = st.integers(-9, 9).map(float)
    v = np.array(data.draw(st.lists(numbers, min_size=6, max_size=6)))[:, None]
    (t,) = reach(cone, v)
    assert t >= 0
    assert excess(cone, 1 + t * v) <= SLACK
    assert (1 + t * v).min() >= -SLACK * (1 + t)
    if t < FARTHEST:
        farther = 1 + (1.001 * t + 1e-6) * v
        assert farther.min() < 0 or excess(cone, farther) > 0


@pytest.mark.parametrize("name", NOTIONS)
def test_all_columns_are_private(name: str) -> None:
    cone = cone_of(name)
    sets = np.array([[x >> y & 1 for y in range(3)] for x in range(1, 7)], dtype=float)
    assert excess(cone, raised(cone, sets)) <= SLACK
    assert excess(cone, inside(cone, sets)) <= SLACK


@pytest.mark.parametrize("name", NOTIONS)
def test_a_raised_column_and_another_private_one_make_a_channel(name: str) -> None:
    cone = cone_of(name)
    columns = raised(cone, np.eye(6))
    others = inside(cone, -columns)
    assert excess(cone, others) <= SLACK
    for column, other in zip(columns.T, others.T, strict=True):
        weights, residual, *_ = np.linalg.lstsq(np.column_stack([column, other]), np.ones(6))
        assert residual.sum() == pytest.approx(0, abs=1e-12)
        assert weights.min() >= -SLACK


def test_on_a_line_the_exponentials_are_the_truncated_geometric_mechanism() -> None:
    """Inside, each has the size (1 - a) / (1 + a); the ends have 1 / (1 + a); a = 1 / e."""
    cone = Cone([md.MetricPrivacy(1, "absolute").family(md.Domain.range(7))])
    sizes = np.linalg.solve(raised(cone, np.eye(7)), np.ones(7))
    a = math.exp(-1)
    assert sizes == pytest.approx([1 / (1 + a), *[(1 - a) / (1 + a)] * 5, 1 / (1 + a)])
