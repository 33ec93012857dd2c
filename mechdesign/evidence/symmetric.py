"""Certificates of problems that a permutation of all inputs leaves as they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechdesign.evidence.estimator import estimator
from mechdesign.evidence.rows import averaged
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.linearizations import AsGain, Costs
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import Loss, Risk
from mechdesign.kernel.oracles import Knapsack, OneBudget, Oracles, Rays
from mechdesign.kernel.oracles.sources import Classes
from mechdesign.kernel.oracles.sources.base import Ask
from mechdesign.kernel.statement import Statement


def symmetric(compiled: Compiled) -> Certificate:
    """Return prices 0, and classes of rays that are alike but for a permutation of all inputs."""
    statement = compiled.statement
    steps = averaged(statement, np.ones(statement.k))
    if not isinstance(statement.objective, Loss):
        return Certificate(AsGain(), Rays(_classes(statement)), tuple(steps))
    oracle: Oracles = OneBudget() if statement.ratios else Knapsack()
    return Certificate(Costs(), oracle, tuple(steps))


def subset_selection(compiled: Compiled) -> Certificate | None:
    """Return the estimator of all permutations of the best ray; None if there is none."""
    statement = compiled.statement
    aim, k = statement.objective, statement.k
    if not isinstance(aim, Risk) or k < 2:
        return None
    source = _classes(statement)
    p = (Fraction(1, k),) * k
    listed = source(statement, Ask(Squares((p,), p), [0] * k)).rays
    rays = np.array([[float(v) for v in ray] for ray in listed])
    rays = rays / rays.sum(axis=1, keepdims=True)
    square = float((rays**2).sum(axis=1).max()) * k * k  # |r|**2 with mean 1
    a = (square - k) / (k - 1)
    if a <= 0:
        return None
    A = (np.eye(k) - 1 / k) / a + 1 / (k * k)
    steps = (*averaged(statement, None), estimator(A, np.full(k, 1 / k), aim.roots))
    return Certificate(AsGain(), Rays(source), steps)


def _classes(statement: Statement) -> Classes:
    return Classes((tuple(range(statement.k)),), None, not statement.ratios)
