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
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual
from mechdesign.routes.column_generation.pricing import PricedColumns, Start, ratio_lengths

__all__ = ["ChainPricer", "InputLine"]


FOLLOWS = 1e-12
"""A bound may be this much tighter, relative to it, than what neighbors imply."""

SHORTEST, LONGEST = 1e-9, 700.0
"""Neighbors nearer than this, both ways together, are as good as one input; and e to more than
that is no float."""

NEAR, MOST_TURNS = 1e-14, 30
"""Dinkelbach's method ends when the mean changes by less; it converges faster than linearly."""

MARGIN = 1e-15
"""Potentials are lowered by this, relative to them, so that rounding leaves no reduced cost below
0 and the checker accepts them."""


@dataclass(frozen=True)
class InputLine:
    """The inputs in an order in which bounds on ratios of neighbors imply all others.

    Attributes
    ----------
    order
        ``(k,)``: the inputs from one end to the other.
    up, down
        ``(k - 1,)``: how much ln q may rise, and fall, from each input to the next.
    """

    order: IntArray
    up: FloatArray
    down: FloatArray

    @classmethod
    def of(cls, E: FloatArray, order: IntArray) -> Self | None:
        """Return the line in some order if bounds E on ln(q_x / q_x') amount to it; else None."""
        x, z = order[:-1], order[1:]
        up, down = E[z, x], E[x, z]
        if max(up.max(), down.max()) > LONGEST or (up + down).min() < SHORTEST:
            return None
        rise = np.concatenate([[0.0], np.cumsum(up)])
        fall = np.concatenate([[0.0], np.cumsum(down)])
        after = np.tri(len(order), k=-1, dtype=bool)
        implied = np.where(after, rise[:, None] - rise, fall - fall[:, None])
        slack = E[np.ix_(order, order)] - implied
        np.fill_diagonal(slack, 0.0)
        return cls(order, up, down) if (slack >= -FOLLOWS * np.abs(implied)).all() else None

    def rays(self) -> FloatArray:
        """Return for each place z the least column that is 1 there, ``(k, k)``, in this order."""
        k = len(self.order)
        rise = np.concatenate([[0.0], np.cumsum(self.up)])
        fall = np.concatenate([[0.0], np.cumsum(self.down)])
        ahead = np.tri(k, dtype=bool)  # x >= z: from z on ln q falls, at most as it may
        return np.asarray(np.exp(np.where(ahead, fall - fall[:, None], rise[:, None] - rise)))

    def change(self) -> sp.csr_array:
        """Return the inverse of :meth:`rays`, three entries a row.

        It maps a ray to 0 at an input where the ray rises, or falls, on both sides: only peaks and
        valleys leave an entry.
        """
        rise, fall = np.exp(-self.up), np.exp(-self.down)
        gap = -np.expm1(-(self.up + self.down))  # 1 - rise * fall
        after = np.append(1 / gap, 1.0)
        before = np.insert(rise * fall / gap, 0, 0.0)
        x = np.arange(len(self.order))
        rows = np.concatenate([x, x[1:], x[:-1]])
        columns = np.concatenate([x, x[:-1], x[1:]])
        values = np.concatenate([after + before, -fall / gap, -rise / gap])
        return sp.csr_array((values, (rows, columns)), shape=(len(x), len(x)))


class ChainPricer:
    """Finds the ray of least reduced cost for inputs on a line.

    Parameters
    ----------
    line
        How the inputs lie.
    cost
        ``(n_inputs, n_outputs)``.
    scale
        The unit of the costs.
    """

    route = "dynamic programming along the line"

    def __init__(self, line: InputLine, cost: FloatArray, scale: float) -> None:
        self.line, self.scale = line, scale
        self._cost = cost[line.order]

    @classmethod
    def of(cls, problem: Problem, cost: FloatArray, scale: float) -> Self | None:
        """Return it if the inputs of a problem lie on a line.

        They are taken in the order of their numbers, or as they come, as the checker does.
        """
        E = ratio_lengths(problem.cone)
        if E is None or len(E) < 2:
            return None
        points = problem.domain.coordinates
        in_line = points is not None and len(points[0]) == 1
        order = (
            sorted(range(len(E)), key=points.__getitem__) if in_line and points else range(len(E))
        )
        line = InputLine.of(E, np.array(order, dtype=np.intp))
        return None if line is None else cls(line, cost, scale)

    def start(self) -> Start:
        """Return the least columns that are 1 at one input."""
        place = np.argsort(self.line.order)
        rays = self.line.rays()[np.ix_(place, place)]
        return Start(rays, sp.csr_array(self.line.change()[place][:, place]))

    def price(self, potentials: FloatArray, over: Callable[[], bool]) -> PricedColumns:
        """Return the best rays: see ``Pricer`` in ``column_generation.pricing``."""
        v = self._cost - potentials[self.line.order][:, None]
        best = _BestRays(self.line, v)
        shift = min(0.0, float(best.mean.min())) - MARGIN * float(1 + np.abs(potentials).max())

        def rays(outputs: IntArray) -> FloatArray:
            found = np.empty((len(v), len(outputs)))
            found[self.line.order] = best.rays(outputs)
            return found

        def dual() -> Dual:
            return Dual((), potentials=(potentials + shift) * self.scale, search="chain")

        return PricedColumns(best.mean, len(v) * shift, rays, dual)


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
