"""Central epsilon of n shuffled reports, between two bounds."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from mechdesign.accounting.continuous.arguments import below_one
from mechdesign.accounting.shuffling.comparisons import central_budget, compared, reports
from mechdesign.accounting.shuffling.lower import delta_below, epsilon_below
from mechdesign.accounting.shuffling.upper import (
    delta_above,
    epsilon_above,
    epsilon_by_three_numbers,
)
from mechdesign.channel import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.exact import Exact
from mechdesign.exact.enclosures import Bounds
from mechdesign.mechanisms.base import Mechanism
from mechdesign.text import Table, Tabular

__all__ = ["Central", "Randomizer", "Shuffled", "after_shuffling", "delta_after_shuffling"]

Randomizer = Channel | Mechanism | ContinuousChannel | Exact


@dataclass(frozen=True, repr=False)
class Central(Tabular):
    """The central epsilon of n reports seen together, at a delta. Its repr is a table.

    Attributes
    ----------
    n, delta
        How many reports there are, and the delta.
    epsilon
        An upper bound: what is seen is (epsilon, delta)-private in the central model, when one
        person's input changes.
    at_least
        A lower bound: at no smaller epsilon is it.
    local
        The epsilon of one report, which holds if all reports are seen, with delta 0.
    """

    n: int
    delta: float
    epsilon: float
    at_least: float
    local: float

    def to_json(self) -> dict[str, Any]:
        """Return plain data, fit for JSON: infinite numbers as ``"inf"``."""
        return {
            key: "inf" if value == math.inf else list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }

    def _table(self) -> Table:
        rows = [
            ("at least", _digits(self.at_least, up=False)),
            ("at most", _digits(self.epsilon)),
            ("one report", _digits(self.local)),
        ]
        return Table(("central epsilon", "nats"), rows, "<>")


@dataclass(frozen=True, repr=False)
class Shuffled(Central):
    """The central epsilon of n shuffled reports at a delta. Its repr is a table.

    Attributes
    ----------
    n, delta, epsilon, at_least, local
        As for :class:`Central`.
    variation_ratio
        The bound of Wang et al. 2023, from three numbers of the channel.
    closed_form
        The bound of Feldman, McMillan and Talwar 2021 for any channel with this local epsilon; the
        local epsilon where it does not apply.
    pair
        Two inputs that are the hardest to hide.
    """

    variation_ratio: float
    closed_form: float
    pair: tuple[Any, Any]

    def _head(self) -> str:
        return (
            f"{self.n} shuffled reports at delta = {self.delta:g}, hardest to hide: "
            f"{self.pair[0]!r} or {self.pair[1]!r}"
        )

    def _table(self) -> Table:
        low, high, local = super()._table().rows
        rows = (
            (*low, "a test"),
            (*high, "blanket, senders hidden"),
            ("", _digits(self.variation_ratio), "variation ratio (Wang et al. 2023)"),
            ("", _digits(self.closed_form), "closed form (Feldman et al. 2021)"),
            (*local, "its local epsilon"),
        )
        return Table(("central epsilon", "nats", "by"), rows, "<><")


def _digits(value: float, up: bool = True) -> str:
    """Return six digits beyond the point, rounded outward."""
    if not math.isfinite(value):
        return "inf"
    return f"{(math.ceil if up else math.floor)(value * 10**6) / 10**6:.6f}"


def after_shuffling(channel: Randomizer, n: int, delta: Exact) -> Shuffled:
    """Return the central epsilon of n shuffled reports: an upper bound and a lower one.

    Everybody reports by the same channel, and the reports are shuffled: only their counts are seen.
    The counts are (epsilon, delta)-private under the change of one person's input,

        Pr(counts in A | x, others) <= e**epsilon Pr(counts in A | x', others) + delta

    for all x and x', all inputs of the others and all sets A.

    The upper bound holds in floating point: the blanket of Balle et al., where few pairs of inputs
    differ without telling who reported by it (a proof of our own, in ``hidden.py``), with the law
    of its sum by FFT, and bounds on every rounding, on the lattice and on the tails. The lower one
    is a test between two data sets, with the same care.

    Parameters
    ----------
    channel
        A channel or a mechanism; or a number, for all channels with this local epsilon: then the
        lower bound belongs to randomized response with three inputs. A continuous channel counts by
        its nodes, which it mixes.
    n
        How many reports, from 1 to 10**9.
    delta
        Above 0, below 1.

    Raises
    ------
    InputError
        If an argument is out of range.
    UnsupportedError
        If a mechanism has too many reports to list, and no symmetry is known.

    Notes
    -----
    Sources: Balle, Bell, Gascon and Nissim 2019, Lemma 5.3, which is the best of the bounds by
    decomposition (Su, Cheng and Wang 2025, arXiv 2504.07414); Wang et al. 2023 (arXiv 2304.05007),
    Feldman, McMillan and Talwar 2021 for the bounds beside it.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> after_shuffling(warner, 1000, "1e-6")
    1000 shuffled reports at delta = 1e-06, hardest to hide: 'yes' or 'no'
    central epsilon      nats  by
    at least         0.142057  a test
    at most          0.144424  blanket, senders hidden
                     0.168284  variation ratio (Wang et al. 2023)
                     0.623914  closed form (Feldman et al. 2021)
    one report       1.098613  its local epsilon
    """
    comparison, n, delta = compared(channel), reports(n), below_one(delta, "delta")
    above, pair = epsilon_above(comparison, n, delta)
    local = comparison.local_epsilon
    first, second = (comparison.labels[x] for x in comparison.pairs[pair])
    return Shuffled(
        n,
        delta,
        min(above, local),
        epsilon_below(comparison, pair, n, delta, above),
        local,
        epsilon_by_three_numbers(comparison, n, delta),
        _closed_form(local, n, delta),
        (first, second),
    )


def _closed_form(local: float, n: int, delta: float) -> float:
    """Return the bound of Feldman, McMillan and Talwar 2021, Theorem 3.1; local if it is larger.

    ln(1 + (p - 1)/(p + 1) (8 sqrt(p ln(4/delta) / n) + 8 p / n)),   p = e**local,
    where local <= ln(n / (16 ln(2/delta)))
    """
    if local > math.log(n / (16 * math.log(2 / delta))):
        return local
    p = math.exp(local)
    spread = 8 * math.sqrt(p * math.log(4 / delta) / n) + 8 * p / n
    return min(local, math.log1p((p - 1) / (p + 1) * spread) * (1 + 1e-12))


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
    comparison, n = compared(channel), reports(n)
    central = central_budget(epsilon)
    above, pair = delta_above(comparison, n, central)
    below = delta_below(comparison, pair, n, math.nextafter(central, math.inf))
    return Bounds(min(below, above), above)
