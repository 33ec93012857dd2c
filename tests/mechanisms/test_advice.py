"""Advice: every mechanism under LDP, by exact error, bits and time."""

from __future__ import annotations

import math

import pytest

import mechdesign as md
from mechdesign import InputError
from mechdesign.mechanisms import Advice, advise
from mechdesign.mechanisms.registry import LDP_MECHANISMS
from tests.mechanisms_support import exact_table


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1), (5, "0.01"), (100, 3), (3000, "1e-6"), (9, 30)])
def test_everything_is_that_of_the_mechanisms(k: int, epsilon: object) -> None:
    found, n = advise(k, epsilon, 400), 400  # type: ignore[arg-type]
    assert {each.kind for each in found} == set(LDP_MECHANISMS)
    ratios = [round(each.risk_ratio, 9) for each in found]
    assert ratios == sorted(ratios)
    assert ratios[0] == pytest.approx(1, rel=1e-6)
    for each in found:
        made = LDP_MECHANISMS[each.kind](k, epsilon)
        assert each.risk_ratio == pytest.approx(made.risk / made.least_known_risk)
        assert each.count_error == pytest.approx(math.sqrt(n * made.risk / k))
        assert each.bits_per_report == made.bits_per_report
        assert each.best_guess == made.best_guess
        assert each.decoding_seconds > 0


@pytest.mark.parametrize("kind", LDP_MECHANISMS)
@pytest.mark.parametrize(("k", "epsilon"), [(2, 1), (5, "0.01"), (7, 3), (9, 8)])
def test_the_best_guess_is_that_of_every_report(kind: str, k: int, epsilon: object) -> None:
    made = LDP_MECHANISMS[kind](k, epsilon)
    right = sum(map(max, zip(*exact_table(made), strict=True))) / k
    assert made.best_guess == pytest.approx(float(right), rel=1e-13)
    assert right <= made.largest_ratio() / (made.largest_ratio() + k - 1)  # of all under LDP


def test_the_best_is_short_and_good() -> None:
    assert advise(22_000, 5, 10**6).best.kind == "projective-geometry-response"
    assert advise(1000, 1, 10**5).best.kind == "projective-geometry-response"
    assert advise(4, 3, 100).best.kind == "randomized-response"
    for k, epsilon in ((50, 1), (50, 4), (7, 2)):
        found = advise(k, epsilon, 1000)
        least = found.best.bits_per_report - 1e-6  # as equal lengths may differ by rounding
        shorter = [each for each in found if each.bits_per_report < least]
        assert all(each.risk_ratio > found.best.risk_ratio for each in shorter)


def test_orders() -> None:
    found = md.mechanisms.advise(500, 2, 10_000)
    assert isinstance(found, Advice)
    assert found.by("error") == list(found)
    bits = [each.bits_per_report for each in found.by("bits")]
    seconds = [each.decoding_seconds for each in found.by("time")]
    assert bits == sorted(bits)
    assert seconds == sorted(seconds)
    assert found.by("time")[0].kind == "randomized-response"
    assert found[0] == next(iter(found))
    assert len(found[:2]) == 2
    assert found.to_json()["best"] == found.best.kind
    with pytest.raises(InputError, match="by: expected one of error, bits, time, given 'speed'"):
        found.by("speed")


@pytest.mark.parametrize(
    ("k", "epsilon", "n", "words"),
    [
        (1, 1, 10, "k: expected a whole number from 2 to 1000000, given 1"),
        (2.5, 1, 10, "k: expected a whole number"),
        (10, 0, 10, "epsilon: expected a number from 1e-06 to 30"),
        (10, "x", 10, "epsilon"),
        (10, 1, 0, "n: expected a whole number from 1"),
        (10, 1, float("nan"), "n: expected a whole number from 1"),
    ],
)
def test_wrong_numbers_are_refused(k: object, epsilon: object, n: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        advise(k, epsilon, n)  # type: ignore[arg-type]
