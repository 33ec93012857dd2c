"""Block schemes by the mechanism inside each block."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import Mechanism, informative, inputs_of
from mechdesign.mechanisms.codes.projective_geometry import ProjectiveGeometryResponse
from mechdesign.mechanisms.composite.by_component import ByComponent
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from mechdesign.mechanisms.subsets.subset_selection import SubsetSelection
from mechdesign.notions import BlockLDP

__all__ = [
    "block_hadamard",
    "block_projective_geometry",
    "block_randomized_response",
    "block_subset_selection",
    "same_in_every_block",
]


def same_in_every_block(
    inputs: Domain | Iterable[Any] | int,
    notion: BlockLDP,
    make: Callable[[int], Mechanism],
) -> ByComponent:
    """Return the mixture with ``make(size)`` in every block of two inputs or more."""
    domain = inputs_of(inputs)
    informative(notion, BlockLDP)
    sizes = np.bincount(notion.membership(domain)).tolist()
    made = {size: make(size) if size > 1 else None for size in set(sizes)}
    return ByComponent(domain, notion, [made[size] for size in sizes])


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
    return same_in_every_block(inputs, notion, lambda size: HadamardResponse(size, epsilon, copies))


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
    return same_in_every_block(
        inputs, notion, lambda size: ProjectiveGeometryResponse(size, epsilon)
    )


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
    return same_in_every_block(
        inputs, notion, lambda size: GeneralizedRandomizedResponse(size, epsilon)
    )


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
    return same_in_every_block(inputs, notion, lambda size: SubsetSelection(size, epsilon))
