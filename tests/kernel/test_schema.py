"""Reading is the inverse of writing, and what is of another form is refused by name.

A text is read under limits before it is parsed; what is no file says so in one line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import pytest

from mechdesign.errors import CertificateError, LimitError
from mechdesign.kernel import packed
from mechdesign.kernel.documents import canonical, parse
from mechdesign.kernel.packed import Numbers, Places, Weights, denominator_bits, exact
from mechdesign.kernel.schema import Label, Signed, Whole, read, tables, write
from mechdesign.kernel.verify import verify
from mechdesign.resources import allow
from tests.documents import sealed
from tests.independent.files import check
from tests.independent.rationals import RefusedError


@dataclass(frozen=True)
class One:
    """A table of many forms."""

    kind: ClassVar[str] = "one"
    number: Fraction
    whole: Whole
    debts: tuple[Signed, ...]
    label: Label = 0
    words: Literal["a", "b"] | None = None
    pair: tuple[int, str] = (0, "")


@dataclass(frozen=True)
class Other:
    """A table without a kind: the fallback."""

    kind_of: str
    list: tuple[One, ...] = ()


ONE: dict[str, Any] = {"kind": "one", "number": "1/3", "whole": "12", "debts": ["-3", "4"]}


def test_reading_is_the_inverse_of_writing() -> None:
    given = {**ONE, "label": [1, 2], "words": "b", "pair": [3, "x"]}
    found = read(One | Other, given)
    assert found == One(Fraction(1, 3), Whole(12), (Signed(-3), Signed(4)), (1, 2), "b", (3, "x"))
    assert write(found) == given
    assert read(Other, write(Other("x", (found,)))) == Other("x", (found,))
    assert list(tables(One)[0].keys)[:3] == ["kind", "number", "whole"]


@pytest.mark.parametrize(
    "change",
    [
        {"number": "1/0"},
        {"number": float("nan")},
        {"number": "1e200"},
        {"number": True},
        {"number": 2**53},
        {"whole": 12},
        {"whole": "-1"},
        {"whole": "\u0661"},
        {"whole": "1" * 5000},
        {"debts": "4"},
        {"debts": ["--4"]},
        {"label": [[1, 2], 3]},
        {"label": []},
        {"label": None},
        {"words": "c"},
        {"pair": [1]},
        {"pair": [-1, ""]},
        {"more": 1},
        {"kind": "two"},
    ],
)
def test_another_form_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        read(One, {**ONE, **change})


@pytest.mark.parametrize("key", ["kind", "number", "whole", "debts"])
def test_a_required_key_is_missed(key: str) -> None:
    with pytest.raises(CertificateError, match=f"key '{key}' is missing"):
        read(One, {name: entry for name, entry in ONE.items() if name != key})


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        (Places(range(300)), "u2"),
        (Places([1, 2] * 300), "u1"),
        (Numbers([0.5, -0.25] * 300), "f4"),
        (Weights([0.1] * 600), "f8"),
        (Numbers([Fraction(1, 3), 0.5]), None),
    ],
)
def test_packed_numbers_are_the_same(numbers: Places | Numbers, kind: str | None) -> None:
    numbers = type(numbers)(numbers * 2) if kind else numbers
    shown = write(numbers)
    assert read(type(numbers), shown) == numbers
    assert kind is None or shown.startswith(f"{kind}:{len(numbers)}:")


def test_packed_numbers_that_are_damaged_too_many_or_of_another_sign_are_refused() -> None:
    text = write(Places([1] * 1000))
    cut = text.replace("1000", "1001"), text.replace("1000", "999"), text[:-4], "u9:1:"
    cut += text[:-1], "u1:3:AAAA"
    for wrong in (*cut, [1.5], [True]):
        with pytest.raises(CertificateError):
            read(Places, wrong)
    with pytest.raises(CertificateError, match=">= 0"):
        read(Weights, write(Numbers([-1.0] * 1000)))
    with allow(entries=999), pytest.raises(LimitError):
        read(Places, text)


def test_floats_are_the_decimals_that_they_print_as_in_tables_and_binary_in_proofs() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert Numbers([0.1]).scaled(60) == [int(0.1 * 2**60)]
    assert read(Numbers, ["0.1", 0.5]).scaled(1) == [0, 1]


BARE: dict[str, Any] = {
    "format": "mechdesign-channel",
    "version": 2,
    "problem": {"domain": {"values": ["a", "b"]}},
    "channel": {
        "inputs": ["a", "b"],
        "outputs": [0, 1],
        "matrix": [[0.75, 0.25], [0.5, 0.5]],
        "bits": 2,
        "numerators": [["3", "1"], ["2", "2"]],
    },
}


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ({"bytes": 10}, " " * 11),
        ({"entries": 3}, "[1,2,3,4,5]"),
        ({"lists": 2}, "[[],[]]"),
        ({"lists": 6}, "[{}, {}, {}, {}, {}, {}]"),
        ({"levels": 2}, '["[[[",[[]]]'),
        ({"digits": 4}, "12345"),
    ],
)
def test_texts_beyond_a_limit_are_not_parsed(limit: dict[str, int], text: str) -> None:
    with allow(**limit), pytest.raises(LimitError):
        parse(text)


def test_brackets_in_text_do_not_count_as_levels() -> None:
    with allow(levels=1):
        assert parse('["[[[\\"[", "]"]') == ['[[["[', "]"]


def test_a_bare_channel_claims_to_be_one_only() -> None:
    claims = verify(json.loads(canonical(sealed({**BARE})))).claims
    assert claims[0] == "rows sum to 1 exactly: integers over 2**2"
    assert claims[1].startswith("NOT claimed")


@pytest.mark.parametrize(
    "change",
    [
        {"bits": 3},
        {"bits": 10**9},
        {"inputs": ["b", "a"]},
        {"outputs": [0, 0]},
        {"matrix": [[0.75, 0.25], [0.5, 0.4]]},
        {"matrix": [[0.75, 0.25]]},
        {"matrix": [[0.75, 0.25]], "numerators": [["3", "1"]]},
        {"numerators": [["3", "1"], ["2", "3"]]},
        {"numerators": [["3", "1"], ["4"]]},
        {"numerators": [["3", "1"], [2, 2]]},
        {"more": 1},
    ],
)
def test_an_invalid_channel_is_refused(change: dict[str, Any]) -> None:
    document = sealed({**BARE, "channel": {**BARE["channel"], **change}})
    with pytest.raises(CertificateError):
        verify(document)
    with pytest.raises(RefusedError):
        check(document)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({**BARE, "version": 1}, "design it again"),
        ({"format": "mechdesign-mechanism", "version": 1}, "design it again"),
        ({**BARE, "version": 3}, "version 2"),
        ({**BARE, "version": "2"}, "version 2"),
        ({**BARE, "version": True}, "design it again"),
        ({**BARE, "digest": "sha256:0"}, "digest"),
        *((other, "version 2") for other in (None, 0, 1.5, "", [], {}, [{}], {"format": []})),
    ],
)
def test_another_document_is_refused_in_one_line(document: Any, why: str) -> None:
    with pytest.raises(CertificateError, match=why) as error:
        verify(document)
    assert "\n" not in str(error.value)
    with pytest.raises(RefusedError):
        check(document)


def test_the_common_denominator_is_of_the_exact_numbers_that_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert denominator_bits({"prior": ["1/3", "2/3"]}) == 2
    assert denominator_bits(["-0.25", "1.5e-1", "1e2", "1/7", "a"]) == (7 * 100).bit_length()
    assert denominator_bits([]) == 1
    monkeypatch.setattr(packed, "MOST_PRODUCTS", 6000)
    assert denominator_bits([f"1/{n}" for n in range(1, 50)]) < 100
    many = [f"1/{n}" for n in range(1, 200)]
    with pytest.raises(LimitError, match="products of digits"):
        denominator_bits(many)
