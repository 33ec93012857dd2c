"""Symmetric problems, whose extreme rays are all arrangements of one vector for each size.

If cone, prior and utility are invariant under every permutation of the inputs, all arrangements of
a ray have the same gain. So no private channel is better than the best of these vectors, and any
family of its arrangements that sums to the constant column attains this gain.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import block_diag, circulant

from mechdesign._typing import FloatArray, IntArray
from mechdesign.closed_forms.balanced_subsets import balanced_arrangements, subset_selection
from mechdesign.closed_forms.base import (
    ClosedForm,
    Decided,
    Formula,
    Optimum,
    lift_rows_at,
    name_outputs,
)
from mechdesign.evidence import formulas as evidence
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.mechanisms.set_system import best_size, high_low_terms
from mechdesign.notions import LDP, BlockLDP, HighLowLDP
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.problem import Problem
from mechdesign.solver_guard import called
from mechdesign.utilities import ColumnUtility, EstimationRisk

MOST_INPUTS = 96
"""For more inputs, the subsets, about half the square of the inputs, are too many for a matrix."""

LEAST_LOW = 2.0**-62
"""The least entry of a channel: odds above 2**62 are not representable."""

NOT_UNIFORM = "optimal only at the uniform prior"
LARGEST_LOW = 1 - 1e-14
TOO_SMALL = "the budget is too small: its entries would be equal in floating point"
TOO_LARGE = f"its subsets are listed only for up to {MOST_INPUTS} inputs"


def write_out(problem: Problem, matrix: FloatArray) -> Formula:
    """Return a channel with named outputs."""
    return Formula(matrix, name_outputs(problem, matrix.shape[1]))


def _shifts(problem: Problem, ray: FloatArray) -> Formula:
    """Return the cyclic shifts of a ray: each input is in each place equally often."""
    matrix = circulant(ray) / ray.sum()
    if problem.expected_loss is not None:
        return Formula(matrix, problem.domain.labels)
    return write_out(problem, matrix)


def _shifted(problem: Problem, ray: FloatArray, reason: str) -> Optimum:
    return Optimum(
        reason,
        partial(_shifts, problem, ray),
        lambda: evidence.symmetric(problem.compiled),
    )


def _is_symmetric(problem: Problem) -> bool:
    utility, labels = problem.utility, set(problem.domain.labels)
    allowed = not utility.is_of_outputs or labels <= set(problem.outputs or ())
    return allowed and utility.treats_inputs_alike


class RandomizedResponse(ClosedForm):
    """Report the truth with odds e**eps against each other answer (GRR).

        Q[x, x] = e**eps / (e**eps + k - 1),      Q[x, y] = 1 / (e**eps + k - 1)

    Optimal for Hamming loss under LDP at the uniform prior: in the column of output y,
    q_y <= e**eps q_x for all x, so Sum_x q_x >= q_y (1 + (k-1) e**-eps), and adding up over y,
    Sum_x Q[x, x] <= k / (1 + (k-1) e**-eps), which it attains.

    Source: Kairouz, Bonawitz and Ramage 2016 (the mechanism, k-RR).
    """

    name = "k-ary randomized response"
    source = "Kairouz, Bonawitz and Ramage 2016"

    def decide(self, problem: Problem) -> Decided:
        """Require LDP alone, the expected Hamming loss on the domain, and the uniform prior."""
        notion, k = problem.sole_notion(LDP), len(problem.domain)
        if notion is None:
            return None
        own = problem.outputs == problem.domain.labels and _is_symmetric(problem)
        if problem.expected_loss is None or not own:
            return "optimal only for the Hamming loss on the domain"
        if not problem.prior.is_uniform:
            return NOT_UNIFORM
        ray = np.where(np.arange(k) == 0, 1.0, math.exp(-notion.epsilon))
        return _shifted(problem, ray, "LDP, Hamming loss and a uniform prior")


class UniformSubsets(ClosedForm):
    """Report one of k sets of j inputs, e**eps times as likely if it contains the own input.

    The extreme rays of LDP have entries e**eps on some j inputs and 1 on the others. At a uniform
    prior a gain g that is invariant under permutations depends on j alone: with P . r = 1 it is
    g_j. The gain of a channel is a mean of gains of rays, so none exceeds max_j g_j. The k cyclic
    shifts of j inputs in a row cover every input equally often, so their columns sum to a constant:
    they form a channel, which attains the maximum.

    This covers information, the accuracy of the best guess (where j = 1, randomized response) and
    the error of the histogram. Subset selection of all sets of j has the same gain, with more
    outputs.

    Source: Wang et al. 2016, for information; that k sets suffice is ours.
    """

    name = "subset selection by shifts"
    source = "Wang et al. 2016, for information"

    def decide(self, problem: Problem) -> Decided:
        """Require LDP alone, the uniform prior, and a symmetric utility."""
        notion, utility, k = problem.sole_notion(LDP), problem.utility, len(problem.domain)
        if notion is None or not (_is_symmetric(problem) and isinstance(utility, ColumnUtility)):
            return None
        if not problem.prior.is_uniform:
            return NOT_UNIFORM
        raised = np.arange(k)[:, None] <= np.arange(max(1, k - 1))
        rays, prior = np.where(raised, 1.0, math.exp(-notion.epsilon)), problem.prior.array
        ray = rays[:, np.argmax(utility.gain(rays, prior) / (prior @ rays))]
        reason = (
            f"at a uniform prior sets of {(ray == 1).sum()} of {k} inputs are worth the most among "
            "the extreme rays of LDP, for every utility that is symmetric in the inputs"
        )
        return _shifted(problem, ray, reason)


class UniformLift(ClosedForm):
    """Each report raises the odds of some inputs to the upper bound, and lowers the others.

    At a uniform prior, lifts r = q / (P . q) with l <= r_x <= u form a polytope with Sum_x r_x = k.
    At a vertex all entries but one are at an end, so its vertices are all permutations of one
    vector: as many entries u as fit, one in between, the rest l. A convex gain g that is invariant
    under permutations, with g(q_y) = lambda_y g(r_y), is at most g of that vector on every lift,
    hence Sum_y g(q_y) is at most g of it. The k cyclic shifts of the vector, each with probability
    1/k, sum to the constant column, as its entries sum to k, and attain this bound.

    This covers information, the accuracy of the best guess and the error of the histogram, with
    LIP, with any bounds on the lift (l = 0, or u beyond reach, for a missing bound) and with
    pointwise maximal leakage. The Hamming loss is 1 minus the accuracy of a guess.

    Source: ours. Where e**eps >= k - 1 it is Jiang et al.'s randomized response for LIP.
    """

    name = "uniform lifts"
    source = "ours"

    def decide(self, problem: Problem) -> Decided:
        """Require a bound on the lift alone, uniform priors, and a symmetric utility."""
        binding = [family for family in problem.cone.families if family.binds()]
        family = lift_rows_at(problem, binding[0]) if len(binding) == 1 else None
        if family is None or not (problem.prior.is_uniform and _is_symmetric(problem)):
            return None
        reason = (
            "at a uniform prior the extreme lifts are permutations of one, and its cyclic shifts "
            "are optimal for every utility that is symmetric in the inputs"
        )
        return _shifted(problem, best_lift(family), reason)


class LiftSubsetSelection(ClosedForm):
    """All arrangements of one vector of lifts: some at the upper bound, one between, the rest low.

    At the uniform prior a report's lifts r lie between two bounds and have mean 1. All vertices of
    that polytope are arrangements of one vector, and so have the same |r|**2; mixed evenly they
    make all eigenvalues of M but one equal, which is optimal (see `subset_selection` in the
    checker). This also covers the prior where the published formula for LIP fails: k > e**eps + 1.

    Source: ours.
    """

    name = "subset selection by lifts"
    source = "ours; the vertices are of Jiang et al. 2021 (TIFS)"

    def decide(self, problem: Problem) -> Decided:
        """Require bounds on the lift at the uniform prior, and a risk of estimation."""
        (only, *more) = problem.cone.families
        family = None if more else lift_rows_at(problem, only)
        if family is None or not isinstance(problem.utility, EstimationRisk):
            return None
        if not problem.prior.is_uniform:
            return NOT_UNIFORM
        if len(problem.domain) > MOST_INPUTS:
            return TOO_LARGE
        low, high = family.ends()
        if low > LARGEST_LOW or high < 1 / LARGEST_LOW:
            return TOO_SMALL
        lift = best_lift(family)

        def formula() -> Formula:
            columns, weights = balanced_arrangements(tuple(lift.tolist()))
            return write_out(problem, columns * weights)

        raised = int((lift == lift[0]).sum())
        return Optimum(
            f"at the uniform prior all vectors of lifts have the same entries, {raised} at the top",
            formula,
            lambda: evidence.subset_selection(problem.compiled),
        )


def best_lift(family: LiftRows) -> FloatArray:
    """Return the decreasing vector whose permutations are the extreme lifts at a uniform prior.

    Its length is the number of inputs.

    Examples
    --------
    >>> from mechdesign import LIP, Domain, Prior
    >>> best_lift(LIP(0.5).family(Domain.range(5), Prior.uniform(5))).round(5)
    array([1.64872, 1.53169, 0.60653, 0.60653, 0.60653])
    """
    k, bounds = family.size, family.sides()
    low, high = Fraction(0), Fraction(k)
    if "lower" in bounds:
        low = exp_lower(-bounds["lower"])
    if "upper" in bounds and (upper := bounds["upper"]) <= math.log(k):
        high = exp_upper(upper)
    full = min(k - 1, int(k * (1 - low) / (high - low))) if high > low else 0
    between = k - full * high - (k - 1 - full) * low
    lift = np.full(k, float(low))
    lift[:full], lift[full] = float(high), float(between)
    return lift


class SubsetSelection(ClosedForm):
    """Report a random set of j inputs, e**eps times as likely if it contains the own input.

    Every set of j inputs is reported in proportion to e**eps if it contains x, else to 1. With r
    the posterior-to-prior ratios of a report, |r|**2 = k**2 (j e**(2 eps) + k - j) / (j e**eps + k
    - j)**2, and at the uniform distribution

        tr M**-1 - 1/k = (k - 1)**2 / (|r|**2 - k),

    so the j with the largest |r|**2 is optimal. No channel is better: see `subset_selection` in the
    checker. Instead of all sets, the channel uses a small family that covers all pairs equally
    often, which is as informative
    (:func:`~mechdesign.closed_forms.balanced_subsets.balanced_subsets`).

    Source: Ye and Barg 2018; Wang et al. 2016. That fewer sets suffice is known from block designs.
    """

    name = "subset selection"
    source = "Ye and Barg 2018; Wang et al. 2016"

    def decide(self, problem: Problem) -> Decided:
        """Require LDP, a risk of estimation, and a uniform prior, which is also the worst."""
        utility, notion = problem.utility, problem.sole_notion(LDP)
        if notion is None or not isinstance(utility, EstimationRisk):
            return None
        if not utility.worst_case and not problem.prior.is_uniform:
            return "optimal only at the uniform prior, and in the worst case"
        k = len(problem.domain)
        best = f"under LDP the best subset selection, of {best_size(k, notion.epsilon)} of {k}"
        one = np.zeros(k, dtype=np.intp)
        found = _by_block(problem, one, notion.epsilon, f"{best}, is optimal")
        proof = partial(evidence.subset_selection, problem.compiled)
        return replace(found, certificate=proof) if isinstance(found, Optimum) else found


class BlockSubsetSelection(ClosedForm):
    """Subset selection inside each block, of the best size for the block; the block is public.

    Columns live on one block, so M is block diagonal, and each block is LDP on its own inputs.

    Source: ours; Acharya et al. 2020 use Hadamard response inside the blocks.
    """

    name = "block subset selection"
    source = "ours; the scheme with Hadamard response is of Acharya et al. 2020, Section 4"

    def decide(self, problem: Problem) -> Decided:
        """Require block-structured LDP, and a prior that is the same inside each block."""
        utility, notion = problem.utility, problem.sole_notion(BlockLDP)
        if notion is None or not isinstance(utility, EstimationRisk):
            return None
        if utility.worst_case:
            return "optimal only at one prior, not in the worst case"
        member = notion.membership(problem.domain)
        pairs = set(zip(member.tolist(), problem.prior.probabilities, strict=True))
        if len(pairs) > member.max() + 1:
            return "optimal only where the prior is uniform inside each block"
        reason = "inside each block the best subset selection is optimal"
        return _by_block(problem, member, notion.epsilon, reason)


def _by_block(problem: Problem, member: IntArray, epsilon: Fraction, reason: str) -> Decided:
    """Return the best subset selection inside each block."""
    sizes = np.bincount(member).tolist()
    if max(sizes) > MOST_INPUTS:
        return TOO_LARGE

    def formula() -> Formula:
        parts = [subset_selection(k, best_size(k, epsilon), math.exp(-epsilon)) for k in sizes]
        matrix = np.zeros((len(member), sum(part.shape[1] for part in parts)))
        matrix[np.argsort(member, kind="stable")] = block_diag(*parts)
        return write_out(problem, matrix)

    return Optimum(reason, formula)


PRECISION = 1e-10
"""Absolute accuracy of a share, and so of its risk, up to rounding."""

LEAST_SHARE = 1e-6
"""A smaller share of a size is a rounding error: the best share is then 0 or 1."""


class HighLowSubsetSelection(ClosedForm):
    r"""Subset selection among the sensitive inputs; others report a random set with probability w.

    Of the s sensitive inputs, x reports a set of j as in subset selection. Any other input reports
    a uniformly random such set with probability w_j = s / (s + j d), d = e**eps - 1, else itself.
    The size j is one of two neighbors, j with probability t and j + 1 with 1 - t. No channel has
    less risk, for any prior that is uniform on the sensitive inputs. For s = 1 it is Mangat's
    design.

    Proof. The extreme rays of the cone are e**eps on a nonempty set S of sensitive inputs and 1
    elsewhere, and the single other inputs. The risk is convex in the information matrix M = Sum_y
    q_y q_y' / P . q_y (the tv-risk where no P_x is above 3/4: every variance is at least P_x (1 -
    P_x)), and permutations of the sensitive inputs leave it as it is; so some optimum
    uses all sets of size j equally, with probability t_j at a sensitive input, and the other
    inputs alone with phi = 1 - Sum_j t_j w_j. Let each sensitive input have the prior p, and the
    others P_B together. As M P = 1, M**-1 = P P' + V with V 1 = 0, and V is diagonal up to rank one
    on three subspaces, orthogonal for M: vectors on the sensitive inputs with sum 0; those on the
    others with sum 0; and v = (1/s, ..., 1/s, -P_x / P_B, ...). Its diagonal is

        (1 - 1/s) / a + 1 / (mu s**2)                           at a sensitive input,
        P_x (1 - P_x / P_B) / phi + P_x**2 / (P_B**2 mu)        at another one,

    where, all linear in t with Sum_j t_j = 1,

        a   = Sum_j t_j d**2 j (s - j) / ((s - 1) (s + j d) (1 + j d p)),
        phi = Sum_j t_j j d / (s + j d),
        mu  = Sum_j t_j j d / (s P_B (1 + j d p)).

    Both risks fall in a, phi and mu and are convex in t: 1/a is, and the root of a sum of such
    terms, as a norm of their roots. So t is optimal iff, with some alpha, beta, gamma >= 0,
    alpha a_j + beta phi_j + gamma mu_j is at most its mean nu, with equality where t_j > 0. Times
    (s + j d)(1 + j d p), the difference is a quadratic function g of j, with g(0) = -nu s < 0. If g
    were convex, it would have one zero among the sizes, after which it is positive: the last, s,
    for which a = 0. Else it is concave, at most 0 at every integer, and so it has its zeros at one
    integer, or at two neighbors.

    Source: ours (optimal high-low mechanisms are also the subject of arXiv 2509.24173, 2025);
    Acharya et al. 2020 use Hadamard response among the sensitive inputs.
    """

    name = "high-low subset selection"
    source = "ours; the scheme with Hadamard response is of Acharya et al. 2020, Section 5"

    def decide(self, problem: Problem) -> Decided:
        """Require high-low LDP, and a prior uniform on the sensitive inputs and on the others."""
        utility, notion = problem.utility, problem.sole_notion(HighLowLDP)
        if notion is None or not isinstance(utility, EstimationRisk):
            return None
        if utility.worst_case:
            return "optimal only at one prior, not in the worst case"
        found = _HighLow(problem, notion, utility)
        if len({problem.prior[x] for x in found.sensitive}) > 1:
            return "optimal only for a prior that is uniform on the sensitive inputs"
        if found.low > LARGEST_LOW:
            return TOO_SMALL
        if len(found.sensitive) > MOST_INPUTS:
            return TOO_LARGE
        sizes, s = found.best(), len(found.sensitive)

        def formula() -> Formula:
            parts, k, alone = [], len(problem.domain), 1.0
            for j, share in sizes.items():
                sets = share * subset_selection(s, j, found.low)
                part = np.tile(found.low * sets.max(axis=0), (k, 1))
                alone -= float(part[0].sum())
                part[found.sensitive] = sets
                parts.append(part)
            return write_out(problem, np.hstack([*parts, np.eye(k)[:, found.others] * alone]))

        text = " and ".join(map(str, sizes))
        return Optimum(f"sets of {text} of the {s} sensitive inputs are optimal", formula)


class _HighLow:
    """The numbers of a high-low problem with a prior that is uniform on the sensitive inputs."""

    def __init__(self, problem: Problem, notion: HighLowLDP, utility: EstimationRisk) -> None:
        domain = problem.domain
        self.sensitive = sorted(domain.index(label, "sensitive") for label in notion.sensitive)
        self.others = [x for x in range(len(domain)) if x not in set(self.sensitive)]
        self.low, self.prior = max(math.exp(-notion.epsilon), LEAST_LOW), problem.prior.array
        self.utility = utility

    def best(self) -> dict[int, float]:
        """Return the sizes of least risk, each with its probability at a sensitive input."""
        s = len(self.sensitive)
        j = min(range(1, max(2, s)), key=lambda j: self._risk(self._terms(j)))
        least, found = self._risk(self._terms(j)), {j: 1.0}
        from scipy import optimize

        minimize: Any = optimize.minimize_scalar
        for first in range(1, s - 1):
            ends = self._terms(first), self._terms(first + 1)

            def risk(share: float, ends: tuple[FloatArray, FloatArray] = ends) -> float:
                return self._risk(share * ends[0] + (1 - share) * ends[1])

            near = called("SciPy", minimize, risk, bounds=(0, 1), options={"xatol": PRECISION})
            share = float(near.x)
            if LEAST_SHARE < share < 1 - LEAST_SHARE and risk(share) < least:
                least, found = risk(share), {first: share, first + 1: 1 - share}
        return found

    def _terms(self, j: int) -> FloatArray:
        return high_low_terms(j, len(self.sensitive), self.low, self.prior[self.sensitive[0]])

    def _risk(self, terms: FloatArray) -> float:
        s, others = len(self.sensitive), self.prior[self.others]
        a, phi, mu = terms.tolist()
        rest = others.sum()
        variances = self.prior**2
        variances[self.sensitive] += rest / (mu * s**2)
        if s > 1:
            variances[self.sensitive] += (1 - 1 / s) / a
        variances[self.others] += others * (1 - others / rest) / phi + others**2 / (rest * mu)
        return float(self.utility.deviations(variances, self.prior).value.sum())
