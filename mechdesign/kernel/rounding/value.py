"""The loss of a kernel on an interval or a box, rounded up, and its leakage by distance.

Let d be the loss and v(x) = Sum_ij w_i w_j |t_i - t_j|**2 / 2 the variance of the rounding of x. d
is convex, so that d(x, y) <= Sum_j w_j(x) d(t_j, y), less v(x) for the square, where it is an
equation; on a line it is one too unless y is inside the cell of x. Q(y|x) = Sum_i w_i(x) Q_i(y), so
that the loss at x is at most

    Sum_ij w_i w_j L_ij,    L_ij = Sum_y Q_i(y) d(t_j, y), less |t_i - t_j|**2 / 2 for the square,

linear in the products of U_0, U_1, U_2. Its mean is by those of w_i w_j. Its largest value on a
line is that of a parabola; on a box it is at most the largest coefficient in the basis of
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
from functools import cache
from itertools import pairwise, product
from operator import add, mul

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import lattice
from mechdesign.kernel.gains import Gain, Squares
from mechdesign.kernel.objectives import Objective, Reading, distances
from mechdesign.kernel.rounding.moments import PLACES, WEIGHTS
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.statement import Statement
from mechdesign.kernel.value import decoder, value

Columns = Sequence[Sequence[int]]
Points = Sequence[tuple[Fraction, ...]]
Cell = Sequence[tuple[tuple[int, ...], int]]


def _objective(rounded: Rounded) -> Gain | Reading | None:
    """Return the gain or reading of the estimate; None for a loss of the outputs."""
    if rounded.distance:
        return None
    if rounded.utility.reads == "mean":
        return Squares((tuple(rounded.means),), rounded.prior, constant=rounded.square)
    return Reading(rounded.axes[0], None if rounded.worst_case else rounded.prior)


def kernel_value(
    rounded: Rounded,
    columns: Columns,
    bits: int,
    outputs: Points,
    readings: Sequence[Fraction] | None = None,
) -> Fraction:
    """Return an upper bound on the loss of the kernel, up to rounding.

    ``rounded``: the problem.
    ``columns``, ``bits``: the channel of the nodes: integers over ``2**bits``.
    ``outputs``: the points of the outputs, for a loss of them.
    ``readings``: the unbiased readings, for their variance.
    """
    aim, whole = _objective(rounded), 1 << bits
    if aim is None:
        return _loss(rounded, columns, whole, outputs)
    found = value(_on_nodes(rounded, aim), columns, whole, readings=readings)
    if isinstance(aim, Gain):
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
    squared, k, dimension = rounded.distance == "squared", len(rounded.points), len(rounded.axes)
    places, unit = lattice([*rounded.points, *outputs])
    losses = distances(places[:k], places[k:], unit, rounded.distance)
    far = list(zip(*(losses.upper(y) for y in range(len(outputs))), strict=True))
    rows, below = list(zip(*columns, strict=True)), 2 * losses.denominator * whole

    @cache
    def loss(i: int, j: int) -> int:
        found: int = 2 * sum(map(mul, rows[i], far[j]))
        apart = sum((a - b) ** 2 for a, b in zip(places[i], places[j], strict=True))
        return found - whole * apart if squared else found

    def products(cell: Cell) -> list[Fraction]:
        """Return Sum_ij w_i w_j loss(i, j) in a cell, by products of U_0, U_1, U_2."""
        sums = dict.fromkeys(PLACES[dimension], 0)
        for (p, i), (q, j) in product(cell, repeat=2):
            sums[tuple(map(add, p, q))] += loss(i, j)
        return [Fraction(total, below) for total in sums.values()]

    if rounded.worst_case:
        peak = (lambda found: highest(*found)) if dimension == 1 else _coefficient
        return max(peak(products(cell)) for cell in rounded.cells)
    mean = sum((m * loss(i, j) for (i, j), m in rounded.pairs.items()), Fraction(0)) / below
    for i, sign, (mass, first, second) in zip((0, -1), (-1, 1), rounded.moments.tails, strict=True):
        if mass:
            read = sum((q * y for q, (y,) in zip(rows[i], outputs, strict=True)), Fraction(0))
            drift = rounded.points[i][0] - read / whole
            mean += second + 2 * sign * drift * first if squared else first
    return mean


def _coefficient(found: Sequence[Fraction]) -> Fraction:
    """Return the largest coefficient in the basis of Bernstein."""
    return max(c / w for c, w in zip(found, WEIGHTS[len(found)], strict=True))


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
