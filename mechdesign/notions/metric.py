"""Metric privacy (geo-indistinguishability): a budget that grows with distance."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mechdesign.domain import Domain
from mechdesign.errors import InputError, known_word
from mechdesign.exact import Exact
from mechdesign.kernel.names import Notion as Words
from mechdesign.notions.base import BudgetNotion, budget
from mechdesign.prior import Prior
from mechdesign.tables import ExactTable, Points

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
    Source: Chatzikokolakis et al. 2013; Andres et al. 2013 (geo-indistinguishability). Irrational
    distances are rounded down to 160 bits, which never weakens the guarantee.

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
                distance, NAMES, "distance", also=", a matrix, or a function, as domain.distance"
            )
        elif callable(distance) and not isinstance(distance, type):
            self.distance = distance
        else:
            self.distance = ExactTable.of(distance, "distance")

    @property
    def on_interval(self) -> str:  # type: ignore[override]
        """``"distance"`` for the distance of numbers."""
        return "distance" if self.distance == "absolute" else ""

    def distances(self, domain: Domain) -> ExactTable:
        """Return the distances between inputs, exact.

        Raises
        ------
        InputError
            If the domain has no coordinates for a named distance, or the matrix does not match it.
        """
        labels = domain.labels
        if isinstance(self.distance, ExactTable):
            return self.distance.aligned(labels, labels, "distance", "input")
        if not isinstance(self.distance, str):
            return ExactTable.of_function(self.distance, labels, labels, "distance")
        points = points_of(domain, self.distance)
        return ExactTable.distances(points, points, self.distance)

    def aligned(self, domain: Domain) -> MetricPrivacy:
        """Return the notion with its distances as a matrix, unless they have a name."""
        table = None if isinstance(self.distance, str) else self.distances(domain)
        return self if table in (None, self.distance) else self._with(self.epsilon, table)

    def at(self, epsilon: Exact) -> MetricPrivacy:
        """Return the same notion with another epsilon."""
        return self._with(budget(epsilon), self.distance)

    def _with(self, epsilon: Fraction, distance: Any) -> MetricPrivacy:
        notion = MetricPrivacy.__new__(MetricPrivacy)
        notion.epsilon, notion.distance = epsilon, distance
        return notion

    def words(self, domain: Domain, prior: Prior | None) -> Words:
        """Return the distance by name, or its numbers without a conversion to text."""
        if isinstance(self.distance, str):
            points_of(domain, self.distance)
            return super().words(domain, prior)
        table = self.distances(domain)
        rows = table.numerators.tolist()
        known = {n: table.bound(n, up=False) for n in {n for row in rows for n in row}}
        written = tuple(tuple(known[n] for n in row) for row in rows)
        return Words(self.name, {"epsilon": self.epsilon, "distance": written})


def points_of(domain: Domain, distance: str) -> Points:
    """Return the coordinates of the inputs."""
    points = domain.coordinates
    if points is None or (distance == "absolute" and len(points[0]) != 1):
        need = "numbers" if distance == "absolute" else "numbers or a grid"
        raise InputError("distance", f"{need} as the domain for {distance!r}", domain)
    return points
