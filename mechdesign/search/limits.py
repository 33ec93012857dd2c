"""Stopping criteria of a search: a gap, a time limit, an interrupt; and reports of its progress.

A search reports its best value and its best bound after every round. Whatever stops it, both are
valid: the channel is repaired, the bound is proved, and the gap is their distance.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from mechdesign import solver_guard
from mechdesign.errors import InfeasibleError, LimitError, MechdesignError
from mechdesign.search.base import RawSolution
from mechdesign.search.stopwatch import Stopwatch

__all__ = ["OPTIMAL", "Limits", "Progress", "available_memory", "running"]

OPTIMAL = 1e-8
"""The gap that a search aims at where none is asked for: below what counts as optimal."""


LATE = 1.05
"""Of the time limit, when the proof ends at the latest, but for one second."""

LATEST = 1.2
"""Of the time limit, what a design may take, but for one second."""

LEAST_SECONDS = 0.1
"""Seconds that a proof has where time is over."""

AFTER_INTERRUPT = 5.0
"""Seconds that the proof of what an interrupted search has found may take."""


def available_memory() -> float:
    """Return the bytes of the machine's memory; infinite where the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf


@dataclass(frozen=True)
class Progress:
    """The progress of a search.

    Attributes
    ----------
    rounds
        Rounds, or iterations, so far.
    value, bound
        The best of each so far, in floating point; NaN where there is none yet. Both are losses:
        a gain has its sign changed.
    seconds
        Since the search began.
    """

    rounds: int
    value: float
    bound: float
    seconds: float

    @property
    def gap(self) -> float:
        """``|value - bound| / max(1e-12, |value|)``; infinite where one is missing."""
        gap = abs(self.value - self.bound) / max(1e-12, abs(self.value))
        return math.inf if math.isnan(gap) else gap


@dataclass
class Limits:
    """Limits that stop a search.

    Parameters
    ----------
    gap
        A search may end once its gap is at most this.
    seconds
        A search ends soon after so many seconds.
    watch
        Called with the :class:`Progress` after every round.
    memory
        Bytes that a route may hold: one that is known to need more is not tried.
    clock
        Returns seconds, from any start.
    """

    gap: float = OPTIMAL
    seconds: float = math.inf
    watch: Callable[[Progress], None] | None = None
    memory: float = math.inf
    clock: Callable[[], float] = time.perf_counter
    ended: str = field(default="", init=False)
    """Why the search stopped before the gap was reached, in a few words; else empty."""
    interrupted: bool = field(default=False, init=False)
    stopwatch: Stopwatch = field(default_factory=Stopwatch, init=False, repr=False)
    """Where the seconds of each phase are counted."""
    reserve: float = field(default=0.0, init=False)
    """Seconds of the time limit that are kept for the proof."""
    incumbent: float = field(default=math.inf, init=False)
    """The loss of a channel that is there before the search begins."""
    start: RawSolution | None = field(default=None, init=False, repr=False)
    """That channel."""
    symmetry: Any = field(default=None, init=False, repr=False)
    """A :class:`~mechdesign.search.presolve.symmetry_group.Symmetry` that the user has named."""
    bound: float = field(default=-math.inf, init=False)
    """The best bound on the loss so far."""
    _start: float = field(default=0.0, init=False)
    _until: float = field(default=math.inf, init=False)
    _told: float = field(default=math.nan, init=False)
    _proving: bool = field(default=False, init=False)
    _closed: bool = field(default=False, init=False)
    _whole: Limits | None = field(default=None, init=False)
    _unit: float = field(default=0.0, init=False)
    _raised: Exception | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._start = self.clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return self.clock() - self._start

    @property
    def left(self) -> float:
        """Seconds left for the search, at least 0."""
        return max(0.0, self.seconds - self.reserve - self.elapsed)

    def keep(self, seconds: float) -> None:
        """Keep at least so many seconds for the proof, but not more than a third of the limit."""
        if math.isfinite(self.seconds):
            self.reserve = max(self.reserve, min(self.seconds / 3, seconds))

    def steps(self, default: int, rate: float) -> int:
        """Return how many steps a part of a search may take, the same on every machine.

        A search that would use up the time before another part has had its turn counts its steps
        instead of asking the clock, so that the answer does not depend on the machine's load.

        Parameters
        ----------
        default
            The most of them, and how many where there is no time limit.
        rate
            Steps for each second of the time limit.
        """
        return default if math.isinf(self.seconds) else min(default, int(rate * self.seconds))

    def part(self, unit: float = 0.0, share: float = 1.0) -> Limits:
        """Return these limits, or a share of the time left, for a search within the search.

        Its progress is reported with values times the unit; without a unit, not at all.
        """
        part = Limits(self.gap, share * self.left, memory=self.memory, clock=self.clock)
        part._whole, part._unit, part.stopwatch = self, unit, self.stopwatch
        return part

    def expired(self) -> bool:
        """Return whether time is up or the user has interrupted; :attr:`ended` then names which."""
        if self._whole is not None and self._whole.expired():
            self.ended = self._whole.ended
        elif self.interrupted:
            self.ended = "interrupted"
        elif self._closed or self.elapsed >= self.seconds - self.reserve:
            self.ended = f"the time limit of {self.seconds:g} s was reached"
        return bool(self.ended)

    @property
    def longest(self) -> float:
        """Seconds that a design may take in all: what is known to take longer is not begun."""
        return LATEST * self.seconds + 1

    @property
    def grace(self) -> float:
        """Seconds left for what comes after the search, such as the proof; never quite 0.

        It may be late by a second and a twentieth of the time limit; where the search was
        interrupted it has :data:`AFTER_INTERRUPT` seconds.
        """
        if self._whole is not None:
            return self._whole.grace
        now = self.elapsed
        if self.interrupted:
            self._until = min(self._until, now + AFTER_INTERRUPT)
        return max(min(LATE * self.seconds + 1, self._until) - now, LEAST_SECONDS)

    def proof_steps(self, most: int, rate: float) -> int:
        """Return how many steps a proof may take, of which there are so many in a second."""
        return most if math.isinf(self.grace) else min(most, int(rate * self.grace))

    def step(self, share: float = 0.5) -> Limits:
        """Return limits for one step: a share of the time left for the search, or else the proof.

        Thus a step after the search still has some time.
        """
        if not self.expired():
            return self.part(share=share)
        return Limits(self.gap, share * self.grace, memory=self.memory, clock=self.clock)

    def report(self, rounds: int, value: float, bound: float) -> bool:
        """Report a round; return whether to stop, because of the gap, the time or an interrupt."""
        if bound > self.bound:  # NaN is not
            self.bound = bound
        best = value
        if math.isfinite(self.incumbent):
            best, bound = min(value, self.incumbent), self.bound
        progress, enough = Progress(rounds, best, bound, self.elapsed), False
        try:
            if self.watch is not None:
                self.watch(progress)
            if self._whole is not None and self._unit:
                ended = self._whole.report(rounds, self._unit * value, self._unit * bound)
                enough = ended and math.isfinite(self._whole.incumbent)
        except Exception as error:
            self._raised = error
            raise
        return self._too_near() or self.expired() or enough or progress.gap <= self.gap

    def _too_near(self) -> bool:
        """Return whether a round as long as the last one would end too late."""
        now = self.elapsed
        lap, self._told = now - self._told, now
        ends: Limits | None = self
        while ends is not None and lap > ends.left:
            ends._closed, ends = True, ends._whole
        return self._closed

    def is_failure(self, error: Exception) -> bool:
        """Return whether an error is a failure of a route, so that another one is to be tried.

        It is not if the user's own :attr:`watch` raised it, if no private channel exists, or if it
        is a mistake in the program (see :data:`mechdesign.solver_guard.NUMERICAL`).
        """
        final = error is self._raised or isinstance(error, InfeasibleError)
        return not final and isinstance(error, (MechdesignError, *solver_guard.NUMERICAL))

    @contextmanager
    def proof(self) -> Iterator[None]:
        """Let the first Ctrl-C end a proof, by a LimitError in it, and not the search."""
        root = self
        while root._whole is not None:
            root = root._whole
        root._proving = True
        try:
            yield
        finally:
            root._proving = False

    @contextmanager
    def hold(self) -> Iterator[Limits]:
        """Make these the limits of all that runs inside the block, and let Ctrl-C end it."""
        token = _running.set(self)
        try:
            with self.interruptible():
                yield self
        finally:
            _running.reset(token)

    @contextmanager
    def interruptible(self) -> Iterator[Limits]:
        """Let the first Ctrl-C stop the search and keep its answer; a second one acts as usual.

        This is for the main thread, which alone receives signals; elsewhere nothing changes.
        """
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = signal.getsignal(signal.SIGINT)

        def stop(_number: int, _frame: FrameType | None) -> None:
            self.interrupted = True
            signal.signal(signal.SIGINT, before)
            if self._proving:
                raise LimitError("the proof", "an end in time", "an interrupt")

        if before is None:  # a handler that was not installed from Python cannot be restored
            yield self
            return
        signal.signal(signal.SIGINT, stop)
        try:
            yield self
        finally:
            signal.signal(signal.SIGINT, before)


_running: ContextVar[Limits | None] = ContextVar("limits", default=None)


def running() -> Limits:
    """Return the limits of the design that is under way; none where there is no design.

    What may take long and has no limits of its own, as a solver, is not to outlast their
    :attr:`Limits.grace`.
    """
    return _running.get() or Limits()
