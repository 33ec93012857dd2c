"""The rows of a column and its block of the KKT system, for Newton's method.

For an output y the variables are v_y = (q_y, h_y), a column followed by free auxiliary variables,
and the rows A v_y <= 0, the last k of which are q_y >= 0. Newton's method solves with the matrices

    B_y = A' diag(D_y) A,

one for each output, and adds up their inverses on the column. Kinds of rows differ only in how a
block is factored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.solver_guard import called, checked

INSIDE = 1e-9
"""The least initial slack of all rows: with less the cone counts as flat."""

SCALINGS = 3
"""Rounds that scale the largest entry of each row and column of a matrix to about 1."""


class Blocks(ABC):
    """The rows of a column for some outputs, and their KKT blocks.

    The first axis of arrays is the problem of a batch. Arrays over variables are ``(batch, n_vars,
    m)``, arrays over rows have the shape of :meth:`rows`, which is that of :attr:`weight` except
    for axes of length 1.

    Attributes
    ----------
    batch
        The number of problems.
    counts
        ``(m,)``: the number of outputs that each represents.
    size, n_vars
        The number of inputs k; and of inputs and free auxiliary variables.
    n_rows
        The number of rows of a column, without those of q >= 0.
    weight
        The multiplicity of each row.
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
        """Return A' w, shape ``(batch, n_vars, m)``, as a new array."""

    @abstractmethod
    def factor(self, D: FloatArray, needed: BoolArray | None = None) -> None:
        """Prepare B = A' diag(D) A of every output, or at least of the needed ones, ``(m,)``.

        Raises
        ------
        SolverError
            If rounding makes a B singular.
        """

    @abstractmethod
    def solve(self, g: FloatArray) -> FloatArray:
        """Return B**-1 g, shape ``(batch, n_vars, m)``."""

    @abstractmethod
    def schur(self) -> FloatArray:
        """Return Sum_y counts[y] B_y**-1 on the column, shape ``(batch, k, k)``."""

    def factor_bordered(self) -> bool:
        """Prepare :meth:`solve_bordered` after :meth:`factor`, if that is cheaper; return whether.

        Raises
        ------
        SolverError
            If rounding makes the system singular.
        """
        return False

    def solve_bordered(self, g: FloatArray, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return v, pi with B v = g + pi on the column and Sum_y counts[y] q_y = sums."""
        raise NotImplementedError

    def least(self, x: FloatArray) -> FloatArray:
        """Return the least number of each output, ``(batch, m)``, of numbers for each row."""
        return np.asarray(x.min(axis=1))

    def spread(self, numbers: FloatArray) -> FloatArray:
        """Broadcast one number for each output, ``(batch, m)``, to its rows."""
        return numbers[:, None]

    def reduced_costs(self, w: FloatArray) -> FloatArray:
        """Return the multipliers of q >= 0, ``(batch, k, m)``, as a view."""
        n = self.size * len(self.counts) // w.shape[2]
        return w[:, -n:].reshape(self.batch, self.size, -1)

    def multipliers(self, w: FloatArray) -> FloatArray:
        """Return the multipliers of all rows but q >= 0, ``(batch, n_rows, m)``."""
        return w[:, : self.n_rows]

    def blocked(self, _v: FloatArray, _dv: FloatArray) -> FloatArray:
        """Return the least relative change of the slacks of inactive rows, ``(batch,)``."""
        return np.zeros(self.batch)

    def join(self) -> IntArray | None:
        """Activate the rows that :meth:`blocked` found; return which rows were active before."""
        return None


def inverses(K: FloatArray) -> FloatArray:
    """Return the inverses of symmetric matrices ``(..., n, n)``, scaled to entries of about 1.

    Raises
    ------
    SolverError
        If one is singular.
    """
    scale = scaling(K)
    K = K * scale[..., :, None] * scale[..., None, :]
    found = checked("LAPACK", called("LAPACK", np.linalg.inv, K), K.shape, finite=False)
    return np.asarray(found * scale[..., :, None] * scale[..., None, :])


def scaling(K: FloatArray) -> FloatArray:
    """Return the scale of each row and column of symmetric matrices that makes entries about 1."""
    scale = np.ones(K.shape[:-1])
    for _ in range(SCALINGS):
        largest = np.abs(K * scale[..., None, :]).max(axis=-1, initial=0.0) * scale
        scale /= np.sqrt(largest)
    return scale


def middle(base: FloatArray, b: FloatArray) -> float:
    """Return a number h with base + b h < 0, between its bounds; the best possible if none exists.

    Parameters
    ----------
    base, b
        ``(n,)`` each, of the rows that contain a free auxiliary variable h.

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
