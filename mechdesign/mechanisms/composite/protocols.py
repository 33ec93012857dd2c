"""Protocols of the mechanisms that composite ones are made of, and counts of reports by group."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.mechanisms.base import Frequencies, Mechanism
from mechdesign.mechanisms.subsets.bit_rows import BitRows
from mechdesign.prior import Prior
from mechdesign.reports import Tally
from mechdesign.sampling import Source, pieces

__all__ = [
    "BatchEstimator",
    "HasScoreSums",
    "ProbabilityLevel",
    "ScoreSumMoments",
    "TwoValuedMechanism",
    "batch_frequencies",
    "count_by_group",
    "is_numbered",
]

CELLS = 1 << 22
"""Bits that are unpacked together."""

WORTH_SORTING = 1 << 18
"""Bits of a group from which on its reports are gathered and counted by themselves."""


class ProbabilityLevel(NamedTuple):
    """One of the probabilities that a report may have, and how likely such reports are.

    ``lowest`` and ``highest`` bound P(y), tightly, over the reports y to which some input gives
    the probability ``mass``.
    """

    mass: Fraction
    lowest: Fraction
    highest: Fraction


class ScoreSumMoments(NamedTuple):
    """Moments of the sum t(y) = Sum_x s_x(y) of all scores, as means over reports.

    ``mean`` and ``square`` are those of t and t**2, ``products`` has those of s_x t.
    """

    mean: float
    square: float
    products: FloatArray


@runtime_checkable
class HasScoreSums(Protocol):
    """A mechanism whose scores do not sum to 1 at every report, only in the mean."""

    def score_sum_moments(self, tally: Tally) -> ScoreSumMoments:
        """Return the moments of the sum of all scores."""


@runtime_checkable
class TwoValuedMechanism(Protocol):
    """A mechanism each of whose probabilities is ``most`` or ``least``."""

    inputs: Domain

    @property
    def n_outputs(self) -> int:
        """How many different reports there are."""

    @property
    def most(self) -> Fraction:
        """The largest probability of a report."""

    @property
    def uniform_score(self) -> Fraction:
        """The mean of each score s_x(Y) where Y is uniform; it is the same for every x."""

    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Return reports that are uniform, independent of any input."""

    def levels(self, prior: Prior) -> list[ProbabilityLevel]:
        """Return the probabilities that occur, each with the extremes of P(y)."""


@runtime_checkable
class BatchEstimator(Protocol):
    """A mechanism that estimates from many tallies together."""

    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return estimates, ``(n_tallies, n_inputs)``, from counts with one row for each tally."""


def batch_frequencies(mechanism: Mechanism, counts: Int64Array, totals: Int64Array) -> Frequencies:
    """Return the estimates of many tallies of one mechanism, ``(n_tallies, n_inputs)``.

    Parameters
    ----------
    counts
        ``(n_tallies, size)`` counts, one row for each tally, at least one.
    totals
        ``(n_tallies,)`` numbers of reports, at least 1.
    """
    if isinstance(mechanism, BatchEstimator):
        return mechanism.batch_frequencies(counts.astype(np.float64), totals.astype(np.float64))
    pairs = zip(counts, totals.tolist(), strict=True)
    found = [mechanism.frequencies(Tally(row, total)) for row, total in pairs]
    return Frequencies(
        np.array([each.estimates for each in found]), np.array([each.squares for each in found])
    )


def count_by_group(
    mechanism: Mechanism, data: AnyArray, group: Int64Array, n_groups: int
) -> Int64Array:
    """Return the counts of reports of one mechanism by group, ``(n_groups, size)``.

    Parameters
    ----------
    data
        Reports of the mechanism.
    group
        ``(n,)`` the group of each, from 0.
    """
    size = mechanism.count(data[:0]).size
    if is_numbered(data):  # then each number is counted
        counts = np.bincount(group * size + data, minlength=n_groups * size)
        return counts.reshape(n_groups, size).astype(np.int64)
    if n_groups == 1:
        return mechanism.count(data)[None]
    table = np.zeros((n_groups, size), dtype=np.int64)
    if isinstance(mechanism.alphabet, BitRows) and len(data) * size < n_groups * WORTH_SORTING:
        for piece in pieces(len(data), max(1, CELLS // size)):  # then each bit is counted
            table += _bits_each(data[piece], group[piece], table.shape)
        return table
    order = np.argsort(group.astype(np.uint16) if n_groups < 1 << 16 else group, kind="stable")
    present, starts = np.unique(group[order], return_index=True)
    ends = [*starts[1:].tolist(), len(order)]
    for g, start, end in zip(present.tolist(), starts.tolist(), ends, strict=True):
        table[g] = mechanism.count(data[order[start:end]])
    return table


def _bits_each(rows: AnyArray, group: Int64Array, shape: tuple[int, int]) -> Int64Array:
    """Return how many rows of packed bits have each bit set, by group: one sparse product.

    Sums of fewer than 2**24 ones are exact in single precision.
    """
    bits = np.unpackbits(rows, axis=1, count=shape[1], bitorder="little").astype(np.float32)
    ones, ends = np.ones(len(rows), dtype=np.float32), np.arange(len(rows) + 1)
    member = sp.csc_array((ones, group, ends), shape=(shape[0], len(rows)))
    return np.asarray(member @ bits, dtype=np.int64)


def is_numbered(data: AnyArray) -> bool:
    """Return whether reports are held as their numbers."""
    return data.ndim == 1 and data.dtype == np.int64
