"""Where the nodes of an axis are: close to each other where the law has its mass.

Nodes are the ends of cells that come from halving the interval again and again, so that distances
between nodes are whole powers of 2 of each other and sums of moments over them stay short numbers.
"""

from __future__ import annotations

import heapq
import math
from fractions import Fraction

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.continuous.interval import Interval
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.errors import InputError
from mechdesign.kernel.rounding.tables import rounded_problem

__all__ = ["axes_for", "halved"]

MOST_HALVINGS = 24
QUANTILES = 4097

EVENLY = 0.01
"""How much cells without mass count, beside the others."""

AT_END = 0.03
"""How much the width of a cell at an end counts for unbiased readings."""


def axes_for(problem: ContinuousProblem, wanted: int) -> tuple[tuple[Fraction, ...], ...]:
    """Return about so many nodes on each axis for a problem."""
    law, sides, worst = problem.prior, problem.domain.sides, problem.utility.worst_case
    read = problem.utility.on_interval == "reading"
    if read and worst:
        return (_even(sides[0], wanted),)
    beyond = 0.0 if problem.domain.is_bounded else 1 / wanted**3
    probabilities, axes = np.linspace(beyond, 1 - beyond, QUANTILES), []
    for n, side in enumerate(sides):
        places = np.maximum.accumulate(law.quantiles(side, probabilities.tolist(), n))
        ends = _range(side, float(places[0]), float(places[-1]))
        axes.append(halved(ends, places, probabilities, wanted, worst_case=worst, read=read))
    return (_with_mass(problem, axes[0]),) if read else tuple(axes)


def halved(
    ends: tuple[Fraction, Fraction],
    places: FloatArray,
    probabilities: FloatArray,
    wanted: int,
    *,
    worst_case: bool,
    read: bool = False,
) -> tuple[Fraction, ...]:
    """Return about so many nodes between two ends.

    What a cell adds to the gap grows with its width h and its mass m like m**2 h for an error on
    average (an output in the cell, and an input in it), like m h**2 for that of an unbiased
    reading, and like h for the worst case. A cell at an end has a node whose numbers all lie on one
    side of it, which for unbiased readings costs like h, whatever the mass.

    Parameters
    ----------
    ends
        The first and the last node.
    places, probabilities
        Quantiles of the law.
    wanted
        How many nodes.
    worst_case
        Whether the loss is that of the worst input.
    read
        Whether it is that of an unbiased reading.
    """
    low, high = ends
    length = high - low

    def below(k: Fraction) -> float:
        return float(np.interp(float(low + length * k), places, probabilities, 0.0, 1.0))

    def weight(left: Fraction, right: Fraction, mass: float) -> float:
        h = float(right - left)
        if worst_case:
            return h
        if read:
            return AT_END * h if left == 0 or right == 1 else mass * h * h + EVENLY * h**3
        return mass * mass * h + EVENLY * h**3

    whole = (Fraction(0), Fraction(1), below(Fraction(0)), below(Fraction(1)))
    cells = [(-weight(*whole[:2], whole[3] - whole[2]), *whole)]
    finest = Fraction(1, 1 << MOST_HALVINGS)

    def are_enough() -> bool:
        if worst_case and cells[0][0] < cells[-1][0]:
            return False  # halves of one width: a mirror image of the problem stays one
        return len(cells) >= wanted - 1 or cells[0][2] - cells[0][1] <= finest

    while not are_enough():
        _, left, right, under, over = heapq.heappop(cells)
        middle = (left + right) / 2
        at = below(middle)
        heapq.heappush(cells, (-weight(left, middle, at - under), left, middle, under, at))
        heapq.heappush(cells, (-weight(middle, right, over - at), middle, right, at, over))
    places_of = sorted({end for cell in cells for end in cell[1:3]})
    return tuple(low + length * end for end in places_of)


def _even(interval: Interval, wanted: int) -> tuple[Fraction, ...]:
    """Return nodes at one distance from each other on a bounded interval."""
    low, high = Fraction(interval.low), Fraction(interval.high)
    return tuple(low + (high - low) * j / (wanted - 1) for j in range(wanted))


def _with_mass(problem: ContinuousProblem, nodes: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return nodes less those in the way of mass: a number goes to each node that is left.

    Raises
    ------
    InputError
        If nothing but the ends is left.
    """
    while True:
        without = [n for n, mass in enumerate(_prior_of(problem, nodes)) if not mass]
        ends = {0: 1, len(nodes) - 1: len(nodes) - 2}
        dropped = {ends.get(n, n) for n in without}
        if not dropped:
            return nodes
        if len(nodes) == 2:
            raise InputError("prior", "a law with mass inside the interval", repr(problem.prior))
        nodes = tuple(t for n, t in enumerate(nodes) if n not in dropped)


def _prior_of(problem: ContinuousProblem, nodes: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return rounded_problem(problem.stated((nodes,)), (nodes,)).prior


def _range(interval: Interval, least: float, most: float) -> tuple[Fraction, Fraction]:
    """Return the first and the last node: the ends of the interval, where these are finite.

    Else they are short numbers beyond nearly all the mass.
    """
    size = Fraction(2) ** (math.frexp(max(most - least, abs(least), abs(most), 1e-9))[1] - 8)
    low = interval.low if isinstance(interval.low, Fraction) else math.floor(least / size) * size
    high = interval.high if isinstance(interval.high, Fraction) else math.ceil(most / size) * size
    return low, max(high, low + size)
