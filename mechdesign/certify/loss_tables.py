"""Losses and distances as integers over one denominator, one output at a time.

Points with rational coordinates are whole multiples of one unit, so that distances are integers,
or roots of integers, over it. A root that is irrational lies between two neighboring integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect
from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from operator import add

from mechdesign.certify.fixed_point import over_one_denominator
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["CellLosses", "DistanceLosses", "HammingLosses", "Losses", "TableLosses", "squares"]

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
    """What every output costs at every input: integers over :attr:`denominator`.

    Attributes
    ----------
    n_outputs
        The number of outputs.
    denominator
        What the integers are over.
    """

    n_outputs: int
    denominator: int

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

    def least(self) -> list[int]:
        """Return the least loss of each input, rounded down."""
        least = self.lower(0)
        for y in range(1, self.n_outputs):
            spend(4 * len(least), "the least losses")
            least = list(map(min, least, self.lower(y)))
        return least


class TableLosses(Losses):
    """Losses given as a matrix, ``(n_inputs, n_outputs)``."""

    def __init__(self, table: list[list[Fraction]]) -> None:
        flat, self.denominator = over_one_denominator([entry for row in table for entry in row])
        self.n_outputs = len(table[0])
        self._columns = [flat[y :: self.n_outputs] for y in range(self.n_outputs)]

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

    def least(self) -> list[int]:
        """Return 0 for each input that is an output."""
        known = set(map(_with_hash, self._outputs))
        spend(2 * (len(known) + len(self._inputs)), "the least losses")
        return [int(_with_hash(x) not in known) for x in self._inputs]


def _with_hash(label: object) -> object:
    """Return a label, a point of a grid as a tuple: labels are equal exactly if these are."""
    return tuple(label) if isinstance(label, list) else label


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
        if any(len(point) != len(self._axes) for point in outputs):
            raise CertificateError("an output has not the coordinates that the inputs have")
        self._outputs, self.n_outputs = outputs, len(outputs)
        self._kind = "absolute" if kind == "euclidean" and len(self._axes) == 1 else kind
        if self._kind == "absolute" and len(self._axes) > 1:
            raise CertificateError(f"no distance {kind!r} is known in {len(self._axes)} dimensions")
        powers = {"absolute": unit, "squared": unit * unit, "euclidean": unit << ROOT_BITS}
        self.denominator = powers[self._kind]
        self._roots: dict[int, int] = {}

    def lower(self, y: int) -> list[int]:
        """Return the distances from output y, roots rounded down."""
        target = self._outputs[y]
        if self._kind == "absolute":
            return [abs(a - target[0]) for a in self._axes[0]]
        found = squares(self._axes, target)
        return found if self._kind == "squared" else [self._root(square) for square in found]

    def upper(self, y: int) -> list[int]:
        """Return the distances from output y, roots rounded up."""
        if self._kind != "euclidean":
            return self.lower(y)
        found = squares(self._axes, self._outputs[y])
        roots = [self._root(square) for square in found]
        wide = zip(roots, found, strict=True)
        return [root + (root * root != square << 2 * ROOT_BITS) for root, square in wide]

    def least(self) -> list[int]:
        """Return the distance of each input from the next output; on a line it is looked up."""
        if len(self._axes) > 1:
            return super().least()
        (line,), places = self._axes, sorted(target for (target,) in self._outputs)
        spend(4 * (len(line) + len(places)) * len(places).bit_length(), "the least losses")
        found = []
        for a in line:
            n = bisect(places, a)
            found.append(min(abs(a - place) for place in places[max(0, n - 1) : n + 1]))
        return [a * a for a in found] if self._kind == "squared" else found

    def _root(self, square: int) -> int:
        if square not in self._roots:
            spend(ROOT_STEPS + (square.bit_length() // 64) ** 2, "a root")
            self._roots[square] = isqrt(square << 2 * ROOT_BITS)
        return self._roots[square]


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
        spend(3 * (n + m), "steps to a rectangle")
        down = [m * max(top - row, 0, row - bottom) for row in range(n)]
        across = [max(left - column, 0, column - right) for column in range(m)]
        corner, places = self._corner, self._places
        return [corner[down[r] + across[c]] for r, c in (places[x] for x in inputs)]
