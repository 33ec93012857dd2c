"""Exact repair: from a solver's answer to an integer channel that satisfies every row of a cone.

Solvers return columns that violate rows by about 1e-10, and entries of 1e-13 in place of zeros,
which in ratios are errors of any size. Columns here are integers over 2**62, and the steps are:

1. **Rounding.** Entries that are noise become 0 where the column may be zero, empty columns are
   dropped, rows that must be equal are averaged, and each entry is rounded down to an integer.
2. **Raising.** Each column is raised to the least one above it that satisfies its rows exactly:
   entry by entry for bounds on ratios, by a constant for other rows. Before that, all entries are
   reduced by one factor 1 - cut / 2**62, so that raised rows of Q still sum to 2**62 at most.
3. **Normalization.** The mass that a row of Q lacks to 2**62 is added over the outputs in one
   proportion for all inputs, which is nearly a constant column and so inside the cone. All rows
   are then checked exactly. If one is violated, or if a row of Q sums to more, the cut is enlarged
   and step 2 is repeated.

Invariants: entries stay integers >= 0, the zeros in the support of a column stay, and only channels
that pass the exact check are returned. The loop terminates: the cut grows at least fourfold in each
round and ends at 2**62, where the channel ignores its input, which every cone contains.

A budget of 0 about a sensitive attribute makes equations of rows, which no raise satisfies: such
columns are rounded to a grid of integers that satisfy the equations (`on_grid`).

A constraint on the whole channel is satisfied afterwards, by mixing with a channel that ignores its
input: the bounded function is convex, and minimal there.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mechdesign._typing import FloatArray, Int64Array, IntArray
from mechdesign.channel import BITS
from mechdesign.notions import ChannelConstraint, Cone
from mechdesign.notions.rows.cone import on_grid
from mechdesign.notions.rows.ratio_steps import HALF, LOW, share_above, share_below
from mechdesign.prior import Prior
from mechdesign.solver_guard import checked

WHOLE = 1 << BITS
"""The sum of each row of Q."""

EMPTY = 1e-10
"""A column with all entries below this is noise: solvers are no more accurate."""

LARGEST = 1e100
"""Larger entries are lowered to it, so that their sums are finite floats."""

NOISE = 1e-11
"""An entry below this may be set to zero, if its column can be zero there."""

FIRST_CUT = 1 << 10
"""The first cut where sums are right and rows are broken: some hundred units, 2e-16 of an entry."""

GROWTH = 4
"""Growth factor of a cut that was too small: at most 31 rounds, with a final cut at most four times
larger than necessary."""

SMALL_SHARE = 1e-3
"""Outputs with less than this part of the largest share get none of the missing mass: its rounding
would change them more than others."""

FIRST_SHARE = 2.0**-46
"""The first weight of the constant channel in the mixture where rows are equations: 1e-14, which
may be too little for the rounding to the grid."""

SMALL_ENTRY = 1e-6
"""The missing mass would change entries below this in proportion; then the largest entries of the
rows take it, if they can."""

BALANCE_ROUNDS = 6
"""Number of rounds in which the missing mass goes to the largest entries; each raises others by
less."""

MOST_MOVED = 1 << 20
"""Largest change of an entry by this step, in units, 2e-13: rounding and noise, not the answer."""

MOST_HIGH = (1 << 32) - 1
"""Sums from 2**63 on are replaced by one a little below, so that they fit machine integers."""


def repair(cone: Cone, matrix: FloatArray) -> tuple[Int64Array, list[int]]:
    """Return an exactly private channel next to a nearly private one.

    Parameters
    ----------
    cone
        The columns allowed; a constant column satisfies it.
    matrix
        ``(n_inputs, n_outputs)`` floats, a channel up to a solver's tolerance; invalid entries are
        accepted, another shape is a SolverError.

    Returns
    -------
    numerators
        ``(n_inputs, n_kept)`` integers whose rows sum to 2**62; every column satisfies the cone,
        exactly.
    kept
        The indices of their columns in ``matrix``.
    """
    m = np.shape(matrix)[1] if np.ndim(matrix) == 2 else 1
    given = checked("the route", matrix, (cone.size, max(1, m)), finite=False)
    classes = cone.equal_classes()
    cleaned = _average(_clean(cone, given), classes)
    kept = np.flatnonzero(cleaned.max(axis=0) > EMPTY).tolist() or [0]
    Q = cleaned[:, kept]
    total = Q.sum(axis=1, keepdims=True)
    if not total.all():  # a row without an answer: ignore the input
        Q = np.tile(Q.sum(axis=0) + (not Q.any()), (len(Q), 1))
        total = Q.sum(axis=1, keepdims=True)
    Q = Q / total
    on_equations = _on_equations(cone, Q)
    if on_equations is not None:
        return on_equations, kept
    component = cone.components()
    rounded = np.floor(Q * float(WHOLE)).astype(np.int64)
    cut = 0
    while cut < WHOLE:
        columns = _raised(cone, _cut(rounded, cut), classes)
        if cut == 0 and Q.min() < SMALL_ENTRY:
            balanced = _balanced(cone, columns, classes)
            if balanced is not None:
                return balanced, kept
        lack = _lack(columns)
        if lack.min() >= 0:
            _normalize(columns, lack, component, Q)
            if cone.all_hold(columns):
                return columns, kept
        # If a row of Q sums to too much, the cut is twice the excess, as raising may undo a part of
        # it; broken rows start with the first cut, or multiply the last one by four.
        least = int(lack.min())
        cut = max(cut - 2 * least, GROWTH * cut, FIRST_CUT if least >= 0 else 1)
    return _constant(Q), kept


def mixed(
    cone: Cone, constraints: Sequence[ChannelConstraint | None], rows: Int64Array, prior: Prior
) -> Int64Array:
    """Return a channel (1 - t) Q + t 1 w that satisfies constraints on the whole channel as well.

    The row w is the output distribution over a prior that is positive at all inputs: an entry that
    must grow for an input of probability 0 may be 0 at all others. ``rows`` are Q times 2**62, and
    t = 2**n / 2**62 is the smallest that satisfies every constraint, exactly.
    """
    asked = [constraint for constraint in constraints if constraint is not None]
    if _constraints_hold(cone, asked, rows):
        return rows
    given = rows.tolist()
    if prior.minimum == 0:
        prior = Prior([(p + Fraction(1, len(prior))) / 2 for p in prior])
    mean = [math.floor(prior.mean(column)) for column in zip(*given, strict=True)]
    mean[mean.index(max(mean))] += WHOLE - sum(mean)

    def mixture(n: int) -> Int64Array:
        return np.array([_between(row, mean, 1 << n) for row in given], dtype=np.int64)

    return mixture(
        bisect_left(range(BITS), 1, key=lambda n: _constraints_hold(cone, asked, mixture(n)))
    )


def _constraints_hold(cone: Cone, constraints: list[ChannelConstraint], rows: Int64Array) -> bool:
    columns = rows.T.tolist()
    return cone.all_hold(rows) and all(
        constraint.violation(columns) is None for constraint in constraints
    )


def _between(row: list[int], mean: list[int], part: int) -> list[int]:
    """Return the mixture, rounded so that it sums to 2**62 and equal rows stay equal."""
    mixture = [(q * (WHOLE - part) + w * part) // WHOLE for q, w in zip(row, mean, strict=True)]
    mixture[mixture.index(max(mixture))] += WHOLE - sum(mixture)
    return mixture


def _on_equations(cone: Cone, Q: FloatArray) -> Int64Array | None:
    """Return a channel whose columns satisfy the equations of the cone; None if the cone has none.

    It is mixed with a channel that ignores its input, to satisfy the inequalities and to keep
    entries nonnegative.
    """
    basis, share = cone.flat_basis(), FIRST_SHARE
    while basis is not None and share < 1:
        columns = on_grid(basis, (1 - share) * Q + share / Q.shape[1], WHOLE)
        if columns is not None and cone.all_hold(columns):
            return columns
        share *= GROWTH
    return None


def _cut(columns: Int64Array, cut: int) -> Int64Array:
    """Return the share 1 - cut / 2**62 of every entry, rounded down."""
    return columns if cut == 0 else columns - share_above(columns, np.int64(cut))


def _lack(columns: Int64Array) -> Int64Array:
    """Return the missing mass of each row, to 2**62; a row far too large counts as 2**63."""
    high, low = (columns >> HALF).sum(axis=1), (columns & LOW).sum(axis=1)
    high, low = high + (low >> HALF), low & LOW
    return np.asarray(WHOLE - ((np.minimum(high, MOST_HIGH) << HALF) + low))


def _balanced(cone: Cone, columns: Int64Array, classes: IntArray) -> Int64Array | None:
    """Add the missing mass of each row to its largest entry; None if that does not work.

    With a large epsilon the largest entries bound the small ones only loosely, and the small ones
    make up the loss.
    """
    trial, inputs = columns, np.arange(len(columns))
    for _ in range(BALANCE_ROUNDS):
        lack = _lack(trial)
        if not lack.any():
            fits = np.abs(trial - columns).max() <= MOST_MOVED and cone.all_hold(trial)
            return trial if fits else None
        if np.abs(lack).max() > MOST_MOVED:
            return None
        trial = trial.copy()
        largest = trial.argmax(axis=1)
        trial[inputs, largest] = np.maximum(0, trial[inputs, largest] + lack)
        trial = _raised(cone, trial, classes)
    return None


def _clean(cone: Cone, matrix: FloatArray) -> FloatArray:
    """Set to zero negative entries, and noise where the column may be zero."""
    Q = np.where(np.isfinite(matrix), np.clip(matrix, 0.0, LARGEST), 0.0)
    support, before = Q > NOISE, None
    while not support.all() and (before is None or (support != before).any()):
        before = support
        for family in cone.families:
            support = family.support(support)
    Q[~support] = 0
    return Q


def _average(Q: FloatArray, classes: IntArray) -> FloatArray:
    """Average the rows of Q that must be equal."""
    n_classes = int(classes.max()) + 1
    if n_classes == len(classes):
        return Q
    totals = np.zeros((n_classes, Q.shape[1]))
    np.add.at(totals, classes, Q)
    means: FloatArray = totals / np.bincount(classes, minlength=n_classes)[:, None]
    return means[classes]


def _raised(cone: Cone, columns: Int64Array, classes: IntArray) -> Int64Array:
    """Raise columns until they satisfy their rows, as far as possible.

    Families and equal classes may raise entries of one column in turn; a path of bounds visits each
    input once, so as many rounds as inputs suffice.
    """
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
    """Add a constant to a column if that satisfies its rows, and rescale it to its former size."""
    if cone.violation(column) is None:
        return column
    raised, step = _plus_constant(cone, column)
    if 0 < step < WHOLE:  # scaling breaks rows only by rounding, which a second step repairs
        size = sum(column)
        grown = sum(raised)
        raised, _ = _plus_constant(cone, [q * size // grown for q in raised])
    return raised


def _plus_constant(cone: Cone, column: list[int]) -> tuple[list[int], int]:
    """Add the least constant, on the support or else everywhere, that satisfies all rows.

    A raise on the support may satisfy one family and break another; a raise everywhere breaks no
    row, as constants satisfy all rows.
    """
    on_support = [int(entry > 0) for entry in column]
    for direction in (on_support, [1] * len(column)):
        needed = [family.raise_needed(column, direction) for family in cone.families]
        steps = [step for step in needed if step is not None]
        step = max(steps) if len(steps) == len(needed) else 0
        raised = [q + step * d for q, d in zip(column, direction, strict=True)]
        if step and cone.violation(raised) is None:
            return raised, step
    return column, 0


def _normalize(columns: Int64Array, lack: Int64Array, component: IntArray, Q: FloatArray) -> None:
    """Add the missing mass of each row, in place, in one proportion for all inputs of a component.

    Only outputs that most inputs of the component can produce get a share, so that zeros stay.
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
    """Return the channel whose rows are all the mean row."""
    shares = np.floor(Q.mean(axis=0) * 2.0**52).astype(np.int64).tolist()
    row = [WHOLE * share // sum(shares) for share in shares]
    row[row.index(max(row))] += WHOLE - sum(row)
    return np.array([row] * len(Q), dtype=np.int64)
