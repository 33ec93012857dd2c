"""Memory for a file of records is bounded for any length, width and compression."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from mechdesign import InputError, load_problem, resources
from mechdesign.collection.records import base, parquet_files
from mechdesign.collection.records.arrow_files import ArrowFile
from mechdesign.collection.records.base import BLOCK, PIECE
from mechdesign.collection.records.csv_files import CSVFile
from mechdesign.collection.records.json_lines import NDJSONFile
from mechdesign.collection.records.parquet_files import ParquetFile, page_sizes
from mechdesign.errors import LimitError
from mechdesign.files import save
from tests.records_support import identity, privatize_file


def packed(path: Path, piece: bytes, times: int, head: bytes = b"") -> Path:
    """Write a file that is far smaller than what it holds."""
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(head), *(packer.compress(piece) for _ in range(times))]
    path.write_bytes(b"".join([*parts, packer.flush()]))
    return path


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return how many bytes were unpacked so far, by Arrow and by Python."""
    taken = [0]

    class Counted:
        def __init__(self, stream: Any) -> None:
            self.stream = stream

        def __getattr__(self, name: str) -> Any:
            return getattr(self.stream, name)

        def read(self, size: int | None = -1) -> bytes:
            found: bytes = self.stream.read(size)
            taken[0] += len(found)
            return found

        read1 = read

    for module, name in ((pa, "CompressedInputStream"), (gzip, "GzipFile")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, real=real, **k: Counted(real(*a, **k)))
    return lambda: taken[0]


PROBLEM = (
    '[domain]\nvalues = ["x"]\n[prior]\ndata = { file = "in.csv.gz", column = "a" }\n'
    '[privacy]\nnotion = "ldp"\nepsilon = 1\n[utility]\nobjective = "hamming"\n'
)


BOMBS = {
    "a header of commas": (b"", b"," * 2**20),
    "a header without an end": (b"", b"a" * 2**20),
    "a row of commas": (b"a,b\n", b"," * 2**20),
    "a cell without an end": (b"a,b\n1,", b"x" * 2**20),
    "a quote without an end": (b'a,b\n1,"', b"x\n" * 2**19),
    "rows in a quote": (b'a,b\n1,"', b'x"",""\n' * 2**17),
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_more_is_unpacked_than_a_row_may_take(
    name: str, tmp_path: Path, unpacked: Callable[[], int]
) -> None:
    head, piece = BOMBS[name]
    packed(tmp_path / "in.csv.gz", piece, 16, head)
    with resources.allow(row_bytes=2**20), pytest.raises(InputError, match="row_bytes"):
        privatize_file(identity(["x"]), tmp_path / "in.csv.gz", tmp_path / "out.csv", "a")
    assert unpacked() <= 2**20 + 2 * BLOCK
    before = unpacked()
    (tmp_path / "p.toml").write_text(PROBLEM, encoding="utf-8")
    with resources.allow(row_bytes=2**20), pytest.raises(InputError):
        load_problem(tmp_path / "p.toml")
    assert unpacked() - before <= 2**20 + 2 * BLOCK


def test_data_of_a_problem_are_read_up_to_the_limit(
    tmp_path: Path, unpacked: Callable[[], int]
) -> None:
    packed(tmp_path / "in.csv.gz", b"x\n" * 2**19, 2, b"a\n")
    (tmp_path / "p.toml").write_text(PROBLEM, encoding="utf-8")
    with resources.allow(bytes=2**15), pytest.raises(LimitError, match="--allow bytes="):
        load_problem(tmp_path / "p.toml")
    assert unpacked() <= 2**15 + BLOCK


def test_empty_lines_at_the_end_are_not_gathered(tmp_path: Path) -> None:
    packed(tmp_path / "in.csv.gz", b"\r\n" * 2**19, 16, b"a,b\nx,1\n")
    with closing(CSVFile(tmp_path / "in.csv.gz", packed="gzip")) as reader:
        rows = 0
        for table in reader.tables(["a"], 10):
            rows += len(table)
            assert len(reader._rest) <= 2 * BLOCK
        assert rows == 1
    (tmp_path / "in.csv").write_bytes(b"a,b\nx,1\n" + b"\n" * 2**20 + b"y,1\n")
    with (
        closing(CSVFile(tmp_path / "in.csv")) as reader,
        pytest.raises(InputError, match="line 3: expected 2 cells, as in the header, given 0"),
    ):
        list(reader.tables(["a"], 10))


def test_columns_are_counted(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(11)]
    (tmp_path / "in.csv").write_text(",".join(names) + "\n", encoding="utf-8")
    pq.write_table(pa.table({name: ["x"] for name in names}), tmp_path / "in.parquet")
    for name in ("in.csv", "in.parquet"):
        with resources.allow(columns=10), pytest.raises(LimitError, match="at most 10 columns"):
            privatize_file(identity(["x"]), tmp_path / name, tmp_path / "out.csv", "c0")


def test_the_footer_of_a_parquet_file_is_measured_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1" + (2**31 - 1).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(LimitError, match="at most 16777216 footer_bytes, given 2147483647"):
        ParquetFile(tmp_path / "x.parquet", None)


# Parquet: a few bytes may stand for many


def pieces_of(path: Path, names: list[str], size: int = 2**16) -> list[pa.Table]:
    with closing(ParquetFile(path)) as reader:
        schema = pa.schema([reader.schema.field(name) for name in names])
        return [table.cast(schema) for table in reader.tables(names, size)]


def test_cells_that_are_stored_once_are_not_all_unfolded(tmp_path: Path) -> None:
    long, times = "y" * 2**20, 3_000
    column = pa.DictionaryArray.from_arrays(pa.array([0] * times), pa.array([long]))
    pq.write_table(pa.table({"a": column}), tmp_path / "x.parquet", store_schema=False)
    assert (tmp_path / "x.parquet").stat().st_size < 2**20
    with closing(ParquetFile(tmp_path / "x.parquet")) as reader:
        for table in islice(reader.tables(["a"], 2**16), 4):
            assert len(table) <= PIECE // 2**20 + 1
    with (
        resources.allow(row_bytes=2**10),
        closing(ParquetFile(tmp_path / "x.parquet")) as reader,
        pytest.raises(LimitError, match="row_bytes"),
    ):
        next(reader.tables(["a"], 2**16))


CELLS = st.none() | st.text("ab", max_size=40)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, st.integers(-5, 5)), min_size=1, max_size=60),
    size=st.integers(1, 20),
    expanded=st.sampled_from([0, 100, 2**26]),
    piece=st.sampled_from([32, 100, 2**23]),
    group=st.integers(1, 60),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_pieces_are_the_rows_in_order_and_none_is_large(
    rows: list[tuple[str | None, str | None, int]],
    size: int,
    expanded: int,
    piece: int,
    group: int,
    tmp_path: Path,
) -> None:
    one, two, three = zip(*rows, strict=True)
    table = pa.table(
        {
            "a": pa.array(one, pa.string()),
            "n": pa.array(three),
            "b": pa.array(two, pa.large_string()),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_files, "EXPANDED", expanded)
        patch.setattr(base, "PIECE", piece)
        for names in (["b", "a", "n"], ["a"], ["n", "b"]):
            found = pieces_of(tmp_path / "x.parquet", names, size)
            assert pa.concat_tables(found).equals(table.select(names))
            assert all(len(part) <= size for part in found)
            most = piece + max(len(a or "") + len(b or "") + 24 for a, b, _ in rows)
            assert all(text_bytes(part) <= most for part in found)


def text_bytes(table: pa.Table) -> int:
    return sum(len(cell) for name in table.column_names for cell in texts(table, name))


def texts(table: pa.Table, name: str) -> list[str]:
    return [cell for cell in table.column(name).to_pylist() if isinstance(cell, str)]


def test_the_writer_gathers_rows_to_groups(tmp_path: Path) -> None:
    rows = 20_000
    (tmp_path / "in.csv").write_text("a,b\n" + "x,yyyyyyyyyy\n" * rows, encoding="utf-8")
    out = tmp_path / "o.parquet"
    privatize_file(identity(["x"]), tmp_path / "in.csv", out, "a", keep=["b"], chunk=10)
    assert pq.ParquetFile(out).num_row_groups == 1
    assert pq.read_table(out).num_rows == rows


def row_groups(path: Path, cells: list[str], times: int, name: str = "a", **options: Any) -> Path:
    """Write a column as row groups of a few repeated cells, in a small file."""
    column = pa.DictionaryArray.from_arrays(pa.array(list(range(len(cells))) * times), cells)
    table = pa.table({name: column})
    pq.write_table(table, path, store_schema=False, compression="zstd", **options)
    return path


def test_pages_are_measured_before_they_are_unpacked(tmp_path: Path) -> None:
    """Dictionaries and plain pages that are far larger than the file."""
    cells = ["x" * 2**18 + str(n) for n in range(100)]
    row_groups(tmp_path / "dictionary.parquet", cells, 1, dictionary_pagesize_limit=2**30)
    row_groups(
        tmp_path / "plain.parquet", cells, 1, use_dictionary=False, data_page_size=2**30,
        write_batch_size=100,
    )  # fmt: skip
    for name in ("dictionary", "plain"):
        source = tmp_path / f"{name}.parquet"
        assert source.stat().st_size < 2**18
        with (
            resources.allow(page_bytes=2**22),
            pytest.raises(LimitError, match="page_bytes, given 2"),
        ):
            pieces_of(source, ["a"])
        with resources.allow(page_bytes=2**27, row_bytes=2**21):
            assert sum(map(len, pieces_of(source, ["a"]))) == 100


@given(
    cells=st.lists(CELLS, min_size=1, max_size=60),
    options=st.fixed_dictionaries(
        {
            "compression": st.sampled_from(["none", "snappy", "zstd"]),
            "use_dictionary": st.booleans(),
            "data_page_version": st.sampled_from(["1.0", "2.0"]),
            "data_page_size": st.sampled_from([1, 100, 2**20]),
            "row_group_size": st.integers(1, 60),
            "write_statistics": st.booleans(),
        }
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_sizes_of_pages_are_those_of_the_whole_column(
    cells: list[str | None], options: dict[str, Any], tmp_path: Path
) -> None:
    """The writer's own sums count pages and headers, unpacked."""
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": pa.array(cells, pa.string())}), file, **options)
    metadata = pq.read_metadata(file)
    with file.open("rb") as stream:
        for n in range(metadata.num_row_groups):
            column = metadata.row_group(n).column(0)
            pages = list(page_sizes(stream, column))
            assert sum(page.is_dictionary for page in pages) == column.has_dictionary_page
            headers = column.total_uncompressed_size - sum(page.size for page in pages)
            assert 10 * len(pages) < headers < 200 * len(pages)


# other formats: as little


def test_a_dot_in_a_name_is_no_path_to_a_nested_column(tmp_path: Path) -> None:
    """A column with a dot is measured, and so is one that pyarrow reads beside another."""
    source = row_groups(tmp_path / "x.parquet", ["x" * 2**20], 200, name="a.b")
    with closing(ParquetFile(source)) as reader:
        assert len(next(reader.tables(["a.b"], 2**16))) <= PIECE // 2**20 + 1
    table = pa.table({"a": [1], "a.b": ["x"], "b": [1]})
    pq.write_table(table, source)
    with closing(ParquetFile(source)) as reader:
        assert reader._sizes(["a"])[0] > reader._sizes(["b"])[0]
    assert pieces_of(source, ["a.b", "a"])[0].to_pydict() == {"a.b": ["x"], "a": [1]}


def test_nested_columns_are_refused(tmp_path: Path) -> None:
    table = pa.table({"a": ["x"], "l": [[1]], "s": [{"t": 1}]})
    pq.write_table(table, tmp_path / "x.parquet")
    with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table)
    for source in (tmp_path / "x.parquet", tmp_path / "x.arrow"):
        for name in ("l", "s"):
            with pytest.raises(InputError, match="a column of text or numbers"):
                privatize_file(identity(["x"]), source, tmp_path / "o.arrow", "a", keep=[name])


def test_tables_of_json_lines_end_after_some_bytes(tmp_path: Path) -> None:
    line = '{"a": "x", "b": "%s"}\n' % ("y" * 2**20)
    (tmp_path / "in.ndjson").write_text(line * 20)
    for names in (["a"], ["b", "a"]):
        with closing(NDJSONFile(tmp_path / "in.ndjson")) as reader:
            sizes = [len(table) for table in reader.tables(names, 2**15)]
        assert sum(sizes) == 20
        assert max(sizes) <= PIECE // 2**20 + 1


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("ending", ["arrow", "arrows"])
@pytest.mark.parametrize("in_dictionary", [False, True])
def test_batches_of_arrow_files_are_measured_before_they_are_decompressed(
    codec: str, ending: str, in_dictionary: bool, tmp_path: Path
) -> None:
    cells = pa.array(["x" * 2**20] * 20 if not in_dictionary else ["x" * 20 * 2**20])
    table = pa.table({"a": cells.dictionary_encode() if in_dictionary else cells})
    if not in_dictionary:
        table = table.append_column("n", pa.array(range(20)))
    writer = pa.ipc.new_stream if ending == "arrows" else pa.ipc.new_file
    source = tmp_path / f"in.{ending}"
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with writer(source, table.schema, options=options) as stream:
        stream.write_table(table)
    assert source.stat().st_size < 2**18
    with (
        resources.allow(page_bytes=2**24),
        closing(ArrowFile(source)) as reader,
        pytest.raises(LimitError, match="page_bytes, given"),
    ):
        list(reader.tables(["a"], 10))
    with resources.allow(row_bytes=2**25), closing(ArrowFile(source)) as reader:
        tables = list(reader.tables(["a"], 10))
    assert max(map(len, tables)) <= PIECE // 2**20
    assert pa.concat_tables(tables).column("a").to_pylist() == cells.to_pylist()


# the whole command

MEASURED = """
import json, pathlib, sys
from mechdesign.cli import main
for words in json.loads(sys.argv[1]):
    status = main(words)
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    print(status, next(int(line.split()[1]) for line in lines if "VmHWM" in line) // 1024)
"""


def measured(folder: Path, *commands: list[str]) -> tuple[list[tuple[int, int]], str]:
    """Run commands in one process; return each status and the peak memory so far in megabytes."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, json.dumps(commands)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    found = re.findall(r"^(\d) (\d+)$", done.stdout, re.MULTILINE)
    return [(int(status), int(peak)) for status, peak in found], done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other units elsewhere")
def test_memory_does_not_grow_with_columns_or_rows(tmp_path: Path) -> None:
    save(identity(["x", "yes"]), tmp_path / "channel.json")
    commands = []
    for name, columns, rows in (("small", 1, 2_000), ("wide", 150, 20_000), ("long", 1, 300_000)):
        wide = pa.array(["x", "yes"] * (rows // 2))
        other = pa.array([f"another cell {n}" for n in range(rows)])
        table = pa.table({"a": wide} | {f"c{n}": other for n in range(columns)})
        for ending, write in (("csv", pa.csv.write_csv), ("parquet", pq.write_table)):
            write(table, tmp_path / f"{name}.{ending}")
            words = ["channel.json", f"{name}.{ending}", "--column", "a"]
            commands += [["privatize", *words[:2], f"o.{ending}", *words[2:], "--force"]]
            commands += [["estimate", *words]]
    found, error = measured(tmp_path, *commands)
    assert [status for status, _ in found] == [0] * 12, error
    assert found[-1][1] - found[3][1] < 50  # the larger files take a hundred


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other units elsewhere")
def test_a_cell_of_forty_megabytes_takes_little_more(tmp_path: Path) -> None:
    """A few kilobytes that are 16 cells of 40 MB."""
    save(identity(["x", "yes"]), tmp_path / "channel.json")
    row_groups(tmp_path / "in.parquet", ["x" * 40_000_000], 16)
    assert (tmp_path / "in.parquet").stat().st_size < 20_000
    words = ["privatize", "channel.json", "in.parquet", "o.csv", "--column", "a"]
    found, error = measured(tmp_path, [*words, "--allow", "page_bytes=1000000"], words)
    assert [status for status, _ in found] == [2, 2]
    assert ["page_bytes" in line for line in error.splitlines()] == [True, False]
    assert "row_bytes" in error
    assert found[-1][1] < 400
