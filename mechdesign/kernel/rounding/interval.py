"""A lower bound on the loss of private kernels on an interval: a finite program on its nodes.

Notation: a private kernel K, nodes t_i with weights w_i and masses P_i, averages
K_i = (1/P_i) integral of w_i K dmu, which are private on the nodes (Theorem 1 of the package).

*Squared error, on average.* (x - y)**2 = Sum_i w_i(x) (t_i - y)**2 - v(x), with v(x) the variance
of the rounding, so that the loss of K is Sum_i P_i Sum_y K_i(y) (t_i - y)**2 - mean of v, exactly.
Outputs beyond the nodes move to the nearest one. An output y between two nodes s <= y <= s' is
replaced by these two, in proportions that have the mean y: each (t_i - y)**2 rises by
(y - s)(s' - y) <= (s' - s)**2 / 4, which is taken off the cost of both.

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

*Worst case.* The inputs at the nodes alone are a relaxation; outputs are replaced as before, at no
cost for the absolute error. But a notion that depends on mu bounds the rows K(.|t_i) by the law of
the output of K, which is not Sum_i P_i K(.|t_i). With such a notion the rows are the averages K_i,
and K(.|t_i) where P_i = 0. The largest loss of K is at least its mean under w_i dmu / P_i, and
|x - y| >= |t_i - y| - |x - t_i|. So the absolute error is at least Sum_y K_i(y) |t_i - y| - r_i,
with r_i the mean of |x - t_i|: the sum over the cells beside t_i of h times the integral of w w',
over P_i. The squared error is at least the mean of max(|t_i - y| - h, 0)**2, with h the larger
width of the two cells; the chord of this between nodes is above it by at most a quarter of the
square of their distance, as for (t_i - y)**2, since its second derivative is at most 2 too.

*Best estimate.* The integral of x K(y|x) is Sum_i P_i t_i K_i(y), if the interval ends at nodes, so
that the error of the best estimate is that on the nodes less the mean of v.

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

from collections.abc import Sequence
from fractions import Fraction

from mechdesign.exact import LARGEST_EXPONENT, exp_upper
from mechdesign.kernel.arithmetic import need, shortened
from mechdesign.kernel.generators import Constant, Lift, Ratio
from mechdesign.kernel.names import Domain
from mechdesign.kernel.names.gains import PosteriorError
from mechdesign.kernel.names.losses import DistanceLoss, UnbiasedVariance
from mechdesign.kernel.rounding.hard_cells import beside, between, hard_cells, less
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.rounding.program import Program, on_nodes, program, stretched
from mechdesign.kernel.schema import Label

__all__ = ["interval_program", "of_law"]

SHORT_BITS = 24

Line = list[Fraction]


def interval_program(rounded: Rounded) -> Program:
    """Return the program that bounds the loss of every private kernel on an interval.

    Raises
    ------
    CertificateError
        If no bound is known for such a problem.
    """
    metric, worst = rounded.metric, rounded.worst_case
    averages = of_law(rounded) and worst
    bounded_only = worst or metric is not None or not isinstance(rounded.utility, DistanceLoss)
    need(rounded.is_bounded or not bounded_only, f"{UNKNOWN} on an interval without end")
    need(metric is None or not averages, f"{UNKNOWN} in the worst case by distance and by the law")
    if not isinstance(rounded.utility, DistanceLoss):
        need(metric is None or worst, f"{UNKNOWN} by distance of a number that is read")
        if rounded.utility.reads == "mean":
            values = PosteriorError(rounded.axes[0])
            return program(rounded, rounded.variance, utility=values)
        return _readings(rounded, averages)
    if metric is not None and not worst:
        return hard_cells(rounded)
    losses, taken = _distances(rounded), between(rounded)
    if averages:
        losses = _losses_of_averages(rounded)
    elif not rounded.squared and not worst:
        taken, own = _inside_cells(rounded)
        for i, h in enumerate(own):
            losses[i][i] -= h
    shift = rounded.variance if rounded.squared and not worst else Fraction(0)
    return program(rounded, shift, less(losses, taken), inputs=_places(rounded))


UNKNOWN = "no bound is known"


def of_law(rounded: Rounded) -> bool:
    """Return whether a notion depends on the law: whether it asks the same at two laws."""
    inputs = Domain(values=(Label(0), Label(1)))
    even, first = (inputs.inputs((p, 1 - p)) for p in (Fraction(1, 2), Fraction(1)))
    return any(notion.asked(even) != notion.asked(first) for notion in rounded.privacy)


def _places(rounded: Rounded) -> Sequence[float] | None:
    return None if rounded.metric is None else stretched(rounded.widths[0], up=True)


def _readings(rounded: Rounded, averages: bool) -> Program:
    """Return the program for unbiased readings."""
    (nodes,), prior, shift = rounded.axes, rounded.prior, Fraction(0)
    values = nodes
    if averages or not rounded.worst_case:
        need(all(prior), "a node has no mass, so its mean is undefined")
        values = tuple(mean / mass for mean, mass in zip(rounded.means, prior, strict=True))
    if not rounded.worst_case:
        shift = rounded.square - sum(p * c * c for p, c in zip(prior, values, strict=True))
    elif averages:
        rows = zip(rounded.weighed([t * t for t in nodes]), prior, values, strict=True)
        shift = max(s / mass - center * center for s, mass, center in rows)
    utility = UnbiasedVariance(rounded.worst_case, values=values)
    return program(rounded, shift, utility=utility, inputs=_places(rounded))


def _distances(rounded: Rounded) -> list[Line]:
    """Return the losses of the outputs at the nodes."""
    (nodes,), power = rounded.axes, 2 if rounded.squared else 1
    return [[abs(t - s) ** power for s in nodes] for t in nodes]


def _losses_of_averages(rounded: Rounded) -> list[Line]:
    """Return what is counted in the worst case as the losses of the averages K_i."""
    (nodes,), (widths,) = rounded.axes, rounded.widths
    moved = beside(widths)
    if not rounded.squared:
        moved = [Fraction(0)] * len(nodes)
        for (i, j), mean in rounded.pairs.items():
            moved[i] += mean * abs(nodes[i] - nodes[j])
        moved = [_short(r / p) if p else r for r, p in zip(moved, rounded.prior, strict=True)]
    losses = []
    for t, p, h in zip(nodes, rounded.prior, moved, strict=True):
        row = [abs(t - s) - (h if p else 0) for s in nodes]  # without mass the row is K(.|t_i)
        losses.append([max(loss, Fraction(0)) ** 2 for loss in row] if rounded.squared else row)
    return losses


def _inside_cells(rounded: Rounded) -> tuple[Line, Line]:
    """Return what is taken off an absolute error: off each output, and off each own node more."""
    (widths,), prior, factor = rounded.widths, rounded.prior, _largest_lift(rounded)
    wide, nothing = beside(widths), [Fraction(0)] * len(prior)
    if factor is None:
        return nothing, wide
    cells = zip(widths, rounded.moments.cells, strict=True)
    inside = beside([_short(factor * 2 * h * both) for h, (_, both, _) in cells])
    # outputs near their inputs, as likely as the notion allows
    likely = (mass * min(Fraction(1), factor * mass) for mass in prior)
    by_lift = sum(mass * loss for mass, loss in zip(prior, inside, strict=True))
    by_width = sum(mass * loss for mass, loss in zip(likely, wide, strict=True))
    return (inside, nothing) if by_lift <= by_width else (nothing, wide)


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
