"""The expected loss of noise on a torus, for a loss that depends on steps between points only.

Outputs are the inputs, a grid. The loss is

    Sum_x P_x Sum_z G(|z - x|) / 2**62 loss(x, remap(z))

over the inputs x and the points z of the torus, where points beyond the grid are reported as its
nearest point. It is summed in integers, with roots rounded up, in the faster of two ways.

*By runs* of points z with one remap, whose total weight is four sums of weights from a corner.

*As plain noise plus the changes by a remap.* Without a remap the loss depends on the steps along
both sides, cut off at the end of the grid. So with p and q steps from x to the ends in the
direction of a displacement, its quadrant adds

    Q(p, q) = Sum_ds G(d, s) loss(min(d, p), min(s, q)),   d <= p + margin, s <= q + margin,

where displacements along a side count half, as they are in two quadrants, and 0 a quarter. Running
sums over d and s give all Q(p, q). A point z replaced by y changes the sum by G(|z - x|) (loss(x,
y) - loss(x, z)) for each x. Inputs x more than r steps away from a point inside the grid are
omitted here: together they add at most g L, with g the largest weight of more than r steps and L
the largest loss, as the prior sums to 1. This is added instead, and r is the least for which it is
below 2**-20 of the loss for all points together. So the result is at least the loss. To determine r
in advance, the loss of plain noise is bounded: a nonzero displacement has an opposite one along its
side, and at least one of them ends one step away or more. (Around the torus: x and z are in the
grid, so this is at least two margins, and r is at most that.)

The bound on the loss of every private channel is that of a certificate; see `relaxations.cells`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, compress, groupby, zip_longest
from math import prod
from operator import add, mul, sub

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import need, over_one_denominator
from mechdesign.kernel.laws.ratios import WHOLE, denominator_bits
from mechdesign.kernel.laws.torus import Torus
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.statement import Statement

Pair = tuple[int, int]

Table = list[list[int]]

Run = tuple[int, int, int]
"""First column, the column after the last, and the reported input."""


def loss_steps(noise: Torus, statement: Statement) -> int:
    """Return a bound on the work of the loss, from sizes."""
    return min(_run_steps(noise, statement), _Moves(noise, statement).steps)


def loss_of_noise(noise: Torus, statement: Statement) -> Fraction:
    """Return the expected loss, rounded up for irrational losses or omitted inputs."""
    aim = statement.objective
    if not isinstance(aim, Loss) or aim.weights is None or aim.free:
        raise CertificateError("noise needs a mean loss")
    need(aim.costs.grid == noise.sides, "the loss does not depend on grid steps alone")
    m, (masses, whole) = noise.sides[1], over_one_denominator(aim.weights)
    prior = [masses[a : a + m] for a in range(0, len(masses), m)]
    moves = _Moves(noise, statement)
    few = moves.steps < _run_steps(noise, statement)
    total = moves.loss(prior) if few else _loss_by_runs(noise, _losses(noise, statement), prior)
    return Fraction(total, whole * WHOLE * aim.costs.denominator)


def _losses(noise: Torus, statement: Statement) -> Table:
    """Return the loss by steps along both sides, rounded up."""
    m, aim = noise.sides[1], statement.objective
    corner = aim.costs.upper(0) if isinstance(aim, Loss) else [0] * statement.k
    return [corner[a : a + m] for a in range(0, len(corner), m)]


def _counts(noise: Torus, statement: Statement) -> tuple[list[int], int]:
    """Return the number of inputs of each row with a mass, and the words of a mass."""
    m = noise.sides[1]
    masses = getattr(statement.objective, "weights", None) or (Fraction(0),) * statement.k
    rows = (masses[a : a + m] for a in range(0, len(masses), m))
    return [sum(map(bool, row)) for row in rows], 1 + denominator_bits(masses) // 512


def _around(loss: Table) -> Table:
    """Return losses by steps from 1 - m to m - 1 along the second side."""
    return [[*row[:0:-1], *row] for row in loss]


class _Moves:
    """Plain noise, and the replaced points.

    ``steps``: the work of :meth:`loss`.
    """

    def __init__(self, noise: Torus, statement: Statement) -> None:
        self._noise, self._sides, self._margins = noise, noise.sides, noise.law.margins
        (n, m), (margin, other) = self._sides, self._margins
        self._loss = _losses(noise, statement)
        moved = ((divmod(z, m), divmod(y, m)) for z, y in enumerate(noise.remap) if z != y)
        self._moved = sorted((b[0] - a[0], b[1] - a[1], *a) for a, b in moved)
        self._points = [
            prod(1 + margin * (at in (0, n - 1)) for at, n, margin in self._sides_of(row, column))
            for _, _, row, column in self._moved
        ]
        self._reach, self._beyond = self._window()
        (counts, long), r = _counts(noise, statement), self._reach
        held = list(accumulate(map(bool, counts), initial=0))
        self.steps = 30 * (n + margin) * (m + other) + long * sum(counts)
        self.steps += 12 * (n + margin) * (m + other) * bool(self._moved)
        for (_, _, row, _), points in zip(self._moved, self._points, strict=True):
            rows = held[-1]
            if points == 1:
                rows = held[min(n, row + r + 1)] - held[max(0, row - r)]
            self.steps += rows * (20 + (2 if points == 1 else 7) * min(m, 2 * r + 1) * long)
        kinds = len({move[:2] for move in self._moved})
        self.steps += 6 * kinds * min(2 * n, 2 * r + 1) * min(2 * m, 2 * r + 1)

    def _sides_of(self, row: int, column: int) -> Iterator[tuple[int, int, int]]:
        return zip((row, column), self._sides, self._margins, strict=True)

    def _window(self) -> tuple[int, int]:
        """Return r, and 2**62 times the part of inputs further away per point of the torus."""
        weights, power = self._noise.law.weights, self._noise.law.power
        largest = list(accumulate(reversed(weights), max))[::-1]  # of all lengths from one on
        lengths, worst = list(self._noise.counts)[: len(weights)], self._loss[-1][-1]
        near = [row[0] for row in self._loss[1:2]] + self._loss[0][1:2]
        least = (WHOLE - weights[0]) * min(near, default=0) // 2
        around = [2 * m for n, m in zip(self._sides, self._margins, strict=True) if n > 2]
        for r in range(1, 1 + min([max(self._sides) - 2, *around])):
            place = min(bisect_left(lengths, (r + 1) ** power), len(weights) - 1)
            if sum(self._points) * largest[place] * worst << 20 <= least:
                return r, largest[place] * worst
        return max(self._sides), 0

    def loss(self, prior: Table) -> int:
        """Return the sum over all points of the torus."""
        total, mass, rows = self._plain(prior), sum(map(sum, prior)), self._quadrant()
        held = [any(row) for row in prior]
        before, changes = None, dict[int, list[int]]()
        for (*move, row, column), points in zip(self._moved, self._points, strict=True):
            total += mass * points * self._beyond
            r = self._reach if points == 1 else max(self._sides)
            (top, bottom), (left, right) = (
                (max(0, at - r), min(side, at + r + 1))
                for at, side, _ in self._sides_of(row, column)
            )
            near = [a for a in range(top, bottom) if held[a]]
            if points > 1:
                total += self._at_border(prior, near, (row, column), move)
                continue
            if move != before:
                before, changes = move, self._changes(rows, *move)
            first = len(changes[0]) // 2 - column
            within = slice(first + left, first + right)
            total += sum(
                sum(map(mul, changes[a - row][within], prior[a][left:right])) for a in near
            )
        return total

    def _changes(self, rows: Table, down: int, across: int) -> dict[int, list[int]]:
        """Return each input's change for a replacement by some steps, by steps from the point."""
        (n, m), r, loss = self._sides, self._reach, self._loss
        high, wide = min(r, n - 1), min(r, m - 1)
        found = {}
        for d in range(-high, high + 1):
            own, weights = loss[abs(d)], rows[abs(d)]
            new = loss[abs(d - down)] if abs(d - down) < n else own  # no input
            found[d] = [
                weights[abs(s)]
                // (1 + (d != 0))
                // (1 + (s != 0))
                * (new[abs(s - across)] - own[abs(s)])
                if abs(s - across) < m
                else 0  # no input
                for s in range(-wide, wide + 1)
            ]
        return found

    @cached_property
    def _sums(self) -> Table:
        return self._noise.sums()

    def _at_border(self, prior: Table, near: list[int], z: Pair, move: Sequence[int]) -> int:
        """Return the change by a replaced point at the border, with the points reported as it."""
        (n, m), (margin, other), around = self._sides, self._margins, _around(self._loss)
        (row, column), (down, across), total = z, move, 0
        first, last = row or -margin, row if row < n - 1 else row + margin
        low, high = column or -other, column if column < m - 1 else column + other
        starts = m + other - low, m - 1 + other - high, m - 1 - column, m - 1 - column - across
        more, less, own, new = (slice(i, i + m) for i in starts)
        for a in near:
            upper, lower = self._sums[a - first + n + margin], self._sums[a - last + n - 1 + margin]
            over = map(sub, upper[more], upper[less])
            weights = map(sub, over, map(sub, lower[more], lower[less]))
            rise = map(sub, around[abs(a - row - down)][new], around[abs(a - row)][own])
            total += sum(map(mul, map(mul, weights, rise), prior[a]))
        return total

    def _plain(self, prior: Table) -> int:
        (n, m), (margin, other) = self._sides, self._margins
        rows = self._quadrant()
        within, right, total = [0] * m, [0] * m, 0  # over d <= p: for each s <= q; for s > q
        below = list(map(sum, zip(*rows[:margin], strict=True))) or [0] * (m + other)  # over d > p
        for p, loss in enumerate(self._loss):
            row = rows[p]
            below = list(map(add, below, map(sub, rows[p + margin], row)))
            within = list(map(add, within, map(mul, row, loss)))
            right = list(map(add, right, map(mul, _beyond(row, m), loss)))
            inner = accumulate(map(add, within, map(mul, below, loss)))
            corner = map(mul, _beyond(below, m), loss)
            both = list(map(add, prior[p], prior[n - 1 - p]))
            masses = map(add, both, reversed(both))
            total += sum(map(mul, masses, map(add, map(add, inner, right), corner)))
        return total // 4

    def _quadrant(self) -> Table:
        """Return four times the weights of the displacements of a quadrant."""
        weights, power = self._noise.law.weights, self._noise.law.power
        weight_of = dict(zip_longest(self._noise.counts, weights, fillvalue=weights[-1]))
        both = zip(self._sides, self._margins, strict=True)
        down, across = ([min(d, n + 2 * m - d) ** power for d in range(n + m)] for n, m in both)
        return [
            [(1 + (d > 0)) * (1 + (s > 0)) * weight_of[a + b] for s, b in enumerate(across)]
            for d, a in enumerate(down)
        ]


def _beyond(row: list[int], m: int) -> Iterator[int]:
    """Return for each q < m the sum of the following weights, up to the margin."""
    sums = list(accumulate(row, initial=0))
    return map(sub, sums[len(row) - m + 1 :], sums[1 : m + 1])


def _run_steps(noise: Torus, statement: Statement) -> int:
    (n, m), (margin, other) = noise.sides, noise.law.margins
    counts, long = _counts(noise, statement)
    runs = [len(runs) for _, runs in _bands(noise)]
    width, held = 2 * (m + other), sum(map(bool, counts))
    by_band = len(runs) * (held * width + sum(counts) * long)
    by_run = sum(runs) * (3 * sum(counts) + held * m // 4)
    return 12 * (n + margin) * width + 4 * n * m + by_band + by_run


def _loss_by_runs(noise: Torus, loss: Table, masses: Table) -> int:
    """Return the sum over all points of the torus, by rectangles with one remap."""
    (n, m), (margin, other), around = noise.sides, noise.law.margins, _around(loss)
    prior = {a: row for a, row in enumerate(masses) if any(row)}
    sums, total = noise.sums(), 0
    for (top, bottom), runs in _bands(noise):
        first, last = top or -margin, bottom - 1 if bottom < n else n - 1 + margin
        for a, row in prior.items():
            weights = list(map(sub, sums[a - first + n + margin], sums[a - last + n - 1 + margin]))
            held = list(filter(None, row))
            found = [0] * len(held)
            for left, right, y in runs:
                low, high = left or -other, right - 1 if right < m else m - 1 + other
                starts = m + other - low, m - 1 + other - high, m - 1 - y % m
                lists = zip((weights, weights, around[abs(a - y // m)]), starts, strict=True)
                more, less, lost = (compress(table[i : i + m], row) for table, i in lists)
                found = list(map(add, found, map(mul, map(sub, more, less), lost)))
            total += sum(map(mul, found, held))
    return total


def _bands(noise: Torus) -> Iterator[tuple[tuple[int, int], list[Run]]]:
    """Yield groups of rows with equal remaps, first and after last, with their runs."""
    (n, m), remap, top = noise.sides, noise.remap, 0
    for row, alike in groupby(tuple(remap[a * m : (a + 1) * m]) for a in range(n)):
        bottom, left, runs = top + len(list(alike)), 0, list[Run]()
        for y, places in groupby(row):
            right = left + len(list(places))
            runs.append((left, right, y))
            left = right
        yield (top, bottom), runs
        top = bottom
