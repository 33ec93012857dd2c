"""Bits and integers with exact probabilities, drawn in bulk.

All probabilities are integer multiples of a power of 1/2, so each draw takes a fixed number of fair
bits, without rounding and without loops of secret-dependent length. The exceptions are
:func:`below` for a bound that is not a power of 2, which uses rejection, and
:func:`rational_coin`, which reads binary digits until the comparison is decided.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mechdesign.sampling.sources import Source

WORD = 64


def chances(source: Source, count: int, bits: int) -> npt.NDArray[np.int64]:
    """Return uniform integers in 0..2**bits - 1, for bits <= 62."""
    words = source.words(count)
    shifted = np.right_shift(
        words, np.uint64(WORD - bits), out=words if words.flags.writeable else None
    )
    return shifted.view(np.int64)


def below(source: Source, count: int, bound: int) -> npt.NDArray[np.int64]:
    """Return exactly uniform integers in 0..bound - 1, for 1 <= bound <= 2**31.

    Words in the incomplete last multiple of the bound are redrawn: each with probability below
    2**-31, independently of the result.
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
    """Return words of independent bits that are 1 with probability ``numerator / 2**digits``.

    The binary digits of the probability are processed from the last: `or` with a fair word for a
    digit 1, as x -> (1 + x)/2, and `and` for a digit 0, as x -> x/2.

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
    """Return ``count`` packed rows of ``width`` independent bits, in little bit order.

    The shape is ``(count, ceil(width / 8))``; bits beyond ``width`` are 0.
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
    """Return True with exactly the given probability, a rational from 0 to 1.

    The result is U < chance for a uniform U, whose binary digits are drawn a word at a time until
    they differ from those of the chance. Each further word is needed with probability 2**-64.

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
