"""The linear route: components and orbits by HiGHS."""

from __future__ import annotations

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import by_highs
from mechdesign.search.lp.output_generation import by_outputs, pays
from mechdesign.search.presolve.chain import UNLIKELY, solve_reduced
from mechdesign.search.presolve.components import components
from mechdesign.search.presolve.reduction import Answer, ConicProgram
from mechdesign.search.presolve.symmetry_group import Symmetry

__all__ = ["UNLIKELY", "solve_linear"]


def solve_linear(
    problem: Problem,
    method: str = "auto",
    limits: Limits | None = None,
    symmetry: Symmetry | None = None,
    unlikely: float = UNLIKELY,
) -> RawSolution:
    """Solve a problem whose loss is linear in the channel, including a worst case.

    Implied pairs need no separate reduction: the extended formulation omits them.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.LinearUtility`.
    method
        ``"simplex"``, ``"ipm"``, or ``"auto"`` to choose by size: a large program may then start
        with some of the outputs.
    limits
        The limits of the search; default at the optimum.
    symmetry
        Symmetries of the problem, for an orbit reduction.
    unlikely
        The cost of an input of prior 0, as a share of the largest.

    Raises
    ------
    UnsupportedError
        If the loss is not linear.
    SolverError
        If HiGHS fails, or the time is over before there is an answer.
    """
    reduction = components if symmetry is None else symmetry.reduce

    def backend(program: ConicProgram, within: Limits) -> Answer:
        if method == "auto" and pays(program):
            return by_outputs(program, within)
        return by_highs(program, within, "ipm" if method == "auto" and symmetry else method)

    return solve_reduced(problem, limits or Limits(), backend, [reduction], unlikely)
