"""The least known l2 risk in closed form, the reference for every mechanism."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechdesign._typing import FloatArray


def _risks(k: int, epsilon: Fraction | float) -> FloatArray:
    """Return the risk of subset selection for each size from 1 to k - 1."""
    j, per_rise = np.arange(1.0, max(2, k)), math.exp(-epsilon) / -math.expm1(-epsilon)
    risks: FloatArray = (k - 1) ** 2 / k * (k * per_rise + j) ** 2 / (j * np.maximum(k - j, 1))
    return risks


def best_size(k: int, epsilon: Fraction | float) -> int:
    """Return the size of the sets with the least variance for k inputs, at the uniform prior.

    Examples
    --------
    >>> [best_size(10, Fraction(epsilon)) for epsilon in ("0.5", "1", "2")]
    [4, 3, 1]
    >>> best_size(1000, Fraction(1))
    269
    """
    return 1 + int(np.argmin(_risks(k, epsilon)))


def least_ldp_risk(k: int, epsilon: Fraction) -> float:
    """Return the least l2 risk of k inputs under LDP, at the uniform prior.

    The number of reports times the total variance of the best unbiased linear estimates is at least

        min_j (k - 1)**2 / k * (j e**eps + k - j)**2 / (j (k - j) (e**eps - 1)**2)

    for every channel under LDP, and subset selection attains it.

    Notes
    -----
    Source: Ye and Barg 2018.

    Examples
    --------
    >>> [round(least_ldp_risk(k, Fraction(1)), 5) for k in (3, 4)]
    [5.02675, 8.30622]
    """
    return float(_risks(k, epsilon).min()) if k > 1 else 0.0


def least_block_risk(sizes: list[int], epsilon: Fraction) -> float:
    """Return the least l2 risk under block-structured LDP, at the uniform prior on all blocks.

    M is block diagonal, so the blocks are separate problems: the mean squares of the scores of a
    block of s inputs sum to its least risk plus 1/s, and it gets s/k of the reports.

    Examples
    --------
    >>> round(least_block_risk([4, 4], Fraction(1)), 5)
    8.43122
    """
    k, known = sum(sizes), {s: least_ldp_risk(s, epsilon) for s in set(sizes)}
    return sum(s / k * (known[s] + 1 / s) for s in sizes) - 1 / k


def best_high_low_size(k: int, s: int, epsilon: Fraction) -> int:
    """Return the subset size of least l2 risk for k equally likely inputs.

    Examples
    --------
    >>> best_high_low_size(20, 5, Fraction(1)), best_high_low_size(8, 4, Fraction(1))
    (2, 1)
    """
    return 1 + int(np.argmin(_high_low_risks(k, s, epsilon)))


def least_high_low_risk(k: int, s: int, epsilon: Fraction) -> float:
    """Return the least l2 risk of subset selection for 2 or more sensitive inputs.

    It exceeds the least risk of all channels by at most a few thousandths.

    Examples
    --------
    >>> round(least_high_low_risk(20, 5, Fraction(1)), 4)
    10.9886
    """
    return float(_high_low_risks(k, s, epsilon).min())


def _high_low_risks(k: int, s: int, epsilon: Fraction) -> FloatArray:
    """Return n times the total variance of the estimates at the uniform prior, for each size."""
    a, phi, mu = high_low_terms(np.arange(1.0, s), s, math.exp(-epsilon), 1 / k)
    rest = 1 - s / k
    risks: FloatArray = (s - 1) / a + (rest - 1 / k) / phi + (rest / s + 1 / k) / mu
    return risks


def high_low_terms(j: FloatArray | int, s: int, low: float, p: float) -> FloatArray:
    """Return a, phi and mu P_B of the closed form HighLowSubsetSelection, for sets of j.

    Parameters
    ----------
    j
        The sizes of the sets.
    s, p
        The number of sensitive inputs, and the probability of each.
    low
        e**-epsilon.
    """
    rise = -math.expm1(math.log(low))
    spread, mass = s * low + j * rise, low + j * rise * p
    a = rise**2 * j * (s - j) / (max(1, s - 1) * spread * mass)
    return np.array([a, j * rise / spread, j * rise / (s * mass)])
