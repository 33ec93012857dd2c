"""Arbitrary sparse rows: an inverse of B for each output, from active rows only.

Of the thousands of rows of an output, a few for each input are tight at the optimum. A step uses
the rows nearest to the start, and those activated since: a row becomes active, with a product at
the target, once a step would use up its slack. Inactive rows limit the steps as well, so every
iterate is inside the whole cone; as their multipliers are 0, the bound is also valid. On a
Euclidean grid of 10 x 10 points this leaves a quarter of the rows, and 47 steps instead of 91, as
steps are longer with fewer rows. Source: Tits, Absil and Woessner 2006.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.search.interior.newton import INSIDE, Blocks, middle
from mechdesign.search.limits import Limits
from mechdesign.solver_guard import called, checked

REGULARIZATIONS = (1e-14, 1e-12, 1e-10)
"""Added to a diagonal of 1: the first for which a Cholesky factor exists.

The first is always added. It changes a step by less than rounding does, and bounds the inverse of a
nearly singular block, so that iterative refinement converges.
"""

FIRST_ROWS = 8
"""Mean initial number of active rows per input; ties within TIES are included."""

TIES = 1e-9

JOINS = 0.3
"""A row is activated once a step would reduce its slack by this multiple of the slack."""


class SparseBlocks(Blocks):
    """The blocks of some outputs with the same rows, for one problem.

    Arrays over rows are ``(1, n, 1)``: of the active rows, those of one row for all outputs
    together, those of q >= 0 last.

    Parameters
    ----------
    A
        ``(n_rows, n_vars)``, without rows q >= 0.
    size
        The number of inputs, the first variables.
    counts
        ``(m,)``: the number of outputs that each represents.
    limits
        The limits of the search, observed within a step.

    Raises
    ------
    UnsupportedError
        If the cone has no interior.
    """

    batch = 1

    def __init__(
        self, A: sp.csr_array, size: int, counts: FloatArray, limits: Limits | None = None
    ) -> None:
        self.size, self.counts, (self.n_rows, self.n_vars) = size, counts, A.shape
        self._limits = limits or Limits()
        own = -sp.eye_array(size, self.n_vars, format="csr")
        self._A = sp.csr_array(sp.vstack([A, own], format="csr"))
        self._negative = sp.csr_array(self._A.minimum(0))
        self._squares, self._places = _squares(self._A)
        self._start = np.ones(self.n_vars)
        self._start[size:] = 0
        base, columns = A @ self._start, sp.csc_array(A)
        for h in range(size, self.n_vars):
            mine = slice(*columns.indptr[h : h + 2])
            self._start[h] = middle(base[columns.indices[mine]], columns.data[mine])
        slack = -(A @ self._start)
        if slack.min() < INSIDE:
            raise UnsupportedError("privacy", "a cone with an inside", "one that is flat")
        wanted = min(self.n_rows, FIRST_ROWS * size) - 1
        near = slack <= np.partition(slack, wanted)[wanted] * (1 + TIES)
        self._use(np.tile(near[:, None], (1, len(counts))))
        self._inverse: FloatArray = np.zeros((len(counts), self.n_vars, self.n_vars))
        self._joining: IntArray = np.zeros(0, dtype=np.intp)

    def _use(self, chosen: BoolArray) -> None:
        """Activate a subset of the rows, ``(n_rows, m)``, and those of q >= 0."""
        m = len(self.counts)
        self._left_out = np.flatnonzero(~chosen)
        self._index = np.append(np.flatnonzero(chosen), chosen.size + np.arange(self.size * m))
        row, self._y = np.divmod(self._index, m)
        # rows of all outputs in one matrix: variable x of output y is its column x m + y
        used = self._A[row]
        used = sp.csr_array(
            (used.data, used.indices * m + np.repeat(self._y, np.diff(used.indptr)), used.indptr),
            shape=(len(row), self.n_vars * m),
        )
        self._used, self._transposed = used, used.T
        self.weight = self.counts[self._y][None, :, None]

    def start(self) -> FloatArray:
        """Return ``(1, n_vars)``."""
        return self._start[None]

    def rows(self, v: FloatArray) -> FloatArray:
        """Return A v for the active rows."""
        return np.asarray(self._used @ v.ravel())[None, :, None]

    def columns(self, w: FloatArray) -> FloatArray:
        """Return A' w for the active rows."""
        return np.asarray(self._transposed @ w.ravel()).reshape(1, self.n_vars, -1)

    def factor(self, D: FloatArray, needed: BoolArray | None = None) -> None:
        """Invert B of every needed output, scaled to a diagonal of 1.

        Its entries range over many orders of magnitude; after scaling, rounding is relative to each
        row.
        """
        n, outputs = self.n_vars, slice(None) if needed is None else np.flatnonzero(needed)
        found = (self._squares @ self._whole(D)[:, outputs]).T
        B: FloatArray = np.zeros((len(found), n * n))
        B[:, self._places] = found
        B = B.reshape(-1, n, n)
        unit = 1 / np.sqrt(np.einsum("yii->yi", B))
        B *= unit[:, :, None]
        B *= unit[:, None, :]
        for block in B:
            if self._limits.expired():
                raise SolverError(f"a step was cut short: {self._limits.ended}")
            _invert(block)
        B *= unit[:, :, None]
        B *= unit[:, None, :]
        if needed is None:
            self._inverse = B
        else:
            self._inverse[outputs] = B

    def solve(self, g: FloatArray) -> FloatArray:
        """Return B**-1 g."""
        right = np.ascontiguousarray(g[0].T)[:, :, None]
        return np.ascontiguousarray(np.matmul(self._inverse, right)[:, :, 0].T)[None]

    def schur(self) -> FloatArray:
        """Return the weighted sum of the inverses, on the column."""
        k = self.size
        return np.asarray(np.tensordot(self.counts, self._inverse, 1)[None, :k, :k])

    def _whole(self, w: FloatArray) -> FloatArray:
        """Return numbers of all rows, 0 for inactive ones, ``(n_rows + k, m)``."""
        m = len(self.counts)
        found = np.zeros((self.n_rows + self.size) * m)
        found[self._index] = w[0, :, 0]
        return found.reshape(-1, m)

    def least(self, x: FloatArray) -> FloatArray:
        """Return the least number of each output, of numbers for each active row."""
        found: FloatArray = np.full(len(self.counts), np.inf)
        np.minimum.at(found, self._y, x[0, :, 0])
        return found[None]

    def spread(self, numbers: FloatArray) -> FloatArray:
        """Broadcast one number for each output to its active rows."""
        return numbers[:, self._y, None]

    def multipliers(self, w: FloatArray) -> FloatArray:
        """Return the multipliers of all rows but q >= 0, 0 for inactive ones."""
        return self._whole(w)[None, : self.n_rows]

    def blocked(self, v: FloatArray, dv: FloatArray) -> FloatArray:
        """Return the least relative change of slacks of inactive rows; record which to activate.

        Their slack decreases fast, relative to itself and to the negative part of the row.
        """
        out = self._left_out
        s, ds = (-(self._A @ x[0]).ravel()[out] for x in (v, dv))
        low, falls = ((self._negative @ x[0]).ravel()[out] for x in (v, dv))
        change = ds / s
        self._joining = out[change - np.minimum(0.0, falls / low) < -JOINS]
        return np.array([change.min(initial=0.0)])

    def join(self) -> IntArray | None:
        """Activate the recorded rows; return the new positions of the others."""
        if not len(self._joining):
            return None
        before = self._index
        chosen = np.ones((self.n_rows, len(self.counts)), dtype=bool)
        chosen.ravel()[self._left_out] = False
        chosen.ravel()[self._joining] = True
        self._use(chosen)
        return np.searchsorted(self._index, before)


def _invert(block: FloatArray) -> None:
    """Replace a symmetric matrix with ones on its diagonal by its inverse."""
    diagonal = np.einsum("ii->i", block)
    for added in REGULARIZATIONS:
        diagonal[:] = 1 + added
        root, info = called("LAPACK", lapack.dpotrf, block.T, lower=1, clean=0)
        if info == 0:
            found, _ = called("LAPACK", lapack.dpotri, root, lower=1, overwrite_c=1)
            upper = np.triu(checked("LAPACK", found, block.shape, finite=False).T, 1)
            block[:] = upper
            block += upper.T
            diagonal[:] = np.einsum("ii->i", found)
            return
    raise SolverError("a matrix has no Cholesky factor")


def _squares(A: sp.csr_array) -> tuple[sp.csr_array, IntArray]:
    """Return A' D A as a linear map of D, and the positions of its entries.

    Entry (i, j) is Sum_r A[r, i] A[r, j] D[r]: one sparse product then makes all B at once.
    """
    n_rows, n = A.shape
    sizes = np.diff(A.indptr)
    pairs = np.repeat(sizes, sizes)  # all pairs of entries of a row
    first = np.repeat(np.arange(A.nnz), pairs)
    row = np.repeat(np.arange(n_rows), sizes**2)
    before = np.concatenate([[0], np.cumsum(sizes**2)])[:-1]
    second = A.indptr[row] + (np.arange(len(row)) - before[row]) % sizes[row]
    place = A.indices[first].astype(np.intp) * n + A.indices[second]
    places, at = np.unique(place, return_inverse=True)
    values = A.data[first] * A.data[second]
    return sp.csr_array((values, (at, row)), shape=(len(places), n_rows)), places
