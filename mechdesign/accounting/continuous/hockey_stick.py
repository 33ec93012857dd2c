"""Mixtures of normal laws, with enclosures of their densities over cells and of their masses.

The hockey-stick divergence uses the range of a density over a cell and the mass of an interval.

The hockey-stick divergence of two laws on the line, enclosed.

    E_gamma(f || g) = sup_S f(S) - gamma g(S) = integral of (f - gamma g)_+

The line is divided into cells. If the range of f over a cell lies above gamma times that of g, the
cell belongs to the set S that attains the supremum; if it lies below, it does not. Runs of cells in
S give f(S) - gamma g(S) through the masses of intervals. Any other cell [a, b] is open: it adds
between 0 and (b - a) (max f - gamma min g)_+, which is of order (b - a)**2 as the densities cross
there. Open cells are subdivided until their total contribution is within the requested width.
Outside all cells the integral is at least 0 and at most the mass of f.

Sources: Polyanskiy, Poor and Verdu 2010 (the divergence); Balle, Barthe and Gaboardi 2018 (its use
for privacy).
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
    """Sum_i w_i N(m_i, s_i**2), arrays of n; an interval of means represents all means inside."""

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
        """Return points between which the density changes little, but for 1e-18 of the mass."""
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
    value of the second derivative inside the cell. All attributes are arrays of n parts; the
    weights are divided by the total probability of the bins.
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
    """Return the probability of an interval."""
    return Normals.of(law).mass(np.array([low]), np.array([high]))[0]


PIECES = 16
"""Number of parts that an open cell is divided into."""

ROUNDS = 12
"""Maximum number of subdivisions: the cells are then 16**-12 as wide, below float resolution."""


MOST_OPEN = 1 << 12
"""Maximum number of open cells to divide; there are more only if f = gamma g on an interval."""


@dataclass(frozen=True, eq=False)
class Excess:
    """Where f lies above gamma g.

    Inside of the intervals from ``starts`` to ``ends``, f >= gamma g; elsewhere f <= gamma g,
    except in the open cells, which contribute at most ``most`` to the divergence, and in the
    ``tails``, the two intervals outside all cells.
    """

    starts: FloatArray
    ends: FloatArray
    open_starts: FloatArray
    open_ends: FloatArray
    most: float
    tails: tuple[FloatArray, FloatArray]


def excess(f: Law, g: Law, gamma: FloatEnclosure, width: float, narrowest: float = 0.0) -> Excess:
    """Return where f lies above gamma g, f a law or a family with the range of its densities.

    Open cells are subdivided until their total contribution is at most ``width``, or they are at
    most ``narrowest`` wide.
    """
    edges = np.unique(np.concatenate([f.knots(33), g.knots(33)]))
    tails = np.array([-np.inf, edges[-1]]), np.array([edges[0], np.inf])
    starts, ends = edges[:-1], edges[1:]
    inside: list[tuple[FloatArray, FloatArray]] = []
    for _ in range(ROUNDS):
        cells = between(starts, ends)
        own, other = f.density(cells), gamma * g.density(cells)
        above = own.low >= other.high
        inside.append((starts[above], ends[above]))
        unknown = ~above & (own.high > other.low)
        starts, ends = starts[unknown], ends[unknown]
        adds = (FloatEnclosure.of(ends) - starts) * (own[unknown] - other[unknown])
        most = float(between(0.0, adds.high).sum().high) if len(starts) else 0.0
        wide = ends - starts > narrowest
        if most <= width or not 0 < wide.sum() <= MOST_OPEN:
            break
        kept = starts[~wide], ends[~wide]
        cuts = starts[wide, None] + (ends - starts)[wide, None] * np.arange(PIECES) / PIECES
        nexts = np.concatenate([cuts[:, 1:], ends[wide, None]], axis=1)
        starts = np.concatenate([kept[0], cuts.ravel()])
        ends = np.concatenate([kept[1], nexts.ravel()])
    merged = _runs(*map(np.concatenate, zip(*inside, strict=True)))
    return Excess(*merged, starts, ends, most, tails)


def hockey_stick(f: Law, g: Law, gamma: FloatEnclosure, width: float) -> FloatEnclosure:
    """Return an enclosure of the divergence E_gamma(f || g) of about the given width.

    Examples
    --------
    >>> from mechdesign.accounting.continuous.hockey_stick import Normals
    >>> f, g = (Normals.single(FloatEnclosure.of(mean), 1.0) for mean in (0.0, 1.0))
    >>> hockey_stick(f, g, FloatEnclosure.of(1.0), 1e-9).ends  # their distance in total variation
    Bounds(low=0.38292492..., high=0.38292492...)
    """
    found = excess(f, g, gamma, width)
    runs = (f.mass(found.starts, found.ends) - gamma * g.mass(found.starts, found.ends)).sum()
    rest = between(0.0, found.most) + between(0.0, f.mass(*found.tails).sum().high)
    return (runs + rest).positive()


def _runs(starts: FloatArray, ends: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the union of cells as maximal intervals."""
    order = np.argsort(starts)
    starts, ends = starts[order], ends[order]
    if not len(starts):
        return starts, ends
    first = np.concatenate([[True], starts[1:] > ends[:-1]])
    last = np.concatenate([first[1:], [True]])
    return starts[first], ends[last]
