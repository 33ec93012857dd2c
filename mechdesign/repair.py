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

A budget of 0 about a secret makes equations of rows, which no raise mends: such columns are put on
a grid of whole numbers that obey them. It ends, at the latest with a channel that ignores its
input. Entries that must be zero in
a column because of its support, as in high-low and block notions, stay zero.

A rule on the whole channel is mended after that, by mixing with a channel that ignores its input:
what it bounds is convex, and least there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mechdesign._typing import FloatArray, Int64Array, IntArray
from mechdesign.channel import BITS
from mechdesign.notions import ChannelConstraint, Cone
from mechdesign.notions.rows.equations import on_grid
from mechdesign.notions.rows.ratio_steps import HALF, LOW, share_above, share_below
from mechdesign.prior import Prior

__all__ = ["EMPTY", "mixed", "repair"]


WHOLE = 1 << BITS
EMPTY = 1e-10
"""A column whose entries are all below this is noise."""

NOISE = 1e-11
"""An entry below this may be set to zero, if its column can be zero there."""

FIRST_CUT = 1 << 10
GROWTH = 4
SMALL_SHARE = 1e-3
FIRST_SHARE = 2.0**-46

SMALL_ENTRY = 1e-6
"""Entries below this would feel what rows lack: then their largest entries take it, if they can."""

BALANCE_ROUNDS, MOST_MOVED = 6, 1 << 20

MOST_HIGH = (1 << 32) - 1
"""Sums from 2**63 on are taken for a little less, so that they fit machine integers."""


def repair(cone: Cone, matrix: FloatArray) -> tuple[Int64Array, list[int]]:
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
        ``(n_inputs, n_kept)`` integers whose rows sum to 2**62; every column satisfies the cone,
        exactly.
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
    flat = _flat(cone, Q)
    if flat is not None:
        return flat, kept
    component = cone.components()
    whole_columns = np.floor(Q * float(WHOLE)).astype(np.int64)
    cut = 0
    while cut < WHOLE:
        columns = _settled(cone, _cut(whole_columns, cut), classes)
        if cut == 0 and Q[Q > 0].min() < SMALL_ENTRY:
            balanced = _balanced(cone, columns, classes)
            if balanced is not None:
                return balanced, kept
        lack = _lack(columns)
        if lack.min() >= 0:
            _fill(columns, lack, component, Q)
            if _all_hold(cone, columns):
                return columns, kept
        least = int(lack.min())
        cut = max(cut - 2 * least, GROWTH * cut, FIRST_CUT if least >= 0 else 1)
    return _constant(Q), kept


def mixed(
    cone: Cone, rules: Sequence[ChannelConstraint | None], rows: Int64Array, prior: Prior
) -> Int64Array:
    """Return a channel that obeys the rules as well: (1 - t) Q + t 1 w, w the law of the output.

    Parameters
    ----------
    cone
        The columns allowed.
    rules
        What is asked of the channel as a whole.
    rows
        ``(n_inputs, n_outputs)`` integers whose rows sum to 2**62, with columns that the cone
        allows.
    prior
        The law of the input.

    Returns
    -------
    numerators
        Such integers, for which every rule holds, exactly, at the least t = 2**n / 2**62 that does.
    """
    asked = [rule for rule in rules if rule is not None]
    given = rows.tolist()
    mean = [math.floor(prior.mean(column)) for column in zip(*given, strict=True)]
    mean[mean.index(max(mean))] += WHOLE - sum(mean)
    trial, part = given, 1
    while part <= WHOLE and not _rules_hold(cone, asked, trial):
        trial = [_between(row, mean, part) for row in given]
        part *= 2
    return np.array(trial, dtype=np.int64)


def _rules_hold(cone: Cone, rules: list[ChannelConstraint], rows: list[list[int]]) -> bool:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return all(cone.violation(column) is None for column in columns) and all(
        rule.violation(columns) is None for rule in rules
    )


def _between(row: list[int], mean: list[int], part: int) -> list[int]:
    """Return the mixture, rounded so that it sums to 2**62 and equal rows stay equal."""
    mixture = [(q * (WHOLE - part) + w * part) // WHOLE for q, w in zip(row, mean, strict=True)]
    mixture[mixture.index(max(mixture))] += WHOLE - sum(mixture)
    return mixture


def _flat(cone: Cone, Q: FloatArray) -> Int64Array | None:
    """Return a channel whose columns obey the equations of a flat cone; None if there are none.

    It is mixed with one that ignores its input, for the entries that the equations would make
    negative and for the rows that can be loosened.
    """
    basis, share = cone.flat_basis(), FIRST_SHARE
    while basis is not None and share < 1:
        columns = on_grid(basis, (1 - share) * Q + share / Q.shape[1], WHOLE)
        if columns is not None and _all_hold(cone, columns):
            return columns
        share *= GROWTH
    return None


def _all_hold(cone: Cone, columns: Int64Array) -> bool:
    return all(family.all_hold(columns) for family in cone.families)


def _cut(columns: Int64Array, cut: int) -> Int64Array:
    """Return the share 1 - cut / 2**62 of every entry, rounded down."""
    return columns if cut == 0 else columns - share_above(columns, np.int64(cut))


def _lack(columns: Int64Array) -> Int64Array:
    """Return what each row lacks to 2**62; a row far too large counts as one of 2**63."""
    high, low = (columns >> HALF).sum(axis=1), (columns & LOW).sum(axis=1)
    high, low = high + (low >> HALF), low & LOW
    lack: Int64Array = WHOLE - ((np.minimum(high, MOST_HIGH) << HALF) + low)
    return lack


def _balanced(cone: Cone, columns: Int64Array, classes: IntArray) -> Int64Array | None:
    """Let the largest entry of each row take what the row lacks; None if that does not work.

    With a large epsilon the large entries hardly matter to the small ones, and the small ones are
    what the loss is made of.
    """
    trial, inputs = columns, np.arange(len(columns))
    for _ in range(BALANCE_ROUNDS):
        lack = _lack(trial)
        if not lack.any():
            fits = np.abs(trial - columns).max() <= MOST_MOVED and _all_hold(cone, trial)
            return trial if fits else None
        if np.abs(lack).max() > MOST_MOVED:
            return None
        trial = trial.copy()
        largest = trial.argmax(axis=1)
        trial[inputs, largest] = np.maximum(0, trial[inputs, largest] + lack)
        trial = _settled(cone, trial, classes)
    return None


def _clean(cone: Cone, matrix: FloatArray) -> FloatArray:
    """Zero what is negative, and what is noise where the column may be zero."""
    Q = np.where(np.isfinite(matrix), np.maximum(matrix, 0.0), 0.0)
    support, before = Q > NOISE, None
    while before is None or (support != before).any():
        before = support
        for family in cone.families:
            support = family.support(support)
    Q[~support] = 0
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


def _settled(cone: Cone, columns: Int64Array, classes: IntArray) -> Int64Array:
    """Raise columns until they satisfy their rows; one that cannot is left as far as it got."""
    alone = len(cone.families) == 1 and int(classes.max()) + 1 == len(classes)
    for _ in range(1 if alone else len(columns) + 2):
        before = columns
        for family in cone.families:
            columns = family.raised(columns)
        columns = _tied(columns, classes)
        if (columns == before).all():
            break
    good = np.all([family.holding(columns) for family in cone.families], axis=0)
    if not good.all():
        columns = columns.copy()
    for y in np.flatnonzero(~good).tolist():
        columns[:, y] = [min(q, WHOLE) for q in _lifted(cone, columns[:, y].tolist())]
    return columns


def _tied(columns: Int64Array, classes: IntArray) -> Int64Array:
    """Raise the entries of each class to the largest of them."""
    n_classes = int(classes.max()) + 1
    if n_classes == len(classes):
        return columns
    most = np.zeros((n_classes, columns.shape[1]), dtype=np.int64)
    np.maximum.at(most, classes, columns)
    return most[classes]


def _lifted(cone: Cone, column: list[int]) -> list[int]:
    """Mend a column by a constant, if it can be, and give it back the size that it had."""
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


def _fill(columns: Int64Array, lack: Int64Array, component: IntArray, Q: FloatArray) -> None:
    """Share out what each row lacks, in place, in one proportion for all inputs of a component.

    Only outputs that most inputs of the component can give get a share, so that zeros stay.
    """
    for part in range(int(component.max()) + 1):
        inputs = np.flatnonzero(component == part)
        positive = (columns[inputs] > 0).sum(axis=0)
        weight = np.where(positive == positive.max(), Q[inputs].mean(axis=0), 0.0)
        weight = np.where(weight >= SMALL_SHARE * weight.max(), weight, 0.0)
        shares = np.floor(weight / weight.sum() * float(WHOLE)).astype(np.int64)
        given = share_below(lack[inputs][:, None], shares)
        columns[inputs] += given
        columns[inputs, np.argmax(weight)] += lack[inputs] - given.sum(axis=1)


def _constant(Q: FloatArray) -> Int64Array:
    """Return the channel that gives the mean of the rows, whatever the input."""
    shares = np.floor(Q.mean(axis=0) * 2.0**52).astype(np.int64).tolist()
    row = [WHOLE * share // sum(shares) for share in shares]
    row[row.index(max(row))] += WHOLE - sum(row)
    return np.array([row] * len(Q), dtype=np.int64)
