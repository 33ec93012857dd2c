"""Coins of a collection: from its key, the ids of the records, the column and the mechanism."""

from __future__ import annotations

import contextlib
import math
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

__all__ = ["CollectionCoins", "RecordTags", "SeenRecords", "collection_coins"]

RecordTags = npt.NDArray[np.uint64]
"""``(n, 2)`` words that name records."""

HELD = 1 << 22
"""Bytes of names of records that are held in memory; more are in a file."""

PART = 1 << 18
"""Records of one part, at most: fewer than the numbers of 24 bits."""

BUCKETS, BUCKET_SHIFT = 256, np.uint64(56)
"""Into how many buckets names are sorted, by their highest bits; one is held at once."""

SPREAD = 10
"""By how many standard deviations of its size, and by the square of that, a bucket may outgrow the
mean: for random names to do so is less likely than 2**-60 (Bernstein's inequality)."""

WORD_BITS, ROW_SHIFT = np.uint64(64), np.uint64(40)
"""Above this bit of its second word a name has the number of its row in the part."""

WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,18})$"
"""Its digits are a number of 64 bits; with the sign it may be one or not."""

MOST_NUMBER = np.uint64(2**63 - 1)


class CollectionCoins:
    """The coins of a collection, those of each column and mechanism under a key of their own.

    Parameters
    ----------
    key
        A secret of 32 to 64 bytes.
    mechanisms
        What each column is drawn by.

    Raises
    ------
    InputError
        If the key is none.
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
        """Return the tags of records, of which no two have one id.

        An id that is text and reads as a whole number is that number, so that the coins do not
        depend on how a library holds it.

        Parameters
        ----------
        ids
            Whole numbers or text.
        where
            Returns the name of the column for errors, or that of a row of it.
        seen
            The records of earlier parts, which are checked at the end; None if there is one part.

        Raises
        ------
        InputError
            If one holds nothing or is of another type, or two are equal; none is quoted.
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
        """Return where the bits for each column come from, and last those for a choice of one."""
        return [KeyedSource(key, tags) for key in (*self._keys.values(), self._choice)]


def collection_coins(
    key: Any, ids: Any, seeded: bool, mechanisms: Mapping[Any, Any]
) -> CollectionCoins | None:
    """Return the coins of a collection; None where neither a key nor ids are given.

    Raises
    ------
    InputError
        If one is given without the other, or a seed beside them.
    """
    if (key is None) != (ids is None):
        raise InputError("ids", "a key and the ids of the records", "one without the other")
    if key is None:
        return None
    if seeded:
        raise InputError("rng", "none where the coins are from a key", "one")
    return CollectionCoins(key, mechanisms)


class SeenRecords:
    """Names of records, to see whether two have one id: their coins would be the same.

    Beyond 262,144 records, names are in a temporary file, 16 bytes each, encrypted under a key that
    is forgotten. Each part is sorted into 256 buckets, of which one is held at once: two records of
    one id are in the same one. Names of different records are as random bits, so that buckets are
    about equal; one that outgrows the others shows that an id occurs again, which is then looked
    for at once.

    Parameters
    ----------
    place
        What a record is called in an error, by its number from 0.

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
        self._starts: list[IntArray] = []  # of each part: where each bucket of it begins
        self._rows = 0
        self._counts = np.zeros(BUCKETS, dtype=np.int64)

    def add(self, tags: RecordTags) -> None:
        """Remember the records of a part.

        Raises
        ------
        InputError
            If a bucket outgrows the others since ids occur again, or names find no room on a disk.
        """
        for start in range(0, len(tags), PART):
            names = self._names(tags[start : start + PART])
            bucket = (names[:, 0] >> BUCKET_SHIFT).astype(np.uint8)
            order = np.argsort(bucket, kind="stable")
            names = names[order]
            names[:, 1] |= order.astype(np.uint64) << ROW_SHIFT
            with temporary_room():
                self._file.seek(0, os.SEEK_END)  # a check reads elsewhere
                self._file.write(names.tobytes())
            counts = np.bincount(bucket, minlength=BUCKETS)
            self._counts += counts
            self._starts.append(self._rows + np.concatenate([[0], np.cumsum(counts)]))
            self._rows += len(names)
            share = self._rows / BUCKETS
            if self._counts.max() > share + SPREAD * (math.sqrt(share) + SPREAD):
                self.check()

    def check(self) -> None:
        """Raise InputError if two records of all parts have one id."""
        with temporary_room():
            again = [row for n in range(BUCKETS if self._rows else 0) for row in self._again(n)]
        if again:
            expected = "ids that all differ"
            raise InputError(self._place(min(again)), expected, "one that an earlier record has")

    def _again(self, bucket: int) -> list[int]:
        """Return the rows of a bucket whose ids earlier ones have."""
        starts = [(part[bucket], part[bucket + 1]) for part in self._starts]
        names = np.concatenate([self._read(start, end) for start, end in starts])
        first = np.sort(names[:, 0])
        if (first[1:] != first[:-1]).all():
            return []
        before = np.repeat([part[0] for part in self._starts], [e - s for s, e in starts])
        rows = before + (names[:, 1] >> ROW_SHIFT).astype(np.int64)
        rest = names[:, 1] << (WORD_BITS - ROW_SHIFT)
        order = np.lexsort((rows, rest, names[:, 0]))
        same = [(part[order[1:]] == part[order[:-1]]) for part in (names[:, 0], rest)]
        return list(rows[order[1:]][same[0] & same[1]].tolist())

    def _read(self, start: int, end: int) -> RecordTags:
        """Return names of the file, from one on up to another."""
        self._file.seek(16 * int(start))
        return np.frombuffer(self._file.read(16 * int(end - start)), "<u8").reshape(-1, 2)

    def close(self) -> None:
        """Forget all names."""
        with contextlib.suppress(OSError):  # of names that found no room, as was said
            self._file.close()
