"""Mutants of the kernel are killed: 30, or 300; both take minutes and run when asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.kernel.mutants import GENERAL, ROOT, all_mutants, drawn, excused, suites_of

SEED = 1


def test_the_equivalent_mutants_are_mutants() -> None:
    """A line that changed loses its excuse."""
    known = {mutant.name for mutants in all_mutants().values() for mutant in mutants}
    assert {line: names for line, names in excused(known).items() if len(names) != 1} == {}


def test_a_draw_is_repeated_by_its_seed() -> None:
    found = drawn(20, SEED, "oracles")
    assert len(found) == 20
    assert drawn(20, SEED, "oracles") == found


def test_each_file_that_decides_has_mutants_and_tests() -> None:
    deciding = [file for file, mutants in all_mutants().items() if len(mutants) > 5]
    assert len(deciding) > 30
    assert suites_of("oracles/rays.py")[0] == ["tests/kernel/oracles/test_rays.py"]
    assert all(any(suites_of(file)[:2]) for file in deciding if "/" in file and "names" not in file)
    assert [path for path in GENERAL if not (ROOT / path).exists()] == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("count", [30, 300])
def test_mutants_are_killed(count: int) -> None:
    """Survivors are listed; it takes minutes, so only ``-m long`` asks for it."""
    command = [sys.executable, "-m", "tests.kernel.mutants", f"--count={count}", f"--seed={SEED}"]
    done = subprocess.run(
        [*command, f"--jobs={os.cpu_count()}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    alive = [line for line in done.stdout.splitlines() if not line.startswith("killed")]
    assert done.returncode == 0, "\n".join([*alive, done.stderr])
