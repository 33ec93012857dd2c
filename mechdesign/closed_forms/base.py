"""The contract of closed forms: one method that returns a proved optimum, or why there is none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Label
from mechdesign.errors import UnsupportedError
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions.rows.cone import Family
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.problem import Problem
from mechdesign.utilities import ColumnUtility, EstimationRisk


@dataclass(frozen=True)
class Formula:
    """The channel of a closed form, accurate to the last few bits."""

    matrix: FloatArray
    outputs: tuple[Label, ...]


@dataclass(frozen=True)
class Optimum:
    """The optimum of a closed form whose condition holds.

    Attributes
    ----------
    reason
        Why it is optimal.
    formula
        Returns the channel.
    certificate
        Returns the certificate of optimality; None if the prices prove it, or nothing does.
    prices
        Returns ``(n_inputs,)`` prices that prove the optimality of an expected loss.
    """

    reason: str
    formula: Callable[[], Formula]
    certificate: Callable[[], Certificate | None] = lambda: None
    prices: Callable[[], FloatArray] | None = None


Decided: TypeAlias = Optimum | str | None
"""The optimum; else why the condition fails, or None for a problem of another kind."""


class ClosedForm(ABC):
    """A formula for the optimal channel under a condition that is checked."""

    name: ClassVar[str]
    source: ClassVar[str]
    allows_non_conic: ClassVar[bool] = False
    """Whether it allows constraints on the whole channel, not only on columns."""

    allows_readings: ClassVar[bool] = False
    """Whether its certificate also bounds the variance of unbiased readings."""

    @abstractmethod
    def decide(self, problem: Problem) -> Decided:
        """Return the optimum if the formula is optimal for the problem, else why it is not."""

    def holds(self, problem: Problem) -> bool:
        """Return whether the formula is optimal for the problem."""
        return isinstance(self.decide(problem), Optimum)

    def optimum(self, problem: Problem) -> Optimum:
        """Return the optimum.

        Raises
        ------
        UnsupportedError
            If the condition fails.
        """
        found = self.decide(problem)
        if not isinstance(found, Optimum):
            expected = f"a problem for which {self.name} is optimal"
            raise UnsupportedError("route", expected, found or "a problem of another kind")
        return found


def name_outputs(problem: Problem, count: int) -> tuple[Label, ...]:
    """Return labels for ``count`` outputs chosen by the optimizer."""
    if problem.outputs is None:
        return tuple(range(count))
    if len(problem.outputs) < count:
        raise UnsupportedError(
            "outputs.values",
            f"at least {count} labels, as the optimal channel has so many outputs",
            f"{len(problem.outputs)}",
        )
    return problem.outputs[:count]


def best_when_informed(problem: Problem) -> bool:
    """Return whether no post-processing increases the utility.

    This includes an expected loss, if each report is replaced by its best output.
    """
    utility = problem.utility
    if isinstance(utility, ColumnUtility):
        return True
    if isinstance(utility, EstimationRisk):
        return not utility.worst_case
    return problem.expected_loss is not None


def lift_rows_at(problem: Problem, family: Family) -> LiftRows | None:
    """Return rows as bounds on the lift for exactly the problem's prior; None if not such rows."""
    rows = family.lift_rows()
    return rows if rows is not None and rows.is_for(problem.prior.probabilities) else None


def post_processed(problem: Problem, universal: FloatArray) -> Formula:
    """Return the channel that releases the best output for each report of a universal channel.

    Every private channel is a post-processing of ``universal``.
    """
    kept = universal[:, universal.max(axis=0) > 0]
    utility = problem.expected_loss
    if utility is None:
        return Formula(kept, name_outputs(problem, kept.shape[1]))
    cost = utility.cost(problem.domain, problem.prior, problem.outputs or ())
    return best_outputs(problem, kept, kept.T @ cost)


def best_outputs(problem: Problem, channel: FloatArray, cost: FloatArray) -> Formula:
    """Return the output of least cost for each report; ``cost`` is ``(n_reports, n_outputs)``."""
    outputs, best = problem.outputs or (), np.argmin(cost, axis=1)
    used = sorted(set(best.tolist()))
    matrix = np.stack([channel[:, best == y].sum(axis=1) for y in used], axis=1)
    return Formula(matrix, tuple(outputs[y] for y in used))
