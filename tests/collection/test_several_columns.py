"""Several columns of one person: what they spend together, and one column asked of each."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mechdesign as md
from mechdesign import Channel, InputError
from mechdesign.collection.records import tally_file
from mechdesign.mechanisms import GeneralizedRandomizedResponse, HadamardResponse
from tests.records_support import privatize_file
from tests.refusals_support import check_refused

FIRST = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
SECOND = Channel.from_matrix([["1/2", "1/4", "1/4"], ["1/5", "3/5", "1/5"]], inputs=["u", "v"])
BOTH: dict[Any, Any] = {"a": FIRST, "b": SECOND}


def largest_ratio(rows: list[list[Fraction]]) -> float:
    columns = zip(*rows, strict=True)
    return math.log(max(max(column) / min(column) for column in columns))


def law(channel: Channel) -> list[list[Fraction]]:
    k, m = channel.shape
    return [
        [channel.probability(channel.inputs.labels[x], channel.outputs[y]) for y in range(m)]
        for x in range(k)
    ]


def test_the_sum_is_the_leakage_of_the_product_and_the_largest_that_of_the_mixture() -> None:
    product = [
        [p * q for p in one for q in other]
        for one, other in itertools.product(law(FIRST), law(SECOND))
    ]
    mixture = [
        [p / 2 for p in one] + [q / 2 for q in other]
        for one, other in itertools.product(law(FIRST), law(SECOND))
    ]
    every, single = (
        md.collection.spending(BOTH).total["ldp"],
        md.collection.spending(BOTH, one_each=True).total["ldp"],
    )
    assert largest_ratio(product) <= every <= largest_ratio(product) + 1e-12
    assert largest_ratio(mixture) <= single <= largest_ratio(mixture) + 1e-12
    assert single < every
    text = repr(md.collection.spending({"age": HadamardResponse(20, 1), **BOTH}))
    assert all(word in text for word in ("age", "ldp", "in all"))
    check_refused("at least one column", md.collection.spending, {})


def test_each_person_is_asked_for_one_column_and_each_column_is_as_likely() -> None:
    n = 30_000
    table = pd.DataFrame(
        {"a": ["yes"] * (n // 3) + ["no"] * (2 * n // 3), "b": ["u", "v"] * 15_000}
    )
    found = md.privatize(table, BOTH, one_each=True, rng=4)
    asked = found[["a", "b"]].notna()
    assert (asked.sum(axis=1) == 1).all()
    assert abs(asked["a"].mean() - 0.5) < 4 * 0.5 / math.sqrt(n)
    tallies = md.tally(found, BOTH, one_each=True)
    assert sum(tally.total for tally in tallies.values()) == n
    share = md.estimate(FIRST, tallies["a"])
    assert abs(share.values[0] - 1 / 3) < 4 * share.standard_errors[0]
    check_refused("given an empty cell", md.tally, found, BOTH)


def test_a_key_fixes_the_question_of_each_person_independent_of_the_records() -> None:
    rng = np.random.default_rng(2)

    def asked(seed: int) -> list[bool]:
        table = pd.DataFrame(
            {
                "id": range(200),
                "a": rng.choice(["yes", "no"], 200),
                "b": rng.choice(["u", "v"], 200),
            }
        )
        found = md.privatize(table, BOTH, one_each=True, key=bytes(32), ids="id")
        return found["a"].isna().tolist()

    assert asked(0) == asked(1)
    assert 0 < sum(asked(0)) < 200


def test_the_columns_of_a_file_are_drawn_and_counted_in_one_pass(tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("a,b,c\n" + "yes,v,1\nno,u,2\n" * 500)
    done = privatize_file(BOTH, source, target, keep=["c"], chunk=64)
    assert done.columns == ("a", "b")
    assert target.read_text().splitlines()[0] == "a,b,c"
    assert "spends     at most 2.014" in repr(done)
    assert done.to_json()["spends"]["total"]["ldp"] == md.collection.spending(BOTH).total["ldp"]
    found = tally_file(BOTH, target)
    assert {name: tally.total for name, tally in found.items()} == {"a": 1000, "b": 1000}
    single = privatize_file(BOTH, source, target, one_each=True, chunk=64)
    assert "for one column each" in repr(single)
    assert sum(t.total for t in tally_file(BOTH, target, one_each=True).values()) == 1000
    check_refused("given an empty cell", tally_file, BOTH, target)


def test_cells_dropped_and_mapped_are_counted_for_each_column(tmp_path: Path) -> None:
    """A row that is dropped for one column is dropped for all."""
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("a,b\nyes,u\n,u\nno,\n,v\n?,u\nno,?\n")
    policies = {"missing": {"a": "map:no", "b": "drop"}, "unknown": "drop"}
    done = privatize_file(BOTH, source, target, **policies)
    assert (done.rows, done.reports) == (6, 3)
    assert done.missing == {"a": (2, "taken as 'no'"), "b": (1, "dropped")}
    assert done.unknown == {"a": (1, "dropped"), "b": (1, "dropped")}
    assert done.to_json()["missing"] == {
        "a": {"cells": 2, "policy": "taken as 'no'"},
        "b": {"cells": 1, "policy": "dropped"},
    }
    told = "missing    2 cells of 'a': taken as 'no'\nmissing    1 cell of 'b': dropped"
    assert told in repr(done)
    before = target.read_bytes()
    check_refused("the file exists", privatize_file, BOTH, source, target, force=False)
    assert target.read_bytes() == before
    for name in ("missing", "unknown"):
        with pytest.raises(InputError, match=f"{name}: expected columns that are to be private"):
            privatize_file(BOTH, source, target, **{name: {"c": "drop"}})


def test_pairs_of_columns_are_points_of_a_grid(tmp_path: Path) -> None:
    grid = md.Domain.grid(3, 3)
    truth = Channel.from_matrix(np.eye(9), inputs=grid, outputs=grid.labels)
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("row,col\n0,1\n2, 2\n1,0\n")
    privatize_file(truth, source, target, ("row", "col"))
    assert target.read_text() == "row,col\n0,1\n2,2\n1,0\n"
    assert tally_file({("row", "col"): truth}, target)["row", "col"].counts.sum() == 3
    numbers = GeneralizedRandomizedResponse(grid, 30)
    privatize_file(numbers, source, target, ("row", "col"))
    assert target.read_text() == "row,col\n0,1\n2,2\n1,0\n"
    source.write_text("row,col\n0,1\n,2\n")
    with pytest.raises(InputError, match=r"line 3, columns 'row', 'col': .*given an empty cell"):
        privatize_file(truth, source, target, ("row", "col"))
    for wrong in ({}, {"a": truth, ("a", "b"): truth}, {("a", 1): truth}, {("a",): truth}):
        check_refused("column", privatize_file, wrong, source, target)
    for column in (None, "row"):
        given = truth if column is None else {"row": truth}
        with pytest.raises(InputError, match="a column, or a dict of mechanisms"):
            privatize_file(given, source, target, column)
