"""Optimal remapping: every output is replaced by the best decision at its posterior.

A remap is post-processing, which preserves every notion of privacy: columns q_y may get other
labels, and columns with equal labels are added up. For an expected loss each column gets the output
of least Sum_x P_x D(x, y) q_x (Chatzikokolakis, ElSalamouny and Palamidessi 2017, for mechanisms on
the plane).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from mechdesign._typing import FloatArray, Int64Array
from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.errors import InputError
from mechdesign.problem import Problem
from mechdesign.utilities import ColumnUtility, ConvexUtility, LinearUtility

ROUNDING = 1e-12
"""A column is remapped if that lowers the loss by more than this share of it."""

RARE = 1e3
"""Columns with at most this multiple of the allowed total loss are considered."""

DUST = 1e-7
"""The largest probability at every input of an output that counts as a solver's residue."""

QUICK = (ColumnUtility, ConvexUtility, LinearUtility)
"""Kinds of utilities whose value is computed in floating point."""

COLUMNS, MOST_STEPS = 64, 10**5
"""Columns whose gains are computed at once; and the number of entries times inputs up to which an
exact value is computed to leave out dust."""

Table = TypeVar("Table", FloatArray, Int64Array)


def remapped(problem: Problem, matrix: Table, labels: Sequence[Label]) -> tuple[Table, list[Label]]:
    """Return the channel with the best output for every column.

    Losses other than expected ones, and problems with the user's own constraints, which may depend
    on labels, keep the channel unchanged.

    Parameters
    ----------
    problem
        The problem.
    matrix
        ``(n_inputs, n)`` floats, or integers in a unit in which sums of rows fit 64 bits.
    labels
        The allowed outputs of its columns.

    Returns
    -------
    matrix, labels
        The resulting channel, with no larger loss; the same objects if nothing changes.

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
    """Return the channel with rare outputs replaced by others.

    An interior-point method ends with a little mass on each of many outputs, which makes long files
    of channels with few relevant outputs. Each is replaced by the best of the frequent ones, the
    least costly first; privacy is preserved. For objectives other than expected losses, outputs
    rarer than :data:`DUST` are all replaced by the most frequent one, or none is. Problems with the
    user's own constraints keep the channel unchanged.

    Parameters
    ----------
    problem, matrix, labels
        As for :func:`remapped`.
    share
        The largest relative increase of the loss.

    Returns
    -------
    matrix, labels
        The resulting channel; the same objects if nothing changes.

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
    if problem.quoted or np.ndim(matrix) != 2 or not np.isfinite(matrix).all():
        return matrix, given
    if loss is None:
        return _without_dust(problem, matrix, given, share)
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


def _without_dust(
    problem: Problem, matrix: FloatArray, labels: list[Label], share: float
) -> tuple[FloatArray, list[Label]]:
    """Replace very rare outputs by the most frequent one, if the loss does not increase."""
    utility, kept = problem.utility, np.flatnonzero(matrix.max(axis=0) > DUST)
    steps = 0 if isinstance(utility, QUICK) else matrix.size * len(matrix)
    if len(kept) in (0, matrix.shape[1]) or steps > MOST_STEPS:
        return matrix, labels
    found, left = matrix[:, kept], [labels[y] for y in kept]
    found[:, int(found.sum(axis=0).argmax())] += matrix.sum(axis=1) - found.sum(axis=1)
    try:
        before, after = (_value(problem, *one) for one in ((matrix, labels), (found, left)))
    except InputError:  # the risk of a channel that determines nothing is infinite
        return matrix, labels
    rise = before - after if utility.is_maximized else after - before
    return (found, left) if rise <= share * abs(before) else (matrix, labels)


def _value(problem: Problem, matrix: FloatArray, labels: list[Label]) -> float:
    """Return the objective of a channel with rounding errors."""
    utility, prior, allowed = problem.utility, problem.prior, problem.outputs
    rows = np.maximum(matrix, 0.0)
    rows /= rows.sum(axis=1, keepdims=True)
    if isinstance(utility, LinearUtility):
        place = {label: y for y, label in enumerate(allowed or ())}
        table = utility.loss(problem.domain, allowed or ()).array
        return float((table[:, [place[y] for y in labels]] * rows).sum(axis=1).max())
    if isinstance(utility, ColumnUtility):
        parts = (rows[:, n : n + COLUMNS] for n in range(0, rows.shape[1], COLUMNS))
        gain = utility.on(problem.domain).gain
        total = sum(float(gain(part, prior.array).sum()) for part in parts)
        if not math.isfinite(total):  # no comparison holds
            return math.nan
        return float(utility.objective_at(total, problem.domain, prior))
    channel = Channel.from_matrix(rows, inputs=problem.domain, outputs=labels)
    return float(utility.value(channel, prior, allowed))
