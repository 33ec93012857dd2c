"""The finite program whose optimum is below the loss of every private kernel on the interval.

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

*Metric privacy |x - x'|, on average.* Hard cells: K_c is the mean of K over the cell c, m_c that
of x. With b the common end of c and the next cell, and t the distance of x to it, K(y|x) is at most
e**(epsilon t) K(y|b), which is below its chord in x, and at least e**(-epsilon t) K(y|b), whose
mean is at least that at the mean. So K_c <= e**(E) K_(c+1) with
E = ln(1 + (b - m_c) / h (e**(epsilon h) - 1)) + epsilon (m_(c+1) - b), and the same the other way;
the chain of these bounds is metric privacy at places that are E / epsilon apart. Losses: the
logarithm of g = K(y|.) / K_c(y) has slopes of at most epsilon, so that g is above the density
proportional to e**(-epsilon x) in the likelihood-ratio order. The mean under that density is m_c
less at most epsilon h**2 / 4, since its derivative in the exponent is minus a variance within a
cell of width h. Hence the mean of x under g is within epsilon h**2 / 4 of m_c, and an output y
outside the cell costs at least the larger of |m_c - y| - epsilon h**2 / 4 and the distance to the
cell; an output inside costs at least 0. Both are linear in y between nodes. For the squared error
the cost is at least the square of that, and (s' - s)**2 / 4 is taken off as above.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from mechdesign.certify.continuous.kernel import ESTIMATE, SQUARED
from mechdesign.certify.continuous.law import Continuous
from mechdesign.certify.continuous.regions import MASSES
from mechdesign.certify.continuous.unbiased import (
    READ,
    centers,
    shift_of_averages,
    shift_of_mean,
)
from mechdesign.certify.fixed_point import fraction_steps, longest, total
from mechdesign.certify.privacy.check import lift_limits
from mechdesign.certify.problem import Statement, number, statement_of
from mechdesign.errors import CertificateError
from mechdesign.exact import LARGEST_EXPONENT, exp_upper, log_lower, log_upper
from mechdesign.resources import spend

__all__ = [
    "OF_LAW",
    "Relaxation",
    "is_metric",
    "is_on_averages",
    "metric_budget",
    "node_places",
    "node_statement",
    "relaxation",
    "stretched",
    "with_costs",
]

METRIC = "metric"
LIFTS = ("lip", "pml", "lift")
OF_LAW = (*LIFTS, MASSES, "approximate-lip", "mutual-information")
"""The notions that depend on the law of the input."""

LOSSES = "the losses of the relaxation"

Losses = list[list[Fraction]]


@dataclass(frozen=True)
class Relaxation:
    """A finite problem, and what its optimum is less by than the loss of every private kernel.

    Attributes
    ----------
    places
        The inputs: numbers from 0, or their places on the line where a notion is by distance.
    prior
        The law of the input.
    privacy
        The tables of the notions.
    utility
        The table of the loss, with exact numbers.
    outputs
        Numbers of the nodes that are outputs; None where the optimizer chooses them.
    shift
        What is taken off the optimum.
    """

    places: list[Any]
    prior: list[Fraction]
    privacy: list[dict[str, Any]]
    utility: dict[str, Any]
    outputs: list[int] | None
    shift: Fraction

    def statement(self) -> Statement:
        """Return the problem as the checker of finite problems reads it."""
        domain, prior = {"values": self.places}, self.prior
        rest = {"privacy": self.privacy, "utility": self.utility, "outputs": self.outputs}
        return statement_of({"domain": domain, "prior": prior, **rest})


def is_metric(stated: Continuous) -> bool:
    """Return whether a notion of the problem is by distance."""
    return any(table["notion"] == METRIC for table in stated.privacy)


def is_on_averages(stated: Continuous) -> bool:
    """Return whether the worst case is over averages of rows, as a notion depends on the law."""
    is_worst = stated.utility.get("worst_case") is True
    return is_worst and any(table["notion"] in OF_LAW for table in stated.privacy)


def node_statement(stated: Any) -> Statement:
    """Return the nodes with their law and the notions that are not by distance."""
    privacy = [table for table in stated.on_nodes if table["notion"] != METRIC]
    values = list(range(len(stated.nodes)))
    domain = {"values": values}
    utility = {"objective": "hamming", "worst_case": False}
    problem = {"domain": domain, "prior": stated.prior, "privacy": privacy, "utility": utility}
    return statement_of({**problem, "outputs": values})


def relaxation(stated: Continuous) -> Relaxation:
    """Return the program that bounds the loss of every private kernel.

    Raises
    ------
    CertificateError
        If no bound is known for such a problem.
    """
    objective, metric = stated.utility["objective"], is_metric(stated)
    if metric and len(stated.labels) > 1:
        raise CertificateError("no bound is known by distance on an interval with cuts")
    spend(len(stated.nodes) ** 2 * fraction_steps(longest(stated.nodes)), LOSSES)
    if objective == ESTIMATE:
        if metric or not stated.is_bounded:
            raise CertificateError("no bound is known for the best estimate of such a number")
        values = {"objective": ESTIMATE, "values": list(stated.nodes)}
        inputs = list(range(len(stated.nodes)))
        return Relaxation(inputs, stated.prior, stated.on_nodes, values, None, stated.variance)
    if objective == READ:
        return _unbiased(stated)
    if stated.utility["worst_case"]:
        return _worst_case(stated)
    return _hard_cells(stated) if metric else _nodes(stated)


def _unbiased(stated: Continuous) -> Relaxation:
    """Return the program for unbiased readings, whose theorem is in `unbiased`."""
    worst, metric = stated.utility["worst_case"], is_metric(stated)
    if not stated.is_bounded or (metric and (not worst or is_on_averages(stated))):
        raise CertificateError("no bound is known for unbiased readings of such a number")
    values, shift = list(stated.nodes), Fraction(0)
    if not worst:
        values, shift = centers(stated), shift_of_mean(stated)
    elif is_on_averages(stated):
        values, shift = centers(stated), shift_of_averages(stated)
    inputs: list[Any] = list(range(len(values)))
    if metric:
        inputs = stretched(stated.widths, up=True)
    utility = {"objective": READ, "values": values, "worst_case": worst}
    return Relaxation(inputs, stated.prior, stated.on_nodes, utility, None, shift)


def _nodes(stated: Continuous) -> Relaxation:
    """Return the program on averages with the weights of the nodes."""
    squared = stated.utility["objective"] == SQUARED
    taken, own = (_between(stated), []) if squared else _inside_cells(stated)
    losses = _distances(stated, squared)
    for row, h, t in zip(losses, own, stated.nodes, strict=False):
        row[bisect_left(stated.outputs, t, key=stated.nodes.__getitem__)] -= h
    inputs = list(range(len(stated.nodes)))
    shift = stated.variance if squared else Fraction(0)
    return with_costs(stated, inputs, stated.prior, losses, taken, shift)


def _worst_case(stated: Continuous) -> Relaxation:
    """Return the program on the inputs at the nodes, or on averages of rows."""
    if not stated.is_bounded:
        raise CertificateError("the worst case on an interval without end is not bounded")
    if is_on_averages(stated) and is_metric(stated):
        raise CertificateError("no bound is known for the worst case by distance and by the law")
    squared = stated.utility["objective"] == SQUARED
    taken = _between(stated) if squared else [Fraction(0)] * len(stated.outputs)
    losses = _distances(stated, squared)
    if is_on_averages(stated):
        losses = _losses_of_averages(stated, squared)
    inputs: list[Any] = list(range(len(stated.nodes)))
    if is_metric(stated):
        inputs = stretched(stated.widths, up=True)
    return with_costs(stated, inputs, stated.prior, losses, taken, Fraction(0))


def _losses_of_averages(stated: Continuous, squared: bool) -> Losses:
    """Return what is counted in the worst case as the losses of the averages K_i."""
    moved = _larger_beside(stated.widths)
    if not squared:
        inside = [h * both for h, (_, both, _) in zip(stated.widths, stated.products, strict=True)]
        sums = [a + b for a, b in pairwise([Fraction(0), *inside, Fraction(0)])]
        moved = [_short(r / p) if p else r for r, p in zip(sums, stated.prior, strict=True)]
    losses = []
    for t, p, h in zip(stated.nodes, stated.prior, moved, strict=True):
        less = h if p else Fraction(0)  # without mass the row is K(.|t_i)
        row = [abs(t - stated.nodes[j]) - less for j in stated.outputs]
        losses.append([max(loss, Fraction(0)) ** 2 for loss in row] if squared else row)
    return losses


def with_costs(
    stated: Any,
    inputs: list[Any],
    prior: list[Fraction],
    losses: Losses,
    taken: list[Fraction],
    shift: Fraction,
) -> Relaxation:
    """Return a program with costs >= 0: one number is added to all, and goes to the shift.

    Parameters
    ----------
    stated
        The problem, of an interval or of a box.
    inputs, prior
        The inputs, and their law.
    losses
        A row for each input, an entry for each output.
    taken
        What is taken off the losses of each output.
    shift
        What is taken off the optimum.
    """
    costs = [[a - b for a, b in zip(row, taken, strict=True)] for row in losses]
    added = max(-min(map(min, costs)), Fraction(0))
    matrix = [[cost + added for cost in row] for row in costs]
    worst = stated.utility["worst_case"]
    utility = {"objective": "distortion", "worst_case": worst, "matrix": matrix}
    return Relaxation(inputs, prior, stated.on_nodes, utility, stated.outputs, shift + added)


def _distances(stated: Continuous, squared: bool) -> Losses:
    """Return the losses of the outputs at the nodes."""
    outputs = [stated.nodes[j] for j in stated.outputs]
    if squared:
        return [[(t - s) * (t - s) for s in outputs] for t in stated.nodes]
    return [[abs(t - s) for s in outputs] for t in stated.nodes]


def _larger_beside(of_cells: list[Fraction]) -> list[Fraction]:
    """Return for each node the larger number of the cells beside it."""
    return [of_cells[0], *map(max, pairwise(of_cells)), of_cells[-1]]


def _beside_outputs(stated: Continuous, of_cells: list[Fraction]) -> list[Fraction]:
    """Return for each output the larger number of the cells beside it."""
    kept = zip(of_cells, stated.widths, strict=True)
    return _larger_beside([number for number, width in kept if width])


def _between(stated: Continuous) -> list[Fraction]:
    """Return what outputs between nodes take off a squared error."""
    return _beside_outputs(stated, [h * h / 4 for h in stated.widths])


def _inside_cells(stated: Continuous) -> tuple[list[Fraction], list[Fraction]]:
    """Return what is taken off an absolute error: off each output, and off each own node more."""
    nothing = [Fraction(0)] * len(stated.outputs), [Fraction(0)] * len(stated.nodes)
    wide = _larger_beside(stated.widths)
    factor = _largest_lift(stated)
    if factor is None:
        return nothing[0], wide
    parts = zip(stated.products, stated.widths, strict=True)
    inside = [_short(factor * 2 * width * both) for (_, both, _), width in parts]
    at_nodes = zip(stated.prior, _larger_beside(inside), strict=True)
    # outputs near their inputs, as likely as the notion allows
    likely = [mass * min(Fraction(1), factor * mass) for mass in stated.prior]
    by_lift = total([mass * loss for mass, loss in at_nodes])
    by_width = total([mass * loss for mass, loss in zip(likely, wide, strict=True)])
    if by_lift <= by_width:
        return _beside_outputs(stated, inside), nothing[1]
    return nothing[0], wide


def _largest_lift(stated: Continuous) -> Fraction | None:
    """Return a C with K(y|x) <= C lambda(y) for all private kernels; None if there is none."""
    exponents = []
    for table in stated.privacy:
        upper = number(table["epsilon"]) if table["notion"] == "ldp" else None
        if table["notion"] in LIFTS:
            upper = lift_limits(table)[0]
        if upper is not None and upper <= LARGEST_EXPONENT:
            exponents.append(upper)
    return exp_upper(min(exponents)) if exponents else None


SHORT_BITS = 24


def _short(loss: Fraction) -> Fraction:
    """Return a number of a few bits that is at least a loss."""
    if not loss:
        return loss
    shift = SHORT_BITS + loss.denominator.bit_length() - loss.numerator.bit_length()
    if shift < 0:
        return Fraction(math.ceil(loss))
    return Fraction(-((-loss.numerator << shift) // loss.denominator), 1 << shift)


def _hard_cells(stated: Continuous) -> Relaxation:
    """Return the program on the means over hard cells, for notions by distance."""
    if not stated.is_bounded:
        raise CertificateError("no bound is known by distance on an interval without end")
    squared = stated.utility["objective"] == SQUARED
    epsilon = metric_budget(stated)
    nodes, widths = stated.nodes, stated.widths
    prior = [mass for mass, _, _ in stated.cells]
    centers = [
        first / mass if mass else (low + high) / 2
        for (mass, first, _), (low, high) in zip(stated.cells, pairwise(nodes), strict=True)
    ]
    spend(len(nodes) ** 2 * fraction_steps(longest([epsilon, *centers, *nodes])), LOSSES)
    losses = []
    for c, (center, width) in enumerate(zip(centers, widths, strict=True)):
        low, high, drift = nodes[c], nodes[c + 1], epsilon * width * width / 4
        row = [max(low - s, s - high, abs(center - s) - drift) for s in nodes]
        row[c] = row[c + 1] = Fraction(0)
        losses.append([loss * loss for loss in row] if squared else row)
    taken = _between(stated) if squared else [Fraction(0)] * len(nodes)
    gaps = [
        _log_ratio(epsilon, centers[c : c + 2], widths[c : c + 2], nodes[c + 1]) / epsilon
        for c in range(len(centers) - 1)
    ]
    return with_costs(stated, stretched(gaps, up=True), prior, losses, taken, Fraction(0))


def _log_ratio(
    epsilon: Fraction, centers: list[Fraction], widths: list[Fraction], between: Fraction
) -> Fraction:
    """Return a bound on the logarithm of the ratio of the means of K over two neighboring cells."""
    near = [abs(between - center) for center in centers]
    found = []
    for t, width, other in ((near[0], widths[0], near[1]), (near[1], widths[1], near[0])):
        if epsilon * width > LARGEST_EXPONENT:
            raise CertificateError("the cells are too wide for the budget")
        chord = 1 + t / width * (exp_upper(epsilon * width) - 1)
        found.append(log_upper(chord) + epsilon * other)
    return max(found)


def metric_budget(stated: Continuous) -> Fraction:
    """Return the budget for a unit of distance, of the one notion by distance.

    Raises
    ------
    CertificateError
        If there are several, or it is not by the distance of numbers, or the budget is 0.
    """
    tables = [table for table in stated.privacy if table["notion"] == METRIC]
    if len(tables) != 1 or tables[0]["distance"] != "absolute":
        raise CertificateError("expected one notion by distance, by that of numbers")
    epsilon = number(tables[0]["epsilon"])
    if epsilon <= 0:
        raise CertificateError("expected a budget above 0 for a unit of distance")
    return epsilon


def node_places(stated: Continuous) -> list[float]:
    """Return places on the line at which metric privacy makes the kernel private (Theorem 2).

    Neighbors are ln(1 + epsilon h) / epsilon apart, so that their rows differ by 1 + epsilon h.
    """
    epsilon = metric_budget(stated)
    return stretched([log_lower(1 + epsilon * h) / epsilon for h in stated.widths], up=False)


def stretched(gaps: list[Fraction], *, up: bool) -> list[float]:
    """Return rising numbers, from 0, that are these gaps apart, or a little more or less.

    They are floats, each of which stands for the decimal that it prints as.

    Examples
    --------
    >>> stretched([Fraction(1, 3)], up=True), stretched([Fraction(1, 3)], up=False)
    ([0.0, 0.33333333333333337], [0.0, 0.3333333333333333])
    """
    places = [0.0]
    for gap in gaps:
        wanted = number(places[-1]) + gap
        found = float(wanted)
        while number(found) < wanted if up else number(found) > wanted:
            found = math.nextafter(found, math.inf if up else -math.inf)
        places.append(found)
    return places
