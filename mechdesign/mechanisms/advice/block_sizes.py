"""How large to make blocks: the error to expect of block mechanisms, from their exact variances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign.domain import Domain, is_whole, whole_number
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact
from mechdesign.mechanisms.advice.ranking import MOST_REPORTS, advise
from mechdesign.mechanisms.base import inputs_of
from mechdesign.mechanisms.registry import mechanism_for
from mechdesign.notions import BlockLDP
from mechdesign.prior import Prior
from mechdesign.text import Table, Tabular

__all__ = ["BlockAdvice", "BlockOption", "advise_blocks"]

MOST_SIDES = 2
"""How many times as long as the other a side of a block is that is proposed."""


@dataclass(frozen=True)
class BlockOption:
    """One division into blocks, and what to expect of it.

    Attributes
    ----------
    notion
        The blocks, with the budget inside.
    n_blocks, largest
        How many blocks there are, and how many inputs the largest has: among so many an input is
        hidden, and which block it is in is public.
    kind
        The mechanism inside, as :func:`~mechdesign.mechanisms.mechanism_for` takes it: that with
        the shortest reports within 5 % of the least error.
    total_variation
        What to expect between the unbiased estimate and the distribution of the inputs.
    bits_per_report
        The base-2 logarithm of the number of reports.
    """

    notion: BlockLDP
    n_blocks: int
    largest: int
    kind: str
    total_variation: float
    bits_per_report: float

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "block": self.notion.block_shape,
            "blocks": self.n_blocks,
            "largest": self.largest,
            "mechanism": self.kind,
            "total_variation": self.total_variation,
            "bits_per_report": self.bits_per_report,
        }


class BlockAdvice(Tabular):
    """Divisions into blocks, the one with the largest blocks first.

    Attributes
    ----------
    options
        One for each division.
    n
        How many people report.
    """

    def __init__(self, options: Sequence[BlockOption], n: int) -> None:
        self.options = sorted(options, key=lambda each: (-each.largest, each.total_variation))
        self.n = n

    def within(self, total_variation: float) -> BlockOption | None:
        """Return the largest blocks whose expected error is at most this; None if none are."""
        fits = (each for each in self.options if each.total_variation <= total_variation)
        return next(fits, None)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {"reports": self.n, "divisions": [each.to_json() for each in self.options]}

    def _head(self) -> str:
        epsilon = self.options[0].notion.epsilon
        return f"with {self.n} reports, epsilon = {epsilon} inside a block, expect"

    def _table(self) -> Table:
        rows = []
        for each in self.options:
            shape = each.notion.block_shape
            name = f"{shape[0]} x {shape[1]}" if shape else str(each.largest)
            near, bits = f"{each.total_variation:.3g}", f"{each.bits_per_report:.1f}"
            rows.append((name, str(each.n_blocks), near, bits, each.kind))
        return Table(("block", "blocks", "total variation", "bits", "mechanism"), rows, ">>>><")


def advise_blocks(
    domain: Domain | Iterable[Any] | int,
    epsilon: Exact,
    n: int,
    divisions: Iterable[Any] | None = None,
    prior: Prior | None = None,
) -> BlockAdvice:
    r"""Say which error to expect for several sizes of blocks, where the block is public.

    The estimate of an input is a mean over n reports, with the exact variance v_x / n of
    :meth:`~mechdesign.mechanisms.Mechanism.variances`. As a normal variable its mean distance from
    the truth is sqrt(2 v_x / (pi n)), so that the total variation is near

        (1/2) Sum_x sqrt(2 v_x / (pi n)).

    It is of the unbiased estimate, and above 1 where that is mostly noise;
    :meth:`~mechdesign.estimation.Estimate.projected` is nearer to the truth. Whatever the law of
    the estimate is, the expected total variation is at most sqrt(pi / 2) < 1.2534 times this.

    Parameters
    ----------
    domain
        The inputs: for blocks by their size, a grid.
    epsilon
        The budget inside a block in nats, from 1e-6 to 30.
    n
        How many people report.
    divisions
        Each a pair of the rows and columns of a block, or a list of blocks, which are lists of
        labels. Default, on a grid: sizes that divide it, no side more than twice the other, the
        nearest to a square of each number of points, and the grid as a whole, which is LDP.
    prior
        About what the distribution of the inputs is; default uniform.

    Raises
    ------
    InputError
        If a number is out of range, or blocks do not divide the domain.

    Notes
    -----
    Source: Acharya et al. 2020, Section 5, for blocks; Ye and Barg 2018 for the least risk inside.

    Examples
    --------
    >>> advice = advise_blocks(Domain.grid(6, 6), 1, 100_000)
    >>> advice
    with 100000 reports, epsilon = 1 inside a block, expect
    block  blocks  total variation  bits  mechanism
    6 x 6       1           0.0858   5.3  projective-geometry-response
    6 x 3       2            0.061   6.3  projective-geometry-response
    3 x 3       4           0.0408   5.7  projective-geometry-response
    3 x 2       6           0.0312   5.2  projective-geometry-response
    2 x 2       9           0.0221   5.2  randomized-response
    2 x 1      18           0.0127   5.2  randomized-response
    >>> advice.within(0.05).notion
    BlockLDP(epsilon=1, block_rows=3, block_columns=3)
    """
    inputs = inputs_of(domain)
    n = whole_number(n, "n", 1, MOST_REPORTS)
    wanted = _default(inputs) if divisions is None else list(divisions)
    if not wanted:
        raise InputError("divisions", "at least one", "none")
    return BlockAdvice([_option(inputs, _notion(one, epsilon), n, prior) for one in wanted], n)


def _default(domain: Domain) -> list[tuple[int, int]]:
    if domain.grid_shape is None:
        raise InputError("divisions", "a grid as the domain, or lists of blocks", shown(domain))
    rows, columns = domain.grid_shape
    found = [(r, c) for r in _divisors(rows) for c in _divisors(columns)]
    near = [(r, c) for r, c in found if r * c > 1 and max(r, c) <= MOST_SIDES * min(r, c)]
    near.sort(key=lambda sides: max(sides) / min(sides), reverse=True)
    by_size = {r * c: (r, c) for r, c in near}  # the last, which is nearest to a square
    return list({**by_size, rows * columns: (rows, columns)}.values())


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


def _notion(division: Any, epsilon: Exact) -> BlockLDP:
    if isinstance(division, Sequence) and len(division) == 2 and all(map(is_whole, division)):
        return BlockLDP(epsilon, block_rows=division[0], block_columns=division[1])
    return BlockLDP(epsilon, blocks=division)


def _option(domain: Domain, notion: BlockLDP, n: int, prior: Prior | None) -> BlockOption:
    sizes = np.bincount(notion.membership(domain))
    largest = int(sizes.max())
    kind = advise(max(largest, 2), notion.epsilon, n).best.kind
    made = mechanism_for(kind, domain, notion)
    spread = np.sqrt(np.maximum(made.variances(prior), 0)).sum()
    near = math.sqrt(2 / (math.pi * n)) * float(spread) / 2
    return BlockOption(notion, len(sizes), largest, kind, near, made.bits_per_report)
