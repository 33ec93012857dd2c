"""An inexpensive bound for any problem with bounds on ratios.

Every input is in the group of one input r. A private column has q_x >= s_x q_r for the others of
the group, with 1 / s_x the bound on q_r / q_x. These rows and q_r >= 0, one for each input, are the
facets of a cone that contains all private columns. Its rays are s on each group, and each other
input alone; so the channel of these rays is at least as good as any private one. Both few and many
groups give weak bounds, so several numbers of groups are tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.evidence.rows import averaged, relaxed
from mechdesign.evidence.simplicial import universal
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.generators import Ratio
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.objectives import Loss, Risk
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.oracles.sources import Facet
from mechdesign.kernel.relaxations import Representatives
from mechdesign.kernel.statement import Statement
from mechdesign.problem import Problem
from mechdesign.search.coarse.representatives import (
    CoarseProgram,
    Ratios,
    chosen,
)
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import ColumnUtility, EstimationRisk

__all__ = ["grouped"]

MOST_ENTRIES = 2 * 10**6
"""The largest number of entries of the losses, or pairs of inputs."""

MOST_FACETS, MOST_ESTIMATED = 200, 40
"""The largest number of inputs with listed rays of facets: for objectives other than losses; and
for a risk of estimation, whose estimator takes a cubic number of steps."""


def grouped(problem: Problem) -> Certificate | None:
    """Return the bound of the best groups; None without bounds on ratios, or with many inputs."""
    statement, k = problem.compiled.statement, len(problem.domain)
    n_outputs = len(problem.guesses) if isinstance(statement.objective, Loss) else 1
    if k < 2 or k * max(k, n_outputs) > MOST_ENTRIES:
        return None
    ratios = Ratios(problem.cone)
    steps = averaged(statement, np.ones(k))
    small = relaxed(statement, steps)
    worth, aim = _worth(problem, small), small.objective
    if worth is None or not np.isfinite(ratios.E).sum() > k:
        return None
    counts = [1 << n for n in range(k.bit_length()) if 1 << n < k]
    listed = chosen(ratios, problem.prior.array, counts)
    best = max((CoarseProgram(ratios, inputs) for inputs in listed), key=worth)
    if isinstance(aim, Loss) and all(min(aim.costs.lower(y)) >= 0 for y in range(n_outputs)):
        step = Representatives(tuple(best.stands.tolist()))
        return Certificate(Costs(), Orthant(), (*steps, step))
    if k > MOST_FACETS:
        return None
    return universal(
        statement, [_facet(statement, x, r) for x, r in enumerate(best.stands.tolist())]
    )


def _worth(problem: Problem, small: Statement) -> Callable[[CoarseProgram], float] | None:
    """Return a function that computes the bound of groups in floating point, up to a constant."""
    aim, utility, k = small.objective, problem.utility, small.k
    if isinstance(aim, Risk) and isinstance(utility, EstimationRisk):
        if k > MOST_ESTIMATED:
            return None
        p = np.array([float(v) for v in aim.prior or ()])

        def risk(groups: CoarseProgram) -> float:
            rays = groups.shares.T.toarray()
            U = np.hstack([rays, np.diag(1 - rays.sum(axis=1))])
            law = p @ U
            M = (U[:, law > 0] / law[law > 0]) @ U[:, law > 0].T
            inverse = called("LAPACK", np.linalg.pinv, M, hermitian=True)
            variances = np.diag(checked("LAPACK", inverse, M.shape)).copy()
            with np.errstate(divide="ignore"):  # a deviation of 0 has no slope
                return float(utility.deviations(variances, p).value.sum())

        return risk
    if isinstance(aim, Loss):
        weights = np.array([float(w) for w in aim.weights or ()])
        tables = (np.array(aim.costs.lower(y), dtype=float) for y in range(aim.costs.n_outputs))
        costs = np.array([weights * table for table in tables]) / aim.costs.denominator

        def best(rays: FloatArray) -> FloatArray:
            return np.asarray((costs @ rays).min(axis=0))

        alone = costs.min(axis=0)
    elif isinstance(utility, ColumnUtility) and isinstance(aim, Gain):
        gains = utility.on(problem.domain)

        def best(rays: FloatArray) -> FloatArray:
            return -np.asarray(gains.gain(rays, problem.prior.array))

        alone = best(np.eye(k))
    else:
        return None

    def total(groups: CoarseProgram) -> float:
        rays = groups.shares.T.toarray()
        return float(best(rays).sum() + (1 - rays.sum(axis=1)) @ alone)

    return total


def _facet(statement: Statement, x: int, r: int) -> Facet:
    """Return the tightest row q_x >= s q_r of the generators; q_r >= 0 for r."""
    if x == r:
        return Facet(None, x)
    bounds = {
        n: float(a) + math.log(part.scale(r, x))
        for n, part in enumerate(statement.cone)
        if isinstance(part, Ratio) and (a := part.exponents.at(r, x, up=True)) is not None
    }
    return Facet(min(bounds, key=bounds.__getitem__), r, x) if bounds else Facet(None, x)
