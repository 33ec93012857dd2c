"""What the tests of the explorer share: its parts that run in Node, and problems in its form."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mechdesign import Problem

EXPLORER = Path(__file__).parents[1] / "docs" / "explorer"
HARNESS = EXPLORER / ".tests" / "node.mjs"


def need_node() -> None:
    """Skip where the page cannot be built."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    if not (EXPLORER / "node_modules").is_dir():
        pytest.skip("the packages of the explorer are not installed: npm ci in docs/explorer")


@cache
def harness() -> Path:
    """Return the script that runs tasks in Node, built from the sources of the page."""
    subprocess.run(["node", "build.mjs", "--tests"], cwd=EXPLORER, check=True, timeout=60)
    return HARNESS


def in_node(tasks: list[dict[str, Any]]) -> list[Any]:
    """Return the results of tasks, in order."""
    need_node()
    done = subprocess.run(
        ["node", str(harness())],
        input=json.dumps(tasks),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    results: list[Any] = json.loads(done.stdout)
    return results


def stated(problem: Problem) -> dict[str, Any]:
    """Return a problem as the page holds it."""
    table = problem.to_table()
    (privacy,) = table["privacy"]
    return {"title": problem.title, **table, "privacy": privacy}
