"""Numbers in the text of the extended version, Jiang et al. 2018 (arXiv).

Source: Jiang et al. 2018 (arXiv), Section IV-B: the worked example with D = {1, 2, 3}; the claims
on several inputs; the counts of its data are with Figs. 8 and 9.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.papers.base import Row
from benchmarks.papers.formulas import erasure, posterior_error, randomized_response
from benchmarks.papers.optimum import best
from mechdesign import LDP, LIP, Channel, MeanAbsoluteError, PosteriorMeanSquaredError, Prior

SUM = PosteriorMeanSquaredError()


def rows() -> list[Row]:
    """Return the rows."""
    return [*worked_example(), *absolute_error(), *several_inputs()]


def worked_example() -> list[Row]:
    """Return the example on three values: the printed entries at epsilon = 2.5, and privacy."""
    prior, epsilon = Prior([0.1, 0.2, 0.7]), 2.5
    place, matrix = "arXiv, IV-B, example", erasure(prior.array, epsilon)
    printed = {(0, 0): 1 - 0.9 / epsilon, (1, 1): 1 - 0.8 / epsilon, (2, 2): 1 - 0.3 / epsilon}
    printed |= {(1, 0): 0.1 / epsilon, (0, 1): 0.2 / epsilon, (0, 2): 0.7 / epsilon}
    why = "printed with 1/ε where Theorem 3, just above it, has e^−ε"
    found = [
        Row(place, f"q{x + 1}{y + 1}, ε = 2.5", value, float(matrix[x, y]), why)
        for (x, y), value in printed.items()
    ]
    wrong = np.array([[1 - 0.9, 0.2, 0.7], [0.1, 1 - 0.8, 0.7], [0.1, 0.2, 1 - 0.3]])
    for budget in (1.0, 2.5):
        leakage = LIP(budget).leakage(Channel.from_matrix(erasure(prior.array, budget)), prior)
        why = "P_min = 0.1: Theorem 3 is private from ε = ln 9 = 2.197 on"
        found.append(Row(place, f"leakage of Theorem 3, ε = {budget:g}", budget, leakage, why))
    leakage = LIP(1).leakage(Channel.from_matrix(wrong), prior)
    why = "with 1/ε as printed every row is the prior at ε = 1, so reports carry no information"
    found.append(Row(place, "leakage of the entries as printed, ε = 1", 1.0, leakage, why))
    return found


def absolute_error() -> list[Row]:
    """Return Proposition 3: the formula also has the least mean absolute error."""
    found = []
    for p, epsilon in ((0.4, 1.0), (0.4, 0.1), (0.1, 1.0)):
        prior = Prior([round(1 - p, 1), p])
        matrix = erasure(prior.array, epsilon)
        claimed = float((prior.array[:, None] * matrix * [[0, 1], [1, 0]]).sum())
        solution = best([0, 1], LIP(epsilon), MeanAbsoluteError(), prior)
        leakage = LIP(epsilon).leakage(Channel.from_matrix(matrix), prior) / epsilon
        found.append(
            Row(
                "arXiv, Proposition 3",
                f"least mean absolute error, P1 = {p}, ε = {epsilon:g}",
                claimed,
                float(solution.value),
                f"the formula leaks {leakage:.2f} ε, and reporting the likelier value always"
                f" errs {p} only",
            )
        )
    return found


def several_inputs() -> list[Row]:
    """Return the claimed optimum for a sum over four values."""
    prior, found = Prior.uniform(4), []
    for epsilon in (1.0, 2.0):
        lip, grr = erasure(prior.array, epsilon), randomized_response(4, epsilon)
        leakage = LIP(epsilon).leakage(Channel.from_matrix(lip), prior) / epsilon
        least_lip = best(range(4), LIP(epsilon), SUM, prior)
        least_ldp = best(range(4), LDP(epsilon), SUM, prior)
        words = f"4 uniform values, ε = {epsilon:g}"
        found += [
            Row(
                "arXiv, Theorem 3",
                f"least error of a sum under LIP, {words}",
                posterior_error(lip, prior.array, range(4)),
                float(least_lip.value),
                f"the formula leaks {leakage:.3f} ε; private from ln 3 = {math.log(3):.3f} on",
            ),
            Row(
                "arXiv, IV-B",
                f"least error of a sum under LDP, {words}",
                posterior_error(grr, prior.array, range(4)),
                float(least_ldp.value),
                "randomized response is not optimal for the squared error of more than two inputs",
            ),
        ]
    two, three = Prior.uniform(2), Prior.uniform(3)
    for prior, k in ((two, 2), (three, 3)):
        matrix = erasure(prior.array, 1.0)
        least = best(range(k), LIP(1), SUM, prior)
        claimed = posterior_error(matrix, prior.array, range(k))
        quantity = f"least error of a sum under LIP, {k} uniform values, ε = 1"
        found.append(Row("arXiv, Theorem 3", quantity, claimed, float(least.value)))
    return found
