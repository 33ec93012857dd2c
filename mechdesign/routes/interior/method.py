"""A primal-dual interior-point method for channels: one small factor for each output.

    minimise  Sum_y n_y c_y . q_y   with  A v_y <= 0,  q_y >= 0,  Sum_y n_y q_y = 1

where v_y is the column q_y with free helpers behind it, and n_y counts outputs that are alike. The
outputs meet in the row sums only. So a Newton step takes a factor of the size of a column for each
output, B_y = A' diag(w_y / s_y) A + diag(z_y / q_y), and one for the prices pi of the row sums,
Sum_y n_y B_y**-1: a grid of 10 x 10 points, a program of 620,000 rows, takes 100 factors of size
100 x 100 a step.

The method starts inside the cone and stays there. So each step leaves a private channel and, by its
weights w, a bound: it may end at any step. Near the optimum, rounding pulls the weights off
A' w + c - pi = z >= 0, which the bound needs; they are put back by the change that is least in
relative terms, w + w**2 (A u), where nothing is divided by a slack.

Source: Mehrotra 1992 (predictor and corrector); Colombo and Gondzio 2008 (weighted correctors).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.routes.interior.newton import Blocks, Direction, Part, each
from mechdesign.routes.limits import Limits

__all__ = ["Interior", "Path", "interior_point"]

Share = Callable[..., list[Any]]
"""Calls a function on every part, and on lists of something for every part."""

MOST_STEPS = 400
PATIENCE = 10
"""Steps without a better gap after which rounding has the last word."""

BETTER = 0.9
"""A gap that falls below this share of what it was is a better one."""

TO_THE_WALL = 0.995
"""The share of the way to the nearest wall that a step goes."""

CORRECTORS = 2
"""How many a step may take; none where a new factor costs no more than they do."""

LONG, LONGER, WORTH = 0.9, 0.3, 0.02
"""A step of this length needs no corrector; one aims at a step longer by so much; and is taken if
it gains so much."""

SHARES = (1.0, 0.7, 0.4, 0.1)
"""How much of a corrector is taken: what lets the step go farthest."""

REFINED_FROM = 1e-2
"""Gap below which Newton systems are solved once more for what rounding leaves of them."""

OFF = 1e-2
"""Weights are put back when what they are off by could cost the bound this share of the gap."""

PART = 1 << 18
"""About so many entries of the rows make a part: with fewer, threads cost more than they give."""

RIDGE = 1e-15
"""Added to the system of the prices, whose diagonal is 1: it may be singular to rounding."""

ROW_SUM = 1e-9
"""How far row sums of a channel that is kept may be from 1."""


PATH = 1e-2
"""The gap at which the path is kept for a program nearby: late enough to spare steps, early enough
to be amid its rows."""


@dataclass(frozen=True)
class Path:
    """A point on the way to the optimum, from which a program with a larger cone can start.

    Attributes
    ----------
    v
        ``(batch, n_vars, m)``: the columns with their helpers.
    products
        ``(batch, n_rows, m)``: weights times slacks.
    """

    v: FloatArray
    products: FloatArray


@dataclass(frozen=True)
class Interior:
    """What the method ends with; arrays have the problems of the batch first.

    Attributes
    ----------
    matrix
        ``(batch, size, m)``: the columns of the best channel.
    multipliers
        ``(batch, n_rows, m)``: weights >= 0 on the rows, those of the best bound.
    prices
        ``(batch, size)``: of the row sums, those of the best bound.
    value, bound
        ``(batch,)``, in floating point.
    steps
        How many were taken.
    path
        Where a program nearby can start; None if the gap never was small enough.
    """

    matrix: FloatArray
    multipliers: FloatArray
    prices: FloatArray
    value: FloatArray
    bound: FloatArray
    steps: int
    path: Path | None


def interior_point(
    blocks: Blocks,
    cost: FloatArray,
    limits: Limits,
    *,
    counts: FloatArray | None = None,
    orbit: IntArray | None = None,
    path: Path | None = None,
) -> Interior:
    """Solve the programs of a batch together.

    Parameters
    ----------
    blocks
        The rows.
    cost
        ``(batch, size, m)``, with a largest entry near 1.
    limits
        When to end. It is told of the problem with the largest gap.
    counts
        ``(m,)``: how many outputs each stands for; default 1.
    orbit
        ``(size,)``: the group of alike inputs that each belongs to, numbered from 0: prices are
        equal in a group, and only its sum of row sums is held. Default each its own.
    path
        Where a program of the same shape with a smaller cone has been; used if it is inside.
    """
    m = cost.shape[2]
    counts = np.ones(m) if counts is None else counts
    orbit = np.arange(cost.shape[1]) if orbit is None else orbit
    n_parts = min(m, -(-blocks.batch * blocks.n_rows * m // PART))
    with _threads(n_parts) as share:
        method = _Method(blocks, cost, limits, counts, orbit, n_parts, share)
        if path is not None:
            method.start_from(path)
        return method.run()


@contextmanager
def _threads(n_parts: int) -> Iterator[Share]:
    """Yield a map over parts, in threads of ours; those within the linear algebra stand still.

    The factors are many and small: threads within one cost more than they give. What is not finite
    is found where steps are assessed, and warned of nowhere.
    """

    def quietly(task: Callable[..., Any], *args: Any) -> Any:
        with np.errstate(all="ignore"):
            return task(*args)

    with threadpool_limits(1, "blas"), np.errstate(all="ignore"):
        if n_parts == 1:
            yield lambda task, *lists: [task(*(one[0] for one in lists))]
            return
        with ThreadPoolExecutor(min(n_parts, os.cpu_count() or 1)) as pool:
            yield lambda task, *lists: list(pool.map(partial(quietly, task), *lists))


class _Method:
    """The loop: parts do what belongs to their outputs, the loop what they share."""

    def __init__(
        self,
        blocks: Blocks,
        cost: FloatArray,
        limits: Limits,
        counts: FloatArray,
        orbit: IntArray,
        n_parts: int,
        share: Share,
    ) -> None:
        b, self.k, m = cost.shape
        self.correctors = 0 if blocks.cheap else CORRECTORS
        self.limits, self.orbit, self.share = limits, orbit, share
        self.members: FloatArray = np.zeros((int(orbit.max()) + 1, self.k))
        self.members[orbit, np.arange(self.k)] = 1
        self.sizes = self.members.sum(axis=1)
        start = 1 / float(counts.sum())
        target = np.maximum(np.abs(cost).max(axis=(1, 2)), 1e-300) * start
        self.parts = [
            Part(blocks.share(), cost[:, :, mine], counts[mine], start, target)
            for mine in np.array_split(np.arange(m), n_parts)
        ]
        self.n_products = (blocks.n_rows + self.k) * float(counts.sum())
        self._set_prices(target)
        self.path: Path | None = None
        self.value: FloatArray = np.full(b, np.inf)
        self.bound: FloatArray = np.full(b, -np.inf)

    def _set_prices(self, target: FloatArray) -> None:
        """Set the largest prices that leave every entry a product of the target or more."""
        least = [(part.z - each(target) / part.q).min(axis=2) for part in self.parts]
        self.prices: FloatArray = self._by_orbit(np.min(least, axis=0))
        for part in self.parts:
            part.z = part.z - self.prices[:, self.orbit][:, :, None]
        self.best_prices = self.prices

    def start_from(self, path: Path) -> None:
        """Start where the path of another program is, if that is inside the cone."""
        b, n, m = path.v.shape
        first = self.parts[0].blocks
        outputs = sum(part.v.shape[2] for part in self.parts)
        same = (b, n, m) == (first.batch, first.n_vars, outputs)
        if not same or path.products.shape[1] != first.n_rows:
            return
        places = np.split(np.arange(m), np.cumsum([part.v.shape[2] for part in self.parts])[:-1])
        slacks = [-p.blocks.rows(path.v[:, :, y]) for p, y in zip(self.parts, places, strict=True)]
        if min(float(s.min()) for s in slacks) <= 0:
            return
        for part, y, s in zip(self.parts, places, slacks, strict=True):
            part.start_from(path.v[:, :, y], s, path.products[:, :, y] / s)
        self._set_prices(path.products.mean(axis=(1, 2)))

    def _by_orbit(self, numbers: FloatArray) -> FloatArray:
        """Return the least in each orbit of what there is for each input."""
        least: FloatArray = np.full((len(self.sizes), len(numbers)), np.inf)
        np.minimum.at(least, self.orbit, numbers.T)
        return least.T

    def _summed(self, found: list[FloatArray]) -> FloatArray:
        return np.asarray(np.sum(found, axis=0))

    @property
    def gap(self) -> FloatArray:
        """Between the best value and the best bound so far; infinite where one is missing."""
        apart = np.abs(self.value - self.bound) / np.maximum(1e-12, np.abs(self.value))
        return np.where(np.isnan(apart), np.inf, apart)

    @property
    def ended(self) -> BoolArray:
        """Which problems are at their aim, or beyond help."""
        return np.asarray(self.lost | (self.gap <= self.limits.gap))

    def run(self) -> Interior:
        """Step until the gap is small, or until rounding, time or the user ends it."""
        steps, patience = 0, PATIENCE
        self._assess()
        since = self.gap
        while patience and steps < MOST_STEPS:
            worst = int(np.argmax(np.where(self.lost, -1.0, self.gap)))
            told = float(self.value[worst]), float(self.bound[worst])
            if self.limits.tell(steps, *told) or self.ended.all():
                break
            try:
                self._step()
                self._assess()
            except np.linalg.LinAlgError:
                break
            steps += 1
            gains = (self.gap < BETTER * since) & ~self.lost
            patience = PATIENCE if gains.any() else patience - 1
            since = np.where(gains, self.gap, since)
        matrix = np.concatenate([part.best_q for part in self.parts], axis=2)
        weights = np.concatenate([part.best_w for part in self.parts], axis=2)
        prices = self.best_prices[:, self.orbit]
        return Interior(matrix, weights, prices, self.value, self.bound, steps, self.path)

    def _assess(self) -> None:
        """Measure values and bounds, put weights back where they are off, and keep the best."""
        prices = self.prices[:, self.orbit]
        off = np.max(self.share(lambda part: part.off(prices), self.parts), axis=0)
        value = self._summed(self.share(Part.value, self.parts))
        bound = self._bound()
        if (self.k * off > OFF * np.abs(value - bound)).any():
            self.share(lambda part: part.put_back(prices), self.parts)
            bound = self._bound()
        missing = 1 - self._summed(self.share(Part.row_sums, self.parts))
        self.missing = missing @ self.members.T
        self.products = self._summed(self.share(Part.products, self.parts))
        inside = np.min(self.share(lambda part: part.s.min(axis=(1, 2)), self.parts), axis=0) > 0
        self.lost = ~(np.isfinite(value) & np.isfinite(bound) & inside)
        sums = np.abs(self.missing / self.sizes).max(axis=1) < ROW_SUM
        lower, higher = ~self.lost & sums & (value < self.value), ~self.lost & (bound > self.bound)
        self.value = np.where(lower, value, self.value)
        self.bound = np.where(higher, bound, self.bound)
        self.best_prices = np.where(higher[:, None], self.prices, self.best_prices)
        self.share(lambda part: part.keep(lower, higher), self.parts)
        if self.path is None and (self.gap <= PATH).all():
            v = np.concatenate([part.v for part in self.parts], axis=2)
            self.path = Path(v, np.concatenate([p.w * p.s for p in self.parts], axis=2))

    def _bound(self) -> FloatArray:
        """Return Sum_x min_y of the reduced costs, less what is owed for helpers, at most 1."""
        least = self._by_orbit(np.min([part.least for part in self.parts], axis=0))
        owed = np.max([part.owed for part in self.parts], axis=0)
        return np.asarray((self.prices + least) @ self.sizes - owed)

    def _step(self) -> None:
        mu = self.products / self.n_products
        stay = self.ended
        found = self.share(lambda part: part.factor(stay), self.parts)
        schur = self.members @ self._summed(found) @ self.members.T
        unit = 1 / np.sqrt(np.einsum("boo->bo", schur))
        schur = schur * unit[:, :, None] * unit[:, None, :] + RIDGE * np.eye(len(self.sizes))
        self.system = (schur, unit)
        self.refined = bool((self.gap < REFINED_FROM).any())
        moved = self._newton(self.share(Part.to_zero, self.parts), self.missing)
        a, b = self._lengths(moved[1])
        left = self.share(lambda part, d: part.products_after(d, a, b), self.parts, moved[1])
        target = np.clip((self._summed(left) / self.products) ** 3, 1e-6, 1.0) * mu
        sums = self.share(lambda part, d: part.second_order(d, target), self.parts, moved[1])
        prices, found, a, b = self._with(moved, self._newton(sums))
        for _ in range(self.correctors):
            if (np.minimum(a, b) > LONG).all():
                break
            t, u = np.minimum(1, a + LONGER), np.minimum(1, b + LONGER)
            sums = self._centred(found, t, u, target)
            more = self._with((prices, found), self._newton(sums))
            if not (more[2] + more[3] > a + b + WORTH).any():
                break
            prices, found, a, b = more
        a, b = (np.where(stay, 0.0, TO_THE_WALL * step) for step in (a, b))
        self.share(lambda part, d: part.move(d, a, b), self.parts, found)
        self.prices = self.prices + b[:, None] * prices

    def _centred(
        self, found: list[Direction], t: FloatArray, u: FloatArray, target: FloatArray
    ) -> list[FloatArray]:
        return self.share(lambda part, d: part.centre(d, t, u, target), self.parts, found)

    def _newton(
        self, sums: list[FloatArray], missing: FloatArray | None = None
    ) -> tuple[FloatArray, list[Direction]]:
        """Solve the system that the parts have stated; row sums are to grow by ``missing``."""
        wanted = np.zeros_like(self.missing) if missing is None else missing
        prices = self._prices(wanted - self._summed(sums) @ self.members.T)
        change = prices
        for last in (False, True) if self.refined else (True,):
            spread = change[:, self.orbit]
            got = self._summed(self.share(lambda part, c=spread: part.advance(c), self.parts))
            if not last:
                spread = prices[:, self.orbit]
                rest = self.share(lambda part, c=spread: part.left_over(c), self.parts)
                change = self._prices(wanted - (got + self._summed(rest)) @ self.members.T)
                prices = prices + change
        return prices, self.share(Part.direction, self.parts)

    def _prices(self, right: FloatArray) -> FloatArray:
        matrix, unit = self.system
        return np.asarray(unit * np.linalg.solve(matrix, (unit * right)[:, :, None])[:, :, 0])

    def _lengths(self, found: list[Direction]) -> tuple[FloatArray, FloatArray]:
        """Return how far v and s, and w and z, can go until one of them is 0, at most 1."""

        def lowest(part: Part, d: Direction) -> list[FloatArray]:
            return [ratio.min(axis=(1, 2)) for ratio in part.relative(d)]

        return _walls(np.min(self.share(lowest, self.parts, found), axis=0))

    def _with(
        self,
        moved: tuple[FloatArray, list[Direction]],
        corrector: tuple[FloatArray, list[Direction]],
    ) -> tuple[FloatArray, list[Direction], FloatArray, FloatArray]:
        """Add the share of a corrector that lets each problem go farthest."""

        def lowest(part: Part, d: Direction, e: Direction) -> list[list[FloatArray]]:
            ratios = list(zip(part.relative(d), part.relative(e), strict=True))
            return [[(p + t * q).min(axis=(1, 2)) for p, q in ratios] for t in SHARES]

        lows = np.min(self.share(lowest, self.parts, moved[1], corrector[1]), axis=0)
        lengths = [_walls(low) for low in lows]
        best = np.argmax([a * b for a, b in lengths], axis=0)
        share = np.array(SHARES)[best]
        found = self.share(lambda d, e: d.plus(e, share), moved[1], corrector[1])
        n = np.arange(len(best))
        a, b = (np.array([pair[i] for pair in lengths])[best, n] for i in (0, 1))
        return moved[0] + share[:, None] * corrector[0], found, a, b


def _walls(lowest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return step lengths from the least relative changes of s, q, w and z."""
    a, b = np.minimum(lowest[0], lowest[1]), np.minimum(lowest[2], lowest[3])
    return 1 / np.maximum(1, -a), 1 / np.maximum(1, -b)
