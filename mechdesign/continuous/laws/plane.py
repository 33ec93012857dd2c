"""Laws of a point in the plane, built from laws of its coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.continuous.domain import Box, Interval, pair_of
from mechdesign.continuous.laws.base import Law
from mechdesign.continuous.laws.named import Histogram, rising
from mechdesign.errors import InputError, listed, shown_kind
from mechdesign.exact import Exact, fraction_text
from mechdesign.kernel.rounding import laws as kernel
from mechdesign.prior import distribution, exact_numbers
from mechdesign.resources import check_size


class PlaneMixture(Law):
    """A mixture of laws whose coordinates are independent.

    Parameters
    ----------
    weights
        The probability of each part; they sum to 1 within 1e-6, and are normalized exactly.
    parts
        For each part a pair of laws of a number, for the first and the second coordinate.

    Raises
    ------
    InputError
        If the weights or the parts are invalid.

    Examples
    --------
    >>> from mechdesign.continuous.laws import NamedLaw
    >>> town, port = [NamedLaw("normal", [m, 1]) for m in (2, 8)]
    >>> PlaneMixture([0.5, 0.5], [(town, town), (port, port)]).dimension
    2
    """

    dimension = 2

    def __init__(self, weights: Iterable[Exact], parts: Iterable[Sequence[Law]]) -> None:
        self.weights = distribution(exact_numbers(weights, "weights"), "weights")
        given = enumerate(listed(parts, "parts", "pairs of laws"))
        self.parts = [_pair_of_laws(part, f"parts[{n}]") for n, part in given]
        if len(self.parts) != len(self.weights):
            expected = f"{len(self.weights)} pairs of laws, one for each weight"
            raise InputError("parts", expected, f"{len(self.parts)}")
        self.by_name = all(law.by_name for part in self.parts for law in part)
        measures = tuple(tuple(law.measure for law in part) for part in self.parts)
        self.measure = kernel.Products(self.weights, measures)

    def check(self, domain: Interval | Box) -> None:
        """Raise InputError unless each part matches the box."""
        for part in self.parts:
            for law, side in zip(part, domain.sides, strict=True):
                law.check(side)

    def below(self, position: Fraction, side: Interval, axis: int = 0) -> float:
        """Mix the parts; each is truncated separately."""
        pairs = zip(self.weights, self.parts, strict=True)
        return sum(float(w) * part[axis].below(position, side) for w, part in pairs)

    def to_table(self) -> dict[str, Any]:
        """Return the weights and the tables of the parts."""
        parts = [[law.to_table() for law in part] for part in self.parts]
        return {"parts": {"weights": list(map(fraction_text, self.weights)), "laws": parts}}


class ProductLaw(PlaneMixture):
    """A law whose two coordinates are independent.

    Parameters
    ----------
    first, second
        Their laws.

    Raises
    ------
    InputError
        If an argument is not a law.

    Examples
    --------
    >>> from mechdesign.continuous.laws import NamedLaw
    >>> ProductLaw(NamedLaw("beta", [2, 3]), NamedLaw("uniform")).dimension
    2
    """

    def __init__(self, first: Law, second: Law) -> None:
        super().__init__([1], [(first, second)])


class PlaneHistogram(Law):
    """A law with a constant density on each bin of a grid.

    Parameters
    ----------
    edges
        The increasing edges of the bins of the first and of the second coordinate.
    masses
        ``(n_first, n_second)`` probabilities of the bins, which sum to 1 within 1e-6.

    Raises
    ------
    InputError
        If the edges or the masses are invalid.
    """

    dimension, key = 2, "histogram.edges"

    def __init__(self, edges: Sequence[Iterable[Exact]], masses: Iterable[Iterable[Exact]]) -> None:
        sides = enumerate(pair_of(edges, "histogram.edges", "two lists of numbers"))
        self.edges = tuple(rising(side, f"histogram.edges[{n}]") for n, side in sides)
        n, m = (len(side) - 1 for side in self.edges)
        check_size("entries", n * m, "histogram.masses")
        given = enumerate(listed(masses, "histogram.masses", "rows of numbers"))
        rows = [exact_numbers(row, f"histogram.masses[{k}]") for k, row in given]
        if [len(row) for row in rows] != [m] * n:
            raise InputError("histogram.masses", f"{n} rows of {m} numbers", f"{len(rows)} rows")
        flat = distribution([mass for row in rows for mass in row], "histogram.masses")
        self.masses = tuple(flat[k : k + m] for k in range(0, len(flat), m))
        self.extent = tuple((side[0], side[-1]) for side in self.edges)
        self.measure = kernel.Rectangles(self.edges, self.masses)
        columns = tuple(zip(*self.masses, strict=True))
        along = zip(self.edges, (self.masses, columns), strict=True)
        self._coordinates = [Histogram(side, map(sum, lines)) for side, lines in along]

    def below(self, position: Fraction, side: Interval, axis: int = 0) -> float:
        """Return the probability for one coordinate."""
        return self._coordinates[axis].below(position, side)

    def to_table(self) -> dict[str, Any]:
        """Return the edges and the masses."""
        edges, masses = (
            [list(map(fraction_text, row)) for row in rows] for rows in (self.edges, self.masses)
        )
        return {"histogram": {"edges": edges, "masses": masses}}


def _pair_of_laws(given: Any, key: str) -> tuple[Law, Law]:
    pair = pair_of(given, key, "two laws")
    for law in pair:
        if not isinstance(law, Law) or law.dimension != 1:
            raise InputError(key, "laws, such as NamedLaw('normal', [0, 1])", shown_kind(law))
    return pair[0], pair[1]
