"""KKT blocks with the sparsity of an arrow: rows on one entry and one auxiliary variable.

For one output the variables are v = (q, f), a column and its free auxiliary variables, and a row is

    alpha_i q[x_i] + beta_i h[j_i] <= 0

with h free (t <= q_x, the least entry under LDP) or defined by the column (h = P . q, the
probability of the output). An interior-point method solves B v = g, with
B = A^T diag(D) A + diag(d) on q. As no row joins two entries, q is eliminated entry by entry, in
O(k) operations for each output: with nu the multipliers of h = P q, and sums over the rows i at x,

    q_x = (g_x - (P^T nu)_x - c_x . h) / b_x,   b_x = d_x + Sum alpha_i**2 D_i,
                                                c_xj = Sum alpha_i beta_i D_i over those with h_j.

What is left is a system of the size of h. Its matrix is S, with -P U and -P diag(1/b) P^T beside it
if some h are defined, U_x = -c_x / b_x. The diagonal of S is a sum over the inputs x of

    e_x - c_x**2 / b_x,    e_x = Sum beta_i**2 D_i.

Near an optimum D runs over twenty orders of magnitude, and that difference would cancel to nothing.
By Lagrange's identity it is a sum of nonnegative terms, and is computed so:

    (e_x (b_x - a_x) + Sum_{i < l} (alpha_i beta_l - alpha_l beta_i)**2 D_i D_l) / b_x

with a_x = Sum alpha_i**2 D_i over the rows with h_j, and b_x - a_x again summed, not subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.outside import called, checked
from mechdesign.routes.interior.arrow_rows import ArrowRows, Layout, read_arrow
from mechdesign.routes.interior.newton import KKTBlocks
from mechdesign.routes.lp.extended_formulation import ExtendedFormulation

__all__ = ["ArrowKKT"]


LEAST_SLACK = 1e-8
"""Cones whose rows have less slack than this at the start have no interior to work in."""

SCALINGS = 3
"""Rounds that bring the largest entry of each row and column of a small matrix near 1."""


class ArrowKKT(KKTBlocks):
    """The KKT blocks of some problems of one shape; see :meth:`of`.

    Attributes
    ----------
    size
        Inputs, k.
    n_vars
        Inputs and free auxiliary variables.
    n_rows
        Inequalities on one column.
    batch
        Problems, b.
    places
        ``(n_rows,)``: where each row stands among the rows of the stacked families, whose other
        rows define auxiliary variables.
    """

    cheap = True

    def __init__(self, size: int, problems: Sequence[ArrowRows]) -> None:
        first = problems[0]
        self.size, self.batch, self.n_rows = size, len(problems), len(first.x)
        self.n_vars, self.places = size + first.n_free, first.places
        self._auxiliary, self._n_free = first.auxiliary, first.n_free
        self._alpha = np.array([rows.alpha for rows in problems])[:, :, None]
        self._beta = np.array([rows.beta for rows in problems])[:, :, None]
        self._definition: FloatArray | None = None
        if first.definition is not None:
            self._definition = np.array([rows.definition for rows in problems])[:, None, :]
        self._n_auxiliary = first.n_auxiliary
        self._to_auxiliary = np.zeros((self.batch, self._n_auxiliary, self.n_rows))
        self._to_auxiliary[:, self._auxiliary, np.arange(self.n_rows)] = self._beta[:, :, 0]
        self._layout = Layout(first, size)
        shape = (self.batch, -1, size, 1)
        alpha, beta = (
            [
                coefficients[:, slot].reshape(shape) * real
                for slot, real in zip(self._layout.slots, self._layout.real, strict=True)
            ]
            for coefficients in (self._alpha, self._beta)
        )
        self._squares = [(a * a, b * b, a * b) for a, b in zip(alpha, beta, strict=True)]
        self._pairs = [
            (s, t, (alpha[s] * beta[t] - alpha[t] * beta[s]) ** 2)
            for s, t in combinations(range(len(alpha)), 2)
        ]

    @classmethod
    def of(cls, stacks: Sequence[Sequence[ExtendedFormulation]], size: int) -> ArrowKKT | None:
        """Return the blocks of some problems.

        None where a cone has other rows, where it has no interior to start from, and where the rows
        of the problems do not share one pattern.

        Parameters
        ----------
        stacks
            The compressed families of each problem.
        size
            The number of inputs.
        """
        problems: list[ArrowRows] = []
        for parts in stacks:
            rows = read_arrow(parts, size)
            if rows is None or (problems and not rows.is_like(problems[0])):
                return None
            problems.append(rows)
        blocks = cls(size, problems)
        inside = -blocks.rows(blocks.start()[:, :, None])
        return blocks if inside.min(initial=1.0) > LEAST_SLACK else None

    def start(self) -> FloatArray:
        """Return ``(b, n_vars)``: q = 1, and each free auxiliary variable amid its bounds there."""
        v = np.ones((self.batch, self.n_vars))
        limit = -self._alpha[:, :, 0] / np.where(self._beta == 0, 1.0, self._beta)[:, :, 0]
        for j in range(self._n_free):
            mine = (self._auxiliary == j)[None, :]
            below = np.where(mine & (self._beta[:, :, 0] < 0), limit, -np.inf).max(axis=1)
            above = np.where(mine & (self._beta[:, :, 0] > 0), limit, np.inf).min(axis=1)
            below = np.where(np.isfinite(below), below, np.minimum(above - 1, 0.0))
            above = np.where(np.isfinite(above), above, below + 1)
            v[:, self.size + j] = (below + above) / 2
        return v

    def rows(self, v: FloatArray) -> FloatArray:
        """Return A v: ``(b, n_vars, m)`` to ``(b, n_rows, m)``."""
        q, h = v[:, : self.size], v[:, self.size :]
        if self._definition is not None:
            h = np.concatenate([h, np.matmul(self._definition, q)], axis=1)
        found: FloatArray = np.matmul(self._to_auxiliary.transpose(0, 2, 1), h)
        for row, x in self._layout.by_entry:
            found[:, row] += self._alpha[:, row] * q[:, x]
        return found

    def columns(self, w: FloatArray) -> FloatArray:
        """Return A^T w: ``(b, n_rows, m)`` to ``(b, n_vars, m)``."""
        found = np.empty((self.batch, self.n_vars, w.shape[2]))
        on_auxiliary = np.matmul(self._to_auxiliary, w)
        found[:, self.size :] = on_auxiliary[:, : self._n_free]
        by_definition = (
            0.0
            if self._definition is None
            else self._definition.transpose(0, 2, 1) * on_auxiliary[:, [-1]]
        )
        found[:, : self.size] = by_definition
        for row, x in self._layout.by_entry:
            found[:, x] += self._alpha[:, row] * w[:, row]
        return found

    def factor(self, D: FloatArray, d: FloatArray) -> None:
        """Prepare to solve with B_y = A^T diag(D_y) A + diag(d_y on the q part).

        Parameters
        ----------
        D
            ``(b, n_rows, m)`` positive numbers, w / s of the rows.
        d
            ``(b, k, m)`` positive numbers, z / q of the entries.
        """
        shape = (self.batch, -1, self.size, d.shape[2])
        weights = [D[:, slot].reshape(shape) for slot in self._layout.slots]
        a, e, c = (np.zeros_like(weights[0]) for _ in range(3))
        for weight, (on_a, on_e, on_c) in zip(weights, self._squares, strict=True):
            a += on_a * weight
            e += on_e * weight
            c += on_c * weight
        # what each layer adds to the diagonal of S, times b, by Lagrange's identity
        own = e * self._rest(a, d)
        for s, t, cross in self._pairs:
            own += cross * (weights[s] * weights[t])
        b = d + a.sum(axis=1)
        inverse = 1 / b
        own *= inverse[:, None]  # now what each layer adds to the diagonal of S
        c *= inverse[:, None]
        self._inverse = inverse
        # q = g / b + U (h, nu), with a column of U for each auxiliary variable and each multiplier
        self._U = [np.zeros_like(d) for _ in range(self._n_auxiliary)]
        for layer, member in enumerate(self._layout.member):
            for j in np.flatnonzero(member.any(axis=1)).tolist():
                self._U[j] -= member[j][:, None] * c[:, layer]
        self._S = self._on_auxiliary(own, c, b)
        if self._definition is None:
            self._small = _inverse(self._S)
        else:
            by_entry = self._definition.transpose(0, 2, 1)
            self._G = np.concatenate([-np.matmul(self._definition, U) for U in self._U], axis=1)
            self._G[:, -1] += 1
            self._T = np.matmul(self._definition * self._definition, inverse)
            self._small = _inverse_with_definition(self._S, self._G, self._T)
            self._U.append(-by_entry * inverse)

    def _rest(self, a: FloatArray, d: FloatArray) -> FloatArray:
        """Return for each layer d and the terms of all other layers: b without its own, added up.

        Subtracting its own term from b would leave nothing of d where that is small.
        """
        rest = np.repeat(d[:, None], a.shape[1], axis=1)
        for layer in range(1, a.shape[1]):
            rest[:, layer] += a[:, :layer].sum(axis=1)
            rest[:, layer - 1] += a[:, layer:].sum(axis=1)
        return rest

    def _on_auxiliary(self, own: FloatArray, c: FloatArray, b: FloatArray) -> FloatArray:
        """Return S, ``(b, n, n, m)``: the system that is left for the auxiliary variables."""
        n, members = self._n_auxiliary, self._layout.member
        S = np.zeros((self.batch, n, n, own.shape[3]))
        for layer, member in enumerate(members):
            S[:, np.arange(n), np.arange(n)] += np.matmul(member, own[:, layer])
        for one, other in combinations(range(len(members)), 2):
            shared = -c[:, one] * c[:, other] * b
            for i in np.flatnonzero(members[one].any(axis=1)).tolist():
                terms = np.matmul(members[other] * members[one][i], shared)
                S[:, i] += terms
                S[:, :, i] += terms
        return S

    def solve(self, g: FloatArray) -> FloatArray:
        """Return B^{-1} g, ``(b, n_vars, m)`` both; after :meth:`factor`."""
        q = g[:, : self.size] * self._inverse
        right = np.empty((self.batch, len(self._U), g.shape[2]))
        for j, U in enumerate(self._U):
            right[:, j] = np.einsum("bxm,bxm->bm", U, g[:, : self.size])
        right[:, : self._n_free] += g[:, self.size :]
        h = np.einsum("bijm,bjm->bim", self._small, right)
        for j, U in enumerate(self._U):
            q += U * h[:, [j]]
        if self._definition is not None:
            # where b is tiny, g - P nu cancels; one step of refinement restores h = P . q
            missing = h[:, [-2]] - np.matmul(self._definition, q)
            q -= self._U[-1] * (missing / self._T)
        return np.concatenate([q, h[:, : self._n_free]], axis=1) if self._n_free else q

    def schur(self, weights: FloatArray | float = 1.0) -> FloatArray:
        """Return ``(b, k, k)``: the sum over outputs of the q part of B_y^{-1}.

        Parameters
        ----------
        weights
            ``(m,)``: how often each output counts.
        """
        small = self._small * weights
        found = np.zeros((self.batch, self.size, self.size))
        for i, U in enumerate(self._U):
            other = small[:, i, [0]] * self._U[0]
            for j in range(1, len(self._U)):
                other += small[:, i, [j]] * self._U[j]
            found += np.matmul(U, other.transpose(0, 2, 1))
        diagonal = np.arange(self.size)
        if self._definition is not None and self._n_auxiliary == 1:
            found[:, diagonal, diagonal] = (self._diagonal(self._definition) * weights).sum(axis=2)
        else:
            found[:, diagonal, diagonal] += (self._inverse * weights).sum(axis=2)
        return found

    def _diagonal(self, P: FloatArray) -> FloatArray:
        """Return the diagonal of B_y^{-1} for every y, as a sum of nonnegative terms.

            ((G + U_x P_x)**2 / b_x + (U_x**2 + S / b_x) R_x) / (S T + G**2)

        with R_x the sum of P_z**2 / b_z over all z but x. The usual form begins with 1 / b_x less
        S (P_x / b_x)**2 / (S T + G**2), which may cancel to nothing.
        """
        S, G, U, P = self._S[:, 0], self._G, self._U[0], P.transpose(0, 2, 1)
        terms = P * P * self._inverse
        others = np.zeros_like(terms)
        others[:, 1:] = np.cumsum(terms[:, :-1], axis=1)
        others[:, :-1] += np.cumsum(terms[:, :0:-1], axis=1)[:, ::-1]
        found = (G + U * P) ** 2 * self._inverse + (U * U + S * self._inverse) * others
        return np.asarray(found / (S * self._T + G * G))


def _inverse_with_definition(S: FloatArray, G: FloatArray, T: FloatArray) -> FloatArray:
    """Return the inverse of [[S, -G], [-G^T, -T]], ``(b, n + 1, n + 1, m)``.

    It is symmetric quasi-definite, as S and T are positive definite: its determinant does not
    vanish, whatever G is.
    """
    corner = T[:, None]
    if S.shape[1] == 1:
        by_det = 1 / (S * corner + G[:, None] ** 2)
        top, side, corner = corner * by_det, -G[:, None] * by_det, -S * by_det
        blocks = [[top, side], [side, corner]]
        return np.concatenate([np.concatenate(row, axis=2) for row in blocks], axis=1)
    top = np.concatenate([S, -G[:, :, None]], axis=2)
    bottom = np.concatenate([-G[:, None], -corner], axis=2)
    return _inverse(np.concatenate([top, bottom], axis=1))


def _inverse(K: FloatArray) -> FloatArray:
    """Return the inverses of small symmetric matrices, ``(b, n, n, m)``, scaled to entries of 1."""
    if K.shape[1] == 1:
        return 1 / K
    K = np.ascontiguousarray(K.transpose(0, 3, 1, 2))
    scale = np.ones(K.shape[:3])
    for _ in range(SCALINGS):
        largest = np.abs(K * scale[..., None, :]).max(axis=3, initial=0.0) * scale
        scale /= np.sqrt(largest)
    both = scale[..., :, None] * scale[..., None, :]
    found = checked("LAPACK", called("LAPACK", np.linalg.inv, K * both), K.shape, finite=False)
    return np.ascontiguousarray((found * both).transpose(0, 2, 3, 1))
