"""Mutants of the kernel: each line that decides a bound or privacy, changed, must fail a test.

``python -m tests.kernel.mutants --count 300 --seed 0`` draws mutants of all files in proportion to
their lines. For each it runs the tests of its own file (``line.py``: ``test_line.py``), then those
of its folder and of the whole kernel (:data:`GENERAL`), in a process that imports the changed file.
What changes nothing that a test could see is in :data:`EQUIVALENT`, with a reason.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import itertools
import multiprocessing
import os
import random
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
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
GENERAL = [
    f"tests/kernel/test_{name}.py"
    for name in (
        "gains",
        "limits",
        "generators",
        "names",
        "proof",
        "verify",
        "schema",
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

UNTOUCHED = {"write", "packed", "written", "refused", "size", "count", "_counts"}
"""Functions that decide neither a bound nor privacy: words, what is written, how much work there
is; those with ``steps`` in their name are left out too."""

WORK = {"limited", "check_size", "take", "Steps"}
"""Functions that compare work with what is allowed."""

TRUSTED = {"__init__.py", "schema.py"}
"""Files without mathematics."""


LONGER = "more digits of a factor that is rounded down too"

ONLY_NUMBER = "a number over one denominator"

ON = "one more place is visited before the work is refused"

CAUCHY = "moments that no law has are refused, and how far they are off is computed from them"

CHAINS = "a diagonal entry above 0 shortens no chain"

WINDOW = "any window of near inputs is sound: it decides how close the loss is"

EQUIVALENT: dict[str, str] = {
    "names/forms.py differential_identifiability: on.size > 1 -> on.size >= 1": "one input has"
    " no ratios",
    "oracles/common.py distinct: 0 -> 1": "there are no members, and one input at least",
    "oracles/common.py ceilings: e.protected is None or x in e.guarded -> x in e.guarded": "the"
    " same for all inputs where none is listed",
    "oracles/linear.py OneBudget.linear: max -> min": "digits of a level, and any level is safe",
    "oracles/products.py _positive: factor * b // pivot -> -(-(factor * b) // pivot)": "no entry"
    " is off by 1 either way",
    "laws/torus.py Torus.sums: 0 -> 1": "differences of rows and of columns are used alone",
    "limits.py Information.holds: sum((form(q, up=True) for q in columns), Fraction(0)) <="
    " self.limit * whole -> sum((form(q, up=True) for q in columns), Fraction(0)) < self.limit *"
    " whole": "a bound rounded up meets a limit exactly by chance",
    "linearizations/boxes.py _Shrink._narrow: share * high[x] >> GRID > least -> share * high[x]"
    " >> GRID >= least": "equal terms sum to the same",
    "oracles/walk.py _worth: 1 -> 2": "a convex gain is at most that at neighbors further apart",
    "oracles/simplicial.py _solved: min -> max": "any order of elimination",
    "oracles/walk.py module: 30 -> 60": "counts work only",
    "oracles/walk.py open_sets: a + _rest(one)[0] -> a": "the order only",
    "rounding/bound.py readings: need(all(prior), 'a node has no mass, so its mean is undefined')"
    " -> pass": "a division by 0 is refused too",
    "rounding/files.py read_rounded: 40 * k * (k + 4 * m) -> 40 * k": "counts work only",
    "rounding/files.py read_rounded: 20 * k -> k": "counts work only",
    "rounding/files.py read_rounded: 20 * k -> 20": "counts work only",
    "rounding/laws.py NumberLaw.means: whole.low > LEAST_MASS -> whole.low >= LEAST_MASS": "the"
    " least mass itself will do",
    "rounding/moments.py _rounded: 2 + math.ceil(unit * sum((part.high - part.low for part in"
    " row))) -> math.ceil(unit * sum((part.high - part.low for part in row)))": CAUCHY,
    "verify.py allowance: denominator_bits([stated, long]) ** 2 // STEP_BITS ** 2 ->"
    " -(-denominator_bits([stated, long]) ** 2 // STEP_BITS ** 2)": "limits work only",
    "verify.py allowance: STEPS_PER_ENTRY * entries_of(document) -> entries_of(document)": "limits"
    " work only",
    "claims.py verify_claims: 0 -> 1": "a sign is 1 or -1",
    "value.py _guessed: aim.weights or () -> aim.weights": "outputs are free at a prior only",
    "generators/ratio.py Constant.groups: len(block) > 1 -> len(block) >= 1": "an input alone has"
    " no pairs",
    "oracles/double_description.py _cut: both.bit_count() >= k - 2 and (not _third(tight, both,"
    " everywhere)) -> not _third(tight, both, everywhere)": "a face of more dimensions has a third"
    " ray",
    "relaxations/implied.py _closed: x != z and a is not None and (a < least.get((x, z), a + 1))"
    " -> a is not None and a < least.get((x, z), a + 1)": CHAINS,
    "proof.py least: abs(b - a) >= curvature -> abs(b - a) > curvature": "at the edge the"
    " parabola is least at the end itself",
    "proof.py _multiply: program.nodes or [] -> program.nodes": "a gain takes no multipliers, and"
    " what is linear has nodes",
    "generators/base.py Block.entries: 1 -> 2": "where there are no nodes, any number below 0 is"
    " below the number of nodes",
    "oracles/linear.py _level: a // b -> -(-a // b)": "e >= 0 is missed by less than one unit of"
    " prices, which are whole and rounded down after it",
    "oracles/linear.py _level: 0 -> 1": "Newton's steps start anywhere, and an e of 0 adds"
    " nothing to W",
    "linearizations/boxes.py _Shrink.__call__: any -> all": "a box that is empty stays so, and is"
    " seen in the end",
    "limits.py Gauge.most: self.limit >= 0 -> self.limit > 0": "any power times 0 is 0",
    "limits.py Gauge._excess: v > 0 -> v >= 0": "adds 0",
    "oracles/linear.py _level: rest // column -> -(-rest // column)": "the last of Newton's steps"
    " is rounded down, and ends at a level that keeps W >= 0",
    "oracles/walk.py Walk.__call__: (current().steps - self.steps(statement)) // STEPS_PER_PLACE"
    " -> -(-(current().steps - self.steps(statement)) // STEPS_PER_PLACE)": ON,
    "oracles/walk.py open_sets: max(a + rest_one[d], b + rest_other[d]) <= 0 -> max(a +"
    " rest_one[d], b + rest_other[d]) < 0": "rays that need nothing are listed too",
    "laws/design.py _Moves.__init__: row + r -> r": "counts work only",
    "laws/design.py _Moves.__init__: points == 1 -> points != 1": "counts work only",
    "laws/design.py _Moves.__init__: 2 -> 1": "counts work only",
    "laws/design.py _Moves._window: 1 -> 2": WINDOW,
    "laws/design.py _Moves._window: 2 * m -> 2": WINDOW,
    "laws/design.py _Moves._window: sum(self._points) * largest[place] * worst << 20 <= least"
    " -> sum(self._points) * largest[place] * worst << 20 < least": WINDOW,
    "laws/design.py loss_of_noise: moves.loss(prior) if few else _loss_by_runs(noise,"
    " _losses(noise, statement), prior) -> _loss_by_runs(noise, _losses(noise, statement), prior)"
    " if few else moves.loss(prior)": "both are the loss; the fewer steps decide",
    "generators/ratio.py Ratio.test.test: top * least[place] -> least[place]": "only finds the"
    " groups whose pairs are compared",
    "packed.py _unpack: 1 -> 2": "any length beyond the stated one is refused",
    "risk.py Inverse.of: 1 -> 2": "more digits, or a unit more of error; the residual has its own"
    " test",
    "rounding/moments.py _rounded: any -> all": CAUCHY,
    "rounding/moments.py _rounded: math.ceil(row[k].high * kept) + slack ->"
    " math.ceil(row[k].high * kept)": CAUCHY,
    "risk.py _information: 0 -> 1": "all columns are of one length",
    "rounding/value.py highest: 0 -> 1": "a parabola that bends up has its maximum at an end",
    "rounding/value.py highest: bend >= 0 -> bend > 0": "without a bend no rise is below 0",
    "rounding/bound.py program: max -> min": "any number may be added to all costs",
    "oracles/products.py Products._bounds.bound: ratio and Fraction(scaled(ratio, up=True,"
    " bits=GRID), 1 << GRID) -> ratio": "rounding makes the bound shorter; as it is it holds too",
    "generators/base.py ListedRow.net: 160 -> 320": LONGER,
    "generators/lift.py Ball.largest.largest: 0 -> 1": ONLY_NUMBER,
    "objectives.py _grid_of_labels: 0 -> 1": "other numbers of columns do not give these points",
    "oracles/walk.py open_sets: a + _rest(one)[0] -> a - _rest(one)[0]": "the order only",
    "oracles/simplicial.py Simplicial.__call__: 2 -> 1": "counts work only",
    "oracles/linear.py _beyond: total >= 0 -> total > 0": "any factor times 0 is 0",
    "oracles/products.py _rest: weight * a / 2 -> weight * a": "T is positive if 2 T is",
    "generators/ratio.py Matrix.groups: a >= 0 -> a > 0": "the same rows one by one",
}


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
    if isinstance(node, ast.Compare):
        for n, op in enumerate(node.ops):
            if type(op) in COMPARED:
                other = copy.deepcopy(node)
                other.ops[n] = COMPARED[type(op)]()
                yield other
    elif isinstance(node, ast.BinOp):
        yield from _arithmetic(node)
    elif isinstance(node, ast.UnaryOp) and _is_ceiling(node):
        yield ast.BinOp(node.operand.left.operand, node.operand.op, node.operand.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        for n in range(len(node.values)):
            rest = node.values[:n] + node.values[n + 1 :]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Name) and node.id in NAMES and isinstance(node.ctx, ast.Load):
        yield ast.Name(NAMES[node.id], node.ctx)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant({0: 1, 1: 2, 2: 1, 4: 8}.get(node.value, 2 * node.value))
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        other = copy.deepcopy(node)
        other.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield other
        yield ast.Pass()
    elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and _refuses(node.value)):
        yield ast.Pass()
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
    total = sum(map(len, pool.values()))
    found: list[Mutant] = []
    for file, mutants in pool.items():
        share = -(-count * len(mutants) // max(total, 1))
        order = random.Random(f"{seed} {file}").sample(mutants, len(mutants))
        able = (m for m in order if m.name not in EQUIVALENT and m.compiles())
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
