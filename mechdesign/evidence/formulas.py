"""Certificates without a search: of symmetric problems, and of problems without privacy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechdesign.evidence.rows import averaged, estimator
from mechdesign.evidence.simplicial import universal
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.linearizations import AsGain, Costs, Readings
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import Loss, Reading, Risk
from mechdesign.kernel.oracles import Classes, Facet, Knapsack, OneBudget, Oracles, Orthant, Rays
from mechdesign.kernel.oracles.common import Ask
from mechdesign.kernel.packed import Numbers, Weights
from mechdesign.kernel.relaxations import Average
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


def nothing_constrained(compiled: Compiled) -> Certificate:
    """Return the bound that every input has its own best output."""
    statement = compiled.statement
    aim, k = statement.objective, statement.k
    if isinstance(aim, Reading):
        return _read_exactly(aim, k)
    if isinstance(aim, Loss):
        if aim.weights is not None:
            return Certificate(Costs(), Orthant())
        tables = [aim.costs.lower(y) for y in range(aim.costs.n_outputs)]
        least = [min(costs) for costs in zip(*tables, strict=True)]
        return Certificate(Costs(), Orthant(), (at_one(least.index(max(least)), k),))
    return universal(statement, [Facet(None, x) for x in range(k)])


def evenly(k: int) -> Average:
    """Return the mean over all inputs."""
    return Average(Weights([1.0] * k))


def at_one(x: int, k: int) -> Average:
    """Return the loss of one input."""
    return Average(Weights([float(z == x) for z in range(k)]))


def _read_exactly(aim: Reading, k: int) -> Certificate:
    """Return probes at the ends of f, with slopes 2 w f: the variance is at least 0."""
    low, high = min(aim.values), max(aim.values)
    relaxations = () if aim.weights else (evenly(k),)
    weights = aim.weights or (Fraction(1, k),) * k
    slopes = Numbers([2 * w * f for w, f in zip(weights, aim.values, strict=True)])
    probes = (low, high) if low < high else (low, low + 1)
    return Certificate(Readings(probes, slopes), Orthant(), relaxations)
