"""The linear program over channels in a band, by an interior point method made for it.

With joint probabilities Z[x, y] = P_x (Q[x, y] - low_x t_y) it reads

    minimise  Sum_xy c[x, y] Z[x, y] + Sum_y e_y t_y        e_y = Sum_x base_x c[x, y]
    over      0 <= Z[x, y] <= room_x t_y
    with      Sum_y Z[x, y] + base_x Sum_y t_y = P_x                        (prices v_x)
    and       Sum_x Z[x, y] = (1 - Sum base) t_y  where t is the output law.  (prices w_y)

Every Newton step is one dense system in the outputs alone: inputs meet only through them, so that
their block is diagonal. Both sides start strictly feasible and stay so, and steps follow Mehrotra.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.routes.decoders.bands import Band
from mechdesign.routes.interior.small_blocks import factored, gram
from mechdesign.routes.limits import Limits

__all__ = ["Interior", "solve_band_program"]


ROUNDS = 100
TO_THE_EDGE = 0.995
STALLED = 1e-7
"""Steps shorter than that go nowhere."""

FIRST_SLACK = 0.05
PATIENCE = 3


@dataclass(frozen=True)
class Interior:
    """A strictly feasible pair of primal and dual.

    Attributes
    ----------
    Z, above
        ``(n_inputs, n_outputs)``: Z and room t - Z, both positive.
    t
        ``(n_outputs,)`` sizes.
    v, w
        Prices of the inputs and, where t is the output law, of the outputs.
    alpha, beta
        ``(n_inputs, n_outputs)``: the multipliers of Z >= 0 and Z <= room t.
    """

    Z: FloatArray
    above: FloatArray
    t: FloatArray
    v: FloatArray
    w: FloatArray
    alpha: FloatArray
    beta: FloatArray

    @property
    def gap(self) -> float:
        """What the cost of the primal is above that of the dual."""
        return float((self.Z * self.alpha).sum() + (self.above * self.beta).sum())

    def moved(self, step: Interior, primal: float, dual: float) -> Interior:
        """Return the pair so far along a step."""
        return Interior(
            self.Z + primal * step.Z,
            self.above + primal * step.above,
            self.t + primal * step.t,
            self.v + dual * step.v,
            self.w + dual * step.w,
            self.alpha + dual * step.alpha,
            self.beta + dual * step.beta,
        )

    def reach(self, step: Interior) -> tuple[float, float]:
        """Return how far along a step primal and dual stay positive, at most 1."""
        pairs = ((self.Z, step.Z), (self.above, step.above))
        duals = ((self.alpha, step.alpha), (self.beta, step.beta))
        return _reach(pairs), _reach(duals)


def solve_band_program(
    band: Band, cost: FloatArray, goal: float, limits: Limits | None = None
) -> tuple[FloatArray, FloatArray, float]:
    """Minimise Sum_xy P_x Q[x, y] c[x, y] over private channels with given outputs.

    Parameters
    ----------
    band
        The notion.
    cost
        ``(n_supported, n_outputs)`` numbers c >= 0.
    goal
        The absolute gap to stop at.
    limits
        When to stop before; every step has a channel and prices.

    Returns
    -------
    Q, prices, gap
        The channel on the inputs of positive prior; the prices v, at which no private column r with
        P . r = 1 has a negative Sum P_x r_x (c[x, y] - v_x), so that Sum P v is a lower bound; and
        what it is below the cost of Q. If rounding stops the method, the best pair that it met.
    """
    program = _Program(band, cost)
    point = best = program.start()
    idle = 0
    limits = limits or Limits()
    for _ in range(ROUNDS):
        if point.gap <= goal or idle > PATIENCE or limits.over():
            break
        following = program.step(point)
        if following is None:
            break
        point = following
        idle = 0 if point.gap < best.gap else idle + 1
        best = min(point, best, key=lambda pair: pair.gap)
    Q = (best.Z + band.base[:, None] * best.t) / band.prior[:, None]
    return Q, best.v, best.gap


class _Program:
    """The data of the program, and Newton steps on its optimality conditions."""

    def __init__(self, band: Band, cost: FloatArray) -> None:
        self.band, self.cost = band, cost
        self.base, self.room = band.base, band.room
        self.rest = 1.0 - float(self.base.sum()) if band.tied else 0.0
        self.fixed = self.base @ cost

    def start(self) -> Interior:
        """Return the channel that ignores its input, and prices low enough for any column."""
        band, cost = self.band, self.cost
        k, m = cost.shape
        size = 1.0 if band.tied else 1.0 / np.sqrt(band.high.min() * band.low.max())
        t = np.full(m, size / m)
        Z = np.tile((band.prior - self.base * size)[:, None] / m, (1, m))
        v = np.zeros(k)
        w = np.zeros(m)
        if band.tied:
            order = np.argsort(cost, axis=0)
            last = (np.cumsum(self.room[order], axis=0) < self.rest).sum(axis=0)
            w = cost[order[np.minimum(last, k - 1), np.arange(m)], np.arange(m)]
        level = min(0.0, float((self._slack(v, w) / self._weight()).min()) - FIRST_SLACK)
        v += level
        if band.tied:
            w -= level
        excess = cost - v[:, None] - w
        spread = self._slack(v, w) / self.room.sum()
        return Interior(
            Z,
            self.room[:, None] * t - Z,
            t,
            v,
            w,
            np.maximum(excess, 0.0) + spread,
            np.maximum(-excess, 0.0) + spread,
        )

    def _weight(self) -> float:
        """How much the slack of every output grows as v falls by 1, and w rises where it is."""
        return float(self.base.sum()) + self.rest

    def _slack(self, v: FloatArray, w: FloatArray) -> FloatArray:
        """What is left of the cost of t_y when every beta is as small as it can be."""
        excess = np.maximum(v[:, None] + w - self.cost, 0.0)
        slack: FloatArray = self.fixed - self.base @ v + self.rest * w - self.room @ excess
        return slack

    def step(self, point: Interior) -> Interior | None:
        """Return the next pair, or None where rounding forbids a step."""
        try:
            system = _System(self, point)
        except np.linalg.LinAlgError:
            return None
        middle = point.gap / (2 * point.Z.size)
        guess = system.solve(-point.Z * point.alpha, -point.above * point.beta)
        left = point.moved(guess, *point.reach(guess)).gap / point.gap
        target = middle * min(1.0, max(left, 0.0)) ** 3
        step = system.solve(
            target - point.Z * point.alpha - guess.Z * guess.alpha,
            target - point.above * point.beta - guess.above * guess.beta,
        )
        primal, dual = (min(1.0, TO_THE_EDGE * length) for length in point.reach(step))
        if not max(primal, dual) > STALLED:  # which nan is not, either
            return None
        following = point.moved(step, primal, dual)
        return following if np.isfinite(following.gap) else None


class _System:
    """The Newton system at a point: inputs eliminated, the rest factored."""

    def __init__(self, program: _Program, point: Interior) -> None:
        self.program, self.point = program, point
        room = program.room[:, None]
        self.pull = point.alpha / point.Z
        self.push = point.beta / point.above
        self.give = 1.0 / (self.pull + self.push)
        self.share = self.push * self.give
        by_size = room * self.share
        coupling = by_size + program.base[:, None]
        stiffness = (room * self.pull * by_size).sum(axis=0)
        if program.band.tied:
            cross = np.diag(by_size.sum(axis=0) - program.rest)
            matrix = np.block(
                [[np.diag(self.give.sum(axis=0)), cross], [cross, -np.diag(stiffness)]]
            )
            self.coupling = np.concatenate([self.give, coupling], axis=1)
        else:
            matrix, self.coupling = -np.diag(stiffness), coupling
        self.by_size = by_size
        self.diagonal = self.give.sum(axis=1)
        self.factors = factored(matrix - gram(self.coupling, 1.0 / self.diagonal))
        # what rounding has left of the conditions that hold exactly at the start
        self.rows = program.band.prior - point.Z.sum(axis=1) - program.base * point.t.sum()
        self.laws = program.rest * point.t - point.Z.sum(axis=0)
        self.costs = program.cost - point.v[:, None] - point.w - point.alpha + point.beta
        self.sizes = (
            program.fixed
            - program.base @ point.v
            + program.rest * point.w
            - program.room @ point.beta
        )

    def solve(self, lower: FloatArray, upper: FloatArray) -> Interior:
        """Return the step that changes Z alpha by ``lower`` and above beta by ``upper``."""
        program, point, room = self.program, self.point, self.program.room
        m = len(point.t)
        low, high = lower / point.Z, upper / point.above
        force = low - high - self.costs
        rows = self.rows - (self.give * force).sum(axis=1)
        right = self.sizes - room @ (high + self.share * force)
        if program.band.tied:
            right = np.concatenate([self.laws - (self.give * force).sum(axis=0), right])
        right -= self.coupling.T @ (rows / self.diagonal)
        found = self.factors.solve(right)
        w, t = (found[:m], found[m:]) if program.band.tied else (np.zeros(m), found)
        v = (rows - self.coupling @ found) / self.diagonal
        Z = self.give * (force + v[:, None] + w) + self.by_size * t
        above = room[:, None] * t - Z
        return Interior(Z, above, t, v, w, low - self.pull * Z, high - self.push * above)


def _reach(pairs: tuple[tuple[FloatArray, FloatArray], ...]) -> float:
    worst = min(float((step / value).min()) for value, step in pairs)
    return 1.0 if worst > -1.0 else -1.0 / worst
