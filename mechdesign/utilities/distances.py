"""Losses that are a distance of input and output: absolute, Euclidean, squared and Hamming."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, shown
from mechdesign.tables import ExactTable
from mechdesign.utilities.base import LinearUtility

Points = tuple[tuple[Fraction, ...], ...]
"""Exact coordinates, a tuple for each point."""


class DistanceUtility(LinearUtility):
    """Expected or worst-case distance of X and Y, for numbers or points of a grid."""

    distance: ClassVar[str]
    """The name of the distance in :meth:`~mechdesign.tables.ExactTable.distances`."""

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return the distances, exact."""
        self._check_domain(domain)
        points = label_points(domain, tuple(outputs), self.name)
        return ExactTable.distances(*points, self.distance)

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> LinearUtility:
        """Return the loss, after a check that there are points."""
        self._check_domain(domain)
        label_points(domain, domain.labels if outputs is None else outputs, self.name)
        return super().aligned(domain, outputs)

    def _check_domain(self, domain: Domain) -> None:
        """Raise InputError if the inputs are of another kind."""


class MeanAbsoluteError(DistanceUtility):
    """E |X - Y|, for inputs and outputs that are numbers.

    Parameters
    ----------
    worst_case
        Whether to take the maximum over the inputs instead of the mean over the prior.

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
    on_interval = "absolute"
    distance = "absolute"
    exact = True

    def _check_domain(self, domain: Domain) -> None:
        if domain.coordinates is not None and domain.numbers is None:
            expected = f"numbers as the domain for {self.name}"
            raise InputError("objective", expected, domain, "try euclidean")


class EuclideanDistance(DistanceUtility):
    """E |X - Y|, the Euclidean distance of points of a grid or of numbers.

    Parameters
    ----------
    worst_case
        Whether to take the maximum over the inputs instead of the mean over the prior.

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
    on_plane = True
    distance = "euclidean"
    exact = True


class MeanSquaredDistance(DistanceUtility):
    """E |X - Y|**2, for inputs and outputs that are numbers or points of a grid.

    Parameters
    ----------
    worst_case
        Whether to take the maximum over the inputs instead of the mean over the prior.

    Notes
    -----
    This is the error of the released Y itself. For the error of the aggregator's best estimate from
    Y, see :class:`~mechdesign.utilities.PosteriorMeanSquaredError`.

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
    on_interval = "squared"
    on_plane = True
    distance = "squared"
    exact = True


def label_points(domain: Domain, outputs: Sequence[Label], objective: str) -> tuple[Points, Points]:
    """Return the coordinates of the inputs and of the outputs.

    Outputs have coordinates like inputs: numbers themselves, pairs ``(row, column)`` times the
    spacing, or, in a domain of points, the numbers of points.
    """
    inputs = domain.coordinates
    if inputs is None:
        expected = f"numbers or a grid as the domain for {objective}"
        hint = "number ordered answers, as range(5); HammingLoss takes any labels"
        raise InputError("objective", expected, domain, hint)
    if outputs == domain.labels:
        return inputs, inputs
    if domain.positions is not None:  # outputs are numbers of points of the domain
        return inputs, tuple(inputs[domain.index(label, "outputs.values")] for label in outputs)
    step = domain.spacing or Fraction(1)
    points = []
    for label in outputs:
        parts = label if isinstance(label, tuple) else (label,)
        if len(parts) != len(inputs[0]) or not all(isinstance(p, int | float) for p in parts):
            kind = "numbers" if len(inputs[0]) == 1 else "pairs [row, column]"
            raise InputError("outputs.values", f"{kind} for {objective}", shown(label))
        points.append(tuple(step * Fraction(repr(part)) for part in parts))
    return inputs, tuple(points)


class HammingLoss(LinearUtility):
    """Pr(Y != X), for any labels.

    Parameters
    ----------
    worst_case
        Whether to take the maximum over the inputs instead of the mean over the prior.

    Examples
    --------
    >>> from mechdesign.domain import Domain
    >>> HammingLoss().loss(Domain(["a", "b"]), ["a", "b", "?"]).array
    array([[0., 1., 1.],
           [1., 0., 1.]])
    """

    name = "hamming"
    title = "probability that Y is not X"
    exact = True
    distance = "hamming"

    @property
    def treats_inputs_alike(self) -> bool:  # type: ignore[override]
        """Whether it is a mean."""
        return not self.worst_case

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return 0 where y is x, 1 elsewhere."""
        differ = [[int(x != y) for y in outputs] for x in domain.labels]
        return ExactTable(np.array(differ, dtype=np.int64), 1)
