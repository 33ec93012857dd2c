"""Reports that are sets of inputs, as packed rows of bits, and bit-sliced counts of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from string import hexdigits
from typing import Any

import numpy as np

from mechdesign._typing import BoolArray, ByteArray, Int64Array
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, shown
from mechdesign.reports import Alphabet
from mechdesign.sampling import pieces

BLOCK = 1 << 19
"""Bytes counted at a time, which fit the processor's cache."""

FOLDS = 7
"""The number of halvings of the rows before their bits are unpacked."""


class BitRows(Alphabet):
    """Reports that are sets of inputs.

    An array of n reports has shape ``(n, ceil(k / 8))`` and type uint8; input index x is in the set
    if bit ``x % 8`` of byte ``x // 8`` is 1. As text, a report is the hexadecimal of its bytes; as
    a Python value, the tuple of its inputs in the order of the domain.

    Parameters
    ----------
    inputs
        The possible members of a set.
    size
        The required size of a set; default any size.

    Examples
    --------
    >>> sets = BitRows(Domain(["a", "b", "c"]))
    >>> rows = sets.encode([{"c", "a"}, set()])
    >>> sets.write(rows), sets.labels(rows)
    (['05', '00'], [('a', 'c'), ()])
    >>> sets.read(["05"]).tolist()
    [[5]]
    """

    def __init__(self, inputs: Domain, size: int | None = None) -> None:
        self.inputs = inputs
        self.size = size
        self._bytes = -(-len(inputs) // 8)

    @cached_property
    def n_outputs(self) -> int:
        """C(k, size), which is slow to compute for large k; 2**k for sets of any size."""
        k = len(self.inputs)
        return 1 << k if self.size is None else math.comb(k, self.size)

    @property
    def n_counts(self) -> int:
        """One for each input."""
        return len(self.inputs)

    def listed(self) -> ByteArray:
        """Return all sets of the size in lexicographic order, or all rows as binary numbers."""
        if self.size is None:
            numbers = np.arange(self.n_outputs, dtype="<u4").view(np.uint8).reshape(-1, 4)
            return numbers[:, : self._bytes].copy()
        sets = np.array(list(itertools.combinations(range(len(self.inputs)), self.size)))
        member = np.zeros((len(sets), len(self.inputs)), dtype=np.uint8)
        np.put_along_axis(member, sets, 1, axis=1)
        return np.packbits(member, axis=1, bitorder="little")

    def count(self, data: ByteArray) -> Int64Array:
        """Return the number of reports that contain each input."""
        return count_ones(data, len(self.inputs))

    def in_pieces(self, count: int, block: int, draw: Callable[[slice], ByteArray]) -> ByteArray:
        """Return reports drawn in chunks of at most ``block`` bytes.

        Parameters
        ----------
        count
            The number of reports.
        block
            Bytes of a chunk.
        draw
            Draws the reports of a slice, with any number of spare bytes.
        """
        drawn = np.empty((count, self._bytes), dtype=np.uint8)
        for piece in pieces(count, max(1, block // self._bytes)):
            drawn[piece] = draw(piece)[:, : self._bytes]
        return drawn

    def matches(self, other: Alphabet) -> bool:
        """Return whether another alphabet has the same sets of the same inputs."""
        return (
            isinstance(other, BitRows)
            and self.inputs.labels == other.inputs.labels
            and self.size == other.size
        )

    def labels(self, data: ByteArray) -> list[tuple[Label, ...]]:
        """Return the sets, as tuples in the order of the inputs."""
        known = self.inputs.labels
        found: list[tuple[Label, ...]] = []
        for piece in pieces(len(data), max(1, BLOCK // self._bytes)):
            part = data[piece]
            rows, places = np.nonzero(_unpacked(part, len(self.inputs)))
            members = [known[x] for x in places.tolist()]
            ends = np.searchsorted(rows, np.arange(len(part) + 1)).tolist()
            found += [tuple(members[ends[n] : ends[n + 1]]) for n in range(len(part))]
        return found

    def encode(self, labels: Iterable[Any], key: str = "reports") -> ByteArray:
        """Return the rows of sets of inputs."""
        given = list(labels)
        data = np.zeros((len(given), self._bytes), dtype=np.uint8)
        for n, members in enumerate(given):
            if isinstance(members, str | bytes | dict) or not isinstance(members, Iterable):
                raise InputError(f"{key}[{n}]", "a set of inputs", shown(members))
            codes = self.inputs.codes(members, f"{key}[{n}]")
            if len(np.unique(codes)) < len(codes):
                raise InputError(f"{key}[{n}]", "inputs that all differ", shown(list(members)))
            np.bitwise_or.at(data[n], codes >> 3, (1 << (codes & 7)).astype(np.uint8))
        return self._checked(data, key)

    def write(self, data: ByteArray) -> list[str]:
        """Return the rows as hexadecimal."""
        text, width = data.tobytes().hex(), 2 * self._bytes
        return [text[start : start + width] for start in range(0, len(text), width)]

    def read(self, texts: Sequence[str], key: str = "reports") -> ByteArray:
        """Return the rows written as hexadecimal."""
        stripped = [text.strip() for text in texts]
        width = 2 * self._bytes
        try:
            raw = bytes.fromhex("".join(stripped))  # which skips spaces
        except ValueError:
            raw = b""
        if len(raw) != self._bytes * len(texts) or any(len(text) != width for text in stripped):
            fits = (len(text) == width and set(text) <= set(hexdigits) for text in stripped)
            n = list(fits).index(False)
            expected = f"{width} hexadecimal digits, {len(self.inputs)} bits"
            raise InputError(f"{key}[{n}]", expected, shown(stripped[n]))
        data = np.frombuffer(raw, dtype=np.uint8).reshape(len(texts), self._bytes)
        return self._checked(data, key)

    def _checked(self, data: ByteArray, key: str) -> ByteArray:
        """Return rows, after a check that their spare bits are 0 and their sizes are allowed."""
        spare = data[:, -1] >> np.uint8(len(self.inputs) % 8)
        if len(self.inputs) % 8 and spare.any():
            n = int(np.argmax(spare != 0))
            expected = f"0 in the bits beyond the {len(self.inputs)} inputs"
            raise InputError(f"{key}[{n}]", expected, shown(self.write(data[n : n + 1])[0]))
        if self.size is not None:
            held = np.bitwise_count(data).sum(axis=1, dtype=np.int64)
            if (held != self.size).any():
                n = int(np.argmax(held != self.size))
                raise InputError(f"{key}[{n}]", f"a set of {self.size} inputs", f"{held[n]} inputs")
        return data


def read_bits(rows: ByteArray, places: Int64Array | int) -> BoolArray:
    """Return one bit of each row, at its place or at a common one."""
    held = rows[np.arange(len(rows)), places >> 3] >> np.asarray(places & 7, dtype=np.uint8)
    return np.asarray(held & 1, dtype=bool)


def write_bits(rows: ByteArray, places: Int64Array, values: BoolArray) -> None:
    """Overwrite one bit of each row, in place.

    Parameters
    ----------
    rows
        ``(n, size)`` contiguous packed bits.
    places, values
        ``(n,)`` the position of the bit in each row, and its new value.
    """
    flat = rows.reshape(-1)
    at = np.arange(0, flat.size, rows.shape[1])
    at += places >> 3
    shift = (places & 7).astype(np.uint8)
    cleared = flat[at] & ~(np.uint8(1) << shift)
    flat[at] = cleared | (values.view(np.uint8) << shift)


def count_ones(rows: ByteArray, width: int) -> Int64Array:
    """Return the number of rows with a 1, for each bit.

    The two halves of a block of rows are added as binary numbers, for all bits of a row at once: a
    number of m digits is stored as m planes of bits, and a digit is added by five operations on
    whole planes. After some foldings few rows are left to unpack.

    Parameters
    ----------
    rows
        ``(n, ceil(width / 8))`` packed bits.
    width
        The number of bits of a row.

    Examples
    --------
    >>> count_ones(np.array([[0b101], [0b001]], dtype=np.uint8), 3).tolist()
    [2, 0, 1]
    """
    group = 1 << FOLDS
    counts = np.zeros(width, dtype=np.int64)
    for piece in pieces(len(rows), max(group, BLOCK // rows.shape[1] // group * group)):
        part = rows[piece]
        folded = len(part) // group * group
        counts += _unpacked(part[folded:], width).sum(axis=0, dtype=np.int64)
        for digit, plane in enumerate(_fold(part[:folded])):
            counts += _unpacked(plane, width).sum(axis=0, dtype=np.int64) << digit
    return counts


def _fold(rows: ByteArray) -> list[ByteArray]:
    """Return the planes of the digits of sums of 2**FOLDS rows each."""
    planes = [rows]
    for _ in range(FOLDS):
        half = len(planes[0]) // 2
        low, high = planes[0][:half], planes[0][half:]
        added, carry = [low ^ high], low & high
        for plane in planes[1:]:
            low, high = plane[:half], plane[half:]
            differ = low ^ high
            added.append(differ ^ carry)
            carry &= differ
            carry |= low & high
        planes = [*added, carry]
    return planes


def _unpacked(rows: ByteArray, width: int) -> ByteArray:
    return np.unpackbits(rows, axis=1, count=width, bitorder="little")
