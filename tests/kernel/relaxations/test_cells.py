"""Rectangles cost what the nearest of their outputs does, and hold every output."""

from __future__ import annotations

import random
from fractions import Fraction

from mechdesign.kernel.objectives import Loss, Losses, Reading, distances, hamming, of_table
from mechdesign.kernel.relaxations import Cells
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import refused

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
