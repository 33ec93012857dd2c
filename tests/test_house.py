"""The house is in order: lint, format, types, extras, top-level folders, the README's commands."""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mechdesign

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "mechdesign",
    "problems",
    "solvers",
    "benchmarks",
    "tests",
    "notebooks",
    "docs",
    "formal",
}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--no-cache", "."],
        ["ruff", "format", "--no-cache", "--check", "."],
        pytest.param(["mypy", "--no-incremental"], marks=pytest.mark.slow),
        ["repo_review", "."],
    ],
    ids=["lint", "format", "types", "repository review"],
)
def test_the_checkers_find_nothing(command: list[str]) -> None:
    if importlib.util.find_spec(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed: pip install -e '.[test]'")
    found = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_extras_and_dependency_groups_say_the_same() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    groups = PYPROJECT["dependency-groups"]
    for name in ("test", "docs"):
        assert extras[name] == groups[name]


def pins(name: str) -> dict[str, str]:
    """Return the versions that a file of requirements names exactly."""
    text = (ROOT / ".ci" / name).read_text()
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))


def test_the_lowest_versions_are_those_that_are_tested() -> None:
    lowest = dict(re.split(">=|,", line)[:2] for line in PYPROJECT["project"]["dependencies"])
    tested = pins("lowest.txt")
    assert tested.keys() == lowest.keys()
    for name, version in lowest.items():
        assert tested[name].startswith(version), name


def test_every_dependency_is_locked_with_its_hashes() -> None:
    locked = pins("requirements.lock")
    assert {line.split(">=")[0] for line in PYPROJECT["project"]["dependencies"]} <= locked.keys()
    text = (ROOT / ".ci" / "requirements.lock").read_text()
    for block in re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block, block.splitlines()[0]


def test_the_version_is_the_same_everywhere() -> None:
    version = PYPROJECT["project"]["version"]
    assert mechdesign.__version__ == version
    assert re.search(
        rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE
    )
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()


def test_top_level_folders_are_the_agreed_ones() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if tracked.returncode:
        pytest.skip("not a git checkout, so its files cannot be listed")
    top = {line.split("/")[0] for line in tracked.stdout.splitlines() if "/" in line}
    assert top - {".ci", ".github"} == FOLDERS


OF_THE_WHOLE = {"docs", "formal", "front_door", "fuzz", "house", "layers", "library", "licenses"}
OF_THE_WHOLE |= {"notebooks"}
"""Tests at the top that are about no single module."""


def modules_of(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")}


def test_the_tests_mirror_the_library() -> None:
    """Every room has its tests in the folder of its name, or below the top in one file of its name.

    Every module at the top has its file.
    """
    library, tests = ROOT / "mechdesign", ROOT / "tests"
    folders = [library, *(path.parent for path in library.rglob("*/__init__.py"))]
    rooms = {folder.relative_to(library) for folder in folders}
    tested = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    assert tested - {Path("benchmarks"), Path("docs"), Path("explorer")} <= rooms
    files = {path.relative_to(tests) for path in tests.rglob("test_*.py")}
    tested |= {p.with_name(p.stem.removeprefix("test_")) for p in files if len(p.parts) > 1}
    assert {room for room in rooms if modules_of(library / room)} <= tested
    at_the_top = {path.stem.removeprefix("test_") for path in tests.glob("test_*.py")}
    assert at_the_top - OF_THE_WHOLE == modules_of(library) - {"_typing"}


def test_the_readme_has_one_command_to_solve_and_one_to_test() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    commands = [line for line in lines if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    solving, testing = commands
    problem = solving.rsplit(" ", 1)[1]
    assert (ROOT / problem).is_file()
    assert testing.endswith("python -m pytest")


def test_every_public_name_is_there_and_documented() -> None:
    for name in mechdesign.__all__:
        assert getattr(mechdesign, name).__doc__, name
    assert dir(mechdesign) == sorted(mechdesign.__all__)
    assert len(set(mechdesign.__all__) - set(mechdesign.NAMESPACES)) <= 85
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        _ = mechdesign.nonsense


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("plot_frontier", "plots"),
        ("compose", "accounting"),
        ("SubsetSelection", "mechanisms"),
        ("posterior_mean", "estimation"),
        ("spending", "collection"),
        ("design_each", "sweeps"),
        ("ContinuousChannel", "continuous"),
        ("Tally", "reports"),
    ],
)
def test_a_name_that_is_not_at_the_top_is_said_to_be_in_its_namespace(name: str, home: str) -> None:
    where = f"mechdesign.{home}.{name}"
    with pytest.raises(AttributeError, match=rf"'{name}'; mechdesign.{name} is {where}$"):
        getattr(mechdesign, name)
    assert getattr(importlib.import_module(f"mechdesign.{home}"), name)


def test_a_star_import_needs_no_extra() -> None:
    """Every name that ``__all__`` lists comes with the default install."""
    code = "import sys; sys.modules.update(sklearn=None, ecos=None)\nfrom mechdesign import *"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert found.returncode == 0, found.stderr
    assert callable(mechdesign.collection.ChannelTransformer)  # with the extra it is there
