"""Representatives and rectangles on a lattice: against losses of all pairs, and the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.search.coarse.lattice import (
    Lattice,
    LatticeProgram,
    cut,
    first_cells,
    lattice_bounds,
)
from mechdesign.search.limits import Limits
from tests.strategies import examples

COUNTS = [(x * 7) % 5 for x in range(42)]


def city(distance: str = "euclidean") -> md.Problem:
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
    problem, p = city(distance), np.array(COUNTS) / sum(COUNTS)
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
    problem = city()
    best = float(md.design(problem).value)
    values = [found.value for found in lattice_bounds(problem, best, Limits())]
    assert values == sorted(values)
    assert 0.97 * best <= values[-1] <= best * (1 + 1e-6)


def test_a_search_ends_in_time() -> None:
    limits = Limits(seconds=1e-9)
    assert len(list(lattice_bounds(city(), 1.0, limits))) <= 1
    assert "time limit" in limits.ended


def test_other_problems_are_on_no_lattice() -> None:
    with pytest.raises(md.SolverError, match="steps"):
        Lattice(md.Problem(md.Domain.range(3), md.LDP(1), md.HammingLoss()))
