"""Columns of numbers through a continuous channel: what is read, refused, clipped and counted."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, Channel, InputError, L2Risk, Problem, RepeatedDrawWarning, design
from mechdesign.accounting import leakages
from mechdesign.collection.records import privatize_file, read_ledger, tally_file
from mechdesign.collection.tables import privatize, tally
from mechdesign.collection.tables.cells import Cells
from mechdesign.collection.tables.readers import NumberReader
from mechdesign.continuous import ContinuousChannel
from mechdesign.estimation import estimate
from tests.records_support import load, save
from tests.strategies import examples

TEN = [Fraction(n) for n in range(11)]
TELLING = ContinuousChannel([0, 10], "cells", TEN, Channel.from_matrix(np.eye(10)))
"""The reports are the numbers rounded down, so the output shows the input read."""

NUMBERS = ["0", "2.5", " 7.25 ", "10", "1e1", "+.5", "9.999", "-0.0"]
CELLS = [0, 2, 7, 9, 9, 0, 9, 0]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_numbers_go_in_and_reports_come_out(ending: str, tmp_path: Path) -> None:
    source = save(tmp_path / f"in.{ending}", {"id": ["x"] * 8, "pay": NUMBERS})
    target = tmp_path / f"out.{ending}"
    done = privatize_file(TELLING, source, target, "pay", chunk=3, force=True)
    assert (done.rows, done.reports) == (8, 8)
    assert [int(cell) for cell in load(target)["pay"]] == CELLS
    counts = tally_file(TELLING, target, "pay").counts
    assert counts.tolist() == np.bincount(CELLS, minlength=10).tolist()
    assert estimate(TELLING, counts=counts).values[9] == pytest.approx(3 / 8)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0.5, 9.75], pa.float64()),
        pa.array([0.5, 9.75], pa.float32()),
        pa.array([Decimal("0.5"), Decimal("9.75")], pa.decimal128(10, 2)),
        pa.array(["0.5", "9.75"]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_of_every_type_of_number_are_read(column: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table({"pay": column}), tmp_path / "in.parquet")
    privatize_file(TELLING, tmp_path / "in.parquet", tmp_path / "out.parquet", "pay", force=True)
    assert load(tmp_path / "out.parquet") == {"pay": [0, 9]}


BAD = ["ten", "nan", "inf", "1,5", "0x1", "1_0", "10.01", "-1e-300", "1e999", "\u0663"]


@pytest.mark.parametrize("cell", BAD)
def test_numbers_outside_the_interval_are_refused_and_not_quoted(cell: str, tmp_path: Path) -> None:
    source = save(tmp_path / "in.csv", {"pay": ["1", "2", cell, "3"]})
    message = r"line 4, column 'pay': expected numbers of \[0, 10\]"
    with pytest.raises(InputError, match=message) as raised:
        privatize_file(TELLING, source, tmp_path / "out.csv", "pay", force=True)
    assert raised.value.given in ("another text", "a number outside")
    assert not (tmp_path / "out.csv").exists()
    done = privatize_file(TELLING, source, tmp_path / "out.csv", "pay", unknown="drop", force=True)
    assert (done.reports, [*done.unknown.values()]) == (3, [(1, "dropped")])
    done = privatize_file(
        TELLING, source, tmp_path / "out.csv", "pay", unknown="map:7.5", force=True
    )
    assert [int(report) for report in load(tmp_path / "out.csv")["pay"]] == [1, 2, 7, 3]
    assert [*done.unknown.values()] == [(1, "taken as '7.5'")]


def test_numbers_outside_are_clipped_and_other_text_is_not(tmp_path: Path) -> None:
    source = save(tmp_path / "in.csv", {"pay": ["-5", "1e999", "3"]})
    done = privatize_file(TELLING, source, tmp_path / "out.csv", "pay", unknown="clip", force=True)
    assert [int(report) for report in load(tmp_path / "out.csv")["pay"]] == [0, 9, 3]
    assert [*done.unknown.values()] == [(2, "taken as the nearer end of the interval")]
    save(source, {"pay": ["-5", "many"]})
    with pytest.raises(InputError, match="given another text"):
        privatize_file(TELLING, source, tmp_path / "out.csv", "pay", unknown="clip", force=True)
    save(source, {"pay": ["5", " "]})
    with pytest.raises(InputError, match="given an empty cell"):
        privatize_file(TELLING, source, tmp_path / "out.csv", "pay", unknown="drop", force=True)
    done = privatize_file(TELLING, source, tmp_path / "out.csv", "pay", missing="drop", force=True)
    assert [*done.missing.values()] == [(1, "dropped")]


@pytest.mark.parametrize("policy", ["map:11", "map:x", "keep", "map:nan"])
def test_a_policy_maps_to_a_number_of_the_interval(policy: str, tmp_path: Path) -> None:
    source = save(tmp_path / "in.csv", {"pay": ["5"]})
    with pytest.raises(InputError, match="unknown: expected"):
        privatize_file(TELLING, source, tmp_path / "out.csv", "pay", unknown=policy, force=True)
    with pytest.raises(InputError, match="missing: expected"):
        privatize_file(TELLING, source, tmp_path / "out.csv", "pay", missing="clip", force=True)


numbers = st.floats(0, 10).map(repr)


@examples(60)
@given(st.lists(st.one_of(numbers, st.sampled_from([*BAD, *NUMBERS, "", " "])), max_size=8))
def test_a_column_is_read_as_its_cells_are(texts: list[str]) -> None:
    """Numbers are read in bulk if all are in the interval, else one by one."""
    reader = NumberReader(TELLING, "drop", "drop")
    found, stays = reader.read(Cells(pa.array(texts, pa.string()), "pay", str))
    good = [text.strip() not in ("", *BAD) for text in texts]
    assert (stays is None) == all(good)
    assert found[good].tolist() == [float(t) for t, g in zip(texts, good, strict=True) if g]


def test_cells_tell_what_two_valued_reports_cannot() -> None:
    """All in the middle, or half at either end."""
    best = design(Problem(3, LDP(1), L2Risk())).channel
    thirds = ContinuousChannel([0, 9], "cells", [0, 3, 6, 9], best)
    for records, low in (([4.5] * 20_000, 3), ([0, 9] * 10_000, 0)):
        quantile = estimate(thirds, thirds.privatize(records, rng=1)).quantile(0.25)
        assert (quantile.low, quantile.high) == (low, low + 3)
        assert low <= quantile.value <= low + 3


def test_tables_are_drawn_for_too() -> None:
    frame = pd.DataFrame({"pay": [0.5, 9.5, math.nan], "id": [1, 2, 3]})
    reports = privatize(frame, {"pay": TELLING}, missing="drop", keep=["id"])
    assert reports["pay"].tolist() == [0, 9]
    assert reports["id"].tolist() == [1, 2]
    assert tally(reports, {"pay": TELLING})["pay"].total == 2
    again = [privatize([3.25, 7.5], TELLING, key=bytes(32), ids=[1, 2]) for _ in range(2)]
    assert again[0] == again[1] == [3, 7]


def test_a_ledger_knows_the_same_numbers_in_any_order(tmp_path: Path) -> None:
    coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    channel = ContinuousChannel([0, 10], "linear", [0, 10], coin)
    source, ledger = tmp_path / "in.csv", tmp_path / "draws.ledger"

    def draw(pay: list[str]) -> None:
        save(source, {"pay": pay})
        privatize_file(channel, source, tmp_path / "out.csv", "pay", ledger=ledger, force=True)

    draw(["1", "2.5", "2.5"])
    draw(["1", "2.5", "1"])
    with pytest.warns(RepeatedDrawWarning, match="1 time before"):
        draw(["2.50", "1", "2.5"])
    sums = read_ledger(ledger)
    assert len(sums.sets) == 2
    assert sums.totals()["ldp", ""] == pytest.approx(3 * math.log(3))
    assert {row.notion: row.value for row in leakages(channel).rows}["ldp"] >= math.log(3)
