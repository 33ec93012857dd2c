"""Error messages do not quote files: a word that occurs in the file only is in none of them.

The exceptions are an unknown key of a problem, and the name of a row in a table of rows, a title.
"""

from __future__ import annotations

import gzip
import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import load_problem
from mechdesign.channel import Channel
from mechdesign.cli import main
from mechdesign.collection.records import tally_file
from mechdesign.errors import MechdesignError
from mechdesign.files import load_mechanism, save
from tests.records_support import identity, privatize_file

MARK = "zq81secret"

PROBLEM = """
[domain]
values = ["x", "yes"]
{prior}
[privacy]
{notion}
[utility]
{utility}
"""
LDP, HAMMING = 'notion = "ldp"\nepsilon = 1', 'objective = "hamming"'


def problem(
    folder: Path, *, prior: str = "", notion: str = LDP, utility: str = HAMMING
) -> Callable[[], object]:
    (folder / "p.toml").write_text(PROBLEM.format(prior=prior, notion=notion, utility=utility))
    return lambda: load_problem(folder / "p.toml")


def readers(folder: Path, content: bytes) -> Iterator[Callable[[], object]]:
    """Yield everything that reads a file, each kind of which holds the content, but problems."""
    channel = identity(["x", "yes"])
    for ending in ("csv", "csv.gz", "parquet", "json", "toml"):
        (folder / f"in.{ending}").write_bytes(content)
    (folder / "packed.csv.gz").write_bytes(gzip.compress(content))
    for name in ("in.csv", "in.csv.gz", "packed.csv.gz", "in.parquet"):
        source = folder / name
        yield lambda source=source: privatize_file(channel, source, folder / "out.csv", "a")
        yield lambda source=source: tally_file(channel, source, "a")
        yield problem(folder, prior=f'[prior]\ndata = {{ file = "{name}", column = "a" }}')
        if name in ("in.csv.gz", "in.parquet"):
            continue  # neither is one
        file = f'{{ file = "{name}" }}'
        yield problem(folder, notion=f'notion = "context-aware"\nmatrix = {file}')
        yield problem(folder, notion=f'notion = "metric"\nepsilon = 1\ndistance = {file}')
        yield problem(folder, notion=f'notion = "linear"\nrows = {file}')
        yield problem(folder, utility=f'objective = "distortion"\nmatrix = {file}')
    yield lambda: load_mechanism(folder / "in.json")


def all_said(read: Callable[[], object]) -> str:
    """Return all output about a failure, empty without one."""
    try:
        read()
    except MechdesignError as error:
        return "".join([str(error), repr(error), *traceback.format_exception(error)])
    return ""


ROWS = "name,side,label,coefficient,exponent\n"
MALFORMED = [
    MARK,
    f"-----BEGIN PRIVATE KEY-----\n{MARK}\n-----END PRIVATE KEY-----\n",
    f"TOKEN={MARK}\nOTHER={MARK}\n",
    f"TOKEN='{MARK}'\n",
    f"PATH={MARK}\0HOME={MARK}\0",
    f"a\n{MARK}\n",
    f"a,{MARK}\nx,1\n{MARK},{MARK}\n",
    f"a{MARK}\nx\n",
    f"{MARK};a\nx;yes\n",
    f"a\nx\n{MARK}yes\n",
    f"a,b\nx\n{MARK},1,2\n",
    f'a\n"{MARK}\nx\n',
    f'a\n"x"{MARK}\n',
    f'"{MARK}',
    f"a\nx\n\n\n{MARK}\n",
    f"0,{MARK}\n1,0\n",
    f",x,{MARK}\nx,0,1\n{MARK},1,0\n",
    f"0,1\n{MARK}\n",
    f"0,1\n1,0\n{MARK},1\n{MARK},1\n",
    f"{ROWS}{MARK},middle,x,1,1\n",
    f"{ROWS}r,{MARK},x,1,1\n",
    f"{ROWS}r,left,{MARK},1,1\nr,right,x,1,1\n",
    f"{ROWS}r,left,x,{MARK},1\n",
    f"{ROWS}r,left,x,1,{MARK}\n",
    f"{ROWS}r,left,x,1,1,{MARK}\n",
    json.dumps(MARK),
    json.dumps([MARK, [MARK]]),
    json.dumps({"private_key": MARK, "nested": {"key": MARK}}),
    json.dumps({"format": MARK, "version": MARK}),
    json.dumps({"format": "mechdesign-channel", "version": 1, "digest": MARK}),
    json.dumps({"a": MARK})[:-1],
    f'{{"a": "{MARK}\\x"}}',
    f'{{"a": {MARK}}}',
]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        *((content, "utf-8") for content in MALFORMED),
        *((content, "utf-16") for content in MALFORMED[::3]),
        *((content, "latin") for content in MALFORMED[1::3]),
    ],
)
def test_errors_do_not_quote_malformed_files(content: str, encoding: str, tmp_path: Path) -> None:
    coded = content.encode("utf-8" if encoding == "latin" else encoding)
    for read in readers(tmp_path, coded + b"\xff\xfe" * (encoding == "latin")):
        assert MARK not in all_said(read)
    assert MARK not in all_said(lambda: load_problem(tmp_path / "in.toml"))


PIECES = st.sampled_from([MARK, "a", "x", "1", "\n", ",", '"', "=", "[", "]", "{", "}", "\0", " "])


@given(st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=12)
def test_errors_do_not_quote_files(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    for read in readers(tmp_path_factory.mktemp("any"), content.encode()):
        assert MARK not in all_said(read)


def test_errors_do_not_quote_parquet_files(tmp_path: Path) -> None:
    channel = identity(["x", "yes"])
    for table in (
        pa.table({"a": ["x", MARK]}),
        pa.table({MARK: ["x"], "b": [MARK]}),
        pa.table({"a": [{MARK: 1}]}),
        pa.table({"a": [[MARK]]}),
        pa.table({"a": [MARK.encode() + b"\xff"]}),
    ):
        pq.write_table(table, tmp_path / "in.parquet")
        for read in (
            lambda: privatize_file(channel, tmp_path / "in.parquet", tmp_path / "o.csv", "a"),
            lambda: tally_file(channel, tmp_path / "in.parquet", "a"),
        ):
            assert ": " in all_said(read)
            assert MARK not in all_said(read)


@pytest.mark.parametrize("content", MALFORMED)
def test_commands_do_not_say_it_either(
    content: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for ending in ("csv", "json", "toml"):
        Path(f"in.{ending}").write_text(content, encoding="utf-8")
    save(Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]]), "channel.json")
    for words in (
        ["leakage", "in.csv"],
        ["leakage", "channel.json", "--prior", "in.toml"],
        ["verify", "in.json"],
        ["verify", "in.csv"],
        ["solve", "in.toml"],
        ["mechanism", "hadamard-response", "in.toml", "-o", "out.json"],
        ["privatize", "channel.json", "in.csv", "out.csv", "--column", "a"],
        ["estimate", "channel.json", "in.csv", "--column", "a"],
    ):
        assert main(words) in (1, 2)
        printed = capsys.readouterr()
        assert MARK not in printed.out + printed.err
        assert printed.err.count("\n") == 1
