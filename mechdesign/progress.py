"""A bar for long work: what has been reached, in a terminal, gone when the work is done."""

from __future__ import annotations

import math
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mechdesign.routes.limits import Progress

__all__ = ["GapBar"]

DELAY = 0.5
"""Seconds before a bar appears: short work shows none."""

FORMAT = "{desc} |{bar:20}| {postfix}"
WIDEST = 1.0
"""The gap at which the bar is empty; it fills as the logarithm of the gap falls to its aim."""


class GapBar:
    """Shows the value, the bound and the gap of a search; a context.

    Parameters
    ----------
    aim
        The gap at which the bar is full.
    shown
        Whether to show it; None where standard error is a terminal.
    """

    def __init__(self, aim: float, shown: bool | None = None) -> None:
        from tqdm import tqdm

        hidden = None if shown is None else not shown
        self._aim = min(max(aim, 1e-12), WIDEST / 2)
        self._bar = tqdm(
            total=1.0, desc="design", bar_format=FORMAT, delay=DELAY, disable=hidden, leave=False
        )

    def __enter__(self) -> GapBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.close()

    def __call__(self, progress: Progress) -> None:
        """Show a round of the search."""
        gap = progress.gap
        if gap < math.inf:
            share = math.log(WIDEST / max(gap, self._aim)) / math.log(WIDEST / self._aim)
            self._bar.n = min(1.0, max(0.0, share))
        text = f"round {progress.rounds}, {progress.seconds:.0f} s, gap {gap:.1e}"
        text += f": {progress.bound:.8g} <= {progress.value:.8g}"
        self._bar.set_postfix_str(text)
