"""The moments on the cells, the only input from the law.

In a cell, s in [0, 1] is the place on each axis, and U_0, U_1, U_2 = (1 - s)**2, s (1 - s), s**2.
All that is read of a law are the means of the products of these, one factor for each axis, over
each cell; and on an axis without end the integrals of 1, r and r**2, r the distance beyond the last
node. The checker encloses them itself, from the law as it is named, truncated to the interval.

Irrational or long moments are replaced by multiples of 2**-128 that are those of some law: entries
at corners (all indices even) are rounded up and the others down, so that the Cauchy-Schwarz
inequality still holds; a share 2**-98 is subtracted from everything before, so that the masses do
not sum to more than 1, and the rest goes to the heaviest cell. The proof then holds for every law
with these moments, and the checker states their distance from the true ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from math import prod
from operator import mul
from typing import Any, TypeVar

from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.schema import Kind

ONE = (1, 2, 1)
"""The weights of U_0, U_1, U_2 in 1."""

PLACES = {d: tuple(product(range(3), repeat=d)) for d in (1, 2)}
"""The indices of the means of a cell, by the number of axes."""

WEIGHTS = {3**d: [prod(ONE[n] for n in place) for place in PLACES[d]] for d in PLACES}
"""Their weights in 1."""

End = Fraction | float
"""A position: an exact rational; a float only if it is infinite."""

Axis = tuple[Fraction, ...]
Ends = tuple[tuple[End, End], ...]
Means = tuple[Fraction, ...]
Row = list[Enclosure]
N = TypeVar("N", int, Fraction)

BITS = 128
LESS = 1 << 30
EXACT_BITS = 160


class Cells(dict[tuple[int, ...], Row]):
    """The means of each cell, by its index on the axes: -1 and the last are beyond the nodes."""


class Law(Kind, ABC):
    """The law of a number or of a point."""

    @abstractmethod
    def means(self, axes: tuple[Axis, ...], ends: Ends) -> Cells:
        """Enclose the means of all cells between nodes, and beyond them, that are not 0."""

    @abstractmethod
    def steps(self, axes: tuple[Axis, ...]) -> int:
        """Return a bound on the work, from sizes."""

    def moments(self, axes: tuple[Axis, ...], ends: Ends) -> Moments:
        """Return rational moments."""
        cells, d = self.means(axes, ends), len(axes)
        listed = list(product(*(range(len(axis) - 1) for axis in axes)))
        tails, empty = [(-1,), (len(axes[0]) - 1,)] * (d == 1), [Enclosure.of(0)] * 3**d
        whole, error = _rounded([cells.get(at, empty) for at in (*listed, *tails)], len(listed), d)
        below, above = whole[len(listed) :] or ((Fraction(0),) * 3,) * 2
        return Moments(tuple(whole[: len(listed)]), (below, above), error)


@dataclass(frozen=True)
class Moments:
    """Moments of the cells, of the tails below and above, and a bound on their total error."""

    cells: tuple[Means, ...]
    tails: tuple[Means, Means]
    error: Fraction = Fraction(0)

    def check(self, dimension: int) -> None:
        """Raise CertificateError unless necessary conditions for moments of a law hold."""
        size, none = 3**dimension, "no law has the moments of a cell"
        need(all(len(row) == size for row in self.cells), f"expected {size} means for each cell")
        need(all(len(row) == 3 for row in self.tails), "expected three integrals beyond the nodes")
        for row in (*self.cells, *self.tails):
            need(min(row) >= 0, none)
        triples = [side for cell in self.cells for side in _sides(cell, dimension)]
        need(all(a * c >= b * b for a, b, c in (*triples, *self.tails)), none)
        whole = sum(map(mass, self.cells), Fraction(0)) + sum(row[0] for row in self.tails)
        need(whole == 1, "the masses of the cells do not sum to 1")
        need(all(row[0] or not row[2] for row in self.tails), none)


def mass(cell: Sequence[N]) -> N:
    """Return the mass of a cell: the sum with the weights of 1."""
    total: N = sum(map(mul, WEIGHTS[len(cell)], cell))
    return total


def _sides(cell: Means, dimension: int) -> list[list[Fraction]]:
    """Return for each axis the means of its U_0, U_1, U_2."""
    found = [[Fraction(0)] * 3 for _ in range(dimension)]
    for place, weight, part in zip(PLACES[dimension], WEIGHTS[len(cell)], cell, strict=True):
        for axis, n in enumerate(place):
            found[axis][n] += weight // ONE[n] * part
    return found


def basis(n: int, axis: Axis, integrals: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return the three moments of cell n of an axis, from the integrals of 1, x and x**2 over it.

    Beyond the nodes, n = -1 and the last, they are the integrals of 1, r and r**2.
    """
    (zero, one, two), t = integrals, axis[max(n, 0)]
    one, two = one - zero * t, two - one * (2 * t) + zero * (t * t)
    if not 0 <= n < len(axis) - 1:
        return zero, (-one if n < 0 else one), two
    h = axis[n + 1] - t
    one, two = one / h, two / (h * h)
    return zero - one * 2 + two, one - two, two


def _rounded(rows: list[Row], cells: int, dimension: int) -> tuple[list[Means], Fraction]:
    """Return rational moments of some law, and their total distance from the enclosures."""
    ends = [end for row in rows for part in row for end in (part.low, part.high)]
    if ends[::2] == ends[1::2] and max(e.denominator.bit_length() for e in ends) <= EXACT_BITS:
        return [tuple(part.low for part in row) for row in rows], Fraction(0)
    unit, found = 1 << BITS, []
    for n, row in enumerate(rows):
        kept = unit - LESS
        slack = 2 + math.ceil(unit * sum(part.high - part.low for part in row))
        parts = [math.floor(part.low * kept) for part in row]
        places = PLACES[dimension] if n < cells else PLACES[1]
        for k, place in enumerate(places) if any(part.high for part in row) else ():
            if not any(a % 2 for a in place):
                parts[k] = math.ceil(row[k].high * kept) + slack
        found.append(parts)
    heaviest = max(range(cells), key=lambda n: found[n][0])
    masses = (mass(parts) if n < cells else parts[0] for n, parts in enumerate(found))
    found[heaviest][0] += unit - sum(masses)
    rounded = [tuple(Fraction(n, unit) for n in parts) for parts in found]
    pairs = zip(chain(*rounded), chain(*rows), strict=True)
    error = sum((max(a - part.low, part.high - a) for a, part in pairs), Fraction(0))
    return rounded, Fraction(math.ceil(error * unit), unit)
