"""A lower bound on the loss of private kernels on an interval or a box: a finite program.

Notation: a private kernel K, nodes t_i with weights w_i and masses P_i, averages
K_i = (1/P_i) integral of w_i K dmu, which are private on the nodes (the theorem of the package).

*Squared distance, on average.* |x - y|**2 = Sum_i w_i(x) |t_i - y|**2 - v(x), with v(x) the
variance of the rounding, so that the loss of K is Sum_i P_i Sum_y K_i(y) |t_i - y|**2 - mean of v,
exactly. Outputs beyond the nodes move to the nearest point between them. An output y in a cell is
replaced by its corners, with the weights of its rounding: each |t_i - y|**2 rises by the variance
of that, at most the sum of h**2 / 4 over the sides h of the cell, which is taken off the cost of
the corners: at each node the most that a cell beside it asks.

*Absolute error, on average.* |x - y| = Sum_i w_i(x) |t_i - y| unless x and y lie in one cell
[s, s']. There, with x = s + a h and y = s + b h, the right side is larger by
2 h min(a, b) (1 - max(a, b)), at most (2 / h) (x - s)(s' - x). With a notion that bounds lifts,
K(y|x) <= C lambda(y), this comes to at most C V lambda(y), where V is (2 / h) times the integral of
(x - s)(s' - x) over the cell. So an output y inside the cell costs at least
Sum_i P_i K_i(y) (|t_i - y| - C V); |t_i - y| is linear in y there, and y is replaced by s and s'.
Hence: outputs at the nodes, costs |t_i - t_j| less C times the larger V of the two cells beside
t_j. Or, without a bound on lifts or where it is worse: -h at i = j, with h the larger width of the
two cells, since (1-a)(1-b)(-1) + a b (-1) + a (1-b) + b (1-a) = -(1-2a)(1-2b) <= |a - b|.
Beyond the first node, x goes to it: |x - y| >= |t_0 - y| for y >= t_0, and outputs below t_0 may
move there, as each cost falls to what is counted.

*Euclidean distance, on average.* Let T be a random corner of a cell with the weights of a
point x in it, and V = (h_1**2 + h_2**2) / 4 >= E|T - x|**2. Then E|T - y| - |x - y| is at most
E|T - x| <= V**(1/2), and at most V / (2 r) if the cell is at a distance of at least r from y: the
second derivative of |. - y| is at most 1 / r there, and the mean of T is x. Let g(V, r) be the
smaller of the two. It bounds what the rounding of x adds to the loss at an output y, and what the
replacement of an output y by corners adds to the loss at a node t_i. So costs
|t_i - s_j| - max g(V_c, r_ce) - max g(V_e, r_ie) at nodes bound the loss of K from below, with the
largest over the cells c around node i and e around node j, and distances r of cells, and of t_i
from e.

*Worst case.* The inputs at the nodes alone are a relaxation; outputs are replaced as before, at no
cost for the absolute error, and without what the rounding of x adds. But a notion that depends on
mu bounds the rows K(.|t_i) by the law of the output of K, which is not Sum_i P_i K(.|t_i). With
such a notion, on an interval, the rows are the averages K_i, and K(.|t_i) where P_i = 0. The
largest loss of K is at least its mean under w_i dmu / P_i, and |x - y| >= |t_i - y| - |x - t_i|.
So the absolute error is at least Sum_y K_i(y) |t_i - y| - r_i, with r_i the mean of |x - t_i|: the
sum over the cells beside t_i of h times the integral of w w', over P_i. The squared error is at
least the mean of max(|t_i - y| - h, 0)**2, with h the larger width of the two cells; the chord of
this between nodes is above it by at most a quarter of the square of their distance, as for
(t_i - y)**2, since its second derivative is at most 2 too.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import isqrt

from mechdesign.exact import LARGEST_EXPONENT, exp_upper
from mechdesign.kernel.arithmetic import lattice, need, shortened
from mechdesign.kernel.generators import Constant, Lift, Ratio
from mechdesign.kernel.losses import ROOT_BITS, distances
from mechdesign.kernel.names import Domain
from mechdesign.kernel.rounding.hard_cells import hard_cells
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.rounding.program import (
    Costs,
    Program,
    beside,
    less,
    on_nodes,
    program,
    stretched,
)
from mechdesign.kernel.rounding.readings import estimates, readings
from mechdesign.kernel.schema import Label

SHORT_BITS = 24

Rectangle = tuple[tuple[int, int], ...]


def program_of(rounded: Rounded) -> Program:
    """Return the program that bounds the loss of every private kernel.

    Raises
    ------
    CertificateError
        If no bound is known for the problem.
    """
    worst, metric, distance = rounded.worst_case, rounded.metric, rounded.distance
    line, averages = len(rounded.axes) == 1, worst and of_law(rounded)
    free = bool(distance) and not worst and metric is None
    need(rounded.is_bounded or free, "no bound is known on an interval without end")
    need(not averages or (line and metric is None), "no bound is known in the worst case by law")
    places = None if metric is None else stretched(rounded.widths[0], up=True)
    if not distance:
        need(metric is None or worst, "no bound is known by distance of a number that is read")
        if rounded.utility.reads == "mean":
            return estimates(rounded)
        return readings(rounded, averages, places)
    if metric is not None and not worst:
        return hard_cells(rounded)
    if averages:
        return program(rounded, costs=_of_averages(rounded))
    costs = {"absolute": _absolute, "squared": _squared, "euclidean": _euclidean}[distance](rounded)
    exact = distance == "squared" and not worst
    return program(rounded, rounded.variance if exact else Fraction(0), costs, inputs=places)


def of_law(rounded: Rounded) -> bool:
    """Return whether a notion depends on the law: whether it is the same at two laws."""
    inputs = Domain(values=(Label(0), Label(1)))
    even, first = (inputs.inputs((p, 1 - p)) for p in (Fraction(1, 2), Fraction(1)))
    return any(notion.asked(even) != notion.asked(first) for notion in rounded.privacy)


def node_losses(rounded: Rounded) -> Costs:
    """Return the losses at the nodes of the outputs there, roots rounded down."""
    nodes, unit = lattice(rounded.points)
    losses = distances(nodes, nodes, unit, rounded.distance)
    return [losses.lower(y) for y in range(len(nodes))], losses.denominator


def _squared(rounded: Rounded) -> Costs:
    """Return the squares of distances minus the correction for outputs inside cells."""
    sides = [beside([h * h for h in widths]) for widths in rounded.widths]
    return less(*node_losses(rounded), [sum(s, Fraction(0)) / 4 for s in product(*sides)])


def _absolute(rounded: Rounded) -> Costs:
    """Return distances minus the correction for inputs and outputs inside one cell."""
    rows, unit = node_losses(rounded)
    if rounded.worst_case:
        return rows, unit
    (widths,), prior, factor = rounded.widths, rounded.prior, _largest_lift(rounded)
    wide = beside(widths)
    if factor is not None:
        cells = zip(widths, rounded.moments.cells, strict=True)
        inside = beside([_short(factor * 2 * h * both) for h, (_, both, _) in cells])
        # outputs near their inputs, with the largest allowed probability
        likely = (mass * min(Fraction(1), factor * mass) for mass in prior)
        by_lift = sum(mass * loss for mass, loss in zip(prior, inside, strict=True))
        if by_lift <= sum(mass * loss for mass, loss in zip(likely, wide, strict=True)):
            return less(rows, unit, inside)
    for i, h in enumerate(wide):
        rows[i][i] -= int(h * unit)
    return rows, unit


def _largest_lift(rounded: Rounded) -> Fraction | None:
    """Return a C with K(y|x) <= C lambda(y) for all private kernels; None if there is none."""
    budgets = []
    for part in on_nodes(rounded).statement.cone:
        if isinstance(part, Lift) and part.upper is not None:
            budgets.append(part.upper)
        elif isinstance(part, Ratio) and isinstance(part.exponents, Constant):
            of_all = part == Ratio(Constant(part.exponents.exponent))
            budgets += [part.exponents.exponent] if of_all else []
    budgets = [upper for upper in budgets if upper <= LARGEST_EXPONENT]
    return exp_upper(min(budgets)) if budgets else None


def _short(loss: Fraction) -> Fraction:
    """Return a number of a few bits that is at least a loss."""
    return shortened(loss, up=True, bits=SHORT_BITS)


def _of_averages(rounded: Rounded) -> Costs:
    """Return the worst-case losses of the averages K_i."""
    (nodes,), (widths,), squared = rounded.axes, rounded.widths, rounded.distance == "squared"
    moved, taken = beside(widths), [Fraction(0)] * len(nodes)
    if squared:
        taken = beside([h * h / 4 for h in widths])
    else:
        far = [Fraction(0)] * len(nodes)
        for (i, j), mean in rounded.pairs.items():
            far[i] += mean * abs(nodes[i] - nodes[j])
        moved = [_short(r / p) if p else r for r, p in zip(far, rounded.prior, strict=True)]
    losses = []
    for t, p, h in zip(nodes, rounded.prior, moved, strict=True):
        row = [abs(t - s) - (h if p else 0) for s in nodes]  # without mass the row is K(.|t_i)
        losses.append([max(loss, Fraction(0)) ** 2 for loss in row] if squared else row)
    return less(*lattice(losses), taken)


def _euclidean(rounded: Rounded) -> Costs:
    """Return the distances minus the corrections for inputs and outputs inside cells."""
    rows, unit = node_losses(rounded)
    nodes, _ = lattice(rounded.points)
    sides = [sorted(set(axis)) for axis in zip(*nodes, strict=True)]
    cells: list[Rectangle] = list(product(*map(pairwise, sides)))
    wide = [sum((b - a) ** 2 for a, b in cell) for cell in cells]  # 4 V
    gap, around = cache(_gap), [list[int]() for _ in nodes]
    for e, corners in enumerate(rounded.cells):
        for _, i in corners:
            around[i].append(e)
    of_cells = [[0] * len(cells)] * len(cells)
    if not rounded.worst_case:
        of_cells = [
            [gap(own, _between(cell, other)) for other in cells]
            for cell, own in zip(cells, wide, strict=True)
        ]
    for i, (node, row) in enumerate(zip(nodes, rows, strict=True)):
        point = tuple((a, a) for a in node)
        off = [max(column) for column in zip(*(of_cells[c] for c in around[i]), strict=True)]
        for e, (cell, own) in enumerate(zip(cells, wide, strict=True)):
            off[e] += gap(own, _between(point, cell))
        for j, near in enumerate(around):
            row[j] -= max(off[e] for e in near)
    return rows, unit


def _between(one: Rectangle, other: Rectangle) -> int:
    """Return the square of the distance of two rectangles."""
    pairs = zip(one, other, strict=True)
    return sum(max(c - b, a - d, 0) ** 2 for (a, b), (c, d) in pairs)


def _gap(spread: int, apart: int) -> int:
    """Return g(V, r) times 2**ROOT_BITS, rounded up, from 4 V and r**2."""
    root, square = isqrt(apart << 2 * ROOT_BITS), spread << 2 * ROOT_BITS
    near = isqrt(square) // 2 + 1
    return min(near, square // (8 * root) + 1) if root else near
