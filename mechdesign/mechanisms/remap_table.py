"""Remap tables: for each reported point the point of least posterior expected loss.

A remap is post-processing, private for every table, so tables are computed in floats. The loss of a
mechanism with a table is enclosed in spite of rounding: all terms of the sum are nonnegative, so
its relative error is at most the number of roundings of one term and of the additions that it takes
part in, times 2**-53.

Source: Chatzikokolakis, ElSalamouny and Palamidessi 2017, for geo-indistinguishability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import fsum, inf, nextafter
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray, Int64Array
from mechdesign.errors import choose
from mechdesign.mechanisms.torus_law import TorusLaw

Point = tuple[int, int]

WINDOW_NATS = 40
"""Inputs further from a report, less likely by e**-40 or more, are ignored in a remap."""

NEAR_NATS = 25
"""The same for a remap that replaces only the reports that gain most."""

LEAST_SAVED = 1e-9
"""A report that saves less than this share of the mean loss by a step is not replaced."""


class Losses:
    """The losses of reports of a mechanism at a prior.

    The prior is listed row by row; ``step`` is the distance between neighbors.
    """

    def __init__(self, law: TorusLaw, prior: FloatArray, loss: str, step: float) -> None:
        self._kind = choose(LOSSES, loss, "loss")
        self._step = step
        self._law, self._prior = law, prior.reshape(law.sides)
        down, right = (np.abs(np.arange(1 - size, size)) for size in law.sides)
        self._loss = self._kind.table(step, down[:, None].astype(float), right.astype(float))
        # weights of the displacements between grid points; the noise is symmetric
        self._weights = np.ldexp(law.table[np.ix_(down, right)].astype(np.float64), -62)

    def remap(self, exponent: float, block: int = 1) -> tuple[Int64Array, float]:
        """Return for each report the index of a point of least posterior expected loss.

        For the absolute, the squared and the Hamming loss it is a minimum over all points; for the
        Euclidean loss, a convex function of the point, a minimum over the point and its eight
        neighbors.

        ``exponent`` is the decrease of the log probability per step, which limits the search
        radius; points in squares of side ``block`` are replaced by one. The loss is without points
        beyond the radius.
        """
        reach = int(WINDOW_NATS / exponent) + block
        m = self._law.sides[1]
        found = np.empty(self._prior.shape, dtype=np.int64)
        best, total = (0, 0), 0.0
        for z in self._points(block):
            last = self._last(z, block)
            window, start = self._window(z, reach)
            joint = self._joint(z, last)[window]
            best = self._kind.best(self, joint, start, [z, best]) if joint.any() else z
            total += float(np.einsum("ij,ij->", joint, self._around(best)[window]))
            found[z[0] : last[0] + 1, z[1] : last[1] + 1] = best[0] * m + best[1]
        return found.ravel(), total

    def moves(self, exponent: float, most: int) -> tuple[Int64Array, float]:
        """Return a table that replaces some points only, and the reduction of the loss.

        The expected loss of a point one step away from each report is a convolution. Where it is
        smaller than that of the report, a better point is searched for, in decreasing order of the
        saving. Points at the border are not replaced.

        At most ``most`` points are replaced.
        """
        (n, m), reach = self._law.sides, int(NEAR_NATS / exponent) + 1
        own = self._one_step((0, 0))
        saved = own - np.min([self._one_step(step) for step in (*SIDEWAYS, *ACROSS)], axis=0)
        for axis, (side, margin) in enumerate(zip(self._law.sides, self._law.margins, strict=True)):
            if margin:
                np.moveaxis(saved, axis, 0)[[0, side - 1]] = 0.0
        likely = np.argsort(-saved, axis=None, kind="stable")[:most]
        found, total = np.arange(n * m), 0.0
        for place in likely[saved.ravel()[likely] > LEAST_SAVED * own.sum() / own.size].tolist():
            z = divmod(place, m)
            window, start = self._window(z, reach)
            joint = self._joint(z, z)[window]
            y = self._kind.best(self, joint, start, [z, _mean(self, joint, start, [z])])
            rise = self._around(y)[window] - self._around(z)[window]
            change = float(np.einsum("ij,ij->", joint, rise))
            if change < 0:
                found[place], total = y[0] * m + y[1], total - change
        return found, total

    def _window(self, z: Point, reach: int) -> tuple[tuple[slice, ...], Point]:
        """Return the points near z, and the first of them."""
        near = [slice(max(0, y - reach), y + reach + 1) for y in z]
        return tuple(near), (near[0].start, near[1].start)

    def _one_step(self, step: Point) -> FloatArray:
        """Return for each point z of the grid the expected loss of reporting z + step there."""
        from scipy.signal import fftconvolve  # a slow import

        (n, m), (a, b) = self._law.sides, step
        down, right = np.abs(np.arange(1 - n, n) + a), np.abs(np.arange(1 - m, m) + b)
        away = self._kind.table(self._step, down[:, None].astype(float), right.astype(float))
        return np.asarray(fftconvolve(self._prior, self._weights * away, "same"))

    def _last(self, z: Point, block: int) -> Point:
        """Return the last point of a square."""
        n, m = self._law.sides
        return min(z[0] + block, n) - 1, min(z[1] + block, m) - 1

    def expected(self, remap: Int64Array) -> tuple[float, float]:
        """Return bounds on the expected loss with a table, valid in spite of rounding."""
        m = self._law.sides[1]
        places = remap.reshape(self._prior.shape)
        parts = [
            float(np.einsum("ij,ij->", self._joint(z, z), self._around(divmod(int(places[z]), m))))
            for z in self._points(1)
        ]
        found = fsum(parts)
        # At most seven roundings of a term, and one addition for each other term of its part;
        # underflows add up to less than the last summand.
        error = found * (self._prior.size + 8) * 2.0**-52 + 1e-300
        return max(0.0, nextafter(found - error, -inf)), nextafter(found + error, inf)

    def _points(self, step: int) -> Iterator[Point]:
        n, m = self._law.sides
        return ((y, z) for y in range(0, n, step) for z in range(0, m, step))

    def _around(self, y: Point) -> FloatArray:
        """Return the losses of one output at all points."""
        (a, b), (n, m) = y, self._law.sides
        return self._loss[n - 1 - a : 2 * n - 1 - a, m - 1 - b : 2 * m - 1 - b]

    def _joint(self, z: Point, last: Point) -> FloatArray:
        """Return the joint probabilities of each point and a rectangle of reports."""
        (a, b), (n, m) = z, self._law.sides
        ends = any(
            margin and y in (0, size - 1)
            for y, size, margin in zip(z, self._law.sides, self._law.margins, strict=True)
        )
        if ends or last != z:
            masses = self._law.masses((np.arange(n), np.arange(m)), z, last)
            return np.asarray(self._prior * np.ldexp(masses.astype(np.float64), -62))
        weights = self._weights[n - 1 - a : 2 * n - 1 - a, m - 1 - b : 2 * m - 1 - b]
        return np.asarray(self._prior * weights)

    def _descend(self, joint: FloatArray, start: Point, near: list[Point]) -> Point:
        """Return a point that no neighbor improves on, starting at the best of the given ones."""
        rows, columns = (slice(s, s + n) for s, n in zip(start, joint.shape, strict=True))
        n, m = self._law.sides
        known: dict[Point, float] = {}

        def loss(point: Point) -> float:
            if point not in known:
                inside = 0 <= point[0] < n and 0 <= point[1] < m
                around = self._around(point)[rows, columns] if inside else None
                known[point] = inf if around is None else float(np.einsum("ij,ij->", joint, around))
            return known[point]

        y = min(near, key=loss)
        while True:
            for steps in (SIDEWAYS, ACROSS):
                best = min((loss((y[0] + a, y[1] + b)), (y[0] + a, y[1] + b)) for a, b in steps)
                if best[0] < loss(y):
                    y = best[1]
                    break
            else:
                return y


SIDEWAYS = [(-1, 0), (0, -1), (0, 1), (1, 0)]
ACROSS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]

Best: TypeAlias = Callable[[Losses, FloatArray, Point, list[Point]], Point]
"""Returns the point of least loss, given joint probabilities on a window of the grid, the first
point of the window, and starting points."""


def _likeliest(_losses: Losses, joint: FloatArray, start: Point, _near: list[Point]) -> Point:
    row, column = divmod(int(joint.argmax()), joint.shape[1])
    return start[0] + row, start[1] + column


def _mean(_losses: Losses, joint: FloatArray, start: Point, _near: list[Point]) -> Point:
    sides = [(joint.sum(axis=1), start[0]), (joint.sum(axis=0), start[1])]
    a, b = (first + side @ np.arange(len(side)) / side.sum() for side, first in sides)
    return round(float(a)), round(float(b))


def _medians(_losses: Losses, joint: FloatArray, start: Point, _near: list[Point]) -> Point:
    halves = [joint.sum(axis=1).cumsum(), joint.sum(axis=0).cumsum()]
    a, b = (int(np.searchsorted(sums, sums[-1] / 2)) for sums in halves)
    return start[0] + a, start[1] + b


@dataclass(frozen=True)
class _Loss:
    """A loss: a function of the spacing and of the steps between two points, with its minimizer."""

    table: Callable[[float, FloatArray, FloatArray], FloatArray]
    best: Best


LOSSES: dict[str, _Loss] = {
    "absolute": _Loss(lambda step, down, right: step * (down + right), _medians),
    "euclidean": _Loss(
        lambda step, down, right: step * np.sqrt(down**2 + right**2), Losses._descend
    ),
    "squared": _Loss(lambda step, down, right: step**2 * (down**2 + right**2), _mean),
    "hamming": _Loss(
        lambda _step, down, right: ((down > 0) | (right > 0)).astype(np.float64), _likeliest
    ),
}
"""The losses by name."""
