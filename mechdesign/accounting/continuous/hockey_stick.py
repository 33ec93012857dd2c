"""The hockey-stick divergence of two laws on the line, enclosed.

    E_gamma(f || g) = sup_S f(S) - gamma g(S) = integral of (f - gamma g)_+

The line is cut into cells. Where the range of f over a cell lies above gamma times that of g, the
cell is in the set S at which the supremum is attained; where it lies below, it is not. Runs of
cells in S give f(S) - gamma g(S) through the masses of intervals. A cell [a, b] that neither holds
for adds a number between 0 and (b - a) (max f - gamma min g)_+, which is of order (b - a)**2: the
densities cross there. Such cells are cut again until what they may add is within the width asked
for. Outside of all cells the integral is at least 0, and at most the mass of f.

Sources: Polyanskiy, Poor and Verdu 2010 (the divergence); Balle, Barthe and Gaboardi 2018 (its use
for privacy).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.accounting.continuous.enclosures import FloatEnclosure, between
from mechdesign.accounting.continuous.normal_laws import Law

__all__ = ["Excess", "excess", "hockey_stick"]

PIECES = 16
"""Into how many a cell that is not decided is cut."""

ROUNDS = 12
"""Cuts of the same cell at most: it is 16**-12 as wide then, beyond the resolution of floats."""


MOST_OPEN = 1 << 12
"""Open cells that are cut at most. More there are only where f = gamma g on an interval."""


@dataclass(frozen=True, eq=False)
class Excess:
    """Where f lies above gamma g.

    Attributes
    ----------
    starts, ends
        Intervals inside of which f >= gamma g.
    open_starts, open_ends
        Cells of which this is not known. Everywhere else f <= gamma g, but for both tails.
    most
        What the open cells add to the divergence at most.
    tails
        The two intervals outside of all cells, as starts and ends.
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
        Two laws; f may be all laws of a family at once, if its density is the range over them.
    gamma
        A positive number.
    width
        What open cells may add at most; they are cut until then.
    narrowest
        Cells that are no wider are not cut again.
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
    """Return the divergence E_gamma(f || g), as an enclosure about as wide as asked for.

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
    """Return the union of cells as few intervals."""
    order = np.argsort(starts)
    starts, ends = starts[order], ends[order]
    if not len(starts):
        return starts, ends
    first = np.concatenate([[True], starts[1:] > ends[:-1]])
    last = np.concatenate([first[1:], [True]])
    return starts[first], ends[last]
