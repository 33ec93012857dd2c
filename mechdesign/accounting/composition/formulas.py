"""Bounds from LIP to LDP and back, and on the LIP of several releases, as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["lip_composition_bound", "lip_to_ldp", "through_ldp"]


def lip_composition_bound(
    budgets: Iterable[float], least: float, most: float | None = None
) -> float:
    """Return the bound on the LIP of n releases: Jiang et al. 2021 (TIFS), Theorem 4.

        ln(P_min + exp(Sum_k min{2 eps_k, ln((e**eps_k - 1 + P_min) / P_min)}) (1 - P_min))

    Parameters
    ----------
    budgets
        The LIP of each release, in nats.
    least
        The smallest probability P_min of the prior, or of any prior of a set.
    most
        For a set of priors, the largest P_min of one of them (Corollary 4); default ``least``.

    Examples
    --------
    >>> round(lip_composition_bound([2.0] * 10, 0.25), 6)
    32.50496
    """
    own = least if most is None else most
    return through_ldp(math.fsum(lip_to_ldp(epsilon, own) for epsilon in budgets), least)


def through_ldp(epsilon: float, least: float) -> float:
    """Return the LIP that epsilon-LDP implies: ln(P_min + e**eps (1 - P_min)).

    Source: Jiang et al. 2021 (TIFS), Theorem 1.

    Examples
    --------
    >>> round(through_ldp(1.0, 0.5), 6)
    0.620115
    """
    if least == 1:
        return 0.0
    # ln(p + e**t (1 - p)) = t + ln(1 - p (1 - e**-t)), which does not overflow
    return epsilon + math.log1p(least * math.expm1(-epsilon))


def lip_to_ldp(epsilon: float, least: float) -> float:
    """Return the LDP that epsilon-LIP implies: min{2 eps, ln((e**eps - 1 + P_min) / P_min)}.

    Source: Jiang et al. 2021 (TIFS), Theorem 1.

    Examples
    --------
    >>> round(lip_to_ldp(2.0, 0.25), 6), lip_to_ldp(2.0, 0.01)
    (3.279264, 4.0)
    """
    if least <= 0 or epsilon > 700:
        return 2 * epsilon
    return min(2 * epsilon, math.log1p(math.expm1(epsilon) / least))
