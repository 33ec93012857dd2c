"""Unbiased readings of least variance, by column generation over rays with their readings.

A ray r with the reading v adds theta r to the row sums, theta v r to the means and theta v**2 r to
the second moments. With z = theta v and s >= z**2 / theta, the best mixture of some rays,

    minimize  Sum s w . r    such that  Sum theta r = 1,  Sum z r = f,  z**2 <= theta s,

for the weights w of a mean, or else t with Sum s r_x - f_x**2 <= t for every input x, is a
second-order cone program, without a guess of the readings. Its dual variables, of the row sums and
the means, and w in a worst case, are the potentials (u, m, w): at them a ray with a reading costs

    c(v) . r,    c_x(v) = w_x v**2 + m_x v + u_x.

Rays of negative cost improve the mixture; the least costs bound the variance of every private
channel (:mod:`mechdesign.kernel.linearizations.decoders`). For a fixed v the cheapest ray is known
or found by a small program; for a fixed ray the best reading is -m . r / (2 w . r).

Source: Elfving 1952 (c-optimal designs); Pukelsheim 2006, chapter 2.
"""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.rows import FAR, averaged, certificate, mass_of, rounded_numbers, spared
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Readings
from mechdesign.notions import Cone
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.forms import OneBudgetCone
from mechdesign.search.cones.pricing import BlockPricer, Pricer
from mechdesign.search.decoders.search import probed
from mechdesign.search.generation import Generation, Pace, SurplusBound
from mechdesign.search.highs import UNIT, RestrictedMaster
from mechdesign.search.limits import Limits, running
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.search.starts.baseline import reach
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import ReadingVariance

SOLVER = "CLARABEL"
TOLERANCE, ENDED_WELL = 1e-10, ("Solved", "AlmostSolved", "InsufficientProgress")

MIXED = 1e-9
"""The weight of the uniform mean in the worst case, so that no input has the weight 0, which would
leave its readings undetermined."""

FIRST_PROBES, NEAREST = 65, 1e-9
"""Evenly spaced probes of each bound, and the least distance of probes."""

NEAR, FARTHEST = 2.0, 1e5
"""The range of the evenly spaced probes, in the unit of the readings of randomized response; and of
all probes for a worst case: beyond that the tolerance of their programs may exceed the bound."""

EVEN = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""Shares of uniform weights in a worst case, the first for which the probes are near enough."""

SAFE = 1e-9
"""The least relative cost at the ends of the probes that a linear program distinguishes from 0."""

ALL_INTERVALS = 10
"""The number of inputs up to which a search starts from the rays raised on any interval."""

USED, SAME = 1e-10, 1e-9
"""Smaller weights are dropped; rays with smaller differences are merged."""

EXACT = 1e-9
"""The largest error of the sums of a mixture of fewer rays."""

LEAST_GAP = 2e-7
"""The least gap that the proof aims at."""

LEAST_SINGULAR, SHARE = 1e-6, 1e-8
"""If columns are so close to dependent that exact readings would be large, this share of randomized
response is mixed in, which separates all inputs."""

PACE = Pace(goal=1e-8, patience=math.inf, last_patience=math.inf, worth=0.3, most_rays=16)


def solve_readings(problem: Problem, limits: Limits | None = None) -> RawSolution:
    """Find the channel and its unbiased readings of least variance.

    SolverError if a solver fails, or the budgets are too small.
    """
    limits, utility = limits or Limits(), problem.utility
    if not isinstance(utility, ReadingVariance):
        expected = "the variance of an unbiased reading"
        raise UnsupportedError("objective", expected, utility.name)
    values, k = utility.values(problem.domain), len(problem.domain)
    middle, half = (max(values) + min(values)) / 2, (max(values) - min(values)) / 2
    if not half:
        return RawSolution(np.ones((k, 1)), name_outputs(problem, 1), (), "readings: one value")
    f = np.array([float((value - middle) / half) for value in values])
    prior = None if utility.worst_case else problem.prior.array
    pricer = _ReadingPricer(problem.cone, f, prior, middle, half)
    search, value = _generated(pricer, limits, float(half) ** 2)
    pricer.spare = spared(value, -math.inf, max(limits.gap, LEAST_GAP))
    matrix = pricer.separated(search.columns)
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, search.proofs, "readings: Clarabel", search.notes())


def _generated(
    pricer: _ReadingPricer, limits: Limits, scale: float = 0.0
) -> tuple[Generation, float]:
    """Return the search, with few columns, and the variance in the unit ``scale``."""
    unit = scale * pricer.unit**2
    master = _ReadingMaster(_first_rays(pricer, limits), pricer)
    search = Generation(pricer, master, pricer.loss, limits.part(unit))
    search.run()
    value = unit * pricer.loss(float(master.gain @ search.theta))
    with contextlib.suppress(SolverError):  # an interior-point method ends with many rays
        thin = RestrictedMaster(master.rays, master.gain, UNIT, (pricer.low, pricer.high))
        theta = np.maximum(thin.solve()[0], 0.0)
        n = 2 * pricer.size
        if np.abs(master.rays[:n] @ theta - pricer.low[:n]).max() < EXACT:
            search.theta = theta
    return search, value


def _first_rays(pricer: _ReadingPricer, limits: Limits) -> FloatArray:
    """Return randomized response, and the rays that are raised on an interval of values.

    With many inputs under one budget, rays are those in use on every other input, in which each new
    entry is that of a neighbor below or above.
    """
    f, k, form = pricer.f, pricer.size, pricer.form
    order = np.argsort(f, kind="stable")
    if form is not None and k > ALL_INTERVALS and all(len(own) == k for _, own in form.blocks):
        kept = np.sort(np.union1d(order[::2], order[[0, -1]]))
        rays = _generated(pricer.restricted(kept), limits.part())[0].columns[: len(kept)]
        inner = np.argsort(f[kept], kind="stable")
        values, rays = f[kept][inner], rays[inner][:, rays.any(axis=0)]
        below = np.clip(np.searchsorted(values, f, side="right") - 1, 0, len(kept) - 1)
        above = np.clip(np.searchsorted(values, f, side="left"), 0, len(kept) - 1)
        first, second = rays[below], rays[above]
        found = [first, second, np.maximum(first, second), np.minimum(first, second)]
        return np.hstack([pricer.response, *found])
    ends = np.unique(f)
    raised = np.hstack([f[:, None] >= ends, f[:, None] <= ends, np.eye(k, dtype=bool)])
    if form is not None and k <= ALL_INTERVALS:
        low, high = np.triu_indices(len(ends))
        raised = (f[:, None] >= ends[low]) & (f[:, None] <= ends[high])
    rays = pricer.at(pricer.scale).cheapest(np.where(raised, -1.0, 1e-3))
    return np.hstack([pricer.response, rays])


class _ReadingPricer:
    """Finds rays with readings of negative cost.

    A column ``(3 n_inputs,)`` is a ray r with a reading v: r, v r and v**2 r. The worst variance is
    a column as well, with -1 at the second moments. Values are scaled so that the readings of
    randomized response are about 1.

    Parameters
    ----------
    cone
        The cone of the rays.
    f
        ``(n_inputs,)`` values from -1 to 1.
    prior
        ``(n_inputs,)``; None for the worst case.
    middle, half
        The middle of the original values, and half their range.
    """

    how, steps_of_a_box, pace = "columns at readings", 0, PACE

    def __init__(
        self, cone: Cone, f: FloatArray, prior: FloatArray | None, middle: Fraction, half: Fraction
    ) -> None:
        self.cone, self.form, self.size = cone, OneBudgetCone.of(cone), len(f)
        self.prior, self.middle, self.half, self.spare = prior, middle, half, 0.0
        even = np.full(len(f), 1 / len(f))
        self.scale = even if prior is None else (prior + even) / 2
        """Rays are scaled to this mean: a prior may be so small at an input that rounding errors of
        costs divided by it would exceed the gap."""
        _, member = np.unique(cone.equal_classes(), return_inverse=True)
        sets = np.eye(int(member.max()) + 1)[member]
        t, n = float(reach(cone, sets).min()), sets.shape[1]
        if t <= 0:
            raise SolverError("the budgets are too small for the values to be read")
        self.response = (1 + t * sets) / (n + t)
        """Randomized response, which separates all inputs whose rows may differ."""
        self.unit = (2 + t) / t
        self.f = f / self.unit
        one, square = np.ones(len(f)), self.f**2
        self.high = np.concatenate([one, self.f, square if prior is None else np.inf * one])
        self.low = np.concatenate([one, self.f, -np.inf * one])
        self.spread = 0.0 if prior is None else float(prior @ square)
        self._program = None if self.form else LPPricer(cone, self.scale)

    def restricted(self, kept: Any) -> _ReadingPricer:
        """Return the pricer for some of the inputs."""
        prior = None if self.prior is None else self.prior[kept] / self.prior[kept].sum()
        f = self.f[kept] * self.unit
        return _ReadingPricer(self.cone.restricted(kept), f, prior, self.middle, self.half)

    def loss(self, gain: float) -> float:
        """Return the variance for a sum of gains."""
        return -gain - self.spread

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return minus the mean square; in the worst case, minus the worst variance."""
        k = self.size
        if self.prior is not None:
            return np.asarray(-(self.prior @ rays[2 * k :]))
        squares = MIXED * rays[2 * k :].mean(axis=0)
        return np.where(rays[:k].any(axis=0), -squares, -1.0)

    def columns(self, rays: FloatArray, readings: FloatArray) -> FloatArray:
        """Return rays with readings as columns."""
        return np.vstack([rays, rays * readings, rays * readings**2])

    def at(self, w: FloatArray) -> Pricer:
        """Return the pricer of rays with w . r = 1."""
        if self.form is not None:
            return BlockPricer(self.form, w)
        return self._program if self._program and w is self.scale else LPPricer(self.cone, w)

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all columns, and columns with a positive one.

        Rays are scaled so that a gap between probes costs each input in proportion to its weight at
        the squares, as in the proof. Beyond the outermost probes the costs increase. In a worst
        case inputs of very small weight need probes far out: potentials are then mixed with 0 at
        uniform weights, whose costs v**2 / k are nonnegative.
        """
        k, limits, is_worst = self.size, limits or Limits(), self.prior is None
        for share in EVEN if is_worst else EVEN[:1]:
            sums, means, w = (1 - share) * u.reshape(3, k)
            w = np.maximum(w, 0.0) + share / k if self.prior is None else self.prior
            w = w / w.sum()
            weight = (w + self.scale) / 2 if is_worst else self.scale
            pricer = self.at(weight)
            far, tails = self._range(pricer, means, w, FARTHEST if is_worst else math.inf)
            if far < math.inf:
                break
        else:
            raise SolverError("the readings have no bound that the dual variables prove")
        inner = np.linspace(-NEAR, NEAR, FIRST_PROBES)
        outer = np.geomspace(NEAR, far, 2 * max(1, round(math.log2(far))))
        first = np.unique(np.concatenate([-outer, inner, outer]))

        def cost(v: FloatArray) -> FloatArray:
            return np.asarray(w[:, None] * v**2 + means[:, None] * v + sums[:, None])

        bend = float((w / weight).max())
        found = probed(pricer, cost, first, goal, NEAREST, limits, bend)
        rays = found.rays / found.rays.max(axis=0)
        square, linear = w @ rays, means @ rays
        readings = -linear / np.maximum(2 * square, 1e-300)
        is_better = sums @ rays - linear**2 / np.maximum(4 * square, 1e-300) < 0
        new = self.columns(rays[:, is_better], np.clip(readings[is_better], -far, far))
        whole = float(sums.sum() + means @ self.f)
        whole += is_worst * float(w @ self.f**2)
        potentials = (sums + found.surplus * weight, means, w)  # no column has a surplus at these
        proof = partial(self._certificate, found.at, potentials, found.multipliers, tails)
        return SurplusBound(whole - float(u.sum()) + found.surplus, list(new.T), proof)

    def _range(
        self, pricer: Pricer, means: FloatArray, w: FloatArray, most: float
    ) -> tuple[float, FloatArray]:
        """Return a reading beyond which no cost decreases, and the multipliers of the two tails."""
        far, least = NEAR, 0.0 if self.form else SAFE
        while far <= most and far < 1 / SAFE**2:
            tails = 2 * far * w[:, None] + np.outer(means, [-1, 1])
            priced = pricer.price(tails)
            if priced.reduced.min() >= least * np.abs(tails).max():
                return far, priced.multipliers
            far *= 2
        return math.inf, np.zeros(0)

    def _certificate(
        self,
        probes: FloatArray,
        potentials: tuple[FloatArray, FloatArray, FloatArray],
        multipliers: FloatArray,
        tails: FloatArray,
        problem: Problem,
    ) -> Certificate:
        """Return probes with multipliers or prices, in the original unit."""
        middle, half, unit, statement = (
            self.middle,
            self.half,
            self.unit,
            problem.compiled.statement,
        )
        sums, means, w = potentials
        weights = w if self.prior is None else None
        mass, far = mass_of(problem, averaged(statement, weights)), abs(middle) > FAR * half
        slopes = zip(mass, (-unit * means).tolist(), strict=True)
        exact = [2 * middle * p + half * Fraction(slope) for p, slope in slopes]
        values = tuple(middle + half * as_fraction(v) for v in (unit * probes).tolist())
        line = Readings(values, rounded_numbers(exact, far))
        if isinstance(pricer := self.at(w), LPPricer):
            scale, n, spare = float(half) * unit, len(values) + 2, self.spare
            duals = pricer.duals(np.hstack([scale**2 * multipliers, scale * tails]))
            return certificate(
                problem, line, duals=duals, n_nodes=n, weights=weights, spare=lambda: spare
            )
        terms = zip((-(unit**2) * sums).tolist(), mass, exact, strict=True)
        prices = rounded_numbers(
            [half**2 * Fraction(v) + middle**2 * p - middle * m for v, p, m in terms], far
        )
        return certificate(problem, line, pricer.oracle, weights=weights, prices=prices)

    def separated(self, columns: FloatArray) -> FloatArray:
        """Return the channel of some columns, in the order of their readings."""
        k = self.size
        found = columns[:, columns[:k].max(axis=0) > USED]
        found = found[:k, np.argsort(found[k : 2 * k].sum(axis=0) / found[:k].sum(axis=0))]
        n = len(np.unique(self.response, axis=0))
        scaled = found / np.sqrt(found.mean(axis=0))
        singular = called("LAPACK", np.linalg.svd, scaled, compute_uv=False)
        if len(singular) < n or singular[n - 1] < LEAST_SINGULAR * singular[0]:
            found = np.hstack([(1 - SHARE) * found, SHARE * self.response])
        return np.asarray(found)


class _ReadingMaster:
    """The best mixture of some rays, each with its best reading.

    Attributes
    ----------
    rays, gain
        ``(3 n_inputs, n)`` and ``(n,)``: the rays with their readings, and the worst variance; and
        their gains.
    """

    def __init__(self, rays: FloatArray, pricer: _ReadingPricer) -> None:
        self._pricer, self._rays = pricer, _distinct(rays)
        self.rays, self.gain, self._theta = np.zeros((3 * pricer.size, 0)), np.zeros(0), np.zeros(0)

    def add(self, rays: FloatArray, _gain: FloatArray) -> None:
        """Add rays, whose readings follow from the next mixture."""
        self._rays = _distinct(np.hstack([self._rays, rays[: self._pricer.size]]))

    def keep(self, wanted: BoolArray) -> BoolArray:
        """Drop rays that are neither wanted nor in use; return which of all stay."""
        n = self._rays.shape[1]
        kept: BoolArray = wanted | (self._theta > USED) | (np.arange(len(wanted)) >= n)
        self._rays = self._rays[:, kept[:n]]
        self.rays, self.gain, self._theta = self.rays[:, kept], self.gain[kept], self._theta[kept]
        return kept

    def solve(self) -> tuple[FloatArray, FloatArray]:
        """Return the weights of the rays, the worst variance after them, and the potentials."""
        pricer, rays = self._pricer, self._rays
        theta, readings, worst, potentials = _mixture(rays, pricer.f, pricer.prior)
        self.rays, self._theta = pricer.columns(rays, readings), theta
        if pricer.prior is None:
            one = np.repeat([0.0, 0.0, -1.0], pricer.size)
            self.rays, self._theta = np.column_stack([self.rays, one]), np.append(theta, worst)
        self.gain = pricer.gain(self.rays)
        return self._theta, potentials


def _distinct(rays: FloatArray) -> FloatArray:
    """Return distinct rays with a largest entry of 1."""
    scaled = rays / rays.max(axis=0)
    _, first = np.unique(np.round(scaled / SAME), axis=1, return_index=True)
    return np.asarray(scaled[:, first])


def _mixture(
    rays: FloatArray, f: FloatArray, prior: FloatArray | None
) -> tuple[FloatArray, FloatArray, float, FloatArray]:
    """Return the weights of rays and their readings, the worst variance, and the potentials."""
    import clarabel

    (k, n), is_worst = rays.shape, prior is None
    mean = np.full(k, MIXED / k) if prior is None else prior
    cost = np.concatenate([np.zeros(2 * n), mean @ rays, [1 - MIXED] * is_worst])
    R, j, one = sparse.csc_matrix(rays), np.arange(n), np.ones(n)
    # z**2 <= theta s as the cone of (theta + s, theta - s, 2 z)
    rows = np.concatenate([3 * j, 3 * j, 3 * j + 1, 3 * j + 1, 3 * j + 2])
    columns = np.concatenate([j, 2 * n + j, j, 2 * n + j, n + j])
    entries = np.concatenate([-one, -one, -one, one, -2 * one])
    cone = sparse.csc_matrix((entries, (rows, columns)), shape=(3 * n, len(cost)))
    zero = sparse.csc_matrix((k, n))
    blocks = [[R, zero, zero], [zero, R, zero]]
    if is_worst:  # at a prior second moments are in the cost only
        none = sparse.csc_matrix((k, 1))
        blocks = [[*row, none] for row in blocks]
        blocks.append([zero, zero, R, sparse.csc_matrix(-np.ones((k, 1)))])
    right = np.concatenate([np.ones(k), f, f**2 if is_worst else [], np.zeros(3 * n)])
    cones = [clarabel.ZeroConeT(2 * k)]
    cones += [clarabel.NonnegativeConeT(k)] * is_worst + [clarabel.SecondOrderConeT(3)] * n
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.time_limit = running().grace
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    whole = sparse.vstack([sparse.bmat(blocks), cone]).tocsc()
    nothing = sparse.csc_matrix((len(cost), len(cost)))
    solver = called(SOLVER, clarabel.DefaultSolver, nothing, cost, whole, right, cones, settings)
    found = called(SOLVER, solver.solve)
    if str(found.status) not in ENDED_WELL:
        raise SolverError(f"{SOLVER} ended with {found.status}")
    x, dual = checked(SOLVER, found.x, (len(cost),)), checked(SOLVER, found.z, (len(right),))
    theta, z, s = np.maximum(x[:n], 0.0), x[n : 2 * n], np.maximum(x[2 * n : 3 * n], 0.0)
    readings = np.divide(z, theta, out=np.zeros(n), where=theta > 0)
    w = np.maximum(dual[2 * k : 3 * k], 0.0) + MIXED / k if is_worst else np.zeros(k)
    worst = float((rays @ s - f**2).max())
    return theta, readings, worst, np.concatenate([dual[: 2 * k], w])
