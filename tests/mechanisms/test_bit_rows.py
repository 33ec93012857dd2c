"""Sets of inputs as rows of bits: written, read and counted."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Domain
from mechdesign.mechanisms.bit_rows import BitRows, count_ones, read_bits, write_bits
from tests.refusals_support import check_refused
from tests.strategies import examples

sets_of = st.integers(1, 20).flatmap(
    lambda k: st.tuples(st.just(k), st.lists(st.sets(st.integers(0, k - 1)), max_size=8))
)


@given(sets_of)
@examples(24)
def test_sets_go_in_and_out(case: tuple[int, list[set[int]]]) -> None:
    k, sets = case
    alphabet = BitRows(Domain.range(k))
    rows = alphabet.encode(sets)
    assert rows.shape == (len(sets), -(-k // 8))
    assert alphabet.labels(rows) == [tuple(sorted(members)) for members in sets]
    assert (alphabet.encode(alphabet.labels(rows)) == rows).all()
    texts = alphabet.write(rows)
    assert all(len(text) == 2 * -(-k // 8) for text in texts)
    assert (alphabet.read([f" {text.upper()}\n" for text in texts]) == rows).all()
    for n, members in enumerate(sets):
        assert {x for x in range(k) if read_bits(rows, x)[n]} == members


@pytest.mark.parametrize(
    ("width", "count"),
    [
        *product([1, 7, 8, 9, 64, 100], [0, 1, 127, 128, 129, 1000, 9000]),
        *((4001, 2000), (32, 200_000)),  # many blocks
    ],
)
def test_ones_are_counted(width: int, count: int) -> None:
    bits = np.random.default_rng(width * count).random((count, width)) < 0.7
    rows = np.packbits(bits, axis=1, bitorder="little")
    assert (count_ones(rows, width) == bits.sum(axis=0)).all()


def test_one_bit_of_each_row_is_written_and_read() -> None:
    rng = np.random.default_rng(5)
    bits = rng.random((500, 19)) < 0.5
    rows = np.packbits(bits, axis=1, bitorder="little")
    places, values = rng.integers(0, 19, size=500), rng.random(500) < 0.5
    write_bits(rows, places, values)
    assert (read_bits(rows, places) == values).all()
    bits[np.arange(500), places] = values
    assert (rows == np.packbits(bits, axis=1, bitorder="little")).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("05", r"reports\[1\]: expected 4 hexadecimal digits, 9 bits, given '05'"),
        ("0z01", r"reports\[1\]: expected 4 hexadecimal digits"),
        ("0 01", r"reports\[1\]: expected 4 hexadecimal digits"),
        ("", r"reports\[1\]: expected 4 hexadecimal digits"),
        ("0002", r"reports\[1\]: expected 0 in the bits beyond the 9 inputs, given '0002'"),
    ],
)
def test_text_that_is_not_a_report_is_refused(text: str, words: str) -> None:
    check_refused(words, lambda: BitRows(Domain.range(9)).read(["0101", text]))


def test_values_that_are_not_reports_are_refused() -> None:
    alphabet = BitRows(Domain(["a", "b", "c"]), size=2)
    assert alphabet.labels(alphabet.encode([["c", "a"]])) == [("a", "c")]
    for value, words in (
        ("ab", r"y\[0\]: expected a set of inputs"),
        (3, r"y\[0\]: expected a set of inputs"),
        (["a", "d"], r"y\[0\]\[1\]: expected labels of the domain"),
        (["a", "a"], r"y\[0\]: expected inputs that all differ"),
        (["a"], r"y\[0\]: expected a set of 2 inputs, given 1 inputs"),
    ):
        check_refused(words, alphabet.encode, [value], "y")
    check_refused(r"reports\[0\]: expected a set of 2 inputs", alphabet.read, ["07"])


def test_many_reports_are_read_at_once() -> None:
    alphabet = BitRows(Domain.range(40))
    rows = np.random.default_rng(2).integers(0, 256, size=(100_000, 5)).astype(np.uint8)
    assert (alphabet.read(alphabet.write(rows)) == rows).all()
