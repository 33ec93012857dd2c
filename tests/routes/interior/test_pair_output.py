"""Bounds on ratios in fused kernels: against their definitions, and against the general method."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

from mechdesign import ContextAwareLDP, HammingLoss, MetricPrivacy, Problem, design
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.routes.interior import conversion, pair_kernels as kernels, pair_output
from mechdesign.routes.interior.conversion import by_interior
from mechdesign.routes.interior.dense_kkt import DenseKKT
from mechdesign.routes.interior.method import interior_point
from mechdesign.routes.interior.pair_output import PairBlocks, PairOutput
from mechdesign.routes.interior.route import InteriorPoint
from mechdesign.routes.interior.solve import solve_interior
from mechdesign.routes.limits import Limits, Progress
from mechdesign.routes.presolve.chain import conic_program
from problems import families
from tests.strategies import examples

K = 6


def rows(seed: int = 0, size: int = K, most: float = 2.0) -> sp.csr_array:
    """Rows e**-E q_x <= q_z for most pairs, in any order and of any size."""
    rng = np.random.default_rng(seed)
    pairs = [(x, z) for x in range(size) for z in range(size) if x != z and rng.random() < 0.8]
    A = np.zeros((len(pairs), size))
    for n, row in enumerate(rng.permutation(len(pairs))):
        x, z = pairs[n]
        scale = rng.uniform(0.5, 2)
        A[row, x], A[row, z] = scale * math.exp(-rng.uniform(0.3, most)), -scale
    return sp.csr_array(A)


def all_rows(blocks: PairBlocks) -> np.ndarray[Any, Any]:
    """The rows as a dense matrix, those of q >= 0 included."""
    A = np.zeros((len(blocks.g), blocks.size))
    np.add.at(A, (np.arange(len(A)), blocks.x), blocks.g)
    np.add.at(A, (np.arange(len(A)), blocks.other), -1.0)
    return A


def point(blocks: PairBlocks) -> tuple[Any, ...]:
    """A column, multipliers, and a step of both."""
    rng = np.random.default_rng(1)
    n = len(blocks.g)
    q, dq = 1 + 0.05 * rng.random(blocks.size), rng.normal(size=blocks.size)
    return q, rng.uniform(0.5, 2, n), dq, rng.normal(size=n)


def test_the_rows_are_those_given() -> None:
    A = rows()
    blocks = PairBlocks.of(A)
    assert blocks is not None
    found = all_rows(blocks)
    assert np.allclose(found[blocks.places] * blocks.scale[:, None], A.toarray())
    own = np.setdiff1d(np.arange(len(found)), blocks.places)
    assert np.array_equal(found[own], -np.eye(K))


@pytest.mark.parametrize(
    "row", [[1.0, -1.0, -1.0], [0.0, 0.0, -1.0], [1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]], ids=str
)
def test_other_rows_are_refused(row: list[float]) -> None:
    assert PairBlocks.of(sp.csr_array([row])) is None


def test_the_kernels_are_what_they_are_called() -> None:
    blocks = PairBlocks.of(rows())
    assert blocks is not None
    A, given = all_rows(blocks), (blocks.first, blocks.other, blocks.g)
    q, w, dq, rw = point(blocks)
    s, ds = -A @ q, -A @ dq
    out, B = np.empty(K), np.empty((K, K))
    kernels.columns(*given, w, out)
    assert np.allclose(out, A.T @ w)
    for restoring, D in ((False, w / s), (True, w * w)):
        kernels.assemble(*given, q, w, restoring, 0.0, B)
        assert np.allclose(np.tril(B), np.tril(A.T @ np.diag(D) @ A))
    kernels.apply(*given, q, w, dq, out)
    assert np.allclose(out, A.T @ np.diag(w / s) @ A @ dq)
    kernels.symmetric_product(B, dq, out)
    assert np.allclose(out, (np.tril(B) + np.tril(B, -1).T) @ dq)
    a, b = 0.3, 0.6
    total, least = kernels.products(*given, q, w, dq, rw, a, b)
    assert math.isclose(total, float((s + a * ds) @ (w * (1 + b * rw))))
    assert math.isclose(least, s.min())
    change = np.empty_like(w)
    assert math.isclose(kernels.restoring(*given, w, dq, change), -(w * ds).max())
    assert np.allclose(change, -w * ds)


@pytest.mark.parametrize("goal", [kernels.PREDICTOR, kernels.CORRECTOR, kernels.CENTRALITY])
def test_the_change_of_the_products_is_the_goal(goal: int) -> None:
    """w ds + s dw is what the goal says, and the right side is what that leaves to the column."""
    blocks = PairBlocks.of(rows())
    assert blocks is not None
    A, given = all_rows(blocks), (blocks.first, blocks.other, blocks.g)
    q, w, dq, rw = point(blocks)
    a, b, target = 0.02, 0.1, 0.05
    s, rs = -A @ q, -A @ dq / (-A @ q)
    after = w * s * (1 + a * rs) * (1 + b * rw)
    low, high = 0.1 * target, 10 * target
    wanted = {
        kernels.PREDICTOR: -w * s,
        kernels.CORRECTOR: target - w * s * rs * rw,
        kernels.CENTRALITY: np.where(
            after < low, low - after, np.where(after > high, np.maximum(high - after, -high), 0)
        ),
    }[goal]
    out = np.empty(K)
    kernels.right_side(*given, q, w, dq, rw, goal, a, b, target, out)
    assert np.allclose(out, -A.T @ (wanted / s))
    more, shares = np.linspace(-1, 1, K), np.array([1.0, 0.4])
    dual, least = np.empty_like(w), np.empty((2, 2))
    kernels.lengths(*given, q, w, dq, rw, goal, a, b, target, more, shares, dual, least)
    assert np.allclose(w * (-A @ more) + s * (w * dual), wanted)
    for n, share in enumerate(shares):
        assert math.isclose(least[n, 0], (rs + share * (-A @ more) / s).min())
        assert math.isclose(least[n, 1], (rw + share * dual).min())


def test_an_inverse_is_one_and_there_is_none_of_an_indefinite_matrix() -> None:
    rng = np.random.default_rng(0)
    half = rng.random((9, 9))
    B = half @ half.T + np.eye(9)
    found = B.copy()
    assert pair_output._invert(found)
    lower = np.tril(found)
    assert np.allclose(B @ (lower + np.tril(lower, -1).T), np.eye(9))
    assert not pair_output._invert(-np.eye(3))


def test_a_block_without_a_factor_is_a_failure_of_the_solver() -> None:
    blocks = PairBlocks.of(rows())
    assert blocks is not None
    output = PairOutput(blocks, np.ones(K), 1.0, 0.5, 1.0)
    output.w[:] = -1.0
    with pytest.raises(SolverError, match="Cholesky"):
        output.factor(np.zeros(1, dtype=bool))


@given(st.integers(0, 10**6), st.sampled_from([1.0, 3.0, 20.0]))
@examples(20)
def test_the_optimum_is_that_of_the_general_blocks(seed: int, most: float) -> None:
    A = rows(seed, 8, most)
    blocks = PairBlocks.of(A)
    assert blocks is not None
    rng = np.random.default_rng(seed)
    cost, counts = rng.random((1, 8, 5)), np.array([1.0, 2.0, 1.0, 1.0, 3.0])
    found = interior_point(blocks, cost, Limits(), counts=counts)
    wanted = interior_point(DenseKKT(A, np.ones(8), 8), cost, Limits(), counts=counts)
    assert math.isclose(found.value[0], wanted.value[0], rel_tol=1e-6)
    assert math.isclose(found.bound[0], wanted.bound[0], rel_tol=1e-6)
    assert (A @ found.matrix[0]).max() <= 0
    # the multipliers prove the bound by themselves
    reduced = cost[0] + A.T @ found.multipliers[0]
    assert found.multipliers.min() >= 0
    assert reduced.min(axis=1).sum() >= found.bound[0] - 1e-9


def test_rows_left_out_are_obeyed_and_few_join(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every iterate is private for all pairs; on a grid most rows never join."""
    monkeypatch.setattr(conversion, "MANY", 0)
    seen: list[PairOutput] = []
    moved = PairOutput.move

    def move(output: PairOutput, *args: Any) -> None:
        moved(output, *args)
        assert output._slacks(output.q).min() > 0
        if output not in seen:
            seen.append(output)

    monkeypatch.setattr(PairOutput, "move", move)
    problem = families.euclidean_grid(6, seed=3)
    program, _ = conic_program(problem)
    answer = by_interior(program, Limits())
    assert answer.route == "interior: pair blocks"
    rows_used = np.mean([len(output.w) for output in seen])
    assert rows_used < 0.6 * len(seen[0].blocks.g)


@pytest.mark.parametrize(
    "problem",
    [
        families.euclidean_grid(4, seed=3),
        families.random_context_aware(10),
        families.line_metric(11, epsilon=4),
        families.manhattan_grid(4),
        Problem(
            range(4),
            ContextAwareLDP([[0, 1, "inf", 1], [2, 0, 1, "inf"], [1, "inf", 0, 2], [1, 1, 1, 0]]),
            HammingLoss(),
        ),
    ],
    ids=["grid", "any budgets", "line", "symmetric", "free pairs"],
)
def test_designs_are_those_of_highs(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "MANY", 0)
    solution = design(problem, route="interior")
    assert "pair blocks" in solution.route
    assert solution.status == "optimal"
    wanted = design(problem, route="linear-program")
    assert math.isclose(float(solution.value), float(wanted.value), rel_tol=1e-7)


def test_memory_is_foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What outputs hold at the end, and all multipliers once, is a good part of the estimate."""
    made: list[PairOutput] = []

    class Kept(PairOutput):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(conversion, "MANY", 0)
    monkeypatch.setattr(pair_output, "PairOutput", Kept)
    problem = families.euclidean_grid(7, seed=3)
    solve_interior(problem, Limits(gap=1e-3))
    arrays = [a for output in made for a in vars(output).values() if isinstance(a, np.ndarray)]
    held = sum(a.nbytes for a in arrays) + 8 * sum(output.blocks.n_rows for output in made)
    assert len(made) == 49
    assert held <= InteriorPoint().memory(problem) <= 4 * held


def test_a_search_ends_at_any_step_with_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "MANY", 0)
    problem = families.euclidean_grid(5, seed=1)
    told: list[Progress] = []
    limits = Limits(watch=told.append)
    best = solve_interior(problem, limits)
    value = told[-1].value
    assert all(p.bound <= value * (1 + 1e-9) and p.value >= value * (1 - 1e-9) for p in told)
    assert np.allclose(best.matrix.sum(axis=1), 1)


def test_a_path_is_where_a_larger_cone_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "MANY", 0)
    small, large = (families.euclidean_grid(5, epsilon=e, seed=1) for e in ("0.6", "0.62"))
    path = solve_interior(small, Limits()).path
    steps = []
    for start in (None, path):
        told: list[Progress] = []
        found = solve_interior(large, Limits(watch=told.append), path=start)
        steps.append(told[-1].rounds)
        assert told[-1].gap <= 1e-8
        assert "pair blocks" in found.route
    assert steps[1] < steps[0]


def test_a_flat_cone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "MANY", 0)
    notion = MetricPrivacy("1e-12", "absolute")
    program, _ = conic_program(Problem(range(4), notion, HammingLoss()))
    with pytest.raises(UnsupportedError, match="inside"):
        by_interior(program, Limits())
