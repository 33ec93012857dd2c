"""The least posterior-mean squared error of a scalar f(X), by column generation over decoders.

The error is concave in Q, so its minimization is not a convex program. But if output y is decoded
as s_y, the error is linear,

    Sum_y Sum_x P_x Q[x, y] (f_x - s_y)**2,

and its minimum over decoders is the posterior-mean error, attained at the posterior means. It is a
constant minus a sum of gains, g(r) = (Sum_x P_x f_x r_x)**2 / (P . r) of the column r, which is
convex: so extreme rays of the cone are mixed (:mod:`mechdesign.search.generation`). Rays are found
at decoders. With h_x = P_x f_x**2 - u_x, u the prices of the inputs, let at a decoder s

    gamma(s) = min over private columns r with P . r = 1 of  Sum_x r_x (P_x (f_x - s)**2 - h_x),

the least reduced cost of a column decoded as s. Summed over the columns of any private channel,
whose output probabilities sum to 1, its error is at least Sum_x h_x + min_s gamma(s). As P . r = 1,
gamma(s) - s**2 is a minimum of functions that are linear in s, so it is concave, and above its
chord between two probes at distance d; on that gap s**2 is its own chord minus t (1 - t) d**2, for
the relative position t. So

    gamma(s) >= (1 - t) gamma(s_i) + t gamma(s_{i+1}) - t (1 - t) d**2,

and gaps between probes are halved until the bound is good
(:mod:`mechdesign.kernel.linearizations.decoders`).

Problems with few inputs, and cones with linear programs for pricing, have a restricted master
problem over rays. With many inputs it would take many rounds; there the master problem is the
linear program over all channels for some decoders. Those of locally least reduced cost are added,
moved to the posterior means of their columns. The largest surplus of a round is nearly its gap: the
next program is solved to a share of it, and decoders are merged where that costs a share of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.rows import FAR, certificate, rounded_numbers, spared
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.gains import Vector
from mechdesign.kernel.linearizations import Decoders
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution, estimated_scalar
from mechdesign.search.cones.pricing import (
    BlockPricer,
    LiftPricer,
    PricedColumns,
    Pricer,
    pricer_of,
)
from mechdesign.search.generation import WORTH_ADDING, Generation, Master, Pace, SurplusBound
from mechdesign.search.highs import RestrictedMaster
from mechdesign.search.interior.solve import by_interior
from mechdesign.search.limits import Limits
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.search.presolve.reductions import ConicProgram

FIRST_PROBES, MOST_PROBES = 17, 4000
"""Evenly spaced probes of each bound, and the largest number of probes."""

FEW = 64
"""The number of inputs up to which there is a restricted master problem over rays."""

GRIDS = (65, 33)
"""Evenly spaced decoders of the first program over channels, and of all later ones."""

LEAST_GAP, SHARE = 2e-8, 2e-2
"""The relative gap of such a program: a share of the largest surplus, at least the first."""

FIRST_SURPLUS = 1e-3
"""The largest surplus before the first program, as a share of the error without a report."""

MERGED, LEAST_MERGED = 2e-2, 1e-9
"""The share of the largest surplus that merging outputs of a channel, or decoders, may cost; and
the share of the error that merging outputs always may."""

SAME = 1e-9
"""Decoders closer than this, in units of the range of f, are merged."""

POLISHES = 3
"""The number of moves of a decoder to the posterior mean of its cheapest column."""

RARE = 1e-290
"""Less likely outputs are dropped, and smaller numbers become 0: the kernel rejects subnormal
numbers."""

PACE = Pace(goal=4e-9, patience=math.inf, last_patience=math.inf, worth=0.3)
PACE_ON_CHANNELS = Pace(goal=2e-7, patience=8, last_patience=8, worth=-math.inf, smoothing=0.0)


def solve_decoders(problem: Problem, limits: Limits | None = None) -> RawSolution:
    """Minimize the posterior-mean squared error of a scalar, for any notion on columns."""
    limits = limits or Limits()
    scalar = estimated_scalar(problem)
    if scalar is None:
        expected = "the error of the best estimate of a scalar"
        raise UnsupportedError("objective", expected, problem.utility.name)
    occur = [value for value, p in zip(*scalar, strict=True) if p]
    low, width = min(occur), max(occur) - min(occur)
    if not width:
        blind = np.ones((len(problem.domain), 1))
        return RawSolution(blind, name_outputs(problem, 1), (), "decoder-grid: one value")
    pricer = _DecoderPricer(problem, *scalar, low, width)
    unit = float(width) ** 2
    offset = 0.0 if problem.utility.is_maximized else float(pricer.squares.sum())
    program: Master
    center: FloatArray | None
    if pricer.is_on_channels:
        program, method, center = _ChannelMaster(problem, pricer, limits), "interior point", None
    else:
        rays = pricer.first_rays()
        program = RestrictedMaster(rays, pricer.gain(rays), limits=limits.step(1.0))
        method, center = "HiGHS", np.zeros(pricer.size)
    search = Generation(pricer, program, lambda gain: offset - gain, limits.part(unit), center)
    search.run()
    matrix = search.columns
    value = offset - float(pricer.gain(matrix).sum())
    pricer.spare = spared(unit * abs(value), -math.inf, limits.gap)
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, search.proofs, f"decoder-grid: {method}", search.notes())


class _DecoderPricer:
    """Finds columns of positive surplus at decoders.

    Parameters
    ----------
    problem
        Any notion on columns.
    values, law
        The values of f, and the law of the inputs.
    low, width
        The least value of an input that occurs, and their range.

    Attributes
    ----------
    f
        ``(n_inputs,)`` values of f, scaled to [0, 1].
    prior
        ``(n_inputs,)``: the law.
    """

    how, steps_of_a_box = "columns at decoders", 0

    def __init__(
        self, problem: Problem, values: Vector, law: Vector, low: Fraction, width: Fraction
    ) -> None:
        self.cone, self.size, self.spare = problem.cone, len(values), 0.0
        self.values, self.law, self.low, self.width = values, law, low, width
        pairs = zip(values, law, strict=True)
        self.f = np.array([float((value - low) / width) if p else 0.0 for value, p in pairs])
        self.prior: FloatArray = np.array([float(p) for p in law])
        self.mean = float(self.prior @ self.f)
        self.squares: FloatArray = self.prior * (self.f - self.mean) ** 2
        own = pricer_of(problem)
        if isinstance(own, BlockPricer):
            own = BlockPricer(own.cone, self.prior)
        component = self.cone.components()
        # with several blocks the sorted columns do not attain the bound
        by_sorting = isinstance(own, BlockPricer | LiftPricer) and not component.any()
        by_sorting &= isinstance(own, BlockPricer) or law == problem.prior.probabilities
        self.pricer = own if own and by_sorting else LPPricer(self.cone, self.prior)
        self.is_on_channels = by_sorting and self.size > FEW
        self.pace = PACE_ON_CHANNELS if self.is_on_channels else PACE
        mass = np.bincount(component, self.prior)
        self._never = [np.flatnonzero(component == part) for part in np.flatnonzero(mass == 0)]
        """Components of inputs that never occur."""

    def cost(self, decoders: FloatArray) -> FloatArray:
        """Return the cost of each entry at decoders, ``(n_inputs, n_decoders)``."""
        return np.asarray(self.prior[:, None] * (self.f[:, None] - decoders) ** 2)

    def means(self, rays: FloatArray) -> FloatArray:
        """Return the posterior mean of rays; 0 for rays that never occur."""
        output, moment = self.prior @ rays, (self.prior * self.f) @ rays
        found = np.divide(moment, output, out=np.zeros(len(output)), where=output > RARE)
        return np.asarray(found)

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``."""
        output, moment = self.prior @ rays, (self.prior * (self.f - self.mean)) @ rays
        return np.divide(moment**2, output, out=np.zeros(len(output)), where=output > RARE)

    def first_rays(self) -> FloatArray:
        """Return the column of ones, columns of inputs that never occur, and some rays."""
        every = np.arange(self.size)
        rays = [np.ones(self.size), *(np.isin(every, own).astype(float) for own in self._never)]
        units = ((every == x).astype(int) for x in np.flatnonzero(self.prior == 0))
        rays += [unit.astype(float) for unit in units if self.cone.violation(unit.tolist()) is None]
        found = self.pricer.price(self.cost(np.linspace(0, 1, FIRST_PROBES))).rays
        return np.column_stack([*rays, found / found.max(axis=0)])

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all columns, and columns with a positive one."""
        limits, u = limits or Limits(), u.copy()
        for inputs in self._never:  # none of their columns has a surplus at the mean
            u[inputs] = u[inputs].mean()
        potentials = self.squares - u

        def cost(decoders: FloatArray) -> FloatArray:
            return self.cost(decoders) - potentials[:, None]

        first = np.linspace(0, 1, FIRST_PROBES)
        found = probed(self.pricer, cost, first, goal, SAME, limits)
        better = found.reduced < -WORTH_ADDING * goal
        if self.is_on_channels:
            lowest = _locally_least(found.reduced)
            chosen = lowest & better if better.any() else lowest
            rays = self._polished(potentials, found.at[chosen])
        else:
            rays = found.rays[:, better]
        proof = partial(self._certificate, found.at.tolist(), potentials, found.multipliers)
        return SurplusBound(found.surplus, list((rays / rays.max(axis=0)).T), proof)

    def _polished(self, potentials: FloatArray, s: FloatArray) -> FloatArray:
        """Return the cheapest columns at decoders, which move to the means of these columns."""
        rays: FloatArray = np.zeros((self.size, 0))
        for _ in range(1 + POLISHES if len(s) else 0):
            rays = self.pricer.cheapest(self.cost(s) - potentials[:, None])
            s = self.means(rays)
        return rays

    def _certificate(
        self,
        decoders: Sequence[float],
        potentials: FloatArray,
        multipliers: FloatArray,
        problem: Problem,
    ) -> Certificate:
        """Return decoders with multipliers or prices, rescaled from f in [0, 1]."""
        line = Decoders(tuple(self.low + self.width * as_fraction(s) for s in decoders))
        if isinstance(self.pricer, LPPricer):
            duals = self.pricer.duals(multipliers, float(self.width) ** 2)
            n, spare = len(decoders), self.spare
            return certificate(problem, line, duals=duals, n_nodes=n, spare=lambda: spare)
        written = np.where(np.abs(potentials) < RARE, 0.0, potentials).tolist()
        terms = zip(map(Fraction, written), self.values, self.law, strict=True)
        prices = rounded_numbers(
            [self.width**2 * h - p * v * v for h, v, p in terms],
            max(map(abs, self.values)) > FAR * self.width,
        )
        return certificate(problem, line, self.pricer.oracle, prices=prices)


class _ChannelMaster:
    """The linear program over channels for some decoders, in place of that over rays.

    Attributes
    ----------
    rays
        ``(n_inputs, n)``: the columns of the best channel so far.
    gain
        Their gains.
    """

    def __init__(self, problem: Problem, pricer: _DecoderPricer, limits: Limits) -> None:
        self._cone, self._pricer, self._limits = problem.cone, pricer, limits
        self._wanted = self._used = np.zeros(0)
        self.rays: FloatArray = np.ones((pricer.size, 1))
        self.gain = pricer.gain(self.rays)
        self._surplus = FIRST_SURPLUS * self._loss()
        self._potentials = pricer.squares

    def _loss(self) -> float:
        """Return the error of the best channel so far."""
        return float(self._pricer.squares.sum() - self.gain.sum())

    def add(self, rays: FloatArray, gain: FloatArray) -> None:
        """Add the posterior means of rays to the decoders."""
        surplus = (gain - self._potentials @ rays) / (self._pricer.prior @ rays)
        self._surplus = min(self._surplus, max(0.0, float(surplus.max())))
        self._wanted = np.concatenate([self._wanted, self._pricer.means(rays)])

    def keep(self, wanted: BoolArray) -> BoolArray:
        """Drop no column of the channel."""
        return np.ones_like(wanted)

    def solve(self) -> tuple[FloatArray, FloatArray]:
        """Return a weight of 1 for each column of the best channel, and the potentials."""
        pricer, P, part = self._pricer, self._pricer.prior, self._limits.part()
        spare = MERGED * self._surplus
        grid = np.linspace(0, 1, GRIDS[len(self._wanted) > 0])
        wanted = np.concatenate([grid, self._wanted, self._used])
        cost = pricer.cost(distinct(wanted, max(SAME, math.sqrt(spare))))
        top, part.gap = float(cost.max()), max(SHARE * self._surplus / self._loss(), LEAST_GAP)
        try:
            answer = by_interior(ConicProgram(self._cone, cost / top, is_priced=True), part)
        except UnsupportedError as error:
            raise SolverError(str(error)) from error
        Q = answer.matrix[:, P @ answer.matrix > RARE]
        spare = max(spare, LEAST_MERGED * self._loss())
        channel = merge_columns(Q, P @ Q, (P * pricer.f) @ Q, spare)
        self._used = pricer.means(channel)
        if pricer.gain(channel).sum() > self.gain.sum():
            self.rays, self.gain = channel, pricer.gain(channel)
        self._potentials = pricer.squares - top * np.asarray(answer.potentials)
        return np.ones(len(self.gain)), self._potentials


def _locally_least(numbers: FloatArray) -> BoolArray:
    """Return which numbers are not above their neighbors."""
    padded = np.concatenate([[np.inf], numbers, [np.inf]])
    return (numbers <= padded[:-2]) & (numbers <= padded[2:])


@dataclass(frozen=True)
class Probed(PricedColumns):
    """The cheapest columns at probes, in order, and what they bound between these.

    Attributes
    ----------
    at
        ``(m,)``: the probes.
    surplus
        Minus a lower bound on all reduced costs, at least 0.
    """

    at: FloatArray
    surplus: float


def probed(
    pricer: Pricer,
    cost: Callable[[FloatArray], FloatArray],
    first: FloatArray,
    goal: float,
    nearest: float,
    limits: Limits,
    curvature: float = 1.0,
) -> Probed:
    """Price columns at probes, and halve gaps between these until they cost little.

    That is at most a share of the goal, or of the largest surplus. When the time is over, there are
    only as many probes as a bound needs.

    Parameters
    ----------
    cost
        Returns the costs of the inputs at probes, ``(n_inputs, n)``: quadratic in the probe.
    first, nearest
        The first probes, and the least distance of probes.
    curvature
        The largest curvature of the cost of a column in the probe.
    """
    at, todo, parts = np.zeros(0), first, list[PricedColumns]()
    while True:
        parts.append(pricer.price(cost(todo)))
        at = np.concatenate([at, todo])
        order = np.argsort(at)
        reduced = np.concatenate([part.reduced for part in parts])[order]
        least = least_on_gaps(at[order], reduced, curvature)
        worst = min(0.0, float(reduced.min()))
        halve = least < worst - max(0.1 * goal, 0.1 * -worst)
        halve &= np.diff(at[order]) > nearest
        if not halve.any() or len(at) > MOST_PROBES or limits.expired():
            break
        todo = ((at[order][:-1] + at[order][1:]) / 2)[halve]
    rays, multipliers = (
        np.hstack(found)[:, order]
        for found in zip(*((part.rays, part.multipliers) for part in parts), strict=True)
    )
    surplus = -min(float(least.min()), worst)
    return Probed(reduced, rays, multipliers, at[order], surplus)


def least_on_gaps(
    s: FloatArray, cost: FloatArray, curvature: float | FloatArray = 1.0
) -> FloatArray:
    """Return the minimum of (1 - t) a + t b - t (1 - t) w d**2 over 0 <= t <= 1 on each gap.

    The derivative b - a - (1 - 2 t) w d**2 is 0 at t = (1 - (b - a) / (w d**2)) / 2. A missing
    curvature w > 0 counts as 1.
    """
    a, b, square = cost[:-1], cost[1:], curvature * np.diff(s) ** 2
    t = np.clip(0.5 - (b - a) / (2 * square), 0.0, 1.0)
    return a + t * (b - a) - t * (1 - t) * square


def merge_columns(
    Q: FloatArray, output: FloatArray, moment: FloatArray, budget: float
) -> FloatArray:
    """Merge columns of close posterior means, while the error grows by less than a budget.

    Merging two outputs of probabilities a, b and posterior means s, t adds a b / (a + b) (s - t)**2
    to the error; output probabilities and the moments Sum P f q are ``(n_outputs,)``.
    """
    order = np.argsort(moment / output)
    output, moment = output[order], moment[order]
    start = np.arange(len(output))
    while len(output) > 1:
        mean = moment / output
        loss = output[:-1] * output[1:] / (output[:-1] + output[1:]) * np.diff(mean) ** 2
        n = int(np.argmin(loss))
        budget -= float(loss[n])
        if budget < 0:
            break
        output = np.concatenate([output[:n], [output[n] + output[n + 1]], output[n + 2 :]])
        moment = np.concatenate([moment[:n], [moment[n] + moment[n + 1]], moment[n + 2 :]])
        start = np.delete(start, n + 1)
    group = np.searchsorted(start, np.arange(Q.shape[1]), side="right") - 1
    merged = np.zeros((len(Q), len(output)))
    np.add.at(merged.T, group, Q.T[order])
    return merged


def distinct(points: FloatArray, near: float = SAME) -> FloatArray:
    """Return 0, 1 and the points between in order, without those too close to the previous one."""
    inner = np.sort(points[(points > SAME) & (points < 1 - SAME)])
    inner = inner[np.diff(inner, prepend=0.0) > near]
    return np.concatenate([[0.0], inner, [1.0]])
