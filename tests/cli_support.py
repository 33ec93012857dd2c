"""Commands in tests: the type of the fixtures that run one, one in a process, and its tables."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., str]
"""Runs a command, given by its words, and returns a text."""


def run(*words: str, stdout: Any = subprocess.PIPE, **environment: str) -> Any:
    """Run a command in a process of its own, where warnings are errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "mechdesign", *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


def rows(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
