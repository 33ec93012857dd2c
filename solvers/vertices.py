"""Brute force over extreme rays, for a few inputs.

Every column of a private channel is a mixture of the extreme rays of the cone, and every channel is
weights theta >= 0 on them with Sum theta_r r = 1. An extreme ray is tight in k - 1 independent
rows, so all choices of k - 1 rows are tried, in rational arithmetic; where these are too many,
Qhull lists the rays in floats. What a ray is worth for a loss is found by trying all outputs; a sum
of gains, a concave problem, is best with one output for each ray, so that this is exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from mechdesign.problem import Problem
from solvers import polytope
from solvers.base import FloatArray, SolverResult, UnsuitableError, stopwatch
from solvers.definitions import ExactRows, loss, rows
from solvers.direct_lp import minimise
from solvers.gains import error_left, gain, is_sum_of_gains

MOST_INPUTS = 4
"""Up to here all choices of rows are tried, if they are no more than :data:`MOST_CHOICES`."""

MOST_CHOICES = 30_000

Vector = list[Fraction]


def solve(problem: Problem) -> SolverResult:
    """Solve a problem on a few inputs.

    Raises
    ------
    UnsuitableError
        If there are too many inputs or rows, or the cone is too thin for floats.
    """
    with stopwatch() as seconds:
        rays = rays_of(problem)
        if is_sum_of_gains(problem.utility):
            most, theta = best_mixture(rays, gain(problem, rays))
            whole = error_left(problem)
            value = most if whole is None else whole - most
            return SolverResult(value, _used(rays.T * theta), seconds(), "vertices")
        value, weights = _least_loss(problem, rays)
        return SolverResult(value, rays.T @ weights, seconds(), "vertices")


def rays_of(problem: Problem) -> FloatArray:
    """Return all extreme rays of a problem's notions, largest entry 1, ``(n_rays, n_inputs)``.

    Raises
    ------
    UnsuitableError
        If there are too many inputs or rows, or the cone is too thin for floats.
    """
    G = rows(problem)
    if len(problem.domain) <= MOST_INPUTS:
        try:
            return extreme_rays(G)
        except UnsuitableError:
            pass
    return polytope.extreme_rays(G.astype(float))


def best_mixture(rays: FloatArray, worth: FloatArray) -> tuple[float, FloatArray]:
    """Return the most of Sum theta_r worth_r over theta >= 0 with Sum theta_r r = 1, and theta."""
    scale = float(np.abs(worth).max()) or 1.0
    total = np.ones(rays.shape[1])
    least, theta = minimise(-worth / scale, None, sp.csr_array(rays.T), total)
    return -scale * least, theta


def _least_loss(problem: Problem, rays: FloatArray) -> tuple[float, FloatArray]:
    """Return the least loss, and how often each ray is sent as each output."""
    D, P = loss(problem), problem.prior.array
    k, m = D.shape
    if getattr(problem.utility, "worst_case", False):
        # variables theta[r, y] and t: Sum_ry theta[r, y] r_x D(x, y) <= t for every x
        spread = np.einsum("rx,xy->xry", rays, D).reshape(k, -1)
        above = np.hstack([spread, -np.ones((k, 1))])
        sums = np.hstack([np.repeat(rays.T, m, axis=1), np.zeros((k, 1))])
        cost = np.append(np.zeros(len(rays) * m), 1.0)
        value, theta = minimise(cost, above, sp.csr_array(sums), np.ones(k))
        return value, theta[:-1].reshape(-1, m)
    worth = rays @ (P[:, None] * D)  # of every ray, sent as every output
    best = worth.argmin(axis=1)
    value, theta = minimise(worth.min(axis=1), None, sp.csr_array(rays.T), np.ones(k))
    weights = np.zeros((len(rays), m))
    weights[np.arange(len(rays)), best] = theta
    return value, weights


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
