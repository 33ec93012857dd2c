"""The universal channel for two inputs: Warner's and Mangat's randomized response."""

from __future__ import annotations

import math

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, decide
from mechdesign.evidence.facets import binary
from mechdesign.kernel.certificate import Certificate
from mechdesign.problem import Problem
from mechdesign.utilities import LinearUtility

__all__ = ["BinaryUniversal", "binary_limits", "universal_channel"]


class BinaryUniversal(ClosedForm):
    """The universal channel for two inputs; Warner's and Mangat's designs are cases of it.

    Every notion asks of a column (q_0, q_1) that q_0 <= A q_1 and q_1 <= B q_0, so that the cone
    has two extreme rays, (A, 1) and (1, B). Scaled by t_0 = (B-1)/(AB-1) and t_1 = (A-1)/(AB-1)
    they sum to (1, 1): one channel, of whose columns every private column is a mixture. So every
    private channel is this one followed by post-processing. A = B = e**epsilon is Warner's
    randomized response; A infinite is Mangat's, which never hides the second input.

    Source: Acharya et al. 2020, Theorem 2, for E matrices; for LIP the limits are, with P the
    prior of the second input, A = min{(e**eps - P)/(1-P), e**eps P / (1 - e**eps (1-P))}.
    """

    name = "binary universal"
    source = "Acharya et al. 2020, Theorem 2; Warner 1965; Mangat 1994"

    def check(self, problem: Problem) -> Verdict:
        """Ask for two inputs, and for a utility that only needs information or an expectation."""
        if len(problem.domain) != 2:
            return Verdict(False, "it needs two inputs", relevant=False)
        if isinstance(problem.utility, LinearUtility) and problem.utility.worst_case:
            return Verdict(False, "a worst case over x is not a mean", relevant=False)
        a, b = binary_limits(problem)
        kind = ""
        if math.isclose(a, b, rel_tol=1e-12) and math.isfinite(a):
            kind = "; here it is Warner's randomized response"
        elif math.isinf(a) != math.isinf(b):
            kind = "; here it is Mangat's design"
        return Verdict(
            True,
            "with two inputs every private channel is the universal one followed by "
            f"post-processing (odds may change by {a:.6g} and {b:.6g}){kind}",
        )

    def certificate(self, problem: Problem) -> Certificate | None:
        """Return what proves it optimal."""
        return binary(problem.compiled)

    def formula(self, problem: Problem) -> Formula:
        """Return the universal channel, and the Bayes decision on it for an expected loss."""
        return decide(problem, universal_channel(*binary_limits(problem)))


def binary_limits(problem: Problem) -> tuple[float, float]:
    """Return the least A and B with q_0 <= A q_1 and q_1 <= B q_0 in the cone; may be inf."""
    limits = [math.inf, math.inf]
    for own, other in problem.cone.matrix().toarray():
        for x, (g, h) in enumerate(((own, other), (other, own))):
            if g > 0:
                limits[x] = min(limits[x], max(1.0, -h / g))
    return limits[0], limits[1]


def universal_channel(a: float, b: float) -> FloatArray:
    """Return [[t_0 A, t_1], [t_0, t_1 B]] for limits in [1, inf], shape (2, 2) or (2, 1)."""
    if a == 1 or b == 1:
        return np.ones((2, 1))
    u, v = 1 / a, 1 / b  # in [0, 1), so that infinite limits need no case of their own
    # t_0 A = (1 - v)/(1 - uv) and t_0 = u (1 - v)/(1 - uv)
    mix = -math.expm1(math.log(u) + math.log(v)) if u * v > 0.5 else 1 - u * v
    return np.array([[(1 - v) / mix, v * (1 - u) / mix], [u * (1 - v) / mix, (1 - u) / mix]])
