"""How private a solver's matrix is before any repair.

A solver that stops at "optimal" meets its rows to an absolute tolerance; privacy is a ratio. So
every row e**(-a) (left . q) <= right . q of every notion is evaluated at every column as
ln(left . q / right . q) - a, the excess: it is infinite where an output is possible for one input
and not for another that should hide it. Whether the excess is positive at all is left to the
checker, which compares the floats as the rationals that they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mechdesign.kernel.limits import Limit
from mechdesign.notions import ChannelConstraint
from mechdesign.notions.rows.row import decimal, least_float
from mechdesign.problem import Problem

Long: TypeAlias = npt.NDArray[np.longdouble]

MOST_RATIOS = 30_000_000
"""Rows times outputs up to which excesses are computed."""


@dataclass(frozen=True)
class RawPrivacy:
    """How private a matrix is.

    Attributes
    ----------
    is_private
        Whether no entry is negative and every row holds, exactly.
    excess
        The largest excess over all rows and outputs, and of notions about the whole channel, in
        nats, to about 1e-18; None where the rows are too many.
    mixed
        How many outputs have an infinite excess.
    least_entry
        The least entry: below 0 it is no probability. Excesses are those with 0 in its place.
    row_error
        How far the sum of a row is from 1.
    """

    is_private: bool
    excess: float | None
    mixed: int | None
    least_entry: float
    row_error: float


def raw_privacy(problem: Problem, matrix: npt.NDArray[Any]) -> RawPrivacy:
    """Judge a matrix of floats, ``(n_inputs, n_outputs)``.

    A notion about the whole channel speaks of rows that sum to 1: each is divided by its sum, in
    rationals, and the excess is the least epsilon at which the notion holds, less its own.

    Examples
    --------
    >>> from problems.families import randomized_response
    >>> coin = randomized_response(2, epsilon=0.5)
    >>> held = raw_privacy(coin, np.array([[0.6, 0.4], [0.4, 0.6]]))
    >>> held.is_private, round(held.excess, 6), held.mixed
    (True, -0.094535, 0)
    >>> broken = raw_privacy(coin, np.array([[0.6, 0.4, 0.0], [0.4, 0.6 - 1e-15, 1e-15]]))
    >>> broken.is_private, broken.excess, broken.mixed
    (False, inf, 1)
    """
    Q = np.maximum(matrix, 0)
    statement = problem.compiled.statement
    columns = exact_columns(Q)
    if not problem.is_conic:
        columns = _of_sum_one(columns)
    tests = [part.test(statement.k) for part in statement.cone]
    whole = sum(q[0] for q in columns)
    holds = all(test(q) is None for test in tests for q in columns) and all(
        limit.holds(columns, whole) for limit in statement.limits
    )
    excesses = None
    if sum(family.matrix().shape[0] for family in problem.cone.families) * Q.shape[1] < MOST_RATIOS:
        excesses = _excesses(problem, Q.astype(np.longdouble))
    of_rules = [
        _rule_excess(rule, columns) for rule in problem.channel_constraints if rule is not None
    ]
    return RawPrivacy(
        is_private=bool(matrix.min() >= 0) and holds,
        excess=None if excesses is None else max([float(excesses.max(initial=-np.inf)), *of_rules]),
        mixed=None if excesses is None else int(np.isposinf(excesses).sum()),
        least_entry=float(matrix.min()),
        row_error=float(np.abs(matrix.sum(axis=1) - 1).max()),
    )


def exact_columns(matrix: npt.NDArray[Any]) -> list[list[int]]:
    """Return the columns of a matrix of floats as integers, all times one power of 2, exactly."""
    ratios = [[entry.as_integer_ratio() for entry in row] for row in matrix]
    whole = max(bottom for row in ratios for _, bottom in row)
    return [
        [int(top) * (whole // bottom) for top, bottom in column]
        for column in zip(*ratios, strict=True)
    ]


def _of_sum_one(columns: list[list[int]]) -> list[list[int]]:
    """Return integer columns that are in proportion row by row, and rows with one sum."""
    sums = [sum(row) or 1 for row in zip(*columns, strict=True)]
    common = math.lcm(*sums)
    return [[n * (common // total) for n, total in zip(q, sums, strict=True)] for q in columns]


def _rule_excess(rule: ChannelConstraint, columns: list[list[int]]) -> float:
    """Return by how much the least epsilon, which is >= 0, is above that of the rule."""
    whole, sums, least = sum(q[0] for q in columns), dict[int, Any](), 0.0

    def holds(unit: Limit, epsilon: Fraction) -> bool:
        return rule._at(unit, epsilon).holds(columns, whole, sums)

    for unit in rule.units:  # most hold where those before them do
        if math.isfinite(least) and not holds(unit, decimal(least)):
            least = least_float(partial(holds, unit), max(least, float(rule.epsilon)))
    return float(Fraction(least) - rule.epsilon) if math.isfinite(least) else math.inf


def _excesses(problem: Problem, Q: Long) -> Long:
    """Return the largest excess of each column, ``(n_outputs,)``."""
    worst = np.full(Q.shape[1], -np.inf, dtype=np.longdouble)
    with np.errstate(divide="ignore", invalid="ignore"):
        for row in problem.cone.rows():
            left, right = _weighed(row.left, Q), _weighed(row.right, Q)
            excess = np.log(left / right) - _long(row.exponent)
            worst = np.fmax(worst, excess)  # an empty column, 0 / 0, breaks nothing
    return worst


def _weighed(weights: Mapping[int, Fraction], Q: Long) -> Long:
    """Return weights . q for each column q."""
    inputs: Sequence[int] = list(weights)
    if len(inputs) == 1:
        return _long(weights[inputs[0]]) * Q[inputs[0]]
    total: Long = np.array([_long(weights[x]) for x in inputs]) @ Q[inputs]
    return total


@lru_cache(maxsize=65536)
def _long(value: Fraction) -> np.longdouble:
    """Return the nearest long double, or nearly so: the float, and what it lacks."""
    if value.denominator == 1 and abs(value) < 2**53:
        return np.longdouble(int(value))
    near = float(value)
    if not math.isfinite(near):
        return np.longdouble(near)
    return np.longdouble(near) + np.longdouble(float(value - Fraction(near)))
