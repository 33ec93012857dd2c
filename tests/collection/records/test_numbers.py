"""Numbers and points through continuous channels: what is read, refused, clipped and counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, Channel, InputError, L2Risk, Problem, RepeatedDrawWarning, design
from mechdesign.accounting import leakages
from mechdesign.collection.records import read_ledger, tally_file
from mechdesign.collection.tables import privatize, tally
from mechdesign.collection.tables.cells import Cells
from mechdesign.collection.tables.readers import NumberReader
from mechdesign.continuous import ContinuousChannel
from mechdesign.estimation import estimate
from tests.records_support import load, privatize_file, save
from tests.refusals_support import check_refused
from tests.strategies import examples

TEN = ContinuousChannel(
    [0, 10], "cells", [Fraction(n) for n in range(11)], Channel.from_matrix(np.eye(10))
)
"""The reports are the numbers rounded down, so the output shows the input read."""

CORNERS = [(-1, 0), (-1, 2.5), (3, 0), (3, 2.5)]
BOX = ContinuousChannel(
    [(-1, 0), (3, "5/2")],
    "linear",
    [[-1, 3], [0, "5/2"]],
    Channel.from_matrix(np.eye(4), outputs=CORNERS),
)
"""The report of a corner of the box is the corner."""

SHARES = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0, 0.2, 0.8, 0], [0.2, 0, 0, 0.8]])
NOISY = ContinuousChannel(
    BOX.domain, "linear", BOX.axes, Channel.from_matrix(SHARES, outputs=CORNERS)
)


class Case(NamedTuple):
    """A channel whose reports tell the record: good cells and their reports, and bad ones."""

    channel: ContinuousChannel
    cells: Sequence[tuple[str, ...]]
    reports: Sequence[tuple[float, ...]]
    bad: Sequence[tuple[str, ...]]
    label: str
    replacement: tuple[float, ...]
    """The report of the record that a policy puts in the place of a bad cell."""
    outside: Sequence[tuple[str, ...]]
    clipped: Sequence[tuple[float, ...]]

    @property
    def column(self) -> Any:
        return ("x", "y") if len(self.cells[0]) > 1 else "x"

    def save(self, path: Path, cells: Sequence[tuple[str, ...]]) -> Path:
        return save(path, dict(zip("xy", map(list, zip(*cells, strict=True)), strict=False)))


def reports_in(path: Path) -> list[tuple[float, ...]]:
    return [tuple(map(float, row)) for row in zip(*load(path).values(), strict=True)]


BAD = ["ten", "nan", "inf", "1,5", "0x1", "1_0", "10.01", "-1e-300", "1e999", "\u0663", "+-5"]
GOOD = ["0", "2.5", " 7.25 ", "10", "1e1", "+.5", "9.999", "-0.0"]
CASES = {
    "numbers": Case(
        TEN,
        [(text,) for text in GOOD],
        [(cell,) for cell in (0, 2, 7, 9, 9, 0, 9, 0)],
        [(text,) for text in BAD],
        "map:7.5",
        (7,),
        [("-5",), ("1e999",), ("3",)],
        [(0,), (9,), (3,)],
    ),
    "points": Case(
        BOX,
        [("-1", "0"), (" 3 ", "2.5"), ("3.0", "0.0"), ("-1e0", "+2.50")],
        [CORNERS[n] for n in (0, 3, 2, 1)],
        [("ten", "1"), ("nan", "1"), ("inf", "1"), ("3.01", "1"), ("1", "-1e-300"), ("1", "1, 2")],
        "map:(3, 2.5)",
        (3, 2.5),
        [("-1e999", "-5"), ("7", "0"), ("-1", "99")],
        [(-1, 0), (3, 0), (-1, 2.5)],
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_records_go_in_and_reports_come_out(case: Case, ending: str, tmp_path: Path) -> None:
    source, target = case.save(tmp_path / f"in.{ending}", case.cells), tmp_path / f"out.{ending}"
    done = privatize_file(case.channel, source, target, case.column, chunk=3)
    assert (done.rows, done.reports) == (len(case.cells), len(case.cells))
    assert reports_in(target) == list(case.reports)
    found = tally_file(case.channel, target, case.column)
    outputs = [y if isinstance(y, tuple) else (y,) for y in case.channel.outputs]
    assert found.counts.tolist() == [case.reports.count(y) for y in outputs]
    assert estimate(case.channel, found).values == pytest.approx(found.counts / found.total)


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
    privatize_file(TEN, tmp_path / "in.parquet", tmp_path / "out.parquet", "pay")
    assert load(tmp_path / "out.parquet") == {"pay": [0, 9]}


def test_records_outside_are_refused_and_not_quoted(case: Case, tmp_path: Path) -> None:
    out, options = tmp_path / "out.csv", {"column": case.column}
    for bad in case.bad:
        source = case.save(tmp_path / "in.csv", [*case.cells, bad])
        named = rf"line {len(case.cells) + 2}, column.*: expected {case.channel.noun}s of "
        raised = check_refused(named, privatize_file, case.channel, source, out, **options)
        assert raised.given in ("another value", f"a {case.channel.noun} outside")
        assert not out.exists()
        done = privatize_file(case.channel, source, out, unknown="drop", **options)
        assert (reports_in(out), [*done.unknown.values()]) == ([*case.reports], [(1, "dropped")])
        privatize_file(case.channel, source, out, unknown=case.label, **options)
        assert reports_in(out) == [*case.reports, case.replacement]
        out.unlink()


def test_records_outside_are_clipped_and_other_cells_are_not(case: Case, tmp_path: Path) -> None:
    source, out = case.save(tmp_path / "in.csv", case.outside), tmp_path / "out.csv"
    options = {"column": case.column}
    done = privatize_file(case.channel, source, out, unknown="clip", **options)
    assert reports_in(out) == list(case.clipped)
    inside = sum(cells in case.cells or cells == ("3",) for cells in case.outside)
    label = "taken as the nearer end of the interval"
    assert [*done.unknown.values()] == [(len(case.outside) - inside, label)]
    case.save(source, [case.cells[0], case.bad[0]])
    with pytest.raises(InputError, match="given another value"):
        privatize_file(case.channel, source, out, unknown="clip", **options)
    case.save(source, [case.cells[0], (" ", *case.cells[0][1:])])
    with pytest.raises(InputError, match="given an empty cell"):
        privatize_file(case.channel, source, out, unknown="drop", **options)
    done = privatize_file(case.channel, source, out, missing="drop", **options)
    assert [*done.missing.values()] == [(1, "dropped")]


@pytest.mark.parametrize(
    ("channel", "policy"),
    [
        *((TEN, policy) for policy in ("map:11", "map:x", "keep", "map:nan")),
        *((BOX, f"map:{label}") for label in ("7", "(7, 0)", "(0, 0, 0)", "(0, x)")),
    ],
)
def test_a_policy_maps_to_a_record_of_the_domain(channel: ContinuousChannel, policy: str) -> None:
    check_refused("unknown: expected", NumberReader, channel, policy, "refuse")
    check_refused("missing: expected", NumberReader, channel, "refuse", "clip")


@examples(60)
@given(
    st.lists(
        st.one_of(st.floats(0, 10).map(repr), st.sampled_from([*BAD, *GOOD, "", " "])), max_size=8
    )
)
def test_a_number_is_read_as_python_reads_it(texts: list[str]) -> None:
    found, stays = NumberReader(TEN, "drop", "drop").read(
        Cells(pa.array(texts, pa.string()), "pay", str)
    )
    good = [text.strip() not in ("", *BAD) for text in texts]
    assert (stays is None) == all(good)
    assert found[good].tolist() == [float(t) for t, g in zip(texts, good, strict=True) if g]


def test_points_may_be_text_in_one_column() -> None:
    reports = privatize(["(-1, 0)", "(3,2.5)", " ( 3 , 0 ) "], BOX)
    assert tally(reports, BOX).counts.tolist() == [1, 0, 1, 1]


def test_cells_tell_what_two_valued_reports_cannot() -> None:
    """All in the middle, or half at either end."""
    best = design(Problem(3, LDP(1), L2Risk())).channel
    thirds = ContinuousChannel([0, 9], "cells", [0, 3, 6, 9], best)
    for records, low in (([4.5] * 20_000, 3), ([0, 9] * 10_000, 0)):
        quantile = estimate(thirds, thirds.privatize(records, rng=1)).quantile(0.25)
        assert (quantile.low, quantile.high) == (low, low + 3)
        assert low <= quantile.value <= low + 3


def test_inside_a_cell_the_reports_have_the_density(tmp_path: Path) -> None:
    n = 4000
    source = save(tmp_path / "in.csv", {"x": ["0.5"] * n, "y": ["1"] * n})
    privatize_file(NOISY, source, tmp_path / "out.csv", ("x", "y"), rng=5)
    counts = tally_file(NOISY, tmp_path / "out.csv", ("x", "y")).counts
    wanted = np.array([float(q) for q in NOISY.density((0.5, 1))])
    assert (abs(counts / n - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / n)).all()


def test_tables_are_drawn_for_too() -> None:
    frame = pd.DataFrame({"pay": [0.5, 9.5, math.nan], "id": [1, 2, 3]})
    reports = privatize(frame, {"pay": TEN}, missing="drop", keep=["id"])
    assert reports["pay"].tolist() == [0, 9]
    assert reports["id"].tolist() == [1, 2]
    assert tally(reports, {"pay": TEN})["pay"].total == 2
    again = [privatize([3.25, 7.5], TEN, key=bytes(32), ids=[1, 2]) for _ in range(2)]
    assert again[0] == again[1] == [3, 7]


COIN = ContinuousChannel(
    [0, 10], "linear", [0, 10], Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
)


@pytest.mark.parametrize(
    ("channel", "first", "same", "other"),
    [
        (COIN, [("1",), ("2.5",), ("2.5",)], [("2.50",), ("1",), ("2.5",)], [("1",), ("2.5",)] * 2),
        (NOISY, [("-1", "0"), ("3", "1")], [("3", "1.0"), ("-1", "-0")], [("-1", "0"), ("3", "0")]),
    ],
)
def test_a_ledger_knows_the_same_records_in_any_order(
    channel: ContinuousChannel, first: Any, same: Any, other: Any, tmp_path: Path
) -> None:
    case, ledger = CASES["numbers"]._replace(cells=first), tmp_path / "draws.ledger"

    def draw(cells: Any) -> None:
        source = case.save(tmp_path / "in.csv", cells)
        out = tmp_path / "out.csv"
        privatize_file(channel, source, out, case.column, ledger=ledger)

    draw(first)
    draw(other)
    with pytest.warns(RepeatedDrawWarning, match=r"drawn before \(1 draw,"):
        draw(same)
    assert len(read_ledger(ledger).sets) == 2
    leaked = {row.notion: row.value for row in leakages(channel).rows}["ldp"]
    assert read_ledger(ledger).totals()["ldp", ""] == pytest.approx(3 * leaked)
    assert leakages(channel).to_json() == leakages(channel.nodes).to_json()
