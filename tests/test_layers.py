"""The house stands: a room of the library imports only from the rooms below it."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mechdesign.notions import NOTIONS, Notion
from mechdesign.notions.rows.cone import Family
from mechdesign.utilities import UTILITIES, Utility
from tests.modules_support import module_at

LIBRARY = Path(__file__).resolve().parents[1] / "mechdesign"

FLOORS: list[set[str]] = [
    {"errors", "text", "_typing"},
    {"resources", "solver_guard", "writing"},
    {"exact", "sampling"},
    {"kernel"},
    {"geography"},
    {"labels"},
    {"domain"},
    {"matrices", "prior", "reports", "refinement"},
    {"prior_sets", "tables", "channel"},
    {"notions"},
    {"utilities", "repair", "program", "mechanisms"},
    {"problem"},
    {"evidence"},
    {"closed_forms", "continuous"},
    {"search"},
    {"estimation"},
    {"designs"},
    {"accounting", "files"},
    {"sweeps", "client"},
    {"plots", "collection"},
    {"cli"},
]
"""Lowest first; the rooms of one floor do not know each other."""

HEIGHT = {room: floor for floor, rooms in enumerate(FLOORS) for room in sorted(rooms)}

STRANGERS: dict[str, set[str]] = {
    "utilities": {"notions"},
    "repair": {"closed_forms", "utilities"},
    "mechanisms": {"utilities", "problem", "closed_forms"},
    "estimation": {"search", "closed_forms"},
    "kernel": set(HEIGHT) - {"kernel", "errors", "resources", "exact"},
}
"""Rooms below that must not be known all the same."""

AT_HOME: dict[str, set[str]] = {
    "highspy": {"search"},
    "clarabel": {"search"},
    "ecos": set(),
    "scs": set(),
    "cvxpy": {"notions", "utilities", "problem", "search"},
    "matplotlib": {"plots"},
    "joblib": {"sweeps"},
    "dask": set(),
    "cryptography": {"sampling"},
    "pyarrow": {"collection"},
    "sklearn": {"collection", "continuous"},
    "tqdm": {"accounting", "cli", "collection", "designs", "estimation", "sweeps"},
}
"""Where a package may be named; none means nowhere."""

ON_DEMAND = {"cryptography", "cvxpy", "joblib", "matplotlib", "pandas", "tqdm"}
"""Packages that are slow to import: inside functions only. So is pyarrow, but it is named only in
``collection/records``, which is imported inside functions itself."""

FRONT_DOORS = {"__init__", "__main__"}


@functools.cache
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


house = module_at(LIBRARY.parent / "docs" / "map.py")
tree_of: Callable[[Path], ast.Module] = house.tree_of


@functools.cache
def imported(file: Path) -> list[tuple[str, bool, int]]:
    return list(imports(tree_of(file)))


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


def test_the_kernel_imports_the_standard_library_and_two_rooms() -> None:
    found = set()
    for file in files():
        if room_of(file) in ("kernel", "exact", "resources", "errors"):
            for module, _, _ in imported(file):
                parts = module.split(".")
                if parts[0] == "mechdesign":
                    found.add(parts[1])
                else:
                    assert parts[0] in sys.stdlib_module_names, f"{file.name} imports {module}"
    assert found <= {"kernel", "errors", "resources", "exact"}


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


LOADS = """
import contextlib, io, sys
def tell():
    print(*sys.modules)
import mechdesign as md
tell()
from mechdesign.cli import main
formula = ["solve", "problems/lip/rare_disease.toml"]
program = ["solve", "problems/metric/line.toml"]
plot, general = [*formula, "--plot", sys.argv[1]], [*program, "--route", "cvxpy:CLARABEL"]
for words in (["--help"], formula, program, plot, general):
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main(words)
    tell()
import numpy
channel = md.Channel.from_matrix([[1, 0], [0, 1]])
md.tally(md.privatize([0, 1], channel), channel)
md.privatize(numpy.array([0, 1]), channel)
import mechdesign.collection.records
tell()
sys.modules["sklearn"] = None
try:
    md.collection.ChannelTransformer
except md.UnsupportedError as error:
    print(error)
"""


def test_nothing_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    """A formula needs no optimizer, a linear program no cvxpy, and nothing is drawn unasked."""
    done = subprocess.run(
        [sys.executable, "-c", LOADS, tmp_path / "x.png"],
        cwd=LIBRARY.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    *lines, without_sklearn = done.stdout.splitlines()
    steps = [set(line.split()) for line in lines]
    imported, helped, formula, program, plot, general, drawn = steps
    heavy = {"cvxpy", "matplotlib", "pandas"}
    numbers = {"numpy", "scipy", "highspy", "tqdm", "pyarrow"}
    assert not (heavy | numbers) & (imported | helped)
    assert not (heavy | {"highspy", "scipy.optimize"}) & formula
    assert not heavy & program
    assert ("matplotlib" in plot, "cvxpy" in plot, "cvxpy" in general) == (True, False, True)
    # pyarrow itself imports pandas where it is installed
    assert not {"polars", "duckdb", "dask", "pyspark", "sklearn"} & drawn
    assert without_sklearn == (
        "ChannelTransformer: expected the package scikit-learn, given an installation without it; "
        'pip install -e ".[sklearn]"'
    )


EVERY_FOLDER = pytest.mark.parametrize(
    "folder",
    sorted(path.parent for path in LIBRARY.rglob("__init__.py")),
    ids=lambda folder: folder.relative_to(LIBRARY.parent).as_posix(),
)

TYPES_FROM_ABOVE = {("mechdesign.notions.rows", "family"): {"lift_rows", "pair_rows"}}
"""The files above that one file names, for types only. A family is asked for itself as bounds on
ratios or on lifts, so no code tests for its class: a base class with a method that returns one
of its subclasses. That names them; nothing of them is imported when the program runs."""


@EVERY_FOLDER
def test_what_a_room_holds_has_floors_too(folder: Path) -> None:
    """The files and sub-rooms of one room import each other in no circle, for types neither."""
    name = ".".join(folder.relative_to(LIBRARY.parent).parts)
    graph = dict(house.imports(folder, name))
    for (room, low), above in TYPES_FROM_ABOVE.items():
        if room == name:
            assert above <= graph[low], f"the exception for {low} is needed no more"
            at_once = {module for module, inside, _ in imported(folder / f"{low}.py") if not inside}
            assert not {f"{name}.{other}" for other in above} & at_once
            graph[low] -= above
    house.floors(graph)  # which raises where there is a circle, and names it


@EVERY_FOLDER
def test_nothing_in_a_room_goes_through_its_front_door(folder: Path) -> None:
    """What a folder re-exports lies above all that it holds."""
    name = ".".join(folder.relative_to(LIBRARY.parent).parts)
    held = {f"{name}.{entry}" for entry in house.entries(folder)}
    through = {
        f"{file.relative_to(LIBRARY)} imports {module}"
        for file in sorted(folder.rglob("*.py"))
        if file.stem not in FRONT_DOORS
        for module in house.imported(file)
        if module.rpartition(".")[0] == name and module not in held
    }
    assert through == set()


MOST_FILES = 14
"""Of one folder: about a dozen. What needs more gets sub-folders."""

MORE_FILES = {"kernel": 15}
"""The core of the kernel is read as a whole: its sub-folders hold the members of one union each."""


@EVERY_FOLDER
def test_a_folder_holds_about_a_dozen_files(folder: Path) -> None:
    kept = {*FRONT_DOORS, "_typing"}  # names for types: no public names
    modules = [path.stem for path in folder.glob("*.py") if path.stem not in kept]
    most = MORE_FILES.get(folder.relative_to(LIBRARY).as_posix(), MOST_FILES)
    assert len(modules) <= most, sorted(modules)


def modules_used(start: str) -> set[str]:
    """Return all modules that the ones below ``start`` import, and so on; front doors aside."""
    paths = {
        ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts): path for path in files()
    }
    found: set[str] = set()
    waiting = [name for name in paths if name.startswith(start)]
    while waiting:
        name = waiting.pop()
        found.add(name)
        for node in ast.walk(tree_of(paths[name])):
            if isinstance(node, ast.ImportFrom) and node.module:
                named = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
                waiting += [name for name in named if name in paths and name not in found]
    return {name for name in found if not name.endswith("__init__")}


def test_what_proves_privacy_can_be_read_without_what_proves_optimality() -> None:
    """Whoever audits privacy reads the statement, its generators, its limits, and ``exact``."""
    used = modules_used("mechdesign.kernel.statement")
    proofs = [
        "certificate",
        "proof",
        "linearizations",
        "oracles",
        "relaxations",
        "claims",
        "verify",
    ]
    assert not [n for n in used if n.startswith(tuple(f"mechdesign.kernel.{p}" for p in proofs))]


def name_of(node: ast.AST) -> str:
    """Return the dotted name of what is called."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return getattr(node, "id", "") or (name_of(node.func) if isinstance(node, ast.Call) else "")


@functools.cache
def calls() -> list[tuple[str, ast.Call, str]]:
    """Return each call with its file and the name of what is called."""
    return [
        (file.relative_to(LIBRARY).as_posix(), node, name_of(node.func))
        for file in files()
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call)
    ]


SOLVERS = ("np.linalg.", "scipy.linalg.", "scipy.optimize.", "lapack.", "highspy.Highs")
HARMLESS = {"np.linalg.norm", "highspy.HighsBasis", "highspy.HighsLp"}


def test_no_outside_solver_is_called_directly() -> None:
    """They are handed to ``called``; what HiGHS has besides ``Highs`` is plain data."""
    direct = [
        f"{file}:{node.lineno} {name}"
        for file, node, name in calls()
        if (name.startswith(SOLVERS) and name not in HARMLESS)
        or name in ("nnls", "brentq", "linprog")
        or (name.endswith(".solve") and "stated" in name)
    ]
    assert direct == []


WRITES = {"write_text", "write_bytes", "savefig", "to_csv", "to_parquet", "to_json_file", "mkstemp"}
WRITES |= {"NamedTemporaryFile", "fdopen", "tofile", "savez", "imsave", "dump"}
"""Functions that write files, if they are given a name; so does ``open`` by its mode."""

ALLOWED = {
    "writing/atomic.py": {"NamedTemporaryFile", "open"},
    "plots/style.py": {"savefig"},  # to the stream of an atomic file
}


def opens_to_write(node: ast.Call) -> bool:
    """Whether a call of ``open`` has a mode that may write."""
    modes = [*node.args, *(word.value for word in node.keywords if word.arg == "mode")]
    texts = [str(word.value) for word in modes if isinstance(word, ast.Constant)]
    return any(set(text) & set("wax+") for text in texts if len(text) <= 3)


def test_everything_that_is_written_goes_through_one_function() -> None:
    wrong = []
    for file, node, name in calls():
        call = name.rpartition(".")[2]
        writes = call in WRITES or (call == "open" and opens_to_write(node))
        if writes and call not in ALLOWED.get(file, ()):
            wrong.append(f"{file}:{node.lineno} calls {call}")
    assert wrong == []


def kinds(base: type) -> Iterator[type]:
    """Yield all classes below one."""
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


@functools.cache
def questions() -> list[tuple[Path, str]]:
    """Return each name whose class is asked for, and the file that asks."""
    found = []
    for file in files():
        for node in ast.walk(tree_of(file)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("isinstance", "issubclass")
            ):
                parts: Iterator[ast.AST] = ast.walk(node.args[1])
            elif isinstance(node, ast.Compare) and any(
                isinstance(part, ast.Name) and part.id == "type" for part in ast.walk(node)
            ):
                parts = ast.walk(node)
            elif isinstance(node, ast.MatchClass):
                parts = ast.walk(node.cls)
            else:
                continue
            for part in parts:
                name = part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "")
                found.append((file, str(name)))
    return found


def asked_for(names: dict[str, str]) -> dict[str, set[str]]:
    """Return for each file which of the classes it asks for, outside the file of each class."""
    found: dict[str, set[str]] = {}
    for file, name in questions():
        own = ".".join(file.relative_to(LIBRARY.parent).with_suffix("").parts)
        if name in names and names[name] != own:
            found.setdefault(file.relative_to(LIBRARY).as_posix(), set()).add(name)
    return found


FORMS = (
    "closed_forms/",  # a formula is for one form of utility: its condition
    "problem.py",  # states the expected loss that one form has
    "search/",  # a route takes one form of utility, presolve one form of rows
)
"""Where code may ask for the form of a utility, or for how a notion states its rows."""


def test_few_ask_for_the_form_of_a_utility_or_of_rows() -> None:
    """The forms are abstract, and each is one contract; a solver takes one of them."""
    registered = {*NOTIONS.values(), *UTILITIES.values()}
    forms = [kind for base in (Notion, Utility, Family) for kind in kinds(base)]
    names = {
        kind.__name__: kind.__module__
        for kind in forms
        if kind not in registered and kind.__module__.startswith("mechdesign.")
    }
    assert {"LinearUtility", "ColumnUtility", "PairRows"} <= set(names)
    elsewhere = {file for file in asked_for(names) if not file.startswith(FORMS)}
    assert elsewhere <= {"notions/sensitive_attribute.py"}  # refuses to be about such a notion


def test_no_name_of_a_notion_or_a_utility_steers_the_code_above() -> None:
    """A new notion or objective is one file and one line, so no other room may spell one."""
    words = {*NOTIONS, *UTILITIES} - {"euclidean"}  # which is a distance as well
    spelt = []
    for file in files():
        if room_of(file) in ("notions", "utilities", "kernel"):
            continue
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Compare):
                values = [*ast.walk(node)]
                spelt += [
                    f"{file.relative_to(LIBRARY)}:{node.lineno}"
                    for value in values
                    if isinstance(value, ast.Constant) and value.value in words
                ]
    assert spelt == []


def test_no_code_depends_on_a_particular_notion_or_utility() -> None:
    """Differences are attributes of objects: only its own file tests for a class."""
    registered = {*NOTIONS.values(), *UTILITIES.values()}
    assert asked_for({kind.__name__: kind.__module__ for kind in registered}) == {}
