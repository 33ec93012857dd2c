"""Conditions of all tests: no clock decides anything, Ctrl-C works, and where the data lie.

By default every run tries the same examples. ``HYPOTHESIS_PROFILE=random`` tries new ones, five
times as many where a test does not say how many; a failure then prints how to repeat it.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from benchmarks.start import set_data_folder
from mechdesign.cli import main
from tests.cli_support import Run

settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None, max_examples=500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))

set_data_folder()

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it


@pytest.fixture(autouse=True)
def _mistakes_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show a ValueError of our own arithmetic, which for users is a failure of one route.

    Tests of solvers that fail undo this: they ask for ``monkeypatch`` themselves.
    """
    monkeypatch.setattr("mechdesign.solver_guard.NUMERICAL", ())


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Return a browser; skip where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[explorer]'")
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    if binary is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield browser
        browser.close()


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
        assert not any(word in output.err for word in ("Traceback", "Decimal("))
        assert {file: file.read_bytes() for file in Path().iterdir() if file.is_file()} == before
        return output.err.rstrip("\n")

    return run
