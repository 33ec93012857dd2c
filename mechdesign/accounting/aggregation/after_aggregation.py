"""What the sum of reports tells: the central epsilon under secure aggregation, between bounds."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from mechdesign.accounting.aggregation.data_sets import DataSets
from mechdesign.accounting.continuous.arguments import below_one
from mechdesign.accounting.shuffling.after_shuffling import after_shuffling, delta_after_shuffling
from mechdesign.accounting.shuffling.comparisons import compared, reports
from mechdesign.accounting.shuffling.epsilons import is_within as is_within_shuffled
from mechdesign.errors import InputError, UnsupportedError, shown_kind
from mechdesign.exact import Exact
from mechdesign.mechanisms import GeneralizedRandomizedResponse
from mechdesign.mechanisms.base import Mechanism
from mechdesign.mechanisms.subsets.unary import UnaryEncoding
from mechdesign.text import Table, Tabular

__all__ = ["Aggregated", "after_aggregation", "checked_mechanism", "exceeds", "is_within"]


@dataclass(frozen=True, repr=False)
class Aggregated(Tabular):
    """The central epsilon of the sum of n reports at a delta. Its repr is a table.

    Attributes
    ----------
    n, delta
        How many reports are added up, and the delta.
    epsilon
        An upper bound: the sum is (epsilon, delta)-private in the central model, when one person's
        input changes.
    at_least
        A lower bound: at no smaller epsilon is it.
    local
        The epsilon of one report, which holds without aggregation, with delta 0.
    others
        How many of the others hold the old and the new value of the person, where the lower bound
        is reached; None where the sum tells as much as the shuffled reports.
    """

    n: int
    delta: float
    epsilon: float
    at_least: float
    local: float
    others: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain data, fit for JSON."""
        return asdict(self) | {"others": self.others and list(self.others)}

    def _head(self) -> str:
        return f"the sum of {self.n} reports at delta = {self.delta:g}"

    def _table(self) -> Table:
        numbers = (
            ("at least", math.floor(self.at_least * 10**6)),
            ("at most", math.ceil(self.epsilon * 10**6)),
            ("one report", math.ceil(self.local * 10**6)),
        )
        rows = [(name, f"{value / 10**6:.6f}") for name, value in numbers]
        return Table(("central epsilon", "nats"), rows, "<>")


def checked_mechanism(mechanism: Any) -> Mechanism:
    """Return a mechanism whose sums are accounted for, or raise InputError."""
    if not isinstance(mechanism, Mechanism):
        raise InputError("mechanism", "a structured mechanism", shown_kind(mechanism))
    if not isinstance(mechanism, UnaryEncoding | GeneralizedRandomizedResponse):
        expected = "unary encoding or randomized response"
        hint = "a sum tells at most what shuffled reports tell: after_shuffling is an upper bound"
        raise UnsupportedError("mechanism", expected, shown_kind(mechanism), hint)
    return mechanism


def _data_sets(mechanism: Mechanism, n: int, delta: float) -> DataSets | None:
    """Return what n people may hold; None where the sum tells as much as the shuffled reports."""
    k = len(mechanism.inputs)
    if isinstance(mechanism, UnaryEncoding):
        return DataSets(*mechanism.chances, n, k, delta)
    if isinstance(mechanism, GeneralizedRandomizedResponse) and k == 2:
        return DataSets(mechanism.most, mechanism.least, n, k, delta, single=True)
    return None


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
        are vectors with a single 1: their sum tells what their shuffle does.
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
    mechanism, n, delta = checked_mechanism(mechanism), reports(n), below_one(delta, "delta")
    local, data_sets = mechanism.leakage, _data_sets(mechanism, n, delta)
    if data_sets is None:
        told = after_shuffling(mechanism, n, delta)
        return Aggregated(n, delta, min(told.epsilon, local), told.at_least, local)
    at_least, others = data_sets.epsilon_below(local)
    return Aggregated(n, delta, data_sets.epsilon_above(at_least, local), at_least, local, others)


def is_within(mechanism: Mechanism, n: int, epsilon: float, delta: float) -> bool:
    """Whether the sum of n reports surely is within (epsilon, delta)."""
    data_sets = _data_sets(mechanism, n, delta)
    if data_sets is None:
        return is_within_shuffled(compared(mechanism), n, epsilon, delta)
    if epsilon >= mechanism.leakage:
        return True
    return data_sets.delta_below(epsilon) <= delta and data_sets.is_within(epsilon, delta)


def exceeds(mechanism: Mechanism, n: int, epsilon: float, delta: float) -> bool:
    """Whether the sum of n reports surely is not within (epsilon, delta)."""
    raised = math.nextafter(epsilon, math.inf)
    data_sets = _data_sets(mechanism, n, delta)
    if data_sets is None:
        return delta_after_shuffling(mechanism, n, raised).low > delta
    return data_sets.delta_below(raised) > delta
