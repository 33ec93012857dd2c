"""Objectives by name that are losses of allowed outputs, risks, and variances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.kernel.arithmetic import known, lattice, need
from mechdesign.kernel.losses import DistanceLosses, HammingLosses, Losses, TableLosses
from mechdesign.kernel.names.base import MeanOrWorst, Outputs, Table
from mechdesign.kernel.names.domains import Inputs
from mechdesign.kernel.objectives import Loss, Objective, Reading, Risk


@dataclass(frozen=True)
class ExpectedLoss(MeanOrWorst):
    """A loss of one of the outputs that are allowed."""

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return the loss."""
        words = f"objective {self.name!r} needs the outputs that were allowed"
        return Loss(self.losses(on, known(outputs, words)), self.weights(on))

    @abstractmethod
    def losses(self, on: Inputs, outputs: Sequence[Any]) -> Losses:
        """Return what each output costs at each input."""


@dataclass(frozen=True)
class Hamming(ExpectedLoss):
    """1 where the output is not the input."""

    kind: ClassVar[str] = "hamming"

    def losses(self, on: Inputs, outputs: Sequence[Any]) -> Losses:
        """Compare labels."""
        return HammingLosses(list(on.labels), list(outputs))


@dataclass(frozen=True)
class Distortion(ExpectedLoss):
    """A matrix of losses, a row for each input."""

    kind: ClassVar[str] = "distortion"
    matrix: Table = field(kw_only=True)

    def losses(self, on: Inputs, outputs: Sequence[Any]) -> Losses:
        """Return the matrix."""
        return table_losses(self.matrix, on.size, len(outputs))


def table_losses(rows: Table, n: int, m: int) -> TableLosses:
    """Return the losses of a matrix >= 0 of n inputs and m outputs."""
    fits = len(rows) == n and all(len(row) == m and min(row) >= 0 for row in rows)
    need(fits and n and m, f"expected a {n} x {m} matrix of numbers >= 0 in the problem")
    return TableLosses([list(row) for row in rows])


@dataclass(frozen=True)
class DistanceLoss(ExpectedLoss):
    """A distance of points."""

    distance: ClassVar[str]

    def losses(self, on: Inputs, outputs: Sequence[Any]) -> Losses:
        """Return the distances of outputs from inputs."""
        points = [*on.places, *map(on.target, outputs)]
        places, unit = lattice(points)
        return DistanceLosses(places[: on.size], places[on.size :], unit, self.distance)


@dataclass(frozen=True)
class MeanAbsoluteError(DistanceLoss):
    """The distance of two numbers."""

    kind: ClassVar[str] = "mean-absolute-error"
    distance: ClassVar[str] = "absolute"


@dataclass(frozen=True)
class MeanSquaredDistance(DistanceLoss):
    """The square of a distance."""

    kind: ClassVar[str] = "mean-squared-distance"
    distance: ClassVar[str] = "squared"


@dataclass(frozen=True)
class Euclidean(DistanceLoss):
    """The straight distance."""

    kind: ClassVar[str] = "euclidean"
    distance: ClassVar[str] = "euclidean"


@dataclass(frozen=True)
class L2Risk(MeanOrWorst):
    """The squared error of the best unbiased estimate of the distribution of inputs."""

    kind: ClassVar[str] = "l2-risk"
    reads: ClassVar[str] = "estimator"

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return a risk."""
        p = self.weights(on)
        need(p is None or min(p) > 0, "the risk of estimation needs a prior without zeros")
        return Risk(self.kind == "tv-risk", p)


@dataclass(frozen=True)
class TVRisk(L2Risk):
    """Its distance in total variation."""

    kind: ClassVar[str] = "tv-risk"


@dataclass(frozen=True)
class UnbiasedVariance(MeanOrWorst):
    """The variance of readings whose mean is f(x)."""

    kind: ClassVar[str] = "unbiased-variance"
    reads: ClassVar[str] = "readings"
    values: tuple[Fraction, ...] = field(kw_only=True)

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return a reading."""
        need(len(self.values) == on.size, "the objective must have one value for each input")
        return Reading(self.values, self.weights(on))


ExpectedLosses = Hamming | Distortion | MeanAbsoluteError | MeanSquaredDistance | Euclidean
"""A loss of one of the outputs that are allowed."""

Estimates = L2Risk | TVRisk | UnbiasedVariance
"""An error of unbiased estimates."""
