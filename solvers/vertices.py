"""Brute force over extreme rays, for a few inputs.

Every column of a private channel is a mixture of the extreme rays of the cone, and every channel is
weights theta >= 0 on them with Sum theta_r r = 1. An extreme ray is tight in k - 1 independent
rows, so all choices of k - 1 rows are tried, in rational arithmetic. What a ray is worth is found
by trying all outputs; for the posterior-mean error, a concave problem, this is exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from mechdesign.problem import Problem
from mechdesign.utilities import PosteriorMeanSquaredError
from solvers.base import FloatArray, SolverResult, UnsuitableError, stopwatch
from solvers.definitions import ExactRows, loss, posterior_values, rows
from solvers.direct_lp import minimise

__all__ = ["extreme_rays", "solve"]

MOST_INPUTS = 4
MOST_CHOICES = 30_000

Vector = list[Fraction]


def solve(problem: Problem) -> SolverResult:
    """Solve a problem on at most 4 inputs.

    Raises
    ------
    UnsuitableError
        If there are more inputs, or too many choices of rows.
    """
    with stopwatch() as seconds:
        k = len(problem.domain)
        if k > MOST_INPUTS:
            raise UnsuitableError(f"{k} inputs are too many for all rays")
        rays = extreme_rays(rows(problem))
        P = problem.prior.array
        if isinstance(problem.utility, PosteriorMeanSquaredError):
            f = posterior_values(problem)
            law, moment = rays @ P, rays @ (P * f)
            gain = np.divide(moment**2, law, out=np.zeros(len(rays)), where=law > 0)
            value, theta = minimise(-gain, None, sp.csr_array(rays.T), np.ones(k))
            return SolverResult(
                float(P @ f**2) + value, _used(rays.T * theta), seconds(), "vertices"
            )
        D = loss(problem)
        m = D.shape[1]
        if getattr(problem.utility, "worst_case", False):
            # variables theta[r, y] and t: Sum_ry theta[r, y] r_x D(x, y) <= t for every x
            spread = np.einsum("rx,xy->xry", rays, D).reshape(k, -1)
            above = np.hstack([spread, -np.ones((k, 1))])
            sums = np.hstack([np.repeat(rays.T, m, axis=1), np.zeros((k, 1))])
            cost = np.append(np.zeros(len(rays) * m), 1.0)
            value, theta = minimise(cost, above, sp.csr_array(sums), np.ones(k))
            weights = theta[:-1].reshape(-1, m)
        else:
            worth = rays @ (P[:, None] * D)  # of every ray, sent as every output
            best = worth.argmin(axis=1)
            value, theta = minimise(worth.min(axis=1), None, sp.csr_array(rays.T), np.ones(k))
            weights = np.zeros((len(rays), m))
            weights[np.arange(len(rays)), best] = theta
        return SolverResult(value, rays.T @ weights, seconds(), "vertices")


def _used(matrix: FloatArray) -> FloatArray:
    return matrix[:, matrix.max(axis=0) > 0]


def extreme_rays(G: ExactRows) -> FloatArray:
    """Return the extreme rays of {q >= 0 : G q <= 0}, largest entry 1, ``(n_rays, n_inputs)``.

    Raises
    ------
    UnsuitableError
        If there are too many choices of rows.
    """
    k = G.shape[1]
    exact = [list(row) for row in sorted({tuple(row) for row in G.tolist()})]
    exact += [[Fraction(-int(x == z)) for z in range(k)] for x in range(k)]
    if math.comb(len(exact), k - 1) > MOST_CHOICES:
        raise UnsuitableError(f"{len(exact)} rows give too many choices of {k - 1}")
    found = set()
    for chosen in itertools.combinations(exact, k - 1):
        ray = _null_vector(chosen, k)
        if ray is None:
            continue
        for sign in (1, -1):
            candidate = [sign * entry for entry in ray]
            if all(
                sum(g * q for g, q in zip(row, candidate, strict=True) if g) <= 0 for row in exact
            ):
                top = max(candidate)
                found.add(tuple(entry / top for entry in candidate))
    return np.array([[float(entry) for entry in ray] for ray in sorted(found)])


def _null_vector(chosen: Sequence[Vector], k: int) -> Vector | None:
    """Return the vector that k - 1 rows leave free, or None if they leave more than one free."""
    table = [list(row) for row in chosen]
    pivots: list[int] = []
    for column in range(k):
        at = len(pivots)
        pivot = next((i for i in range(at, len(table)) if table[i][column]), None)
        if pivot is None:
            continue
        table[at], table[pivot] = table[pivot], table[at]
        head = table[at][column]
        table[at] = [entry / head for entry in table[at]]
        for i, row in enumerate(table):
            if i != at and row[column]:
                factor = row[column]
                table[i] = [a - factor * b for a, b in zip(row, table[at], strict=True)]
        pivots.append(column)
    if len(pivots) < k - 1:
        return None
    free = next(column for column in range(k) if column not in pivots)
    vector = [Fraction(int(column == free)) for column in range(k)]
    for i, column in enumerate(pivots):
        vector[column] = -table[i][free]
    return vector
