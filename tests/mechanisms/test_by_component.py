"""Mixtures by component: exact laws, unbiased scores across blocks, and the published estimator."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import BlockLDP, Domain, InputError
from mechdesign.mechanisms import (
    ByComponent,
    GeneralizedRandomizedResponse,
    HadamardResponse,
)
from mechdesign.reports import Tally
from tests.mechanisms_support import (
    block_hadamard,
    block_projective_geometry,
    block_randomized_response,
    block_subset_selection,
    check_budget,
    exact_table,
    mixed,
)
from tests.strategies import examples

Make = Callable[..., ByComponent]

ALIKE: list[Make] = [
    block_hadamard,
    block_projective_geometry,
    block_randomized_response,
    block_subset_selection,
]
budgets = st.sampled_from([Fraction("0.05"), Fraction(1), Fraction(3)])


@st.composite
def partitions(draw: st.DrawFn) -> list[list[int]]:
    member = draw(st.lists(st.integers(0, 2), min_size=2, max_size=7).filter(any))
    return [[x for x in range(len(member)) if member[x] == b] for b in sorted(set(member))]


def size_of(blocks: list[list[int]]) -> int:
    return sum(map(len, blocks))


@pytest.mark.parametrize("make", ALIKE)
@given(partitions(), budgets)
@examples(8)
def test_a_row_is_that_of_its_part(make: Make, blocks: list[list[int]], epsilon: Fraction) -> None:
    """Q[x, (b, y)] is the part's Q[rank of x, y] in the block of x, and 0 in all others."""
    whole = make(size_of(blocks), epsilon, blocks)
    table, start = exact_table(whole), 0
    for block, part in zip(blocks, whole.parts, strict=True):
        assert len(part.inputs) == len(block)
        inner, end = exact_table(part), start + part.n_outputs
        for x in range(size_of(blocks)):
            expected = inner[block.index(x)] if x in block else [Fraction(0)] * part.n_outputs
            assert table[x][start:end] == expected
        start = end
    assert start == whole.n_outputs


def test_blocks_of_one_input_leak_nothing() -> None:
    assert block_hadamard(3, 1, [[0], [1], [2]]).leakage == 0


def test_parts_may_be_of_different_kinds_and_budgets() -> None:
    whole = mixed()
    assert whole.alphabet.listed().dtype.names == ("part", "report")
    check_budget(whole, Fraction(2), slack=1e-8)


def test_blocks_that_are_alike_share_one_mechanism() -> None:
    blocks = np.arange(60).reshape(20, 3).tolist()
    whole = block_hadamard(60, 1, blocks)
    assert len(whole.parameters()["parts"]) == 1
    separate = ByComponent(60, BlockLDP(1, blocks), [HadamardResponse(3, 1) for _ in blocks])
    assert separate == whole
    assert hash(separate) == hash(whole)
    assert len(separate.parameters()["parts"]) == 1


def test_a_grid_has_the_blocks_of_its_notion() -> None:
    grid = Domain.grid(4, 6)
    whole = block_hadamard(grid, 1, block_rows=2, block_columns=3)
    assert whole.privacy == BlockLDP(1, block_rows=2, block_columns=3)
    labels = whole.privatize([(0, 0), (1, 2), (0, 3), (3, 5)], rng=1).labels()
    assert [block for block, _ in labels] == [0, 0, 1, 3]


def test_a_block_of_one_input_has_the_budget_of_the_others() -> None:
    """One block is LDP: the same law as the mechanism itself."""
    alone = block_hadamard(5, 1, [[0, 1, 2, 3, 4]])
    assert exact_table(alone) == exact_table(HadamardResponse(5, 1))


@pytest.mark.parametrize(
    ("blocks", "parts", "words"),
    [
        ([[0, 1], [2]], [None], "parts: expected 2 mechanisms, one for each block, given 1"),
        ([[0, 1], [2]], [None, None], r"parts\[0\]: expected a mechanism on the inputs 0..1"),
        (
            [[0, 1], [2]],
            [GeneralizedRandomizedResponse(["a", "b"], 1), None],
            r"parts\[0\]: expected a mechanism on the inputs 0..1, as its part has 2",
        ),
        (
            [[0, 1], [2]],
            [GeneralizedRandomizedResponse(2, 2), None],
            r"parts\[0\]: expected a mechanism within epsilon = 1",
        ),
        ([[0, 1]], [GeneralizedRandomizedResponse(2, 1)], "is in no block"),
    ],
)
def test_parts_that_do_not_fit_are_refused(blocks: Any, parts: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ByComponent(3, BlockLDP(1, blocks), parts)


def test_reports_that_are_none_are_refused_by_their_place() -> None:
    alphabet = block_hadamard(4, 1, [[0, 1], [2, 3]]).alphabet
    assert alphabet.read([" 1:3", "0: 2"]).tolist() == [7, 2]
    for texts, words in (
        (["0:1", "2:1"], r"reports\[1\]: expected part:report, the part one of 0, 1"),
        (["0:1", "1"], r"reports\[1\]: expected part:report"),
        (["0:1", "1:2", "0:4"], r"reports\[2\].*labels of the domain"),
    ):
        with pytest.raises(InputError, match=words):
            alphabet.read(texts)
    for labels, words in (
        ([(0, 1), 5], r"reports\[1\]: expected a pair \(part, report\)"),
        ([(0, 1), (True, 1)], r"reports\[1\]"),
        ([(0, 1), (1, 9)], r"reports\[1\]"),
    ):
        with pytest.raises(InputError, match=words):
            alphabet.encode(labels)


def test_a_tally_of_something_else_is_refused() -> None:
    whole = block_hadamard(4, 1, [[0, 1], [2, 3]])
    with pytest.raises(InputError, match="counts"):
        whole.frequencies(Tally(np.ones(8, dtype=np.int64), 8))
    with pytest.raises(InputError, match="at least one report"):
        whole.frequencies(whole.tally(whole.privatize([])))
