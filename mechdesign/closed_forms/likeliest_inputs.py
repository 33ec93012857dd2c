"""Maximal leakage and correct guesses: the budget is spent on the likeliest inputs."""

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
from mechdesign.domain import Label
from mechdesign.evidence.formulas import at_one, evenly
from mechdesign.evidence.rows import block_of
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.limits import Gauge
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.relaxations import Relaxations
from mechdesign.notions import MaximalLeakage
from mechdesign.problem import Problem


class LikeliestInputs(ClosedForm):
    r"""Report the likeliest inputs exactly, the next one sometimes, and the first for all others.

    Maximal leakage, Sum_y max_x Q(y|x) <= L = e**eps, and the Hamming loss, or the accuracy of the
    best guess. With P_1 >= P_2 >= ..., j = floor(L) and f = L - j,

        Q(i|i) = 1 for i <= j,    Q(j+1|j+1) = f,    the rest goes to the first output,

    has the largest entries 1 for j outputs and f for one more: L in total. Its loss is minimal,

        1 - (P_1 + ... + P_j) - f P_(j+1).

    Proof. Let c_x be the probability of a correct guess at x. It is the sum of Q(y|x) over the
    outputs y with the guess x, so c_x <= 1 and Sum_x c_x <= Sum_y max_x Q(y|x) <= L. Under these
    two constraints, Sum_x P_x c_x is largest if the likeliest have c_x = 1. In the worst case min_x
    c_x <= L / k, which randomized response with Q(x|x) = L / k attains: its other entries, (1 -
    L/k) / (k - 1), are no larger, as L >= 1.

    The prior is arbitrary. In L the loss is convex, and linear between integers: it mixes the
    optima at integer L. Under maximal leakage any loss D is the linear relaxation of a facility
    location, Q(y|x) <= m_y with Sum_y m_y <= L; this one is greedy.

    Source: Saeidian, Cervia, Oechtering and Skoglund 2021 (arXiv 2105.01033) for the Hamming
    distortion; the proof, the accuracy and the worst case are ours.
    """

    name = "the likeliest inputs"
    source = "Saeidian, Cervia, Oechtering and Skoglund 2021 (arXiv 2105.01033)"
    allows_non_conic = True

    def decide(self, problem: Problem) -> Decided:
        """Require maximal leakage alone, and correct guesses with all inputs as outputs."""
        notion, k = problem.sole_notion(MaximalLeakage), len(problem.domain)
        if notion is None:
            return None
        right = _right_outputs(problem)
        if right is None:
            return "optimal only for losses of 0 at one input of each output, 1 elsewhere"
        budget = math.exp(min(float(notion.epsilon), math.log(k)))
        shares = np.full(k, budget / k)
        matrix = np.diag(shares)
        if problem.utility.worst_case:
            matrix += (1 - np.eye(k)) * ((1 - budget / k) / max(1, k - 1))
        else:
            order = np.argsort(-problem.prior.array, kind="stable")
            shares[order] = np.clip(budget - np.arange(k), 0.0, 1.0)
            matrix = np.diag(shares)
            matrix[:, order[0]] += 1 - shares
        used = np.flatnonzero(shares)

        def formula() -> Formula:
            outputs = tuple(right[x] for x in used.tolist())
            named = name_outputs(problem, len(used)) if problem.expected_loss is None else outputs
            return Formula(matrix[:, used], named)

        return Optimum(
            "a bound on maximal leakage pays for the likeliest inputs first",
            formula,
            lambda: _certificate(problem.compiled),
        )


def _right_outputs(problem: Problem) -> list[Label] | None:
    """Return for each input the output of loss 0; None unless all the others have loss 1."""
    form = problem.utility.linear_form
    if form is None:
        return None
    loss = form.loss(problem.domain, problem.guesses).array
    if not np.isin(loss, (0, 1)).all() or (loss == 0).sum(axis=0).max() > 1:
        return None
    if not (loss == 0).any(axis=1).all():
        return None
    return [problem.guesses[y] for y in np.argmin(loss, axis=1).tolist()]


def _certificate(compiled: Compiled) -> Certificate | None:
    """Return the single multiplier of maximal leakage: the gain per unit of e**epsilon."""
    statement = compiled.statement
    aim, k = statement.objective, statement.k
    limits = [
        (part.parts[0].exponent, place)
        for place, part in enumerate(statement.limits)
        if isinstance(part, Gauge) and len(part.parts) == k and part.limit == 1
    ]
    if not isinstance(aim, Loss) or not limits:
        return None
    exponent, place = min(limits)
    cheap = [min(aim.costs.lower(y)) for y in range(aim.costs.n_outputs)]
    right = [
        aim.costs.lower(y).index(cost)
        if cost < (0 if aim.free else aim.costs.denominator)
        else None
        for y, cost in enumerate(cheap)
    ]
    hit = {x for x in right if x is not None}
    relaxations: tuple[Relaxations, ...] = ()
    weights = aim.weights
    if weights is None:
        if len(hit) < k:
            missed = next(x for x in range(k) if x not in hit)
            return Certificate(Costs(), Orthant(), (at_one(missed, k),))
        relaxations, weights = (evenly(k),), (Fraction(1, k),) * k
    budget = float(np.exp(min(float(exponent), 700.0)))
    paid = sorted((float(weights[x]) for x in hit), reverse=True)
    worth = paid[int(budget)] * budget if budget < len(paid) else 0.0
    block = block_of("limit", place, "", [(y, x or 0, 0, worth) for y, x in enumerate(right)])
    return Certificate(Costs(), Orthant(), relaxations, (block,))
