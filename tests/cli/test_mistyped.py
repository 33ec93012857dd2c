"""A mistyped argument gives status 2 and one line with the expected and the given value."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechdesign.cli import main
from tests.cli_support import Run

COMMANDS = (
    *("solve", "verify", "check", "example", "frontier", "mechanism"),
    *("privatize", "estimate", "advise", "leakage", "compare", "explore"),
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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
        (["advise", "10", "x", "1"], ["EPSILON: expected", "given 'x'"]),
        (["advise", "4x", "1", "5"], ["inputs: expected a whole number, or a grid", "given '4x'"]),
        (["advise", "0x4", "1", "5"], ["grid.rows: expected a whole number >= 1, given 0"]),
        (["advise", "1x1", "1", "5"], ["inputs: expected at least two inputs, given 1"]),
    ],
)
def test_a_mistyped_word_is_named_with_what_was_expected(
    words: list[str], parts: list[str], refused: Run
) -> None:
    line = refused(*words)
    assert all(part in line for part in parts), line


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_is_named_with_its_command(command: str, refused: Run) -> None:
    given = {"solve": 1, "verify": 1, "check": 1, "example": 1, "frontier": 1, "mechanism": 2}
    given |= {"privatize": 3, "estimate": 2, "advise": 3, "leakage": 1, "compare": 2}
    needed = {"mechanism": ["-o", "x.json"], "privatize": ["--column", "a"]}
    needed["estimate"] = needed["privatize"]
    words = [*["1"] * given.get(command, 0), *needed.get(command, [])]
    line = refused(command, *words, "--jsonn")
    assert f"mechdesign {command}: expected options of this command, given '--jsonn'" in line
    assert f"see mechdesign {command} --help" in line


def test_a_problem_in_place_of_a_channel_gets_a_hint(tmp_path: Path, refused: Run) -> None:
    problem = tmp_path / "problem.toml"
    problem.write_text('[privacy]\nnotion = "ldp"\n')
    line = refused("verify", str(problem))
    assert f"mechdesign solve {problem} -o channel.json designs a channel" in line


@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)])
def test_help_is_there(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main([*command, "--help"])
    assert leaving.value.code == 0
    assert " ".join(["usage: mechdesign", *command]) in capsys.readouterr().out
