"""Unary encodings, against their definitions and the textbook's variances."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, InputError
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.mechanisms import OptimizedUnaryEncoding, SymmetricUnaryEncoding
from mechdesign.mechanisms.reported_sets import UnaryEncoding
from mechdesign.sampling import Source, chances, coin_rows
from tests.mechanisms_support import (
    exact_table,
    scores,
)
from tests.strategies import examples

KINDS: list[type[UnaryEncoding]] = [OptimizedUnaryEncoding, SymmetricUnaryEncoding]

kinds = st.sampled_from(KINDS)
sizes = st.integers(2, 6)
budgets = st.sampled_from(
    [Fraction("0.01"), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(20)]
)


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


class Forgetful(OptimizedUnaryEncoding):
    """Sets the own bit where its coin says so, and forgets to clear it elsewhere."""

    def draw(self, codes: np.ndarray, source: Source) -> np.ndarray:
        k, digits, others = (
            len(self.inputs),
            self.parameters()["digits"],
            self.parameters()["others"],
        )
        rows = coin_rows(source, len(codes), k, others, digits)
        own = chances(source, len(codes), 62) < self.parameters()["held"]
        rows[np.arange(len(codes)), codes >> 3] |= own.astype(np.uint8) << (codes & 7).astype(
            np.uint8
        )
        return rows


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
