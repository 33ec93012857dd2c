"""Metric privacy (geo-indistinguishability): a budget that grows with distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechdesign.domain import Domain
from mechdesign.errors import InputError, did_you_mean, shown
from mechdesign.exact import Exact, fraction_text
from mechdesign.notions.base import Notion, budget
from mechdesign.notions.cone import Bound
from mechdesign.notions.pair_rows import PairRows
from mechdesign.prior import Prior
from mechdesign.tables import ExactTable

__all__ = ["MetricPrivacy"]

NAMES = ("absolute", "euclidean", "manhattan")


class MetricPrivacy(Notion):
    """Metric privacy: Q(y|x) <= e**(epsilon d(x, x')) Q(y|x') for every y and every x, x'.

    Parameters
    ----------
    epsilon
        Nats per unit of distance, >= 0.
    distance
        ``"absolute"`` for numbers, ``"euclidean"`` or ``"manhattan"`` for numbers or a grid, or a
        ``(n_inputs, n_inputs)`` matrix of numbers >= 0.

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
        self.epsilon = budget(epsilon)
        if isinstance(distance, str):
            if distance not in NAMES:
                expected = f"one of {', '.join(NAMES)}, or a matrix"
                raise InputError(
                    "distance", expected, shown(distance), did_you_mean(distance, NAMES)
                )
            self.distance: str | ExactTable = distance
        else:
            self.distance = ExactTable.of(distance, "distance", (None, None))

    def distances(self, domain: Domain) -> ExactTable:
        """Return the distances between inputs, exact.

        Raises
        ------
        InputError
            If the domain has no coordinates for a named distance, or the matrix does not fit.
        """
        k = len(domain)
        if isinstance(self.distance, ExactTable):
            if self.distance.shape != (k, k):
                given = "a {} x {} matrix".format(*self.distance.shape)
                raise InputError("distance", f"a {k} x {k} matrix, one row for each input", given)
            return self.distance
        points = domain.coordinates
        if points is None or (self.distance == "absolute" and len(points[0]) != 1):
            need = "numbers" if self.distance == "absolute" else "numbers or a grid"
            raise InputError("distance", f"{need} as the domain for {self.distance!r}", domain)
        return ExactTable.distances(points, points, self.distance)

    def family(self, domain: Domain, prior: Prior | None = None) -> PairRows:
        """Compile to one bound for each distance that occurs."""
        table = self.distances(domain)
        levels, index = np.unique(table.numerators, return_inverse=True)
        bounds = [Bound(slope=table.bound(int(level), up=False)) for level in levels]
        return PairRows(self.name, bounds, index.reshape(table.shape).astype(np.intp), self.epsilon)

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table."""
        distance: Any = self.distance
        if isinstance(distance, ExactTable):
            rows = range(distance.shape[0])
            columns = range(distance.shape[1])
            distance = [[fraction_text(distance.lower(x, z)) for z in columns] for x in rows]
        return {
            "notion": self.name,
            "epsilon": fraction_text(self.epsilon),
            "distance": distance,
        }
