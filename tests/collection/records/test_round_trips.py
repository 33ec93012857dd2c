"""Records go in and reports come out, for all formats and odd labels."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from mechdesign.collection.records import tally_file
from mechdesign.mechanisms import GeneralizedRandomizedResponse
from mechdesign.sampling import SIMULATION
from tests.records_support import identity, load, privatize_file, save
from tests.strategies import examples

ANSWERS = ["never", "some, times", 'al"ways']


def test_parquet_columns_keep_their_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "when": pa.array([1, None, 3], type=pa.timestamp("ns")),
            "a": pa.array([2, 0, 1], type=pa.int16()),
            "note": pa.array(["p", "q", "p"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    target = tmp_path / "out.parquet"
    options = {"keep": ["when", "note"], "chunk": 2}
    privatize_file(identity([0, 1, 2]), tmp_path / "in.parquet", target, "a", **options)
    found = pq.read_table(target)
    assert found.select(["when", "note"]).equals(table.select(["when", "note"]))
    assert found.schema.field("a").type == pa.int64()  # all labels are whole numbers
    assert found.column("a").to_pylist() == [2, 0, 1]


@pytest.mark.parametrize("keep", [(), ("group",), ("count",)])
@pytest.mark.parametrize("seed", [None, 1])
def test_text_in_parquet_is_text_however_it_is_written(
    keep: tuple[str, ...], seed: int | None, tmp_path: Path
) -> None:
    """Reports are dictionary-encoded; only kept columns may be categorical."""
    answers = [ANSWERS[n % 3] for n in range(3000)]
    groups = pa.array(["p", "q", None] * 1000).dictionary_encode()
    table = pa.table({"a": answers, "b": answers, "group": groups, "count": range(3000)})
    pq.write_table(table, tmp_path / "in.parquet")
    columns = {"a": identity(ANSWERS), "b": identity(ANSWERS)}
    target = tmp_path / "out.parquet"
    privatize_file(columns, tmp_path / "in.parquet", target, keep=keep, rng=seed, chunk=700)
    found = pq.read_table(target)
    assert found.select(["a", "b", *keep]).equals(table.select(["a", "b", *keep]))
    assert pq.read_schema(target).equals(found.schema)


def test_labels_that_are_not_all_whole_numbers_are_text_in_parquet(tmp_path: Path) -> None:
    for n, labels in enumerate(([0, 0.5], [1, "x"], [2**63, 1])):
        channel = identity(labels)
        source = save(tmp_path / f"{n}.csv", {"a": list(channel.inputs.texts)})
        target = tmp_path / f"{n}.parquet"
        privatize_file(channel, source, target, "a")
        assert pq.read_table(target).schema.field("a").type == pa.string()
        assert tally_file(channel, target, "a").counts.tolist() == [1, 1]


def test_ndjson_has_no_numbers_that_json_lacks(tmp_path: Path) -> None:
    kept = pa.array([0.5, float("nan"), float("inf"), None])
    pq.write_table(pa.table({"a": ["x"] * 4, "b": kept}), tmp_path / "in.parquet")
    target = tmp_path / "out.ndjson"
    privatize_file(identity(["x"]), tmp_path / "in.parquet", target, "a", keep=["b"])
    lines = target.read_text().splitlines()
    written = [json.loads(line, parse_constant=pytest.fail)["b"] for line in lines]
    assert written == [0.5, None, "inf", None]


def test_the_text_nan_is_a_label_and_the_number_an_empty_cell(tmp_path: Path) -> None:
    source, target = tmp_path / "in.ndjson", tmp_path / "out.ndjson"
    source.write_text('{"a": "NaN"}\n{"a": NaN}\n{"a": null}\n{"a": "x"}\n')
    channel = identity(["NaN", "x"])
    privatize_file(channel, source, target, "a", missing="drop")
    assert tally_file(channel, target, "a").counts.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, 0.5, 1.0], pa.float64()),
        ([1, 1, 1], pa.int8()),
        (["1.00", " 1", "0.50 "], pa.large_string()),
        (["1", "0.5", "1"], pa.dictionary(pa.int32(), pa.string())),
    ],
)
def test_numbers_are_read_however_they_are_written(
    values: list[Any], kind: Any, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"a": pa.array(values, type=kind)}), tmp_path / "in.parquet")
    privatize_file(identity([0.5, 1]), tmp_path / "in.parquet", tmp_path / "out.csv", "a")
    assert [float(x) for x in load(tmp_path / "out.csv")["a"]] == [float(x) for x in values]


LABELS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
        st.text(st.sampled_from(',;"\n\r\t ab'), max_size=4),
    ),
    min_size=1,
    max_size=5,
    unique=True,
)


@pytest.mark.slow
@examples(50)
@given(LABELS, st.sampled_from(["csv", "csv.gz", "parquet"]), st.sampled_from([None, ";", "\t"]))
def test_any_labels_go_there_and_back(
    tmp_path_factory: pytest.TempPathFactory, labels: list[str], ending: str, separator: str | None
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    channel, records = identity(labels), [*labels, *reversed(labels)]
    separator = None if ending == "parquet" else separator
    files = ["0.csv", "1.csv", f"2.{ending}", "3.csv", f"4.{ending}"]
    with (folder / files[0]).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=separator or ",", quoting=csv.QUOTE_ALL)
        writer.writerows([["a", "b"], *([record, "k"] for record in records)])
    for n, (source, target) in enumerate(pairwise(files)):
        how = {"keep": ["b"] if n < 2 else [], "chunk": 4 - n, "separator": separator}
        privatize_file(channel, folder / source, folder / target, "a", **how)
    tally = tally_file(channel, folder / files[-1], "a", separator=separator)
    assert tally.counts.tolist() == [2] * len(labels)
    if ending == "parquet":
        assert pq.read_table(folder / files[-1]).column("a").to_pylist() == records


# random draws


def test_without_a_seed_two_runs_differ_and_with_one_they_agree(tmp_path: Path) -> None:
    channel = GeneralizedRandomizedResponse(range(10), 1)
    source = save(tmp_path / "in.csv", {"a": [n % 10 for n in range(200)]})
    texts = []
    for n, rng in enumerate([None, None, 7, 7, np.random.default_rng(7), 8]):
        target = tmp_path / f"{n}.csv"
        done = privatize_file(channel, source, target, "a", rng=rng)
        assert done.simulated is (rng is not None)
        texts.append(target.read_bytes())
    assert texts[0] != texts[1]
    assert texts[2] == texts[3] == texts[4]
    assert texts[2] != texts[5]


# the label of a simulation


def test_metadata_mark_a_simulation_without_its_column(tmp_path: Path) -> None:
    channel, target = identity(["x", "y"]), tmp_path / "out.parquet"
    privatize_file(channel, save(tmp_path / "in.csv", {"a": ["x", "y"]}), target, "a", rng=1)
    assert pq.read_schema(target).metadata[b"mechdesign"] == SIMULATION.encode()
    pq.write_table(pq.read_table(target).select(["a"]), target)  # the metadata stays
    assert tally_file(channel, target, "a").simulated
    pq.write_table(pq.read_table(target).replace_schema_metadata(), target)
    assert not tally_file(channel, target, "a").simulated


def test_one_row_of_a_simulation_is_enough(tmp_path: Path) -> None:
    channel = identity(["x", "y"])
    notes = ["", "fine", SIMULATION, "fine"]
    source = save(tmp_path / "mixed.csv", {"note": notes, "a": list("xyxy")})
    assert tally_file(channel, source, "a", chunk=1).simulated
    save(source, {"note": ["", "fine", "simulation", "fine"], "a": list("xyxy")})
    assert not tally_file(channel, source, "a").simulated
