"""Cells that are numbers of an interval, for a continuous channel."""

from __future__ import annotations

import math
import re
from functools import partial

import numpy as np
import pyarrow as pa

from mechdesign._typing import BoolArray, FloatArray, WordArray
from mechdesign.collection.tables.cells import Cells
from mechdesign.collection.tables.policies import EMPTY, OTHER, Reader, policy_of
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InputError, shown

__all__ = ["NumberReader"]

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

OUTSIDE = "a number outside"

WORD = 64


class NumberReader(Reader):
    """Turns the cells of a column into doubles of an interval, each the nearest to its decimal.

    What is no decimal number is unknown, and so is a number outside the interval, which the policy
    ``"clip"`` takes as the nearer end. A cell of spaces, or none, is missing.

    Parameters
    ----------
    channel
        What the column is drawn by.
    unknown, missing
        What becomes of cells that are no number of the interval, and of cells that hold nothing:
        policies by name.

    Raises
    ------
    InputError
        If there is no such policy, or it maps to no number of the interval.
    """

    def __init__(self, channel: ContinuousChannel, unknown: str, missing: str) -> None:
        self._low, self._high = float(channel.interval.low), float(channel.interval.high)
        self._expected = f"numbers of {channel.interval.span}"
        super().__init__(
            policy_of(unknown, "unknown", self._known, clips=True),
            policy_of(missing, "missing", self._known, clips=False),
        )
        self._total, self._sums = 0, [0, 0]

    def read(self, cells: Cells) -> tuple[FloatArray, BoolArray | None]:
        """Return the number of each row, and which rows stay; None if all do."""
        numbers = self._numbers(cells)
        left_out = np.isnan(numbers)
        return numbers[cells.which], ~left_out[cells.which] if left_out.any() else None

    def count(self, drawn_for: FloatArray) -> None:
        """Count rows that a report was drawn for."""
        self._total += len(drawn_for)
        words = (drawn_for + 0.0).view(np.uint64)  # there is one zero
        for n, start in enumerate(STARTS):
            self._sums[n] += int(_mixed(words ^ start).sum(dtype=np.uint64))

    def counts(self) -> dict[str, int]:
        """Return how many rows were counted, under a fingerprint of their numbers in any order.

        Numbers may all differ, so that to count each by itself would take memory without bound.
        """
        prints = [f"{total % (1 << WORD):016x}" for total in self._sums]
        return {"".join(prints): self._total} if self._total else {}

    def _numbers(self, cells: Cells) -> FloatArray:
        """Return the number of each different text; NaN if its rows are left out."""
        try:
            numbers = np.asarray(pa.array(cells.texts, pa.string()).cast(pa.float64()))
        except (pa.ArrowInvalid, UnicodeEncodeError):
            pass
        else:
            if ((numbers >= self._low) & (numbers <= self._high) & np.isfinite(numbers)).all():
                return numbers
        counts = np.bincount(cells.which, minlength=len(cells.texts))
        found = np.zeros(len(cells.texts))  # of a text that no cell has, any
        for n in cells.as_they_occur():
            found[n] = self._number(cells, n, int(counts[n]))
        return found

    def _number(self, cells: Cells, n: int, count: int) -> float:
        text = (cells.texts[n] or "").strip()
        if NUMBER.fullmatch(text) is None:
            policy, given = (self.unknown, OTHER) if text else (self.missing, EMPTY)
            label = policy.settle(count, partial(self._refusal, cells, n, given))
        elif self._low <= float(text) <= self._high and math.isfinite(float(text)):
            return float(text)
        else:
            nearest = repr(min(max(float(text), self._low), self._high))
            refusal = partial(self._refusal, cells, n, OUTSIDE)
            label = self.unknown.settle_outside(count, refusal, nearest)
        return math.nan if label is None else float(label)

    def _refusal(self, cells: Cells, n: int, given: str) -> InputError:
        return InputError(cells.place(n), self._expected, given)

    def _known(self, label: str, key: str) -> str:
        """Return the number that cells are taken as."""
        number = float(label) if NUMBER.fullmatch(label.strip()) else math.nan
        if not (self._low <= number <= self._high and math.isfinite(number)):
            raise InputError(key, self._expected, shown(label))
        return repr(number)


STARTS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03))
"""Odd words that make two sums of one."""


def _mixed(words: WordArray) -> WordArray:
    """Return words whose every bit depends on every bit of the given ones (splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))
