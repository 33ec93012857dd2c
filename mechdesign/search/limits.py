"""Stopping criteria of a search: a gap, a time limit, an interrupt; and progress reports.

A search reports its best value and its best bound after every round. Both are valid whenever it
stops: the channel is repaired, the bound is proved, and the gap is their distance.
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

OPTIMAL = 1e-8
"""The default gap of a search: below the threshold of optimality."""

PHASES = ("compile", "presolve", "solve", "repair", "certify")
"""The phases of a design, in order."""

LATE = 1.05
"""The latest end of the proof, as a multiple of the time limit, plus one second."""

LATEST = 1.2
"""The longest duration of a design, as a multiple of the time limit, plus one second."""

LEAST_SECONDS = 0.1
"""Seconds of a proof after the time limit."""

AFTER_INTERRUPT = 5.0
"""Seconds of the proof after an interrupt."""

STEPS_A_SECOND = 10_000_000
"""Steps of the kernel in a second, as in :class:`~mechdesign.resources.Resources`: the one rate by
which the time of exact work is predicted, from the number of steps that the kernel states."""

ENTRIES_A_STEP = 50
"""Entries of arrays of floats that are computed in the time of a step."""


def available_memory() -> float:
    """Return the bytes of the machine's memory; infinite if unknown."""
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
        The best of each so far, in floating point; NaN if there is none yet. Both are losses: gains
        have the opposite sign.
    seconds
        Since the search began.
    """

    rounds: int
    value: float
    bound: float
    seconds: float

    @property
    def gap(self) -> float:
        """``|value - bound| / max(1e-12, |value|)``; infinite if one is missing."""
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
        A search ends soon after this time.
    watch
        Called with the :class:`Progress` after every round.
    memory
        Bytes that a route may allocate: routes known to need more are skipped.
    clock
        Returns seconds, from any origin.
    """

    gap: float = OPTIMAL
    seconds: float = math.inf
    watch: Callable[[Progress], None] | None = None
    memory: float = math.inf
    clock: Callable[[], float] = time.perf_counter
    ended: str = field(default="", init=False)
    """A short reason why the search stopped before the gap was reached; else empty."""
    interrupted: bool = field(default=False, init=False)
    timings: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    """Seconds by the name of the phase; they add up to at most the total time."""
    reserve: float = field(default=0.0, init=False)
    """Seconds of the time limit reserved for the proof."""
    incumbent: float = field(default=math.inf, init=False)
    """The loss of the channel known before the search."""
    start: RawSolution | None = field(default=None, init=False, repr=False)
    """That channel."""
    symmetry: Any = field(default=None, init=False, repr=False)
    """A :class:`~mechdesign.search.presolve.symmetry.Symmetry` from the user."""
    bound: float = field(default=-math.inf, init=False)
    """The best bound on the loss so far."""
    _start: float = field(default=0.0, init=False)
    _phases: list[str] = field(default_factory=list, init=False, repr=False)
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
        self.charge(dict.fromkeys(PHASES, 0.0))

    def charge(self, timings: dict[str, float]) -> None:
        """Count the time of phases before these limits as part of theirs."""
        self.timings, self._start = timings, self._start - sum(timings.values())

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time of the block for a phase; that of a nested phase for the inner one only.

        Examples
        --------
        >>> limits = Limits()
        >>> with limits.phase("solve"):
        ...     with limits.phase("presolve"):
        ...         time.sleep(0.01)
        >>> limits.timings["presolve"] > limits.timings["solve"]
        True
        """
        start = time.perf_counter()
        self._phases.append(name)
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            self._phases.pop()
            self.timings[name] += spent
            for outer in self._phases[-1:]:
                self.timings[outer] -= spent

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return self.clock() - self._start

    @property
    def left(self) -> float:
        """Seconds left for the search, at least 0."""
        return max(0.0, self.seconds - self.reserve - self.elapsed)

    def keep(self, seconds: float) -> None:
        """Reserve at least this time for the proof, but at most a third of the limit."""
        if math.isfinite(self.seconds):
            self.reserve = max(self.reserve, min(self.seconds / 3, seconds))

    def steps(self, default: int, rate: float) -> int:
        """Return the number of steps of a part of a search, the same on every machine.

        A search that would use up the time of another part counts its steps instead of reading the
        clock, so that the answer does not depend on the machine's load.

        Parameters
        ----------
        default
            The largest number of steps, used without a time limit.
        rate
            Steps for each second of the time limit.
        """
        return default if math.isinf(self.seconds) else min(default, int(rate * self.seconds))

    def part(self, unit: float = 0.0, share: float = 1.0) -> Limits:
        """Return these limits, or a share of the remaining time, for a nested search.

        Its progress is reported with values times the unit; without a unit, not at all.
        """
        part = Limits(self.gap, share * self.left, memory=self.memory, clock=self.clock)
        part._whole, part._unit = self, unit
        part.timings, part._phases = self.timings, self._phases
        return part

    def expired(self) -> bool:
        """Return whether time is up or the user has interrupted, and record it in :attr:`ended`."""
        if self._whole is not None and self._whole.expired():
            self.ended = self._whole.ended
        elif self.interrupted:
            self.ended = "interrupted"
        elif self._closed or self.elapsed >= self.seconds - self.reserve:
            self.ended = f"the time limit of {self.seconds:g} s was reached"
        return bool(self.ended)

    @property
    def longest(self) -> float:
        """The longest duration of a design in seconds: work known to take longer is not started."""
        return LATEST * self.seconds + 1

    @property
    def grace(self) -> float:
        """Seconds left for the work after the search, such as the proof; always positive.

        It may end a second and a twentieth of the time limit late; after an interrupt it has
        :data:`AFTER_INTERRUPT` seconds.
        """
        if self._whole is not None:
            return self._whole.grace
        now = self.elapsed
        if self.interrupted:
            self._until = min(self._until, now + AFTER_INTERRUPT)
        return max(min(LATE * self.seconds + 1, self._until) - now, LEAST_SECONDS)

    def proof_steps(self, most: int, after: int = 0) -> int:
        """Return the number of steps of a proof; some are kept for the work after it."""
        seconds = max(self.grace - after / STEPS_A_SECOND, LEAST_SECONDS)
        return most if math.isinf(seconds) else min(most, int(STEPS_A_SECOND * seconds))

    def step(self, share: float = 0.5) -> Limits:
        """Return limits for one step: a share of the time left for the search, or for the proof.

        So a step after the search still has some time.
        """
        if not self.expired():
            return self.part(share=share)
        return Limits(self.gap, share * self.grace, memory=self.memory, clock=self.clock)

    def report(self, rounds: int, value: float, bound: float) -> bool:
        """Report a round; return whether to stop, because of the gap, the time or an interrupt."""
        if bound > self.bound:  # false for NaN
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
        """Return whether an error is a failure of a route, so that another route is tried.

        It is not if the user's own :attr:`watch` raised it, if no private channel exists, or if it
        is a bug (see :data:`mechdesign.solver_guard.NUMERICAL`).
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
        """Make these the current limits; let the first Ctrl-C end the search with its answer.

        A second Ctrl-C acts as usual. Only the main thread receives signals.
        """
        token, before = _running.set(self), None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)

        def stop(_number: int, _frame: FrameType | None) -> None:
            self.interrupted = True
            signal.signal(signal.SIGINT, before)
            if self._proving:
                raise LimitError("the proof", "an end in time", "an interrupt")

        try:
            if before is not None:  # a handler not installed from Python cannot be restored
                signal.signal(signal.SIGINT, stop)
            yield self
        finally:
            _running.reset(token)
            if before is not None:
                signal.signal(signal.SIGINT, before)


_running: ContextVar[Limits | None] = ContextVar("limits", default=None)


def running() -> Limits:
    """Return the limits of the current design; unlimited without a design.

    Work without its own limits, such as a solver call, must not exceed their :attr:`Limits.grace`.
    """
    return _running.get() or Limits()
