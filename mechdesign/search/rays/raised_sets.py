"""The largest surplus of a ray under one budget: a search over the sets of inputs that it raises.

A ray is 1 on a set S of protected inputs of a block and ``low`` on its other inputs, or these times
the scale of each input. With its
probability t(S) = P . q, the surplus times t(S) is, for a separable gain,

    G(t, S) = Sum_x t h_x(q_x / t) - u . q   at t = t(S),

a sum over inputs for every t, and convex in t. At each t of a grid the fractional knapsack with
t(S) = t has a multiplier, and rounds to good sets. With these multipliers the walk of the kernel
(:mod:`mechdesign.kernel.oracles.walk`) visits the sets of which a claimed surplus is not
proved: none for a large claim. The least claim whose walk is short enough is found by bisection.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import LimitError
from mechdesign.evidence.rows import certificate, negated
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.oracles import Rays, Walk
from mechdesign.kernel.oracles.walk import open_sets
from mechdesign.kernel.packed import Numbers
from mechdesign.problem import Problem
from mechdesign.search.cones.forms import OneBudgetCone
from mechdesign.search.cones.pricing import BlockPricer
from mechdesign.search.generation import Pace, SurplusBound
from mechdesign.search.limits import Limits
from mechdesign.search.rays.boxes import BoxSearch
from mechdesign.utilities import ColumnUtility

LEAST_LOW = 1e-20
"""Below this the checker treats e**-eps as 0."""

PACE = Pace(3e-10, math.inf, math.inf, most_entries=4_000_000, most_boxes=10**9, kept=0.1)
"""Every round that finds a set is a gain. Boxes are places of a walk."""

INTERVALS, MOST_ENDS, CLAIMS = 128, 400, 6
"""The first number of intervals of t; the number of ends up to which those are halved in which a
walk was too long; and the number of claims in a round."""

MOST_CHANGES, NEAREST = 2000, 8
"""The number of neighbors of a set in the local search, and of those that are returned."""

PLACES_OF_A_BOX = 500
"""Places of a walk in the time of a box, of which some bound what is too long for a walk."""

RETURNED = 8
"""The number of returned sets, times inputs."""

ROUNDING = 1e-12


class RaisedSets:
    """The rays of a cone of one budget, and their gains, a sum over inputs."""

    how, pace, steps_of_a_box = "a search over sets of inputs", PACE, 30

    def __init__(
        self,
        cone: OneBudgetCone,
        prior: FloatArray,
        utility: ColumnUtility,
        boxes: BoxSearch | None = None,
    ) -> None:
        self.cone, self.prior, self.utility, self.size = cone, prior, utility, cone.size
        self.by_boxes = boxes
        self.blocks = [_Block(cone, prior, *block) for block in cone.blocks]

    @classmethod
    def of(
        cls, problem: Problem, utility: ColumnUtility, boxes: BoxSearch | None = None
    ) -> RaisedSets | None:
        """Return it for one budget, a separable gain and protected inputs of positive prior."""
        cone, prior = OneBudgetCone.of(problem.cone, scaled=True), problem.prior.array
        if cone is None or utility.entry_gains(np.ones(problem.cone.size), prior) is None:
            return None
        occur = all(prior[inputs].sum() > 0 for _, inputs in cone.blocks)
        return cls(cone, prior, utility, boxes) if occur and cone.low > LEAST_LOW else None

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``."""
        return self.utility.gain(rays, self.prior)

    def first_rays(self, _limits: Limits) -> FloatArray:
        """Return the rays that raise one input, and 1, of which some mixture is a channel."""
        raised = BlockPricer(self.cone).start() * self.cone.scales[:, None]
        return np.column_stack([np.ones(self.size), raised])

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all rays, and rays with a positive one.

        ``boxes`` is the number of places that a walk may visit.
        """
        limits, u, seen, failed = limits or Limits(), self.potentials(u), 0, False
        tables = [_Table(block, self, u, block.ends) for block in self.blocks]
        rays = np.eye(self.size)[:, self.cone.alone[self.prior[self.cone.alone] > 0]]
        rays = np.hstack([rays, *(self._climbed(table, u) for table in tables)])
        best = float(self._surplus(rays, u).max())
        bound = max(best, *(table.claim for table in tables))
        claim = low = max(goal, best)
        for _ in range(CLAIMS):
            if claim >= bound or limits.expired():
                break
            places = _places(boxes, limits)
            try:
                more = [table.block.rays(table.open_sets(claim, places)) for table in tables]
                rays = np.hstack([rays, *more])
                best = float(self._surplus(rays, u).max())
                bound = max(claim, best)
            except LimitError:
                low, failed = claim, True
                tables = [table.halved(self, claim) for table in tables]
                bound = min(bound, max(best, *(table.claim for table in tables)))
            seen += next(places, boxes)
            claim = math.sqrt(low * bound)
        surplus = self._surplus(rays, u)
        order = np.argsort(-surplus)[: RETURNED * self.size]
        found = list(self._turned(rays[:, order[surplus[order] > 0]]).T)
        if failed and self.by_boxes and boxes > PLACES_OF_A_BOX:
            other = self.by_boxes.price(u, goal, boxes // PLACES_OF_A_BOX, limits)
            if other.surplus < bound:
                return replace(other, rays=found, boxes=seen)
        return SurplusBound(bound, found, partial(_certificate, bound, u, tables), seen)

    def _climbed(self, table: _Table, u: FloatArray) -> FloatArray:
        """Return rays of large surplus: rounded knapsacks, and the sets about the best of them.

        A local search raises or lowers one or two inputs at a time.
        """
        sets, best = table.rounded(), -math.inf
        found = [table.block.rays(sets)]
        while (surplus := self._surplus(rays := table.block.rays(sets), u)).max() > best:
            order = np.argsort(-surplus)[:NEAREST]
            best, sets = float(surplus[order[0]]), sets[order[0]] ^ table.block.changes
            found.append(rays[:, order])
        return np.hstack(found)

    def _surplus(self, rays: FloatArray, u: FloatArray) -> FloatArray:
        return (self.gain(rays) - u @ rays) / (self.prior @ rays)

    def _turned(self, rays: FloatArray) -> FloatArray:
        """Return rays and their images under cyclic shifts of exchangeable inputs."""
        kinds = [kind for block in self.blocks for kind in block.kinds]
        found = [rays]
        for turn in range(1, max(map(len, kinds))):
            found.append(rays.copy())
            for kind in kinds:
                found[-1][kind] = rays[np.roll(kind, turn)]
        return np.unique(np.hstack(found), axis=1)

    def potentials(self, u: FloatArray) -> FloatArray:
        """Return the means of potentials over exchangeable inputs, which prove the same bound.

        The potential of a separate input that never occurs is at least 0.
        """
        u = u.copy()
        for kind in (kind for block in self.blocks for kind in block.kinds):
            u[kind] = u[kind].mean()
        never = self.cone.alone[self.prior[self.cone.alone] == 0]
        u[never] = np.maximum(u[never], 0.0)
        return u


class _Block:
    """A block of inputs, of which some are protected.

    Attributes
    ----------
    masses, least
        What each protected input adds to t, and t with no raised input.
    ends
        Ends of intervals of t.
    changes
        One or two protected inputs in each row.
    kind, kinds
        The number of each protected input's kind, of one probability and scale; and the inputs of
        each kind, which are exchangeable.
    """

    def __init__(
        self, cone: OneBudgetCone, prior: FloatArray, block: IntArray, inputs: IntArray
    ) -> None:
        self.cone, self.block, self.inputs = cone, block, inputs
        scaled = prior * cone.scales
        self.masses = (1 - cone.low) * scaled[inputs]
        self.least = cone.low * float(scaled[block].sum())
        most = self.least + float(self.masses.sum())
        self.ends = np.geomspace(self.least, most, INTERVALS + 1)
        i, j = np.triu_indices(len(inputs))
        one = np.eye(len(inputs), dtype=bool)
        self.changes = (one[i] | one[j])[:: -(-len(i) // MOST_CHANGES)]
        own = np.column_stack([prior, cone.scales])[inputs]
        self.kind = np.unique(own, axis=0, return_inverse=True)[1].ravel()
        self.kinds = [inputs[self.kind == n] for n in range(self.kind.max() + 1)]

    def rays(self, raised: BoolArray) -> FloatArray:
        """Return the rays of sets, ``(n_sets, n_protected)``."""
        found = np.zeros((self.cone.size, len(raised)))
        found[self.block] = self.cone.low
        found[self.inputs] = np.where(raised.T, 1.0, self.cone.low)
        return found * self.cone.scales[:, None]


class _Table:
    """The values of a block at the ends of its intervals, at potentials.

    Attributes
    ----------
    multipliers, bases, profits
        At each end the multiplier of t(S) - t, the value with no raised input, and the increment of
        each input.
    claim
        A surplus that no walk is needed to prove.
    """

    def __init__(self, block: _Block, whole: RaisedSets, u: FloatArray, t: FloatArray) -> None:
        self.block, self.ends, w, self._u = block, t, block.masses, u
        self.u, prior = u[block.inputs], whole.prior

        def worth(x: IntArray, q: float) -> FloatArray:
            entry = q * block.cone.scales[x, None]
            gains = whole.utility.coordinate_gain(x[:, None], entry / t, prior)
            return np.asarray(t * gains - entry * u[x, None])

        low, inputs = block.cone.low, block.inputs
        bases, profits = (
            worth(block.block, low).sum(axis=0),
            worth(inputs, 1.0) - worth(inputs, low),
        )
        self.multipliers = m = _prices(profits.T, w, t - block.least)
        self.bases, self.profits = bases + m * (block.least - t), profits.T + m[:, None] * w
        self.slack = np.diff(t) * np.maximum(np.diff(m), 0.0) / 4
        tops = self.bases + np.maximum(self.profits, 0.0).sum(axis=1)
        claims = [(tops[side] + self.slack) / t[side] for side in (np.s_[:-1], np.s_[1:])]
        self.claims = np.maximum(*claims)
        self.claim = float(self.claims.max())

    def halved(self, whole: RaisedSets, claim: float) -> _Table:
        """Return the table with the intervals halved in which a larger surplus is not excluded."""
        t, is_open = self.ends, self.claims > claim
        if len(t) + is_open.sum() > MOST_ENDS:
            return self
        middle = np.sqrt(t[:-1] * t[1:])[is_open]
        return _Table(self.block, whole, self._u, np.sort(np.append(t, middle)))

    def rounded(self) -> BoolArray:
        """Return sets of large surplus: knapsacks, with the fractional input raised or not."""
        small = 1e-9 * np.abs(self.profits).max()
        return np.vstack([self.profits > small, self.profits > -small])

    def open_sets(self, claim: float, places: Iterator[int]) -> BoolArray:
        """Return the sets whose surplus is not proved to be at most the claim.

        A LimitError ends too long a walk.
        """
        block, t = self.block, self.ends
        masses, u, profits = block.masses.tolist(), self.u.tolist(), self.profits.tolist()
        bases, near = (self.bases - claim * t).tolist(), ROUNDING * t[-1]
        found = set[tuple[int, ...]]()

        def alike(i: int, j: int) -> bool:
            return bool(block.kind[i] == block.kind[j])

        for n in np.flatnonzero(self.claims > claim).tolist():
            left = float(t[n] - near), bases[n], profits[n]
            right = float(t[n + 1] + near), bases[n + 1], profits[n + 1]
            sides = left, right, float(self.slack[n])
            found.update(open_sets(*sides, block.least, masses, u, alike, places))
        raised = np.zeros((len(found), len(u)), dtype=bool)
        for row, some in zip(raised, found, strict=True):
            row[list(some)] = True
        return raised


def _certificate(
    surplus: float, u: FloatArray, tables: list[_Table], problem: Problem
) -> Certificate:
    """Return the potentials, and the intervals by which the kernel walks over the sets."""
    ends = tuple(tuple(map(as_fraction, table.ends[1:-1].tolist())) for table in tables)
    slopes = tuple(Numbers(table.multipliers.tolist()) for table in tables)
    cone = tables[0].block.cone
    walk = Walk(as_fraction(surplus), ends, slopes, cone.block_groups)
    return certificate(problem, oracle=Rays(walk), prices=negated(u))


def _places(most: int, limits: Limits) -> Iterator[int]:
    """Yield numbers until there are too many, or the time is over."""
    for n in range(most):
        if n % 1000 == 999 and limits.expired():
            return
        yield n


def _prices(profits: FloatArray, weights: FloatArray, needed: FloatArray) -> FloatArray:
    """Return minus the profit of a unit of weight in fractional knapsacks.

    The weight must equal the needed weight. Items without weight are free. Shapes: ``(n, items)``,
    ``(items,)`` and ``(n,)``.
    """
    heavy = weights > 0
    profits, weights = profits[:, heavy], weights[heavy]
    rate = profits / weights
    order = np.argsort(-rate, axis=1, kind="stable")
    filled = np.cumsum(weights[order], axis=1)
    place = np.minimum((filled < needed[:, None]).sum(axis=1), len(weights) - 1)
    rows = np.arange(len(profits))
    return np.asarray(-rate[rows, order[rows, place]])
