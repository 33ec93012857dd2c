"""The inputs of a problem: labels, optional coordinates, and a prior."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from mechdesign.kernel.arithmetic import known, need
from mechdesign.kernel.packed import exact
from mechdesign.kernel.schema import Label
from mechdesign.resources import check_size

Point = tuple[Fraction, ...]
Table = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Inputs:
    """The inputs of a notion: those of a problem, or the values of a sensitive attribute.

    ``labels``: each input.
    ``points``: their coordinates, if they have any.
    ``spacing``: the length of a step in the labels; None if labels are numbers of points.
    ``prior``: the exact prior; None if the problem has none.
    ``outputs``: the allowed outputs; None if the optimizer chooses them.
    """

    labels: tuple[Any, ...]
    points: tuple[Point, ...] | None = None
    spacing: Fraction | None = Fraction(1)
    prior: tuple[Fraction, ...] | None = None
    outputs: Sequence[Any] | None = None

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def masses(self) -> tuple[Fraction, ...]:
        """The prior, for a problem that needs one."""
        return known(self.prior, "the problem states no prior")

    @property
    def allowed(self) -> Sequence[Any]:
        """The outputs, for a problem that needs them."""
        return known(self.outputs, "the objective needs the outputs that were allowed")

    @property
    def places(self) -> tuple[Point, ...]:
        """The coordinates, for a problem that needs them."""
        return known(self.points, "the inputs have no coordinates")

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        return {label: x for x, label in enumerate(self.labels)}

    def at(self, label: Any) -> int:
        return known(self._numbers.get(label), f"{label!r:.60} is not an input of the problem")

    def all_at(self, labels: Iterable[Any]) -> tuple[int, ...]:
        found = tuple(map(self.at, labels))
        need(len(set(found)) == len(found), "an input is listed twice")
        return found

    def target(self, output: Any) -> Point:
        """Return the point of an output: by its coordinates, or by its number."""
        parts = output if isinstance(output, tuple) else (output,)
        need(not any(isinstance(part, str) for part in parts), "an output is not a number")
        if self.spacing is not None:
            return tuple(self.spacing * exact(part) for part in parts)
        exists = len(parts) == 1 and type(output) is int and 0 <= output < len(self.places)
        need(exists, "an output is not the number of a point")
        return self.places[output]


@dataclass(frozen=True)
class Grid:
    """The points of a regular grid, row by row; a label is a row and a column."""

    rows: int
    columns: int
    spacing: Fraction


@dataclass(frozen=True)
class Points:
    """Points of a plane, or latitudes and longitudes; a label is the number of a point."""

    coordinates: tuple[tuple[Fraction, Fraction], ...]
    metric: Literal["euclidean", "haversine"]


@dataclass(frozen=True)
class Domain:
    """Listed values, or a grid, or points."""

    values: tuple[Label, ...] | None = None
    grid: Grid | None = None
    points: Points | None = None

    @property
    def size(self) -> int:
        """The number of inputs, after a check of the kind and the limit."""
        kinds = [kind for kind in (self.values, self.grid, self.points) if kind is not None]
        need(len(kinds) == 1, "a domain must be values, a grid or points")
        listed = self.points.coordinates if self.points else self.values or ()
        size = self.grid.rows * self.grid.columns if self.grid else len(listed)
        need(size > 0, "a domain has no inputs")
        check_size("inputs", size, "domain")
        return size

    def inputs(self, prior: tuple[Fraction, ...] | None = None) -> Inputs:
        size = self.size
        if self.points is not None:
            flat = self.points.metric == "euclidean"
            places = self.points.coordinates if flat else None
            return Inputs(tuple(range(size)), places, None, prior)
        if self.grid is not None:
            n, m, step = self.grid.rows, self.grid.columns, self.grid.spacing
            need(step > 0, "the spacing of a grid is not above 0")
            labels = tuple((r, c) for r in range(n) for c in range(m))
            down, across = ([step * i for i in range(side)] for side in (n, m))
            return Inputs(labels, tuple((a, b) for a in down for b in across), step, prior)
        values: tuple[Any, ...] = self.values or ()
        check_different(values, "input")
        numeric = all(isinstance(x, int | float) for x in values)
        points = tuple((exact(x),) for x in values) if numeric else None
        return Inputs(values, points, prior=prior)


def check_different(labels: Sequence[Any], what: str) -> None:
    """Raise unless all labels differ: 1 and 1.0 are equal, 1 and "1" are not."""
    need(len(set(labels)) == len(labels), f"the problem in the file has an {what} twice")
