"""All file formats behave alike: plain and compressed, in parts, from and to pipes."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from mechdesign import Channel, InputError, LimitError, resources
from mechdesign.collection.records import tally_file
from mechdesign.collection.records.record_files import FORMATS
from mechdesign.files import save
from mechdesign.mechanisms import GeneralizedRandomizedResponse, HadamardResponse
from mechdesign.sampling import SIMULATION
from tests.cli_support import Run
from tests.records_support import identity, load, privatize_file, save as save_table
from tests.refusals_support import check_refused

LABELS = ["a", "b, c", 'd"e']
TRUE = identity(LABELS)
FLIP_LABELS = GeneralizedRandomizedResponse(LABELS, 1)
FLIP = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
LETTERS, NUMBERS = [LABELS[n] for n in (0, 1, 2, 1)] * 50, [0, 1, 1, 0] * 50
TABLE = pa.table({"x": LETTERS, "n": NUMBERS})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save_table(Path("in.csv"), {"x": LETTERS, "n": NUMBERS})
    save(TRUE, "true.json")
    save(FLIP, "flip.json")
    return tmp_path


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("chunk", [7, None])
def test_every_kind_is_written_read_and_counted(ending: str, chunk: int | None) -> None:
    one, two, back = f"one{ending}", f"two{ending.upper()}", Path("back.csv")
    told: list[tuple[int, float | None]] = []
    privatize_file({"x": TRUE}, "in.csv", one, keep=["n"], chunk=chunk)
    how = {"chunk": chunk, "progress": lambda *step: told.append(step)}
    done = privatize_file({"x": TRUE}, one, two, keep=["n"], **how)
    assert (done.rows, done.reports, done.kept) == (200, 200, ("n",))
    assert "kept       'n': copied as they are, not protected" in repr(done)
    assert done.to_json()["not_protected"] == ["n"]
    rows, shares = [rows for rows, _ in told], [share or 0 for _, share in told]
    assert rows == [*range(chunk or 200, 200, chunk or 200), 200]
    assert shares == sorted(shares)
    assert shares[-1] == 1 or ending in (".arrow", ".feather", ".arrows")
    assert tally_file(TRUE, two, "x", chunk=chunk).counts.tolist() == [50, 100, 50]
    assert not tally_file(TRUE, two, "x").simulated
    privatize_file({"x": TRUE}, two, back, keep=["n"], chunk=chunk)
    assert load(back) == load(Path("in.csv"))
    privatize_file({"x": TRUE}, two, back)
    assert list(load(back)) == ["x"]


@pytest.mark.parametrize("ending", FORMATS)
def test_every_kind_has_the_reports_drawn_in_memory_and_marks_a_simulation(ending: str) -> None:
    out, back = f"out{ending}", Path("back.csv")
    for made in (FLIP_LABELS, HadamardResponse(LABELS, 2)):
        reports = made.privatize(LETTERS, rng=3)
        done = privatize_file({"x": made}, "in.csv", out, rng=3, chunk=64)
        assert SIMULATION in repr(done)
        tally = tally_file(made, out, "x", chunk=30)
        assert (tally.counts.tolist(), tally.simulated) == (
            made.tally(reports).counts.tolist(),
            True,
        )
        outputs = identity(LABELS if made is FLIP_LABELS else range(64))
        privatize_file({"x": outputs}, out, back, keep=["note"])
        assert load(back) == {"x": reports.texts(), "note": [SIMULATION] * 200}


@pytest.mark.parametrize("ending", [ending for ending in FORMATS if "json" not in ending])
def test_a_file_without_rows_has_its_header_written(ending: str) -> None:
    Path("none.csv").write_text("n,x\n", encoding="utf-8")
    for source, target in (("none.csv", f"out{ending}"), (f"out{ending}", "back.csv")):
        done = privatize_file({"x": TRUE}, source, target)
        assert (done.rows, done.reports) == (0, 0)
    assert load(Path("back.csv")) == {"x": []}


@pytest.mark.parametrize("ending", FORMATS)
def test_every_kind_refuses_other_files_in_one_line(ending: str) -> None:
    privatize_file({"x": TRUE}, "in.csv", f"whole{ending}", chunk=20)
    whole = Path(f"whole{ending}").read_bytes()
    half, other = whole[: len(whole) // 2 - 2], Path("in.csv").read_bytes()[:-1]
    for content in (b"", b"\x00" * 50, b"\xff\xfe{", b"[1, 2]\n", half, other):
        Path(f"bad{ending}").write_bytes(content)
        if ending == ".csv" and content.startswith(b'"x'):
            continue  # the last line end may be missing
        with pytest.raises(InputError, match=rf"bad{ending}|column") as raised:
            privatize_file({"x": TRUE}, f"bad{ending}", "out.csv")
        assert "\n" not in str(raised.value)
        assert not Path("out.csv").exists()


def test_cells_of_json_lines_are_text_numbers_or_nothing() -> None:
    halves = Channel.from_matrix(np.eye(2), inputs=[0, 0.5], outputs=[0, 0.5])
    Path("in.ndjson").write_text('{"x": "0.5"}\n{"x": 0.50, "y": 1}\n{"x": 5e-1}\n{"x": 0}\n')
    privatize_file({"x": halves}, "in.ndjson", "out.ndjson")
    rows = [json.loads(line) for line in Path("out.ndjson").read_text().splitlines()]
    assert [row["x"] for row in rows] == ["0.5", "0.5", "0.5", "0"]
    for line, message in (
        ('{"x": null}', "line 2, column 'x': .*given an empty cell"),
        ("{}", "line 2, column 'x': .*given an empty cell"),
        ('{"x": [1]}', "line 2: expected a JSON object"),
        ('{"x": 0, "x": 0}', "line 2: expected a JSON object .* no key twice"),
        ('{"x": 7}', "line 2, column 'x': .*given another value"),
        ("[1]", "line 2: expected a JSON object"),
        ("[" * 5000, "line 2: expected a JSON object"),
        ("", "line 2: expected a JSON object"),
    ):
        Path("bad.ndjson").write_text('{"x": 0}\n' + line + '\n{"x": 0}\n')
        with pytest.raises(InputError, match=rf"bad.ndjson: {message}") as raised:
            privatize_file({"x": halves}, "bad.ndjson", "out.csv")
        assert "7" not in str(raised.value)
    Path("bad.ndjson").write_text('{"x": "' + "y" * 5000)
    with resources.allow(row_bytes=1000), pytest.raises(LimitError, match="row_bytes"):
        privatize_file({"x": halves}, "bad.ndjson", "out.csv")


# --- parts ----------------------------------------------------------------------------------------


def parts(*sizes: int, ending: str = "parquet") -> None:
    Path("parts").mkdir()
    start = 0
    for n, size in enumerate(sizes):
        pq.write_table(TABLE.slice(start, size), f"parts/part-{n}.{ending}")
        start += size
    Path("parts/_SUCCESS").touch()
    Path("parts/.hidden").touch()


@pytest.mark.parametrize("source", ["parts", "parts/part-*.parquet"])
def test_a_folder_or_a_pattern_is_its_parts_in_order(source: str) -> None:
    parts(90, 0, 60, 50)
    shares: list[float | None] = []
    how = {"keep": ["n"], "chunk": 25, "progress": lambda _, share: shares.append(share)}
    privatize_file({"x": TRUE}, source, "out.csv", **how)
    assert load(Path("out.csv")) == load(Path("in.csv"))
    assert shares == sorted(shares)
    assert tally_file(TRUE, source, "x").total == 200


def test_parts_that_do_not_fit_or_are_written_over_are_refused() -> None:
    parts(100, 100)
    with pytest.raises(InputError, match="this file is also read"):
        privatize_file({"x": TRUE}, "parts", "parts/part-1.parquet")
    table = TABLE.slice(100, 100).set_column(1, "n", pa.array(["1"] * 100))
    pq.write_table(table, "parts/part-1.parquet")
    with pytest.raises(InputError, match=r"part-1.parquet: expected columns of the types"):
        privatize_file({"x": TRUE}, "parts", "out.parquet", keep=["n"])
    pq.write_table(table.drop_columns(["x"]), "parts/part-1.parquet")
    with pytest.raises(InputError, match=r"part-1.parquet: column: the file has no column"):
        privatize_file({"x": TRUE}, "parts", "out.parquet")
    bad = TABLE.slice(100, 100).set_column(0, "x", pa.array(["?"] * 100))
    pq.write_table(bad, "parts/part-1.parquet")
    with pytest.raises(InputError, match=r"parts/part-1.parquet: row 1, column 'x'"):
        privatize_file({"x": TRUE}, "parts", "out.parquet")
    for empty in ("none-*.csv", "nothing"):
        Path("nothing").mkdir(exist_ok=True)
        check_refused("files in it, given 0", privatize_file, {"x": TRUE}, empty, "out.csv")
    assert not Path("out.parquet").exists()


# --- the command line -----------------------------------------------------------------------------


class Pipe(io.TextIOWrapper):
    """Standard input or output of a test."""

    def __init__(self, content: bytes = b"") -> None:
        super().__init__(io.BytesIO(content))

    @property
    def content(self) -> bytes:
        return self.buffer.getvalue()


PIPED = ["privatize", "true.json", "-", "-", "--column", "x", "--keep", "n"]


def test_pipes_carry_records_in_and_reports_out() -> None:
    code = "import sys; from mechdesign.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, *PIPED],
        check=True,
        input=Path("in.csv").read_bytes(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.decode().splitlines()[1:3] == ['"a","0"', '"b, c","1"']
    assert b"records    200 rows of -" in done.stderr


def test_a_pipe_gets_all_reports_or_none(
    monkeypatch: pytest.MonkeyPatch, printed: Run, refused: Run
) -> None:
    monkeypatch.setattr(sys, "stdin", Pipe(Path("in.csv").read_bytes() + b"?,0\n"))
    assert refused(*PIPED).startswith("-: line 202, column 'x': expected")
    monkeypatch.setattr(sys, "stdin", Pipe(Path("in.csv").read_bytes()))
    told = printed("estimate", "true.json", "-", "--column", "x", "--json")
    assert json.loads(told)["values"] == [0.25, 0.5, 0.25]


@pytest.mark.parametrize("form", ["csv.gz", "tsv", "ndjson.zst", "arrows"])
def test_a_pipe_holds_the_format_that_is_named(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    privatize_file({"x": TRUE}, "in.csv", f"in.{form}")
    monkeypatch.setattr(sys, "stdin", Pipe(Path(f"in.{form}").read_bytes()))
    monkeypatch.setattr(sys, "stdout", out := Pipe())
    privatize_file({"x": TRUE}, "-", "-", form=form)
    Path(f"out.{form}").write_bytes(out.content)
    assert tally_file(TRUE, f"out.{form}", "x").counts.tolist() == [50, 100, 50]


@pytest.mark.parametrize("stream", [None, io.StringIO()], ids=["closed", "text"])
def test_a_standard_stream_without_bytes_is_refused_before_a_draw(
    stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook, and after ``>&-``."""
    for name, words in (("output", ("in.csv", "-")), ("input", ("-", "out.csv"))):
        monkeypatch.setattr(sys, f"std{name[:-3]}", stream)
        told = f"standard {name}: expected one that is open"
        check_refused(told, privatize_file, {"x": TRUE}, *words, ledger="ledger.sqlite")
    assert not Path("ledger.sqlite").exists()


def test_the_key_is_no_target(refused: Run) -> None:
    Path("key.csv").write_bytes(key := b"k" * 32)
    words = ["privatize", "true.json", "in.csv", "key.csv", "--column", "x", "--force"]
    assert "this file is also read" in refused(*words, "--key", "key.csv", "--id", "n")
    assert Path("key.csv").read_bytes() == key


def test_several_columns_have_channels_and_are_estimated_together(
    printed: Run, refused: Run
) -> None:
    words = ["privatize", "true.json", "in.csv", "out.csv", "--column", "x"]
    also = ["--also", "n", "flip.json"]
    assert "nats a person, for all columns together" in printed(*words, *also)
    assert "out.csv: the file exists" in refused(*words)
    told = printed(*words, "--force", *also, "--one-each", "--json")
    assert json.loads(told)["spends"]["one_each"] is True
    tallies = tally_file({"x": TRUE, "n": FLIP}, "out.csv", one_each=True)
    assert sum(tally.total for tally in tallies.values()) == 200
    Path("two.csv").write_text("p,q\n0,1\n1,1\n")
    both = ["estimate", "flip.json", "two.csv", "--column", "p", "--column", "q"]
    assert set(json.loads(printed(*both, "--json"))) == {"p", "q"}
    assert "column 'q'" in printed(*both)
    assert "one column for --csv or --plot" in refused(*both, "--csv", "e.csv")
    for again in (["--column", "x"], ["--also", "x", "flip.json"]):
        assert "a column occurs twice" in refused(*words, *again, "--force")


def test_a_key_gives_the_same_reports_again(printed: Run, refused: Run) -> None:
    Path("ids.csv").write_text("id,n\n" + "".join(f"{n},{n % 2}\n" for n in range(300)))
    Path("key").write_bytes(bytes(range(40)))
    words = ["privatize", "flip.json", "ids.csv", "a.csv", "--column", "n", "--key", "key"]
    for target in ("a.csv", "b.csv"):
        printed(*words[:3], target, *words[4:], "--id", "id")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    Path("key").write_bytes(b"x" * 70)
    message = refused(*words, "--id", "id", "--force")
    assert "a secret of 32 to 64 random bytes" in message
    assert "x" * 9 not in message
    Path("key").write_bytes(bytes(32))
    assert "a key and the ids of the records" in refused(*words, "--force")
    assert "No such file" in refused(*words[:-1], "none", "--id", "id", "--force")


def test_what_pipes_do_not_hold_is_refused(refused: Run) -> None:
    for form in ("parquet", "arrow", "xls"):
        words = ["privatize", "true.json", "-", "out.csv", "--column", "x", "--format", form]
        assert refused(*words).startswith("format: expected")


def test_what_gzip_wrote_has_no_name_in_it_and_zeros_after_it_are_padding() -> None:
    privatize_file({"x": TRUE}, "in.csv", "secret-name.csv.gz")
    packed = Path("secret-name.csv.gz").read_bytes()
    assert b"secret" not in packed
    assert gzip.decompress(packed).startswith(b"x\n")
    Path("padded.csv.gz").write_bytes(packed + bytes(600))
    assert tally_file(TRUE, "padded.csv.gz", "x").total == 200


def test_arrow_codes_beyond_their_categories_are_refused() -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 9], pa.int8()), ["a"], safe=False)
    with (
        pa.OSFile("in.arrows", "wb") as sink,
        pa.ipc.new_stream(sink, pa.schema([("x", codes.type)])) as writer,
    ):
        writer.write_batch(pa.record_batch([codes], names=["x"]))
    check_refused(r"in\.arrows: batch 1", privatize_file, {"x": TRUE}, "in.arrows", "out.csv")


@pytest.mark.parametrize("chunk", [None, 7])
def test_text_as_numbers_of_few_texts_is_read_as_text(tmp_path: Path, chunk: int | None) -> None:
    """Row groups with short and with long dictionaries: cells, copies and errors are the same."""
    texts = ["yes", "no", "yes", "no"] * 50 + ["no", "yes"] + ["yes", "perhaps"] + ["no"] * 150
    notes = [f"{'x' * (n % 90)}{n}" for n in range(200)] + ["short"] * 154
    table = pa.table({"answer": texts, "note": pa.array(notes, pa.large_string())})
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(table, source, row_group_size=101)
    channel = identity(["yes", "no"])
    how = {"unknown": "drop", "keep": ["note"], "chunk": chunk}
    done = privatize_file(channel, source, target, "answer", **how)
    assert [*done.unknown.values()] == [(1, "dropped")]
    found = pq.read_table(target)
    right = table.filter(pc.not_equal(table["answer"], "perhaps"))
    assert found.column("answer").to_pylist() == right.column("answer").to_pylist()
    assert found.column("note").to_pylist() == right.column("note").to_pylist()
    assert found.schema.field("note").type == pa.large_string()
    with pytest.raises(InputError, match="row 204, column 'answer'"):
        privatize_file(channel, source, tmp_path / "none.parquet", "answer", chunk=chunk)
