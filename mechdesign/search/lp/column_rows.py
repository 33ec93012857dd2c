"""The extended formulation of one column, and its multipliers as those of the notions' rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import UnsupportedError
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.rows.cone import Cone, Family, Multipliers
from mechdesign.prior_sets import Weights
from mechdesign.search.lp.extended_formulation import NONE, extended_formulation, stacked

__all__ = ["ColumnRows"]

FEW_PRIORS = 16
"""The largest number of listed priors with an auxiliary variable each."""


class ColumnRows:
    """The rows of the families of a cone on one column and its auxiliary variables.

    Parameters
    ----------
    cone
        The cone of the column.
    sets
        Whether to state long lists, boxes and balls of priors as a whole, which needs variables >=
        0.
    sums
        Constraints on sums of excesses over the outputs, each with the place of its notion. The
        last auxiliary variables are the terms of the sums.

    Attributes
    ----------
    blocks
        The compressed rows of each family.
    equal
        Which rows are equations.

    Raises
    ------
    UnsupportedError
        If a set of priors is not a short list, and ``sets`` is false.
    """

    def __init__(
        self,
        cone: Cone,
        sets: bool = False,
        sums: Sequence[tuple[int, ChannelConstraint]] = (),
    ) -> None:
        self.size = cone.size
        self._notions = [*range(len(cone.families)), *(place for place, _ in sums)]
        self._tables = [*(_listed(family, sets) for family in cone.families), *(() for _ in sums)]
        parts: list[Family | ChannelConstraint] = [*cone.families, *(part for _, part in sums)]
        pairs = zip(parts, self._tables, strict=True)
        self.blocks = [extended_formulation(part, table) for part, table in pairs]
        self.equal: BoolArray = np.concatenate([block.equal for block in self.blocks])

    def __len__(self) -> int:
        return len(self.equal)

    def matrix(self) -> sp.csr_array:
        """Return the rows of all families, ``(n_rows, n_inputs + n_auxiliary)``."""
        return stacked(self.blocks, self.size)

    @cached_property
    def least(self) -> IntArray:
        """``(3, n)``: entries, their least entries t, and rows t <= q, of the first family."""
        auxiliary = row = 0
        for block in self.blocks:
            if block.least.size:
                shift = np.array([[0], [auxiliary], [row]], dtype=np.intp)
                return np.asarray(block.least + shift)
            auxiliary += block.A.shape[1] - self.size
            row += block.A.shape[0]
        return NONE

    def duals(self, weights: FloatArray) -> list[Multipliers]:
        """Return multipliers of the rows, ``(n_rows, n_outputs)``, as those of the notions."""
        ends = np.cumsum([block.A.shape[0] for block in self.blocks])
        found = list[Multipliers]()
        for n, (block, mine) in enumerate(
            zip(self.blocks, np.split(weights, ends[:-1]), strict=True)
        ):
            columns = enumerate(np.ascontiguousarray(mine.T))
            own = [m for y, column in columns for m in block.carry_back(column, y)]
            priors = self._tables[n] or tuple(block.priors)
            found += [replace(m, notion=self._notions[n], priors=priors) for m in own]
        return found


def _listed(family: Family, sets: bool) -> tuple[Weights, ...]:
    """Return the priors of a short list; none for rows on ratios, and for a set as a whole."""
    lifts = family.lift_rows()
    if lifts is None or 0 < len(lifts.priors.members) <= FEW_PRIORS:
        return () if lifts is None else lifts.priors.members
    if not sets:
        expected = "bounds on the lift for a short list of priors"
        raise UnsupportedError("privacy.priors", expected, repr(lifts.priors))
    return ()
