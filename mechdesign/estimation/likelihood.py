"""Maximum likelihood by accelerated EM and an interior-point method, with a proved optimality gap.

The EM steps (Dempster, Laird and Rubin 1977; for channels also known as iterative Bayesian update)
are extrapolated as in SQUAREM (Varadhan and Roland 2008). Where they are slow, Newton's method on
the perturbed optimality conditions finishes (Koenker and Mizera 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.errors import SolverError
from mechdesign.estimation.report_models import DistinctReports
from mechdesign.exact import as_fraction
from mechdesign.solver_guard import called, check_product, checked

Columns: TypeAlias = FloatArray | LinearOperator

Progress = Callable[[int, float], None]
"""Called with the number of steps so far and the gap."""

LARGEST_TOLERANCE, LEAST_TOLERANCE, FAST_TOLERANCE = 1e-9, 1e-13, 1e-2
"""Gaps to stop at; the last is for implicit columns, which only EM can use."""

EM_CYCLES = 60
"""Accelerated EM cycles before Newton's method takes over."""

MOST_CYCLES, MOST_NEWTON = 20_000, 200

MOST_FAST_CYCLES = 500
"""Accelerated EM cycles for implicit columns; with that many inputs the maximum itself is mostly
noise."""

MOST_NEWTON_INPUTS = 4000
"""With more inputs, Newton steps, cubic in their number, cost more than they gain."""


@dataclass(frozen=True)
class Fit:
    """A distribution whose likelihood is within a proved gap of the maximum.

    ``gradient`` are the D_x of :func:`likelihood_gap`; the log-likelihood per report is within
    ``gap`` of its maximum.
    """

    distribution: FloatArray
    gradient: FloatArray
    gap: float
    iterations: int


def gradient_of(columns: Columns, share: FloatArray, p: FloatArray) -> FloatArray:
    """Return the D_x of :func:`likelihood_gap` at p.

    Columns are ``(n_inputs, n_distinct)``, a matrix or a linear operator.
    """
    return np.asarray(columns @ (share / (p @ columns)))


def likelihood_gap(gradient: FloatArray) -> float:
    """Return ln max_x D_x, an upper bound on the distance of L(p) from its maximum.

    With h the shares of the distinct reports, the log-likelihood per report is
    L(p) = Sum_y h_y ln lambda_y, lambda = p Q. For any other distribution p*, since the logarithm
    is concave and the h_y sum to 1,

        L(p*) - L(p) = Sum_y h_y ln(lambda*_y / lambda_y) <= ln Sum_y h_y lambda*_y / lambda_y
                     = ln Sum_x p*_x D_x <= ln max_x D_x,      D_x = Sum_y h_y Q[x,y] / lambda_y

    D is the gradient of L. As Sum_x p_x D_x = 1, the bound is at least 0, with equality iff p is a
    maximum.

    Examples
    --------
    >>> Q = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> likelihood_gap(gradient_of(Q, np.array([0.6, 0.4]), np.array([0.7, 0.3]))) < 1e-15
    True
    """
    return float(np.log(max(float(gradient.max()), 1.0)))


def fit(
    observed: DistinctReports, tolerance: float | None = None, progress: Progress | None = None
) -> Fit:
    """Maximize the likelihood of the reports over all distributions of the inputs.

    ``tolerance`` is the gap to stop at, in nats per report; default min(1e-9, 1e-3 / n), small
    relative to the sampling error of n reports, and 1e-2 for implicit columns.
    """
    wanted, least = _wanted_gap(tolerance, observed), np.inf
    for steps, (p, gradient) in enumerate(_iterates(observed)):
        gap = likelihood_gap(gradient)
        if progress is not None:
            progress(steps, gap)
        if gap <= wanted:
            return Fit(p, gradient, gap, steps)
        least = min(least, gap)
    raise SolverError(
        f"maximum likelihood stopped {least:.2g} nats per report below the largest, "
        f"{wanted:.2g} was asked; ask for less by tolerance={2 * least:.1g}"
    )


def _iterates(observed: DistinctReports) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield distributions of growing likelihood, each with its gradient D."""
    columns, share, k = observed.columns, observed.shares, observed.columns.shape[0]
    use_newton = observed.is_written and k <= MOST_NEWTON_INPUTS
    cycles = MOST_CYCLES if observed.is_written else MOST_FAST_CYCLES
    p = np.full(k, 1 / k)
    for _ in range(EM_CYCLES if use_newton else cycles):
        path = [p]
        for _ in range(2):
            gradient = gradient_of(columns, share, p)
            yield p, gradient
            p = p * gradient  # the mean posterior, which is never less likely
            p /= p.sum()
            path.append(p)
        ahead = _extrapolated(*path)
        if share @ np.log(ahead @ columns) > share @ np.log(p @ columns):
            p = ahead
    if use_newton:
        yield from _central_path(observed.matrix, share, p)


def _extrapolated(p: FloatArray, once: FloatArray, twice: FloatArray) -> FloatArray:
    """Return the SQUAREM extrapolation of two EM steps."""
    first, curvature = once - p, (twice - once) - (once - p)
    size = float(np.linalg.norm(curvature))
    if size == 0:
        return twice
    length = max(1.0, float(np.linalg.norm(first)) / size)
    ahead = p + 2 * length * first + length**2 * curvature
    # EM is multiplicative and cannot leave 0, so every input keeps a small share
    ahead = np.maximum(ahead, 1e-3 * twice)
    return np.asarray(ahead / ahead.sum())


def _central_path(
    columns: FloatArray, share: FloatArray, start: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Follow the central path p_x z_x = mu to mu = 0 by Newton steps on p and z = 1 - D.

    The penalty -Sum_x p_x replaces the constraint Sum_x p_x = 1: as Sum_x p_x D_x = 1 always, the
    maximizer of L(p) - Sum_x p_x over p >= 0 has sum 1.
    """
    k = len(start)
    p = np.maximum(start, 1e-9)
    p /= p.sum()
    z = np.maximum(1 - gradient_of(columns, share, p), 1e-3)
    for _ in range(MOST_NEWTON):
        outputs = p @ columns
        gradient = columns @ (share / outputs)
        yield p / p.sum(), gradient * p.sum()
        mu = 0.1 * float(p @ z) / k
        scaled = columns * (np.sqrt(share) / outputs)
        # scaling by sqrt(p) on both sides makes the matrix near the identity where p is small
        root = np.sqrt(p)
        H = root[:, None] * (scaled @ scaled.T) * root
        H[np.diag_indices(k)] += z
        residual = root * (gradient - 1 + mu / p)
        try:
            factor = called("LAPACK", scipy.linalg.cho_factor, H)
            solved = called("LAPACK", scipy.linalg.cho_solve, factor, residual)
            dp = root * checked("LAPACK", solved, p.shape)
        except SolverError:
            return
        dz = mu / p - z - z / p * dp
        p = p + _step_length(p, dp) * dp
        z = z + _step_length(z, dz) * dz


def observed_information(
    observed: DistinctReports, p: FloatArray, gradient: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return the inverse of the observed information per report, and a mask of the valid inputs.

    On the support S of the maximum, I = Sum_y h_y q_y q_y' / lambda_y**2, and n Cov is about
    I**-1 - p p'. An input is at the boundary, where the normal approximation fails, if p_x is at
    most its slack 1 - D_x. Its entries are NaN, and all entries are if I is singular.
    """
    k = len(p)
    inside = p > np.maximum(1 - gradient, 1e-12)
    inverse = np.full((k, k), np.nan)
    columns = observed.matrix
    scaled = columns[inside] * (np.sqrt(observed.shares) / (p @ columns))
    size = 1 / np.sqrt((scaled**2).sum(axis=1))
    H = size[:, None] * (scaled @ scaled.T) * size
    s, U = called("LAPACK", scipy.linalg.eigh, H)
    s, U = checked("LAPACK", s, size.shape), checked("LAPACK", U, H.shape)
    check_product("LAPACK", (U * s) @ U.T, H)
    if s[0] <= 1e-12 * s[-1]:
        return inverse, np.zeros(k, dtype=np.bool_)
    half = size[:, None] * U / np.sqrt(s)
    inverse[np.ix_(inside, inside)] = half @ half.T
    return inverse, inside


def _step_length(value: FloatArray, step: FloatArray) -> float:
    """Return the step length: 99.5 % of the way to the boundary, but at most 1."""
    down = step < 0
    if not down.any():
        return 1.0
    return min(1.0, 0.995 * float((-value[down] / step[down]).min()))


def _wanted_gap(tolerance: Any, observed: DistinctReports) -> float:
    if tolerance is None:
        if not observed.is_written:
            return FAST_TOLERANCE
        return max(LEAST_TOLERANCE, min(LARGEST_TOLERANCE, 1e-3 / observed.total))
    expected = "a number > 0, in nats per report"
    return float(as_fraction(tolerance, "tolerance", expected=expected, above=0))
