"""One private column with P . r = 1, kept hot: a linear program solved again at other costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign.notions.cone import Cone, Multipliers
from mechdesign.notions.lift_rows import LiftRows
from mechdesign.prior_sets import Weights
from mechdesign.routes.base import FamilyDual
from mechdesign.routes.compress import Compressed, compress, stacked
from mechdesign.routes.highs import HotProgram, LinearProgram, LPResult

__all__ = ["HotColumn"]

FloatArray = npt.NDArray[np.float64]


class HotColumn:
    """The program over one column and the helpers of its rows.

    Parameters
    ----------
    cone
        Where the column lies.
    prior
        ``(n_inputs,)``: P in P . r = 1.
    tables
        For each family the priors whose lift rows are stated; default all vertices of its set.
    """

    def __init__(
        self, cone: Cone, prior: FloatArray, tables: Sequence[tuple[Weights, ...]] | None = None
    ) -> None:
        if tables is None:
            lifts = (isinstance(family, LiftRows) and family for family in cone.families)
            tables = [family.priors.vertices() if family else () for family in lifts]
        self.size, self.tables = len(prior), tables
        self.blocks: list[Compressed] = [
            compress(family, table) for family, table in zip(cone.families, tables, strict=True)
        ]
        rows = stacked(self.blocks, self.size)
        self._helpers = np.zeros(rows.shape[1] - self.size)
        law = sp.csr_array(np.concatenate([prior, self._helpers])[None, :])
        A = sp.csr_array(sp.vstack([rows, law], format="csr"))
        equal = np.concatenate([*(block.equal for block in self.blocks), [True]])
        low, high = np.where(equal, 0.0, -np.inf), np.zeros(A.shape[0])
        low[-1] = high[-1] = 1.0
        empty = LinearProgram(np.zeros(rows.shape[1]), A, low, high)
        self._program = HotProgram(empty, "simplex")

    def cheapest(self, cost: FloatArray) -> tuple[FloatArray, LPResult]:
        """Return the column of least cost, and the whole answer of the program."""
        found = self._program.solve(np.concatenate([cost, self._helpers]))
        return found.primal[: self.size], found

    def families(self, weights: list[FloatArray], scale: float) -> tuple[FamilyDual, ...]:
        """Return weights on the rows, an array for each output, as multipliers of the notions."""
        found: list[FamilyDual] = []
        row = 0
        for n, block in enumerate(self.blocks):
            last = row + block.A.shape[0]
            multipliers: list[Multipliers] = []
            for output, weight in enumerate(weights):
                multipliers += block.carry_back(scale * weight[row:last], output)
            found.append(FamilyDual(n, tuple(multipliers), self.tables[n]))
            row = last
        return tuple(found)
