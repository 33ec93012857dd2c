"""Remap tables lose least, and what they lose is enclosed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Domain, InputError, Prior
from mechdesign.exact import sqrt_lower, sqrt_upper
from mechdesign.mechanisms import GeometricNoise, PlanarLaplace
from mechdesign.mechanisms.lattice_noise import LatticeNoise
from mechdesign.mechanisms.remap_table import LOSSES
from tests.strategies import examples

SPACING = Fraction(1, 2)


@st.composite
def noises(draw: st.DrawFn) -> tuple[LatticeNoise, Prior]:
    rows, columns = draw(st.tuples(st.integers(1, 4), st.integers(2, 5)))
    kind = draw(st.sampled_from([GeometricNoise, PlanarLaplace]))
    made = kind(Domain.grid(rows, columns, SPACING), draw(st.sampled_from(["0.6", "2", "5"])))
    k = rows * columns
    counts = draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any))
    return made, Prior.from_counts(counts)


def exact_loss(loss: str, x: tuple[int, int], y: tuple[int, int]) -> tuple[Fraction, Fraction]:
    """Return bounds on the loss of a point, by its definition."""
    down, right = abs(x[0] - y[0]) * SPACING, abs(x[1] - y[1]) * SPACING
    square = down**2 + right**2
    exact = {"absolute": down + right, "squared": square, "hamming": Fraction(x != y)}.get(loss)
    return (sqrt_lower(square), sqrt_upper(square)) if exact is None else (exact, exact)


def tables(made: LatticeNoise, prior: Prior, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the joint law of input and report, and the losses, as floats."""
    points = list(made.inputs)
    law = np.array([made.row(x) for x in range(len(points))]) / 2**62
    losses = [[float(exact_loss(loss, x, y)[0]) for y in points] for x in points]
    return prior.array[:, None] * law, np.array(losses)


@given(noises(), st.sampled_from(sorted(LOSSES)))
@examples(24)
def test_each_report_is_replaced_by_the_point_of_least_loss(
    given_: tuple[LatticeNoise, Prior], loss: str
) -> None:
    made, prior = given_
    remapped = made.remapped(prior, loss)
    joint, losses = tables(made, prior, loss)
    risks = joint.T @ losses  # reports by outputs
    found = risks[np.arange(len(risks)), remapped.remap]
    if loss != "euclidean":
        assert np.allclose(found, risks.min(axis=1), atol=1e-13)
    n, m = made.inputs.grid_shape
    for z, y in enumerate(remapped.remap.tolist()):
        near = [
            (y // m + a) * m + y % m + b
            for a, b in product((-1, 0, 1), repeat=2)
            if 0 <= y // m + a < n and 0 <= y % m + b < m
        ]
        assert found[z] <= min(risks[z, near].min(), risks[z, z]) + 1e-13
    assert remapped.expected_loss(prior, loss)[0] <= made.expected_loss(prior, loss)[1]


@given(noises(), st.sampled_from(sorted(LOSSES)), st.booleans())
@examples(16)
def test_the_expected_loss_lies_between_the_bounds(
    given_: tuple[LatticeNoise, Prior], loss: str, remap: bool
) -> None:
    """Exactly: rational probabilities, and rational bounds on distances."""
    made, prior = given_
    made = made.remapped(prior, loss) if remap else made
    points = list(made.inputs)
    ends = [Fraction(0), Fraction(0)]
    for x, p in enumerate(prior):
        for y, mass in enumerate(made.row(x).tolist()):
            bounds = exact_loss(loss, points[x], points[y])
            ends = [e + p * Fraction(mass, 1 << 62) * b for e, b in zip(ends, bounds, strict=True)]
    low, high = made.expected_loss(prior, loss)
    assert Fraction(low) <= ends[0] <= ends[1] <= Fraction(high)
    assert high - low <= 1e-13 * max(high, 1e-9)


def test_on_a_line_no_private_channel_loses_less() -> None:
    """Ghosh et al. 2009: remapped geometric noise is optimal; here beside the linear program."""
    from mechdesign import MeanAbsoluteError, MetricPrivacy, Problem, design

    prior = Prior(["0.35", "0.05", "0.1", "0.05", "0.15", "0.3"])
    noise = GeometricNoise(6, "0.4").remapped(prior, "absolute")
    best = design(Problem(6, MetricPrivacy("0.4", "absolute"), MeanAbsoluteError(), prior=prior))
    assert noise.expected_loss(prior, "absolute")[1] == pytest.approx(float(best.value), abs=1e-4)
    assert float(best.bound) <= noise.expected_loss(prior, "absolute")[1]


def test_far_inputs_do_not_matter_on_a_long_line() -> None:
    rng = np.random.default_rng(1)
    prior = Prior.from_counts(rng.integers(0, 5, 400).tolist())
    made = GeometricNoise(400, 2)
    remapped = made.remapped(prior, "absolute")
    joint, _ = np.array([made.row(x) for x in range(400)]) / 2**62, None
    weights = prior.array[:, None] * joint
    losses = np.abs(np.subtract.outer(np.arange(400), np.arange(400)))
    risks = weights.T @ losses
    assert np.allclose(risks[np.arange(400), remapped.remap], risks.min(axis=1), atol=1e-12)


def test_a_prior_at_one_point_always_reports_it() -> None:
    made = PlanarLaplace(Domain.grid(3, 3), 1).remapped(Prior([0, 0, 0, 0, 0, 1, 0, 0, 0]))
    assert set(made.remap.tolist()) == {5}
    assert made.expected_loss(Prior([0, 0, 0, 0, 0, 1, 0, 0, 0]))[1] < 1e-290


@pytest.mark.parametrize("loss", ["mean", 3, None])
def test_other_losses_are_refused(loss: object) -> None:
    made = GeometricNoise(4, 1)
    with pytest.raises(InputError, match="loss: expected one of absolute, euclidean"):
        made.expected_loss(Prior.uniform(4), loss)
    assert math.isclose(*made.expected_loss(Prior.uniform(4)), rel_tol=1e-12)


@given(noises(), st.sampled_from(sorted(LOSSES)), st.integers(0, 12))
@examples(16)
def test_some_reports_are_replaced_where_that_saves_most(
    given_: tuple[LatticeNoise, Prior], loss: str, most: int
) -> None:
    """No more than so many, none for the worse, and all inside the border for enough."""
    made, prior = given_
    losses = made.losses(prior, loss)
    table, saved = losses.moves(made.exponent, most)
    moved = np.flatnonzero(table != np.arange(len(table)))
    assert len(moved) <= most
    joint, each = tables(made, prior, loss)
    risks = joint.T @ each
    gains = risks[moved, moved] - risks[moved, table[moved]]
    assert (gains > -1e-12).all()
    assert saved == pytest.approx(float(gains.sum()), abs=1e-9)
    assert losses.expected(table)[0] <= losses.expected(np.arange(len(table)))[1] + 1e-12
