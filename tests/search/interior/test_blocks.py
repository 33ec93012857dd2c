"""Every kind of block against the matrix B = A' D A itself, and every optimum against HiGHS."""

from __future__ import annotations

import math
import signal
import threading
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import mechdesign as md
from mechdesign.notions import Notion
from mechdesign.notions.rows.cone import Cone
from mechdesign.search.interior.arrow import ArrowBlocks, ArrowRows
from mechdesign.search.interior.solve import by_interior, solve_interior
from mechdesign.search.interior.sparse import SparseBlocks
from mechdesign.search.limits import Limits, Progress
from mechdesign.search.lp.extended_formulation import ExtendedFormulation, extended_formulation
from mechdesign.search.presolve.chain import conic_program
from mechdesign.search.routes import InteriorPoint
from mechdesign.utilities import Utility
from problems import families
from solvers import SOLVERS

FloatArray = npt.NDArray[np.float64]
Matrix = list[list[Fraction]]

K, M = 5, 2
COUNTS = np.array([0.5, 2.0])
BELIEFS = [[0.1, 0.2, 0.3, 0.2, 0.2], [0.2, 0.3, 0.1, 0.2, 0.2], [0.3, 0.3, 0.2, 0.1, 0.1]]

ARROWS: dict[str, list[Notion]] = {
    "ldp": [md.LDP(1)],
    "high-low": [md.HighLowLDP(1, sensitive=[0, 1, 3])],
    "lip": [md.LIP(1)],
    "pml": [md.PML("0.5")],
    "lift from below": [md.AsymmetricLift(lower="0.3", upper="inf")],
    "lip and ldp": [md.LIP(1), md.LDP("1.5")],
    "ldp and high-low": [md.LDP(1), md.HighLowLDP("0.5", sensitive=[0, 1, 2])],
    "a free lift and ldp": [md.AsymmetricLift(lower="inf", upper="inf"), md.LDP(1)],
    "lip and pml": [md.LIP(1), md.PML("0.7")],
    "one prior": [md.BoundedPriorLIP(1, priors=BELIEFS[:1])],
}
OTHERS: dict[str, list[Notion]] = {
    "metric": [md.MetricPrivacy(1, "absolute")],
    "no row": [md.AsymmetricLift(lower="inf", upper="inf")],
    "priors": [md.BoundedPriorLIP(1, priors=BELIEFS)],
    "flat ldp": [md.LDP(0)],
    "flat lip": [md.LIP(0)],
}

TOLERANCE = {"lip and ldp": 1e-5, "ldp and high-low": 1e-7}
"""Relative to the largest entry, at weights over 24 orders: with one auxiliary variable none."""

UNIFORM = md.Prior.uniform(K)


def stated(notions: list[Notion], prior: md.Prior = UNIFORM) -> ExtendedFormulation:
    domain = md.Domain.range(len(prior))
    return extended_formulation(Cone([notion.family(domain, prior) for notion in notions]))


def read(notions: list[Notion], prior: md.Prior = UNIFORM) -> ArrowRows | None:
    rows = stated(notions, prior)
    return ArrowRows.of(rows.A, rows.equal, len(prior))


def batch(name: str, size: int = 2) -> tuple[ArrowBlocks, list[Matrix]]:
    """Blocks for some priors, and the rows of each in q and the free auxiliary variables, exact."""
    rng = np.random.default_rng(5)
    priors = [md.Prior.from_counts(rng.integers(1, 100, K).tolist()) for _ in range(size)]
    blocks = ArrowBlocks.of([read(ARROWS[name], prior) for prior in priors], K, COUNTS)
    assert blocks is not None
    return blocks, [exact_rows(stated(ARROWS[name], prior)) for prior in priors]


def exact_rows(stack: ExtendedFormulation) -> Matrix:
    """The inequalities, defined auxiliary variables put in, and the rows of q >= 0."""
    A = [[Fraction(entry) for entry in row] for row in stack.A.toarray().tolist()]
    equal = stack.equal.tolist()
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
    own = [[Fraction(-(j == x)) for j in range(len(A[0]))] for x in range(K)]
    return [[row[j] for j in kept] for row in [*rows, *own]]


def exact_inverse(A: Matrix, D: FloatArray) -> Matrix:
    """(A' diag(D) A)**-1, by elimination."""
    n, weights = len(A[0]), [Fraction(weight) for weight in D.tolist()]
    rows = [
        [
            sum((w * row[i] * row[j] for w, row in zip(weights, A, strict=True)), Fraction(0))
            for j in range(n)
        ]
        + [Fraction(i == j) for j in range(n)]
        for i in range(n)
    ]
    for p in range(n):
        pivot = rows[p][p]  # positive: B is positive definite
        rows[p] = [entry / pivot for entry in rows[p]]
        for i in range(n):
            if i != p:
                factor = rows[i][p]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[p], strict=True)]
    return [row[n:] for row in rows]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0, 6, 12]))
@pytest.mark.parametrize("name", ARROWS)
def test_arrows_solve_as_exact_arithmetic_does(name: str, seed: int, orders: int) -> None:
    rng = np.random.default_rng(seed)
    blocks, exact = batch(name)
    D = 10 ** rng.uniform(-orders, orders, (2, blocks.n_rows + K, M))
    g = rng.normal(size=(2, blocks.n_vars, M))
    blocks.factor(D)
    v, schur = blocks.solve(g), blocks.schur()
    tolerance = TOLERANCE.get(name, 1e-11) if orders else 1e-12
    for n, A in enumerate(exact):
        total: FloatArray = np.zeros((K, K))
        for y in range(M):
            inverse = exact_inverse(A, D[n, :, y])
            right = [Fraction(entry) for entry in g[n, :, y].tolist()]
            wanted = np.array(
                [float(sum(a * b for a, b in zip(row, right, strict=True))) for row in inverse]
            )
            assert np.abs(v[n, :, y] - wanted).max() <= tolerance * np.abs(wanted).max()
            total += COUNTS[y] * np.array([[float(e) for e in row[:K]] for row in inverse[:K]])
        size = np.sqrt(np.diag(total))
        assert (np.abs(schur[n] - total) <= tolerance * np.outer(size, size)).all()


@pytest.mark.parametrize("name", ["ldp", "high-low", "lip", "pml", "lift from below", "one prior"])
@pytest.mark.parametrize("orders", [0, 3])
def test_bordered_systems_are_those_of_the_schur_complement(name: str, orders: int) -> None:
    rng = np.random.default_rng(orders)
    blocks, _ = batch(name)
    D = 10 ** rng.uniform(-orders, orders, (2, blocks.n_rows + K, M))
    g, sums = rng.normal(size=(2, blocks.n_vars, M)), rng.normal(size=(2, K))
    blocks.factor(D)
    assert blocks.factor_bordered()
    v, pi = blocks.solve_bordered(g, sums)
    missing = sums - blocks.solve(g)[:, :K] @ COUNTS
    wanted = np.linalg.solve(blocks.schur(), missing[:, :, None])[:, :, 0]
    np.testing.assert_allclose(pi, wanted, rtol=1e-7, atol=1e-7 * np.abs(wanted).max())
    np.testing.assert_allclose(v[:, :K] @ COUNTS, sums, atol=1e-7 * np.abs(v).max())
    right = g.copy()
    right[:, :K] += pi[:, :, None]
    size = np.abs(right).max()
    np.testing.assert_allclose(blocks.columns(D * blocks.rows(v)), right, atol=1e-7 * size)


@pytest.mark.parametrize("name", ["ldp", "high-low"])
def test_one_free_auxiliary_variable_loses_no_digit_over_sixty_orders(name: str) -> None:
    blocks, exact = batch(name)
    D = 10 ** np.random.default_rng(0).uniform(-30, 30, (2, blocks.n_rows + K, M))
    blocks.factor(D)
    schur = blocks.schur()
    for n, A in enumerate(exact):
        inverses = [exact_inverse(A, D[n, :, y]) for y in range(M)]
        parts = [np.array([[float(e) for e in row[:K]] for row in B[:K]]) for B in inverses]
        np.testing.assert_allclose(schur[n], np.tensordot(COUNTS, parts, 1), rtol=1e-14)


@pytest.mark.parametrize(
    "problems",
    [
        *([read(notions)] for notions in OTHERS.values()),
        [read([md.LIP(1)]), read([md.PML(1)])],
        [read([md.LIP(1)]), read([md.LDP(1)])],
    ],
    ids=[*OTHERS, "lip beside pml", "lip beside ldp"],
)
def test_blocks_without_one_arrow_pattern_are_refused(problems: list[ArrowRows | None]) -> None:
    assert ArrowBlocks.of(problems, K, COUNTS) is None


def random_rows(seed: int, size: int = 8, most: float = 2.0, more: int = 0) -> sp.csr_array:
    """Rows e**-E q_x <= q_z for most pairs, and some below a mean of three entries, any size."""
    rng = np.random.default_rng(seed)
    pairs = [(x, z) for x in range(size) for z in range(size) if x != z and rng.random() < 0.8]
    A = np.zeros((len(pairs) + more, size))
    for n, row in enumerate(rng.permutation(len(pairs))):
        x, z = pairs[n]
        scale = rng.uniform(0.5, 2)
        A[row, x], A[row, z] = scale * math.exp(-rng.uniform(0.3, most)), -scale
    for row in range(len(pairs), len(A)):
        x, *mean = rng.permutation(size)[:4]
        A[row, x], A[row, mean] = math.exp(-rng.uniform(0.3, most)), -1 / 3
    return sp.csr_array(A)


@pytest.mark.parametrize("chosen", ["all", "some"])
def test_sparse_blocks_are_those_of_the_rows_in_use(chosen: str) -> None:
    rng, given = np.random.default_rng(0), random_rows(3, more=5)
    n, k = given.shape
    blocks = SparseBlocks(given, k, np.array([1.0, 2.0, 0.5]))
    used = np.ones((n, 3), dtype=bool) if chosen == "all" else rng.random((n, 3)) < 0.5
    blocks._use(used)
    products = rng.random((1, int(used.sum()) + 3 * k, 1)) + 0.1
    A = np.vstack([given.toarray(), -np.eye(k)])
    whole = np.vstack([used, np.ones((k, 3), dtype=bool)])
    D: FloatArray = np.zeros((n + k, 3))
    D[whole] = products.ravel()
    assert (blocks.multipliers(products)[0] == D[:n]).all()
    assert (blocks.reduced_costs(products)[0] == D[n:]).all()
    v, g = rng.random((1, k, 3)), rng.random((1, k, 3))
    assert np.allclose(blocks.rows(v).ravel(), (A @ v[0])[whole])
    assert np.allclose(blocks.columns(products)[0], A.T @ D)
    assert np.allclose(blocks.least(products)[0], np.where(whole, D, np.inf).min(axis=0))
    blocks.factor(products)
    found, B = blocks.solve(g), [A.T @ np.diag(D[:, y]) @ A for y in range(3)]
    for y in range(3):
        assert np.allclose(B[y] @ found[0, :, y], g[0, :, y])
    total = sum(c * np.linalg.inv(b) for c, b in zip(blocks.counts, B, strict=True))
    assert np.allclose(blocks.schur()[0], total)
    # one output alone: the others stay as they are
    blocks.factor(2 * products, np.array([False, True, False]))
    assert np.allclose(blocks.solve(g)[0], found[0] / [1.0, 2.0, 1.0])


def test_rows_left_out_are_obeyed_and_few_join(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every iterate is private for all pairs; on a grid most rows never join."""
    used: list[float] = []
    join = SparseBlocks.join

    def joined(blocks: SparseBlocks) -> Any:
        found = join(blocks)
        used.append(len(blocks.weight[0]) / (len(blocks.counts) * (blocks.n_rows + blocks.size)))
        return found

    monkeypatch.setattr(SparseBlocks, "join", joined)
    program, _ = conic_program(families.euclidean_grid(6, seed=3))
    answer = by_interior(program, Limits())
    assert answer.route == "interior: sparse blocks"
    assert (program.cone.matrix() @ answer.matrix).max() < 0
    assert 0.2 < used[0] <= used[-1] < 0.6


@pytest.mark.parametrize(
    "problem",
    [
        families.euclidean_grid(7, seed=3),
        families.random_context_aware(40),
        families.lip_numeric(100),
        families.lip_and_ldp(40),
    ],
    ids=["grid", "any budgets", "lip", "both"],
)
def test_memory_is_foreseen_to_a_factor_of_two(problem: md.Problem) -> None:
    solve_interior(problem, Limits(gap=0.3))  # what is loaded on demand is no part of it
    tracemalloc.start()
    solve_interior(problem, Limits(gap=1e-3))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak / 2 < InteriorPoint().memory(problem) < 2 * peak


@pytest.mark.parametrize(
    "notion", [md.MetricPrivacy("1e-12", "absolute"), md.LDP("1e-12")], ids=repr
)
def test_a_flat_cone_is_refused(notion: Notion) -> None:
    program, _ = conic_program(md.Problem(range(4), notion, md.HammingLoss()))
    with pytest.raises(md.UnsupportedError, match="inside"):
        by_interior(program, Limits())


# The interior-point route: the optimum of the linear program, and a bound at every step.


MAE = md.MeanAbsoluteError()
RARE = md.Prior.from_counts([1, 10**6, 7, 900, 5000])
BELIEF = [0.1, 0.2, 0.3, 0.2, 0.2]
MEANS = [(f"mean {x}", {x: 3}, 1, {(x + n) % 5: 1 for n in (1, 2, 3)}) for x in range(5)]


def on(k: int, notions: Any, utility: Utility = MAE, prior: Any = None) -> md.Problem:
    return md.Problem(range(k), notions, utility, prior=prior or families.random_prior(k))


FAMILIES = {
    "ldp": families.ldp_numeric(12),
    "lip": families.lip_numeric(12),
    "lip, smallest prior 1e-6": on(5, md.LIP(1), prior=RARE),
    "lift": families.lift_numeric(9),
    "lift from below": on(5, md.AsymmetricLift(lower="0.3", upper="inf")),
    "pml": families.pml_hamming(9),
    "line": families.line_metric(12),
    "line, entries down to e**-40": families.line_metric(11, epsilon=4),
    "grid": families.euclidean_grid(4, seed=3),
    "city blocks": families.manhattan_grid(4, seed=3),
    "any budgets": families.random_context_aware(12),
    "blocks": families.block_grid(4),
    "high-low": families.high_low(12),
    "identifiability": families.differential_identifiability(8),
    "both": families.lip_and_ldp(10),
    "both, of unlike shape": on(8, [md.LIP(1), md.MetricPrivacy("0.4", "absolute")]),
    "two lifts": on(5, [md.LIP(1), md.PML("0.7")]),
    "a budget and a stricter one": on(5, [md.LDP(1), md.HighLowLDP("0.5", [0, 1, 2])]),
    "a free lift and ldp": on(5, [md.AsymmetricLift("inf", "inf"), md.LDP(1)]),
    "rows of one's own": on(5, [md.LinearNotion(MEANS), md.MetricPrivacy(1, "absolute")]),
    "one prior": on(5, md.BoundedPriorLIP(1, priors=[BELIEF])),
    "list of priors": families.bounded_prior_list(6),
    "inputs with equal rows": on(
        3, md.ContextAwareLDP([[0, 0, 1], [1, 0, 1], [1, 1, 0]]), md.HammingLoss(), [1 / 3] * 3
    ),
    "many outputs": families.many_outputs(6),
    "an input of prior 0": on(4, md.LDP(1), prior=[0, "0.3", "0.3", "0.4"]),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_it_is_the_optimum_of_the_program_from_the_definitions(name: str) -> None:
    problem = FAMILIES[name]
    solution = md.design(problem, route="interior")
    assert solution.route.startswith("interior"), solution
    assert solution.status == "optimal", solution
    assert solution.bound <= solution.value
    reference = SOLVERS["direct-lp"](problem).value
    assert math.isclose(float(solution.value), reference, rel_tol=2e-6, abs_tol=1e-9)


@pytest.mark.parametrize("utility", [md.HammingLoss(), md.BayesAccuracy()], ids=lambda u: u.name)
def test_large_programs_come_to_it_by_themselves(utility: Utility) -> None:
    """The accuracy of a guess is a program on as many outputs as there are inputs."""
    notion = families.random_context_aware(40).privacy[0]
    problem = md.Problem(range(40), notion, utility, prior=families.random_prior(40))
    solution = md.design(problem)
    assert solution.route.startswith("interior")
    assert solution.status == "optimal"


def test_a_second_interruption_is_as_usual() -> None:
    def watch(_progress: Progress) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        md.design(families.euclidean_grid(5, seed=1), progress=watch)
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_the_signals_alone() -> None:
    before, found = signal.getsignal(signal.SIGINT), []
    thread = threading.Thread(target=lambda: found.append(md.design(families.ldp_numeric(5))))
    thread.start()
    thread.join()
    assert found[0].status == "optimal"
    assert signal.getsignal(signal.SIGINT) is before


def test_a_part_of_the_limits_heeds_the_whole() -> None:
    whole = Limits(seconds=1e9)
    part = whole.part()
    assert not part.expired()
    whole.interrupted = True
    assert part.expired()
    assert part.ended == "interrupted"
    assert Limits(seconds=0).part().expired()
