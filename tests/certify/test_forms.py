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
    AnyOf,
    Fixed,
    ListOf,
    Row,
    Table,
    Variants,
    exact_number,
    list_or_packed,
    or_null,
)
from mechdesign.errors import CertificateError
from mechdesign.exact import fraction_text

ONE = Table("one", {"kind": Fixed("one"), "size": INDEX}, {"note": TEXT})
TWO = Table("two", {"kind": Fixed("two"), "sizes": ListOf(INDEX, least=1)})
EITHER = Variants("either", [ONE, TWO])


@given(st.fractions(Fraction(-(10**9)), 10**9))
def test_the_text_of_a_rational_is_exact(value: Fraction) -> None:
    assert EXACT.accepts(fraction_text(value))
    assert exact_number(fraction_text(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_stands_for_the_shortest_decimal_that_rounds_to_it(value: float) -> None:
    assert NUMBER.accepts(value)
    assert exact_number(value) == Fraction(repr(value))


@given(st.text(max_size=6))
def test_digits_are_those_of_ascii(text: str) -> None:
    ascii_digits = bool(text) and all(c in "0123456789" for c in text)
    assert WHOLE.accepts(text) == (ascii_digits and (text == "0" or text[0] != "0"))
    if EXACT.accepts(text):
        assert text.isascii()


@pytest.mark.parametrize("value", [True, False, float("nan"), float("inf"), 2**53, "1", None, [1]])
def test_what_is_no_number(value: Any) -> None:
    assert not NUMBER.accepts(value)


@pytest.mark.parametrize("value", [-1, 1.0, True, "1", 2**53])
def test_what_is_no_index(value: Any) -> None:
    assert not INDEX.accepts(value)


def test_a_fixed_value_has_its_type() -> None:
    assert Fixed(1).accepts(1)
    assert not any(Fixed(1).accepts(other) for other in (True, 1.0, "1", None))


def test_lists_and_rows() -> None:
    assert ListOf(INDEX).accepts([])
    assert not ListOf(INDEX, least=1).accepts([])
    assert not any(ListOf(INDEX).accepts(other) for other in ((1,), "12", {"0": 1}, [1, True]))
    assert Row([INDEX, TEXT]).accepts([1, "a"])
    assert not any(Row([INDEX, TEXT]).accepts(other) for other in ([1], [1, "a", 2], ["a", 1]))
    assert or_null(INDEX).accepts(None)


def test_a_table_has_its_keys_and_no_others() -> None:
    assert ONE.accepts({"kind": "one", "size": 1})
    assert ONE.accepts({"kind": "one", "size": 1, "note": "a"})
    for wrong in ({}, {"kind": "one"}, {"kind": "one", "size": 1, "sizes": [1]}, [], None):
        assert not ONE.accepts(wrong)


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


CHOICE = AnyOf([TEXT, ListOf(INDEX), EITHER])


@pytest.mark.parametrize("value", ["a", [], [1, 2], {"kind": "one", "size": 1}])
def test_a_choice_takes_what_one_of_its_forms_takes(value: Any) -> None:
    CHOICE.check(value, "here")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1, "2"], "here[1]: expected index, found '2'"),
        ({"kind": "two"}, "here: two has no 'sizes'"),
        (None, "here: expected text, list of index or either, found None"),
    ],
)
def test_a_choice_says_what_is_wrong_in_a_list_or_a_table(value: Any, words: str) -> None:
    with pytest.raises(CertificateError) as found:
        CHOICE.check(value, "here")
    assert str(found.value) == words


def test_lists_may_be_packed_into_text_of_some_types() -> None:
    form = list_or_packed(INDEX, {"u1": "B"})
    assert form.accepts([1, 4])
    assert form.accepts("u1:2:eJxjZAEAAAgABg==")
    assert not any(form.accepts(other) for other in ("u2:2:eJxjZAEAAAgABg==", "u1", [-1], None, {}))
    assert form.says == "list of index or packed u1"
