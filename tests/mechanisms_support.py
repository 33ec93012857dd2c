"""Statements about every structured mechanism, from its exact probabilities alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from mechdesign import BlockLDP, HighLowLDP
from mechdesign.exact import exp_lower
from mechdesign.mechanisms import (
    ByComponent,
    GeneralizedRandomizedResponse,
    HadamardResponse,
    HighLow,
    Mechanism,
    OptimizedUnaryEncoding,
    ProjectiveGeometryResponse,
    SubsetSelection,
    around_sensitive,
    by_block,
)
from mechdesign.reports import Reports, Tally
from mechdesign.sampling import Source

Table = list[list[Fraction]]


class Given(Source):
    """Bytes that are given, in order."""

    simulated = True

    def __init__(self, data: np.ndarray) -> None:
        self._data = data

    def bytes(self, count: int) -> np.ndarray:
        part, self._data = self._data[:count], self._data[count:]
        assert len(part) == count
        return part


def inside_blocks(make: Callable[..., Mechanism]) -> Callable[..., ByComponent]:
    """Return ``made(inputs, epsilon, blocks, ...)`` for a mechanism inside every block."""

    def made(
        inputs: Any,
        epsilon: Any,
        blocks: Any = None,
        block_rows: int | None = None,
        block_columns: int | None = None,
        **options: Any,
    ) -> ByComponent:
        notion = BlockLDP(epsilon, blocks, block_rows, block_columns)
        return by_block(make, inputs, notion, **options)

    return made


def among_sensitive(make: Callable[..., Mechanism]) -> Callable[..., HighLow]:
    """Return ``made(inputs, epsilon, sensitive, ...)`` for a mechanism of the sensitive inputs."""

    def made(inputs: Any, epsilon: Any, sensitive: Any, **options: Any) -> HighLow:
        return around_sensitive(make, inputs, HighLowLDP(epsilon, sensitive), **options)

    return made


INNER = (
    HadamardResponse,
    ProjectiveGeometryResponse,
    GeneralizedRandomizedResponse,
    SubsetSelection,
)
IN_BLOCKS = [inside_blocks(kind) for kind in INNER]
AMONG_SENSITIVE = [among_sensitive(kind) for kind in INNER]

(
    block_hadamard,
    block_projective_geometry,
    block_randomized_response,
    block_subset_selection,
) = IN_BLOCKS
(
    high_low_hadamard,
    high_low_projective_geometry,
    high_low_randomized_response,
    high_low_subset_selection,
) = AMONG_SENSITIVE


def mixed() -> ByComponent:
    """Return three kinds of reports, numbers and rows of bits, at three budgets."""
    notion = BlockLDP(2, [[0, 4], [1], [2, 5, 6], [3, 7]])
    parts: list[Mechanism | None] = [
        OptimizedUnaryEncoding(2, 1),
        None,
        SubsetSelection(3, 2),
        GeneralizedRandomizedResponse(2, "0.5"),
    ]
    return ByComponent(8, notion, parts)


@lru_cache(maxsize=8)
def exact_table(mechanism: Mechanism) -> Table:
    """Return the exact probabilities, inputs by outputs, asserting that they are a law."""
    listed = mechanism.listed()
    assert len(listed) == mechanism.n_outputs
    rows = [
        [mechanism.mass(x, listed[n : n + 1]) for n in range(len(listed))]
        for x in range(len(mechanism.inputs))
    ]
    for row in rows:
        assert sum(row) == 1
        assert min(row) >= 0
    return rows


def check_outputs(mechanism: Mechanism) -> None:
    """Every output is listed once, reads back from its label and from its text."""
    listed, alphabet = mechanism.listed(), mechanism.alphabet
    labels, texts = mechanism.outputs(), alphabet.write(listed)
    assert len(set(texts)) == len(texts) == len(labels)
    assert alphabet.write(alphabet.encode(labels)) == texts
    assert alphabet.write(alphabet.read(texts)) == texts
    table = exact_table(mechanism)
    for x, label in enumerate(mechanism.inputs):
        found = [mechanism.probability(label, y) for y in labels]
        assert found == table[x]


@lru_cache(maxsize=8)
def scores(mechanism: Mechanism) -> np.ndarray:
    """Return the score of each input for each output, from tallies of one report."""
    listed, rows = mechanism.listed(), []
    for n in range(len(listed)):
        tally = Tally(mechanism.count(listed[n : n + 1]), 1)
        found = mechanism.frequencies(tally)
        assert np.allclose(found.squares, found.estimates**2)
        rows.append(found.estimates)
    return np.array(rows).T


def check_unbiased(mechanism: Mechanism) -> None:
    """Sum_y Q(y|z) s_x(y) = 1{x = z}, for all inputs x and z."""
    matrix = np.array([[float(q) for q in row] for row in exact_table(mechanism)])
    assert np.allclose(matrix @ scores(mechanism).T, np.eye(len(matrix)), atol=1e-9)


def check_moments(mechanism: Mechanism, seed: int = 0) -> None:
    """Means and mean squares over many reports are those of the scores, and so are combinations."""
    rng, table = np.random.default_rng(seed), scores(mechanism)
    places = rng.integers(0, mechanism.n_outputs, size=50)
    drawn = mechanism.listed()[places]
    parts = [Reports(drawn[n::3], mechanism.alphabet, simulated=True) for n in range(3)]
    tally = mechanism.tally(parts[0]) + mechanism.tally(parts[1]) + mechanism.tally(parts[2])
    found = mechanism.frequencies(tally)
    assert np.allclose(found.estimates, table[:, places].mean(axis=1))
    assert np.allclose(found.squares, (table[:, places] ** 2).mean(axis=1))
    weights = rng.normal(size=len(table))
    mean, square = mechanism.combination(tally, weights)
    assert np.isclose(mean, weights @ found.estimates)
    if drawn.ndim == 1 and drawn.dtype == np.int64:  # each report is counted by itself
        assert np.isclose(square, ((weights @ table[:, places]) ** 2).mean())


def largest_ratio(table: Table, x: int, other: int) -> Fraction | None:
    """Return the largest Q(y|x) / Q(y|x'), or None where it is infinite."""
    pairs = [(q, r) for q, r in zip(table[x], table[other], strict=True) if q]
    return None if any(not r for _, r in pairs) else max(q / r for q, r in pairs)


def check_budget(mechanism: Mechanism, epsilon: Fraction, slack: float) -> None:
    """It is private at epsilon, exactly, and not at epsilon - slack."""
    assert mechanism.largest_ratio() <= exp_lower(epsilon)
    assert float(epsilon) - slack <= mechanism.leakage <= float(epsilon) * (1 + 1e-12)


def check_draws(mechanism: Mechanism, size: int = 10_000, seed: int = 0) -> None:
    """Every output comes up as often as it should, for every input, within 4.5 errors."""
    table = exact_table(mechanism)
    place = {text: n for n, text in enumerate(mechanism.alphabet.write(mechanism.listed()))}
    for x, label in enumerate(mechanism.inputs):
        texts = mechanism.privatize([label] * size, rng=seed + x).texts()
        drawn = np.bincount([place[text] for text in texts], minlength=len(place)) / size
        law = np.array([float(q) for q in table[x]])
        assert (np.abs(drawn - law) <= 4.5 * np.sqrt(law * (1 - law) / size)).all()
