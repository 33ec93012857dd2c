"""Notions by name that limit a sum over all outputs; with a budget of 0 they are generators."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from typing import Literal

from mechdesign.kernel.arithmetic import lattice, need
from mechdesign.kernel.generators import Cone, Constant, Lift, Listed, ListedRow, Ratio, Side
from mechdesign.kernel.limits import NOTHING, Gauge, Information, Limit
from mechdesign.kernel.losses import Losses, distances, hamming, of_table
from mechdesign.kernel.names.domains import Inputs, Table

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
