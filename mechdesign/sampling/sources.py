"""Sources of random bits: the operating system, or a seed for a simulation.

A released report must be drawn from unpredictable bits, so the default is the cryptographic source
of the operating system. Large requests are expanded by ChaCha20, the cipher that Linux itself uses,
from a fresh 256-bit key of that source. A key is used for one call and at most one megabyte and is
never stored, so a copy of the process cannot repeat a draw.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
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
    """Return one generator for several draws, so that a seed is not reused; None stays None.

    Raises
    ------
    InputError
        If ``rng`` is not None, a seed or a generator.

    Examples
    --------
    >>> stream = stream_of(7)
    >>> stream_of(stream) is stream, stream_of(None)
    (True, None)
    """
    source_of(rng)
    if rng is None or isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(int(rng))


def pieces(count: int, size: int = PIECE) -> Iterator[slice]:
    """Yield consecutive slices that cover ``count`` records."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))
