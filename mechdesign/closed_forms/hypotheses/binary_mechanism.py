"""The binary mechanism: LDP, total variation between the reports of two mixtures of inputs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, name_outputs
from mechdesign.errors import UnsupportedError
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Constant, Ratio
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.oracles import OneBudget
from mechdesign.kernel.packed import Numbers
from mechdesign.notions import LDP, BlockLDP
from mechdesign.problem import Problem

__all__ = ["BinaryMechanism"]


class BinaryMechanism(ClosedForm):
    """Tell which mixture weighs the input more, with odds e**eps.

    The total variation between the laws a and b of the report is (a - b)(S) for a set S of reports.
    The column w of S, Pr(Y in S | x), is private, and so is 1 - w: with t the least of w and 1 - u
    the least of 1 - w, where u is the largest of w, u <= e**eps t and 1 - t <= e**eps (1 - u). So
    u - t <= (e**eps - 1) / (e**eps + 1), and

        TV  =  (first - second) . w  <=  (u - t) TV(first, second),

    which the two columns of this mechanism attain. Under block-structured LDP the same holds of
    each block, where both laws have the same probability in it.

    Source: Kairouz, Oh and Viswanath 2014, for LDP; ours for blocks.
    """

    name = "binary mechanism"
    source = "Kairouz, Oh and Viswanath 2014"

    def check(self, problem: Problem) -> Verdict:
        """Ask for one budget in blocks, the total variation, and as much of both laws in each."""
        laws = problem.utility.hypotheses(problem.domain)
        budget = _budget(problem) if laws else None
        if budget is None or laws is None:
            return Verdict(False, "it is for total variation under LDP alone", relevant=False)
        more: dict[int, Fraction] = {}
        for block, a, b in zip(budget.block or [0] * len(laws[0]), *laws, strict=True):
            more[block] = more.get(block, Fraction(0)) + a - b
        if any(more.values()):
            return Verdict(
                False, "optimal only where the two laws have the same probability in every block"
            )
        return Verdict(True, "under LDP one bit tells two laws apart as well as any report")

    def certificate(self, problem: Problem) -> Certificate | None:
        """Return what proves it optimal."""
        return _certificate(problem)

    def formula(self, problem: Problem) -> Formula:
        """Return the two columns."""
        laws, budget = problem.utility.hypotheses(problem.domain), _budget(problem)
        if laws is None or budget is None:
            raise UnsupportedError("objective", "a total variation", problem.utility.name)
        first, second = laws
        more = np.array([a > b for a, b in zip(first, second, strict=True)])
        truth = 1 / (1 + math.exp(-budget.exponent))
        yes = np.where(more, truth, 1 - truth)
        return Formula(np.column_stack([yes, 1 - yes]), name_outputs(problem, 2))


def _budget(problem: Problem) -> Constant | None:
    """Return the budget that bounds all ratios in blocks, where nothing else is asked."""
    notion = problem.sole_notion(LDP) or problem.sole_notion(BlockLDP)
    if notion is None:
        return None
    (part,) = problem.compiled.statement.cone
    exponents = part.exponents if isinstance(part, Ratio) else None
    return exponents if isinstance(exponents, Constant) else None


def _certificate(problem: Problem) -> Certificate | None:
    """Return the prices of two outputs under one budget: -tanh(epsilon / 2) |a - b| / 2."""
    aim, budget = problem.compiled.statement.objective, _budget(problem)
    if not isinstance(aim, Loss) or budget is None:
        return None
    share = math.tanh(float(budget.exponent) / 2) / aim.costs.denominator
    prices = Numbers([-share * abs(cost) for cost in aim.costs.lower(0)])
    return Certificate(Costs(), OneBudget(_blocks(budget)), (), (), prices)


def _blocks(budget: Constant) -> tuple[tuple[int, ...], ...] | None:
    """Return the blocks that a budget holds in; None for one of all inputs."""
    found: dict[int, list[int]] = {}
    for x, mark in enumerate(budget.block or ()):
        found.setdefault(mark, []).append(x)
    return tuple(map(tuple, found.values())) if len(found) > 1 else None
