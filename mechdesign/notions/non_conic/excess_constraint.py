"""Constraints on sums of linear excesses, such as hockey-stick divergences between rows of Q.

    Sum_y max over rows of (left . q_y - e**epsilon right . q_y)_+  <=  plain + e**epsilon scaled

With left and right single entries, the output probability or zero, this expresses approximate LDP
and LIP (one row for each sum) and maximal leakage (one row for each input).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.errors import shown
from mechdesign.kernel.generators import ListedRow
from mechdesign.kernel.limits import NOTHING, Gauge
from mechdesign.notions.channel_constraint import ChannelConstraint, Stated
from mechdesign.notions.rows.cone import Multipliers

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Excess", "ExcessConstraint", "ExcessRow", "Named"]

Side: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Coefficients >= 0 by the number of the input."""

Named: TypeAlias = tuple[str, str, Sequence[tuple[int, int]]]
"""The name of a sum in certificates, its title in reports, and the names of its rows."""

ZERO = Fraction(0)


class ExcessRow(NamedTuple):
    """One linear excess, ``left . q - e**epsilon right . q``.

    ``x`` and ``other`` are the names of the row in certificates.
    """

    x: int
    other: int
    left: Side
    right: Side


@dataclass(frozen=True)
class Excess:
    """Sum_y max over rows of (left . q_y - e**epsilon right . q_y)_+ <= plain + e**epsilon scaled.

    ``side`` is its name in certificates, ``title`` its name in reports, with placeholders for the
    labels of ``x`` and ``other`` of the first row.
    """

    side: str
    rows: tuple[ExcessRow, ...]
    plain: Fraction
    scaled: Fraction
    title: str


class ExcessConstraint(ChannelConstraint):
    """Bounds on sums over outputs of the largest of some linear excesses.

    Parameters
    ----------
    name, size, units, epsilon
        As for :class:`ChannelConstraint`; the limits are gauges.
    names
        The names of each sum and its rows.
    """

    def __init__(
        self,
        name: str,
        size: int,
        units: Sequence[Gauge],
        epsilon: Fraction | None,
        names: Iterable[Named],
    ) -> None:
        super().__init__(name, size, units, epsilon)
        self._names = list(names)
        pairs = zip(units, self._names, strict=True)
        self.excesses = tuple(_excess(unit, named) for unit, named in pairs)
        """The bounded sums."""

    def near(self, channel: Channel) -> float:
        """Return the excess of one sum over its limit, as a log ratio with an epsilon."""
        if len(self.units) > 1:
            return 0.0
        (total,), (limit,) = self.sums(channel.matrix).tolist(), self.limits().tolist()
        if not self._moves:
            return float(total - limit)
        return float(self.epsilon) + math.log(total / limit) if total > limit > 0 else 0.0

    def matrix(self) -> FloatArray:
        """Return e**-epsilon left - right of all rows, ``(n_rows, size)``."""
        rows = [row for excess in self.excesses for row in excess.rows]
        found, shrink = np.zeros((len(rows), self.size)), math.exp(-float(self.epsilon))
        for n, row in enumerate(rows):
            for side, factor in ((row.left, shrink), (row.right, -1.0)):
                for x, v in side:
                    found[n, x] += factor * float(v)
        return found

    def members(self) -> IntArray:
        """Return the index of the sum of each row, ``(n_rows,)``."""
        sizes = [len(excess.rows) for excess in self.excesses]
        return np.repeat(np.arange(len(sizes)), sizes)

    def limits(self) -> FloatArray:
        """Return e**-epsilon plain + scaled of each sum, ``(n_sums,)``."""
        shrink = math.exp(-float(self.epsilon))
        return np.array([shrink * float(e.plain) + float(e.scaled) for e in self.excesses])

    def sums(self, Q: FloatArray) -> FloatArray:
        """Return the sums of e**-epsilon left - right, to compare with :meth:`limits`.

        Parameters
        ----------
        Q
            ``(size, n_outputs)``.
        """
        largest = np.zeros((len(self.excesses), Q.shape[1]))
        np.maximum.at(largest, self.members(), self.matrix() @ Q)
        return np.asarray(largest.sum(axis=1))

    @property
    def on_pairs(self) -> bool:
        """Whether each sum has one row, on two entries, and all have the same limit."""
        bounds = {(excess.plain, excess.scaled) for excess in self.excesses}
        rows = [excess.rows[0] for excess in self.excesses if len(excess.rows) == 1]
        sides = [side for row in rows for side in (row.left, row.right)]
        alone = all(len(side) == 1 and side[0][1] == 1 for side in sides)
        return len(bounds) == 1 and len(rows) == len(self.excesses) and alone

    def part(self, sums: IntArray) -> ExcessConstraint:
        """Return the constraint on a subset of the sums."""
        kept = sums.tolist()
        units, names = [self.units[j] for j in kept], [self._names[j] for j in kept]
        epsilon = self.epsilon if self._moves else None
        return ExcessConstraint(self.name, self.size, units, epsilon, names)

    def state(self, Q: cp.Variable | cp.Expression) -> Stated:
        """State each sum with one variable s >= 0 for each output, at least every row there."""
        import cvxpy as cp

        if not self.excesses:
            return Stated(())
        largest = cp.Variable((len(self.excesses), Q.shape[1]), nonneg=True)
        rows = self.matrix() @ Q <= largest[self.members(), :]
        return Stated((rows, cp.sum(largest, axis=1) <= self.limits()), rows=rows)

    def bounds(
        self, found: Multipliers, channel: Channel, labels: Sequence[Label]
    ) -> Iterator[tuple[str, float, float]]:
        """Yield the sums, each with the largest multiplier over outputs of its rows.

        At each output the multipliers of the rows of a sum add up to that of the sum if the excess
        is positive, and to at most that if it is not.
        """
        names = {(e.side, r.x, r.other): j for j, e in enumerate(self.excesses) for r in e.rows}
        pairs = zip(found.x.tolist(), found.other.tolist(), strict=True)
        sums = np.array([names[found.side, x, other] for x, other in pairs], dtype=np.intp)
        by_output = np.zeros((len(self.excesses), found.output.max(initial=0) + 1))
        np.add.at(by_output, (sums, found.output), found.weight)
        of_sum = by_output.max(axis=1)
        slack = 1 - self.sums(channel.matrix) / self.limits()
        for j in np.flatnonzero(of_sum).tolist():
            excess = self.excesses[j]
            x, other = (shown(labels[n]) for n in excess.rows[0][:2])
            name = excess.title.format(x=x, other=other)
            yield name, float(of_sum[j]), float(slack[j])

    def read_dual(self, weights: FloatArray) -> list[Multipliers]:
        """Convert weights on the rows, ``(n_rows, n_outputs)``, to multipliers, by side."""
        rows = [(excess.side, row) for excess in self.excesses for row in excess.rows]
        sides = np.array([side for side, _ in rows], dtype=object)
        x, other = (np.array([row[i] for _, row in rows], dtype=np.intp) for i in (0, 1))
        found = []
        for side in dict.fromkeys(sides.tolist()):
            row, output = np.nonzero((weights > 0) & (sides == side)[:, None])
            found.append(Multipliers(side, output, x[row], other[row], weights[row, output]))
        return found


def _excess(unit: Gauge, named: Named) -> Excess:
    """Return a gauge as a sum of excesses; negative parts are shifted up, with the limit.

    The shift is twice the largest coefficient of each input, the same for all parts: summed over
    all outputs it is a constant.
    """
    parts = list(unit.parts[len(unit.parts) > 1 and unit.parts[0] == NOTHING :])
    raised, limit = dict[int, Fraction](), unit.limit
    if not any(part.left for part in parts):
        for part in parts:
            for x, v in part.right:
                raised[x] = max(raised.get(x, ZERO), 2 * v)
        parts = [_raised(part, raised) for part in parts]
        limit += sum(raised.values(), ZERO)
    rows = [
        ExcessRow(*pair, part.left, part.right) for pair, part in zip(named[2], parts, strict=False)
    ]
    plain, scaled = (limit, ZERO) if unit.exponent else (ZERO, limit)
    return Excess(named[0], tuple(rows), plain, scaled, named[1])


def _raised(part: ListedRow, by: dict[int, Fraction]) -> ListedRow:
    less = dict(part.right)
    return ListedRow(tuple((x, v - less.get(x, ZERO)) for x, v in by.items()), part.exponent, ())
