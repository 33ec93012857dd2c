"""The hockey-stick divergence of two laws on the line, enclosed.

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

from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.accounting.continuous.enclosures import FloatEnclosure, between
from mechdesign.accounting.continuous.normal_laws import Law

PIECES = 16
"""Number of parts that an open cell is divided into."""

ROUNDS = 12
"""Maximum number of subdivisions: the cells are then 16**-12 as wide, below float resolution."""


MOST_OPEN = 1 << 12
"""Maximum number of open cells to divide; there are more only if f = gamma g on an interval."""


@dataclass(frozen=True, eq=False)
class Excess:
    """Where f lies above gamma g.

    Attributes
    ----------
    starts, ends
        Intervals inside of which f >= gamma g.
    open_starts, open_ends
        The open cells. Everywhere else except in the tails, f <= gamma g.
    most
        Upper bound on the contribution of the open cells to the divergence.
    tails
        The two intervals outside all cells, as starts and ends.
    """

    starts: FloatArray
    ends: FloatArray
    open_starts: FloatArray
    open_ends: FloatArray
    most: float
    tails: tuple[FloatArray, FloatArray]


def excess(f: Law, g: Law, gamma: FloatEnclosure, width: float, narrowest: float = 0.0) -> Excess:
    """Return where f lies above gamma g.

    Parameters
    ----------
    f, g
        Two laws; f may be a family of laws whose density is given by its range.
    gamma
        A positive number.
    width
        Open cells are subdivided until their total contribution is at most this.
    narrowest
        Cells at most this wide are not subdivided.
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
    >>> from mechdesign.accounting.continuous.normal_laws import Normals
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
