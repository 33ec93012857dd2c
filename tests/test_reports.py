"""Reports keep the order of the records, and tallies of parts add up to the tally of the whole."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import reduce
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, InputError, estimate
from mechdesign.mechanisms import HadamardResponse, OptimizedUnaryEncoding
from mechdesign.reports import ReportSource, Tally
from tests.refusals_support import check_refused
from tests.strategies import examples

CHANNEL = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
RECORDS = ["yes", "no", "no", "yes"] * 25


def test_a_seed_marks_reports_and_every_tally_with_them() -> None:
    simulated = CHANNEL.privatize(RECORDS, rng=0)
    real = CHANNEL.privatize(RECORDS)
    assert len(real) == len(RECORDS)
    assert not real.simulated
    assert "operating system" in repr(real)
    assert simulated.texts() == CHANNEL.privatize(RECORDS, rng=0).texts()
    both = CHANNEL.tally(simulated) + CHANNEL.tally(real)
    assert both.simulated
    assert not CHANNEL.tally(real).simulated
    assert "not for release" in repr(simulated)
    assert "not for release" in repr(both)


def test_tallies_of_two_mechanisms_do_not_add_up() -> None:
    other = Channel.from_matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(InputError, match="the same mechanism"):
        _ = CHANNEL.tally(CHANNEL.privatize(RECORDS)) + other.tally(other.privatize([0, 1, 2]))
    assert Tally.__add__(CHANNEL.tally(CHANNEL.privatize(RECORDS)), 3) is NotImplemented


# --- reports are a sequence of labels -------------------------------------------------------------

WORDS = Channel.from_matrix(
    [["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"], outputs=["yes", "no"]
)
SOURCES = {
    "numbers": Channel.from_matrix(np.full((2, 5), "1/5")),
    "words": WORDS,
    "mixed": Channel.from_matrix([["1/2", "1/2"]] * 2, outputs=["a", 1]),
    "pairs": Channel.from_matrix([["1/2", "1/2"]] * 2, outputs=[(0, 1), (1, 0)]),
    "sets": OptimizedUnaryEncoding(9, 1),
    "many": HadamardResponse(20, 1),
}
EVERY_SOURCE = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


@EVERY_SOURCE
def test_numpy_and_pandas_hold_the_labels(source: ReportSource) -> None:
    sent = source.privatize(list(source.inputs.labels) * 4, rng=3)
    labels = sent.labels()
    assert list(sent) == labels
    assert np.asarray(sent).shape == (len(labels),)
    assert np.asarray(sent).tolist() == labels
    assert pd.Series(sent).tolist() == labels
    assert [sent[n] for n in range(-len(sent), 0)] == labels
    assert list(sent[1:5]) == labels[1:5]
    assert sent[::2].simulated
    assert labels[0] in sent
    with pytest.raises(IndexError):
        sent[len(labels)]


COLUMNS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "numpy": np.asarray,
    "pandas": pd.Series,
    "categorical": lambda sent: pd.Series(sent).astype("category"),
    "arrow": lambda sent: pa.array(list(sent)),
    "chunked": lambda sent: pa.chunked_array([list(sent)]),
    "polars": lambda sent: pl.Series(list(sent)),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("name", ["numbers", "words", "many"])
def test_an_estimate_reads_columns_of_reports(name: str, kind: str) -> None:
    source = SOURCES[name]
    sent = source.privatize(list(source.inputs.labels) * 50, rng=5)
    wanted = estimate(source, sent, method="maximum-likelihood").values
    found = estimate(source, COLUMNS[kind](sent), method="maximum-likelihood")
    assert np.array_equal(found.values, wanted)


def test_sets_are_read_as_tuples_and_as_text() -> None:
    source = SOURCES["sets"]
    sent = source.privatize(list(source.inputs.labels) * 5, rng=5)
    wanted = estimate(source, sent).values
    for given_ in (list(sent), pd.Series(sent), sent.texts(), pd.Series(sent.texts())):
        assert np.array_equal(estimate(source, given_).values, wanted)


def test_a_list_holds_reports_and_never_counts() -> None:
    assert estimate(CHANNEL, [1, 0, 0, 0]).reports == 4
    assert np.array_equal(
        estimate(CHANNEL, [1, 0, 0, 0]).values, estimate(CHANNEL, counts=[3, 1]).values
    )
    assert estimate(CHANNEL, counts=pd.Series([0, 0, 1]).value_counts()).reports == 3
    check_refused(r"reports\[0\].*counts=", estimate, CHANNEL, [60, 40])
    for both in ({}, {"reports": [0], "counts": [1, 0]}):
        check_refused("reports, or counts in place of them", estimate, CHANNEL, **both)


# --- tallies are a commutative monoid -------------------------------------------------------------

tallies = st.lists(
    st.builds(
        lambda counts, seed: Tally(np.array(counts), sum(counts), seed),
        st.lists(st.integers(0, 2**40), min_size=3, max_size=3),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


def held(tally: Tally) -> tuple[list[int], int, bool]:
    return tally.counts.tolist(), tally.total, tally.simulated


@given(tallies, st.randoms(use_true_random=False), st.data())
@examples(60)
def test_tallies_merge_in_any_order_and_grouping(
    parts: list[Tally], random: Random, data: st.DataObject
) -> None:
    whole = held(sum(parts))
    zero = Tally(np.zeros(3, dtype=np.int64), 0)
    assert held(sum(parts) + zero) == held(zero + sum(parts)) == whole
    cut = data.draw(st.integers(1, len(parts)))
    assert held(sum(parts[:cut]) + sum(parts[cut:])) == whole
    shuffled = random.sample(parts, len(parts))
    assert held(reduce(lambda a, b: b + a, shuffled)) == whole
    assert held(pickle.loads(pickle.dumps(sum(parts)))) == whole


def test_an_estimate_from_merged_parts_is_that_of_the_whole() -> None:
    for source in SOURCES.values():
        sent = source.privatize([source.inputs.labels[0]] * 40, rng=1)
        parts = [source.tally(sent[n : n + 7]) for n in range(0, 40, 7)]
        assert held(sum(parts)) == held(source.tally(sent))
        if isinstance(source, Channel):
            counts = [list(sent).count(label) for label in source.outputs]
            assert held(sum(parts)) == (counts, 40, True)
    with pytest.raises(TypeError):
        _ = 1 + Tally.of([1, 2])
