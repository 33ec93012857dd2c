"""Tagged reports: the name of a part in clear, and a report of that part's mechanism."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import AnyArray, Int64Array
from mechdesign.errors import InputError, shown
from mechdesign.mechanisms.base import Mechanism
from mechdesign.mechanisms.bit_rows import BitRows
from mechdesign.reports import Alphabet
from mechdesign.sampling import pieces, source_of

CELLS = 1 << 22
"""Bits unpacked at a time."""

WORTH_SORTING = 1 << 18
"""Number of bits of a group from which its reports are counted separately."""


def count_by_group(
    alphabet: Alphabet, data: AnyArray, group: Int64Array, n_groups: int
) -> Int64Array:
    """Return the counts of reports of one alphabet by group, ``(n_groups, size)``."""
    size = alphabet.n_counts
    if is_numbered(data):  # one count for each number
        counts = np.bincount(group * size + data, minlength=n_groups * size)
        return counts.reshape(n_groups, size).astype(np.int64)
    if n_groups == 1:
        return alphabet.count(data)[None]
    if isinstance(alphabet, BitRows) and len(data) * size < n_groups * WORTH_SORTING:
        table = np.zeros((n_groups, size), dtype=np.int64)
        for piece in pieces(len(data), max(1, CELLS // size)):  # one count for each bit
            table += _bits_each(data[piece], group[piece], table.shape)
        return table
    order = np.argsort(group.astype(np.uint16) if n_groups < 1 << 16 else group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=n_groups))[:-1]
    return np.array([alphabet.count(data[part]) for part in np.split(order, ends)])


def _bits_each(rows: AnyArray, group: Int64Array, shape: tuple[int, int]) -> Int64Array:
    """Return the number of rows with each bit set, by group, as one sparse product.

    Sums of fewer than 2**24 ones are exact in single precision.
    """
    bits = np.unpackbits(rows, axis=1, count=shape[1], bitorder="little").astype(np.float32)
    ones, ends = np.ones(len(rows), dtype=np.float32), np.arange(len(rows) + 1)
    member = sp.csc_array((ones, group, ends), shape=(shape[0], len(rows)))
    return np.asarray(member @ bits, dtype=np.int64)


def is_numbered(data: AnyArray) -> bool:
    """Return whether reports are stored as numbers."""
    return data.ndim == 1 and data.dtype == np.int64


class TaggedReports(Alphabet):
    """The reports of a mechanism with several parts, the name of the part in clear.

    Parts with equal mechanisms have the same kind and are processed together. If the reports of all
    kinds are numbers, a report is one number: those of part 0 come first, then those of part 1, and
    so on. Otherwise it is a record ``[("part", int32), ("report", bytes)]``.

    ``kind_of`` is the kind of each part; names are text without colons, or numbers.

    Examples
    --------
    >>> from mechdesign.mechanisms.randomized_response import IdentityMechanism
    >>> parts = TaggedReports([IdentityMechanism(2), IdentityMechanism(3)], [0, 1, 0], range(3))
    >>> parts.write(np.array([1, 2, 6])), parts.read(["0:1", "2:1"])
    (['0:1', '1:0', '2:1'], array([1, 6]))
    """

    def __init__(
        self, kinds: Sequence[Mechanism], kind_of: Sequence[int], names: Iterable[Any]
    ) -> None:
        self.kinds, self.kind_of, self.names = list(kinds), np.asarray(kind_of), list(names)
        self._part_of = {name: n for n, name in enumerate(self.names)}
        self._part_of_text = {str(name): n for n, name in enumerate(self.names)}
        no_records, source = np.zeros(0, dtype=np.int64), source_of(0)
        self._empty = [kind.draw(no_records, source) for kind in self.kinds]
        self.numbered = all(map(is_numbered, self._empty))
        sizes = np.array([kind.n_outputs for kind in self.kinds], dtype=object)[self.kind_of]
        self._n_outputs = int(sizes.sum())
        if self.numbered:
            self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            self._width = 0
        else:
            self._width = max(map(_row_bytes, self._empty))
        counted = np.array([kind.alphabet.n_counts for kind in self.kinds])
        self.count_starts = len(self.kind_of) + np.concatenate(
            [[0], np.cumsum(counted[self.kind_of])]
        )

    def matches(self, other: Alphabet) -> bool:
        """Return whether another alphabet has the same parts, each with the same reports."""
        return (
            isinstance(other, TaggedReports)
            and self.names == other.names
            and np.array_equal(self.kind_of, other.kind_of)
            and all(
                a.alphabet.matches(b.alphabet) for a, b in zip(self.kinds, other.kinds, strict=True)
            )
        )

    @property
    def n_outputs(self) -> int:
        """The number of reports of all parts."""
        return self._n_outputs

    @property
    def n_counts(self) -> int:
        """The number of counts in a tally: one for each part, then those of its mechanism."""
        return int(self.count_starts[-1])

    # --- arrays ------------------------------------------------------------------------------

    def build(
        self, part: Int64Array, make: Callable[[Mechanism, Int64Array], AnyArray]
    ) -> AnyArray:
        """Return one report for each given part.

        ``make`` maps a kind and the positions of its records to reports of that kind.
        """
        record = [("part", np.int32), ("report", np.uint8, (self._width,))]
        data: AnyArray = np.zeros(len(part), dtype=np.int64 if self.numbered else record)
        for kind, places in self.by_kind(part):
            inner = make(self.kinds[kind], places)
            if self.numbered:
                data[places] = self._starts[part[places]] + inner
            else:
                packed = np.ascontiguousarray(inner).view(np.uint8).reshape(len(places), -1)
                data["report"][places, : packed.shape[1]] = packed
        if not self.numbered:
            data["part"] = part
        return data

    def part(self, data: AnyArray) -> Int64Array:
        """Return the part of each report."""
        if self.numbered:
            return np.searchsorted(self._starts, data, side="right") - 1
        return data["part"].astype(np.int64)

    def inner(self, kind: int, part: Int64Array, data: AnyArray) -> AnyArray:
        """Return the inner reports, all of one kind."""
        if self.numbered:
            inner: AnyArray = data - self._starts[part]
            return inner
        empty = self._empty[kind]
        packed = np.ascontiguousarray(data["report"][:, : _row_bytes(empty)])
        return packed.view(empty.dtype).reshape(len(data), *empty.shape[1:])

    def by_kind(self, part: Int64Array) -> Iterator[tuple[int, Int64Array]]:
        """Yield each kind that occurs, with the positions of its records."""
        if len(self.kinds) == 1:
            if len(part):
                yield 0, np.arange(len(part))
            return
        few = len(self.kinds) <= 1 << 16
        kinds = self.kind_of.astype(np.uint16 if few else np.int64)[part]
        order = np.argsort(kinds, kind="stable")  # linear time for 16 bits
        ends = np.cumsum(np.bincount(kinds, minlength=len(self.kinds)))
        for kind, (start, end) in enumerate(itertools.pairwise([0, *ends.tolist()])):
            if end > start:
                yield kind, order[start:end]

    def listed(self) -> AnyArray:
        """Return all reports, part by part."""
        found = []
        for n, kind in enumerate(self.kind_of.tolist()):
            every = self.kinds[kind].listed()
            found.append(self.build(np.full(len(every), n), partial(_take, every)))
        return np.concatenate(found)

    def count(self, data: AnyArray) -> Int64Array:
        """Return the number of reports of each part, then the counts of each part's mechanism."""
        counts = np.zeros(self.n_counts, dtype=np.int64)
        n_parts = len(self.kind_of)
        if self.numbered:  # one count for each number
            counts[n_parts:] = np.bincount(data, minlength=self.n_outputs)
            counts[:n_parts] = np.add.reduceat(counts[n_parts:], self._starts[:-1])
            return counts
        part = self.part(data)
        counts[:n_parts] = np.bincount(part, minlength=n_parts)
        for kind, places in self.by_kind(part):
            members = np.flatnonzero(self.kind_of == kind)
            inner = self.inner(kind, part[places], data[places])
            group = np.searchsorted(members, part[places])
            found = count_by_group(self.kinds[kind].alphabet, inner, group, len(members))
            counts[self.count_starts[members][:, None] + np.arange(found.shape[1])] = found
        return counts

    def counts_of(self, kind: int, counts: AnyArray) -> tuple[Int64Array, AnyArray]:
        """Return the parts of a kind that have reports, and the counts of their mechanism."""
        here = self.kind_of == kind
        members = np.flatnonzero(here & (counts[: len(self.kind_of)] > 0))
        first = int(np.argmax(here))
        size = int(self.count_starts[first + 1] - self.count_starts[first])
        return members, counts[self.count_starts[members][:, None] + np.arange(size)]

    # --- labels and text ---------------------------------------------------------------------

    def labels(self, data: AnyArray) -> list[Any]:
        """Return pairs (name of the part, inner report)."""
        return self._pairs(data, lambda alphabet, inner: alphabet.labels(inner))

    def write(self, data: AnyArray) -> list[str]:
        """Return ``part:report`` texts."""
        pairs = self._pairs(data, lambda alphabet, inner: alphabet.write(inner))
        return [f"{name}:{text}" for name, text in pairs]

    def _pairs(
        self, data: AnyArray, read: Callable[[Alphabet, AnyArray], list[Any]]
    ) -> list[tuple[Any, Any]]:
        part = self.part(data)
        found: list[Any] = [None] * len(data)
        for kind, places in self.by_kind(part):
            inner = read(self.kinds[kind].alphabet, self.inner(kind, part[places], data[places]))
            for n, p, report in zip(places.tolist(), part[places].tolist(), inner, strict=True):
                found[n] = self.names[p], report
        return found

    def encode(self, labels: Iterable[Any], key: str = "reports") -> AnyArray:
        """Return the array for pairs (name of the part, inner report)."""
        expected = "a pair (part, report)"
        pairs = []
        for n, label in enumerate(labels):
            if not isinstance(label, tuple | list) or len(label) != 2:
                raise InputError(f"{key}[{n}]", expected, shown(label))
            known = isinstance(label[0], str | int) and not isinstance(label[0], bool)
            if not known or label[0] not in self._part_of:
                wanted = f"{expected}, the part {self._known()}"
                raise InputError(f"{key}[{n}]", wanted, shown(label))
            pairs.append((self._part_of[label[0]], label[1]))
        return self._read(pairs, key, lambda alphabet, inner, key: alphabet.encode(inner, key))

    def read(self, texts: Sequence[str], key: str = "reports") -> AnyArray:
        """Return the array for ``part:report`` texts."""
        pairs = []
        for n, text in enumerate(texts):
            name, colon, rest = text.partition(":")
            if not colon or name.strip() not in self._part_of_text:
                expected = f"part:report, the part {self._known()}"
                raise InputError(f"{key}[{n}]", expected, shown(text))
            pairs.append((self._part_of_text[name.strip()], rest))
        return self._read(pairs, key, lambda alphabet, inner, key: alphabet.read(inner, key))

    def _read(
        self,
        pairs: list[tuple[int, Any]],
        key: str,
        read: Callable[[Alphabet, list[Any], str], AnyArray],
    ) -> AnyArray:
        def make(kind: Mechanism, places: Int64Array) -> AnyArray:
            inner = [pairs[n][1] for n in places.tolist()]
            try:
                return read(kind.alphabet, inner, key)
            except InputError:
                for n, label in zip(places.tolist(), inner, strict=True):  # find the invalid one
                    try:
                        read(kind.alphabet, [label], key)
                    except InputError as error:
                        where = f"{key}[{n}]"
                        raise InputError(where, error.expected, error.given, error.hint) from None
                raise

        return self.build(np.array([part for part, _ in pairs], dtype=np.int64), make)

    def _known(self) -> str:
        if len(self.names) <= 3:
            return "one of " + ", ".join(map(str, self.names))
        return f"from {self.names[0]} to {self.names[-1]}"


def _take(data: AnyArray, _: Mechanism, places: Int64Array) -> AnyArray:
    return data[places]


def _row_bytes(data: AnyArray) -> int:
    return data.dtype.itemsize * int(np.prod(data.shape[1:], dtype=np.int64))
