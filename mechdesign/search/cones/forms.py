"""Forms of cones of ratios: one budget, a line, and the bounds that paths imply.

One budget, of which all extreme rays are known (LDP, high-low and block-structured LDP): bounds q_x
<= e**eps q_z for the protected inputs x of a block and every z in it. On an extreme ray every
protected input of one block is at the least entry or e**eps times it, and the block's other inputs
are at it; or the ray is a single unprotected input.

Source: Kairouz, Oh and Viswanath 2016 (staircase mechanisms, for LDP).

Shortest paths: a pair bounds ln(q_x / q_x') by its length E[x, x'], so a path of pairs bounds it by
the sum of their lengths. In floating point, for use by algorithms only: certificates use the rows
of the notion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions import Cone
from mechdesign.notions.rows.lift_rows import LARGEST_EXPONENT
from mechdesign.notions.rows.pair_rows import FREE
from mechdesign.problem import Problem


@dataclass(frozen=True)
class OneBudgetCone:
    """The blocks of such a cone.

    Attributes
    ----------
    blocks
        For each block: its inputs, and the protected ones among them.
    alone
        The unprotected inputs.
    low
        e**-eps: the entry of a ray at inputs that are not raised; raised inputs have 1.
    size
        The number of inputs.
    scales
        ``(n_inputs,)``: the entries of rays are times these, all 1 unless ``scaled``.
    """

    blocks: tuple[tuple[IntArray, IntArray], ...]
    alone: IntArray
    low: float
    size: int
    scales: FloatArray

    @classmethod
    def of(cls, cone: Cone, scaled: bool = False) -> Self | None:
        """Return the blocks of a cone; None for another form.

        With ``scaled`` entries may be divided by a prior, as in differential identifiability.
        """
        (only, *more) = cone.families
        family = only.ratio_rows()
        if more or family is None:
            return None
        bounded = family.index != FREE
        guarded = bounded.any(axis=1)
        used = np.unique(family.index[bounded]).tolist()
        prior = getattr(family.part, "prior", None) if scaled else None
        k, exponents = family.size, {family.exponents[b] for b in used}
        if len(exponents) != 1 or not (prior or all(family.scales[b] == 1 for b in used)):
            return None
        members: dict[bytes, list[int]] = {}  # keyed by the inputs that bound them
        np.fill_diagonal(bounded, True)
        for x in np.flatnonzero(guarded).tolist():
            members.setdefault(bounded[x].tobytes(), []).append(x)
        blocks = [np.frombuffer(block, dtype=bool) for block in members]
        if np.sum(blocks, axis=0).max() > 1:
            return None
        exponent = float(exponents.pop())
        return cls(
            tuple(
                (np.flatnonzero(block), np.array(inputs))
                for block, inputs in zip(blocks, members.values(), strict=True)
            ),
            np.flatnonzero(~guarded),
            math.exp(-min(exponent, LARGEST_EXPONENT)),
            k,
            np.array([1 / float(mass) for mass in prior or [1] * k]),
        )

    @property
    def block_groups(self) -> tuple[tuple[int, ...], ...] | None:
        """The blocks in the kernel's form; None for a single block of all inputs."""
        found = tuple(tuple(block.tolist()) for block, _ in self.blocks)
        return None if len(found) == 1 and len(found[0]) == self.size else found

    def subset_rays(self, most: int) -> FloatArray | None:
        """Return all rays, largest entry 1, ``(n_inputs, n_rays)``; None if there are too many.

        A block with all inputs raised is, up to scale, one with none raised.
        """
        if sum(1 << len(inputs) for _, inputs in self.blocks) > most:
            return None
        found = [np.eye(self.size)[:, self.alone]]
        for block, inputs in self.blocks:
            s = len(inputs)
            raised = (np.arange(1, 1 << s) >> np.arange(s)[:, None]) & 1
            rays = np.zeros((self.size, raised.shape[1]))
            rays[block] = self.low
            rays[inputs] = np.where(raised, 1.0, self.low)
            rays *= self.scales[:, None]
            found.append(rays / rays.max(axis=0))
        return np.hstack(found)


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


MOST_SPARSE = 0.1
"""The share of pairs up to which Dijkstra's algorithm is faster than Floyd-Warshall."""


def closure(E: FloatArray) -> FloatArray:
    """Return the lengths of shortest paths, with the same channels.

    Parameters
    ----------
    E
        ``(n_inputs, n_inputs)`` lengths >= 0; inf without a row. The diagonal is ignored.

    Examples
    --------
    >>> closure(np.array([[0, 1, 5], [np.inf, 0, 2], [np.inf, 0, 0]]))
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.],
           [inf,  0.,  0.]])
    """
    given = np.isfinite(E)
    np.fill_diagonal(given, False)
    x, other = np.nonzero(given)
    graph = csr_array((E[given], (x, other)), shape=E.shape)  # zeros stay, as edges of length 0
    by_each = len(x) <= MOST_SPARSE * E.size or not E[given].all()
    method: Literal["D", "FW"] = "D" if by_each else "FW"
    return np.asarray(shortest_path(graph, method=method))
