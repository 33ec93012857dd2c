"""libqif, the library nearest to this one: metric privacy, any budget for each pair of inputs.

``qif.mechanism.d_privacy.min_loss_given_d`` solves the linear program with a row for each pair and
output, except for pairs that it is told are implied by others. It is an optional extra, `peers`.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.problem import Problem
from solvers.base import FailedError, FloatArray, SolverResult, UnsuitableError, stopwatch
from solvers.definitions import loss

ROUNDING = 1e-12
"""Budgets are sums of others if they are so up to this share: distances are irrational."""


def is_installed() -> bool:
    """Return whether the package ``qif`` is there."""
    return importlib.util.find_spec("qif") is not None


def suits(problem: Problem) -> bool:
    """Return whether the notions are rows on pairs of inputs, and the objective an expected loss.

    Whether :mod:`solvers.definitions` has the loss is a question of its own.
    """
    on_pairs = all(isinstance(family, PairRows) for family in problem.cone.families)
    return problem.is_conic and on_pairs and problem.expected_loss is not None


def solve(problem: Problem) -> SolverResult:
    """Solve a problem with an expected loss under budgets for pairs of inputs.

    Raises
    ------
    UnsuitableError
        If libqif is not installed, or does not take such a problem.
    FailedError
        If it returns an empty matrix, its sign of failure.
    """
    if not is_installed():
        raise UnsuitableError("libqif: the package qif is not installed")
    if not suits(problem):
        raise UnsuitableError("libqif: it takes expected losses and budgets for pairs of inputs")
    import qif

    with stopwatch() as seconds:
        D, E, weights = loss(problem), budgets(problem), np.array(problem.prior.array)
        losses, limit, without = D.tolist(), E.tolist(), implied(E).tolist()
        build = seconds()
        matrix = np.array(
            qif.mechanism.d_privacy.min_loss_given_d(
                weights,
                D.shape[1],
                lambda x, other: limit[x][other],
                lambda x, y: losses[x][y],
                "all",
                lambda x, other: without[x][other],
            )
        )
        whole = seconds()
    if matrix.shape != D.shape:
        raise FailedError("libqif: an empty matrix, so it found no optimum")
    value = float(weights @ (D * matrix).sum(axis=1))
    parts = {"build": build, "solve": whole - build}
    return SolverResult(value, matrix, whole, "libqif", parts)


def budgets(problem: Problem) -> FloatArray:
    """Return E with Q(y|x) <= e**E[x, x'] Q(y|x'), inf where unbounded, ``(k, k)``.

    Raises
    ------
    UnsuitableError
        If a notion is not one on pairs of inputs.
    """
    k = len(problem.domain)
    E = np.full((k, k), np.inf)
    for family in problem.cone.families:
        if not isinstance(family, PairRows):
            raise UnsuitableError("libqif: a notion is not about pairs of inputs")
        exponents = [float(bound.exponent(family.epsilon)) for bound in family.bounds]
        each = np.array([*(exponents + np.log(family.factors)), np.inf])  # index -1 is none
        E = np.minimum(E, each[family.index])
    np.fill_diagonal(E, 0)
    return E


def implied(E: FloatArray) -> np.ndarray:
    """Return which pairs follow from two others by a third input, ``(k, k)`` booleans.

    E[x, z] + E[z, x'] <= E[x, x'] with both legs less than the whole, so that dropping all such
    pairs at once is safe: by induction on the budget, what is kept implies each of them.
    """
    found = np.zeros(E.shape, dtype=bool)
    whole = E * (1 + ROUNDING)
    for z in range(len(E)):
        there, back = E[:, [z]], E[[z], :]
        found |= (there + back <= whole) & (there < E) & (back < E)
    return found & np.isfinite(E)
