"""The channel of points: exact densities, draws that have them, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

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
    densities = [CHANNEL.density(x) for x in (("1/10", "1/2"), ("1/2", "1/2"), (1, 2))]
    mixed = CHANNEL.nodes.output_distribution(found)
    assert mixed == tuple(sum(column) / 3 for column in zip(*densities, strict=True))
    cells = md.continuous.ContinuousChannel(
        [(0, 0), (1, 2)], "cells", [[0, "1/2", 1], [0, 2]], md.Channel.from_matrix(np.eye(2))
    )
    assert cells.density((0.4, 1)) == (1, 0)
    assert list(cells.node_prior(law)) == [Fraction(1, 3), Fraction(2, 3)]


@pytest.mark.parametrize("far", [(-0.1, 0), (0, 2.1), (0, math.inf)])
def test_points_outside_may_be_clipped(far: tuple[float, float]) -> None:
    near = [np.clip(far, (0, 0), (1, 2)).tolist()]
    drawn = CHANNEL.privatize([far], rng=1, outside="clip").data
    assert drawn.tolist() == CHANNEL.privatize(near, rng=1).data.tolist()


def test_it_is_what_it_is_made_from() -> None:
    same = md.continuous.ContinuousChannel([(0, 0), (1, 2)], "linear", AXES, CHANNEL.nodes)
    assert same == CHANNEL
    assert hash(same) == hash(CHANNEL)
    assert CHANNEL.outputs == tuple(POINTS)
    assert "3 x 2 nodes" in repr(CHANNEL)
    assert len(CHANNEL.privatize(np.empty((0, 2)))) == 0
