"""Pricing for inputs on a line, by dynamic programming along it.

Where every bound follows from those between neighbors,

    q_{x+1} <= e**up_x q_x   and   q_x <= e**down_x q_{x+1}        for x = 1, ..., k - 1,

an extreme ray has each ratio of neighbors at one of its two ends: it rises or falls as fast as it
may. With v = c_y - u the costs less the potentials, the least cost of all entries from x on, given
r_x, is R_x r_x by Bellman's recursion

    R_x = v_x + min over rho in [e**-down_x, e**up_x] of rho R_{x+1}
        = v_x + (e**-down_x R_{x+1} if R_{x+1} >= 0 else e**up_x R_{x+1}),

and likewise L_x from the left: the ray that is best given r_x costs (L_x + R_x - v_x) r_x. So two
passes of k steps price all outputs at once. A partial ray is kept at the scale at which its largest
entry is 1, so that nothing overflows however long the line is.

The bound needs a cost by the sum of the ray, v . r / 1 . r: it is found by Dinkelbach's method,
which takes the mean found off v until no ray has a negative cost (Dinkelbach 1967).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.problem import Problem
from mechdesign.search.cones.input_line import InputLine
from mechdesign.search.cones.pricing import PricedColumns, Start

__all__ = ["ChainPricer"]


NEAR, MOST_TURNS = 1e-14, 30
"""Dinkelbach's method ends when the mean changes by less; it converges faster than linearly."""


class ChainPricer:
    """Finds the ray of least reduced cost for inputs on a line.

    Parameters
    ----------
    line
        How the inputs lie.
    cost
        ``(n_inputs, n_outputs)``.
    """

    route = "dynamic programming along the line"

    def __init__(self, line: InputLine, cost: FloatArray) -> None:
        self.line = line
        self._cost = cost[line.order]

    @classmethod
    def of(cls, problem: Problem, cost: FloatArray) -> Self | None:
        """Return it if the inputs of a problem lie on a line."""
        line = InputLine.of_problem(problem)
        return None if line is None else cls(line, cost)

    def start(self) -> Start:
        """Return the least columns that are 1 at one input."""
        place = np.argsort(self.line.order)
        rays = self.line.rays()[np.ix_(place, place)]
        return Start(rays, sp.csr_array(self.line.change()[place][:, place]))

    def price(self, potentials: FloatArray, expired: Callable[[], bool]) -> PricedColumns:
        """Return the best rays: see ``Pricer`` in ``cones.pricing``."""
        v = self._cost - potentials[self.line.order][:, None]
        best = _BestRays(self.line, v)

        def rays(outputs: IntArray) -> FloatArray:
            found = np.empty((len(v), len(outputs)))
            found[self.line.order] = best.rays(outputs)
            return found

        return PricedColumns(best.mean, len(v) * min(0.0, float(best.mean.min())), rays)


class _BestRays:
    """The ray of least mean cost v . r / 1 . r for every column of v, ``(k, m)``.

    Two passes give the sign of the least cost, and a ray with it. Taking its mean cost off v and
    searching again, until no ray has a negative cost, gives the least mean (Dinkelbach 1967).

    Attributes
    ----------
    mean
        ``(m,)``: that of the best ray.
    """

    def __init__(self, line: InputLine, v: FloatArray) -> None:
        k, m = v.shape
        self.line = line
        self.mean: FloatArray = np.zeros(m)
        self._root = np.zeros(m, dtype=np.intp)
        self._rises = np.zeros((2, k, m), dtype=bool)
        open_ = np.arange(m)
        for turn in range(MOST_TURNS):
            mean, root, rises = _passes(line, v[:, open_] - self.mean[open_])
            better = mean < 0 if turn else np.ones(len(open_), dtype=bool)
            open_ = open_[better]
            self.mean[open_] += mean[better]
            self._root[open_], self._rises[:, :, open_] = root[better], rises[:, :, better]
            open_ = open_[mean[better] < -NEAR]
            if not len(open_):
                return

    def rays(self, outputs: IntArray) -> FloatArray:
        """Return the best rays of some outputs, with largest entry 1."""
        x = np.arange(len(self.line.order) - 1)[:, None]
        left, right = self._rises[:, :-1, outputs]
        steps = np.where(
            np.where(x >= self._root[outputs], right, left),
            self.line.up[:, None],
            -self.line.down[:, None],
        )
        log = np.zeros((len(x) + 1, len(outputs)))
        np.cumsum(steps, axis=0, out=log[1:])
        return np.asarray(np.exp(log - log.max(axis=0)))


def _passes(line: InputLine, v: FloatArray) -> tuple[FloatArray, IntArray, BoolArray]:
    """Return for each column the least mean cost of the rays that are cheapest given one entry.

    Returns
    -------
    mean, root
        ``(m,)``: the mean, negative exactly where a ray has a negative cost; and the place of that
        entry.
    rises
        ``(2, k, m)``: whether the ray rises after a place, where that is before the root and where
        it is not.
    """
    k, m = v.shape
    value, log, total = (np.empty((k, m)) for _ in range(3))
    rises = np.zeros((2, k, m), dtype=bool)
    partial = v[0], np.zeros(m), np.ones(m)
    value[0], log[0], total[0] = partial
    for x in range(1, k):
        gains = partial[0] < 0  # what is before x is a gain: as large as it may be, so falling to x
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
        # both parts have the entry at x: brought to one scale, it is counted once
        cost = partial[0] * right + value[x] * left - v[x] * own
        found = cost / (partial[2] * right + total[x] * left - own)
        better = found < mean
        mean[better], root[better] = found[better], x
    return mean, root, rises


Partial = tuple[FloatArray, FloatArray, FloatArray]
"""Of a partial ray with largest entry 1, for each output: cost, log of its last entry, sum."""


def _longer(partial: Partial, step: FloatArray, v: FloatArray) -> Partial:
    """Return the partial ray with one more entry, e**step times the last one."""
    value, log, total = partial
    log = log + step
    top = np.maximum(log, 0.0)
    log = log - top
    shrink, entry = np.exp(-top), np.exp(log)
    return value * shrink + v * entry, log, total * shrink + entry
