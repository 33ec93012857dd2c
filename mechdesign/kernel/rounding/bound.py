"""A lower bound on the loss of private kernels: the optimum of a finite program, minus a shift.

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

*Mean loss, by distance: means over hard cells.* K_c is the mean of K over the cell c, m_c that of
x. With b the common end of c and the next cell, and t the distance of x to it, K(y|x) is at most
e**(epsilon t) K(y|b), which is below its chord in x, and at least e**(-epsilon t) K(y|b), whose
mean is at least that at the mean. So K_c <= e**(E) K_(c+1) with E = ln(1 + (b - m_c) / h
(e**(epsilon h) - 1)) + epsilon (m_(c+1) - b), and the same the other way; the chain of these bounds
is metric privacy at places that are E / epsilon apart. Losses: the logarithm of g = K(y|.) / K_c(y)
has slopes of at most epsilon, so that g is above the density proportional to e**(-epsilon x) in the
likelihood-ratio order. The mean under that density is m_c less at most epsilon h**2 / 4, since its
derivative in the exponent is minus a variance within a cell of width h. Hence the mean of x under g
is within epsilon h**2 / 4 of m_c, and an output y outside the cell costs at least the larger of
|m_c - y| - epsilon h**2 / 4 and the distance to the cell; an output inside costs at least 0. Both
are linear in y between nodes. For the squared error the cost is at least the square of that, and
(s' - s)**2 / 4 is taken off as above.

*Best estimate.* The integral of x K(y|x) is Sum_i P_i t_i K_i(y), as the interval ends at nodes, so
the error of the best estimate is that on the nodes minus the mean of v, the variance of the
rounding.

*Unbiased readings.* Let K be private and unbiased on the interval, with readings v.

1. Worst case, with notions that do not depend on mu: the rows K(.|t_i) are a private channel on the
   nodes, and unbiased there, so that V* >= V_nodes, the optimum at the nodes for the values t_i.
2. On average: the averages K_i are private and unbiased for the centers c_i = (1/P_i) integral of
   w_i x dmu, and Sum_i P_i S_i is the mean of S. With the optimum V_c of the nodes at the law P for
   the values c_i, the loss of K is at least V_c + Sum_i P_i c_i**2 - E X**2.
3. Worst case, with a notion that depends on mu: S - x**2 <= V* implies
   S_i - c_i**2 <= V* + (1/P_i) integral of w_i x**2 dmu - c_i**2. In each cell x**2 is at most its
   chord, (t + t') x - t t', whose integral with w_i the first two moments of the cell tell. Hence
   V* >= V_c - max_i of the last two terms, where V_c is the optimum in the worst case.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise, product
from math import isqrt
from typing import Any, TypeVar

from mechdesign.errors import CertificateError
from mechdesign.exact import LARGEST_EXPONENT, exp_upper, log_lower, log_upper, shortened
from mechdesign.kernel.arithmetic import lattice, need, over_one_denominator
from mechdesign.kernel.generators import Constant, Lift, Ratio
from mechdesign.kernel.names import Compiled, Domain, ProblemTable, Utility, compile_problem
from mechdesign.kernel.objectives import ROOT_BITS, Loss, distances, of_integers
from mechdesign.kernel.packed import exact
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.schema import Label
from mechdesign.kernel.statement import Statement

Line = Sequence[Fraction]
N = TypeVar("N", int, Fraction)

Costs = tuple[list[list[int]], int]
"""A row for each input, an entry for each output; and their denominator."""


@dataclass(frozen=True)
class Program:
    """A finite problem whose optimum, minus a number, is a bound on all kernels.

    ``table``: the problem: its outputs are the nodes, or chosen by the optimizer.
    ``shift``: the number to subtract from the optimum.
    ``costs``: those of the outputs at the nodes; None if the table has an objective.
    ``worst_case``: whether they are those of the worst input.
    """

    table: ProblemTable
    shift: Fraction
    costs: Costs | None = None
    worst_case: bool = False

    @cached_property
    def statement(self) -> Statement:
        found = compile_problem(self.table).statement
        if self.costs is None:
            return found
        weights = None if self.worst_case else self.table.prior
        return replace(found, objective=Loss(of_integers(*self.costs), weights))


def program(
    rounded: Rounded,
    shift: Fraction = Fraction(0),
    costs: Costs | None = None,
    utility: Utility | None = None,
    inputs: Sequence[float] | None = None,
    prior: tuple[Fraction, ...] | None = None,
) -> Program:
    """Return a program with the notions of a rounded problem.

    ``rounded``: the problem.
    ``shift``: the number to subtract from the optimum.
    ``costs``: of the outputs at the nodes; a constant makes them >= 0, and is added to the shift.
    ``utility``: the objective, if there are no costs.
    ``inputs``, ``prior``: the inputs on a line and their law; default the nodes.
    """
    if costs is not None:
        rows, unit = costs
        added = max(-min(map(min, rows)), 0)
        costs = [[cost + added for cost in row] for row in rows], unit
        shift += Fraction(added, unit)
    places = range(len(rounded.points)) if inputs is None else inputs
    domain = Domain(tuple(map(Label, places)))
    privacy: Any = rounded.privacy
    table = ProblemTable(domain, prior or rounded.prior, privacy, utility)
    return Program(table, shift, costs, rounded.worst_case)


def on_nodes(rounded: Rounded) -> Compiled:
    """Return the nodes with their law and the notions other than by distance."""
    if (metric := rounded.metric) is not None:
        kept = tuple(notion for notion in rounded.privacy if notion is not metric)
        rounded = replace(rounded, privacy=kept)
    return compile_problem(program(rounded).table)


def less(rows: Sequence[Sequence[int]], unit: int, taken: Line) -> Costs:
    """Return losses over a unit minus a number for each output."""
    off, whole = over_one_denominator(taken)
    costs = [[whole * a - unit * b for a, b in zip(row, off, strict=True)] for row in rows]
    return costs, unit * whole


def beside(of_cells: list[N]) -> list[N]:
    """Return for each node the larger number of the cells beside it."""
    inner: list[N] = [max(low, high) for low, high in pairwise(of_cells)]
    return of_cells[:1] + inner + of_cells[-1:]


def stretched(gaps: Line, *, up: bool) -> list[float]:
    """Return increasing numbers from 0 with these gaps, rounded up or down.

    They are floats that represent their decimal repr.

    Examples
    --------
    >>> stretched([Fraction(1, 3)], up=True), stretched([Fraction(1, 3)], up=False)
    ([0.0, 0.33333333333333337], [0.0, 0.3333333333333333])
    """
    places = [0.0]
    for gap in gaps:
        wanted = exact(places[-1]) + gap
        found = float(wanted)
        while exact(found) < wanted if up else exact(found) > wanted:
            found = math.nextafter(found, math.inf if up else -math.inf)
        places.append(found)
    return places


def hard_cells(rounded: Rounded) -> Program:
    """Return the program on the means over hard cells, for notions by distance."""
    epsilon, (nodes,), (widths,) = _budget(rounded), rounded.axes, rounded.widths
    prior, centers, losses = list[Fraction](), list[Fraction](), list[Line]()
    squared, taken = rounded.distance == "squared", [Fraction(0)] * len(nodes)
    if squared:
        taken = beside([h * h / 4 for h in widths])
    for (low, high), (left, both, right) in zip(
        pairwise(nodes), rounded.moments.cells, strict=True
    ):
        mass = left + 2 * both + right
        prior.append(mass)
        share = (both + right) / mass if mass else Fraction(1, 2)
        centers.append(low + (high - low) * share)
    for c, (center, width) in enumerate(zip(centers, widths, strict=True)):
        low, high, drift = nodes[c], nodes[c + 1], epsilon * width * width / 4
        row = [max(low - s, s - high, abs(center - s) - drift) for s in nodes]
        row[c] = row[c + 1] = Fraction(0)
        losses.append([loss * loss for loss in row] if squared else row)
    gaps = [
        _log_ratio(epsilon, centers[c : c + 2], widths[c : c + 2], nodes[c + 1]) / epsilon
        for c in range(len(centers) - 1)
    ]
    costs, inputs = less(*lattice(losses), taken), stretched(gaps, up=True)
    return program(rounded, costs=costs, inputs=inputs, prior=tuple(prior))


def _log_ratio(epsilon: Fraction, centers: Line, widths: Line, between: Fraction) -> Fraction:
    """Return a bound on the logarithm of the ratio of the means of K over two neighboring cells."""
    near = [abs(between - center) for center in centers]
    found = []
    for t, width, other in ((near[0], widths[0], near[1]), (near[1], widths[1], near[0])):
        need(epsilon * width <= LARGEST_EXPONENT, "the cells are too wide for the budget")
        chord = 1 + t / width * (exp_upper(epsilon * width) - 1)
        found.append(log_upper(chord) + epsilon * other)
    return max(found)


def _budget(rounded: Rounded) -> Fraction:
    epsilon: Fraction | None = rounded.metric.epsilon if rounded.metric else None
    if epsilon is None or epsilon <= 0:
        raise CertificateError("expected a budget above 0 for a unit of distance")
    return epsilon


def node_places(rounded: Rounded) -> list[float]:
    """Return places on the line at which metric privacy makes the kernel private.

    Neighbors are ln(1 + epsilon h) / epsilon apart, so that their rows differ by 1 + epsilon h.
    """
    epsilon = _budget(rounded)
    return stretched([log_lower(1 + epsilon * h) / epsilon for h in rounded.widths[0]], up=False)


def estimates(rounded: Rounded) -> Program:
    """Return the program for the best estimate."""
    utility = Utility("posterior-mean-squared-error", {"values": rounded.axes[0]})
    return program(rounded, rounded.variance, utility=utility)


def readings(rounded: Rounded, averages: bool, places: Sequence[float] | None) -> Program:
    """Return the program for unbiased readings."""
    (values,), prior, shift = rounded.axes, rounded.prior, Fraction(0)
    squares = [t * t for t in values]
    if averages or not rounded.worst_case:
        need(all(prior), "a node has no mass, so its mean is undefined")
        values = tuple(mean / mass for mean, mass in zip(rounded.means, prior, strict=True))
    if not rounded.worst_case:
        shift = rounded.square - sum(p * c * c for p, c in zip(prior, values, strict=True))
    elif averages:
        rows = zip(rounded.weighed(squares), prior, values, strict=True)
        shift = max(s / mass - center * center for s, mass, center in rows)
    utility = Utility("unbiased-variance", {"worst_case": rounded.worst_case, "values": values})
    return program(rounded, shift, utility=utility, inputs=places)


SHORT_BITS = 24

Rectangle = tuple[tuple[int, int], ...]


def program_of(rounded: Rounded) -> Program:
    """Return the program that bounds the loss of every private kernel."""
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
    pairs = zip(one, other, strict=True)
    return sum(max(c - b, a - d, 0) ** 2 for (a, b), (c, d) in pairs)


def _gap(spread: int, apart: int) -> int:
    """Return g(V, r) times 2**ROOT_BITS, rounded up, from 4 V and r**2."""
    root, square = isqrt(apart << 2 * ROOT_BITS), spread << 2 * ROOT_BITS
    near = isqrt(square) // 2 + 1
    return min(near, square // (8 * root) + 1) if root else near
