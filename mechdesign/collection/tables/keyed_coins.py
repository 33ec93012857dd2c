"""Coins of a collection: from its key, the ids of the records, the column and the mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import IntArray
from mechdesign.certify import canonical
from mechdesign.collection.tables.draws import Drawer
from mechdesign.errors import InputError
from mechdesign.files.mechanisms import mechanism_digest
from mechdesign.sampling import (
    KeyedSource,
    Source,
    check_key,
    subkey,
    tags_of_numbers,
    tags_of_texts,
)

__all__ = ["CollectionCoins", "RecordTags", "SeenRecords"]

RecordTags = npt.NDArray[np.uint64]
"""``(n, 2)`` words that name records."""

REST = 5
"""Bytes of the second word of a tag that name a record; the others are for the counter."""

BUCKET, MOST_BUCKETS, MIX = 1 << 20, 16, np.uint64(0x9E3779B97F4A7C15)
"""Records that are sorted at once, about; into how many parts all are, at most, and by what."""

WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"


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

    def __init__(self, key: Any, mechanisms: dict[Any, Drawer]) -> None:
        secret = check_key(key)
        self._ids = subkey(secret, b"record ids")
        self._choice = subkey(secret, canonical(["choice", *map(str, mechanisms)]))
        self._keys = {
            name: subkey(secret, canonical([str(name), mechanism_digest(mechanism)]))
            for name, mechanism in mechanisms.items()
        }

    def tags(self, ids: pa.Array | pa.ChunkedArray, key: str, place: Callable[[int], str]) -> Any:
        """Return the tags of records, of which no two have one id.

        An id that is text and reads as a whole number is that number, so that the coins do not
        depend on how a library holds it.

        Parameters
        ----------
        ids
            Whole numbers or text.
        key, place
            What the column and a row of it are called in an error.

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
            raise InputError(place(row), "the id of a record", "an empty cell")
        tags = self._tags(whole, key)
        seen = SeenRecords()
        seen.add(tags)
        seen.check(place)
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
        tags[whole] = tags_of_numbers(texts.filter(pa.array(whole)).cast(pa.int64()).to_numpy())
        others = texts.filter(pa.array(~whole)).to_pylist()
        if others:
            tags[~whole] = tags_of_texts(self._ids, others)
        return tags

    def sources(self, tags: RecordTags) -> list[Source]:
        """Return where the bits for each column come from, and last those for a choice of one."""
        return [KeyedSource(key, tags) for key in (*self._keys.values(), self._choice)]


class SeenRecords:
    """Names of records in few bytes, to see whether two have one id: their coins would be the same.

    Of whole numbers what each is above the least of its part is held, in as few bytes as that
    takes: 2 or 4 where the ids of a part lie near to each other, else 8. Of text 13 bytes are held.

    Examples
    --------
    >>> seen = SeenRecords()
    >>> seen.add(tags_of_numbers(np.array([70, 71])))
    >>> seen.add(tags_of_numbers(np.array([9, 70])))
    >>> seen.check(str)
    Traceback (most recent call last):
    mechdesign.errors.InputError: 3: expected ids that all differ, given one that ...
    """

    def __init__(self) -> None:
        self._parts: list[tuple[np.uint64, npt.NDArray[Any], npt.NDArray[np.uint8] | None]] = []

    def add(self, tags: RecordTags) -> None:
        """Remember the records of a part."""
        if len(tags):
            first, rest = tags[:, 0], tags[:, 1]
            least = first.min()
            above = (first - least).astype(np.min_scalar_type(first.max() - least))
            packed = np.ascontiguousarray(rest).view(np.uint8).reshape(-1, 8)[:, :REST].copy()
            self._parts.append((least, above, packed if rest.any() else None))

    def check(self, place: Callable[[int], str]) -> None:
        """Raise InputError if two records of all parts have one id."""
        rows = sum(len(above) for _, above, _ in self._parts)
        buckets = np.uint64(min(1 + rows // BUCKET, MOST_BUCKETS))
        twice: list[RecordTags] = []
        for bucket in range(int(buckets)) if rows else ():
            some = [first[_mixed(first) % buckets == bucket] for first in self._firsts()]
            found = np.concatenate(some)
            found.sort()
            twice.append(found[1:][found[1:] == found[:-1]])
        if any(map(len, twice)):
            self._compare(np.concatenate(twice), place)

    def _firsts(self) -> Iterator[RecordTags]:
        """Yield the first words of the tags of each part."""
        for least, above, _ in self._parts:
            yield above.astype(np.uint64) + least

    def _compare(self, suspects: RecordTags, place: Callable[[int], str]) -> None:
        """Raise InputError if two records agree in all words, of those whose first ones do."""
        rows, tags, before = list[IntArray](), list[RecordTags](), 0
        for first, (_, _, rest) in zip(self._firsts(), self._parts, strict=True):
            own = np.flatnonzero(np.isin(first, suspects))
            tag = np.zeros((len(own), 2), dtype="<u8")
            tag[:, 0] = first[own]
            if rest is not None:
                tag.view(np.uint8)[:, 8 : 8 + REST] = rest[own]
            rows, tags, before = [*rows, own + before], [*tags, tag], before + len(first)
        row, whole = np.concatenate(rows), np.concatenate(tags)
        order = np.lexsort((whole[:, 1], whole[:, 0]))
        again = (whole[order[1:]] == whole[order[:-1]]).all(axis=1)
        if again.any():
            where = place(int(row[order[1:][again]].min()))
            raise InputError(where, "ids that all differ", "one that an earlier record has")


def _mixed(words: RecordTags) -> RecordTags:
    """Return numbers that spread over buckets also where the words are regular."""
    mixed: RecordTags = words * MIX >> np.uint64(32)
    return mixed
