"""The finite program whose optimum is below the loss of every private kernel, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.kernel.losses import TableLosses
from mechdesign.kernel.names import Compiled, Domain, ProblemTable, compile_problem
from mechdesign.kernel.names.gains import PosteriorError
from mechdesign.kernel.names.losses import UnbiasedVariance
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.packed import exact
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.statement import Statement

__all__ = ["Costs", "Program", "on_nodes", "program", "stretched", "whole"]

Costs = tuple[list[list[int]], int]
"""A row for each input, an entry for each output; and what they are over."""


@dataclass(frozen=True)
class Program:
    """A finite problem whose optimum, less a number, is a bound on all kernels.

    Attributes
    ----------
    table
        The problem: its outputs are the nodes, or chosen by the optimizer.
    shift
        What is taken off the optimum.
    costs
        Those of the outputs at the nodes; None where the table has an objective itself.
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
        return replace(found, objective=Loss(_Integers(*self.costs), weights))


class _Integers(TableLosses):
    """A table of integers."""

    def __init__(self, rows: list[list[int]], unit: int) -> None:
        self.n_outputs, self.denominator = len(rows[0]), unit
        self._columns = list(map(list, zip(*rows, strict=True)))


def on_nodes(rounded: Rounded) -> Compiled:
    """Return the nodes with their law and the notions that are not by distance."""
    privacy = tuple(notion for notion in rounded.privacy if notion is not rounded.metric)
    return compile_problem(_table(range(len(rounded.points)), rounded.prior, privacy))


def _table(inputs: Any, prior: Any, privacy: Any, utility: Any = None) -> ProblemTable:
    return ProblemTable(Domain(tuple(inputs)), prior, privacy, utility)


def program(
    rounded: Rounded,
    shift: Fraction = Fraction(0),
    costs: Costs | None = None,
    utility: PosteriorError | UnbiasedVariance | None = None,
    inputs: Sequence[float] | None = None,
    prior: tuple[Fraction, ...] | None = None,
) -> Program:
    """Return a program with the notions of a rounded problem.

    Parameters
    ----------
    rounded
        The problem.
    shift
        What is taken off the optimum.
    costs
        Of the outputs at the nodes; one number is added to all, so that they are >= 0, and goes to
        the shift.
    utility
        The objective, where there are no costs.
    inputs, prior
        The inputs on a line and their law; default the nodes.
    """
    if costs is not None:
        rows, unit = costs
        added = max(-min(map(min, rows)), 0)
        costs = [[cost + added for cost in row] for row in rows], unit
        shift += Fraction(added, unit)
    places = range(len(rounded.points)) if inputs is None else inputs
    table = _table(places, prior or rounded.prior, rounded.privacy, utility)
    return Program(table, shift, costs, rounded.worst_case)


def whole(rows: Sequence[Sequence[Fraction]]) -> Costs:
    """Return costs over one denominator."""
    flat, unit = over_one_denominator(cost for row in rows for cost in row)
    width = len(rows[0])
    return [flat[n : n + width] for n in range(0, len(flat), width)], unit


def stretched(gaps: Sequence[Fraction], *, up: bool) -> list[float]:
    """Return rising numbers, from 0, that are these gaps apart, or a little more or less.

    They are floats, each of which stands for the decimal that it prints as.

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
