"""Linear programs with few outputs at first; others are added if they improve the optimum.

An optimum uses few outputs, and the extended formulation of a column may have some hundred rows. So
the program is stated for some outputs only. Its potentials u price all: if no private column q has
a negative reduced cost (c_y - u) . q for any output y, no other output improves the optimum. Those
that do are added, repeatedly. Each pricing program, over one column with entries that sum to 1,
gives multipliers that bound its reduced cost, and Sum_x u_x plus k times the least reduced cost is
a bound at any time, as all columns of a channel sum to k.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import by_highs
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.search.presolve.reduction import Answer, ConicProgram

FEWEST_INPUTS = 80
"""With fewer inputs one program for all outputs is as fast."""

FIRST, LEAST_ADDED = 16, 8
"""The initial number of outputs, and the least number added; of many outputs, a fifth is added."""

NEGATIVE = 1e-10
"""A reduced cost below minus this, in the unit of the costs, counts as negative."""


def pays(program: ConicProgram) -> bool:
    """Return whether outputs should be added one after the other.

    This is the case for an expected loss with many inputs and a box or a ball of priors: few
    outputs are used, and a column has many rows. A worst case takes up to five times as long.
    """
    lifts = (family.lift_rows() for family in program.cone.families)
    sets = any(rows is not None and rows.priors.support() is not None for rows in lifts)
    return len(program.cost) >= FEWEST_INPUTS and not program.worst_case and sets


def by_outputs(program: ConicProgram, limits: Limits) -> Answer:
    """Solve a program by output generation: a backend for programs for which it :func:`pays`.

    If the time is over, the best channel of the current outputs is returned.

    Raises
    ------
    SolverError
        If the time is over before there is a channel.
    """
    k, m = program.cost.shape
    active = np.unique(np.linspace(0, m - 1, min(m, FIRST)).round().astype(np.intp))
    pricer = LPPricer(program.cone, limits=limits, at_most=True)
    rounds, bound, value = 0, -np.inf, np.inf
    while True:
        try:
            cost, counts = program.cost[:, active], program.counts[active]
            some = replace(program, cost=cost, output_count=counts, is_priced=True)
            answer = by_highs(some, limits.part())
            potentials = np.asarray(answer.potentials)
            priced = pricer.price(program.cost - potentials[:, None])
        except SolverError:
            if not rounds:
                raise
            break
        rounds += 1
        if (loss := some.loss(answer.matrix)) < value:
            value, matrix = loss, np.zeros((k, m))
            matrix[:, active] = answer.matrix
        lower = float(potentials.sum()) + k * min(0.0, float(priced.reduced.min()))
        if lower > bound:
            bound, evidence, multipliers = lower, answer, priced.multipliers
        better = np.setdiff1d(np.flatnonzero(priced.reduced < -NEGATIVE), active)
        if limits.report(rounds, value, bound) or not len(better):
            break
        most = max(LEAST_ADDED, len(active) // 5)
        active = np.union1d(active, better[np.argsort(priced.reduced[better])[:most]])
    note = f"{len(active)} of {m} outputs were stated, in {rounds} rounds"
    duals = () if program.is_priced else pricer.duals(multipliers)
    return replace(evidence, matrix=matrix, duals=duals, notes=(note,))
