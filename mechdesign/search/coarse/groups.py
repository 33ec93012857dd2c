"""An inexpensive bound for any problem with bounds on ratios.

Every input is in the group of one input r. A private column has q_x >= s_x q_r for the others of
the group, with 1 / s_x the bound on q_r / q_x. These rows and q_r >= 0, one for each input, are the
facets of a cone that contains all private columns. Its rays are s on each group, and each other
input alone; so the channel of these rays is at least as good as any private one. Both few and many
groups give weak bounds, so several numbers of groups are tried.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.evidence.rows import averaged, negated, relaxed
from mechdesign.evidence.simplicial import universal
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.generators import Ratio
from mechdesign.kernel.linearizations import AsGain, Costs
from mechdesign.kernel.objectives import Loss, Risk
from mechdesign.kernel.oracles import DoubleDescription, Facet, Orthant, Rays
from mechdesign.kernel.relaxations import Implied, Representatives, Restrict
from mechdesign.kernel.statement import Statement
from mechdesign.problem import Problem
from mechdesign.search.coarse.representatives import CoarseProgram, chosen

MOST_ENTRIES = 2 * 10**6
"""The largest number of entries of the losses, or pairs of inputs."""

MOST_FACETS, MOST_ESTIMATED = 200, 40
"""The largest number of inputs with listed rays of facets: for objectives other than losses; and
for a risk of estimation, whose estimator takes a cubic number of steps."""


MOST_LISTED = 8
"""The largest number of inputs of which all rays are listed."""


def grouped(problem: Problem) -> Certificate | None:
    """Return the bound of the best groups; None without bounds on ratios, or with many inputs."""
    statement, k = problem.compiled.statement, len(problem.domain)
    loss = statement.objective
    n_outputs = loss.costs.n_outputs if isinstance(loss, Loss) else 1
    if k < 2 or k * max(k, n_outputs) > MOST_ENTRIES:
        return None
    cone, E, steps = problem.cone, problem.cone.lengths(), averaged(statement, np.ones(k))
    aim = relaxed(statement, steps).objective
    most = MOST_ESTIMATED if isinstance(aim, Risk) else MOST_FACETS
    if not isinstance(aim, Loss | Risk | Gain) or not np.isfinite(E).sum() > k:
        return None
    if k > most and not isinstance(aim, Loss):
        return None
    counts = [1 << n for n in range(k.bit_length()) if 1 << n < k]
    sets = chosen(E, problem.prior.array, counts)
    groups = [CoarseProgram(cone, E, inputs) for inputs in sets]
    if isinstance(aim, Loss):
        weights = np.array([float(w) for w in aim.weights or ()])
        tables = (np.array(aim.costs.lower(y), dtype=float) for y in range(n_outputs))
        costs = np.array([weights * table for table in tables]) / aim.costs.denominator
        groups = [max(groups, key=partial(_bound, costs))]
        if all(min(aim.costs.lower(y)) >= 0 for y in range(n_outputs)):
            step = Representatives(tuple(groups[0].stands.tolist()))
            return Certificate(Costs(), Orthant(), (*steps, step))
        if k > most:
            return None
    made = [
        universal(statement, [_facet(statement, x, r) for x, r in enumerate(some.stands.tolist())])
        for some in groups
    ]
    return max(made, key=lambda certificate: certificate.bound(statement))


def of_few_inputs(problem: Problem) -> Certificate | None:
    """Return the bound on a gain that depends on few inputs: the optimum for these alone."""
    statement, k = problem.compiled.statement, len(problem.domain)
    aim = statement.objective
    if not isinstance(aim, Gain):
        return None
    kept = tuple(x for x in range(k) if aim.p[x] or any(v[x] for v in aim.vectors))
    if not len(kept) <= min(k - 1, MOST_LISTED):
        return None
    from mechdesign.search.highs import RestrictedMaster  # imports HiGHS

    implied = () if problem.cone.is_by_ratios else (Implied(alone=False),)
    steps = (*implied, Restrict(kept))
    rays = np.array(DoubleDescription()(relaxed(statement, steps), None).rays, dtype=float)
    rays /= rays.max(axis=1, keepdims=True)
    gain, exact = aim.on(kept), [list(map(Fraction, ray)) for ray in rays.tolist()]
    gains = np.array([float(gain(ray, up=True)) for ray in exact])
    with suppress(SolverError):
        _, potentials = RestrictedMaster(rays.T, gains).solve()
        return Certificate(AsGain(), Rays(DoubleDescription()), steps, (), negated(potentials))
    return None


def _bound(costs: FloatArray, groups: CoarseProgram) -> float:
    """Return the bound of groups on a loss, in floating point."""
    rays = groups.shares.T.toarray()
    return float((costs @ rays).min(axis=0).sum() + (1 - rays.sum(axis=1)) @ costs.min(axis=0))


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
