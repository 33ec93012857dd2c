"""Reports in files and tables state their channel, column by column, and are read by no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mechdesign as md
from mechdesign.channel import Channel
from mechdesign.collection.records import tally_file
from mechdesign.errors import InputError
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    OptimizedUnaryEncoding,
)
from tests.records_support import identity, privatize_file, save
from tests.refusals_support import check_refused

OLD = GeneralizedRandomizedResponse(["a", "b", "c"], 1).dense()
NEW = Channel(OLD.numerators, inputs=["a", "c", "b"], outputs=OLD.outputs)
AGE = HadamardResponse(["young", "old"], 1)
COLUMNS = {"answer": OLD, "age": AGE}
RECORDS = {"answer": ["a", "b", "c", "a"] * 50, "age": ["old", "young"] * 100}
SELF_DESCRIBING = ["parquet", "arrow", "feather", "arrows"]
TEXT = ["csv", "tsv.gz", "ndjson"]
REFUSED = f"reports of the channel {NEW.digest[:16]}, given those of the channel {OLD.digest[:16]}"


def privatized(folder: Path, name: str, mechanisms: Any = None, **options: Any) -> Path:
    source = save(folder / "in.csv", RECORDS)
    done = privatize_file(mechanisms or COLUMNS, source, folder / name, **options)
    assert done.to_json()["channels"]["answer"] == done.channels["answer"]
    return folder / name


@pytest.mark.parametrize("ending", [*SELF_DESCRIBING, *TEXT])
@pytest.mark.parametrize("stamp", [False, True])
def test_each_column_of_a_file_states_its_channel(ending: str, stamp: bool, tmp_path: Path) -> None:
    file = privatized(tmp_path, f"out.{ending}", stamp=stamp)
    tallies = tally_file(COLUMNS, file)
    assert {name: tally.digest for name, tally in tallies.items()} == {
        "answer": OLD.digest,
        "age": AGE.digest,
    }
    assert tally_file({"answer": NEW, "age": AGE}, file, check=False)["answer"].total == 200
    if ending in SELF_DESCRIBING or stamp:
        refused = check_refused(REFUSED, tally_file, {"answer": NEW, "age": AGE}, file)
        assert "column 'answer" in str(refused)
        check_refused(REFUSED, tally_file, NEW, file, "answer")
    assert tally_file(AGE, file, "age").total == 200  # the other column has its own channel


@pytest.mark.parametrize("ending", SELF_DESCRIBING)
def test_a_folder_is_read_only_if_every_part_is_of_the_channel(ending: str, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for n, mechanism in enumerate([OLD, NEW]):
        privatized(tmp_path, f"parts/{n}.{ending}", {"answer": mechanism})
    with pytest.raises(InputError, match="given those of the channel"):
        tally_file(OLD, tmp_path / "parts", "answer")
    assert tally_file(OLD, tmp_path / "parts", "answer", check=False).total == 400


def test_stamps_survive_what_loses_metadata(tmp_path: Path) -> None:
    old = privatized(tmp_path, "old.parquet", {"answer": OLD}, stamp=True)
    new = privatized(tmp_path, "new.parquet", {"answer": NEW}, stamp=True)
    bare = privatized(tmp_path, "bare.parquet", {"answer": OLD})
    both = tmp_path / "both.csv"
    rows = [pd.read_parquet(file) for file in (old, new)]
    pd.concat(rows).to_csv(both, index=False)
    check_refused(r"line 202.*given those of the channel", tally_file, OLD, both, "answer")
    rows[0].to_csv(both, index=False)
    assert tally_file(OLD, both, "answer").digest == OLD.digest
    pl.concat([pl.read_parquet(old), pl.read_parquet(bare)], how="diagonal").write_csv(both)
    check_refused(r"line 202.*given reports of no known channel", tally_file, OLD, both, "answer")


def test_metadata_that_are_not_as_written_are_refused(tmp_path: Path) -> None:
    for words in (b"{", b"[]", b'{"answer": 3}', b'{"answer": ""}'):
        table = pa.table({"answer": ["a"]}).replace_schema_metadata({"mechdesign.channels": words})
        pq.write_table(table, tmp_path / "out.parquet")
        with pytest.raises(InputError, match="given reports of no known channel"):
            tally_file(OLD, tmp_path / "out.parquet", "answer")


def test_the_columns_of_pairs_state_their_channel(tmp_path: Path) -> None:
    """Reports that are pairs stand in two columns, others in one with a name for both."""
    grid = md.Domain.grid(2, 2)
    response, other = (
        Channel(GeneralizedRandomizedResponse(grid, epsilon).dense().numerators, inputs=grid)
        for epsilon in (1, 2)
    )
    points = Channel(response.numerators, inputs=grid, outputs=grid.labels)
    cases = [
        (response, other, "row, column"),
        (HadamardResponse(grid, 1), HadamardResponse(grid, "0.9"), "row, column"),
        (points, identity(grid.labels), ("row", "column")),
    ]
    source = save(tmp_path / "in.csv", {"row": [0, 1, 1], "column": [1, 0, 1]})
    for drew, other, read in cases:
        for ending in ("parquet", "csv"):
            out = tmp_path / f"out.{ending}"
            privatize_file(drew, source, out, ("row", "column"), stamp=True)
            assert tally_file(drew, out, read).digest == drew.digest
            check_refused("given those of the channel", tally_file, other, out, read)


def test_tables_in_memory_state_their_channels(tmp_path: Path) -> None:
    """Arrow tables do in their metadata, others with stamps."""
    for make in (pa.table, pd.DataFrame, pl.DataFrame):
        reports = md.privatize(make(RECORDS), COLUMNS, stamp=True)
        assert md.tally(reports, COLUMNS)["answer"].digest == OLD.digest
        check_refused(REFUSED, md.tally, reports, {"answer": NEW})
        assert md.tally(reports, {"answer": NEW}, check=False)["answer"].total == 200
    table = pa.table(RECORDS)
    stream = md.privatize(table.to_reader(50), COLUMNS)
    for reports in (md.privatize(table, COLUMNS), stream.read_all()):
        check_refused(REFUSED, md.tally, reports, {"answer": NEW})
        pq.write_table(reports, tmp_path / "out.parquet")
        with pytest.raises(InputError, match=REFUSED):
            tally_file(NEW, tmp_path / "out.parquet", "answer")


def test_tallies_of_workers_agree_on_the_channel(tmp_path: Path) -> None:
    first = tally_file(OLD, privatized(tmp_path, "one.csv", {"answer": OLD}), "answer")
    second = tally_file(NEW, privatized(tmp_path, "two.csv", {"answer": NEW}), "answer")
    assert (first + first).digest == OLD.digest
    check_refused("estimate_groups joins two channels", lambda: first + second)
    joined = md.estimation.estimate_groups([(OLD, first)])
    assert joined.reports == first.total


def test_names_of_stamps_are_not_taken(tmp_path: Path) -> None:
    records = {"a": ["a"], "a_channel_sha256": ["b"]}
    with pytest.raises(InputError, match="rename it"):
        md.privatize(pa.table(records), {"a": OLD}, keep=["a_channel_sha256"], stamp=True)
    source = save(tmp_path / "in.csv", records)
    with pytest.raises(InputError, match="rename it"):
        privatize_file(dict.fromkeys(records, OLD), source, tmp_path / "o.csv", stamp=True)
    check_refused("stamp", md.privatize, ["a"], OLD, stamp=True)


@pytest.mark.parametrize(
    ("response", "other", "options"),
    [
        (HadamardResponse, "r, c", {}),
        (HadamardResponse, "r, c", {"keep": ["r, c"]}),
        (GeneralizedRandomizedResponse, "r_c", {"stamp": True}),
    ],
    ids=["a column", "a copy", "a stamp"],
)
def test_no_column_of_reports_takes_the_place_of_another(
    response: Any, other: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """Reports on pairs of two columns may be in one column, under both names."""
    source = save(tmp_path / "in.csv", {"r": [0], "c": [1], other: ["a"]})
    columns = {("r", "c"): response(md.Domain.grid(2, 2), 1)}
    columns |= {} if "keep" in options else {other: OLD}
    check_refused(
        "all differ|rename it", privatize_file, columns, source, tmp_path / "o.csv", **options
    )


@pytest.mark.parametrize("labels", [("1", "2"), ("1.0", "2.0"), (1, 2)])
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string(), pa.decimal128(9, 1)])
def test_whole_numbers_match_labels_alike_in_memory_and_in_files(
    labels: tuple[Any, Any], kind: pa.DataType, tmp_path: Path
) -> None:
    channel, table = identity(labels), pa.table({"a": pa.array([1, 2], pa.int16()).cast(kind)})
    expected = [1, 1]
    assert md.tally(table, {"a": channel})["a"].counts.tolist() == expected
    assert md.tally(table["a"].to_pylist(), channel).counts.tolist() == expected
    assert md.tally(table.to_pandas(), {"a": channel})["a"].counts.tolist() == expected
    pq.write_table(table, tmp_path / "in.parquet")
    table.to_pandas().to_csv(tmp_path / "in.csv", index=False)
    table.to_pandas().to_json(tmp_path / "in.ndjson", orient="records", lines=True)
    for file in tmp_path.iterdir():
        assert tally_file(channel, file, "a").counts.tolist() == expected


SENT = {
    "labels": (OLD, "which sends 'a', 'b', 'c'"),
    "sets": (OptimizedUnaryEncoding(["a", "b", "c"], 1), "which sends 2 hexadecimal digits"),
    "numbers": (HadamardResponse(["a", "b", "c"], 1), "which sends 0, 1, 2, 3"),
}


@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet"])
@pytest.mark.parametrize("kind", SENT)
def test_a_file_of_records_where_reports_are_expected_is_refused_as_one(
    kind: str, ending: str, tmp_path: Path
) -> None:
    """The message has the row and the outputs of the channel, and does not quote a cell."""
    mechanism, sent = SENT[kind]
    file, row = tmp_path / f"in.{ending}", "row 1" if ending == "parquet" else "line"
    table = pa.table({"answer": ["private text", "more"]})
    {
        "parquet": lambda: pq.write_table(table, file),
        "csv": lambda: table.to_pandas().to_csv(file, index=False),
        "ndjson": lambda: table.to_pandas().to_json(file, orient="records", lines=True),
    }[ending]()
    with pytest.raises(InputError, match=f"these are not reports of this channel, {sent}") as error:
        tally_file(mechanism, file, "answer")
    assert str(error.value).startswith(f"{file}: {row}")
    assert "private" not in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match=r"data\['answer'\], row 0: these are not reports"):
        md.tally(table, {"answer": mechanism})
