"""The channel of points: exact densities, draws that have them, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

import mechdesign as md

AXES = [[0, "1/3", 1], [0, 2]]
ROWS = np.random.default_rng(3).dirichlet(np.ones(3), size=6)
POINTS = [(0, 0), (0.5, 1), (1, 2)]
CHANNEL = md.continuous.ContinuousChannel(
    [(0, 0), (1, 2)],
    "linear",
    AXES,
    md.Channel.from_matrix(ROWS, outputs=[list(p) for p in POINTS]),
)


def test_the_density_is_bilinear_between_nodes() -> None:
    rows = [
        [Fraction(int(q), CHANNEL.nodes.denominator) for q in row]
        for row in CHANNEL.nodes.numerators
    ]
    u, v = Fraction(1, 4), Fraction(3, 8)
    x = (u * Fraction(1, 3), v * 2)
    wanted = [
        (1 - u) * (1 - v) * a + (1 - u) * v * b + u * (1 - v) * c + u * v * d
        for a, b, c, d in zip(*rows[:4], strict=True)
    ]
    assert list(CHANNEL.density(x)) == wanted
    assert CHANNEL.matrix([(1 / 12, 0.75)])[0] == pytest.approx(list(map(float, wanted)))
    assert sum(CHANNEL.density((0.1, 0.7))) == 1


@pytest.mark.parametrize("x", [(0.1, 0.3), (0.5, 1.9), (1.0, 2.0), (0.0, 0.0)])
def test_reports_at_a_point_have_its_density(x: tuple[float, float]) -> None:
    n = 40_000
    counts = CHANNEL.tally(CHANNEL.privatize(np.tile(x, (n, 1)), rng=8)).counts
    expected = n * np.array([float(p) for p in CHANNEL.density(x)])
    assert scipy.stats.chisquare(counts, expected).pvalue > 1e-4


def test_the_law_of_the_node_is_the_mean_of_the_weights() -> None:
    law = md.PlaneSamples([(0.1, 0.5), (0.5, 0.5), (1, 2)])
    found = CHANNEL.node_prior(law)
    x = [
        (Fraction(1, 10), Fraction(1, 2)),
        (Fraction(1, 2), Fraction(1, 2)),
        (Fraction(1), Fraction(2)),
    ]
    outputs = [sum(CHANNEL.density(point)[y] for point in x) / 3 for y in range(3)]
    rows = CHANNEL.nodes.numerators
    for y, wanted in enumerate(outputs):
        mixed = sum(p * int(rows[i, y]) for i, p in enumerate(found))
        assert mixed / CHANNEL.nodes.denominator == wanted


@pytest.mark.parametrize("bad", [(-0.1, 0), (0, 2.1), (math.nan, 0), (0, math.inf)])
def test_points_outside_are_refused_or_clipped(bad: tuple[float, float]) -> None:
    with pytest.raises(md.InputError, match=r"values\[1\]: expected numbers of"):
        CHANNEL.privatize([(0.5, 0.5), bad])
    if not any(map(math.isnan, bad)):
        assert len(CHANNEL.privatize([bad], rng=1, outside="clip")) == 1
    with pytest.raises(md.InputError):
        CHANNEL.density(bad)


@pytest.mark.parametrize(
    "bad", [[1, 2], [(1, 2, 3)], "ab", np.zeros(3), np.zeros((2, 3)), 7, [(1,)]]
)
def test_invalid_lists_of_points_are_refused(bad: Any) -> None:
    with pytest.raises(md.InputError):
        CHANNEL.privatize(bad)


def test_it_is_no_array_and_has_an_identity() -> None:
    same = md.continuous.ContinuousChannel([(0, 0), (1, 2)], "linear", AXES, CHANNEL.nodes)
    assert same == CHANNEL
    assert hash(same) == hash(CHANNEL)
    assert CHANNEL.outputs == tuple(POINTS)
    assert "3 x 2 nodes" in repr(CHANNEL)
    assert len(CHANNEL.privatize(np.empty((0, 2)))) == 0
    with pytest.raises(TypeError, match="no matrix"):
        np.asarray(CHANNEL)
    with pytest.raises(md.InputError, match="6 inputs"):
        md.continuous.ContinuousChannel(
            [(0, 0), (1, 2)], "linear", AXES, md.Channel.from_matrix(ROWS[:4])
        )


def test_properties_of_a_line_are_refused() -> None:
    for ask in (lambda: CHANNEL.points, lambda: CHANNEL.positions, lambda: CHANNEL.supports):
        with pytest.raises(md.InputError, match="numbers of an interval"):
            ask()
    with pytest.raises(md.InputError, match="a list of numbers for each axis"):
        md.continuous.ContinuousChannel([(0, 0), (1, 2)], "linear", AXES[:1], CHANNEL.nodes)


def test_points_may_be_sent_to_cells() -> None:
    edges = [[0, "1/2", 1], [0, 2]]
    cells = md.continuous.ContinuousChannel(
        [(0, 0), (1, 2)], "cells", edges, md.Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    )
    assert cells.density((0.4, 1)) == (Fraction(3, 4), Fraction(1, 4))
    law = md.PlaneSamples([(0.1, 0.5), (0.5, 0.5), (1, 2)])
    assert list(cells.node_prior(law)) == [Fraction(1, 3), Fraction(2, 3)]
