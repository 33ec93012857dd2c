"""Pricing: the private columns of least reduced cost, and their effect on a bound.

With costs c_y of the outputs and potentials u of the inputs, the reduced cost of a column q for an
output y is v_y . q, v_y = c_y - u. A :class:`Pricer` finds for each output a column r of least v_y
. r / w . r, with its own weights w. The columns of a channel have Sum_y w . q_y = Sum_x w_x, so no
private channel has an expected loss below

    Sum_x u_x + (Sum_x w_x) min(0, min_y v_y . r_y / w . r_y).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.kernel.oracles import Knapsack, Line, OneBudget, Oracles
from mechdesign.notions.rows.lift_rows import LARGEST_EXPONENT
from mechdesign.problem import Problem
from mechdesign.search.cones.forms import InputLine, OneBudgetCone

NEAR, MOST_TURNS = 1e-14, 30
"""Dinkelbach's method ends when the mean changes by less; it converges superlinearly."""


@dataclass(frozen=True)
class PricedColumns:
    """The columns of least cost.

    Attributes
    ----------
    reduced
        ``(m,)``: v . r / w . r; inf if w . r is 0.
    rays
        ``(n_inputs, m)``, of any size.
    multipliers
        ``(n_rows, m)``: multipliers of the rows of the cone; none if prices are the evidence.
    """

    reduced: FloatArray
    rays: FloatArray
    multipliers: FloatArray


class Pricer(ABC):
    """Finds columns of least reduced cost in one kind of cone.

    Attributes
    ----------
    route
        A short description for the report.
    weight
        ``(n_inputs,)``: w.
    oracle
        The kernel's oracle of the least cost; None if multipliers of rows are the evidence.
    """

    route: ClassVar[str]
    weight: FloatArray
    oracle: Oracles | None = None

    @abstractmethod
    def start(self) -> FloatArray:
        """Return first rays, one for each input on which it is largest."""

    def cheapest(self, v: FloatArray) -> FloatArray:
        """Return a column of least v_y . r / w . r for each column of v, ``(n_inputs, m)``."""
        return self.price(v).rays

    def price(self, v: FloatArray, expired: Callable[[], bool] | None = None) -> PricedColumns:
        """Return the :meth:`cheapest` columns, of which a subclass defines this or that.

        A reduced cost is -inf if the search is cut short.
        """
        rays = self.cheapest(v)
        worth, total = (v * rays).sum(axis=0), self.weight @ rays
        reduced: FloatArray = np.full(len(worth), np.inf)
        np.divide(worth, total, out=reduced, where=total > 0)
        return PricedColumns(reduced, rays, np.zeros((0, len(worth))))


@lru_cache(maxsize=4)
def pricer_of(problem: Problem) -> Pricer | None:
    """Return the pricer for a cone whose potentials alone prove a bound; None for others.

    For these cones the kernel computes the least cost of a private column
    (:mod:`mechdesign.kernel.oracles`).

    Examples
    --------
    >>> from mechdesign import LDP, LIP, HammingLoss
    >>> prior = [0.2, 0.3, 0.5]
    >>> notions = (LDP(1), LIP(1))
    >>> [pricer_of(Problem(range(3), n, HammingLoss(), prior=prior)).route for n in notions]
    ['raised sets by sorting', 'lifts by sorting']
    """
    if not problem.is_conic:
        return None
    line = InputLine.of_problem(problem)
    if line is not None:
        return LinePricer(line)
    cone, prior = OneBudgetCone.of(problem.cone), problem.prior.array
    if cone is not None:
        return BlockPricer(cone) if np.exp(-LARGEST_EXPONENT) < cone.low < 1 else None
    (only, *more) = problem.cone.families
    lifts = only.lift_rows()
    if more or lifts is None or not lifts.is_for(problem.prior.probabilities):
        return None
    low, high = lifts.ends()
    if low >= 1 or high <= 1 or (high == np.inf and not prior.all()):
        return None
    return LiftPricer(prior, low, high)


class BlockPricer(Pricer):
    """LDP, high-low and block-structured LDP: rays raise some inputs of a block, or are one input.

    For each size of the raised set the best one has the inputs of least v_x / w_x: at the least
    overall ratio, the inputs with smaller own ratio are raised (Dinkelbach 1967).
    """

    route = "raised sets by sorting"

    def __init__(self, cone: OneBudgetCone, weight: FloatArray | None = None) -> None:
        self.cone, self.oracle = cone, OneBudget(cone.block_groups)
        self.weight = np.ones(cone.size) if weight is None else weight

    def start(self) -> FloatArray:
        """Return the rays that raise one input."""
        rays = np.eye(self.cone.size)
        for block, raised in self.cone.blocks:
            rays[np.ix_(block, raised)] = self.cone.low
            rays[raised, raised] = 1.0
        return rays

    def cheapest(self, v: FloatArray) -> FloatArray:
        """Sort the inputs of each block."""
        low, w, m = self.cone.low, self.weight, v.shape[1]
        every, best, rays = np.arange(m), np.full(m, np.inf), np.zeros_like(v)
        rate = _rates(v, w)
        if len(self.cone.alone):
            at = self.cone.alone[np.argmin(rate[self.cone.alone], axis=0)]
            best, rays[at, every] = rate[at, every], 1.0
        for block, raised in self.cone.blocks:
            order = raised[np.argsort(rate[raised], axis=0, kind="stable")]
            gained = np.cumsum(np.take_along_axis(v, order, axis=0), axis=0)
            worth = low * v[block].sum(axis=0) + (1 - low) * gained
            total = low * w[block].sum() + (1 - low) * np.cumsum(w[order], axis=0)
            ratio = np.full_like(worth, np.inf)
            np.divide(worth, total, out=ratio, where=total > 0)
            size = np.argmin(ratio, axis=0)
            better = np.flatnonzero(ratio[size, every] < best)
            best[better] = ratio[size[better], better]
            rays[:, better] = 0.0
            rays[np.ix_(block, better)] = low
            is_raised = np.arange(len(raised))[:, None] <= size[better]
            rays[order[:, better], better] = np.where(is_raised, 1.0, low)
        return rays


class LiftPricer(Pricer):
    """Bounds on the lift for the prior P of the problem: low <= r_x <= high at P . r = 1.

    The best ray solves a fractional knapsack: in increasing order of v_x / P_x as many inputs are
    at the upper end as P . r = 1 allows, one is in between, the rest are at the lower end. The
    prior is also w.
    """

    route = "lifts by sorting"

    def __init__(self, prior: FloatArray, low: float, high: float) -> None:
        self.weight, self.low, self.high, self.oracle = prior, low, high, Knapsack()

    def start(self) -> FloatArray:
        """Return for each input the ray on which it is largest."""
        return self.cheapest(-np.eye(len(self.weight)))

    def cheapest(self, v: FloatArray) -> FloatArray:
        """Fill the knapsack of each column of v."""
        order = np.argsort(_rates(v, self.weight), axis=0, kind="stable")
        share = self.weight[order]
        before = np.cumsum(share, axis=0) - share
        room = 1 - self.low
        if np.isfinite(self.high):
            width = self.high - self.low
            taken = np.clip(room - width * before, 0.0, None)
            above = np.minimum(np.where(taken > 0, np.inf, 0.0), width)
            np.divide(taken, share, out=above, where=share > 0)
            above = np.minimum(above, width)
        else:
            above = np.zeros_like(v)
            above[0] = room / share[0]
        rays = np.full_like(v, self.low)
        np.put_along_axis(rays, order, self.low + above, axis=0)
        free = (self.weight == 0)[:, None]  # not in P . r = 1: at the cheaper end
        return np.where(free, np.where(v < 0, self.high, self.low), rays)


class LinePricer(Pricer):
    """Inputs on a line, by dynamic programming along it.

    If bounds between neighbors imply all others,

        q_{x+1} <= e**up_x q_x   and   q_x <= e**down_x q_{x+1}        for x = 1, ..., k - 1,

    an extreme ray has each ratio of neighbors at one of its two ends. The least cost of all entries
    from x on, given r_x, is R_x r_x by Bellman's recursion

        R_x = v_x + min over rho in [e**-down_x, e**up_x] of rho R_{x+1}
            = v_x + (e**-down_x R_{x+1} if R_{x+1} >= 0 else e**up_x R_{x+1}),

    and likewise L_x from the left: the best ray given r_x costs (L_x + R_x - v_x) r_x. So two
    passes of k steps price all outputs at once. A partial ray is scaled to a largest entry of 1, so
    that nothing overflows for any length of the line. Dinkelbach's method finds the least cost
    relative to the sum of the ray, v . r / 1 . r: it subtracts the current mean from v until no ray
    has a negative cost (Dinkelbach 1967).
    """

    route = "dynamic programming along the line"

    def __init__(self, line: InputLine) -> None:
        self.line, self.weight = line, np.ones(len(line.order))
        order = tuple(line.order.tolist())
        self.oracle = Line(None if order == tuple(range(len(order))) else order)

    def start(self) -> FloatArray:
        """Return the least columns that are 1 at one input."""
        place = np.argsort(self.line.order)
        return self.line.rays()[np.ix_(place, place)]

    def cheapest(self, v: FloatArray) -> FloatArray:
        """Pass along the line in both directions, until no ray costs less than the current mean."""
        v = v[self.line.order]
        k, m = v.shape
        mean, root, rises = np.zeros(m), np.zeros(m, dtype=np.intp), np.zeros((2, k, m), dtype=bool)
        open_ = np.arange(m)
        for turn in range(MOST_TURNS):
            change, place, rise = self._passes(v[:, open_] - mean[open_])
            better = change < 0 if turn else np.ones(len(open_), dtype=bool)
            open_ = open_[better]
            mean[open_] += change[better]
            root[open_], rises[:, :, open_] = place[better], rise[:, :, better]
            open_ = open_[change[better] < -NEAR]
            if not len(open_):
                break
        before = np.arange(k - 1)[:, None] < root
        is_rising = np.where(before, rises[0, :-1], rises[1, :-1])
        log = np.zeros((k, m))
        steps = np.where(is_rising, self.line.up[:, None], -self.line.down[:, None])
        np.cumsum(steps, axis=0, out=log[1:])
        rays: FloatArray = np.empty((k, m))
        rays[self.line.order] = np.exp(log - log.max(axis=0))
        return rays

    def _passes(self, v: FloatArray) -> tuple[FloatArray, IntArray, BoolArray]:
        """Return for each column the least mean cost of the best rays given one entry.

        Returns
        -------
        mean, root
            ``(m,)``: the mean, negative exactly if a ray has a negative cost; and the position of
            the entry.
        rises
            ``(2, k, m)``: whether the ray rises after a position, before the root and after it.
        """
        (k, m), line = v.shape, self.line
        value, log, total = (np.empty((k, m)) for _ in range(3))
        rises = np.zeros((2, k, m), dtype=bool)
        partial = v[0], np.zeros(m), np.ones(m)
        value[0], log[0], total[0] = partial
        for x in range(1, k):
            gains = partial[0] < 0  # entries before x have negative cost: as large as allowed
            rises[0, x - 1] = ~gains
            partial = _longer(partial, np.where(gains, -line.down[x - 1], line.up[x - 1]), v[x])
            value[x], log[x], total[x] = partial
        mean, root = np.full(m, np.inf), np.zeros(m, dtype=np.intp)
        partial = v[-1], np.zeros(m), np.ones(m)
        for x in range(k - 1, -1, -1):
            if x < k - 1:
                rises[1, x] = partial[0] < 0
                partial = _longer(partial, np.where(rises[1, x], -line.up[x], line.down[x]), v[x])
            here = np.minimum(partial[1], log[x])
            right, left, own = np.exp(here - partial[1]), np.exp(here - log[x]), np.exp(here)
            # both parts have the entry at x: rescaled and counted once
            cost = partial[0] * right + value[x] * left - v[x] * own
            found = cost / (partial[2] * right + total[x] * left - own)
            better = found < mean
            mean[better], root[better] = found[better], x
        return mean, root, rises


Partial = tuple[FloatArray, FloatArray, FloatArray]
"""For a partial ray with largest entry 1, for each output: cost, log of the last entry, sum."""


def _longer(partial: Partial, step: FloatArray, v: FloatArray) -> Partial:
    """Return the partial ray with one more entry, e**step times the last one."""
    value, log, total = partial
    log = log + step
    top = np.maximum(log, 0.0)
    log = log - top
    shrink, entry = np.exp(-top), np.exp(log)
    return value * shrink + v * entry, log, total * shrink + entry


def _rates(v: FloatArray, weight: FloatArray) -> FloatArray:
    """Return v_x / w_x; if w_x is 0, -inf for v_x < 0 and else inf."""
    rate = np.where(v < 0, -np.inf, np.inf)
    np.divide(v, weight[:, None], out=rate, where=weight[:, None] > 0)
    return rate
