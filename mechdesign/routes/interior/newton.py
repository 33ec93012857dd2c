"""Newton's method for one group of the outputs: all that needs no other output.

For an output y, with multipliers w of the rows A v <= 0 and reduced costs z of the entries q >= 0,
the conditions on the central path with parameter mu are

    A' w + (c - pi on the column) = (z on the column),   A v + s = 0,   w s = mu,   q z = mu,

where pi are the potentials of the row sums, which the loop over groups solves for. Eliminating s, w
and z from their linearization leaves B dv = right, B = A' diag(w / s) A + diag(z / q).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.routes.interior.kernel import dual_change

__all__ = [
    "MOST_CHANGE",
    "RESTORING_ROUNDS",
    "KKTBlocks",
    "OutputGroup",
    "per_problem",
]


NEAR, FAR = 0.1, 10.0
"""A centrality corrector leaves products between these multiples of the target as they are."""
# They stand in newton.py and in pair_kernels.py: a change elsewhere would not reach machine code
# that numba keeps, and newton.py is imported without numba.

MOST_CHANGE = 0.5
"""The largest share of a multiplier that restoring dual feasibility may take away."""

GROUP = 1 << 18
"""About so many entries of the rows make a group: with fewer, threads cost more than they give."""

RESTORING_ROUNDS = 3
"""How often the restoring step is solved: each round refines what rounding left of the last."""


class KKTBlocks(ABC):
    """The rows of a column, and the linear algebra of its block of the KKT system.

    Arrays have the problems of a batch first, then rows or variables, then outputs. The first
    ``size`` variables are the column; the others are auxiliary variables, which are free.

    Attributes
    ----------
    batch
        Problems.
    cheap
        Whether a factor costs no more than a few products with the rows.
    size, n_vars
        Inputs; inputs and free auxiliary variables.
    n_rows
        Inequalities on one column, those on single entries aside.
    """

    batch: int
    cheap: bool
    size: int
    n_vars: int
    n_rows: int

    @abstractmethod
    def start(self) -> FloatArray:
        """Return ``(batch, n_vars)``: a column of ones, and auxiliary variables with A v < 0."""

    @abstractmethod
    def rows(self, v: FloatArray) -> FloatArray:
        """Return A v, shape ``(batch, n_rows, m)``, for v of shape ``(batch, n_vars, m)``."""

    @abstractmethod
    def columns(self, w: FloatArray) -> FloatArray:
        """Return A' w, shape ``(batch, n_vars, m)``."""

    @abstractmethod
    def factor(self, D: FloatArray, d: FloatArray) -> None:
        """Prepare B = A' diag(D) A + diag(d), with d on the column only, for every output.

        Raises
        ------
        SolverError
            If rounding leaves a B that is not positive definite.
        """

    @abstractmethod
    def solve(self, g: FloatArray) -> FloatArray:
        """Return B**-1 g, shape ``(batch, n_vars, m)``."""

    @abstractmethod
    def schur(self, weights: FloatArray) -> FloatArray:
        """Return Sum_y weights[y] B_y**-1 on the column, shape ``(batch, size, size)``."""

    def groups(
        self, cost: FloatArray, counts: FloatArray, start: float, target: FloatArray
    ) -> list[OutputGroup]:
        """Return the outputs in groups of about :data:`GROUP` entries each.

        Parameters
        ----------
        cost
            ``(batch, size, m)``.
        counts
            ``(m,)``: how many outputs each column stands for.
        start
            The entries to begin with.
        target
            ``(batch,)``: what the complementarity products begin at, about.
        """
        m = len(counts)
        n_groups = min(m, -(-self.batch * self.n_rows * m // GROUP))
        return [  # each with room for a factor of its own
            OutputGroup(copy(self), cost[:, :, mine], counts[mine], start, target)
            for mine in np.array_split(np.arange(m), n_groups)
        ]


@dataclass(frozen=True)
class Direction:
    """A change of columns v, slacks s, multipliers w and reduced costs z."""

    v: FloatArray
    s: FloatArray
    w: FloatArray
    z: FloatArray

    def plus(self, other: Direction, share: FloatArray) -> Direction:
        """Return this change and a share of another, one share for each problem."""
        t = per_problem(share)
        return Direction(
            self.v + t * other.v, self.s + t * other.s, self.w + t * other.w, self.z + t * other.z
        )


def per_problem(numbers: FloatArray | BoolArray) -> FloatArray | Any:
    """Return one number for each problem, shaped to go with the problems' arrays."""
    return numbers[:, None, None]


def _least(ratios: FloatArray) -> FloatArray:
    """Return the least entry of each problem."""
    return np.asarray(ratios.min(axis=(1, 2)))


class OutputGroup:
    """The columns of some outputs, their multipliers, and Newton steps on them.

    A step is stated as goals for the complementarity products, solved for together with the other
    groups, measured, and taken or not; what is taken adds up until the group moves. Numbers for
    each problem are ``(batch,)`` arrays, those for each input ``(batch, size)``.

    Parameters
    ----------
    blocks
        The rows.
    cost
        ``(batch, size, m)``.
    counts
        ``(m,)``: how many outputs each column stands for.
    start
        The entries to begin with.
    target
        ``(batch,)``: what the complementarity products begin at, about.
    """

    def __init__(
        self,
        blocks: KKTBlocks,
        cost: FloatArray,
        counts: FloatArray,
        start: float,
        target: FloatArray,
    ) -> None:
        self.blocks, self.cost, self.counts, self.k = blocks, cost, counts, blocks.size
        self.n_outputs = cost.shape[2]
        self.n_products = (blocks.n_rows + self.k) * float(counts.sum())
        v = np.repeat(start * blocks.start()[:, :, None], cost.shape[2], axis=2)
        s = -blocks.rows(v)
        self._start(v, s, per_problem(target) / s)

    def _start(self, v: FloatArray, s: FloatArray, w: FloatArray) -> None:
        """Set columns, slacks and multipliers; and reduced costs for potentials of 0."""
        self.v, self.s, self.w = v, s, w
        self.z: FloatArray = self.cost + self.blocks.columns(w)[:, : self.k]
        self.best_columns, self.best_multipliers = self.q, self.w

    def least_slack_at(self, v: FloatArray) -> float:
        """Return the least slack of columns ``(batch, n_vars, m)``."""
        return float(-self.blocks.rows(v).max())

    def start_at(self, v: FloatArray, products: FloatArray) -> None:
        """Set the columns, and multipliers such that the products w s are those given."""
        s = -self.blocks.rows(v)
        self._start(v, s, products / s)

    def point(self) -> tuple[FloatArray, FloatArray]:
        """Return the columns and the products w s, as a path keeps them."""
        return self.v, self.w * self.s

    def highest_potentials(self, target: FloatArray) -> FloatArray:
        """Return for each input the highest potential at which all products q z are the target."""
        return np.asarray((self.z - per_problem(target) / self.q).min(axis=2))

    def set_reduced_costs(self, potentials: FloatArray) -> None:
        """Set z to A' w + c - pi, from those at potentials of 0."""
        self.z = self.z - potentials[:, :, None]

    @property
    def q(self) -> FloatArray:
        """The columns, without auxiliary variables."""
        return self.v[:, : self.k]

    def _complementarity(
        self, w: FloatArray, s: FloatArray, q: FloatArray, z: FloatArray
    ) -> FloatArray:
        rows = np.einsum("brm,brm,m->b", w, s, self.counts)
        return np.asarray(rows + np.einsum("bkm,bkm,m->b", q, z, self.counts))

    def products(self) -> tuple[FloatArray, FloatArray]:
        """Return the sum of the complementarity products w s and q z, and the least slack."""
        return self._complementarity(self.w, self.s, self.q, self.z), self.s.min(axis=(1, 2))

    def products_after(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return what the sum of the products is after a step a for v and s, b for w and z."""
        d, t, u = self.step, per_problem(a), per_problem(b)
        q, z = self.q + t * d.v[:, : self.k], self.z + u * d.z
        return self._complementarity(self.w + u * d.w, self.s + t * d.s, q, z)

    def value(self) -> FloatArray:
        """Return the loss."""
        return np.asarray(np.einsum("bkm,bkm,m->b", self.cost, self.q, self.counts))

    def row_sums(self) -> FloatArray:
        """Return what each input's entries sum to."""
        return np.asarray(self.q @ self.counts)

    def measure_dual(self, potentials: FloatArray) -> FloatArray:
        """Return the largest entry of the dual residual A' w + c - pi - z.

        On the auxiliary variables, which have no cost and no bound, it is A' w. Keeps the residual
        in ``dual_residual``; the least entry of A' w + c - pi on each input in ``least_reduced``;
        and in ``auxiliary_error`` what the residual on auxiliary variables could cost the bound:
        these are at most 1 at any channel.
        """
        reduced = self.blocks.columns(self.w)
        reduced[:, : self.k] += self.cost - potentials[:, :, None]
        self.least_reduced: FloatArray = reduced[:, : self.k].min(axis=2)
        self.auxiliary_error: FloatArray = (
            np.abs(reduced[:, self.k :]).max(axis=2, initial=0.0).sum(axis=1)
        )
        reduced[:, : self.k] -= self.z
        self.dual_residual = reduced
        return np.asarray(np.abs(reduced).max(axis=(1, 2)))

    def restore_dual_feasibility(self, potentials: FloatArray, allowed: FloatArray) -> None:
        """Change multipliers and reduced costs until A' w + c - pi = z holds again.

        Of all (dw, dz) with A' dw - dz = -residual this takes the one with the least
        Sum (dw / w)**2 + Sum (dz / z)**2, which is

            dw = w**2 (A u),  dz = -z**2 u,    (A' diag(w**2) A + diag(z**2)) u = -residual.

        Weighing by w and z, not by w / s and z / q as a Newton step does, divides by no slack: near
        the optimum the slacks are rounding errors, the multipliers of tight rows are not.
        """
        if (np.abs(self.dual_residual).max(axis=(1, 2)) <= allowed).all():
            return
        scale, entries = self.w * self.w, self.z * self.z
        self.blocks.factor(scale, entries)
        for _ in range(RESTORING_ROUNDS):
            u = self.blocks.solve(-self.dual_residual)
            dw, dz = scale * self.blocks.rows(u), -entries * u[:, : self.k]
            worst = np.minimum(_least(dw / self.w), _least(dz / self.z))
            t = per_problem(MOST_CHANGE / np.maximum(MOST_CHANGE, -worst))
            self.w, self.z = self.w + t * dw, self.z + t * dz
            self.measure_dual(potentials)

    def keep(self, lower: BoolArray, higher: BoolArray) -> None:
        """Keep the columns with the best value so far, and the multipliers with the best bound."""
        for name, now, taken in (
            ("best_columns", self.q, lower),
            ("best_multipliers", self.w, higher),
        ):
            best = getattr(self, name)
            setattr(self, name, now if taken.all() else np.where(per_problem(taken), now, best))

    def factor(self, ended: BoolArray) -> FloatArray:
        """Factor every B; return Sum_y n_y B_y**-1, the group's part of the Schur complement.

        Problems that have ended get unit weights: a harmless system, so that the batch goes on.
        """
        self.D, self.d = self.w / self.s, self.z / self.q
        if ended.any():
            self.D, self.d = (np.where(per_problem(ended), 1.0, both) for both in (self.D, self.d))
        self.blocks.factor(self.D, self.d)
        return self.blocks.schur(self.counts)

    def state_predictor(self) -> FloatArray:
        """State the Newton step to products of 0 and to a dual residual of 0."""
        nothing = (np.zeros_like(array) for array in (self.v, self.s, self.w, self.z))
        self.step = Direction(*nothing)
        return self._state(-self.w * self.s, -self.q * self.z, self.dual_residual)

    def state_corrector(self, target: FloatArray) -> FloatArray:
        """State the correction of the predictor, to be added to it.

        The predictor ignores the terms dw ds and dq dz of the products; this takes them away, and
        adds the target that the products should have.
        """
        d, t = self.step, per_problem(target)
        return self._state(t - d.w * d.s, t - d.v[:, : self.k] * d.z)

    def state_centrality_corrector(
        self, a: FloatArray, b: FloatArray, target: FloatArray
    ) -> FloatArray:
        """State a correction for products that longer steps a and b would leave far from target."""
        d, t, u, aim = self.step, per_problem(a), per_problem(b), per_problem(target)
        rows = (self.w + u * d.w) * (self.s + t * d.s)
        entries = (self.q + t * d.v[:, : self.k]) * (self.z + u * d.z)
        return self._state(_towards(rows, aim), _towards(entries, aim))

    def _state(
        self, rows: FloatArray, entries: FloatArray, dual_residual: FloatArray | None = None
    ) -> FloatArray:
        """State B dv = right for changes of the products; return the row sums of dv at d pi = 0."""
        g = self.blocks.columns(rows / -self.s)
        g[:, : self.k] += entries / self.q
        if dual_residual is not None:
            g -= dual_residual
        self.goals, self.right = (rows, entries), g
        self.dv: FloatArray = np.zeros_like(g)
        self.rest = g
        return self._sums(self.blocks.solve(g))

    def _sums(self, dv: FloatArray) -> FloatArray:
        return np.asarray(dv[:, : self.k] @ self.counts)

    def advance(self, more: FloatArray) -> FloatArray:
        """Solve for the rest of the right side and for more d pi; return the row sums of dv."""
        step = self.rest.copy()
        step[:, : self.k] += more[:, :, None]
        self.dv = self.dv + self.blocks.solve(step)
        return self._sums(self.dv)

    def measure_rest(self, change: FloatArray) -> FloatArray:
        """Set the rest of the right side to right - B dv; return the row sums it would yet add.

        This is iterative refinement: B is applied as rows and columns, not as its factor.
        """
        applied = self.blocks.columns(self.D * self.blocks.rows(self.dv))
        applied[:, : self.k] += self.d * self.dv[:, : self.k] - change[:, :, None]
        self.rest = self.right - applied
        return self._sums(self.blocks.solve(self.rest))

    def lengths(self, shares: FloatArray) -> FloatArray:
        """Return the least relative changes with shares of what was stated last in the step."""
        rows, entries = self.goals
        ds, dq = -self.blocks.rows(self.dv), self.dv[:, : self.k]
        dw = dual_change(rows, self.s, self.w, ds)
        self.more = Direction(self.dv, ds, dw, dual_change(entries, self.q, self.z, dq))
        now, more = self._relative(self.step), self._relative(self.more)
        least = [[_least(d + t * e) for d, e in zip(now, more, strict=True)] for t in shares]
        return np.array([[np.minimum(s, q), np.minimum(w, z)] for s, q, w, z in least])

    def take(self, share: FloatArray) -> None:
        """Add a share of what was stated last to the step."""
        self.step = self.step.plus(self.more, share)

    def _relative(self, d: Direction) -> tuple[FloatArray, ...]:
        """Return the change of s, q, w and z relative to what they are."""
        return d.s / self.s, d.v[:, : self.k] / self.q, d.w / self.w, d.z / self.z

    def blocked(self) -> FloatArray:
        """Return zeros: no row is left out."""
        return np.zeros(len(self.v))

    def move(self, a: FloatArray, b: FloatArray, _target: FloatArray) -> None:
        """Step by a in v and s, by b in w and z.

        Slacks are computed anew, not added up: else rounding would let A v + s drift from 0.
        """
        d, t, u = self.step, per_problem(a), per_problem(b)
        self.v, self.w = self.v + t * d.v, self.w + u * d.w
        self.s, self.z = -self.blocks.rows(self.v), self.z + u * d.z


def _towards(products: FloatArray, aim: FloatArray) -> FloatArray:
    """Return changes that bring products below NEAR or above FAR times the aim back to there."""
    low, high = NEAR * aim, FAR * aim
    above = np.where(products > high, np.maximum(high - products, -high), 0.0)
    return np.where(products < low, low - products, above)
