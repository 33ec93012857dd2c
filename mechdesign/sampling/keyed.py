"""Keyed coins: the random bits of a record are a keyed function of its id, equal at every draw.

An engine may compute a part of a table twice, and would release two reports of each person. With
keyed coins the second computation returns the same reports.

The bits of a record are AES-256 of a block with its tag and a counter, as in counter mode. All
blocks differ, and one call encrypts the blocks of many records. Without the key the bits are
indistinguishable from fair coins: AES is a pseudo-random permutation, whose outputs on q distinct
blocks are within q**2 / 2**129 of independent ones.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign.errors import InputError, LimitError, UnsupportedError, shown_kind
from mechdesign.sampling.sources import Source

Tags = npt.NDArray[np.uint64]
"""``(n, 2)`` words: 104 bits that identify a record, and 24 zero bits for the counter."""

LEAST_KEY, MOST_KEY = 32, 64
"""Limits on the bytes of a key; the maximum is that of BLAKE2b."""

COUNTER_SHIFT, MOST_BLOCKS = 40, 1 << 24


def check_key(key: Any) -> bytes:
    """Return a secret key of 32 to 64 bytes, or raise InputError, which does not quote it."""
    expected = f"a secret of {LEAST_KEY} to {MOST_KEY} random bytes, as of secrets.token_bytes"
    if not isinstance(key, bytes):
        kind = "text" if isinstance(key, str) else shown_kind(type(key))
        raise InputError("key", expected, kind)
    if not LEAST_KEY <= len(key) <= MOST_KEY:
        raise InputError("key", expected, f"{len(key)} bytes")
    return key


def subkey(key: bytes, purpose: bytes) -> bytes:
    """Return the key for a purpose; keys for different purposes are computationally independent.

    Examples
    --------
    >>> key = bytes(32)
    >>> subkey(key, b"age") == subkey(key, b"age"), subkey(key, b"age") == subkey(key, b"sex")
    (True, False)
    """
    return hashlib.blake2b(purpose, digest_size=32, key=key, person=b"mechdesign coins").digest()


def tags_of_numbers(numbers: npt.NDArray[np.int64]) -> Tags:
    """Return the tags of integer ids: the numbers themselves."""
    tags = np.zeros((len(numbers), 2), dtype="<u8")
    tags[:, 0] = numbers.view(np.uint64)
    return tags


def tags_of_texts(key: bytes, texts: Iterable[str]) -> Tags:
    """Return the tags of text ids: 104 bits of their keyed digests."""
    digests = [
        hashlib.blake2b(text.encode(), digest_size=13, key=key, person=b"mechdesign ids").digest()
        for text in texts
    ]
    return np.frombuffer(b"".join(digest + bytes(3) for digest in digests), "<u8").reshape(-1, 2)


def _encryption(key: bytes) -> Callable[[bytes], bytes]:
    """Return AES of single blocks under a key; to be used on distinct blocks only."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(key), modes.ECB())
    return lambda blocks: cipher.encryptor().update(blocks)


class KeyedSource(Source):
    """The keyed coins of some records.

    A draw takes the next words of each record's own stream, so the coins of a record do not depend
    on the other records or on their order.

    Parameters
    ----------
    key
        32 bytes.
    tags
        ``(n, 2)`` words from :func:`tags_of_numbers` or :func:`tags_of_texts`.

    Examples
    --------
    >>> def source(*ids): return KeyedSource(bytes(32), tags_of_numbers(np.array(ids)))
    >>> both, alone = source(7, 9), source(9)
    >>> (both.words(4)[2:] == alone.words(2)).all(), (both.words(2)[1:] == alone.words(1)).all()
    (np.True_, np.True_)
    """

    simulated = False
    has_own_streams = True

    def __init__(self, key: bytes, tags: Tags) -> None:
        self._encrypted = _encryption(key)
        self._tags, self._used = tags, np.zeros(len(tags), dtype=np.uint64)
        self._records: npt.NDArray[np.intp] = np.arange(len(tags))

    def of(self, records: slice | npt.NDArray[Any]) -> Source:
        """Return the source of some of the records; their streams resume there."""
        some = copy.copy(self)
        some._records = self._records[records]
        return some

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return the next words, an equal number per record."""
        each = self._each(count)
        n_blocks = -(-each // 2)
        used = self._used[self._records]
        if used.size and int(used.max()) + n_blocks > MOST_BLOCKS:
            raise LimitError("key", f"reports of at most {MOST_BLOCKS} blocks of coins", "more")
        self._used[self._records] = used + np.uint64(n_blocks)
        tags, steps = self._tags[self._records], np.arange(n_blocks, dtype=np.uint64)
        blocks = np.empty((len(tags), n_blocks, 2), dtype="<u8")
        blocks[:, :, 0] = tags[:, :1]
        blocks[:, :, 1] = tags[:, 1:] | (used[:, None] + steps) << np.uint64(COUNTER_SHIFT)
        coins = np.frombuffer(self._encrypted(blocks.tobytes()), dtype="<u8")
        return coins.reshape(len(tags), 2 * n_blocks)[:, :each].ravel()

    def bytes(self, count: int) -> npt.NDArray[np.uint8]:
        """Return bytes of the next words, an equal number per record."""
        each = self._each(count)
        n_words = -(-each // 8)
        words = self.words(n_words * len(self._records)).view(np.uint8)
        return words.reshape(len(self._records), 8 * n_words)[:, :each].ravel()

    def _each(self, count: int) -> int:
        n = len(self._records)
        if count % max(n, 1):
            expected = "a mechanism that takes as many coins for each record"
            fault = "this mechanism takes a varying number of coins, so it has no keyed draws"
            raise UnsupportedError("key", expected, "another", fault=fault)
        return count // n if n else 0
