"""The leakage of a channel under every notion: exact ratios, and their logarithms rounded up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from operator import mul

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.accounting.measure.leakage_table import Leakage, Leakages
from mechdesign.accounting.measure.max_ratio import (
    ColumnExtremes,
    JointExtremes,
    MaxRatio,
    inverse,
    log_above,
    max_ratio,
)
from mechdesign.accounting.measure.mutual_information import information_above
from mechdesign.accounting.measure.tightest_matrix import tightest_matrix
from mechdesign.channel import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.mechanisms.base import Mechanism
from mechdesign.prior import Prior, prior_on
from mechdesign.prior_sets import PriorSet

__all__ = ["leakages"]

MOST_COMPARED = 1 << 31
"""Ratios of entries that are compared for the tightest matrix, at most."""

MOST_INPUTS = 256
"""Inputs of a structured mechanism whose pairs are all compared, at most."""

ONE = Fraction(1)
TOO_MANY_PAIRS = "the number of pairs is too large for the tightest E matrix"


def leakages(
    channel: Channel | Mechanism | ContinuousChannel,
    prior: Prior | None = None,
    *,
    priors: Sequence[PriorSet] = (),
) -> Leakages:
    """Measure a channel under every notion that applies.

    Parameters
    ----------
    channel
        A channel; or a structured mechanism, for what can be said of it without its matrix. Of a
        continuous channel the nodes are measured: the rows hold for the kernel, as it mixes them.
    prior
        The distribution of X, for the notions that need one. Inputs of prior 0 are protected like
        others, except under mutual information.
    priors
        Sets of priors, for bounded-prior LIP: one row for each, named ``bounded-prior-lip``, then
        ``bounded-prior-lip 2`` and so on.

    Returns
    -------
    Leakages
        Never less than the truth: ratios are compared as integers, and only their logarithm is
        rounded, up.

    Raises
    ------
    InputError
        If a prior does not fit the inputs.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> leakages(warner, Prior([0.5, 0.5]))
    Leakages of a channel with 2 inputs and 2 outputs, rounded up
      notion                            nats  e^nats  attained at
      ldp                           1.098613       3  output 0, input 'yes' against 'no'
      maximal-leakage               0.405466     1.5
      lip                           0.693148       2  output 0, input 'no'
      max-lift                      0.405466     1.5  output 0, input 'yes'
      min-lift                      0.693148       2  output 0, input 'no'
      pml                           0.405466     1.5  output 0, input 'yes'
      differential-identifiability  1.098613       3  output 0, input 'yes' against 'no'
      mutual-information            0.130813
    guessed right with probability 0.75, without the report 0.5
    tightest E matrix, ln Q(y|row)/Q(y|column)
             yes      no
    yes        0  1.0986
    no    1.0986       0
    """
    if isinstance(channel, ContinuousChannel):
        channel = channel.nodes
    if prior is not None:
        prior = prior_on(prior, channel.inputs)
    priors = [s.aligned(channel.inputs, f"priors[{n}]") for n, s in enumerate(priors)]
    if isinstance(channel, Mechanism):
        return _of_mechanism(channel, prior, priors)
    return _of_channel(channel, prior, priors)


def _of_channel(channel: Channel, prior: Prior | None, priors: Sequence[PriorSet]) -> Leakages:
    """Measure a channel by its matrix."""
    k, m = channel.shape
    found = ColumnExtremes(channel)
    rows = [_ldp(found), _maximal_leakage(found)]
    accuracy = None
    if prior is not None:
        joint = found.weighted(prior)
        rows += _lifts(found, joint)
        rows += [_identifiability(found, joint), _information(channel, prior)]
        accuracy = Fraction(sum(joint.most[0]), joint.unit * channel.denominator)
    rows += _for_sets(found, priors)
    small = k * k * m <= MOST_COMPARED
    return Leakages(
        f"a channel with {k} inputs and {m} outputs",
        channel.inputs.labels,
        tuple(rows),
        tightest_matrix(channel) if small else None,
        prior,
        accuracy,
        () if small else (TOO_MANY_PAIRS,),
    )


def _row(found: ColumnExtremes, notion: str, largest: MaxRatio, *places: list[int]) -> Leakage:
    """Return the leakage of a largest ratio; ``places`` are the inputs of each column."""
    labels, y = found.channel.inputs.labels, largest.column
    value = log_above(largest.factor)
    if y is None:
        return Leakage(notion, value, largest.factor)
    inputs = tuple(labels[place[y]] for place in places)
    return Leakage(notion, value, largest.factor, inputs, (found.channel.outputs[y],))


def _ldp(found: ColumnExtremes) -> Leakage:
    """Compare the extreme entries of each column."""
    (most, at), (least, against) = found.most, found.least
    return _row(found, "ldp", max_ratio(most, least), at, against)


def _maximal_leakage(found: ColumnExtremes) -> Leakage:
    """Add up the largest entries."""
    factor = Fraction(sum(found.most[0]), found.channel.denominator)
    return Leakage("maximal-leakage", log_above(factor), factor)


def _lifts(found: ColumnExtremes, joint: JointExtremes) -> list[Leakage]:
    """Compare the extreme entries of each column with the probability of the output."""
    above, below, both = _sides(found, joint.outputs, joint.outputs, joint.unit, "lip")
    named = replace(above, notion="max-lift"), replace(below, notion="min-lift")
    return [both, *named, replace(above, notion="pml")]


def _sides(
    found: ColumnExtremes, least_sums: list[int], most_sums: list[int], unit: int, name: str
) -> tuple[Leakage, Leakage, Leakage]:
    """Return the largest lift, the largest inverse lift, and the larger of the two."""
    (most, at), (least, against) = found.most, found.least
    above = _row(found, name, max_ratio(most, least_sums, Fraction(unit)), at)
    below = _row(found, name, max_ratio(most_sums, least, Fraction(1, unit)), against)
    return above, below, above if above.value >= below.value else below


def _identifiability(found: ColumnExtremes, joint: JointExtremes) -> Leakage:
    """Compare the extreme posteriors at each output."""
    (most, at), (least, against) = joint.most, joint.least
    return _row(found, "differential-identifiability", max_ratio(most, least), at, against)


def _information(channel: Channel, prior: Prior) -> Leakage:
    return Leakage("mutual-information", information_above(channel, prior), None)


def _for_sets(found: ColumnExtremes, priors: Sequence[PriorSet]) -> list[Leakage]:
    """Compare the extreme entries of each column with P(y) at the extreme priors of a set."""
    rows = []
    for n, members in enumerate(priors, 1):
        outputs: tuple[list[int], list[int]] = ([], [])  # the least and the largest P(y)
        for column in found.channel.columns():
            for side, largest in enumerate((False, True)):
                prior = members.extreme_numerators(column, largest=largest)
                outputs[side].append(sum(map(mul, prior, column)))
        name = "bounded-prior-lip" if n == 1 else f"bounded-prior-lip {n}"
        rows.append(_sides(found, *outputs, members.denominator, name)[2])
    return rows


def _of_mechanism(
    mechanism: Mechanism, prior: Prior | None, priors: Sequence[PriorSet]
) -> Leakages:
    """Measure a structured mechanism by the ratios and lifts that it computes itself."""
    k, labels = len(mechanism.inputs), mechanism.inputs.labels
    rows, notes, matrix = [], ["of a structured mechanism: only what needs no matrix"], None
    if priors:
        notes.append("bounded-prior LIP needs a matrix")
    if k <= MOST_INPUTS:
        (x, z), factor, matrix = _pairs(mechanism, k)
        rows.append(Leakage("ldp", log_above(factor), factor, (labels[x], labels[z])))
    own = mechanism.privacy
    if not own.needs_prior and own.name not in [row.notion for row in rows]:
        factor = mechanism.leakage_factor
        value = mechanism.leakage if factor is None else log_above(factor)
        rows.append(Leakage(own.name, value, factor))
    if prior is not None:
        least, most = mechanism.lifts(prior)
        sides = [("max-lift", most), ("min-lift", inverse(least))]
        both = max((factor for _, factor in sides), key=_order)
        sides = [("lip", both), *sides, ("pml", most)]
        rows += [Leakage(name, log_above(factor), factor) for name, factor in sides]
    what = f"{type(mechanism).__name__} with {k} inputs"
    return Leakages(what, labels, tuple(rows), matrix, prior, None, tuple(notes))


def _pairs(mechanism: Mechanism, k: int) -> tuple[tuple[int, int], Fraction | None, FloatArray]:
    """Return the pair of rows of the largest ratio, that ratio, and the logarithms of all."""
    common = mechanism.common_ratio
    if common is not None and k > 1:
        matrix = np.full((k, k), log_above(common))
        np.fill_diagonal(matrix, 0.0)
        return (0, 1), common, matrix
    factors = [[mechanism.ratio(x, z) if x != z else ONE for z in range(k)] for x in range(k)]
    log = cache(log_above)  # few are different
    x, z = divmod(max(range(k * k), key=lambda n: _order(factors[n // k][n % k])), k)
    return (x, z), factors[x][z], np.array([[log(factor) for factor in row] for row in factors])


def _order(factor: Fraction | None) -> tuple[bool, Fraction]:
    """Sort infinite ratios last."""
    return factor is None, factor or ONE
