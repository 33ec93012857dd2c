"""The search: a finite program on nodes gives a kernel and a bound, until the gap is small enough.

nodes -> moments of the law -> relaxation -> finite design -> kernel on the interval, and a bound
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from mechdesign.certify.bounds.readings import Readings
from mechdesign.certify.continuous.kernel import SQUARED, Kernel
from mechdesign.certify.continuous.law import Continuous
from mechdesign.certify.continuous.relaxation import (
    Relaxation,
    is_metric,
    is_on_averages,
    node_places,
    relaxation,
)
from mechdesign.certify.continuous.unbiased import READ
from mechdesign.channel import Channel
from mechdesign.continuous.channel import ContinuousChannel
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.continuous.grid import nodes_for, stated_on
from mechdesign.designs.continuous.solution import ContinuousSolution
from mechdesign.designs.solution import EARLY, Solution, float_below
from mechdesign.domain import Domain, clean_label
from mechdesign.errors import SolverError
from mechdesign.exact import as_fraction
from mechdesign.notions import Notion
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.routes.limits import Limits
from mechdesign.tables import ExactTable
from mechdesign.utilities import UTILITIES, Distortion, UnbiasedVariance, Utility

__all__ = ["Finite", "design_continuous", "finite_problem", "refined"]

GAP = 0.01
"""The gap that is small enough where none is asked for."""

FIRST, MOST = 17, 1025
"""Nodes of the first program and of the largest."""

SHARE = 0.05
"""The share of the gap that the finite program may have."""

GROWTH = (1.4, 3.0)
"""How much finer the nodes become at least and at most: the gap falls with the square of it."""

LEAST_GROWTH = 1.2
"""How much finer the nodes must at least become for the time that it takes."""

SLOWER = 3.0
"""The power of the number of nodes that the time of a finite design is expected to grow with."""

S = TypeVar("S", bound=ContinuousSolution)

Finite = Callable[[Problem, float, float], Solution]
"""A design of a finite problem to a gap and within so many seconds."""


def design_continuous(
    problem: ContinuousProblem, limits: Limits, gap: float | None, design: Finite
) -> ContinuousSolution:
    """Return the best kernel found, with a bound on all private kernels.

    Parameters
    ----------
    problem
        What is asked.
    limits
        What ends the search.
    gap
        The gap that is small enough; None for :data:`GAP`.
    design
        What designs the finite programs.

    Raises
    ------
    SolverError
        If not even the first program was solved.
    """

    def designed(count: int, gap: float) -> ContinuousSolution:
        return _designed(problem, count, gap, limits, design)

    most = int(min(MOST, problem.utility.most_inputs))
    return refined(designed, (FIRST, most), SLOWER, limits, gap)


def refined(
    designed: Callable[[int, float], S],
    sizes: tuple[int, int],
    slower: float,
    limits: Limits,
    gap: float | None,
) -> S:
    """Design on more and more nodes, until the gap is small enough or the time is over.

    Parameters
    ----------
    designed
        Designs on about so many nodes, by finite programs with such a gap.
    sizes
        How many the first program has, and the largest.
    slower
        The power of the number of nodes that the time of a design is expected to grow with.
    limits
        What ends the search.
    gap
        The gap that is small enough; None for :data:`GAP`.

    Raises
    ------
    SolverError
        If not even the first program was solved.
    """
    best: S | None = None
    wanted = GAP if gap is None else gap
    count, notes = sizes[0], list[str]()
    while True:
        start = limits.elapsed
        try:
            found = designed(count, wanted * SHARE)
        except SolverError as error:
            if best is None:
                raise
            notes.append(f"{count} nodes: {error}")
            break
        best = found if best is None or found.gap <= best.gap else best
        limits.tell(count, float(best.value), float_below(best.bound))
        if found.ended:
            notes.append(found.ended)
        if found.gap <= wanted or found.ended:
            break
        if limits.interrupted:
            notes.append(f"{EARLY}: interrupted")
            break
        factor = min(max(1.1 * math.sqrt(found.gap / wanted), GROWTH[0]), GROWTH[1])
        finer = min(math.ceil(count * factor), sizes[1])
        if finer <= count:
            notes.append(f"{count} nodes are the most that are tried")
            break
        spent = max(limits.elapsed - start, 1e-3)
        finer = min(finer, math.floor(count * min(limits.left / spent, 1e6) ** (1 / slower)))
        if finer < LEAST_GROWTH * count:
            notes.append(f"{EARLY}: no time for more nodes than {count}")
            break
        count = finer
    return best.finished(limits.elapsed, notes)


def _designed(
    problem: ContinuousProblem, count: int, gap: float, limits: Limits, design: Finite
) -> ContinuousSolution:
    """Design on about so many nodes."""
    stated = stated_on(problem, nodes_for(problem, count))
    program = relaxation(stated)
    lower = design(finite_problem(problem, program), gap, limits.left)
    upper = lower
    numbered = program.outputs is None
    if is_metric(stated) or (is_on_averages(stated) and not numbered):
        upper = design(finite_problem(problem, _on_nodes(stated)), gap, limits.left)
    channel, kernel = _kernel(stated, upper, program)
    continuous = ContinuousChannel(problem.interval, "linear", stated.nodes, channel)
    decoder = tuple(kernel.readings()) if numbered else None
    bounds = (lower, program.shift)
    return ContinuousSolution.of(problem, kernel, continuous, bounds, upper, decoder)


def finite_problem(problem: Any, program: Relaxation) -> Problem:
    """Return a finite program as a problem."""
    utility: Utility
    if program.outputs is None:
        named = {key: given for key, given in program.utility.items() if key != "objective"}
        utility = UTILITIES[program.utility["objective"]](**named)
    else:
        matrix = ExactTable.of(program.utility["matrix"], "matrix")
        utility = Distortion(matrix, worst_case=program.utility["worst_case"])
    tables = zip(problem.privacy, program.privacy, strict=True)
    return Problem(
        Domain(program.places),
        [_about_nodes(notion, table) for notion, table in tables],
        utility,
        prior=Prior(program.prior),
        outputs=program.outputs,
    )


def _about_nodes(notion: Notion, table: dict[str, Any]) -> Notion:
    """Return the notion of a table: the same one, unless it is about regions."""
    if table == notion.to_table():
        return notion
    return type(notion)(**{key: given for key, given in table.items() if key != "notion"})


def _on_nodes(stated: Continuous) -> Relaxation:
    """Return a program for the channel of the nodes, with the losses at the nodes.

    It is for problems whose relaxation is about cells or averages, with losses of their own.
    """
    places = node_places(stated) if is_metric(stated) else list(range(len(stated.nodes)))
    if stated.utility["objective"] == READ:
        values = {**stated.utility, "values": list(stated.nodes)}
        return Relaxation(places, stated.prior, stated.on_nodes, values, None, Fraction(0))
    power = 2 if stated.utility["objective"] == SQUARED else 1
    nodes = stated.nodes
    utility = {
        "objective": "distortion",
        "worst_case": stated.utility["worst_case"],
        "matrix": [[abs(nodes[j] - t) ** power for j in stated.outputs] for t in nodes],
    }
    return Relaxation(places, stated.prior, stated.on_nodes, utility, stated.outputs, Fraction(0))


def _kernel(stated: Continuous, solution: Solution, program: Relaxation) -> tuple[Channel, Kernel]:
    """Return the channel of the nodes with the nodes as its outputs, and its kernel.

    Outputs are only numbered where the loss is that of what is read from them. The unbiased
    readings are those of the nodes, whatever the values of the program that gave the channel.
    """
    channel = solution.channel
    outputs: list[Any] = list(channel.outputs)
    if program.outputs is not None:
        outputs = [clean_label(float(stated.nodes[j]), "outputs") for j in outputs]
    named = Channel(channel.numerators, outputs=outputs, bits=channel.bits)
    numbers = [as_fraction(y) for y in outputs] if program.outputs is not None else []
    read = None
    if solution.problem.utility.states_decoder:
        found = solution.decoder or ()
        if program.utility["values"] != list(stated.nodes):
            utility = UnbiasedVariance(stated.nodes, stated.utility["worst_case"])
            found = utility.decoder(named, Prior(stated.prior))
        read = Readings.of(found)
    return named, Kernel(stated, named.columns(), named.bits, numbers, read)
