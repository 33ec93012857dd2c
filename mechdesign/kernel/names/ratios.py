"""Notions by name that bound the ratio of two entries of a column, or list rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import Constant, Distance, ListedRow, Matrix, Ratio, Rows
from mechdesign.kernel.names.base import Budget, Budgeted, Conic, Table
from mechdesign.kernel.names.domains import Inputs
from mechdesign.kernel.schema import Label


@dataclass(frozen=True)
class LDP(Budgeted):
    """q_x <= e**epsilon q_z."""

    kind: ClassVar[str] = "ldp"

    def generator(self, on: Inputs) -> Ratio:
        """Return one constant."""
        return Ratio(Constant(self.epsilon))


@dataclass(frozen=True)
class DifferentialIdentifiability(Budgeted):
    """P_x q_x <= e**epsilon P_z q_z."""

    kind: ClassVar[str] = "differential-identifiability"

    def generator(self, on: Inputs) -> Ratio:
        """Return one constant, scaled by the prior."""
        return Ratio(Constant(self.epsilon), on.masses if on.size > 1 else None)


@dataclass(frozen=True)
class HighLow(Budgeted):
    """q_x <= e**epsilon q_z for sensitive x."""

    kind: ClassVar[str] = "high-low"
    sensitive: tuple[Label, ...]

    def generator(self, on: Inputs) -> Ratio:
        """Return one constant for the protected inputs."""
        return Ratio(Constant(self.epsilon, None, on.all_at(self.sensitive)))


@dataclass(frozen=True)
class Block(Budgeted):
    """q_x <= e**epsilon q_z in each block; those of a grid are rectangles."""

    kind: ClassVar[str] = "block"
    blocks: tuple[tuple[Label, ...], ...] | None = None
    block_rows: int | None = None
    block_columns: int | None = None

    def generator(self, on: Inputs) -> Ratio:
        """Return one constant in blocks."""
        return Ratio(Constant(self.epsilon, self._blocks(on)))

    def _blocks(self, on: Inputs) -> tuple[int, ...]:
        n, m = self.block_rows, self.block_columns
        if self.blocks is not None:
            need(n is None and m is None, "blocks must be listed, or be rectangles of a grid")
            listed = on.all_at(label for block in self.blocks for label in block)
            need(len(listed) == on.size, "the blocks in the file do not divide the inputs")
            marks = [b for b, block in enumerate(self.blocks) for _ in block]
            found = dict(zip(listed, marks, strict=True))
            return tuple(found[x] for x in range(on.size))
        pairs = all(isinstance(label, tuple) for label in on.labels) and on.spacing is not None
        if not pairs or not n or not m:
            raise CertificateError("blocks of rows and columns need a grid")
        height, width = (last + 1 for last in on.labels[-1])
        divides = not height % n and not width % m
        need(divides, "the blocks in the file do not divide its grid")
        return tuple(r // n * (width // m) + c // m for r, c in on.labels)


@dataclass(frozen=True)
class Metric(Budgeted):
    """q_x <= e**(epsilon d(x, z)) q_z."""

    kind: ClassVar[str] = "metric"
    of_pairs: ClassVar[bool] = True
    distance: Literal["absolute", "manhattan", "euclidean"] | Table

    def generator(self, on: Inputs) -> Ratio:
        """Return a constant times a distance."""
        d, a = self.distance, self.epsilon
        if isinstance(d, str):
            return Ratio(Distance(a, d, on.places))
        found = {id(v): v for row in d for v in row}  # many entries are one object
        need(all(v >= 0 for v in found.values()), "a distance is below 0")
        times = {key: a * v for key, v in found.items()}
        return Ratio(Matrix(tuple(tuple(times[id(v)] for v in row) for row in d)))


@dataclass(frozen=True)
class ContextAware(Conic):
    """q_x <= e**a_xz q_z, for a matrix of budgets."""

    kind: ClassVar[str] = "context-aware"
    matrix: tuple[tuple[Budget, ...], ...]

    def generator(self, on: Inputs) -> Ratio:
        """Return the matrix."""
        return Ratio(Matrix(self.matrix))

    def check(self) -> None:
        """Raise unless its budgets are >= 0."""
        budgets = (v for row in self.matrix for v in row if not isinstance(v, str))
        need(all(v >= 0 for v in budgets), f"{self.name}: a budget is below 0")


@dataclass(frozen=True)
class LinearRow:
    """``left . q <= e**(exponent + slope epsilon) right . q``, coefficients by label."""

    name: str
    left: tuple[tuple[Label, Fraction], ...]
    right: tuple[tuple[Label, Fraction], ...]
    exponent: Fraction
    slope: Fraction = Fraction(0)


@dataclass(frozen=True)
class Linear(Conic):
    """Rows of a user's own."""

    kind: ClassVar[str] = "linear"
    rows: tuple[LinearRow, ...]
    title: str = ""
    epsilon: Fraction | None = None

    def generator(self, on: Inputs) -> Rows:
        """Return the rows."""
        budget, names = self.epsilon or Fraction(0), {row.name for row in self.rows}
        need(len(names) == len(self.rows), "two rows of a notion have the same name")
        listed = []
        for row in self.rows:
            has = self.epsilon is not None or not row.slope
            need(has and row.slope >= 0, "a row has a slope below 0, or its notion no epsilon")
            sides = (tuple((on.at(x), v) for x, v in side) for side in (row.left, row.right))
            left, right = sides
            listed.append(ListedRow(left, row.exponent + row.slope * budget, right))
        return Rows(tuple(listed))


RatioNotions = LDP | DifferentialIdentifiability | HighLow | Block | Metric | ContextAware | Linear
"""A notion of this file."""
