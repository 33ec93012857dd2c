"""Reading is the inverse of writing, and what is of another form is refused by name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import pytest

from mechdesign.errors import CertificateError, LimitError
from mechdesign.kernel.packed import Numbers, Places, Weights, exact
from mechdesign.kernel.schema import Label, Signed, Whole, read, tables, write
from mechdesign.resources import allow


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
