"""Merging of inputs whose rows must be equal: one input for each class.

Bounds of 1 make two rows of a channel equal, as both sum to 1. If all rows bound ratios, the inputs
of a class are replaced by one, with the sum of their costs, and with the tightest of their bounds
against others.

A bound for the small program proves the same for the whole one. Let r_x(y) be the reduced costs,
costs plus terms of multipliers, with the multipliers of a class on rows of its members. The term of
a row q_x <= q_x' inside the class adds to r_x what it takes from r_x', and so r can be moved within
the class until all members have R / |class|, with R(y) = Sum_{x in class} r_x(y) the reduced costs
of the small program. Then Sum_x min_y r_x(y) over the class is min_y R(y).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.cone import Cone, Multipliers
from mechdesign.notions.rows.family import edges_of
from mechdesign.search.presolve.reduction import Answer, ConicProgram, Reduced, reduced_costs


def merge_inputs(program: ConicProgram) -> Reduced | None:
    """Merge the inputs whose rows must be equal, for bounds on ratios and an expected loss.

    Examples
    --------
    >>> from mechdesign import ContextAwareLDP, Domain
    >>> cone = ContextAwareLDP([[0, 0, 2], [1, 0, 1], [1, 1, 0]]).cone(Domain.range(3))
    >>> merged = merge_inputs(ConicProgram(cone, np.eye(3)))
    >>> merged.programs[0].cost
    array([[1., 1., 0.],
           [0., 0., 1.]])
    >>> merged.note
    '3 inputs merged to 2, as rows must be equal'
    """
    pairs = program.cone.ratios.values()
    if not program.cone.is_by_ratios or program.worst_case or program.input_orbit is not None:
        return None
    member_of = program.cone.equal_classes()
    count = int(member_of.max()) + 1
    if count == len(member_of):
        return None
    merged, first, second = zip(*(rows.merged(member_of) for rows in pairs), strict=True)
    cost = np.zeros((count, program.cost.shape[1]))
    np.add.at(cost, member_of, program.cost)
    note = f"{len(member_of)} inputs merged to {count}, as rows must be equal"
    # rows are equal as they sum to 1, not column by column, so prices do not suffice
    left = ConicProgram(Cone(merged), cost)

    def invert(answers: Sequence[Answer]) -> Answer:
        (answer,) = answers
        taken = [
            replace(m, x=first[m.notion][m.x, m.other], other=second[m.notion][m.x, m.other])
            for m in answer.duals
        ]
        duals = _evened(program, member_of, taken)
        return replace(answer, matrix=answer.matrix[member_of], duals=duals, potentials=None)

    return Reduced((left,), note, invert)


def _evened(
    whole: ConicProgram, member_of: IntArray, duals: Sequence[Multipliers]
) -> list[Multipliers]:
    """Add the multipliers that equalize the reduced costs of a class."""
    reduced = reduced_costs(whole, duals)
    size = np.bincount(member_of)
    total = np.zeros((len(size), reduced.shape[1]))
    np.add.at(total, member_of, reduced)
    return [*duals, *_tree_moves(whole.cone, (total / size[:, None])[member_of] - reduced)]


def _tree_moves(cone: Cone, lack: FloatArray) -> Iterator[Multipliers]:
    """Yield multipliers whose terms add ``lack`` to the costs of the inputs.

    In every class the lacks sum to 0. They are sent along a spanning tree of the pairs with bound
    1, from the leaves to the root, with a constant for all outputs so that nothing sent is
    negative. That changes no bound: the least cost of one input grows by the constant and that of
    the other falls by it.
    """
    tied = {
        pair: n
        for n, rows in cone.ratios.items()
        for pair in zip(*(end.tolist() for end in rows.forced_equal()), strict=True)
    }
    graph = sp.csr_array((np.ones(len(tied)), edges_of(tied)), shape=(cone.size, cone.size))
    seen, lack = set[int](), lack.copy()
    for root in range(cone.size):
        if root in seen:
            continue
        order, parent = breadth_first_order(graph, root, directed=False)
        seen.update(order.tolist())
        for x in order[:0:-1].tolist():  # the leaves first: x takes its lack from its parent
            up = int(parent[x])
            sign = 1 if (x, up) in tied else -1
            one, other = (x, up) if sign > 0 else (up, x)
            sent = sign * lack[x] - (sign * lack[x]).min()
            y = np.flatnonzero(sent)
            places = (y, np.full(len(y), one), np.full(len(y), other))
            yield Multipliers("", *places, weight=sent[y], notion=tied[one, other])
            lack[up] += lack[x]
