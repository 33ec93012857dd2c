"""Subset selection and unary encoding: exact laws, draws and variances."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, Domain, InputError
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.mechanisms import OptimizedUnaryEncoding, SubsetSelection, SymmetricUnaryEncoding
from mechdesign.mechanisms.bit_rows import (
    BitRows,
    _flip_some,
    _positions,
    count_ones,
    read_bits,
    uniform_sets,
    write_bits,
)
from mechdesign.mechanisms.reported_sets import UnaryEncoding
from mechdesign.sampling import Source, source_of
from tests.mechanisms_support import Given, exact_table, scores
from tests.refusals_support import check_refused
from tests.strategies import examples

budgets = st.sampled_from(
    [Fraction("0.01"), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(20)]
)


# --- draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [2, 3, 35, 64, 1000, 4096])
def test_positions_are_exactly_uniform(width: int) -> None:
    """Of all numbers of 16 bits, each position gets as many."""
    every = np.arange(1 << 16, dtype="<u2").view(np.uint8)
    place, valid = _positions(1 << 16, width, Given(every))
    shares = np.bincount(place[valid], minlength=width)
    assert shares.min() == shares.max() == (1 << 16) // width
    assert valid.mean() > 0.9


def test_wide_rows_take_numbers_of_32_bits() -> None:
    numbers = np.array([0, 858_993, 858_994, 1717988 * 2, 2**32 - 1], dtype="<u4")
    place, valid = _positions(5, 5000, Given(numbers.view(np.uint8)))
    step = 2**32 // 5000
    expected = [int(number) // step for number in numbers]
    assert valid.tolist() == [number < 5000 for number in expected]
    assert place[valid].tolist() == [number for number in expected if number < 5000]


@given(st.integers(2, 100), st.integers(0, 10**6), st.booleans())
@examples(15)
def test_positions_that_are_not_as_wanted_are_passed_over(
    width: int, seed: int, member: bool
) -> None:
    """Each row takes its positions one after the other, as a plain loop over them would."""
    rng = np.random.default_rng(seed)
    n, bits = 20, np.random.default_rng(seed).random((20, width)) < 0.5
    padded = np.zeros((n, -(-width // 64) * 64), dtype=bool)
    padded[:, :width] = bits
    words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    times = np.minimum(rng.integers(-1, 5, size=n), (bits == member).sum(axis=1))
    taken: list[list[int]] = [[] for _ in range(n)]

    class Noted(Source):
        """Draws numbers, and does with them what is to be done."""

        simulated = True

        def bytes(self, count: int) -> npt.NDArray[np.uint8]:
            numbers = rng.integers(0, 1 << 16, size=count // 2).astype("<u2")
            rows = [n for n in range(len(times)) if len(taken[n]) < times[n]]
            for row, number in zip(rows, numbers.tolist(), strict=True):
                place = number // ((1 << 16) // width)
                if place < width and bits[row, place] == member:
                    bits[row, place] = not member
                    taken[row].append(place)
            return numbers.view(np.uint8)

    last = _flip_some(words, width, times, Noted(), member=member)
    found = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    assert (found[:, :width] == bits).all()
    assert [len(places) for places in taken] == np.maximum(times, 0).tolist()
    assert last[0].tolist() == [places[-1] if places else 0 for places in taken]
    assert last[1].tolist() == [places[-2] if len(places) > 1 else 0 for places in taken]


def members(rows: npt.NDArray[np.uint8], width: int) -> Iterator[tuple[int, ...]]:
    bits = np.unpackbits(rows, axis=1, count=width, bitorder="little")
    return (tuple(np.flatnonzero(row).tolist()) for row in bits)


@pytest.mark.parametrize(("width", "size"), [(2, 1), (3, 2), (4, 2), (5, 1), (5, 4), (6, 3)])
def test_uniform_sets_are_uniform(width: int, size: int) -> None:
    """All sets, members and others come up alike, together: within 4.5 errors."""
    n = 40_000
    rows, inside, outside = uniform_sets(n, width, size, source_of(width * size))
    cases = list(zip(members(rows, width), inside.tolist(), outside.tolist(), strict=True))
    assert all(a in some and b not in some for some, a, b in cases)
    number = math.comb(width, size) * size * (width - size)
    table: dict[tuple[tuple[int, ...], int, int], int] = dict.fromkeys(cases, 0)
    for case in cases:
        table[case] += 1
    assert len(table) == number
    error = math.sqrt((1 - 1 / number) / (n * number))
    assert all(abs(count / n - 1 / number) < 4.5 * error for count in table.values())


@pytest.mark.parametrize(
    ("width", "size"), [(64, 20), (65, 64), (130, 3), (1000, 269), (1000, 800)]
)
def test_sets_of_many_have_their_size(width: int, size: int) -> None:
    n = 3000
    rows, _, _ = uniform_sets(n, width, size, source_of(1))
    bits = np.unpackbits(rows, axis=1, count=width, bitorder="little")
    assert (np.bitwise_count(rows).sum(axis=1) == size).all()
    assert (bits.sum(axis=1) == size).all()
    share, expected = bits.mean(axis=0), size / width
    assert (abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / n)).all()


def test_uniform_reports_are_uniform() -> None:
    mechanism, n = SubsetSelection(5, 1, 2), 20_000
    texts = mechanism.alphabet.write(mechanism.draw_uniform(n, source_of(3)))
    counts = [texts.count(text) for text in mechanism.alphabet.write(mechanism.listed())]
    assert sum(counts) == n
    assert max(abs(count / n - 0.1) for count in counts) < 4.5 * math.sqrt(0.09 / n)


def test_the_work_does_not_depend_on_the_records() -> None:
    """From one seed, reports of two inputs are one set, but for two exchanges of a member."""
    mechanism, n = SubsetSelection(100, 2), 500
    first = mechanism.privatize([3] * n, rng=3).data
    second = mechanism.privatize([77] * n, rng=3).data
    assert (mechanism.privatize([3] * n, rng=3).data == first).all()
    assert np.bitwise_count(first ^ second).sum(axis=1).max() <= 4
    assert (np.bitwise_count(first).sum(axis=1) == mechanism.size).all()


@given(st.integers(2, 30), budgets)
@examples(15)
def test_its_size_is_the_best(k: int, epsilon: Fraction) -> None:
    risks = [SubsetSelection(k, epsilon, size).risk for size in range(1, k)]
    assert SubsetSelection(k, epsilon).risk <= min(risks) * (1 + 1e-9)


# --- unary encoding -------------------------------------------------------------------------------

KINDS: list[type[UnaryEncoding]] = [OptimizedUnaryEncoding, SymmetricUnaryEncoding]

kinds = st.sampled_from(KINDS)
sizes = st.integers(2, 6)


def test_its_matrix_is_private_up_to_rounding() -> None:
    for kind in KINDS:
        dense = kind(4, 1).dense()
        assert LDP(Fraction(1) + Fraction(1, 10**12)).holds(dense)
        assert not LDP(Fraction("0.9")).holds(dense)


@given(budgets, st.integers(1, 62))
@examples(24)
def test_few_digits_spend_the_whole_budget(epsilon: Fraction, digits: int) -> None:
    """Whatever q is, the odds of p are e**epsilon those of q, as nearly as 2**-62 permits."""
    mechanism = OptimizedUnaryEncoding(5, epsilon, digits)
    p, q = mechanism.chances
    assert q.denominator <= 1 << digits
    more = p + Fraction(1, 1 << 62)
    assert mechanism.largest_ratio() <= exp_lower(epsilon)
    assert more * (1 - q) > exp_lower(epsilon) * q * (1 - more)


@given(budgets, st.integers(11, 62))
@examples(24)
def test_the_symmetric_one_is_the_nearest_that_is_private(epsilon: Fraction, digits: int) -> None:
    mechanism = SymmetricUnaryEncoding(5, epsilon, digits)
    p, q = mechanism.chances
    assert p + q == 1
    less = q - Fraction(1, 1 << digits)
    assert mechanism.largest_ratio() <= exp_lower(epsilon)
    assert less == 0 or ((1 - less) / less) ** 2 > exp_upper(epsilon)


@given(budgets)
@examples(8)
def test_its_variance_is_the_textbook_s(epsilon: Fraction) -> None:
    """It is 4 e/(e - 1)**2 for OUE and r/(r - 1)**2, r = e**(epsilon/2), for SUE."""
    e = np.expm1(float(epsilon))
    r = np.expm1(float(epsilon) / 2)
    for kind, best, most in (
        (OptimizedUnaryEncoding, 4 * (e + 1) / e**2, 0.005),
        (SymmetricUnaryEncoding, (r + 1) / r**2, 0.01),
    ):
        textbook, usual = kind(9, epsilon, digits=62), kind(9, epsilon)
        assert np.isclose(textbook.variance, best, rtol=1e-8)
        assert abs(textbook.loss) < 1e-8
        assert np.isclose(usual.variance, best * (1 + usual.loss), rtol=1e-8)
        assert 0 <= usual.loss <= most
        assert all(loss_of(kind, epsilon, fewer) > most for fewer in range(1, digits_of(usual)))


def digits_of(mechanism: UnaryEncoding) -> int:
    return mechanism.chances[1].denominator.bit_length() - 1


def loss_of(kind: type[UnaryEncoding], epsilon: Fraction, digits: int) -> float:
    """Return the loss at a number of digits; infinite where they are too few to tell anything."""
    try:
        return kind(9, epsilon, digits).loss
    except InputError:
        return np.inf


def test_the_variance_is_that_of_the_estimate() -> None:
    """The score of an input, given another one, has the variance; it comes out of draws too."""
    mechanism, n = OptimizedUnaryEncoding(3, 1), 40_000
    table, law = scores(mechanism), [float(q) for q in exact_table(mechanism)[0]]
    assert np.isclose(table[1] ** 2 @ law, mechanism.variance)
    found = mechanism.frequencies(mechanism.tally(mechanism.privatize([0] * n, rng=2)))
    assert abs(found.estimates[1]) < 4 * np.sqrt(mechanism.variance / n)
    assert abs(found.squares[1] / mechanism.variance - 1) < 0.05


def test_two_random_bits_do_at_epsilon_1() -> None:
    mechanism = OptimizedUnaryEncoding(1000, 1)
    assert mechanism.chances[1] == Fraction(1, 4)
    assert mechanism.loss < 0.0025


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("x", [7, 16])
def test_every_bit_has_its_probability(kind: type[UnaryEncoding], x: int) -> None:
    """At the end of a byte and in the last one, which has one input alone."""
    mechanism, n = kind(17, 1), 20_000
    p, q = (float(chance) for chance in mechanism.chances)
    share = mechanism.count(mechanism.privatize([x] * n, rng=x).data) / n
    expected = np.where(np.arange(17) == x, p, q)
    assert (np.abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / n)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_record_takes_the_same_bits(kind: type[UnaryEncoding]) -> None:
    """From one seed, reports of two inputs differ in the bits of these two alone."""
    mechanism = kind(20, 2)
    first = mechanism.privatize([3] * 100, rng=3).data
    second = mechanism.privatize([17] * 100, rng=3).data
    assert (mechanism.privatize([3] * 100, rng=3).data == first).all()
    assert (((first ^ second) & np.array([255 - 8, 255, 255 - 2], dtype=np.uint8)) == 0).all()
    assert (first >> 4)[:, 2].max() == 0  # the spare bits


@given(sizes, budgets, st.integers(1, 255))
@examples(10)
def test_a_chosen_q_keeps_the_budget_and_is_restored(
    k: int, epsilon: Fraction, others: int
) -> None:
    chosen = OptimizedUnaryEncoding(k, epsilon, digits=8, others=others)
    p, q = chosen.chances
    assert q == Fraction(others, 256)
    assert p * (1 - q) <= exp_upper(epsilon) * q * (1 - p)
    again = OptimizedUnaryEncoding.restored(chosen.inputs, LDP(epsilon), chosen.parameters())
    assert again == chosen


# Sets of inputs as rows of bits: written, read and counted.


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
