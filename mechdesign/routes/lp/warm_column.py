"""The warm-started pricing LP: one private column with P . r = 1, solved again at other costs."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.cone import Cone
from mechdesign.prior_sets import Weights
from mechdesign.routes.base import FamilyDual
from mechdesign.routes.highs import Basis, LPModel, LPResult, WarmStartedLP, vertex_basis
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.column_rows import ColumnRows

__all__ = ["WarmColumn"]


TIGHT = 1e-9
"""The largest slack of a tight row, relative to its terms."""


class WarmColumn:
    """The linear program over one column and the auxiliary variables of its rows.

    Parameters
    ----------
    cone
        Where the column lies.
    prior
        ``(n_inputs,)``: P in P . r = 1.
    tables
        For each family the priors whose lift rows are stated; default all vertices of its set.
    """

    def __init__(
        self, cone: Cone, prior: FloatArray, tables: Sequence[tuple[Weights, ...]] | None = None
    ) -> None:
        if tables is None:
            lifts = [family.lift_rows() for family in cone.families]
            tables = [() if rows is None else rows.priors.vertices() for rows in lifts]
        self.size, self.rows = len(prior), ColumnRows(cone, tables)
        rows = self.rows.matrix()
        self._no_cost = np.zeros(rows.shape[1] - self.size)
        output = sp.csr_array(np.concatenate([prior, self._no_cost])[None, :])
        A = sp.csr_array(sp.vstack([rows, output], format="csr"))
        equal = np.append(self.rows.equal, True)
        low, high = np.where(equal, 0.0, -np.inf), np.zeros(A.shape[0])
        low[-1] = high[-1] = 1.0
        empty = LPModel(np.zeros(rows.shape[1]), A, low, high)
        self._empty, self._program = empty, WarmStartedLP(empty, "simplex")

    def copy(self, limits: Limits | None = None) -> WarmColumn:
        """Return the same program in a solver of its own, as for another thread, or with limits."""
        twin = copy(self)
        twin._program = WarmStartedLP(self._empty, "simplex", limits)
        return twin

    def basis_at(self, ray: FloatArray) -> Basis | None:
        """Return the basis of an extreme ray where all rows are on ratios of two entries.

        The rows that hold with equality join the inputs on which the ray is positive: those of a
        tree through all of them, with P . r = 1, are a basis. None where there is no such tree.
        """
        terms = self._two_terms
        tree = None if terms is None else _tight_tree(*terms, ray)
        if tree is None:
            return None
        rows = np.ones(self._empty.A.shape[0], dtype=bool)
        rows[tree] = rows[-1] = False
        return vertex_basis(ray > 0, rows)

    @cached_property
    def _two_terms(self) -> tuple[IntArray, FloatArray] | None:
        """The places, in order, and coefficients of rows that have two entries each."""
        A = self._empty.A[:-1]
        if len(self._no_cost) or (np.diff(A.indptr) != 2).any():
            return None
        A.sort_indices()
        pairs: IntArray = A.indices.astype(np.intp).reshape(-1, 2)
        return pairs, np.asarray(A.data).reshape(-1, 2)

    @property
    def basis(self) -> Basis:
        """The basis of the last optimum."""
        return self._program.basis

    def start_at(self, basis: Basis | None) -> None:
        """Start the next search at a basis, or at none.

        The primal simplex method goes on from there, which stays feasible when costs change.
        """
        self._program.start_at(basis)

    def cheapest(self, cost: FloatArray) -> tuple[FloatArray, LPResult]:
        """Return the column of least cost, and the whole answer of the program."""
        found = self._program.solve(np.concatenate([cost, self._no_cost]))
        return found.primal[: self.size], found

    def farthest(self, direction: FloatArray) -> FloatArray:
        """Return the column that is farthest in a direction, a vertex of the cone with P . r = 1.

        The direction is scaled to a largest entry of 1, as the tolerances of HiGHS are absolute.
        """
        scale = float(np.abs(direction).max()) or 1.0
        return np.maximum(self.cheapest(-direction / scale)[0], 0.0)

    def families(self, weights: list[FloatArray], scale: float) -> tuple[FamilyDual, ...]:
        """Return multipliers of the rows, an array for each output, as those of the notions."""
        n = len(self.rows)  # the last row of the program is P . r = 1
        mine = np.array([own[:n] for own in weights]).reshape(len(weights), n)
        return tuple(self.rows.duals(scale * mine.T))


def _tight_tree(pairs: IntArray, coefficients: FloatArray, ray: FloatArray) -> IntArray | None:
    """Return rows of two entries that are tight at a ray and form a tree; None if there is none."""
    terms = coefficients * ray[pairs]
    top = terms.max(axis=1)
    tight = np.flatnonzero((np.abs(terms.sum(axis=1)) <= TIGHT * top) & (top > 0))
    k, pairs = len(ray), pairs[tight]
    links = sp.csr_array((np.ones(len(tight)), (pairs[:, 0], pairs[:, 1])), shape=(k, k))
    reached, before = breadth_first_order(links, int(np.argmax(ray)), directed=False)
    if len(reached) < np.count_nonzero(ray):
        return None
    edges = np.sort(np.column_stack([reached[1:], before[reached[1:]]]), axis=1) @ [k, 1]
    keys, first = np.unique(pairs @ [k, 1], return_index=True)
    return np.asarray(tight[first[np.searchsorted(keys, edges)]], dtype=np.intp)
