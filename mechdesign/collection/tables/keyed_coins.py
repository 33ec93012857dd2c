"""Coins of a collection: from its key, the ids of the records, the column and the mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

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

__all__ = ["CollectionCoins", "RecordTags", "check_different_ids"]

RecordTags = npt.NDArray[np.uint64]
"""``(n, 2)`` words that name records."""

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
        check_different_ids([tags], place)
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


def check_different_ids(parts: Sequence[RecordTags], place: Callable[[int], str]) -> None:
    """Raise InputError if two records of all parts have one id: their coins would be the same."""
    first = np.concatenate([tags[:, 0] for tags in parts])
    first.sort()
    if not (first[1:] == first[:-1]).any():
        return
    tags = np.concatenate(parts)
    order = np.lexsort((tags[:, 1], tags[:, 0]))
    again = (tags[order[1:]] == tags[order[:-1]]).all(axis=1)
    if again.any():
        row = int(order[1:][again].min())
        raise InputError(place(row), "ids that all differ", "one that an earlier record has")
