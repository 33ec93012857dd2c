"""The result of a route: a channel, private up to rounding, and evidence for a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from mechdesign._typing import FloatArray
from mechdesign.domain import Label
from mechdesign.evidence.rows import Proof
from mechdesign.kernel.gains import Squares, Vector
from mechdesign.problem import Problem


@dataclass(frozen=True)
class RawSolution:
    """The answer of a route.

    Attributes
    ----------
    matrix
        ``(n_inputs, n_outputs)`` floats, a channel up to the solver's tolerance.
    outputs
        Labels of its columns.
    proofs
        Functions that return certificates of bounds, the most promising first.
    route
        How it was found, for the report.
    notes
        Sentences for the report: reductions, groups of inputs, rounds.
    numeric_bound
        A bound on the objective in floating point, for an objective that the checker does not know,
        in place of a proof. None if there are proofs.
    value
        The objective at the channel in floating point, if the route knows it.
    """

    matrix: FloatArray
    outputs: tuple[Label, ...]
    proofs: Sequence[Proof]
    route: str
    notes: Sequence[str] = field(default=())
    numeric_bound: Fraction | None = None
    value: float | None = None


def estimated_scalar(problem: Problem) -> tuple[Vector, Vector] | None:
    """Return f and a law p of the inputs if the gain of a column is (p f . q)**2 / p . q.

    Such an objective has the same optima as the error of the best estimate of f(X) for X ~ p. None
    for another objective.
    """
    aim = problem.compiled.statement.objective
    if not isinstance(aim, Squares) or len(aim.vectors) > 1 or aim.weights is not None:
        return None
    pairs = list(zip(aim.vectors[0], aim.p, strict=True))
    if any(v and not p for v, p in pairs):
        return None
    return tuple(v / p if p else p for v, p in pairs), aim.p
