"""Simplicial cones, with one channel whose post-processings include every private channel."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from mechdesign.closed_forms.base import (
    ClosedForm,
    Decided,
    Optimum,
    best_outputs,
    best_when_informed,
    post_processed,
)
from mechdesign.closed_forms.universal import Decision, decide_cone
from mechdesign.evidence.formulas import nothing_constrained
from mechdesign.evidence.simplicial import equal_rows, erasure, simplicial
from mechdesign.mechanisms.randomized_response import in_region, least_mass, outside_region
from mechdesign.notions import LIP
from mechdesign.problem import Problem
from mechdesign.utilities import EstimationRisk, LinearUtility

MOST_INPUTS = 300

POST_PROCESSED = (
    "every private channel is the universal one followed by post-processing, so that it is optimal "
    "for every data-processing utility"
)

_decided = lru_cache(maxsize=4)(decide_cone)
"""One problem calls it three times."""


class Universal(ClosedForm):
    """The universal channel of a cone with as many facets as inputs.

    With f_i the k rows that imply all others, F their matrix and theta = F 1 their slacks on the
    constant column, S = F Q >= 0 for a private channel Q, and its rows sum to theta. So

        Q = U W,     U = F**-1 diag(theta),     W = diag(theta)**-1 S,

    and W is a channel: every private channel is U followed by post-processing. (The columns of U
    are the extreme rays of the cone, in the only proportion in which they sum to the constant.) So
    U is optimal for every utility that no post-processing raises, and, with the best decision on
    each of its reports, for every expected loss. Special cases are two inputs, randomized response
    for LIP, and one sensitive input in high-low LDP; further cases are pointwise maximal leakage
    with epsilon <= -ln(1 - P_min), bounds on the lift from below only, and budgets of pairs that
    bound each entry from below by one other.

    Source: ours for more than two inputs; Acharya et al. 2020, Theorem 2, for two.
    """

    name = "universal channel"
    source = "ours; Acharya et al. 2020, Theorem 2, for two inputs"

    def _suits(self, problem: Problem) -> bool:
        return best_when_informed(problem) and 2 < len(problem.domain) <= MOST_INPUTS

    def _reason(self, found: Decision) -> str:
        return f"{POST_PROCESSED}: {found.reason}"

    def decide(self, problem: Problem) -> Decided:
        """Require a cone with as many facets as inputs, and a utility of information only."""
        found = _decided(problem.cone) if self._suits(problem) else None
        if found is None or found.matrix is None:
            return None
        return Optimum(
            self._reason(found),
            partial(post_processed, problem, found.matrix),
            lambda: simplicial(problem.compiled, found.facets),
        )


class LIPRandomizedResponse(ClosedForm):
    """Report the truth with probability 1 - e**-eps, else a fresh draw from the prior.

    See :class:`~mechdesign.mechanisms.LIPRandomizedResponse` for the law and its region, P_min >=
    1/(e**eps + 1). The papers claim LIP for every prior; outside this region it is not private.

    Every channel with lifts >= e**-eps is this one followed by post-processing: with lambda its
    output distribution, (Q - e**-eps 1 lambda') / (1 - e**-eps) is a channel R with the same output
    distribution, and Q = U R. So in this region it is optimal for every loss that depends only on
    information.

    Source: Jiang et al. 2018 (CNS), Theorem 2; the region is ours.
    """

    name = "LIP randomized response"
    source = "Jiang et al. 2018 (CNS), Theorem 2"

    def decide(self, problem: Problem) -> Decided:
        """Require LIP, the region, and a utility for which it is optimal."""
        notion, prior = problem.sole_notion(LIP), problem.prior
        informed = best_when_informed(problem) or isinstance(problem.utility, EstimationRisk)
        if notion is None or not informed:
            return None
        if not in_region(prior, notion.epsilon):
            return outside_region(prior, notion.epsilon)
        e = float(notion.epsilon)
        matrix = -math.expm1(-e) * np.eye(len(prior)) + math.exp(-e) * prior.array
        return Optimum(
            f"P_min = {float(prior.minimum):.6g} is at least 1/(e^epsilon + 1) = "
            f"{least_mass(notion.epsilon):.6g}, so it is private, and every private channel is "
            "it followed by post-processing",
            partial(post_processed, problem, matrix),
            lambda: erasure(problem.compiled),
        )


class BinaryUniversal(Universal):
    """The universal channel for two inputs; Warner's and Mangat's designs are special cases.

    Every notion bounds a column (q_0, q_1) by q_0 <= A q_1 and q_1 <= B q_0, so the cone has two
    extreme rays, (A, 1) and (1, B). Scaled by t_0 = (B-1)/(AB-1) and t_1 = (A-1)/(AB-1) they sum to
    (1, 1): a channel, whose columns mix to every private column. So every private channel is this
    one followed by post-processing. A = B = e**epsilon is Warner's randomized response; A infinite
    is Mangat's, which never hides the second input.

    Source: Acharya et al. 2020, Theorem 2, for E matrices; for LIP the limits are, with P the
    prior of the second input, A = min{(e**eps - P)/(1-P), e**eps P / (1 - e**eps (1-P))}.
    """

    name = "binary universal"
    source = "Acharya et al. 2020, Theorem 2; Warner 1965; Mangat 1994"

    def _suits(self, problem: Problem) -> bool:
        return len(problem.domain) == 2 and not _is_worst_case(problem)

    def _reason(self, found: Decision) -> str:
        a, b, kind, U = 1.0, 1.0, "", found.matrix
        if U is not None and U.shape[1] > 1:
            a, b = (U[x, x] / U[1 - x, x] if U[1 - x, x] else math.inf for x in (0, 1))
        if math.isclose(a, b, rel_tol=1e-12) and math.isfinite(a):
            kind = "; here it is Warner's randomized response"
        elif math.isinf(a) != math.isinf(b):
            kind = "; here it is Mangat's design"
        return (
            "with two inputs every private channel is the universal one followed by "
            f"post-processing (odds may change by {a:.6g} and {b:.6g}){kind}"
        )


def _is_worst_case(problem: Problem) -> bool:
    return isinstance(problem.utility, LinearUtility) and problem.utility.worst_case


class IndependentRelease(ClosedForm):
    """One output for every input.

    If bounds e**0 tie all inputs, every private channel has equal rows: q_x <= q_x' in every
    column, with both rows summing to 1, makes them equal, and so does q_x <= P . q for every x. An
    expected loss is then a mean over outputs of Sum_x P_x D(x, y), minimal at a single output.
    """

    name = "independent release"
    source = "perfect privacy"
    allows_non_conic = True

    def decide(self, problem: Problem) -> Decided:
        """Require that bounds of exactly 1 tie all inputs."""
        if problem.cone.equal_classes(exact=True).any() or _is_worst_case(problem):
            return None
        return Optimum(
            "a budget of 0 makes all rows of every private channel equal",
            lambda: post_processed(problem, np.ones((len(problem.domain), 1))),
            lambda: equal_rows(problem.compiled, _decided(problem.cone).facets),
        )


class Unconstrained(ClosedForm):
    """The identity, followed by the best output for each input.

    Optimal for every utility if no column violates a row of the notions, and the identity satisfies
    the constraints on the whole channel: every channel is then private, as a post-processing of the
    identity.
    """

    name = "identity"
    source = "no row binds"
    allows_non_conic = True
    allows_readings = True

    def decide(self, problem: Problem) -> Decided:
        """Require that no column violates a row of any family."""
        if not problem.is_conic or any(family.binds() for family in problem.cone.families):
            return None
        identity, utility = np.eye(len(problem.domain)), problem.utility
        formula = partial(post_processed, problem, identity)
        if isinstance(utility, LinearUtility):
            loss = utility.loss(problem.domain, problem.outputs or ())
            formula = partial(best_outputs, problem, identity, loss.array)
        return Optimum(
            "no row of the privacy notion can be broken by any channel",
            formula,
            lambda: nothing_constrained(problem.compiled),
        )
