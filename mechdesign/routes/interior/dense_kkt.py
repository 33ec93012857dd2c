"""KKT blocks for any sparse rows: a dense Cholesky factor of B = A' D A + d for each output."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.outside import called, checked
from mechdesign.routes.interior.kernel import REGULARIZATIONS
from mechdesign.routes.interior.newton import KKTBlocks

__all__ = ["DenseKKT"]


class DenseKKT(KKTBlocks):
    """Rows A with few entries each, the same for every output; one problem.

    Parameters
    ----------
    A
        ``(n_rows, n_vars)``.
    start
        ``(n_vars,)``: ones, and auxiliary variables such that every row is below 0.
    size
        Inputs: the first variables.
    """

    batch = 1
    cheap = False

    def __init__(self, A: sp.csr_array, start: FloatArray, size: int) -> None:
        self.size, (self.n_rows, self.n_vars) = size, A.shape
        self._A, self._transposed, self._start = A, sp.csr_array(A.T), start
        self._pattern, self._places = _squares(A)
        self._inverse: FloatArray = np.zeros((0, self.n_vars, self.n_vars))

    def start(self) -> FloatArray:
        """Return ``(1, n_vars)``."""
        return self._start[None, :]

    def rows(self, v: FloatArray) -> FloatArray:
        """Return A v."""
        return np.asarray(self._A @ v[0])[None]

    def columns(self, w: FloatArray) -> FloatArray:
        """Return A' w."""
        return np.asarray(self._transposed @ w[0])[None]

    def factor(self, D: FloatArray, d: FloatArray) -> None:
        """Invert B of every output, scaled to a diagonal of 1.

        Its entries range over many orders of magnitude; scaled, rounding is relative to each row.
        """
        n, m = self.n_vars, D.shape[2]
        B: FloatArray = np.zeros((m, n * n))
        B[:, self._places] = np.asarray(self._pattern @ D[0]).T
        B = B.reshape(m, n, n)
        diagonal = np.arange(n)
        B[:, diagonal[: self.size], diagonal[: self.size]] += d[0].T
        unit = 1 / np.sqrt(B[:, diagonal, diagonal])
        B *= unit[:, :, None]
        B *= unit[:, None, :]
        for y in range(m):
            B[y] = _inverse(B[y], diagonal)
        B *= unit[:, :, None]
        B *= unit[:, None, :]
        self._inverse = B

    def solve(self, g: FloatArray) -> FloatArray:
        """Return B**-1 g."""
        right = np.ascontiguousarray(g[0].T)[:, :, None]
        return np.ascontiguousarray(np.matmul(self._inverse, right)[:, :, 0].T)[None]

    def schur(self, weights: FloatArray) -> FloatArray:
        """Return the weighted sum of the inverses, on the column."""
        n = self.size
        return np.asarray(np.tensordot(weights, self._inverse, 1)[None, :n, :n])


def _squares(A: sp.csr_array) -> tuple[sp.csr_array, IntArray]:
    """Return A' D A as a linear map of D, and the places of the entries that it gives.

    Entry (i, j) is Sum_r A[r, i] A[r, j] D[r]: one sparse product then makes all B at once.
    """
    n_rows, n = A.shape
    sizes = np.diff(A.indptr)
    pairs = np.repeat(sizes, sizes)  # each entry of a row meets every entry of it
    first = np.repeat(np.arange(A.nnz), pairs)
    row = np.repeat(np.arange(n_rows), sizes**2)
    before = np.concatenate([[0], np.cumsum(sizes**2)])[:-1]
    second = A.indptr[row] + (np.arange(len(row)) - before[row]) % sizes[row]
    place = A.indices[first].astype(np.intp) * n + A.indices[second]
    places, at = np.unique(place, return_inverse=True)
    values = A.data[first] * A.data[second]
    return sp.csr_array((values, (at, row)), shape=(len(places), n_rows)), places


def _inverse(block: FloatArray, diagonal: IntArray) -> FloatArray:
    """Return the inverse of a symmetric matrix with ones on its diagonal."""
    for added in REGULARIZATIONS:
        block[diagonal, diagonal] = 1 + added
        root, info = called("LAPACK", lapack.dpotrf, block, lower=0, clean=0)
        if info == 0:
            found, _ = called("LAPACK", lapack.dpotri, root, lower=0, overwrite_c=1)
            upper = np.triu(checked("LAPACK", found, block.shape, finite=False))
            inverse: FloatArray = upper + upper.T
            inverse[diagonal, diagonal] *= 0.5
            return inverse
    raise SolverError("a matrix has no Cholesky factor")
