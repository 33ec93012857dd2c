"""A mistyped argument gives status 2 and one line with the expected and the given value."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechdesign.cli import main

COMMANDS = (
    *("solve", "verify", "check", "example", "frontier", "mechanism"),
    *("privatize", "estimate", "advise", "leakage", "compare", "explore"),
)


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that fails, and return its only line of output."""
    try:
        status = main(words)
    except SystemExit as ended:
        status = ended.code
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    return captured.err


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ([], ["expected a command, given none"]),
        (["sovle", "a.toml"], ["expected one of solve, ", "given 'sovle'; did you mean 'solve'?"]),
        (["--verison"], ["given '--verison'; did you mean '--version'?"]),
        (["explore", "--part", "cones"], ["given 'cones'; did you mean 'cone'?"]),
        (["solve", "a.toml", "b.toml"], ["mechdesign solve: expected no more words, given 'b"]),
        (["advise", "1", "1", "10"], ["INPUTS: expected a whole number from 2 ", "given 1"]),
        (["advise", "10", "1", "0"], ["REPORTS: expected a whole number from 1 ", "given 0"]),
        (["advise", "10", "-1", "10"], ["EPSILON: expected a finite number", "given '-1'"]),
        (["example", "lpi"], ["given 'lpi'; did you mean 'lip'?"]),
    ],
)
def test_a_mistyped_word_is_named_with_what_was_expected(
    words: list[str], parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    line = said(words, capsys)
    assert all(part in line for part in parts), line


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_is_named_with_its_command(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"solve": 1, "verify": 1, "check": 1, "example": 1, "frontier": 1, "mechanism": 2}
    given |= {"privatize": 3, "estimate": 2, "advise": 3, "leakage": 1, "compare": 2}
    needed = {"mechanism": ["-o", "x.json"], "privatize": ["--column", "a"]}
    needed["estimate"] = needed["privatize"]
    words = [*["1"] * given.get(command, 0), *needed.get(command, [])]
    line = said([command, *words, "--jsonn"], capsys)
    assert f"mechdesign {command}: expected options of this command, given '--jsonn'" in line
    assert f"see mechdesign {command} --help" in line


def test_the_error_of_an_unwritable_target_has_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["solve", "a.toml", "-o"]
    assert "this is a folder, not a file" in said([*words, str(tmp_path)], capsys)
    line = said([*words, str(tmp_path / "none" / "x.json")], capsys)
    assert f"the folder '{tmp_path / 'none'}' does not exist" in line


def test_a_problem_in_place_of_a_channel_gets_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = tmp_path / "problem.toml"
    problem.write_text('[privacy]\nnotion = "ldp"\n')
    line = said(["verify", str(problem)], capsys)
    assert f"mechdesign solve {problem} -o channel.json designs a channel" in line
