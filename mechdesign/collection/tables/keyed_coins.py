"""Keyed coins of a collection, from its key, the record ids, the column and the mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign.collection.tables.cells import Column, one_array
from mechdesign.errors import InputError
from mechdesign.kernel import canonical
from mechdesign.sampling import (
    KeyedSource,
    Source,
    check_key,
    subkey,
    tags_of_numbers,
    tags_of_texts,
)

RecordTags = npt.NDArray[np.uint64]
"""``(n, 2)`` words that identify records."""

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

    def tags(self, ids: Column, where: Callable[..., str]) -> RecordTags:
        """Return the tags of records.

        Text that reads as an integer is that integer, so the coins do not depend on the type of the
        column.

        Parameters
        ----------
        ids
            Integers or text.
        where
            Returns the key for errors about the column, or about a row of it.

        Raises
        ------
        InputError
            If an id is empty or has another type; the message does not quote it.
        """
        whole = one_array(ids)
        if pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_decode()
        if whole.null_count:
            row = int(np.argmax(whole.is_null().to_numpy(zero_copy_only=False)))
            raise InputError(where(row), "the id of a record", "an empty cell")
        return self._tags(whole, where())

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


def check_distinct(parts: Sequence[RecordTags], place: Callable[[int], str]) -> None:
    """Raise InputError if two records have the same tag, so that their coins would be equal.

    Parameters
    ----------
    parts
        The tags of the records, in order.
    place
        Returns the location of a record for errors, by its number from 0.

    Examples
    --------
    >>> check_distinct([tags_of_numbers(np.array(ids)) for ids in ([70, 71], [9, 70])], str)
    Traceback (most recent call last):
    mechdesign.errors.InputError: 3: expected ids that all differ, given one that ...
    """
    tags = np.concatenate(parts)
    words = np.sort(tags[:, 0])
    rows = np.flatnonzero(np.isin(tags[:, 0], words[1:][words[1:] == words[:-1]]))
    rows = rows[np.lexsort((rows, tags[rows, 1], tags[rows, 0]))]
    again = rows[1:][(tags[rows[1:]] == tags[rows[:-1]]).all(axis=1)]
    if again.size:
        key, expected = place(int(again.min())), "ids that all differ"
        raise InputError(key, expected, "one that an earlier record has")
