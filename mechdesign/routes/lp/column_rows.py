"""The extended formulation of one column, and its multipliers as those of the notions' rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.errors import UnsupportedError
from mechdesign.notions.rows.cone import Cone, Family, Multipliers
from mechdesign.prior_sets import Weights
from mechdesign.routes.base import FamilyDual
from mechdesign.routes.lp.extended_formulation import extended_formulation, stacked
from mechdesign.routes.lp.linear_program import few_listed

__all__ = ["ColumnRows"]


class ColumnRows:
    """The rows of the families of a cone on one column and its auxiliary variables.

    Parameters
    ----------
    cone
        Where the column lies.
    tables
        For each family the priors whose lift rows are stated, none for all of a box or a ball;
        default those of its short list.

    Attributes
    ----------
    blocks
        The compressed rows of each family.
    equal
        Which of all rows are equations.

    Raises
    ------
    UnsupportedError
        If there are no tables, and a set of priors is not a short list.
    """

    def __init__(self, cone: Cone, tables: Sequence[tuple[Weights, ...]] | None = None) -> None:
        self.size = cone.size
        self.tables = [_listed(f) for f in cone.families] if tables is None else list(tables)
        pairs = zip(cone.families, self.tables, strict=True)
        self.blocks = [extended_formulation(family, table) for family, table in pairs]
        self.equal: BoolArray = np.concatenate([block.equal for block in self.blocks])

    def __len__(self) -> int:
        return len(self.equal)

    def matrix(self) -> sp.csr_array:
        """Return the rows of all families, ``(n_rows, n_inputs + n_auxiliary)``."""
        return stacked(self.blocks, self.size)

    def duals(self, weights: FloatArray) -> list[FamilyDual]:
        """Return multipliers of the rows, ``(n_rows, n_outputs)``, as those of the notions."""
        ends = np.cumsum([block.A.shape[0] for block in self.blocks])
        found = []
        for n, (block, mine) in enumerate(
            zip(self.blocks, np.split(weights, ends[:-1]), strict=True)
        ):
            multipliers: list[Multipliers] = []
            for y, column in enumerate(np.ascontiguousarray(mine.T)):
                multipliers += block.carry_back(column, y)
            found.append(FamilyDual(n, tuple(multipliers), self.tables[n] or tuple(block.priors)))
        return found


def _listed(family: Family) -> tuple[Weights, ...]:
    """Return the priors that rows on lifts are stated for, none for rows on ratios."""
    lifts = family.lift_rows()
    if lifts is None:
        return ()
    members = few_listed(lifts)
    if not members:
        expected = "bounds on the lift for a short list of priors"
        raise UnsupportedError("privacy.priors", expected, repr(lifts.priors))
    return members
