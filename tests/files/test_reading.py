"""Files are read within limits for any content, and only regular files are opened."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from mechdesign import design, load_channel, load_problem, resources, save
from mechdesign.errors import LimitError
from mechdesign.files import load_mechanism
from mechdesign.files.reading import MOST_PARTS, open_plain, read_document, read_text, read_toml
from tests.cli_support import Run
from tests.refusals_support import check_refused

in_one_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)


def fifo(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no named pipes here")
    os.mkfifo(path)


def listening(path: Path) -> None:
    if not hasattr(socket, "AF_UNIX"):
        pytest.skip("there are no sockets with names here")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def link_to_device(path: Path) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("there is no endless device here")
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (Path.mkdir, "a folder"),
        (fifo, "a pipe"),
        (link_to_device, "a device"),
        (listening, "a socket"),
    ],
)
def test_what_may_never_end_is_not_opened(
    make: Callable[[Path], None], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    make(Path("odd"))
    check_refused(f"odd: cannot read the file: it is {kind}", lambda: open_plain(Path("odd")))


@given(st.integers(0, 40), st.integers(1, 40))
@in_one_folder
def test_a_file_is_read_exactly_up_to_the_limit(tmp_path: Path, size: int, limit: int) -> None:
    (tmp_path / "x").write_text("x" * size, encoding="utf-8")
    with resources.allow(bytes=limit):
        if size <= limit:
            assert read_text(tmp_path / "x") == "x" * size
        else:
            with pytest.raises(LimitError, match=f"at most {limit} bytes, given {size}"):
                read_text(tmp_path / "x")


class Endless:
    """A file that states size 0 and never ends; it counts the bytes read."""

    def __init__(self) -> None:
        self.read_so_far = 0

    def __enter__(self) -> Endless:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def fileno(self) -> int:
        return 0

    def seek(self, place: int) -> int:
        self.read_so_far = place
        return place

    def read(self, size: int) -> bytes:
        self.read_so_far += size
        return b"x" * size


def test_no_more_is_read_than_the_limit_of_a_file_that_hides_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endless = Endless()
    monkeypatch.setattr("mechdesign.files.reading.open_plain", lambda _: endless)
    monkeypatch.setattr(os, "fstat", lambda _: os.stat_result([0] * 10))
    with resources.allow(bytes=5 * 2**20), pytest.raises(LimitError):
        read_text(Path("x"))
    assert endless.read_so_far <= 6 * 2**20


# TOML

BARE = st.text("ab-_1", min_size=1, max_size=3)
BASIC = st.lists(st.sampled_from(["a", ".", "'", " ", '\\"', "\\\\", "#", "[", "é"]), max_size=3)
LITERAL = st.text('a." \\#=', max_size=3)
PARTS = BARE | BASIC.map(lambda part: f'"{"".join(part)}"') | LITERAL.map(lambda part: f"'{part}'")
DOTS = st.sampled_from([".", " .", ". ", "\t.  "])
BEFORE = st.sampled_from(
    ["", "# it's \"\n", 'x = "\'"\n', "x = '\"'\n", "x = '''\n'\"\n'''\n", 'x = "\\""\n']
)
PLACES = st.sampled_from(["{} = 1", "[{}]", "[[{}]]", "y = {{ z = '', {} = 1 }}"])


@st.composite
def dotted(draw: st.DrawFn, least: int, most: int) -> str:
    parts = draw(st.lists(PARTS, min_size=least, max_size=most))
    key = parts[0] + "".join(draw(DOTS) + part for part in parts[1:])
    return draw(BEFORE) + draw(PLACES).format(key) + "\n"


@given(dotted(MOST_PARTS + 1, MOST_PARTS + 4), dotted(1, 4))
@example("x = {" + ".".join(["''"] * 20) + " = 1}", "")
@in_one_folder
def test_a_key_of_too_many_parts_is_refused_wherever_it_stands_and_others_are_read(
    tmp_path: Path, many: str, few: str
) -> None:
    (tmp_path / "x.toml").write_text(many, encoding="utf-8")
    check_refused("a dotted key has more than 8 parts", lambda: read_toml(tmp_path / "x.toml"))
    (tmp_path / "x.toml").write_text(few, encoding="utf-8")
    with contextlib.suppress(tomllib.TOMLDecodeError):  # a key twice
        parsed = tomllib.loads(few)
        assert read_toml(tmp_path / "x.toml") == parsed


@pytest.mark.parametrize("text", ["title = 0x1" + "0" * 5_000, "title = 0b" + "1" * 20_000])
def test_a_number_with_too_many_digits_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    with pytest.raises(LimitError, match="at most 5000 digits"):
        read_toml(tmp_path / "x.toml")


@pytest.mark.parametrize("text", ["x = [[], [], []]", "x = [[[[]]]]", "x.y = {z = [{}]}"])
def test_the_lists_of_toml_are_counted_on_all_levels(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    with resources.allow(lists=5):
        assert read_toml(tmp_path / "x.toml")
    with resources.allow(lists=4), pytest.raises(LimitError, match="at most 4 lists"):
        read_toml(tmp_path / "x.toml")


# JSON

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a[{]}"\\,', max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


def depth(document: Any) -> int:
    if not isinstance(document, list | dict):
        return 0
    inner = document.values() if isinstance(document, dict) else document
    return 1 + max(map(depth, inner), default=0)


@given(DOCUMENTS, st.integers(1, 6))
@in_one_folder
def test_json_is_refused_exactly_above_the_levels(tmp_path: Path, document: Any, most: int) -> None:
    text = json.dumps(document)
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with resources.allow(levels=most):
        if depth(document) <= most:
            assert read_document(tmp_path / "x.json") == document
        else:
            with pytest.raises(LimitError, match=f"given {depth(document)};"):
                read_document(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"digits": 10}, "[1, 12345678901]"),
        ({"digits": 10}, '["12345678901"]'),
        ({"entries": 10}, str([1] * 12)),
        ({"lists": 10}, str([[]] * 10)),
        ({"lists": 10}, str([{}] * 10)),
    ],
)
def test_what_json_costs_is_counted_before_it_is_parsed(
    limits: dict[str, int], text: str, tmp_path: Path
) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with (
        resources.allow(**limits),
        pytest.raises(LimitError, match=f"--allow {next(iter(limits))}"),
    ):
        read_document(tmp_path / "x.json")


# the worst files, in little memory

HEAD = '[domain]\nsize = 2\n[privacy]\nnotion = "ldp"\nepsilon = 1\n'
UTILITY = '[utility]\nobjective = "hamming"\n'
WORST = {
    "dots.toml": ".".join("a" * 30_000) + " = 1",
    "dots in a header.toml": "[" + ".".join("a" * 30_000) + "]",
    "dots in quotes.toml": "x = {" + ".".join(['"a"'] * 20_000) + " = 1}",
    "lists.toml": "x = " + "[" * 100_000,
    "levels.toml": "title = " + "[" * 300 + "]" * 300,
    "tables.toml": "x = " + "{a = " * 30_000,
    "digits.toml": "title = 0x" + "f" * 1_000_000,
    "exponent.toml": "[expected]\nvalue = 1e99999999999999999999",
    "exponent of text.toml": HEAD.replace("= 1", '= "1e999999999"') + UTILITY,
    "escapes.toml": 'title = "' + '\\"' * 500_000,
    "long.toml": 'title = "' + "x" * 5_000_000 + '"',
    "size.toml": HEAD.replace("2", "1_000_000") + UTILITY + "[prior]\nuniform = true\n",
    "grid.toml": "[domain]\ngrid = { rows = 1_000_000, columns = 1_000_000 }\n[privacy]\n[utility]",
    "twice.toml": f"[domain]\nvalues = {[*range(100_000), 0]}\n[privacy]\n[utility]\n",
    "notions.toml": "[domain]\nsize = 2\n" + "[[privacy]]\n" * 2_000 + UTILITY,
    "lists.json": "[" * 100_000 + "]" * 100_000,
    "number.json": "[" + "9" * 1_000_000 + "]",
    "many.json": "[" + "[]," * 2_000_000 + "[]]",
}


RUN_ALL = """
import contextlib, io, json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**29, 3 * 2**29))
from mechdesign.cli import main
for name in sys.argv[1:]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["verify" if name.endswith("json") else "solve", name])
    print(json.dumps([status, out.getvalue(), err.getvalue()]))
"""


@pytest.mark.skipif(os.name == "nt", reason="memory is not limited there")
def test_the_worst_files_are_refused_in_little_memory(tmp_path: Path) -> None:
    for name, text in WORST.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *WORST],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    for name, line in zip(WORST, done.stdout.splitlines(), strict=True):
        status, printed, error = json.loads(line)
        assert (status, printed) == (2, "")
        assert error.startswith(f"{name}: ")
        assert error.count("\n") == 1


def test_limits_are_raised_from_the_command_line(
    tmp_path: Path, printed: Run, refused: Run
) -> None:
    (tmp_path / "x.toml").write_text(HEAD + UTILITY, encoding="utf-8")
    words = ["solve", str(tmp_path / "x.toml"), "--allow"]
    assert "at most 10 problem_bytes, given" in refused(*words, "problem_bytes=10")
    assert printed(*words, "problem_bytes=10000", "--allow", "inputs=2")
    assert "did you mean 'problem_bytes'?" in refused(*words, "problem=3")


def test_every_limit_that_a_saved_file_is_past_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(HEAD + UTILITY, encoding="utf-8")
    save(design(load_problem(tmp_path / "x.toml")), tmp_path / "x.json")
    for load in (load_channel, load_mechanism):
        for name in ("bytes", "inputs", "entries", "lists", "levels"):
            expected = rf"^(?!.*x\.json.*x\.json).*x\.json: .*at most 1 {name}.*--allow {name}="
            with resources.allow(**{name: 1}), pytest.raises(LimitError, match=expected):
                load(tmp_path / "x.json")
