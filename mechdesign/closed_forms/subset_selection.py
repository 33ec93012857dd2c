"""Subset selection for distribution estimation (Ye and Barg 2018): LDP and blocks."""

from __future__ import annotations

import math

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.balanced_subsets import balanced_subsets
from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, name_outputs, the_notion
from mechdesign.evidence.symmetric import subset_selection
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions import LDP, BlockLDP
from mechdesign.problem import Problem
from mechdesign.utilities import EstimationRisk

__all__ = [
    "LARGEST_LOW",
    "LEAST_LOW",
    "MOST_INPUTS",
    "NOT_A_RISK",
    "TOO_LARGE",
    "TOO_SMALL",
    "BlockSubsetSelection",
    "SubsetSelection",
    "best_size",
    "write_out",
]

MOST_INPUTS = 96
"""Beyond it the subsets, about half the square of the inputs, are too many to write out."""

LEAST_LOW = 2.0**-62
"""The least entry of a channel: larger odds than 2**62 make no difference."""

NOT_A_RISK = Verdict(False, "it is for the risk of estimating a distribution", relevant=False)
LARGEST_LOW = 1 - 1e-14
TOO_SMALL = Verdict(False, "the budget is too small: its entries would be equal in floating point")
TOO_LARGE = Verdict(False, f"its subsets are listed only for up to {MOST_INPUTS} inputs")


class SubsetSelection(ClosedForm):
    """Report a random set of j inputs, one that holds the own input more often by e**eps.

    Every set of j inputs is reported in proportion to e**eps if it holds x, else to 1. With r the
    posterior-to-prior ratios of a report, |r|**2 = k**2 (j e**(2 eps) + k - j) / (j e**eps + k -
    j)**2, and at the uniform distribution

        tr M**-1 - 1/k = (k - 1)**2 / (|r|**2 - k),

    so that the j with the largest |r|**2 is best. No channel is better: see `subset_selection` in
    the checker. In place of all sets a family of few is taken that covers all pairs equally often,
    which tells as much (:func:`~mechdesign.closed_forms.balanced_subsets.balanced_subsets`).

    Source: Ye and Barg 2018; Wang et al. 2016. That fewer sets do is known from block designs.
    """

    name = "subset selection"
    source = "Ye and Barg 2018; Wang et al. 2016"

    def check(self, problem: Problem) -> Verdict:
        """Ask for LDP, a risk of estimation, and a uniform prior, which is also the worst."""
        utility, notion = problem.utility, problem.sole_notion(LDP)
        if notion is None or not isinstance(utility, EstimationRisk):
            return NOT_A_RISK
        if not utility.worst_case and not problem.prior.is_uniform:
            return Verdict(False, "optimal only at the uniform prior, and in the worst case")
        k = len(problem.domain)
        if k > MOST_INPUTS:
            return TOO_LARGE
        j = best_size(k, math.exp(-notion.epsilon))
        return Verdict(True, f"under LDP the best subset selection, of {j} of {k}, is optimal")

    def certificate(self, problem: Problem) -> Certificate | None:
        """Return what proves it optimal."""
        return subset_selection(problem.compiled)

    def formula(self, problem: Problem) -> Formula:
        """Return the channel."""
        notion = the_notion(problem, LDP)
        return write_out(problem, _subsets(len(problem.domain), math.exp(-notion.epsilon)))


class BlockSubsetSelection(ClosedForm):
    """Subset selection inside each block, of the best size for the block; the block is public.

    Columns live on one block, so M is block diagonal, and each block is LDP on its own inputs.

    Source: ours; Acharya et al. 2020 use Hadamard response inside the blocks.
    """

    name = "block subset selection"
    source = "ours; the scheme with Hadamard response is of Acharya et al. 2020, Section 4"

    def check(self, problem: Problem) -> Verdict:
        """Ask for block-structured LDP, and a prior that is the same inside each block."""
        utility, notion = problem.utility, problem.sole_notion(BlockLDP)
        if notion is None or not isinstance(utility, EstimationRisk):
            return NOT_A_RISK
        if utility.worst_case:
            return Verdict(False, "optimal only at one prior, not in the worst case")
        member = notion.membership(problem.domain)
        pairs = set(zip(member.tolist(), problem.prior.probabilities, strict=True))
        if len(pairs) > member.max() + 1:
            return Verdict(False, "optimal only where the prior is uniform inside each block")
        if np.bincount(member).max() > MOST_INPUTS:
            return TOO_LARGE
        return Verdict(True, "inside each block the best subset selection is optimal")

    def formula(self, problem: Problem) -> Formula:
        """Return the channel."""
        notion = the_notion(problem, BlockLDP)
        member, low = notion.membership(problem.domain), math.exp(-notion.epsilon)
        parts = []
        for b in range(member.max() + 1):
            inputs = np.flatnonzero(member == b)
            own = _subsets(len(inputs), low)
            part = np.zeros((len(member), own.shape[1]))
            part[inputs] = own
            parts.append(part)
        return write_out(problem, np.hstack(parts))


def best_size(k: int, low: float) -> int:
    """Return the size of the subsets that tell most, for k inputs and low = e**-eps < 1.

    Examples
    --------
    >>> [best_size(10, math.exp(-epsilon)) for epsilon in (0.5, 1, 2)]
    [4, 3, 1]
    """
    sizes = range(1, max(2, k))
    return max(sizes, key=lambda j: (j + (k - j) * low**2) / (j + (k - j) * low) ** 2)


def _subsets(k: int, low: float) -> FloatArray:
    """Return the best subset selection on k inputs, ``(k, n_subsets)``."""
    if k == 1:
        return np.ones((1, 1))
    j = best_size(k, low)
    members, weights = balanced_subsets(k, j)
    share = j / k
    return np.where(members > 0, 1.0, low) * weights / (share + (1 - share) * low)


def write_out(problem: Problem, matrix: FloatArray) -> Formula:
    """Return a channel with its outputs named."""
    return Formula(matrix, name_outputs(problem, matrix.shape[1]))
