"""Maximal leakage and right guesses: the budget pays for the likeliest inputs."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, name_outputs, the_notion
from mechdesign.domain import Label
from mechdesign.errors import UnsupportedError
from mechdesign.notions import MaximalLeakage
from mechdesign.problem import Problem

__all__ = ["LikeliestInputs"]


class LikeliestInputs(ClosedForm):
    r"""Tell the likeliest inputs for sure, the next one sometimes, and take the rest for these.

    Maximal leakage, Sum_y max_x Q(y|x) <= L = e**eps, and the Hamming loss, or the accuracy of the
    best guess. With P_1 >= P_2 >= ..., j = floor(L) and f = L - j,

        Q(i|i) = 1 for i <= j,    Q(j+1|j+1) = f,    the rest goes to the first output,

    has the largest entries 1 for j outputs and f for one more: L in sum. Its loss is the least,

        1 - (P_1 + ... + P_j) - f P_(j+1).

    Proof. Let c_x be the probability of a right guess at x. Outputs with the guess x have it as the
    sum of their Q(y|x), so that c_x <= 1 and Sum_x c_x <= Sum_y max_x Q(y|x) <= L. Under these two,
    Sum_x P_x c_x is largest where the likeliest have c_x = 1. In the worst case min_x c_x <= L / k,
    which randomized response with Q(x|x) = L / k attains: its other entries, (1 - L/k) / (k - 1),
    are no larger, as L >= 1.

    The prior may be any. In L the loss is convex, and linear between integers: it mixes the optima
    of whole L. Under maximal leakage any loss D is the linear relaxation of a facility location,
    Q(y|x) <= m_y with Sum_y m_y <= L; this one is greedy.

    Source: Saeidian, Cervia, Oechtering and Skoglund 2021 (arXiv 2105.01033) for the Hamming
    distortion; the proof, the accuracy and the worst case are ours.
    """

    name = "the likeliest inputs"
    source = "Saeidian, Cervia, Oechtering and Skoglund 2021 (arXiv 2105.01033)"
    theorem = "leakage-budget"
    theorem_is_tight = True
    allows_non_conic = True

    def check(self, problem: Problem) -> Verdict:
        """Ask for maximal leakage alone, and for right guesses with all inputs as outputs."""
        if problem.sole_notion(MaximalLeakage) is None:
            return Verdict(False, "it is for maximal leakage alone", relevant=False)
        if _right_outputs(problem) is None:
            return Verdict(False, "it is for losses of 0 at one input for each output, 1 elsewhere")
        return Verdict(True, "a bound on maximal leakage pays for the likeliest inputs first")

    def formula(self, problem: Problem) -> Formula:
        """Return the channel."""
        notion, k = the_notion(problem, MaximalLeakage), len(problem.domain)
        right = _right_outputs(problem)
        if right is None:
            raise UnsupportedError("objective", "the Hamming loss", problem.utility.name)
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
        outputs = [right[x] for x in used.tolist()]
        named = name_outputs(problem, len(used)) if problem.expected_loss is None else outputs
        return Formula(matrix[:, used], tuple(named))


def _right_outputs(problem: Problem) -> list[Label] | None:
    """Return for each input the output that costs 0; None unless all the others cost 1."""
    form = problem.utility.linear_form
    if form is None:
        return None
    loss = form.loss(problem.domain, problem.guesses).array
    if not np.isin(loss, (0, 1)).all() or (loss == 0).sum(axis=0).max() > 1:
        return None
    if not (loss == 0).any(axis=1).all():
        return None
    return [problem.guesses[y] for y in np.argmin(loss, axis=1).tolist()]
