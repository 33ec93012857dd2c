"""The channel and the readings of least variance: column generation over rays.

One convex program finds the best mixture of some rays, and their readings
(:mod:`~mechdesign.search.readings.mixture`). Its dual variables u, m and P determine the missing
rays: those for which there is a reading v with

    r . c(v) < 0,    c_x(v) = P_x v**2 - m_x v - u_x.

For a fixed reading the cheapest ray is known or found by a small program; for a fixed ray the best
reading is m . r / (2 P . r). The least costs bound the variance of every private channel
(:mod:`mechdesign.kernel.linearizations.decoders`).

Source: Elfving 1952 (c-optimal designs); Pukelsheim 2006, chapter 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.search.decoders.search import least_on_gaps
from mechdesign.search.limits import Limits
from mechdesign.search.readings.mixture import Mixture, best_mixture, thinned
from mechdesign.search.readings.pricing import BudgetPricer, ColumnPricer, Priced
from mechdesign.solver_guard import called

ROUNDS = 150
GOAL, ENOUGH = 2e-8, 0.5
"""The relative accuracy of the variance, or this share of the requested gap."""

POLISHES = 3
"""The number of times a reading is moved to the best one of its cheapest ray."""

FARTHEST = 4.0
"""The range of the search for readings, in the unit of those of randomized response."""

LARGEST = 100.0
"""The largest readings in that unit: far larger than any useful one."""

ALL_INTERVALS = 40
"""The number of inputs up to which a search starts from the rays raised on any interval."""

MOST_RAYS = 8
"""The number of rays kept in the program, for each input."""

MOST_PROBES, NEAREST = 20_000, 1e-6
"""The largest number of readings in a round, and their least distance."""

USED, SAME = 1e-10, 1e-9
"""Smaller weights are dropped; rays with smaller differences are merged."""

LEAST_SINGULAR, SHARE = 1e-6, 1e-8
"""If columns are so close to dependent that exact readings would be large, this share of randomized
response is mixed in, which separates all inputs."""


@dataclass(frozen=True)
class ReadingsDual:
    """Dual variables, in units in which f runs from -1 to 1 over ``unit``.

    Attributes
    ----------
    potentials, slopes, weights
        ``(n_inputs,)``: u, m and P.
    bound
        The bound that they prove.
    """

    potentials: FloatArray
    slopes: FloatArray
    weights: FloatArray
    bound: float

    def mixed(self, other: ReadingsDual, share: float = 0.5) -> ReadingsDual:
        """Return the mean of both, with a share of the other."""
        return ReadingsDual(
            (1 - share) * self.potentials + share * other.potentials,
            (1 - share) * self.slopes + share * other.slopes,
            (1 - share) * self.weights + share * other.weights,
            -np.inf,
        )

    def least(self, rays: FloatArray) -> FloatArray:
        """Return the cost of each ray at its best reading."""
        squares = 4 * (self.weights @ rays)
        return np.asarray(-(self.potentials @ rays) - (self.slopes @ rays) ** 2 / squares)

    def cost(self, readings: FloatArray) -> FloatArray:
        """Return c_x(v), ``(n_inputs, n_readings)``."""
        v = readings
        return np.asarray(
            self.weights[:, None] * v**2 - self.slopes[:, None] * v - self.potentials[:, None]
        )


class _Look:
    """The costs at the readings examined in a round, by the kinds of rays.

    Parameters
    ----------
    bend
        ``(n_kinds,)``: the largest P . r of each kind.

    Attributes
    ----------
    least
        ``(n_kinds,)`` the least costs.
    lift
        The amount to add to the cost of each input so that no ray has negative cost.
    """

    def __init__(self, bend: FloatArray) -> None:
        self.bend, self.least, self.lift = bend, np.zeros(len(bend)), 0.0
        self._kind: IntArray = np.zeros(0, dtype=np.intp)
        self._at, self._cost = np.zeros(0), np.zeros(0)

    def take(self, priced: Priced, v: FloatArray, best: FloatArray) -> None:
        """Record the costs at readings, and the costs of the same rays at their best readings."""
        np.minimum.at(self.least, priced.kind, best)
        self.lift = max(self.lift, float((-best / priced.rays.sum(axis=0)).max()))
        self._kind = np.concatenate([self._kind, priced.kind])
        self._at = np.concatenate([self._at, v[priced.place]])
        self._cost = np.concatenate([self._cost, priced.cost])

    def hiding(self, goal: float) -> FloatArray:
        """Return the middles of gaps in which a column may cost less than any so far.

        For each kind the least cost is a minimum of parabolas in the reading with curvature P . r,
        so at least its chord minus t (1 - t) d**2 times the largest P . r.
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
    """The rays so far, the best mixture of them with its readings, and the best bound.

    Parameters
    ----------
    sets, t
        ``(n_inputs, n_sets)`` indicators of the classes of inputs whose rows may differ, and the
        largest t at which 1 + t is private on any of them.
    pricer
        The pricer of private columns.
    f
        ``(n_inputs,)`` values from -1 to 1.
    prior
        ``(n_inputs,)``; None for the worst case.
    limits
        The limits of the search.
    scale
        The unit of the variance in terms of the objective.
    start
        Initial rays; default those that are raised on any interval of values, or at an end.
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
        start: FloatArray | None = None,
    ) -> None:
        self.pricer, self.prior, self.limits = pricer, prior, limits
        n, k = sets.shape[1], len(f)
        self.response = (1 + t * sets) / (n + t)
        """Randomized response, which separates all inputs whose rows may differ."""
        self.unit = (2 + t) / t
        self.f, self.scale = f / self.unit, scale * self.unit**2
        self.rays = self._distinct([self.response, self._first() if start is None else start])
        none, zero, even = np.zeros(0), np.zeros(k), np.full(k, 1 / k)
        self.mixture = Mixture(none, none, np.inf, zero, zero, even)
        self.dual = ReadingsDual(np.zeros(k), np.zeros(k), np.full(k, 1 / k), -np.inf)
        self.rounds = 0

    def _first(self) -> FloatArray:
        """Return rays that are raised on an interval of values; if there are many, at an end."""
        f, k = self.f, len(self.f)
        ends = np.unique(f)
        if k > ALL_INTERVALS or self.pricer.is_slow:
            raised = np.hstack([f[:, None] >= ends, f[:, None] <= ends, np.eye(k, dtype=bool)])
        else:
            low, high = np.triu_indices(len(ends))
            raised = (f[:, None] >= ends[low]) & (f[:, None] <= ends[high])
        return self.pricer.price(np.where(raised, -1.0, 1e-3)).rays

    def _distinct(self, rays: list[FloatArray]) -> FloatArray:
        """Return distinct rays with a largest entry of 1."""
        scaled = np.hstack([each / each.max(axis=0) for each in rays])
        _, first = np.unique(np.round(scaled / SAME), axis=1, return_index=True)
        return np.asarray(scaled[:, first])

    @property
    def value(self) -> float:
        """The variance of the best mixture."""
        return self.mixture.value

    @property
    def is_used(self) -> BoolArray:
        """``(n_rays,)`` which of the rays are in the mixture."""
        return np.asarray(self.mixture.theta > USED)

    @property
    def used(self) -> FloatArray:
        """The rays in the mixture."""
        return self.rays[:, self.is_used]

    @property
    def readings(self) -> FloatArray:
        """The readings of the rays in the mixture."""
        return np.asarray(self.mixture.readings[self.is_used])

    def run(self) -> None:
        """Solve and add the cheapest rays, until the bound is close."""
        grid = FARTHEST * np.linspace(-1, 1, self.pricer.probes)
        for self.rounds in range(1, ROUNDS + 1):
            try:
                found = best_mixture(self.rays, self.f, self.prior)
            except SolverError:
                if self.rounds > 1:
                    return
                raise
            self.mixture = found
            dual = ReadingsDual(found.potentials, found.slopes, found.weights, -np.inf)
            goal = max(GOAL, ENOUGH * self.limits.gap) * abs(self.value)
            probes = np.union1d(grid, self.readings)
            before, rays = self.dual, [self._improving(dual, probes, goal)]
            if self.dual is before and self.rounds > 1:  # the mean oscillates less
                rays.append(self._improving(before.mixed(dual), probes, goal))
            self.limits.report(self.rounds, self.scale * self.value, self.scale * self.dual.bound)
            done = self.value - self.dual.bound <= goal or self.limits.expired()
            if done or not sum(each.shape[1] for each in rays) or not self._add(dual, rays):
                return

    def _improving(self, dual: ReadingsDual, readings: FloatArray, goal: float) -> FloatArray:
        """Return rays of negative cost; keep the dual variables if their bound is the best.

        These are the cheapest rays at some readings, then at the best readings of those, and so on.
        Before a bound is accepted, gaps between readings that may contain a cheaper column are
        halved.
        """
        v, look = readings, _Look(self.pricer.largest(dual.weights))
        rays = list[FloatArray]()
        for _ in range(1 + POLISHES):
            new, best = self._look(dual, v, look)
            if not len(best):
                break
            rays = [*rays[-1:], new]
            v = np.unique(best)
        bound = float(dual.slopes @ self.f + dual.potentials.sum() - dual.weights @ self.f**2)
        while bound + look.least.sum() > self.dual.bound:
            v = look.hiding(goal)
            if not len(v) or self.limits.expired():
                self.dual = replace(dual, bound=bound + float(look.least.sum()))
                lifted = bound - look.lift * len(self.f)
                if lifted > self.dual.bound:  # no ray costs less than 0 if each input costs more
                    u = dual.potentials - look.lift
                    self.dual = replace(dual, potentials=u, bound=lifted)
                break
            rays.append(self._look(dual, v, look)[0])
        return np.hstack([np.zeros((len(self.f), 0)), *rays])

    def _look(
        self, dual: ReadingsDual, v: FloatArray, look: _Look
    ) -> tuple[FloatArray, FloatArray]:
        """Return the rays of negative cost at some readings, and the best reading of each."""
        priced = self.pricer.price(dual.cost(v))
        r = priced.rays
        square, linear = dual.weights @ r, dual.slopes @ r
        cost = dual.least(r)
        look.take(priced, v, cost)
        near = cost < 0
        return r[:, near], np.clip(linear[near] / (2 * square[near]), -LARGEST, LARGEST)

    def _add(self, dual: ReadingsDual, rays: list[FloatArray]) -> bool:
        """Add rays, and drop the most expensive ones; return whether any is new."""
        most, cost = MOST_RAYS * len(self.f), dual.least(self.rays)
        kept = self.rays
        if len(cost) > 2 * most:
            kept = self.rays[:, self.is_used | (cost < np.partition(cost, most)[most])]
        before = kept.shape[1]
        self.rays = self._distinct([kept, *rays])
        return bool(self.rays.shape[1] > before)

    def matrix(self) -> FloatArray:
        """Return the channel: the rays in use, in the order of their readings."""
        theta, readings = self.mixture.theta[self.is_used], self.readings
        theta = thinned(self.used, theta, readings, self.f, self.prior, self.limits.gap)
        found = (self.used * theta)[:, np.argsort(readings)]
        found = found[:, found.max(axis=0) > USED]
        n = len(np.unique(self.response, axis=0))
        scaled = found / np.sqrt(found.mean(axis=0))
        singular = called("LAPACK", np.linalg.svd, scaled, compute_uv=False)
        if len(singular) < n or singular[n - 1] < LEAST_SINGULAR * singular[0]:
            found = np.hstack([(1 - SHARE) * found, SHARE * self.response])
        return np.asarray(found)
