"""Conversion of cells to records, by the policies of a user, and to reports."""

from __future__ import annotations

import contextlib
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import AnyArray, BoolArray, FloatArray, Int64Array, WordArray
from mechdesign.collection.tables.cells import Cells, text_array
from mechdesign.continuous import ContinuousChannel
from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown
from mechdesign.reports import Alphabet, Labels

EMPTY, OTHER = "an empty cell", "another value"
"""Descriptions of a cell in an error, which never quotes it, as it may be private."""

HINT = '{}="drop" or "map:LABEL" (--{}) lets such cells pass'
"""The hint for a rejected cell, by the name of the policy."""

MAP = "map:"

DONE = {"refuse": "refused", "drop": "dropped", "clip": "taken as the nearer end of the interval"}
"""The policies except ``map:LABEL``, and their treatment of a cell."""

SPACE, NUMBER = r"[\pZ\s\v]*", r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""Regular expressions of Arrow."""

WORD = 64


class Policy:
    """The treatment of unknown or missing cells: refuse, drop, map to a label, or clip.

    ``known`` returns the canonical text of a label, from its text and its key, or raises
    InputError. ``label`` replaces cells; None drops them. ``count`` and ``done`` are the number of
    cells so far and their treatment.
    """

    def __init__(
        self, text: Any, key: str, known: Callable[[str, str], str], *, clips: bool = False
    ) -> None:
        self.name, self.count = text, 0
        self.label: str | None = None
        if isinstance(text, str) and text.startswith(MAP):
            self.label = known(text.removeprefix(MAP), key)
            self.done = f"taken as {self.label!r}"
        elif isinstance(text, str) and text in DONE and (clips or text != "clip"):
            self.done = DONE[text]
        else:
            expected = "refuse, drop or map:LABEL" + (" or clip" if clips else "")
            raise InputError(key, expected, shown(text))

    @property
    def used(self) -> tuple[int, str]:
        """The number of cells, and their treatment."""
        return self.count, self.done


class Reader(ABC):
    """Converts the cells of a column to records of a mechanism, by the policies of a user."""

    expected: str
    """The cells that the mechanism accepts, for errors."""

    outside = ""
    """A number outside the domain, for errors."""

    clips = False

    def __init__(self, unknown: str, missing: str) -> None:
        self.unknown = Policy(unknown, "unknown", self._known, clips=self.clips)
        self.missing = Policy(missing, "missing", self._known)

    @abstractmethod
    def _known(self, label: str, key: str) -> str:
        """Return the canonical text of a label, or raise InputError."""

    @abstractmethod
    def _find(self, texts: Sequence[str]) -> tuple[AnyArray, BoolArray]:
        """Return the record for each text, and a mask of the known texts."""

    def _nearest(self, text: str) -> str | None:
        """Return the nearest text inside the domain for one outside; None for any other text."""
        return None

    def read(self, cells: Cells) -> tuple[AnyArray, BoolArray | None]:
        """Return the record in each row, and a mask of the remaining rows; None for all.

        A cell that is empty, or spaces only, is missing unless the domain has such a label. The key
        of an InputError is the location of the first rejected cell.
        """
        values, good = self._find([text or "" for text in cells.texts])
        good &= np.array([text is not None for text in cells.texts], dtype=bool)
        if good.all():
            return values[cells.which], None
        for n in cells.as_they_occur():
            if good[n]:
                continue
            text = (cells.texts[n] or "").strip()
            word = "unknown" if text else "missing"
            policy, nearest = getattr(self, word), self._nearest(text)
            if policy.name == "refuse" or (policy.name == "clip" and nearest is None):
                given = EMPTY if not text else OTHER if nearest is None else self.outside
                raise InputError(cells.place(n), self.expected, given, HINT.format(word, word))
            policy.count += int(cells.counts[n])
            label = nearest if policy.name == "clip" else policy.label
            if label is not None:
                values[n], good[n] = self._find([label])[0][0], True
        return values[cells.which], None if good.all() else good[cells.which]

    @abstractmethod
    def count(self, drawn_for: AnyArray) -> None:
        """Count rows that a report was drawn for."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Return counts that depend on the multiset of records only."""


class LabelReader(Reader):
    """Converts the cells of a column to indices of labels in a domain."""

    def __init__(self, domain: Domain, unknown: str, missing: str) -> None:
        self._domain = domain
        self.expected = f"labels of the domain ({domain.listed()})"
        super().__init__(unknown, missing)
        domain.read([])  # rejects labels with equal texts
        self._counts = np.zeros(len(domain), dtype=np.int64)

    def _known(self, label: str, key: str) -> str:
        return self._domain.texts[self._domain.index_of_text(label, key)]

    def _find(self, texts: Sequence[str]) -> tuple[Int64Array, BoolArray]:
        codes = self._domain.find_texts(texts)
        return codes, codes >= 0

    def count(self, drawn_for: Int64Array) -> None:
        """Count rows that a report was drawn for."""
        self._counts += np.bincount(drawn_for, minlength=len(self._counts))

    def counts(self) -> dict[str, int]:
        """Return the positive counts of rows by label, as text, in which 1.0 is 1."""
        found = Counter[str]()
        for n in np.flatnonzero(self._counts).tolist():
            found[self._domain.texts[n].removesuffix(".0")] += int(self._counts[n])
        return found


class NumberReader(Reader):
    """Converts the cells of a column to the nearest doubles.

    A point is text such as ``"(0.5, 2)"``; two columns are read in this form. Other texts are
    unknown, and so are numbers outside the domain, which the policy ``"clip"`` moves to the
    nearest inside.
    """

    clips = True

    def __init__(self, channel: ContinuousChannel, unknown: str, missing: str) -> None:
        self._low = np.array([float(side.low) for side in channel.sides])
        self._high = np.array([float(side.high) for side in channel.sides])
        names = [f"{SPACE}(?P<x{n}>{NUMBER}){SPACE}" for n in range(len(self._low))]
        point = rf"{SPACE}\({','.join(names)}\){SPACE}" if len(names) > 1 else names[0]
        self._pattern = f"^{point}$"
        self.expected = f"{channel.noun}s of {channel.span}"
        self.outside = f"a {channel.noun} outside"
        super().__init__(unknown, missing)
        self._total, self._sums = 0, [0, 0]

    def count(self, drawn_for: FloatArray) -> None:
        """Count rows that a report was drawn for."""
        self._total += len(drawn_for)
        words = (drawn_for + 0.0).view(np.uint64).reshape(-1, len(self._low))  # -0.0 becomes 0.0
        for n, start in enumerate(STARTS):
            mixed = np.full(len(words), start)
            for column in words.T:
                mixed = _mixed(column ^ mixed)
            self._sums[n] += int(mixed.sum(dtype=np.uint64))

    def counts(self) -> dict[str, int]:
        """Return the number of rows, under a fingerprint of the multiset of their numbers.

        Counts of single numbers would need unbounded memory, as all may differ.
        """
        prints = [f"{total % (1 << WORD):016x}" for total in self._sums]
        return {"".join(prints): self._total} if self._total else {}

    def _find(self, texts: Sequence[str]) -> tuple[FloatArray, BoolArray]:
        """Return the coordinates in each text, and which are inside."""
        found = self._numbers(texts)
        inside = np.all((self._low <= found) & (found <= self._high), axis=1)
        return (found[:, 0] if len(self._low) == 1 else found), np.asarray(inside)

    def _numbers(self, texts: Sequence[str]) -> FloatArray:
        """Return the coordinates in texts that are decimal numbers or points, else NaN."""
        parts = pc.extract_regex(text_array(texts), self._pattern)
        columns = [
            pc.replace_substring_regex(part, r"^\+", "").cast(pa.float64()).fill_null(math.nan)
            for part in parts.flatten()
        ]
        return np.stack([column.to_numpy(zero_copy_only=False) for column in columns], axis=1)

    def _nearest(self, text: str) -> str | None:
        numbers = self._numbers([text])[0]
        if np.isnan(numbers).any():
            return None
        return self._text(np.clip(numbers, self._low, self._high).tolist())

    def _text(self, numbers: Sequence[float]) -> str:
        parts = ", ".join(map(repr, numbers))
        return f"({parts})" if len(numbers) > 1 else parts

    def _known(self, label: str, key: str) -> str:
        numbers, inside = self._find([label])
        if not inside.all():
            raise InputError(key, self.expected, shown(label))
        return self._text(numbers.ravel().tolist())


STARTS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03))
"""Odd words for two independent sums."""


def _mixed(words: WordArray) -> WordArray:
    """Mix words so that every bit depends on all bits of the word (splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def read_reports(alphabet: Alphabet, cells: Cells) -> AnyArray:
    """Return the reports in cells, or raise InputError for the first cell without one."""
    texts = [text for text in cells.texts if text is not None]
    with contextlib.suppress(InputError):
        if len(texts) == len(cells.texts):
            return alphabet.read(texts)[cells.which]
    for n in cells.as_they_occur():
        text, expected = cells.texts[n] or "", "a report"
        try:
            alphabet.read([text])
            if cells.texts[n] is not None:
                continue
        except InputError as error:
            expected = error.expected
        sent = alphabet.outputs.listed() if isinstance(alphabet, Labels) else expected
        if not text.strip():
            raise InputError(cells.place(n), f"a report of this channel ({sent})", EMPTY)
        fault = f"these are not reports of this channel, which sends {sent}"
        raise InputError(cells.place(n), expected, OTHER, fault=fault)
    raise AssertionError("each text is a report by itself")
