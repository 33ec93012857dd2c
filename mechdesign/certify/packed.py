"""Lists of numbers packed into text, as large certificates have them.

``TYPE:COUNT:DATA`` holds ``COUNT`` numbers of one type, ``u1``, ``u2`` or ``u4`` for integers >= 0
of so many bytes, ``f4`` or ``f8`` for binary floating point: little-endian, one after the other,
compressed by zlib, in base64. A float stands for exactly its binary value.

A few bytes may unpack to very many. How many numbers there are is said before, counted against the
limits of the reader, and no more is unpacked.
"""

from __future__ import annotations

import base64
import re
import sys
import zlib
from array import array
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from mechdesign.errors import CertificateError
from mechdesign.resources import check_size, spend

__all__ = ["FLOATS", "INTEGERS", "is_packed", "unpacked"]

INTEGERS = {"u1": "B", "u2": "H", "u4": "I"}
FLOATS = {"f4": "f", "f8": "d"}
"""The types, and what the module ``array`` calls them."""

PACKED = re.compile(r"([uf][1248]):(0|[1-9][0-9]{0,9}):([A-Za-z0-9+/]*={0,2})")


def is_packed(value: Any, types: Mapping[str, str]) -> bool:
    """Return whether a value is text of that form, with one of some types, by its looks.

    Examples
    --------
    >>> is_packed("u1:2:eJxjZAEAAAgABg==", INTEGERS), is_packed("u1:2:?", INTEGERS)
    (True, False)
    """
    found = PACKED.fullmatch(value) if type(value) is str else None
    return found is not None and found[1] in types


def unpacked(value: Any) -> Sequence[Any]:
    """Return the numbers of a packed list, floats >= 0; a list that is not packed as it is.

    Raises
    ------
    CertificateError
        If it does not hold as many numbers as it says, and nothing else, or floats that are
        negative or not finite.
    LimitError
        If they are too many.

    Examples
    --------
    >>> list(unpacked("u1:2:eJxjZAEAAAgABg==")), unpacked([3, 4])
    ([1, 4], [3, 4])
    """
    found = PACKED.fullmatch(value) if type(value) is str else None
    if found is None:
        return list(value)
    kind, count, text = found[1], int(found[2]), found[3]
    check_size("entries", count, "packed numbers")
    spend(count + len(text) // 8, "packed numbers")
    numbers = array({**INTEGERS, **FLOATS}[kind])
    size, engine = int(kind[1]) * count, zlib.decompressobj()
    try:
        content = engine.decompress(base64.b64decode(text, validate=True), size + 1)
    except (ValueError, zlib.error):
        raise CertificateError("packed numbers are damaged") from None
    if len(content) != size or not engine.eof or engine.unused_data:
        raise CertificateError(f"expected {count} packed numbers, found more or fewer")
    numbers.frombytes(content)
    if sys.byteorder == "big":
        numbers.byteswap()
    if kind in FLOATS and not (all(map(isfinite, numbers)) and min(numbers, default=0) >= 0):
        raise CertificateError("packed numbers are negative or not finite")
    return numbers
