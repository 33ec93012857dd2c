"""The tree of boxes for the certificate, and the relaxation of a box, in branch and bound."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.prior_sets import Weights
from mechdesign.search.highs import BoundedProgram, LPModel
from mechdesign.search.presolve.implied_pairs import thin_pairs

__all__ = ["NO_ROWS", "BoxNode", "ColumnProgram", "Relaxation"]

Rows: TypeAlias = tuple[IntArray, IntArray, FloatArray]

NO_ROWS = (np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0))
LEAST_MULTIPLIER = 1e-14
"""Multipliers below this are left out of the certificate: without them the bound holds as well."""

BROKEN, MOST_ADDITIONS = 1e-11, 20
"""A row is broken by more than this; and how often rows are added for one box."""


@dataclass
class BoxNode:
    """A box in the certificate: where it was cut, or the multipliers that prove its bound.

    Attributes
    ----------
    potential
        The dual variable of P . r = 1.
    rows
        ``(x, z, w)``: multipliers of rows r_x <= m r_z, three arrays of one length. With k inputs,
        k stands for the least entry, k + 1 for the greatest, and more for P' . r with a prior P'.
    cut
        The entry at which it was cut, and where; None for a leaf.
    parts
        The lower and the upper part.
    """

    potential: float
    rows: Rows
    cut: tuple[int, float] | None = None
    parts: tuple[BoxNode, ...] = ()

    def walk(self) -> list[BoxNode]:
        """Return copies of all boxes in the order of a walk that goes to the lower part first."""
        found, todo = list[BoxNode](), [self]
        while todo:
            node = todo.pop()
            found.append(copy(node))
            todo += reversed(node.parts)
        return found


class Relaxation(NamedTuple):
    """The optimum of the relaxation of a box.

    Attributes
    ----------
    column
        ``(n_inputs,)`` the best one.
    potential, rows
        The dual variable of P . r = 1, and the multipliers of the rows, as in :class:`BoxNode`.
    taken
        What the rows with their multipliers take from the worth of each variable.
    """

    column: FloatArray
    potential: float
    rows: Rows
    taken: FloatArray


class ColumnProgram:
    """The relaxation of a box as a warm-started linear program over one column.

    The gain is replaced by its chords; the rows on ratios and P . r = 1 are kept. For notions that
    bound lifts for a set of priors the least entry t and the greatest, T, are variables too:

        t <= r_x <= T,    e**-a T <= P' . r,    e**-b (P' . r) <= t    for every P' of the set.

    The last two are added for the priors where a column breaks them.

    Parameters
    ----------
    prior
        ``(n_inputs,)``.
    families
        Bounds on ratios.
    sets
        Bounds on lifts for sets of priors, by the number of their notion.
    """

    def __init__(
        self, prior: FloatArray, families: list[PairRows], sets: dict[int, LiftRows]
    ) -> None:
        self.size, self._prior = (k := len(prior)), prior
        self._sets = [_ListedPriors(number, lifts) for number, lifts in sets.items()]
        found = []
        for family in families:
            reduced = thin_pairs(family)
            x, z = np.nonzero(reduced.index != FREE)
            b = reduced.index[x, z]
            found.append((x, z, reduced.inverse[b] / reduced.factors[b]))
        if sets:
            inputs, one = np.arange(k), np.ones(k)
            found += [(np.full(k, k), inputs, one), (inputs, np.full(k, k + 1), one)]
        self.x, self.z = (np.concatenate([part[i] for part in found]) for i in (0, 1))
        shrink = np.concatenate([part[2] for part in found])
        n, width = len(self.x), k + 2 * bool(sets)
        row = np.arange(n)
        values = np.concatenate([shrink, -np.ones(n), prior])
        rows = np.concatenate([row, row, np.full(k, n)])
        columns = np.concatenate([self.x, self.z, np.arange(k)])
        A = sp.csr_array((values, (rows, columns)), shape=(n + 1, width))
        low, high = np.full(n + 1, -np.inf), np.zeros(n + 1)
        low[-1] = high[-1] = 1.0
        self._equation = n
        self.has_ends = bool(sets)
        """Whether the least entry and the greatest are variables."""
        self._free = np.zeros(width - k)
        self.program = BoundedProgram(LPModel(np.zeros(width), A, low, high))
        self._count = 0

    def best(self, slope: FloatArray, low: FloatArray, high: FloatArray) -> Relaxation | None:
        """Return the best column with the dual variables of P . r = 1 and of the rows.

        Parameters
        ----------
        slope
            ``(n_inputs,)`` what each entry is worth.
        low, high
            ``(n_inputs,)`` ends of each entry; with sets of priors, then those of t and of T.

        Returns
        -------
        Relaxation
            None where HiGHS finds no optimum.
        """
        cost = np.concatenate([-slope, self._free])
        found = self.program.solve(cost, low, high)
        for _ in range(MOST_ADDITIONS):
            if found is None or not self._add_violated(found.primal):
                break
            found = self.program.solve(cost, low, high)
        if found is None:
            return None
        column = np.clip(found.primal[: self.size], low[: self.size], high[: self.size])
        multipliers = np.maximum(-found.dual, 0.0)
        multipliers[self._equation] = 0.0
        used = np.flatnonzero(multipliers > LEAST_MULTIPLIER)
        rows = (self.x[used], self.z[used], multipliers[used])
        potential = float(-found.dual[self._equation])
        taken = found.reduced - cost
        taken[: self.size] -= potential * self._prior
        return Relaxation(column, potential, rows, taken)

    def _add_violated(self, found: FloatArray) -> bool:
        """Add the rows of the priors at which a column is least private; return whether any."""
        k, before = self.size, self._count
        column = found[:k]
        for one in self._sets:
            for side, shrink in one.sides:
                prior = one.rows.priors.extreme(column.tolist(), largest=side == "lower")
                P = np.array([float(p) for p in prior])
                mean = float(P @ column)
                over = shrink * found[k + 1] - mean if side == "upper" else shrink * mean - found[k]
                if over <= BROKEN or (side, prior) in one.known:
                    continue
                one.known.add((side, prior))
                place = one.place(prior, self._places)
                inputs = np.append(np.flatnonzero(P), k + (side == "upper"))
                values = np.append(P[P > 0] * (shrink if side == "lower" else -1.0), 0.0)
                values[-1] = shrink if side == "upper" else -1.0
                self.program.add_row(inputs, values)
                ends = (k + 1, place) if side == "upper" else (place, k)
                if self._count == 0:  # the equation is a row of the program, and none of the pairs
                    self.x, self.z = np.append(self.x, -1), np.append(self.z, -1)
                self.x, self.z = np.append(self.x, ends[0]), np.append(self.z, ends[1])
                self._count += 1
        return self._count > before

    def _places(self) -> int:
        """Return the next number for a prior in a leaf."""
        return self.size + 2 + sum(len(one.listed) for one in self._sets)

    def priors(self) -> tuple[dict[int, tuple[Weights, ...]], dict[int, int]]:
        """Return the priors in use by notion, and the new number of each in leaves.

        In the certificate they are numbered notion by notion, here in the order of discovery.
        """
        listed = {one.number: tuple(one.listed) for one in self._sets if one.listed}
        old = [place for one in self._sets for place in one.listed.values()]
        return listed, {place: self.size + 2 + n for n, place in enumerate(old)}


@dataclass
class _ListedPriors:
    """A notion that bounds lifts for a set of priors, and those whose rows are in the program."""

    number: int
    rows: LiftRows
    known: set[tuple[str, Weights]] = field(default_factory=set)
    listed: dict[Weights, int] = field(default_factory=dict)

    @property
    def sides(self) -> list[tuple[str, float]]:
        """Each side that is bounded, with e**-a."""
        least, most = self.rows.ends()
        found = [("upper", 1 / most), ("lower", least)]
        return [(side, shrink) for side, shrink in found if shrink > 0]

    def place(self, prior: Weights, following: Callable[[], int]) -> int:
        """Return the number of a prior in leaves; a new one is listed."""
        if prior not in self.listed:
            self.listed[prior] = following()
        return self.listed[prior]
