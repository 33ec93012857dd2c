"""Channels are exact: rows sum to 1, products are products, and processing never leaks more."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, Domain, Prior
from tests.refusals_support import check_refused
from tests.strategies import WHOLE, channels, examples, priors, simplex

sizes = st.tuples(st.integers(1, 4), st.integers(1, 5))


@st.composite
def chains(draw: st.DrawFn, length: int) -> list[Channel]:
    k = [draw(st.integers(1, 4)) for _ in range(length + 1)]
    return [
        Channel.from_matrix([draw(simplex(k[i + 1])) for _ in range(k[i])]) for i in range(length)
    ]


def probabilities(channel: Channel) -> list[list[Fraction]]:
    return [[channel.probability(x, y) for y in channel.outputs] for x in channel.inputs]


def product(a: list[list[Fraction]], b: list[list[Fraction]]) -> list[list[Fraction]]:
    return [
        [sum((p * b[z][y] for z, p in enumerate(row)), Fraction(0)) for y in range(len(b[0]))]
        for row in a
    ]


@examples(30)
@given(sizes.flatmap(lambda s: st.lists(simplex(s[1]), min_size=s[0], max_size=s[0])))
def test_rounding_moves_no_entry_by_a_unit_and_rows_sum_to_one(rows: Any) -> None:
    channel = Channel.from_matrix(rows)
    assert channel.denominator == WHOLE
    for found, wanted in zip(probabilities(channel), rows, strict=True):
        assert sum(found) == 1
        for a, b in zip(found, wanted, strict=True):
            assert abs(a - b) < Fraction(1, WHOLE)
            assert (a == 0) <= (b < Fraction(1, WHOLE))


@examples(20)
@given(sizes.flatmap(lambda s: st.lists(simplex(s[1]), min_size=s[0], max_size=s[0])))
def test_floats_are_the_decimals_that_they_print_as(rows: Any) -> None:
    floats = np.array([[float(p) for p in row] for row in rows])
    channel = Channel.from_matrix(floats)
    exact = [[Fraction(repr(float(p))) for p in row] for row in floats]
    for found, wanted in zip(probabilities(channel), exact, strict=True):
        for a, b in zip(found, wanted, strict=True):
            assert abs(a - b / sum(wanted)) < Fraction(1, WHOLE)
    assert np.abs(channel.matrix - floats).max() < 1e-15
    again = Channel.from_matrix(channel.matrix)
    assert np.abs(again.matrix - channel.matrix).max() < 1e-15


@examples(15)
@given(chains(3))
def test_processing_is_the_exact_product_and_associative(chain: list[Channel]) -> None:
    a, b, c = chain
    ab = a.then(b)
    assert probabilities(ab) == product(probabilities(a), probabilities(b))
    assert ab.bits == a.bits + b.bits
    left, right = ab.then(c), a.then(b.then(c))
    assert left == right
    assert hash(left) == hash(right)
    assert np.allclose(left.matrix, a.matrix @ b.matrix @ c.matrix, atol=1e-15)


@examples(20)
@given(st.integers(1, 4).flatmap(lambda k: st.tuples(channels(k), priors(k))))
def test_output_law_and_posterior(pair: tuple[Channel, Prior]) -> None:
    channel, prior = pair
    law = channel.output_distribution(prior)
    assert sum(law) == 1
    exact = product([list(prior)], probabilities(channel))[0]
    assert list(law) == exact
    posterior = channel.posterior(prior)
    for y, p in enumerate(law):
        if p == 0:
            assert np.isnan(posterior[:, y]).all()
        else:
            bayes = [
                float(a * q[y] / p) for a, q in zip(prior, probabilities(channel), strict=True)
            ]
            assert posterior[:, y] == pytest.approx(bayes, abs=1e-14)


@examples(20)
@given(st.integers(1, 4).flatmap(channels), st.data())
def test_merging_adds_columns_and_is_post_processing(channel: Channel, data: Any) -> None:
    names = {y: data.draw(st.sampled_from(["a", "b"])) for y in channel.outputs}
    merged = channel.merge(names)
    assert merged.bits == channel.bits
    for x in channel.inputs:
        for label in merged.outputs:
            members = [y for y in channel.outputs if names[y] == label]
            assert merged.probability(x, label) == sum(channel.probability(x, y) for y in members)


def test_merging_into_an_output_that_is_there() -> None:
    channel = Channel.from_matrix([["1/2", "1/4", "1/4"]], outputs=["a", "b", "c"])
    assert channel.merge({"c": "a"}).outputs == ("a", "b")
    assert channel.merge({"c": "a"}).probability(0, "a") == Fraction(3, 4)


def test_a_channel_cannot_be_changed() -> None:
    channel = Channel.from_matrix([["1/2", "1/2"]])
    with pytest.raises(ValueError, match="read-only"):
        channel.numerators[0, 0] = 0
    with pytest.raises(ValueError, match="read-only"):
        channel.then(channel.from_matrix([[1], [1]], inputs=[0, 1])).numerators[0, 0] = 0
    rows = np.array([[WHOLE // 2, WHOLE // 2]])
    channel = Channel(rows)
    for copied in (rows, channel.matrix, channel.columns()[0]):
        copied[0] = 0
        assert channel.probability(0, 0) == Fraction(1, 2)
    with pytest.raises(AttributeError):
        channel.anything = 1


@pytest.mark.parametrize("n", [1, 2])
def test_copies_are_equal_and_cannot_be_changed_either(n: int) -> None:
    half = Channel.from_matrix([["1/2", "1/2"], ["1/4", "3/4"]])
    channel = half if n == 1 else half.then(half)
    channel.privatize([0])
    for other in (pickle.loads(pickle.dumps(channel)), copy.deepcopy(channel), copy.copy(channel)):
        assert other == channel
        assert hash(other) == hash(channel)
        with pytest.raises(ValueError, match="read-only"):
            other.numerators[0, 0] = 0
        assert other.privatize([0, 1], rng=1).labels() == channel.privatize([0, 1], rng=1).labels()


def test_equality_is_of_integers_and_labels() -> None:
    a = Channel.from_matrix([["1/2", "1/2"]])
    assert a == Channel.from_matrix([[0.5, 0.5]])
    assert hash(a) == hash(Channel.from_matrix([[0.5, 0.5]]))
    assert a != Channel.from_matrix([["1/2", "1/2"]], outputs=["a", "b"])
    assert a != Channel.from_matrix([["1/2", "1/2"]], inputs=["a"])
    assert a != Channel.from_matrix([["1/4", "3/4"]])
    assert a != a.then(Channel.from_matrix([[1, 0], [0, 1]]))
    assert a != "a"


def test_repr_of_a_channel() -> None:
    channel = Channel.from_matrix([["3/4", "1/4"], [1, 0]], inputs=["yes", "no"])
    assert repr(channel).splitlines() == [
        "Channel(2 inputs, 2 outputs, exact over 2**62)",
        "          0       1",
        "yes  0.7500  0.2500",
        "no   1.0000       0",
    ]
    assert repr(Channel.from_matrix([[1]])).startswith("Channel(1 input, 1 output,")
    large = Channel.from_matrix(np.eye(30), inputs=[f"a rather long label {i}" for i in range(30)])
    lines = repr(large).splitlines()
    assert len(lines) == 15
    assert max(map(len, lines)) < 100
    assert "…" in lines[8]
    assert "2e-19" in repr(Channel([[WHOLE - 1, 1]]))  # tiny entries are no zeros


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ([], "numerators: "),
        ([[]], "numerators: "),
        ([[WHOLE], [WHOLE, 0]], "numerators: "),
        ([[WHOLE + 1, -1]], r"numerators\[0\]: expected integers >= 0"),
        ([[WHOLE - 1]], r"numerators\[0\]: expected a sum of 2\*\*62"),
        ([[1.0]], "numerators: expected integers"),
        ([[float(WHOLE)]], "numerators: expected integers"),
        ([["1"]], "numerators: expected integers"),
        ([[True]], "numerators: expected integers"),
        (5, "numerators: "),
        ([5], "numerators"),
        (None, "numerators: "),
        # 5 times 2**62 is 2**62 in 64 bits, and so is a negative entry beside a large one
        (np.full((1, 5), WHOLE), r"a sum of 2\*\*62"),
        (np.array([[2 * WHOLE - 1, 1 - WHOLE]]), "integers >= 0"),
        ([[2**64 + WHOLE]], r"a sum of 2\*\*62"),
    ],
)
def test_invalid_matrices_of_integers_are_refused(rows: Any, match: str) -> None:
    check_refused(match, Channel, rows)


@pytest.mark.parametrize(
    ("matrix", "match"),
    [
        ([[0.5, 0.4]], r"matrix\[0\]: expected a row that sums to 1, given sum 0.9"),
        ([[0.5, 0.5 + 2e-9]], r"matrix\[0\]: expected a row that sums to 1"),
        ([[1.5, -0.5]], r"matrix\[0\]\[1\]: expected a finite number >= 0"),
        ([[math.nan, 1]], r"matrix\[0\]\[0\]"),
        ([[math.inf, 0]], r"matrix\[0\]\[0\]"),
        ([["x"]], r"matrix\[0\]\[0\]"),
        ([[1], [0.5, 0.5]], r"matrix\[1\]: expected 1 entries, as in the first row, given 2"),
        ([], "matrix: the matrix is empty"),
        ([[]], "matrix: the matrix is empty"),
        ([1, 2], "matrix"),
        (None, "matrix"),
        ("ab", "matrix"),
    ],
)
def test_invalid_matrices_of_probabilities_are_refused(matrix: Any, match: str) -> None:
    check_refused(match, Channel.from_matrix, matrix)


ROWS = [["1/2", "1/2"]]
HALF = Channel.from_matrix(ROWS)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: Channel.from_matrix(ROWS, inputs=["a", "b"]), "inputs: expected 1 labels"),
        (lambda: Channel.from_matrix(ROWS, outputs=["a"]), "outputs: expected 2 labels"),
        (lambda: Channel.from_matrix(ROWS, outputs=["a", "a"]), "outputs: 'a' occurs twice"),
        (lambda: Channel.from_matrix(ROWS, outputs=[math.nan, 1]), "outputs: expected labels that"),
        (lambda: HALF.probability(0, 2), "y: expected one of the outputs"),
        (lambda: HALF.probability(1, 0), "x: expected labels of the domain"),
        (lambda: HALF.output_distribution(Prior.uniform(2)), "prior: expected 1 probabilities"),
        (lambda: HALF.posterior(Prior.uniform(2)), "prior: expected 1 probabilities"),
        (lambda: HALF.then(HALF), "other: expected a channel on the outputs"),
        (lambda: HALF.merge({"d": "a"}), "one of the outputs"),
    ],
)
def test_labels_must_fit(call: Any, match: str) -> None:
    check_refused(match, call)


def test_grids_keep_their_labels() -> None:
    grid = Domain.grid(2, 1)
    channel = Channel.from_matrix(np.eye(2), inputs=grid, outputs=grid)
    assert channel.probability((1, 0), [1, 0]) == 1
    assert channel.inputs is grid


@pytest.mark.parametrize("bits", [1, 30, 31, 32, 61, 62, 63, 130])
def test_machine_integers_and_lists_make_the_same_channel(bits: int) -> None:
    rows = [[1, 2**bits - 1], [2**bits, 0]]
    channel = Channel(rows, bits=bits)
    assert channel.numerators.tolist() == rows
    assert channel.columns() == [[1, 2**bits], [2**bits - 1, 0]]
    if bits <= 62:
        assert Channel(np.array(rows), bits=bits) == channel
        assert hash(Channel(np.array(rows), bits=bits)) == hash(channel)
    for wrong in ([[1, 2**bits]], [[0, 2**bits - 1]]):
        check_refused("a sum of", Channel, wrong, bits=bits)
