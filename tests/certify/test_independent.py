"""A second verifier, which shares no code with the library, accepts what the library writes."""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign.certify import digest, verify
from tests.corpus import CASES, document_of
from tests.independent.files import RefusedError, check
from tests.independent.privacy import fillings
from tests.independent.rationals import exp, ln, root
from tests.mutations import digest as documented_digest
from tests.strategies import examples

Document = dict[str, Any]

FAST = list(CASES)[::8]
DIGITS = Context(prec=80, Emin=-(10**9), Emax=10**9)


def decimal(value: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def test_it_shares_nothing_with_the_library() -> None:
    for file in (Path(__file__).parents[1] / "independent").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.startswith("mechdesign") for name in names), file


def agree(name: str) -> None:
    document = document_of(name)
    assert digest(document) == documented_digest(document)
    verify(document)
    check(document)


@pytest.mark.parametrize("name", FAST)
def test_both_accept_what_the_library_writes(name: str) -> None:
    agree(name)


@pytest.mark.slow
def test_both_accept_all_that_the_library_writes() -> None:
    for name in CASES:
        agree(name)


# what the second verifier refuses


def changed(name: str, change: Callable[[Document], Any]) -> Document:
    document = copy.deepcopy(document_of(name))
    change(document)
    document["digest"] = documented_digest(document)
    return document


def raised(key: str, by: float) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document[key] += by
        document["gap"] = abs(document["value"] - document["bound"]) / document["value"]

    return change


def one_unit(document: Document) -> None:
    """Give a unit in 2**62 to an entry that is as large as it may be."""
    rows = document["law"]
    rows["own"], rows["other"] = str(int(rows["own"]) + 2), str(int(rows["other"]) - 1)


FALSE: dict[str, tuple[str, Callable[[Document], Any], str]] = {
    "a bound too high": ("ldp: hamming", raised("bound", 1e-12), "the bound"),
    "a value too low": ("lip: absolute", raised("value", -1e-6), "the value"),
    "not private": ("mechanism randomized response", one_unit, "not private"),
    "a spare key": ("ldp: hamming", lambda d: d["problem"]["utility"].update(values=[]), "keys"),
    "a sense": ("lip: information", lambda d: d.update(sense="minimize"), "the sense"),
    "a leakage": ("lip: tv", lambda d: d["privacy"][0].update(leakage=0.9), "leaks more"),
    "no leakage": ("lip: tv", lambda d: d["privacy"][0].update(leakage=1.1), "leaks less"),
    "a true version": ("bare channel", lambda d: d.update(version=True), "version"),
    "a law": ("mechanism Hadamard", lambda d: d["law"].update(held="36" + "0" * 17), "not private"),
    "a digest": ("bare channel", lambda d: d["domain"].update(values=[0, 1, 3]), "inputs"),
}


@pytest.mark.parametrize("case", FALSE)
def test_the_second_verifier_refuses_what_is_false(case: str) -> None:
    name, change, reason = FALSE[case]
    with pytest.raises(RefusedError, match=reason):
        check(changed(name, change))


# its numbers


@examples(200)
@given(st.fractions(-30, 30, max_denominator=10**6))
def test_exponentials_lie_between_the_bounds(x: Fraction) -> None:
    low, high = exp(x, 100)
    assert decimal(low) <= DIGITS.exp(decimal(x)) <= decimal(high)
    assert high - low <= high / 2**90


@examples(200)
@given(st.fractions(Fraction(1, 10**9), 10**9, max_denominator=10**12))
def test_logarithms_lie_between_the_bounds(x: Fraction) -> None:
    low, high = ln(x, 100)
    assert decimal(low) <= DIGITS.ln(decimal(x)) <= decimal(high)
    assert high - low <= Fraction(1, 2**90)


@examples(200)
@given(st.fractions(0, 10**9, max_denominator=10**12))
def test_roots_lie_between_the_bounds(x: Fraction) -> None:
    low, high = root(x, 100)
    assert low**2 <= x <= high**2
    assert high - low <= Fraction(1, 2**100)


def test_vertices_of_a_box_with_a_sum() -> None:
    """All entries but one are at an end, and there are n choose n/2 of them at the middle."""
    found = fillings([Fraction(0)] * 4, [Fraction(1)] * 4, Fraction(2))
    assert len(found) == math.comb(4, 2)
