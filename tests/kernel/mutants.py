"""Mutants of the kernel: each line that decides a bound or privacy, changed, must fail a test.

``python -m tests.kernel.mutants --count 300 --seed 0`` draws mutants of all files in proportion to
their lines. For each it runs the tests of its own file (``line.py``: ``test_line.py``), then those
of its folder and of the whole kernel (:data:`GENERAL`), in a process that imports the changed file.
What changes nothing that a test could see is in :data:`EXCUSES`, with a reason.
"""

from __future__ import annotations

import argparse
import ast
import functools
import itertools
import multiprocessing
import os
import random
import re
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

import hypothesis.strategies  # noqa: F401
import numpy as np  # noqa: F401
import pytest
import scipy.optimize  # noqa: F401

Put = Callable[[ast.AST], None]
"""Replaces a node of a tree."""

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "mechdesign" / "kernel"
ABOUT = "gains limits generators names proof verify schema forged_proofs independent tampering"
GENERAL = [f"tests/kernel/test_{name}.py" for name in ABOUT.split()]
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

UNTOUCHED = {"write", "packed", "written", "refused", "size", "count", "_counts", "work"}
"""Functions that decide neither a bound nor privacy: words, what is written, how much work there
is; those with ``steps`` in their name are left out too."""

WORK = {"limited", "check_size", "take", "Steps"}
"""Functions that compare work with what is allowed."""

TRUSTED = {"__init__.py", "schema.py"}
"""Files without mathematics."""


EXCUSES = """
counts or limits work only
    certificate.py Certificate.bound: program.nodes or () -> ()
    certificate.py Steps.take: self.spent > self.allowed -> self.spent >= self.allowed
    laws/design.py _Moves.__init__: 1 -> 2
    laws/design.py _Moves.__init__: 2 -> 1
    laws/design.py _Moves.__init__: points == 1 -> points != 1
    laws/design.py _Moves.__init__: row + r + 1 -> 1
    laws/design.py _Moves.__init__: row + r + 1 -> row + r
    laws/design.py _Moves.__init__: row + r -> r
    objectives.py Losses: True -> False
    oracles/simplicial.py Simplicial.__call__: 2 -> 1
    oracles/simplicial.py Simplicial.__call__: diagonal is None and any((len(... -> diagonal is None
    oracles/walk.py Walk.__call__: (current().steps - self.ste... -> ...ement)) // STEPS_PER_PLACE)
    oracles/walk.py module: 30 -> 60
    packed.py _unpack: size + 1 -> size
    rounding/files.py read_rounded: 20 * k -> 20
    rounding/files.py read_rounded: 20 * k * k -> k
    rounding/files.py read_rounded: 40 * k * (k + 4 * m) + 20 * k * k * ... -> 20 * k * k * len...
    rounding/files.py read_rounded: 20 * k -> k
    rounding/files.py read_rounded: 40 * k * (k + 4 * m) -> 40 * k
    verify.py allowance: STEPS_PER_ENTRY * entries_of(document) -> entries_of(document)
    packed.py module: 16 -> 32
    verify.py allowance: 1 + denominator_bits([stated, lo... -> 1 - denominator_bits([stated, lo...
    verify.py allowance: denominator_bits([stated, long])... -> -(-denominator_bits([stated, lon...
both sides are the same where they are equal, or by the terms that are 0
    generators/base.py Block.entries: 1 -> 2
    generators/ratio.py Constant.groups: len(block) > 1 -> len(block) >= 1
    generators/ratio.py Matrix.groups: a >= 0 -> a > 0
    generators/ratio.py Matrix.groups: unit // a.denominator -> -(-unit // a.denominator)
    limits.py Gauge._excess: v > 0 -> v >= 0
    limits.py Gauge.most: self.limit >= 0 -> self.limit > 0
    names/forms.py differential_identifiability: on.size > 1 -> on.size >= 1
    oracles/common.py ceilings: e.protected is None or x in e.guarded -> x in e.guarded
    oracles/linear.py _beyond: total >= 0 -> total > 0
    proof.py least: abs(b - a) >= curvature -> abs(b - a) > curvature
    relaxations/implied.py _closed: x != z and a is not None a... -> a is not None and a < leas...
    relaxations/implied.py _closed: a < least.get((x, z), a + 1) -> a <= least.get((x, z), a + 1)
    relaxations/implied.py _closed: before + v < have -> before + v <= have
    rounding/laws.py Laplace.standard: t < 0 -> t <= 0
    rounding/value.py highest: bend >= 0 -> bend > 0
    statement.py _implied: a > 0 -> a >= 0
    statement.py _implied: b > 0 -> b >= 0
meets a limit exactly by chance
    rounding/moments.py _rounded: max((e.denominator.bit_len... <= EXACT_BITS -> ... < EXACT_BITS
    claims.py same_reading: abs(number(claimed) - wanted... -> ...anted) < max(off, LEAST_FLOAT)
    laws/ratios.py projective_geometry_response: 2 <= field <= MOST_F... -> 2 <= field < MOST_FI...
    limits.py Information.holds: ... <= self.limit * whole -> ... < self.limit * whole
    rounding/laws.py NumberLaw.means: whole.low > LEAST_MASS -> whole.low >= LEAST_MASS
any order, start or number of steps is safe: it decides how close a bound is
    generators/ratio.py Constant.groups: self.exponent >= 0 and high -> high
    generators/ratio.py Matrix.groups: a > 0 -> a >= 0
    generators/ratio.py Matrix.groups: b < inf -> b <= inf
    generators/ratio.py _near: max -> min
    generators/ratio.py Ratio.test.test: top * least[place] -> least[place]
    laws/design.py _Moves._window: 1 -> 2
    laws/design.py _Moves._window: 2 -> 1
    laws/design.py _Moves._window: 1 + min([max(self._sides)... -> min([max(self._sides)...
    laws/design.py _Moves._window: 2 * m -> 2
    laws/design.py _Moves._window: sum(self._points) * largest... -> ...lace] * worst << 20 < least
    laws/design.py loss_of_noise: moves.loss(prior) if few el... -> _loss_by_runs(noise, _losse...
    oracles/double_description.py _cut: both.bit_count() >= k - ... -> both.bit_count() >= k - 2
    oracles/linear.py OneBudget.linear: max -> min
    oracles/linear.py OneBudget.linear: 1 -> 2
    oracles/linear.py _level: 0 -> 1
    oracles/linear.py module: 40 -> 80
    oracles/simplicial.py _solved: min -> max
    oracles/walk.py _worth: 1 -> 2
    oracles/walk.py open_sets: a + _rest(one)[0] -> a
    oracles/walk.py open_sets: a + _rest(one)[0] -> a - _rest(one)[0]
    oracles/walk.py open_sets: b + _rest(other)[0] -> b - _rest(other)[0]
    oracles/walk.py open_sets: max(a + rest_one[d], b + rest... -> max(a + rest_one[d], b + rest...
    rounding/bound.py _absolute: min -> max
    rounding/bound.py program: max -> min
more digits, or a unit of error more; what it must not exceed has tests of its own
    gains.py Entropy.split: True -> False
    generators/base.py ListedRow.net: 160 -> 320
    generators/lift.py Ball.largest.largest: 0 -> 1
    oracles/linear.py _level: a // b -> -(-a // b)
    oracles/linear.py _level: rest // column -> -(-rest // column)
    oracles/products.py Products._bounds.bound: ratio and Fraction(s... -> ratio...
    oracles/products.py _positive: factor * b // pivot -> -(-(factor * b) // pivot)
    oracles/products.py _rest: weight * a / 2 -> weight * a
    risk.py Inverse.of: 1 -> 2
    rounding/bound.py _gap: isqrt(square) // 2 -> -(-isqrt(square) // 2)
    rounding/bound.py module: 24 -> 48
    rounding/bound.py stretched: exact(found) < wanted -> exact(found) <= wanted
    oracles/walk.py module: 1 -> 2
    risk.py Inverse.readings: (m << self.bits) // unit -> -(-(m << self.bits) // unit)
    risk.py Inverse.readings: sum(map(mul, row, q)) * unit // law -> -(-(sum(map(mul,...
refused by what follows, too
    documents.py ChannelTable.columns: all -> any
    linearizations/boxes.py _Shrink.__call__: any -> all
    objectives.py _grid_of_labels: 0 -> 1
    packed.py _unpack: 1 -> 2
    rounding/bound.py readings: need(all(prior), 'a node has... -> pass...
    rounding/moments.py _rounded: 2 + math.ceil(unit * sum((... -> math.ceil(unit * sum((part...
    rounding/moments.py _rounded: any -> all
    rounding/moments.py _rounded: math.ceil(row[k].high * kep... -> ...th.ceil(row[k].high * kept)
the other values do not occur: signs are 1 or -1, ratios are 1 at least, a tuple is no integer
    claims.py verify_claims: 0 -> 1
    generators/ratio.py Ratio.keys: True -> False
    laws/ratios.py Part.ratios: ...o <= exp_lower(self.epsilon) -> ...o <= exp_lower(self.epsilon)
    laws/torus.py Torus.sums: 0 -> 1
    names/domains.py Inputs.target: len(parts) == 1 and type(o... -> type(output) is int and 0 ...
    oracles/common.py distinct: 0 -> 1
    proof.py _multiply: program.nodes or [] -> program.nodes
    risk.py _information: 0 -> 1
    value.py _guessed: aim.weights or () -> aim.weights
a theorem: a face of more dimensions has a third ray; a parabola that bends up is highest at an end
    oracles/double_description.py _cut: both.bit_count() >= k - ... -> not _third(tight, both, ...
    rounding/value.py highest: 0 -> 1
"""
"""Reasons, and below each the mutants that no test could see; three dots leave out some text."""


def excused(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the mutants of each line of :data:`EXCUSES` that is no reason."""
    found, lines = {}, [line.strip() for line in EXCUSES.splitlines() if line.startswith(" ")]
    for line in lines:
        pattern = re.compile(".*".join(map(re.escape, line.split("..."))), re.DOTALL)
        found[line] = [name for name in names if pattern.fullmatch(name)]
    return found


@dataclass(frozen=True)
class Mutant:
    """A change of one expression or statement of a file, by its number among those of it."""

    file: str
    number: int
    line: int
    name: str

    def code(self) -> CodeType:
        tree = ast.parse((KERNEL / self.file).read_text())
        _, _, put, other = next(itertools.islice(all_changes(tree), self.number, None))
        put(other)
        return compile(ast.fix_missing_locations(tree), self.file, "exec")

    def compiles(self) -> bool:
        try:
            self.code()
        except (SyntaxError, ValueError):
            return False
        return True


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    match node:
        case ast.Compare(left, ops, others):
            for n, op in enumerate(ops):
                if type(op) in COMPARED:
                    yield ast.Compare(left, [*ops[:n], COMPARED[type(op)](), *ops[n + 1 :]], others)
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
            yield ast.BinOp(left, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), right)
            yield from [left, right][: 1 + isinstance(op, ast.Add)]
        case ast.BinOp(left, ast.Mult() | ast.Div() as op, right):
            yield from [left, right][: 1 + isinstance(op, ast.Mult)]
        case ast.BinOp(left, ast.FloorDiv() | ast.RShift() as op, right):
            yield ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), left), op, right))
        case ast.BinOp(left, ast.Pow(), _):
            yield left
        case ast.UnaryOp(
            ast.USub(),
            ast.BinOp(ast.UnaryOp(ast.USub(), left), ast.FloorDiv() | ast.RShift() as op, right),
        ):
            yield ast.BinOp(left, op, right)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield operand
        case ast.BoolOp(op, values):
            for n in range(len(values)):
                rest = values[:n] + values[n + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.IfExp(test, yes, no):
            yield ast.IfExp(test, no, yes)
        case ast.Name(name, ast.Load()) if name in NAMES:
            yield ast.Name(NAMES[name], ast.Load())
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant({0: 1, 1: 2, 2: 1}.get(value, 2 * value))
        case ast.AugAssign(target, ast.Add() | ast.Sub() as op, value):
            other = ast.Sub() if isinstance(op, ast.Add) else ast.Add()
            yield from (ast.AugAssign(target, other, value), ast.Pass())
        case ast.Raise() | ast.Expr(ast.Call(ast.Name("need" | "distribution"))):
            yield ast.Pass()
        case ast.If(test, body, []):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, [])


def _is_work(node: ast.AST) -> bool:
    """Return whether a node adds to steps, or compares work with what is allowed."""
    if isinstance(node, ast.AugAssign | ast.Assign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return getattr(target, "attr", "") == "steps"
    called = node.func if isinstance(node, ast.Call) else None
    return getattr(called, "id", getattr(called, "attr", "")) in WORK


def all_changes(tree: ast.Module) -> Iterator[tuple[str, ast.AST, Put, ast.AST]]:
    """Yield functions, their nodes, how each is replaced, and by what."""
    for function, node, put in _deciding(tree, "module"):
        for other in changes(node):
            yield function, node, put, other


def _text(node: ast.AST) -> str:
    return ast.unparse(node.test if isinstance(node, ast.If) else node)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file; a few of them cannot be compiled."""
    file, tree = path.relative_to(KERNEL).as_posix(), ast.parse(path.read_text())
    for number, (function, node, _, other) in enumerate(all_changes(tree)):
        name = f"{file} {function}: {_text(node)} -> {_text(other)}"
        yield Mutant(file, number, node.lineno, name)


def _deciding(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST, Put]]:
    """Yield expressions and statements that are run, each with the function that it stands in."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "bases", "msg"):
            continue
        for place, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or isinstance(child, ast.Import | ast.ImportFrom):
                continue
            inside = function
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = child.name if function == "module" else f"{function}.{child.name}"
                if child.name in UNTOUCHED or "steps" in child.name.split("_"):
                    continue
            if isinstance(child, ast.Assign) and function == "module":
                target = child.targets[0]
                if isinstance(target, ast.Name) and target.id == "__all__":
                    continue
            if isinstance(child, ast.JoinedStr) or _is_work(child):
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue
            if isinstance(child, ast.expr | ast.stmt):
                if isinstance(value, list):
                    yield inside, child, functools.partial(value.__setitem__, place)
                else:
                    yield inside, child, functools.partial(setattr, node, field)
            yield from _deciding(child, inside)


@functools.cache
def all_mutants() -> dict[str, list[Mutant]]:
    """Return the mutants of each file."""
    found = {}
    for path in sorted(KERNEL.rglob("*.py")):
        if path.name not in TRUSTED:
            found[path.relative_to(KERNEL).as_posix()] = list(mutants_of(path))
    return found


def drawn(count: int, seed: int, only: str = "") -> list[Mutant]:
    """Draw mutants that may change something, of each file in proportion to what it has."""
    pool = {file: m for file, m in all_mutants().items() if only in file}
    names = {mutant.name for mutants in pool.values() for mutant in mutants}
    alike = set(itertools.chain(*excused(names).values()))
    total = sum(map(len, pool.values()))
    found: list[Mutant] = []
    for file, mutants in pool.items():
        share = -(-count * len(mutants) // max(total, 1))
        order = random.Random(f"{seed} {file}").sample(mutants, len(mutants))
        able = (m for m in order if m.name not in alike and m.compiles())
        found += itertools.islice(able, share)
    random.Random(seed).shuffle(found)
    return sorted(found[:count], key=lambda m: (m.file, m.line))


def suites_of(file: str) -> list[list[str]]:
    """Return the tests of one file of the kernel, those of its folder, and the general ones."""
    folder, _, name = file.rpartition("/")
    tests = Path("tests/kernel")
    near = [tests / folder / f"test_{name}"]
    mirror = sorted((ROOT / tests / folder).glob("test_*.py")) if folder else []
    around = [tests / f"test_{folder}.py", *(path.relative_to(ROOT) for path in mirror)]
    seen: set[str] = set()
    suites = []
    for paths in ([*map(str, near)], [*map(str, around)], GENERAL):
        suites.append([path for path in paths if (ROOT / path).exists() and path not in seen])
        seen.update(paths)
    return suites


class Changed(Loader, MetaPathFinder):
    """Imports one file of the kernel with a change."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.module = "mechdesign.kernel." + mutant.file.removesuffix(".py").replace("/", ".")

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        path = str(KERNEL / self.mutant.file)
        return ModuleSpec(name, self, origin=path) if name == self.module else None

    def exec_module(self, module: ModuleType) -> None:
        exec(self.mutant.code(), module.__dict__)


OPTIONS = [
    "-xqq",
    "--no-header",
    "-pno:cacheprovider",
    "-pno:randomly",
    "-pno:warnings",
    "--import-mode=importlib",
    "-oaddopts=",
    "-mnot slow",
    "-knot within_a_second",  # a clock would kill honest code too
]


def run(mutant: Mutant | None, tests: Sequence[str], seconds: int) -> str:
    """Run tests in a new process, on the library with a change; return "", or how they ended.

    The process is a fork of this one, which has imported all but the library. The limit is on what
    it computes, so that other work on the machine decides nothing.
    """
    assert not [name for name in sys.modules if name.partition(".")[0] == "mechdesign"]
    child = os.fork()
    if not child:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            out = os.open(os.devnull, os.O_WRONLY)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.chdir(ROOT)
            if mutant is not None:
                sys.meta_path.insert(0, Changed(mutant))
            code = int(pytest.main([*OPTIONS, *tests]))
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "late"
    return "killed" if os.WEXITSTATUS(status) else ""


def fate(mutant: Mutant, seconds: int) -> str:
    """Return whether the tests of the file, its folder or the kernel fail on a mutant."""
    for suite in filter(None, suites_of(mutant.file)):
        if found := run(mutant, suite, seconds):
            return found
    return "SURVIVED"


def survivors(mutants: Sequence[Mutant], seconds: int = 300, jobs: int = 2) -> list[Mutant]:
    """Return the mutants that the tests of their files do not see."""
    suites = itertools.chain(*(suites_of(mutant.file) for mutant in mutants))
    if run(None, sorted(set(itertools.chain(*suites))), 10 * seconds):
        raise RuntimeError("the tests fail as it is")
    found = []
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        fates = pool.imap(functools.partial(fate, seconds=seconds), mutants)
        for mutant, end in zip(mutants, fates, strict=True):
            print(f"{end} line {mutant.line}: {mutant.name}", flush=True)
            if end == "SURVIVED":
                found.append(mutant)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of the name of a file")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=300, help="for the tests of one mutant")
    options = parser.parse_args()
    mutants = drawn(options.count, options.seed, options.only)
    alive = survivors(mutants, options.seconds, options.jobs)
    print(f"{len(mutants) - len(alive)} of {len(mutants)} killed")
    sys.exit(bool(alive))


if __name__ == "__main__":
    main()
