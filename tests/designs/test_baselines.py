"""A design is never worse than a mechanism of the library, whatever the time limit."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pytest

import mechdesign as md
from mechdesign.designs import design as design_module
from mechdesign.mechanisms import Mechanism, PlanarLaplace, mechanism_for
from mechdesign.mechanisms.lattice_noise import LatticeNoise
from mechdesign.mechanisms.registry import FORMS
from mechdesign.search.limits import Limits
from mechdesign.utilities import EstimationRisk
from tests.mechanisms_support import exact_table


@pytest.fixture(autouse=True)
def _seconds_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the time of this process, so that a busy machine ends no search earlier."""
    monkeypatch.setattr(design_module, "Limits", partial(Limits, clock=time.process_time))


def uneven(k: int) -> md.Prior:
    return md.Prior.from_counts(np.random.default_rng(k).integers(1, 20, k).tolist())


def problem(inputs: object, notion: object, utility: object) -> md.Problem:
    found = md.Problem(inputs, notion, utility)
    return md.Problem(inputs, notion, utility, prior=uneven(len(found.domain)))


BLOCKS = [list(range(6)), list(range(6, 11))]

PROBLEMS: dict[str, md.Problem] = {
    "numbers under LDP": problem(range(10), md.LDP(1), md.MeanAbsoluteError()),
    "labels under LDP": problem(range(11), md.LDP(2), md.HammingLoss()),
    "labels in blocks": problem(range(11), md.BlockLDP(1, BLOCKS), md.HammingLoss()),
    "few secrets": problem(range(9), md.HighLowLDP(1, range(5)), md.MeanAbsoluteError()),
    "lifts": md.Problem(
        range(8), md.LIP(3), md.HammingLoss(), prior=md.Prior.from_counts([6, *range(6, 13)])
    ),
    "a line": problem(range(80), md.MetricPrivacy("0.2", "absolute"), md.MeanAbsoluteError()),
    "streets": problem(
        md.Domain.grid(9, 9), md.MetricPrivacy("0.7", "manhattan"), md.HammingLoss()
    ),
    "a town": problem(
        md.Domain.grid(9, 9), md.MetricPrivacy("0.5", "euclidean"), md.EuclideanDistance()
    ),
    "a city": problem(
        md.Domain.grid(20, 20), md.MetricPrivacy("0.5", "euclidean"), md.EuclideanDistance()
    ),
    "a survey": problem(range(12), md.LDP(1), md.L2Risk()),
    "a survey, deviations": problem(range(11), md.LDP("0.5"), md.TVRisk()),
    "a survey in blocks": problem(range(11), md.BlockLDP(1, BLOCKS), md.L2Risk()),
}


def matrix(mechanism: Mechanism) -> np.ndarray:
    if isinstance(mechanism, LatticeNoise):
        return mechanism.dense().matrix
    return np.array(exact_table(mechanism), dtype=float)


def lost(asked: md.Problem, Q: np.ndarray) -> float:
    """The risk, or the expected loss with the best decision for each report."""
    utility, p = asked.utility, asked.prior.array
    if isinstance(utility, EstimationRisk):
        M = (Q / np.maximum(p @ Q, 1e-300)) @ Q.T
        terms = utility.deviations(np.diag(np.linalg.inv(M)).copy(), p)
        return float(utility.scale * terms.value.sum())
    cost = asked.expected_loss.cost(asked.domain, asked.prior, asked.outputs or ())
    return float((cost.T @ Q).min(axis=0).sum())


LONG = pytest.mark.long
SECONDS = [
    pytest.param(1.0, marks=pytest.mark.slow),
    pytest.param(5.0, marks=LONG),
    pytest.param(20.0, marks=LONG),
]


@pytest.mark.parametrize("seconds", SECONDS)
@pytest.mark.parametrize(
    "name", [name for name in PROBLEMS if name != "a city"] + [pytest.param("a city", marks=LONG)]
)
def test_no_mechanism_of_the_library_is_better(name: str, seconds: float) -> None:
    asked = PROBLEMS[name]
    (notion,) = asked.privacy
    values = {}
    for kind in FORMS[type(notion)]:
        distance = getattr(notion, "distance", None)
        if (kind == "planar-laplace") != (distance == "euclidean") and distance is not None:
            continue
        values[kind] = lost(asked, matrix(mechanism_for(kind, asked.domain, notion, asked.prior)))
    found = md.design(asked, time_limit=seconds)
    assert values
    for kind, value in values.items():
        assert float(found.value) <= value * (1 + 1e-6), kind
    assert found.bound <= found.value


@pytest.mark.parametrize("seconds", SECONDS)
@pytest.mark.parametrize("k", [40, pytest.param(80, marks=LONG)])
def test_subset_selection_on_many_labels_is_not_better(k: int, seconds: float) -> None:
    """The one that is optimal at the uniform prior."""
    best = md.design(md.Problem(range(k), md.LDP(1), md.L2Risk()))
    assert "subset selection" in best.route
    asked = problem(range(k), md.LDP(1), md.L2Risk())
    found = md.design(asked, time_limit=seconds)
    assert float(found.value) <= lost(asked, best.channel.matrix) * (1 + 1e-6)
    assert found.bound >= found.value / 2


@pytest.mark.parametrize("seconds", SECONDS)
@pytest.mark.parametrize("side", [70, pytest.param(256, marks=LONG)])
def test_on_a_large_grid_it_is_not_worse_than_noise(side: int, seconds: float) -> None:
    """On a uniform prior nothing is gained by a remap; where people crowd, much is."""
    domain, notion = md.Domain.grid(side, side), md.MetricPrivacy(1, "euclidean")
    found = md.design(md.Problem(domain, notion, md.EuclideanDistance()), time_limit=seconds)
    noise = PlanarLaplace(domain, 1)
    plain = noise.expected_loss(md.Prior.uniform(side * side))
    assert float(found.value) <= plain[1] * (1 + 1e-9)
    if seconds >= 20:
        assert found.bound > 0.5 * found.value
    counts = np.random.default_rng(0).integers(1, 5, side * side)
    counts[:: 3 * side + 7] = 2000
    crowded = md.Prior.from_counts(counts.tolist())
    found = md.design(
        md.Problem(domain, notion, md.EuclideanDistance(), prior=crowded), time_limit=seconds
    )
    plain = noise.expected_loss(crowded)
    assert float(found.value) <= (1.0 if seconds < 20 else 0.95) * plain[1] * (1 + 1e-9)
