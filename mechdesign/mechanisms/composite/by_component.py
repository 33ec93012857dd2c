"""Mechanisms for block-structured LDP: the block is public, with a mechanism inside each block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.mechanisms.base import Mechanism, informative, inputs_of
from mechdesign.mechanisms.composite.identity import IdentityMechanism
from mechdesign.mechanisms.composite.parted import PartedMechanism, component_table
from mechdesign.mechanisms.composite.tagged_reports import TaggedReports
from mechdesign.mechanisms.optimum import least_block_risk
from mechdesign.notions import BlockLDP
from mechdesign.sampling import Source


class ByComponent(PartedMechanism):
    """Report the block of the input in clear, and a report of the mechanism of that block.

        Q[x, (b, y)] = Q_b[x, y] if x is in block b, else 0

    So E[s_x(Y) | X = z] = 1{z = x} for every z, inside or outside the block. For Hadamard response
    this is the published estimator 2 (e**eps + 1)/(e**eps - 1) (h(S_x) - h(block)/2).

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    notion
        The blocks and the budget. Blocks, and the inputs inside each, are numbered from 0 in the
        order of the domain.
    parts
        One mechanism for each block, on the inputs 0, 1, ..., size - 1, each within the budget;
        None for a block of one input.

    Raises
    ------
    InputError
        If a part does not match its block, or exceeds the budget.

    Notes
    -----
    Source: Acharya et al. 2020, Section 5, for Hadamard response in every block.

    Examples
    --------
    >>> from mechdesign.mechanisms import GeneralizedRandomizedResponse
    >>> rooms = BlockLDP(1, blocks=[["a", "b", "c"], ["d"]])
    >>> inside = [GeneralizedRandomizedResponse(3, 1), None]
    >>> mixed = ByComponent(["a", "b", "c", "d"], rooms, inside)
    >>> mixed.outputs()
    [(0, 0), (0, 1), (0, 2), (1, 0)]
    >>> mixed.privatize(["d", "d"], rng=1).texts()
    ['1:0', '1:0']
    """

    name = "by-component"
    source = "Acharya et al. 2020, Section 5"
    _notion: BlockLDP

    alphabet: TaggedReports
    """Pairs (block, report), written ``block:report``."""

    def __init__(
        self,
        inputs: Domain | Iterable[Any] | int,
        notion: BlockLDP,
        parts: Sequence[Mechanism | None],
    ) -> None:
        self.inputs = inputs_of(inputs)
        self._notion = informative(notion, BlockLDP)
        member = notion.membership(self.inputs).astype(np.int64)
        n_blocks = int(member.max()) + 1
        if len(parts) != n_blocks:
            expected = f"{n_blocks} mechanisms, one for each block"
            raise InputError("parts", expected, len(parts))
        alone = IdentityMechanism(1)
        kinds, kind_of = _distinct([alone if part is None else part for part in parts])
        self._arrange(member, kinds, kind_of, "parts[{}]")
        self.alphabet = TaggedReports(kinds, kind_of, range(n_blocks))

    @property
    def parts(self) -> list[Mechanism]:
        """The mechanism of each block."""
        return [self.alphabet.kinds[kind] for kind in self.alphabet.kind_of.tolist()]

    def parameters(self) -> dict[str, Any]:
        """Return the distinct mechanisms, and the index of that of each block."""
        return {
            "parts": [component_table(kind) for kind in self.alphabet.kinds],
            "part_of_block": self.alphabet.kind_of.tolist(),
        }

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports, as an array of ``tagged_reports.TaggedReports``."""
        rank = self._rank[codes]
        return self.alphabet.build(
            self._member[codes], lambda kind, places: kind.draw(rank[places], source.of(places))
        )

    @property
    def least_known_risk(self) -> float:
        """The risk of subset selection inside each block, the least of all channels."""
        return least_block_risk(np.bincount(self._member).tolist(), self._notion.epsilon)

    def largest_ratio(self) -> Fraction:
        """Return the largest ratio inside a block."""
        return max(kind.largest_ratio() for kind in self.alphabet.kinds)


def by_block(
    make: Callable[..., Mechanism],
    inputs: Domain | Iterable[Any] | int,
    notion: BlockLDP,
    **options: Any,
) -> ByComponent:
    """Return ``make(size, epsilon, **options)`` in every block of at least two inputs.

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
    >>> from mechdesign.mechanisms import SubsetSelection
    >>> by_block(SubsetSelection, 6, BlockLDP(1, [[0, 1, 2], [3, 4, 5]]), size=1).n_outputs
    6
    """
    domain = inputs_of(inputs)
    informative(notion, BlockLDP)
    sizes = np.bincount(notion.membership(domain)).tolist()
    made = {n: make(n, notion.epsilon, **options) if n > 1 else None for n in set(sizes)}
    return ByComponent(domain, notion, [made[size] for size in sizes])


def _distinct(parts: Sequence[Mechanism]) -> tuple[list[Mechanism], list[int]]:
    """Return the distinct mechanisms, and the index of that of each part."""
    place: dict[Mechanism, int] = {}
    objects = {id(part): part for part in parts}  # few: equal ones are mostly the same object
    number = {key: place.setdefault(part, len(place)) for key, part in objects.items()}
    return list(place), [number[id(part)] for part in parts]
