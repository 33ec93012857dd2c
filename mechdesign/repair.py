"""From a solver's answer to an exact channel that is private to the last bit.

Solvers return columns that break rows by 1e-10 or so, and mix zeros with 1e-13: as ratios, by
anything. The repair works on integers over 2**62:

1. drop columns that are empty up to noise, and noise where a column may be zero;
2. cut a few units of the 2**62 off every row, in proportion, and mend each column by the least
   raise that makes it satisfy its rows exactly: entry by entry for ratio rows, by a constant for
   lift rows, after which the column gets its size back;
3. give every row what it lacks to 2**62, in one proportion over the outputs, which is nearly a
   constant column and so strictly inside the cone; check everything exactly; if a row still
   breaks, or a sum is too large, cut more. The first cut is none.

It ends, at the latest with a channel that ignores its input. Entries that must be zero in
a column because of its support, as in high-low and block notions, stay zero.

A rule on the whole channel is mended after that, by mixing with a channel that ignores its input:
what it bounds is convex, and least there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mechdesign.channel import BITS
from mechdesign.notions import Cone, Rule
from mechdesign.prior import Prior

__all__ = ["EMPTY", "mixed", "repair"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

WHOLE = 1 << BITS
EMPTY = 1e-10
"""A column whose entries are all below this is noise."""

NOISE = 1e-11
"""An entry below this may be set to zero, if its column can be zero there."""

FIRST_CUT = 1 << 10
GROWTH = 4
SMALL_SHARE = 1e-3

SMALL_ENTRY = 1e-6
"""Entries below this would feel what rows lack: then their largest entries take it, if they can."""

BALANCE_ROUNDS, MOST_MOVED = 6, 1 << 20


def repair(cone: Cone, matrix: FloatArray) -> tuple[list[list[int]], list[int]]:
    """Return an exactly private channel next to a nearly private one.

    Parameters
    ----------
    cone
        The columns allowed; a constant column satisfies it.
    matrix
        ``(n_inputs, n_outputs)`` floats, a channel up to a solver's tolerance.

    Returns
    -------
    numerators
        Rows of integers that sum to 2**62; every column satisfies the cone, exactly.
    kept
        Which columns of ``matrix`` they are.
    """
    classes = cone.equal_classes()
    cleaned = _average(_clean(cone, matrix), classes)
    kept = np.flatnonzero(cleaned.max(axis=0) > EMPTY).tolist() or [0]
    Q = cleaned[:, kept]
    total = Q.sum(axis=1, keepdims=True)
    if not total.all():  # a row without an answer: ignore the input
        Q = np.tile(Q.sum(axis=0) + (not Q.any()), (len(Q), 1))
        total = Q.sum(axis=1, keepdims=True)
    Q = Q / total
    component = cone.components()
    whole_columns = np.floor(Q.T * float(WHOLE)).astype(np.int64).tolist()
    cut = 0
    while cut < WHOLE:
        columns = [
            _settled(cone, [q * (WHOLE - cut) // WHOLE for q in column], classes)
            for column in whole_columns
        ]
        if cut == 0 and Q[Q > 0].min() < SMALL_ENTRY and _balance(cone, columns, classes):
            return [list(row) for row in zip(*columns, strict=True)], kept
        lack = [WHOLE - sum(row) for row in zip(*columns, strict=True)]
        if min(lack) >= 0:
            _fill(columns, lack, component, Q)
            if all(cone.violation(column) is None for column in columns):
                return [list(row) for row in zip(*columns, strict=True)], kept
        cut = max(cut - 2 * min(lack), GROWTH * cut, FIRST_CUT if min(lack) >= 0 else 1)
    return _constant(Q), kept


def mixed(
    cone: Cone, rules: Sequence[Rule | None], rows: list[list[int]], prior: Prior
) -> list[list[int]]:
    """Return a channel that obeys the rules as well: (1 - t) Q + t 1 w, w the law of the output.

    Parameters
    ----------
    cone
        The columns allowed.
    rules
        What is asked of the channel as a whole.
    rows
        Rows of integers that sum to 2**62, all of whose columns the cone allows.
    prior
        The law of the input.

    Returns
    -------
    list
        Such rows, for which every rule holds, exactly, at the least t = 2**n / 2**62 that does.
    """
    asked = [rule for rule in rules if rule is not None]
    mean = [math.floor(prior.mean(column)) for column in zip(*rows, strict=True)]
    mean[mean.index(max(mean))] += WHOLE - sum(mean)
    trial, part = rows, 1
    while not _all_hold(cone, asked, trial) and part <= WHOLE:
        trial = [_between(row, mean, part) for row in rows]
        part *= 2
    return trial


def _all_hold(cone: Cone, rules: list[Rule], rows: list[list[int]]) -> bool:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return all(cone.violation(column) is None for column in columns) and all(
        rule.violation(columns) is None for rule in rules
    )


def _between(row: list[int], mean: list[int], part: int) -> list[int]:
    """Return the mixture, rounded so that it sums to 2**62 and equal rows stay equal."""
    mixture = [(q * (WHOLE - part) + w * part) // WHOLE for q, w in zip(row, mean, strict=True)]
    mixture[mixture.index(max(mixture))] += WHOLE - sum(mixture)
    return mixture


def _balance(cone: Cone, columns: list[list[int]], classes: IntArray) -> bool:
    """Let the largest entry of each row take what the row lacks, in place; say whether it works.

    With a large epsilon the large entries hardly matter to the small ones, and the small ones are
    what the loss is made of.
    """
    trial = [list(column) for column in columns]
    for _ in range(BALANCE_ROUNDS):
        lack = [WHOLE - sum(row) for row in zip(*trial, strict=True)]
        if not any(lack):
            moved = max(
                abs(a - b)
                for p, q in zip(trial, columns, strict=True)
                for a, b in zip(p, q, strict=True)
            )
            if moved > MOST_MOVED or any(cone.violation(column) for column in trial):
                return False
            columns[:] = trial
            return True
        for x, missing in enumerate(lack):
            largest = max(trial, key=lambda column: column[x])
            largest[x] = max(0, largest[x] + missing)
        trial = [_settled(cone, column, classes) for column in trial]
    return False


def _clean(cone: Cone, matrix: FloatArray) -> FloatArray:
    """Zero what is negative, and what is noise where the column may be zero."""
    Q = np.where(np.isfinite(matrix), np.maximum(matrix, 0.0), 0.0)
    for y in range(Q.shape[1]):
        support = Q[:, y] > NOISE
        before = None
        while before is None or (support != before).any():
            before = support
            for family in cone.families:
                support = family.support(support)
        Q[~support, y] = 0
    return Q


def _average(Q: FloatArray, classes: IntArray) -> FloatArray:
    """Make rows equal that must be."""
    n_classes = int(classes.max()) + 1
    if n_classes == len(classes):
        return Q
    totals = np.zeros((n_classes, Q.shape[1]))
    np.add.at(totals, classes, Q)
    means: FloatArray = totals / np.bincount(classes, minlength=n_classes)[:, None]
    return means[classes]


def _settled(cone: Cone, column: list[int], classes: IntArray) -> list[int]:
    """Raise a column until it satisfies its rows, if it can be; else return it as far as it got."""
    tied = int(classes.max()) + 1 < len(classes)
    for _ in range(len(column) + 2):
        before = column
        for family in cone.families:
            column = family.raised(column)
        if tied:
            most = np.zeros(int(classes.max()) + 1, dtype=object)
            for x, c in enumerate(classes):
                most[c] = max(most[c], column[x])
            column = [most[c] for c in classes]
        if column == before:
            break
    if cone.violation(column) is None:
        return column
    raised, step = _plus_constant(cone, column)
    if 0 < step < WHOLE:  # the same column and constant with the size it had: nearer its mean
        size = sum(column)
        grown = sum(raised)
        raised, _ = _plus_constant(cone, [q * size // grown for q in raised])
    return raised


def _plus_constant(cone: Cone, column: list[int]) -> tuple[list[int], int]:
    """Add the least constant, on the support or everywhere, that mends the column."""
    on_support = [int(entry > 0) for entry in column]
    for direction in (on_support, [1] * len(column)):
        needed = [family.raise_needed(column, direction) for family in cone.families]
        steps = [step for step in needed if step is not None]
        if len(steps) == len(needed):
            step = max(steps)
            return [q + step * d for q, d in zip(column, direction, strict=True)], step
    return column, 0


def _fill(columns: list[list[int]], lack: list[int], component: IntArray, Q: FloatArray) -> None:
    """Share out what each row lacks, in place, in one proportion for all inputs of a component.

    Only outputs that most inputs of the component can give get a share, so that zeros stay.
    """
    for part in range(int(component.max()) + 1):
        inputs = np.flatnonzero(component == part).tolist()
        positive = np.array([sum(column[x] > 0 for x in inputs) for column in columns])
        weight = np.where(positive == positive.max(), Q[inputs].mean(axis=0), 0.0)
        weight = np.where(weight >= SMALL_SHARE * weight.max(), weight, 0.0)
        shares = np.floor(weight / weight.sum() * 2.0**52).astype(np.int64).tolist()
        total, largest = sum(shares), int(np.argmax(weight))
        for x in inputs:
            rest = lack[x]
            for y, share in enumerate(shares):
                part_of_it = lack[x] * share // total
                columns[y][x] += part_of_it
                rest -= part_of_it
            columns[largest][x] += rest


def _constant(Q: FloatArray) -> list[list[int]]:
    """Return the channel that gives the mean of the rows, whatever the input."""
    shares = np.floor(Q.mean(axis=0) * 2.0**52).astype(np.int64).tolist()
    row = [WHOLE * share // sum(shares) for share in shares]
    row[row.index(max(row))] += WHOLE - sum(row)
    return [list(row) for _ in Q]
