"""Notions by name that are one generator: bounds on ratios or on lifts, and listed rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.gains import Vector
from mechdesign.kernel.generators import (
    Ball,
    Box,
    Constant,
    Distance,
    Lift,
    Listed,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
)
from mechdesign.kernel.names.domains import Inputs, Table
from mechdesign.kernel.schema import Label

Budget = Fraction | Literal["inf"]
Labels = tuple[Label, ...]


def ldp(on: Inputs, *, epsilon: Fraction) -> Ratio:
    """q_x <= e**epsilon q_z."""
    return Ratio(Constant(epsilon))


def differential_identifiability(on: Inputs, *, epsilon: Fraction) -> Ratio:
    """P_x q_x <= e**epsilon P_z q_z."""
    return Ratio(Constant(epsilon), on.masses if on.size > 1 else None)


def high_low(on: Inputs, *, epsilon: Fraction, sensitive: Labels) -> Ratio:
    """q_x <= e**epsilon q_z for sensitive x."""
    return Ratio(Constant(epsilon, None, on.all_at(sensitive)))


def block(
    on: Inputs,
    *,
    epsilon: Fraction,
    blocks: tuple[Labels, ...] | None = None,
    block_rows: int | None = None,
    block_columns: int | None = None,
) -> Ratio:
    """q_x <= e**epsilon q_z in each block; blocks of a grid are rectangles."""
    n, m = block_rows, block_columns
    if blocks is not None:
        need(n is None and m is None, "blocks must be listed, or be rectangles of a grid")
        listed = on.all_at(label for part in blocks for label in part)
        need(len(listed) == on.size, "the blocks in the file do not divide the inputs")
        marks = [b for b, part in enumerate(blocks) for _ in part]
        found = dict(zip(listed, marks, strict=True))
        return Ratio(Constant(epsilon, tuple(found[x] for x in range(on.size))))
    pairs = all(isinstance(label, tuple) for label in on.labels) and on.spacing is not None
    need(pairs and n and m, "blocks of rows and columns need a grid")
    height, width = (last + 1 for last in on.labels[-1])
    n, m = n or 1, m or 1
    need(not height % n and not width % m, "the blocks in the file do not divide its grid")
    return Ratio(Constant(epsilon, tuple(r // n * (width // m) + c // m for r, c in on.labels)))


def metric(
    on: Inputs,
    *,
    epsilon: Fraction,
    distance: Literal["absolute", "manhattan", "euclidean"] | Table,
) -> Ratio:
    """q_x <= e**(epsilon d(x, z)) q_z."""
    if isinstance(distance, str):
        return Ratio(Distance(epsilon, distance, on.places))
    found = {id(v): v for row in distance for v in row}  # entries often share an object
    need(all(v >= 0 for v in found.values()), "a distance is below 0")
    times = {key: epsilon * v for key, v in found.items()}
    return Ratio(Matrix(tuple(tuple(times[id(v)] for v in row) for row in distance)))


def context_aware(on: Inputs, *, matrix: tuple[tuple[Budget, ...], ...]) -> Ratio:
    """q_x <= e**a_xz q_z, for a matrix of budgets."""
    budgets = (v for row in matrix for v in row if not isinstance(v, str))
    need(all(v >= 0 for v in budgets), "context-aware: a budget is below 0")
    return Ratio(Matrix(matrix))


@dataclass(frozen=True)
class LinearRow:
    """``left . q <= e**(exponent + slope epsilon) right . q``, coefficients by label."""

    name: str
    left: tuple[tuple[Label, Fraction], ...]
    right: tuple[tuple[Label, Fraction], ...]
    exponent: Fraction
    slope: Fraction = Fraction(0)


def linear(
    on: Inputs, *, rows: tuple[LinearRow, ...], title: str = "", epsilon: Fraction | None = None
) -> Rows:
    """A user's own rows."""
    need(len({row.name for row in rows}) == len(rows), "two rows of a notion have the same name")
    listed = []
    for row in rows:
        has = epsilon is not None or not row.slope
        need(has and row.slope >= 0, "a row has a slope below 0, or its notion no epsilon")
        left, right = (tuple((on.at(x), v) for x, v in side) for side in (row.left, row.right))
        listed.append(ListedRow(left, row.exponent + row.slope * (epsilon or 0), right))
    return Rows(tuple(listed))


def lip(on: Inputs, *, epsilon: Fraction) -> Lift:
    """e**-epsilon <= P(x | y) / P(x) <= e**epsilon."""
    return Lift(epsilon, epsilon, Listed((on.masses,)))


def pml(on: Inputs, *, epsilon: Fraction) -> Lift:
    """P(x | y) / P(x) <= e**epsilon."""
    return Lift(None, epsilon, Listed((on.masses,)))


def lift(on: Inputs, *, lower: Budget, upper: Budget) -> Lift:
    """e**-lower <= P(x | y) / P(x) <= e**upper."""
    return Lift(_end(lower), _end(upper), Listed((on.masses,)))


def _end(budget: Budget) -> Fraction | None:
    return None if isinstance(budget, str) else budget


@dataclass(frozen=True)
class PriorSet:
    """Priors: a list, or a box between bounds, or a ball in total variation."""

    priors: Table | None = None
    lower: Vector | None = None
    upper: Vector | None = None
    center: Vector | None = None
    radius: Fraction | None = None

    def stated(self) -> Listed | Ball | Box:
        """Return the set given by some of the keys."""
        found = {key for key, value in vars(self).items() if value is not None}
        if found == {"priors"}:
            return Listed(self.priors or ())
        if found == {"lower", "upper"}:
            return Box(self.lower or (), self.upper or ())
        need(found == {"center", "radius"}, "priors must be a list, a box, or a ball")
        return Ball(self.center or (), self.radius or Fraction(0))


def bounded_prior_lip(on: Inputs, *, epsilon: Fraction, **priors: Any) -> Lift:
    """LIP for every prior of a set."""
    return Lift(epsilon, epsilon, PriorSet(**priors).stated())


def bounded_prior_pml(on: Inputs, *, epsilon: Fraction, **priors: Any) -> Lift:
    """PML for every prior of a set."""
    return Lift(None, epsilon, PriorSet(**priors).stated())


def bounded_prior_lift(
    on: Inputs, *, lower: Budget, upper: Budget, priors: Table | PriorSet
) -> Lift:
    """Bounds on the lift for every prior of a set."""
    stated = priors if isinstance(priors, PriorSet) else PriorSet(priors)
    return Lift(_end(lower), _end(upper), stated.stated())


RATIOS = (ldp, differential_identifiability, high_low, block, metric, context_aware, linear)
LIFTS = (lip, pml, lift)
"""Notions that may protect a sensitive attribute."""

OF_PRIORS = (bounded_prior_lip, bounded_prior_pml)
"""Notions that also take the keys of a set of priors."""
