"""A lower bound on a risk of estimation from the diagonal of M alone.

As M p = 1, the variance of an input is bounded below in terms of M_xx:

    v_x  >=  p_x**2 + (1 - p_x)**2 / (M_xx - 1),

with equality if the off-diagonal entries of M are those of the symmetric case. The risk of these
variances is convex in the diagonal. Its linearization is a gain that is separable by inputs, a sum
of (d_x q_x)**2 / (p . q), which the routes for such gains bound for any cone and any number of
inputs (:mod:`mechdesign.search.rays.extreme_rays`). They return the channel of the largest gain,
towards which the diagonal moves: the Frank-Wolfe method.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.rows import Proof, averaged, estimator, relaxed
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.relaxations import Relaxations
from mechdesign.prior import Prior
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.limits import Limits
from mechdesign.search.rays.extreme_rays import solve_by_rays
from mechdesign.utilities import ColumnUtility

ROUNDS, STEP = 6, 0.5
"""The largest number of linearizations, and the step size towards the last channel's diagonal."""

BETTER, GAP = 0.01, 1e-2
"""The rounds continue while the bound improves by this share; and the gap of each gain."""

LEAST = 1e-9
"""The least excess of M_xx over 1."""


class _Squares(ColumnUtility):
    """Sum_x (d_x q_x)**2 / (P . q), maximized: separable, with weights of the current iterate."""

    name, sense = "squares", "maximize"

    def __init__(self, scales: FloatArray) -> None:
        self.scales = scales

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        """Return the squares over the probability of each output."""
        return np.asarray(((self.scales[:, None] * columns) ** 2).sum(axis=0) / (prior @ columns))

    def coordinate_gain(self, x: IntArray, r: FloatArray, prior: FloatArray) -> Any:
        """Return (d_x r)**2."""
        return (self.scales[x] * r) ** 2


def separable_bound(
    problem: Problem, channel: FloatArray, worst: Weights | None, limits: Limits
) -> tuple[float, Proof] | None:
    """Return a bound on the risk, and its proof; None if no cone or gain fits.

    It starts at a good channel, ``(n_inputs, n_outputs)``; a worst case is bounded at the prior
    ``worst``.
    """
    prior = problem.prior
    if worst is not None and not any(f.lift_rows() for f in problem.cone.families):
        prior = Prior(worst)
    p, best = prior.array, None
    statement = problem.compiled.statement
    roots = getattr(statement.objective, "roots", False)
    _, alike = np.unique(p, return_inverse=True)
    W, step = np.ones(len(p)), 1.0
    for _ in range(ROUNDS):
        channel = channel[:, channel.any(axis=0)]
        rest = (channel**2 / (p @ channel)).sum(axis=1) - 1
        W, step = (1 - step) * W + step * np.maximum(rest, LEAST), STEP
        W = (np.bincount(alike, W) / np.bincount(alike))[alike]  # equal for equal probabilities
        a = (1 - p) / W
        found = estimator(np.diag(a), p, roots, p * p + a * (1 - p))
        steps = [*averaged(statement, worst and prior.probabilities), found]
        bound, channel, proof = _linearized(problem, prior, steps, channel, limits)
        if best is None or bound > best[0]:
            better = best is None or bound > best[0] + BETTER * abs(bound)
            best = bound, proof
        if not better or limits.expired():
            break
    return best


def _linearized(
    problem: Problem,
    prior: Prior,
    steps: Sequence[Relaxations],
    near: FloatArray | None,
    limits: Limits,
) -> tuple[float, FloatArray, Proof]:
    """Return the bound of an estimator, in floats, the channel of most gain, and the proof."""
    statement = relaxed(problem.compiled.statement, steps)
    aim = statement.objective
    if not isinstance(aim, Squares):
        raise UnsupportedError("objective", "a gain of squares", "another")
    scales = [
        float(v[x]) * math.sqrt(b)
        for x, (v, b) in enumerate(zip(aim.vectors, aim.numbers, strict=True))
    ]
    gain = Problem(problem.domain, problem.privacy, _Squares(np.array(scales)), prior=prior)
    vars(gain)["compiled"] = replace(problem.compiled, statement=statement)  # of the gain
    within = limits.part()
    within.gap = max(within.gap, GAP)
    raw = solve_by_rays(gain, within, near)
    most = math.inf if raw.numeric_bound is None else float(raw.numeric_bound)

    def proof(_problem: Problem) -> Certificate | None:
        for make in raw.proofs:
            if (found := make(gain)) is not None:
                return replace(found, relaxations=(*steps, *found.relaxations))
        return None

    return float(aim.constant) - most, raw.matrix, proof
