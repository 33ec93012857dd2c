"""Keyed coins of a collection, from its key, the record ids, the column and the mechanism."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import IntArray
from mechdesign.collection.tables.cells import Column
from mechdesign.errors import InputError
from mechdesign.kernel import canonical
from mechdesign.sampling import (
    KeyedSource,
    RecordNames,
    Source,
    check_key,
    subkey,
    tags_of_numbers,
    tags_of_texts,
)
from mechdesign.writing.temporary import temporary_room

__all__ = ["CollectionCoins", "RecordTags", "SeenRecords"]

RecordTags = npt.NDArray[np.uint64]
"""``(n, 2)`` words that identify records."""

HELD = 1 << 22
"""Maximum bytes of record names held in memory; more are in a file."""

PART, SORTED = 1 << 18, 1 << 22
"""Approximate numbers of names read at once, and compared in one pass over the file."""

WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,18})$"
"""Candidates for integers of 64 bits; the range is checked after parsing."""

MOST_NUMBER = np.uint64(2**63 - 1)


class CollectionCoins:
    """The coins of a collection, with a separate key for each column and mechanism.

    Parameters
    ----------
    key
        A secret key of 32 to 64 bytes.
    mechanisms
        The mechanisms by column.

    Raises
    ------
    InputError
        If the key is invalid.
    """

    def __init__(self, key: Any, mechanisms: Mapping[Any, Any]) -> None:
        secret = check_key(key)
        self._ids = subkey(secret, b"record ids")
        self._choice = subkey(secret, canonical(["choice", *map(str, mechanisms)]))
        self._keys = {
            name: subkey(secret, canonical([str(name), mechanism.digest]))
            for name, mechanism in mechanisms.items()
        }

    def tags(
        self, ids: Column, where: Callable[..., str], seen: SeenRecords | None = None
    ) -> RecordTags:
        """Return the tags of records with distinct ids.

        Text that reads as an integer is that integer, so the coins do not depend on the type of the
        column.

        Parameters
        ----------
        ids
            Integers or text.
        where
            Returns the key for errors about the column, or about a row of it.
        seen
            The records of earlier parts, checked at the end; None if there is one part.

        Raises
        ------
        InputError
            If an id is empty, has another type, or is a duplicate; the message does not quote it.
        """
        whole = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
        if pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_decode()
        if whole.null_count:
            row = int(np.argmax(whole.is_null().to_numpy(zero_copy_only=False)))
            raise InputError(where(row), "the id of a record", "an empty cell")
        tags = self._tags(whole, where())
        if seen is not None:
            seen.add(tags)
            return tags
        with closing(SeenRecords(where)) as only:
            only.add(tags)
            only.check()
        return tags

    def _tags(self, ids: pa.Array, key: str) -> RecordTags:
        if pa.types.is_integer(ids.type):
            try:
                return tags_of_numbers(ids.cast(pa.int64()).to_numpy())
            except pa.ArrowInvalid:  # from 2**63 on
                ids = ids.cast(pa.string())
        try:
            texts = ids.cast(pa.string()) if not pa.types.is_floating(ids.type) else None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            texts = None
        if texts is None:
            kind = str(ids.type).partition("<")[0]
            raise InputError(key, "ids that are whole numbers or text", kind)
        tags = np.zeros((len(texts), 2), dtype="<u8")
        whole = pc.match_substring_regex(texts, WHOLE_NUMBER).to_numpy(zero_copy_only=False)
        found = texts.filter(pa.array(whole))
        negative = pc.starts_with(found, "-").to_numpy(zero_copy_only=False)
        sizes = pc.utf8_ltrim(found, "-").cast(pa.uint64()).to_numpy()
        fits = sizes <= MOST_NUMBER + negative.astype(np.uint64)
        whole[whole] = fits
        numbers = np.where(negative, np.uint64(0) - sizes, sizes).view(np.int64)
        tags[whole] = tags_of_numbers(numbers[fits])
        others = texts.filter(pa.array(~whole)).to_pylist()
        if others:
            tags[~whole] = tags_of_texts(self._ids, others)
        return tags

    def sources(self, tags: RecordTags) -> list[Source]:
        """Return the source of coins for each column, and last the source for ``one_each``."""
        return [KeyedSource(key, tags) for key in (*self._keys.values(), self._choice)]


class SeenRecords:
    """Names of records, to detect duplicate ids, whose coins would be equal.

    Beyond 262,144 records the names are in a temporary file, 16 bytes each, encrypted under a key
    that is discarded. Names of different records are pseudo-random: a pass over the file compares
    the names of one residue class, and all classes have about equal size. More than twice the
    expected size implies a duplicate among the names read.

    Parameters
    ----------
    place
        Returns the location of a record for errors, by its number from 0.

    Examples
    --------
    >>> seen = SeenRecords(str)
    >>> seen.add(tags_of_numbers(np.array([70, 71])))
    >>> seen.add(tags_of_numbers(np.array([9, 70])))
    >>> with closing(seen):
    ...     seen.check()
    Traceback (most recent call last):
    mechdesign.errors.InputError: 3: expected ids that all differ, given one that ...
    """

    def __init__(self, place: Callable[[int], str]) -> None:
        self._place = place
        self._names = RecordNames(secrets.token_bytes(32))
        self._file = tempfile.SpooledTemporaryFile(max_size=HELD)  # noqa: SIM115  closed below
        self._rows = 0

    def add(self, tags: RecordTags) -> None:
        """Remember the records of a part.

        Raises
        ------
        InputError
            If the disk is full.
        """
        with temporary_room():
            self._file.seek(0, os.SEEK_END)  # a check moves the position
            self._file.write(self._names(tags).tobytes())
        self._rows += len(tags)

    def check(self) -> None:
        """Raise InputError if two records have the same id."""
        passes = -(-self._rows // SORTED)
        with temporary_room():
            again = [row for turn in range(passes) for row in self._again(turn, passes)]
        if again:
            expected = "ids that all differ"
            raise InputError(self._place(min(again)), expected, "one that an earlier record has")

    def _again(self, turn: int, passes: int) -> list[int]:
        """Return the rows in a residue class whose ids occurred before."""
        parts: list[RecordTags] = []
        rows: list[IntArray] = []
        self._file.seek(0)
        for start in range(0, self._rows, PART):
            part = np.frombuffer(self._file.read(16 * PART), "<u8").reshape(-1, 2)
            own = np.flatnonzero(part[:, 0] % np.uint64(passes) == turn)
            parts, rows = [*parts, part[own]], [*rows, start + own]
            if sum(map(len, rows)) > 2 * SORTED:
                break
        names, places = np.concatenate(parts), np.concatenate(rows)
        first = np.sort(names[:, 0])
        if (first[1:] != first[:-1]).all():
            return []
        order = np.lexsort((places, names[:, 1], names[:, 0]))
        same = (names[order[1:]] == names[order[:-1]]).all(axis=1)
        return list(places[order[1:]][same].tolist())

    def close(self) -> None:
        """Discard all names."""
        with contextlib.suppress(OSError):  # a full disk was reported before
            self._file.close()
