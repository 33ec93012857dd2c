"""The channel and the readings of least variance: column generation over rays and readings.

An output is a ray r of the cone with a reading v. For a fixed reading its second moment is linear
in the column, so that the best mixture of some pairs (r, v) is a linear program:

    minimize  Sum theta v**2 P . r    such that  Sum theta r = 1,  Sum theta v r = f,  theta >= 0,

or, in the worst case, t with Sum theta v**2 r_x - f_x**2 <= t for every input x. Its dual variables
u, m and, in the worst case, P tell which pairs are missing: those with

    r . c(v) < 0,    c_x(v) = P_x v**2 - m_x v - u_x.

For a fixed reading the cheapest ray is known or found by a small program; for a fixed ray the best
reading is m . r / (2 P . r). The least costs bound the variance of every private channel
(:mod:`mechdesign.certify.bounds.unbiased`).

Source: Elfving 1952 (c-optimal designs by linear programs).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.outside import called
from mechdesign.routes.column_generation.master import RestrictedMaster
from mechdesign.routes.decoders.band_decoders import least_on_gaps
from mechdesign.routes.highs import UNIT
from mechdesign.routes.limits import Limits
from mechdesign.routes.readings.pricing import BudgetPricer, ColumnPricer, Priced

__all__ = ["ReadingsDual", "ReadingsSearch"]

ROUNDS = 150
GOAL, ENOUGH = 2e-8, 0.5
"""Relative to the variance: what the rounds aim at, or this share of the gap that is wanted."""

POLISHES = 3
"""How often a reading is moved to the best one of its cheapest ray."""

MIXED = 1e-9
"""The share of the mean over all inputs in the worst case: so no input has the weight 0, which
would leave its readings free."""

FIRST = 17
"""Readings that the first rays have each."""

FARTHEST = 4.0
"""Readings are looked for up to this, in the unit of those of randomized response."""

LARGEST = 100.0
"""Readings are no larger than this in that unit: far more than any that is of use."""

MOST_COLUMNS = 6
"""Pairs that stay in the program, for each of its rows."""

MOST_PROBES, NEAREST = 20_000, 1e-6
"""Readings that a round looks at, at most, and how near they may be."""

USED, SAME = 1e-11, 1e-9
"""Smaller weights are left out; rays that differ by less are one."""

LEAST_SINGULAR, SHARE = 1e-6, 1e-8
"""Where columns are so close to dependent that exact readings would be large, this share of
randomized response is mixed in, which tells all inputs apart."""


@dataclass(frozen=True)
class ReadingsDual:
    """Dual variables, in units in which f runs from -1 to 1 over ``unit``.

    Attributes
    ----------
    potentials, slopes, weights
        ``(n_inputs,)``: u, m and P.
    bound
        What they prove.
    """

    potentials: FloatArray
    slopes: FloatArray
    weights: FloatArray
    bound: float

    def mixed(self, other: ReadingsDual) -> ReadingsDual:
        """Return the mean of both."""
        return ReadingsDual(
            (self.potentials + other.potentials) / 2,
            (self.slopes + other.slopes) / 2,
            (self.weights + other.weights) / 2,
            -np.inf,
        )

    def cost(self, readings: FloatArray) -> FloatArray:
        """Return c_x(v), ``(n_inputs, n_readings)``."""
        v = readings
        return np.asarray(
            self.weights[:, None] * v**2 - self.slopes[:, None] * v - self.potentials[:, None]
        )


class _Look:
    """The costs at the readings that a round has looked at, by the kinds of rays.

    Parameters
    ----------
    bend
        ``(n_kinds,)``: for each kind what P . r is at most.
    """

    def __init__(self, bend: FloatArray) -> None:
        self.bend, self.least = bend, np.zeros(len(bend))
        self._kind: IntArray = np.zeros(0, dtype=np.intp)
        self._at, self._cost = np.zeros(0), np.zeros(0)

    def take(self, priced: Priced, v: FloatArray, best: FloatArray) -> None:
        """Note the costs at readings, and the costs of the same rays at their best readings."""
        np.minimum.at(self.least, priced.kind, best)
        self._kind = np.concatenate([self._kind, priced.kind])
        self._at = np.concatenate([self._at, v[priced.place]])
        self._cost = np.concatenate([self._cost, priced.cost])

    def hiding(self, goal: float) -> FloatArray:
        """Return the middles of gaps in which a column may cost less than any so far.

        For each kind the least cost is a minimum of parabolas in the reading, which bend by P . r
        each, and so at least its chord less t (1 - t) d**2 times the most of that.
        """
        found = [np.zeros(0)]
        for kind, (bend, floor) in enumerate(zip(self.bend, self.least, strict=True)):
            own = np.flatnonzero(self._kind == kind)
            v, first = np.unique(self._at[own], return_index=True)
            least = least_on_gaps(v, self._cost[own][first], bend)
            gaps = (least < floor - goal) & (np.diff(v) > NEAREST)
            found.append(((v[:-1] + v[1:]) / 2)[gaps])
        middles = np.unique(np.concatenate(found))
        return middles if len(self._at) < MOST_PROBES else middles[:0]


class ReadingsSearch:
    """The pairs of rays and readings so far, the best mixture of them, and the best bound.

    Parameters
    ----------
    sets, t
        ``(n_inputs, n_sets)`` indicators of the classes of inputs whose rows may differ, and the
        largest t at which 1 + t is private on any of them.
    pricer
        What finds the cheapest private columns.
    f
        ``(n_inputs,)`` values that run from -1 to 1.
    prior
        ``(n_inputs,)``; None for the worst case.
    limits
        When to stop.
    scale
        What a variance of 1 is in the unit of the objective.
    start
        Rays and readings to start with, beside others; from a search on fewer inputs.
    """

    def __init__(
        self,
        sets: FloatArray,
        t: float,
        pricer: BudgetPricer | ColumnPricer,
        f: FloatArray,
        prior: FloatArray | None,
        limits: Limits,
        scale: float,
        start: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self.pricer, self.prior, self.limits = pricer, prior, limits
        n = sets.shape[1]
        self.response = (1 + t * sets) / (n + t)
        """Randomized response, which tells apart all inputs whose rows may differ."""
        self.unit = (2 + t) / t
        self.f, self.scale = f / self.unit, scale * self.unit**2
        self.response_readings = ((n + t) * self.f - self._sum_of_classes(sets)) / t
        self.rays, self.readings = self._first(sets, start)
        self._fixed = int(prior is None)
        self._master = self._program()
        self.theta: FloatArray = np.zeros(0)
        self.value = np.inf
        k = len(f)
        self.dual = ReadingsDual(np.zeros(k), np.zeros(k), np.full(k, 1 / k), -np.inf)
        self.rounds = 0

    def _sum_of_classes(self, sets: FloatArray) -> float:
        """Return the sum of f over the classes of inputs that may differ."""
        return float((sets.T @ self.f / sets.sum(axis=0)).sum())

    def _first(
        self, sets: FloatArray, start: tuple[FloatArray, FloatArray] | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return randomized response with its readings, and the start or rays raised at an end."""
        f, k = self.f, len(self.f)
        own = (sets.T @ self.response_readings) / sets.sum(axis=0)
        if start is not None:
            rays, v = start
            return np.hstack([_scaled(self.response), rays]), np.concatenate([own, v / self.unit])
        ends = np.unique(f)
        up, down = f[:, None] >= ends, f[:, None] <= ends
        raised = np.hstack([up, down, np.eye(k, dtype=bool)])
        rays = _scaled(self.pricer.price(np.where(raised, -1.0, 1e-3)).rays)
        v = np.linspace(-2.0, 2.0, FIRST)
        return (
            np.hstack([_scaled(self.response), np.repeat(rays, FIRST, axis=1)]),
            np.concatenate([own, np.tile(v, rays.shape[1])]),
        )

    def run(self) -> None:
        """Solve, add the cheapest pairs, and again until the bound is near."""
        grid = FARTHEST * np.linspace(-1, 1, self.pricer.probes)
        for self.rounds in range(1, ROUNDS + 1):
            try:
                dual, value = self._solved()
            except SolverError:
                if self.rounds > 1:
                    return
                raise
            self.value = value
            goal = max(GOAL, ENOUGH * self.limits.gap) * abs(value)
            used = self.readings[self.theta > USED]
            before, pairs = self.dual, [self._improving(dual, np.union1d(grid, used), goal)]
            if self.dual is before and self.rounds > 1:  # half way the dual variables swing less
                half = before.mixed(dual)
                pairs.append(self._improving(half, np.union1d(grid, used), goal))
            self.limits.tell(self.rounds, self.scale * value, self.scale * self.dual.bound)
            done = value - self.dual.bound <= goal or self.limits.over()
            if done or not any(len(readings) for _, readings in pairs):
                return
            self._add(dual, pairs)

    def _solved(self) -> tuple[ReadingsDual, float]:
        """Solve the program over the pairs so far; return its dual variables and the variance."""
        k, f = len(self.f), self.f
        theta, potentials = self._master.solve()
        dual, self.theta = -potentials, theta[self._fixed :]
        if self.prior is not None:
            weights = self.prior
            value = float(-self._master.gain @ theta - weights @ f**2)
        else:
            weights = np.maximum(-dual[2 * k :], 0.0) + MIXED / k
            weights = weights / weights.sum()
            value = float(((self.rays * self.readings**2) @ self.theta - f**2).max())
        return ReadingsDual(dual[:k], dual[k : 2 * k], weights, -np.inf), value

    def _columns(self, rays: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the columns of the program for pairs, and what each gains: less second moment."""
        if self.prior is not None:
            return np.vstack([rays, rays * v]), -(self.prior @ rays) * v**2
        return np.vstack([rays, rays * v, rays * v**2]), -MIXED * rays.mean(axis=0) * v**2

    def _program(self) -> RestrictedMaster:
        """Return the program over the first pairs; in the worst case its first column is t."""
        k, f = len(self.f), self.f
        columns, gain = self._columns(self.rays, self.readings)
        right = np.concatenate([np.ones(k), f])
        if self.prior is not None:
            return RestrictedMaster(columns, gain, unit=UNIT, sides=(right, right))
        largest = np.concatenate([np.zeros(2 * k), -np.ones(k)])[:, None]
        sides = (
            np.concatenate([right, np.full(k, -np.inf)]),
            np.concatenate([right, f**2]),
        )
        both = np.hstack([largest, columns]), np.append(MIXED - 1, gain)
        return RestrictedMaster(*both, unit=UNIT, sides=sides)

    def _improving(
        self, dual: ReadingsDual, readings: FloatArray, goal: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return pairs of negative cost; keep the dual variables if their bound is the best.

        The pairs are the cheapest rays at some readings, then at the best readings of those, and so
        on. Before a bound is taken for the best, gaps between readings are halved while they may
        hide a column that costs less.
        """
        v, look = readings, _Look(self.pricer.largest(dual.weights))
        pairs = list[FloatArray]()
        for _ in range(1 + POLISHES):
            new = self._look(dual, v, look)
            if not len(new[0]):
                break
            pairs = [*pairs[-1:], new]
            v = np.unique(new[-1])
        bound = float(dual.slopes @ self.f + dual.potentials.sum() - dual.weights @ self.f**2)
        while bound + look.least.sum() > self.dual.bound:
            v = look.hiding(goal)
            if not len(v) or self.limits.over():
                self.dual = replace(dual, bound=bound + float(look.least.sum()))
                break
            pairs.append(self._look(dual, v, look))
        if not pairs:
            return np.zeros((len(self.f), 0)), np.zeros(0)
        found = np.hstack(pairs)
        found = found[:, np.unique(np.round(found / SAME), axis=1, return_index=True)[1]]
        return found[:-1], found[-1]

    def _look(self, dual: ReadingsDual, v: FloatArray, look: _Look) -> FloatArray:
        """Return the rays of negative cost at some readings, each above its best reading."""
        priced = self.pricer.price(dual.cost(v))
        r = priced.rays
        square, linear = dual.weights @ r, dual.slopes @ r
        cost = -(dual.potentials @ r) - linear**2 / (4 * square)  # at the ray's best reading
        look.take(priced, v, cost)
        near = cost < 0
        best = np.clip(linear[near] / (2 * square[near]), -LARGEST, LARGEST)
        return np.vstack([_scaled(r[:, near]), best])

    def _add(self, dual: ReadingsDual, pairs: list[tuple[FloatArray, FloatArray]]) -> None:
        """Add pairs, and drop those that cost most."""
        cost = (dual.cost(self.readings) * self.rays).sum(axis=0)
        most = MOST_COLUMNS * 3 * len(self.f)
        if len(cost) > 2 * most:
            wanted = (self.theta > USED) | (cost < np.partition(cost, most)[most])
            kept = self._master.keep(np.append(np.ones(self._fixed, dtype=bool), wanted))
            kept = kept[self._fixed :]
            self.rays, self.readings = self.rays[:, kept], self.readings[kept]
            self.theta = self.theta[kept]
        rays = np.hstack([rays for rays, _ in pairs])
        v = np.concatenate([v for _, v in pairs])
        self._master.add(*self._columns(rays, v))
        self.rays = np.hstack([self.rays, rays])
        self.readings = np.concatenate([self.readings, v])
        self.theta = np.concatenate([self.theta, np.zeros(len(v))])

    def used(self) -> tuple[FloatArray, FloatArray]:
        """Return the rays in use, and their readings in the unit of f."""
        used = self.theta > USED
        return self.rays[:, used], self.unit * self.readings[used]

    def matrix(self) -> FloatArray:
        """Return the channel: the pairs in use, with those of one ray added up.

        Outputs with one column and two readings are one output with their mean, which has less
        variance.
        """
        used = self.theta > USED
        rays, theta = self.rays[:, used], self.theta[used]
        _, first, place = np.unique(
            np.round(rays / SAME), axis=1, return_index=True, return_inverse=True
        )
        weight = np.bincount(place.ravel(), weights=theta)
        mean = np.bincount(place.ravel(), weights=theta * self.readings[used]) / weight
        order = np.argsort(mean)
        found = rays[:, first[order]] * weight[order]
        n = len(np.unique(self.response, axis=0))
        scaled = found / np.sqrt(found.mean(axis=0))
        singular = called("LAPACK", np.linalg.svd, scaled, compute_uv=False)
        if len(singular) < n or singular[n - 1] < LEAST_SINGULAR * singular[0]:
            found = np.hstack([(1 - SHARE) * found, SHARE * self.response])
        return np.asarray(found)


def _scaled(rays: FloatArray) -> FloatArray:
    """Return rays with a largest entry of 1."""
    return np.asarray(rays / rays.max(axis=0))
