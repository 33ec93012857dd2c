"""The central privacy of n reports that are only seen shuffled or summed.

What an observer sees of the reports decides whether they are provably within (epsilon, delta),
whether they are provably not, and bounds their central epsilon. Everything else follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from mechdesign.accounting.arguments import below_one, positive
from mechdesign.accounting.central.comparisons import (
    MOST_REPORTS,
    Pair,
    central_budget,
    compared,
    reports,
)
from mechdesign.accounting.central.lattice_sums import LOOSE
from mechdesign.accounting.central.lower import delta_below, epsilon_below
from mechdesign.accounting.central.result import Central
from mechdesign.accounting.central.sums import SummedReports
from mechdesign.accounting.central.upper import (
    delta_above,
    delta_of_pair,
    epsilon_above,
    feldman_epsilon,
    pair_within,
    variation_ratio_epsilon,
)
from mechdesign.accounting.crossings import bisected
from mechdesign.accounting.ratios import float_above, largest, log_above, pair_ratios
from mechdesign.channel import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InfeasibleError, InputError, UnsupportedError, shown_kind
from mechdesign.exact import Exact, as_fraction
from mechdesign.exact.enclosures import Bounds
from mechdesign.mechanisms import GeneralizedRandomizedResponse
from mechdesign.mechanisms.base import Mechanism
from mechdesign.mechanisms.reported_sets import UnaryEncoding
from mechdesign.notions import LDP

Randomizer = Channel | Mechanism | ContinuousChannel | Exact


class ShuffledReports:
    """n reports of a channel of which only the counts are seen, and the delta to compare with."""

    def __init__(self, n: int, delta: float, pairs: list[Pair], local: float) -> None:
        self._pairs, self._n, self._delta, self._local = pairs, n, delta, local

    def is_within(self, epsilon: float) -> bool:
        """Whether they are provably private at an epsilon."""
        return all(pair_within(pair, self._n, epsilon, self._delta) for pair in self._pairs)

    def exceeds(self, epsilon: float) -> bool:
        """Whether they are provably not private at an epsilon."""
        pair = max(self._pairs, key=lambda pair: delta_of_pair(pair, self._n, epsilon, LOOSE))
        return delta_below(pair, self._n, math.nextafter(epsilon, math.inf)) > self._delta

    def central(self) -> Central:
        """Return bounds on the central epsilon."""
        local, n, delta = self._local, self._n, self._delta
        above, pair = epsilon_above(self._pairs, n, delta)
        below = epsilon_below(pair, n, delta, above)
        published = variation_ratio_epsilon(self._pairs, n, delta), feldman_epsilon(local, n, delta)
        return Central(n, delta, min(above, local), below, local, pair.labels, *published)


View = Callable[[int, float], ShuffledReports | SummedReports]
"""Maps a number of reports and a delta to what an observer sees of the reports."""


def view(channel: Any, *, summed: bool) -> View:
    """Return the view of the counts of the reports, or of their sum."""
    if not summed:
        return partial(ShuffledReports, pairs=compared(channel), local=_local_epsilon(channel))
    if not isinstance(channel, Mechanism):
        raise InputError("mechanism", "a structured mechanism", shown_kind(channel))
    k, local = len(channel.inputs), channel.leakage
    if isinstance(channel, UnaryEncoding):
        return partial(SummedReports, chances=channel.chances, k=k, local=local)
    if not isinstance(channel, GeneralizedRandomizedResponse):
        expected = "unary encoding or randomized response"
        hint = "a sum leaks at most as much as shuffled reports: after_shuffling is an upper bound"
        raise UnsupportedError("mechanism", expected, shown_kind(channel), hint)
    if k > 2:  # the sum of one-hot vectors is the histogram of the reports
        return partial(ShuffledReports, pairs=compared(channel), local=local)
    two = channel.most, channel.least
    return partial(SummedReports, chances=two, k=k, local=local, single=True)


def _local_epsilon(channel: Any) -> float:
    """Return the exact epsilon of one report, rounded up."""
    if isinstance(channel, Mechanism):
        merged = channel.merged_reports()
        if merged is not None:
            return log_above(largest(pair_ratios(merged.rows)))
        channel = channel.dense()
    if isinstance(channel, ContinuousChannel):
        channel = channel.nodes
    return (
        LDP(0).leakage(channel)
        if isinstance(channel, Channel)
        else float_above(as_fraction(channel))
    )


class LeastReports(NamedTuple):
    """Bounds on the number of reports that a central budget needs.

    ``enough`` provably suffice; ``too_few`` provably do not (0 if one report is enough).
    """

    enough: int
    too_few: int


class LocalBudget(NamedTuple):
    """Bounds on the local budget that a central one allows: ``enough`` fits, ``too_much`` does not.

    ``too_much`` is infinite if no local budget tried provably exceeds the central one.
    """

    enough: float
    too_much: float


def after_shuffling(channel: Randomizer, n: int, delta: Exact) -> Central:
    """Return the central epsilon of n shuffled reports: an upper bound and a lower one.

    All people report by the same channel, and the reports are shuffled: only their counts are seen.
    The counts are (epsilon, delta)-private under the change of one person's input,

        Pr(counts in A | x, others) <= e**epsilon Pr(counts in A | x', others) + delta

    for all x and x', all inputs of the others and all sets A.

    The upper bound holds in floating point: it is the privacy blanket of Balle et al., or for few
    pairs of inputs a blanket that hides who reported by it (our own proof, in
    ``central/upper.py``). The law of its sum is computed by FFT, with bounds on all rounding,
    lattice and tail errors. The lower bound is a test between two data sets, with the same bounds.

    Parameters
    ----------
    channel
        A channel or a mechanism; or a number, for all channels with this local epsilon: then the
        lower bound is that of randomized response with three inputs. A continuous channel is
        represented by its nodes, which it mixes.
    n
        Number of reports, from 1 to 10**9.
    delta
        Above 0, below 1.

    Raises
    ------
    InputError
        If an argument is out of range.
    UnsupportedError
        If a mechanism has too many reports to list and no known symmetry.

    Notes
    -----
    Sources: Balle, Bell, Gascon and Nissim 2019, Lemma 5.3, which is the best of the bounds by
    decomposition (Su, Cheng and Wang 2025, arXiv 2504.07414); Wang et al. 2023 (arXiv 2304.05007),
    Feldman, McMillan and Talwar 2021 for the published bounds.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> after_shuffling(warner, 1000, "1e-6")
    1000 shuffled reports at delta = 1e-06, hardest to hide: 'yes' or 'no'
    central epsilon          nats
    at least             0.142057
    at most              0.144424
    Wang et al. 2023     0.168284
    Feldman et al. 2021  0.623914
    one report           1.098613
    """
    return view(channel, summed=False)(reports(n), below_one(delta, "delta")).central()


def delta_after_shuffling(channel: Randomizer, n: int, epsilon: Exact) -> Bounds:
    """Return bounds on the least delta of n shuffled reports at a central epsilon.

    Parameters
    ----------
    channel, n
        As for :func:`after_shuffling`.
    epsilon
        The central budget in nats, >= 0.

    Raises
    ------
    InputError, UnsupportedError
        As for :func:`after_shuffling`.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> low, high = delta_after_shuffling(warner, 1000, "0.1")
    >>> low <= high, round(low, 5), round(high, 5)
    (True, 5e-05, 6e-05)
    """
    pairs, n, central = compared(channel), reports(n), central_budget(epsilon)
    above, pair = delta_above(pairs, n, central)
    below = delta_below(pair, n, math.nextafter(central, math.inf))
    return Bounds(min(below, above), above)


def after_aggregation(mechanism: Mechanism, n: int, delta: Exact) -> Central:
    """Return the central epsilon of the sum of n reports: an upper bound and a lower one.

    All people send a vector of bits, and secure aggregation (such as Prio3) reveals only the sum.
    The sum is (epsilon, delta)-private under the change of one person's input,

        Pr(sum in A | x, others) <= e**epsilon Pr(sum in A | x', others) + delta

    for all x and x', all inputs of the others and all sets A. Both bounds hold in floating point,
    with bounds on all rounding: the proof is in ``central/sums.py``. Reports known to the
    aggregator, such as those of its own clients, do not count towards n.

    Parameters
    ----------
    mechanism
        Unary encoding, whose reports are summed directly; or randomized response, whose reports are
        one-hot vectors: their sum leaks as much as their shuffle.
    n
        Number of reports, from 1 to 10**9.
    delta
        Above 0, below 1.

    Raises
    ------
    InputError
        If an argument is out of range.
    UnsupportedError
        For any other mechanism.

    Notes
    -----
    Only two entries of the sum change, independently. An Internet draft states values for symmetric
    unary encoding without proof (draft-wang-ppm-differential-privacy, Table 1).

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
    seen = view(mechanism, summed=True)(reports(n), below_one(delta, "delta"))
    return replace(seen.central(), pair=None)


def least_reports(
    channel: Randomizer, epsilon: Exact, delta: Exact, *, summed: bool = False
) -> LeastReports:
    """Return the number of shuffled or summed reports that a central budget needs.

    Parameters
    ----------
    channel
        As for :func:`after_shuffling`, or with ``summed`` for :func:`after_aggregation`.
    epsilon
        The central budget in nats, > 0.
    delta
        Above 0, below 1.
    summed
        Whether the sum of the reports is seen, as under secure aggregation. One more person lowers
        the leakage: that person's report is added noise.

    Raises
    ------
    InputError, UnsupportedError
        As for :func:`after_shuffling`.
    InfeasibleError
        If 10**9 reports do not provably suffice.

    Examples
    --------
    >>> from mechdesign import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> least_reports(warner, "0.1", "1e-6")
    LeastReports(enough=1916, too_few=1875)
    >>> from mechdesign.mechanisms import SymmetricUnaryEncoding
    >>> least_reports(SymmetricUnaryEncoding(4, 2), "0.5", "1e-6", summed=True)
    LeastReports(enough=165, too_few=164)
    """
    seen, central = view(channel, summed=summed), central_budget(epsilon)
    delta = below_one(delta, "delta")
    last = 1
    while not seen(last, delta).is_within(central):
        if last == MOST_REPORTS:
            expected = f"a budget that {MOST_REPORTS} reports keep"
            raise InfeasibleError(f"least_reports: expected {expected}, got epsilon = {central:g}")
        last = min(4 * last, MOST_REPORTS)
    _, enough = bisected(lambda n: not seen(n, delta).is_within(central), last // 4, last, 1)
    too_few, _ = bisected(lambda n: seen(n, delta).exceeds(central), 0, enough, 1)
    return LeastReports(enough, too_few)


def largest_local_budget(
    n: int,
    epsilon: Exact,
    delta: Exact,
    family: Callable[[float], Randomizer] | None = None,
    *,
    summed: bool = False,
    most: Exact = 20,
    precision: Exact = "1e-4",
) -> LocalBudget:
    """Return the largest local budget whose shuffled or summed reports keep a central budget.

    Parameters
    ----------
    n
        Number of reports.
    epsilon, delta
        The central budget.
    family
        Maps a local budget in nats to a channel or a mechanism; default: all channels within it.
    summed
        As for :func:`least_reports`.
    most
        The largest local budget that is tried, in nats.
    precision
        The width in nats to which both sides are searched.

    Raises
    ------
    InputError, UnsupportedError
        As for :func:`after_shuffling`.
    InfeasibleError
        If even the channel at the central budget does not keep it.

    Examples
    --------
    >>> enough, too_much = largest_local_budget(10_000, "0.5", "1e-6")
    >>> round(enough, 3), round(too_much, 3)
    (4.336, 4.349)
    """
    n, delta, central = reports(n), below_one(delta, "delta"), central_budget(epsilon)
    last, width = positive(most, "most"), positive(precision, "precision")
    if last < central:
        raise InputError("most", f"a budget of at least epsilon, {central:g}", last)

    def seen(local: float) -> ShuffledReports | SummedReports:
        channel = local if family is None else family(local)
        return view(channel, summed=summed)(n, delta)

    def keeps(local: float) -> bool:
        return seen(local).is_within(central)

    if keeps(last):
        return LocalBudget(last, math.inf)
    if not keeps(central):
        raise InfeasibleError(f"largest_local_budget: the channel at {central:g} does not keep it")
    enough, _ = bisected(keeps, central, last, width)
    if not seen(last).exceeds(central):
        return LocalBudget(enough, math.inf)
    _, too_much = bisected(lambda local: not seen(local).exceeds(central), enough, last, width)
    return LocalBudget(enough, too_much)
