"""Where the nodes of an interval are: close to each other where the law has its mass.

Nodes are the ends of cells that come from halving the interval again and again, so that distances
between nodes are whole powers of 2 of each other and sums of moments over them stay short numbers.
"""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.certify.continuous.law import Continuous
from mechdesign.continuous.interval import Interval
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.errors import InputError

__all__ = ["QUANTILES", "halved", "nodes_for", "stated_on"]

MOST_HALVINGS = 24
QUANTILES = 4097

EVENLY = 0.01
"""How much cells without mass count, beside the others."""

AT_END = 0.03
"""How much the width of a cell at an end counts for unbiased readings."""


def nodes_for(problem: ContinuousProblem, wanted: int) -> tuple[Fraction, ...]:
    """Return about so many nodes for a problem."""
    law, interval = problem.prior, problem.interval
    if (read := problem.utility.on_interval == "reading") and problem.utility.worst_case:
        return _even(interval, wanted)
    beyond = 0.0 if interval.is_bounded else 1 / wanted**3
    probabilities = np.linspace(beyond, 1 - beyond, QUANTILES)
    places = np.maximum.accumulate(law.quantiles(interval, probabilities.tolist()))
    low, high = _range(problem, float(places[0]), float(places[-1]))
    marks, worst_case = (low, *interval.cuts, high), problem.utility.worst_case
    nodes = halved(marks, places, probabilities, wanted, worst_case=worst_case, read=read)
    return _with_mass(problem, nodes) if read else nodes


def halved(
    marks: tuple[Fraction, ...],
    places: FloatArray,
    probabilities: FloatArray,
    wanted: int,
    *,
    worst_case: bool,
    read: bool = False,
) -> tuple[Fraction, ...]:
    """Return about so many nodes between two ends, and twice at each mark between them.

    What a cell adds to the gap grows with its width h and its mass m like m**2 h for an error on
    average (an output in the cell, and an input in it), like m h**2 for that of an unbiased
    reading, and like h for the worst case. A cell at an end has a node whose numbers all lie on one
    side of it, which for unbiased readings costs like h, whatever the mass.

    Parameters
    ----------
    marks
        The ends, and the cuts between them.
    places, probabilities
        Quantiles of the law.
    wanted
        How many nodes.
    worst_case
        Whether the loss is that of the worst input.
    read
        Whether it is that of an unbiased reading.
    """
    low, *_, high = marks
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

    inside = [(cut - low) / length for cut in marks[1:-1]]
    cells = []
    for left, right in pairwise([Fraction(0), *inside, Fraction(1)]):
        under, over = below(left), below(right)
        cells.append((-weight(left, right, over - under), left, right, under, over))
    heapq.heapify(cells)
    finest = Fraction(1, 1 << MOST_HALVINGS)

    def are_enough() -> bool:
        if not inside and worst_case and cells[0][0] < cells[-1][0]:
            return False  # halves of one width: a mirror image of the problem stays one
        return len(cells) >= wanted - 1 or cells[0][2] - cells[0][1] <= finest

    while not are_enough():
        _, left, right, under, over = heapq.heappop(cells)
        middle = (left + right) / 2
        at = below(middle)
        heapq.heappush(cells, (-weight(left, middle, at - under), left, middle, under, at))
        heapq.heappush(cells, (-weight(middle, right, over - at), middle, right, at, over))
    ends = sorted([*{end for cell in cells for end in cell[1:3]}, *inside])
    return tuple(low + length * end for end in ends)


def _even(interval: Interval, wanted: int) -> tuple[Fraction, ...]:
    """Return nodes at one distance from each other in each region of a bounded interval."""
    low, high = Fraction(interval.low), Fraction(interval.high)
    width = (high - low) / (wanted - 1)
    nodes = list[Fraction]()
    for left, right in pairwise([low, *interval.cuts, high]):
        cells = max(1, round((right - left) / width))
        nodes += [left + (right - left) * j / cells for j in range(cells + 1)]
    return tuple(nodes)


def _with_mass(problem: ContinuousProblem, nodes: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return nodes less those in the way of mass: a number goes to each node that is left.

    Raises
    ------
    InputError
        If nothing but the ends is left.
    """
    while True:
        without = [n for n, mass in enumerate(stated_on(problem, nodes).prior) if not mass]
        ends = {0: 1, len(nodes) - 1: len(nodes) - 2}
        dropped = {ends.get(n, n) for n in without}
        if not dropped:
            return nodes
        if len(nodes) == 2:
            raise InputError("prior", "a law with mass inside the interval", repr(problem.prior))
        nodes = tuple(t for n, t in enumerate(nodes) if n not in dropped)


def _range(problem: ContinuousProblem, least: float, most: float) -> tuple[Fraction, Fraction]:
    """Return the first and the last node: the ends of the interval, where these are finite.

    Else they are short numbers beyond nearly all the mass.
    """
    interval = problem.interval
    size = Fraction(2) ** (math.frexp(max(most - least, abs(least), abs(most), 1e-9))[1] - 8)
    low = interval.low if isinstance(interval.low, Fraction) else math.floor(least / size) * size
    high = interval.high if isinstance(interval.high, Fraction) else math.ceil(most / size) * size
    if interval.cuts:
        low = min(low, interval.cuts[0] - size) if interval.low != low else low
        high = max(high, interval.cuts[-1] + size) if interval.high != high else high
    return low, max(high, low + size)


def stated_on(problem: ContinuousProblem, nodes: tuple[Fraction, ...]) -> Continuous:
    """Return the problem as the checker reads it, with the moments of the cells between nodes."""
    interval = problem.interval
    edges = list[Fraction | float](dict.fromkeys(nodes))
    starts, ends = interval.low < nodes[0], nodes[-1] < interval.high
    edges = [interval.low] * starts + edges + [interval.high] * ends
    found = problem.prior.cells(edges)
    cells = list(zip(found.masses, found.first, found.second, strict=True))
    nothing = (Fraction(0),) * 3
    below = cells.pop(0) if starts else nothing
    above = cells.pop() if ends else nothing
    for i in range(len(nodes) - 1):
        if nodes[i] == nodes[i + 1]:
            cells.insert(i, nothing)
    regions = problem.interval.regions
    return Continuous(
        nodes,
        tuple(cells),
        (below, above),
        [notion.aligned(regions).to_table() for notion in problem.privacy],
        problem.utility_table,
        found.error,
        interval.is_bounded,
        tuple(map(str, regions.labels)),
    )
