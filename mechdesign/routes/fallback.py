"""The route of last resort: a channel that tells nothing, or next to nothing, of its input.

Where all rows are equal, q_x = q_z in every column, so that every notion holds for any budget. An
expected loss is then least where one output is always sent. The bound on the optimum is the value
of the channel that reveals its input, which the checker proves without data.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import BITS
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.problem import Problem
from mechdesign.routes.base import RawSolution
from mechdesign.routes.limits import Limits
from mechdesign.routes.route import Route, Verdict
from mechdesign.utilities import ColumnUtility, ConvexUtility, EstimationRisk, LinearUtility

__all__ = ["Fallback"]


class Fallback(Route):
    """Sends one output, whatever the input.

    For a linear loss it is the best output, in expectation or in the worst case. For a sum over
    outputs it is a single output. For a risk of estimation, which is infinite where rows are equal,
    the input is sent now and then, as often as the notions allow. For a convex loss or constraints
    of the user's own, the best of a few channels with equal rows is taken that meets them. It is
    not listed in the registry: it stands in only where no other route had an answer as good.

    Parameters
    ----------
    constraints
        Of the user's own, in cvxpy; None without terms of the user's own.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import HammingLoss
    >>> survey = Problem(range(3), LDP(1), HammingLoss(), prior=[0.2, 0.5, 0.3])
    >>> Fallback().solve(survey, Limits()).matrix.tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """

    name = "fallback"
    summary = "one output for all inputs, where no other route has an answer"
    allows_non_conic = True

    def __init__(self, constraints: Sequence[Any] | None = None) -> None:
        self._constraints = constraints

    def check(self, problem: Problem) -> Verdict:
        """Recommend it for all but risks, for which any other answer is better."""
        reason = "no other route had an answer as good: it ignores the input"
        if isinstance(problem.utility, EstimationRisk):
            return Verdict(True, "no other route had an answer: it is private", recommended=False)
        return Verdict(True, reason)

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Return the best channel with equal rows."""
        utility, k, bound = problem.utility, len(problem.domain), None
        if self._constraints is not None or isinstance(utility, ConvexUtility):
            from mechdesign.routes.conic.user_terms import best_constant  # cvxpy on demand

            return best_constant(problem, self._constraints or ())
        outputs = problem.outputs or ()
        if isinstance(utility, LinearUtility):
            cost = utility.cost(problem.domain, problem.prior, outputs)
            loss = cost.max(axis=0) if utility.worst_case else cost.sum(axis=0)
            matrix = np.zeros(cost.shape)
            matrix[:, int(np.argmin(loss))] = 1.0
        elif isinstance(utility, ColumnUtility):
            outputs, matrix = name_outputs(problem, 1), np.ones((k, 1))
            if not utility.exact:
                most = Fraction(float(utility.gain(np.eye(k), problem.prior.array).sum()))
                whole = utility.offset(problem.domain, problem.prior)
                bound = most if utility.is_maximized else whole - most
        elif isinstance(utility, EstimationRisk):
            outputs, matrix = name_outputs(problem, k), _rarely_told(problem)
        else:
            raise UnsupportedError("objective", "a utility with a known form", utility.name)
        route = "fallback: one output for all"
        if utility.tells_inputs_apart:
            route = "fallback: the input now and then, else any"
        return RawSolution(matrix, outputs, None, route, numeric_bound=bound)


def _rarely_told(problem: Problem) -> FloatArray:
    """Return (1 - t) 1 1' / k + t I for the largest t = 2**-n with which it is private, halved.

    Halved, it has room for rounding.
    """
    k, whole = len(problem.domain), 1 << BITS
    for n in range(1, BITS - 12):
        told = whole >> n
        rest = (whole - told) // k
        column = [rest] * k
        columns = ([*column[:x], rest + told, *column[x + 1 :]] for x in range(k))
        if all(problem.cone.violation(q) is None for q in columns):
            t = 2.0 ** -(n + 1)
            return np.full((k, k), (1 - t) / k) + t * np.eye(k)
    raise SolverError("the budgets are too small for the distribution to be told")
