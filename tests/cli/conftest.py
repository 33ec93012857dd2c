"""Commands run in a test: what they print, and how they are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechdesign.cli import main
from tests.cli_support import Run


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command and returns what it prints, nothing on errors."""

    def run(*words: str, status: int = 0) -> str:
        assert main(words) == status
        output = capsys.readouterr()
        assert output.err == ""
        return output.out

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command, which fails in one line and changes no file."""

    def run(*words: str, status: int = 2) -> str:
        before = {file: file.read_bytes() for file in Path().iterdir() if file.is_file()}
        try:
            found = main(words)
        except SystemExit as leaving:
            found = leaving.code
        output = capsys.readouterr()
        assert (found, output.out, output.err.count("\n")) == (status, "", 1), output
        assert "Traceback" not in output.err
        assert {file: file.read_bytes() for file in Path().iterdir() if file.is_file()} == before
        return output.err.rstrip("\n")

    return run
