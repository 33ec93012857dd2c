"""Coarse to fine: representatives cover what they can, and their bound holds and is proved.

The optimum comes from the textbook linear program, shortest paths from scipy, and the greedy choice
from asking every input again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse.csgraph import shortest_path

import mechdesign as md
from mechdesign.kernel import verify
from mechdesign.notions import Cone, Notion
from mechdesign.search.coarse.lattice import (
    Lattice,
    LatticeProgram,
    cut,
    first_cells,
    lattice_bounds,
)
from mechdesign.search.coarse.representatives import (
    ACCURATE,
    ALIKE,
    STRETCH,
    CoarseProgram,
    chosen,
    coarse_bound,
    first_outputs,
    spanner_pairs,
)
from mechdesign.search.limits import Limits, Progress
from mechdesign.search.routes import Coarse
from tests.strategies import ORACLE, budgets, distortions, examples, lp_optimum, priors


@st.composite
def problems(draw: st.DrawFn, most: int = 5) -> md.Problem:
    """Bounds on ratios: metrics on lines and grids, and any matrix, also no metric."""
    domain = draw(
        st.one_of(
            st.lists(st.integers(-4, 5), min_size=2, max_size=most, unique=True).map(md.Domain),
            st.sampled_from([md.Domain.grid(2, 2), md.Domain.grid(1, 4, "0.5")]),
        )
    )
    k = len(domain)
    entry = st.one_of(budgets("0.1"), st.just("inf"))
    notions: list[st.SearchStrategy[Notion]] = [
        budgets("0.1").map(md.LDP),
        budgets("0.1").map(lambda e: md.MetricPrivacy(e, "euclidean")),
        st.lists(st.lists(entry, min_size=k, max_size=k), min_size=k, max_size=k).map(
            md.ContextAwareLDP
        ),
    ]
    return md.Problem(
        domain,
        draw(st.one_of(notions)),
        draw(distortions(k, worst_case=False)),
        prior=draw(priors(k)),
    )


def city(side: int = 6) -> md.Problem:
    """A few crowded cells of a grid."""
    domain = md.Domain.grid(side, side)
    weights = [1 + 7 * ((3 * r + 5 * c) % 7 == 0) for r, c in domain.labels]
    prior = [f"{w}/{sum(weights)}" for w in weights]
    return md.Problem(
        domain, md.MetricPrivacy("0.8", "euclidean"), md.EuclideanDistance(), prior=prior
    )


@examples(12)
@given(problem=problems())
def test_the_bound_holds_and_is_proved(problem: md.Problem) -> None:
    solution = md.design(problem, route="coarse")
    best = lp_optimum(problem).value
    assert float(solution.bound) <= best + ORACLE
    assert best <= float(solution.value) + ORACLE
    verify(solution.document())


def test_rows_that_bind_are_read_from_packed_multipliers_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = md.design(city(4), route="coarse")
    monkeypatch.setattr("mechdesign.kernel.packed.PACKED_FROM", 1)
    monkeypatch.setattr("mechdesign.evidence.rows.PACKED_FROM", 1)
    packed = md.design(city(4), route="coarse")
    assert isinstance(packed.document()["certificate"]["multipliers"][0]["x"], str)
    before = {(row.row, row.output): row.multiplier for row in listed.binding}
    after = {(row.row, row.output): row.multiplier for row in packed.binding}
    assert max(after.values()) > 0.1
    for key in before.keys() | after.keys():  # rounded as far as the gap allows
        assert after.get(key, 0.0) == pytest.approx(before.get(key, 0.0), abs=0.02)
    assert packed.to_json()["binding"]


def test_rounds_approach_the_optimum_and_are_reported() -> None:
    """A line needs neighbors only, so that the last round has all rows."""
    problem = md.Problem(range(90), md.MetricPrivacy("0.3", "absolute"), md.MeanAbsoluteError())
    told: list[Progress] = []
    solution = md.design(problem, route="coarse", progress=told.append, gap=1e-2)
    bounds = [p.bound for p in told]
    assert len(bounds) >= 2
    assert bounds == sorted(bounds)
    assert float(solution.bound) <= bounds[-1] * (1 + 1e-9)
    assert solution.gap <= 1e-2  # multipliers are saved as exactly as this needs
    exact = float(md.design(problem).value)
    assert (1 - 1.1 * ACCURATE) * exact <= float(solution.bound) <= exact


def test_a_third_of_the_inputs_proves_most() -> None:
    problem = city()
    best = float(md.design(problem, gap=1e-4).bound)
    prior, cone, E = problem.prior.array, problem.cone, problem.cone.lengths()
    cost = problem.utility.cost(problem.domain, problem.prior, problem.outputs or ())
    (inputs,) = chosen(E, prior, [12])
    program = CoarseProgram(cone, E, inputs)
    whole = coarse_bound(program, np.asarray(program.shares @ cost), np.arange(36), Limits())
    some = first_outputs(cost / prior[:, None], chosen(E, prior, [24])[0])
    part = coarse_bound(program, np.asarray(program.shares @ cost), some, Limits())
    assert len(some) == 24
    assert (1 - ACCURATE) * part.value <= 1.001 * whole.value
    assert 0.9 * whole.value <= part.value
    assert 0.6 * best <= whole.value <= best


def test_it_ends_in_time_with_a_bound_that_holds() -> None:
    problem = city()
    solution = md.design(problem, route="coarse", time_limit=1e-3)
    assert 0 <= solution.bound <= solution.value
    assert any("ended early" in note for note in solution.notes)


@examples(20)
@given(data=st.data(), size=st.integers(2, 8))
def test_spanners_stretch_no_pair_by_more_than_asked(data: st.DataObject, size: int) -> None:
    entry = st.one_of(st.floats(0.1, 5), st.just(np.inf))
    row = st.lists(entry, min_size=size, max_size=size)
    E = np.array(data.draw(st.lists(row, min_size=size, max_size=size)))
    np.fill_diagonal(E, 0.0)
    kept = spanner_pairs(E)
    paths = shortest_path(np.where(kept, E, np.inf))
    finite = np.isfinite(E)
    assert (paths[finite] <= STRETCH * E[finite] * (1 + 1e-12)).all()
    assert not kept[~finite].any()


@examples(15)
@given(data=st.data(), size=st.integers(2, 9))
def test_each_choice_adds_most(data: st.DataObject, size: int) -> None:
    """Asking only those that may add most gives the sum that asking all gives."""
    points = data.draw(st.lists(st.integers(0, 30), min_size=size, max_size=size, unique=True))
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size)))
    prior = weights / weights.sum()
    E = Cone([md.MetricPrivacy("0.4", "absolute").family(md.Domain(points))]).lengths()
    shares, weight = np.exp(-E), (1 - ALIKE) * prior + ALIKE / size
    covered = np.zeros(size)
    for inputs in chosen(E, prior, range(1, size + 1)):
        gains = np.maximum(shares, covered) @ weight
        covered = shares[inputs].max(axis=0)
        assert float(covered @ weight) == pytest.approx(float(gains.max()))


def test_the_stricter_of_two_notions_makes_the_share() -> None:
    both = md.Problem(
        3, [md.LDP("0.6"), md.MetricPrivacy("0.4", "absolute")], md.MeanAbsoluteError()
    )
    program = CoarseProgram(both.cone, both.cone.lengths(), np.array([0]))
    assert program.shares.toarray()[0] == pytest.approx(np.exp([0, -0.4, -0.6]))
    assert program.stands.tolist() == [0, 0, 0]


def test_it_is_recommended_where_the_program_is_too_large() -> None:
    wide = md.Problem(
        md.Domain.grid(28, 28), md.MetricPrivacy(1, "euclidean"), md.EuclideanDistance()
    )
    assert Coarse().suits(wide)
    for small in (city(), md.Problem(400, md.LDP(1), md.MeanAbsoluteError())):
        assert Coarse().suits(small, named=True)
        assert not Coarse().suits(small)


APART: dict[str, Any] = {
    "blocks": md.BlockLDP(1, [[0, 1], [2, 3]]),
    "one way": md.ContextAwareLDP([["inf", 1, 1, 1], *[["inf"] * 4] * 3]),
    "equal rows": md.ContextAwareLDP([[0, 0, "inf", 1], [0, 0, 1, 1], [1, 1, 0, 2], [1, 1, 2, 0]]),
}


@pytest.mark.parametrize("notion", APART.values(), ids=APART)
def test_inputs_without_bounds_and_equal_ones(notion: Any) -> None:
    loss = md.Distortion([[abs(x - y) for y in range(4)] for x in range(4)])
    problem = md.Problem(4, notion, loss, prior=[0.1, 0.2, 0.3, 0.4])
    solution = md.design(problem, route="coarse")
    best = lp_optimum(problem).value
    assert 0.94 * best - ORACLE <= float(solution.bound) <= best + ORACLE
    verify(solution.document())


# Representatives and rectangles on a lattice: against losses of all pairs, and the optimum.


COUNTS = [(x * 7) % 5 for x in range(42)]


def uneven_city(distance: str = "euclidean") -> md.Problem:
    domain, prior = md.Domain.grid(6, 7, "0.5"), md.Prior.from_counts(COUNTS)
    return md.Problem(
        domain, md.MetricPrivacy("1.4", distance), md.EuclideanDistance(), prior=prior
    )


def held(cells: np.ndarray, n: int, m: int) -> np.ndarray:
    """Return how often each point is in a rectangle."""
    found = np.zeros((n, m), dtype=int)
    for top, bottom, left, right in cells.tolist():
        found[top : bottom + 1, left : right + 1] += 1
    return found


@examples(30)
@given(
    sides=st.tuples(st.integers(1, 9), st.integers(1, 9)), size=st.integers(1, 5), n=st.integers(0)
)
def test_rectangles_hold_every_point_once(sides: tuple[int, int], size: int, n: int) -> None:
    cells = first_cells(sides, size)
    assert (held(cells, *sides) == 1).all()
    n %= len(cells)
    parts = cut(cells[n : n + 1])
    assert (held(np.vstack([np.delete(cells, n, axis=0), parts]), *sides) == 1).all()
    assert len(parts) in (1, 2, 4)
    assert len(cut(cells[:0])) == 0


@pytest.mark.parametrize("distance", ["euclidean", "manhattan"])
def test_costs_are_those_of_all_pairs(distance: str) -> None:
    problem, p = uneven_city(distance), np.array(COUNTS) / sum(COUNTS)
    lattice, cells = Lattice(problem), first_cells((6, 7), 2)
    assert lattice.candidates.tolist() == list(range(42))  # those of prior 0 are everywhere
    program = LatticeProgram(lattice, np.array([3, 20, 37]))
    points = 0.5 * lattice.places
    d = np.linalg.norm(points[:, None] - points, axis=2, ord=2 if distance == "euclidean" else 1)
    E, loss = 1.4 * d, np.linalg.norm(points[:, None] - points, axis=2)
    assert (E[np.arange(42), program.stands] <= E[:, [3, 20, 37]].min(axis=1) + 1e-12).all()
    wanted = np.zeros((3, len(cells)))
    for x, z in enumerate(program.stands.tolist()):
        for y, (top, bottom, left, right) in enumerate(cells.tolist()):
            inside = [r * 7 + c for r in range(top, bottom + 1) for c in range(left, right + 1)]
            wanted[[3, 20, 37].index(z), y] += p[x] * np.exp(-E[x, z]) * loss[x, inside].min()
    assert program.cell_costs(cells) == pytest.approx(wanted, abs=1e-12)


def test_bounds_rise_to_the_optimum() -> None:
    problem = uneven_city()
    best = float(md.design(problem).value)
    values = [found.value for found in lattice_bounds(problem, best, Limits())]
    assert values == sorted(values)
    assert 0.97 * best <= values[-1] <= best * (1 + 1e-6)


def test_a_search_ends_in_time() -> None:
    limits = Limits(seconds=1e-9)
    assert len(list(lattice_bounds(uneven_city(), 1.0, limits))) <= 1
    assert "time limit" in limits.ended


def test_other_problems_are_on_no_lattice() -> None:
    with pytest.raises(md.SolverError, match="steps"):
        Lattice(md.Problem(md.Domain.range(3), md.LDP(1), md.HammingLoss()))
