"""Column generation: a restricted master problem over rays, and pricing that proves a bound.

A restricted master problem over some rays gives potentials; pricing finds rays of positive surplus
at these potentials, and bounds the surplus of all others. Potentials are smoothed: pricing uses a
mean of those of the master problem and the best so far, which prevents oscillation (Wentges 1997).

Without a time limit the effort is measured in boxes of branch and bound, never in seconds, so that
the result is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.errors import SolverError
from mechdesign.evidence.rows import Proof
from mechdesign.search.limits import OPTIMAL, Limits

ROUNDS, KEPT = 10_000, 3
"""The largest number of rounds, and the number of rays per input after a removal of rays."""

USED = 1e-12
"""Rays with a smaller weight are dropped from the channel."""

ENOUGH = 0.4
"""The goal of the rounds as a share of the requested gap."""

LEAST_GOAL = 1e-13
FIRST_BOXES = 64
"""The initial number of boxes per pricing round; it increases as potentials settle."""

WORTH_ADDING = 1e-3
"""A column is added if its surplus is above this share of the goal."""

BETTER, LEAST_SAVED = 0.05, 1e-6
"""A round that saves less than this share of the gap saves little; or of the loss, if nothing
bounds it."""


@dataclass(frozen=True)
class SurplusBound:
    """A bound on the largest surplus of a column: its gain minus its price at some potentials.

    Attributes
    ----------
    surplus
        An upper bound on the surplus of every column.
    rays
        Columns with a positive surplus.
    proof
        Returns the certificate of the resulting bound on the objective.
    boxes
        The number of boxes of branch and bound; 0 without it.
    """

    surplus: float
    rays: list[FloatArray]
    proof: Proof
    boxes: int = 0


@dataclass(frozen=True)
class Pace:
    """Termination criteria of the rounds.

    Attributes
    ----------
    goal
        Relative to the value: the goal of the rounds, which end within twice as much.
    patience
        The number of rounds with little progress before more boxes are allowed.
    last_patience
        The same once no more are allowed: then the rounds end.
    most_entries
        The number of boxes per pricing round, times inputs.
    most_boxes
        The number of boxes after which the rounds end, without a time limit.
    kept
        The share of a time limit reserved for the proof; branch and bound reserves its own need.
    worth
        Threshold of the surplus of an added column, as a share of the goal.
    most_rays
        Times the number of inputs: with more rays, only the best are kept.
    smoothing
        The weight of the best potentials so far in the priced ones; 0 where gains change.
    """

    goal: float = 3e-7
    patience: float = 3
    last_patience: float = 30
    most_entries: int = 900_000
    most_boxes: int = 100_000
    kept: float = 0.0
    worth: float = WORTH_ADDING
    most_rays: float = math.inf
    smoothing: float = 0.5


class Master(Protocol):
    """The best mixture of some rays, with the potentials of the inputs."""

    @property
    def gain(self) -> FloatArray:
        """``(n_rays,)``."""

    @property
    def rays(self) -> FloatArray:
        """``(n_inputs, n_rays)``: all rays."""

    def add(self, rays: FloatArray, gain: FloatArray) -> None:
        """Add rays with their gains."""

    def keep(self, wanted: BoolArray) -> BoolArray:
        """Drop rays that are neither wanted nor in use; return which of all stay."""

    def solve(self) -> tuple[FloatArray, FloatArray]:
        """Return the best weights of the rays, and the potentials of the inputs."""


class Pricer(Protocol):
    """Finds columns of positive surplus, and bounds the surplus of all others."""

    size: int
    how: str
    """A short description of the search."""
    pace: Pace
    steps_of_a_box: int
    """Approximate number of checker steps to bound one box; 0 without boxes."""

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``."""

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all columns, and columns with a positive one."""


class Generation:
    """The rounds of column generation.

    Parameters
    ----------
    pricer
        The pricer.
    program
        The restricted master problem, with rays of which some mixture is a channel.
    loss
        The objective as a loss, for a sum of gains; or a bound on it for an upper bound on the sum.
    limits
        When to stop.
    center
        The first priced potentials; default those of the first program.
    """

    def __init__(
        self,
        pricer: Pricer,
        program: Master,
        loss: Callable[[float], float],
        limits: Limits,
        center: FloatArray | None = None,
    ) -> None:
        self.center = center
        self.pricer, self.program, self.loss, self.limits = pricer, program, loss, limits
        self.theta: FloatArray = np.zeros(len(program.gain))
        self.rounds = self.boxes = 0
        self.bound = -np.inf
        """The best bound on the loss so far."""
        self._best: tuple[FloatArray, SurplusBound] | None = None
        self._potentials: FloatArray = np.zeros(0)
        self._failure = ""

    def run(self) -> None:
        """Solve, price, add rays, and again until the bound is near or nothing moves.

        A search that ends before anything bounds the surplus is bounded without boxes.
        """
        self._solve_and_price()
        if self._best is None:
            self._try(self._potentials, math.inf, 0)

    def _solve_and_price(self) -> None:
        boxes, idle, loss, least = FIRST_BOXES, 0, math.inf, math.inf
        pace, of_box = self.pricer.pace, self.pricer.steps_of_a_box
        wanted = ENOUGH * self.limits.gap if self.limits.gap > OPTIMAL else 0.0
        most, most_boxes = pace.most_entries // self.pricer.size, float(pace.most_boxes)
        last_patience = pace.last_patience
        if math.isfinite(self.limits.seconds):
            kept = pace.kept * self.limits.seconds if of_box else 0.0
            self.limits.reserve = max(self.limits.reserve, kept)
            most_boxes = last_patience = math.inf
        most = max(FIRST_BOXES, most)
        for self.rounds in range(1, ROUNDS + 1):
            before, last, earlier = self.bound, loss, self._potentials
            try:
                self.theta, potentials = self.program.solve()
            except SolverError as error:
                if self.rounds == 1:
                    raise
                self._failure = "" if self.limits.expired() else str(error)
                return
            self._potentials = potentials
            loss = self.loss(float(self.program.gain @ self.theta))
            least = min(least, loss)  # a solver's tolerance may make it rise
            self._forget(potentials, pace.most_rays)
            goal = max(max(pace.goal, wanted) * abs(loss), LEAST_GOAL)
            smoothed = self._smoothed(potentials)
            priced = self._try(smoothed, goal, boxes)
            useful = self._useful(priced.rays, potentials, goal)
            # rays at smoothed potentials may not help the master problem: then price at its own
            differ = not np.array_equal(smoothed, potentials)
            if not useful and differ and not self.limits.expired():
                useful = self._useful(self._try(potentials, goal, boxes).rays, potentials, goal)
            self.limits.report(self.rounds, least, self.bound)
            if loss - self.bound <= 2 * goal or self.limits.expired():
                return
            if math.isfinite(before):
                is_idle = self.bound <= before + BETTER * (loss - before)
            else:  # boxes come later
                is_idle = not of_box and last - loss <= LEAST_SAVED * abs(loss)
            idle = idle + 1 if is_idle else 0
            if is_idle and not of_box and np.array_equal(potentials, earlier):
                return  # a solver's tolerance: the last rays were in the program already
            if not useful and (not of_box or (boxes >= most and priced.boxes < boxes)):
                return  # only rounding errors are left
            if self.boxes > most_boxes:
                break
            if not useful or idle >= (pace.patience if boxes < most else last_patience):
                if not of_box:
                    return
                if boxes >= most:
                    break
                boxes, idle = min(8 * boxes, most), 0
            if useful:
                new = np.column_stack(useful)
                self.program.add(new, self.pricer.gain(new))
        self.limits.ended = f"it takes more than {self.boxes} boxes"

    def _forget(self, potentials: FloatArray, most_rays: float) -> None:
        """Drop the rays of least surplus if there are too many."""
        size = self.pricer.size
        if len(self.theta) > most_rays * size:
            surplus = self.program.gain - potentials @ self.program.rays
            least = np.partition(surplus, -KEPT * size)[-KEPT * size]
            self.theta = self.theta[self.program.keep(surplus >= least)]

    def _smoothed(self, potentials: FloatArray) -> FloatArray:
        if self._best is None:
            return potentials if self.center is None else self.center
        smoothing = self.pricer.pace.smoothing
        return smoothing * self._best[0] + (1 - smoothing) * potentials

    def _try(self, u: FloatArray, goal: float, boxes: int) -> SurplusBound:
        """Price, and keep the potentials if their bound is the best so far."""
        priced = self.pricer.price(u, goal, boxes, self.limits)
        self.boxes += priced.boxes
        bound = self.loss(float(u.sum()) + priced.surplus)
        if bound > self.bound:
            self.bound, self._best = bound, (u, priced)
        return priced

    def _useful(
        self, found: list[FloatArray], potentials: FloatArray, goal: float
    ) -> list[FloatArray]:
        """Return the rays with a positive surplus at the potentials of the master problem."""
        if not found:
            return []
        new = np.column_stack(found)
        better = self.pricer.gain(new) - potentials @ new > self.pricer.pace.worth * goal
        return [ray for ray, keep in zip(found, better, strict=True) if keep]

    @property
    def proofs(self) -> list[Proof]:
        """The best potentials so far, with the kernel's bound on the surplus there."""
        return [] if self._best is None else [self._best[1].proof]

    @property
    def columns(self) -> FloatArray:
        """The rays of the mixture, ``(n_inputs, n_used)``, each times its weight."""
        used = np.flatnonzero(self.theta > USED)  # the last rays may have no weight yet
        return np.asarray(self.program.rays[:, used] * self.theta[used])

    def notes(self) -> list[str]:
        """Return a description of the rounds."""
        plural = "s" * (self.rounds > 1)
        rounds = f"{self.rounds} round{plural} of pricing by {self.pricer.how}"
        found = [f"{rounds}, {len(self.theta)} rays in the program"]
        return [*found, self._failure] if self._failure else found
