"""Inputs on a line: bounds on the ratios of neighbors, which imply all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.problem import Problem

FOLLOWS = 1e-12
"""Relative amount by which a bound may be tighter than what neighbors imply."""

SHORTEST, LONGEST = 1e-9, 700.0
"""Neighbors closer than this, in both directions together, count as one input; and e to more than
the second is not a finite float."""


@dataclass(frozen=True)
class InputLine:
    """The inputs in an order in which bounds on ratios of neighbors imply all others.

    Attributes
    ----------
    order
        ``(k,)``: the inputs from one end to the other.
    up, down
        ``(k - 1,)``: how much ln q may rise, and fall, from each input to the next.
    """

    order: IntArray
    up: FloatArray
    down: FloatArray

    @classmethod
    def of_problem(cls, problem: Problem) -> Self | None:
        """Return the line of the inputs of a problem; None if there is none.

        They are taken in the order of their numbers, or as listed, as in the checker.
        """
        if not problem.cone.is_by_ratios or len(problem.domain) < 2:
            return None
        E = problem.cone.lengths()
        points = problem.domain.coordinates
        in_line = points is not None and len(points[0]) == 1
        order = (
            sorted(range(len(E)), key=points.__getitem__) if in_line and points else range(len(E))
        )
        return cls.of(E, np.array(order, dtype=np.intp))

    @classmethod
    def of(cls, E: FloatArray, order: IntArray) -> Self | None:
        """Return the line in an order if bounds E on ln(q_x / q_x') have this form; else None."""
        x, z = order[:-1], order[1:]
        up, down = E[z, x], E[x, z]
        if max(up.max(), down.max()) > LONGEST or (up + down).min() < SHORTEST:
            return None
        rise = np.concatenate([[0.0], np.cumsum(up)])
        fall = np.concatenate([[0.0], np.cumsum(down)])
        after = np.tri(len(order), k=-1, dtype=bool)
        implied = np.where(after, rise[:, None] - rise, fall - fall[:, None])
        slack = E[np.ix_(order, order)] - implied
        np.fill_diagonal(slack, 0.0)
        return cls(order, up, down) if (slack >= -FOLLOWS * np.abs(implied)).all() else None

    def rays(self) -> FloatArray:
        """Return for each position z the least column that is 1 there, ``(k, k)``."""
        k = len(self.order)
        rise = np.concatenate([[0.0], np.cumsum(self.up)])
        fall = np.concatenate([[0.0], np.cumsum(self.down)])
        ahead = np.tri(k, dtype=bool)  # x >= z: from z on ln q falls as fast as allowed
        return np.asarray(np.exp(np.where(ahead, fall - fall[:, None], rise[:, None] - rise)))
