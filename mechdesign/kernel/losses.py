"""Losses and distances as integers over one denominator, one output at a time.

Points with rational coordinates are whole multiples of one unit, so that distances are integers,
or roots of integers, over it. A root that is irrational lies between two neighboring integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import isqrt
from operator import add

from mechdesign.kernel.arithmetic import lattice, need

Points = Sequence[tuple[int, ...]]

ROOT_STEPS = 20
"""Steps of a root of a number of few digits."""

ROOT_BITS = 160
"""Roots are rounded to whole multiples of 2**-160 units, down in `lower` and up in `upper`."""


def squares(axes: list[list[int]], target: tuple[int, ...]) -> list[int]:
    """Return the squared distances from a point; ``axes`` has one list for each coordinate."""
    total = [0] * len(axes[0])
    for axis, t in zip(axes, target, strict=True):
        total = list(map(add, total, [(a - t) * (a - t) for a in axis]))
    return total


class Losses(ABC):
    """The cost of every output at every input: integers over :attr:`denominator`.

    Attributes
    ----------
    n_outputs
        The number of outputs.
    denominator
        What the integers are over.
    is_dense
        Whether most of them are not 0.
    """

    n_outputs: int
    denominator: int
    is_dense = True

    @abstractmethod
    def lower(self, y: int) -> list[int]:
        """Return the losses of output y, one for each input, rounded down where irrational."""

    def upper(self, y: int) -> list[int]:
        """Return the losses of output y, rounded up where irrational."""
        return self.lower(y)

    def lower_at(self, y: int, inputs: Sequence[int]) -> list[int]:
        """Return :meth:`lower` at some of the inputs."""
        loss = self.lower(y)
        return [loss[x] for x in inputs]

    def grid(self) -> tuple[int, int] | None:
        """Return the sides of the regular grid, row by row, that inputs and outputs are; else None.

        The losses then depend on the steps along both sides only, and do not fall with either.
        """
        return None


class TableLosses(Losses):
    """Losses given as a matrix, ``(n_inputs, n_outputs)``."""

    def __init__(self, table: list[list[Fraction]]) -> None:
        rows, self.denominator = lattice(table)
        self._columns = list(map(list, zip(*rows, strict=True)))
        self.n_outputs = len(self._columns)

    def lower(self, y: int) -> list[int]:
        """Return column y of the matrix."""
        return self._columns[y]


class HammingLosses(Losses):
    """1 where the output is not the input, else 0."""

    def __init__(self, inputs: list[object], outputs: list[object]) -> None:
        self._inputs, self._outputs = inputs, outputs
        self.n_outputs, self.denominator = len(outputs), 1

    def lower(self, y: int) -> list[int]:
        """Compare output y with every input."""
        label = self._outputs[y]
        return [int(x != label) for x in self._inputs]

    def grid(self) -> tuple[int, int] | None:
        """Return the sides of a grid of points; labels are a line."""
        if self._inputs != self._outputs:
            return None
        points = [tuple(x) if isinstance(x, list | tuple) else (x,) for x in self._inputs]
        m = sum(p[0] == points[0][0] for p in points)
        if points == [divmod(place, m) for place in range(len(points))]:
            return len(points) // m, m
        return (1, len(points)) if len(set(points)) == len(points) else None


class GuessLosses(HammingLosses):
    """-1 where the output is the input, else 0: the best guess, negative."""

    is_dense = False

    def lower(self, y: int) -> list[int]:
        """Compare output y with every input."""
        return [loss - 1 for loss in super().lower(y)]


class DistanceLosses(Losses):
    """Distances from inputs to outputs that are points.

    Parameters
    ----------
    inputs, outputs
        Points with whole coordinates, all of one dimension.
    unit
        What the coordinates are over.
    kind
        ``"absolute"``, ``"squared"`` or ``"euclidean"``.
    """

    def __init__(self, inputs: Points, outputs: Points, unit: int, kind: str) -> None:
        self._axes = [list(axis) for axis in zip(*inputs, strict=True)]
        same = all(len(point) == len(self._axes) for point in outputs)
        need(same, "an output must have coordinates like the inputs")
        self._outputs, self.n_outputs = outputs, len(outputs)
        self._kind = "absolute" if kind == "euclidean" and len(self._axes) == 1 else kind
        d = len(self._axes)
        need(self._kind != "absolute" or d == 1, f"no distance {kind!r} is known in {d} dimensions")
        powers = {"absolute": unit, "squared": unit * unit, "euclidean": unit << ROOT_BITS}
        self.denominator = powers[self._kind]
        self._root = cache(lambda square: isqrt(square << 2 * ROOT_BITS))

    def lower(self, y: int) -> list[int]:
        """Return the distances from output y, roots rounded down."""
        target = self._outputs[y]
        if self._kind == "absolute":
            return [abs(a - target[0]) for a in self._axes[0]]
        found = squares(self._axes, target)
        return found if self._kind == "squared" else list(map(self._root, found))

    def upper(self, y: int) -> list[int]:
        """Return the distances from output y, roots rounded up."""
        if self._kind != "euclidean":
            return self.lower(y)
        found = squares(self._axes, self._outputs[y])
        roots = map(self._root, found)
        wide = zip(roots, found, strict=True)
        return [root + (root * root != square << 2 * ROOT_BITS) for root, square in wide]

    def grid(self) -> tuple[int, int] | None:
        """Return the sides, if the outputs are the inputs, and points of equal steps row by row."""
        axes, points = self._axes, list(zip(*self._axes, strict=True))
        m = axes[0].count(axes[0][0]) if len(axes) == 2 else len(points)
        down, across = axes[0][::m], axes[-1][:m]
        whole = [(r, c)[-len(axes) :] for r in down for c in across]
        if points != whole or points != list(map(tuple, self._outputs)):
            return None
        even = all(len({b - a for a, b in pairwise(side)}) <= 1 for side in (down, across))
        return (len(down), m) if even else None


class CellLosses(Losses):
    """The least loss of the outputs in each of some rectangles, where outputs are the inputs.

    Parameters
    ----------
    corner
        The loss between the first point of a lattice and each point, row by row. The loss between
        any two points must be that of as many steps along both sides, and not fall with either.
    denominator
        What these are over.
    sides
        The numbers of rows and columns.
    cells
        First and last row, first and last column of each rectangle.
    """

    def __init__(
        self,
        corner: Sequence[int],
        denominator: int,
        sides: tuple[int, int],
        cells: Sequence[Sequence[int]],
    ) -> None:
        self.n_outputs, self.denominator = len(cells), denominator
        self._corner, self._cells = corner, cells
        self._places = [(r, c) for r in range(sides[0]) for c in range(sides[1])]
        self._sides = sides

    def lower(self, y: int) -> list[int]:
        """Return the losses of the output of rectangle y that is nearest to each input."""
        return self.lower_at(y, range(len(self._places)))

    def lower_at(self, y: int, inputs: Sequence[int]) -> list[int]:
        """Return :meth:`lower` at some of the inputs."""
        (n, m), (top, bottom, left, right) = self._sides, self._cells[y]
        down = [m * max(top - row, 0, row - bottom) for row in range(n)]
        across = [max(left - column, 0, column - right) for column in range(m)]
        corner, places = self._corner, self._places
        return [corner[down[r] + across[c]] for r, c in (places[x] for x in inputs)]
