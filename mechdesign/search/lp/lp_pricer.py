"""Pricing for any cone: a warm-started linear program over one column, for repeated costs.

Only costs change between programs, so the simplex method starts at the previous optimum, which
stays feasible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray
from mechdesign.notions import Cone
from mechdesign.notions.rows.row import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.cones.forms import closure
from mechdesign.search.cones.pricing import PricedColumns, Pricer
from mechdesign.search.cones.proofs import weighted_costs
from mechdesign.search.highs import UNIT, LPModel, LPResult, WarmStartedLP
from mechdesign.search.limits import Limits
from mechdesign.search.lp.extended_formulation import extended_formulation

RAREST = 1e-9
"""The least weight of an input, as a share of the largest, to which its variable is scaled."""


class LPPricer(Pricer):
    """The linear program over one column r and the auxiliary variables of its rows.

    Its variables are w_x r_x, and its costs are scaled to a largest entry of 1: the tolerances of
    HiGHS are absolute, and would ignore the inputs that rarely occur.

    Parameters
    ----------
    cone
        The cone of the column.
    weight
        ``(n_inputs,)``: w in w . r = 1; default ones.
    limits
        Limits of a long search, which then raises SolverError; None where checking would dominate.
    at_most
        Whether w . r <= 1 instead: then no multiplier is positive where no cost is negative.
    unit
        The scale of the program for HiGHS.
    """

    route = "one linear program for each output, HiGHS"

    def __init__(
        self,
        cone: Cone,
        weight: FloatArray | None = None,
        limits: Limits | None = None,
        *,
        at_most: bool = False,
        unit: float = UNIT,
    ) -> None:
        self.weight = np.ones(cone.size) if weight is None else weight
        self.size, self.rows, self._cone = cone.size, extended_formulation(cone, True), cone
        self._free = np.zeros(self.rows.A.shape[1] - cone.size)
        output = np.append(self.weight, self._free)
        top = float(self.weight.max())
        scale = np.where(self.weight > 0, top / np.maximum(self.weight, RAREST * top), 1.0)
        self._scale = np.append(scale, self._free + 1)
        whole = sp.vstack([self.rows.A, sp.csr_array(output[None])], format="csr")
        A = sp.csr_array(whole @ sp.diags_array(self._scale))
        low = np.append(np.where(self.rows.equal, 0.0, -np.inf), -np.inf if at_most else 1.0)
        high = np.append(np.zeros(len(self.rows)), 1.0)
        model = LPModel(0 * output, A, low, high)
        self._program = WarmStartedLP(model, "simplex", limits, unit)

    def solve(self, cost: FloatArray) -> LPResult:
        """Return the column of least cost, with the dual variables of the rows."""
        scaled = np.append(cost, self._free) * self._scale
        unit = float(np.abs(scaled).max()) or 1.0
        return self._column(self._program.solve(scaled / unit), unit)

    def _column(self, found: LPResult, unit: float = 1.0) -> LPResult:
        """Return the answer for the column in the units of its entries."""
        k, scale = self.size, self._scale[: self.size]
        column = np.maximum(scale * found.primal[:k], 0.0)
        return LPResult(column, unit / scale * found.reduced[:k], unit * found.dual)

    def within(self, cost: FloatArray, low: FloatArray, high: FloatArray) -> LPResult | None:
        """Return the same for a column between two others; None if there is none."""
        scaled = np.append(cost, self._free) * self._scale
        ends = np.append(low, self._free), np.append(high, self._free + np.inf)
        found = self._program.within(scaled, *(end / self._scale for end in ends))
        return None if found is None else self._column(found)

    def start(self) -> FloatArray:
        """Return the rays on which one input is largest, by a program for each input."""
        if self._cone.is_by_ratios:
            return np.asarray(np.exp(-closure(self._cone.lengths())).T)
        found = [self.solve(-unit).primal for unit in np.eye(self.size)]
        return np.column_stack([ray / ray.sum() for ray in found])

    def price(self, v: FloatArray, expired: Callable[[], bool] | None = None) -> PricedColumns:
        """Solve a program for each column of v; a reduced cost of -inf where time is over."""
        m = v.shape[1]
        rays, multipliers = np.zeros_like(v), np.zeros((len(self.rows), m))
        reduced: FloatArray = np.full(m, -np.inf)
        for y in range(m):
            if expired is not None and expired():
                break
            found = self.solve(v[:, y])
            rays[:, y] = found.primal
            multipliers[:, y] = np.maximum(-found.dual[:-1], 0.0)
            total = self.weight @ rays[:, y]
            reduced[y] = v[:, y] @ rays[:, y] / total if total > 0 else np.inf
        return PricedColumns(reduced, rays, multipliers)

    def duals(self, multipliers: FloatArray, unit: float = 1.0) -> list[Multipliers]:
        """Return multipliers of the rows, ``(n_rows, m)``, as those of the notions."""
        return self.rows.duals(unit * multipliers)


def row_multipliers(
    problem: Problem,
    potentials: FloatArray,
    weights: FloatArray | None,
    outputs: Sequence[int],
) -> list[Multipliers]:
    """Return multipliers of rows that show the prices to be feasible, at some outputs.

    They are the dual variables of the least reduced cost of a private column. They count the given
    outputs from 0.
    """
    reduced = weighted_costs(problem, weights)[:, outputs] - potentials[:, None]
    pricer = LPPricer(problem.cone, np.full(len(reduced), 1 / len(reduced)))
    return pricer.duals(pricer.price(reduced).multipliers)
