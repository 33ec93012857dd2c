"""Mixtures of normal laws, with enclosures of their densities over cells and of their masses.

The hockey-stick divergence uses the range of a density over a cell and the mass of an interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.accounting.continuous.enclosures import (
    FloatEnclosure,
    between,
    normal_density,
    normal_mass,
)
from mechdesign.continuous.laws import GaussianMixture

SPREAD = 9.0
"""Standard deviations beyond which a normal law has less than 1.2e-19 of its mass, on each side."""

TAILS = 1e-18
"""Upper bound on the mass of a law outside its grid of cells."""

CELLS = 64
"""Cells of the midpoint sums per standard deviation of the least noise."""


@dataclass(frozen=True, eq=False)
class Normals:
    """Sum_i w_i N(m_i, s_i**2).

    Attributes
    ----------
    weights
        ``(n,)``.
    means
        ``(n,)``; an interval represents all means inside it.
    deviations
        ``(n,)``, positive.
    """

    weights: FloatEnclosure
    means: FloatEnclosure
    deviations: FloatEnclosure

    @classmethod
    def single(cls, mean: FloatEnclosure, deviation: float) -> Normals:
        """Return one normal law."""
        means = between(np.atleast_1d(mean.low), np.atleast_1d(mean.high))
        return cls(FloatEnclosure.of([1.0]), means, FloatEnclosure.of([deviation]))

    @classmethod
    def of(cls, law: GaussianMixture) -> Normals:
        """Return the parts of a mixture with positive weight."""
        parts = zip(law.weights, law.means, law.deviations, strict=True)
        columns = zip(*(part for part in parts if part[0]), strict=True)
        return cls(*map(FloatEnclosure.row, columns))

    def density(self, cells: FloatEnclosure) -> FloatEnclosure:
        """Return the range over each cell: the sum of the ranges of the parts."""
        heights = column(self.weights / self.deviations)
        return (heights * normal_density(self.standard(cells))).sum(axis=0)

    def mass(self, start: FloatArray, end: FloatArray) -> FloatEnclosure:
        """Return the probability of each interval."""
        # an infinite end is replaced by 1e150: both are beyond 50 deviations, where the enclosure
        # of the tail contains 0
        ends = (self.standard(np.clip(end, -1e150, 1e150)) for end in (start, end))
        return (column(self.weights) * normal_mass(*ends)).sum(axis=0)

    def slope(self, points: FloatEnclosure) -> FloatEnclosure:
        """Return the range of the derivative of the density."""
        z = self.standard(points)
        heights = column(self.weights / self.deviations.square())
        return -(heights * z * normal_density(z)).sum(axis=0)

    def knots(self, per_piece: int) -> FloatArray:
        """Return points between which the density changes little, over all but 1e-18 of the mass.

        Parameters
        ----------
        per_piece
            Number of points for each normal law, out to nine standard deviations.
        """
        spread = np.linspace(-SPREAD, SPREAD, per_piece)
        means = np.concatenate([self.means.low, self.means.high])
        deviations = np.concatenate([self.deviations.high] * 2)
        return np.unique(means[:, None] + deviations[:, None] * spread)

    def standard(self, points: FloatEnclosure | FloatArray) -> FloatEnclosure:
        """Return (y - m_i) / s_i, a row for each normal law."""
        return (FloatEnclosure.of(points) - column(self.means)) / column(self.deviations)


@dataclass(frozen=True, eq=False)
class BinnedNormals:
    """The law of X + s_j N, where X is in bin j, X a mixture of normal laws and N standard normal.

    With X ~ N(m, r**2) and noise s, the sum is N(m, v**2), v**2 = r**2 + s**2, and given that it is
    y, X is N(m + (y - m) r**2/v**2, (r s/v)**2). So the density of the sum, with X in [a, b], is

        phi((y - m)/v)/v * (Phi(beta(y)) - Phi(alpha(y))),

    beta(y) = (b - m - (y - m) r**2/v**2) v/(r s), and alpha the same with a. The masses have no
    closed form: each is a midpoint sum over cells of width h, whose error is h**3/24 times a
    value of the second derivative inside the cell.

    Attributes
    ----------
    weights
        ``(n,)`` weights of the normal laws, divided by the total probability of the bins.
    means, deviations
        ``(n,)`` parameters of X.
    starts, ends
        ``(n,)`` the ends of the bins.
    noises
        ``(n,)`` the standard deviations of the noise, positive.
    """

    weights: FloatEnclosure
    means: FloatEnclosure
    deviations: FloatEnclosure
    starts: FloatArray
    ends: FloatArray
    noises: FloatArray

    @cached_property
    def _sums(self) -> Normals:
        v = (self.deviations.square() + FloatEnclosure.of(self.noises).square()).root()
        return Normals(self.weights, self.means, v)

    @cached_property
    def _scale(self) -> FloatEnclosure:
        """The v / (r s) of each."""
        return self._sums.deviations / (self.deviations * self.noises)

    @cached_property
    def _grid(self) -> FloatArray:
        """The edges of the cells of the midpoint sums."""
        low = float((self.starts - SPREAD * self.noises).min())
        high = float((self.ends + SPREAD * self.noises).max())
        step = float(self.noises.min()) / CELLS
        return np.linspace(low, high, 1 + math.ceil((high - low) / step))

    @cached_property
    def _below(self) -> tuple[FloatArray, FloatArray]:
        """Cumulative sums of the lower and of the upper bounds on the masses of the cells."""
        cells = self._midpoint(self._grid[:-1], self._grid[1:])
        low, high = (np.append(0.0, np.cumsum(masses)) for masses in (cells.low, cells.high))
        return low, high

    def density(self, cells: FloatEnclosure) -> FloatEnclosure:
        """Return the range over each cell, from the ranges of the factors."""
        alpha, beta = self._standard(self.starts, cells), self._standard(self.ends, cells)
        normal = normal_density(self._sums.standard(cells))
        scaled = column(self.weights / self._sums.deviations)
        return (scaled * normal * normal_mass(alpha, beta)).sum(axis=0)

    def mass(self, start: FloatArray, end: FloatArray) -> FloatEnclosure:
        """Return the probability of each interval."""
        edges, (below, above) = self._grid, self._below
        start, end = (np.clip(point, edges[0], edges[-1]) for point in (start, end))
        first = np.searchsorted(edges, start)
        last = np.searchsorted(edges, end, side="right") - 1
        whole = first <= last
        # covers the rounding of both sums of n terms, and both tails outside the grid
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

    def _standard(self, bounds: FloatArray, points: FloatEnclosure) -> FloatEnclosure:
        """Return (b - m - (y - m) r**2/v**2) v/(r s) for every bin and every point."""
        share = self.deviations.square() / self._sums.deviations.square()
        from_mean = FloatEnclosure.of(bounds) - self.means
        along = (points - column(self.means)) * column(share)
        return (column(from_mean) - along) * column(self._scale)

    def _midpoint(self, start: FloatArray, end: FloatArray) -> FloatEnclosure:
        """Return the masses of cells, from the density in the middle and its second derivative."""
        low, high = FloatEnclosure.of(start), FloatEnclosure.of(end)
        h, middle = high - low, (low + high) * 0.5
        bend = self._second_derivative(between(start, end))
        return (h * self.density(middle) + h * h * h / 24 * bend).positive()

    def _second_derivative(self, cells: FloatEnclosure) -> FloatEnclosure:
        """Return the range over cells, from the derivatives of both factors of the density."""
        v = column(self._sums.deviations)
        z = self._sums.standard(cells)
        alpha, beta = self._standard(self.starts, cells), self._standard(self.ends, cells)
        k = column(self.deviations / self.noises) / v  # both fall with y at this rate
        at_start, at_end = normal_density(alpha), normal_density(beta)
        parts = (
            (z.square() - 1) * normal_mass(alpha, beta) / v.square()
            + 2 * z * k / v * (at_end - at_start)
            - k.square() * (beta * at_end - alpha * at_start)
        )
        return (column(self.weights) / v * normal_density(z) * parts).sum(axis=0)


Law = Normals | BinnedNormals
"""A law on the line with a density."""


def column(values: FloatEnclosure) -> FloatEnclosure:
    """Return one number per normal law as a column, to broadcast against a row of points."""
    return values[..., None]


def mass_between(law: GaussianMixture, low: float, high: float) -> FloatEnclosure:
    """Return the probability of an interval.

    Examples
    --------
    >>> bool(mass_between(GaussianMixture.normal(0, 1), 0.0, float("inf")).low > 0.499)
    True
    """
    return Normals.of(law).mass(np.array([low]), np.array([high]))[0]
