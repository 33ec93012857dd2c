"""Pairs of rows to compare after shuffling, and the least probability of each report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray, Int64Array
from mechdesign.accounting.arguments import limited
from mechdesign.channel import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.domain import whole_number
from mechdesign.errors import InputError, UnsupportedError, shown_kind
from mechdesign.exact import Exact, exp_lower, exp_upper
from mechdesign.mechanisms.base import Mechanism

MOST_REPORTS = 10**9

MOST_BUDGET = 200
"""Maximum local or central budget in nats: the squares of exponentials still fit in floats."""

MOST_EPSILON = 50.0
"""Central budgets above this count as infinite."""

SLACK = 8 * 2.0**-53
"""Bound on the relative error of each probability rounded from a rational."""


@dataclass(frozen=True, eq=False)
class Pair:
    """The reports of two inputs x and x' that are compared, among the reports of others.

    ``first`` and ``second`` are ``(n_classes,)`` probabilities of classes of reports at x and at
    x'; ``least`` is a law that all inputs share, at most the row of any of them. ``rows``, of shape
    ``(n_rows, n_classes)``, are rows of inputs that others may have; ``complete`` tells whether
    they contain the row of every input up to the order of the reports. If the pair bounds all
    channels within a budget, it has no labels, and ``attained`` is one of them for the lower bound.
    """

    first: FloatArray
    second: FloatArray
    least: FloatArray
    labels: tuple[Any, Any] | None = None
    rows: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    complete: bool = False
    attained: Pair | None = None

    @property
    def local_epsilon(self) -> float:
        """The logarithm of the largest ratio of two probabilities of a report, rounded up."""
        held = self.second > 0
        if self.first[~held].any():
            return math.inf
        ratio = float((self.first[held] / self.second[held]).max()) * (1 + 4 * SLACK)
        return math.nextafter(math.log(ratio), math.inf)


def compared(channel: Any) -> list[Pair]:
    """Return the pairs of a channel, a mechanism, or a budget, the likely worst first."""
    if isinstance(channel, ContinuousChannel):
        return _of_channel(channel.nodes)  # it mixes them, and a divergence is convex
    if isinstance(channel, Channel):
        return _of_channel(channel)
    if isinstance(channel, Mechanism):
        merged = channel.merged_reports()
        if merged is None:
            size = len(channel.inputs) * channel.n_outputs
            if size > MOST_LISTED:
                expected = "a mechanism alike at every pair of inputs, or of at most "
                expected += f"{MOST_LISTED} entries"
                raise UnsupportedError("channel", expected, f"about 2**{math.log2(size):.0f}")
            return _of_channel(channel.dense())
        labels = [channel.inputs.labels[x] for x in merged.inputs[: len(merged.rows)]]
        pairs = np.array(merged.pairs)
        *rows, least = (np.array(list(map(float, row))) for row in (*merged.rows, merged.least))
        complete = merged.complete and len(pairs) <= MOST_PAIRS
        return _pairs(np.array(rows), least, pairs, labels, complete)
    if isinstance(channel, int | float | str | Fraction) and not isinstance(channel, bool):
        return _of_budget(limited(channel, "channel", most=MOST_BUDGET))
    expected = "a channel, a mechanism, or a local budget"
    raise InputError("channel", expected, shown_kind(channel))


MOST_LISTED = 1 << 20
"""Maximum number of entries of a mechanism's matrix."""


def reports(n: Any) -> int:
    """Return a number of reports, or raise InputError."""
    return whole_number(n, "n", 1, MOST_REPORTS)


def central_budget(epsilon: Exact) -> float:
    """Return a budget as a float, rounded down, or raise InputError."""
    exact = limited(epsilon, most=MOST_BUDGET)
    near = float(exact)
    return near if near <= exact else math.nextafter(near, 0.0)


MOST_PAIRS = 12
"""With more pairs, only the blanket is used, which does not need the rows of other inputs."""

MOST_BESIDE = 1 << 23
"""Maximum number of entries of all rows for all pairs, for the bound that needs them."""


def _of_budget(epsilon: Fraction) -> list[Pair]:
    """Return the worst pair of all channels within a budget, and a channel that comes near it.

    A report y with P(y) = Q(y|x) >= P'(y) = Q(y|x') splits into two, with (P, P') = (p, 1) a and
    (1, 1) c, for p = e**epsilon and a = (P - P') / (p - 1). Every other input gives the first part
    p a / p at least and the second c / p at least. So it is enough to bound three reports,

        P = (p a, a, c),   P' = (a, p a, c),   common part (a, a, c / p),   c = 1 - (p + 1) a,

    and a = 1 / (p + 1) is the worst: as a grows, the terms of the blanket's sum grow in convex
    order. Randomized response with three inputs has the same two columns with 1 / (p + 2).
    """
    p, below = float(exp_upper(epsilon)), float(exp_lower(epsilon))
    p, below = math.nextafter(p, math.inf), math.nextafter(below, 1.0)
    one, other = rows = np.array([[p, 1.0], [1.0, p]]) / (p + 1)
    three = (np.ones((3, 3)) + (below - 1) * np.eye(3)) / (below + 2)
    attained = Pair(three[0], three[1], three.min(axis=0), rows=three)
    return [Pair(one, other, rows.min(axis=0), attained=attained)]


def _of_channel(channel: Channel) -> list[Pair]:
    k, rows, labels = len(channel.inputs), channel.matrix, channel.inputs.labels
    if k < 2:
        raise InputError("channel", "at least two inputs", k)
    beside = k * k * rows.size <= MOST_BESIDE
    pairs = _different_pairs(rows, beside)
    return _pairs(rows, rows.min(axis=0), pairs, labels, beside and len(pairs) <= MOST_PAIRS)


def _pairs(
    rows: FloatArray, least: FloatArray, pairs: Int64Array, labels: Sequence[Any], complete: bool
) -> list[Pair]:
    """Return pairs of rows by decreasing chi-square divergence relative to the common part."""
    one, other = pairs.T
    apart = ((rows[one] - rows[other]) ** 2) @ (1 / np.maximum(least, 1e-12))
    return [
        Pair(rows[x], rows[z], least, (labels[x], labels[z]), rows, complete)
        for x, z in pairs[np.argsort(-apart, kind="stable")].tolist()
    ]


def _different_pairs(rows: FloatArray, beside: bool) -> Int64Array:
    """Return the ordered pairs of rows, without duplicates up to the order of the columns.

    Two pairs are duplicates if their columns (first, second, least) agree in some order; with
    ``beside``, if the sets of columns (first, second, least, row) over all rows agree.
    """
    k = len(rows)
    entries, codes = np.unique(rows, return_inverse=True)
    codes = codes.reshape(rows.shape).astype(np.int64)
    lows = np.unique(codes.min(axis=0), return_inverse=True)[1].ravel()
    whole = len(entries) ** (3 if beside else 2) * (int(lows.max()) + 1) < 1 << 62
    seen: dict[bytes, tuple[int, int]] = {}

    def key(columns: Int64Array) -> bytes:
        if beside:
            each = np.sort(columns * len(entries) + codes, axis=1)
            return np.unique(each, axis=0).tobytes()
        return np.sort(columns).tobytes()

    for x in range(k):
        columns = (codes[x] * len(entries) + codes) * (int(lows.max()) + 1) + lows
        for other in range(k):
            if other != x:
                name = key(columns[other]) if whole else b"%d %d" % (x, other)
                seen.setdefault(name, (x, other))
    return np.array(list(seen.values()))
