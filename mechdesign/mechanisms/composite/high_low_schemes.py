"""High-low schemes by the mechanism of the sensitive inputs, with the best subset size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import Mechanism, informative, inputs_of
from mechdesign.mechanisms.codes.projective_geometry import ProjectiveGeometryResponse
from mechdesign.mechanisms.composite.high_low import HighLow, split_by_sensitivity
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.optimum import best_high_low_size
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from mechdesign.mechanisms.subsets.subset_selection import SubsetSelection
from mechdesign.notions import HighLowLDP

__all__ = [
    "high_low_hadamard",
    "high_low_projective_geometry",
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
    inputs: Domain | Iterable[Any] | int,
    epsilon: Exact,
    sensitive: Iterable[Any],
    copies: int | None = None,
) -> HighLow:
    """Return Hadamard response for the sensitive inputs.

    With one copy of the Hadamard matrix it is the published high-low scheme, where an input that is
    not sensitive joins them with probability w = 2 / (e**epsilon + 1).

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size.
    epsilon, sensitive
        As for :class:`~mechdesign.HighLowLDP`.
    copies
        As for :class:`~mechdesign.mechanisms.HadamardResponse`; 1 is the published scheme.

    Notes
    -----
    Source: Acharya et al. 2020, Section 4.

    Examples
    --------
    >>> high_low_hadamard(20, 1, range(5)).n_outputs  # 8 reports and 15 labels
    23
    """
    notion = HighLowLDP(epsilon, sensitive)
    return high_low_with(inputs, notion, lambda size: HadamardResponse(size, epsilon, copies))


def high_low_projective_geometry(
    inputs: Domain | Iterable[Any] | int, epsilon: Exact, sensitive: Iterable[Any]
) -> HighLow:
    """Return projective geometry response for the sensitive inputs; see :func:`high_low_hadamard`.

    Its error is nearly that of subset selection where they are many, and its reports are short.
    """
    notion = HighLowLDP(epsilon, sensitive)
    return high_low_with(inputs, notion, lambda size: ProjectiveGeometryResponse(size, epsilon))


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
