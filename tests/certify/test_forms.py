"""A form accepts its own values and refuses all others, whatever their type."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign.certify.forms import (
    EXACT,
    INDEX,
    NUMBER,
    TEXT,
    WHOLE,
    Fixed,
    Form,
    ListOf,
    OrNull,
    Row,
    Table,
    Variants,
    exact_number,
)
from mechdesign.errors import CertificateError
from mechdesign.exact import fraction_text

ONE = Table("one", {"kind": Fixed("one"), "size": INDEX}, {"note": TEXT})
TWO = Table("two", {"kind": Fixed("two"), "sizes": ListOf(INDEX, least=1)})
EITHER = Variants("either", [ONE, TWO])


def accepts(form: Form, value: Any) -> bool:
    try:
        form.check(value, "here")
    except CertificateError:
        return False
    return True


@given(st.fractions(Fraction(-(10**9)), 10**9))
def test_the_text_of_a_rational_is_exact(value: Fraction) -> None:
    assert accepts(EXACT, fraction_text(value))
    assert exact_number(fraction_text(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_stands_for_the_shortest_decimal_that_rounds_to_it(value: float) -> None:
    assert accepts(NUMBER, value)
    assert exact_number(value) == Fraction(repr(value))


@given(st.text(max_size=6))
def test_digits_are_those_of_ascii(text: str) -> None:
    ascii_digits = bool(text) and all(c in "0123456789" for c in text)
    assert accepts(WHOLE, text) == (ascii_digits and (text == "0" or text[0] != "0"))
    if accepts(EXACT, text):
        assert text.isascii()


@pytest.mark.parametrize("value", [True, False, float("nan"), float("inf"), 2**53, "1", None, [1]])
def test_what_is_no_number(value: Any) -> None:
    assert not accepts(NUMBER, value)


@pytest.mark.parametrize("value", [-1, 1.0, True, "1", 2**53])
def test_what_is_no_index(value: Any) -> None:
    assert not accepts(INDEX, value)


def test_a_fixed_value_has_its_type() -> None:
    assert accepts(Fixed(1), 1)
    assert not any(accepts(Fixed(1), other) for other in (True, 1.0, "1", None))


def test_lists_and_rows() -> None:
    assert accepts(ListOf(INDEX), [])
    assert not accepts(ListOf(INDEX, least=1), [])
    assert not any(accepts(ListOf(INDEX), other) for other in ((1,), "12", {"0": 1}, [1, True]))
    assert accepts(Row([INDEX, TEXT]), [1, "a"])
    assert not any(accepts(Row([INDEX, TEXT]), other) for other in ([1], [1, "a", 2], ["a", 1]))
    assert accepts(OrNull(INDEX), None)


def test_a_table_has_its_keys_and_no_others() -> None:
    assert accepts(ONE, {"kind": "one", "size": 1})
    assert accepts(ONE, {"kind": "one", "size": 1, "note": "a"})
    for wrong in ({}, {"kind": "one"}, {"kind": "one", "size": 1, "sizes": [1]}, [], None):
        assert not accepts(ONE, wrong)


def test_one_of_several_tables_is_found_by_what_is_fixed_and_by_its_keys() -> None:
    assert EITHER.find({"kind": "one", "size": 1}, "here") is ONE
    assert EITHER.find({"kind": "two", "sizes": [1]}, "here") is TWO
    for wrong, words in (
        ({"kind": "three"}, "here: the kind 'three' is not known"),
        ({"kind": "two", "sizes": [1], "size": 1}, "here: 'size' is no key of two"),
        ({"kind": "two"}, "here: two has no 'sizes'"),
        (3, "here: expected either, found 3"),
    ):
        with pytest.raises(CertificateError) as found:
            EITHER.find(wrong, "here")
        assert str(found.value) == words
