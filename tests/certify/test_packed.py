"""Packed numbers: what is read, what is refused, and how much a few bytes may unpack to."""

from __future__ import annotations

import base64
import copy
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import CertificateError, LimitError, resources
from mechdesign.certify import verify
from mechdesign.certify.packed import FLOATS, INTEGERS, is_packed, unpacked
from mechdesign.certify.proof import PARALLEL
from mechdesign.certify.schema.certificates import ROWS_DUAL
from mechdesign.designs.multiplier_tables import _packed
from mechdesign.resources import entries_of
from tests.corpus import document_of
from tests.documents import refused, sealed
from tests.independent.reading import numbers

CODES = {"u1": "B", "u2": "H", "u4": "I", "f4": "f", "f8": "d"}


def text_of(kind: str, values: list[Any], count: int | None = None, extra: bytes = b"") -> str:
    content = zlib.compress(struct.pack(f"<{len(values)}{CODES[kind]}", *values)) + extra
    return f"{kind}:{len(values) if count is None else count}:{base64.b64encode(content).decode()}"


@given(st.lists(st.integers(0, 2**32 - 1), max_size=40), st.sampled_from([0, 8, 16, 24]))
def test_integers_come_back(values: list[int], shift: int) -> None:
    values = [v >> shift for v in values]
    text = _packed(np.array(values, dtype=np.intp))
    assert is_packed(text, INTEGERS)
    assert not is_packed(text, FLOATS)
    assert list(unpacked(text)) == values == numbers(text, whole=True)


@given(st.lists(st.floats(0, 1e300), max_size=40), st.booleans())
def test_floats_come_back(values: list[float], short: bool) -> None:
    if short:
        values = [float(np.float32(min(v, 1e30))) for v in values]
    text = _packed(np.array(values, dtype=np.float64))
    assert text.startswith("f4" if short else ("f4", "f8"))
    assert list(unpacked(text)) == values == numbers(text, whole=False)


def test_lists_are_as_they_are() -> None:
    assert unpacked([1, 2.5]) == [1, 2.5]
    assert list(unpacked("u1:0:" + base64.b64encode(zlib.compress(b"")).decode())) == []


GOOD = text_of("u2", [1, 2, 300])
DAMAGED = {
    "fewer": text_of("u2", [1, 2], 3),
    "more": text_of("u2", [1, 2, 3, 4], 3),
    "no bytes": "u2:3:",
    "no base64": "u2:3:abcde",
    "no zlib": "u2:3:" + base64.b64encode(b"abcdef").decode(),
    "cut off": "u2:3:" + base64.b64encode(base64.b64decode(GOOD[5:])[:-3]).decode(),
    "something behind": text_of("u2", [1, 2, 3], extra=b"x"),
    "two streams": text_of("u2", [1, 2, 3], extra=zlib.compress(b"abc")),
    "a negative number": text_of("f8", [1.0, -1.0, 2.0]),
    "no number": text_of("f8", [1.0, float("nan"), 2.0]),
    "infinity": text_of("f4", [1.0, float("inf"), 2.0]),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_refused(name: str) -> None:
    with pytest.raises(CertificateError, match="packed numbers"):
        unpacked(DAMAGED[name])


NO_FORM = [
    "",
    "u2",
    "u3:1:AA==",
    "i4:1:AA==",
    "u2:01:AA==",
    "u2:-1:AA==",
    "u2:1:A A=",
    "u2:1:A====",
]


@pytest.mark.parametrize("text", [*NO_FORM, None, 3, ["u2"], "\u0661:1:AA=="])
def test_other_text_is_not_packed(text: Any) -> None:
    assert not is_packed(text, {**INTEGERS, **FLOATS})


def test_a_few_bytes_do_not_unpack_to_many() -> None:
    """Twenty thousand bytes of base64 hold 15 million zeros: they are counted before."""
    bomb = text_of("u1", [0] * 15_000_000)
    assert len(bomb) < 21_000
    short = "u1:10:" + bomb.split(":")[2]
    with pytest.raises(CertificateError, match="more or fewer"):
        unpacked(short)
    with resources.allow(entries=10**6), pytest.raises(LimitError, match="packed numbers"):
        unpacked(bomb)
    with (
        resources.allow(steps=10**6),
        resources.counted(entries_of({"weight": bomb})),
        pytest.raises(LimitError, match="packed numbers"),
    ):
        unpacked(bomb)


NAMES = ["packed ldp", "packed lip", "packed linear", "packed decoders"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_may_have_lists_or_text(name: str) -> None:
    """Both are the same proof, and either is refused where a number in it is another."""
    document = document_of(name)
    dual = document["certificate"]["dual"]
    assert all(type(block[key]) is str for block in dual["rows"] for key in PARALLEL)
    listed = copy.deepcopy(document)
    for block in listed["certificate"]["dual"]["rows"]:
        block |= {key: list(unpacked(block[key])) for key in PARALLEL}
    verify(sealed(listed))
    for block in listed["certificate"]["dual"]["rows"]:
        block["weight"] = text_of("f8", [1.5 * w for w in block["weight"]])
    refused(listed, "the bound proved is")


@pytest.mark.parametrize("key", PARALLEL)
def test_damage_in_a_file_is_refused(key: str) -> None:
    for text in ("u2:3:", "f8:1:AAAA", text_of("u1", [200]), text_of("f8", [1.0] * 3)):
        document = copy.deepcopy(document_of("packed lip"))
        document["certificate"]["dual"]["rows"][0][key] = text
        refused(document)


def test_the_schema_says_so() -> None:
    form = ROWS_DUAL.required["rows"].part  # type: ignore[attr-defined]
    assert form.required["weight"].says == "list of number >= 0 or packed f4, f8"
    assert form.required["x"].says == "list of index or packed u1, u2, u4"
