"""A lower bound on a risk whose extreme rays are too many to list: products of rows of the cone.

The information matrix of a channel, M = Sum_y q_y q_y' / (p . q_y), has M p = 1, and f . M h >= 0
for any two forms f and h that are at least 0 on private columns. The least risk over all M with
these properties is a convex program that knows no rays (the reformulation and linearization of
Sherali and Adams 1990). Products are added as M breaks them. At the optimum the risk is linearized,
and the dual variables of the linear program that is left prove the bound
(:mod:`mechdesign.certify.bounds.sums.products`).

The risk is a sum of deviations, concave in the variances (M**-1)_xx: a weighted sum of the
variances is minimized, with the slopes of the deviations at the last answer as weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.notions.rows.lift_rows import LARGEST_EXPONENT
from mechdesign.outside import called, checked
from mechdesign.problem import Problem
from mechdesign.routes.highs import LPModel, solve_lp
from mechdesign.routes.limits import Limits
from mechdesign.utilities import EstimationRisk

__all__ = ["ProductBound", "product_bound"]


SOLVER = "CLARABEL"

MOST_INPUTS = 24
"""Beyond it the program takes minutes."""

ROUNDS, ADDED = 40, 20
"""Of adding products; and how many a round adds, times inputs."""

BROKEN, IMPLIED = 1e-8, 1e-12
"""A product this far below 0 is added; and a bound implied by two others to this is left out."""

REWEIGHTED, SETTLED = 6, 1e-4
"""Rounds of new weights at most, and weights that change by less, relatively, are kept."""

LEAST_MULTIPLIER = 1e-12
"""Relative to the largest; smaller ones are left out."""

SLACK = 1e-12
"""What the claim has above the least that rounding allows, relative to the matrix."""


@dataclass(frozen=True)
class ProductBound:
    """What proves the bound.

    Attributes
    ----------
    inverse
        A = M**-1 at the optimum of the relaxation.
    potentials
        ``(n_inputs,)``.
    evidence
        The claim and the products, as a saved file has them.
    risk
        The bound, in floating point, as a sum of deviations.
    """

    inverse: FloatArray
    potentials: FloatArray
    evidence: dict[str, Any]
    risk: float


def product_bound(
    problem: Problem, utility: EstimationRisk, prior: FloatArray, limits: Limits
) -> ProductBound | None:
    """Return the bound at a prior; None where the notions have no such forms or inputs are many.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    forms = _Forms.of(problem)
    if forms is None or len(prior) > MOST_INPUTS:
        return None
    relaxation = _Relaxation(forms, prior)
    slope = np.ones(len(prior))
    for _ in range(REWEIGHTED):
        A = relaxation.inverse(slope, limits)
        deviations = utility.deviations(np.diag(A).copy(), prior)
        B = (A * deviations.slope) @ A
        if np.abs(deviations.slope - slope).max() <= SETTLED * slope.max():
            u, evidence = relaxation.prices(B, limits)
            risk = float(deviations.value.sum() + deviations.slope @ np.diag(A))
            return ProductBound(A, u, evidence, risk - float(u.sum()) - evidence["surplus"])
        slope = deviations.slope
    return None


@dataclass(frozen=True)
class _Forms:
    """Forms that are at least 0 on private columns: m q_z - q_x, and q_x where z is x.

    Attributes
    ----------
    x, z
        Entries by number; the number of inputs stands for P . q.
    rows
        ``(n_forms, n_inputs)``, the largest coefficient 1.
    scale
        ``(n_forms,)``: the largest coefficient of the form itself.
    bounds
        ``(n_inputs, n_inputs)``: m with q_x <= m q_z by x and z; 1 on the diagonal, inf for none.
    """

    x: IntArray
    z: IntArray
    rows: FloatArray
    scale: FloatArray
    bounds: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> _Forms | None:
        """Return the forms of rows on ratios and on lifts; None if there are none of them."""
        k, P = len(problem.domain), problem.prior.array
        bounds = np.full((k + 1, k + 1), np.inf)
        for family in problem.cone.families:
            ratios, lifts = family.ratio_rows(), family.lift_rows()
            if ratios is not None:
                E = [
                    min(LARGEST_EXPONENT, float(b.exponent(ratios.epsilon))) for b in ratios.bounds
                ]
                limits = np.append(np.exp(E) * ratios.factors, np.inf)[ratios.index]
                bounds[:k, :k] = np.minimum(bounds[:k, :k], limits)
            elif lifts is not None and lifts.priors.contains(problem.prior.probabilities):
                least, most = lifts.ends()
                bounds[:k, k] = np.minimum(bounds[:k, k], most)
                if least > 0:
                    bounds[k, :k] = np.minimum(bounds[k, :k], 1 / least)
        np.fill_diagonal(bounds, np.inf)
        if not np.isfinite(bounds).any():
            return None
        through = (bounds[:, :, None] * bounds[None, :, :]).min(axis=1)
        x, z = np.nonzero(np.isfinite(bounds) & (bounds < through * (1 - IMPLIED)))
        entries = np.vstack([np.eye(k), P])
        made = bounds[x, z, None] * entries[z] - entries[x]
        rows = np.vstack([np.eye(k), made])
        scale = np.abs(rows).max(axis=1)
        places = np.arange(k)
        np.fill_diagonal(bounds, 1.0)
        x, z = np.append(places, x), np.append(places, z)
        return cls(x, z, rows / scale[:, None], scale, bounds[:k, :k])


class _Relaxation:
    """Minimize Sum_x slope_x (M**-1)_xx over M p = 1 and products of forms, added as needed."""

    def __init__(self, forms: _Forms, prior: FloatArray) -> None:
        self.forms, self.prior, self.size = forms, prior, len(prior)
        n = len(forms.rows)
        self.first, self.second = np.triu_indices(n)
        self.chosen = np.flatnonzero((self.second < self.size) & (self.first < self.second))

    def inverse(self, slope: FloatArray, limits: Limits) -> FloatArray:
        """Return M**-1 at the least Sum_x slope_x (M**-1)_xx.

        Raises
        ------
        SolverError
            If the solver fails or time is over.
        """
        import cvxpy as cp

        weight = np.diag(np.sqrt(slope / slope.max()))
        for _ in range(ROUNDS):
            M = cp.Variable((self.size, self.size), symmetric=True)
            products = self._products().reshape(len(self.chosen), -1) @ cp.vec(M, order="C")
            program = cp.Problem(
                cp.Minimize(cp.matrix_frac(weight, M)), [M @ self.prior == 1, products >= 0]
            )
            self._check(limits)
            called(SOLVER, program.solve, solver=SOLVER)
            if M.value is None or program.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
                raise SolverError(f"{SOLVER} (products) stopped: {program.status}")
            found = checked(SOLVER, np.array(M.value), (self.size, self.size))
            if not self._add_broken(found):
                break
        inverse = checked("LAPACK", called("LAPACK", np.linalg.inv, found), found.shape)
        return np.asarray((inverse + inverse.T) / 2)

    def prices(self, B: FloatArray, limits: Limits) -> tuple[FloatArray, dict[str, Any]]:
        """Return potentials, and what proves q' B q <= (u . q) (p . q), but for the claim.

        They are the dual variables of the largest B . M, a linear program in the entries of M.

        Raises
        ------
        SolverError
            If HiGHS fails or time is over.
        """
        k, p, unit = self.size, self.prior, float(np.abs(B).max())
        x, z = np.triu_indices(k)
        twice = np.where(x == z, 1.0, 2.0)
        equations = np.zeros((k, len(x)))
        equations[x, np.arange(len(x))] = p[z]
        equations[z, np.arange(len(x))] = p[x]
        for _ in range(ROUNDS):
            self._check(limits)
            products = self._products()[:, x, z] * twice
            A = sp.csr_array(np.vstack([equations, products]))
            low = np.append(np.ones(k), np.zeros(len(products)))
            high = np.append(np.ones(k), np.full(len(products), np.inf))
            found = solve_lp(LPModel(-B[x, z] * twice / unit, A, low, high), "simplex")
            M = np.zeros((k, k))
            M[x, z] = M[z, x] = found.primal
            if not self._add_broken(M):
                break
        u, w = -unit * found.dual[:k], unit * np.maximum(found.dual[k:], 0.0)
        return u, self._proof(B, u, w)

    def _check(self, limits: Limits) -> None:
        if limits.over():
            raise SolverError(f"the relaxation by products was cut short: {limits.ended}")

    def _products(self) -> FloatArray:
        """Return the matrices (f h' + h f') / 2 of the chosen products."""
        i, j = (self.forms.rows[part[self.chosen]] for part in (self.first, self.second))
        outer = i[:, :, None] * j[:, None, :]
        return np.asarray((outer + outer.transpose(0, 2, 1)) / 2)

    def _add_broken(self, M: FloatArray) -> bool:
        """Choose more products, those that M breaks most; return whether there are any."""
        rows = self.forms.rows
        worth = ((rows @ M) @ rows.T)[self.first, self.second]
        broken = np.flatnonzero(worth < -BROKEN * np.abs(M).max())
        broken = np.setdiff1d(broken, self.chosen)
        worst = broken[np.argsort(worth[broken])[: ADDED * self.size]]
        self.chosen = np.append(self.chosen, worst)
        return bool(len(worst))

    def _proof(self, B: FloatArray, u: FloatArray, w: FloatArray) -> dict[str, Any]:
        """Return the products, and the least claim that they prove.

        What is left above 0 is that of products of entries.
        """
        forms, p = self.forms, self.prior
        used = np.flatnonzero(w > LEAST_MULTIPLIER * w.max(initial=0.0))
        places = self.chosen[used]
        i, j, w = self.first[places], self.second[places], w[used]
        T = np.outer(u, p) - B - forms.rows[i].T @ (w[:, None] * forms.rows[j])
        T = (T + T.T) / 2
        x, z = np.triu_indices(self.size)
        left = np.maximum(T[x, z], 0.0) * np.where(x == z, 1.0, 2.0)
        i, j, w = np.append(i, x), np.append(j, z), np.append(w, left)
        kept = w > 0
        i, j, w = i[kept], j[kept], w[kept]
        shares = (1 / forms.bounds) @ p / np.sqrt(len(p))
        unit = np.outer(shares, shares)
        least = float(called("LAPACK", scipy.linalg.eigvalsh, np.minimum(T, 0.0) / unit)[0])
        claim = max(0.0, -least) + SLACK * float(np.abs(B / unit).max())
        w = w / (forms.scale[i] * forms.scale[j])
        parts = [forms.x[i], forms.z[i], forms.x[j], forms.z[j], w]
        return {"surplus": claim, "products": [part.tolist() for part in parts]}
