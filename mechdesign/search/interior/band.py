"""A primal-dual interior-point method for the linear program over channels in a band.

With joint probabilities Z[x, y] = P_x (Q[x, y] - low_x t_y) it reads

    minimize  Sum_xy c[x, y] Z[x, y] + Sum_y e_y t_y        e_y = Sum_x base_x c[x, y]
    over      0 <= Z[x, y] <= room_x t_y                    (multipliers alpha, beta)
    with      Sum_y Z[x, y] + base_x Sum_y t_y = P_x        (potentials v_x)
    and       Sum_x Z[x, y] = (1 - Sum base) t_y            (potentials w_y)

where base_x = P_x low_x and room_x = P_x (high_x - low_x). The last equation is there only where t
is the output distribution. The dual conditions, of Z and of t, are

    c - v_x - w_y = alpha - beta,    e_y - base . v + (1 - Sum base) w_y = room . beta_y.

Inputs meet only through the outputs, so that their block of the Newton system is diagonal: it is
eliminated, and what is left is one dense system in the outputs. Both sides start strictly feasible
and stay so.

Source: Mehrotra 1992.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.search.interior.band_cone import Band
from mechdesign.search.interior.kernel import (
    FRACTION_TO_BOUNDARY,
    Stagnation,
    centering,
    dual_change,
    longest_step,
)
from mechdesign.search.limits import Limits
from mechdesign.solver_guard import called, checked

__all__ = ["BandIterate", "solve_band_program"]


MOST_STEPS = 100
PATIENCE = 4
"""The method ends after so many steps in a row without a smaller gap."""

SHORTEST_STEP = 1e-7
"""Steps shorter than that go nowhere."""

FIRST_SLACK = 0.05
"""By how much, in the unit of the costs, the first potentials are below where a column is free."""


@dataclass(frozen=True)
class BandIterate:
    """A strictly feasible pair of primal and dual; or a step, the change of one.

    Attributes
    ----------
    Z, above
        ``(n_inputs, n_outputs)``: Z and room t - Z, both positive.
    t
        ``(n_outputs,)`` sizes.
    v, w
        Potentials of the inputs and, where t is the output distribution, of the outputs.
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
        """The complementarity products' sum: the cost of the primal less that of the dual."""
        return float((self.Z * self.alpha).sum() + (self.above * self.beta).sum())

    def moved(self, step: BandIterate, primal: float, dual: float) -> BandIterate:
        """Return the pair so far along a step."""
        return BandIterate(
            self.Z + primal * step.Z,
            self.above + primal * step.above,
            self.t + primal * step.t,
            self.v + dual * step.v,
            self.w + dual * step.w,
            self.alpha + dual * step.alpha,
            self.beta + dual * step.beta,
        )

    def longest_steps(self, step: BandIterate) -> tuple[float, float]:
        """Return how far along a step primal and dual stay positive, at most 1."""
        primal = np.minimum((step.Z / self.Z).min(), (step.above / self.above).min())
        dual = np.minimum((step.alpha / self.alpha).min(), (step.beta / self.beta).min())
        return float(longest_step(primal)), float(longest_step(dual))


def solve_band_program(
    band: Band, cost: FloatArray, goal: float, limits: Limits | None = None
) -> tuple[FloatArray, FloatArray, float]:
    """Minimize Sum_xy P_x Q[x, y] c[x, y] over private channels with given outputs.

    Parameters
    ----------
    band
        The notion.
    cost
        ``(n_supported, n_outputs)`` numbers c >= 0.
    goal
        The absolute gap to stop at.
    limits
        When to stop before; every step has a channel and potentials.

    Returns
    -------
    Q, potentials, gap
        The channel on the inputs of positive prior; the potentials v, at which no private column r
        with P . r = 1 has a negative Sum P_x r_x (c[x, y] - v_x), so that Sum P v is a lower bound;
        and by how much that is below the cost of Q. If rounding stops the method, the best pair
        that it met.
    """
    program = _BandProgram(band, cost)
    point = best = program.start()
    limits, stagnation, stagnant = limits or Limits(), Stagnation(point.gap, PATIENCE), False
    # with a few hundred outputs, threads that wait for each other cost more than they save
    with threadpool_limits(1, "blas"):
        for _ in range(MOST_STEPS):
            if point.gap <= goal or stagnant or limits.expired():
                break
            following = program.step(point)
            if following is None:
                break
            point = following
            stagnant = stagnation.ends(point.gap)
            best = min(point, best, key=lambda pair: pair.gap)
    Q = (best.Z + band.base[:, None] * best.t) / band.prior[:, None]
    return Q, best.v, best.gap


class _BandProgram:
    """The data of the program, and Newton steps on its optimality conditions."""

    def __init__(self, band: Band, cost: FloatArray) -> None:
        self.band, self.cost = band, cost
        self.base, self.room = band.base, band.room
        self.rest = 1.0 - float(self.base.sum()) if band.tied else 0.0
        self.fixed = self.base @ cost

    def start(self) -> BandIterate:
        """Return the channel that ignores its input, and potentials low enough for any column.

        Every column then has a reduced cost above 0: lowering all v by 1, and raising w by 1 where
        t is the output distribution, adds at least :meth:`_drift` to the slack of every t_y.
        """
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
        level = min(0.0, float((self._slack(v, w) / self._drift()).min()) - FIRST_SLACK)
        v += level
        if band.tied:
            w -= level
        excess = cost - v[:, None] - w
        spread = self._slack(v, w) / self.room.sum()
        return BandIterate(
            Z,
            self.room[:, None] * t - Z,
            t,
            v,
            w,
            np.maximum(excess, 0.0) + spread,
            np.maximum(-excess, 0.0) + spread,
        )

    def _drift(self) -> float:
        """Return what the slack of t_y gains at least as v falls by 1 and w, if any, rises by 1."""
        return float(self.base.sum()) + self.rest

    def _slack(self, v: FloatArray, w: FloatArray) -> FloatArray:
        """Return e_y - base . v + rest w_y - room . beta_y at the least beta, (v + w - c)^+."""
        excess = np.maximum(v[:, None] + w - self.cost, 0.0)
        return self.fixed - self.base @ v + self.rest * w - self.room @ excess

    def step(self, point: BandIterate) -> BandIterate | None:
        """Return the next pair, or None where rounding forbids a step."""
        try:
            step = self._corrected(point)
        except SolverError:
            return None
        primal, dual = (FRACTION_TO_BOUNDARY * length for length in point.longest_steps(step))
        if not max(primal, dual) > SHORTEST_STEP:  # which nan is not, either
            return None
        following = point.moved(step, primal, dual)
        return following if np.isfinite(following.gap) else None

    def _corrected(self, point: BandIterate) -> BandIterate:
        """Return the direction of the predictor and the corrector."""
        system = _BandKKT(self, point)
        mu = point.gap / (2 * point.Z.size)
        predictor = system.solve(-point.Z * point.alpha, -point.above * point.beta)
        reached = point.moved(predictor, *point.longest_steps(predictor))
        target = mu * centering(reached.gap / point.gap)
        return system.solve(
            target - point.Z * point.alpha - predictor.Z * predictor.alpha,
            target - point.above * point.beta - predictor.above * predictor.beta,
        )


class _BandKKT:
    """The Newton system at a point: Z and v eliminated, what is left on (w, t) factored.

    With D = 1 / (alpha / Z + beta / above), entry by entry, the conditions on Z and on the products
    give dZ = D (force + dv_x + dw_y) + S dt_y, S = D room beta / above. The sum over y of dZ, which
    the equations of the inputs fix, then gives dv_x, with a diagonal matrix.
    """

    def __init__(self, program: _BandProgram, point: BandIterate) -> None:
        self.program, self.point = program, point
        room = program.room[:, None]
        lower, upper = point.alpha / point.Z, point.beta / point.above
        self.D = 1.0 / (lower + upper)
        self.share = upper * self.D  # of a change of room t that Z follows
        self.S = room * self.share
        coupling = self.S + program.base[:, None]
        stiffness = (room * lower * self.S).sum(axis=0)
        if program.band.tied:
            cross = np.diag(self.S.sum(axis=0) - program.rest)
            matrix = np.block([[np.diag(self.D.sum(axis=0)), cross], [cross, -np.diag(stiffness)]])
            self.coupling = np.concatenate([self.D, coupling], axis=1)
        else:
            matrix, self.coupling = -np.diag(stiffness), coupling
        self.diagonal = self.D.sum(axis=1)
        scaled = self.coupling / self.diagonal[:, None]
        matrix = matrix - scaled.T @ self.coupling
        self.factors, self.pivots, failed = called("LAPACK", lapack.dgetrf, matrix)
        if failed:
            raise SolverError("a matrix is singular")
        # residuals of the linear conditions: they hold at the start, rounding makes them drift
        self.input_residual = (
            program.band.prior - point.Z.sum(axis=1) - program.base * point.t.sum()
        )
        self.output_residual = program.rest * point.t - point.Z.sum(axis=0)
        self.cost_residual = program.cost - point.v[:, None] - point.w - point.alpha + point.beta
        self.size_residual = (
            program.fixed
            - program.base @ point.v
            + program.rest * point.w
            - program.room @ point.beta
        )

    def solve(self, lower: FloatArray, upper: FloatArray) -> BandIterate:
        """Return the step that changes Z alpha by ``lower`` and above beta by ``upper``."""
        program, point, room = self.program, self.point, self.program.room
        m = len(point.t)
        high = upper / point.above
        force = lower / point.Z - high - self.cost_residual
        rows = self.input_residual - (self.D * force).sum(axis=1)
        right = self.size_residual - room @ (high + self.share * force)
        if program.band.tied:
            columns = self.output_residual - (self.D * force).sum(axis=0)
            right = np.concatenate([columns, right])
        right -= self.coupling.T @ (rows / self.diagonal)
        answer = called("LAPACK", lapack.dgetrs, self.factors, self.pivots, right)
        found = checked("LAPACK", answer[0], right.shape, finite=False)
        w, t = (found[:m], found[m:]) if program.band.tied else (np.zeros(m), found)
        v = (rows - self.coupling @ found) / self.diagonal
        Z = self.D * (force + v[:, None] + w) + self.S * t
        above = room[:, None] * t - Z
        alpha = dual_change(lower, point.Z, point.alpha, Z)
        return BandIterate(
            Z, above, t, v, w, alpha, dual_change(upper, point.above, point.beta, above)
        )
