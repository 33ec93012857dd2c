"""Roundings go to the side that is asked, and no further than one unit."""

from __future__ import annotations

import random
from fractions import Fraction

from mechdesign.exact import shortened
from mechdesign.kernel.arithmetic import (
    dot,
    expect,
    grid_axes,
    is_even,
    known,
    lattice,
    need,
    over_one_denominator,
    scaled,
)
from tests.kernel.draws import refused


def drawn(rng: random.Random) -> Fraction:
    """Return a rational of any sign and size, with many digits."""
    top, bottom = (rng.randint(1, 1 << rng.choice((1, 40, 400))) for _ in range(2))
    return rng.choice((-1, 1)) * Fraction(top, bottom)


def test_a_shortened_number_has_a_few_bits_and_is_near_on_its_side() -> None:
    rng = random.Random(1)
    for _ in range(300):
        value, bits = drawn(rng), rng.randint(4, 60)
        low, high = (shortened(value, up, bits) for up in (False, True))
        assert low <= value <= high
        assert high - low <= abs(value) / 2 ** (bits - 1)
        for end in (low, high):  # an integer of few bits times a power of 2
            odd = abs(end.numerator) >> (end.numerator & -end.numerator).bit_length() - 1 or 1
            assert odd.bit_length() <= bits + 1
            assert end.denominator & end.denominator - 1 == 0
    assert shortened(Fraction(1, 3), True) - Fraction(1, 3) < Fraction(1, 1 << 160)


def test_a_scaled_number_is_within_one_unit_on_its_side() -> None:
    rng = random.Random(2)
    for _ in range(100):
        value, bits = drawn(rng), rng.randint(0, 60)
        low, high = scaled(value, bits=bits), scaled(value, up=True, bits=bits)
        assert low <= value * 2**bits <= high
        assert high - low == (value.denominator > 1 and low != value * 2**bits)


def test_numbers_over_one_denominator_are_the_numbers() -> None:
    rng = random.Random(3)
    numbers = [drawn(rng) for _ in range(9)]
    ints, whole = over_one_denominator(numbers)
    assert [Fraction(n, whole) for n in ints] == numbers
    points, unit = lattice([numbers[:3], numbers[3:4], numbers[4:]])
    assert [[Fraction(n, unit) for n in p] for p in points] == [
        numbers[:3],
        numbers[3:4],
        numbers[4:],
    ]
    assert over_one_denominator([]) == ([], 1)


def test_an_inner_product_is_of_two_vectors_of_one_length() -> None:
    assert dot([1, 0, 3], [4, 5, 6]) == 22
    assert dot([], []) == 0


def test_failed_conditions_raise() -> None:
    need([1], "unused")
    assert known(0, "unused") == 0
    assert expect(1, int, "unused") == 1
    with refused("no"):
        need([], "no")
    with refused("no"):
        known(None, "no")
    with refused("no"):
        expect(1, str, "no")


def test_a_grid_of_points_is_row_by_row() -> None:
    points = [(a, b) for a in (0, 2) for b in (1, 2, 5)]
    assert grid_axes(points) == ([0, 2], [1, 2, 5])
    assert grid_axes(points[::-1]) == ([2, 0], [5, 2, 1])
    assert grid_axes([(3,), (1,), (1,)]) == ([3], [3, 1, 1])
    assert grid_axes([(3, 4)]) == ([3], [4])
    columns = [(a, b) for b in (1, 2, 5) for a in (0, 2)]
    for other in (points[:-1], points[1:], columns, [(0, 0, 0), (0, 0, 1)]):
        assert grid_axes(other) is None
    assert all(map(is_even, ([], [4], [4, 9], [1, 0, -1], [2, 2])))
    assert not is_even([0, 1, 3])
