"""Support for tests of the routes: the kernel judges a raw answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechdesign import Channel, Problem
from mechdesign.repair import repair
from mechdesign.search.base import RawSolution


def proved_bound(problem: Problem, raw: RawSolution) -> float:
    """The bound that the weights, or prices, prove, by the kernel."""
    statement = problem.compiled.statement
    certificate = raw.proofs[0](problem)
    return float(statement.sign * certificate.bound(statement))


def repaired_value(problem: Problem, raw: RawSolution) -> Fraction:
    """The value of the channel after the repair, which makes it private exactly."""
    rows, kept = repair(problem.cone, raw.matrix)
    channel = Channel(rows, inputs=problem.domain, outputs=[raw.outputs[y] for y in kept])
    assert problem.cone.holds(channel)
    return problem.utility.value(channel, problem.prior, problem.outputs)


def assert_optimal(problem: Problem, raw: RawSolution, optimum: float, tol: float = 1e-7) -> None:
    """Channel and weights each meet the optimum: neither can be beyond it."""
    assert np.allclose(raw.matrix.sum(axis=1), 1, atol=1e-6)
    scale = max(1.0, abs(optimum))
    assert abs(float(repaired_value(problem, raw)) - optimum) <= tol * scale
    assert abs(proved_bound(problem, raw) - optimum) <= tol * scale
