"""Structured mechanisms on a million inputs: nothing grows faster than the inputs do."""

from __future__ import annotations

import json
import math
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mechdesign import Domain, load_mechanism, mechanisms, save
from mechdesign.kernel import verify
from mechdesign.mechanisms.bit_rows import binomial
from mechdesign.reports import Labels, Numbers
from tests.mechanisms_support import block_hadamard, high_low_hadamard
from tests.refusals_support import check_refused

MILLION = 1_000_000
MEMORY = 500 << 20
"""Bytes that a mechanism on a million inputs may take at any moment."""

MECHANISMS: dict[str, Callable[[int], mechanisms.Mechanism]] = {
    "Hadamard": lambda k: mechanisms.HadamardResponse(k, 1),
    "projective": lambda k: mechanisms.ProjectiveGeometryResponse(k, 1),
    "randomized": lambda k: mechanisms.GeneralizedRandomizedResponse(k, 1),
    "subsets": lambda k: mechanisms.SubsetSelection(k, 1),
    "optimized": lambda k: mechanisms.OptimizedUnaryEncoding(k, 1),
    "symmetric": lambda k: mechanisms.SymmetricUnaryEncoding(k, 1),
    "blocks": lambda k: block_hadamard(k, 1, [range(x, x + 1000) for x in range(0, k, 1000)]),
    "high-low": lambda k: high_low_hadamard(k, 1, range(1000)),
}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", ["Hadamard", "projective", "symmetric", "blocks", "high-low"])
def test_a_million_inputs(name: str, tmp_path: Path) -> None:
    file = tmp_path / "mechanism.json"
    tracemalloc.start()
    try:
        mechanism = MECHANISMS[name](MILLION)
        reports = mechanism.privatize([0, 1, MILLION - 1], rng=1)
        estimates = mechanism.frequencies(mechanism.tally(reports)).estimates
        save(mechanism, file)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
    assert estimates.shape == (MILLION,)
    assert 0.99 < mechanism.leakage <= 1  # few digits for a coin cost a little
    verify(json.loads(file.read_text(encoding="utf-8")))
    assert load_mechanism(file).mechanism == mechanism


def test_hadamard_response_on_more_than_half_a_million_inputs() -> None:
    mechanism = mechanisms.HadamardResponse(600_000, 1)
    reports = mechanism.privatize([599_999] * 20_000, rng=1)
    estimates = mechanism.frequencies(mechanism.tally(reports)).estimates
    assert mechanism.n_outputs == 1 << 20
    assert estimates[599_999] == pytest.approx(1, abs=0.1)
    (own,) = reports.labels()[:1]
    assert mechanism.probability(599_999, own) in (mechanism.least, mechanism.most)
    assert "outputs" not in vars(mechanism.alphabet)  # the reports were not listed


def test_sets_of_a_million_inputs_are_counted_at_once() -> None:
    for n in range(40):
        assert [binomial(n, k) for k in range(n + 1)] == [math.comb(n, k) for k in range(n + 1)]
    sets = mechanisms.SubsetSelection(MILLION, "0.01")
    start = time.process_time()
    assert sets.n_outputs.bit_length() == math.ceil(sets.bits_per_report)
    assert time.process_time() - start < 2  # math.comb takes 7 s


def test_more_inputs_are_refused_in_one_line() -> None:
    for make in MECHANISMS.values():
        check_refused("at most 1000000 inputs", make, MILLION + 1)


def test_numbers_are_the_labels_that_they_stand_for() -> None:
    numbers, labels = Numbers(8), Labels(Domain.range(8))
    data = np.array([7, 0, 3, 3])
    assert numbers.matches(labels)
    assert labels.matches(numbers)
    assert not numbers.matches(Numbers(16))
    assert numbers.labels(data) == labels.labels(data)
    assert numbers.write(data) == labels.write(data)
    assert numbers.read(["7", "0"]).tolist() == labels.read(["7", "0"]).tolist()
    assert numbers.encode([7, 0]).tolist() == labels.encode([7, 0]).tolist()
    assert numbers.count(data).tolist() == labels.count(data).tolist()
    assert numbers.listed().tolist() == labels.listed().tolist()
    for wrong in (8, -1, "x", 0.5):
        one = check_refused("", numbers.encode, [0, wrong])
        assert str(one) == str(check_refused("", labels.encode, [0, wrong]))
