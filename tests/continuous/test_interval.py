"""Intervals and problems on them: what is accepted, and one clear line for what is not."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import mechdesign as md
from mechdesign.continuous.domain import read_end


def test_ends_are_exact() -> None:
    interval = md.Interval(0.1, "1/3")
    assert (interval.low, interval.high) == (Fraction(1, 10), Fraction(1, 3))
    assert interval == md.Interval.of(["0.1", Fraction(1, 3)])
    assert Fraction(1, 5) in interval
    assert Fraction(1, 2) not in interval


def test_infinite_ends() -> None:
    line = md.Interval("-inf", math.inf)
    assert not line.is_bounded
    assert line.to_table() == {"interval": ["-inf", "inf"]}
    assert read_end(Fraction(10) ** 90, "low") == Fraction(10) ** 90


@pytest.mark.parametrize("ends", [(1, 0), (0, 0), (0, math.nan), ("a", 1), (math.inf, math.inf)])
def test_no_interval(ends: tuple[object, object]) -> None:
    with pytest.raises(md.InputError, match="interval: expected"):
        md.Interval(*ends)  # type: ignore[arg-type]


MAE = md.MeanAbsoluteError()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: md.ContinuousProblem([0, 1], md.DifferentialIdentifiability(1), MAE),
            "privacy: expected one",
        ),
        (lambda: md.ContinuousProblem([0, 1], md.HighLowLDP(1, [0]), MAE), "privacy: expected one"),
        (lambda: md.ContinuousProblem([0, 1], md.LDP(1), md.HammingLoss()), "utility: expected"),
        (lambda: md.ContinuousProblem([0, 1], md.LIP(1), MAE), "lip is defined by a law"),
        (
            lambda: md.ContinuousProblem([0, math.inf], md.LDP(1), MAE),
            "an unbounded interval has no uniform law",
        ),
        (lambda: md.ContinuousProblem(3, md.LDP(1), MAE), r"an interval \[low, high\], given 3"),  # type: ignore[arg-type]
        (
            lambda: md.ContinuousProblem([0, 1], md.LDP(1), MAE, prior=md.Samples([0, 2])),
            r"samples: expected numbers in Interval\(0, 1\), given 2",
        ),
        (
            lambda: md.ContinuousProblem([0, 1], md.LIP(1), MAE, prior=md.NamedLaw("norm", [99])),
            "a law with a mass of 1e-12 or more",
        ),
        (lambda: md.Problem(md.Interval(0, 1), md.LDP(1), MAE), "ContinuousProblem"),  # type: ignore[arg-type]
    ],
)
def test_mismatched_parts_are_refused_in_one_line(make: object, message: str) -> None:
    with pytest.raises(md.InputError, match=message) as caught:
        make()  # type: ignore[operator]
    assert "\n" not in str(caught.value)
