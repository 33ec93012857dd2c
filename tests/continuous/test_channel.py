"""The continuous channel: exact coins, privacy of the whole kernel, and what is drawn from it."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.continuous import ContinuousChannel
from mechdesign.continuous.domain import read_end
from mechdesign.continuous.rounding import Cells, Linear, Rounding
from mechdesign.exact import exp_lower, exp_upper, log_lower
from tests.sampling.test_sampling import Given
from tests.strategies import examples

WORD = 1 << 64
COIN = md.Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], outputs=[-1, 3])


def continuous(kind: str, points: list[Any], nodes: md.Channel) -> ContinuousChannel:
    return ContinuousChannel([points[0], points[-1]], kind, points, nodes)


LAYOUTS = {
    "unit": [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)],
    "around 0": [Fraction(-1), Fraction(1, 7), Fraction(1)],
    "huge": [Fraction(-(10**100)), Fraction(0), Fraction(10**100)],
    "tiny": [Fraction(0), Fraction("1e-300"), Fraction("2e-300")],
    "far from 0": [Fraction(10**15), Fraction(10**15) + Fraction(1, 3), Fraction(10**15) + 1],
    "ends between doubles": [Fraction(1, 10), Fraction(3, 10)],
}
each_layout = pytest.mark.parametrize("points", LAYOUTS.values(), ids=LAYOUTS)


def doubles(rounding: Rounding) -> st.SearchStrategy[float]:
    low, high = rounding.ends
    special = [low, high, *(float(p) for p in rounding.points)]
    special += [0.0, -0.0, 5e-324, -5e-324, 2.2e-308]
    special += [math.nextafter(x, y) for x in special for y in (low, high)]
    inside = st.floats(low, high)
    return st.one_of(st.sampled_from([x for x in special if low <= x <= high]), inside)


# The coin.


@examples(20)
@given(data=st.data())
@each_layout
def test_the_coin_compares_the_bits_with_the_exact_weight(
    points: list[Fraction], data: st.DataObject
) -> None:
    """U < w, whatever the bits of U: so its chance is w, the rational weight of the rational x."""
    rounding = Linear(points)
    x = data.draw(doubles(rounding))
    position = min(max(Fraction(x), points[0]), points[-1])
    n = max(i for i, point in enumerate(points[:-1]) if point <= position)
    weight = (position - points[n]) / (points[n + 1] - points[n])
    whole = math.floor(weight * WORD)
    near = st.integers(-3, 3).map(lambda step: min(max(whole + step, 0), WORD - 1))
    word = data.draw(st.one_of(near, st.integers(0, WORD - 1)))
    rest = math.floor((weight * WORD - whole) * WORD)
    follow = data.draw(st.sampled_from([max(rest - 1, 0), rest, min(rest + 1, WORD - 1)]))
    words = [word, follow, *[0] * 40]
    goes_up = Fraction(word * WORD + follow, WORD**2) < weight
    source = Given(words)
    assert rounding.draw(np.array([x]), source).tolist() == [n + goes_up]
    assert word == whole or source.taken == 1, "more is read only where 64 bits do not decide"


@examples(20)
@given(data=st.data())
@each_layout
def test_a_double_is_in_the_cell_of_its_position(
    points: list[Fraction], data: st.DataObject
) -> None:
    rounding = Cells(points)
    x = data.draw(doubles(rounding))
    (place,) = rounding.draw(np.array([x]), Given([])).tolist()
    assert rounding.weights(rounding.exact(x)) == {place: 1}
    if x not in map(float, points):
        assert rounding.exact(x) == Fraction(x)


@examples(12)
@given(data=st.data())
@each_layout
def test_exact_and_floating_weights_agree(points: list[Fraction], data: st.DataObject) -> None:
    for rounding in (Cells(points), Linear(points)):
        x = data.draw(doubles(rounding))
        weights = rounding.weights(rounding.exact(x))
        assert sum(weights.values()) == 1
        assert min(weights.values()) > 0
        shares = rounding.shares(np.array([x]))[0]
        exact = [float(weights.get(i, 0)) for i in range(len(shares))]
        # a double of x so far from 0 that nodes are near is off by that much
        margin = 1e-12 + 1e-15 * float(max(map(abs, points)) / (points[1] - points[0]))
        assert shares == pytest.approx(exact, abs=margin)


# Privacy of the kernel.

positions = st.fractions(0, 1, max_denominator=10**6)


@examples(12)
@given(x=positions, other=positions)
@pytest.mark.parametrize("kind", ["cells", "linear"])
def test_the_kernel_of_an_ldp_channel_is_ldp(kind: str, x: Fraction, other: Fraction) -> None:
    """Also at no less: at some pair of numbers the budget is used."""
    channel = LDP_KERNELS[kind]
    for one, two in zip(channel.density(x), channel.density(other), strict=True):
        assert one <= exp_lower(Fraction(1)) * two
    rows = [channel.density(Fraction(n, 4)) for n in range(5)]
    ratio = max(a / b for one in rows for two in rows for a, b in zip(one, two, strict=True))
    assert exp_upper(Fraction("0.999")) < ratio


def ldp_kernel(kind: str) -> ContinuousChannel:
    k = 4 if kind == "cells" else 5
    nodes = md.design(
        md.Problem([n / 4 for n in range(k)], md.LDP(1), md.MeanAbsoluteError())
    ).channel
    return continuous(kind, [Fraction(n, 4) for n in range(5)], nodes)


LDP_KERNELS = {kind: ldp_kernel(kind) for kind in ("cells", "linear")}

EPSILON, STEP = Fraction(3), Fraction(1, 4)


def metric_kernel() -> ContinuousChannel:
    """Nodes h apart, designed at ln(1 + epsilon h)/h, so that |d ln Q(y|x)/dx| <= epsilon."""
    budget = log_lower(1 + EPSILON * STEP) / STEP
    points = [n * STEP for n in range(5)]
    problem = md.Problem(
        [float(p) for p in points], md.MetricPrivacy(budget, "absolute"), md.MeanAbsoluteError()
    )
    return continuous("linear", points, md.design(problem).channel)


METRIC = metric_kernel()
near = st.one_of(st.floats(0, 1), st.floats(0, 1e-9), st.just(2.0**-53))


@examples(25)
@given(x=st.floats(0, 1), step=near)
def test_the_kernel_has_metric_privacy_on_the_continuum(x: float, step: float) -> None:
    """And at no less: close to some node the budget is used."""
    h = Fraction(1, 10**6)
    rows = [(METRIC.density(n * STEP), METRIC.density(n * STEP + h)) for n in range(4)]
    ratio = max(max(a / b, b / a) for pair in rows for a, b in zip(*pair, strict=True))
    assert exp_upper(Fraction("0.999") * EPSILON * h) < ratio <= exp_lower(EPSILON * h)
    other = min(x + step, 1.0)
    exponent = EPSILON * (Fraction(other) - Fraction(x))
    bound = max(exp_lower(exponent), 1 + exponent)  # both are at most e**exponent
    for one, two in zip(METRIC.density(x), METRIC.density(other), strict=True):
        assert one <= bound * two
        assert two <= bound * one


# What is drawn.


def steps(kind: str, k: int = 6) -> ContinuousChannel:
    rng = np.random.default_rng(3)
    nodes = md.Channel.from_matrix(rng.dirichlet(np.ones(4), size=k + (kind == "linear")))
    return continuous(kind, [Fraction(n, k) for n in range(k + 1)], nodes)


OUTPUTS = [(0, 0), (0.5, 1), (1, 2)]
ROWS = np.random.default_rng(3).dirichlet(np.ones(3), size=6)
PLANE = ContinuousChannel(
    [(0, 0), (1, 2)],
    "linear",
    [[0, "1/3", 1], [0, 2]],
    md.Channel.from_matrix(ROWS, outputs=list(map(list, OUTPUTS))),
)
CHANNELS = {"cells": steps("cells"), "linear": steps("linear"), "plane": PLANE}
NUMBERS, POINTS = [0.0, 0.05, 1 / 3, 1.0], [(0.1, 0.3), (0.0, 0.0), (1.0, 2.0)]


@pytest.mark.parametrize(
    ("kind", "x"),
    [*product(["cells", "linear"], NUMBERS), *product(["plane"], POINTS)],
)
def test_reports_at_one_input_have_its_density(kind: str, x: Any) -> None:
    channel, n = CHANNELS[kind], 40_000
    counts = channel.tally(channel.privatize(np.full((n, *np.shape(x)), x), rng=8)).counts
    expected = n * np.array([float(p) for p in channel.density(x)])
    assert scipy.stats.chisquare(counts, expected).pvalue > 1e-4


def test_the_density_is_bilinear_between_nodes_of_a_plane() -> None:
    u, v = Fraction(1, 4), Fraction(3, 8)
    x = (u * Fraction(1, 3), v * 2)
    wanted = [
        (1 - u) * (1 - v) * a + (1 - u) * v * b + u * (1 - v) * c + u * v * d
        for a, b, c, d in zip(*PLANE.nodes.rows()[:4], strict=True)
    ]
    assert list(PLANE.density(x)) == wanted
    assert PLANE.matrix([(1 / 12, 0.75)])[0] == pytest.approx(list(map(float, wanted)))
    assert sum(PLANE.density((0.1, 0.7))) == 1


def test_a_draw_does_not_depend_on_how_many_are_drawn_together() -> None:
    channel, x = steps("cells"), np.linspace(0, 1, 70_001)
    drawn = channel.privatize(x, rng=2).data
    assert drawn.shape == (70_001,)
    assert channel.privatize(x, rng=2).data.tolist() == drawn.tolist()
    assert not channel.privatize(x[:5]).simulated
    assert channel.privatize(x[:5], rng=2).simulated


# Numbers outside, and what is no number.


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.inf, -math.inf, math.nan, 10**400])
@pytest.mark.parametrize("kind", ["cells", "linear"])
def test_a_number_outside_is_refused_and_its_place_named(kind: str, bad: float) -> None:
    with pytest.raises(md.InputError, match=r"values\[3\]: expected numbers of \[0, 1\]"):
        steps(kind).privatize([0.5, 0.1, 1, bad, bad])


@pytest.mark.parametrize("kind", ["cells", "linear"])
def test_numbers_of_every_kind_are_taken(kind: str) -> None:
    channel, x = steps(kind), [0.5, 0.25, 1.0, 0.0]
    same = channel.privatize(x, rng=1).data.tolist()
    exact = [Decimal("0.5"), Fraction(1, 4), 1, -0.0]
    for values in (np.array(x), np.array(x, np.float32), np.array(x, np.longdouble), exact):
        assert channel.privatize(values, rng=1).data.tolist() == same
    assert channel.privatize(np.array([0, 1]), rng=1).data.shape == (2,)


@pytest.mark.parametrize(
    ("kind", "far", "near"),
    [
        ("cells", [-5, math.inf, -math.inf, 1.5], [0, 1, 0, 1]),
        ("linear", [-5, math.inf, -math.inf, 1.5], [0, 1, 0, 1]),
        ("plane", [(-0.1, 0), (0, 2.1), (0, math.inf)], [(0, 0), (0, 2), (0, 2)]),
    ],
)
def test_clipping_takes_the_nearer_end(kind: str, far: list[Any], near: list[Any]) -> None:
    drawn = CHANNELS[kind].privatize(far, rng=1, outside="clip").data
    assert drawn.tolist() == CHANNELS[kind].privatize(near, rng=1).data.tolist()


def test_half_lines_are_cells() -> None:
    nodes = md.Channel.from_matrix(np.eye(3), outputs=["low", "middle", "high"])
    channel = continuous("cells", [-math.inf, Fraction(0), Fraction(10), math.inf], nodes)
    assert channel.inputs.labels == ("(-inf, 0)", "[0, 10)", "[10, inf)")
    drawn = channel.privatize([-1e300, -0.0, 9.99, 10, 1.7e308]).labels()
    assert drawn == ["low", "middle", "middle", "high", "high"]
    assert channel.density(Fraction(-7)) == (1, 0, 0)
    assert channel.privatize([math.inf], outside="clip").labels() == ["high"]


def test_the_doubles_nearest_to_the_ends_belong_to_the_interval() -> None:
    low, high = Fraction(1, 10), Fraction(3, 10)
    assert Fraction(0.1) > low
    assert Fraction(0.3) < high
    cells = continuous("cells", [low, Fraction(2, 10), high], COIN)
    assert cells.privatize([0.1, 0.2, 0.3]).data.shape == (3,)
    assert cells.density(0.2) == cells.density("0.2")
    linear = continuous("linear", [Fraction(3, 10), Fraction(6, 10)], COIN)
    assert linear.density(0.3) == linear.density("0.3")


# What is asked of the kernel.


@examples(20)
@given(x=st.floats(0, 1), kind=st.sampled_from(["cells", "linear"]))
def test_density_loss_and_quantiles_at_a_number(x: float, kind: str) -> None:
    channel = steps(kind)
    exact = channel.density(x)
    assert sum(exact) == 1
    assert channel.matrix([x])[0] == pytest.approx([float(p) for p in exact], abs=1e-12)
    loss = sum(p * abs(Fraction(x) - y) for y, p in enumerate(exact))
    assert channel.expected_loss([x])[0] == pytest.approx(float(loss), abs=1e-12)
    (median,) = channel.report_quantiles([x], [0.5])[0]
    below = sum((p for y, p in enumerate(exact) if y < median), Fraction(0))
    assert below <= 0.5 + 1e-9
    assert below + exact[int(median)] >= 0.5 - 1e-9


@examples(30)
@given(data=st.data(), kind=st.sampled_from(["cells", "linear"]))
def test_the_node_has_the_law_that_samples_are_rounded_to(data: st.DataObject, kind: str) -> None:
    channel = steps(kind)
    values = data.draw(st.lists(st.fractions(0, 1, max_denominator=60), min_size=1, max_size=9))
    expected = [Fraction(0)] * len(channel.inputs)
    for value in values:
        for node, weight in channel._line.weights(value).items():
            expected[node] += weight / len(values)
    prior = channel.node_prior(md.Samples(values))
    assert list(prior) == expected
    reports = channel.nodes.output_distribution(prior)
    rows = [channel.density(value) for value in values]
    assert reports == tuple(sum(column) / len(values) for column in zip(*rows, strict=True))


def test_the_node_of_a_point_has_the_law_that_points_are_rounded_to() -> None:
    law = md.PlaneSamples([(0.1, 0.5), (0.5, 0.5), (1, 2)])
    densities = [PLANE.density(x) for x in (("1/10", "1/2"), ("1/2", "1/2"), (1, 2))]
    mixed = PLANE.nodes.output_distribution(PLANE.node_prior(law))
    assert mixed == tuple(sum(column) / 3 for column in zip(*densities, strict=True))
    halves = md.Channel.from_matrix(np.eye(2))
    cells = ContinuousChannel([(0, 0), (1, 2)], "cells", [[0, "1/2", 1], [0, 2]], halves)
    assert cells.density((0.4, 1)) == (1, 0)
    assert list(cells.node_prior(law)) == [Fraction(1, 3), Fraction(2, 3)]


def test_mass_beyond_the_nodes_belongs_to_the_last_node() -> None:
    nodes = md.Channel.from_matrix(np.eye(2))
    channel = continuous("cells", [-math.inf, 0, math.inf], nodes)
    assert list(channel.node_prior(md.Samples([-5, -1, 3]))) == [Fraction(2, 3), Fraction(1, 3)]
    channel = continuous("cells", [-math.inf, math.inf], md.Channel.from_matrix([[1]]))
    assert list(channel.node_prior(md.NamedLaw("normal"))) == [1]


def test_a_channel_is_what_it_is_made_from() -> None:
    channel = continuous("linear", [0, 2], COIN)
    again = continuous("linear", ["0", 2.0], COIN)
    assert channel == again
    assert hash(channel) == hash(again)
    assert channel != continuous("linear", [0, 3], COIN)
    assert pickle.loads(pickle.dumps(channel)) == channel
    assert channel.inputs.labels == (0, 2)
    assert "linear rounding to 2 nodes" in repr(channel)
    assert "<table" in channel._repr_html_()
    assert ContinuousChannel([(0, 0), (1, 2)], "linear", PLANE.axes, PLANE.nodes) == PLANE
    assert PLANE.outputs == tuple(OUTPUTS)
    assert "3 x 2 nodes" in repr(PLANE)
    assert len(PLANE.privatize(np.empty((0, 2)))) == 0


def test_ends_are_exact_or_infinite() -> None:
    interval = md.Interval(0.1, "1/3")
    assert (interval.low, interval.high) == (Fraction(1, 10), Fraction(1, 3))
    assert interval == md.Interval.of(["0.1", Fraction(1, 3)])
    assert (Fraction(1, 5) in interval, Fraction(1, 2) in interval) == (True, False)
    line = md.Interval("-inf", math.inf)
    assert not line.is_bounded
    assert line.to_table() == {"interval": ["-inf", "inf"]}
    assert read_end(Fraction(10) ** 90, "low") == Fraction(10) ** 90
