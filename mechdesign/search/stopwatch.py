"""A stopwatch: seconds spent in each phase of a design."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

PHASES = ("compile", "presolve", "solve", "repair", "certify")
"""The phases of a design, in order."""


class Stopwatch:
    """Measures the seconds of each phase.

    Attributes
    ----------
    start
        The start of the design, from ``time.perf_counter``.
    timings
        Seconds by the name of the phase. Time in a nested phase counts for the inner one only, so
        the phases add up to at most the total time.

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
        """Count the time of the block for a phase."""
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
        """Add the time since the last change of phase to the current phase."""
        now = time.perf_counter()
        if self._running:
            self.timings[self._running[-1]] += now - self._lap
        self._lap = now
