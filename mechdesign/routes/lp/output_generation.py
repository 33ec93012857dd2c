"""Linear programs with few of the outputs at first: others are added as they pay.

An optimum uses few outputs, where the extended formulation of a column may have some hundred rows.
So the program is stated for some outputs only. Its potentials u price all: if no private column q
has a negative reduced cost (c_y - u) . q for any output y, no other output helps. Those that do are
added, and so on. Each pricing program, over one column with entries that sum to 1, gives
multipliers that show how negative a reduced cost can be, and Sum_x u_x and k times the least of all
is a bound at any time, as all columns of a channel sum to k.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.notions.rows.cone import Cone
from mechdesign.prior_sets import Weights
from mechdesign.routes.base import FamilyDual
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.column_rows import ColumnRows
from mechdesign.routes.lp.linear_program import by_highs, few_listed
from mechdesign.routes.lp.support_formulation import support_of
from mechdesign.routes.lp.warm_column import WarmColumn
from mechdesign.routes.presolve.reduction import Answer, ConicProgram, reduced_costs

__all__ = ["by_outputs", "pays", "sharing_priors"]


FEWEST_INPUTS = 80
"""On fewer inputs one program for all outputs is as quick."""

FIRST, LEAST_ADDED = 16, 8
"""Outputs to begin with, and the fewest that are added; of many outputs, a fifth is added."""

NEGATIVE = 1e-10
"""A reduced cost below minus this, in the unit of the costs, pays."""


def pays(program: ConicProgram) -> bool:
    """Return whether outputs should be added one after the other.

    That is so on many inputs for a box or a ball of priors, and for a worst case under one budget:
    there few outputs are used, while a column has many rows or the rows of Q are coupled twice.
    """
    if len(program.cost) < FEWEST_INPUTS:
        return False
    lifts = [family.lift_rows() for family in program.cone.families]
    sets = [support_of(family) is not None for family in lifts]
    stated = all(
        is_set or family is None or few_listed(family)
        for is_set, family in zip(sets, lifts, strict=True)
    )
    if not stated or program.worst_case == any(sets):
        return False
    rows = ColumnRows(program.cone, _listed_priors(program.cone))
    return any(sets) or all(block.shares_least for block in rows.blocks)


def _listed_priors(cone: Cone) -> list[tuple[Weights, ...]]:
    """Return for each family the priors that are listed; none stands for all of a set."""
    lifts = [family.lift_rows() for family in cone.families]
    return [() if family is None else few_listed(family) for family in lifts]


def by_outputs(program: ConicProgram, limits: Limits, method: str = "auto") -> Answer:
    """Solve a program by output generation: a backend for where it :func:`pays`.

    Where time ends the search, the best channel of the outputs so far stands.

    Raises
    ------
    SolverError
        If time is over before there is a channel.
    """
    k, m = program.cost.shape
    active = np.unique(np.linspace(0, m - 1, min(m, FIRST)).round().astype(np.intp))
    column = WarmColumn(program.cone, np.ones(k), _listed_priors(program.cone))
    matrix, bound, rounds = np.zeros((k, m)), -np.inf, 0
    counts = program.output_count
    evidence, multipliers = None, np.zeros((len(column.rows), m))
    while True:
        try:
            some = replace(
                program,
                cost=program.cost[:, active],
                output_count=None if counts is None else counts[active],
                is_priced=True,
            )
            answer = by_highs(some, limits.part(), method)
            matrix = np.zeros((k, m))
            matrix[:, active] = answer.matrix
            rounds += 1
            weights = _weights(program, answer)
            potentials = np.zeros(k) if answer.potentials is None else answer.potentials
            v = weights[:, None] * program.cost - potentials[:, None]
            reduced, found = _priced(column, v, limits)
        except SolverError:
            if not rounds:
                raise
            break
        lower = float(potentials.sum()) + k * min(0.0, float(reduced.min()))
        if lower > bound:
            bound, evidence, multipliers = lower, answer, found
        better = np.setdiff1d(np.flatnonzero(reduced < -NEGATIVE), active)
        if limits.tell(rounds, _loss(program, matrix), bound) or not len(better):
            break
        active = np.union1d(
            active, better[np.argsort(reduced[better])[: max(LEAST_ADDED, len(active) // 5)]]
        )
    note = f"{len(active)} of {m} outputs were stated, in {rounds} rounds"
    duals = () if program.is_priced else tuple(column.rows.duals(multipliers))
    if duals and counts is None and not program.worst_case:
        duals = sharing_priors(program, duals)
    return replace(evidence or answer, matrix=matrix, duals=duals, notes=(note,))


def sharing_priors(program: ConicProgram, duals: tuple[FamilyDual, ...]) -> tuple[FamilyDual, ...]:
    """Let outputs with slack refer to the center or to priors that others need: the bound stays.

    Multipliers of an output at one prior P add a multiple of P to its reduced costs. Another member
    of the set does as well if no reduced cost falls below the least of its input over the outputs,
    of which the bound is the sum. Outputs with the least slack choose first.

    Parameters
    ----------
    program
        With an expected loss, and without orbits.
    duals
        Those of a family with a box or a ball of priors each have multipliers of one output and one
        prior; other families stay as they are.
    """
    costs = reduced_costs(program, duals)
    least = costs.min(axis=1)
    slack = (costs - least[:, None]).min(axis=0)
    found = []
    for dual in duals:
        lifts = program.cone.families[dual.notion].lift_rows()
        if lifts is None or support_of(lifts) is None:
            found.append(dual)
            continue
        priors = (*dual.priors, lifts.priors.middle)
        table = np.array([[float(p) for p in prior] for prior in priors])
        shared, kept = [], [len(dual.priors)]
        for m in sorted(dual.multipliers, key=lambda m: slack[m.output[0]]):
            y, number = m.output[0], m.other[0]
            scale = m.weight.sum() * (-1.0 if m.side == "upper" else lifts.ends()[0])
            moved = costs[:, y] + scale * (table[kept] - table[number])
            suits = np.flatnonzero((moved >= least).all(axis=1))
            if len(suits):
                costs[:, y], number = moved[suits[0]], kept[suits[0]]
            else:
                kept.append(number)
            shared.append(replace(m, other=np.full(len(m.other), number)))
        found.append(replace(dual, multipliers=tuple(shared), priors=priors))
    return tuple(found)


def _weights(program: ConicProgram, answer: Answer) -> FloatArray:
    """Return the mass of each input in the loss: that which a worst case has, else 1."""
    found = answer.worst_case_multipliers
    if found is None:
        return np.ones(len(program.cost))
    orbit = np.arange(len(program.cost)) if program.input_orbit is None else program.input_orbit
    return np.asarray((found / found.sum() / np.bincount(orbit))[orbit])


def _loss(program: ConicProgram, matrix: FloatArray) -> float:
    """Return the loss of the columns: their sum, or the largest of an input or an orbit."""
    k, m = program.cost.shape
    counts = np.ones(m) if program.output_count is None else program.output_count
    losses = (program.cost * matrix) @ counts
    if not program.worst_case:
        return float(losses.sum())
    orbit = np.arange(k) if program.input_orbit is None else program.input_orbit
    return float((np.bincount(orbit, losses) / np.bincount(orbit)).max())


def _priced(column: WarmColumn, v: FloatArray, limits: Limits) -> tuple[FloatArray, FloatArray]:
    """Return the least reduced cost of each output, and multipliers of rows that prove them.

    Costs of outputs that follow each other differ little, and so the last basis is a good start.

    Parameters
    ----------
    column
        Of entries that sum to 1.
    v
        ``(n_inputs, n_outputs)``: costs less potentials.
    limits
        When to end, with a SolverError.

    Returns
    -------
    tuple
        ``(n_outputs,)`` and ``(n_rows, n_outputs)``.
    """
    column = column.copy(limits)
    reduced, multipliers = np.zeros(v.shape[1]), np.zeros((len(column.rows), v.shape[1]))
    for y, costs in enumerate(v.T):
        found, solved = column.cheapest(costs)
        reduced[y] = costs @ found
        multipliers[:, y] = np.maximum(-solved.dual[:-1], 0.0)
    return reduced, multipliers
