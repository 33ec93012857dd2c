"""Cuts of an interval: numbers of two regions share no node, and notions name regions by label."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.certify.continuous.regions import region_labels, regions_of
from mechdesign.continuous.rounding import rounding_of
from mechdesign.sampling import source_of
from tests.strategies import examples

CUTS = ["0.3", "1/2"]
UNIT = md.Interval(0, 1, cuts=CUTS)
POINTS = [0, "0.1", "0.3", "0.3", "1/2", "1/2", 1]


@pytest.mark.parametrize(
    "ends", [(0, 1), ("-inf", 1), (0, "inf"), ("-inf", "inf"), ("1/3", Fraction(20, 3))]
)
def test_the_checker_names_regions_as_the_interval_does(ends: tuple[Any, Any]) -> None:
    interval = md.Interval(*ends, cuts=["1/2", "0.7"])
    table = interval.to_table()
    assert list(interval.regions.labels) == region_labels(table["interval"], table["cuts"])


@pytest.mark.parametrize("cuts", [[0], [1], [2], [0.5, 0.5], [0.6, 0.4], ["nan"], "0.5", 0.5])
def test_cuts_rise_inside_the_interval(cuts: Any) -> None:
    with pytest.raises(md.InputError, match="cuts"):
        md.Interval(0, 1, cuts=cuts)


def test_cuts_are_a_part_of_the_interval() -> None:
    assert md.Interval(0, 1, cuts=[0.5]) == md.Interval(0, 1, cuts=["1/2"])
    assert md.Interval(0, 1, cuts=[0.5]) != md.Interval(0, 1)
    assert len({UNIT, md.Interval(0, 1, cuts=CUTS), md.Interval(0, 1)}) == 2
    assert repr(UNIT) == "Interval(0, 1, cuts=[0.3, 0.5])"


@examples(80)
@given(x=st.one_of(st.floats(0, 1), st.sampled_from([0.3, 0.5, math.nextafter(0.3, 0)])))
def test_a_number_goes_to_nodes_of_its_region_only(x: float) -> None:
    rounding = rounding_of("linear", POINTS, UNIT)
    regions = regions_of([Fraction(point) for point in POINTS])
    position = rounding.exact(x)
    weights = rounding.weights(position)
    region = sum(position >= Fraction(cut) for cut in CUTS)
    assert {regions[i] for i in weights} == {region}
    assert sum(weights.values()) == 1
    assert sum(w * Fraction(rounding.points[i]) for i, w in weights.items()) == position
    assert (position in map(Fraction, CUTS)) == (x in (0.3, 0.5))
    shares = rounding.shares(np.array([x]))[0]
    assert shares == pytest.approx([float(weights.get(i, 0)) for i in range(7)], abs=1e-12)
    drawn = rounding.draw(np.full(20, x), source_of(1))
    assert set(drawn.tolist()) <= set(weights)


def test_masses_of_nodes_are_those_of_the_weights() -> None:
    law = md.Samples([0.05, 0.2, 0.3, 0.4, 0.5, 0.9])
    rounding = rounding_of("linear", POINTS, UNIT)
    edges = list(dict.fromkeys(Fraction(point) for point in POINTS))
    wanted = [Fraction(0)] * 7
    for value in law.values:
        for i, weight in rounding.weights(value).items():
            wanted[i] += weight / 6
    assert rounding.masses(law.cells(edges)) == wanted


@pytest.mark.parametrize(
    ("kind", "points"),
    [
        ("linear", [0, "0.3", "1/2", 1]),
        ("linear", [0, "0.3", "0.3", "1/2", "1/2", "1/2", 1]),
        ("linear", [0, "0.1", "0.1", "0.3", "0.3", "1/2", "1/2", 1]),
        ("cells", POINTS),
        ("cells", [0, "0.3", 1]),
    ],
)
def test_points_that_mix_regions_are_refused(kind: str, points: list[Any]) -> None:
    count = len(points) - (kind == "cells")
    nodes = md.Channel.from_matrix(np.full((count, 2), 0.5))
    with pytest.raises(md.InputError, match="points"):
        md.ContinuousChannel(UNIT, kind, points, nodes)


def test_a_channel_with_cuts_may_jump_there() -> None:
    nodes = md.Channel.from_matrix([[1, 0], [1, 0], [0, 1], [0, 1]], outputs=["low", "high"])
    channel = md.ContinuousChannel(md.Interval(0, 1, cuts=[0.3]), "linear", [0, 0.3, 0.3, 1], nodes)
    assert channel.inputs.labels == (0.0, "below 0.3", 0.3, 1.0)
    below = math.nextafter(0.3, 0)
    assert channel.privatize([0, below, 0.3, 1]).labels() == ["low", "low", "high", "high"]
    assert channel.density(0.3) == channel.density("0.3") == (0, 1)
    for low, high in pairwise(channel.positions):
        assert low <= high


LAW = md.NamedLaw("uniform", [0, 1])


@pytest.mark.parametrize(
    ("notion", "said"),
    [
        (md.HighLowLDP(1, ["[0, 0.3]"]), "sensitive"),
        (md.BlockLDP(1, [["[0, 0.3)"], ["[0.3, 0.5)"]]), "every input in a block"),
        (md.BlockLDP(1, block_rows=1, block_columns=1), "a grid"),
        (md.ContextAwareLDP([[1, 1], [1, 1]]), "3 x 3"),
        (md.BoundedPriorLIP(1, lower=[0.1, 0.1], upper=[0.9, 0.9]), "3"),
    ],
)
def test_a_notion_about_other_regions_is_refused(notion: md.Notion, said: str) -> None:
    with pytest.raises(md.InputError, match=said):
        md.ContinuousProblem(UNIT, notion, md.MeanAbsoluteError(), prior=LAW)


def test_what_needs_a_law_or_no_cuts_says_so() -> None:
    loss = md.MeanAbsoluteError()
    priors = md.BoundedPriorLIP(1, lower=[0.1] * 3, upper=[0.9] * 3)
    with pytest.raises(md.InputError, match="the law that bounded-prior-lip is defined by"):
        md.ContinuousProblem(UNIT, priors, loss)
    with pytest.raises(md.UnsupportedError, match="an interval without cuts, for metric"):
        md.ContinuousProblem(UNIT, md.MetricPrivacy(1, "absolute"), loss)


def test_each_region_of_bounded_priors_has_mass_and_they_are_few() -> None:
    loss, law = md.MeanAbsoluteError(), md.NamedLaw("uniform", [0, "0.25"])
    priors = md.BoundedPriorLIP(1, lower=[0.1] * 3, upper=[0.9] * 3)
    with pytest.raises(md.InputError, match=r"prior: expected a law with mass .* \[0.3, 0.5\)"):
        md.ContinuousProblem(UNIT, priors, loss, prior=law)
    many = md.Interval(0, 1, cuts=[n / 10 for n in range(1, 8)])
    priors = md.BoundedPriorLIP(1, lower=[0] * 8, upper=[1] * 8)
    with pytest.raises(md.UnsupportedError, match="at most 6 regions"):
        md.ContinuousProblem(many, priors, loss, prior=LAW)
