"""Quantiles of numbers, through a channel on bins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, Channel, InputError
from mechdesign.collection.personalized import BinnedRange
from mechdesign.mechanisms import HadamardResponse
from tests.strategies import examples

IDENTITY = Channel.from_matrix(np.eye(5))


@examples(100)
@given(st.fractions(-2, 3, max_denominator=60))
def test_a_value_lies_in_its_bin(value: Fraction) -> None:
    binned = BinnedRange(-2, 3, 5, channel=IDENTITY)
    (j,) = binned.codes([value])
    assert -2 + j < value <= -1 + j or (value == -2 and j == 0)
    assert binned.ends.labels == (-1, 0, 1, 2, 3)


def test_without_noise_quantiles_are_those_of_the_values_rounded_up() -> None:
    values = [Fraction(n, 10) for n in range(-20, 31)]
    binned = BinnedRange(-2, 3, 5, channel=IDENTITY)
    reports = binned.privatize(values)
    for q in (0.05, 0.25, 0.5, 0.75, 0.95):
        below = next(v for v in sorted(values) if sum(u <= v for u in values) >= q * len(values))
        (code,) = binned.codes([below])
        assert binned.quantile(reports, q).value == -1 + code


@pytest.mark.slow
@pytest.mark.parametrize("make", ["design", "hadamard"])
def test_quantiles_of_a_skewed_sample(make: str) -> None:
    generator = np.random.default_rng(5)
    values = np.minimum(generator.exponential(20.0, 40_000), 100).round(3)
    binned = (
        BinnedRange(0, 100, 10, epsilon=2)
        if make == "design"
        else BinnedRange(0, 100, 10, channel=HadamardResponse(10, 2))
    )
    if isinstance(binned.channel, Channel):
        assert LDP(2).holds(binned.channel)
        assert not LDP("1.99").holds(binned.channel)
    reports = binned.privatize(values, rng=9)
    found = binned.estimate(reports)
    truth = np.bincount(binned.codes(values), minlength=10) / len(values)
    assert (np.abs(found.values - truth) < 4 * found.standard_errors).all()
    for q in (0.1, 0.5, 0.9):
        quantile = binned.quantile(reports, q, confidence=0.9999)
        end = 10 * np.ceil(np.quantile(values, q) / 10)
        assert quantile.low <= end <= quantile.high


def test_what_two_valued_reports_cannot_tell_bins_do() -> None:
    """All in the middle, or half at either end."""
    binned = BinnedRange(0, 9, 3, epsilon=1)
    middle = binned.privatize(["4.5"] * 20_000, rng=1)
    halves = binned.privatize([0, 9] * 10_000, rng=1)
    assert binned.quantile(middle, 0.25).value == 6
    assert binned.quantile(halves, 0.25).value == 3


def test_outside_values() -> None:
    with pytest.raises(InputError, match=r"values\[1\]"):
        BinnedRange(0, 5, 5, channel=IDENTITY).codes([1, 6])
    clipping = BinnedRange(0, 5, 5, channel=IDENTITY, outside="clip")
    assert clipping.codes([-3, 6, 0, 5]).tolist() == [0, 4, 0, 4]


@pytest.mark.parametrize(
    ("given", "more", "key"),
    [
        ((1, 0, 5), {"epsilon": 1}, "high"),
        ((0, 1, 1), {"epsilon": 1}, "bins"),
        ((0, 1, 25), {"epsilon": 1}, "bins"),
        ((0, 1, 5), {}, "epsilon"),
        ((0, 1, 5), {"epsilon": 1, "channel": IDENTITY}, "epsilon"),
        ((0, 1, 4), {"channel": IDENTITY}, "channel"),
        ((0, 1, 5), {"epsilon": 1, "outside": "drop"}, "outside"),
    ],
)
def test_wrong_parameters_are_named(
    given: tuple[int, int, int], more: dict[str, object], key: str
) -> None:
    with pytest.raises(InputError) as caught:
        BinnedRange(*given, **more)  # type: ignore[arg-type]
    assert caught.value.key == key
