"""Constraints on sums of linear excesses, such as hockey-stick divergences between rows of Q.

    Sum_y max over rows of (left . q_y - e**epsilon right . q_y)_+  <=  plain + e**epsilon scaled

With left and right single entries, the output probability or zero, this states approximate LDP and
LIP (one row a sum) and maximal leakage (a row for each input).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.errors import shown
from mechdesign.exact import exp_lower, log_upper
from mechdesign.notions.channel_constraint import ChannelConstraint, Columns, Stated
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.prior import Prior

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Excess", "ExcessConstraint", "ExcessRow"]


ZERO, ONE = Fraction(0), Fraction(1)


class ExcessRow(NamedTuple):
    """One linear excess, ``left . q - e**epsilon right . q``.

    ``left`` and ``right`` name an entry by its input, the output probability P . q by ``size``,
    zero by ``size + 1``, and linear forms of the constraint's own by the numbers after that.
    ``x`` and ``other`` are what a certificate calls the row.
    """

    x: int
    other: int
    left: int
    right: int


@dataclass(frozen=True)
class Excess:
    """Sum_y max over rows of (left . q_y - e**epsilon right . q_y)_+ <= plain + e**epsilon scaled.

    ``side`` is its word in certificates, ``title`` its name in reports, with places for the labels
    of ``x`` and ``other`` of the first row.
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
    name
        The notion.
    size
        The number of inputs.
    excesses
        The sums that are bounded.
    epsilon
        Where the bounds stand.
    prior
        The distribution of the input, if rows refer to the output probability.
    forms
        Linear forms of a column that rows refer to, one coefficient >= 0 for each input.
    """

    def __init__(
        self,
        name: str,
        size: int,
        excesses: Sequence[Excess],
        epsilon: Fraction,
        prior: Prior | None = None,
        forms: Sequence[Sequence[Fraction]] = (),
    ) -> None:
        self.name, self.size, self.epsilon = name, size, epsilon
        self.excesses, self.prior, self.forms = tuple(excesses), prior, forms
        shares = [ZERO] * size if prior is None else list(prior)
        self._unit = lcm(*(p.denominator for form in (shares, *forms) for p in form))
        self._shares = [int(p * self._unit) for p in shares]
        self._own = [[int(p * self._unit) for p in form] for form in forms]

    def at(self, epsilon: Fraction) -> ExcessConstraint:
        """Return the same constraint at another epsilon."""
        return ExcessConstraint(
            self.name, self.size, self.excesses, epsilon, self.prior, self.forms
        )

    def _forms(self, columns: Columns) -> tuple[list[list[int]], int]:
        """Return the values of all forms in each column, and what a row of Q sums to."""
        forms = [
            [
                *(self._unit * v for v in q),
                sum(p * v for p, v in zip(self._shares, q, strict=True) if p),
                0,
                *(sum(map(mul, form, q)) for form in self._own),
            ]
            for q in columns
        ]
        return forms, sum(column[0] for column in forms)

    def violation(self, columns: Columns) -> str | None:
        """Add up each sum with e**epsilon rounded down, which makes it larger."""
        forms, whole = self._forms(columns)
        for excess in self.excesses:
            if self._exceeds(excess, forms, whole):
                first = excess.rows[0]
                return f"{self.name} {excess.side} x={first.x} against {first.other}"
        return None

    def _exceeds(self, excess: Excess, forms: Sequence[list[int]], whole: int) -> bool:
        factor = exp_lower(self.epsilon)
        top, bottom = factor.numerator, factor.denominator
        total = sum(
            max(0, *(v[row.left] * bottom - v[row.right] * top for row in excess.rows))
            for v in forms
        )
        return total > (excess.plain * bottom + excess.scaled * top) * whole

    def binds(self) -> bool:
        """Add up each sum for the identity, over the outputs at which it can be positive."""
        identity = [[int(x == y) for x in range(self.size)] for y in range(self.size)]
        forms, whole = self._forms(identity)
        for excess in self.excesses:
            lefts = {row.left for row in excess.rows}  # inputs, or sums over them
            positive = forms if max(lefts) >= self.size else [forms[x] for x in lefts]
            if self._exceeds(excess, positive, whole):
                return True
        return False

    def min_epsilon(self, columns: Columns) -> Fraction | None:
        """Return the logarithm of the least factor at which every sum is within its bound."""
        forms, whole = self._forms(columns)
        factor: Fraction | None = ONE
        for excess in self.excesses:
            factor = _least_factor(excess, forms, whole, factor)
            if factor is None:
                return None
        return log_upper(factor or ONE)

    def matrix(self) -> FloatArray:
        """Return e**-epsilon left - right of all rows, ``(n_rows, size)``."""
        P = np.zeros(self.size) if self.prior is None else self.prior.array
        own = np.array([list(map(float, form)) for form in self.forms]).reshape(-1, self.size)
        forms = np.concatenate([np.eye(self.size), P[None, :], np.zeros((1, self.size)), own])
        left, right = (
            np.array([row[side] for excess in self.excesses for row in excess.rows], dtype=np.intp)
            for side in (2, 3)
        )
        rows: FloatArray = math.exp(-float(self.epsilon)) * forms[left] - forms[right]
        return rows

    def members(self) -> IntArray:
        """Return the number of the sum that each row belongs to, ``(n_rows,)``."""
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
        """Whether each sum has one row, on two entries, and all have one limit."""
        bounds = {(excess.plain, excess.scaled) for excess in self.excesses}
        return len(bounds) == 1 and all(
            len(excess.rows) == 1 and max(excess.rows[0][2:]) < self.size
            for excess in self.excesses
        )

    def part(self, sums: IntArray) -> ExcessConstraint:
        """Return the constraint on some of its sums only."""
        kept = [self.excesses[j] for j in sums.tolist()]
        return ExcessConstraint(self.name, self.size, kept, self.epsilon, self.prior, self.forms)

    def state(self, Q: cp.Variable | cp.Expression) -> Stated:
        """State each sum with one number s >= 0 for each output, at least every row there."""
        import cvxpy as cp

        if not self.excesses:
            return Stated(())
        largest = cp.Variable((len(self.excesses), Q.shape[1]), nonneg=True)
        rows = self.matrix() @ Q <= largest[self.members(), :]
        return Stated((rows, cp.sum(largest, axis=1) <= self.limits()), rows=rows)

    def bounds(
        self, found: Multipliers, channel: Channel, labels: Sequence[Label]
    ) -> Iterator[tuple[str, float, float]]:
        """Yield the sums. The multiplier of one is the largest over outputs of those of its rows.

        At each output the multipliers of the rows of a sum add up to that of the sum where the
        excess is positive, and to no more where it is not.
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
        """Turn weights on the rows, ``(n_rows, n_outputs)``, to multipliers, by side."""
        rows = [(excess.side, row) for excess in self.excesses for row in excess.rows]
        sides = np.array([side for side, _ in rows], dtype=object)
        x, other = (np.array([row[i] for _, row in rows], dtype=np.intp) for i in (0, 1))
        found = []
        for side in dict.fromkeys(sides.tolist()):
            row, output = np.nonzero((weights > 0) & (sides == side)[:, None])
            found.append(Multipliers(side, output, x[row], other[row], weights[row, output]))
        return found


def _least_factor(
    excess: Excess, forms: list[list[int]], whole: int, factor: Fraction | None
) -> Fraction | None:
    """Return the least t, at least ``factor``, with Sum max(left - t right)_+ <= plain + t scaled.

    What is left over is convex, falling and piecewise linear in t, so Newton's method from below
    finds its root in a few exact steps. None: no t will do.
    """
    t = factor
    while t is not None:
        left = right = 0
        for v in forms:
            value, row = max(
                (v[r.left] * t.denominator - v[r.right] * t.numerator, r) for r in excess.rows
            )
            if value > 0:
                left, right = left + v[row.left], right + v[row.right]
        lack = left - t * right - (excess.plain + t * excess.scaled) * whole
        if lack <= 0:
            return t
        fall = right + excess.scaled * whole
        t = t + lack / fall if fall else None
    return None
