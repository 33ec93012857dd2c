"""The audit accepts private samplers and refutes others, with fixed seeds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from mechdesign import Channel, mechanisms
from mechdesign.accounting.auditing import audit

E = math.e
WARNER = Channel.from_matrix([[E / (E + 1), 1 / (E + 1)], [1 / (E + 1), E / (E + 1)]])


def unary(k: int, epsilon: float, seed: int, forgets: bool = False) -> Callable[[int, int], Any]:
    """Symmetric unary encoding; a broken version does not flip the bit of the true input."""
    generator = np.random.default_rng(seed)
    keep = math.exp(epsilon / 2) / (math.exp(epsilon / 2) + 1)

    def sampler(x: int, count: int) -> Any:
        bits = generator.random((count, k)) < 1 - keep
        bits[:, x] = True if forgets else generator.random(count) < keep
        return bits

    return sampler


OURS = [
    WARNER,
    mechanisms.GeneralizedRandomizedResponse(5, 1),
    mechanisms.HadamardResponse(5, 1),
    mechanisms.OptimizedUnaryEncoding(6, 1),
    mechanisms.SymmetricUnaryEncoding(6, 1),
    mechanisms.SubsetSelection(6, 1),
]


@pytest.mark.parametrize("mechanism", OURS, ids=repr)
def test_ours_are_as_private_as_they_claim_and_hardly_more(mechanism: Any) -> None:
    """Both halves: epsilon = 1 is not refuted, and 0.9 is."""
    inputs = mechanism.inputs.labels[:3]
    found = audit(mechanism, inputs, draws=60_000, epsilon=1, rng=11)
    assert not found.refuted
    assert found.consistent_with(1)
    assert not found.consistent_with("0.9")
    assert found.confidence == 0.99
    assert "proves nothing" in repr(found)


def test_the_source_of_releases_passes_as_well() -> None:
    # fails with probability below 1e-9, whatever is drawn
    found = audit(
        mechanisms.GeneralizedRandomizedResponse(3, 1), draws=20_000, confidence=1 - 1e-9, epsilon=1
    )
    assert not found.refuted


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_unary_encoder_that_forgets_the_true_bit_is_caught(epsilon: float) -> None:
    honest = audit(unary(8, epsilon, seed=1), [0, 3, 7], draws=40_000, epsilon=epsilon)
    broken = audit(unary(8, epsilon, 1, forgets=True), [0, 3, 7], draws=40_000, epsilon=epsilon)
    assert not honest.refuted
    assert honest.epsilon_lower > 0.8 * epsilon
    assert broken.refuted
    assert broken.epsilon_lower > 4
    assert "part" in broken.event
    assert broken.counts[1] == 0  # what never happens under x' gives a large but finite bound
    assert math.isfinite(broken.epsilon_lower)


def test_a_channel_sampled_from_the_wrong_row_is_caught() -> None:
    """On a line neighbors are private at 1/2. Off by one, input 0 gets the row of the last."""
    share = math.exp(-0.5)
    table = np.array([[share ** abs(x - y) for y in range(4)] for x in range(4)])
    table[:, [0, -1]] /= 1 - share  # the geometric mechanism, cut off at both ends
    line = Channel.from_matrix(table / table.sum(axis=1, keepdims=True))
    neighbors = [(x, z) for x in range(4) for z in range(4) if abs(x - z) == 1]
    right = audit(line, pairs=neighbors, draws=50_000, epsilon=0.5, rng=2)
    assert not right.refuted
    assert not right.consistent_with("0.4")
    generator = np.random.default_rng(3)

    def off_by_one(x: int, count: int) -> Any:
        return line.privatize([(x - 1) % 4] * count, generator)

    found = audit(off_by_one, pairs=neighbors, draws=50_000, epsilon=0.5)
    assert found.refuted
    assert found.epsilon_lower > 1.3
    assert 0 in found.pair


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    def certain(x: str, count: int) -> list[str]:
        return [x] * count

    found = audit(certain, ["a", "b"], draws=1000, confidence=0.96)
    risk = 0.04 / 4  # two ordered pairs, two bounds each
    low, high = beta.ppf(risk, 500, 1), beta.ppf(1 - risk, 1, 500)
    assert found.epsilon_lower == pytest.approx(math.log(low / high), rel=1e-9)
    assert found.counts == (500, 0)
    assert found.draws == 500
    assert set(found.bounds) == {("a", "b"), ("b", "a")}


def test_the_bound_has_its_confidence() -> None:
    """At confidence 0.8 fewer than 1 in 5 audits of an honest sampler refute it."""
    refuted = sum(
        audit(WARNER, draws=400, confidence=0.8, epsilon=1, rng=seed).refuted for seed in range(150)
    )
    assert refuted <= 0.2 * 150


# --- every kind of report -------------------------------------------------------------------------


def shapes() -> dict[str, Callable[[Any], Any]]:
    kind = np.dtype([("hash", "i4"), ("bits", "i1", (3,))])

    def structured_array(x: Any) -> Any:
        rows = np.zeros(len(x), dtype=kind)
        rows["hash"], rows["bits"][:, 1] = np.arange(len(x)) % 5, x
        return rows

    return {
        "array": lambda x: x,
        "floats": lambda x: x + np.linspace(0, 0.5, len(x)),
        "list of labels": lambda x: [f"label {v}" for v in x.tolist()],
        "tuples": lambda x: [("a", v, n % 3) for n, v in enumerate(x.tolist())],
        "sets": lambda x: [{v, 5 + n % 2} for n, v in enumerate(x.tolist())],
        "ragged tuples": lambda x: [(0,) * v for v in x.tolist()],
        "rows": lambda x: np.stack([np.arange(len(x)) % 2, x], axis=1),
        "structured": structured_array,
        "equal halves": lambda x: np.stack([np.arange(len(x)) % 2, (np.arange(len(x)) + x) % 2], 1),
    }


@pytest.mark.parametrize("shape", shapes())
def test_every_kind_of_report_is_read(shape: str) -> None:
    """A binary answer with odds 9 : 1 in various types: ln 9 = 2.197."""
    generator = np.random.default_rng(8)
    dress = shapes()[shape]

    def sampler(x: int, count: int) -> Any:
        flips = generator.random(count) < 0.1
        return dress(np.where(flips, 1 - x, x))

    found = audit(sampler, [0, 1], draws=20_000, epsilon=2)
    assert found.refuted
    assert found.epsilon_lower < math.log(9)


def test_parts_that_tell_only_together_are_found() -> None:
    """Forty weak bits with log-ratio at most 0.2 each: their sum leaks far more."""
    generator = np.random.default_rng(9)

    def sampler(x: int, count: int) -> Any:
        return generator.random((count, 40)) < (0.55 if x else 0.45)

    found = audit(sampler, [0, 1], draws=20_000)
    assert found.epsilon_lower > 2
    assert "together" in found.event


def test_only_the_pairs_that_are_named_are_tested() -> None:
    """Mangat: 1 always reports 1; 0 reports 0 half of the time. One direction is bounded."""
    mangat = Channel.from_matrix([[0.5, 0.5], [0, 1]])
    one_way = audit(mangat, pairs=[(1, 0)], draws=20_000, epsilon=math.log(2), rng=1)
    assert not one_way.refuted
    assert list(one_way.bounds) == [(1, 0)]
    found = audit(mangat, draws=20_000, epsilon=math.log(2), rng=1)
    assert repr(found).startswith("refuted at epsilon = 0.693147: at least")
    assert repr(audit(mangat, draws=1000, rng=1)).startswith("epsilon is at least")


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_reports_that_are_no_finite_numbers_are_reports(odd: float) -> None:
    rng = np.random.default_rng(2)

    def sampler(x: int, count: int) -> Any:
        return np.where(rng.random(count) < (0.5 if x else 0.01), odd, rng.random(count))

    assert audit(sampler, [0, 1], draws=4000, epsilon=3).refuted


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_reports_without_a_value_tell_nothing(shape: tuple[int, ...]) -> None:
    found = audit(lambda _, count: np.zeros((count, *shape)), [0, 1], draws=100, epsilon=1)
    assert (found.epsilon_lower, found.refuted) == (0, False)
