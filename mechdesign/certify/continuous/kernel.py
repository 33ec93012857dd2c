"""What the kernel of a node channel is worth on the interval, and what it leaks by distance.

Value. Let d be the loss |x - y| or (x - y)**2, and v(x) = (x - t)(t' - x) in the cell [t, t'].
Then d(x, y) <= w(x) d(t, y) + w'(x) d(t', y) - s v(x), where s is 1 for the square and 0 else: the
absolute value is convex, with equality if y is not inside the cell; for the square it is an
equation. Since Q(y|x) is linear in the cell too, and Sum_y Q(y|x) = 1, the loss at x is at most

    w**2 L_cc + w w' (L_cc' + L_c'c) + w'**2 L_c'c' - s v,    L_ik = Sum_y Q_i(y) d(t_k, y),

a quadratic in the place within the cell. Its mean needs the moments of the cell only, and its
maximum is that of a parabola. Beyond the first node d(x, y) <= d(t_0, y) + (t_0 - x) for the
absolute error, and the square is expanded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.certify.bounds.readings import Readings
from mechdesign.certify.continuous.law import Continuous
from mechdesign.certify.continuous.unbiased import highest, read_value
from mechdesign.certify.fixed_point import (
    fraction_steps,
    over_one_denominator,
    product_steps,
    total,
)
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["ABSOLUTE", "ESTIMATE", "SQUARED", "Kernel"]

SQUARED = "mean-squared-distance"
ABSOLUTE = "mean-absolute-error"
ESTIMATE = "posterior-mean-squared-error"


@dataclass(frozen=True)
class Kernel:
    """The kernel of a channel of the nodes.

    Attributes
    ----------
    stated
        The problem.
    columns
        The integers of the channel, a list for each output.
    bits
        The power of 2 that they are over.
    outputs
        The number that each output is; none where the outputs are only numbered.
    read
        The unbiased readings of the outputs, where the loss is their variance.
    """

    stated: Continuous
    columns: list[list[int]]
    bits: int
    outputs: list[Fraction]
    read: Readings | None = None

    def value(self) -> Fraction:
        """Return the loss on the interval, rounded up nowhere: exact, or at least it."""
        objective = self.stated.utility["objective"]
        if self.read is not None:
            return read_value(self.stated, self.columns, self.bits, self.read)
        if objective == ESTIMATE:
            return self._estimate()
        squared = objective == SQUARED
        cells = self._cells(squared)
        if self.stated.utility["worst_case"]:
            kept = zip(cells, self.stated.widths, strict=True)
            return max(highest(*cell) for cell, width in kept if width)
        mean = total(
            [
                left * low + both * across + right * high
                for (low, across, high), (left, both, right) in zip(
                    cells, self.stated.products, strict=True
                )
            ]
        )
        return mean + self._tail(0, squared) + self._tail(-1, squared)

    def _cells(self, squared: bool) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Return the coefficients of w**2, w w' and w'**2 in the loss within each cell."""
        nodes = self.stated.nodes
        places, unit = over_one_denominator([*nodes, *self.outputs])
        t, y = places[: len(nodes)], places[len(nodes) :]
        power = 2 if squared else 1
        scale = unit**power << self.bits
        rows = list(zip(*self.columns, strict=True))
        spend(9 * len(nodes) * len(y) * (1 + scale.bit_length() // 512), "the loss of the kernel")

        def loss(i: int, k: int) -> int:
            here = t[k]
            return sum(q * abs(here - place) ** power for q, place in zip(rows[i], y, strict=True))

        found = []
        at_node = loss(0, 0)  # between the two nodes of a cut is a cell too, of width 0
        for c, width in enumerate(self.stated.widths):
            across = Fraction(loss(c, c + 1) + loss(c + 1, c), scale)
            low, at_node = at_node, loss(c + 1, c + 1)
            spread = width * width if squared else 0
            found.append((Fraction(low, scale), across - spread, Fraction(at_node, scale)))
        return found

    def _tail(self, end: int, squared: bool) -> Fraction:
        """Return the loss of what lies beyond the first node or the last."""
        mass, first, second = self.stated.tails[end]
        if not mass:
            return Fraction(0)
        node, one = self.stated.nodes[end], 1 << self.bits
        row = [Fraction(column[end], one) for column in self.columns]
        if squared:
            mean = total([q * y for q, y in zip(row, self.outputs, strict=True)])
            square = total([q * y * y for q, y in zip(row, self.outputs, strict=True)])
            return second - 2 * first * mean + mass * square
        near = total([q * abs(node - y) for q, y in zip(row, self.outputs, strict=True)])
        return mass * near + abs(node * mass - first)

    def _estimate(self) -> Fraction:
        """Return E X**2 - Sum_y (integral of x Q(y|x) dmu)**2 / lambda_y, exact."""
        square = total([second for _, _, second in (*self.stated.cells, *self.stated.tails)])
        gained = [mean * mean / law for mean, law in zip(*self._joint(), strict=True) if law]
        return square - total(gained)

    def readings(self) -> list[Fraction]:
        """Return what is read from each output: the posterior mean, or the unbiased reading.

        The posterior mean at an output that is never sent is 0.
        """
        if self.read is not None:
            return self.read.numbers
        return [mean / law if law else law for mean, law in zip(*self._joint(), strict=True)]

    def _joint(self) -> tuple[list[Fraction], list[Fraction]]:
        """Return the integrals of x Q(y|x) and of Q(y|x) for each output."""
        sums = []
        for numbers in (self.stated.means, self.stated.prior):
            whole, unit = over_one_denominator(numbers)
            over = unit << self.bits
            each = 2 * len(whole) * product_steps(over) + fraction_steps(over.bit_length())
            spend(len(self.columns) * each, "the law of the outputs")
            sums.append(
                [
                    Fraction(sum(m * q for m, q in zip(whole, column, strict=True)), over)
                    for column in self.columns
                ]
            )
        return sums[0], sums[1]

    def slope(self) -> Fraction:
        """Return the least epsilon of metric privacy |x - x'| on the interval, exactly.

        Raises
        ------
        CertificateError
            If there is none: an output has a probability 0 at one node only.
        """
        steepest = Fraction(0)
        spend(20 * len(self.columns) * len(self.stated.nodes), "the slopes of the kernel")
        for column in self.columns:
            for q, other, width in zip(column, column[1:], self.stated.widths, strict=False):
                low, high = min(q, other), max(q, other)
                if low == high:
                    continue
                if low == 0:
                    raise CertificateError("a probability is 0 at one node and not at the next")
                steepest = max(steepest, Fraction(high - low, low) / width)
        return steepest
