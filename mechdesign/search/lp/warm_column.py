"""The warm-started pricing LP: one private column with P . r = 1, for repeated costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.row import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.cones.pricing import PricedColumns
from mechdesign.search.cones.proofs import weighted_costs
from mechdesign.search.highs import Basis, LPModel, LPResult, WarmStartedLP
from mechdesign.search.limits import Limits
from mechdesign.search.lp.extended_formulation import extended_formulation

__all__ = ["WarmColumn", "row_multipliers"]

RAREST = 1e-9
"""The least weight of an input, as a share of the largest, to which its variable is scaled."""


class WarmColumn:
    """The linear program over one column r and the auxiliary variables of its rows.

    Its variables are P_x r_x, and its costs are scaled to a largest entry of 1: the tolerances of
    HiGHS are absolute, and would ignore the inputs that rarely occur.

    Parameters
    ----------
    cone
        The cone of the column.
    prior
        ``(n_inputs,)``: P in P . r = 1.
    limits
        Limits of a long search, which then raises SolverError; None where checking would dominate.
    at_most
        Whether P . r <= 1 instead: then no multiplier is positive where no cost is negative.
    """

    def __init__(
        self,
        cone: Cone,
        prior: FloatArray,
        limits: Limits | None = None,
        *,
        at_most: bool = False,
    ) -> None:
        self.size, self.rows, self._prior = len(prior), extended_formulation(cone, True), prior
        rows = self.rows.A
        self._no_cost = np.zeros(rows.shape[1] - self.size)
        output = sp.csr_array(np.concatenate([prior, self._no_cost])[None, :])
        top = float(prior.max())
        self._scale = np.where(prior > 0, top / np.maximum(prior, RAREST * top), 1.0)
        unscale = sp.diags_array(np.concatenate([self._scale, np.ones(len(self._no_cost))]))
        A = sp.csr_array(sp.vstack([rows, output], format="csr") @ unscale)
        low = np.append(np.where(self.rows.equal, 0.0, -np.inf), -np.inf if at_most else 1.0)
        high = np.append(np.zeros(len(self.rows)), 1.0)
        self._empty = LPModel(np.zeros(rows.shape[1]), A, low, high)
        self._program = WarmStartedLP(self._empty, "simplex", limits)

    def copy(self) -> WarmColumn:
        """Return the same program in another solver instance, for another thread."""
        twin = copy(self)
        twin._program = WarmStartedLP(self._empty, "simplex")
        return twin

    @property
    def basis(self) -> Basis:
        """The basis of the last optimum."""
        return self._program.basis

    def start_at(self, basis: Basis | None) -> None:
        """Start the next search at a basis, or without one, independent of previous solves."""
        self._program.start_at(basis)

    def cheapest(self, cost: FloatArray) -> LPResult:
        """Return the column of least cost, with the dual variables of the rows."""
        scaled = cost * self._scale
        unit = float(np.abs(scaled).max()) or 1.0
        found = self._program.solve(np.concatenate([scaled / unit, self._no_cost]))
        primal, reduced = found.primal[: self.size], found.reduced[: self.size]
        column = np.maximum(self._scale * primal, 0.0)
        return LPResult(column, unit / self._scale * reduced, unit * found.dual)

    def price(self, v: FloatArray, expired: Callable[[], bool] | None = None) -> PricedColumns:
        """Solve a program for each column of v; a reduced cost of -inf where time is over."""
        rays, multipliers = np.zeros_like(v), np.zeros((len(self.rows), v.shape[1]))
        reduced = np.full(v.shape[1], -np.inf)
        for y, cost in enumerate(v.T):
            if expired is not None and expired():
                break
            answer = self.cheapest(cost)
            rays[:, y] = answer.primal
            multipliers[:, y] = np.maximum(-answer.dual[:-1], 0.0)
            total = self._prior @ rays[:, y]
            reduced[y] = cost @ rays[:, y] / total if total > 0 else np.inf
        return PricedColumns(reduced, rays, multipliers)

    def families(self, weights: list[FloatArray], scale: float) -> list[Multipliers]:
        """Return multipliers of the rows, an array for each output, as those of the notions."""
        n = len(self.rows)  # the last row of the program is P . r = 1
        mine = np.array([own[:n] for own in weights]).reshape(len(weights), n)
        return self.rows.duals(scale * mine.T)


def row_multipliers(
    problem: Problem,
    potentials: FloatArray,
    weights: FloatArray | None,
    outputs: Sequence[int],
) -> list[Multipliers]:
    """Return multipliers of rows that show the prices to be feasible, at some outputs.

    They are the dual variables of the least reduced cost of a private column.

    Parameters
    ----------
    problem
        With a linear loss, or a utility with a linear form.
    potentials, weights
        Potentials of the inputs; the weights of a worst case, else None.
    outputs
        Indices of allowed outputs. The multipliers count them from 0, in this order.
    """
    reduced = weighted_costs(problem, weights)[:, outputs] - potentials[:, None]
    column = WarmColumn(problem.cone, np.full(len(reduced), 1 / len(reduced)))
    return column.rows.duals(column.price(reduced).multipliers)
