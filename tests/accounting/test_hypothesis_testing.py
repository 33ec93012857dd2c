"""The trade-off curve is the best of all tests, and E-LDP is a region that contains it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from mechdesign import Channel
from mechdesign.accounting.hypothesis_testing import error_region, trade_off
from mechdesign.accounting.ratios import tightest_matrix
from tests.strategies import channels, examples

F = Fraction


def all_tests(channel: Channel) -> list[tuple[Fraction, Fraction]]:
    """Return the false alarm and miss rates of all deterministic tests of 0 against 1."""
    rows = [[channel.probability(x, y) for y in channel.outputs] for x in (0, 1)]
    m = len(channel.outputs)
    found = []
    for n in range(m + 1):
        for says in itertools.combinations(range(m), n):
            hit, alarm = (sum((row[y] for y in says), F(0)) for row in rows)
            found.append((alarm, 1 - hit))
    return found


@examples(30)
@given(channels(2))
def test_the_curve_is_the_convex_edge_of_all_tests(channel: Channel) -> None:
    curve, tests = trade_off(channel, 0, 1), all_tests(channel)
    assert set(curve.points) <= set(tests)
    for alarm, missed in tests:
        assert curve.missed(alarm) <= missed
    assert (curve.points[0], curve.points[-1]) == ((0, 1), (1, 0))
    steps = [(b[0] - a[0], a[1] - b[1]) for a, b in itertools.pairwise(curve.points)]
    assert all(min(step) >= 0 < max(step) for step in steps)
    assert all(d1 * r2 > d2 * r1 for (r1, d1), (r2, d2) in itertools.pairwise(steps))
    mirrored = trade_off(channel, 1, 0)
    assert [(m, a) for a, m in reversed(curve.points)] == list(mirrored.points)
    assert curve.total_variation == mirrored.total_variation == 1 - min(map(sum, tests))


@examples(20)
@given(channels(3))
def test_the_region_of_the_tightest_matrix_and_not_less(channel: Channel) -> None:
    """Theorem 1 and its converse: inside at E, outside below it, and touching if tight."""
    E = tightest_matrix(channel)
    for x, z in itertools.permutations(range(3), 2):
        curve = trade_off(channel, x, z)
        forward, back = E[x, z], E[z, x]
        assert curve.inside(error_region(forward, back))
        if 0 < forward < math.inf:
            assert not curve.inside(error_region(forward * (1 - 1e-9), back))
        if 0 < back < math.inf:
            assert not curve.inside(error_region(forward, back * (1 - 1e-9)))
        first, last = curve.points[1], curve.points[-2]
        if math.isfinite(forward):
            assert float(1 - first[1]) == pytest.approx(math.exp(forward) * float(first[0]))
        else:
            assert first[0] == 0
        if math.isfinite(back):
            assert float(1 - last[0]) == pytest.approx(math.exp(back) * float(last[1]))
        else:
            assert last[1] == 0


@examples(20)
@given(channels(2), channels(4))
def test_processing_makes_no_test_better(channel: Channel, after: Channel) -> None:
    m = channel.shape[1]
    rows = [[after.probability(x % 4, y) for y in after.outputs] for x in range(m)]
    before, later = (trade_off(c, 0, 1) for c in (channel, channel.then(Channel.from_matrix(rows))))
    for alarm, missed in later.points:
        assert before.missed(alarm) <= missed
    assert later.total_variation <= before.total_variation


@pytest.mark.parametrize("budgets", [(1, 1), (0.5, 2), (3, 0.2), (2, math.inf), (math.inf, 1)])
def test_corners_are_where_both_lines_meet(budgets: tuple[float, float]) -> None:
    region = error_region(*budgets)
    alarm, missed = region.corners[1]
    a, b = budgets
    if math.isfinite(a):
        assert missed + math.exp(a) * alarm == pytest.approx(1)
    else:
        assert alarm == 0
    if math.isfinite(b):
        assert alarm + math.exp(b) * missed == pytest.approx(1)
    else:
        assert missed == 0


def test_the_ends() -> None:
    identity = Channel.from_matrix(np.eye(2).tolist())
    free = trade_off(identity, 0, 1)
    assert (0, 0) in free.points
    assert free.inside(error_region("inf"))
    assert not free.inside(error_region(30))
    assert free.total_variation == 1
    blind = Channel.from_matrix([["1/3", "2/3"]] * 2)
    assert trade_off(blind, 0, 1).points == ((0, 1), (1, 0))
    assert trade_off(blind, 0, 1).inside(error_region(0))
    assert error_region(0, 1).corners == ((0, 1), (1, 0))
    assert error_region("inf").corners[1] == (0, 0)
    warner = trade_off(Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]]), 0, 1)
    assert [warner.missed(alarm) for alarm in (0, "1/8", 1)] == [1, F(5, 8), 0]
