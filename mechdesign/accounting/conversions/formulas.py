"""Bounds between LIP and LDP, and on the LIP of several releases, rounded up.

With t = e**-epsilon nothing overflows, and rationals avoid cancellation for P_min near 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from mechdesign.accounting.measure.max_ratio import float_above
from mechdesign.exact import Exact, as_fraction, exp_lower, exp_upper, log_upper

ZERO = Fraction(0)


def lip_composition_bound(
    budgets: Iterable[Exact], least: Exact, most: Exact | None = None
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
        For a set of priors, the largest P_min of one of them or of a mixture (Corollary 4);
        default ``least``.

    Raises
    ------
    InputError
        If an argument is not a number.

    Examples
    --------
    >>> round(lip_composition_bound([2.0] * 10, 0.25), 6)
    32.50496
    """
    parts = [lip_to_ldp(epsilon, least if most is None else most) for epsilon in budgets]
    return through_ldp(added(parts), least)


def added(parts: Iterable[float]) -> Fraction | float:
    """Return the exact sum of floats >= 0; inf if a term is.

    Examples
    --------
    >>> added([0.5, 0.25]), added([0.5, math.inf])
    (Fraction(3, 4), inf)
    """
    listed = list(parts)
    return math.inf if math.inf in listed else sum(map(Fraction, listed), ZERO)


def through_ldp(epsilon: Exact, least: Exact) -> float:
    """Return the LIP that epsilon-LDP implies: ln(P_min + e**eps (1 - P_min)).

    Source: Jiang et al. 2021 (TIFS), Theorem 1.

    Examples
    --------
    >>> round(through_ldp(1.0, 0.5), 6)
    0.620115
    """
    p = as_fraction(least, "least")
    if p == 1:
        return 0.0
    if epsilon == math.inf:
        return math.inf
    exponent = as_fraction(epsilon, "epsilon")
    return float_above(exponent + log_upper(1 - p * (1 - exp_upper(-exponent))))


def lip_to_ldp(epsilon: Exact, least: Exact) -> float:
    """Return the LDP that epsilon-LIP implies: min{2 eps, ln((e**eps - 1 + P_min) / P_min)}.

    Source: Jiang et al. 2021 (TIFS), Theorem 1.

    Examples
    --------
    >>> round(lip_to_ldp(2.0, 0.25), 6), lip_to_ldp(2.0, 0.01)
    (3.279264, 4.0)
    """
    if epsilon == math.inf:
        return math.inf
    return min(float_above(2 * as_fraction(epsilon, "epsilon")), posterior_ratio(epsilon, least))


def posterior_ratio(epsilon: Exact, least: Exact) -> float:
    """Return ln((e**eps - 1 + P_min) / P_min), the second bound in :func:`lip_to_ldp`.

    Examples
    --------
    >>> posterior_ratio(0, 0.25), posterior_ratio(1, 0)
    (0.0, inf)
    """
    p = as_fraction(least, "least")
    if p == 0 or epsilon == math.inf:
        return math.inf
    exponent = as_fraction(epsilon, "epsilon")
    return float_above(exponent + log_upper((1 - (1 - p) * exp_lower(-exponent)) / p))
