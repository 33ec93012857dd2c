"""The linear program of a cone and a cost, solved by HiGHS.

Rows are stated by extended formulations, with auxiliary variables, the same for each output. A
worst case over x is an additional variable above the loss of every input. With p_y = n_y q_y, as
the cone is homogeneous, the variables are the p_y: multipliers of their rows are those of q_y at
c_y.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.limits import Limits
from mechdesign.search.lp.extended_formulation import extended_formulation
from mechdesign.search.presolve.reduction import Answer, ConicProgram

MANY_ROWS = 3_000
"""Number of rows from which HiGHS's interior-point method is faster without shared variables."""

FAR = 0.5
"""Largest deviation from 1 of the row sums of a search that was cut short."""


def by_highs(program: ConicProgram, limits: Limits, method: str = "auto") -> Answer:
    """Solve a program by HiGHS; the backend for any of them.

    Least entries t are substituted: with s = q - t >= 0 in place of q, the rows t <= q become
    bounds, which leave the basis. The program of LDP has half as many rows, and the simplex method
    is much faster on it. The multipliers of those rows are the reduced costs of s.

    If the time is over before the optimum, the multipliers of the last step still give a bound.

    Parameters
    ----------
    program, limits
        As for any backend.
    method
        ``"simplex"``, ``"ipm"``, or ``"auto"`` to choose by size.

    Raises
    ------
    SolverError
        If HiGHS fails, or the time is over before there is an answer.
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
