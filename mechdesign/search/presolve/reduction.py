"""The reduction contract: a smaller program, and the inverse map of its answers.

The program is a conic one, linear in the channel Q:

    minimize    Sum_xy cost[x, y] Q[x, y]     or, in the worst case,  max_x Sum_y cost[x, y] Q[x, y]
    subject to  every column of Q in the cone,  every row of Q sums to 1

A :data:`Reduction` maps a program to a :class:`Reduced` one, which inverts answers: the channel,
and the dual variables that prove the same bound for the original program. The contract is that of
cvxpy's reductions (Agrawal et al. 2018, "A rewriting system for convex optimization problems"),
except that one program may split into several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.row import Multipliers
from mechdesign.search.limits import Limits


@dataclass(frozen=True)
class ConicProgram:
    """A cone and a cost; see the module docstring.

    If symmetries leave one output of each orbit, column y represents ``output_count[y]`` outputs,
    and the entries of an orbit of inputs sum to the number of its inputs:

        minimize    Sum_y n_y c_y . q_y
        subject to  Sum_y n_y Sum_{x in o} q_y(x) = |o|   for every orbit o

    Attributes
    ----------
    cone
        The cone of the columns.
    cost
        ``(n_inputs, n_outputs)``, with a largest entry near 1: tolerances are absolute.
    worst_case
        Whether the loss is that of the worst input rather than the sum.
    output_count
        ``(n_outputs,)``: n_y; None for 1 each.
    input_orbit
        ``(n_inputs,)``: the orbit of each input, from 0; None for separate orbits.
    is_priced
        Whether potentials prove the bound, so that multipliers are not needed.
    sums
        Constraints on sums over the outputs, each with the place of its notion; for HiGHS only.
    """

    cone: Cone
    cost: FloatArray
    worst_case: bool = False
    output_count: FloatArray | None = None
    input_orbit: IntArray | None = None
    is_priced: bool = False
    sums: Sequence[tuple[int, ChannelConstraint]] = ()

    @property
    def counts(self) -> FloatArray:
        """``(n_outputs,)``: n_y."""
        return np.ones(self.cost.shape[1]) if self.output_count is None else self.output_count

    def loss(self, matrix: FloatArray) -> float:
        """Return the loss of the columns: their sum, or the largest mean of an orbit."""
        losses = (self.cost * matrix) @ self.counts
        if not self.worst_case:
            return float(losses.sum())
        return float((np.bincount(self.orbits, losses) / np.bincount(self.orbits)).max())

    @property
    def orbits(self) -> IntArray:
        """``(n_inputs,)``: the orbit of each input."""
        return np.arange(len(self.cost)) if self.input_orbit is None else self.input_orbit


@dataclass(frozen=True)
class Answer:
    """The answer of a backend.

    Attributes
    ----------
    matrix
        ``(n_inputs, n_outputs)``, a channel up to a tolerance.
    duals
        Multipliers of rows of the cone, in the unit of the cost; empty if the program is priced.
    route
        How it was found, for the report.
    potentials
        ``(n_inputs,)``: the dual variables of the row sums; None if not needed.
    worst_case_multipliers
        For a worst case ``(n_inputs,)``: the multipliers of the losses of the inputs, or of their
        orbits; else None.
    reductions
        Descriptions of the reductions before the backend.
    notes
        Further notes for the report.
    is_optimal
        Whether the backend ended by itself.
    """

    matrix: FloatArray
    duals: Sequence[Multipliers]
    route: str
    potentials: FloatArray | None = None
    worst_case_multipliers: FloatArray | None = None
    reductions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_optimal: bool = True


Backend: TypeAlias = Callable[[ConicProgram, Limits], Answer]
"""Solves a program within limits."""


def _the_same(answers: Sequence[Answer]) -> Answer:
    """Return the single answer unchanged, which is correct if only rows were removed."""
    (answer,) = answers
    return answer


@dataclass(frozen=True)
class Reduced:
    """A reduced program.

    Attributes
    ----------
    programs
        Independent programs.
    note
        A description of the reduction.
    invert
        Maps the answers of :attr:`programs` to the answer of the original program.
    """

    programs: tuple[ConicProgram, ...]
    note: str
    invert: Callable[[Sequence[Answer]], Answer] = _the_same


Reduction: TypeAlias = Callable[[ConicProgram], Reduced | None]
"""One step of presolve, with the same optimum before and after; None if nothing is reduced."""


def reduced_costs(program: ConicProgram, duals: Sequence[Multipliers]) -> FloatArray:
    """Return the costs plus the terms of multipliers w, w (e**-a left - right).

    The terms are at most 0 on private columns, so Sum_x min_y of the result is a lower bound on an
    expected loss.

    Parameters
    ----------
    program
        Without orbits.
    duals
        Multipliers of rows of its cone.
    """
    costs = np.array(program.cost)
    for found in duals:
        program.cone.families[found.notion].add_terms(costs, found)
    return costs
