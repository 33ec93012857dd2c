"""A stopwatch: seconds spent in each phase of a design."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["PHASES", "Stopwatch"]

PHASES = ("compile", "presolve", "solve", "repair", "certify")
"""The phases of a design, in order."""


class Stopwatch:
    """Measures the seconds of each phase.

    Attributes
    ----------
    start
        When the design began, as ``time.perf_counter`` has it.
    timings
        Seconds by the name of the phase. A phase inside another counts for the inner one only, so
        that the phases add up to at most the time of the whole.

    Examples
    --------
    >>> stopwatch = Stopwatch()
    >>> with stopwatch.phase("solve"):
    ...     with stopwatch.phase("presolve"):
    ...         time.sleep(0.01)
    >>> stopwatch.timings["presolve"] > stopwatch.timings["solve"]
    True
    """

    def __init__(self) -> None:
        self.start = self._lap = time.perf_counter()
        self.timings = dict.fromkeys(PHASES, 0.0)
        self._running: list[str] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the seconds of the block for a phase."""
        self._count()
        self._running.append(name)
        try:
            yield
        finally:
            self._count()
            self._running.pop()

    def shared(self, count: int) -> Stopwatch:
        """Return a stopwatch for one of ``count`` problems that were solved together until now."""
        share = Stopwatch()
        share.timings = {name: spent / count for name, spent in self.timings.items()}
        share.start -= sum(share.timings.values())
        return share

    @property
    def seconds(self) -> float:
        """Seconds since the design began."""
        return time.perf_counter() - self.start

    def _count(self) -> None:
        """Give the seconds since the last change of phase to the phase that was running."""
        now = time.perf_counter()
        if self._running:
            self.timings[self._running[-1]] += now - self._lap
        self._lap = now
