"""Mean squared distance."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.domain import Domain, Label
from mechdesign.tables import ExactTable
from mechdesign.utilities.base import LinearUtility, label_points

__all__ = ["MeanSquaredDistance"]


class MeanSquaredDistance(LinearUtility):
    """E |X - Y|**2, for inputs and outputs that are numbers or points of a grid.

    Parameters
    ----------
    worst_case
        Whether to take the largest over the inputs instead of the mean over the prior.

    Notes
    -----
    This judges the released Y itself. For the error of the curator's best estimate from Y, see
    :class:`~mechdesign.utilities.PosteriorMeanSquaredError`.

    Examples
    --------
    >>> from mechdesign.domain import Domain
    >>> MeanSquaredDistance().loss(Domain([0, 1, 3]), [0, 3]).array
    array([[0., 9.],
           [1., 4.],
           [9., 0.]])
    """

    name = "mean-squared-distance"
    title = "expected squared distance of X and Y"

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return |x - y|**2."""
        inputs, points = label_points(domain, outputs, self.name)
        return ExactTable.distances(inputs, points, "squared")
