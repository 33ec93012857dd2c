"""The design of a mechanism for a continuous input, on finer and finer grids of nodes.

nodes -> moments of the law -> finite program -> finite design -> kernel, and a bound on all

Nodes are dense where the law has its mass. They are the ends of cells from repeated halving of the
interval, so that ratios of distances are powers of 2 and sums of moments stay short numbers.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from mechdesign.channel import Channel
from mechdesign.continuous.channel import ContinuousChannel
from mechdesign.continuous.domain import Interval
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.solution import EARLY, PrivacyClaim, Solution, float_below
from mechdesign.domain import Domain, clean_label
from mechdesign.errors import InputError, SolverError
from mechdesign.exact import as_fraction
from mechdesign.kernel.names import Utility as Words
from mechdesign.kernel.rounding.bound import (
    Program,
    node_losses,
    node_places,
    of_law,
    program,
    program_of,
)
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.rounding.value import kernel_decoder, kernel_value, slope
from mechdesign.kernel.schema import write
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.search.limits import Limits
from mechdesign.tables import ExactTable
from mechdesign.utilities import UTILITIES, Distortion, UnbiasedVariance, Utility

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

GAP = 0.01
"""The default gap."""

FIRST, MOST, SLOWER = (17, 7), (1025, 33), (3.0, 6.0)
"""Nodes of each axis in the first and in the largest program, and the expected exponent of the time
in their number: on an interval, and on a box."""

SHARE = 0.05
"""The share of the gap allowed to the finite program."""

GROWTH = (1.4, 3.0)
"""The least and the largest refinement factor: the gap decreases with its square."""

LEAST_GROWTH = 1.2
"""The least refinement factor that is worth the time."""

LESS_BITS = 100
"""Digits of roots that the search leaves out."""

Finite = Callable[[Problem, float, float], Solution]
"""Designs a finite problem with a gap and a time limit in seconds."""


def design_continuous(
    problem: ContinuousProblem, limits: Limits, gap: float | None, design: Finite
) -> Solution:
    """Return the best kernel found, with a bound on all private kernels.

    The programs have more and more nodes, until the gap is small enough or the time is over.
    """
    best: Solution | None = None
    wanted, box = GAP if gap is None else gap, len(problem.domain.sides) > 1
    most = min(MOST[box], problem.utility.most_inputs)
    count, notes = FIRST[box], list[str]()
    while True:
        start = limits.elapsed
        try:
            found = _designed(problem, count, wanted * SHARE, limits, design)
        except SolverError:
            if best is None:
                raise
            notes.append(f"the solver gave no answer on {count} nodes, and the search ended before")
            break
        best = found if best is None or found.gap <= best.gap else best
        limits.report(count, float(best.value), float_below(best.bound))
        notes += found.notes
        if found.gap <= wanted or found.notes:
            break
        if limits.interrupted:
            notes.append(f"{EARLY}: interrupted")
            break
        factor = min(max(1.1 * math.sqrt(found.gap / wanted), GROWTH[0]), GROWTH[1])
        finer = int(min(math.ceil(count * factor), most))
        if finer <= count:
            notes.append(f"{count} nodes are the most that are tried")
            break
        spent = max(limits.elapsed - start, 1e-3)
        affordable = count * min(limits.left / spent, 1e6) ** (1 / SLOWER[box])
        finer = min(finer, math.floor(affordable))
        if finer < LEAST_GROWTH * count:
            notes.append(f"{EARLY}: no time for more nodes than {count}")
            break
        count = finer
    return replace(best, seconds=limits.elapsed, notes=tuple(notes))


def _designed(
    problem: ContinuousProblem, count: int, gap: float, limits: Limits, design: Finite
) -> Solution:
    """Design on about ``wanted`` nodes of each axis."""
    axes = axes_for(problem, count)
    rounded = problem.stated(axes).on(axes)
    program, own = program_of(rounded), _own_program(rounded)
    lower = design(finite_problem(problem, program), gap, limits.left)
    upper = lower if own is None else design(finite_problem(problem, own), gap, limits.left)
    nodes, points = _nodes(rounded, upper)
    listed = axes[0] if len(axes) == 1 else axes
    columns, bits, readings = nodes.columns(), nodes.bits, _readings(rounded, upper, nodes)
    decoder = kernel_decoder(rounded, columns, bits, readings)
    privacy = [
        PrivacyClaim(notion, -float_below(-slope(rounded, columns)))
        if notion.on_interval == "distance"
        else replace(claim, notion=notion)
        for notion, claim in zip(problem.privacy, upper.privacy, strict=True)
    ]
    return Solution(
        problem=problem,  # type: ignore[arg-type]
        channel=ContinuousChannel(problem.domain, "linear", listed, nodes),  # type: ignore[arg-type]
        value=kernel_value(rounded, columns, bits, points, readings),
        bound=max(lower.bound - program.shift, Fraction(0)),
        privacy=tuple(privacy),
        readings=None if decoder is None else tuple(decoder),
        certificate=lower.certificate,
        route=lower.route,
        why="",
        notes=tuple(note for note in lower.notes if note.startswith(EARLY))[:1],
    )


def finite_problem(problem: ContinuousProblem, asked: Program) -> Problem:
    """Return a finite program as a problem."""
    table, outputs = asked.table, None
    utility: Utility
    if asked.costs is None:
        named: dict[str, Any] = write(table.utility)
        utility = UTILITIES[named.pop("objective")](**named)
    else:
        rows, unit = asked.costs
        matrix = [[Fraction(cost, unit) for cost in row] for row in rows]
        utility = Distortion(ExactTable.of(matrix, "matrix"), worst_case=asked.worst_case)
        outputs = list(range(len(rows[0])))
    values, prior = list(table.domain.values or ()), Prior(table.prior or ())
    return Problem(Domain(values), problem.privacy, utility, prior=prior, outputs=outputs)


def _own_program(rounded: Rounded) -> Program | None:
    """Return a program with the losses at the nodes, if the bound uses other losses.

    This is the case for cells or averages, or if its losses are much lower.
    """
    metric, worst = rounded.metric is not None, rounded.worst_case
    places = node_places(rounded) if metric else None
    if not rounded.distance:
        values = Words("unbiased-variance", {"worst_case": worst, "values": rounded.axes[0]})
        return program(rounded, utility=values, inputs=places) if metric else None
    if not (metric or rounded.distance == "euclidean" or (worst and of_law(rounded))):
        return None
    rows, unit = node_losses(rounded)
    if rounded.distance == "euclidean":
        rows, unit = [[far >> LESS_BITS for far in row] for row in rows], unit >> LESS_BITS
    return program(rounded, costs=(rows, unit), inputs=places)


def _nodes(rounded: Rounded, solution: Solution) -> tuple[Channel, list[tuple[Fraction, ...]]]:
    """Return the channel with the nodes as its outputs, and their points.

    Outputs are numbers only if the loss is that of their readings.
    """
    channel: Any = solution.channel
    outputs: list[Any] = list(channel.outputs)
    points = []
    if rounded.distance:
        floats = [tuple(map(float, rounded.points[y])) for y in outputs]
        outputs = [clean_label(list(y) if len(y) > 1 else y[0], "outputs") for y in floats]
        points = [tuple(map(as_fraction, y)) for y in floats]
    return Channel(channel.numerators, outputs=outputs, bits=channel.bits), points


def _readings(rounded: Rounded, solution: Solution, nodes: Channel) -> tuple[Fraction, ...] | None:
    """Return the unbiased readings of the nodes, for any program of the channel."""
    if rounded.utility.reads != "readings":
        return None
    utility: Any = solution.problem.utility
    if utility.values(solution.problem.domain) == rounded.axes[0]:
        return tuple(solution.decoder or ())
    own = UnbiasedVariance(rounded.axes[0], rounded.worst_case)
    return tuple(own.decoder(nodes, Prior(rounded.prior)))


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
    """Return the nodes without those that prevent mass at every node."""
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
