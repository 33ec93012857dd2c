"""A primal-dual interior-point method for channels: Newton's method, block by block.

    minimize  Sum_y n_y c_y . q_y   with  A v_y <= 0,  Sum_y n_y q_y = 1

where v_y is the column q_y followed by free auxiliary variables, n_y counts equivalent outputs, and
rows of A include q_y >= 0. The dual has multipliers w_y >= 0 of the rows and potentials pi of the
row sums:

    maximize  Sum_x pi_x   with  A' w_y + (c_y - pi on the column) = 0.

On the central path the products w s are all the same, with slacks s_y = -A v_y. The outputs meet in
the row sums only, so that the KKT matrix has a bordered block-diagonal form: eliminating w and s
from the linearized conditions leaves B_y dv_y = right, B_y = A' diag(w_y / s_y) A, and the Schur
complement Sum_y n_y B_y**-1 for pi. A grid of 10 x 10 points, a program of 990,000 rows, takes 100
inverses of size 100 x 100 a step. With many inputs and few outputs, blocks that know a smaller
system solve that instead.

The method starts strictly inside the cone and stays there. So each step gives a private channel
and, by weak duality, a bound, for any w >= 0: with w for the rows but q >= 0,

    Sum_y n_y c_y . q_y  >=  Sum_y n_y (c_y + A' w_y) . q_y  >=  Sum_x min_y (c_y + A' w_y)_x,

so it may stop at any step. Near the optimum, rounding violates the dual equations, and the bound
suffers: dual feasibility is restored, see :meth:`_Search._restore_dual_feasibility`.

Source: Mehrotra 1992 (predictor and corrector); Colombo and Gondzio 2008 (weighted correctors).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.search.limits import Limits
from mechdesign.solver_guard import called, checked

INSIDE = 1e-9
"""The least initial slack of all rows: with less the cone counts as flat."""

SCALINGS = 3
"""Rounds that scale the largest entry of each row and column of a matrix to about 1."""


class Blocks(ABC):
    """The rows of a column for some outputs, and their KKT blocks.

    The first axis of arrays is the problem of a batch. Arrays over variables are ``(batch, n_vars,
    m)``, arrays over rows have the shape of :meth:`rows`, which is that of :attr:`weight` except
    for axes of length 1.

    Attributes
    ----------
    batch
        The number of problems.
    counts
        ``(m,)``: the number of outputs that each represents.
    size, n_vars
        The number of inputs k; and of inputs and free auxiliary variables.
    n_rows
        The number of rows of a column, without those of q >= 0.
    weight
        The multiplicity of each row.
    """

    batch: int
    counts: FloatArray
    size: int
    n_vars: int
    n_rows: int
    weight: FloatArray

    @abstractmethod
    def start(self) -> FloatArray:
        """Return ``(batch, n_vars)``: a column of ones, and auxiliary variables with A v < 0."""

    @abstractmethod
    def rows(self, v: FloatArray) -> FloatArray:
        """Return A v."""

    @abstractmethod
    def columns(self, w: FloatArray) -> FloatArray:
        """Return A' w, shape ``(batch, n_vars, m)``, as a new array."""

    @abstractmethod
    def factor(self, D: FloatArray, needed: BoolArray | None = None) -> None:
        """Prepare B = A' diag(D) A of every output, or at least of the needed ones, ``(m,)``."""

    @abstractmethod
    def solve(self, g: FloatArray) -> FloatArray:
        """Return B**-1 g, shape ``(batch, n_vars, m)``."""

    @abstractmethod
    def schur(self) -> FloatArray:
        """Return Sum_y counts[y] B_y**-1 on the column, shape ``(batch, k, k)``."""

    def factor_bordered(self) -> bool:
        """Prepare :meth:`solve_bordered` after :meth:`factor`; return whether it is cheaper."""
        return False

    def solve_bordered(self, g: FloatArray, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return v, pi with B v = g + pi on the column and Sum_y counts[y] q_y = sums."""
        raise NotImplementedError

    def least(self, x: FloatArray) -> FloatArray:
        """Return the least number of each output, ``(batch, m)``, of numbers for each row."""
        return np.asarray(x.min(axis=1))

    def spread(self, numbers: FloatArray) -> FloatArray:
        """Broadcast one number for each output, ``(batch, m)``, to its rows."""
        return numbers[:, None]

    def reduced_costs(self, w: FloatArray) -> FloatArray:
        """Return the multipliers of q >= 0, ``(batch, k, m)``, as a view."""
        n = self.size * len(self.counts) // w.shape[2]
        return w[:, -n:].reshape(self.batch, self.size, -1)

    def multipliers(self, w: FloatArray) -> FloatArray:
        """Return the multipliers of all rows but q >= 0, ``(batch, n_rows, m)``."""
        return w[:, : self.n_rows]

    def blocked(self, _v: FloatArray, _dv: FloatArray) -> FloatArray:
        """Return the least relative change of the slacks of inactive rows, ``(batch,)``."""
        return np.zeros(self.batch)

    def join(self) -> IntArray | None:
        """Activate the rows that :meth:`blocked` found; return which rows were active before."""
        return None


def inverses(K: FloatArray) -> FloatArray:
    """Return the inverses of symmetric matrices ``(..., n, n)``, scaled to entries of about 1."""
    scale = scaling(K)
    K = K * scale[..., :, None] * scale[..., None, :]
    found = checked("LAPACK", called("LAPACK", np.linalg.inv, K), K.shape, finite=False)
    return np.asarray(found * scale[..., :, None] * scale[..., None, :])


def scaling(K: FloatArray) -> FloatArray:
    """Return the scale of each row and column of symmetric matrices that makes entries about 1."""
    scale = np.ones(K.shape[:-1])
    for _ in range(SCALINGS):
        largest = np.abs(K * scale[..., None, :]).max(axis=-1, initial=0.0) * scale
        scale /= np.sqrt(largest)
    return scale


def middle(base: FloatArray, b: FloatArray) -> float:
    """Return a number h with base + b h < 0, between its bounds; the best possible if none exists.

    Parameters
    ----------
    base, b
        ``(n,)`` each, of the rows that contain a free auxiliary variable h.

    Examples
    --------
    >>> middle(np.array([-1.0, 0.5]), np.array([1.0, -1.0]))
    0.75
    """
    low = float((-base[b < 0] / b[b < 0]).max(initial=-np.inf))
    high = float((-base[b > 0] / b[b > 0]).min(initial=np.inf))
    if np.isinf(low):
        low = min(high - 1, 0.0)
    return (low + high) / 2 if np.isfinite(high) else low + 0.5


MOST_STEPS = 400
PATIENCE, BETTER = 10, 0.9
"""The method ends after this many steps in a row without a gap below this share of the best."""

FRACTION_TO_BOUNDARY = 0.995
"""The share of the way to the boundary of a step. A whole one would make some product w s exactly
0: then the Newton system divides by 0, and the iterate can never return to the center."""

LEAST_CENTERING = 1e-6
"""The least centering: the remainder of a very good predictor is rounding."""

SHARES = (1.0, 0.7, 0.4, 0.1)
"""The tried weights of a corrector; the one with the longest step is used."""

REFINED_BELOW = 1e-2
"""The gap below which Newton systems are refined once."""

DUAL_ERROR = 1e-2
"""Dual feasibility is restored when its error could cost the bound this share of the gap."""

MOST_CHANGE = 0.5
"""The largest share of a multiplier that restoring dual feasibility may remove."""

RESTORING_ROUNDS = 3
"""The number of solves of the restoring step: each refines the rounding error of the last."""

RIDGE = 1e-15
"""Added to the scaled Schur complement, whose diagonal is 1: rounding may make it singular."""

ROW_SUM = 1e-9
"""Largest deviation from 1 of the row sums of a stored channel."""


@dataclass(frozen=True)
class InteriorResult:
    """The result of the method; arrays have the problems of the batch first.

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
    """

    matrix: FloatArray
    multipliers: FloatArray
    potentials: FloatArray
    value: FloatArray
    bound: FloatArray
    steps: int


def interior_point(
    blocks: Blocks,
    cost: FloatArray,
    limits: Limits,
    *,
    orbit: IntArray | None = None,
) -> InteriorResult:
    """Solve the programs of a batch together.

    Parameters
    ----------
    blocks, cost
        The rows, and ``(batch, size, m)`` costs with a largest entry near 1.
    limits
        When to stop; progress is that of the problem with the largest gap.
    orbit
        ``(size,)``: the orbit of alike inputs that each belongs to, numbered from 0: potentials are
        equal in an orbit, and only its sum of row sums is held. Default each its own.
    """
    orbit = np.arange(blocks.size) if orbit is None else orbit
    # the factors are many and small: threads within one cost more than they give; what is not
    # finite is found where steps are assessed, and warned of nowhere
    with threadpool_limits(1, "blas"), np.errstate(all="ignore"):
        return _Search(blocks, cost, limits, orbit).run()


@dataclass(frozen=True)
class _Direction:
    """A change of columns v, slacks s and multipliers w, relative to these, and of potentials."""

    v: FloatArray
    slack: FloatArray
    dual: FloatArray
    potentials: FloatArray

    def plus(self, other: _Direction, share: FloatArray) -> _Direction:
        """Return this change plus a share of another, one for each problem, in its memory."""
        found = (other.v, other.slack, other.dual)
        for array, mine in zip(found, (self.v, self.slack, self.dual), strict=True):
            np.multiply(array, _per_problem(share), out=array)
            np.add(array, mine, out=array)
        return _Direction(*found, self.potentials + share[:, None] * other.potentials)


class _Search:
    """The iterate, Newton steps on it, and the best channel and bound so far."""

    def __init__(self, blocks: Blocks, cost: FloatArray, limits: Limits, orbit: IntArray) -> None:
        self.blocks, self.cost, self.limits, self.orbit = blocks, cost, limits, orbit
        self.k, batch = blocks.size, blocks.batch
        self.members: FloatArray = np.zeros((int(orbit.max()) + 1, self.k))
        self.members[orbit, np.arange(self.k)] = 1
        self.sizes = self.members.sum(axis=1)
        self.value: FloatArray = np.full(batch, np.inf)
        self.bound: FloatArray = np.full(batch, -np.inf)
        start = 1 / float(blocks.counts.sum())
        target = np.maximum(np.abs(cost).max(axis=(1, 2)), 1e-300) * start
        self.v: FloatArray = np.repeat(start * blocks.start()[:, :, None], cost.shape[2], axis=2)
        self.s = -blocks.rows(self.v)
        self.w: FloatArray = _per_problem(target) / self.s
        # the largest potentials for which all products of q and its reduced cost reach the target
        entries = blocks.reduced_costs(self.w)
        entries[:] = 0
        reduced = cost + blocks.columns(self.w)[:, : self.k]
        highest = (reduced - _per_problem(target) / self.v[:, : self.k]).min(axis=2)
        self.potentials = self._least_by_orbit(highest)
        entries[:] = reduced - self._spread(self.potentials)[:, :, None]
        self.best_columns, self.best_potentials = self.v[:, : self.k], self.potentials
        self.best_multipliers = blocks.multipliers(self.w)

    def _least_by_orbit(self, numbers: FloatArray) -> FloatArray:
        """Return the least number in each orbit, of numbers for each input."""
        least: FloatArray = np.full((len(self.sizes), len(numbers)), np.inf)
        np.minimum.at(least, self.orbit, numbers.T)
        return least.T

    def _spread(self, by_orbit: FloatArray) -> FloatArray:
        """Return for each input the number of its orbit."""
        return by_orbit[:, self.orbit]

    def _sums(self, v: FloatArray) -> FloatArray:
        """Return the sum of the entries of each orbit of inputs."""
        return np.asarray(v[:, : self.k] @ self.blocks.counts @ self.members.T)

    @property
    def gap(self) -> FloatArray:
        """The gap between the best value and the best bound so far; infinite if one is missing."""
        apart = np.abs(self.value - self.bound) / np.maximum(1e-12, np.abs(self.value))
        return np.where(np.isnan(apart), np.inf, apart)

    @property
    def ended(self) -> BoolArray:
        """Which problems have reached their goal, or cannot be improved."""
        return np.asarray(self.lost | (self.gap <= self.limits.gap))

    def run(self) -> InteriorResult:
        """Iterate until the gap is small, or until rounding, time or the user ends it."""
        self._assess()
        steps, idle, best = 0, 0, self.gap
        while idle < PATIENCE and steps < MOST_STEPS:
            worst = int(np.argmax(np.where(self.lost, -1.0, self.gap)))
            reached = float(self.value[worst]), float(self.bound[worst])
            if self.limits.report(steps, *reached) or self.ended.all():
                break
            try:
                self._step()
                self._assess()
            except SolverError:
                break
            steps += 1
            smaller = (self.gap < BETTER * best) & ~self.lost
            idle = 0 if smaller.any() else idle + 1
            best = np.where(smaller, self.gap, best)
        return InteriorResult(
            self.best_columns,
            self.best_multipliers,
            self._spread(self.best_potentials),
            self.value,
            self.bound,
            steps,
        )

    def _assess(self) -> None:
        """Compute values and bounds, restore dual feasibility if it is lost, and keep the best.

        The best channel and the best multipliers may be of different steps: each is feasible.
        """
        q = self.v[:, : self.k]
        value = np.einsum("bkm,bkm,m->b", self.cost, q, self.blocks.counts)
        bound = self._measure_dual()
        # an error e in the reduced costs lowers the bound by at most e on each of the k inputs
        allowed = DUAL_ERROR * np.abs(value - bound) / self.k
        if (np.abs(self.residual).max(axis=(1, 2)) > allowed).any():
            bound = self._restore_dual_feasibility(allowed)
        self.missing = self.sizes - self._sums(self.v)
        self.products = self.w * self.s
        self.lost = ~(np.isfinite(value) & np.isfinite(bound) & (self.s.min(axis=(1, 2)) > 0))
        sums = np.abs(self.missing / self.sizes).max(axis=1) < ROW_SUM
        lower, higher = ~self.lost & sums & (value < self.value), ~self.lost & (bound > self.bound)
        self.value = np.where(lower, value, self.value)
        self.bound = np.where(higher, bound, self.bound)
        self.best_columns = _where(lower, q, self.best_columns)
        if higher.any():
            now = self.blocks.multipliers(self.w)
            self.best_multipliers = _where(higher, now, self.best_multipliers)
            raised = self.potentials + self.least_reduced
            self.best_potentials = np.where(higher[:, None], raised, self.best_potentials)

    def _measure_dual(self) -> FloatArray:
        """Set the dual residual and the least reduced costs; return the bound.

        That is Sum_x min_y (c_y + A' w_y)_x, which in terms of pi is with less cancellation

            Sum_x pi_x + min_y (reduced costs)_x,

        minus the possible cost of the residual on auxiliary variables, which have no cost: at any
        channel these are at most 1.
        """
        self.residual = self.blocks.columns(self.w)
        self.residual[:, : self.k] += self.cost - self._spread(self.potentials)[:, :, None]
        reduced = self.residual[:, : self.k] + self.blocks.reduced_costs(self.w)
        self.least_reduced = self._least_by_orbit(reduced.min(axis=2))
        error = np.abs(self.residual[:, self.k :]).max(axis=2, initial=0.0).sum(axis=1)
        return np.asarray((self.potentials + self.least_reduced) @ self.sizes - error)

    def _restore_dual_feasibility(self, allowed: FloatArray) -> FloatArray:
        """Change multipliers until A' w + c - pi = 0 holds again; return the bound.

        Of all dw with A' dw = -residual this takes the one with the least Sum (dw / w)**2, which is

            dw = w**2 (A u),    (A' diag(w**2) A) u = -residual.

        Weighting by w, not by w / s as in a Newton step, divides by no slack: near the optimum the
        slacks are rounding errors, the multipliers of tight rows are not.
        """
        bad = np.abs(self.residual).max(axis=1) > allowed[:, None]
        self.blocks.factor(self.w * self.w, bad.any(axis=0))
        for _ in range(RESTORING_ROUNDS):
            u = self.blocks.solve(np.where(bad[:, None], -self.residual, 0.0))
            change = self.w * self.blocks.rows(u)
            share = MOST_CHANGE / np.maximum(MOST_CHANGE, -self.blocks.least(change))
            self.w = self.w * (1 + self.blocks.spread(share) * change)
            bound = self._measure_dual()
        return bound

    def _step(self) -> None:
        """Take a step: a predictor, and the share of a corrector with the longest step."""
        blocks, stay = self.blocks, self.ended
        weight = np.broadcast_to(blocks.weight, self.products[:1].shape)
        total = self._total(self.products)
        mu = total / weight.sum()
        self.D = self.w / self.s
        if stay.any():  # a harmless system, so that the batch continues
            self.D = np.where(_per_problem(stay), 1.0, self.D)
        blocks.factor(self.D)
        is_plain = np.array_equal(self.orbit, np.arange(self.k))
        self.is_bordered = is_plain and blocks.factor_bordered()
        if not self.is_bordered:
            self.system = _factored(blocks.schur(), None if is_plain else self.members)
        self.refined = bool((self.gap < REFINED_BELOW).any())
        step = self._solve(np.full_like(self.s, -1.0), self.residual, self.missing)
        a, b = _lengths(step)
        both = step.slack * step.dual
        # the products after the predictor, w s (1 + a ds / s) (1 + b dw / w)
        left = total + a * self._total(self.products, step.slack)
        left += b * self._total(self.products, step.dual) + a * b * self._total(self.products, both)
        # Mehrotra's rule: where little remains after the predictor, no centering is needed
        target = np.clip((left / total) ** 3, LEAST_CENTERING, 1.0) * mu
        aim = _per_problem(target)
        step, a, b = _longest(step, self._solve(aim / self.products - both))
        a = np.minimum(a, longest_step(blocks.blocked(self.v, step.v)))
        a, b = (np.where(stay, 0.0, FRACTION_TO_BOUNDARY * length) for length in (a, b))
        self._move(step, a, b, aim)

    def _move(self, step: _Direction, a: FloatArray, b: FloatArray, aim: FloatArray) -> None:
        """Step by a in the columns, by b in the multipliers; then activate rows.

        Slacks are recomputed, not added up: otherwise rounding would let A v + s drift from 0.
        """
        before, self.v = self.v, self.v + _per_problem(a) * step.v
        self.w = self.w * (1 + _per_problem(b) * step.dual)
        self.potentials = self.potentials + b[:, None] * step.potentials
        old = self.blocks.join()
        self.s = self.blocks.rows(-self.v)
        if old is not None:
            w, self.w = self.w, aim / np.maximum(self.s, -self.blocks.rows(before))
            self.w[:, old] = w

    def _total(self, *factors: FloatArray) -> FloatArray:
        """Return for each problem the weighted sum over rows of the products of factors."""
        pattern = "brm," * len(factors) + "brm->b"
        return np.asarray(np.einsum(pattern, *factors, self.blocks.weight))

    def _solve(
        self,
        goal: FloatArray,
        residual: FloatArray | float = 0.0,
        missing: FloatArray | float = 0.0,
    ) -> _Direction:
        """Solve a Newton system; ``goal`` is the relative increase of the products.

        With dv_y = B_y**-1 (right_y + d pi on the column), the row sums require (Sum_y n_y B_y**-1)
        d pi = missing - Sum_y n_y B_y**-1 right_y. Below some gap the system is solved once more
        for its residual (iterative refinement).
        """
        blocks = self.blocks
        right = -residual - blocks.columns(self.w * goal)
        v, potentials = self._solve_once(right, np.asarray(missing))
        if self.refined:
            rest = self._raised(right - blocks.columns(self.D * blocks.rows(v)), potentials)
            dv, change = self._solve_once(rest, missing - self._sums(v))
            v, potentials = v + dv, potentials + change
        slack = blocks.rows(-v)
        slack /= self.s
        return _Direction(v, slack, goal - slack, potentials)

    def _solve_once(self, right: FloatArray, missing: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the changes of columns and potentials, without refinement."""
        if self.is_bordered:
            return self.blocks.solve_bordered(right, missing)
        factors, unit = self.system
        wanted = missing - self._sums(self.blocks.solve(right))
        found = [
            called("LAPACK", lapack.dgetrs, *own, b)[0]
            for own, b in zip(factors, unit * wanted, strict=True)
        ]
        change = unit * checked("LAPACK", found, wanted.shape, finite=False)
        return self.blocks.solve(self._raised(right, change)), change

    def _raised(self, right: FloatArray, potentials: FloatArray) -> FloatArray:
        """Return the right side plus potentials on the column."""
        right = right.copy()
        right[:, : self.k] += self._spread(potentials)[:, :, None]
        return right


def _factored(schur: FloatArray, members: FloatArray | None) -> tuple[list[Any], FloatArray]:
    """Return the factors of Schur complements, and by how much their rows were scaled."""
    if members is not None:
        schur = members @ schur @ members.T
    # entries range over many orders of magnitude: a diagonal of 1 equalizes their rounding
    unit = 1 / np.sqrt(np.einsum("boo->bo", schur))
    schur = schur * unit[:, :, None] * unit[:, None, :] + RIDGE * np.eye(schur.shape[1])
    return [called("LAPACK", lapack.dgetrf, own)[:2] for own in schur], unit


def _per_problem(numbers: FloatArray | BoolArray) -> Any:
    """Return one number for each problem, in a shape that broadcasts to the problems' arrays."""
    return numbers[:, None, None]


def _where(chosen: BoolArray, new: FloatArray, old: FloatArray) -> FloatArray:
    """Return new arrays for the chosen problems, old ones for the others."""
    return new if chosen.all() else np.where(_per_problem(chosen), new, old)


def longest_step(relative: Any, most: float = 1.0) -> Any:
    """Return the largest step t <= ``most`` with x + t dx >= 0.

    Parameters
    ----------
    relative
        The least entry of dx / x, for one problem or an array of them for several.

    Examples
    --------
    >>> float(longest_step(-4.0)), float(longest_step(0.5))
    (0.25, 1.0)
    """
    return 1 / np.maximum(1 / most, -relative)


def _lengths(step: _Direction) -> tuple[FloatArray, FloatArray]:
    """Return the step lengths at which the first slack and multiplier reach 0, at most 1."""
    return longest_step(step.slack.min(axis=(1, 2))), longest_step(step.dual.min(axis=(1, 2)))


def _longest(
    step: _Direction, more: _Direction, shares: Sequence[float] = SHARES
) -> tuple[_Direction, FloatArray, FloatArray]:
    """Add the share of a direction that lets each problem go farthest; return how far that is."""
    lows, pairs = [], ((step.slack, more.slack), (step.dual, more.dual))
    changed = np.empty_like(step.slack)
    for share, (now, change) in product(shares, pairs):
        np.multiply(change, share, out=changed)
        changed += now
        lows.append(changed.min(axis=(1, 2)))
    lengths = longest_step(np.array(lows).reshape(len(shares), 2, -1))  # (n_shares, 2, batch)
    best = np.argmax(lengths[:, 0] * lengths[:, 1], axis=0)
    a, b = np.take_along_axis(lengths, best[None, None, :], axis=0)[0]
    return step.plus(more, np.array(shares)[best]), a, b
