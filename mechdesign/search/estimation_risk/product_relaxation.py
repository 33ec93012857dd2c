"""A lower bound on a risk with too many extreme rays to list: products of rows of the cone.

The information matrix of a channel, M = Sum_y q_y q_y' / (p . q_y), has M p = 1, and f . M h >= 0
for any two forms f and h that are at least 0 on private columns. The least risk over all M with
these properties is a convex program without rays (the reformulation and linearization of Sherali
and Adams 1990). Violated products are added in rounds. At small budgets M is nearly 1 1': with the
Cholesky factor L of a good channel's matrix the unknown is N for M = L N L', which is nearly the
identity, and all forms have rows L'f of norm 1. At the optimum the risk is linearized, and
the dual variables of the remaining linear program prove the bound
(:mod:`mechdesign.kernel.oracles.products`).

Under one budget for all inputs a ray has two levels, t and t / low. With t as an additional unknown
the products of q_x - t and t - low q_x are 0. With M, now for all unknowns, positive semidefinite,
the relaxation is nearly exact.

A set of priors about p bounds the variance of the lift, and with it the diagonal of M.

The risk is a sum of deviations, concave in the variances (M**-1)_xx: a weighted sum of the
variances is minimized, with the slopes of the deviations at the last answer as weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import scipy.linalg

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.evidence.rows import Proof
from mechdesign.exact import as_fraction
from mechdesign.kernel.generators import Lift
from mechdesign.kernel.oracles import Oracles, Products, Spread
from mechdesign.kernel.packed import Numbers, Places, Weights as Multipliers
from mechdesign.notions.rows.lift_rows import LARGEST_EXPONENT
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.cones.forms import OneBudgetCone
from mechdesign.search.estimation_risk.proofs import RiskProof
from mechdesign.search.limits import Limits
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import EstimationRisk

SOLVER, SIMPLEX = "CLARABEL", "HIGHS"
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

MOST_INPUTS = 24
"""With more inputs the program takes minutes."""

ROUNDS, ADDED = 40, 20
"""Rounds of adding products; and the number added per round, times inputs."""

BROKEN, NEARLY, IMPLIED = 1e-8, 1e-3, 1e-12
"""A product this far below 0 is added, or this far where M is only a point to linearize at; and a
bound implied by two others to this is dropped."""

REWEIGHTED, SETTLED = 6, 1e-2
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
    spreads
        ``(n_inputs + 1,)`` multipliers of the inequalities of a set of priors; else None.
    """

    potentials: FloatArray
    surplus: float
    parts: Sequence[FloatArray | IntArray]
    levels: FloatArray | None = None
    spreads: FloatArray | None = None

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
            None if self.spreads is None else Multipliers((scale * self.spreads).tolist()),
        )


def product_bound(
    problem: Problem,
    utility: EstimationRisk,
    channel: FloatArray,
    prior: FloatArray,
    limits: Limits,
    worst: Weights | None = None,
) -> tuple[float, Proof] | None:
    """Return a bound on the risk at a prior, and its proof.

    None where the notions have no such forms or inputs are many; ``channel`` is a good one,
    ``(n_inputs, n_outputs)``, and ``worst`` the exact prior of a worst case.
    """
    cone = _one_budget(problem)
    forms = _Forms.of(problem, prior) if cone is None else _Forms.of_levels(cone, prior)
    if forms is None or len(prior) > MOST_INPUTS:
        return None
    relaxation = _Relaxation(forms, prior, channel)
    slope = utility.deviations((relaxation.scaled.back**2).sum(axis=0), prior).slope
    for _ in range(REWEIGHTED):
        A, before = relaxation.inverse(slope, limits), slope
        deviations = utility.deviations(np.diag(A).copy(), prior)
        slope = deviations.slope
        if np.abs(slope - before).max() <= SETTLED * slope.max():
            break
    proved = relaxation.prices((A * slope) @ A, limits)
    risk = float(deviations.value.sum() + slope @ np.diag(A))
    risk -= float(proved.potentials.sum()) + proved.surplus
    proof = RiskProof(A, proved.potentials, prior, proved.oracle, worst)
    return utility.scale * risk, proof


@dataclass(frozen=True)
class _Forms:
    """Forms that are at least 0 on private columns: m q_z - q_x, and q_x where z is x.

    Attributes
    ----------
    x, z
        Indices of entries; the number of inputs stands for P . q, and the next number for t.
    rows
        ``(n_forms, n_unknowns)``: the forms, scaled.
    scale
        ``(n_forms,)``: the forms divided by their rows.
    shares
        ``(n_unknowns,)``: lower bounds on P . q where an unknown is 1.
    own
        ``(n_inputs,)``: P, the prior of the problem, which is not that of a worst case.
    scales
        ``(n_inputs,)``: entries over these have two levels; None without levels.
    spread
        The bounds of a set of priors about P; None without one.
    """

    x: IntArray
    z: IntArray
    rows: FloatArray
    scale: FloatArray
    shares: FloatArray
    own: FloatArray
    scales: FloatArray | None = None
    spread: Spread | None = None

    @property
    def has_levels(self) -> bool:
        """Whether t is the last unknown, so that products of the first and second half are 0."""
        return self.scales is not None

    @classmethod
    def of_levels(cls, cone: OneBudgetCone, prior: FloatArray) -> _Forms:
        """Return q_x - t and t / low - q_x, for rays whose entries are t or t / low.

        Entries are divided by their scales.
        """
        k, s, low = len(prior), cone.scales, cone.low
        x, last = np.arange(k), np.full(k, k + 1)
        entries, t = np.eye(k, k + 1) / s[:, None], np.eye(k + 1)[k]
        rows = np.vstack([entries - t, t - low * entries])
        scale = np.append(np.ones(k), s / low)
        least = float(prior @ s)
        shares = np.append(prior + low * (least - prior * s) / s, least)
        x, z = np.append(last, x), np.append(x, last)
        return cls(x, z, rows, scale, shares, prior, s)

    @classmethod
    def of(cls, problem: Problem, prior: FloatArray) -> _Forms | None:
        """Return the forms of rows on ratios and on lifts; None if there are none."""
        k, P = len(problem.domain), problem.prior.array
        bounds = np.full((k + 1, k + 1), np.inf)
        for family in problem.cone.families:
            ratios, lifts = family.ratio_rows(), family.lift_rows()
            if ratios is not None:
                E = [min(LARGEST_EXPONENT, float(exponent)) for exponent in ratios.exponents]
                limits = np.append(np.exp(E) * ratios.factors, np.inf)[ratios.index]
                bounds[:k, :k] = np.minimum(bounds[:k, :k], limits)
            elif lifts is not None and lifts.part.priors.has(problem.prior.probabilities):
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
        by_lift = (prior[P > 0] / P[P > 0]).min() / bounds[:k, k]
        shares = np.maximum((1 / bounds[:k, :k]) @ prior, by_lift)
        spread = Spread.of(problem.compiled.statement, problem.prior.probabilities)
        return cls(x, z, rows / scale[:, None], scale, shares, P, spread=spread)

    def further(
        self, rows: FloatArray, norms: FloatArray, root: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return coefficients of N, and their norms: 0 with levels, >= 0 with a spread."""
        k = len(root)
        if self.has_levels:
            return _products(rows[:k], rows[k:]), norms[:k] * norms[k:]
        if self.spread is None:
            return np.zeros((0, k * k)), np.zeros(0)
        low, high, most, share = map(float, astuple(self.spread))
        mean = self.own @ root
        apart = root - mean
        V = (apart.T * self.own) @ apart
        found = _products(high * mean - root, root - low * mean) - share * V.ravel()
        found = np.vstack([found, (most * np.outer(mean, mean) - V).ravel()])
        units = np.linalg.norm(found, axis=1)
        return found / units[:, None], units


def _one_budget(problem: Problem) -> OneBudgetCone | None:
    """Return the cone if one budget protects all inputs against each other."""
    cone = OneBudgetCone.of(problem.cone, scaled=True)
    if cone is None or len(cone.blocks) > 1 or len(cone.blocks[0][1]) < cone.size:
        return None
    return cone if cone.low > LEAST_LOW else None


@dataclass(frozen=True)
class _Basis:
    """Coordinates N of M = L N L'.

    Attributes
    ----------
    root, back
        ``(n_inputs, n_inputs)``: L without t, and its inverse.
    rows, norms
        ``(n_forms, n_unknowns)`` and ``(n_forms,)``: L'f for each form, divided by its norm.
    further, units
        ``(n_further, n_unknowns**2)`` and ``(n_further,)``: see :meth:`_Forms.further`.
    """

    root: FloatArray
    back: FloatArray
    rows: FloatArray
    norms: FloatArray
    further: FloatArray
    units: FloatArray

    @classmethod
    def of(cls, L: FloatArray, forms: _Forms, k: int) -> _Basis:
        """Return the coordinates of a lower triangular L, whose first unknowns are the inputs."""
        rows = forms.rows @ L
        root, norms = L[:k, :k], np.linalg.norm(rows, axis=1)
        back = checked("LAPACK", called("LAPACK", np.linalg.inv, root), root.shape)
        rows = rows / norms[:, None]
        return cls(root, back, rows, norms, *forms.further(rows, norms, root))


class _Relaxation:
    """Minimize over M with M p = 1 and products of forms at least 0, which are added as needed."""

    def __init__(self, forms: _Forms, prior: FloatArray, channel: FloatArray) -> None:
        self.forms, self.prior, self.size = forms, prior, len(prior)
        columns = channel[:, channel.any(axis=0)]
        weights = 1 / (prior @ columns)
        if forms.scales is not None:
            entries = columns / forms.scales[:, None]
            columns = np.vstack([columns, entries.min(axis=0)])
        M = (columns * weights) @ columns.T
        if forms.scales is not None:
            # t may be a sum of entries: its unit is that of the deviations
            M[-1, -1] += float(((entries - columns[-1]) ** 2 @ weights).mean())
        root = checked("LAPACK", called("LAPACK", np.linalg.cholesky, M), M.shape)
        one = np.eye(len(root))
        self.scaled, self.plain = (_Basis.of(L, forms, len(prior)) for L in (root, one))
        # with levels M is positive semidefinite, which implies the squares
        self.first, self.second = np.triu_indices(len(forms.rows), int(forms.has_levels))
        if forms.has_levels:
            apart = self.second != self.first + self.size
            self.first, self.second = self.first[apart], self.second[apart]
            self.chosen = np.arange(len(self.first))
        else:
            self.chosen = np.flatnonzero((self.second < self.size) & (self.first < self.second))

    def inverse(self, slope: FloatArray, limits: Limits) -> FloatArray:
        """Return M**-1 at the least Sum_x slope_x (M**-1)_xx."""
        import cvxpy as cp

        back = self.scaled.back
        weight = back * np.sqrt(slope)
        weight /= np.linalg.norm(weight)
        found, _ = self._least(lambda N: cp.matrix_frac(weight, N), limits, self.scaled, NEARLY)
        inverse = checked("LAPACK", called("LAPACK", np.linalg.inv, found), found.shape)
        return np.asarray(back.T @ (inverse + inverse.T) @ back / 2)

    def prices(self, B: FloatArray, limits: Limits) -> ProvedProducts:
        """Return what proves q' B q <= (u . q) (p . q) on rays, but for the claim.

        The potentials u and the multipliers are the dual variables of the largest B . M.
        """
        import cvxpy as cp

        basis = self.scaled if self.forms.has_levels else self.plain  # a sparse linear program
        cost = basis.root.T @ B @ basis.root
        unit = float(np.abs(cost).max())
        least = self._least(lambda N: -cp.sum(cp.multiply(cost / unit, N)), limits, basis, BROKEN)
        u, w, further = (unit * dual for dual in least[1])
        u, norms = basis.back.T @ u, basis.norms
        w = np.maximum(w, 0.0) / (norms[self.first[self.chosen]] * norms[self.second[self.chosen]])
        further = further / basis.units
        return self._proof(B, u, w, -further if self.forms.has_levels else np.maximum(further, 0.0))

    def _least(
        self, cost: Callable[[Any], Any], limits: Limits, basis: _Basis, broken: float
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Return N, without t, at the least cost, and the dual variables of the constraints."""
        import cvxpy as cp

        rows, (n, k) = basis.rows, (basis.rows.shape[1], self.size)
        prior, right = self.prior @ basis.root, basis.back @ np.ones(k)
        for _ in range(ROUNDS):
            if limits.expired():
                raise SolverError(f"the relaxation by products was cut short: {limits.ended}")
            N = cp.Variable((n, n), symmetric=True)
            first, second = self.first[self.chosen], self.second[self.chosen]
            stated = [
                N[:k, :k] @ prior == right,
                _products(rows[first], rows[second]) @ cp.vec(N, order="C") >= 0,
            ]
            further = basis.further @ cp.vec(N, order="C")
            stated += [further == 0, N >> 0] if self.forms.has_levels else [further >= 0]
            sizes = [k, len(self.chosen), len(basis.further)]
            program = cp.Problem(cp.Minimize(cost(N[:k, :k])), stated)
            # where probabilities are tiny, a vertex is more accurate
            solver, options = (SIMPLEX, TOLERANCES) if program.is_lp() else (SOLVER, {})
            called(solver, program.solve, solver=solver, **options)
            if program.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
                raise SolverError(f"{solver} (products) stopped: {program.status}")
            found = checked(solver, np.array(N.value), (n, n))
            if not self._add_broken(rows, found, broken):
                break
        duals = [
            checked(solver, np.array(constraint.dual_value).ravel(), (size,))
            for constraint, size in zip(stated, sizes, strict=False)
        ]
        return found[:k, :k], duals

    def _add_broken(self, rows: FloatArray, N: FloatArray, least: float) -> bool:
        """Choose the most violated products; return whether there are any."""
        worth = ((rows @ N) @ rows.T)[self.first, self.second]
        broken = np.flatnonzero(worth < -least * np.abs(N).max())
        broken = np.setdiff1d(broken, self.chosen)
        worst = broken[np.argsort(worth[broken])[: ADDED * self.size]]
        self.chosen = np.append(self.chosen, worst)
        return bool(len(worst))

    def _proof(
        self, B: FloatArray, u: FloatArray, w: FloatArray, further: FloatArray
    ) -> ProvedProducts:
        """Return the products, and the least claim that they prove.

        Without levels, the positive remainder is assigned to products of entries.
        """
        forms, k = self.forms, self.size
        used = np.flatnonzero(w > LEAST_MULTIPLIER * w.max(initial=0.0))
        i, j, w = self.first[self.chosen[used]], self.second[self.chosen[used]], w[used]
        T = -forms.rows[i].T @ (w[:, None] * forms.rows[j])
        T[:k, :k] += np.outer(u, self.prior) - B
        T = (T + T.T) / 2
        T -= ((further * self.plain.units) @ self.plain.further).reshape(T.shape)
        unit = np.outer(forms.shares, forms.shares) / len(T)
        slack = SLACK * float(np.abs(T / unit).max())
        if not forms.has_levels:
            x, z = np.triu_indices(k)
            left = np.maximum(T[x, z], 0.0) * np.where(x == z, 1.0, 2.0)
            i, j, w = np.append(i, x), np.append(j, z), np.append(w, left)
            i, j, w = i[w > 0], j[w > 0], w[w > 0]
            T, slack = np.minimum(T, 0.0), SLACK * float(np.abs(B / unit).max())
        least = float(called("LAPACK", scipy.linalg.eigvalsh, T / unit)[0])
        w = w / (forms.scale[i] * forms.scale[j])
        parts: list[FloatArray | IntArray] = [forms.x[i], forms.z[i], forms.x[j], forms.z[j], w]
        levels, spreads = (further, None) if forms.has_levels else (None, further)
        spreads = None if forms.spread is None else spreads
        return ProvedProducts(u, max(0.0, -least) + slack, parts, levels, spreads)


def _products(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the coefficients of the entries of N in products of rows."""
    outer = first[:, :, None] * second[:, None, :]
    return np.asarray((outer + outer.transpose(0, 2, 1)).reshape(len(first), -1) / 2)
