"""The documentation builds strictly, its map is that of the imports, and its examples run."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def module_at(path: Path) -> ModuleType:
    """Import a file that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


house = module_at(ROOT / "docs" / "map.py")


def shown(svg: str) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """Return what a map says, whatever it looks like: rooms with floor and sub-rooms, arrows."""
    rooms = re.findall(r'data-room="(.*?)" data-floor="(.*?)" data-parts="(.*?)"', svg)
    return set(rooms), set(re.findall(r'data-from="(.*?)" data-to="(.*?)"', svg))


def test_the_map_is_that_of_the_imports() -> None:
    saved = shown(house.PICTURE.read_text(encoding="utf-8"))
    assert saved == shown(house.draw()), "run: python docs/map.py"
    rooms = {room for room, _, _ in saved[0]}
    assert {"routes", "certify", "notions", "exact"} <= rooms
    assert {room for room, _ in house.PATH} <= rooms


def package(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_a_map_has_floors_and_no_arrow_that_follows_from_others(tmp_path: Path) -> None:
    graph = house.imports(
        package(
            tmp_path,
            low="import math",
            middle="def later():\n    from house import low",
            top="from house.middle import later\nimport house.low",
        ),
        "house",
    )
    assert graph == {"low": frozenset(), "middle": {"low"}, "top": {"low", "middle"}}
    assert house.floors(graph) == {"low": 0, "middle": 1, "top": 2}
    assert house.arrows(graph) == [("middle", "low"), ("top", "middle")]


def test_a_circle_of_rooms_is_named(tmp_path: Path) -> None:
    graph = house.imports(package(tmp_path, a="import house.b", b="import house.a"), "house")
    with pytest.raises(ValueError, match="a -> b -> a"):
        house.floors(graph)


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("zensical is not installed: pip install -e '.[docs]'")
    for name in ("docs", "mechdesign"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "No issues found" in built.stdout + built.stderr
    pages = {page.parent.name for page in (tmp_path / "site").rglob("index.html")}
    assert {"architecture", "api", "certificates"} <= pages
