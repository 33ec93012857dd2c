"""The baseline: the best explicit channel, as the warm start and the fallback of a search.

It is the best mixture of known private columns (:mod:`~mechdesign.search.starts.baseline`), each
with its best output. So the value of a design is never worse than that of a constant, of randomized
response, also on bins, or of noise on a line or a grid, each with the best decision for every
report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import program_rows
from mechdesign.search.route import Route
from mechdesign.utilities import ConvexUtility

FEWEST_INPUTS = 8
"""The number of inputs up to which no search takes long."""

LONG, FEW = 1_000_000, 3
"""Numbers of rows, in total and per entry of the channel, from which a search takes seconds."""


class Start(Route):
    """The best of several explicit channels for any problem.

    For a risk of estimation and for unbiased readings, whose loss is infinite for equal rows, it is
    randomized response; for a risk also subset selection, if that is better. Under the user's own
    constraints it is the best feasible one of a few channels with equal rows. It is not in the
    registry: it is used only if no other route has an equally good answer. Proofs are left to the
    other routes.

    Parameters
    ----------
    constraints
        The user's own constraints in cvxpy; None without the user's own terms.

    Examples
    --------
    >>> import math
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import HammingLoss
    >>> survey = Problem(range(3), LDP(math.log(4)), HammingLoss(), prior=[0.1, 0.6, 0.3])
    >>> Start().solve(survey, Limits()).matrix.round(9).tolist()
    [[0.0, 0.8, 0.2], [0.0, 0.8, 0.2], [0.0, 0.2, 0.8]]
    """

    name = "start"
    summary = "the best channel that is done by hand"
    allows_non_conic = True

    def __init__(self, constraints: Sequence[Any] | None = None) -> None:
        self._constraints = constraints

    def suits(self, problem: Problem, named: bool = False) -> str:
        """Return the reason for its use: it suits any problem."""
        return "no other route had an answer as good: it can be written down"

    def is_first(self, problem: Problem) -> bool:
        """Return whether to compute it before any search, if the search is surely long."""
        if self._constraints is not None or not problem.is_conic or problem.expected_loss is None:
            return False
        k = len(problem.domain)
        if k <= FEWEST_INPUTS:
            return False
        rows = program_rows(problem)
        return rows >= LONG and rows > FEW * k * len(problem.outputs or problem.domain)

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Return the best of the channels."""
        if self._constraints is not None or isinstance(problem.utility, ConvexUtility):
            from mechdesign.search.conic.user_terms import best_constant  # imports cvxpy

            return best_constant(problem, self._constraints or ())
        from mechdesign.search.starts.baseline import baseline  # imports scipy

        return baseline(problem, limits)
