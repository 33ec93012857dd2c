"""What can be taken off a problem before an engine sees it, and put back after.

Inputs whose rows must be equal are merged, pairs that others imply are left out, and groups of
inputs that share no row are solved apart. All three are exact: the optimum is the same, and the
weights of what is left prove the same bound for the whole.
"""

from __future__ import annotations

from dataclasses import replace

from mechdesign.domain import Label
from mechdesign.notions.rows.cone import Cone, Multipliers
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual, RawSolution
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.backends import Engine, in_parts
from mechdesign.routes.lp.extended_formulation import chain_reduced
from mechdesign.routes.lp.linear_program import expected_cost
from mechdesign.routes.presolve.merge_inputs import merged

__all__ = ["scaled_duals", "solve_reduced", "thinned"]


def solve_reduced(problem: Problem, limits: Limits, solve: Engine) -> RawSolution:
    """Merge, thin out and take apart a problem, solve what is left, and put it together again.

    Parameters
    ----------
    problem
        With an expected loss.
    limits
        When to end.
    solve
        The engine for what is left.

    Raises
    ------
    UnsupportedError
        If the loss is not linear, or a worst case.

    Examples
    --------
    >>> from mechdesign import ContextAwareLDP
    >>> from mechdesign.routes.lp.backends import by_highs
    >>> from mechdesign.utilities import HammingLoss
    >>> E = [[0, 0, 1, 3], [1, 0, 1, 3], [1, 1, 0, 1], ["inf", "inf", "inf", 0]]
    >>> problem = Problem(range(4), ContextAwareLDP(E), HammingLoss())
    >>> raw = solve_reduced(problem, Limits(), by_highs)
    >>> raw.notes
    ['Presolve: 4 inputs merged to 3, as rows must be equal; 1 of 4 pairs follows from others']
    """
    cost, scale = expected_cost(problem)
    small = merged(problem.cone, cost)
    cone = problem.cone if small is None else small.cone
    done = [] if small is None else [small.note]
    thin, note = thinned(cone)
    done += [note] if note else []
    groups = int(thin.components().max()) + 1
    if groups > 1:
        done.append(f"{groups} groups that share no row, solved apart")
    answer = in_parts(thin, cost if small is None else small.cost, limits.part(scale), solve)
    matrix, duals = answer.matrix, list(answer.duals)
    if small is not None:
        matrix, duals = small.expand(matrix), small.carry_back(duals)
    outputs: tuple[Label, ...] = problem.outputs or ()
    notes = [f"Presolve: {'; '.join(done)}"] if done else []
    dual = Dual(tuple(scaled_duals(duals, scale)))
    return RawSolution(matrix, outputs, dual, answer.method, notes, path=answer.path)


def thinned(cone: Cone) -> tuple[Cone, str]:
    """Leave out the pairs that others of the same notion imply.

    Returns
    -------
    cone, note
        The same cone with fewer rows, and what was left out, in words; empty if nothing.

    Examples
    --------
    >>> from mechdesign import Domain, MetricPrivacy
    >>> thinned(MetricPrivacy(1, "manhattan").cone(Domain.grid(7, 7)))[1]
    '2,184 of 2,352 pairs follow from others'
    """
    families = [chain_reduced(f) if isinstance(f, PairRows) else f for f in cone.families]
    before, after = (
        sum(int((f.index != FREE).sum()) for f in listed if isinstance(f, PairRows))
        for listed in (cone.families, families)
    )
    if before == after:
        return cone, ""
    verb = "follows" if before - after == 1 else "follow"
    return Cone(families), f"{before - after:,} of {before:,} pairs {verb} from others"


def scaled_duals(duals: list[FamilyDual], scale: float) -> list[FamilyDual]:
    """Return weights for costs that are ``scale`` times as large."""
    return [
        replace(
            dual,
            multipliers=tuple(
                Multipliers(m.side, m.output, m.x, m.other, scale * m.weight)
                for m in dual.multipliers
            ),
        )
        for dual in duals
    ]
