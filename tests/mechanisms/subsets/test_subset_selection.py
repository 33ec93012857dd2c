"""Subset selection, against its definition and the known optimal risks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from mechdesign import InputError, Prior
from mechdesign.exact import exp_lower
from mechdesign.mechanisms import SubsetSelection
from mechdesign.mechanisms.subsets.bit_rows import bit_of
from mechdesign.mechanisms.subsets.random_subsets import UniformSets, _flip_some, _positions
from mechdesign.mechanisms.subsets.subset_selection import best_size
from mechdesign.reports import Tally
from mechdesign.sampling import Source, source_of
from tests.mechanisms_support import (
    exact_table,
    scores,
)
from tests.strategies import examples

budgets = st.sampled_from(
    [Fraction("0.01"), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(20)]
)


@st.composite
def mechanisms(draw: st.DrawFn, most: int = 7) -> SubsetSelection:
    """Return a mechanism of any size, best or not."""
    k = draw(st.integers(2, most))
    return SubsetSelection(k, draw(budgets), draw(st.none() | st.integers(1, k - 1)))


@given(mechanisms())
@examples(30)
def test_its_law_is_the_published_one(mechanism: SubsetSelection) -> None:
    """P(T|x) is e**epsilon for sets that hold x, 1 for others, in one proportion."""
    k, j = len(mechanism.inputs), mechanism.size
    sets = [set(members) for members in itertools.combinations(range(k), j)]
    assert [set(labels) for labels in mechanism.outputs()] == sets
    assert mechanism.n_outputs == len(sets) == math.comb(k, j)
    odds = float(exp_lower(mechanism.privacy.epsilon))
    for x, law in enumerate(exact_table(mechanism)):
        weights = np.array([odds if x in members else 1.0 for members in sets])
        assert np.allclose([float(q) for q in law], weights / weights.sum(), rtol=1e-9)
        assert set(law) <= {mechanism.least, mechanism.most}


@given(mechanisms())
@examples(15)
def test_its_scores_and_chances_are_those_of_its_law(
    mechanism: SubsetSelection,
) -> None:
    k = len(mechanism.inputs)
    assert np.allclose(scores(mechanism).sum(axis=0), 1)
    assert np.allclose(scores(mechanism).mean(axis=1), float(mechanism.uniform_score), rtol=1e-7)
    p, q = mechanism.chances
    for x, z in itertools.permutations(range(k), 2):
        held = [bit_of(row[None], z) for row in mechanism.listed()]
        law = exact_table(mechanism)[x]
        assert sum(mass for mass, bit in zip(law, held, strict=True) if bit) == q
        own = [bit_of(row[None], x) for row in mechanism.listed()]
        assert sum(mass for mass, bit in zip(law, own, strict=True) if bit) == p


@given(mechanisms(), st.data())
@examples(30)
def test_its_levels_are_those_of_all_outputs(
    mechanism: SubsetSelection, data: st.DataObject
) -> None:
    k = len(mechanism.inputs)
    prior = Prior.from_counts(
        data.draw(st.lists(st.integers(0, 5), min_size=k, max_size=k).filter(any))
    )
    law, table = mechanism.output_distribution(prior), exact_table(mechanism)
    for mass, lowest, highest in mechanism.levels(prior):
        some = [total for n, total in enumerate(law) if mass in {row[n] for row in table}]
        assert (lowest, highest) == (min(some), max(some))


@given(mechanisms(), st.data())
@examples(30)
def test_the_mean_square_of_a_combination_is_exact(
    mechanism: SubsetSelection, data: st.DataObject
) -> None:
    """At the counts that are expected, it is E[(Sum_x w_x s_x(Y))**2] over all outputs."""
    k, total = len(mechanism.inputs), 1 << 44
    counts = data.draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any))
    law = np.array([float(q) for q in mechanism.output_distribution(Prior.from_counts(counts))])
    weights = np.random.default_rng(sum(counts)).normal(size=k)
    values = weights @ scores(mechanism)
    held = np.array([[bit_of(row[None], x) for row in mechanism.listed()] for x in range(k)])
    tally = Tally(np.rint(total * (held @ law)).astype(np.int64), total)
    mean, square = mechanism.combination(tally, weights)
    assert np.isclose(mean, law @ values, rtol=1e-6, atol=1e-6)
    assert np.isclose(square, law @ values**2, rtol=1e-6)


@pytest.mark.parametrize(
    ("k", "epsilon", "risk"),
    [
        (3, "0.5", 21.08987),
        (3, "1", 5.02675),
        (3, "2", 1.43972),
        (4, "0.5", 37.50928),
        (4, "1", 8.30622),
        (4, "2", 1.98308),
    ],
)
def test_its_risk_is_the_optimum(k: int, epsilon: str, risk: float) -> None:
    """The numbers are the least tr M**-1 - 1/k of all channels under LDP at the uniform prior."""
    mechanism = SubsetSelection(k, epsilon)
    assert mechanism.risk == pytest.approx(risk, abs=1e-5)
    law = np.array([float(q) for q in mechanism.output_distribution(Prior.uniform(k))])
    squares = (scores(mechanism) ** 2).sum(axis=0)
    assert mechanism.risk == pytest.approx(law @ squares - 1 / k, rel=1e-9)


@given(st.integers(2, 30), budgets)
@examples(30)
def test_its_size_is_the_best(k: int, epsilon: Fraction) -> None:
    risks = [SubsetSelection(k, epsilon, size).risk for size in range(1, k)]
    assert SubsetSelection(k, epsilon).risk <= min(risks) * (1 + 1e-9)
    assert 1 <= best_size(k, epsilon) <= max(1, k // 2)


# --- draws ----------------------------------------------------------------------------------------


class Given(Source):
    """Bytes that are given, in order."""

    simulated = True

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self._data = data

    def bytes(self, count: int) -> npt.NDArray[np.uint8]:
        part, self._data = self._data[:count], self._data[count:]
        assert len(part) == count
        return part


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
@examples(30)
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
    sets = UniformSets.draw(n, width, size, source_of(width * size))
    cases = list(
        zip(members(sets.rows(), width), sets.inside.tolist(), sets.outside.tolist(), strict=True)
    )
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
    sets = UniformSets.draw(n, width, size, source_of(1))
    bits = np.unpackbits(sets.rows(), axis=1, count=width, bitorder="little")
    assert (np.bitwise_count(sets.words).sum(axis=1) == size).all()
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


def test_large_domains_need_no_matrix() -> None:
    mechanism = SubsetSelection(43_750, 1)
    assert mechanism.bits_per_report == pytest.approx(math.log2(mechanism.n_outputs), rel=1e-9)
    records = np.arange(0, 43_750, 100)
    reports = mechanism.privatize(records)
    assert not reports.simulated
    found = mechanism.frequencies(mechanism.tally(reports))
    assert found.estimates.sum() == pytest.approx(1)
    assert np.abs(found.estimates).max() < 6 * np.sqrt(found.squares.max() / len(records))
    least, largest = mechanism.lifts(Prior.uniform(43_750))
    assert 0 < least < 1 < largest <= exp_lower(Fraction(1))
    assert mechanism.mass(7, reports.data[:1]) in {mechanism.least, mechanism.most}


def test_estimates_agree_with_the_records() -> None:
    mechanism, n = SubsetSelection(["a", "b", "c", "d", "e"], "1.5"), 20_000
    records = ["a"] * (n // 2) + ["d"] * (n // 2)
    tally = mechanism.tally(mechanism.privatize(records, rng=6))
    found = mechanism.frequencies(tally)
    errors = np.sqrt(found.squares / n)
    assert (np.abs(found.estimates - [0.5, 0, 0, 0.5, 0]) < 4 * errors).all()
    several = mechanism.batch_frequencies(np.array([tally.counts] * 2), np.array([n, n]))
    assert (several.estimates == found.estimates).all()
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    mean, square = mechanism.combination(tally, weights)
    assert abs(mean - 2.5) < 4 * np.sqrt((square - mean**2) / n)
    assert len(mechanism.privatize([], rng=1)) == 0


@pytest.mark.parametrize("size", [0, 5, 1.5, True, "2"])
def test_wrong_sizes_are_refused(size: object) -> None:
    with pytest.raises(InputError, match="size: expected a whole number from 1 to 4"):
        SubsetSelection(5, 1, size)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0, 31, -1, "1e-25"])
def test_wrong_budgets_are_refused(epsilon: object) -> None:
    with pytest.raises(InputError, match="epsilon: expected a"):
        SubsetSelection(5, epsilon)  # type: ignore[arg-type]


def test_reports_of_another_size_are_refused() -> None:
    with pytest.raises(InputError, match=r"y\[0\]: expected a set of 2 inputs, given 3 inputs"):
        SubsetSelection(5, 1, 2).probability(0, [0, 1, 2])


def test_equal_mechanisms_are_equal() -> None:
    assert SubsetSelection(6, 1) == SubsetSelection(6, 1, size=2)
    assert SubsetSelection(6, 1) != SubsetSelection(6, 1, size=3)
