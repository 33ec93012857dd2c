"""Inputs whose rows must be equal, merged into one: a smaller program with the same optimum.

A bound of 1 in either direction makes two rows of a channel equal, as both sum to 1. The inputs of
a class are replaced by one, with the sum of their costs, and their bounds against others by the
tightest. A bound for the small program proves the same for the whole one: with v the terms of its
weights and W = Sum_{x in class} (c_x + v_x) the reduced costs of a class at each output, weights on
the rows q_x <= q_x' inside the class move cost from x' to x, until each member has W / |class|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.cone import CarryBack, Cone, Multipliers
from mechdesign.routes.base import FamilyDual
from mechdesign.routes.lp.backends import reduced_costs

__all__ = ["Merged", "merged"]


@dataclass(frozen=True)
class Merged:
    """A problem with one input for each class of inputs that must have equal rows.

    Attributes
    ----------
    cone
        Its columns have ``n_classes`` entries.
    cost
        ``(n_classes, n_outputs)``: the sum over each class of the costs of its inputs.
    member_of
        ``(n_inputs,)``: the class of each input.
    whole
        The cone that was merged.
    whole_cost
        ``(n_inputs, n_outputs)``.
    carry
        For each family, what takes multipliers on its merged rows back.
    """

    cone: Cone
    cost: FloatArray
    member_of: IntArray
    whole: Cone
    whole_cost: FloatArray
    carry: tuple[CarryBack, ...]

    @property
    def note(self) -> str:
        """What was merged, in words."""
        return f"{len(self.member_of)} inputs merged to {len(self.cost)}, as rows must be equal"

    def expand(self, matrix: FloatArray) -> FloatArray:
        """Return the channel on all inputs: each has the row of its class."""
        return matrix[self.member_of]

    def carry_back(self, duals: Sequence[FamilyDual]) -> list[FamilyDual]:
        """Return weights on rows of the whole cone that prove the same bound.

        Parameters
        ----------
        duals
            Weights on the rows of :attr:`cone`, one for each family, in the unit of :attr:`cost`.
        """
        found = [
            FamilyDual(n, *carry(dual.multipliers, dual.priors))
            for n, (carry, dual) in enumerate(zip(self.carry, duals, strict=True))
        ]
        return self._evened(found)

    def _evened(self, duals: list[FamilyDual]) -> list[FamilyDual]:
        """Add weights inside the classes that give each member the same reduced cost."""
        reduced = reduced_costs(self.whole, self.whole_cost, duals)
        size = np.bincount(self.member_of)
        total = np.zeros(self.cost.shape)
        np.add.at(total, self.member_of, reduced)
        lack = (total / size[:, None])[self.member_of] - reduced
        moves = _tree_moves(self.whole, lack)
        return [
            FamilyDual(d.notion, (*d.multipliers, *moves.get(d.notion, ())), d.priors)
            for d in duals
        ]


def merged(cone: Cone, cost: FloatArray) -> Merged | None:
    """Merge the inputs whose rows must be equal; None where there are none.

    Parameters
    ----------
    cone
        Bounds on ratios of entries, and on lifts for a list of priors.
    cost
        ``(n_inputs, n_outputs)`` costs of a loss that is expected, not a worst case.

    Examples
    --------
    >>> from mechdesign import ContextAwareLDP, Domain
    >>> cone = ContextAwareLDP([[0, 0, 2], [1, 0, 1], [1, 1, 0]]).cone(Domain.range(3))
    >>> small = merged(cone, np.eye(3))
    >>> small.cost
    array([[1., 1., 0.],
           [0., 0., 1.]])
    >>> small.note
    '3 inputs merged to 2, as rows must be equal'
    """
    pairs = [rows for family in cone.families if (rows := family.ratio_rows()) is not None]
    if not pairs:
        return None
    member_of = Cone(pairs).equal_classes()
    n_classes = int(member_of.max()) + 1
    if n_classes == len(member_of):
        return None
    small = [found for family in cone.families if (found := family.merged(member_of)) is not None]
    if len(small) < len(cone.families):
        return None
    families, carry = zip(*small, strict=True)
    total = np.zeros((n_classes, cost.shape[1]))
    np.add.at(total, member_of, cost)
    return Merged(Cone(families), total, member_of, cone, cost, carry)


def _tree_moves(cone: Cone, lack: FloatArray) -> dict[int, list[Multipliers]]:
    """Return weights that add ``lack`` to the costs of the inputs, by family.

    In every class the lacks sum to 0. They are sent along a tree of the pairs with bound 1. Where
    such a pair has only one direction, what is sent is raised by the same at all outputs until
    none is negative, which changes no bound: what one input gains at every output the other loses.
    """
    none = sp.csr_array((cone.size, cone.size))
    ties = [none if f.ratio_rows() is None else f.forced_equal() for f in cone.families]
    graph = sp.csr_array(sum(ties, start=none))
    directed = [tie.toarray() > 0 for tie in ties]
    seen = np.zeros(cone.size, dtype=bool)
    moves: dict[int, list[Multipliers]] = {}
    lack = lack.copy()
    for root in range(cone.size):
        if seen[root]:
            continue
        order, parent = breadth_first_order(graph, root, directed=False)
        seen[order] = True
        for x in order[:0:-1].tolist():  # from the leaves: x asks its parent for what it lacks
            up = int(parent[x])
            for n, found in _one_move(directed, x, up, lack[x]):
                moves.setdefault(n, []).append(found)
            lack[up] += lack[x]
    return moves


def _one_move(
    directed: list[npt.NDArray[np.bool_]], x: int, up: int, amount: FloatArray
) -> list[tuple[int, Multipliers]]:
    """Move cost ``amount``, by output, from ``up`` to ``x``; what is negative, the other way."""
    there = next((n for n, tied in enumerate(directed) if tied[x, up]), None)
    back = next((n for n, tied in enumerate(directed) if tied[up, x]), None)
    if there is None:
        amount = amount - amount.max()
    elif back is None:
        amount = amount - amount.min()
    found = []
    for n, a, b, weight in ((there, x, up, amount), (back, up, x, -amount)):
        y = np.flatnonzero(weight > 0)
        if n is not None and len(y):
            places = (y, np.full(len(y), a), np.full(len(y), b))
            found.append((n, Multipliers("ratio", *places, weight=weight[y])))
    return found
