"""Some of the outputs of a channel within the interior-point method: what needs no other output.

Opposites are a slack s and its weight w, an entry q and its reduced cost z. The method drives the
products of opposites to 0, evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mechdesign._typing import BoolArray, FloatArray

__all__ = ["Blocks", "Direction", "Part", "each"]


NEAR, FAR = 0.1, 10.0
"""Products between these multiples of the target are left as they are."""

MOST_CHANGE = 0.5
"""The largest share of a weight that is taken away when weights are put back."""

ROUNDS_BACK = 3


class Blocks(Protocol):
    """The rows of a column, and the linear algebra of its Newton systems.

    Arrays have the problems of a batch first, then rows or variables, then outputs. The first
    ``size`` variables are the column; the others are helpers, which are free.
    """

    size: int
    n_vars: int
    n_rows: int
    batch: int
    cheap: bool
    """Whether a factor costs no more than a few products with the rows."""

    def start(self) -> FloatArray:
        """Return ``(batch, n_vars)``: a column of ones, helpers amid their rows, all rows < 0."""

    def share(self) -> Blocks:
        """Return the same rows with room for another factor."""

    def rows(self, v: FloatArray) -> FloatArray:
        """Return A v, shape ``(batch, n_rows, m)``, for v of shape ``(batch, n_vars, m)``."""

    def columns(self, w: FloatArray) -> FloatArray:
        """Return A' w, shape ``(batch, n_vars, m)``."""

    def factor(self, D: FloatArray, d: FloatArray) -> None:
        """Prepare B = A' diag(D) A + diag(d), with d on the column only, for every output.

        Raises
        ------
        numpy.linalg.LinAlgError
            If rounding leaves a B that is not positive definite.
        """

    def solve(self, g: FloatArray) -> FloatArray:
        """Return B**-1 g, shape ``(batch, n_vars, m)``."""

    def schur(self, weights: FloatArray) -> FloatArray:
        """Return Sum_y weights[y] B_y**-1 on the column, shape ``(batch, size, size)``."""


@dataclass(frozen=True)
class Direction:
    """A change of columns v, slacks s, weights w and reduced costs z."""

    v: FloatArray
    s: FloatArray
    w: FloatArray
    z: FloatArray

    def plus(self, other: Direction, share: FloatArray) -> Direction:
        """Return this change and a share of another, one share for each problem."""
        t = each(share)
        return Direction(
            self.v + t * other.v, self.s + t * other.s, self.w + t * other.w, self.z + t * other.z
        )


def each(numbers: FloatArray | BoolArray) -> FloatArray | Any:
    """Return one number for each problem, shaped to go with the problems' arrays."""
    return numbers[:, None, None]


def least(ratios: FloatArray) -> FloatArray:
    """Return the least entry of each problem."""
    return np.asarray(ratios.min(axis=(1, 2)))


class Part:
    """Some outputs.

    Parameters
    ----------
    blocks
        The rows.
    cost
        ``(batch, size, m)``.
    counts
        ``(m,)``: how many outputs each stands for.
    start
        The entries to begin with.
    target
        ``(batch,)``: what products of opposites begin at, about.
    """

    def __init__(
        self, blocks: Blocks, cost: FloatArray, counts: FloatArray, start: float, target: FloatArray
    ) -> None:
        self.blocks, self.cost, self.counts, self.k = blocks, cost, counts, blocks.size
        v = np.repeat(start * blocks.start()[:, :, None], cost.shape[2], axis=2)
        s = -blocks.rows(v)
        self.start_from(v, s, each(target) / s)

    def start_from(self, v: FloatArray, s: FloatArray, w: FloatArray) -> None:
        """Be at columns, slacks and weights; reduced costs are theirs for prices of 0."""
        self.v, self.s, self.w = v, s, w
        self.z: FloatArray = self.cost + self.blocks.columns(w)[:, : self.k]
        self.best_q, self.best_w = self.q, self.w

    @property
    def q(self) -> FloatArray:
        """The columns, without helpers."""
        return self.v[:, : self.k]

    def _summed(self, w: FloatArray, s: FloatArray, q: FloatArray, z: FloatArray) -> FloatArray:
        rows = np.einsum("brm,brm,m->b", w, s, self.counts)
        return np.asarray(rows + np.einsum("bkm,bkm,m->b", q, z, self.counts))

    def products(self) -> FloatArray:
        """Return the sum of the products of opposites."""
        return self._summed(self.w, self.s, self.q, self.z)

    def products_after(self, d: Direction, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return what that sum is after a step of length a for v and s, of length b for w and z."""
        t, u = each(a), each(b)
        q, z = self.q + t * d.v[:, : self.k], self.z + u * d.z
        return self._summed(self.w + u * d.w, self.s + t * d.s, q, z)

    def value(self) -> FloatArray:
        """Return the loss."""
        return np.asarray(np.einsum("bkm,bkm,m->b", self.cost, self.q, self.counts))

    def row_sums(self) -> FloatArray:
        """Return what each input's entries sum to."""
        return np.asarray(self.q @ self.counts)

    def off(self, prices: FloatArray) -> FloatArray:
        """Return by how much A' w + c - prices misses z, and 0 for helpers.

        Keeps what it misses in ``residual``, the least reduced cost of each input in ``least``, and
        in ``owed`` what the helpers' part could cost the bound.
        """
        reduced = self.blocks.columns(self.w)
        reduced[:, : self.k] += self.cost - prices[:, :, None]
        self.least: FloatArray = reduced[:, : self.k].min(axis=2)
        self.owed: FloatArray = np.abs(reduced[:, self.k :]).max(axis=2, initial=0.0).sum(axis=1)
        reduced[:, : self.k] -= self.z
        self.residual = reduced
        return np.asarray(np.abs(reduced).max(axis=(1, 2)))

    def put_back(self, prices: FloatArray) -> None:
        """Change weights and reduced costs, least in relative terms, to fit the prices again."""
        scale, entries = self.w * self.w, self.z * self.z
        self.blocks.factor(scale, entries)
        for _ in range(ROUNDS_BACK):
            u = self.blocks.solve(-self.residual)
            dw, dz = scale * self.blocks.rows(u), -entries * u[:, : self.k]
            worst = np.minimum(least(dw / self.w), least(dz / self.z))
            t = each(MOST_CHANGE / np.maximum(MOST_CHANGE, -worst))
            self.w, self.z = self.w + t * dw, self.z + t * dz
            self.off(prices)

    def keep(self, lower: BoolArray, higher: BoolArray) -> None:
        """Keep the columns of problems whose value is the best yet, the weights by the bound."""
        self.best_q = self.q if lower.all() else np.where(each(lower), self.q, self.best_q)
        self.best_w = self.w if higher.all() else np.where(each(higher), self.w, self.best_w)

    def factor(self, ended: BoolArray) -> FloatArray:
        """Factor the Newton system; return what its outputs add to that of the prices.

        Problems that have ended get a system that is no trouble to the others.
        """
        self.D, self.d = self.w / self.s, self.z / self.q
        if ended.any():
            self.D, self.d = (np.where(each(ended), 1.0, both) for both in (self.D, self.d))
        self.blocks.factor(self.D, self.d)
        return self.blocks.schur(self.counts)

    def to_zero(self) -> FloatArray:
        """Aim all products at 0, and the weights where they should be."""
        return self._state(-self.w * self.s, -self.q * self.z, self.residual)

    def second_order(self, d: Direction, target: FloatArray) -> FloatArray:
        """Aim all products at the target, given what a step d would leave of them."""
        t = each(target)
        return self._state(t - d.w * d.s, t - d.v[:, : self.k] * d.z)

    def centre(self, d: Direction, a: FloatArray, b: FloatArray, target: FloatArray) -> FloatArray:
        """Aim products that a longer step would leave far from the target back at it."""
        t, u, aim = each(a), each(b), each(target)
        rows = (self.w + u * d.w) * (self.s + t * d.s)
        entries = (self.q + t * d.v[:, : self.k]) * (self.z + u * d.z)
        return self._state(_back(rows, aim), _back(entries, aim))

    def _state(
        self, rows: FloatArray, entries: FloatArray, residual: FloatArray | None = None
    ) -> FloatArray:
        """State a Newton system; return what its columns sum to if prices stay."""
        g = self.blocks.columns(rows / -self.s)
        g[:, : self.k] += entries / self.q
        if residual is not None:
            g -= residual
        self.goals, self.right = (rows, entries), g
        self.dv: FloatArray = np.zeros_like(g)
        self.rest = g
        return self._sums(self.blocks.solve(g))

    def _sums(self, dv: FloatArray) -> FloatArray:
        return np.asarray(dv[:, : self.k] @ self.counts)

    def advance(self, more: FloatArray) -> FloatArray:
        """Solve for what is left over and for more on the prices; return what columns sum to."""
        step = self.rest.copy()
        step[:, : self.k] += more[:, :, None]
        self.dv = self.dv + self.blocks.solve(step)
        return self._sums(self.dv)

    def left_over(self, change: FloatArray) -> FloatArray:
        """Return what the columns would yet change by for what rounding has left of the system."""
        applied = self.blocks.columns(self.D * self.blocks.rows(self.dv))
        applied[:, : self.k] += self.d * self.dv[:, : self.k] - change[:, :, None]
        self.rest = self.right - applied
        return self._sums(self.blocks.solve(self.rest))

    def direction(self) -> Direction:
        """Return the whole change that goes with that of the columns."""
        rows, entries = self.goals
        ds = -self.blocks.rows(self.dv)
        dw = (rows - self.w * ds) / self.s
        return Direction(self.dv, ds, dw, (entries - self.z * self.dv[:, : self.k]) / self.q)

    def relative(self, d: Direction) -> tuple[FloatArray, ...]:
        """Return the change of s, q, w and z relative to what they are."""
        return d.s / self.s, d.v[:, : self.k] / self.q, d.w / self.w, d.z / self.z

    def move(self, d: Direction, a: FloatArray, b: FloatArray) -> None:
        """Step by a in v and s, by b in w and z."""
        self.v, self.w = self.v + each(a) * d.v, self.w + each(b) * d.w
        self.s, self.z = -self.blocks.rows(self.v), self.z + each(b) * d.z


def _back(products: FloatArray, aim: FloatArray) -> FloatArray:
    low, high = NEAR * aim, FAR * aim
    above = np.where(products > high, np.maximum(high - products, -high), 0.0)
    return np.where(products < low, low - products, above)
