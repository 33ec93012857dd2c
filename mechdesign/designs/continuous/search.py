"""The search on finer and finer nodes, whose finite programs give a kernel and a bound.

nodes -> moments of the law -> finite program -> finite design -> kernel, and a bound on all
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from mechdesign.channel import Channel
from mechdesign.continuous.channel import ContinuousChannel
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.continuous.grid import axes_for
from mechdesign.designs.report import PrivacyClaim, float_below
from mechdesign.designs.solution import EARLY, Solution
from mechdesign.domain import Domain, clean_label
from mechdesign.errors import SolverError
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

    Parameters
    ----------
    problem
        The continuous problem.
    limits
        The limits of the search.
    gap
        The gap at which the search ends; None for :data:`GAP`.
    design
        The design of a finite program.

    Raises
    ------
    SolverError
        If the first program is not solved.
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
        considered=(),
        notes=tuple(note for note in lower.notes if note.startswith(EARLY))[:1],
        seconds=0.0,
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
