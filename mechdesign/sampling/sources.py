"""Sources of random bits: the operating system, or a seed; and integers with exact probabilities.

A released report must be drawn from unpredictable bits, so the default is the cryptographic source
of the operating system. Large requests are expanded by ChaCha20, the cipher that Linux itself uses,
from a fresh 256-bit key of that source. A key is used for one call and at most one megabyte and is
never stored, so a copy of the process cannot repeat a draw.

All probabilities are integer multiples of a power of 1/2, so each draw takes a fixed number of fair
bits, without rounding and without loops of secret-dependent length. The exceptions are
:func:`below` for a bound that is not a power of 2, which uses rejection, and
:func:`rational_coin`, which reads binary digits until the comparison is decided.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign.errors import InputError, shown

Randomness = int | np.random.Generator | None
"""None for the operating system; a seed or a generator for a simulation."""

SIMULATION = "simulation, not for release"
"""The note on everything drawn with a seed."""

SMALL, LARGE = 1 << 12, 1 << 20
"""Maximum number of bytes taken directly from the operating system, and from one key."""

KEY_BYTES, NONCE = 32, bytes(16)

PIECE = 1 << 16
"""Number of records drawn together, to fit the caches."""


class Source(ABC):
    """A supply of independent fair bits."""

    simulated: bool

    has_own_streams: bool = False
    """Whether each record has its own coins, so that each draw takes equally many per record."""

    @abstractmethod
    def bytes(self, count: int) -> npt.NDArray[np.uint8]:
        """Return ``count`` random bytes."""

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return ``count`` random 64-bit words."""
        return self.bytes(8 * count).view(np.uint64)

    def of(self, records: slice | npt.NDArray[Any]) -> Source:
        """Return the source of some of the records: this one, unless records have own coins."""
        return self


class _SystemSource(Source):
    """The cryptographic source of the operating system."""

    simulated = False

    def bytes(self, count: int) -> npt.NDArray[np.uint8]:
        """Return ``count`` unpredictable bytes."""
        if count <= SMALL:
            return np.frombuffer(os.urandom(count), dtype=np.uint8)
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

        drawn = np.empty(count, dtype=np.uint8)
        zeros = bytes(min(count, LARGE))
        for start in range(0, count, LARGE):
            part = drawn[start : start + LARGE]
            cipher = Cipher(algorithms.ChaCha20(os.urandom(KEY_BYTES), NONCE), mode=None)
            cipher.encryptor().update_into(memoryview(zeros)[: len(part)], part.data)
        return drawn


class _SeededSource(Source):
    """A NumPy generator, whose draws are reproducible and predictable."""

    simulated = True

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def bytes(self, count: int) -> npt.NDArray[np.uint8]:
        """Return the next ``count`` bytes."""
        return self.words(-(-count // 8)).view(np.uint8)[:count]

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return the next ``count`` words."""
        return self._generator.integers(0, 1 << 64, size=count, dtype=np.uint64)


def source_of(rng: Randomness) -> Source:
    """Return the source of random bits for an ``rng`` argument.

    Parameters
    ----------
    rng
        None for the cryptographic source of the operating system; a seed or a
        ``numpy.random.Generator`` for a reproducible simulation.

    Raises
    ------
    InputError
        For any other value.

    Examples
    --------
    >>> source_of(None).simulated, source_of(7).simulated
    (False, True)
    >>> source_of(7).words(2).tolist() == source_of(7).words(2).tolist()
    True
    """
    if rng is None:
        return _SystemSource()
    if isinstance(rng, np.random.Generator):
        return _SeededSource(rng)
    if isinstance(rng, bool) or not hasattr(rng, "__index__") or int(rng) < 0:
        expected = "None, a seed (a whole number >= 0) or a numpy.random.Generator"
        raise InputError("rng", expected, shown(rng))
    return _SeededSource(np.random.default_rng(int(rng)))


def stream_of(rng: Randomness) -> np.random.Generator | None:
    """Return one generator for several draws, so that a seed is not reused; None stays None."""
    source_of(rng)
    if rng is None or isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(int(rng))


def pieces(count: int, size: int = PIECE) -> Iterator[slice]:
    """Yield consecutive slices that cover ``count`` records."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


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
