"""Intervals and problems on them: what is accepted, and one clear line for what is not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

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


MAE, SQUARE = md.MeanAbsoluteError(), md.MeanSquaredDistance()
BOX, UNIFORM = md.Box((0, 0), (1, 1)), md.NamedLaw("uniform")
BOTH = md.ProductLaw(UNIFORM, UNIFORM)


@pytest.mark.parametrize(
    ("domain", "notion", "loss", "law", "message"),
    [
        ([0, 1], md.DifferentialIdentifiability(1), MAE, None, "privacy: expected one"),
        ([0, 1], md.HighLowLDP(1, [0]), MAE, None, "privacy: expected one"),
        ([0, 1], md.LDP(1), md.HammingLoss(), None, "utility: expected"),
        ([0, 1], md.LIP(1), MAE, None, "lip is defined by a law"),
        ([0, math.inf], md.LDP(1), MAE, None, "an unbounded interval has no uniform law"),
        (3, md.LDP(1), MAE, None, r"an interval \[low, high\], given 3"),
        ([0, 1], md.LDP(1), MAE, md.Samples([0, 2]), r"numbers in Interval\(0, 1\), given 2"),
        ([0, 1], md.LIP(1), MAE, md.NamedLaw("norm", [99]), "a law with a mass of 1e-12 or more"),
        (BOX, md.MetricPrivacy(1, "euclidean"), SQUARE, None, "privacy: expected one"),
        (BOX, md.LDP(1), MAE, None, "utility: expected one"),
        (BOX, md.LIP(1), SQUARE, None, "lip is defined by a law"),
        (BOX, md.LIP(1), md.EuclideanDistance(worst_case=True), BOTH, "on average"),
        ([(0, 0), 3], md.LDP(1), SQUARE, None, "interval"),
        (BOX, md.LDP(1), SQUARE, UNIFORM, "ProductLaw"),
    ],
)
def test_mismatched_parts_are_refused_in_one_line(
    domain: Any, notion: Any, loss: Any, law: Any, message: str
) -> None:
    with pytest.raises(md.InputError, match=message) as caught:
        md.ContinuousProblem(domain, notion, loss, prior=law)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("domain", [md.Interval(0, 1), BOX])
def test_a_finite_problem_names_the_continuous_one(domain: Any) -> None:
    with pytest.raises(md.InputError, match="ContinuousProblem"):
        md.Problem(domain, md.LDP(1), MAE)
