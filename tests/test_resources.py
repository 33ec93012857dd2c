"""Limits on what is read: past one, an error names it and says how to raise it."""

from __future__ import annotations

import contextlib
import re
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from mechdesign import resources
from mechdesign.errors import InputError, LimitError
from mechdesign.kernel.certificate import Steps
from mechdesign.resources import Resources

NAMES = [field.name for field in fields(Resources)]


@given(st.sampled_from(NAMES), st.integers(1, 10**12), st.integers(0, 10**13))
def test_a_size_is_refused_exactly_above_its_limit(name: str, limit: int, size: int) -> None:
    with resources.allow(**{name: limit}):
        if size <= limit:
            resources.check_size(name, size, "a key")
            return
        with pytest.raises(LimitError, match=f"a key: .*{limit} {name}.*--allow {name}={size}"):
            resources.check_size(name, size, "a key")


def test_limits_are_those_of_before_after_the_block() -> None:
    before = resources.current()
    with contextlib.suppress(RuntimeError), resources.allow(steps=1):
        assert resources.current().steps == 1
        assert resources.current().bytes == before.bytes
        raise RuntimeError
    assert resources.current() == before


@pytest.mark.parametrize("limits", [{"step": 1}, {"steps": 0}, {"steps": True}, {"steps": 1.5}])
def test_invalid_limits_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(InputError), resources.allow(**limits):
        pass


@given(st.lists(st.integers(0, 100)))
def test_steps_add_up_and_stop_at_the_first_that_is_too_many(spent: list[int]) -> None:
    work, total = Steps(500), 0
    for steps in spent:
        total += steps
        if total > 500:
            with pytest.raises(LimitError, match="the rays"):
                work.take(steps, "the rays")
            return
        work.take(steps, "the rays")
    assert work.spent == total


def test_the_table_in_the_docs_has_every_limit_and_its_default() -> None:
    docs = Path(__file__).parents[1] / "docs" / "problem_files.md"
    section = docs.read_text(encoding="utf-8").partition("## Limits")[2]
    written = re.findall(r"^\| `(\w+)` \| ([\d,]+)( MiB)? \|", section, re.MULTILINE)
    documented = {
        name: int(size.replace(",", "")) * 2 ** (20 * bool(unit)) for name, size, unit in written
    }
    assert documented == {name: getattr(Resources(), name) for name in NAMES}
