"""The binary mechanism: LDP, total variation between the reports of two mixtures of inputs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechdesign.closed_forms.base import (
    ClosedForm,
    Decided,
    Formula,
    Optimum,
    name_outputs,
)
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Constant, Ratio
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.oracles import OneBudget
from mechdesign.kernel.packed import Numbers
from mechdesign.notions import LDP, BlockLDP
from mechdesign.problem import Problem
from mechdesign.utilities import Divergence


class BinaryMechanism(ClosedForm):
    """Report which mixture gives the input more weight, with odds e**eps.

    The total variation between the laws a and b of the report is (a - b)(S) for a set S of reports.
    The column w of S, Pr(Y in S | x), is private, and so is 1 - w: with t the least of w and 1 - u
    the least of 1 - w, where u is the largest of w, u <= e**eps t and 1 - t <= e**eps (1 - u). So
    u - t <= (e**eps - 1) / (e**eps + 1), and

        TV  =  (first - second) . w  <=  (u - t) TV(first, second),

    which the two columns of this mechanism attain. Under block-structured LDP the same holds for
    each block, if both laws have the same probability in it.

    Source: Kairouz, Oh and Viswanath 2014, for LDP; ours for blocks.
    """

    name = "binary mechanism"
    source = "Kairouz, Oh and Viswanath 2014"

    def decide(self, problem: Problem) -> Decided:
        """Require a budget in blocks, the total variation, and equal block masses of both laws."""
        utility, budget = problem.utility, _budget(problem)
        is_linear = isinstance(problem.compiled.statement.objective, Loss)
        if budget is None or not (isinstance(utility, Divergence) and is_linear):
            return None
        first, second = utility.weights(problem.domain)
        surplus, blocks = dict[int, Fraction](), dict[int, list[int]]()
        for x, block in enumerate(budget.block or [0] * len(first)):
            surplus[block] = surplus.get(block, Fraction(0)) + first[x] - second[x]
            blocks.setdefault(block, []).append(x)
        if any(surplus.values()):
            return "optimal only where the two laws have the same probability in every block"
        truth = 1 / (1 + math.exp(-budget.exponent))
        more = np.array([a > b for a, b in zip(first, second, strict=True)])
        yes = np.where(more, truth, 1 - truth)
        # -tanh(epsilon / 2) |a - b| / 2 at each input
        share = math.tanh(float(budget.exponent) / 2) / 2
        pairs = zip(first, second, strict=True)
        prices = Numbers([-share * abs(float(a - b)) for a, b in pairs])
        oracle = OneBudget(tuple(map(tuple, blocks.values())) if len(blocks) > 1 else None)
        return Optimum(
            "under LDP one bit separates two laws as well as any report",
            lambda: Formula(np.column_stack([yes, 1 - yes]), name_outputs(problem, 2)),
            lambda: Certificate(Costs(), oracle, (), (), prices),
        )


def _budget(problem: Problem) -> Constant | None:
    """Return the budget that bounds all ratios in blocks, if it is the only requirement."""
    notion = problem.sole_notion(LDP) or problem.sole_notion(BlockLDP)
    if notion is None:
        return None
    (part,) = problem.compiled.statement.cone
    exponents = part.exponents if isinstance(part, Ratio) else None
    return exponents if isinstance(exponents, Constant) else None
