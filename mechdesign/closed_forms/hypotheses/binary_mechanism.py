"""The binary mechanism: LDP, total variation between the reports of two mixtures of inputs."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, name_outputs, the_notion
from mechdesign.errors import UnsupportedError
from mechdesign.notions import LDP
from mechdesign.problem import Problem

__all__ = ["BinaryMechanism"]


class BinaryMechanism(ClosedForm):
    """Tell which mixture weighs the input more, with odds e**eps.

    The total variation between the laws a and b of the report is (a - b)(S) for a set S of reports.
    The column w of S, Pr(Y in S | x), is private, and so is 1 - w: with t the least of w and 1 - u
    the least of 1 - w, where u is the largest of w, u <= e**eps t and 1 - t <= e**eps (1 - u). So
    u - t <= (e**eps - 1) / (e**eps + 1), and

        TV  =  (first - second) . w  <=  (u - t) TV(first, second),

    which the two columns of this mechanism attain.

    Source: Kairouz, Oh and Viswanath 2014.
    """

    name = "binary mechanism"
    source = "Kairouz, Oh and Viswanath 2014"
    theorem = "binary-mechanism"
    theorem_is_tight = True

    def check(self, problem: Problem) -> Verdict:
        """Ask for LDP alone and the total variation."""
        laws = problem.utility.hypotheses(problem.domain)
        if problem.sole_notion(LDP) is None or laws is None:
            return Verdict(False, "it is for total variation under LDP alone", relevant=False)
        return Verdict(True, "under LDP one bit tells two laws apart as well as any report")

    def formula(self, problem: Problem) -> Formula:
        """Return the two columns."""
        laws = problem.utility.hypotheses(problem.domain)
        if laws is None:
            raise UnsupportedError("objective", "a total variation", problem.utility.name)
        first, second = laws
        more = np.array([a > b for a, b in zip(first, second, strict=True)])
        truth = 1 / (1 + math.exp(-the_notion(problem, LDP).epsilon))
        yes = np.where(more, truth, 1 - truth)
        return Formula(np.column_stack([yes, 1 - yes]), name_outputs(problem, 2))
