"""Conditions of all tests: no clock decides anything, Ctrl-C works, and where the data lie.

By default every run tries the same examples. ``HYPOTHESIS_PROFILE=random`` tries new ones, five
times as many where a test does not say how many; a failure then prints how to repeat it.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

from benchmarks.start import set_data_folder

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
