"""Two combinators, and schemes made with them: inside every block, and for the sensitive inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import Mechanism, informative, inputs_of
from mechdesign.mechanisms.codes.projective_geometry import ProjectiveGeometryResponse
from mechdesign.mechanisms.composite.by_component import ByComponent
from mechdesign.mechanisms.composite.high_low import HighLow, split_by_sensitivity
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.optimum import best_high_low_size
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from mechdesign.mechanisms.subsets.subset_selection import SubsetSelection
from mechdesign.notions import BlockLDP, HighLowLDP

__all__ = [
    "around_sensitive",
    "block_hadamard",
    "block_projective_geometry",
    "block_randomized_response",
    "block_subset_selection",
    "by_block",
    "high_low_hadamard",
    "high_low_projective_geometry",
    "high_low_randomized_response",
    "high_low_subset_selection",
]


def by_block(
    make: Callable[..., Mechanism],
    inputs: Domain | Iterable[Any] | int,
    notion: BlockLDP,
    **options: Any,
) -> ByComponent:
    """Return ``make(size, epsilon, **options)`` in every block of two inputs or more.

    Parameters
    ----------
    make
        A mechanism under LDP, such as :class:`~mechdesign.mechanisms.SubsetSelection`.
    inputs
        A :class:`Domain`, its labels, or its size.
    notion
        The blocks and the budget.
    options
        Further arguments of the mechanism.

    Examples
    --------
    >>> by_block(SubsetSelection, 6, BlockLDP(1, [[0, 1, 2], [3, 4, 5]]), size=1).n_outputs
    6
    """
    domain = inputs_of(inputs)
    informative(notion, BlockLDP)
    sizes = np.bincount(notion.membership(domain)).tolist()
    made = {n: make(n, notion.epsilon, **options) if n > 1 else None for n in set(sizes)}
    return ByComponent(domain, notion, [made[size] for size in sizes])


def around_sensitive(
    make: Callable[..., Mechanism],
    inputs: Domain | Iterable[Any] | int,
    notion: HighLowLDP,
    **options: Any,
) -> HighLow:
    """Return ``make(s, epsilon, **options)`` for the s sensitive inputs; for one, Mangat's design.

    The size of a subset, unless it is given, is the best where all inputs are equally likely.

    Parameters
    ----------
    make, inputs, options
        As for :func:`by_block`.
    notion
        The sensitive inputs and the budget.

    Examples
    --------
    >>> around_sensitive(HadamardResponse, 20, HighLowLDP(1, range(5))).n_outputs
    23
    """
    domain = inputs_of(inputs)
    epsilon = informative(notion, HighLowLDP).epsilon
    size = len(split_by_sensitivity(domain, notion)[0])
    if make is SubsetSelection and size > 1 and options.get("size") is None:
        options = {"size": best_high_low_size(len(domain), size, epsilon)}
    return HighLow(domain, notion, make(size, epsilon, **options) if size > 1 else None)


def block_hadamard(
    inputs: Domain | Iterable[Any] | int,
    epsilon: Exact,
    blocks: Iterable[Iterable[Any]] | None = None,
    block_rows: int | None = None,
    block_columns: int | None = None,
    copies: int | None = None,
) -> ByComponent:
    """Return Hadamard response inside every block.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size.
    epsilon, blocks, block_rows, block_columns
        As for :class:`~mechdesign.BlockLDP`.
    copies
        As for :class:`~mechdesign.mechanisms.HadamardResponse`; 1 is the published scheme.

    Notes
    -----
    Source: Acharya et al. 2020, Section 5.

    Examples
    --------
    >>> rooms = block_hadamard(Domain.grid(125, 350), 1, block_rows=5, block_columns=7)
    >>> rooms.n_outputs // 64  # blocks of 35 inputs, with 64 reports each
    1250
    """
    notion = BlockLDP(epsilon, blocks, block_rows, block_columns)
    return by_block(HadamardResponse, inputs, notion, copies=copies)


def block_projective_geometry(
    inputs: Domain | Iterable[Any] | int,
    epsilon: Exact,
    blocks: Iterable[Iterable[Any]] | None = None,
    block_rows: int | None = None,
    block_columns: int | None = None,
) -> ByComponent:
    """Return projective geometry response inside every block.

    Parameters are as in :func:`block_hadamard`. Its error is nearly that of subset selection, and
    its reports are short.
    """
    notion = BlockLDP(epsilon, blocks, block_rows, block_columns)
    return by_block(ProjectiveGeometryResponse, inputs, notion)


def block_randomized_response(
    inputs: Domain | Iterable[Any] | int,
    epsilon: Exact,
    blocks: Iterable[Iterable[Any]] | None = None,
    block_rows: int | None = None,
    block_columns: int | None = None,
) -> ByComponent:
    """Return randomized response inside every block; parameters as in :func:`block_hadamard`.

    It is best where blocks are small beside e**epsilon.
    """
    notion = BlockLDP(epsilon, blocks, block_rows, block_columns)
    return by_block(GeneralizedRandomizedResponse, inputs, notion)


def block_subset_selection(
    inputs: Domain | Iterable[Any] | int,
    epsilon: Exact,
    blocks: Iterable[Iterable[Any]] | None = None,
    block_rows: int | None = None,
    block_columns: int | None = None,
) -> ByComponent:
    """Return subset selection inside every block; parameters as in :func:`block_hadamard`.

    The size of the subset goes by the size of the block. Its error is less than that of Hadamard
    response, and a report takes more bits: as many as the block has inputs, nearly.
    """
    notion = BlockLDP(epsilon, blocks, block_rows, block_columns)
    return by_block(SubsetSelection, inputs, notion)


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
    return around_sensitive(HadamardResponse, inputs, notion, copies=copies)


def high_low_projective_geometry(
    inputs: Domain | Iterable[Any] | int, epsilon: Exact, sensitive: Iterable[Any]
) -> HighLow:
    """Return projective geometry response for the sensitive inputs; see :func:`high_low_hadamard`.

    Its error is nearly that of subset selection where they are many, and its reports are short.
    """
    notion = HighLowLDP(epsilon, sensitive)
    return around_sensitive(ProjectiveGeometryResponse, inputs, notion)


def high_low_randomized_response(
    inputs: Domain | Iterable[Any] | int, epsilon: Exact, sensitive: Iterable[Any]
) -> HighLow:
    """Return randomized response for the sensitive inputs; see :func:`high_low_hadamard`.

    It is best where e**epsilon is large beside the number of sensitive inputs.
    """
    notion = HighLowLDP(epsilon, sensitive)
    return around_sensitive(GeneralizedRandomizedResponse, inputs, notion)


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
    notion = HighLowLDP(epsilon, sensitive)
    return around_sensitive(SubsetSelection, inputs, notion, size=size)
