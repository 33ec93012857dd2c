"""What the tests of the explorer share: its parts that run in Node, and problems in its form."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.notions import Notion

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


def stated(problem: md.Problem) -> dict[str, Any]:
    """Return a problem as the page holds it."""
    table = problem.to_table()
    (privacy,) = table["privacy"]
    return {"title": problem.title, **table, "privacy": privacy}


def a_notion(draw: random.Random, size: int, budgets: Sequence[str]) -> Notion:
    """Return one of the notions of the page, on numbers from 0 on."""
    epsilon = draw.choice(budgets)
    kind = draw.randrange(9)
    if kind == 0:
        return md.LDP(epsilon)
    if kind == 1:
        return md.LIP(epsilon)
    if kind == 2:
        return md.PML(epsilon)
    if kind == 3:
        return md.AsymmetricLift(lower=draw.choice(["0.4", "1", "inf"]), upper=epsilon)
    if kind == 4:
        return md.HighLowLDP(epsilon, sensitive=list(range(draw.randint(1, size))))
    if kind == 5:
        cut = draw.randint(1, size - 1)
        return md.BlockLDP(epsilon, blocks=[list(range(cut)), list(range(cut, size))])
    if kind == 6:
        return md.MetricPrivacy(epsilon, "absolute")
    if kind == 7:
        table = [[abs(x - z) ** 0.5 for z in range(size)] for x in range(size)]
        return md.MetricPrivacy(epsilon, np.round(table, 3).tolist())
    matrix: list[list[Any]] = [
        [draw.choice([0.5, 1, 2, "inf", epsilon]) for _ in range(size)] for _ in range(size)
    ]
    return md.ContextAwareLDP(matrix)
