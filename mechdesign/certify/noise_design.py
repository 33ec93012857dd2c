"""What noise was designed for: its expected loss, and a bound on that of every private channel.

The design of a noise names a prior and a loss, which depends on the steps between input and report
only. Outputs are the inputs. Its value is

    Sum_x P_x Sum_z G(|z - x|) / 2**62 loss(x, remap(z))

over the inputs x and the points z of the torus, where points beyond the grid are reported as the
nearest point of it. It is summed over rectangles of points z with one remap, whose weight together
is four sums of weights from a corner: in integers, exactly, but for roots, which are rounded up.

The bound is that of :mod:`~mechdesign.certify.bounds.representatives`, with a few outputs in the
place of all: rectangles of them, each of which costs at every input what the nearest of its points
does. Whatever private channel there is, its loss does not rise if all reports from a rectangle,
each in one of those that hold it, are charged so; and joined columns are private. So the loss is at
least that of a channel on the rectangles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from operator import add, itemgetter, mul, sub
from typing import Any

from mechdesign.certify.bounds.representatives import representatives_bound
from mechdesign.certify.channel_file import verify_bound, verify_value
from mechdesign.certify.fixed_point import product_steps
from mechdesign.certify.loss_tables import CellLosses
from mechdesign.certify.problem import Statement, distribution
from mechdesign.certify.proof import check_multipliers, unpacked_block
from mechdesign.certify.torus_noise import WHOLE, TorusNoise
from mechdesign.errors import CertificateError
from mechdesign.resources import counted_apart, spend

__all__ = ["NoiseDesign", "verify_design"]

Run = tuple[int, int, int]
"""First column, the column after the last, and the input that is reported."""


class NoiseDesign:
    """The problem that noise was designed for, and the noise as an answer to it.

    Parameters
    ----------
    statement
        The inputs.
    privacy
        The notion.
    noise
        The noise, whose rows are known to sum to 1.
    design
        The table of a file.

    Raises
    ------
    CertificateError
        If there is no prior, or no such loss on these inputs.
    """

    def __init__(
        self,
        statement: Statement,
        privacy: dict[str, Any],
        noise: TorusNoise,
        design: dict[str, Any],
    ) -> None:
        self.noise, k = noise, len(statement.labels)
        self.statement = replace(
            statement,
            prior=distribution(design["prior"], k),
            privacy=[privacy],
            utility=design["utility"],
            outputs=statement.labels[:1],
        )

    def value(self) -> Fraction:
        """Return the expected loss, rounded up where losses are irrational."""
        with counted_apart():
            return self._value()

    def _value(self) -> Fraction:
        (n, m), (margin, other) = self.noise.sides, self.noise.margins
        masses, whole = self.statement.masses
        losses = self.statement.losses
        corner, unit = losses.upper(0), losses.denominator
        rows = [corner[a * m : (a + 1) * m] for a in range(n)]
        around = [[*row[:0:-1], *row] for row in rows]  # by steps from 1 - m to m - 1
        inputs = [
            (a, columns, _taken(columns), [masses[a * m + c] for c in columns])
            for a in range(n)
            if (columns := [c for c in range(m) if masses[a * m + c]])
        ]
        sums, total, length = self.noise.sums(), 0, product_steps(whole)
        for (top, bottom), runs in self._bands():
            first, last = top or -margin, bottom - 1 if bottom < n else n - 1 + margin
            for a, columns, taken, prior in inputs:
                steps = len(sums[0]) + len(columns) * length
                spend(steps + len(runs) * (3 * len(columns) + m // 16), "the loss of noise")
                below, above = a - last + n - 1 + margin, a - first + n + margin
                weights = list(map(sub, sums[above], sums[below]))
                found = [0] * len(columns)
                for left, right, y in runs:
                    low, high = left or -other, right - 1 if right < m else m - 1 + other
                    below, above = m - 1 + other - high, m + other - low
                    mass = map(
                        sub, taken(weights[above : above + m]), taken(weights[below : below + m])
                    )
                    start = m - 1 - y % m
                    loss = taken(around[abs(a - y // m)][start : start + m])
                    found = list(map(add, found, map(mul, mass, loss)))
                total += sum(map(mul, found, prior))
        return Fraction(total, whole * WHOLE * unit)

    def _bands(self) -> Iterator[tuple[tuple[int, int], list[Run]]]:
        """Yield rows that are replaced alike, first and after last, with their runs."""
        (n, m), remap = self.noise.sides, self.noise.remap
        spend(4 * n * m, "the remap of noise")
        top = 0
        for row, alike in groupby(tuple(remap[a * m : (a + 1) * m]) for a in range(n)):
            bottom, left, runs = top + len(list(alike)), 0, list[Run]()
            for y, places in groupby(row):
                right = left + len(list(places))
                runs.append((left, right, y))
                left = right
            yield (top, bottom), runs
            top = bottom

    def bound(self, dual: dict[str, Any] | None) -> Fraction:
        """Return the bound that a proof gives, or 0, which no expected loss is below.

        Raises
        ------
        CertificateError
            If its rectangles do not hold all outputs, or it has no such form.
        """
        if dual is None:
            return Fraction(0)
        with counted_apart():
            self._check_cover(dual["cells"])
            dual = {**dual, "rows": [unpacked_block(block) for block in dual["rows"]]}
            check_multipliers(self.statement, dual)
            losses, sides = self.statement.losses, self.noise.sides
            cells = CellLosses(losses.lower(0), losses.denominator, sides, dual["cells"])
            return max(Fraction(0), representatives_bound(self.statement, dual, cells))

    def _check_cover(self, cells: Sequence[Sequence[int]]) -> None:
        n, m = self.noise.sides
        covered = [0] * n  # by row, a bit for each column
        spend(len(cells) * (10 + m // 512), "rectangles of outputs")
        for top, bottom, left, right in cells:
            if not (0 <= top <= bottom < n and 0 <= left <= right < m):
                raise CertificateError("a rectangle of outputs is not within the grid")
            spend((bottom - top + 1) * (2 + m // 512), "rectangles of outputs")
            bits = (1 << right + 1) - (1 << left)
            for row in range(top, bottom + 1):
                covered[row] |= bits
        if any(row != (1 << m) - 1 for row in covered):
            raise CertificateError("the rectangles of outputs do not hold all of them")


def _taken(columns: list[int]) -> Callable[[list[int]], Sequence[int]]:
    """Return what takes the entries at some places of a list."""
    if len(columns) > 1:
        return itemgetter(*columns)
    return itemgetter(slice(columns[0], columns[0] + 1))


def verify_design(
    statement: Statement, privacy: dict[str, Any], noise: TorusNoise, design: dict[str, Any]
) -> tuple[list[str], Fraction, Fraction]:
    """Check the value and the bound that a file claims; return both with the claims that hold.

    Raises
    ------
    CertificateError
        If one does not hold.
    """
    found = NoiseDesign(statement, privacy, noise, design)
    value, bound = found.value(), found.bound(design["dual"])
    words = verify_value(value, design)
    claims = [f"{words} of the law", verify_bound(value, bound, design, "channel")]
    return claims, value, bound
