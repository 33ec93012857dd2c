"""The finite program whose optimum minus a shift bounds the loss of every private kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.kernel.losses import of_integers
from mechdesign.kernel.names import Compiled, Domain, ProblemTable, Utility, compile_problem
from mechdesign.kernel.objectives import Loss
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

    Attributes
    ----------
    table
        The problem: its outputs are the nodes, or chosen by the optimizer.
    shift
        The number to subtract from the optimum.
    costs
        Those of the outputs at the nodes; None if the table has an objective.
    worst_case
        Whether they are those of the worst input.
    """

    table: ProblemTable
    shift: Fraction
    costs: Costs | None = None
    worst_case: bool = False

    @cached_property
    def statement(self) -> Statement:
        """The statement."""
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

    Parameters
    ----------
    rounded
        The problem.
    shift
        The number to subtract from the optimum.
    costs
        Of the outputs at the nodes; a constant makes them >= 0, and is added to the shift.
    utility
        The objective, if there are no costs.
    inputs, prior
        The inputs on a line and their law; default the nodes.
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
