"""A lower bound on the mean loss of kernels that are private by distance: means over hard cells.

K_c is the mean of K over the cell c, m_c that
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

from fractions import Fraction
from itertools import pairwise

from mechdesign.errors import CertificateError
from mechdesign.exact import LARGEST_EXPONENT, exp_upper, log_lower, log_upper
from mechdesign.kernel.arithmetic import lattice, need
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.rounding.program import Program, beside, less, program, stretched

Line = list[Fraction]


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
    """Return the budget for a unit of distance."""
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
