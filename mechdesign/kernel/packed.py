"""Numbers in a file: exact ones, and lists, packed into text if they are long.

``TYPE:COUNT:DATA`` contains ``COUNT`` numbers of one type, ``u1``, ``u2`` or ``u4`` for integers >=
0 of 1, 2 or 4 bytes, ``f4`` or ``f8`` for binary floating point: little-endian, consecutive,
compressed by zlib, in base64. A float has its binary value, packed or not.

A few bytes may unpack to very many numbers. Their number is stated first, compared with the limits
of the reader, and no more is unpacked. A ratio may have a very long denominator. Steps are
operations on numbers of a few words; a file with a longer common denominator may take fewer, by the
square of its length.
"""

from __future__ import annotations

import base64
import re
import sys
import zlib
from array import array
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import repeat
from math import floor, isfinite, lcm, ldexp
from typing import Any

from mechdesign.errors import CertificateError, LimitError
from mechdesign.resources import check_size

TYPES = {"u1": "B", "u2": "H", "u4": "I", "f4": "f", "f8": "d"}
"""The types, and their codes in the module ``array``."""

PACKED = re.compile(r"([uf][1248]):(0|[1-9][0-9]{0,9}):([A-Za-z0-9+/]*={0,2})")

LARGEST = 1 << 53
"""Integers of JSON are below it: other readers keep 53 bits only."""

LONGEST = 2000
"""The largest number of characters of an exact number."""

LEAST_SIZE, MOST_SIZE = Fraction("1e-300"), Fraction("1e100")
"""Exact numbers are 0 or between these in absolute value."""

MOST_DUAL = 1e100
"""Dual variables are smaller than it."""

DECIMAL_OR_RATIO = re.compile(r"-?[0-9]+((\.[0-9]+)?(e[+-]?[0-9]{1,3})?|/0*[1-9][0-9]*)")

MOST_BITS = 1 << 16
"""Largest length of the common denominator of all exact numbers in a problem, and in a proof."""

MOST_PRODUCTS = 1 << 35
"""Largest sum, over different denominators, of their lengths times that of the common one."""

HEAD = re.compile(r"[uf][0-9]:([0-9]{1,10}):")
RATIO = re.compile(r"-?[0-9]+/([0-9]*[1-9][0-9]*)")
LONG_DECIMAL = re.compile(r"-?[0-9]+(?:\.([0-9]+))?(?:e([+-]?[0-9]{1,3}))?")

PACKED_FROM = 500
"""The least number of entries of a packed list; shorter ones stay readable."""


def exact(value: Any, place: str = "") -> Fraction:
    """Return the rational value of a number or exact text.

    A float is read as the shortest decimal that prints as it.

    Examples
    --------
    >>> exact("1/3"), exact("2.5e-1"), exact(0.1)
    (Fraction(1, 3), Fraction(1, 4), Fraction(1, 10))
    """
    found = None
    if type(value) is str and len(value) <= LONGEST:
        found = _from_text(value)
    elif type(value) is int and abs(value) < LARGEST:
        return Fraction(value)
    elif type(value) is float and isfinite(value):
        found = _from_text(float.__repr__(value))
    if found is None:
        raise refused("an exact number", value, place)
    return found


@lru_cache(maxsize=4096)
def _from_text(text: str) -> Fraction | None:
    """Return the rational value of text; None for another form or size."""
    if not DECIMAL_OR_RATIO.fullmatch(text):
        return None
    found = Fraction(text)
    return found if not found or LEAST_SIZE <= abs(found) <= MOST_SIZE else None


def written(value: Fraction) -> Any:
    """Return the JSON of an exact number: an integer, or text."""
    whole = value.denominator == 1 and abs(value.numerator) < LARGEST
    return value.numerator if whole else str(value)


def refused(expected: str, found: Any, place: str) -> CertificateError:
    """Return the error of an unexpected value."""
    where = f"{place}: " if place else ""
    return CertificateError(f"{where}expected {expected}, found {found!r:.60}")


class Places(list[int]):
    """A list of integers >= 0."""


class Numbers(list[Any]):
    """A list of numbers such as dual variables: floats with their binary value, or exact.

    Any of them prove a bound, so they may be rounded.
    """

    def scaled(self, bits: int) -> list[int]:
        """Return them over ``2**bits``, rounded down; the bound is that of the rounded ones."""
        if set(map(type, self)) <= {float}:
            return [floor(v) for v in map(ldexp, self, repeat(bits))]
        return [(w.numerator << bits) // w.denominator for w in map(Fraction, self)]


class Weights(Numbers):
    """A list of numbers >= 0."""


def unpacked(value: Any, form: type[Places | Numbers], place: str = "") -> Places | Numbers:
    """Return the numbers of a list, packed or not.

    Examples
    --------
    >>> unpacked("u1:2:eJxjZAEAAAgABg==", Places), unpacked([3, 4], Places)
    ([1, 4], [3, 4])
    """
    numbers: Places | Numbers
    found = PACKED.fullmatch(value) if type(value) is str else None
    if found is not None and (found[1][0] == "u") == (form is Places):
        numbers = form(_unpack(found[1], int(found[2]), found[3], place))
    elif not isinstance(value, list):
        raise refused("a list of numbers", value, place)
    elif form is not Places:
        listed: list[Any] = [v if type(v) is float else exact(v, place) for v in value]
        numbers = form(listed)
    elif not set(map(type, value)) <= {int}:
        raise refused("integers >= 0", value, place)
    else:
        numbers = Places(value)
    if not all(-MOST_DUAL < v < MOST_DUAL for v in numbers):  # false for NaN
        raise CertificateError(f"{place}: a number is not finite, or out of range")
    if form is not Numbers and min(numbers, default=0) < 0:
        raise CertificateError(f"{place}: expected numbers >= 0, found a negative one")
    return numbers


def _unpack(kind: str, count: int, text: str, place: str) -> list[Any]:
    check_size("entries", count, place or "packed numbers")
    if kind not in TYPES:
        raise CertificateError(f"{place}: no packed type {kind!r}")
    numbers = array(TYPES[kind])
    size, engine = int(kind[1]) * count, zlib.decompressobj()
    try:
        content = engine.decompress(base64.b64decode(text, validate=True), size + 1)
    except (ValueError, zlib.error):
        raise CertificateError(f"{place}: packed numbers are damaged") from None
    if len(content) != size or not engine.eof or engine.unused_data:
        raise CertificateError(f"{place}: expected {count} packed numbers, found more or fewer")
    numbers.frombytes(content)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def packed(numbers: Places | Numbers) -> Any:
    """Return a list as in a file: packed, in the shortest possible type, if it is long."""
    if isinstance(numbers, Places):
        if len(numbers) < PACKED_FROM:
            return list(numbers)
        kind = next(kind for kind in ("u1", "u2", "u4") if max(numbers) < 256 ** int(kind[1]))
    else:
        if len(numbers) < PACKED_FROM or not set(map(type, numbers)) <= {float}:
            return [written(w) if isinstance(w, Fraction) else w for w in numbers]
        short = array("f", numbers).tolist() if max(numbers) < 3e38 else []
        kind = "f4" if short == list(numbers) else "f8"
    content = array(TYPES[kind], numbers)
    if sys.byteorder == "big":
        content.byteswap()
    text = base64.b64encode(zlib.compress(content.tobytes())).decode()
    return f"{kind}:{len(numbers)}:{text}"


def _texts(document: Any) -> Iterator[str]:
    todo = [document]
    while todo:
        here = todo.pop()
        if isinstance(here, str):
            yield here
        elif isinstance(here, list | dict):
            todo += here.values() if isinstance(here, dict) else here


def packed_entries(document: Any) -> int:
    """Return the stated number of entries in the packed lists of a document."""
    found = map(HEAD.match, _texts(document))
    return sum(int(match[1]) for match in found if match)


def denominator_bits(document: Any) -> int:
    """Return the length of the common denominator of all exact numbers in text in a document.

    Examples
    --------
    >>> denominator_bits({"prior": ["1/4", "1/6", "7/12"]}), denominator_bits(["0.25", "1e-3"])
    (4, 10)
    """
    bottoms, places = dict[str, None](), 0  # in the order of the file
    for text in _texts(document):
        if len(text) > LONGEST:
            continue
        if match := RATIO.fullmatch(text):
            bottoms[match[1]] = None
        elif match := LONG_DECIMAL.fullmatch(text):
            places = max(places, len(match[1] or "") - int(match[2] or 0))
    common: int = 10**places
    products = 0
    for bottom in bottoms:
        common = lcm(common, int(bottom))
        bits = common.bit_length()
        products += len(bottom) * bits
        if bits > MOST_BITS:
            most = f"a common denominator of at most {MOST_BITS} bits"
            raise LimitError("exact numbers", most, bits)
        if products > MOST_PRODUCTS:
            most = f"at most {MOST_PRODUCTS} products of digits for their common denominator"
            raise LimitError("exact numbers", most, products)
    return common.bit_length()
