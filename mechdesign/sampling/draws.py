"""Bits and integers with exact probabilities, drawn in bulk.

Every probability here is a whole multiple of a power of 1/2, so that a fixed number of fair bits
decides each draw: no rounding, and no loop whose length tells something. The exceptions are
:func:`below` for a bound that is no power of 2, which has to try again now and then, and
:func:`rational_coin`, which reads binary digits until they decide.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mechdesign.sampling.sources import Source

__all__ = ["below", "chances", "coin_rows", "coin_words", "rational_coin"]

WORD = 64


def chances(source: Source, count: int, bits: int) -> npt.NDArray[np.int64]:
    """Return integers that are uniform on 0..2**bits - 1, for bits <= 62."""
    words = source.words(count)
    shifted = np.right_shift(
        words, np.uint64(WORD - bits), out=words if words.flags.writeable else None
    )
    return shifted.view(np.int64)


def below(source: Source, count: int, bound: int) -> npt.NDArray[np.int64]:
    """Return integers that are uniform on 0..bound - 1, exactly, for 1 <= bound <= 2**31.

    Words from the incomplete last round of the bound are drawn again. That happens with
    probability below 2**-31 to each, whatever the results are used for.
    """
    rounds = (1 << 62) // bound * bound
    drawn = chances(source, count, 62)
    while (again := np.flatnonzero(drawn >= rounds)).size:
        drawn[again] = chances(source.of(again), again.size, 62)
    drawn %= bound
    return drawn


def coin_words(
    source: Source, shape: tuple[int, ...], numerator: int, digits: int
) -> npt.NDArray[np.uint64]:
    """Return words all of whose bits are 1 with probability ``numerator / 2**digits``, each alone.

    A fair word is joined for each binary digit of the probability, the last digit first: `or` for
    a digit 1, as x -> (1 + x)/2, and `and` for a digit 0, as x -> x/2.

    Parameters
    ----------
    numerator, digits
        0 <= numerator <= 2**digits. Trailing zeros cost nothing.
    """
    if numerator in (0, 1 << digits):
        full = np.uint64(0) if numerator == 0 else ~np.uint64(0)
        return np.full(shape, full, dtype=np.uint64)
    while numerator % 2 == 0:
        numerator, digits = numerator // 2, digits - 1
    size = int(np.prod(shape))
    coins = source.words(size)
    coins = coins if coins.flags.writeable else coins.copy()
    for place in range(1, digits):
        join = np.bitwise_or if numerator >> place & 1 else np.bitwise_and
        join(coins, source.words(size), out=coins)
    return coins.reshape(shape)


def coin_rows(
    source: Source, count: int, width: int, numerator: int, digits: int
) -> npt.NDArray[np.uint8]:
    """Return ``count`` rows of ``width`` independent bits, packed, bit 0 first (little).

    Shape ``(count, ceil(width / 8))``; the bits beyond ``width`` are 0.
    """
    size = -(-width // 8)
    if source.has_own_streams:
        words = coin_words(source, (count, -(-size // 8)), numerator, digits)
        rows = words.view(np.uint8)[:, :size].copy()
    else:
        words = coin_words(source, (-(-count * size // 8),), numerator, digits)
        rows = words.view(np.uint8)[: count * size].reshape(count, size)
    if width % 8:
        rows[:, -1] &= np.uint8((1 << width % 8) - 1)
    return rows


def rational_coin(source: Source, chance: Fraction) -> bool:
    """Return True with exactly the probability given, a rational from 0 to 1.

    The binary digits of a uniform number U, a word at a time, are compared with those of the
    chance until they differ: U < chance. Further words are drawn with probability 2**-64 each.

    Examples
    --------
    >>> from mechdesign.sampling.sources import source_of
    >>> rational_coin(source_of(None), Fraction(0)), rational_coin(source_of(None), Fraction(1))
    (False, True)
    """
    while chance:
        shifted = chance * (1 << WORD)
        digits, whole = int(source.words(1)[0]), math.floor(shifted)
        if digits != whole:
            return digits < whole
        chance = shifted - whole
    return False
