"""The four forms of objective, all minimized: `loss`, `gain`, `risk`, `reading`.

Losses and distances are integers over one denominator, one output at a time: points with rational
coordinates are integer multiples of one unit, so distances are integers, or roots of integers, over
it. An irrational root lies between two neighboring integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain
from math import isqrt
from operator import add

from mechdesign.kernel.arithmetic import grid_axes, is_even, lattice, need
from mechdesign.kernel.gains import Gain, Vector

Points = Sequence[tuple[int, ...]]

Grid = tuple[int, int] | None

ROOT_BITS = 160
"""Roots are rounded to multiples of 2**-160 units, down in `lower` and up in `upper`."""


def squares(axes: list[list[int]], target: tuple[int, ...]) -> list[int]:
    """Return the squared distances from a point; ``axes`` has one list for each coordinate."""
    total = [0] * len(axes[0])
    for axis, t in zip(axes, target, strict=True):
        total = list(map(add, total, [(a - t) * (a - t) for a in axis]))
    return total


@dataclass(frozen=True)
class Losses:
    """The cost of every output at every input: integers over :attr:`denominator`.

    ``n_outputs``: the number of outputs.
    ``denominator``: the denominator of the integers.
    ``of``: the costs of an output at all inputs, rounded up or down where irrational.
    ``grid``: the sides of the regular grid, row by row, of the inputs and outputs, if they are one.
        The losses then depend on the steps along both sides only, and do not decrease with either.
    ``is_dense``: whether most entries are nonzero.
    """

    n_outputs: int
    denominator: int
    of: Callable[[int, bool], list[int]]
    grid: Grid = None
    is_dense: bool = True

    def lower(self, y: int) -> list[int]:
        """Return the losses of output y at all inputs, rounded down."""
        return self.of(y, False)

    def upper(self, y: int) -> list[int]:
        """Return the losses rounded up."""
        return self.of(y, True)


def of_table(table: Sequence[Sequence[Fraction]]) -> Losses:
    """Return the losses of a matrix, ``(n_inputs, n_outputs)``."""
    return of_integers(*lattice(table))


def of_integers(rows: Sequence[Sequence[int]], denominator: int) -> Losses:
    """Return the losses of a matrix of integers."""
    columns = list(map(list, zip(*rows, strict=True)))
    return Losses(len(columns), denominator, lambda y, _up: columns[y])


def hamming(inputs: Sequence[object], outputs: Sequence[object], least: int = 0) -> Losses:
    """Return ``least`` where the output is the input, and one more elsewhere."""

    def of(y: int, _up: bool) -> list[int]:
        return [least + (x != outputs[y]) for x in inputs]

    return Losses(len(outputs), 1, of, _grid_of_labels(inputs, outputs), least == 0)


def _grid_of_labels(inputs: Sequence[object], outputs: Sequence[object]) -> Grid:
    """Return the sides of a grid of labels that are points; other labels are a line."""
    if list(inputs) != list(outputs):
        return None
    points = [x if isinstance(x, tuple) else (x,) for x in inputs]
    m = sum(p[0] == points[0][0] for p in points)
    if points == [divmod(place, m) for place in range(len(points))]:
        return len(points) // m, m
    return (1, len(points)) if len(set(points)) == len(points) else None


def distances(inputs: Points, outputs: Points, unit: int, kind: str) -> Losses:
    """Return the distances from inputs to outputs that are points.

    ``inputs``, ``outputs``: points with integer coordinates, all of one dimension.
    ``unit``: the denominator of the coordinates.
    ``kind``: ``"absolute"``, ``"squared"`` or ``"euclidean"``.
    """
    axes = [list(axis) for axis in zip(*inputs, strict=True)]
    d = len(axes)
    need(all(len(y) == d for y in outputs), "an output must have coordinates like the inputs")
    kind = "absolute" if kind == "euclidean" and d == 1 else kind
    need(kind != "absolute" or d == 1, f"no distance {kind!r} is known in {d} dimensions")
    powers = {"absolute": unit, "squared": unit * unit, "euclidean": unit << ROOT_BITS}

    @cache
    def root(square: int, up: bool) -> int:
        below = isqrt(square << 2 * ROOT_BITS)
        return below + (up and below * below != square << 2 * ROOT_BITS)

    def of(y: int, up: bool) -> list[int]:
        if kind == "absolute":
            return [abs(a - outputs[y][0]) for a in axes[0]]
        found = squares(axes, outputs[y])
        return found if kind == "squared" else [root(square, up) for square in found]

    return Losses(len(outputs), powers[kind], of, _grid_of_points(inputs, outputs))


def _grid_of_points(points: Points, outputs: Points) -> Grid:
    """Return the sides, if the outputs are the inputs, and points of equal steps row by row."""
    axes = grid_axes(points) if list(points) == list(outputs) else None
    return (len(axes[0]), len(axes[1])) if axes and all(map(is_even, axes)) else None


def cells(
    corner: Sequence[int],
    denominator: int,
    sides: tuple[int, int],
    listed: Sequence[Sequence[int]],
) -> Losses:
    """Return the least loss of the outputs in each of some rectangles, if outputs are inputs.

    ``corner``: the loss between the first point of a lattice and each point, row by row. The loss
        between any two points must be that of the same steps along both sides, and not decrease
        with either.
    ``denominator``: the denominator of these losses.
    ``sides``: the numbers of rows and columns.
    ``listed``: first and last row, first and last column of each rectangle.
    """
    n, m = sides

    def of(y: int, _up: bool) -> list[int]:
        top, bottom, left, right = listed[y]
        down = [m * max(top - row, 0, row - bottom) for row in range(n)]
        across = [max(left - column, 0, column - right) for column in range(m)]
        rows = (map(corner[d : d + m].__getitem__, across) for d in down)
        return list(chain.from_iterable(rows))

    return Losses(len(listed), denominator, of)


@dataclass(frozen=True)
class Loss:
    """Sum_xy w_x D_y[x] Q[x, y], or its largest term in x if ``weights`` is None.

    Each column has one of the costs D_y. With ``free`` it has the least one (a best guess):
    accuracy, g-vulnerability and total variation are losses with free outputs and possibly negative
    costs. Costs are integers with two ends, for irrational distances.
    """

    costs: Losses
    weights: Vector | None
    free: bool = False


@dataclass(frozen=True)
class Risk:
    """Of n reports, times n or the root of n: Sum_x (v_x - p_x**2), or its roots times sqrt(1/2pi).

    v_x = (M**-1)_xx with M = Sum_y q_y q_y' / (p . q_y). ``prior`` None: the worst case over p.
    """

    roots: bool
    prior: Vector | None


@dataclass(frozen=True)
class Reading:
    """Sum_y v_y**2 w . q_y - Sum_x w_x f_x**2 for unbiased readings: Sum_y v_y Q[x, y] = f_x.

    ``weights`` None: the largest variance over x.
    """

    values: Vector
    weights: Vector | None


Objective = Loss | Gain | Risk | Reading
"""An objective, of one of the four forms."""
