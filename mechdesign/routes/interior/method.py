"""A primal-dual interior-point method for channels, with one small factor for each output.

    minimize  Sum_y n_y c_y . q_y   with  A v_y <= 0,  q_y >= 0,  Sum_y n_y q_y = 1

where v_y is the column q_y with free auxiliary variables behind it, and n_y counts outputs that are
alike. The dual has multipliers w_y >= 0 of the rows and potentials pi of the row sums:

    maximize  Sum_x pi_x   with  A' w_y + (c_y - pi on the column) = (z_y on the column),  z_y >= 0.

The outputs meet in the row sums only, so that the KKT matrix has a bordered block-diagonal form. A
Newton step factors B_y = A' diag(w_y / s_y) A + diag(z_y / q_y) for each output, and the Schur
complement Sum_y n_y B_y**-1 for pi: a grid of 10 x 10 points, a program of 620,000 rows, takes 100
factors of size 100 x 100 a step.

The method starts strictly inside the cone and stays there. So each step leaves a private channel
and, by weak duality, a bound, for any w >= 0: as Sum_y n_y q_xy = 1,

    Sum_y n_y c_y . q_y  >=  Sum_y n_y (c_y + A' w_y) . q_y  >=  Sum_x min_y (c_y + A' w_y)_x,

so that it may end at any step. Near the optimum, rounding violates the dual equations, and the
bound suffers: dual feasibility is restored, see :meth:`Group.restore_dual_feasibility`.

Source: Mehrotra 1992 (predictor and corrector); Gondzio 1996 and Colombo and Gondzio 2008 (weighted
centrality correctors).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.outside import called, checked
from mechdesign.routes.base import Path
from mechdesign.routes.interior.kernel import (
    FRACTION_TO_BOUNDARY,
    Stagnation,
    centering,
    longest_step,
)
from mechdesign.routes.interior.newton import KKTBlocks, OutputGroup
from mechdesign.routes.limits import Limits

if TYPE_CHECKING:
    from mechdesign.routes.interior.pair_output import PairBlocks, PairOutput  # numba on demand

__all__ = ["Blocks", "InteriorResult", "interior_point"]

Blocks: TypeAlias = "KKTBlocks | PairBlocks"
Group: TypeAlias = "OutputGroup | PairOutput"

GroupMap = Callable[[Callable[[Any], Any]], list[Any]]
"""Calls a function on every group."""

MOST_STEPS = 400
PATIENCE, BETTER = 10, 0.9
"""The method ends after so many steps in a row without a gap below this share of the best one."""

CORRECTORS = 2
"""How many centrality correctors a step may take; none where a factor costs no more than they."""

LONG, LONGER, WORTH = 0.9, 0.3, 0.02
"""A step of this length needs no corrector; one aims at a step longer by so much; and is taken if
it gains so much."""

SHARES = (1.0, 0.7, 0.4, 0.1)
"""How much of a corrector is taken: what lets the step go farthest."""

REFINED_BELOW = 1e-2
"""The gap below which Newton systems are solved once more for what rounding leaves of them."""

DUAL_ERROR = 1e-2
"""Dual feasibility is restored when its error could cost the bound this share of the gap."""

RIDGE = 1e-15
"""Added to the scaled Schur complement, whose diagonal is 1: it may be singular to rounding."""

ROW_SUM = 1e-9
"""How far row sums of a channel that is kept may be from 1."""

PATH = 1e-2
"""The gap at which the iterate is kept for a warm start: late enough to spare steps, early enough
to be far from the boundary of a cone nearby."""


@dataclass(frozen=True)
class InteriorResult:
    """What the method ends with; arrays have the problems of the batch first.

    Attributes
    ----------
    matrix
        ``(batch, size, m)``: the columns of the best channel.
    multipliers
        ``(batch, n_rows, m)``: of the rows, >= 0, those of the best bound.
    potentials
        ``(batch, size)``: of the row sums, those of the best bound, raised until the least reduced
        cost of each orbit is 0.
    value, bound
        ``(batch,)``, in floating point.
    steps
        How many were taken.
    path
        Where a program nearby can start; None if the gap never was small enough.
    """

    matrix: FloatArray
    multipliers: FloatArray
    potentials: FloatArray
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
) -> InteriorResult:
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
        ``(size,)``: the orbit of alike inputs that each belongs to, numbered from 0: potentials are
        equal in an orbit, and only its sum of row sums is held. Default each its own.
    path
        Where a program of the same shape with a smaller cone has been; used if it is inside.
    """
    m = cost.shape[2]
    counts = np.ones(m) if counts is None else counts
    orbit = np.arange(cost.shape[1]) if orbit is None else orbit
    start = 1 / float(counts.sum())
    target = np.maximum(np.abs(cost).max(axis=(1, 2)), 1e-300) * start
    groups = blocks.groups(cost, counts, start, target)
    with _threads(groups) as on_groups:
        method = _PrimalDualMethod(blocks, groups, limits, orbit, on_groups)
        method.set_potentials(target)
        if path is not None:
            method.start_from(path)
        return method.run()


@contextmanager
def _threads(groups: Sequence[Group]) -> Iterator[GroupMap]:
    """Yield a map over groups, in threads of ours; those within the linear algebra stand still.

    The factors are many and small: threads within one cost more than they give. What is not finite
    is found where steps are assessed, and warned of nowhere.
    """
    workers = min(len(groups), os.cpu_count() or 1)

    with threadpool_limits(1, "blas"), np.errstate(all="ignore"):
        if workers == 1:
            yield lambda task: [task(group) for group in groups]
            return

        def work(task: Callable[[Any], Any], left: Iterator[int], found: list[Any]) -> None:
            with np.errstate(all="ignore"):
                for n in left:
                    found[n] = task(groups[n])

        with ThreadPoolExecutor(workers) as pool:

            def on_groups(task: Callable[[Any], Any]) -> list[Any]:
                left, found = iter(range(len(groups))), [None] * len(groups)
                jobs = [pool.submit(work, task, left, found) for _ in range(workers)]
                for job in jobs:
                    job.result()
                return found

            yield on_groups


class _PrimalDualMethod:
    """The loop: groups do what belongs to their outputs, the loop what these share."""

    def __init__(
        self,
        blocks: Blocks,
        groups: Sequence[Group],
        limits: Limits,
        orbit: IntArray,
        on_groups: GroupMap,
    ) -> None:
        self.k = blocks.size
        self.correctors = 0 if blocks.cheap else CORRECTORS
        self.blocks, self.groups, self.limits, self.orbit = blocks, groups, limits, orbit
        self._on_groups = on_groups
        self.members: FloatArray = np.zeros((int(orbit.max()) + 1, self.k))
        self.members[orbit, np.arange(self.k)] = 1
        self.sizes = self.members.sum(axis=1)
        self.path: Path | None = None
        self.lengths: tuple[FloatArray, FloatArray] = (np.zeros(0), np.zeros(0))
        self.value: FloatArray = np.full(blocks.batch, np.inf)
        self.bound: FloatArray = np.full(blocks.batch, -np.inf)

    def set_potentials(self, target: FloatArray) -> None:
        """Set the largest potentials at which every product q z is at least the target."""
        highest = np.min(self._map("highest_potentials", target), axis=0)
        self.potentials: FloatArray = self._least_by_orbit(highest)
        potentials = self._spread(self.potentials)
        self._map("set_reduced_costs", potentials)
        self.best_potentials = self.potentials

    def start_from(self, path: Path) -> None:
        """Start where the path of another program is, if that is inside the cone.

        The multipliers are chosen such that the products w s are those of the path: a point that
        is central for the smaller cone is then nearly so for the larger one.
        """
        b, n, m = path.v.shape
        first, sizes = self.blocks, [group.n_outputs for group in self.groups]
        same = (b, n, m) == (first.batch, first.n_vars, sum(sizes))
        if not same or path.products.shape[1] != first.n_rows:
            return
        places = np.split(np.arange(m), np.cumsum(sizes)[:-1])
        starts = list(zip(self.groups, places, strict=True))
        if min(group.least_slack_at(path.v[:, :, y]) for group, y in starts) <= 0:
            return
        for group, y in starts:
            group.start_at(path.v[:, :, y], path.products[:, :, y])
        self.set_potentials(path.products.mean(axis=(1, 2)))

    def _least_by_orbit(self, numbers: FloatArray) -> FloatArray:
        """Return the least in each orbit of what there is for each input."""
        least: FloatArray = np.full((len(self.sizes), len(numbers)), np.inf)
        np.minimum.at(least, self.orbit, numbers.T)
        return least.T

    def _spread(self, by_orbit: FloatArray) -> FloatArray:
        """Return for each input what there is for its orbit."""
        return by_orbit[:, self.orbit]

    def _map(self, method: str, *args: Any) -> list[Any]:
        """Call a method of every group."""
        return self._on_groups(methodcaller(method, *args))

    def _sum(self, method: str, *args: Any) -> FloatArray:
        """Call a method of every group; return the sum of what it returns."""
        return reduce(np.add, self._map(method, *args))

    @property
    def gap(self) -> FloatArray:
        """Between the best value and the best bound so far; infinite where one is missing."""
        apart = np.abs(self.value - self.bound) / np.maximum(1e-12, np.abs(self.value))
        return np.where(np.isnan(apart), np.inf, apart)

    @property
    def ended(self) -> BoolArray:
        """Which problems are at their aim, or beyond help."""
        return np.asarray(self.lost | (self.gap <= self.limits.gap))

    def run(self) -> InteriorResult:
        """Step until the gap is small, or until rounding, time or the user ends it."""
        self._assess()
        steps, stagnation, stagnant = 0, Stagnation(self.gap, PATIENCE, BETTER), False
        while not stagnant and steps < MOST_STEPS:
            worst = int(np.argmax(np.where(self.lost, -1.0, self.gap)))
            told = float(self.value[worst]), float(self.bound[worst])
            if self.limits.tell(steps, *told) or self.ended.all():
                break
            try:
                self._step()
                self._assess()
            except SolverError:
                break
            steps += 1
            stagnant = stagnation.ends(self.gap, ~self.lost)
        matrix = np.concatenate([group.best_columns for group in self.groups], axis=2)
        multipliers = np.concatenate([group.best_multipliers for group in self.groups], axis=2)
        potentials = self._spread(self.best_potentials)
        return InteriorResult(
            matrix, multipliers, potentials, self.value, self.bound, steps, self.path
        )

    def _assess(self) -> None:
        """Measure values and bounds, restore dual feasibility where it is lost, keep the best.

        The best channel and the best multipliers may be of different steps: each is feasible.
        """
        potentials = self._spread(self.potentials)
        errors = self._map("measure_dual", potentials)
        value = self._sum("value")
        bound = self._bound()
        # an error e in the reduced costs lowers the bound by at most e on each of the k inputs
        allowed = DUAL_ERROR * np.abs(value - bound) / self.k
        if (np.max(errors, axis=0) > allowed).any():
            self._map("restore_dual_feasibility", potentials, allowed)
            bound = self._bound()
        self.missing = (1 - self._sum("row_sums")) @ self.members.T
        products = self._map("products")
        self.products = reduce(np.add, [own for own, _ in products])
        slack = np.min([own for _, own in products], axis=0)
        self.lost = ~(np.isfinite(value) & np.isfinite(bound) & (slack > 0))
        sums = np.abs(self.missing / self.sizes).max(axis=1) < ROW_SUM
        lower, higher = ~self.lost & sums & (value < self.value), ~self.lost & (bound > self.bound)
        self.value = np.where(lower, value, self.value)
        self.bound = np.where(higher, bound, self.bound)
        raised = self.potentials + self._least_reduced()
        self.best_potentials = np.where(higher[:, None], raised, self.best_potentials)
        self._map("keep", lower, higher)
        if self.path is None and (self.gap <= PATH).all():
            points = zip(*(group.point() for group in self.groups), strict=True)
            self.path = Path(*(np.concatenate(arrays, axis=2) for arrays in points))

    def _bound(self) -> FloatArray:
        """Return Sum_x min_y (c_y + A' w_y)_x, less the error on auxiliary variables.

        In terms of pi it is Sum_x pi_x + min_y (reduced costs)_x, with less cancellation.
        """
        error = np.max([group.auxiliary_error for group in self.groups], axis=0)
        return np.asarray((self.potentials + self._least_reduced()) @ self.sizes - error)

    def _least_reduced(self) -> FloatArray:
        """Return the least reduced cost in each orbit of inputs."""
        least = [group.least_reduced for group in self.groups]
        return self._least_by_orbit(np.min(least, axis=0))

    def _step(self) -> None:
        """Take a step: predictor, corrector, and centrality correctors while they lengthen it."""
        mu = self.products / sum(group.n_products for group in self.groups)
        stay = self.ended
        found = self._sum("factor", stay)
        found = np.tril(found) + np.swapaxes(np.tril(found, -1), 1, 2)
        schur = self.members @ found @ self.members.T
        # entries range over many orders: scaled to a diagonal of 1, rounding hurts all rows alike
        unit = 1 / np.sqrt(np.einsum("boo->bo", schur))
        schur = schur * unit[:, :, None] * unit[:, None, :] + RIDGE * np.eye(len(self.sizes))
        self.system = (schur, unit)
        self.refined = bool((self.gap < REFINED_BELOW).any())
        self.change: FloatArray = np.zeros_like(self.potentials)
        sums = self._sum("state_predictor")
        a, b = self._add(self._newton(sums, self.missing), (1.0,))
        left = self._sum("products_after", a, b)
        # what the predictor would leave says how hard the boundary is to avoid
        target = centering(left / self.products) * mu
        sums = self._sum("state_corrector", target)
        a, b = self._add(self._newton(sums))
        for _ in range(self.correctors):
            if (np.minimum(a, b) > LONG).all():
                break
            t, u = np.minimum(1, a + LONGER), np.minimum(1, b + LONGER)
            sums = self._sum("state_centrality_corrector", t, u, target)
            before = self.lengths
            a, b = self._add(self._newton(sums), least=a + b + WORTH)
            if self.lengths is before:
                break
        a = np.minimum(a, longest_step(np.min(self._map("blocked"), axis=0)))
        a, b = (np.where(stay, 0.0, FRACTION_TO_BOUNDARY * step) for step in (a, b))
        self._map("move", a, b, target)
        self.potentials = self.potentials + b[:, None] * self.change

    def _newton(self, sums: FloatArray, missing: FloatArray | None = None) -> FloatArray:
        """Solve the system that the groups have stated; row sums are to grow by ``missing``.

        With dv_y = B_y**-1 (right_y + d pi on the column), the row sums ask for
        (Sum_y n_y B_y**-1) d pi = missing - Sum_y n_y B_y**-1 right_y, and ``sums`` is the latter.
        """
        wanted = np.zeros_like(self.missing) if missing is None else missing
        potentials = self._solve_schur(wanted - sums @ self.members.T)
        change = potentials
        for last in (False, True) if self.refined else (True,):
            more = self._spread(change)
            got = self._sum("advance", more)
            if not last:
                spread = self._spread(potentials)
                rest = self._sum("measure_rest", spread)
                change = self._solve_schur(wanted - (got + rest) @ self.members.T)
                potentials = potentials + change
        return potentials

    def _solve_schur(self, right: FloatArray) -> FloatArray:
        matrix, unit = self.system
        wanted = (unit * right)[:, :, None]
        found = called("LAPACK", np.linalg.solve, matrix, wanted)
        solved = checked("LAPACK", found, wanted.shape, finite=False)
        return np.asarray(unit * solved[:, :, 0])

    def _add(
        self,
        potentials: FloatArray,
        shares: Sequence[float] = SHARES,
        least: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Add the share of what was solved for that lets each problem go farthest to the step.

        Returns how far v and s, and w and z, can then go until one of them is 0, at most 1. With
        ``least`` nothing is added where no sum of the two lengths is above that.
        """
        given = np.array(shares)
        lows = np.min(self._map("lengths", given), axis=0)
        lengths = longest_step(lows)  # (n_shares, 2, batch)
        best = np.argmax(lengths[:, 0] * lengths[:, 1], axis=0)
        a, b = np.take_along_axis(lengths, best[None, None, :], axis=0)[0]
        if least is not None and not (a + b > least).any():
            return self.lengths
        share = given[best]
        self._map("take", share)
        self.change = self.change + share[:, None] * potentials
        self.lengths = a, b
        return self.lengths
