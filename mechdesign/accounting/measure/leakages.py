"""The leakage of a channel under every notion: exact ratios, and their logarithms rounded up."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mechdesign._typing import FloatArray
from mechdesign.accounting.measure.leakage_table import Leakage, Leakages
from mechdesign.accounting.measure.max_ratio import inverse, log_above, max_ratio
from mechdesign.accounting.measure.mutual_information import information_above
from mechdesign.accounting.measure.tightest_matrix import matrix_of
from mechdesign.channel import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.domain import Label
from mechdesign.mechanisms.base import Mechanism
from mechdesign.prior import Prior, prior_on
from mechdesign.prior_sets import PriorSet

MOST_COMPARED = 1 << 31
"""Maximum number of ratios of entries compared for the tightest matrix."""

MOST_INPUTS = 256
"""Maximum number of inputs of a structured mechanism for which all pairs are compared."""

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
        A channel; or a structured mechanism, for the notions that do not need its matrix. For a
        continuous channel the nodes are measured: the leakages hold for the kernel, which mixes
        them.
    prior
        The distribution of X, for the notions that need one. Inputs of prior 0 are protected like
        others, except under mutual information.
    priors
        Sets of priors, for bounded-prior LIP: one row for each, named ``bounded-prior-lip``, then
        ``bounded-prior-lip 2`` and so on.

    Returns
    -------
    Leakages
        Upper bounds that are exact up to rounding: ratios are compared as integers, and only their
        logarithms are rounded, up.

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
    (k, m), labels = channel.shape, channel.inputs.labels
    what = f"a channel with {k} inputs and {m} outputs"
    table, whole = channel.numerators, channel.denominator
    return measured(what, table, whole, labels, channel.outputs, prior, priors)


class Numbers(NamedTuple):
    """One integer for each column, and the input at which each is found, if it is an entry."""

    values: list[int]
    inputs: Sequence[int] = ()

    def times(self, unit: int) -> Numbers:
        """Return the integers multiplied by a unit."""
        return self._replace(values=[unit * value for value in self.values])


def _summary(columns: Iterable[Sequence[int]]) -> tuple[Numbers, Numbers, Numbers]:
    """Return the sum, the largest and the least entry of each column."""
    found = [(sum(q), a := max(q), q.index(a), b := min(q), q.index(b)) for q in columns]
    law, most, highest, least, lowest = map(list, zip(*found, strict=True))
    return Numbers(law), Numbers(most, highest), Numbers(least, lowest)


class Ratios:
    """Largest ratios of numbers that summarize columns of integers >= 0.

    The ratios do not depend on the scale of a column, so columns may be scaled or merged.

    Parameters
    ----------
    columns
        The columns, of one length.
    inputs, outputs
        Labels of their entries, and of the columns; default the places.
    """

    def __init__(
        self,
        columns: Collection[Sequence[int]],
        inputs: Sequence[Label] | None = None,
        outputs: Sequence[Label] | None = None,
    ) -> None:
        self.columns, self.inputs = columns, inputs
        self.outputs = range(len(columns)) if outputs is None else outputs
        _, self.most, self.least = _summary(columns)

    def ldp(self) -> Leakage:
        """Return the leakage under LDP."""
        return self._ratio("ldp", self.most, self.least)

    def of_prior(self, prior: Prior) -> tuple[list[Leakage], Fraction]:
        """Return the leakages under the notions with one prior, and Sum_y max_x P_x q_x."""
        unit = math.lcm(*(p.denominator for p in prior))
        masses = [int(p * unit) for p in prior]
        law, most, least = _summary([*map(mul, masses, q)] for q in self.columns)
        rows = self._lifts("lip", unit, law, law)
        rows.append(replace(rows[1], notion="pml"))
        rows.append(self._ratio("differential-identifiability", most, least))
        return rows, Fraction(sum(most.values), unit)

    def of_set(self, priors: PriorSet, notion: str = "bounded-prior-lip") -> list[Leakage]:
        """Return the leakage under LIP and both its sides, for all priors of a set."""
        low, high = (
            [sum(map(mul, priors.extreme_numerators(q, largest=side), q)) for q in self.columns]
            for side in (False, True)
        )
        return self._lifts(notion, priors.denominator, Numbers(low), Numbers(high))

    def _lifts(self, notion: str, unit: int, low: Numbers, high: Numbers) -> list[Leakage]:
        """Return the larger leakage of both sides of the lift, and either, for bounds on laws."""
        above = self._ratio("max-lift", self.most.times(unit), low)
        below = self._ratio("min-lift", high, self.least.times(unit))
        larger = above if above.value >= below.value else below
        return [replace(larger, notion=notion), above, below]

    def _ratio(self, notion: str, tops: Numbers, bottoms: Numbers) -> Leakage:
        """Return the leakage of the largest ratio over the columns."""
        factor, y = max_ratio(tops.values, bottoms.values)
        if y is None:
            return Leakage(notion, log_above(factor), factor)
        places = [side.inputs[y] for side in (tops, bottoms) if side.inputs]
        inputs = tuple(places if self.inputs is None else [self.inputs[x] for x in places])
        return Leakage(notion, log_above(factor), factor, inputs, (self.outputs[y],))


def measured(
    what: str,
    table: npt.NDArray[Any],
    whole: int,
    inputs: Sequence[Label],
    outputs: Sequence[Label],
    prior: Prior | None = None,
    priors: Sequence[PriorSet] = (),
) -> Leakages:
    """Measure a table of integers whose rows sum to ``whole``."""
    (k, m), accuracy = table.shape, None
    ratios = Ratios(table.T.tolist(), inputs, outputs)
    factor = Fraction(sum(ratios.most.values), whole)
    rows = [ratios.ldp(), Leakage("maximal-leakage", log_above(factor), factor)]
    if prior is not None:
        found, guessed = ratios.of_prior(prior)
        information = information_above(table, whole, prior)
        rows += [*found, Leakage("mutual-information", information, None)]
        accuracy = guessed / whole
    for n, members in enumerate(priors, 1):
        name = "bounded-prior-lip" if n == 1 else f"bounded-prior-lip {n}"
        rows.append(ratios.of_set(members, name)[0])
    small = k * k * m <= MOST_COMPARED
    matrix, notes = (matrix_of(table), ()) if small else (None, (TOO_MANY_PAIRS,))
    return Leakages(what, tuple(inputs), tuple(rows), matrix, prior, accuracy, notes)


def _of_mechanism(
    mechanism: Mechanism, prior: Prior | None, priors: Sequence[PriorSet]
) -> Leakages:
    """Measure a structured mechanism by its own ratios and lifts."""
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
    """Return a sort key that puts infinite ratios last."""
    return factor is None, factor or Fraction(1)
