"""The largest surplus of a ray under one budget: a search over the sets of inputs that it raises.

A ray is 1 on a set S of protected inputs of a block and ``low`` on its other inputs. With its
probability t(S) = P . q, the surplus times t(S) is, for a separable gain,

    G(t, S) = Sum_x t h_x(q_x / t) - u . q   at t = t(S),

a sum over inputs for every t, and convex in t. So on an interval of t it is bounded by its values
at both ends, each plus a multiple of t(S) - t, where every input is chosen independently: the proof
is in :mod:`mechdesign.kernel.oracles.sources.walk`. The multiplier at an end is that of the
fractional knapsack there: the best S with t(S) = t, one input of it in part.

The knapsacks, rounded, are good sets. The search only considers sets that are better than a share
of the best of them. Intervals are cut where their ends overestimate the middle. Then the inputs are
decided one after the other, in all intervals at once; choices that can no longer be good enough are
dropped, and if there are too many, those of the largest bounds are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.evidence.rows import certificate, negated
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.oracles import Rays
from mechdesign.kernel.oracles.sources import Walk
from mechdesign.kernel.packed import Numbers
from mechdesign.problem import Problem
from mechdesign.search.cones.one_budget import OneBudgetCone
from mechdesign.search.generation import Pace, SurplusBound
from mechdesign.search.limits import Limits
from mechdesign.utilities import ColumnUtility

LEAST_LOW = 1e-20
"""Below this the checker treats e**-eps as 0."""

PACE = Pace(
    goal=3e-10,
    patience=math.inf,
    last_patience=math.inf,
    most_entries=4_000_000,
    most_boxes=10**9,
    kept=0.1,
    steps_a_second=400_000,
)
"""Every round that finds a set is a gain; a proof is quick. Boxes are choices open at a time."""

FIRST_INTERVALS, FEW_INTERVALS, MOST_INTERVALS = 32, 64, 512
"""The number of intervals of t at first, after cutting, and for a tighter bound."""

LOOSE, SHARE = 0.05, 0.25
"""An interval is cut if its bound exceeds that at an end by more than this share of itself, and of
the required surplus."""

NEAR_BEST = 0.5
"""Sets above this share of the best known surplus are searched for."""

RETURNED = 8
"""The number of returned sets, times inputs."""

STEPS_OF_A_CHOICE = 20
"""Checker steps for each decided input."""


class RaisedSets:
    """The rays of a cone of one budget, and their gains.

    Parameters
    ----------
    cone
        The blocks.
    prior
        ``(n_inputs,)``.
    utility
        A utility with a separable gain.
    """

    how, pace = "a search over sets of inputs", PACE

    def __init__(self, cone: OneBudgetCone, prior: FloatArray, utility: ColumnUtility) -> None:
        self.cone, self.prior, self.utility, self.size = cone, prior, utility, cone.size
        self.steps_of_a_box = STEPS_OF_A_CHOICE * cone.size
        self.blocks = [_Block(cone, n, prior, utility) for n in range(len(cone.blocks))]

    @classmethod
    def of(cls, problem: Problem, utility: ColumnUtility) -> RaisedSets | None:
        """Return it for one budget, a separable gain and protected inputs of positive prior."""
        cone, prior = OneBudgetCone.of(problem.cone), problem.prior.array
        if cone is None or utility.entry_gains(np.ones(problem.cone.size), prior) is None:
            return None
        occur = all(prior[inputs].sum() > 0 for _, inputs in cone.blocks)
        return cls(cone, prior, utility) if occur and cone.low > LEAST_LOW else None

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``."""
        return self.utility.gain(rays, self.prior)

    def first_rays(self, _limits: Limits) -> FloatArray:
        """Return rays of which some mixture is a channel: ones, each input raised, each lowered."""
        k, found = self.size, [np.eye(self.size)[:, self.cone.alone]]
        for block, inputs in self.cone.blocks:
            n = len(inputs)
            rays = np.zeros((k, 2 * n + 1))
            rays[block] = self.cone.low
            rays[inputs] = np.where(
                np.hstack([np.eye(n), np.eye(n) == 0, np.ones((n, 1))]), 1.0, self.cone.low
            )
            found.append(rays)
        return np.hstack(found)

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all rays, and rays with a positive one.

        Parameters
        ----------
        u
            ``(n_inputs,)`` potentials. Their means over exchangeable inputs are priced.
        goal
            A sufficiently small surplus.
        boxes
            The largest number of open choices.
        limits
            The limits of the search: open choices then keep their bounds.
        """
        limits, u = limits or Limits(), self.potentials(u)
        units = np.eye(self.size)[:, self.cone.alone[self.prior[self.cone.alone] > 0]]
        sets = [block.rounded(u) for block in self.blocks]
        best = self._best(sets, units, u)

        def search(threshold: float, slack: float, intervals: int) -> list[_Found]:
            cuts = [block.cut(u, threshold, slack, intervals) for block in self.blocks]
            return [
                block.search(u, threshold, cut, boxes, limits)
                for block, cut in zip(self.blocks, cuts, strict=True)
            ]

        threshold = max(goal, NEAR_BEST * best)
        found = search(threshold, SHARE * threshold, FEW_INTERVALS)
        sets = [np.vstack([old, new.raised]) for old, new in zip(sets, found, strict=True)]
        best = self._best(sets, units, u)
        if max(part.bound for part in found) > max(goal, best):  # some sets were not examined
            other = search(max(goal, best) + goal, SHARE * goal, MOST_INTERVALS)
            sets = [np.vstack([old, new.raised]) for old, new in zip(sets, other, strict=True)]
            best = self._best(sets, units, u)
            found = min(found, other, key=lambda parts: max(part.bound for part in parts))
        rays = list(units[:, self._surplus(units, u) > 0].T)
        for block, raised in zip(self.blocks, sets, strict=True):
            distinct = np.unique(raised, axis=0)
            surplus = self._surplus(block.rays(distinct), u)
            order = np.argsort(-surplus)[: max(1, RETURNED * self.size // block.turns)]
            rays += list(block.rays(block.turned(distinct[order[surplus[order] > 0]])).T)
        most = max(best, *(part.bound for part in found))
        seen = sum(part.seen for part in found)
        intervals = [part.intervals for part in found]
        return SurplusBound(most, rays, partial(self._certificate, u, most, intervals), seen)

    def _surplus(self, rays: FloatArray, u: FloatArray) -> FloatArray:
        return (self.gain(rays) - u @ rays) / (self.prior @ rays)

    def _best(self, sets: list[BoolArray], units: FloatArray, u: FloatArray) -> float:
        """Return the largest surplus of sets, listed by block, and of rays that are inputs."""
        rays = [block.rays(raised) for block, raised in zip(self.blocks, sets, strict=True)]
        return float(self._surplus(np.hstack([units, *rays]), u).max())

    def potentials(self, u: FloatArray) -> FloatArray:
        """Return the means of potentials over exchangeable inputs.

        They prove the same bound. The potential of a separate input that never occurs is at least
        0.
        """
        u = u.copy()
        for block in self.blocks:
            for kind in block.kinds:
                u[block.inputs[kind]] = u[block.inputs[kind]].mean()
        never = self.cone.alone[self.prior[self.cone.alone] == 0]
        u[never] = np.maximum(u[never], 0.0)
        return u

    def _certificate(
        self, u: FloatArray, surplus: float, intervals: list[list[list[float]]], problem: Problem
    ) -> Certificate:
        """Return the potentials, and the intervals by which the kernel walks over the sets."""
        ends = tuple(tuple(map(as_fraction, inner)) for inner, _ in intervals)
        slopes = tuple(Numbers(given) for _, given in intervals)
        walk = Walk(as_fraction(surplus), ends, slopes, self.cone.block_groups)
        return certificate(problem, oracle=Rays(walk), prices=negated(u))


@dataclass(frozen=True)
class _Found:
    """The result of the search in a block.

    Attributes
    ----------
    raised
        ``(n_sets, n_protected)``: sets that no bound excludes.
    bound
        On the surplus of all other sets.
    intervals
        Inner ends of the intervals of t, and the multipliers.
    seen
        The total number of open choices.
    """

    raised: BoolArray
    bound: float
    intervals: list[list[float]]
    seen: int


class _Block:
    """The sets of protected inputs of one block."""

    def __init__(
        self, cone: OneBudgetCone, place: int, prior: FloatArray, utility: ColumnUtility
    ) -> None:
        self.block, self.inputs = cone.blocks[place]
        self.prior, self.low, self.size, self.utility = prior, cone.low, cone.size, utility
        self.weights = (1 - self.low) * prior[self.inputs]
        """The increase of t when each protected input is raised."""
        self.least = self.low * float(prior[self.block].sum())
        self.most = self.least + float(self.weights.sum())
        order = np.argsort(prior[self.inputs], kind="stable")
        cuts = np.flatnonzero(np.diff(prior[self.inputs][order])) + 1
        self.kinds = np.split(order, cuts)
        """The indices of the protected inputs of each probability, which are exchangeable."""
        self.turns = max(map(len, self.kinds))
        self._ends = np.linspace(self.least, self.most, FIRST_INTERVALS + 1)
        if self.most > FIRST_INTERVALS * self.least:
            self._ends = np.geomspace(self.least, self.most, FIRST_INTERVALS + 1)

    def rays(self, raised: BoolArray) -> FloatArray:
        """Return the rays of sets, ``(n_sets, n_protected)``."""
        found = np.zeros((self.size, len(raised)))
        found[self.block] = self.low
        found[self.inputs] = np.where(raised.T, 1.0, self.low)
        return found

    def turned(self, raised: BoolArray) -> BoolArray:
        """Return sets and their images under cyclic shifts of the inputs of each kind."""
        found = []
        for turn in range(self.turns):
            moved = raised.copy()
            for kind in self.kinds:
                moved[:, kind] = raised[:, np.roll(kind, turn)]
            found.append(moved)
        return np.unique(np.vstack(found), axis=0)

    def values(self, t: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return G with no raised input, ``(n,)``, and the increment of each input, for each t."""
        x, low = self.block[:, None], self.low
        down = t * self.utility.coordinate_gain(x, low / t, self.prior) - low * u[x]
        x = self.inputs[:, None]
        change = self.utility.coordinate_gain(x, 1 / t, self.prior)
        change = t * (change - self.utility.coordinate_gain(x, low / t, self.prior))
        return down.sum(axis=0), change - (1 - low) * u[x]

    def rounded(self, u: FloatArray) -> BoolArray:
        """Return sets of large surplus: knapsacks, with the fractional input raised or not."""
        t = (self._ends[1:] + self._ends[:-1]) / 2
        _, profits = self.values(t, u)
        left = profits.T + _prices(profits.T, self.weights, t - self.least)[:, None] * self.weights
        small = 1e-9 * np.abs(left).max()
        return np.vstack([left > small, left > -small])

    def cut(self, u: FloatArray, goal: float, slack: float, most: int) -> _Intervals:
        """Return intervals of t, cut until narrower ones would help little, or up to ``most``.

        An interval is cut if its bound exceeds that at one of its ends by more than ``slack``, as a
        surplus, and a share of itself.
        """
        ends = self._ends
        while True:
            found = _Intervals(self, ends, u, goal)
            loose = found.bounds - np.minimum(found.tops[1:], found.tops[:-1])
            least = np.maximum(LOOSE * found.bounds, slack * ends[:-1])
            wide = (found.bounds > 0) & (loose > least)
            wide &= np.diff(ends) > 1e-9 * ends[1:]
            room = most - len(found.bounds)
            wide = np.flatnonzero(wide)
            if not len(wide) or room <= 0:
                return found
            wide = np.sort(wide[np.argsort(-loose[wide])[:room]])
            ends = np.insert(ends, wide + 1, (ends[wide] + ends[wide + 1]) / 2)

    def search(
        self, u: FloatArray, goal: float, intervals: _Intervals, width: int, limits: Limits
    ) -> _Found:
        """Return the sets whose surplus is not proved to be at most the goal."""
        walk = _Walk(self, intervals, u)
        raised, dropped = walk.sets(width, limits)
        inner = [intervals.ends[1:-1].tolist(), intervals.multipliers.tolist()]
        return _Found(raised, goal + dropped, inner, walk.seen)


class _Intervals:
    """Intervals of t between ends, with bounds on G - goal t on each.

    Attributes
    ----------
    ends, multipliers
        ``(n + 1,)``, in increasing order; and the multiplier of t(S) - t at each end.
    bases, profits
        ``(n + 1,)`` and ``(n + 1, n_protected)``: at each end the value with no raised input, and
        the increment of each input.
    tops
        ``(n + 1,)``: the maximum at each end, with independent inputs.
    slack
        ``(n,)``: the addition between the ends, since their multipliers differ.
    """

    def __init__(self, block: _Block, ends: FloatArray, u: FloatArray, goal: float) -> None:
        self.ends, w = ends, block.weights
        base, profits = block.values(ends, u)
        self.multipliers = _prices(profits.T, w, ends - block.least)
        self.bases = base - goal * ends + self.multipliers * (block.least - ends)
        self.profits = profits.T + self.multipliers[:, None] * w
        self.tops = self.bases + np.maximum(self.profits, 0.0).sum(axis=1)
        self.slack = np.diff(ends) * np.maximum(np.diff(self.multipliers), 0.0) / 4
        self.bounds = np.maximum(self.tops[1:], self.tops[:-1]) + self.slack


def _prices(profits: FloatArray, weights: FloatArray, needed: FloatArray) -> FloatArray:
    """Return minus the profit of a unit of weight in fractional knapsacks.

    The weight must equal the needed weight. Items without weight are free.

    Parameters
    ----------
    profits, weights, needed
        ``(n, items)``, ``(items,)`` and ``(n,)``.
    """
    heavy = weights > 0
    profits, weights = profits[:, heavy], weights[heavy]
    rate = profits / weights
    order = np.argsort(-rate, axis=1, kind="stable")
    filled = np.cumsum(weights[order], axis=1)
    place = np.minimum((filled < needed[:, None]).sum(axis=1), len(weights) - 1)
    rows = np.arange(len(profits))
    return np.asarray(-rate[rows, order[rows, place]])


class _Walk:
    """The inputs are decided one after the other, in all intervals at once.

    In each interval, inputs in nearly all or nearly no good sets come first, then those of large
    weight. Of exchangeable inputs the first ones are raised.
    """

    def __init__(self, block: _Block, intervals: _Intervals, u: FloatArray) -> None:
        self.kept = np.flatnonzero(intervals.bounds > 0)
        n, w = len(block.inputs), block.weights
        both = np.stack([self.kept, self.kept + 1])
        profits = intervals.profits[both]
        open_ = np.abs(profits).max(axis=0) < intervals.bounds[self.kept, None]
        kind = np.empty(n, dtype=np.intp)
        for number, members in enumerate(block.kinds):
            kind[members] = number
        self.order = np.argsort(open_ * (n + 1) - kind, axis=1, kind="stable")
        self.profits = np.take_along_axis(profits, self.order[None], axis=2)
        self.rest = _suffix_sums(np.maximum(self.profits, 0.0))
        self.weights = w[self.order]
        self.rest_of_weight = _suffix_sums(self.weights)
        kinds = kind[self.order]
        self.after = np.full((len(self.kept), n), n)
        for d in reversed(range(n - 1)):
            same = kinds[:, d] == kinds[:, d + 1]
            self.after[:, d] = np.where(same, self.after[:, d + 1], d + 1)
        self.bases = intervals.bases[both] + intervals.slack[self.kept]
        self.first = intervals.ends[self.kept] - block.least
        self.last = intervals.ends[self.kept + 1] - block.least
        self.left = intervals.ends[self.kept]
        self.size, self.seen = n, 0

    def sets(self, width: int, limits: Limits) -> tuple[BoolArray, float]:
        """Return the sets that are not excluded, and a bound on the dropped ones.

        The bound is on the surplus above the goal.
        """
        n, rounding = self.size, 1e-12 * float(self.last.max(initial=0.0))
        j = np.arange(len(self.kept))
        d = np.zeros(len(j), dtype=np.intp)
        a, b = self.bases
        weight = np.zeros(len(j))
        raised = np.zeros((len(j), n), dtype=bool)
        done, dropped = [np.zeros((0, n), dtype=bool)], 0.0
        while len(j):
            bound = np.maximum(a + self.rest[0][j, d], b + self.rest[1][j, d])
            keep = (bound > 0) & (weight <= self.last[j] + rounding)
            keep &= weight + self.rest_of_weight[j, d] >= self.first[j] - rounding
            keep = np.flatnonzero(keep)
            if len(keep) > width or limits.expired():
                bound = bound[keep] / self.left[j[keep]]
                order = np.argsort(-bound, kind="stable")
                most = 0 if limits.expired() else width
                dropped = max(dropped, float(bound[order[most:]].max(initial=0.0)))
                keep = keep[order[:most]]
            j, d, a, b = j[keep], d[keep], a[keep], b[keep]
            weight, raised = weight[keep], raised[keep]
            self.seen += len(j)
            whole = d == n
            done.append(raised[whole])
            j, d, a, b, weight, raised = (v[~whole] for v in (j, d, a, b, weight, raised))
            up = raised.copy()
            up[np.arange(len(j)), self.order[j, d]] = True
            raised = np.concatenate([raised, up])
            a = np.concatenate([a, a + self.profits[0][j, d]])
            b = np.concatenate([b, b + self.profits[1][j, d]])
            weight = np.concatenate([weight, weight + self.weights[j, d]])
            d = np.concatenate([self.after[j, d], d + 1])
            j = np.concatenate([j, j])
        return np.vstack(done), dropped


def _suffix_sums(values: Any) -> Any:
    """Return the sums of values[..., d:] for every d, and 0."""
    sums = np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    return np.concatenate([sums, np.zeros((*values.shape[:-1], 1))], axis=-1)
