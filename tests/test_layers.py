"""The house stands: a room of the library imports only from the rooms below it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.start import loaded

LIBRARY = Path(__file__).resolve().parents[1] / "mechdesign"

FLOORS: list[set[str]] = [
    {"errors", "text", "_typing"},
    {"exact", "sampling"},
    {"domain"},
    {"labels"},
    {"prior", "reports"},
    {"prior_sets", "tables", "channel"},
    {"notions"},
    {"utilities", "repair"},
    {"problem"},
    {"closed_forms", "certify"},
    {"routes", "mechanisms"},
    {"solution", "estimation"},
    {"designs"},
    {"accounting", "files"},
    {"plots", "collection"},
    {"cli"},
]
"""Lowest first; the rooms of one floor do not know each other."""

HEIGHT = {room: floor for floor, rooms in enumerate(FLOORS) for room in sorted(rooms)}

STRANGERS: dict[str, set[str]] = {
    "utilities": {"notions"},
    "repair": {"certify", "closed_forms", "utilities"},
    "mechanisms": {"utilities", "problem", "closed_forms"},
    "estimation": {"routes", "closed_forms"},
    "certify": set(HEIGHT) - {"certify", "errors", "exact"},
}
"""Rooms below that must not be known all the same."""

AT_HOME: dict[str, set[str]] = {
    "highspy": {"routes"},
    "clarabel": set(),
    "ecos": set(),
    "scs": set(),
    "cvxpy": {"notions", "utilities", "problem", "routes"},
    "matplotlib": {"plots"},
    "joblib": {"designs"},
    "dask": set(),
    "cryptography": {"sampling"},
    "pyarrow": {"collection"},
    "sklearn": {"collection"},
    "dp_accounting": {"accounting"},
    "tqdm": {"accounting", "cli", "collection", "designs", "estimation"},
}
"""Where a package may be named; none means nowhere."""

ON_DEMAND = {
    "cryptography",
    "cvxpy",
    "dp_accounting",
    "joblib",
    "matplotlib",
    "pandas",
    "tqdm",
}
"""Packages that are slow to import: inside functions only. So is pyarrow, but it is named only in
``collection/records``, which is imported inside functions itself."""

FRONT_DOORS = {"__init__", "__main__"}


def files() -> list[Path]:
    return sorted(LIBRARY.rglob("*.py"))


def room_of(file: Path) -> str:
    return file.relative_to(LIBRARY).parts[0].removesuffix(".py")


def imports(node: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool, int]]:
    """Yield every module imported, whether inside a function or for types only, and the line."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield alias.name, inside, child.lineno
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports are absolute"
            module = child.module or ""
            if module == "mechdesign":
                for alias in child.names:
                    yield f"mechdesign.{alias.name}", inside, child.lineno
            else:
                yield module, inside, child.lineno
        else:
            later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            yield from imports(child, inside or later or types)


def imported(file: Path) -> list[tuple[str, bool, int]]:
    return list(imports(ast.parse(file.read_text(encoding="utf-8"))))


def test_every_room_has_its_floor() -> None:
    rooms = {room_of(file) for file in files()}
    assert rooms - FRONT_DOORS == set(HEIGHT)


@pytest.mark.parametrize("room", HEIGHT)
def test_a_room_imports_only_from_rooms_below(room: str) -> None:
    wrong = []
    for file in files():
        if room_of(file) != room:
            continue
        for module, _, line in imported(file):
            parts = module.split(".")
            if parts[0] != "mechdesign":
                continue
            other = parts[1] if len(parts) > 1 else "__init__"
            if other == room or (room == "cli" and other == "__version__"):
                continue
            below = HEIGHT.get(other, len(FLOORS)) < HEIGHT[room]
            if not below or other in STRANGERS.get(room, ()):
                wrong.append(f"{file.relative_to(LIBRARY)}:{line} imports {module}")
    assert wrong == []


def test_the_checker_imports_the_standard_library_and_two_rooms() -> None:
    found = set()
    for file in files():
        if room_of(file) in ("certify", "exact", "errors"):
            for module, _, _ in imported(file):
                parts = module.split(".")
                if parts[0] == "mechdesign":
                    found.add(parts[1])
                else:
                    assert parts[0] in sys.stdlib_module_names, f"{file.name} imports {module}"
    assert found == {"certify", "errors", "exact"}


@pytest.mark.parametrize("package", AT_HOME)
def test_a_package_stays_in_its_rooms(package: str) -> None:
    rooms = {room_of(f) for f in files() if package in {m.split(".")[0] for m, _, _ in imported(f)}}
    assert rooms <= AT_HOME[package]


def test_slow_packages_are_imported_where_they_are_used() -> None:
    at_once = [
        f"{file.relative_to(LIBRARY)}:{line} imports {module}"
        for file in files()
        for module, inside, line in imported(file)
        if not inside and module.split(".")[0] in ON_DEMAND
    ]
    assert at_once == []


def test_the_library_knows_nothing_around_it() -> None:
    around = {"tests", "solvers", "problems", "benchmarks", "notebooks"}
    for file in files():
        assert not around & {module.split(".")[0] for module, _, _ in imported(file)}, file.name


def test_importing_the_library_loads_nothing_heavy() -> None:
    code = "import sys, mechdesign; print(*sorted(m.split('.')[0] for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "cvxpy", "highspy", "matplotlib", "pandas", "tqdm"}
    assert not heavy & set(done.stdout.split())


def test_a_solve_loads_cvxpy_and_matplotlib_only_if_they_are_used(tmp_path: Path) -> None:
    """A formula needs no optimiser, a linear program no cvxpy, and nothing is drawn unasked."""
    slow = {"cvxpy", "matplotlib", "pandas", "scipy.optimize"}
    formula, program = "problems/lip/rare_disease.toml", "problems/metric/line.toml"
    assert not slow & set(loaded(["solve", formula]))
    assert not {"cvxpy", "matplotlib", "pandas"} & set(loaded(["solve", program]))
    assert "cvxpy" in loaded(["solve", program, "--route", "cvxpy:CLARABEL"])
    assert "matplotlib" in loaded(["solve", formula, "--plot", str(tmp_path / "channel.png")])


def test_no_name_of_a_notion_or_a_utility_steers_the_code_above() -> None:
    """A new notion or objective is one file and one line, so no other room may spell one."""
    from mechdesign.notions import NOTIONS
    from mechdesign.utilities import UTILITIES

    words = {*NOTIONS, *UTILITIES} - {"euclidean"}  # which is a distance as well
    spelt = []
    for file in files():
        if room_of(file) in ("notions", "utilities", "certify"):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                values = [*ast.walk(node)]
                spelt += [
                    f"{file.relative_to(LIBRARY)}:{node.lineno}"
                    for value in values
                    if isinstance(value, ast.Constant) and value.value in words
                ]
    assert spelt == []
