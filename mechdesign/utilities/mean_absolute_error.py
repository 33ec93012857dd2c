"""Mean absolute error."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError
from mechdesign.tables import ExactTable
from mechdesign.utilities.base import LinearUtility, label_points

__all__ = ["MeanAbsoluteError"]


class MeanAbsoluteError(LinearUtility):
    """E |X - Y|, for inputs and outputs that are numbers.

    Parameters
    ----------
    worst_case
        Whether to take the largest over the inputs instead of the mean over the prior.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> MeanAbsoluteError().value(coin, Prior([0.5, 0.5]))
    Fraction(1, 4)
    """

    name = "mean-absolute-error"
    title = "expected |X - Y|"

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return |x - y|."""
        inputs, points = label_points(domain, outputs, self.name)
        if len(inputs[0]) != 1:
            raise InputError(
                "objective", f"numbers as the domain for {self.name}", domain, "try euclidean"
            )
        return ExactTable.distances(inputs, points, "absolute")
