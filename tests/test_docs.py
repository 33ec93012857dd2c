"""The map of the documentation is that of the imports, its names are all names, its examples run.

Fenced blocks of a page run in order, in an empty folder that holds ``problems/`` only: ``python``
blocks in one namespace, ``sh`` and ``console`` blocks in a shell in which ``mechdesign`` is this
checkout's; its commands that need no shell run in this process. What follows a ``$`` line of a
``console`` block is what the command prints; so is a ``text`` block right after a block that runs.
Any other ``text`` block is not run.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot as plt

import mechdesign
from mechdesign.cli import main
from mechdesign.files import load_problem
from mechdesign.notions import NOTIONS
from mechdesign.utilities import UTILITIES
from tests.modules_support import check_same, module_at

ROOT = Path(__file__).resolve().parents[1]


house = module_at(ROOT / "docs" / "map.py")
tables = module_at(ROOT / "docs" / "schema.py")


def shown(svg: str) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """Return what a map says, whatever it looks like: rooms with floor and sub-rooms, arrows."""
    rooms = re.findall(r'data-room="(.*?)" data-floor="(.*?)" data-parts="(.*?)"', svg)
    return set(rooms), set(re.findall(r'data-from="(.*?)" data-to="(.*?)"', svg))


def test_the_map_is_that_of_the_imports() -> None:
    saved = shown(house.PICTURE.read_text(encoding="utf-8"))
    assert saved == shown(house.draw()), "run: python docs/map.py"
    rooms = {room for room, _, _ in saved[0]}
    assert {"search", "kernel", "notions", "exact"} <= rooms
    assert {room for room, _ in house.PATH} <= rooms


def test_the_tables_of_a_file_are_those_of_the_kernel() -> None:
    page = tables.PAGE.read_text(encoding="utf-8")
    assert page == tables.written(page), "run: python docs/schema.py"
    kinds = {table.kind for form in tables.SLOTS.values() for table in tables.tables(form)}
    assert set(tables.THEOREMS) == kinds


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


OPTIONAL = re.compile(r"^(?:from|import) (dask|duckdb|pyspark)\b", re.MULTILINE)
"""Packages of an extra that a block may import."""

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how_to").glob("*.md")),
]

FENCE = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
RUN = {"python", "sh", "console"}
KINDS = RUN | {"text", "toml", "json"}

SETTING_UP = re.compile(r"^python3 -m venv .* && ")
TESTING = "python -m pytest"
"""What no test can do: make an environment from the network, and run all tests."""

PLAIN = re.compile(r"mechdesign(?: [\w./:=,-]+)+")
"""A command that needs no shell."""


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int
    follows: bool
    """Whether it comes right after another block."""


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in FENCE.finditer(text):
        follows = bool(found) and not text[end : match.start()].strip()
        line = text.count("\n", 0, match.start()) + 1
        body = textwrap.dedent(match[3])
        found.append(Block(match[2], body, line, follows))
        end = match.end()
    return found


class Reader:
    """Somebody who follows a page from its first block to the last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        programs = folder.parent / f"{folder.name}-programs"
        programs.mkdir()
        program = programs / "mechdesign"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mechdesign "$@"\n')
        program.chmod(0o755)
        path = os.pathsep.join(
            [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
        )
        self.environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}

    def python(self, text: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(text, "<page>", "exec"), self.names)
        plt.close("all")
        return printed.getvalue()

    def sh(self, text: str) -> str:
        """Run lines in a shell; a plain ``mechdesign`` command runs in this process, as it does."""
        lines = [SETTING_UP.sub("", line) for line in text.splitlines()]
        lines = [line for line in lines if line != TESTING]
        printed = ""
        for plain, group in itertools.groupby(lines, lambda line: bool(PLAIN.fullmatch(line))):
            each = list(group)
            printed += "".join(map(self.command, each)) if plain else self.bash("\n".join(each))
        return printed

    def command(self, line: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            assert main(line.split()[1:]) == 0
        plt.close("all")
        return printed.getvalue()

    def bash(self, text: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def console(self, text: str) -> str:
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            printed = self.sh(command)
            if output.strip():
                check_same(printed, output)
        return ""

    def toml(self, text: str) -> None:
        if "domain" in tomllib.loads(text):
            path = self.folder / "written.toml"
            path.write_text(text, encoding="utf-8")
            load_problem(path)


def missing_packages(block: Block) -> set[str]:
    """Return the optional packages of a block that are not installed; Spark needs Java."""
    names = set(OPTIONAL.findall(block.text)) if block.kind == "python" else set()
    missing = {name for name in names if importlib.util.find_spec(name) is None}
    return missing | ({"java"} if "pyspark" in names and shutil.which("java") is None else set())


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
def test_every_block_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = blocks_of(page)
    assert {block.kind for block in blocks} <= KINDS, "say what a block is: text, if it cannot run"
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "problems", folder / "problems")
    monkeypatch.chdir(folder)
    plt.switch_backend("Agg")
    reader = Reader(folder)
    printed = None
    skipped: set[str] = set()
    for block in blocks:
        if missing := missing_packages(block):
            skipped |= missing
            continue
        try:
            if block.kind == "text" and block.follows and printed is not None:
                check_same(printed, block.text)
            elif block.kind == "json":
                json.loads(block.text)
            elif block.kind == "toml":
                reader.toml(block.text)
            printed = getattr(reader, block.kind)(block.text) if block.kind in RUN else None
        except Exception as error:
            error.add_note(f"{page.relative_to(ROOT)}, the block at line {block.line}")
            raise
    if skipped:
        pytest.skip(f"all blocks pass but those that need {', '.join(sorted(skipped))}")


def test_the_readme_shows_the_report_of_its_first_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "problems", tmp_path / "checkout" / "problems")
    blocks = blocks_of(ROOT / "README.md")
    first = next(block for block in blocks if block.kind == "sh")
    report = next(block for block in blocks if block.kind == "text").text.splitlines()
    monkeypatch.chdir(tmp_path / "checkout")
    printed = Reader(tmp_path / "checkout").sh(first.text).splitlines()
    assert len(report) > 8
    check_same("\n".join(printed[: len(report)]), "\n".join(report))


def test_the_reference_lists_every_public_name_once() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    found = sorted(re.findall(r"\[`\w+`\]\[mechdesign\.(\w+)\]", text))
    names = sorted(name for name in mechdesign.__all__ if name not in mechdesign.NAMESPACES)
    assert found == names
    for namespace, name in re.findall(r"\[`\w+`\]\[mechdesign\.(\w+)\.(\w+)\]", text):
        assert hasattr(importlib.import_module(f"mechdesign.{namespace}"), name)


def test_the_glossary_has_every_notion_and_objective() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    names = {kind.__name__ for kind in (*NOTIONS.values(), *UTILITIES.values())}
    missing = sorted(name for name in names if f"][mechdesign.{name}]" not in text)
    assert missing == [], "give its formula in docs/glossary.md"


NOT_HERE = re.compile(r"`((?:\w+/)+(?:\w+\.(?:py|md|toml))?)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_and_folders_that_a_page_names_are_there(page: Path) -> None:
    named = NOT_HERE.findall(page.read_text(encoding="utf-8"))
    places = (ROOT, ROOT / "mechdesign", ROOT / "benchmarks", ROOT / "problems")
    inside = [*(ROOT / "mechdesign").iterdir(), *places]
    missing = [name for name in named if not any((place / name).exists() for place in inside)]
    assert missing == []


def renamed(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^\| (`.*?`) \| (`.*?`) \|$", text, re.MULTILINE)


def test_the_table_of_new_names_is_right_and_in_the_changelog() -> None:
    page = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
    table = renamed(page.split("## Public names")[1].split("## Packages")[0])
    assert len(table) > 10
    assert set(table) <= set(renamed((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    for _, new in table:
        first, *others = re.findall(r"[\w.]+", new)
        where, name = first.rsplit(".", 1)
        home = {
            "md": mechdesign,
            "Problem": mechdesign.Problem,
            "Mechanism": mechdesign.mechanisms.Mechanism,
        }
        owner = home.get(where) or importlib.import_module(f"mechdesign.{where}")
        for found in (name, *others):
            assert hasattr(owner, found), new
