"""The expected loss of noise on a torus, for a loss that depends on the steps between points only.

Outputs are the inputs, a grid. The loss is

    Sum_x P_x Sum_z G(|z - x|) / 2**62 loss(x, remap(z))

over the inputs x and the points z of the torus, where points beyond the grid are reported as the
nearest point of it. It is summed over rectangles of points z with one remap, whose weight together
is four sums of weights from a corner: in integers, exactly, but for roots, which are rounded up.

The bound on the loss of every private channel is that of a certificate; see `relaxations.cells`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import compress, groupby
from operator import add, mul, sub

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import need, over_one_denominator
from mechdesign.kernel.laws.base import WHOLE, denominator_bits
from mechdesign.kernel.laws.torus import Torus
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.statement import Statement

__all__ = ["loss_of_noise", "loss_steps"]

Run = tuple[int, int, int]
"""First column, the column after the last, and the input that is reported."""


def loss_steps(noise: Torus, statement: Statement) -> int:
    """Return how much work the loss is at most, from sizes."""
    (n, m), (margin, other) = noise.sides, noise.law.margins
    masses = getattr(statement.objective, "weights", None) or ()
    counts = [sum(map(bool, masses[a * m : (a + 1) * m])) for a in range(n)]
    runs = [len(runs) for _, runs in _bands(noise)]
    width, long = 2 * (m + other), 1 + denominator_bits(masses) // 512
    held = sum(map(bool, counts))
    by_band = len(runs) * (held * width + sum(counts) * long)
    by_run = sum(runs) * (3 * sum(counts) + held * m // 4)
    return 12 * (n + margin) * width + 4 * n * m + by_band + by_run


def loss_of_noise(noise: Torus, statement: Statement) -> Fraction:
    """Return the expected loss, rounded up where losses are irrational.

    Raises
    ------
    CertificateError
        If it is no loss by steps between the points of the grid.
    """
    aim = statement.objective
    if not isinstance(aim, Loss) or aim.weights is None or aim.free:
        raise CertificateError("noise is designed for a mean loss")
    need(aim.costs.grid() == noise.sides, "the loss is not by steps between points of the grid")
    (n, m), (margin, other) = noise.sides, noise.law.margins
    masses, whole = over_one_denominator(aim.weights)
    corner = aim.costs.upper(0)
    rows = [corner[a * m : (a + 1) * m] for a in range(n)]
    around = [[*row[:0:-1], *row] for row in rows]  # by steps from 1 - m to m - 1
    prior = {a: row for a in range(n) if any(row := masses[a * m : (a + 1) * m])}
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
                more, less, loss = (compress(each[i : i + m], row) for each, i in lists)
                found = list(map(add, found, map(mul, map(sub, more, less), loss)))
            total += sum(map(mul, found, held))
    return Fraction(total, whole * WHOLE * aim.costs.denominator)


def _bands(noise: Torus) -> Iterator[tuple[tuple[int, int], list[Run]]]:
    """Yield rows that are replaced alike, first and after last, with their runs."""
    (n, m), remap, top = noise.sides, noise.remap, 0
    for row, alike in groupby(tuple(remap[a * m : (a + 1) * m]) for a in range(n)):
        bottom, left, runs = top + len(list(alike)), 0, list[Run]()
        for y, places in groupby(row):
            right = left + len(list(places))
            runs.append((left, right, y))
            left = right
        yield (top, bottom), runs
        top = bottom
