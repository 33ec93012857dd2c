"""The leakage of a channel under every notion: exact ratios, and their logarithms rounded up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from operator import mul
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mechdesign._typing import FloatArray
from mechdesign.accounting.measure.leakage_table import Leakage, Leakages
from mechdesign.accounting.measure.max_ratio import inverse, log_above, max_ratio
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

CHUNK = 1 << 20
"""Entries that are converted to Python integers at a time."""

Pick: TypeAlias = Callable[..., npt.NDArray[np.intp]]

PICKS: tuple[Pick, Pick] = (np.argmax, np.argmin)

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


class Extremes(NamedTuple):
    """One integer for each column, over ``unit``, and the inputs at which they are found."""

    numbers: list[int]
    inputs: Sequence[int] = ()
    unit: int = 1


def _of_channel(channel: Channel, prior: Prior | None, priors: Sequence[PriorSet]) -> Leakages:
    """Measure a channel by its matrix: every leakage but information is a ratio of extremes."""
    k, m = channel.shape
    most, least = (Extremes(*_extreme(channel.numerators, pick)) for pick in PICKS)
    factor = Fraction(sum(most.numbers), channel.denominator)
    rows = [
        _ratio(channel, "ldp", most, least),
        Leakage("maximal-leakage", log_above(factor), factor),
    ]
    accuracy = None
    if prior is not None:
        outputs, joint_most, joint_least = _joint(channel, prior)
        above = _ratio(channel, "max-lift", most, outputs)
        below = _ratio(channel, "min-lift", outputs, least)
        rows += [_larger("lip", above, below), above, below, replace(above, notion="pml")]
        rows.append(_ratio(channel, "differential-identifiability", joint_most, joint_least))
        rows.append(Leakage("mutual-information", information_above(channel, prior), None))
        accuracy = Fraction(sum(joint_most.numbers), outputs.unit * channel.denominator)
    for n, members in enumerate(priors, 1):
        low, high = (_outputs(channel, members, largest=largest) for largest in (False, True))
        name = "bounded-prior-lip" if n == 1 else f"bounded-prior-lip {n}"
        above, below = _ratio(channel, name, most, low), _ratio(channel, name, high, least)
        rows.append(_larger(name, above, below))
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


def _ratio(channel: Channel, notion: str, tops: Extremes, bottoms: Extremes) -> Leakage:
    """Return the leakage of the largest ratio over the columns."""
    scale = Fraction(bottoms.unit, tops.unit)
    factor, y = max_ratio(tops.numbers, bottoms.numbers, scale)
    if y is None:
        return Leakage(notion, log_above(factor), factor)
    labels = channel.inputs.labels
    inputs = tuple(labels[side.inputs[y]] for side in (tops, bottoms) if side.inputs)
    return Leakage(notion, log_above(factor), factor, inputs, (channel.outputs[y],))


def _larger(notion: str, above: Leakage, below: Leakage) -> Leakage:
    return replace(above if above.value >= below.value else below, notion=notion)


def _extreme(table: npt.NDArray[Any], pick: Pick) -> tuple[list[int], list[int]]:
    """Return the extreme entry of each column and the first row that it is in."""
    place = pick(table, axis=0)
    return table[place, np.arange(table.shape[1])].tolist(), place.tolist()


def _joint(channel: Channel, prior: Prior) -> tuple[Extremes, Extremes, Extremes]:
    """Return the sums, and the largest and the least entries, of the columns of P_x Q[x, y]."""
    unit = math.lcm(*(p.denominator for p in prior))
    masses = np.array([int(p * unit) for p in prior], dtype=object)[:, None]
    outputs: list[int] = []
    found: list[tuple[list[int], list[int]]] = [([], []) for _ in PICKS]
    blocks = -(-channel.numerators.size // CHUNK)
    for block in np.array_split(channel.numerators, blocks, axis=1):
        joint = block.astype(object) * masses
        outputs += joint.sum(axis=0).tolist()
        for side, pick in zip(found, PICKS, strict=True):
            for known, more in zip(side, _extreme(joint, pick), strict=True):
                known.extend(more)
    most, least = (Extremes(*side, unit) for side in found)
    return Extremes(outputs, unit=unit), most, least


def _outputs(channel: Channel, priors: PriorSet, *, largest: bool) -> Extremes:
    """Return the probability of each output at the prior of a set where it is extreme."""
    numbers = [
        sum(map(mul, priors.extreme_numerators(column, largest=largest), column))
        for column in channel.columns()
    ]
    return Extremes(numbers, unit=priors.denominator)


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
    pairs = product(range(k), repeat=2)
    factors = {(x, z): mechanism.ratio(x, z) if x != z else Fraction(1) for x, z in pairs}
    worst, log = max(factors, key=lambda pair: _order(factors[pair])), cache(log_above)
    return worst, factors[worst], np.array(list(map(log, factors.values()))).reshape(k, k)


def _order(factor: Fraction | None) -> tuple[bool, Fraction]:
    """Sort infinite ratios last."""
    return factor is None, factor or Fraction(1)
