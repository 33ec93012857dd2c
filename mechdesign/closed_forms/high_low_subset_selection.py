"""Subset selection of one or two sizes among the sensitive inputs, the optimum of high-low LDP."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.balanced_subsets import subset_selection
from mechdesign.closed_forms.base import ClosedForm, Decided, Formula, Optimum
from mechdesign.closed_forms.size_classes import (
    LARGEST_LOW,
    LEAST_LOW,
    MOST_INPUTS,
    TOO_LARGE,
    TOO_SMALL,
    write_out,
)
from mechdesign.mechanisms.optimum import high_low_terms
from mechdesign.notions import HighLowLDP
from mechdesign.problem import Problem
from mechdesign.solver_guard import called
from mechdesign.utilities import EstimationRisk

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
