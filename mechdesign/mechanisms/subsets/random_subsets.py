"""Uniformly random subsets of a given size, drawn exactly and in bulk as rows of bits.

A row starts as independent coins with a probability near size / width. Then uniformly chosen
positions are added or removed until the size is right. Every step is symmetric in the positions, so
the distribution is invariant under permutations: exactly uniform over the sets of this size. The
number of random bits depends on the coins alone.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from mechdesign._typing import BoolArray, ByteArray, Int64Array, WordArray
from mechdesign.mechanisms.subsets.bit_rows import write_bits
from mechdesign.sampling import Source, coin_words

WORD = 64

WORD_COST, PICK_COST = 2.5, 30.0
"""Nanoseconds for a random word, and for a tried position; they affect speed only."""

MOST_DIGITS = 8


def uniform_sets(
    count: int, width: int, size: int, source: Source
) -> tuple[ByteArray, Int64Array, Int64Array]:
    """Return uniform sets of ``size`` among ``width`` positions, for 1 <= size <= width - 1.

    A uniform set of size - 1 is drawn, then two more positions one after the other. With the first
    of them it is a uniform set of ``size``, of which that position is, by symmetry, a uniform
    member; the second is uniform among the others. A set of more than half of the positions is
    drawn as the complement of a small one, where tries seldom fail.

    Returns
    -------
    rows
        ``(n, 8 * n_words)`` packed bits, bit 0 first; the spare bits are 0.
    inside, outside
        ``(n,)`` a uniform position of each set, and a uniform position outside. Given the set, they
        are independent.
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

    Parameters
    ----------
    times
        ``(n,)`` the number of flips of each row; none if it is not positive.

    Returns
    -------
    Int64Array
        ``(2, n)`` the last position of each row, and the one before; 0 if there is none.
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
