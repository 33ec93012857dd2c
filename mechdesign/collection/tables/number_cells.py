"""Cells that are numbers of an interval, or points of a box, for a channel that rounds them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
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

WORD = 64


class NumberReader(Reader):
    """Turns the cells of a column into doubles, each the nearest to its decimal.

    A number is written as one, a point as ``"(0.5, 2)"``, which two columns are read as. What is
    none is unknown, and so is one outside, which the policy ``"clip"`` takes as the nearest that is
    inside. A cell of spaces, or none, is missing.

    Parameters
    ----------
    channel
        What the column is drawn by.
    unknown, missing
        What becomes of cells that are no number inside, and of cells that hold nothing: policies
        by name.

    Raises
    ------
    InputError
        If there is no such policy, or it maps to nothing inside.
    """

    def __init__(self, channel: ContinuousChannel, unknown: str, missing: str) -> None:
        self._low = [float(side.low) for side in channel.sides]
        self._high = [float(side.high) for side in channel.sides]
        self._expected, self._noun = f"{channel.noun}s of {channel.span}", channel.noun
        super().__init__(
            policy_of(unknown, "unknown", self._known, clips=True),
            policy_of(missing, "missing", self._known, clips=False),
        )
        self._total, self._sums = 0, [0, 0]

    def read(self, cells: Cells) -> tuple[FloatArray, BoolArray | None]:
        """Return the number or the point of each row, and which rows stay; None if all do."""
        found = self._of_texts(cells)
        if len(self._low) == 1:
            found = found[:, 0]
        left_out: BoolArray = np.isnan(found.reshape(len(found), len(self._low)).sum(axis=1))
        return found[cells.which], ~left_out[cells.which] if left_out.any() else None

    def count(self, drawn_for: FloatArray) -> None:
        """Count rows that a report was drawn for."""
        self._total += len(drawn_for)
        words = (drawn_for + 0.0).view(np.uint64).reshape(len(drawn_for), -1)  # there is one zero
        for n, start in enumerate(STARTS):
            mixed = np.full(len(words), start)
            for column in words.T:
                mixed = _mixed(column ^ mixed)
            self._sums[n] += int(mixed.sum(dtype=np.uint64))

    def counts(self) -> dict[str, int]:
        """Return how many rows were counted, under a fingerprint of their numbers in any order.

        Numbers may all differ, so that to count each by itself would take memory without bound.
        """
        prints = [f"{total % (1 << WORD):016x}" for total in self._sums]
        return {"".join(prints): self._total} if self._total else {}

    def _of_texts(self, cells: Cells) -> FloatArray:
        """Return the coordinates of each different text; NaN if its rows are left out."""
        split = [self._parts(text or "") for text in cells.texts]
        if all(len(parts) == len(self._low) for parts in split):
            try:
                columns = [pa.array(each, pa.string()) for each in zip(*split, strict=True)]
                numbers = np.stack([each.cast(pa.float64()).to_numpy() for each in columns], axis=1)
            except (pa.ArrowInvalid, UnicodeEncodeError, ValueError):
                pass
            else:
                if all(map(self._holds, (numbers.min(axis=0), numbers.max(axis=0)))):
                    return np.asarray(numbers)
        counts = np.bincount(cells.which, minlength=len(cells.texts))
        found = np.zeros((len(cells.texts), len(self._low)))  # of a text that no cell has, any
        for n in cells.as_they_occur():
            found[n] = self._of_text(cells, n, int(counts[n]))
        return found

    def _of_text(self, cells: Cells, n: int, count: int) -> Sequence[float]:
        text = (cells.texts[n] or "").strip()
        given = self._numbers(text)
        if given is None:
            policy, why = (self.unknown, OTHER) if text else (self.missing, EMPTY)
            label = policy.settle(count, partial(self._refusal, cells, n, why))
        elif self._holds(given):
            return given
        else:
            nearest = np.clip(given, self._low, self._high).tolist()
            refusal = partial(self._refusal, cells, n, f"a {self._noun} outside")
            label = self.unknown.settle_outside(count, refusal, self._text(nearest))
        return list(map(float, ["nan"] * len(self._low) if label is None else self._parts(label)))

    def _parts(self, text: str) -> list[str]:
        """Return the coordinates in a text, whatever they are."""
        if len(self._low) == 1:
            return [text]
        text = text.strip()
        if text[:1] != "(" or text[-1:] != ")":
            return []
        return [part.strip() for part in text[1:-1].split(",")]

    def _numbers(self, text: str) -> list[float] | None:
        """Return the coordinates in a text; None if it is no decimal number or point."""
        parts = [part.strip() for part in self._parts(text)]
        if len(parts) != len(self._low) or not all(map(NUMBER.fullmatch, parts)):
            return None
        return list(map(float, parts))

    def _holds(self, numbers: Sequence[float]) -> bool:
        sides = zip(self._low, numbers, self._high, strict=True)
        return all(low <= x <= high and math.isfinite(x) for low, x, high in sides)

    def _text(self, numbers: Sequence[float]) -> str:
        parts = ", ".join(map(repr, numbers))
        return f"({parts})" if len(numbers) > 1 else parts

    def _refusal(self, cells: Cells, n: int, given: str) -> InputError:
        return InputError(cells.place(n), self._expected, given)

    def _known(self, label: str, key: str) -> str:
        """Return the number or the point that cells are taken as."""
        numbers = self._numbers(label)
        if numbers is None or not self._holds(numbers):
            raise InputError(key, self._expected, shown(label))
        return self._text(numbers)


STARTS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03))
"""Odd words that make two sums of one."""


def _mixed(words: WordArray) -> WordArray:
    """Return words whose every bit depends on every bit of the given ones (splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))
