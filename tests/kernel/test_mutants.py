"""Mutants of the kernel are killed: 30, or 300; both take minutes and run when asked for."""

from __future__ import annotations

import os

import pytest

from tests.kernel.equivalent import EQUIVALENT
from tests.kernel.mutants import (
    GENERAL,
    KERNEL,
    ROOT,
    Mutant,
    all_mutants,
    drawn,
    mutants_of,
    suite_of,
    survivors,
)

SEED = 1


def words(mutants: list[Mutant]) -> list[str]:
    return [f"line {mutant.line}: {mutant.name}" for mutant in mutants]


def test_the_equivalent_mutants_are_mutants() -> None:
    """A line that changed loses its excuse."""
    known = {mutant.name for path in KERNEL.rglob("*.py") for mutant in mutants_of(path)}
    assert not set(EQUIVALENT) - known
    assert all(EQUIVALENT.values())


def test_a_draw_is_repeated_by_its_seed() -> None:
    assert words(drawn(20, SEED)) == words(drawn(20, SEED))
    assert len(drawn(300, SEED)) == 300


def test_each_file_that_decides_has_mutants_and_tests() -> None:
    deciding = [file for file, mutants in all_mutants().items() if len(mutants) > 5]
    assert len(deciding) > 30
    assert suite_of("oracles/line.py") == ["tests/kernel/oracles/test_line.py"]
    assert [path for path in GENERAL if not (ROOT / path).exists()] == []


@pytest.mark.slow
@pytest.mark.long
def test_30_mutants_are_killed() -> None:
    """Survivors are listed; it takes minutes, so only ``-m long`` asks for it."""
    assert words(survivors(drawn(30, SEED), jobs=os.cpu_count() or 1)) == []


@pytest.mark.slow
@pytest.mark.long
def test_300_mutants_are_killed() -> None:
    assert words(survivors(drawn(300, SEED), jobs=os.cpu_count() or 1)) == []
