"""Certified optima, as the experiments need them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from mechdesign import LDP, LIP, PosteriorMeanSquaredError, Prior, Problem, Solution, design
from mechdesign.errors import CertificateError
from mechdesign.notions import Notion
from mechdesign.utilities import Utility

GAP = 1e-5
"""A larger gap between value and bound is refused."""

SURVEY = PosteriorMeanSquaredError(values=[0, 1])


def best(
    inputs: Sequence[float] | range,
    notion: Notion,
    utility: Utility,
    prior: Prior,
    *,
    gap: float | None = None,
) -> Solution:
    """Return the best channel, to the last digits or to a gap that is small enough.

    Raises
    ------
    CertificateError
        If value and bound are further apart than GAP.
    """
    problem = Problem(inputs, notion, utility, prior=prior)
    found = design(problem, gap=gap)
    if found.gap > GAP:
        raise CertificateError(f"{problem}: value and bound are {found.gap:.1e} apart")
    return found


@cache
def bit(notion: Notion, prior: Prior) -> float:
    """Return the least error of the estimate of a bit, Pr(X = 1) = prior[1]."""
    return max(float(best([0, 1], notion, SURVEY, prior).value), 0.0)


def lip_bit(prior: Prior, epsilon: float) -> float:
    """Return the least error under LIP."""
    return bit(LIP(epsilon), prior)


def ldp_bit(prior: Prior, epsilon: float) -> float:
    """Return the least error under LDP."""
    return bit(LDP(epsilon), prior)
