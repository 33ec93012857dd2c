"""The linear program of a problem through HiGHS, whole or with few outputs at first.

Rows are stated by extended formulations, with auxiliary variables, the same for each output. A
worst case over x is an additional variable above the loss of every input. With p_y = n_y q_y, as
the cone is homogeneous, the variables are the p_y: multipliers of their rows are those of q_y at
c_y.

Few outputs at first: an optimum uses few outputs, and the extended formulation of a column may have
some hundred rows. So the program is stated for some outputs only. Its potentials u price all: if no
private column q has a negative reduced cost (c_y - u) . q for any output y, no other output
improves the optimum. Those that do are added, repeatedly. Each pricing program, over one column
with entries that sum to 1, gives multipliers that bound its reduced cost, and Sum_x u_x plus k
times the least reduced cost is a bound at any time, as all columns of a channel sum to k.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError
from mechdesign.evidence.rows import certificate
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.limits import Limits
from mechdesign.search.lp.extended_formulation import extended_formulation
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.search.presolve.chain import UNLIKELY, solve_reduced
from mechdesign.search.presolve.reductions import Answer, ConicProgram, components
from mechdesign.search.presolve.symmetry import Symmetry
from mechdesign.utilities import Divergence

MANY_ROWS = 3_000
"""Number of rows from which HiGHS's interior-point method is faster without shared variables."""

FAR = 0.5
"""Largest deviation from 1 of the row sums of a search that was cut short."""


def by_highs(program: ConicProgram, limits: Limits, method: str = "auto") -> Answer:
    """Solve a program by HiGHS; the backend for any of them.

    Least entries t are substituted: with s = q - t >= 0 in place of q, the rows t <= q become
    bounds, which leave the basis. The program of LDP has half as many rows, and the simplex method
    is much faster on it. The multipliers of those rows are the reduced costs of s.

    If the time is over before the optimum, the multipliers of the last step still give a bound. The
    method is ``"simplex"``, ``"ipm"``, or ``"auto"`` to choose by size.
    """
    if limits.expired():
        raise SolverError(f"no linear program was built: {limits.ended}")
    (k, m), is_worst = program.cost.shape, program.worst_case
    rows = extended_formulation(program.cone, True, program.sums)
    column, (entry, least, bound) = rows.A, rows.least
    if method == "auto":
        method = "simplex" if rows.shares_least or m * len(rows) < MANY_ROWS else "ipm"
    n, kept = column.shape[1], np.setdiff1d(np.arange(len(rows)), bound)
    shift = sp.csr_array((np.ones(len(entry)), (entry, least)), shape=(n, n))
    change = sp.csr_array(sp.kron(sp.eye_array(m), sp.eye_array(n) + shift))
    # the mean over an orbit of inputs: of the row sums, which is 1, and of the losses
    orbit, sizes = program.orbits, np.bincount(program.orbits)
    share, orbits = np.tile(1 / sizes[orbit], m), len(sizes)
    places = np.tile(orbit, m), (n * np.arange(m)[:, None] + np.arange(k)).ravel()
    sums = sp.csr_array((share, places), shape=(orbits, m * n))
    costs = np.zeros((m, n))
    costs[:, :k] = program.cost.T
    cost = np.asarray(change.T @ costs.ravel())
    body, losses = sp.kron(sp.eye_array(m), column[kept]), sums @ sp.diags_array(costs.ravel())
    limit = np.concatenate([np.zeros(0), *(part.limits() for _, part in program.sums)])
    totals = sp.kron(np.ones((1, m)), sp.eye_array(len(limit), n, k=n - len(limit)))
    A = sp.vstack([body, totals, *[losses] * is_worst, sums], format="csr") @ change
    equal = np.append(np.tile(rows.equal[kept], m), np.zeros(len(limit), dtype=bool))
    if is_worst:  # minimize t with Sum_y D[x, y] Q[x, y] - t <= 0 for every x
        above = np.repeat([0.0, -1.0, 0.0], [len(equal), orbits, orbits])
        A, cost = sp.hstack([A, sp.csr_array(above[:, None])], format="csr"), np.append(0 * cost, 1)
        equal = np.append(equal, np.zeros(orbits, dtype=bool))
    high = np.repeat([0.0, 1.0], [len(equal), orbits])
    high[m * len(kept) : m * len(kept) + len(limit)] = limit
    low = np.append(np.where(equal, 0.0, -np.inf), np.ones(orbits))
    A.eliminate_zeros()
    A.sort_indices()
    found = solve_lp(LPModel(cost, sp.csr_array(A), low, high), method, limits, partial=True)
    matrix = np.asarray(change @ found.primal[: m * n]).reshape(m, n)[:, :k].T
    weights, own = np.zeros((len(rows), m)), -found.dual[: m * len(kept)]
    weights[kept] = own.reshape(m, -1).T
    weights[bound] = found.reduced[: m * n].reshape(m, n)[:, entry].T
    of_losses = None
    if is_worst:
        of_losses = np.maximum(-found.dual[len(equal) - orbits : len(equal)], 0.0)
        if not of_losses.any():  # zero multipliers prove no bound; any others are at least as good
            of_losses = sizes.astype(np.float64)
    return Answer(
        (matrix if found.is_optimal else _channel(matrix, program)) / program.counts,
        [] if program.is_priced else rows.duals(np.maximum(weights, 0.0)),
        f"linear-program: HiGHS {method}",
        (found.dual[-orbits:] / sizes)[orbit],
        of_losses,
        is_optimal=found.is_optimal,
    )


def _channel(matrix: FloatArray, program: ConicProgram) -> FloatArray:
    """Return the columns of a search that was cut short as a channel, or else a constant one.

    Those of an interior-point method are nearly private, those of the dual simplex method are not.
    """
    matrix = np.maximum(matrix, 0.0)
    total = matrix.sum(axis=1)
    if np.abs(total - 1).max() <= FAR:
        return np.asarray(matrix / total[:, None])
    of_outputs = program.cost.max(axis=0) if program.worst_case else program.cost.sum(axis=0)
    only = np.zeros_like(matrix)
    only[:, of_outputs.argmin()] = 1.0
    return only


FEWEST_INPUTS = 80
"""With fewer inputs one program for all outputs is as fast."""

FIRST, LEAST_ADDED = 16, 8
"""The initial number of outputs, and the least number added; of many outputs, a fifth is added."""

NEGATIVE = 1e-10
"""A reduced cost below minus this, in the unit of the costs, counts as negative."""


def pays(program: ConicProgram) -> bool:
    """Return whether outputs should be added one after the other.

    This is the case for an expected loss with many inputs and a box or a ball of priors: few
    outputs are used, and a column has many rows. A worst case takes up to five times as long.
    """
    lifts = (family.lift_rows() for family in program.cone.families)
    sets = any(rows is not None and rows.priors.support() is not None for rows in lifts)
    return len(program.cost) >= FEWEST_INPUTS and not program.worst_case and sets


def by_outputs(program: ConicProgram, limits: Limits) -> Answer:
    """Solve a program by output generation: a backend for programs for which it :func:`pays`.

    If the time is over, the best channel of the current outputs is returned.
    """
    k, m = program.cost.shape
    active = np.unique(np.linspace(0, m - 1, min(m, FIRST)).round().astype(np.intp))
    pricer = LPPricer(program.cone, limits=limits, at_most=True)
    rounds, bound, value = 0, -np.inf, np.inf
    while True:
        try:
            cost, counts = program.cost[:, active], program.counts[active]
            some = replace(program, cost=cost, output_count=counts, is_priced=True)
            answer = by_highs(some, limits.part())
            potentials = np.asarray(answer.potentials)
            priced = pricer.price(program.cost - potentials[:, None])
        except SolverError:
            if not rounds:
                raise
            break
        rounds += 1
        if (loss := some.loss(answer.matrix)) < value:
            value, matrix = loss, np.zeros((k, m))
            matrix[:, active] = answer.matrix
        lower = float(potentials.sum()) + k * min(0.0, float(priced.reduced.min()))
        if lower > bound:
            bound, evidence, multipliers = lower, answer, priced.multipliers
        better = np.setdiff1d(np.flatnonzero(priced.reduced < -NEGATIVE), active)
        if limits.report(rounds, value, bound) or not len(better):
            break
        most = max(LEAST_ADDED, len(active) // 5)
        active = np.union1d(active, better[np.argsort(priced.reduced[better])[:most]])
    note = f"{len(active)} of {m} outputs were stated, in {rounds} rounds"
    duals = () if program.is_priced else pricer.duals(multipliers)
    return replace(evidence, matrix=matrix, duals=duals, notes=(note,))


def solve_linear(
    problem: Problem,
    method: str = "auto",
    limits: Limits | None = None,
    symmetry: Symmetry | None = None,
    unlikely: float = UNLIKELY,
) -> RawSolution:
    """Solve a problem whose loss is linear in the channel, including a worst case.

    Implied pairs need no separate reduction: the extended formulation omits them. The method is as
    for :func:`by_highs`; by ``"auto"`` a large program may start with some of the outputs.
    ``unlikely`` is as in :mod:`~mechdesign.search.presolve.chain`.
    """
    reduction = components if symmetry is None else symmetry.reduce

    def backend(program: ConicProgram, within: Limits) -> Answer:
        if method == "auto" and pays(program):
            return by_outputs(program, within)
        return by_highs(program, within, "ipm" if method == "auto" and symmetry else method)

    return solve_reduced(problem, limits or Limits(), backend, [reduction], unlikely)


def solve_signs(problem: Problem, utility: Divergence, limits: Limits) -> RawSolution:
    """Maximize a total variation by a program with an output for each of its two signs."""
    first, second = utility.weights(problem.domain)
    half = np.array([float(a - b) / 2 for a, b in zip(first, second, strict=True)])
    unit = float(np.abs(half).max())
    program = ConicProgram(problem.cone, np.column_stack([half, -half]) / unit)
    answer = by_highs(program, limits.part(unit))
    duals = [part.scaled(unit) for part in answer.duals]
    proof = partial(certificate, duals=duals, n_nodes=2)
    outputs, notes = name_outputs(problem, 2), [*answer.reductions, *answer.notes]
    return RawSolution(answer.matrix, outputs, [proof], answer.route, notes)
