"""Relaxations of a mean loss on a regular grid: rectangles of outputs, and one tile of inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from mechdesign.kernel.arithmetic import expect, grid_axes, is_even, known, need
from mechdesign.kernel.generators import Cone, Distance, Ratio
from mechdesign.kernel.objectives import Loss, cells
from mechdesign.kernel.proof import Slot, mean_loss
from mechdesign.kernel.relaxations.restrict import restricted
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Cells(Slot):
    """Rectangles that replace the outputs in them, if the outputs are the inputs of a grid.

    A rectangle costs at every input as much as its nearest output. If every output is in a
    rectangle, then for each output of a channel some rectangle costs no more. So a program for
    a few rectangles proves a bound for tens of thousands of outputs. The losses must depend on
    the steps along both sides only, and not decrease with either: distances between points of a
    regular grid.

    Rectangles: first and last row, first and last column of each.
    """

    cells: tuple[tuple[int, int, int, int], ...]

    def __call__(self, statement: Statement) -> Statement:
        aim = expect(statement.objective, Loss, "rectangles of outputs need a loss")
        sides = known(aim.costs.grid, "the outputs are not the inputs of a regular grid")
        n, m = sides
        covered = [0] * n  # by row, a bit for each column
        for top, bottom, left, right in self.cells:
            inside = top <= bottom < n and left <= right < m
            need(inside, "a rectangle of outputs is not within the grid")
            bits = (1 << right + 1) - (1 << left)
            for row in range(top, bottom + 1):
                covered[row] |= bits
        whole = all(row == (1 << m) - 1 for row in covered)
        need(whole, "the rectangles do not cover all outputs")
        costs = cells(aim.costs.lower(0), aim.costs.denominator, sides, self.cells)
        return replace(statement, objective=replace(aim, costs=costs))

    def steps(self, statement: Statement) -> int:
        rows = sum(max(0, bottom - top + 1) for top, bottom, _, _ in self.cells)
        return 8 * statement.k + rows * (2 + statement.k // 512)


@dataclass(frozen=True)
class Tiles(Slot):
    """A grid is cut into tiles of one size, of which one represents all.

    Let outputs be the inputs, a regular grid, let ratios be bounded by distances of its points,
    and let losses depend on the steps along both sides and not fall with either: so the rows
    and the losses of every tile T are those of the first, S. For a private channel Q,

        Sum_x w_x Sum_y loss(x, y) Q[x, y]  >=  Sum_T w_T Sum_{x in T} Sum_y loss(x, y) Q[x, y],

    with disjoint tiles T, and w_T the least weight in T, as weights and losses are not
    negative. On the inputs of T, Q is a private channel. Send every output as the nearest point
    of T: for inputs in T this lowers the steps along both sides, so no loss rises, and columns
    that are added up stay private. What is left is a private channel Q_T of S, with its inputs
    as outputs. The mean of the Q_T with weights w_T is one too. So the sum is at least

        (Sum_T w_T) times the least Sum_{x, y in S} loss(x, y) Q'[x, y] over private Q' of S.

    The rows and the columns of a tile; the remainder at the end of a side is in none.
    """

    sides: tuple[int, int]

    def __call__(self, statement: Statement) -> Statement:
        words, (a, b) = "tiles are for a mean loss", self.sides
        aim, weights = mean_loss(statement, words)
        n, m = known(aim.costs.grid, "the outputs are not the inputs of a regular grid")
        need(not aim.free, words)
        corner = aim.costs.lower(0)
        need(min(corner) >= 0, "tiles need losses >= 0")
        need(0 < a <= n and 0 < b <= m, "a tile is not within the grid")
        for part in statement.cone:
            need(_is_even(part, m), "tiles need bounds by the distance of points of a grid")
        tile = [row * m + column for row in range(a) for column in range(b)]
        origins = (r * m + c for r in range(0, n - a + 1, a) for c in range(0, m - b + 1, b))
        total = sum((min(weights[o + x] for x in tile) for o in origins), Fraction(0))
        points = [(r, r, c, c) for r in range(a) for c in range(b)]
        costs = cells([corner[x] for x in tile], aim.costs.denominator, self.sides, points)
        aim = replace(aim, costs=costs, weights=(total,) * len(tile))
        return restricted(replace(statement, limits=()), tile, aim)

    def steps(self, statement: Statement) -> int:
        return 20 * statement.k + 4 * (self.sides[0] * self.sides[1]) ** 2


def _is_even(part: Cone, m: int) -> bool:
    """Return whether a generator bounds ratios by distances on a regular grid, row by row."""
    if not isinstance(part, Ratio) or part.prior or not isinstance(part.exponents, Distance):
        return False
    axes = grid_axes(part.exponents.points)
    return axes is not None and len(axes[1]) == m and all(map(is_even, axes))
