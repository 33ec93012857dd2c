"""The route of last resort: a channel that ignores its input, for when time is over.

Where all rows are equal, q_x = q_z in every column, so that every notion holds for any budget; and
an expected loss is least where one output is always sent. The bound on the optimum is the value of
the channel that reveals its input, which the checker proves without data.
"""

from __future__ import annotations

import numpy as np

from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import UnsupportedError
from mechdesign.problem import Problem
from mechdesign.routes.base import RawSolution
from mechdesign.routes.limits import Limits
from mechdesign.routes.route import Route, Verdict
from mechdesign.utilities import ColumnUtility, LinearUtility

__all__ = ["Fallback"]


class Fallback(Route):
    """Sends one output, whatever the input.

    For a linear loss it is the best output, in expectation or in the worst case. For a sum over
    outputs it is a single output. It is of no use where rows must differ, as for a risk of
    estimation, which would be infinite, and for a convex loss of the user's own, which nothing
    bounds. It is not listed in the registry: it stands in only where time was over before another
    route had an answer.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import HammingLoss
    >>> survey = Problem(range(3), LDP(1), HammingLoss(), prior=[0.2, 0.5, 0.3])
    >>> Fallback().solve(survey, Limits()).matrix.tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """

    name = "fallback"
    summary = "one output for all inputs, where time is over"
    allows_non_conic = True

    def check(self, problem: Problem) -> Verdict:
        """Ask for a linear loss or a sum over outputs; constraints of the user's are ignored."""
        if not isinstance(problem.utility, LinearUtility | ColumnUtility):
            return Verdict(False, f"one output for all inputs is of no use for {problem.utility}")
        reason = "time was over before any other route had an answer: it ignores the input"
        return Verdict(True, reason)

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Return the best channel with equal rows."""
        utility, k, bound = problem.utility, len(problem.domain), None
        if isinstance(utility, LinearUtility):
            outputs = problem.outputs or ()
            cost = utility.cost(problem.domain, problem.prior, outputs)
            loss = cost.max(axis=0) if utility.worst_case else cost.sum(axis=0)
            matrix = np.zeros(cost.shape)
            matrix[:, int(np.argmin(loss))] = 1.0
        elif isinstance(utility, ColumnUtility):
            outputs, matrix = name_outputs(problem, 1), np.ones((k, 1))
            if not utility.exact:
                most = float(utility.gain(np.eye(k), problem.prior.array).sum())
                bound = utility.objective_at(most, problem.domain, problem.prior)
        else:
            raise UnsupportedError("objective", "a linear loss or a sum over outputs", utility.name)
        route = "fallback: one output for all"
        return RawSolution(matrix, outputs, None, route, numeric_bound=bound)
