"""Sets of inputs as packed rows of bits: their counts, and uniformly random sets of one size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from string import hexdigits
from typing import Any

import numpy as np

from mechdesign._typing import BoolArray, ByteArray, Int64Array, WordArray
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, shown
from mechdesign.reports import Alphabet
from mechdesign.sampling import Source, coin_words, pieces

BLOCK = 1 << 19
"""Bytes counted at a time, which fit the processor's cache."""

FOLDS = 7
"""The number of halvings of the rows before their bits are unpacked."""


def binomial(n: int, k: int) -> int:
    """Return C(n, k), for 10**6 in 0.1 s, where :func:`math.comb` takes 7.

    A prime divides it once for each carry in k + (n - k) in its base (Kummer).

    Examples
    --------
    >>> binomial(6, 3)
    20
    """
    is_prime = np.ones(n + 1, dtype=bool)
    for p in range(2, math.isqrt(n) + 1):
        is_prime[p * p :: p] = False
    primes = 2 + np.flatnonzero(is_prime[2:])
    powers, factors = primes, np.ones_like(primes)
    while (powers <= n).any():
        factors *= np.where(n // powers > k // powers + (n - k) // powers, primes, 1)
        powers = np.minimum(powers * primes, n + 1)
    products = [1, *factors.tolist()]
    while len(products) > 1:  # of equal lengths
        products = [math.prod(products[i : i + 2]) for i in range(0, len(products), 2)]
    return int(products[0])


class BitRows(Alphabet):
    """Reports that are sets of inputs.

    An array of n reports has shape ``(n, ceil(k / 8))`` and type uint8; input index x is in the set
    if bit ``x % 8`` of byte ``x // 8`` is 1. As text, a report is the hexadecimal of its bytes; as
    a Python value, the tuple of its inputs in the order of the domain.

    ``size`` is the required size of a set; None for any.

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
        """C(k, size); 2**k for sets of any size."""
        k = len(self.inputs)
        return 1 << k if self.size is None else binomial(k, self.size)

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

        ``draw`` draws the reports of a slice, with any number of spare bytes.
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

    Rows are ``(n, size)`` contiguous packed bits; there is one place and one value for each.
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


WORD = 64

WORD_COST, PICK_COST = 2.5, 30.0
"""Nanoseconds for a random word, and for a tried position; they affect speed only."""

MOST_DIGITS = 8


def uniform_sets(
    count: int, width: int, size: int, source: Source
) -> tuple[ByteArray, Int64Array, Int64Array]:
    """Return uniform sets of ``size`` among ``width`` positions, for 1 <= size <= width - 1.

    A row starts as independent coins with a probability near size / width. Then uniformly chosen
    positions are added or removed until the size is right. Every step is symmetric in the
    positions, so the distribution is invariant under permutations: exactly uniform over the sets of
    this size. The number of random bits depends on the coins alone.

    A uniform set of size - 1 is drawn, then two more positions one after the other. With the first
    of them it is a uniform set of ``size``, of which that position is, by symmetry, a uniform
    member; the second is uniform among the others. A set of more than half of the positions is
    drawn as the complement of a small one, where tries seldom fail.

    Returned are rows ``(n, 8 * n_words)`` of packed bits, bit 0 first, with spare bits 0; and a
    uniform position in each set and one outside, independent given the set.
    """
    if 2 * size > width:
        rows, outside, inside = uniform_sets(count, width, width - size, source)
        return rows ^ _all_ones(width).view(np.uint8), inside, outside
    numerator, digits = _cheapest(width, size - 1)
    words = coin_words(source, (count, -(-width // WORD)), numerator, digits)
    words &= _all_ones(width)
    held = np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    _flip_some(words, width, held - (size - 1), source, member=True)
    lacking = np.maximum(size + 1 - held, 2)
    outside, inside = _flip_some(words, width, lacking, source, member=False)
    rows = words.view(np.uint8)
    write_bits(rows, outside, np.zeros(count, dtype=bool))
    return rows, inside, outside


def _flip_some(
    words: WordArray, width: int, times: Int64Array, source: Source, *, member: bool
) -> Int64Array:
    """Flip uniform members of each row, or uniform others, one after the other.

    Positions are drawn until one is of the required kind: it is then uniform among those. Finished
    rows leave the loop.

    Returned are ``(2, n)`` the last position of each row, and the one before; 0 if there is none.
    """
    flat, last = words.reshape(-1), np.zeros((2, len(words)), dtype=np.int64)
    rows = np.flatnonzero(times > 0)
    left, starts = times[rows], rows * words.shape[1]
    while rows.size:
        place, hit = _positions(rows.size, width, source.of(rows))
        at, shift = starts + (place >> 6), (place & (WORD - 1)).astype(np.uint64)
        word = flat[at]
        hit &= ((word >> shift & np.uint64(1)) != 0) == member
        flat[at] = word ^ (hit.astype(np.uint64) << shift)
        left -= hit
        late = np.flatnonzero(hit & (left < 2))
        last[left[late], rows[late]] = place[late]
        going = left > 0
        rows, left, starts = rows[going], left[going], starts[going]
    return last


def _positions(count: int, width: int, source: Source) -> tuple[Int64Array, BoolArray]:
    """Return uniform positions, and which of them are valid, as nearly all are.

    A number of 16 or 32 bits is divided by the number of times that the width goes into their
    range. Each position has equally many numbers; the incomplete rest counts as a miss, and as
    position 0.
    """
    bits = 16 if width <= 1 << 12 else 32
    drawn = source.bytes(count * bits // 8).view(f"<u{bits // 8}")
    place = (drawn // ((1 << bits) // width)).astype(np.int64)
    valid = place < width
    place *= valid
    return place, valid


def _all_ones(width: int) -> WordArray:
    """Return one row of words whose first ``width`` bits are 1."""
    ones = np.full(-(-width // WORD), ~np.uint64(0))
    if width % WORD:
        ones[-1] = (1 << width % WORD) - 1
    return ones


@lru_cache(maxsize=256)
def _cheapest(width: int, size: int) -> tuple[int, int]:
    """Return the coin of least work: its numerator and its number of binary digits."""
    starts = [(0, 0)] + [
        (numerator, digits)
        for digits in range(1, MOST_DIGITS + 1)
        for numerator in range(1, 1 << digits, 2)
    ]
    return min(starts, key=lambda start: _work(width, size, *start))


def _work(width: int, size: int, numerator: int, digits: int) -> float:
    """Return the approximate time of a row: its words, and its tries until the size is right."""
    share = numerator / (1 << digits)
    mean, deviation = share * width, math.sqrt(share * (1 - share) * width)
    surplus = mean - size
    z = surplus / deviation if deviation else math.copysign(math.inf, surplus)
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi) if deviation else 0.0
    over = surplus * (1 + math.erf(z / math.sqrt(2))) / 2 + deviation * density
    tries = (over - surplus) / (1 - size / width) + (over * width / size if size else 1e9 * over)
    return digits * -(-width // WORD) * WORD_COST + tries * PICK_COST
