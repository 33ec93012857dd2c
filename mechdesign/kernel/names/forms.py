"""Notions by name: generators, or limits of a sum over all outputs.

With a budget of 0 a limit is a generator.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, Literal

from mechdesign.kernel.arithmetic import lattice, need
from mechdesign.kernel.gains import Vector
from mechdesign.kernel.generators import (
    Ball,
    Box,
    Cone,
    Constant,
    Distance,
    Lift,
    Listed,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
    Side,
)
from mechdesign.kernel.limits import NOTHING, Gauge, Information, Limit
from mechdesign.kernel.names.domains import Inputs, Table
from mechdesign.kernel.objectives import Losses, distances, hamming, of_table
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


Parts = tuple[Cone | Limit, ...]
ONE, ZERO = Fraction(1), Fraction(0)


def approximate_ldp(on: Inputs, *, epsilon: Fraction, delta: Fraction) -> Parts:
    """Sum_y (Q[x, y] - e**epsilon Q[z, y])_+ <= delta for all x, z.

    Each is a gauge of 0 and e**-epsilon q_x - q_z, with the limit e**-epsilon delta. It is LDP for
    delta = 0, and nothing for delta = 1.
    """
    if delta >= 1:
        return ()
    if not delta:
        return (Ratio(Constant(epsilon)),)
    units = [((x, ONE),) for x in range(on.size)]
    pairs = ((u, v) for u in units for v in units if u is not v)
    return tuple(Gauge((NOTHING, ListedRow(u, epsilon, v)), delta, -epsilon) for u, v in pairs)


def approximate_lip(on: Inputs, *, epsilon: Fraction, delta: Fraction) -> Parts:
    """Two sums for each x, with l_y = P . q_y. It is LIP for delta = 0, and nothing for delta = 1.

    Sum_y (e**-epsilon Q[x, y] - l_y)_+ <= delta and Sum_y (l_y - e**epsilon Q[x, y])_+ <= delta.
    """
    if delta >= 1:
        return ()
    if not delta:
        return (Lift(epsilon, epsilon, Listed((on.masses,))),)
    law = tuple((x, p) for x, p in enumerate(on.masses) if p)
    units = [((x, ONE),) for x in range(on.size)]
    sides = (
        (
            Gauge((NOTHING, ListedRow(u, epsilon, law)), delta),
            Gauge((NOTHING, ListedRow(law, epsilon, u)), delta, -epsilon),
        )
        for u in units
    )
    return tuple(chain.from_iterable(sides))


def maximal_leakage(on: Inputs, *, epsilon: Fraction) -> Parts:
    """Sum_y max_x Q[x, y] <= e**epsilon; for epsilon = 0 all rows of Q are equal."""
    if not epsilon:
        return (Ratio(Constant(ZERO)),)
    return (Gauge(tuple(ListedRow(((x, ONE),), epsilon, ()) for x in range(on.size)), ONE),)


def mutual_information(on: Inputs, *, epsilon: Fraction) -> Parts:
    """I(X; Y) <= epsilon; for epsilon = 0 rows of Q are equal where the prior is not 0."""
    p = on.masses
    if epsilon:
        return (Information(p, epsilon),)
    return (Ratio(Constant(ZERO, tuple(0 if mass else x + 1 for x, mass in enumerate(p)))),)


def g_vulnerability(on: Inputs, *, limit: Fraction, gain_matrix: Table | None = None) -> Parts:
    """Sum_y max_w Sum_x g(w, x) P_x Q[x, y] <= limit; without a matrix of the guess of x."""
    p = on.masses
    parts: list[Side] = [((x, mass),) for x, mass in enumerate(p) if gain_matrix is None]
    for row in gain_matrix or ():
        need(len(row) == on.size and min(row) >= 0, "expected a gain >= 0 for each input")
        weighed = enumerate(zip(row, p, strict=True))
        parts.append(tuple((x, g * v) for x, (g, v) in weighed if g))
    return (Gauge(tuple(ListedRow(part, ZERO, ()) for part in parts), limit),)


def attack_error(
    on: Inputs,
    *,
    least: Fraction,
    distance: Literal["hamming", "absolute", "squared", "euclidean"] | Table,
) -> Parts:
    """Sum_y min_z Sum_x d(x, z) P_x Q[x, y] >= least: a gauge with negative entries.

    Where distances are irrational, checks use them rounded down and bounds rounded up.
    """
    losses = _losses(on, distance)
    p = [mass / losses.denominator for mass in on.masses]
    lows, highs = (
        [take(z) for z in range(losses.n_outputs)] for take in (losses.lower, losses.upper)
    )
    parts, below = (
        tuple(
            ListedRow((), ZERO, tuple((x, d * p[x]) for x, d in enumerate(row) if d))
            for row in rows
        )
        for rows in (lows, [] if lows == highs else highs)
    )
    return (Gauge(parts, -least, ZERO, below or None),)


def _losses(on: Inputs, distance: str | Table) -> Losses:
    if distance == "hamming":
        return hamming(on.labels, on.labels)
    if isinstance(distance, str):
        places, unit = lattice(on.places)
        return distances(places, places, unit, distance)
    fits = len(distance) == on.size and len(set(map(len, distance))) == 1 and distance[0]
    need(fits and all(min(row) >= 0 for row in distance), "expected distances >= 0 of all inputs")
    return of_table(distance)


APPROXIMATE = (approximate_ldp, approximate_lip)
LEAKAGES = (maximal_leakage, mutual_information, g_vulnerability, attack_error)
