"""Unreadable input is refused with its line and its column, and nothing is lost."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from mechdesign.channel import Channel
from mechdesign.collection.records import tally_file
from mechdesign.collection.tables.cells import Cells
from mechdesign.collection.tables.readers import LabelReader
from mechdesign.domain import Domain
from mechdesign.errors import InputError
from tests.records_support import identity, load, privatize_file, save
from tests.refusals_support import check_refused
from tests.strategies import examples

OLD = b"what was there before"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out.csv").write_bytes(OLD)
    return tmp_path


def refused(folder: Path, source: Path, column: str = "a", **options: Any) -> str:
    """Return the message of a refusal that leaves everything as it was."""
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    channel, target = identity(["x", "y"]), folder / options.pop("target", "out.csv")
    error = check_refused("", privatize_file, channel, source, target, column, **options)
    after = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    assert after == before
    assert before["out.csv"] == OLD
    text = str(error)
    assert "\n" not in text
    return text.replace(f"{folder}/", "")


LABELS = "column 'a': expected labels of the domain ('x', 'y'), given "
WIDTH = "expected 2 cells, as in the header, given "
QUOTED = "expected cells that are quoted right, or not at all"
LINES = {
    "": "line 1: the header row is missing",
    "\n1,x\n": "line 1: the header row is missing",
    "id,a\n1,x\n2,maybe\n3,no\n": f"line 3, {LABELS}another value",
    "a\nx\nX\n": f"line 3, {LABELS}another value",
    "id,a\n1,x\n2,\n3,maybe\n": f"line 3, {LABELS}an empty cell",
    "id,a\n1,x\n2,  \n": f"line 3, {LABELS}an empty cell",
    "a\nx\n\ny\n": f"line 3, {LABELS}an empty cell",
    "id,a\n1,x\n2\n3,y\n": f"line 3: {WIDTH}1 cell",
    "id,a\n1,x\n2,y,z\n": f"line 3: {WIDTH}3",
    "id,a\n1,x\n\n3,y\n": f"line 3: {WIDTH}0 cells",
    'id,a\n"1\n2\r\n3",x\n2,no\n': f"line 5, {LABELS}another value",
    '"i\nd",a\n1,no\n': f"line 3, {LABELS}another value",
    'id,a\n1,x\n2,"y"y\n3,x\n': f"line 3: {QUOTED}",
    'id,a\n1,x\n"2,y\n3,x\n': f"line 3: {QUOTED}",
    "id,a\n1,no\n2\n": f"line 2, {LABELS}another value",
    "id,a\n1,x\n2\n3,no\n": f"line 3: {WIDTH}1",
}


@pytest.mark.parametrize("text", LINES)
@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_a_refusal_names_the_line(text: str, chunk: int, folder: Path) -> None:
    for ending, content in {"csv": text.encode(), "csv.gz": gzip.compress(text.encode())}.items():
        file = folder / f"in.{ending}"
        file.write_bytes(content)
        assert refused(folder, file, chunk=chunk).startswith(f"in.{ending}: {LINES[text]}")


@pytest.mark.parametrize("chunk", [1, 7, 100_000])
def test_bytes_that_are_no_text_are_refused_by_their_line(chunk: int, folder: Path) -> None:
    good = [b"%d,x\n" % n for n in range(500)]
    (folder / "in.csv").write_bytes(
        b"\xef\xbb\xbfid,a\n" + b"".join(good) + b"\xff,x\n" + b"".join(good)
    )
    message = "in.csv: line 502: expected text in UTF-8, given other bytes"
    assert refused(folder, folder / "in.csv", chunk=chunk) == message


def test_a_damaged_archive_is_refused(folder: Path) -> None:
    rng = np.random.default_rng(1)
    rows = "".join(f"{n},{'xy'[n % 2]}\n" for n in rng.integers(1 << 60, size=20_000))
    whole = gzip.compress(f"id,a\n{rows}".encode(), mtime=0)
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    # a damaged byte may make more lines
    contents = {whole[: len(whole) // 2]: 10_500, bytes(damaged): 40_000, whole[:-4]: 20_002}
    for content, most in {**contents, whole[:-8] + bytes(8): 20_002}.items():
        (folder / "in.csv.gz").write_bytes(content)
        found = refused(folder, folder / "in.csv.gz")
        place = re.match(r"in\.csv\.gz: line (\d+)", found)
        assert place
        assert 1 <= int(place[1]) <= most
    (folder / "in.csv.gz").write_bytes(b"id,a\n1,x\n")
    message = "in.csv.gz: line 1: expected a file that can be read to its end"
    assert refused(folder, folder / "in.csv.gz").startswith(message)


def test_rows_of_parquet_are_counted_from_1(folder: Path) -> None:
    def message(values: list[Any], **options: Any) -> str:
        pq.write_table(pa.table({"a": values}), folder / "in.parquet", row_group_size=2)
        return refused(folder, folder / "in.parquet", **options)

    for chunk in (1, 2, 3, 100):
        found = message(["x", "y", "x", "no", None], chunk=chunk)
        assert found.startswith("in.parquet: row 4, column 'a': expected labels of the domain")
        found = message(["x", "y", None, "no"], chunk=chunk)
        assert found.startswith("in.parquet: row 3, column 'a': expected ")
        assert "given an empty cell; missing=" in found
    found = message([["x"], ["y"]])
    assert found.startswith("in.parquet: column 'a': expected a column of text or numbers, given")


def test_a_damaged_parquet_file_is_refused(folder: Path) -> None:
    file = folder / "in.parquet"
    pq.write_table(
        pa.table({"a": ["x", "y"] * 5000}), file, row_group_size=1000, compression="gzip"
    )
    whole = file.read_bytes()
    file.write_bytes(whole[:-3])
    found = refused(folder, file)
    assert found.startswith("in.parquet: expected a Parquet file that can be read")
    file.write_bytes(whole)
    damaged, at = bytearray(whole), pq.read_metadata(file).row_group(5).column(0).data_page_offset
    for n in range(at, at + 20):
        damaged[n] = 0xFF
    file.write_bytes(bytes(damaged))
    found = refused(folder, file, chunk=1000)
    assert found.startswith("in.parquet: row 5001: expected a file that can be read to its end")


# columns, names, files

COLUMNS = {
    "anwser": "in.csv: column: the file has no column named 'anwser'; column 1 has a similar name",
    "twice": "in.csv: column: the file has 2 columns named 'twice'",
    "zzz": "in.csv: column: the file has no column named 'zzz'; it has 5 columns; a CSV file",
}
KEPT: list[tuple[Any, str]] = [
    (["bb"], "in.csv: column: the file has no column named 'bb'"),
    (["answer"], "keep: expected columns beside those that are to be private"),
    (["b", "b"], "keep: expected columns beside those that are to be private, and that all differ"),
    ("b", "keep: expected a list of columns"),
    (["note"], "column: expected another name than 'note'"),
]
OPTIONS: list[tuple[dict[str, Any], str]] = [
    *(({"column": name}, message) for name, message in COLUMNS.items()),
    *(({"keep": keep, "rng": 1}, message) for keep, message in KEPT),
    ({"column": "note", "rng": 1}, "column: expected another name than 'note'"),
    *(({"separator": wrong}, "separator: expected") for wrong in ["", ";;", '"', "\n", "§", 3]),
    *(({"chunk": wrong}, "chunk: expected a whole") for wrong in [0, -1, 1.5, True, "many"]),
    *(
        ({key: policy}, f"{key}: expected ")
        for key in ("unknown", "missing")
        for policy in ["", "ignore", "map", "map:z", "Drop", None, 3]
    ),
    ({"target": "out.xlsx"}, "out.xlsx: expected a name that ends in .csv, .csv.gz, .csv.zst"),
    ({"target": "nowhere/out.csv"}, "nowhere/out.csv: cannot write the file"),
    ({"target": "folder.csv"}, "folder.csv: this is not a regular file"),
    ({"target": "loop.csv"}, "loop.csv: cannot write the file"),
    ({"target": "zero\0.csv"}, "zero\0.csv: cannot write the file"),
    *(
        ({"target": name}, "this file is also read")
        for name in ("in.csv", "link.csv", "hard.csv", "../folder/in.csv")
    ),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS)
def test_options_that_do_not_serve_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    (folder / "folder.csv").mkdir(parents=True)
    (folder / "out.csv").write_bytes(OLD)
    source = folder / "in.csv"
    source.write_text("answer,b,note,twice,twice\nx,x,x,x,x\n", encoding="utf-8")
    (folder / "link.csv").symlink_to(source)
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    os.link(source, folder / "hard.csv")
    found = refused(folder, source, **{"column": "answer", **options})
    assert message in found


def test_files_that_have_no_separator_or_another(folder: Path) -> None:
    save(folder / "in.parquet", {"a": ["x"]})
    assert "separator" in refused(folder, folder / "in.parquet", separator=";")
    (folder / "in.csv").write_text("b;a\nx;x\n", encoding="utf-8")
    assert refused(folder, folder / "in.csv").endswith("is the separator ';'?")


def test_sources_that_are_no_records(folder: Path) -> None:
    for name in ("in.txt", "in", "in.gz", "csv"):
        assert "a name that ends in .csv, .csv.gz, .csv.zst, .tsv" in refused(folder, folder / name)
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    for name in ("none.csv", "loop.csv", "zero\0.csv"):
        assert "cannot read the file" in refused(folder, folder / name)
    for ending in ("csv", "csv.gz", "parquet"):
        (folder / f"in.{ending}").mkdir()
        assert "from 1 to 65536 files" in refused(folder, folder / f"in.{ending}")
        (folder / f"empty.{ending}").write_bytes(b"")
        assert refused(folder, folder / f"empty.{ending}").startswith(f"empty.{ending}: ")


def test_long_cells_are_read_up_to_a_limit(folder: Path) -> None:
    long = "z" * 200_000
    source = save(folder / "in.csv", {"a": ["x"], "b": [long]})
    privatize_file(identity(["x"]), source, folder / "long.csv", "a", keep=["b"])
    assert (folder / "long.csv").read_text(encoding="utf-8") == f"a,b\nx,{long}\n"
    save(folder / "in.csv", {"a": ["x"], "b": [long * 30]})
    assert "in.csv: line 2: expected cells" in refused(folder, folder / "in.csv")


# policies


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("chunk", [1, 2, 100])
@pytest.mark.parametrize(
    ("unknown", "missing"),
    [("drop", "drop"), ("drop", "map:y"), ("map:x", "map:y"), ("map: y", "drop")],
)
def test_policies_are_the_users_choice(
    unknown: str, missing: str, chunk: int, ending: str, tmp_path: Path
) -> None:
    cells: list[str | None] = ["x", "?", "y", None, "no", "x"]
    if ending == "csv":
        cells[3] = " "
    source = save(tmp_path / f"in.{ending}", {"a": cells, "id": list("123456")})
    target, options = tmp_path / "out.csv", {"keep": ["id"], "chunk": chunk}
    policies = {"unknown": unknown, "missing": missing}
    done = privatize_file(identity(["x", "y"]), source, target, "a", **options, **policies)
    known = {"x": "map:x", "y": "map:y", " ": missing, None: missing}
    became = [known.get(cell, unknown) for cell in cells]
    sent = [policy.removeprefix("map:").strip() for policy in became if policy != "drop"]
    ids = [n for n, policy in zip("123456", became, strict=True) if policy != "drop"]
    assert load(target) == {"a": sent, "id": ids}
    assert (done.rows, done.reports) == (6, len(ids))
    assert (done.unknown["a"][0], done.missing["a"][0]) == (2, 1)
    assert ("shows that it held no label" in repr(done)) == (len(ids) < 6)
    found = done.to_json()
    assert found["unknown"]["cells"] == 2
    assert "2 cells: " in repr(done)
    assert "1 cell: " in repr(done)


def test_only_one_of_two_policies_may_let_a_cell_pass(folder: Path) -> None:
    save(folder / "in.csv", {"a": ["x", "", "no"]})
    assert "line 3" in refused(folder, folder / "in.csv", unknown="drop")
    assert "line 4" in refused(folder, folder / "in.csv", missing="drop")


@pytest.mark.parametrize(
    ("labels", "cells"), [(["", "x"], ["x", "", " "]), (["é", "日本"], ["é", "日本", "é"])]
)
def test_an_empty_label_is_no_missing_value_and_letters_beyond_ascii_are_text(
    labels: list[str], cells: list[str], folder: Path
) -> None:
    channel, (source, target) = identity(labels), (folder / name for name in ("in.csv", "out.csv"))
    done = privatize_file(channel, save(source, {"Ü": cells}), target, "Ü", missing="drop")
    assert done.reports == 3
    assert load(target) == {"Ü": [cell.strip() for cell in cells]}
    assert sorted(tally_file(channel, target, "Ü").counts.tolist()) == [1, 2]


def test_labels_that_read_alike_are_refused(folder: Path) -> None:
    save(folder / "in.csv", {"a": ["1"]})
    with pytest.raises(InputError, match="have the same text"):
        privatize_file(identity([1, "1"]), folder / "in.csv", folder / "out.csv", "a")


CELLS = st.one_of(
    st.text(st.sampled_from("01. 5/-ex"), max_size=4), st.sampled_from(["0.50", "1/2", " x"])
)


@examples(60)
@given(
    st.sampled_from([[0, 1, 2], [0, 0.5, -1], ["x", "1", "0.5"], ["x", ""], [1, "x"], [10]]),
    st.lists(CELLS, max_size=6),
)
def test_a_cell_is_dropped_exactly_where_the_domain_cannot_read_it(
    labels: list[Any], cells: list[str]
) -> None:
    domain = Domain(labels)
    expected: list[tuple[Any, int]] = []
    for n, cell in enumerate(cells):
        try:
            expected.append((labels[domain.index_of_text(cell, "cell")], n))
        except InputError:
            continue
    read = Cells(pa.array(cells, pa.string()), "cells", str)
    reader = LabelReader(domain, "drop", "drop")
    codes, stays = reader.read(read)
    rows = np.arange(len(cells)) if stays is None else np.flatnonzero(stays)
    assert [(labels[codes[row]], row) for row in rows] == expected
    assert reader.unknown.count + reader.missing.count == len(cells) - len(expected)


# reports


def test_invalid_reports_are_refused_by_their_line(tmp_path: Path) -> None:
    channel = identity(["x", "y"])
    cases = {
        "a\nx\nno\n": "line 3, column 'a': these are not reports of this channel, "
        "which sends 'x', 'y'",
        "a\nx\n\n": "line 3, column 'a': expected a report of this channel ('x', 'y'), "
        "given an empty cell",
        "b,a\n1,x\n1\n": "line 3: expected 2 cells",
        "a\n": "expected at least one report, given none",
        "b\nx\n": "column: the file has no column named 'a'",
    }
    for text, message in cases.items():
        (tmp_path / "r.csv").write_text(text, encoding="utf-8")
        for chunk in (1, 10):
            with pytest.raises(InputError) as error:
                tally_file(channel, tmp_path / "r.csv", "a", chunk=chunk)
            assert str(error.value).startswith(f"{tmp_path}/r.csv: {message}")
    pq.write_table(pa.table({"a": ["x", None]}), tmp_path / "r.parquet")
    with pytest.raises(InputError, match=r"r\.parquet: row 2, column 'a': expected a report"):
        tally_file(channel, tmp_path / "r.parquet", "a")


def test_labels_that_no_file_can_hold_are_refused(tmp_path: Path) -> None:
    channel = Channel.from_matrix([[1]], inputs=["x"], outputs=["\ud800"])
    save(tmp_path / "in.csv", {"a": ["x"]})
    for target in ("out.csv", "out.parquet"):
        with pytest.raises(InputError, match="text that can be written in UTF-8"):
            privatize_file(channel, tmp_path / "in.csv", tmp_path / target, "a")
        assert not (tmp_path / target).exists()


# hostile files: refused in one line that quotes no cell


def renamed(path: Path, old: bytes, new: bytes) -> Path:
    """Replace bytes of a file by as many others."""
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    return path


def arrow(path: Path, table: pa.Table, **options: Any) -> Path:
    writer = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with writer(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as stream:
        stream.write_table(table)
    return path


def stored(path: Path, table: pa.Table) -> Path:
    if path.suffix != ".parquet":
        return arrow(path, table)
    pq.write_table(table, path, store_schema=False)
    return path


BINARY_ENDINGS = ["parquet", "arrow", "arrows"]


@pytest.mark.parametrize("ending", BINARY_ENDINGS)
def test_names_and_cells_that_are_no_text_are_refused(ending: str, folder: Path) -> None:
    table = pa.table({"a": ["x", "SECRET"], "QQQQ": ["x", "y"]})
    for old, options in {b"QQQQ": {}, b"SECRET": {"unknown": "drop"}}.items():
        source = renamed(stored(folder / f"in.{ending}", table), old, old[:-1] + b"\xff")
        found = refused(folder, source, **options)
        assert re.match(rf"in\.{ending}: .*that can be read", found)
        assert "SECRE" not in found
        with pytest.raises(InputError):
            tally_file(identity(["x"]), source, "a")


def test_surrogates_in_json_lines_are_refused(folder: Path) -> None:
    (folder / "in.ndjson").write_text('{"a": "x", "\\ud800": "y"}\n')
    assert "an NDJSON file that can be read" in refused(folder, folder / "in.ndjson")
    (folder / "in.ndjson").write_text('{"a": "x"}\n{"a": "\\ud800"}\n')
    assert refused(folder, folder / "in.ndjson").startswith("in.ndjson: line 2: expected a JSON")


@pytest.mark.parametrize("ending", BINARY_ENDINGS)
def test_damaged_bytes_raise_no_other_error(ending: str, folder: Path) -> None:
    """The lengths, offsets and codes of a small file, set to extreme values one by one."""
    notes = pa.array([None, "y", "x"] * 20).dictionary_encode()
    source = folder / f"in.{ending}"
    whole = stored(source, pa.table({"a": ["x", "y", "x"] * 20, "b": notes})).read_bytes()
    rng = np.random.default_rng(5)
    for place in rng.integers(len(whole), size=60):
        damaged = bytearray(whole)
        damaged[place] ^= rng.choice([0x7F, 0x80, 0xFF])
        source.write_bytes(bytes(damaged))
        with contextlib.suppress(InputError):
            privatize_file(identity(["x", "y"]), source, folder / "o.csv", "a", keep=["b"])


def test_types_that_a_format_does_not_have_are_refused(folder: Path) -> None:
    union = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array(["x", "y"])])
    columns = {
        "decimal": pa.array([1, 2], pa.decimal32(5)),
        "runs": pa.RunEndEncodedArray.from_arrays([2], ["x"]),
        "interval": pa.array([(1, 1, 1)] * 2, pa.month_day_nano_interval()),
        "union": union,
    }
    source = arrow(folder / "in.arrow", pa.table({"a": ["x", "y"], **columns}))
    for name in columns:
        assert ": expected " in refused(folder, source, name)
    for name in ("runs", "interval", "union"):
        found = refused(folder, source, target="o.parquet", keep=[name])
        assert "expected columns of types" in found or "a column of text or numbers" in found
    privatize_file(identity(["x", "y"]), source, folder / "none.csv", "a")
    assert load(folder / "none.csv") == {"a": ["x", "y"]}
    texts = pa.table({"a": pa.array(["x", "y"]).dictionary_encode()})
    delta = {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}
    pq.write_table(texts, folder / "in.parquet", **delta)
    assert "types and encodings that can be read" in refused(folder, folder / "in.parquet")
