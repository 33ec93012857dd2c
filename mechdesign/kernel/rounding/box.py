"""A lower bound on the loss of private kernels on a box: a finite program on nodes.

*Bound, squared distance, on average.* As on an interval: the loss of K is Sum_i P_i Sum_y K_i(y)
|t_i - y|**2 less the mean of v. Outputs beyond the box move to its nearest point. One in a cell is
replaced by the corners, with the weights of its rounding: each cost rises by at most
(h_1**2 + h_2**2) / 4, which is taken off.

*Bound, Euclidean distance, on average.* Let T be a random corner of a cell with the weights of a
point x in it, and V = (h_1**2 + h_2**2) / 4 >= E|T - x|**2. Then E|T - y| - |x - y| is at most
E|T - x| <= V**(1/2), and at most V / (2 r) if the cell is at a distance of at least r from y: the
second derivative of |. - y| is at most 1 / r there, and the mean of T is x. Let g(V, r) be the
smaller of the two. It bounds what the rounding of x adds to the loss at an output y, and what the
replacement of an output y by corners adds to the loss at a node t_i. So costs
|t_i - s_j| - max g(V_c, r_ce) - max g(V_e, r_ie) at nodes bound the loss of K from below, with the
largest over the cells c around node i and e around node j, and distances r of cells, and of t_i
from e.

*Worst case.* The inputs at the nodes alone are a relaxation, unless a notion depends on the law;
outputs are replaced as before: the costs are |t_i - s_j| - max g(V_e, r_ie), or the square less
(h_1**2 + h_2**2) / 4.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import isqrt

from mechdesign.kernel.arithmetic import lattice, need
from mechdesign.kernel.rounding.hard_cells import beside
from mechdesign.kernel.rounding.interval import of_law
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.rounding.program import Costs, Program, program

__all__ = ["box_program"]

ROOT_BITS = 64

Side = tuple[int, int]
Rectangle = tuple[Side, ...]


def box_program(rounded: Rounded) -> Program:
    """Return the program that bounds the loss of every private kernel on a box.

    Raises
    ------
    CertificateError
        If no bound is known for such a problem.
    """
    worst = rounded.worst_case
    known = not (worst and of_law(rounded))
    need(known, "no bound is known for the worst case of a point under a notion with a law")
    costs = _squares(rounded) if rounded.squared else _distances(rounded)
    exact = rounded.squared and not worst
    return program(rounded, rounded.variance if exact else Fraction(0), costs)


def _squares(rounded: Rounded) -> Costs:
    """Return the squares of distances less what outputs between nodes take off."""
    nodes, unit = lattice(rounded.points)
    sides = [sorted(set(axis)) for axis in zip(*nodes, strict=True)]
    wide = [beside([b - a for a, b in pairwise(side)]) for side in sides]
    less = [sum(h * h for h in widths) for widths in product(*wide)]
    rows = [
        [
            4 * sum((a - b) ** 2 for a, b in zip(node, other, strict=True)) - own
            for other, own in zip(nodes, less, strict=True)
        ]
        for node in nodes
    ]
    return rows, 4 * unit * unit


def _distances(rounded: Rounded) -> Costs:
    """Return the distances less what inputs and outputs inside cells take off."""
    nodes, unit = lattice(rounded.points)
    sides = [sorted(set(axis)) for axis in zip(*nodes, strict=True)]
    cells: list[Rectangle] = list(product(*map(pairwise, sides)))
    wide = [sum((b - a) ** 2 for a, b in cell) for cell in cells]  # 4 V
    gap = cache(_gap)
    around: list[list[int]] = [[] for _ in nodes]
    for e, found in enumerate(rounded.cells):
        for _, i in found:
            around[i].append(e)
    of_cells = [[0] * len(cells)] * len(cells)
    if not rounded.worst_case:
        of_cells = [
            [gap(own, _between(cell, other)) for other in cells]
            for cell, own in zip(cells, wide, strict=True)
        ]
    rows = []
    for i, node in enumerate(nodes):
        point = tuple((a, a) for a in node)
        less = [max(column) for column in zip(*(of_cells[c] for c in around[i]), strict=True)]
        for e, (cell, own) in enumerate(zip(cells, wide, strict=True)):
            less[e] += gap(own, _between(point, cell))
        row = []
        for other, near in zip(nodes, around, strict=True):
            square = sum((a - b) ** 2 for a, b in zip(node, other, strict=True))
            row.append(isqrt(square << 2 * ROOT_BITS) - max(less[e] for e in near))
        rows.append(row)
    return rows, unit << ROOT_BITS


def _between(one: Rectangle, other: Rectangle) -> int:
    """Return the square of the distance of two rectangles."""
    pairs = zip(one, other, strict=True)
    return sum(max(c - b, a - d, 0) ** 2 for (a, b), (c, d) in pairs)


def _gap(spread: int, apart: int) -> int:
    """Return g(V, r) times 2**64, rounded up, from 4 V and r**2."""
    root, square = isqrt(apart << 2 * ROOT_BITS), spread << 2 * ROOT_BITS
    near = isqrt(square) // 2 + 1
    return min(near, square // (8 * root) + 1) if root else near
