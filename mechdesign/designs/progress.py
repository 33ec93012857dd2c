"""Progress bars in a terminal, which disappear when the work is done."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from mechdesign.writing.text import below

if TYPE_CHECKING:
    from mechdesign.search.limits import Progress

DELAY, PAUSE = 0.5, 0.1
"""Seconds before a bar appears, so that short work shows none, and between two updates."""

FORMAT = "design |{bar:20}| {desc}"
WIDEST = 1.0
"""The gap of an empty bar; it fills with the logarithm of the gap, down to its goal."""


def tqdm_bar(shown: bool | None, work: Iterable[Any] | None = None, **options: Any) -> Any:
    """Return a tqdm bar that disappears when the work is done."""
    from tqdm import tqdm

    hidden = None if shown is None else not shown
    usual = {"disable": hidden, "delay": DELAY, "leave": False, "file": below(sys.stderr)}
    return tqdm(work, **{**usual, **options})


class ProgressBar:
    """A context manager that closes its bar."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()


class GapBar(ProgressBar):
    """Shows the value, the bound and the gap of a search; a context manager."""

    def __init__(self, aim: float, shown: bool | None = None) -> None:
        super().__init__(tqdm_bar(shown, total=1.0, bar_format=FORMAT))
        self._aim, self._last = min(max(aim, 1e-12), WIDEST / 2), DELAY - PAUSE

    def __call__(self, progress: Progress) -> None:
        """Show a round of the search."""
        if progress.seconds < self._last + PAUSE:
            return
        self._last, gap = progress.seconds, progress.gap
        text = (
            f"{progress.seconds:.0f} s, round {progress.rounds}: loss at least {progress.bound:.6g}"
        )
        if gap < math.inf:
            share = math.log(WIDEST / max(gap, self._aim)) / math.log(WIDEST / self._aim)
            self._bar.n = min(1.0, max(0.0, share))
            text += f", at most {progress.value:.6g}, gap {gap:.1e}"
        self._bar.set_description_str(text)
