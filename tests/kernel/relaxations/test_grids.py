"""Rectangles cost what the nearest of their outputs does, and hold every output.

One tile of a grid stands for all: no more is proved than the whole grid loses.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    Domain,
    EuclideanDistance,
    HammingLoss,
    MeanAbsoluteError,
    MeanSquaredDistance,
    MetricPrivacy,
    Prior,
    Problem,
    design,
)
from mechdesign.errors import CertificateError
from mechdesign.kernel.objectives import Loss, Losses, Reading, distances, hamming, of_table
from mechdesign.kernel.relaxations import Cells, Tiles
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import refused
from tests.strategies import examples, lp_optimum

ONE = Fraction(1)


def statement(losses: Losses, k: int) -> Statement:
    return Statement(k, (), (), Loss(losses, (Fraction(1, k),) * k))


def grid(kind: str, sides: tuple[int, int]) -> Losses:
    points = [(2 * r, 5 * c) for r in range(sides[0]) for c in range(sides[1])]
    if kind == "hamming":
        return hamming(points, points)
    return distances(points, points, 3, kind)


def test_a_rectangle_costs_as_much_as_its_nearest_output() -> None:
    rng = random.Random(13)
    for kind in ("squared", "euclidean"):
        for _ in range(10):
            n, m = rng.randint(1, 4), rng.randint(1, 4)
            losses, cut, across = grid(kind, (n, m)), rng.randint(0, n - 1), rng.randint(0, m - 1)
            cells = [(0, cut, 0, m - 1), (cut, n - 1, 0, across), (cut, n - 1, across, m - 1)]
            found = Cells(tuple(cells))(statement(losses, n * m)).objective
            assert isinstance(found, Loss)
            assert found.costs.n_outputs == len(cells)
            assert found.costs.denominator == losses.denominator
            for y, (a, b, c, d) in enumerate(cells):
                inside = [r * m + s for r in range(a, b + 1) for s in range(c, d + 1)]
                wanted = [min(losses.lower(z)[x] for z in inside) for x in range(n * m)]
                assert found.costs.lower(y) == wanted


def test_outputs_that_no_rectangle_holds_are_refused() -> None:
    asked = statement(grid("squared", (2, 3)), 6)
    Cells(((0, 1, 0, 2),))(asked)
    for cells in ((), ((0, 1, 0, 1),), ((0, 0, 0, 2), (1, 1, 1, 2)), ((1, 1, 0, 2),)):
        with refused("do not cover all"):
            Cells(cells)(asked)
    for cell in ((0, 2, 0, 2), (0, 1, 0, 3), (1, 0, 0, 2), (0, 1, 2, 1)):
        with refused("within the grid"):
            Cells(((0, 1, 0, 2), cell))(asked)


def test_only_a_regular_grid_has_rectangles() -> None:
    line = [(0,), (1,), (3,)]
    irregular = distances(line, line, 1, "absolute")
    others = distances([(0,), (1,)], [(0,), (2,)], 1, "absolute")
    for losses in (irregular, others, of_table([[ONE]])):
        with refused("regular grid"):
            Cells(((0, 0, 0, 0),))(statement(losses, 1))
    with refused("need a loss"):
        Cells(((0, 0, 0, 0),))(Statement(1, (), (), Reading((ONE,), (ONE,))))


LOSSES = {"euclidean": EuclideanDistance, "squared": MeanSquaredDistance, "hamming": HammingLoss}


def grid_problem(
    sides: tuple[int, int], counts: list[int], loss: str = "euclidean", epsilon: str = "0.8"
) -> Problem:
    notion = MetricPrivacy(epsilon, "euclidean")
    domain = Domain.grid(*sides, "0.5")
    return Problem(domain, notion, LOSSES[loss](), prior=Prior.from_counts(counts))


def loss_of(statement: Statement) -> Loss:
    assert isinstance(statement.objective, Loss)
    return statement.objective


@examples(10)
@given(data=st.data())
def test_a_tile_loses_no_more_than_the_grid(data: st.DataObject) -> None:
    sides = data.draw(st.tuples(st.integers(1, 3), st.integers(2, 4)))
    tile = tuple(data.draw(st.integers(1, n)) for n in sides)
    k = sides[0] * sides[1]
    counts = data.draw(st.lists(st.integers(1, 4), min_size=k, max_size=k))
    loss = data.draw(st.sampled_from([*LOSSES]))
    problem = grid_problem(sides, counts, loss)
    statement = Tiles(tile)(problem.compiled.statement)  # type: ignore[arg-type]
    weights = loss_of(statement).weights
    assert weights is not None
    assert len(set(weights)) == 1
    a, b = tile
    least = [
        min(counts[(r + i) * sides[1] + c + j] for i in range(a) for j in range(b))
        for r in range(0, sides[0] - a + 1, a)
        for c in range(0, sides[1] - b + 1, b)
    ]
    assert weights[0] == Fraction(sum(least), sum(counts))
    small = grid_problem((a, b), [1] * (a * b), loss)
    best = lp_optimum(small).value * float(weights[0]) * a * b
    assert best <= lp_optimum(problem).value + 1e-9
    costs, whole = loss_of(statement).costs, loss_of(small.compiled.statement).costs
    for y in range(a * b):
        own = [Fraction(v, costs.denominator) for v in costs.lower(y)]
        assert own == [Fraction(v, whole.denominator) for v in whole.lower(y)]
    rows, others = statement.cone[0], small.compiled.statement.cone[0]
    assert set(rows.keys(a * b)) == set(others.keys(a * b))
    for key in rows.keys(a * b):
        exponents = (one.row(key, a * b, up=True).exponent for one in (rows, others))
        assert len(set(exponents)) == 1


def test_the_proof_of_a_tile_proves_the_grid() -> None:
    small, large = grid_problem((2, 2), [1] * 4), grid_problem((4, 4), [1] * 16)
    found = design(small).certificate
    assert found is not None
    tiled = replace(found, relaxations=(Tiles((2, 2)), *found.relaxations))
    bound = tiled.bound(large.compiled.statement)
    assert float(bound) == pytest.approx(float(design(small).value), rel=1e-6)
    assert bound <= design(large).value


def no_tile(problem: Problem, tile: tuple[int, int], words: str) -> None:
    with pytest.raises(CertificateError, match=words):
        Tiles(tile)(problem.compiled.statement)


def test_domains_without_tiles_are_refused() -> None:
    metric, uniform = MetricPrivacy(1, "euclidean"), [1] * 6
    domain = Domain.grid(2, 3)
    no_tile(grid_problem((2, 3), uniform), (3, 1), "not within")
    no_tile(grid_problem((2, 3), uniform), (0, 1), "not within")
    no_tile(Problem(domain, LDP(1), EuclideanDistance()), (1, 1), "distance of points")
    no_tile(Problem(domain, [metric, LDP(1)], EuclideanDistance()), (1, 1), "distance of points")
    worst = MeanAbsoluteError(worst_case=True)
    no_tile(Problem(4, MetricPrivacy(1, "absolute"), worst), (1, 2), "mean loss")
    uneven = Problem([0, 1, 3], MetricPrivacy(1, "absolute"), HammingLoss())
    no_tile(uneven, (1, 1), "distance of points")
    some = Problem(4, MetricPrivacy(1, "absolute"), HammingLoss(), outputs=[0, 1])
    no_tile(some, (1, 2), "regular grid")
