"""Euclidean distance."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.domain import Domain, Label
from mechdesign.tables import ExactTable
from mechdesign.utilities.base import LinearUtility, label_points

__all__ = ["EuclideanDistance"]


class EuclideanDistance(LinearUtility):
    """E |X - Y|, the Euclidean distance of points of a grid or of numbers.

    Parameters
    ----------
    worst_case
        Whether to take the largest over the inputs instead of the mean over the prior.

    Examples
    --------
    >>> from mechdesign.domain import Domain
    >>> grid = Domain.grid(2, 2)
    >>> EuclideanDistance().loss(grid, [(0, 0), (1, 1)]).array.round(4)
    array([[0.    , 1.4142],
           [1.    , 1.    ],
           [1.    , 1.    ],
           [1.4142, 0.    ]])
    """

    name = "euclidean"
    title = "expected Euclidean distance of X and Y"

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return the distance, exact as the root of a rational."""
        inputs, points = label_points(domain, outputs, self.name)
        return ExactTable.distances(inputs, points, "euclidean")
