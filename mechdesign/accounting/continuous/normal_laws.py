"""Laws that are mixtures of normal ones, with bounds on their densities over whole cells.

What the hockey-stick divergence of two laws needs of each: the range of its density over a cell,
and the mass of an interval, both as enclosures.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.accounting.continuous.enclosures import (
    Enclosure,
    between,
    normal_density,
    normal_mass,
)

__all__ = ["CELLS", "SPREAD", "BinnedNormals", "Law", "Normals", "column"]

SPREAD = 9.0
"""Standard deviations beyond which a normal law has less than 1.2e-19 of its mass, on each side."""

TAILS = 1e-18
"""More than a law has on both sides of the grid of its cells."""

CELLS = 64
"""Cells of the midpoint sums in a standard deviation of the least noise."""


class Law(ABC):
    """A law on the line with a density."""

    @abstractmethod
    def density(self, cells: Enclosure) -> Enclosure:
        """Return the range of the density over each cell."""

    @abstractmethod
    def mass(self, start: FloatArray, end: FloatArray) -> Enclosure:
        """Return the probability of each interval ``[start, end]``, whose ends may be infinite."""

    @abstractmethod
    def knots(self, per_piece: int) -> FloatArray:
        """Return points between which the density changes little, over all but 1e-18 of the mass.

        Parameters
        ----------
        per_piece
            How many points for each normal law.
        """


@dataclass(frozen=True, eq=False)
class Normals(Law):
    """Sum_i w_i N(m_i, s_i**2).

    Attributes
    ----------
    weights
        ``(n,)``.
    means
        ``(n,)``; intervals stand for every mean inside them.
    deviations
        ``(n,)``, positive.
    """

    weights: Enclosure
    means: Enclosure
    deviations: Enclosure

    @classmethod
    def single(cls, mean: Enclosure, deviation: float) -> Normals:
        """Return one normal law."""
        one = Enclosure.of([1.0])
        where = between(np.atleast_1d(mean.low), np.atleast_1d(mean.high))
        return cls(one, where, Enclosure.of([deviation]))

    def density(self, cells: Enclosure) -> Enclosure:
        """Return the range over each cell: the sum of the ranges of the parts."""
        scaled = self.weights / self.deviations
        return (column(scaled) * normal_density(self.standard(cells))).sum(axis=0)

    def mass(self, start: FloatArray, end: FloatArray) -> Enclosure:
        """Return the probability of each interval."""
        # what is infinite is as good as 1e150: both are farther than 50 deviations, where the
        # enclosure of the tail holds 0
        finite = (np.clip(end, -1e150, 1e150) for end in (start, end))
        ends = (self.standard(Enclosure.of(end)) for end in finite)
        return (column(self.weights) * normal_mass(*ends)).sum(axis=0)

    def slope(self, points: Enclosure) -> Enclosure:
        """Return the range of the derivative of the density."""
        z = self.standard(points)
        scaled = column(self.weights / self.deviations.square())
        return -(scaled * z * normal_density(z)).sum(axis=0)

    def knots(self, per_piece: int) -> FloatArray:
        """Return points out to nine standard deviations."""
        spread = np.linspace(-SPREAD, SPREAD, per_piece)
        means = np.concatenate([self.means.low, self.means.high])
        deviations = np.concatenate([self.deviations.high] * 2)
        return np.unique(means[:, None] + deviations[:, None] * spread)

    def standard(self, points: Enclosure) -> Enclosure:
        """Return (y - m_i) / s_i, a row for each normal law."""
        return (points - column(self.means)) / column(self.deviations)


@dataclass(frozen=True, eq=False)
class BinnedNormals(Law):
    """The law of X + s_j N, where X is in bin j, X a mixture of normal laws and N standard normal.

    With X ~ N(m, r**2) and noise s, the sum is N(m, v**2), v**2 = r**2 + s**2, and given that it is
    y, X is N(m + (y - m) r**2/v**2, (r s/v)**2). So the density of the sum, with X in [a, b], is

        phi((y - m)/v)/v * (Phi(beta(y)) - Phi(alpha(y))),

    beta(y) = (b - m - (y - m) r**2/v**2) v/(r s), and alpha the same with a. The masses have no
    such form: each is a midpoint sum over cells of width h, whose error is h**3/24 times a
    value of the second derivative inside the cell.

    Attributes
    ----------
    weights
        ``(n,)`` of each normal law, divided by the probability of all bins together.
    means, deviations
        ``(n,)`` of X.
    starts, ends
        ``(n,)`` the bin of each.
    noises
        ``(n,)`` the standard deviation of its noise, positive.
    """

    weights: Enclosure
    means: Enclosure
    deviations: Enclosure
    starts: FloatArray
    ends: FloatArray
    noises: FloatArray

    @cached_property
    def _sums(self) -> Normals:
        v = (self.deviations.square() + Enclosure.of(self.noises).square()).root()
        return Normals(self.weights, self.means, v)

    @cached_property
    def _scale(self) -> Enclosure:
        """The v / (r s) of each."""
        return self._sums.deviations / (self.deviations * Enclosure.of(self.noises))

    @cached_property
    def _grid(self) -> FloatArray:
        """The edges of the cells of the midpoint sums."""
        low = float((self.starts - SPREAD * self.noises).min())
        high = float((self.ends + SPREAD * self.noises).max())
        step = float(self.noises.min()) / CELLS
        return np.linspace(low, high, 1 + math.ceil((high - low) / step))

    @cached_property
    def _ranges(self) -> Enclosure:
        """The range of the density over each cell of the grid, and over a cell beyond the last."""
        edges = self._grid
        found = self._density(between(edges[:-1], edges[1:]))
        return between(np.append(found.low, np.inf), np.append(found.high, 0.0))

    @cached_property
    def _below(self) -> tuple[FloatArray, FloatArray]:
        """Sums of the lower, and of the upper, bounds of the masses of the cells before each."""
        edges = self._grid
        cells = self._midpoint(edges[:-1], edges[1:])
        return _cumulated(cells.low), _cumulated(cells.high)

    def density(self, cells: Enclosure) -> Enclosure:
        """Return the range over each cell: the sum of the ranges of the parts."""
        edges = self._grid
        inside = (cells.low >= edges[0]) & (cells.high <= edges[-1])
        wide = inside & (cells.high - cells.low > edges[1] - edges[0])
        low, high = np.empty_like(cells.low), np.empty_like(cells.high)
        few = self._density(cells[~wide])
        low[~wide], high[~wide] = few.low, few.high
        # the cells of the grid that cover each wide one: from first on, before last
        first = np.searchsorted(edges, cells.low[wide], side="right") - 1
        last = np.searchsorted(edges, cells.high[wide])
        pairs = np.stack([first, last], axis=1).ravel()
        if len(pairs):
            low[wide] = np.minimum.reduceat(self._ranges.low, pairs)[::2]
            high[wide] = np.maximum.reduceat(self._ranges.high, pairs)[::2]
        return between(low, high)

    def _density(self, cells: Enclosure) -> Enclosure:
        """Return the range from that of each factor."""
        alpha, beta = self._standard(self.starts, cells), self._standard(self.ends, cells)
        normal = normal_density(self._sums.standard(cells))
        scaled = column(self.weights / self._sums.deviations)
        return (scaled * normal * normal_mass(alpha, beta)).sum(axis=0)

    def mass(self, start: FloatArray, end: FloatArray) -> Enclosure:
        """Return the probability of each interval."""
        edges, (below, above) = self._grid, self._below
        start, end = (np.clip(point, edges[0], edges[-1]) for point in (start, end))
        first = np.searchsorted(edges, start)
        last = np.searchsorted(edges, end, side="right") - 1
        whole = first <= last
        # what each of the two sums of n terms may be off by, and both tails outside of the grid
        slack = (4 * len(edges)) * 2.0**-53
        inner = between(
            np.where(whole, below[last] - below[first] - slack, 0.0),
            np.where(whole, above[last] - above[first] + slack, 0.0) + TAILS,
        ).positive()
        left = self._midpoint(start, np.where(whole, edges[first], end))
        right = self._midpoint(np.where(whole, edges[last], end), end)
        return inner + left + right

    def knots(self, per_piece: int) -> FloatArray:
        """Return points out to nine standard deviations."""
        low, high = self._grid[0], self._grid[-1]
        steps = math.ceil((high - low) / (2 * SPREAD * self.noises.min()) * per_piece)
        return np.linspace(low, high, 1 + steps)

    def _standard(self, bounds: FloatArray, points: Enclosure) -> Enclosure:
        """Return (b - m - (y - m) r**2/v**2) v/(r s) for every bin and every point."""
        share = self.deviations.square() / self._sums.deviations.square()
        from_mean = Enclosure.of(bounds) - self.means
        along = (points - column(self.means)) * column(share)
        return (column(from_mean) - along) * column(self._scale)

    def _midpoint(self, start: FloatArray, end: FloatArray) -> Enclosure:
        """Return the masses of cells, from the density in the middle and its second derivative."""
        low, high = Enclosure.of(start), Enclosure.of(end)
        h, middle = high - low, (low + high) * Enclosure.of(0.5)
        bend = self._second_derivative(between(start, end))
        return (h * self._density(middle) + h * h * h / Enclosure.of(24.0) * bend).positive()

    def _second_derivative(self, cells: Enclosure) -> Enclosure:
        """Return the range over cells, with the derivatives of both factors of the density."""
        v = column(self._sums.deviations)
        z = self._sums.standard(cells)
        alpha, beta = self._standard(self.starts, cells), self._standard(self.ends, cells)
        k = column(self.deviations / Enclosure.of(self.noises)) / v  # both fall with y at this rate
        at_start, at_end = normal_density(alpha), normal_density(beta)
        one, two = Enclosure.of(1.0), Enclosure.of(2.0)
        parts = (
            (z.square() - one) * normal_mass(alpha, beta) / v.square()
            + two * z * k / v * (at_end - at_start)
            - k.square() * (beta * at_end - alpha * at_start)
        )
        return (column(self.weights) / v * normal_density(z) * parts).sum(axis=0)


def column(values: Enclosure) -> Enclosure:
    """Return what belongs to the normal laws as a column, to be met with a row of points."""
    return values[..., None]


def _cumulated(masses: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(masses)])
