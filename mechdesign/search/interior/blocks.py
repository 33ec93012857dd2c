"""The rows of a column and its block of the KKT system, as Newton's method uses them.

For an output y the variables are v_y = (q_y, h_y), a column and free auxiliary variables behind it,
and the rows A v_y <= 0, the last k of which say q_y >= 0. Newton's method solves with the matrices

    B_y = A' diag(D_y) A,

one for each output, and adds up their inverses on the column. How a block is factored is all that
one kind of rows does differently from another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.solver_guard import called, checked

__all__ = ["INSIDE", "Blocks", "inverses", "middle"]

INSIDE = 1e-9
"""The least slack of all rows at the start: with less the cone counts as flat."""

SCALINGS = 3
"""Rounds that bring the largest entry of each row and column of a matrix near 1."""


class Blocks(ABC):
    """The rows of a column, for some outputs; and the KKT blocks of these.

    Arrays have the problems of a batch first. Those over variables are ``(batch, n_vars, m)``,
    those over rows are of the shape of :meth:`rows`, which is that of :attr:`weight` but for axes
    of length 1.

    Attributes
    ----------
    batch
        Problems.
    counts
        ``(m,)``: how many outputs each stands for.
    size, n_vars
        Inputs, k; inputs and free auxiliary variables.
    n_rows
        Rows of a column, without those of q >= 0.
    weight
        How often each row counts.
    """

    batch: int
    counts: FloatArray
    size: int
    n_vars: int
    n_rows: int
    weight: FloatArray

    @abstractmethod
    def start(self) -> FloatArray:
        """Return ``(batch, n_vars)``: a column of ones, and auxiliary variables with A v < 0."""

    @abstractmethod
    def rows(self, v: FloatArray) -> FloatArray:
        """Return A v."""

    @abstractmethod
    def columns(self, w: FloatArray) -> FloatArray:
        """Return A' w, shape ``(batch, n_vars, m)``, as an array of its own."""

    @abstractmethod
    def factor(self, D: FloatArray, needed: BoolArray | None = None) -> None:
        """Prepare B = A' diag(D) A of every output, or at least of those needed, ``(m,)``.

        Raises
        ------
        SolverError
            If rounding leaves a B that is singular.
        """

    @abstractmethod
    def solve(self, g: FloatArray) -> FloatArray:
        """Return B**-1 g, shape ``(batch, n_vars, m)``."""

    @abstractmethod
    def schur(self) -> FloatArray:
        """Return Sum_y counts[y] B_y**-1 on the column, shape ``(batch, k, k)``."""

    def least(self, x: FloatArray) -> FloatArray:
        """Return the least number of each output, ``(batch, m)``, of numbers for each row."""
        return np.asarray(x.min(axis=1))

    def spread(self, numbers: FloatArray) -> FloatArray:
        """Return one number for each output, ``(batch, m)``, for each row."""
        return numbers[:, None]

    def reduced_costs(self, w: FloatArray) -> FloatArray:
        """Return the multipliers of q >= 0, ``(batch, k, m)``, as a view."""
        n = self.size * len(self.counts) // w.shape[2]
        return w[:, -n:].reshape(self.batch, self.size, -1)

    def multipliers(self, w: FloatArray) -> FloatArray:
        """Return those of all rows but q >= 0, ``(batch, n_rows, m)``."""
        return w[:, : self.n_rows]

    def blocked(self, _v: FloatArray, _dv: FloatArray) -> FloatArray:
        """Return the least relative change of slacks of rows left out so far, ``(batch,)``."""
        return np.zeros(self.batch)

    def join(self) -> IntArray | None:
        """Take in rows that :meth:`blocked` found; return which of the rows now were in before."""
        return None


def inverses(K: FloatArray) -> FloatArray:
    """Return the inverses of symmetric matrices ``(..., n, n)``, scaled to entries of about 1.

    Raises
    ------
    SolverError
        If one is singular.
    """
    scale = np.ones(K.shape[:-1])
    for _ in range(SCALINGS):
        largest = np.abs(K * scale[..., None, :]).max(axis=-1, initial=0.0) * scale
        scale /= np.sqrt(largest)
    K = K * scale[..., :, None] * scale[..., None, :]
    found = checked("LAPACK", called("LAPACK", np.linalg.inv, K), K.shape, finite=False)
    return np.asarray(found * scale[..., :, None] * scale[..., None, :])


def middle(base: FloatArray, b: FloatArray) -> float:
    """Return a number h with base + b h < 0, amid its bounds; the best there is if there is none.

    Parameters
    ----------
    base, b
        ``(n,)`` each, of the rows in which a free auxiliary variable h stands.

    Examples
    --------
    >>> middle(np.array([-1.0, 0.5]), np.array([1.0, -1.0]))
    0.75
    """
    low = float((-base[b < 0] / b[b < 0]).max(initial=-np.inf))
    high = float((-base[b > 0] / b[b > 0]).min(initial=np.inf))
    if np.isinf(low):
        low = min(high - 1, 0.0)
    return (low + high) / 2 if np.isfinite(high) else low + 0.5
