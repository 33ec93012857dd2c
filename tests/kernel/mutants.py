"""Mutants of the kernel: each line that decides a bound or privacy, changed, must fail a test.

``python -m tests.kernel.mutants --count 300 --seed 0`` draws mutants of all files in proportion to
their lines, runs for each the tests of its own file (``line.py``: ``test_line.py``) on a copy of
the library, then those of the whole kernel (:data:`GENERAL`), and prints the survivors.
What changes nothing that a test could see is in :data:`EQUIVALENT`, with a reason.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from tests.kernel.equivalent import EQUIVALENT

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "mechdesign" / "kernel"
GENERAL = [
    f"tests/kernel/test_{name}.py"
    for name in (
        "mutants_killed",
        "statement",
        "generators",
        "names",
        "proof",
        "value",
        "verify",
        "documents",
        "forged_proofs",
        "independent",
        "tampering",
    )
]
"""Tests that are about all files."""

NAMES = {
    "min": "max",
    "any": "all",
    "floor": "ceil",
    "exp_lower": "exp_upper",
    "log_lower": "log_upper",
    "sqrt_lower": "sqrt_upper",
}
NAMES |= {other: name for name, other in NAMES.items() if name != "floor"}

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}

UNTOUCHED = {
    "steps",
    "multiplier_steps",
    "describe",
    "table_name",
    "write",
    "packed",
    "written",
    "_words",
    "refused",
    "_size",
}
"""Functions that decide neither a bound nor privacy: work, words, what is written."""

TRUSTED = {"__init__.py", "schema.py"}
"""Files without mathematics."""


@dataclass(frozen=True)
class Mutant:
    """A change of one expression or statement of one file."""

    file: str
    line: int
    function: str
    before: str
    after: str
    honest: str
    text: str
    begin: int
    end: int

    @property
    def source(self) -> str:
        """The file with the change."""
        raw = self.honest.encode()
        return (raw[: self.begin] + self.text.encode() + raw[self.end :]).decode()

    def compiles(self) -> bool:
        try:
            compile(self.source, self.file, "exec")
        except (SyntaxError, ValueError):
            return False
        return True

    @property
    def name(self) -> str:
        return f"{self.file} {self.function}: {self.before} -> {self.after}"


def changes(node: ast.AST) -> Iterator[ast.AST | str]:
    """Yield what may stand in the place of a node."""
    if isinstance(node, ast.Compare):
        for n, op in enumerate(node.ops):
            if type(op) in COMPARED:
                other = copy.deepcopy(node)
                other.ops[n] = COMPARED[type(op)]()
                yield other
    elif isinstance(node, ast.BinOp):
        yield from _arithmetic(node)
    elif isinstance(node, ast.UnaryOp) and _is_ceiling(node):
        inner = node.operand
        assert isinstance(inner, ast.BinOp)
        assert isinstance(inner.left, ast.UnaryOp)
        yield ast.BinOp(inner.left.operand, inner.op, inner.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        for n in range(len(node.values)):
            rest = node.values[:n] + node.values[n + 1 :]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Name) and node.id in NAMES and isinstance(node.ctx, ast.Load):
        yield NAMES[node.id]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant({0: 1, 1: 2, 2: 1, 4: 8}.get(node.value, 2 * node.value))
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        other = copy.deepcopy(node)
        other.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield other
        yield "pass"
    elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and _refuses(node.value)):
        yield "pass"
    elif isinstance(node, ast.If) and not node.orelse:
        other = copy.deepcopy(node)
        other.test = ast.UnaryOp(ast.Not(), other.test)
        yield other


def _arithmetic(node: ast.BinOp) -> Iterator[ast.AST]:
    swaps: dict[type[ast.operator], ast.operator] = {ast.Add: ast.Sub(), ast.Sub: ast.Add()}
    if type(node.op) in swaps:
        yield ast.BinOp(node.left, swaps[type(node.op)], node.right)
        yield node.left
        if isinstance(node.op, ast.Add):
            yield node.right
    elif isinstance(node.op, ast.Mult | ast.Div):
        yield node.left
        if isinstance(node.op, ast.Mult):
            yield node.right
    elif isinstance(node.op, ast.FloorDiv | ast.RShift):
        up = ast.BinOp(ast.UnaryOp(ast.USub(), node.left), node.op, node.right)
        yield ast.UnaryOp(ast.USub(), up)
    elif isinstance(node.op, ast.Pow):
        yield node.left


def _is_ceiling(node: ast.UnaryOp) -> bool:
    inner = node.operand
    return (
        isinstance(node.op, ast.USub)
        and isinstance(inner, ast.BinOp)
        and isinstance(inner.op, ast.FloorDiv | ast.RShift)
        and isinstance(inner.left, ast.UnaryOp)
        and isinstance(inner.left.op, ast.USub)
    )


def _refuses(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("need", "distribution")


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file; a few of them cannot be compiled."""
    source = path.read_text()
    name = path.relative_to(KERNEL).as_posix()
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    raw = source.encode()
    for function, node in _deciding(ast.parse(source), "module"):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        before = raw[begin:end].decode()
        for other in changes(node):
            after = other if isinstance(other, str) else ast.unparse(other)
            after = after if isinstance(node, ast.stmt) else f"({after})"
            if isinstance(node, ast.If):
                assert isinstance(other, ast.If)
                end = starts[node.test.end_lineno - 1] + node.test.end_col_offset
                start = starts[node.test.lineno - 1] + node.test.col_offset
                before, after = raw[start:end].decode(), f"(not ({raw[start:end].decode()}))"
                begin = start
            words = _flat(before), _flat(after)
            yield Mutant(name, node.lineno, function, *words, source, after, begin, end)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _deciding(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield expressions and statements that are run, each with the function that it stands in."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "bases", "msg"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Import | ast.ImportFrom):
                continue
            inside = function
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = child.name if function == "module" else f"{function}.{child.name}"
                if child.name in UNTOUCHED:
                    continue
            if isinstance(child, ast.Assign) and function == "module":
                target = child.targets[0]
                if isinstance(target, ast.Name) and target.id == "__all__":
                    continue
            if isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue
            if hasattr(child, "lineno") and isinstance(child, ast.expr | ast.stmt):
                yield inside, child
            yield from _deciding(child, inside)


@functools.cache
def all_mutants() -> dict[str, list[Mutant]]:
    """Return the mutants of each file, but those that are known to change nothing."""
    found = {}
    for path in sorted(KERNEL.rglob("*.py")):
        if path.name not in TRUSTED:
            mutants = [m for m in mutants_of(path) if m.name not in EQUIVALENT]
            found[path.relative_to(KERNEL).as_posix()] = mutants
    return found


def drawn(count: int, seed: int, only: str = "") -> list[Mutant]:
    """Draw mutants, of each file in proportion to what it has."""
    pool = {file: m for file, m in all_mutants().items() if only in file}
    total = sum(map(len, pool.values()))
    found: list[Mutant] = []
    for file, mutants in pool.items():
        share = -(-count * len(mutants) // max(total, 1))
        order = random.Random(f"{seed} {file}").sample(mutants, len(mutants))
        found += itertools.islice(filter(Mutant.compiles, order), share)
    random.Random(seed).shuffle(found)
    return sorted(found[:count], key=lambda m: (m.file, m.line))


def suite_of(file: str) -> list[str]:
    """Return the tests of one file of the kernel."""
    folder, _, name = file.rpartition("/")
    own = Path("tests/kernel") / folder / f"test_{name}"
    of_folder = Path("tests/kernel") / f"test_{folder}.py"
    known = [own, of_folder] if folder else [own]
    return [str(path) for path in known if (ROOT / path).exists()]


class Workshop:
    """A copy of the library in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(
            ROOT / "mechdesign", folder / "mechdesign", ignore=shutil.ignore_patterns("__pycache__")
        )
        for path in ROOT.iterdir():
            if path.name not in ("mechdesign", ".git"):
                (folder / path.name).symlink_to(path)

    def run(self, tests: Sequence[str], seconds: float) -> str:
        """Return "" if the tests pass, else why they do not."""
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "--no-header",
            "-p",
            "no:cacheprovider",
        ]
        command += ["-p", "no:randomly", "-o", "addopts=--import-mode=importlib", "-m", "not slow"]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        environment["PYTHONPATH"] = str(self.folder)
        try:
            done = subprocess.run(
                [*command, *tests],
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "timeout"
        return "" if done.returncode == 0 else done.stdout[-2000:] + done.stderr[-500:]

    def is_killed(self, mutant: Mutant, seconds: float) -> str:
        """Return why the tests of the file fail on a mutant; "" if they do not."""
        path = self.folder / "mechdesign" / "kernel" / mutant.file
        honest = path.read_text()
        try:
            path.write_text(mutant.source)
            own = suite_of(mutant.file)
            rest = [path for path in GENERAL if path not in own]
            return (own and self.run(own, seconds)) or self.run(rest, seconds)
        finally:
            path.write_text(honest)


def survivors(
    mutants: Sequence[Mutant],
    seconds: float = 120,
    jobs: int = 2,
    report: Callable[[str], None] = lambda _: None,
) -> list[Mutant]:
    """Return the mutants that the tests of their files do not see."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        shops: Queue[Workshop] = Queue()
        for n in range(jobs):
            place = Path(folder) / str(n)
            place.mkdir()
            shops.put(Workshop(place))

        shop = shops.queue[0]
        tests = {path for mutant in mutants for path in suite_of(mutant.file)}
        if why := shop.run([*sorted(tests), *GENERAL], 10 * seconds):
            raise RuntimeError(f"the tests fail as it is:\n{why}")

        def lives(mutant: Mutant) -> bool:
            shop = shops.get()
            try:
                return not shop.is_killed(mutant, seconds)
            finally:
                shops.put(shop)

        with ThreadPoolExecutor(jobs) as pool:
            for mutant, alive in zip(mutants, pool.map(lives, mutants), strict=True):
                if alive:
                    found.append(mutant)
                    report(f"SURVIVED line {mutant.line}: {mutant.name}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of the name of a file")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=120, help="for the tests of one mutant")
    parser.add_argument("--list", action="store_true", help="print the mutants only")
    options = parser.parse_args()
    mutants = drawn(options.count, options.seed, options.only)
    if options.list:
        for mutant in mutants:
            print(f"line {mutant.line}: {mutant.name}")
        return
    alive = survivors(mutants, options.seconds, options.jobs, print)
    for file in sorted({m.file for m in mutants}):
        of_file = [m for m in mutants if m.file == file]
        live = [m for m in alive if m.file == file]
        print(f"{file}: {len(of_file) - len(live)} of {len(of_file)} killed")
    print(f"{len(mutants) - len(alive)} of {len(mutants)} killed")


if __name__ == "__main__":
    main()
