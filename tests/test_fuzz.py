"""Whatever a file holds, a command ends with 0, 1 or 2 and at most one line on standard error.

``MECHDESIGN_FUZZ_FILES`` and ``MECHDESIGN_FUZZ_SEED`` choose how many files the slow half tries and
which; ``python -m tests.fuzz`` also reports what takes more than a second of processor time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mechdesign.cli import main
from tests.fuzz import ROOT, saved_files


def run_fuzz(files: int, seed: int, *more: str) -> None:
    """Let nothing be wrong but for the seconds, which are those of a busy machine."""
    options = [f"--files={files}", f"--seed={seed}", "--seconds=1000", *more]
    command = [sys.executable, "-m", "tests.fuzz", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1].startswith(f"{files} cases, 0 wrong"), done


OVERFLOWS = {
    "a risk of one input": (
        "size = 1",
        "notion = 'high-low'\nsensitive = [0]\nepsilon = 2",
        "objective = 'tv-risk'\n[prior]\ncounts = [2]",
    ),
    "e**700": (
        "size = 2",
        "notion = 'lip'\nepsilon = 700",
        "objective = 'distortion'\nmatrix = [[1, 0], [1, 1e5]]\n[prior]\ncounts = [1000000000, 5]",
    ),
    "e**100000": (
        "size = 2",
        "notion = 'approximate-ldp'\nepsilon = 1e5\ndelta = 0.1",
        "objective = 'hamming'",
    ),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_floats_that_overflow_are_no_news(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    domain, privacy, utility = OVERFLOWS[name]
    text = f"[domain]\n{domain}\n[privacy]\n{privacy}\n[utility]\n{utility}\n"
    (tmp_path / "problem.toml").write_text(text)
    assert main(["solve", str(tmp_path / "problem.toml")]) == 0
    assert capsys.readouterr().err == ""


def test_a_few_hostile_files(tmp_path: Path) -> None:
    pool = tmp_path / "pool.json"
    pool.write_text(json.dumps(saved_files(step=8)))
    run_fuzz(50, 6, f"--pool={pool}")


@pytest.mark.long
@pytest.mark.slow
def test_many_hostile_files() -> None:
    files = int(os.environ.get("MECHDESIGN_FUZZ_FILES", "50000"))
    seed = int(os.environ.get("MECHDESIGN_FUZZ_SEED", "1"))
    run_fuzz(files, seed, f"--jobs={os.cpu_count()}")
