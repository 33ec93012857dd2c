"""KKT blocks of arrow sparsity: each row has one entry and one auxiliary variable.

For one output the variables are v = (q, f), a column and its free auxiliary variables, and a row is

    alpha_i q[x_i] + beta_i h[j_i] <= 0

with h free (t <= q_x, the least entry under LDP) or defined by the column (h = P . q, the
probability of the output). With B = A' diag(D) A + diag(d), the last for q >= 0, B v = g is solved
in O(k) operations: as no row joins two entries, q is eliminated entry by entry. With nu the
multiplier of h = P . q, and sums over the rows i at x,

    q_x = (g_x - (P' nu)_x - c_x . h) / b_x,   b_x = d_x + Sum alpha_i**2 D_i,
                                               c_xj = Sum alpha_i beta_i D_i over those with h_j.

The rest is a system of the size of h. Its matrix is S, bordered by -P U and -P diag(1/b) P' if an h
is defined, U_x = -c_x / b_x. The diagonal of S is a sum over the inputs x of

    e_x - c_x**2 / b_x,    e_x = Sum beta_i**2 D_i.

Near an optimum D ranges over twenty orders of magnitude, and this difference would cancel
completely. By Lagrange's identity it is a sum of nonnegative terms, computed as

    (e_x (b_x - a_x) + Sum_{i < l} (alpha_i beta_l - alpha_l beta_i)**2 D_i D_l) / b_x

with a_x = Sum alpha_i**2 D_i over the rows with h_j, and b_x - a_x also summed, not subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.search.interior.newton import Blocks, inverses, middle, scaling
from mechdesign.solver_guard import called, checked

LEAST_SLACK = 1e-8
"""Cones whose rows have less initial slack count as without interior."""

MOST_AUXILIARY = 8
"""With more auxiliary variables the rows are sparse, as most inputs do not meet most of them."""

Index = IntArray | slice


@dataclass(frozen=True)
class ArrowRows:
    """The rows of one column; auxiliary variables are numbered with the free ones first.

    Attributes
    ----------
    x, j, alpha, beta
        ``(n_rows,)`` each.
    definition
        ``(k,)``: the last auxiliary variable as a combination of entries; None if all are free.
    n_free
        The number of free auxiliary variables.
    """

    x: IntArray
    j: IntArray
    alpha: FloatArray
    beta: FloatArray
    definition: FloatArray | None
    n_free: int

    @property
    def pattern(self) -> tuple[bytes, bytes, int, bool]:
        """The structure shared by the rows of all problems of a batch."""
        return self.x.tobytes(), self.j.tobytes(), self.n_free, self.definition is None

    @classmethod
    def of(cls, A: sp.csr_array, equal: BoolArray, k: int) -> ArrowRows | None:
        """Read rows ``(n_rows, n_vars)``, some of them equations that define auxiliary variables.

        Returns None if a row contains more than one entry and one auxiliary variable, if there is
        no row, if there are many auxiliary variables, or if they have several kinds of definitions.
        """
        row, is_own = np.repeat(np.arange(len(equal)), np.diff(A.indptr)), A.indices < k
        n_own, n_others = (np.bincount(row[own], minlength=len(equal)) for own in (is_own, ~is_own))
        if (n_others != 1).any() or (n_own[~equal] != 1).any() or equal.all():
            return None
        other, coefficient = A.indices[~is_own] - k, A.data[~is_own]
        j, beta = other[~equal], coefficient[~equal]
        is_used = np.bincount(j, minlength=A.shape[1] - k) > 0
        defined = is_used[other] & equal
        definitions = -A[np.flatnonzero(defined)].toarray()[:, :k] / coefficient[defined, None]
        is_used[other[defined]] = False
        free = np.flatnonzero(is_used)
        same = (definitions == definitions[:1]).all()
        if not same or len(free) + defined.any() > MOST_AUXILIARY:
            return None
        number = np.full(A.shape[1] - k, len(free))  # variables with equal definitions are merged
        number[free] = np.arange(len(free))
        definition = definitions[0] if len(definitions) else None
        left = is_own & ~equal[row]
        x = A.indices[left].astype(np.intp)
        return cls(x, number[j], A.data[left], beta, definition, len(free))


@dataclass(frozen=True)
class _Slot:
    """Rows with one auxiliary variable j, no two at one entry, as arrays over all entries.

    Attributes
    ----------
    j
        The auxiliary variable.
    row
        ``(k,)``: the row at each entry; without a row any index, with coefficients of 0.
    alpha, beta
        ``(batch, k, 1)``.
    """

    j: int
    row: Index
    alpha: FloatArray
    beta: FloatArray


class ArrowBlocks(Blocks):
    """The blocks of the outputs of some problems of one shape.

    Arrays over rows are ``(batch, n_rows + k, m)``, the rows of q >= 0 last.

    Parameters
    ----------
    problems
        The rows of each problem, of one pattern.
    size
        The number of inputs.
    counts
        ``(m,)``: the number of outputs that each represents.
    """

    def __init__(self, problems: Sequence[ArrowRows], size: int, counts: FloatArray) -> None:
        first = problems[0]
        self.size, self.batch, self.n_rows = size, len(problems), len(first.x)
        self.n_vars, self.counts, self.weight = size + first.n_free, counts, counts[None, None, :]
        self._x, self._j = first.x, first.j
        self._alpha = np.array([rows.alpha for rows in problems])[:, :, None]
        self._beta = np.array([rows.beta for rows in problems])[:, :, None]
        self._P: FloatArray | None = None
        if first.definition is not None:
            self._P = np.array([rows.definition for rows in problems])[:, None, :]
        self._n_auxiliary = first.n_free + (self._P is not None)
        self._slots = self._in_slots()
        cuts = 1 + np.flatnonzero((np.diff(first.x) != 1) | (np.diff(first.j) != 0))
        self._runs = [  # rows of one auxiliary variable and consecutive entries
            (as_slice(own), as_slice(first.x[own]), first.j[own[0]])
            for own in np.split(np.arange(self.n_rows), cuts)
        ]
        self._pairs = [
            (s, t, (one.alpha * other.beta - other.alpha * one.beta) ** 2)
            for (s, one), (t, other) in combinations(enumerate(self._slots), 2)
            if one.j == other.j
        ]

    @classmethod
    def of(
        cls, problems: Sequence[ArrowRows | None], size: int, counts: FloatArray
    ) -> ArrowBlocks | None:
        """Return the blocks of some problems.

        None if the rows of a problem have another form or pattern, or a cone has no interior.
        """
        rows = [own for own in problems if own is not None]
        if len(rows) < len(problems) or len({own.pattern for own in rows}) > 1:
            return None
        blocks = cls(rows, size, counts)
        slack = -blocks.rows(blocks.start()[:, :, None])
        return blocks if slack.min() > LEAST_SLACK else None

    def _in_slots(self) -> list[_Slot]:
        places: dict[tuple[int, int], list[int]] = {}
        for n, place in enumerate(zip(self._j.tolist(), self._x.tolist(), strict=True)):
            places.setdefault(place, []).append(n)
        slots = []
        for j in range(self._n_auxiliary):
            mine = [places.get((j, x), []) for x in range(self.size)]
            for n in range(max(map(len, mine))):
                row = np.array([rows[n] if n < len(rows) else 0 for rows in mine])
                real = np.array([n < len(rows) for rows in mine])[:, None]
                alpha, beta = self._alpha[:, row] * real, self._beta[:, row] * real
                slots.append(_Slot(j, as_slice(row), alpha, beta))
        return slots

    def start(self) -> FloatArray:
        """Return ``(batch, n_vars)``: q = 1, and free auxiliary variables between bounds."""
        v = np.ones((self.batch, self.n_vars))
        for n, j in np.ndindex(self.batch, self.n_vars - self.size):
            mine = self._j == j
            v[n, self.size + j] = middle(self._alpha[n, mine, 0], self._beta[n, mine, 0])
        return v

    def _auxiliary(self, v: FloatArray) -> FloatArray:
        """Return all h, including the defined ones."""
        h = v[:, self.size :]
        if self._P is None:
            return h
        return np.concatenate([h, np.matmul(self._P, v[:, : self.size])], axis=1)

    def rows(self, v: FloatArray) -> FloatArray:
        """Return A v: ``(batch, n_vars, m)`` to ``(batch, n_rows + k, m)``."""
        q, h = v[:, : self.size], self._auxiliary(v)
        found = np.empty((self.batch, self.n_rows + self.size, v.shape[2]))
        for rows, x, j in self._runs:
            np.multiply(self._alpha[:, rows], q[:, x], out=found[:, rows])
            found[:, rows] += self._beta[:, rows] * h[:, [j]]
        np.negative(q, out=found[:, self.n_rows :])
        return found

    def columns(self, w: FloatArray) -> FloatArray:
        """Return A' w: ``(batch, n_rows + k, m)`` to ``(batch, n_vars, m)``."""
        q, h = -w[:, self.n_rows :], np.zeros((self.batch, self._n_auxiliary, w.shape[2]))
        for slot in self._slots:
            mine = w[:, slot.row]
            q += slot.alpha * mine
            h[:, slot.j] += np.matmul(slot.beta.transpose(0, 2, 1), mine)[:, 0]
        if self._P is not None:
            q += self._P.transpose(0, 2, 1) * h[:, [-1]]
        return self._with_free(q, h)

    def factor(self, D: FloatArray, _needed: BoolArray | None = None) -> None:
        """Eliminate q; invert the remaining system of every output, of the size of h."""
        d, weights = D[:, self.n_rows :], [D[:, slot.row] for slot in self._slots]
        a, e, c = (np.zeros((self._n_auxiliary, *d.shape)) for _ in range(3))
        for slot, weight in zip(self._slots, weights, strict=True):
            a[slot.j] += slot.alpha * slot.alpha * weight
            e[slot.j] += slot.beta * slot.beta * weight
            c[slot.j] += slot.alpha * slot.beta * weight
        for j in range(len(a)):  # the diagonal of S, times b, by Lagrange's identity
            e[j] *= sum((a[i] for i in range(len(a)) if i != j), start=d)
        for s, t, cross in self._pairs:
            e[self._slots[s].j] += cross * (weights[s] * weights[t])
        self._inverse = 1 / sum(a, start=d)
        e *= self._inverse
        # q = g / b + U (h, nu), with a column of U for each auxiliary variable and the multiplier
        self._U = list(-c * self._inverse)
        S = np.einsum("ibxm,jbxm->bijm", c, np.array(self._U))
        diagonal = np.arange(len(a))
        S[:, diagonal, diagonal] = e.sum(axis=2).swapaxes(0, 1)
        self._S, K = S, S
        if self._P is not None:
            self._G = -np.concatenate([np.matmul(self._P, U) for U in self._U], axis=1)
            self._G[:, -1] += 1
            self._T = np.matmul(self._P * self._P, self._inverse)
            self._U.append(-self._P.transpose(0, 2, 1) * self._inverse)
            # symmetric quasi-definite, as S and T are positive definite
            top = np.concatenate([S, -self._G[:, :, None]], axis=2)
            bottom = np.concatenate([-self._G[:, None], -self._T[:, None]], axis=2)
            K = np.concatenate([top, bottom], axis=1)
        self._K = K
        self._small = inverses(K.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1)

    def solve(self, g: FloatArray) -> FloatArray:
        """Return B**-1 g."""
        h = np.einsum("bijm,bjm->bim", self._small, self._right(g))
        return self._columns(g[:, : self.size], h)

    def _right(self, g: FloatArray) -> FloatArray:
        """Return the right side of the systems of the size of h."""
        right = np.stack([np.einsum("bxm,bxm->bm", U, g[:, : self.size]) for U in self._U], axis=1)
        right[:, : self.n_vars - self.size] += g[:, self.size :]
        return right

    def _columns(self, g: FloatArray, h: FloatArray) -> FloatArray:
        """Return v, for the right side of q and the solution of the systems of the size of h."""
        q = g * self._inverse
        for j, U in enumerate(self._U):
            q += U * h[:, [j]]
        if self._P is not None:
            # for tiny b, g - P' nu cancels; one step of refinement restores h = P . q
            missing = h[:, [-2]] - np.matmul(self._P, q)
            q -= self._U[-1] * (missing / self._T)
        return self._with_free(q, h)

    def _with_free(self, q: FloatArray, h: FloatArray) -> FloatArray:
        """Return q followed by the free auxiliary variables."""
        n_free = self.n_vars - self.size
        return np.concatenate([q, h[:, :n_free]], axis=1) if n_free else q

    def schur(self) -> FloatArray:
        """Return the weighted sum over outputs of the q part of B**-1."""
        small = self._small * self.counts
        found = np.zeros((self.batch, self.size, self.size))
        for i, U in enumerate(self._U):
            other = sum(small[:, i, [j]] * V for j, V in enumerate(self._U))
            found += np.matmul(U, other.transpose(0, 2, 1))
        diagonal = np.arange(self.size)
        if self._P is not None and self._n_auxiliary == 1:
            found[:, diagonal, diagonal] = self._diagonal(self._P) @ self.counts
        else:
            found[:, diagonal, diagonal] += self._inverse @ self.counts
        return found

    def factor_bordered(self) -> bool:
        """Eliminate q, then the potentials; factor what is left, the h and nu of all outputs.

        The Schur complement of the potentials is diag(d) + W K**-1 W', so that is K + W' diag(1/d)
        W, which is smaller with few outputs. As Sum_y n_y / b_y = d, the part of nu has row sums 0,
        which give its diagonal without cancellation.
        """
        r, m, every = len(self._U), len(self.counts), np.arange(len(self.counts))
        if r * m > self.size:
            return False
        self._d = self._inverse @ self.counts
        self._W = np.concatenate([U * self.counts for U in self._U], axis=2)
        M = np.matmul((self._W / self._d[:, :, None]).transpose(0, 2, 1), self._W)
        M = M.reshape(self.batch, r, m, r, m)
        K = self._K * self.counts
        if self._P is not None:
            among = M[:, -1, :, -1]
            among[:, every, every] = 0
            among[:, every, every] = -among.sum(axis=2)
            K[:, -1, -1] = 0
        M[:, :, every, :, every] += K.transpose(3, 0, 1, 2)
        M = M.reshape(self.batch, r * m, r * m)
        self._unit = scaling(M)
        M = M * self._unit[:, :, None] * self._unit[:, None, :]
        self._factors = [called("LAPACK", lapack.dgetrf, own)[:2] for own in M]
        return True

    def solve_bordered(self, g: FloatArray, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return v, pi with B v = g + pi on the column and Sum_y counts[y] q_y = sums."""
        q = g[:, : self.size]
        rest = (sums - (q * self._inverse) @ self.counts) / self._d
        right = (self._right(g) * self.counts).reshape(self.batch, -1)
        right += np.matmul(rest[:, None], self._W)[:, 0]
        pairs = zip(self._factors, right * self._unit, strict=True)
        found = [called("LAPACK", lapack.dgetrs, *own, one)[0] for own, one in pairs]
        h = self._unit * checked("LAPACK", found, right.shape, finite=False)
        potentials = rest - np.matmul(self._W, h[:, :, None])[:, :, 0] / self._d
        h = h.reshape(self.batch, -1, len(self.counts))
        return self._columns(q + potentials[:, :, None], h), potentials

    def _diagonal(self, P: FloatArray) -> FloatArray:
        """Return the diagonal of B**-1 for every output, as a sum of nonnegative terms.

            ((G + U_x P_x)**2 / b_x + (U_x**2 + S / b_x) R_x) / (S T + G**2)

        with R_x the sum of P_z**2 / b_z over all z but x. The usual form starts with 1 / b_x minus
        S (P_x / b_x)**2 / (S T + G**2), which may cancel completely.
        """
        S, G, U, P = self._S[:, 0], self._G, self._U[0], P.transpose(0, 2, 1)
        terms = P * P * self._inverse
        others = np.zeros_like(terms)
        others[:, 1:] = np.cumsum(terms[:, :-1], axis=1)
        others[:, :-1] += np.cumsum(terms[:, :0:-1], axis=1)[:, ::-1]
        found = (G + U * P) ** 2 * self._inverse + (U * U + S * self._inverse) * others
        return np.asarray(found / (S * self._T + G * G))


def as_slice(index: IntArray) -> Index:
    """Return an index as a slice if it is a range, which avoids a copy."""
    first = int(index[0]) if len(index) else 0
    if np.array_equal(index, np.arange(first, first + len(index))):
        return slice(first, first + len(index))
    return index
