"""Notions by name that limit a sum over all outputs: no cone of columns, but with budget 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import ClassVar, Literal

from mechdesign.kernel.arithmetic import lattice, need
from mechdesign.kernel.generators import Constant, Lift, Listed, ListedRow, Ratio
from mechdesign.kernel.limits import NOTHING, Gauge, Information
from mechdesign.kernel.losses import DistanceLosses, HammingLosses, Losses, TableLosses
from mechdesign.kernel.names.base import Asked, Notion, Table
from mechdesign.kernel.names.domains import Inputs

ONE, ZERO = Fraction(1), Fraction(0)


@dataclass(frozen=True)
class ApproximateLDP(Notion):
    """Sum_y (Q[x, y] - e**epsilon Q[z, y])_+ <= delta for all x, z.

    Each is a gauge of 0 and e**-epsilon q_x - q_z, with the limit e**-epsilon delta.
    """

    kind: ClassVar[str] = "approximate-ldp"
    of_pairs: ClassVar[bool] = True
    epsilon: Fraction
    delta: Fraction

    def asked(self, on: Inputs) -> Asked:
        """Return LDP for delta = 0, else a gauge for each pair; nothing for delta = 1."""
        a, delta = self.epsilon, self.delta
        if delta >= 1:
            return (), ()
        if not delta:
            return (Ratio(Constant(a)),), ()
        units = [((x, ONE),) for x in range(on.size)]
        pairs = ((u, v) for u in units for v in units if u is not v)
        return (), tuple(Gauge((NOTHING, ListedRow(u, a, v)), delta, -a) for u, v in pairs)


@dataclass(frozen=True)
class ApproximateLIP(Notion):
    """Two sums for each x, with l_y = P . q_y.

    Sum_y (e**-epsilon Q[x, y] - l_y)_+ <= delta and Sum_y (l_y - e**epsilon Q[x, y])_+ <= delta.
    """

    kind: ClassVar[str] = "approximate-lip"
    of_pairs: ClassVar[bool] = True
    epsilon: Fraction
    delta: Fraction

    def asked(self, on: Inputs) -> Asked:
        """Return LIP for delta = 0, else two gauges for each input; nothing for delta = 1."""
        a, delta = self.epsilon, self.delta
        if delta >= 1:
            return (), ()
        if not delta:
            return (Lift(a, a, Listed((on.masses,))),), ()
        law = tuple((x, p) for x, p in enumerate(on.masses) if p)
        units = [((x, ONE),) for x in range(on.size)]
        sides = (
            (
                Gauge((NOTHING, ListedRow(u, a, law)), delta),
                Gauge((NOTHING, ListedRow(law, a, u)), delta, -a),
            )
            for u in units
        )
        return (), tuple(chain.from_iterable(sides))


@dataclass(frozen=True)
class MaximalLeakage(Notion):
    """Sum_y max_x Q[x, y] <= e**epsilon."""

    kind: ClassVar[str] = "maximal-leakage"
    epsilon: Fraction

    def asked(self, on: Inputs) -> Asked:
        """Return a gauge; for epsilon = 0 the sum is 1 only if all rows of Q are equal."""
        if not self.epsilon:
            return (Ratio(Constant(ZERO)),), ()
        parts = (ListedRow(((x, ONE),), self.epsilon, ()) for x in range(on.size))
        return (), (Gauge(tuple(parts), ONE),)


@dataclass(frozen=True)
class MutualInformation(Notion):
    """I(X; Y) <= epsilon."""

    kind: ClassVar[str] = "mutual-information"
    of_pairs: ClassVar[bool] = True
    epsilon: Fraction

    def asked(self, on: Inputs) -> Asked:
        """Return the limit; for epsilon = 0 rows of Q are equal where the prior is not 0."""
        p = on.masses
        if self.epsilon:
            return (), (Information(p, self.epsilon),)
        block, extra = [], len(p)
        for mass in p:
            extra += not mass
            block.append(0 if mass else extra)
        return (Ratio(Constant(ZERO, tuple(block))),), ()


@dataclass(frozen=True)
class GVulnerability(Notion):
    """Sum_y max_w Sum_x g(w, x) P_x Q[x, y] <= limit; without a matrix of the guess of x."""

    kind: ClassVar[str] = "g-vulnerability"
    of_pairs: ClassVar[bool] = True
    limit: Fraction
    gain_matrix: Table | None = None

    def asked(self, on: Inputs) -> Asked:
        """Return a gauge with a part for each guess."""
        p, parts = on.masses, list[tuple[tuple[int, Fraction], ...]]()
        if self.gain_matrix is None:
            parts = [((x, mass),) for x, mass in enumerate(p)]
        for row in self.gain_matrix or ():
            need(len(row) == on.size and min(row) >= 0, "expected a gain >= 0 for each input")
            parts.append(
                tuple((x, g * v) for x, (g, v) in enumerate(zip(row, p, strict=True)) if g)
            )
        return (), (Gauge(tuple(ListedRow(part, ZERO, ()) for part in parts), self.limit),)

    def at(self, leakage: Fraction) -> GVulnerability:
        """Add to the limit."""
        return replace(self, limit=self.limit + leakage)


@dataclass(frozen=True)
class AttackError(Notion):
    """Sum_y min_z Sum_x d(x, z) P_x Q[x, y] >= least.

    That is a gauge with negative entries. Where distances are irrational, checks use them rounded
    down and bounds rounded up.
    """

    kind: ClassVar[str] = "attack-error"
    of_pairs: ClassVar[bool] = True
    least: Fraction
    distance: Literal["hamming", "absolute", "squared", "euclidean"] | Table

    def asked(self, on: Inputs) -> Asked:
        """Return a gauge with a part for each guess."""
        losses, masses = self._losses(on), on.masses
        p = [mass / losses.denominator for mass in masses]
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
        return (), (Gauge(parts, -self.least, ZERO, below or None),)

    def _losses(self, on: Inputs) -> Losses:
        d = self.distance
        if d == "hamming":
            return HammingLosses(list(on.labels), list(on.labels))
        if isinstance(d, str):
            places, unit = lattice(on.places)
            return DistanceLosses(places, places, unit, d)
        fits = len(d) == on.size and len(set(map(len, d))) == 1 and len(d[0]) > 0
        need(fits and all(min(row) >= 0 for row in d), "expected distances >= 0 of all inputs")
        return TableLosses([list(row) for row in d])

    def at(self, leakage: Fraction) -> AttackError:
        """Ask for less."""
        return replace(self, least=self.least - leakage)


Leakages = MaximalLeakage | MutualInformation | GVulnerability | AttackError
"""A notion that bounds what all outputs tell together."""

SumNotions = ApproximateLDP | ApproximateLIP | Leakages
"""A notion of this file."""
