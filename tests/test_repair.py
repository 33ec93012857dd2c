"""Repair makes any answer of a solver exactly private, and moves it by no more than its error."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.notions import Cone, Notion, Row
from mechdesign.notions.rows.family import Family
from mechdesign.repair import _plus_constant, repair
from mechdesign.search.conic.cvxpy_solver import OPTIONS
from tests.strategies import (
    ATTRIBUTES,
    KINDS,
    WHOLE,
    broken,
    cases,
    distortions,
    examples,
    lp_optimum,
)

ERROR = 1e3
"""How much further an entry may move than the noise on it, for budgets of at least 0.1 nats.

A column that breaks a lift row by d is raised by about d / (e**epsilon - 1), on up to four inputs.
"""

FLOOR = 1e-10
"""Noise below this is as good as this: columns and entries smaller than it are dropped."""


def exactly_private(cone: Cone, rows: np.ndarray) -> bool:
    assert all(sum(row) == WHOLE and min(row) >= 0 for row in rows.tolist())
    return all(cone.violation(column) is None for column in zip(*rows.tolist(), strict=True))


def filled(rows: np.ndarray, kept: list[int], shape: tuple[int, int]) -> np.ndarray:
    """The repaired channel with the columns that were dropped, as floats."""
    assert kept == sorted(set(kept))
    matrix = np.zeros(shape)
    matrix[:, kept] = np.array(rows, dtype=float) / WHOLE
    return matrix


@st.composite
def optima(
    draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, least: str = "0.1"
) -> tuple[md.Problem, np.ndarray]:
    case = draw(cases(kinds, least=least))
    utility = draw(distortions(len(case.domain)))
    problem = md.Problem(case.domain, case.notion, utility, prior=case.prior)
    return problem, lp_optimum(problem).matrix


def spoil(Q: np.ndarray, way: str, noise: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if way == "noise":
        return Q + noise * rng.normal(size=Q.shape)
    if way == "mixed zeros":  # zeros and 1e-13 side by side in one column
        dust = noise * rng.random(Q.shape) * (rng.random(Q.shape) < 0.5)
        return np.where(Q < 1e-9, dust, Q)
    if way == "dropped":
        return np.where(10 * noise > Q, 0.0, Q)
    return Q + noise * rng.normal(size=(1, Q.shape[1]))  # rows that do not sum to 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, *ATTRIBUTES])
@examples(20)
@given(
    st.data(),
    st.sampled_from(["noise", "mixed zeros", "dropped", "row sums"]),
    st.sampled_from([1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13]),
    st.integers(0, 2**32),
)
def test_a_nearly_private_matrix_moves_by_its_noise(
    kind: str, data: Any, way: str, noise: float, seed: int
) -> None:
    problem, Q = data.draw(optima((kind,)))
    rows, kept = repair(problem.cone, spoil(Q, way, noise, seed))
    assert exactly_private(problem.cone, rows)
    assert broken(problem, md.Channel(rows)) is None
    moved = np.abs(filled(rows, kept, Q.shape) - Q).max()
    assert moved <= ERROR * max(noise, FLOOR)


budget = st.sampled_from(["1e-12", "1e-9", "1e-3", "0", "0.1", "1", "5", "50", "800"])
entry = st.one_of(budget, st.just("inf"))


@st.composite
def intersections(draw: st.DrawFn) -> md.Problem:
    k = draw(st.integers(1, 5))
    notions: list[Notion] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["ldp", "e", "high-low", "block", "lip", "pml", "lift"]))
        e = draw(budget)
        some = draw(st.lists(st.integers(0, k - 1), min_size=1, unique=True))
        rest = [x for x in range(k) if x not in some]
        matrix = [[draw(entry) for _ in range(k)] for _ in range(k)]
        made: dict[str, Notion] = {
            "ldp": md.LDP(e),
            "e": md.ContextAwareLDP(matrix),
            "high-low": md.HighLowLDP(e, some),
            "block": md.BlockLDP(e, [some, rest] if rest else [some]),
            "lip": md.LIP(e),
            "pml": md.PML(e),
            "lift": md.AsymmetricLift(draw(entry), draw(entry)),
        }
        notions.append(made[kind])
    counts = draw(st.lists(st.sampled_from([0, 1, 1000]), min_size=k, max_size=k).filter(any))
    utility = md.Distortion([[0]] * k)
    return md.Problem(range(k), notions, utility, prior=md.Prior.from_counts(counts))


hopeless = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 1e-13, 1e-10, 1e-300, 1e300, 1e308, np.nan, np.inf, -np.inf]),
    st.floats(0, 1),
)


@examples(50)
@given(intersections(), st.data())
def test_repair_makes_any_input_private(problem: md.Problem, data: Any) -> None:
    k, m = len(problem.domain), data.draw(st.integers(1, 4))
    row = st.lists(hopeless, min_size=m, max_size=m)
    Q = np.array(data.draw(st.lists(row, min_size=k, max_size=k)))
    rows, kept = repair(problem.cone, Q)
    assert exactly_private(problem.cone, rows)
    assert len(rows[0]) == len(kept) >= 1
    assert set(kept) <= set(range(m))


@pytest.mark.parametrize(
    "Q",
    [
        *(np.ones(shape) for shape in ((3, 0), 3, (2, 3), (4, 3), (3, 3, 3))),
        *(np.full((3, 3), entry) for entry in (1j, None, "1")),
        None,
    ],
    ids=range(9),
)
def test_matrices_that_cannot_be_repaired_are_refused(Q: Any) -> None:
    cone = md.LDP(1).cone(md.Domain.range(3), md.Prior.uniform(3))
    with pytest.raises(md.SolverError, match="the route failed: "):
        repair(cone, Q)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64, np.float16, np.float32])
def test_numbers_of_any_kind_are_repaired(dtype: Any) -> None:
    cone = md.LDP(1).cone(md.Domain.range(3), md.Prior.uniform(3))
    rows, kept = repair(cone, np.eye(3, dtype=dtype))
    expected, _ = repair(cone, np.eye(3))
    assert kept == [0, 1, 2]
    assert (rows == expected).all()


@examples(25)
@given(optima(least="0"))
def test_an_exactly_private_channel_stays_within_a_few_units(pair: tuple[md.Problem, Any]) -> None:
    problem, Q = pair
    once, _ = repair(problem.cone, Q)
    floats = np.array(once, dtype=float) / WHOLE
    twice, kept = repair(problem.cone, floats)
    assert np.abs(filled(twice, kept, floats.shape) - floats).max() <= 1e-12


@pytest.mark.parametrize("dust", [0.0, 1e-13, 9e-12])
def test_structural_zeros_stay_zero(dust: float) -> None:
    """Mangat's design for four inputs, and blocks: what dust there is goes."""
    e = np.exp(-1.0)
    mangat = np.array([[1, 0, 0, 0], *([e, *((1 - e) * np.eye(3)[i])] for i in range(3))])
    rows, kept = repair(md.HighLowLDP(1, [0]).cone(md.Domain.range(4)), mangat + dust)
    assert kept == [0, 1, 2, 3]
    assert [[v > 0 for v in row] for row in rows] == (mangat > 0).tolist()

    p = np.e / (np.e + 1)
    block = np.zeros((4, 4))
    block[:2, :2] = block[2:, 2:] = [[p, 1 - p], [1 - p, p]]
    rows, _ = repair(md.BlockLDP(1, [[0, 1], [2, 3]]).cone(md.Domain.range(4)), block + dust)
    assert [[v > 0 for v in row] for row in rows] == (block > 0).tolist()

    pml = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]) + dust
    rows, _ = repair(md.PML("1.2").cone(md.Domain.range(3), md.Prior.uniform(3)), pml)
    assert [[v > 0 for v in row] for row in rows] == np.eye(3, dtype=bool).tolist()


def test_zeros_that_may_not_stand_are_raised() -> None:
    cone = md.LDP(1).cone(md.Domain.range(2))
    rows, _ = repair(cone, np.array([[0.7, 0.3, 0.0], [0.3, 0.7, 1e-9]]))
    assert exactly_private(cone, rows)
    assert all(len({v > 0 for v in column}) == 1 for column in zip(*rows.tolist(), strict=True))


@pytest.mark.parametrize("rare", [0.0, 1e-13, 9e-11, 1e-9, 1e-6, 1e-3])
def test_empty_columns_are_dropped_and_rare_ones_kept(rare: float) -> None:
    Q = np.array([[0.7, rare, 0.3 - rare], [0.3, rare / 2, 0.7 - rare / 2]])
    rows, kept = repair(md.LDP(1).cone(md.Domain.range(2)), Q)
    assert kept == ([0, 1, 2] if rare >= FLOOR else [0, 2])
    assert np.abs(np.array(rows) / WHOLE - Q[:, kept]).max() <= (1e-12 if rare >= FLOOR else 1e-9)


@pytest.mark.parametrize("one_way", ["inf", "0", "3"])
def test_rows_tied_one_way_become_equal(one_way: str) -> None:
    """q_0 <= q_1 in every column makes the rows equal, as both sum to 1."""
    cone = md.ContextAwareLDP([["0", "0"], [one_way, "0"]]).cone(md.Domain.range(2))
    rows, kept = repair(cone, np.array([[0.5, 0.5 - 1e-9, 0], [0.5 + 1e-9, 0.5, 1e-13]]))
    assert (rows[0] == rows[1]).all()
    assert np.abs(filled(rows, kept, (2, 3))[0] - [0.5, 0.5, 0]).max() < 1e-8


@pytest.mark.parametrize("epsilon", ["1e-12", "1e-9", "1e-6", "1e-3"])
@pytest.mark.parametrize("make", [md.LDP, md.LIP, md.PML])
def test_at_a_tiny_budget_a_nearly_constant_channel_stays_near(make: Any, epsilon: str) -> None:
    cone = make(epsilon).cone(md.Domain.range(3), md.Prior([0.2, 0.3, 0.5]))
    rng = np.random.default_rng(0)
    for noise in (1e-13, 1e-10, 1e-8):
        Q = np.array([[0.7, 0.3, 0.0]] * 3) + noise * rng.random((3, 3))
        rows, kept = repair(cone, Q)
        assert exactly_private(cone, rows)
        assert np.abs(filled(rows, kept, Q.shape) - Q).max() <= max(
            1e-6, min(10 * noise / float(epsilon), 0.01)
        )


@pytest.mark.parametrize("epsilon", ["30", "50", "800", "5000"])
def test_at_a_huge_budget_the_identity_stays_near(epsilon: str) -> None:
    for notion in (md.LDP(epsilon), md.LIP(epsilon), md.MetricPrivacy(epsilon, "absolute")):
        cone = notion.cone(md.Domain.range(3), md.Prior([0.2, 0.3, 0.5]))
        rows, kept = repair(cone, np.eye(3))
        assert exactly_private(cone, rows)
        assert np.abs(filled(rows, kept, (3, 3)) - np.eye(3)).max() <= 1e-12


@examples(10)
@given(st.integers(10, 40), st.integers(0, 2**32), st.sampled_from([md.LDP, md.LIP, md.PML]))
def test_larger_channels(k: int, seed: int, make: Any) -> None:
    rng = np.random.default_rng(seed)
    prior = md.Prior.from_counts(rng.integers(1, 100, k).tolist())
    cone = make("0.5").cone(md.Domain.range(k), prior)
    blind = rng.dirichlet(np.ones(k))
    least = float(prior.minimum)
    inside = 0.1 * least * np.eye(k) + (1 - 0.1 * least) * blind
    noisy = np.maximum(inside + 1e-9 * rng.normal(size=(k, k)), 0)
    rows, _ = repair(cone, noisy)
    assert exactly_private(cone, rows)


# --- what solvers return --------------------------------------------------------------------------

LN2 = "0.6931471805599453"
GRID = md.Problem(md.Domain.grid(4, 4), md.MetricPrivacy(LN2, "euclidean"), md.EuclideanDistance())
COST = GRID.utility.cost(GRID.domain, GRID.prior, GRID.outputs)


def by_scipy() -> np.ndarray:
    G = GRID.cone.matrix()
    body, sums = sp.kron(G, sp.eye(16)), sp.kron(sp.eye(16), np.ones((1, 16)))
    found = scipy.optimize.linprog(
        COST.ravel(), body, np.zeros(body.shape[0]), sums, np.ones(16), method="highs-ipm"
    )
    return np.array(found.x).reshape(16, 16)


def by_cvxpy(solver: str, options: dict[str, Any]) -> np.ndarray:
    if solver not in cp.installed_solvers():
        pytest.skip(f"{solver} is not installed")
    Q = cp.Variable((16, 16), nonneg=True)
    rows = [cp.sum(Q, axis=1) == 1, *GRID.privacy[0].constraints(Q, GRID.domain, GRID.prior)]
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(COST, Q))), rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "solution may be inaccurate" is what is looked at here
        problem.solve(solver=solver, **options)
    return np.array(Q.value)


@pytest.fixture(scope="module")
def best() -> float:
    return float((COST * by_scipy()).sum())


@pytest.mark.parametrize(
    ("solver", "options", "loss"),
    [
        ("scipy", {}, 1e-8),
        ("CLARABEL", {}, 1e-8),
        ("CLARABEL", OPTIONS["CLARABEL"], 1e-8),
        ("SCS", OPTIONS["SCS"], 1e-8),
        ("SCS", {}, None),
        ("OSQP", {}, None),
    ],
    ids=["scipy", "clarabel", "clarabel-tight", "scs-tight", "scs", "osqp"],
)
def test_raw_answers_are_not_private_and_repaired_ones_are(
    solver: str, options: dict[str, Any], loss: float | None, best: float
) -> None:
    raw = by_scipy() if solver == "scipy" else by_cvxpy(solver, options)
    units = np.floor(np.maximum(raw, 0) * WHOLE).astype(np.int64).T.tolist()
    broken = sum(GRID.cone.violation(column) is not None for column in units)
    sums = np.abs(np.array(units, dtype=object).sum(axis=0) - WHOLE)
    assert broken or sums.max() > 0  # no solver returns an exactly private channel

    excess = float((GRID.cone.matrix() @ raw).max(initial=0))
    mixed = [c for c in raw.T if (c > 1e-9).any() and (c < 1e-12).any()]
    if solver == "OSQP":
        assert broken
        assert mixed or excess > 1e-9

    rows, kept = repair(GRID.cone, raw)
    assert exactly_private(GRID.cone, rows)
    labels = [GRID.outputs[y] for y in kept] if GRID.outputs else []
    channel = md.Channel(rows, inputs=GRID.domain, outputs=labels)
    assert GRID.privacy[0].leakage(channel) <= float(LN2)
    after = float(GRID.utility.value(channel, GRID.prior, GRID.outputs))
    assert after >= best * (1 - 1e-12)
    off = max(excess, float(np.abs(raw.sum(axis=1) - 1).max()))
    assert after <= best * (1 + (loss if loss is not None else 1e-6 + 100 * off))


@pytest.mark.parametrize("swapped", [False, True])
def test_a_raise_for_one_family_breaks_no_other(swapped: bool) -> None:
    """Here a raise on the support satisfies the first, and breaks the second; constants do not."""
    one, zero = Fraction(1), Fraction(0)
    first = Row("first", {0: one}, zero, {1: Fraction(2)})
    second = Row("second", {1: one}, zero, {0: Fraction(1, 4), 2: Fraction(3, 4)})
    families = [Family([row], 3, zero) for row in (first, second)]
    cone = Cone(families[::-1] if swapped else families)
    column = [4000, 1000, 0]
    assert (
        cone.violation([q + 2000 * d for q, d in zip(column, [1, 1, 0], strict=True)]) == "second"
    )
    raised, step = _plus_constant(cone, column)
    assert cone.violation(raised) is None
    assert step > 0
    assert raised == [q + step for q in column]
