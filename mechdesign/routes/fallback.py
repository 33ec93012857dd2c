"""The last resort: a channel that tells nothing, when time was over before any other was found.

Where all rows are equal, q_x = q_z in every column, so that every notion holds for any budget; and
an expected loss is least where one output is always sent. What bounds the optimum is that no
channel beats the one that tells everything, which the checker proves without data.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechdesign.closed_forms.base import name_outputs
from mechdesign.problem import Problem
from mechdesign.routes.base import RawSolution
from mechdesign.routes.ways import Attempt
from mechdesign.utilities import ColumnUtility, LinearUtility

__all__ = ["fallback"]

WHY = "time was over before any other way had an answer: one output for all inputs tells nothing"


def fallback(problem: Problem) -> Attempt | None:
    """Return the attempt that tells nothing; None where that is of no use.

    For a linear loss it sends the best output, in expectation or in the worst case. For what a
    curator reads from the reports it has one output. It is of no use where rows must differ, as for
    a risk of estimation, which would be infinite, and for a loss of the user's own, which nothing
    bounds.

    Parameters
    ----------
    problem
        Any; constraints of the user's own are not looked at.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.routes.limits import Limits
    >>> from mechdesign.utilities import HammingLoss
    >>> survey = Problem(range(3), LDP(1), HammingLoss(), prior=[0.2, 0.5, 0.3])
    >>> found = fallback(survey).run(Limits())
    >>> found.matrix.tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    utility = problem.utility
    if isinstance(utility, LinearUtility):
        return Attempt(lambda _: _best_output(problem, utility), WHY)
    if isinstance(utility, ColumnUtility):
        return Attempt(lambda _: _silent(problem, utility), WHY)
    return None


def _best_output(problem: Problem, utility: LinearUtility) -> RawSolution:
    outputs = problem.outputs or ()
    cost = utility.cost(problem.domain, problem.prior, outputs)
    loss = cost.max(axis=0) if utility.worst_case else cost.sum(axis=0)
    matrix = np.zeros(cost.shape)
    matrix[:, int(np.argmin(loss))] = 1.0
    return RawSolution(matrix, outputs, None, "fallback: one output for all")


def _silent(problem: Problem, utility: ColumnUtility) -> RawSolution:
    k = len(problem.domain)
    bound = None
    if not utility.exact:
        most = Fraction(float(utility.gain(np.eye(k), problem.prior.array).sum()))
        whole = utility.offset(problem.domain, problem.prior)
        bound = most if utility.is_maximised else whole - most
    outputs = name_outputs(problem, 1)
    return RawSolution(np.ones((k, 1)), outputs, None, "fallback: one output for all", [], bound)
