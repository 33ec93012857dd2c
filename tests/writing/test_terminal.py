"""Control characters are shown escaped, in text from a file or from the command line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.cli import main
from mechdesign.writing.text import VisibleStream, below, visible

OVERRIDES = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
STEERING = [chr(n) for n in [*range(0x20), *range(0x7F, 0xA0), *OVERRIDES] if chr(n) != "\n"]


@settings(max_examples=50)
@given(st.text())
def test_no_steering_character_is_left_and_json_means_the_same(text: str) -> None:
    shown = visible(text)
    assert not set(shown) & set(STEERING)
    document = json.dumps(text.encode("utf-8", "replace").decode())
    assert json.loads(visible(document)) == json.loads(document)


def test_every_control_and_every_override_is_shown_and_letters_stay() -> None:
    for code in range(0x110000):
        letter = chr(code)
        if unicodedata.category(letter) not in ("Cc", "Cf", "Zl", "Zp") and code % 97:
            continue
        stays = visible(letter) == letter
        if letter in STEERING:
            assert visible(letter) == f"\\u{code:04x}"
        elif not stays:  # these separate lines, or mark a direction
            assert unicodedata.category(letter) in ("Zl", "Zp", "Cf")
    assert visible("naïve — 日本語 😀 שלום\n") == "naïve — 日本語 😀 שלום\n"


def test_a_stream_shows_what_it_does_not_obey() -> None:
    written = io.StringIO()
    stream = VisibleStream(written)
    assert stream.write("a\x1b[2Jb\n") == 7
    stream.flush()
    assert written.getvalue() == "a\\u001b[2Jb\n"
    assert not stream.isatty()
    assert below(stream.as_text()) is written
    assert below(written) is written
    nothing = VisibleStream(None)
    assert nothing.write("a") == 1
    nothing.flush()


def quoted(text: str) -> str:
    """Return text as TOML has it."""
    return json.dumps(text).replace("\x7f", "\\u007f")


PROBLEM = """\
title = {text}
source = {text}
[domain]
values = [{label}, "b"]
[privacy]
notion = "ldp"
epsilon = 1.0
[utility]
objective = "hamming"
"""

FILES: dict[str, Callable[[str], str]] = {
    "problem.toml": lambda text: PROBLEM.format(text=quoted(text), label=quoted(f"a{text}")),
    "key.toml": lambda text: f"{quoted(text)} = 1",
    "notion.toml": lambda text: (
        f'[domain]\nsize=2\n[privacy]\nnotion={quoted(text)}\n[utility]\nobjective="hamming"\n'
    ),
    "broken.toml": lambda text: f"a = {text}",
    "records.csv": lambda text: f'"x{text}"\n"a{text}"\nb\n',
    "matrix.csv": lambda text: f"0.5,{text}\n",
    "forged.json": lambda text: json.dumps({"format": text, text: text}),
}
"""Untrusted files."""

COMMANDS = [
    "@",
    "solve problem.toml",
    "solve problem.toml -o channel.json",
    "solve problem.toml --json",
    "solve problem.toml --route @",
    "solve problem.toml --time-limit @",
    "solve problem.toml -o @/@",
    "solve problem.toml --plot @",
    "solve key.toml",
    "solve notion.toml",
    "solve broken.toml",
    "solve @.toml",
    "solve problem.toml --data @",
    "verify channel.json",
    "verify forged.json",
    "verify @.json",
    "check problem.toml notion.toml @.toml",
    "check problem.toml --json",
    "example @",
    "frontier problem.toml --epsilon 0:1:2 --csv curve.csv",
    "frontier problem.toml --epsilon @",
    "frontier problem.toml --reach @",
    "frontier problem.toml --epsilon 0:1:2 --csv @/@",
    "mechanism @ problem.toml -o mechanism.json",
    "mechanism randomized-response problem.toml -o mechanism.json",
    "mechanism randomized-response problem.toml -o mechanism.json --json",
    "privatize channel.json records.csv reports.csv --column x@",
    "privatize channel.json records.csv reports.csv --column x@ --json",
    "privatize channel.json records.csv reports.csv --column @",
    "privatize channel.json records.csv reports.csv --column x@ --unknown map:@",
    "privatize channel.json records.csv reports.csv --column x@ --keep @",
    "privatize channel.json records.csv reports.csv --column x@ --separator @",
    "privatize channel.json records.csv reports.csv --column x@ --seed @",
    "privatize channel.json records.csv reports.csv --column x@ --ledger ledger",
    "privatize channel.json records.csv reports.csv --column x@ --ledger ledger",
    "privatize channel.json records.csv reports.csv --column x@ --ledger @/@",
    "privatize channel.json @.csv reports.csv --column x@",
    "privatize channel.json records.csv @ --column x@",
    "estimate channel.json reports.csv --column x@",
    "estimate channel.json records.csv --column x@",
    "estimate channel.json reports.csv --column @",
    "estimate channel.json reports.csv --column x@ --method @",
    "leakage channel.json",
    "leakage channel.json --json",
    "leakage matrix.csv",
    "leakage channel.json --prior @",
    "leakage channel.json --prior @.toml",
    "leakage --ledger ledger",
    "leakage --ledger forged.json",
    "leakage --ledger @",
]
"""Command lines; @ stands for untrusted text."""

HOSTILE = st.text(
    st.sampled_from([*(c for c in STEERING if c != "\0"), "x", "[", "]", "0", ";", " "]),
    min_size=1,
    max_size=6,
)


def run(words: list[str]) -> tuple[str, str]:
    out, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
        contextlib.suppress(SystemExit),
    ):
        main(words)
    return out.getvalue(), errors.getvalue()


def test_no_command_sends_an_escape_sequence_to_the_terminal() -> None:
    check_every_command("\x1b]0;x\x07\x9b2J\u202e\x7f\u2066")


@pytest.mark.slow
@settings(max_examples=5)
@given(text=HOSTILE)
def test_no_command_sends_any_steering_character_to_the_terminal(text: str) -> None:
    check_every_command(text)


def check_every_command(text: str) -> None:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, content in FILES.items():
                Path(name).write_text(content(text), encoding="utf-8")
            for command in COMMANDS:
                words = [word.replace("@", text) for word in command.split()]
                for written in run(words):
                    assert not set(written) & set(STEERING), command
        finally:
            os.chdir(before)


@pytest.mark.parametrize("text", ["\x1b[2J", "\x9b2J", "\u202e"])
def test_the_text_is_there_and_can_be_read(text: str, tmp_path: Path) -> None:
    problem = tmp_path / "problem.toml"
    problem.write_text(FILES["notion.toml"](text), encoding="utf-8")
    out, error = run(["solve", str(problem)])
    assert out == ""
    assert error.count("\n") == 1
    out, error = run(["solve", str(tmp_path / f"{text}.toml")])
    assert visible(text) in error


def test_a_bar_moves_on_its_line_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar itself returns to the start of its line, below the stream that shows such things."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    from mechdesign.designs.progress import tqdm_bar

    terminal = Terminal()
    with contextlib.redirect_stderr(VisibleStream(terminal).as_text()):
        for _ in tqdm_bar(None, range(3), desc="work", delay=0):
            pass
    assert "\rwork" in terminal.getvalue()
    assert "\\u" not in terminal.getvalue()
