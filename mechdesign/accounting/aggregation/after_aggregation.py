"""Central epsilon of the sum of reports under secure aggregation, between two bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from mechdesign.accounting.aggregation.data_sets import DataSets
from mechdesign.accounting.continuous.arguments import below_one
from mechdesign.accounting.shuffling.after_shuffling import Central, after_shuffling
from mechdesign.accounting.shuffling.comparisons import reports
from mechdesign.errors import InputError, UnsupportedError, shown_kind
from mechdesign.exact import Exact
from mechdesign.mechanisms import GeneralizedRandomizedResponse
from mechdesign.mechanisms.base import Mechanism
from mechdesign.mechanisms.subsets.unary import UnaryEncoding

__all__ = ["Aggregated", "after_aggregation", "data_sets_of"]


@dataclass(frozen=True, repr=False)
class Aggregated(Central):
    """The central epsilon of the sum of n reports at a delta. Its repr is a table.

    Attributes
    ----------
    n, delta, epsilon, at_least, local
        As for :class:`~mechdesign.accounting.shuffling.after_shuffling.Central`.
    others
        How many of the others hold the old and the new value of the person, where the lower bound
        is reached; None where the sum leaks as much as the shuffled reports.
    """

    others: tuple[int, int] | None = None

    def _head(self) -> str:
        return f"the sum of {self.n} reports at delta = {self.delta:g}"


def data_sets_of(mechanism: Any) -> Callable[..., DataSets] | None:
    """Return what makes the data sets of n people, n and delta given.

    None where the sum leaks as much as the shuffled reports.

    Raises
    ------
    InputError, UnsupportedError
        If the sums of a mechanism are not accounted for.
    """
    if not isinstance(mechanism, Mechanism):
        raise InputError("mechanism", "a structured mechanism", shown_kind(mechanism))
    k = len(mechanism.inputs)
    if isinstance(mechanism, UnaryEncoding):
        return partial(DataSets, *mechanism.chances, k=k)
    if not isinstance(mechanism, GeneralizedRandomizedResponse):
        expected = "unary encoding or randomized response"
        hint = "a sum leaks at most as much as shuffled reports: after_shuffling is an upper bound"
        raise UnsupportedError("mechanism", expected, shown_kind(mechanism), hint)
    return partial(DataSets, mechanism.most, mechanism.least, k=k, single=True) if k == 2 else None


def after_aggregation(mechanism: Mechanism, n: int, delta: Exact) -> Aggregated:
    """Return the central epsilon of the sum of n reports: an upper bound and a lower one.

    Everybody sends a vector of bits, and secure aggregation (Prio3 and its like) shows their sum
    only. It is (epsilon, delta)-private under the change of one person's input,

        Pr(sum in A | x, others) <= e**epsilon Pr(sum in A | x', others) + delta

    for all x and x', all inputs of the others and all sets A. Both bounds hold in floating point,
    with every rounding bounded: the proofs are in ``aggregation/bit_sums.py`` and
    ``aggregation/data_sets.py``. Reports that the aggregator knows, as those of its own clients, do
    not count for n.

    Parameters
    ----------
    mechanism
        Unary encoding, whose reports are added as they are; or randomized response, whose reports
        are vectors with a single 1: their sum leaks as much as their shuffle.
    n
        How many reports, from 1 to 10**9.
    delta
        Above 0, below 1.

    Raises
    ------
    InputError
        If an argument is out of range.
    UnsupportedError
        If it is another mechanism.

    Notes
    -----
    Two entries of the sum move, independent of each other. An Internet draft states numbers
    without proof for symmetric unary encoding (draft-wang-ppm-differential-privacy, Table 1).

    Examples
    --------
    >>> from mechdesign.mechanisms import SymmetricUnaryEncoding
    >>> after_aggregation(SymmetricUnaryEncoding(10, 10, digits=62), 100_000, "1e-9")
    the sum of 100000 reports at delta = 1e-09
    central epsilon       nats
    at least          0.297408
    at most           0.298301
    one report       10.000000
    """
    n, delta = reports(n), below_one(delta, "delta")
    made, local = data_sets_of(mechanism), mechanism.leakage
    if made is None:
        shuffled = after_shuffling(mechanism, n, delta)
        return Aggregated(n, delta, min(shuffled.epsilon, local), shuffled.at_least, local)
    sets = made(n=n, delta=delta)
    at_least, others = sets.epsilon_below(local)
    return Aggregated(n, delta, sets.epsilon_above(at_least, local), at_least, local, others)
