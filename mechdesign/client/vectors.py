"""Test vectors: random bytes, and the report that the library draws from them.

The sampler of the library, :meth:`mechdesign.Channel.draw`, draws them from known bytes. Another
sampler with the same bytes must produce the same reports.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import Int64Array
from mechdesign.channel import BITS
from mechdesign.client.table import client_table
from mechdesign.continuous import ContinuousChannel
from mechdesign.files import SavedMechanism
from mechdesign.sampling import Source

EDGES = 0.25
"""The share of words that are thresholds of the law, or just below."""


class VectorSource(Source):
    """A stream of 64-bit words for each record that records the words taken.

    Parameters
    ----------
    count
        Number of records.
    seed
        Seed of the generator of the words.
    edges
        ``(n,)`` words that replace some of the random ones.
    """

    simulated = True
    has_own_streams = True

    def __init__(self, count: int, seed: int, edges: npt.NDArray[np.uint64]) -> None:
        self._generator, self._edges = np.random.default_rng(seed), edges
        self._taken: list[list[bytes]] = [[] for _ in range(count)]
        self._records: npt.NDArray[np.intp] = np.arange(count)

    def of(self, records: slice | npt.NDArray[Any]) -> Source:
        """Return the source of some of the records."""
        some = copy.copy(self)
        some._records = self._records[records]
        return some

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return new words, an equal number per record."""
        words = self._generator.integers(0, 1 << 64, size=count, dtype=np.uint64)
        edge = self._generator.random(count) < EDGES
        words[edge] = self._generator.choice(self._edges, int(edge.sum()))
        each = words.astype("<u8").reshape(len(self._records), -1)
        for record, own in zip(self._records.tolist(), each, strict=True):
            self._taken[record].append(own.tobytes())
        return words

    def bytes(self, count: int) -> npt.NDArray[np.uint8]:
        """Return bytes of new words; the mechanisms of clients take whole words."""
        return self.words(count // 8).view(np.uint8)

    def taken(self) -> list[str]:
        """Return the words taken by each record, in hexadecimal and in order."""
        return [b"".join(parts).hex() for parts in self._taken]


def vector_lines(saved: SavedMechanism, count: int) -> list[str]:
    """Return lines with an input number, the bytes in hexadecimal, and the report.

    A share of the words is at the thresholds of the law, to detect off-by-one errors. A report is a
    number, or a set in hexadecimal as in a file of reports. The lines are deterministic.

    Parameters
    ----------
    saved
        A verified file, from :func:`mechdesign.load_mechanism`.
    count
        Number of lines.

    Raises
    ------
    UnsupportedError
        If clients do not support this mechanism.
    """
    table, mechanism = client_table(saved), saved.mechanism
    if isinstance(mechanism, ContinuousChannel):  # has no table
        raise AssertionError
    source = VectorSource(count, int(table["digest"], 16), _edges(table["law"]))
    codes: Int64Array = np.arange(count) % len(mechanism.inputs)
    data = mechanism.draw(codes, source)
    reports = map(str, data.tolist()) if data.ndim == 1 else mechanism.alphabet.write(data)
    lines = zip(codes.tolist(), source.taken(), reports, strict=True)
    return [f"{x} {taken} {report}" for x, taken, report in lines]


def _edges(law: Mapping[str, str]) -> npt.NDArray[np.uint64]:
    """Return words at the thresholds of cells, or at multiples of a mechanism's masses."""
    if "thresholds" in law:
        bits = int(law["cell_bits"])
        thresholds = np.frombuffer(base64.b64decode(law["thresholds"]), "<u8").tolist()
        at = [(n % (1 << bits) << 64 - bits) + 4 * t for n, t in enumerate(thresholds)]
    else:
        numbers = [int(text) for key, text in law.items() if key != "kind"]
        masses = [*numbers, *((1 << BITS) - number for number in numbers)]
        at = [mass << shift for mass in masses for shift in (1, 2)]
    return np.array([word % (1 << 64) for edge in at for word in (edge, edge - 1)], dtype=np.uint64)
