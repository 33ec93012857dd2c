"""High-low schemes by the mechanism of the sensitive inputs, with the best subset size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import Mechanism, informative, inputs_of
from mechdesign.mechanisms.composite.high_low import HighLow, split_by_sensitivity
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from mechdesign.mechanisms.subsets.subset_selection import SubsetSelection
from mechdesign.notions import HighLowLDP

__all__ = [
    "best_high_low_size",
    "high_low_hadamard",
    "high_low_randomized_response",
    "high_low_subset_selection",
    "high_low_with",
]


def high_low_with(
    inputs: Domain | Iterable[Any] | int, notion: HighLowLDP, make: Callable[[int], Mechanism]
) -> HighLow:
    """Return the scheme with ``make(s)`` for the s sensitive inputs; for one, Mangat's."""
    domain = inputs_of(inputs)
    informative(notion, HighLowLDP)
    size = len(split_by_sensitivity(domain, notion)[0])
    return HighLow(domain, notion, make(size) if size > 1 else None)


def high_low_hadamard(
    inputs: Domain | Iterable[Any] | int, epsilon: Exact, sensitive: Iterable[Any]
) -> HighLow:
    """Return the published high-low scheme: Hadamard response for the sensitive inputs.

    An input that is not sensitive joins them with probability w = 2 / (e**epsilon + 1).

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size.
    epsilon, sensitive
        As for :class:`~mechdesign.HighLowLDP`.

    Notes
    -----
    Source: Acharya et al. 2020, Section 4.

    Examples
    --------
    >>> high_low_hadamard(20, 1, range(5)).n_outputs  # 8 reports and 15 labels
    23
    """
    notion = HighLowLDP(epsilon, sensitive)
    return high_low_with(inputs, notion, lambda size: HadamardResponse(size, epsilon))


def high_low_randomized_response(
    inputs: Domain | Iterable[Any] | int, epsilon: Exact, sensitive: Iterable[Any]
) -> HighLow:
    """Return randomized response for the sensitive inputs; see :func:`high_low_hadamard`.

    It is best where e**epsilon is large beside the number of sensitive inputs.
    """
    notion = HighLowLDP(epsilon, sensitive)
    return high_low_with(inputs, notion, lambda size: GeneralizedRandomizedResponse(size, epsilon))


def high_low_subset_selection(
    inputs: Domain | Iterable[Any] | int,
    epsilon: Exact,
    sensitive: Iterable[Any],
    size: int | None = None,
) -> HighLow:
    """Return subset selection for the sensitive inputs: less error, and more bits a report.

    An input that is not sensitive joins them with probability
    w = 1 / ((j/s) (e**epsilon - 1) + 1).

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size.
    epsilon, sensitive
        As for :class:`~mechdesign.HighLowLDP`.
    size
        j, from 1 to s - 1; default, the best for the l2 risk where all inputs are equally likely.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> scheme = high_low_subset_selection(20, 1, range(5))
    >>> scheme.inner.parameters()["size"], round(scheme.parameters()["uniform"] / 2**62, 4)
    (2, 0.5927)
    """
    domain, notion = inputs_of(inputs), HighLowLDP(epsilon, sensitive)

    def make(s: int) -> SubsetSelection:
        j = best_high_low_size(len(domain), s, notion.epsilon) if size is None else size
        return SubsetSelection(s, epsilon, j)

    return high_low_with(domain, notion, make)


def best_high_low_size(k: int, s: int, epsilon: Fraction) -> int:
    """Return the subset size with the least l2 risk where all k inputs are equally likely.

    Examples
    --------
    >>> best_high_low_size(20, 5, Fraction(1)), best_high_low_size(8, 4, Fraction(1))
    (2, 1)
    """
    return min(range(1, s), key=lambda j: _risk(k, s, j, math.exp(epsilon)))


def _risk(k: int, s: int, j: int, odds: float) -> float:
    """Return n times the total variance of the estimates at the uniform prior.

    A sensitive input is in its own report with probability p, in that of another with q, in a
    uniform one with j/s; the score of an input is (1{in} - q) / (p - q).
    """
    spread = j * odds + s - j
    p = j * odds / spread
    q = (j - p) / (s - 1)
    w = s / spread
    hit, miss, away = (1 - q) / (p - q), -q / (p - q), -w / (1 - w) / s

    def square(chance: float) -> float:
        return chance * hit**2 + (1 - chance) * miss**2

    sensitive = square(p) + (s - 1) * square(q)
    sensitive += (k - s) * (w * square(j / s) + (1 - w) * away**2)
    return (s * sensitive + (k - s) / (1 - w) - 1) / k
