"""Blocked products and LU factors of small dense matrices, each block small enough for one thread.

For a matrix with some hundred rows, BLAS threads that wait for each other cost more than they save,
and where other processes run, a thousand times more. So everything larger is cut here into blocks
below the size at which BLAS libraries begin to share the work.

Source: Golub and Van Loan 2013, section 3.2 (block LU factors, right-looking).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from mechdesign._typing import FloatArray

__all__ = ["Factors", "factored", "gram", "multiplied"]


BLOCK = 62
"""Rows and columns of a block of a product."""

PANEL, NARROWEST = 1 << 14, 8
"""Entries of a panel to factor, and its least width."""


def gram(A: FloatArray, weights: FloatArray) -> FloatArray:
    """Return ``A.T @ diag(weights) @ A``.

    Examples
    --------
    >>> gram(np.array([[1.0, 2.0]]), np.array([3.0])).tolist()
    [[3.0, 6.0], [6.0, 12.0]]
    """
    n = A.shape[1]
    product = np.zeros((n, n))
    left, right = np.ascontiguousarray(A.T), A * weights[:, None]
    for a in range(0, n, BLOCK):
        here = slice(a, a + BLOCK)
        product[here, : a + BLOCK] = multiplied(left[here], right[:, : a + BLOCK])
        product[:a, here] = product[here, :a].T
    return product


def multiplied(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return ``A @ B``.

    Examples
    --------
    >>> A, B = np.arange(6.0).reshape(2, 3), np.ones((3, 1))
    >>> multiplied(A, B).tolist()
    [[3.0], [12.0]]
    """
    product = np.zeros((A.shape[0], B.shape[1]))
    left = np.ascontiguousarray(A)
    for i in range(0, A.shape[0], BLOCK):
        for j in range(0, B.shape[1], BLOCK):
            part = product[i : i + BLOCK, j : j + BLOCK]
            for z in range(0, A.shape[1], BLOCK):
                part += left[i : i + BLOCK, z : z + BLOCK] @ B[z : z + BLOCK, j : j + BLOCK]
    return product


class Factors:
    """A square matrix as P L U, to solve with.

    Parameters
    ----------
    packed, pivots
        As LAPACK has them.
    """

    def __init__(self, packed: FloatArray, pivots: npt.NDArray[np.intc]) -> None:
        self.packed, self.pivots = np.asfortranarray(packed), pivots

    def solve(self, right: FloatArray) -> FloatArray:
        """Return x with M x = right."""
        found: FloatArray = lapack.dgetrs(self.packed, self.pivots, right)[0]
        return found


def factored(matrix: FloatArray) -> Factors:
    """Factor a square matrix with row interchanges.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is singular.

    Examples
    --------
    >>> factored(np.array([[0.0, 2.0], [4.0, 0.0]])).solve(np.array([2.0, 4.0])).tolist()
    [1.0, 1.0]
    """
    n = len(matrix)
    packed, pivots = matrix.copy(), np.zeros(n, dtype=np.intc)
    a = b = 0
    while b < n:
        a, b = b, min(n, b + max(NARROWEST, min(BLOCK, PANEL // (n - b))))
        panel, swaps, failed = lapack.dgetrf(packed[a:, a:b])
        if failed:
            raise np.linalg.LinAlgError("singular matrix")
        rows = np.arange(n - a)
        for i, swap in enumerate(swaps.tolist()):
            rows[[i, swap]] = rows[[swap, i]]
        packed[a:] = packed[a:][rows]
        packed[a:, a:b] = panel
        pivots[a:b] = a + swaps
        if b < n:
            below = np.tril(panel[: b - a], -1) + np.eye(b - a)
            inverse, _ = lapack.dtrtri(below, lower=1, unitdiag=1)
            packed[a:b, b:] = multiplied(inverse, packed[a:b, b:])
            packed[b:, b:] -= multiplied(panel[b - a :], packed[a:b, b:])
    return Factors(packed, pivots)
