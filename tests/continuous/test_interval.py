"""Intervals and problems on them: what is accepted, and one clear line for what is not."""

from __future__ import annotations

import math
from fractions import Fraction

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
