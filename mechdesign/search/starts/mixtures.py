"""The best channel that can be mixed from given private columns, each with its best output.

With rays r_j and the costs c_y of the outputs, the restricted master problem is

    minimize Sum_j theta_j min_y c_y . r_j      over theta >= 0 with Sum_j theta_j r_j = 1,

one linear program with a row for each input. For a worst case the least of the largest loss is
sought over pairs of a ray and an output; pairs are added that are cheapest at the dual weights of
the inputs. For a sum of gains the cost of a ray is what it gains, with the sign changed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.limits import Limits
from mechdesign.search.master import solve_master
from mechdesign.search.starts.private_columns import groups

__all__ = ["decided", "mixture", "worst_case_mixture"]

ROUNDS = 8
"""How often pairs of a ray and an output are added for a worst case."""

BETTER = 1e-6
"""A round that lowers the value by less than this share of it is the last."""

USED = 1e-12
"""Weights below this are left out."""

MOST_PRODUCTS = 10**11
"""Multiplications up to which every column is offered every output."""


def decided(
    columns: FloatArray, cost: FloatArray, most: int | None = None
) -> tuple[FloatArray, float]:
    """Send each column as its best output; return the channel and its expected loss.

    Of very many outputs only some are tried for each column, and all for what is sent as one.

    Parameters
    ----------
    columns
        ``(n_inputs, n)`` columns of a channel.
    cost
        ``(n_inputs, n_outputs)``.
    most
        How many outputs may be used; default any number.
    """
    best = best_outputs(columns, cost)
    member = sp.csr_array(
        (np.ones(len(best)), (np.arange(len(best)), best)), shape=(len(best), cost.shape[1])
    )
    channel = np.asarray(columns @ member)
    used = np.unique(best)
    merged = channel[:, used]
    if most is not None and len(used) > most:
        (group,) = groups(merged.T @ cost, [most])
        merged = merged @ np.eye(most)[group]
    again = best_outputs(merged, cost)  # what was merged may have a better output
    matrix: FloatArray = np.zeros_like(cost)
    np.add.at(matrix.T, again, merged.T)
    return matrix, float((matrix * cost).sum())


def best_outputs(columns: FloatArray, cost: FloatArray) -> IntArray:
    """Return the output of least c_y . q for each column."""
    (k, n), m = columns.shape, cost.shape[1]
    step = -(-k * n * m // MOST_PRODUCTS)
    tried = np.arange(0, m, step)
    best = tried[np.argmin(columns.T @ cost[:, tried], axis=1)]
    return np.asarray(best, dtype=np.intp)


def mixture(rays: FloatArray, cost: FloatArray, limits: Limits | None = None) -> FloatArray:
    """Return the columns of the cheapest mixture that is a channel, each with its weight.

    Parameters
    ----------
    rays
        ``(n_inputs, n)``, one of them constant.
    cost
        ``(n,)``.
    limits
        When to end; default in time for the design.

    Raises
    ------
    SolverError
        If HiGHS fails, or time is over.
    """
    theta, _ = solve_master(rays, -cost, limits)
    used = theta > USED * theta.max()
    return np.asarray(rays[:, used] * theta[used])


def worst_case_mixture(
    rays: FloatArray, loss: FloatArray, limits: Limits | None = None
) -> FloatArray:
    """Return the channel of least worst-case loss that pairs of rays and outputs make.

    Parameters
    ----------
    rays
        ``(n_inputs, n)``, one of them constant.
    loss
        ``(n_inputs, n_outputs)``.
    limits
        When to end: with the pairs so far, if there were a few rounds.

    Raises
    ------
    SolverError
        If HiGHS fails, or time is over in the first round.
    """
    k, n = rays.shape
    scale = float(loss.max()) or 1.0
    weights = np.full(k, 1 / k)
    constant = np.full(loss.shape[1], int(np.argmax(rays.min(axis=0) / rays.max(axis=0))))
    ray, output = constant, np.arange(loss.shape[1])  # any output may be sent without looking
    value = np.inf
    matrix: FloatArray = np.zeros_like(loss)
    for round_ in range(ROUNDS):
        best = best_outputs(weights[:, None] * rays, loss)
        pairs = np.unique(np.column_stack([[*ray, *range(n)], [*output, *best]]), axis=0)
        ray, output = pairs.T
        columns = rays[:, ray]
        losses = columns * loss[:, output] / scale
        ones = -np.ones((k, 1))
        A = sp.csr_array(np.block([[columns, np.zeros((k, 1))], [losses, ones]]))
        low = np.concatenate([np.ones(k), np.full(k, -np.inf)])
        high = np.concatenate([np.ones(k), np.zeros(k)])
        program = LPModel(np.append(np.zeros(len(ray)), 1.0), A, low, high)
        try:
            found = solve_lp(program, "simplex", limits)
        except SolverError:
            if not round_:
                raise
            break
        before, value = value, float(found.primal[-1])
        matrix = np.zeros_like(loss)
        np.add.at(matrix.T, output, (columns * found.primal[:-1]).T)
        if before - value <= BETTER * value:
            break
        weights = np.maximum(-found.dual[k:], 0.0)
    return matrix


def largest_share(holds: Callable[[float], bool], steps: int) -> float:
    """Return nearly the largest t in [0, 1] at which a property holds that holds below it."""
    low, high = 0.0, 1.0
    if holds(high):
        return high
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
