"""The baseline: the best channel that is done by hand, and the last resort of a search.

It completes private columns as they are known (:mod:`~mechdesign.search.starts.private_columns`) to
channels, and sends each column as its best output (:mod:`~mechdesign.search.starts.by_hand`). So
the value of a design is never worse than that of a constant, of randomized response, on bins too,
or of the exponential mechanism, each with the best decision for every report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import program_size
from mechdesign.search.route import Route
from mechdesign.utilities import ConvexUtility

__all__ = ["Start"]

FEWEST_INPUTS = 8
"""Up to so many inputs no search takes long."""

LONG, FEW = 1_000_000, 3
"""Rows for all outputs, and for each entry of the channel, from which a search takes seconds."""


class Start(Route):
    """The best of the channels that are done by hand for any problem.

    For a risk of estimation and for unbiased readings, whose loss is infinite where rows are equal,
    it is randomized response; for a risk subset selection, if that is better. Under constraints of
    the user's own the best of a few channels with equal rows is taken that meets them. It is not
    listed in the registry: it stands in only where no other route had an answer as good. A proof is
    left to the other routes.

    Parameters
    ----------
    constraints
        Of the user's own, in cvxpy; None without terms of the user's own.

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
        """Return why it stands in: it suits any problem."""
        return "no other route had an answer as good: it can be written down"

    def is_first(self, problem: Problem) -> bool:
        """Return whether it is worth its time before any search: where that is sure to be long."""
        if self._constraints is not None or not problem.is_conic or problem.expected_loss is None:
            return False
        k = len(problem.domain)
        if k <= FEWEST_INPUTS:
            return False
        rows = program_size(problem).rows
        return rows >= LONG and rows > FEW * k * len(problem.outputs or problem.domain)

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Return the best of the channels."""
        if self._constraints is not None or isinstance(problem.utility, ConvexUtility):
            from mechdesign.search.conic.user_terms import best_constant  # cvxpy on demand

            return best_constant(problem, self._constraints or ())
        from mechdesign.search.starts.by_hand import by_hand  # scipy on demand

        return by_hand(problem, limits)
