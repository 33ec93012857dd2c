"""The presolve chain: reductions in order, the backend, and the inverses in reverse order.

All reductions are exact: the optimum is the same, and the dual variables of the reduced program
prove the same bound for the original. The report lists the applied reductions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from mechdesign._typing import FloatArray
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.rows import Proof, spared
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.pricing import pricer_of
from mechdesign.search.cones.proofs import RepresentativesProof, linear_proof
from mechdesign.search.limits import Limits
from mechdesign.search.presolve.reductions import (
    Answer,
    Backend,
    ConicProgram,
    Reduction,
    components,
    merge_inputs,
    reduced_costs,
    without_implied,
)

PRESOLVE: tuple[Reduction, ...] = (merge_inputs, without_implied, components)
"""Reductions of any program. Inputs are merged first, as their bounds may then imply others."""

UNLIKELY = 1e-10
"""The cost of an input of prior 0, as a share of the largest cost, in the program only, so that its
best row is found. A loss as small as this share spoils the bound: then the program is solved again
without it."""


def solve_reduced(
    problem: Problem,
    limits: Limits,
    backend: Backend,
    reductions: Sequence[Reduction] = PRESOLVE,
    unlikely: float = UNLIKELY,
) -> RawSolution:
    """Reduce a problem, solve the reduced problem, and invert the reductions.

    Examples
    --------
    >>> from mechdesign import ContextAwareLDP
    >>> from mechdesign.search.lp.linear_program import by_highs
    >>> from mechdesign.utilities import HammingLoss
    >>> E = [[0, 0, 1, 3], [0, 0, 1, 3], [1, 1, 0, 1], ["inf", "inf", "inf", 0]]
    >>> problem = Problem(range(4), ContextAwareLDP(E), HammingLoss())
    >>> raw = solve_reduced(problem, Limits(), by_highs)
    >>> raw.notes
    ['Presolve: 4 inputs merged to 3, as rows must be equal; 1 of 4 pairs follows from others']
    """
    with limits.phase("presolve"):
        program, unit = conic_program(problem, unlikely)
    answer = solve_chain(program, reductions, backend, limits.part(unit))
    duals, potentials = [m.scaled(unit) for m in answer.duals], None
    value = unit * program.loss(answer.matrix)
    if answer.stands:
        spare = spared(value, -math.inf, limits.gap)
        proof: Proof = RepresentativesProof(answer.stands, duals, spare)
    else:
        if pricer_of(problem) is not None:
            potentials = answer.potentials
            if duals and problem.expected_loss is not None:
                # the least reduced costs, as prices, prove the same bound as the multipliers
                plain = ConicProgram(problem.cone, program_cost(problem, 0.0)[0])
                potentials = reduced_costs(plain, answer.duals).min(axis=1)
        proof = linear_proof(
            duals,
            answer.matrix,
            limits.gap,
            potentials=None if potentials is None else unit * potentials,
            weights=answer.worst_case_multipliers,
        )
    notes = [f"Presolve: {'; '.join(answer.reductions)}"] if answer.reductions else []
    return RawSolution(
        answer.matrix,
        problem.outputs or (),
        [proof],
        answer.route,
        [*notes, *answer.notes],
        value=value,
    )


def program_cost(problem: Problem, unlikely: float = UNLIKELY) -> tuple[FloatArray, float]:
    """Return the cost of each entry of Q in a unit that makes the largest 1, and the unit.

    The unit is needed as tolerances are absolute. Rows that never occur have a small cost, the
    share ``unlikely`` of the largest, so that the best of them is found as well.
    """
    utility = problem.utility.linear_form
    if utility is None or utility is not problem.utility:
        given = problem.utility.name
        raise UnsupportedError("objective", "a loss that is linear in the channel", given)
    outputs = problem.outputs or ()
    cost = utility.cost(problem.domain, problem.prior, outputs)
    never = problem.prior.array == 0
    if never.any() and not utility.worst_case:
        loss = utility.loss(problem.domain, outputs).array
        cost[never] = unlikely * float(cost.max()) * loss[never] / (loss.max() or 1.0)
    scale = float(cost.max()) or 1.0
    return cost / scale, scale


def conic_program(problem: Problem, unlikely: float = UNLIKELY) -> tuple[ConicProgram, float]:
    """State a problem with a linear loss as a program, and return the unit of its costs."""
    cost, unit = program_cost(problem, unlikely)
    is_worst = problem.expected_loss is None
    # modified costs give modified potentials: see `solve_reduced`
    all_occur = is_worst or bool(problem.prior.array.all())
    is_priced = all_occur and pricer_of(problem) is not None
    return ConicProgram(problem.cone, cost, is_worst, is_priced=is_priced), unit


def solve_chain(
    program: ConicProgram, reductions: Sequence[Reduction], backend: Backend, limits: Limits
) -> Answer:
    """Apply the first reduction, solve with the rest of the chain, and invert."""
    if not reductions:
        return backend(program, limits)
    first, *rest = reductions
    with limits.phase("presolve"):
        reduced = first(program)
    if reduced is None:
        return solve_chain(program, rest, backend, limits)
    # with several programs, value and bound of one are not those of the whole
    is_only = len(reduced.programs) == 1
    answers = [
        solve_chain(left, rest, backend, limits if is_only else limits.part())
        for left in reduced.programs
    ]
    with limits.phase("presolve"):
        answer = reduced.invert(answers)
    return replace(answer, reductions=(reduced.note, *answer.reductions))
