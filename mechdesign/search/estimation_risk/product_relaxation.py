"""A lower bound on a risk with too many extreme rays to list: products of rows of the cone.

The information matrix of a channel, M = Sum_y q_y q_y' / (p . q_y), has M p = 1, and f . M h >= 0
for any two forms f and h that are at least 0 on private columns. The least risk over all M with
these properties is a convex program without rays (the reformulation and linearization of Sherali
and Adams 1990). Violated products are added in rounds. At the optimum the risk is linearized, and
the dual variables of the remaining linear program prove the bound
(:mod:`mechdesign.kernel.oracles.products`).

Under one budget for all inputs a ray has two levels, t and t / low. With t as an additional unknown
the products of q_x - t and t - low q_x are 0. With M, now for all unknowns, positive semidefinite,
the relaxation is nearly exact.

The risk is a sum of deviations, concave in the variances (M**-1)_xx: a weighted sum of the
variances is minimized, with the slopes of the deviations at the last answer as weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.evidence.rows import Proof
from mechdesign.exact import as_fraction
from mechdesign.kernel.generators import Lift
from mechdesign.kernel.oracles import Oracles, Products
from mechdesign.kernel.packed import Numbers, Places, Weights as Multipliers
from mechdesign.notions.rows.lift_rows import LARGEST_EXPONENT
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.cones.one_budget import OneBudgetCone
from mechdesign.search.estimation_risk.proofs import RiskProof
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.limits import Limits
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import EstimationRisk

__all__ = ["product_bound"]


SOLVER = "CLARABEL"

MOST_INPUTS = 24
"""With more inputs the program takes minutes."""

ROUNDS, ADDED = 40, 20
"""Rounds of adding products; and the number added per round, times inputs."""

BROKEN, IMPLIED = 1e-8, 1e-12
"""A product this far below 0 is added; and a bound implied by two others to this is dropped."""

REWEIGHTED, SETTLED = 6, 1e-4
"""Largest number of rounds of new weights; and largest relative change of settled weights."""

LEAST_MULTIPLIER = 1e-12
"""Relative to the largest; smaller ones are dropped."""

LEAST_LOW = 1e-20
"""Below this the checker treats e**-eps as 0."""

SLACK = 1e-12
"""Relative margin of the claim above the least value that rounding allows."""


@dataclass(frozen=True)
class ProvedProducts:
    """Multipliers of products of forms, and the bound that they prove.

    Attributes
    ----------
    potentials
        ``(n_inputs,)``.
    surplus
        An upper bound on every gain minus its price, where P . q = 1.
    parts
        ``(x, z, x', z', weight)``: the two forms of each product, and its multiplier.
    levels
        ``(n_inputs,)`` multipliers of the rays' two levels; else None.
    """

    potentials: FloatArray
    surplus: float
    parts: Sequence[FloatArray | IntArray]
    levels: FloatArray | None = None

    def oracle(self, problem: Problem, _prior: Weights, _potentials: FloatArray) -> Oracles:
        """Return the products in the kernel's form."""
        scale = float(getattr(problem.utility, "scale", 1.0))
        a, b, c, d, weight = (part.tolist() for part in self.parts)
        forms = dict[tuple[int, int], int]()
        left = Places(forms.setdefault(form, len(forms)) for form in zip(a, b, strict=True))
        right = Places(forms.setdefault(form, len(forms)) for form in zip(c, d, strict=True))
        has_lift = any(isinstance(part, Lift) for part in problem.compiled.statement.cone)
        return Products(
            as_fraction(scale * self.surplus),
            tuple(forms),
            left,
            right,
            Multipliers(scale * w for w in weight),
            problem.prior.probabilities if has_lift else None,
            None if self.levels is None else Numbers((scale * self.levels).tolist()),
        )


def product_bound(
    problem: Problem,
    utility: EstimationRisk,
    prior: FloatArray,
    limits: Limits,
    worst: Weights | None = None,
) -> tuple[float, Proof] | None:
    """Return a bound on the risk at a prior, and what proves it.

    None where the notions have no such forms or inputs are many.

    Parameters
    ----------
    problem, utility, prior, limits
        What the risk is of and at, and when to stop.
    worst
        For a worst case, the prior exactly.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    forms, low = _Forms.of(problem), _low(problem)
    if forms is None or len(prior) > MOST_INPUTS:
        return None
    relaxation = _Relaxation(forms, prior) if low is None else _TwoLevels(low, prior)
    slope = np.ones(len(prior))
    for _ in range(REWEIGHTED):
        A = relaxation.inverse(slope, limits)
        deviations = utility.deviations(np.diag(A).copy(), prior)
        B = (A * deviations.slope) @ A
        if np.abs(deviations.slope - slope).max() <= SETTLED * slope.max():
            proved = relaxation.prices(B, limits)
            risk = float(deviations.value.sum() + deviations.slope @ np.diag(A))
            risk -= float(proved.potentials.sum()) + proved.surplus
            return risk, RiskProof(A, proved.potentials, prior, proved.oracle, worst)
        slope = deviations.slope
    return None


@dataclass(frozen=True)
class _Forms:
    """Forms that are at least 0 on private columns: m q_z - q_x, and q_x where z is x.

    Attributes
    ----------
    x, z
        Indices of entries; the number of inputs stands for P . q.
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
        """Return the forms of rows on ratios and on lifts; None if there are none."""
        k, P = len(problem.domain), problem.prior.array
        bounds = np.full((k + 1, k + 1), np.inf)
        for family in problem.cone.families:
            ratios, lifts = family.ratio_rows(), family.lift_rows()
            if ratios is not None:
                E = [min(LARGEST_EXPONENT, float(exponent)) for exponent in ratios.exponents]
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
            If the solver fails or the time is over.
        """
        import cvxpy as cp

        weight = np.diag(np.sqrt(slope / slope.max()))
        for _ in range(ROUNDS):
            M = cp.Variable((self.size, self.size), symmetric=True)
            products = self._products().reshape(len(self.chosen), -1) @ cp.vec(M, order="C")
            program = cp.Problem(
                cp.Minimize(cp.matrix_frac(weight, M)), [M @ self.prior == 1, products >= 0]
            )
            _solved(program, limits)
            found = checked(SOLVER, np.array(M.value), (self.size, self.size))
            if not self._add_broken(found):
                break
        inverse = checked("LAPACK", called("LAPACK", np.linalg.inv, found), found.shape)
        return np.asarray((inverse + inverse.T) / 2)

    def prices(self, B: FloatArray, limits: Limits) -> ProvedProducts:
        """Return what proves q' B q <= (u . q) (p . q), but for the claim.

        The potentials u are the dual variables of the largest B . M, a linear program in the
        entries of M.

        Raises
        ------
        SolverError
            If HiGHS fails or the time is over.
        """
        k, p, unit = self.size, self.prior, float(np.abs(B).max())
        x, z = np.triu_indices(k)
        twice = np.where(x == z, 1.0, 2.0)
        equations = np.zeros((k, len(x)))
        equations[x, np.arange(len(x))] = p[z]
        equations[z, np.arange(len(x))] = p[x]
        for _ in range(ROUNDS):
            if limits.expired():
                raise SolverError(f"the relaxation by products was cut short: {limits.ended}")
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
        return self._proof(B, u, w)

    def _products(self) -> FloatArray:
        """Return the matrices (f h' + h f') / 2 of the chosen products."""
        i, j = (self.forms.rows[part[self.chosen]] for part in (self.first, self.second))
        return _outer(i, j)

    def _add_broken(self, M: FloatArray) -> bool:
        """Choose the most violated products of M; return whether there are any."""
        rows = self.forms.rows
        worth = ((rows @ M) @ rows.T)[self.first, self.second]
        broken = np.flatnonzero(worth < -BROKEN * np.abs(M).max())
        broken = np.setdiff1d(broken, self.chosen)
        worst = broken[np.argsort(worth[broken])[: ADDED * self.size]]
        self.chosen = np.append(self.chosen, worst)
        return bool(len(worst))

    def _proof(self, B: FloatArray, u: FloatArray, w: FloatArray) -> ProvedProducts:
        """Return the products, and the least claim that they prove.

        The positive remainder is assigned to products of entries.
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
        parts: list[FloatArray | IntArray] = [forms.x[i], forms.z[i], forms.x[j], forms.z[j], w]
        return ProvedProducts(u, claim, parts)


def _low(problem: Problem) -> float | None:
    """Return e**-eps if one budget protects all inputs against each other."""
    cone = OneBudgetCone.of(problem.cone)
    if cone is None or len(cone.blocks) > 1 or len(cone.blocks[0][1]) < cone.size:
        return None
    return cone.low if cone.low > LEAST_LOW else None


class _TwoLevels:
    """The relaxation with the least entry t as the last unknown, for rays of two levels."""

    def __init__(self, low: float, prior: FloatArray) -> None:
        self.low, self.prior, self.size = low, prior, len(prior)
        k = self.size
        t = np.eye(k + 1)[k]
        above, below = np.eye(k + 1)[:k] - t, t - low * np.eye(k + 1)[:k]
        self.rows = np.vstack([above, below])
        first, second = np.triu_indices(2 * k, 1)
        apart = second != first + k
        self.first, self.second = first[apart], second[apart]

    def inverse(self, slope: FloatArray, limits: Limits) -> FloatArray:
        """Return the inverse of M, without t, at the least Sum_x slope_x (M**-1)_xx."""
        import cvxpy as cp

        weight = np.diag(np.sqrt(slope / slope.max()))
        M, constraints = self._stated()
        k = self.size
        _solved(cp.Problem(cp.Minimize(cp.matrix_frac(weight, M[:k, :k])), constraints), limits)
        found = checked(SOLVER, np.array(M.value), (k + 1, k + 1))[:k, :k]
        inverse = checked("LAPACK", called("LAPACK", np.linalg.inv, found), found.shape)
        return np.asarray((inverse + inverse.T) / 2)

    def prices(self, B: FloatArray, limits: Limits) -> ProvedProducts:
        """Return what proves q' B q <= (u . q) (p . q) on rays.

        The potentials u are the dual variables of the largest B . M, a semidefinite program.
        """
        import cvxpy as cp

        k, unit = self.size, float(np.abs(B).max())
        M, constraints = self._stated()
        gain = cp.sum(cp.multiply(B / unit, M[:k, :k]))
        _solved(cp.Problem(cp.Minimize(-gain), constraints), limits)
        equal, products, levels = (
            unit * checked(SOLVER, np.array(constraint.dual_value).ravel(), (size,))
            for constraint, size in zip(constraints[:3], (k, len(self.first), k), strict=True)
        )
        u, w, v = equal, np.maximum(products, 0.0), -levels
        T = self._left(B, u, w, v)
        shares = np.append(self.prior + self.low * (1 - self.prior), 1.0) / np.sqrt(k + 1)
        scale = np.outer(shares, shares)
        least = float(called("LAPACK", scipy.linalg.eigvalsh, T / scale)[0])
        claim = max(0.0, -least) + SLACK * float(np.abs(T).max() / scale.min())
        x = np.arange(k)
        lower, upper = np.append(np.full(k, k + 1), x), np.append(x, np.full(k, k + 1))
        # the checker's second forms are t / low - q_x
        by = np.append(np.ones(k), np.full(k, self.low))
        w = w * by[self.first] * by[self.second]
        kept = w > LEAST_MULTIPLIER * w.max(initial=0.0)
        i, j = self.first[kept], self.second[kept]
        parts = [lower[i], upper[i], lower[j], upper[j], w[kept]]
        return ProvedProducts(u, claim, parts, v)

    def _left(self, B: FloatArray, u: FloatArray, w: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix of the semidefinite constraint."""
        k = self.size
        T = np.zeros((k + 1, k + 1))
        T[:k, :k] = np.outer(u, self.prior) - B
        T -= self.rows[self.first].T @ (w[:, None] * self.rows[self.second])
        T -= self.rows[:k].T @ (v[:, None] * self.rows[k:])
        return np.asarray((T + T.T) / 2)

    def _stated(self) -> tuple[Any, list[Any]]:
        """Return M and its constraints."""
        import cvxpy as cp

        k = self.size
        M = cp.Variable((k + 1, k + 1), symmetric=True)
        entries = cp.vec(M, order="C")
        products = _outer(self.rows[self.first], self.rows[self.second])
        levels = _outer(self.rows[:k], self.rows[k:])
        return M, [
            M[:k, :k] @ self.prior == 1,
            products.reshape(len(products), -1) @ entries >= 0,
            levels.reshape(k, -1) @ entries == 0,
            M >> 0,
        ]


def _outer(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the matrices (f h' + h f') / 2."""
    outer = first[:, :, None] * second[:, None, :]
    return np.asarray((outer + outer.transpose(0, 2, 1)) / 2)


def _solved(program: Any, limits: Limits) -> None:
    """Solve a program of cvxpy.

    Raises
    ------
    SolverError
        If the solver finds no optimum or the time is over.
    """
    import cvxpy as cp

    if limits.expired():
        raise SolverError(f"the relaxation by products was cut short: {limits.ended}")
    called(SOLVER, program.solve, solver=SOLVER)
    if program.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise SolverError(f"{SOLVER} (products) stopped: {program.status}")
