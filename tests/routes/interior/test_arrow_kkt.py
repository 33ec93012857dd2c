"""Arrow blocks solve B v = g, whatever the weights: held against exact rational arithmetic."""

from __future__ import annotations

from copy import copy
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BoundedPriorLIP,
    Domain,
    HighLowLDP,
    MetricPrivacy,
    Prior,
)
from mechdesign.notions import Notion
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior_sets import PriorList
from mechdesign.routes.interior.arrow_kkt import ArrowKKT
from mechdesign.routes.lp.extended_formulation import (
    ExtendedFormulation,
    extended_formulation,
    stacked,
)

FloatArray = npt.NDArray[np.float64]
Matrix = list[list[Fraction]]

K, M = 5, 2
BELIEFS = [[0.1, 0.2, 0.3, 0.2, 0.2], [0.2, 0.3, 0.1, 0.2, 0.2], [0.3, 0.3, 0.2, 0.1, 0.1]]

ARROWS: dict[str, list[Notion]] = {
    "ldp": [LDP(1)],
    "high-low": [HighLowLDP(1, sensitive=[0, 1, 3])],
    "lip": [LIP(1)],
    "pml": [PML("0.5")],
    "lift from below": [AsymmetricLift(lower="0.3", upper="inf")],
    "lip and ldp": [LIP(1), LDP("1.5")],
    "ldp and high-low": [LDP(1), HighLowLDP("0.5", sensitive=[0, 1, 2])],
    "a free lift and ldp": [AsymmetricLift(lower="inf", upper="inf"), LDP(1)],
    "lip and pml": [LIP(1), PML("0.7")],
    "one prior": [BoundedPriorLIP(1, priors=BELIEFS[:1])],
}

TOLERANCE = {"lip and ldp": 1e-5, "ldp and high-low": 1e-7}
"""Relative to the largest entry, at weights over 24 orders: with one auxiliary variable none."""


def parts(notions: list[Notion], prior: Prior) -> list[ExtendedFormulation]:
    families = [notion.family(Domain.range(len(prior)), prior) for notion in notions]
    return [
        extended_formulation(
            family,
            family.priors.members
            if isinstance(family, LiftRows) and isinstance(family.priors, PriorList)
            else (),
        )
        for family in families
    ]


def batch(name: str, size: int = 2) -> tuple[ArrowKKT, list[list[ExtendedFormulation]]]:
    rng = np.random.default_rng(5)
    priors = [Prior.from_counts(rng.integers(1, 100, K).tolist()) for _ in range(size)]
    stacks = [parts(ARROWS[name], prior) for prior in priors]
    blocks = ArrowKKT.of(stacks, K)
    assert blocks is not None
    return blocks, stacks


def dense(stack: list[ExtendedFormulation]) -> Matrix:
    """The inequalities in q and the free auxiliary variables, defined ones put in, exact."""
    A = [[Fraction(entry) for entry in row] for row in stacked(stack, K).toarray().tolist()]
    equal = np.concatenate([part.equal for part in stack]).tolist()
    rows = [row for row, is_equal in zip(A, equal, strict=True) if not is_equal]
    gone = []
    for row in (row for row, is_equal in zip(A, equal, strict=True) if is_equal):
        (auxiliary,) = (j for j in range(K, len(row)) if row[j])
        gone.append(auxiliary)
        rows = [
            [a - other[auxiliary] / row[auxiliary] * b for a, b in zip(other, row, strict=True)]
            for other in rows
        ]
    kept = [j for j in range(len(A[0])) if j not in gone]
    return [[row[j] for j in kept] for row in rows]


def solved(B: Matrix, right: Matrix) -> Matrix:
    """B^{-1} times a matrix, by elimination."""
    rows = [[*b, *r] for b, r in zip(B, right, strict=True)]
    for p in range(len(B)):
        pivot = rows[p][p]  # positive: B is positive definite
        rows[p] = [entry / pivot for entry in rows[p]]
        for i in range(len(B)):
            if i != p:
                factor = rows[i][p]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[p], strict=True)]
    return [row[len(B) :] for row in rows]


def exact_inverse(A: Matrix, D: FloatArray, d: FloatArray) -> Matrix:
    n = len(A[0])
    weights = [Fraction(weight) for weight in D.tolist()]
    B = [
        [
            sum((w * row[i] * row[j] for w, row in zip(weights, A, strict=True)), Fraction(0))
            + (Fraction(float(d[i])) if i == j and i < K else 0)
            for j in range(n)
        ]
        for i in range(n)
    ]
    return solved(B, [[Fraction(int(i == j)) for j in range(n)] for i in range(n)])


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0, 6, 12]))
@pytest.mark.parametrize("name", ARROWS)
def test_solving_and_the_schur_matrix_agree_with_exact_arithmetic(
    name: str, seed: int, orders: int
) -> None:
    rng = np.random.default_rng(seed)
    blocks, stacks = batch(name)
    D = 10 ** rng.uniform(-orders, orders, (2, blocks.n_rows, M))
    d = 10 ** rng.uniform(-orders, orders, (2, K, M))
    g = rng.normal(size=(2, blocks.n_vars, M))
    outputs = rng.uniform(0.5, 2, M)
    blocks.factor(D, d)
    v, schur = blocks.solve(g), blocks.schur(outputs)
    tolerance = TOLERANCE.get(name, 1e-11) if orders else 1e-12
    for n, stack in enumerate(stacks):
        A = dense(stack)
        total: FloatArray = np.zeros((K, K))
        for y in range(M):
            inverse = exact_inverse(A, D[n, :, y], d[n, :, y])
            right = [Fraction(entry) for entry in g[n, :, y].tolist()]
            exact = np.array(
                [float(sum(a * b for a, b in zip(row, right, strict=True))) for row in inverse]
            )
            assert np.abs(v[n, :, y] - exact).max() <= tolerance * np.abs(exact).max()
            total += outputs[y] * np.array([[float(e) for e in row[:K]] for row in inverse[:K]])
        size = np.sqrt(np.diag(total))
        assert (np.abs(schur[n] - total) <= tolerance * np.outer(size, size)).all()


@pytest.mark.parametrize("name", ["ldp", "high-low"])
def test_one_free_auxiliary_variable_loses_no_digit_over_sixty_orders(name: str) -> None:
    rng = np.random.default_rng(0)
    blocks, stacks = batch(name)
    D = 10 ** rng.uniform(-30, 30, (2, blocks.n_rows, M))
    d = 10 ** rng.uniform(-30, 30, (2, K, M))
    blocks.factor(D, d)
    schur = blocks.schur()
    for n, stack in enumerate(stacks):
        inverses = [exact_inverse(dense(stack), D[n, :, y], d[n, :, y]) for y in range(M)]
        exact = sum(np.array([[float(e) for e in row[:K]] for row in B[:K]]) for B in inverses)
        np.testing.assert_allclose(schur[n], exact, rtol=1e-14)


@pytest.mark.parametrize("name", ARROWS)
def test_rows_and_columns_are_those_of_the_compressed_families(name: str) -> None:
    rng = np.random.default_rng(1)
    blocks, stacks = batch(name, 3)
    v, w = rng.normal(size=(3, blocks.n_vars, M)), rng.normal(size=(3, blocks.n_rows, M))
    for n, stack in enumerate(stacks):
        A = np.array([[float(entry) for entry in row] for row in dense(stack)])
        np.testing.assert_allclose(blocks.rows(v)[n], A @ v[n], atol=1e-14)
        np.testing.assert_allclose(blocks.columns(w)[n], A.T @ w[n], atol=1e-14)
        equal = np.concatenate([part.equal for part in stack])
        assert (blocks.places == np.flatnonzero(~equal)).all()


@pytest.mark.parametrize("name", ARROWS)
def test_the_start_is_inside(name: str) -> None:
    blocks, _ = batch(name)
    start = blocks.start()
    assert (start[:, :K] == 1).all()
    assert (blocks.rows(start[:, :, None]) < -1e-3).all()


def test_a_shared_copy_keeps_its_own_factor() -> None:
    blocks, _ = batch("lip")
    ones = np.ones((2, blocks.n_rows, M)), np.ones((2, K, M))
    blocks.factor(*ones)
    other = copy(blocks)
    before = blocks.schur()
    other.factor(ones[0], 100 * ones[1])
    np.testing.assert_array_equal(blocks.schur(), before)
    assert (np.diagonal(other.schur(), axis1=1, axis2=2) < np.diagonal(before[0])).all()


UNIFORM = Prior.uniform(K)


@pytest.mark.parametrize(
    "stacks",
    [
        [parts([MetricPrivacy(1, "absolute")], UNIFORM)],  # rows on pairs of entries
        [parts([AsymmetricLift(lower="inf", upper="inf")], UNIFORM)],  # no row
        [parts([BoundedPriorLIP(1, priors=BELIEFS)], UNIFORM)],  # two laws and more
        [parts([LDP(0)], UNIFORM)],  # no inside
        [parts([LIP(0)], UNIFORM)],
        [parts([LIP(1)], UNIFORM), parts([PML(1)], UNIFORM)],  # two patterns
        [parts([LIP(1)], UNIFORM), parts([LDP(1)], UNIFORM)],
    ],
    ids=["metric", "no row", "priors", "ldp 0", "lip 0", "lip beside pml", "lip beside ldp"],
)
def test_what_is_no_arrow_is_refused(stacks: list[list[ExtendedFormulation]]) -> None:
    assert ArrowKKT.of(stacks, K) is None
