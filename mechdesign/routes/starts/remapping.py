"""Optimal remapping: every output is sent as the best decision at its posterior.

What is done with a report is post-processing, which no notion of privacy forbids: columns q_y may
be sent under other labels, and added up where the labels are equal. For an expected loss each is
best sent as the output of least Sum_x P_x D(x, y) q_x (Chatzikokolakis, ElSalamouny and Palamidessi
2017, for mechanisms on the plane).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from mechdesign._typing import FloatArray, Int64Array
from mechdesign.domain import Label
from mechdesign.problem import Problem

__all__ = ["remapped", "without_rare"]

ROUNDING = 1e-12
"""A column is sent as another output where that lowers the loss by more than this share of it."""

RARE = 1e3
"""A column whose loss is at most so many times what may be lost by all is looked at."""

Table = TypeVar("Table", FloatArray, Int64Array)


def remapped(problem: Problem, matrix: Table, labels: Sequence[Label]) -> tuple[Table, list[Label]]:
    """Return the channel with every column sent as its best output.

    Other losses than expected ones, and problems with constraints of the user's own, which may
    speak of labels, keep the channel as it is.

    Parameters
    ----------
    problem
        What was asked.
    matrix
        ``(n_inputs, n)`` floats, or integers in a unit in which sums of rows fit 64 bits.
    labels
        The outputs allowed that its columns are sent as.

    Returns
    -------
    matrix, labels
        The channel that is left, whose loss is none larger; the same objects where nothing changes.

    Examples
    --------
    >>> from mechdesign import LDP, HammingLoss
    >>> survey = Problem(["a", "b"], LDP(1), HammingLoss(), prior=["0.9", "0.1"])
    >>> remapped(survey, np.array([[0.7, 0.3], [0.3, 0.7]]), ["a", "b"])
    (array([[1.],
           [1.]]), ['a'])
    """
    loss, outputs = problem.expected_loss, problem.outputs or ()
    given = list(labels)
    if loss is None or problem.quoted or np.ndim(matrix) != 2:
        return matrix, given
    with np.errstate(all="ignore"):
        used = np.flatnonzero(matrix.max(axis=0) > 0)
        if not len(used) or not np.isfinite(matrix).all():
            return matrix, given
        place = {label: y for y, label in enumerate(outputs)}
        now = np.array([place[given[y]] for y in used])
        totals = loss.cost(problem.domain, problem.prior, outputs).T @ matrix[:, used]
    least = np.argmin(totals, axis=0)
    every = np.arange(len(used))
    saved = totals[now, every] - totals[least, every]
    moves = saved > ROUNDING * totals[now, every].sum()
    if not moves.any():
        return matrix, given
    best = np.where(moves, least, now)
    kept, column = np.unique(best, return_inverse=True)
    found = np.zeros((len(matrix), len(kept)), dtype=matrix.dtype)
    np.add.at(found.T, column, matrix[:, used].T)
    return found, [outputs[y] for y in kept]


def without_rare(
    problem: Problem, matrix: FloatArray, labels: Sequence[Label], share: float
) -> tuple[FloatArray, list[Label]]:
    """Return the channel with outputs that are next to never sent replaced by others.

    An interior-point method ends with a little mass on each of many outputs, which makes long files
    of channels that have a few. Each is sent as the best of the frequent ones, those that cost
    least first; so privacy is what it was. Other losses than expected ones, and problems with
    constraints of the user's own, keep the channel as it is.

    Parameters
    ----------
    problem, matrix, labels
        As for :func:`remapped`.
    share
        By how much of itself the loss may rise.

    Returns
    -------
    matrix, labels
        The channel that is left; the same objects where nothing changes.

    Examples
    --------
    >>> from mechdesign import LDP, HammingLoss
    >>> survey = Problem(["a", "b"], LDP(1), HammingLoss(), prior=["0.9", "0.1"])
    >>> without_rare(survey, np.array([[1 - 1e-12, 1e-12], [1 - 1e-12, 1e-12]]), ["a", "b"], 1e-9)
    (array([[1.],
           [1.]]), ['a'])
    """
    loss, outputs = problem.expected_loss, problem.outputs or ()
    given = list(labels)
    if loss is None or problem.quoted or np.ndim(matrix) != 2 or not np.isfinite(matrix).all():
        return matrix, given
    place = {label: y for y, label in enumerate(outputs)}
    cost = loss.cost(problem.domain, problem.prior, outputs)[:, [place[y] for y in given]]
    own = (cost * matrix).sum(axis=0)
    may_rise = share * float(own.sum())
    rare = cost.max(axis=1) @ matrix <= RARE * may_rise
    if not rare.any() or rare.all():
        return matrix, given
    few, frequent = np.flatnonzero(rare), np.flatnonzero(~rare)
    totals = cost[:, frequent].T @ matrix[:, few]
    rise = totals.min(axis=0) - own[few]
    order = np.argsort(rise, kind="stable")
    moved = order[np.cumsum(np.maximum(rise[order], 0.0)) <= may_rise]
    if not len(moved):
        return matrix, given
    found = matrix.copy()
    np.add.at(found.T, frequent[totals.argmin(axis=0)[moved]], matrix[:, few[moved]].T)
    kept = np.setdiff1d(np.arange(len(given)), few[moved])
    return found[:, kept], [given[y] for y in kept]
