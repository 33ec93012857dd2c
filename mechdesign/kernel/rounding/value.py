"""The loss of a kernel on an interval or a box, rounded up, and what it leaks by distance.

Let d be the loss and v(x) = Sum_a h_a**2 s_a (1 - s_a) the variance of the rounding of x. d is
convex, so that d(x, y) <= Sum_j w_j(x) d(t_j, y), less v(x) for the square, where it is an
equation; on a line it is one too unless y is inside the cell of x. Q(y|x) = Sum_i w_i(x) Q_i(y), so
that the loss at x is at most

    Sum_ij w_i w_j L_ij - v,    L_ij = Sum_y Q_i(y) d(t_j, y),

linear in the products of U_0, U_1, U_2. Its mean is by the moments of the cell. Its largest value
on a line is that of a parabola; on a box it is at most the largest coefficient in the basis of
Bernstein, U_0, 2 U_1, U_2 on each axis, whose functions are >= 0 and sum to 1. Beyond the last node
t the absolute error is at most d(t, y) + r, and the square is expanded in the distance r.

*Best estimate.* E X**2 - Sum_y (integral of x Q(y|x) dmu)**2 / lambda_y, from the means of w_i x.

*Unbiased readings.* S(x) = Sum_y Q(y|x) v_y**2 is linear in a cell [t, t + h], as Q is, and so is
the mean of the readings, which is x at the nodes and so everywhere. The variance S(x) - x**2 is
(1-u) V + u V' + u (1-u) h**2 with V = S(t) - t**2, a parabola; on average it is that of the nodes
plus the mean of v.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import lattice
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.losses import DistanceLosses
from mechdesign.kernel.names.losses import DistanceLoss
from mechdesign.kernel.objectives import GainObjective, Objective, Reading
from mechdesign.kernel.rounding.moments import PLACES, WEIGHTS
from mechdesign.kernel.rounding.nodes import Cell, Rounded
from mechdesign.kernel.statement import Statement
from mechdesign.kernel.value import decoder, value

__all__ = ["highest", "kernel_decoder", "kernel_value", "slope"]

Columns = Sequence[Sequence[int]]
Points = Sequence[tuple[Fraction, ...]]


def _objective(rounded: Rounded) -> GainObjective | Reading | None:
    """Return what the best estimate or the readings are of; None for a loss of the outputs."""
    if isinstance(rounded.utility, DistanceLoss):
        return None
    if rounded.utility.reads == "mean":
        return GainObjective(Squares((tuple(rounded.means),), rounded.prior), rounded.square)
    return Reading(rounded.axes[0], None if rounded.worst_case else rounded.prior)


def kernel_value(
    rounded: Rounded,
    columns: Columns,
    bits: int,
    outputs: Points,
    readings: Sequence[Fraction] | None = None,
) -> Fraction:
    """Return the loss of the kernel, or a little more.

    Parameters
    ----------
    rounded
        The problem.
    columns, bits
        The channel of the nodes: integers over ``2**bits``.
    outputs
        The points that the outputs are, for a loss of them.
    readings
        The unbiased readings, for their variance.

    Raises
    ------
    CertificateError
        If the readings are biased.
    """
    aim, whole = _objective(rounded), 1 << bits
    if aim is None:
        return _loss(rounded, columns, whole, outputs)
    found = value(_on_nodes(rounded, aim), columns, whole, readings=readings)
    if isinstance(aim, GainObjective):
        return found
    if aim.weights is not None:
        return found + rounded.variance
    (nodes,), squares = rounded.axes, [v * v for v in readings or ()]
    second = [
        sum((q * s for q, s in zip(row, squares, strict=True)), Fraction(0)) / whole
        for row in zip(*columns, strict=True)
    ]
    ends = pairwise(zip(nodes, second, strict=True))
    return max(highest(a - s * s, a + b - 2 * s * t, b - t * t) for (s, a), (t, b) in ends)


def kernel_decoder(
    rounded: Rounded, columns: Columns, bits: int, readings: Sequence[Fraction] | None = None
) -> list[Fraction] | None:
    """Return the posterior mean, or the reading, of each output; None for a loss of the outputs."""
    aim, reads = _objective(rounded), rounded.utility.reads
    if aim is None:
        return None
    statement = _on_nodes(rounded, aim)
    return decoder(statement, reads, rounded.labels, columns, 1 << bits, readings)


def _on_nodes(rounded: Rounded, aim: Objective) -> Statement:
    return Statement(len(rounded.points), (), (), aim)


def _loss(rounded: Rounded, columns: Columns, whole: int, outputs: Points) -> Fraction:
    dimension, squared = len(rounded.axes), rounded.squared
    places, unit = lattice([*rounded.points, *outputs])
    k = len(rounded.points)
    kind = "squared" if squared else "euclidean"
    losses = DistanceLosses(places[:k], places[k:], unit, kind)
    far = list(zip(*(losses.upper(y) for y in range(len(outputs))), strict=True))
    rows, unit = list(zip(*columns, strict=True)), losses.denominator * whole
    own = [sum(q * d for q, d in zip(rows[i], far[i], strict=True)) for i in range(k)]

    def coefficients(cell: Cell) -> list[Fraction]:
        sums = dict.fromkeys(PLACES[dimension], 0)
        for (p, i), (q, j) in product(cell.corners, repeat=2):
            loss = own[i] if i == j else sum(a * b for a, b in zip(rows[i], far[j], strict=True))
            sums[tuple(map(sum, zip(p, q, strict=True)))] += loss
        found = []
        for (place, total), weight in zip(sums.items(), WEIGHTS[3**dimension], strict=True):
            less = sum(
                h * h * weight / 2 for h, n in zip(cell.widths, place, strict=True) if n == 1
            )
            found.append(Fraction(total, unit) - (less if squared else 0))
        return found

    cells = [coefficients(cell) for cell in rounded.cells]
    if rounded.worst_case and dimension == 1:
        return max(highest(*found) for found in cells)
    if rounded.worst_case:
        weights = WEIGHTS[3**dimension]
        return max(c / w for found in cells for c, w in zip(found, weights, strict=True))
    mean = sum(
        (
            m * c
            for means, found in zip(rounded.moments.cells, cells, strict=True)
            for m, c in zip(means, found, strict=True)
        ),
        Fraction(0),
    )
    for i, sign, (mass, first, second) in zip((0, -1), (-1, 1), rounded.moments.tails, strict=True):
        if mass:
            node, y = rounded.points[i][0], [point[0] for point in outputs]
            drift = (
                node - sum((q * v for q, v in zip(rows[i], y, strict=True)), Fraction(0)) / whole
            )
            mean += mass * Fraction(own[i], unit)
            mean += second + 2 * sign * drift * first if squared else first
    return mean


def highest(low: Fraction, across: Fraction, high: Fraction) -> Fraction:
    """Return the maximum of low (1-u)**2 + across u (1-u) + high u**2 for u from 0 to 1."""
    bend, rise = low + high - across, across - 2 * low
    ends = max(low, high)
    if bend >= 0 or not 0 < rise < -2 * bend:
        return ends
    return max(ends, low + rise * rise / (-4 * bend))


def slope(rounded: Rounded, columns: Columns) -> Fraction:
    """Return the least epsilon of metric privacy |x - x'| on the interval, exactly.

    The kernel satisfies it exactly if max(Q_(i+1)(y), Q_i(y)) <= (1 + epsilon h_i) min(...) for all
    outputs and neighboring nodes, h_i apart. Between nodes Q(y|x) is linear in x, so that
    |d ln Q / dx| is largest where Q is least, at an end: there it is (r - 1) / h_i for the ratio r
    of the two ends. The logarithm of Q(y|x) is Lipschitz with the largest of these numbers, and
    with no smaller one.

    Raises
    ------
    CertificateError
        If there is none: an output has a probability 0 at one node only.
    """
    steepest = Fraction(0)
    for column in columns:
        for (q, other), width in zip(pairwise(column), rounded.widths[0], strict=True):
            low, high = min(q, other), max(q, other)
            if low == 0 < high:
                raise CertificateError("a probability is 0 at one node and not at the next")
            if low < high:
                steepest = max(steepest, Fraction(high - low, low) / width)
    return steepest
