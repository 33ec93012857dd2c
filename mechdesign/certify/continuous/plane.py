"""Points of a box in the plane: the problem, value and bound of a kernel, and the check of a file.

Each axis has nodes; a point is rounded on each axis by itself, so that it goes to one of the four
corners of its cell, with weights w_i(x) = u(x_1) v(x_2) that sum to 1 and have the mean x. So
Theorem 1 of the package holds as it stands: kernels on the box and channels of the nodes, at the
law P_i of the node, satisfy the same notions. With s = (x_1 - t) / h in a cell, let U_0, U_1, U_2 =
(1 - s)**2, s (1 - s), s**2, and V the same on the other axis. All that is read of the law are the
nine means M_ab of U_a V_b over each cell; 1 is the sum of U_a V_b with weights (1, 2, 1) on each
axis, and a product w_i w_j of the weights of two corners is one of them.

*Value.* Let d be the Euclidean distance or its square, and v(x) = h_1**2 U_1 + h_2**2 V_1 the
variance of the rounding. d is convex, so that d(x, y) <= Sum_j w_j(x) d(t_j, y) - v(x), where v is
left out for the distance; for the square it is an equation. Hence the loss at x is at most
Sum_ij w_i w_j L_ij - v with L_ij = Sum_y Q_i(y) d(t_j, y), linear in U_a V_b. Its mean is by the
M_ab; its largest value is at most the largest coefficient in the basis of Bernstein, U_0, 2 U_1,
U_2 on each axis, whose functions are >= 0 and sum to 1.

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

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise, product
from math import isqrt
from typing import Any

from mechdesign.certify.continuous.kernel import SQUARED
from mechdesign.certify.continuous.relaxation import OF_LAW, Relaxation, with_costs
from mechdesign.certify.fixed_point import (
    fraction_steps,
    longest,
    over_one_denominator,
    total,
)
from mechdesign.certify.problem import number
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["Plane", "PlaneKernel", "plane_relaxation", "read_plane", "read_points"]

ONE = (1, 2, 1)
"""The weights of U_0, U_1, U_2 in 1."""

CORNERS = tuple(product((0, 1), repeat=2))
PAIRS = tuple(product(range(3), repeat=2))

ROOT_BITS = 64
LOSSES = "the losses of the relaxation"

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Plane:
    """A problem on a box that is rounded to nodes.

    Attributes
    ----------
    axes
        The nodes of each axis, from end to end of the box.
    cells
        For each cell the nine means M_ab, b running first; cells in rows along the second axis.
    privacy
        The tables of the notions.
    utility
        The table of the loss.
    error
        What the means may be off by, summed.
    """

    axes: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
    cells: tuple[tuple[Fraction, ...], ...]
    privacy: list[dict[str, Any]]
    utility: dict[str, Any]
    error: Fraction = Fraction(0)

    domain = "box"

    @cached_property
    def nodes(self) -> list[Point]:
        """The nodes, in rows along the second axis."""
        return list(product(*self.axes))

    @property
    def on_nodes(self) -> list[dict[str, Any]]:
        """The tables of the notions: none is about regions."""
        return self.privacy

    @property
    def outputs(self) -> list[int]:
        """The numbers of the nodes, all of which may be outputs."""
        return list(range(len(self.nodes)))

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.cells)

    @cached_property
    def widths(self) -> tuple[list[Fraction], list[Fraction]]:
        """The widths of the cells on each axis."""
        first, second = ([b - a for a, b in pairwise(axis)] for axis in self.axes)
        return first, second

    @cached_property
    def places(self) -> list[tuple[tuple[int, ...], Point]]:
        """For each cell the numbers of its corners, and its widths."""
        across = len(self.axes[1])
        return [
            (tuple((c + p) * across + d + q for p, q in CORNERS), (h, k))
            for c, h in enumerate(self.widths[0])
            for d, k in enumerate(self.widths[1])
        ]

    @cached_property
    def prior(self) -> list[Fraction]:
        """The law of the node.

        Raises
        ------
        CertificateError
            If the means are those of no law: one is negative, masses do not sum to 1, or a mean of
            a product is larger than the inequality of Cauchy and Schwarz allows.
        """
        length = longest(part for cell in self.cells for part in cell)
        spend(60 * len(self.cells) * fraction_steps(length), "the moments of the cells")
        masses = [Fraction(0)] * len(self.nodes)
        for cell, (corners, _) in zip(self.cells, self.places, strict=True):
            at = dict(zip(PAIRS, cell, strict=True))
            sides = [[sum(w * at[a, b] for b, w in enumerate(ONE)) for a in range(3)]]
            sides += [[sum(w * at[a, b] for a, w in enumerate(ONE)) for b in range(3)]]
            if min(cell) < 0 or any(low * high < both * both for low, both, high in sides):
                raise CertificateError("no law has the moments that the file gives for a cell")
            for i, (p, q) in zip(corners, CORNERS, strict=True):
                masses[i] += at[p, q] + at[p, q + 1] + at[p + 1, q] + at[p + 1, q + 1]
        if total(masses) != 1:
            raise CertificateError("the masses of the cells do not sum to 1")
        return masses

    @cached_property
    def variance(self) -> Fraction:
        """The mean of v."""
        parts = []
        for cell, (_, (h, k)) in zip(self.cells, self.places, strict=True):
            at = dict(zip(PAIRS, cell, strict=True))
            parts.append(h * h * sum(w * at[1, b] for b, w in enumerate(ONE)))
            parts.append(k * k * sum(w * at[a, 1] for a, w in enumerate(ONE)))
        return total(parts)


@dataclass(frozen=True)
class PlaneKernel:
    """The kernel of a channel of the nodes, whose outputs are points.

    Attributes
    ----------
    stated
        The problem.
    columns
        The integers of the channel, a list for each output.
    bits
        The power of 2 that they are over.
    outputs
        The points.
    """

    stated: Plane
    columns: list[list[int]]
    bits: int
    outputs: list[Point]

    def value(self) -> Fraction:
        """Return at least the loss on the box."""
        stated, squared = self.stated, self.stated.utility["objective"] == SQUARED
        loss, unit = self._losses(squared)
        coefficients = []
        for corners, (h, k) in stated.places:
            sums = dict.fromkeys(PAIRS, 0)
            for (p, q), i in zip(CORNERS, corners, strict=True):
                for (r, s), j in zip(CORNERS, corners, strict=True):
                    sums[p + r, q + s] += loss(i, j)
            found = {place: Fraction(entry, unit) for place, entry in sums.items()}
            if squared:
                for n, w in enumerate(ONE):
                    found[1, n] -= w * h * h
                    found[n, 1] -= w * k * k
            coefficients.append(found)
        if stated.utility["worst_case"]:
            return max(
                entry / (ONE[a] * ONE[b])
                for found in coefficients
                for (a, b), entry in found.items()
            )
        cells = zip(stated.cells, coefficients, strict=True)
        parts = [
            m * found[place] for cell, found in cells for place, m in zip(PAIRS, cell, strict=True)
        ]
        return total(parts)

    def _losses(self, squared: bool) -> tuple[Any, int]:
        """Return the loss of the row of node i at the place of node j, and what it is over."""
        nodes, outputs = self.stated.nodes, self.outputs
        flat, unit = over_one_denominator([part for point in (*nodes, *outputs) for part in point])
        points = list(zip(flat[::2], flat[1::2], strict=True))
        spend(
            16 * len(nodes) * len(outputs) * (1 + unit.bit_length() // 128),
            "the loss of the kernel",
        )
        rows = list(zip(*self.columns, strict=True))
        far = [
            [(a - c) ** 2 + (b - d) ** 2 for c, d in points[len(nodes) :]]
            for a, b in points[: len(nodes)]
        ]
        if squared:
            scale = unit * unit
        else:  # roots rounded up
            far = [[1 + isqrt((n << 2 * ROOT_BITS) - 1) if n else 0 for n in row] for row in far]
            scale = unit << ROOT_BITS

        def loss(i: int, j: int) -> int:
            return sum(q * d for q, d in zip(rows[i], far[j], strict=True) if q)

        return loss, scale << self.bits


def plane_relaxation(stated: Plane) -> Relaxation:
    """Return the program that bounds the loss of every private kernel on the box.

    Raises
    ------
    CertificateError
        If no bound is known for such a problem.
    """
    squared, worst = stated.utility["objective"] == SQUARED, stated.utility["worst_case"]
    if worst and any(table["notion"] in OF_LAW for table in stated.privacy):
        raise CertificateError("no bound is known for the worst case by the law of a point")
    taken = [Fraction(0)] * len(stated.outputs)
    losses, unit = _squares(stated) if squared else _distances(stated, worst=worst)
    costs = [[Fraction(entry, unit) for entry in row] for row in losses]
    shift = stated.variance if squared and not worst else Fraction(0)
    return with_costs(stated, stated.outputs, stated.prior, costs, taken, shift)


Rectangle = tuple[tuple[int, int], tuple[int, int]]
Losses = list[list[int]]


def _whole(stated: Plane) -> tuple[tuple[list[int], list[int]], int]:
    """Return the axes as integers over one unit."""
    flat, unit = over_one_denominator([*stated.axes[0], *stated.axes[1]])
    return (flat[: len(stated.axes[0])], flat[len(stated.axes[0]) :]), unit


def _squares(stated: Plane) -> tuple[Losses, int]:
    """Return the squares of distances less what outputs between nodes take off; and their unit."""
    axes, unit = _whole(stated)
    nodes = list(product(*axes))
    spend(20 * len(nodes) ** 2 * (1 + unit.bit_length() // 128), LOSSES)
    less = [h * h + k * k for h, k in product(*map(_larger, axes))]
    pairs = [(c, d, own) for (c, d), own in zip(nodes, less, strict=True)]
    rows = [[4 * (a - c) ** 2 + 4 * (b - d) ** 2 - own for c, d, own in pairs] for a, b in nodes]
    return rows, 4 * unit * unit


def _distances(stated: Plane, *, worst: bool) -> tuple[Losses, int]:
    """Return the distances less what inputs and outputs inside cells take off; and their unit."""
    axes, unit = _whole(stated)
    nodes = list(product(*axes))
    cells: list[Rectangle] = list(product(pairwise(axes[0]), pairwise(axes[1])))
    spend(150 * len(nodes) ** 2 * (1 + unit.bit_length() // 128), LOSSES)
    wide = [(b - a) ** 2 + (d - c) ** 2 for (a, b), (c, d) in cells]  # 4 V
    gap = cache(_gap)
    around: list[list[int]] = [[] for _ in nodes]
    for e, (corners, _) in enumerate(stated.places):
        for i in corners:
            around[i].append(e)
    of_cells = [[0] * len(cells) for _ in cells]
    if not worst:
        of_cells = [
            [gap(own, _between(cell, other)) for other in cells]
            for cell, own in zip(cells, wide, strict=True)
        ]
    rows = []
    for i, (a, b) in enumerate(nodes):
        point = ((a, a), (b, b))
        less = [max(column) for column in zip(*(of_cells[c] for c in around[i]), strict=True)]
        for e, (cell, own) in enumerate(zip(cells, wide, strict=True)):
            less[e] += gap(own, _between(point, cell))
        row = []
        for (c, d), near in zip(nodes, around, strict=True):
            square = (a - c) ** 2 + (b - d) ** 2
            row.append(isqrt(square << 2 * ROOT_BITS) - max(less[e] for e in near))
        rows.append(row)
    return rows, unit << ROOT_BITS


def _larger(axis: list[int]) -> list[int]:
    """Return the larger width of the cells beside each node."""
    widths = [high - low for low, high in pairwise(axis)]
    return [widths[0], *map(max, pairwise(widths)), widths[-1]]


def _between(one: Rectangle, other: Rectangle) -> int:
    """Return the square of the distance of two rectangles."""
    (a, b), (c, d) = one
    (p, q), (r, s) = other
    return max(p - b, a - q, 0) ** 2 + max(r - d, c - s, 0) ** 2


def _gap(spread: int, apart: int) -> int:
    """Return g(V, r) times 2**64, rounded up, from 4 V and r**2."""
    if 16 * apart <= spread:
        return isqrt(spread << 2 * ROOT_BITS) // 2 + 1
    return (spread << 2 * ROOT_BITS) // (8 * isqrt(apart << 2 * ROOT_BITS)) + 1


def read_plane(problem: dict[str, Any], axes: list[list[str]]) -> Plane:
    """Return the problem of a file.

    Raises
    ------
    CertificateError
        If it contradicts itself.
    """
    first, second = (tuple(map(number, axis)) for axis in axes)
    ends = [list(map(number, side)) for side in problem["domain"]["box"]]
    for axis, side in zip((first, second), ends, strict=True):
        if any(low >= high for low, high in pairwise(axis)):
            raise CertificateError("the points of an axis do not rise")
        if [axis[0], axis[-1]] != side:
            raise CertificateError("the points do not go from end to end of the box")
    cells = [tuple(map(number, cell)) for cell in problem["moments"]["means"]]
    if len(cells) != (len(first) - 1) * (len(second) - 1) or any(len(cell) != 9 for cell in cells):
        raise CertificateError("there are not nine means for each cell between the points")
    asked = (problem["privacy"], problem["utility"])
    return Plane((first, second), tuple(cells), *asked, number(problem["moments"]["error"]))


def read_points(labels: list[Any]) -> list[Point]:
    """Return the points that the outputs are.

    Raises
    ------
    CertificateError
        If one is none, or comes twice.
    """
    found = []
    for label in labels:
        if type(label) is not list or [type(part) in (int, float) for part in label] != [True] * 2:
            raise CertificateError("an output is no point")
        found.append((number(label[0]), number(label[1])))
    if len(set(found)) < len(found):
        raise CertificateError("the channel has an output twice")
    return found
