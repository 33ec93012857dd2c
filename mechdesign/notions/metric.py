"""Metric privacy (geo-indistinguishability): a budget that grows with distance."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import BoolArray, IntArray
from mechdesign.domain import Domain
from mechdesign.errors import InputError, known_word
from mechdesign.exact import Exact
from mechdesign.notions.base import BudgetNotion, budget
from mechdesign.notions.rows.cone import Bound
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.prior import Prior
from mechdesign.tables import ExactTable, Points

__all__ = ["MetricPrivacy"]

NAMES = ("absolute", "euclidean", "manhattan")


class MetricPrivacy(BudgetNotion):
    """Metric privacy: Q(y|x) <= e**(epsilon d(x, x')) Q(y|x') for every y and every x, x'.

    Parameters
    ----------
    epsilon
        Nats per unit of distance, >= 0.
    distance
        ``"absolute"`` for numbers, ``"euclidean"`` or ``"manhattan"`` for numbers or a grid, or a
        ``(n_inputs, n_inputs)`` matrix of numbers >= 0 (a DataFrame or dict by label), or a
        function of two labels that returns one.

    Notes
    -----
    Source: Chatzikokolakis et al. 2013; Andres et al. 2013 (geo-indistinguishability). Distances
    that are irrational are rounded down to 160 bits, so that the channel is never less private.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> steps = Channel.from_matrix([["4/7", "2/7", "1/7"], ["1/4", "1/2", "1/4"],
    ...                              ["1/7", "2/7", "4/7"]])
    >>> round(MetricPrivacy(1, "absolute").leakage(steps), 4)  # ln(16/7): from 4/7 to 1/4
    0.8267
    """

    name = "metric"
    title = "metric privacy (geo-indistinguishability)"
    example = """
epsilon = 0.7               # nats per unit of distance
distance = "absolute"       # or "euclidean", "manhattan", or a matrix
"""

    def __init__(self, epsilon: Exact, distance: Any) -> None:
        super().__init__(epsilon)
        if isinstance(distance, str):
            self.distance: str | ExactTable | Callable[[Any, Any], Any] = known_word(
                distance, NAMES, "distance", also=", or a matrix"
            )
        elif callable(distance) and not isinstance(distance, type):
            self.distance = distance
        else:
            self.distance = ExactTable.of(distance, "distance")

    @property
    def on_interval(self) -> str:  # type: ignore[override]
        """That of a distance, where it is the one of numbers."""
        return "distance" if self.distance == "absolute" else ""

    def distances(self, domain: Domain) -> ExactTable:
        """Return the distances between inputs, exact.

        Raises
        ------
        InputError
            If the domain has no coordinates for a named distance, or the matrix does not fit.
        """
        labels = domain.labels
        if isinstance(self.distance, ExactTable):
            return self.distance.aligned(labels, labels, "distance", "input")
        if not isinstance(self.distance, str):
            return ExactTable.of_function(self.distance, labels, labels, "distance")
        points = domain.coordinates
        if points is None or (self.distance == "absolute" and len(points[0]) != 1):
            need = "numbers" if self.distance == "absolute" else "numbers or a grid"
            raise InputError("distance", f"{need} as the domain for {self.distance!r}", domain)
        return ExactTable.distances(points, points, self.distance)

    def aligned(self, domain: Domain) -> MetricPrivacy:
        """Return the notion with its distances written out, unless they have a name."""
        table = None if isinstance(self.distance, str) else self.distances(domain)
        return self if table in (None, self.distance) else self._with(self.epsilon, table)

    def at(self, epsilon: Exact) -> MetricPrivacy:
        """Return the same notion with another epsilon."""
        return self._with(budget(epsilon), self.distance)

    def _with(self, epsilon: Fraction, distance: Any) -> MetricPrivacy:
        notion = MetricPrivacy.__new__(MetricPrivacy)
        notion.epsilon, notion.distance = epsilon, distance
        return notion

    def family(self, domain: Domain, prior: Prior | None = None) -> PairRows:
        """Compile to one bound for each distance that occurs."""
        table = self.distances(domain)  # refuses labels without coordinates
        named = isinstance(self.distance, str) and domain.positions is None
        return self._rows(table, self._near(domain) if named else None)

    def on_points(self, points: Points) -> PairRows:
        """Compile for some points, by a distance with a name."""
        return self._rows(ExactTable.distances(points, points, str(self.distance)), None)

    def _rows(self, table: ExactTable, near: BoolArray | None) -> PairRows:
        levels, index = _levels(table.numerators)
        bounds = [Bound(slope=table.bound(int(level), up=False)) for level in levels]
        return PairRows(self.name, bounds, index, self.epsilon, near)

    def _near(self, domain: Domain) -> BoolArray:
        """Return the pairs that have no other input on a shortest path between them.

        Distances add up along such paths, so that the bounds at these pairs imply all others:
        neighbors on a line, steps on a grid, and for Euclidean distances on it pairs whose steps
        along the two sides have no common factor.
        """
        place = np.arange(len(domain)).reshape(domain.grid_shape or (1, -1))
        if domain.grid_shape is None:
            place[0] = sorted(range(len(domain)), key=(domain.numbers or ()).__getitem__)
        rows, columns = place.shape
        near = np.zeros((len(domain), len(domain)), dtype=bool)
        for down in range(rows):
            for right in range(columns):
                if down + right == 1 if self.distance != "euclidean" else gcd(down, right) == 1:
                    from_left, from_right = (
                        place[: rows - down, : columns - right],
                        place[: rows - down, right:],
                    )
                    near[from_left, place[down:, right:]] = True
                    near[from_right, place[down:, : columns - right]] = True
        return near | near.T

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table."""
        distance: Any = self.distance
        if isinstance(distance, ExactTable):
            distance = distance.to_table()
        return {**super().to_table(), "distance": distance}


def _levels(numerators: npt.NDArray[Any]) -> tuple[list[int], IntArray]:
    """Return the numbers that occur, in rising order, and the place of each entry among them."""
    if numerators.dtype != object and int(numerators.max()) <= numerators.size:
        occurs = np.zeros(int(numerators.max()) + 1, dtype=bool)
        occurs[numerators] = True
        places: IntArray = np.cumsum(occurs, dtype=np.intp) - 1
        return np.flatnonzero(occurs).tolist(), places[numerators]
    levels, index = np.unique(numerators, return_inverse=True)
    return levels.tolist(), index.reshape(numerators.shape).astype(np.intp)
