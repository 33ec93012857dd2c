"""The tree of boxes for the certificate, and the relaxation of a box, in branch and bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.routes.highs import BoundedProgram, LPModel
from mechdesign.routes.presolve.implied_pairs import thin_pairs

__all__ = ["NO_ROWS", "BoxNode", "ColumnProgram", "SurplusBound"]


NO_ROWS = (np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0))
LEAST_MULTIPLIER = 1e-14
"""Multipliers below this are left out of the certificate: without them the bound holds as well."""


@dataclass
class BoxNode:
    """A box in the certificate: where it was cut, or the multipliers that prove its bound.

    Attributes
    ----------
    potential
        The dual variable of P . r = 1.
    rows
        ``(x, z, w)``: multipliers of rows r_x <= m r_z, three arrays of one length.
    cut
        The entry at which it was cut, and where; None for a leaf.
    parts
        The lower and the upper part.
    """

    potential: float
    rows: tuple[IntArray, IntArray, FloatArray]
    cut: tuple[int, float] | None = None
    parts: tuple[BoxNode, ...] = ()

    def to_list(self) -> list[list[Any]]:
        """Return the tree in the order of a walk that goes to the lower part first."""
        found: list[list[Any]] = []
        todo = [self]
        while todo:
            leaf = todo.pop()
            if leaf.cut is None:
                x, z, w = leaf.rows
                found.append([leaf.potential, x.tolist(), z.tolist(), w.tolist()])
            else:
                found.append([*leaf.cut])
                todo += reversed(leaf.parts)
        return found


@dataclass(frozen=True)
class SurplusBound:
    """The largest surplus of a column: its gain less its price at some potentials.

    Attributes
    ----------
    surplus
        An upper bound on the surplus of every column.
    rays
        Columns that have a positive one.
    boxes
        How many boxes branch and bound looked at; 0 where it was not needed.
    tree
        The root of the tree of boxes, for the certificate; None where there is none.
    """

    surplus: float
    rays: list[FloatArray]
    boxes: int
    tree: BoxNode | None = None


class ColumnProgram:
    """The relaxation of a box as a warm-started linear program over one column.

    The gain is replaced by its chords; the rows on ratios and P . r = 1 are kept.
    """

    def __init__(self, prior: FloatArray, families: list[PairRows]) -> None:
        self.size = k = len(prior)
        found = []
        for family in families:
            reduced = thin_pairs(family)
            x, z = np.nonzero(reduced.index != FREE)
            b = reduced.index[x, z]
            found.append((x, z, reduced.inverse[b] / reduced.factors[b]))
        self.x, self.z = (np.concatenate([part[i] for part in found]) for i in (0, 1))
        shrink = np.concatenate([part[2] for part in found])
        n = len(self.x)
        row = np.arange(n)
        values = np.concatenate([shrink, -np.ones(n), prior])
        rows = np.concatenate([row, row, np.full(k, n)])
        columns = np.concatenate([self.x, self.z, np.arange(k)])
        A = sp.csr_array((values, (rows, columns)), shape=(n + 1, k))
        low, high = np.full(n + 1, -np.inf), np.zeros(n + 1)
        low[-1] = high[-1] = 1.0
        self.program = BoundedProgram(LPModel(np.zeros(k), A, low, high))

    def best(
        self, slope: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, float, tuple[IntArray, IntArray, FloatArray]] | None:
        """Return the best column, the potential of P . r = 1 and the multipliers of the rows.

        None where HiGHS finds no optimum.
        """
        found = self.program.solve(-slope, low, high)
        if found is None:
            return None
        multipliers = np.maximum(-found.dual[:-1], 0.0)
        used = np.flatnonzero(multipliers > LEAST_MULTIPLIER)
        rows = (self.x[used], self.z[used], multipliers[used])
        return np.clip(found.primal, low, high), float(-found.dual[-1]), rows
