"""The parts of a search over boxes: the tree that a certificate tells, and the program of a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.routes.lp.extended_formulation import chain_reduced
from mechdesign.routes.lp.highs import BoundedProgram, LinearProgram

__all__ = ["NO_ROWS", "ColumnProgram", "Leaf", "Priced"]


NO_ROWS = (np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0))
WORTH_KEEPING = 1e-14


@dataclass
class Leaf:
    """A box as a certificate tells it: where it was cut, or what proves its bound.

    Attributes
    ----------
    price
        The price on P . r = 1.
    rows
        ``(x, z, w)``: weights on rows r_x <= m r_z, three arrays of one length.
    cut
        The entry at which it was cut, and where; None for a leaf.
    parts
        The lower and the upper part.
    """

    price: float
    rows: tuple[IntArray, IntArray, FloatArray]
    cut: tuple[int, float] | None = None
    parts: tuple[Leaf, ...] = ()

    def to_list(self) -> list[list[Any]]:
        """Return the tree in the order of a walk that goes to the lower part first."""
        found: list[list[Any]] = []
        todo = [self]
        while todo:
            leaf = todo.pop()
            if leaf.cut is None:
                x, z, w = leaf.rows
                found.append([leaf.price, x.tolist(), z.tolist(), w.tolist()])
            else:
                found.append([*leaf.cut])
                todo += reversed(leaf.parts)
        return found


@dataclass(frozen=True)
class Priced:
    """What pricing found.

    Attributes
    ----------
    surplus
        No ray has a gain above its price by more than this.
    rays
        Rays that do have some surplus.
    boxes
        How many boxes branch and bound looked at; 0 where it was not needed.
    tree
        The boxes, as a certificate tells them; None where there are none.
    """

    surplus: float
    rays: list[FloatArray]
    boxes: int
    tree: Leaf | None = None


class ColumnProgram:
    """The best column of a box by its chords: rows on ratios, P . r = 1, kept hot."""

    def __init__(self, prior: FloatArray, families: list[PairRows]) -> None:
        self.size = k = len(prior)
        found = []
        for family in families:
            reduced = chain_reduced(family)
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
        self.program = BoundedProgram(LinearProgram(np.zeros(k), A, low, high))

    def best(
        self, slope: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, float, tuple[IntArray, IntArray, FloatArray]] | None:
        """Return the best column, the price on P . r = 1 and weights; None where HiGHS fails."""
        found = self.program.solve(-slope, low, high)
        if found is None:
            return None
        weights = np.maximum(-found.dual[:-1], 0.0)
        used = np.flatnonzero(weights > WORTH_KEEPING)
        rows = (self.x[used], self.z[used], weights[used])
        return np.clip(found.primal, low, high), float(-found.dual[-1]), rows
