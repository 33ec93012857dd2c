"""Rectangles that replace the outputs in them, if the outputs are the inputs of a grid.

A rectangle costs at every input as much as its nearest output. If every output is in a rectangle,
then for each output of a channel some rectangle costs no more. So a program for a few rectangles
proves a bound for tens of thousands of outputs. The losses must depend on the steps along both
sides only, and not decrease with either: distances between points of a regular grid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mechdesign.kernel.arithmetic import expect, known, need
from mechdesign.kernel.losses import cells
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.proof import Slot
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Cells(Slot):
    """Rectangles: first and last row, first and last column of each."""

    cells: tuple[tuple[int, int, int, int], ...]

    def __call__(self, statement: Statement) -> Statement:
        """Return the statement with rectangles as outputs."""
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
        """Return the rows of the rectangles, in words of bits, and the points of the grid."""
        rows = sum(max(0, bottom - top + 1) for top, bottom, _, _ in self.cells)
        return 8 * statement.k + rows * (2 + statement.k // 512)
