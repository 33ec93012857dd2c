"""The nodes of an axis, which are dense where the law has its mass.

Nodes are the ends of cells from repeated halving of the interval, so that ratios of distances are
powers of 2 and sums of moments stay short numbers.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from mechdesign.continuous.domain import Interval
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.errors import InputError

FINEST = Fraction(1, 1 << 24)
"""The narrowest cell, as a share of the interval."""

EVENLY = 0.01
"""Weight of the width of cells without mass."""

AT_END = 0.03
"""Weight of the width of a cell at an end, for unbiased readings."""

Nodes = tuple[Fraction, ...]
Below = Callable[[Fraction], float]
Weight = Callable[[Fraction, Fraction, float], float]
Cell = tuple[float, float, Fraction, Fraction, float, float]


def axes_for(problem: ContinuousProblem, wanted: int) -> tuple[Nodes, ...]:
    """Return about ``wanted`` nodes on each axis for a problem.

    The contribution of a cell to the gap grows with its width h and its mass m like m**2 h for a
    mean error (an output in the cell, and an input in it), like m h**2 for that of an unbiased
    reading, and like h for the worst case. A cell at an end has a node with all its numbers on one
    side, which for unbiased readings costs like h, independent of the mass.
    """
    worst, read = problem.utility.worst_case, problem.utility.on_interval == "reading"
    if read and worst:
        low, high = (Fraction(end) for end in problem.domain.ends[0])
        return (tuple(low + (high - low) * j / (wanted - 1) for j in range(wanted)),)

    def weight(left: Fraction, right: Fraction, mass: float) -> float:
        h = float(right - left)
        if worst:
            return h
        if read:
            return AT_END * h if left == 0 or right == 1 else mass * h * h + EVENLY * h**3
        return mass * mass * h + EVENLY * h**3

    axes = []
    for n, side in enumerate(problem.domain.sides):
        below = partial(problem.prior.below, side=side, axis=n)
        axes.append(_halved(_range(side, below, 1 / wanted**3), below, weight, wanted, worst))
    return (_with_mass(problem, axes[0]),) if read else tuple(axes)


def _halved(
    ends: tuple[Fraction, Fraction], below: Below, weight: Weight, wanted: int, even: bool
) -> Nodes:
    """Return about ``wanted`` nodes by halving the cell of largest weight repeatedly.

    Of cells of equal weight, up to rounding, the inner one is first, by the mass on both sides.
    """
    low, length = ends[0], ends[1] - ends[0]

    def cell(left: Fraction, right: Fraction, under: float, over: float) -> Cell:
        size = float(f"{weight(left, right, over - under):.9g}")
        return -size, abs(under + over - 1), left, right, under, over

    cells = [cell(Fraction(0), Fraction(1), below(ends[0]), below(ends[1]))]
    while True:
        size, _, left, right, under, over = cells[0]
        uneven = even and size < cells[-1][0]  # halves of equal width keep the grid symmetric
        if not uneven and (len(cells) >= wanted - 1 or right - left <= FINEST):
            break
        middle = (left + right) / 2
        at = below(low + length * middle)
        heapq.heapreplace(cells, cell(left, middle, under, at))
        heapq.heappush(cells, cell(middle, right, at, over))
    places = {end for _, _, left, right, _, _ in cells for end in (left, right)}
    return tuple(low + length * end for end in sorted(places))


def _with_mass(problem: ContinuousProblem, nodes: Nodes) -> Nodes:
    """Return the nodes without those that prevent mass at every node.

    Raises
    ------
    InputError
        If only the ends are left.
    """
    while True:
        prior = problem.stated((nodes,)).on((nodes,)).prior
        ends = {0: 1, len(nodes) - 1: len(nodes) - 2}
        dropped = {ends.get(n, n) for n, mass in enumerate(prior) if not mass}
        if not dropped:
            return nodes
        if len(nodes) == 2:
            raise InputError("prior", "a law with mass inside the interval", repr(problem.prior))
        nodes = tuple(t for n, t in enumerate(nodes) if n not in dropped)


def _range(side: Interval, below: Below, beyond: float) -> tuple[Fraction, Fraction]:
    """Return the first and the last node: the ends of the interval, if they are finite.

    Otherwise short numbers with about this share of the mass beyond them.
    """
    if side.is_bounded:
        return Fraction(side.low), Fraction(side.high)
    least, most = (_quantile(below, share) for share in (beyond, 1 - beyond))
    size = Fraction(2) ** (math.frexp(max(most - least, abs(least), abs(most), 1e-9))[1] - 8)
    low = side.low if isinstance(side.low, Fraction) else math.floor(least / size) * size
    high = side.high if isinstance(side.high, Fraction) else math.ceil(most / size) * size
    return low, max(high, low + size)


def _quantile(below: Below, share: float) -> float:
    """Return a position with about this share of the mass below it, by bisection."""
    low, high = -1.0, 1.0
    while below(Fraction(low)) > share:
        low *= 2
    while below(Fraction(high)) < share:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(Fraction(middle)) < share else (low, middle)
    return high
