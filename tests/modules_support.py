"""Files that tests import although they are in no package, and texts that tests compare."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@cache
def module_at(path: Path) -> ModuleType:
    """Import a file that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_same(new: str, saved: str, rel: float = 1e-3, near: float = 1e-6) -> None:
    """Compare words, and numbers to what another processor may round otherwise."""
    assert NUMBER.sub("#", new).split() == NUMBER.sub("#", saved).split()
    numbers, saved_numbers = (list(map(float, NUMBER.findall(text))) for text in (new, saved))
    assert numbers == pytest.approx(saved_numbers, rel=rel, abs=near)
