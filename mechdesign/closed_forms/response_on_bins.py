"""Randomized response on bins, for LDP (Ghazi et al. 2023)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.closed_forms.base import (
    ClosedForm,
    Decided,
    Formula,
    Optimum,
    name_outputs,
)
from mechdesign.closed_forms.facilities import Sites, are_in_line
from mechdesign.domain import Label
from mechdesign.notions import LDP
from mechdesign.problem import Problem

MOST_OUTPUTS = 4_000
"""Beyond this, tables with a row and a column for each output exceed a gigabyte."""

MOST_ROUNDS = 100
"""The largest number of rounds of Newton's method; about four are needed."""


class ResponseOnBins(ClosedForm):
    """Report the bin of the input with odds e**eps against each other bin.

        Q[x, y] = e**eps / (e**eps + m - 1) for the best of m outputs for x, else 1 / (...)

    Optimal for an expected loss under LDP if the outputs have an order in which, for every input x
    and every d, those of loss D(x, y) <= d form an interval: for distances on a line, any loss that
    increases on both sides of the best output, and the Hamming loss, for which the m inputs of the
    largest prior are distinguished. The accuracy of the best guess is 1 minus that loss.

    *Proof.* Let E = e**eps, and w_y = Sum_x P_x D(x, y) the loss of the constant output y. Under
    LDP a column q of least entry t satisfies c . q >= t Sum_x (c_x + (E - 1) min(c_x, 0)). So
    prices u prove the bound Sum_x u_x if this is >= 0 for c_x = P_x D(x, y) - u_x and every output
    y. If they sum to L, and u_x = P_x v_x, that is

        Sum_x P_x max(0, v_x - D(x, y))  <=  f_y = (w_y - L) / (E - 1)        for every output y:

    v is feasible for the dual of facility location with the costs f_y, which has the same value
    Z(L) as the best set S of outputs (:mod:`~mechdesign.closed_forms.facilities`). The
    response on a set S of m outputs, with each input in the bin of its best output, has the loss

        (Sum_{y in S} w_y + (E - 1) Sum_x P_x min over S of D(x, y)) / (E + m - 1),

    which is at most L exactly if S costs at most L at the costs f. Let L be the least loss of a
    response. Then Z(L) = L, its set S is optimal, and prices that sum to Z(L) prove it optimal.
    Newton's method finds L: each round takes the best set at the previous costs.

    Source: Ghazi et al. 2023 (ICLR, regression with label differential privacy: losses that
    increase on both sides on a line; the bins by dynamic programming), Ghazi et al. 2021
    (RRWithPrior: the Hamming loss). The condition, the proof by prices and their computation are
    ours.
    """

    name = "randomized response on bins"
    source = "Ghazi et al. 2023; for the Hamming loss Ghazi et al. 2021"

    def decide(self, problem: Problem) -> Decided:
        """Require LDP alone, and an expected loss whose outputs are in line."""
        notion, utility = problem.sole_notion(LDP), problem.utility.linear_form
        if notion is None or utility is None or utility.worst_case:
            return None
        shrink = math.exp(-notion.epsilon)
        if not 0 < shrink < 1:
            return None
        outputs = problem.guesses
        if len(outputs) > MOST_OUTPUTS:
            return f"stated only for up to {MOST_OUTPUTS} outputs"
        order = _order(outputs)
        loss = utility.loss(problem.domain, outputs).array[:, order]
        if not are_in_line(loss):
            return "optimal only where the loss of every input falls, then rises along the outputs"

        def formula() -> Formula:
            found = _response(problem, loss, order, notion.epsilon)
            m = len(found.outputs)
            own = found.bin_of[:, None] == np.arange(m)
            matrix = np.where(own, 1.0, shrink) / (1 + (m - 1) * shrink)
            if problem.expected_loss is None:
                return Formula(matrix, name_outputs(problem, m))
            return Formula(matrix, tuple(outputs[y] for y in found.outputs))

        return Optimum(
            "LDP, and along the outputs the loss of every input first falls and then rises",
            formula,
            prices=lambda: _response(problem, loss, order, notion.epsilon).prices,
        )


class _Response(NamedTuple):
    """The best response on bins: its outputs, the bin of each input, and prices of the inputs."""

    outputs: tuple[int, ...]
    bin_of: IntArray
    prices: FloatArray


def _order(outputs: Sequence[Label]) -> IntArray:
    """Return the outputs in the order of their numbers, or as listed."""
    numbers = [label for label in outputs if isinstance(label, int | float)]
    if len(numbers) < len(outputs):
        return np.arange(len(outputs))
    return np.array(sorted(range(len(numbers)), key=numbers.__getitem__), dtype=np.intp)


def _response(problem: Problem, loss: FloatArray, order: IntArray, epsilon: Fraction) -> _Response:
    """Find the least loss by Newton's method, for losses with the outputs in order."""
    sites = Sites(loss, problem.prior.array)
    shrink, rest = math.exp(-epsilon), -math.expm1(-epsilon)
    alone = sites.mass @ sites.loss
    chosen, least = np.array([int(np.argmin(alone))]), float(alone.min())
    for _ in range(MOST_ROUNDS):
        trial = sites.best((alone - least) * (shrink / rest))
        near = float(sites.mass @ sites.loss[:, trial].min(axis=1))
        mean = (shrink * float(alone[trial].sum()) + rest * near) / (1 + (len(trial) - 1) * shrink)
        if mean >= least:
            break
        chosen, least = trial, mean
    prices = sites.payments(np.maximum((alone - least) * (shrink / rest), 0.0))
    bin_of = sites.loss[:, chosen].argmin(axis=1)
    return _Response(tuple(order[chosen].tolist()), bin_of, prices)
