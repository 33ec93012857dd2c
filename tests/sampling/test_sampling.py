"""Exact sampling: the law of every draw, worked out from the bits that decide it."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, InputError
from mechdesign.reports import Reports
from mechdesign.sampling import AliasTable, Source, below, chances, coin_rows, coin_words, source_of
from mechdesign.sampling.sources import LARGE, SMALL, pieces, rational_coin
from tests.refusals_support import check_refused
from tests.strategies import examples

WORDS = 1 << 64


class Given(Source):
    """Hands out words that a test chose, in order, and counts them."""

    simulated = True

    def __init__(self, words: list[int]) -> None:
        self._words, self.taken = words, 0

    def bytes(self, count: int) -> npt.NDArray[np.uint8]:
        return self.words(-(-count // 8)).view(np.uint8)[:count]

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        given = self._words[self.taken : self.taken + count]
        assert len(given) == count, "more words than the draw may take"
        self.taken += count
        return np.array(given, dtype=np.uint64)


# Sources.


def test_the_default_source_is_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    true_urandom = os.urandom

    def urandom(count: int) -> bytes:
        asked.append(count)
        return true_urandom(count)

    monkeypatch.setattr(os, "urandom", urandom)
    source = source_of(None)
    assert not source.simulated
    assert source.bytes(SMALL).size == SMALL
    assert asked == [SMALL]
    assert source.bytes(2 * LARGE + 1).size == 2 * LARGE + 1
    assert asked == [SMALL, 32, 32, 32], "a fresh key of 256 bits for each megabyte"


@pytest.mark.parametrize("size", [SMALL, SMALL + 1, LARGE + 5, 3 * LARGE])
def test_no_two_draws_from_the_system_are_alike(size: int) -> None:
    """Nor does a long one repeat itself."""
    source = source_of(None)
    first, second = source.bytes(size), source.bytes(size)
    assert (first != second).mean() > 0.9
    assert abs(np.unpackbits(first).mean() - 0.5) < 4 * 0.5 / np.sqrt(8 * size)
    words = source.words(size // 8)
    assert np.unique(words).size == words.size


@pytest.mark.parametrize("rng", [7, np.int64(7), np.random.default_rng(7)])
def test_a_seed_makes_a_simulation_that_repeats(rng: Any) -> None:
    source = source_of(rng)
    assert source.simulated
    assert source.words(5).tolist() == source_of(7).words(5).tolist()


@pytest.mark.parametrize("rng", [-1, 0.5, True, "seed", np.random.RandomState(1)])
def test_invalid_sources_are_refused(rng: Any) -> None:
    check_refused(r"rng: expected None, a seed .* or a numpy", source_of, rng)


@given(st.integers(0, 300), st.integers(1, 70))
@examples(50)
def test_pieces_cover_every_record_once(count: int, size: int) -> None:
    covered = [n for piece in pieces(count, size) for n in range(piece.start, piece.stop)]
    assert covered == list(range(count))


# Draws.


def test_chances_take_the_highest_bits() -> None:
    assert chances(Given([WORDS - 1, 0, 5 << 60]), 3, 62).tolist() == [2**62 - 1, 0, 5 << 58]


@given(st.integers(1, 2**31), st.lists(st.integers(0, 2**62 - 1), min_size=1, max_size=20))
@examples(40)
def test_below_is_the_remainder_of_a_whole_round(bound: int, given_bits: list[int]) -> None:
    """Numbers of the incomplete last round, which would favour some results, are drawn again."""
    rounds = 2**62 // bound * bound
    again = sum(bits >= rounds for bits in given_bits)
    words = [bits << 2 for bits in given_bits] + [0] * again
    drawn = below(Given(words), len(given_bits), bound)
    assert drawn.tolist() == [bits % bound if bits < rounds else 0 for bits in given_bits]
    assert rounds % bound == 0


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_coins_have_exactly_their_probability(digits: int) -> None:
    """All assignments of the bits that decide a coin: it is 1 in exactly the share stated."""
    cases = 1 << digits
    for numerator in range(cases + 1):
        # bit c of the d-th word is bit d of the case c, so that the 2**digits bits see all cases
        words = [sum((case >> d & 1) << case for case in range(cases)) for d in range(digits)]
        coins = coin_words(Given(words), (1,), numerator, digits)
        ones = int(coins[0] & np.uint64((1 << cases) - 1)).bit_count()
        assert ones * (1 << digits) == numerator * cases


def test_coins_take_one_bit_for_each_digit_that_counts() -> None:
    for numerator, digits, taken in ((4, 4, 2), (5, 4, 4), (8, 4, 1), (0, 4, 0), (16, 4, 0)):
        source = Given([0] * 100)
        coin_words(source, (3,), numerator, digits)
        assert source.taken == 3 * taken


def test_a_rational_coin_compares_binary_digits_word_by_word() -> None:
    third = (1 << 64) // 3
    for words, shown in (
        ([third - 1], True),
        ([third + 1], False),
        ([third, third - 1], True),
        ([third, third, third + 1], False),
    ):
        source = Given(words)
        assert rational_coin(source, Fraction(1, 3)) is shown
        assert source.taken == len(words)
    assert rational_coin(Given([1 << 63]), Fraction(1, 2)) is False  # U < 1/2, not U <= 1/2


@given(st.integers(0, 40), st.integers(1, 70), st.integers(0, 8))
@examples(50)
def test_rows_of_coins_leave_spare_bits_clear(count: int, width: int, numerator: int) -> None:
    rows = coin_rows(source_of(1), count, width, numerator, 3)
    assert rows.shape == (count, -(-width // 8))
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    assert not bits[:, width:].any()
    if numerator in (0, 8):
        assert (bits[:, :width] == numerator // 8).all()


# The alias method.


@st.composite
def laws(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    """Rows of integers >= 0 that sum to a power of 2, many of them 0."""
    bits = draw(st.sampled_from([40, 62, 70, 124, 186]))
    width = draw(st.integers(1, 9))
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        cuts = [0, *sorted(draw(st.lists(edges(bits), min_size=width - 1, max_size=width - 1)))]
        rows.append(
            [after - before for before, after in zip(cuts, [*cuts[1:], 1 << bits], strict=True)]
        )
    return rows, bits


def edges(bits: int) -> st.SearchStrategy[int]:
    whole = 1 << bits
    return st.one_of(st.integers(0, whole), st.sampled_from([0, 1, whole // 2, whole - 1, whole]))


@pytest.mark.slow
@given(laws())
@examples(25)
def test_the_cells_hold_exactly_the_law(law: tuple[list[list[int]], int]) -> None:
    """Every threshold is met from both sides, and the masses of all cells add up to the row."""
    rows, bits = law
    table = AliasTable(np.array(rows, dtype=np.int64 if bits <= 62 else object), bits)
    choice = (len(rows[0]) - 1).bit_length()
    cell = 1 << bits - choice
    for x, row in enumerate(rows):
        mass = [0] * len(row)
        for place in range(1 << choice):

            def drawn(rest: int, place: int = place, x: int = x) -> int:
                return draw_from(table, x, place, rest, bits, choice)

            last = drawn(cell - 1)
            low, high = 0, cell - 1  # the least rest at which the other output is drawn
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if drawn(middle) == last else (middle + 1, high)
            if low:
                mass[drawn(0)] += low
            mass[last] += cell - low
        assert mass == row


def draw_from(table: AliasTable, x: int, place: int, rest: int, bits: int, choice: int) -> int:
    """Draw with the bits that name a cell and a place in it."""
    number = place << bits - choice | rest
    words, left = [], bits
    while left > 0:
        width = min(62, left)
        left -= width
        words.append((number >> left & ((1 << width) - 1)) << 64 - width)
    return int(table.draw(np.array([x]), Given(words))[0])


def test_a_draw_takes_one_word_whatever_the_record() -> None:
    channel = Channel.from_matrix([[1, 0, 0], ["1/3", "1/3", "1/3"]])
    table = AliasTable(channel.numerators, channel.bits)
    for rows in ([0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1]):
        source = Given([123456789 << 30] * 10)
        table.draw(np.array(rows), source)
        assert source.taken == 4


# Channels draw from their own integers.


def test_a_channel_draws_its_own_rows() -> None:
    """So an entry of zero is never drawn."""
    rng, size = np.random.default_rng(5), 40_000
    matrix = [*rng.dirichlet(np.ones(7), size=2), [0.5, 0, 0.5, 0, 0, 0, 0], [0, 1, *[0] * 5]]
    channel = Channel.from_matrix(matrix, inputs=["a", "b", "c", "d"])
    for x, label in enumerate(channel.inputs):
        share = np.bincount(channel.privatize([label] * size, rng=x).data, minlength=7) / size
        error = np.sqrt(channel.matrix[x] * (1 - channel.matrix[x]) / size)
        assert (np.abs(share - channel.matrix[x]) <= 4 * error + 1e-12).all()


def test_a_product_of_channels_draws_exactly_too() -> None:
    coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    twice = coin.then(coin)
    assert twice.bits == 124
    reports = twice.privatize([0] * 40_000, rng=1)
    assert abs(reports.data.mean() - 3 / 8) < 4 * np.sqrt(15 / 64 / 40_000)


@pytest.mark.parametrize(
    ("records", "words"),
    [
        (
            ["x", "w"],
            r"records\[1\]: expected labels of the domain \('x', 'z'\), given another value",
        ),
        (["x", True], r"records\[1\]: expected labels"),
        (["x", None], r"records\[1\]: expected labels"),
        (["x", ["x"]], r"records\[1\]: expected labels"),
        ("xz", "records: expected a list of labels of the domain, given a value of the class str"),
        (3, "records: expected a list of labels of the domain, given a value of the class int"),
    ],
)
def test_a_record_outside_the_domain_is_named(records: Any, words: str) -> None:
    channel = Channel.from_matrix([["1/2", "1/2"]] * 2, inputs=["x", "z"])
    check_refused(words, channel.privatize, records)


def test_numbers_are_labels_and_not_places() -> None:
    """An array of numbers denotes labels, even if the inputs are not 0, 1, 2, ..."""
    channel = Channel.from_matrix(np.eye(3), inputs=[1, 0, 2], outputs=["one", "zero", "two"])
    assert channel.privatize(np.array([1, 0, 0])).labels() == ["one", "zero", "zero"]
    assert channel.privatize(np.array([1.0, 0.0])).labels() == ["one", "zero"]
    assert len(channel.privatize(np.array([0, 1, 2], dtype=np.uint8))) == 3
    for wrong in (-1, 3):
        with pytest.raises(InputError, match=r"records\[2\]: .* given another value"):
            channel.privatize(np.array([0, 1, wrong, 2]))


@given(st.lists(st.sampled_from(["a", "b,c", "ü", '"', "d\ne", "0.5"]), max_size=20))
@examples(30)
def test_reports_are_read_as_they_were_written(labels: list[str]) -> None:
    names = ["a", "b,c", "ü", '"', "d\ne", "0.5"]
    alphabet = Channel.from_matrix([[1, 0, 0, 0, 0, 0]], outputs=names).alphabet
    data = alphabet.encode(labels)
    reports = Reports(data, alphabet, simulated=False)
    assert reports.labels() == labels
    assert alphabet.read(reports.texts()).tolist() == data.tolist()


def test_text_that_is_no_report_is_named() -> None:
    alphabet = Channel.from_matrix([["1/2", "1/2"]], outputs=[0, 0.5]).alphabet
    assert alphabet.read(["0.50", " 0", "5e-1"]).tolist() == [1, 0, 1]
    check_refused(r"reports\[1\]: expected labels of the domain", alphabet.read, ["0", "2"])


def test_the_law_of_a_draw_is_that_of_the_certificate() -> None:
    """Privacy of the sampler: its exact probabilities are those of the verified ratios."""
    channel = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    table = AliasTable(channel.numerators, channel.bits)
    top = 1 << 61
    for x, share in ((0, Fraction(3, 4)), (1, Fraction(1, 4))):
        firsts = [
            draw_from(table, x, place, rest, 62, 1)
            for place in (0, 1)
            for rest in (0, top // 2 - 1, top // 2, top - 1)
        ]
        assert Fraction(firsts.count(0), len(firsts)) == share
