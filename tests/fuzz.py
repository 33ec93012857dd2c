"""Hostile files at the command line: ``python -m tests.fuzz --files 50000 --seed 1``.

Every case is a few files and a command. Whatever they hold, the command must end with status 0, 1
or 2, say at most one line on standard error and raise nothing, within a second of processor time
and 500 MB. Cases are numbered: the seed and the number make the case, so that
``--seed 1 --only 4711 --keep FOLDER`` repeats one and leaves its files.

Each case runs in a process of its own, a fork that the system ends if it takes too long.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import gzip
import importlib
import io
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
import tomllib
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mechdesign.notions import NOTIONS
from tests.mutations import OBJECTIVES, WRONG_SHAPE, Document, Mutator, places, reach

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 500 << 20
KILLED_AFTER = 10
"""Seconds of processor time after which a case is ended."""

MOST_ADDRESSES = 3 << 30
"""Bytes of address space beyond those before a case."""


USED = (
    *("mechdesign.cli.design", "mechdesign.cli.records", "mechdesign.designs.design"),
    *("mechdesign.collection.records.privatize", "mechdesign.estimation.estimate"),
    "mechdesign.files.mechanisms",
)
"""Modules that commands import when they need them."""

LONG = 20_000
"""Characters of the longest honest file that is changed."""


def saved_files(step: int = 1) -> list[Document]:
    """Return saved files of every kind: channels, laws, rounded inputs, designs of examples."""
    from tests.kernel.honest import draw_document
    from tests.kernel.laws.support import MADE as LAWS, document_of
    from tests.kernel.rounding.test_files import MADE as ROUNDED, made
    from tests.kernel.test_independent import SHAPES, designed

    makers = [(document_of, LAWS), (made, ROUNDED), (designed, SHAPES), (draw_document, range(200))]
    files = [make(name) for make, names in makers for name in [*names][::step]]
    return [file for file in files if len(json.dumps(file)) < LONG]


@dataclass
class Case:
    files: dict[str, bytes]
    arguments: list[str]


# --- problem files --------------------------------------------------------------------------------


def toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items()) + " }"
    return "'none'" if value is None else str(value)


def toml_key(key: Any) -> str:
    text = str(key)
    return text if text.isidentifier() and text.isascii() else json.dumps(text)


def toml_text(tree: dict[str, Any]) -> str:
    lines = [f"{toml_key(k)} = {toml_value(v)}" for k, v in tree.items() if not isinstance(v, dict)]
    for key, table in tree.items():
        if isinstance(table, dict):
            lines += [
                f"[{toml_key(key)}]",
                *(f"{toml_key(k)} = {toml_value(v)}" for k, v in table.items()),
            ]
    return "\n".join(lines) + "\n"


HUGE: list[Any] = [10**6, 10**9, 10**40, -(10**9), 1e308, 1e-308, "1e99999", "9" * 5000, 0.0]
HUGE += [
    float("nan"),
    float("inf"),
    "1/0",
    "1/3",
    [0.5] * 3000,
    ["x"] * 3000,
    [[0]] * 300,
    "\u0661",
]
ODD_TOML = [
    lambda draw: ".".join(["a"] * draw.choice([10, 1000, 30_000])) + " = 1\n",
    lambda draw: "x = " + "[" * draw.choice([10, 500, 50_000]) + "\n",
    lambda draw: "x = " + "{a=" * draw.choice([10, 500, 20_000]) + "\n",
    lambda draw: "x = " + "9" * draw.choice([10, 5_000, 500_000]) + "\n",
    lambda draw: "x = 1e" + "9" * draw.choice([3, 10, 1000]) + "\n",
    lambda draw: "[a" + ".a" * draw.choice([10, 1000, 30_000]) + "]\n",
    lambda draw: "".join(f"[[a{n}]]\n" for n in range(draw.choice([10, 20_000]))),
    lambda draw: "x = " + json.dumps("y" * draw.choice([10, 500_000])) + "\n",
    lambda _: "size = 1000000\n[prior]\nuniform = true\n",
    lambda _: "\x00\n",
    lambda _: "x = 1979-05-27T07:32:00Z\n",
    lambda _: "# \x1b[31m\n",
]


class Cases:
    """Makes the cases of a seed."""

    def __init__(self, pool: list[Document], seed: int) -> None:
        self.pool, self.seed = pool, seed
        self.problems = [
            tomllib.loads(p.read_text()) for p in sorted(ROOT.glob("problems/*/*.toml"))
        ]
        self.problems = [p for p in self.problems if len(toml_text(p)) < 3000]

    def case(self, number: int) -> Case:
        mutator = Mutator(self.pool, 0)
        mutator.draw = random.Random(f"{self.seed}:{number}")
        return mutator.draw.choice(KINDS)(self, mutator)

    def channel(self, mutator: Mutator) -> Case:
        if mutator.draw.random() < 0.5:
            return Case(
                {"c.json": json.dumps(mutator.document()[0]).encode()}, ["verify", "c.json"]
            )
        return Case({"c.json": mutator.text()}, ["verify", "c.json"])

    def read_channel(self, mutator: Mutator) -> Case:
        """Other commands read channel files too."""
        document = (
            mutator.document()[0] if mutator.draw.random() < 0.7 else mutator.draw.choice(self.pool)
        )
        files = {"c.json": json.dumps(document).encode(), "r.csv": self._records(mutator)}
        command = mutator.draw.choice(
            [
                ["leakage", "c.json"],
                ["privatize", "c.json", "r.csv", "out.csv", "--column", "x"],
                ["estimate", "c.json", "r.csv", "--column", "x"],
            ]
        )
        return Case(files, command)

    def _tree(self, mutator: Mutator) -> dict[str, Any]:
        draw = mutator.draw
        tree: dict[str, Any] = json.loads(json.dumps(draw.choice(self.problems)))
        for _ in range(draw.choice([1, 1, 2, 3])):
            with contextlib.suppress(*WRONG_SHAPE):
                kind = draw.randrange(6)
                if kind == 0:
                    mutator.any_leaf(tree)
                elif kind == 1:
                    mutator.entries(tree)
                elif kind == 2:
                    mutator.tables(tree)
                elif kind == 3:
                    *rest, key = draw.choice(list(places(tree)))
                    reach(tree, tuple(rest))[key] = copy.deepcopy(draw.choice(HUGE))
                elif kind == 4:
                    other = draw.choice(self.problems)
                    key = draw.choice(["privacy", "utility", "prior", "domain", "outputs"])
                    tree[key] = json.loads(json.dumps(other[key]))
                else:
                    table = tree[draw.choice(["privacy", "utility", "domain"])]
                    table[draw.choice(list(table))] = copy.deepcopy(draw.choice(HUGE))
        return tree

    def problem(self, mutator: Mutator) -> Case:
        draw = mutator.draw
        text = toml_text(self._tree(mutator))
        if draw.random() < 0.15:
            at = draw.randrange(len(text))
            piece = draw.choice(ODD_TOML)(draw)
            text = draw.choice([piece + text, text + piece, text[:at] + piece + text[at:]])
        raw = bytearray(text.encode(errors="surrogatepass"))
        if draw.random() < 0.15 and raw:
            for _ in range(draw.choice([1, 3])):
                raw[draw.randrange(len(raw))] = draw.randrange(256)
        command = ["solve", "p.toml", "--time-limit", "0.3", "--json"]
        if draw.random() < 0.2:
            command = ["check", "p.toml"] if draw.random() < 0.1 else [*command, "-o", "c.json"]
        return Case({"p.toml": bytes(raw)}, command)

    def extreme(self, mutator: Mutator) -> Case:
        """A problem that may be stated, with numbers from both ends of what may be stated."""
        draw = mutator.draw
        k = draw.choice([1, 2, 2, 3, 3, 4, 5, 8, 13, 30])
        numbers = [0, 1e-300, 1e-12, 1e-9, 0.1, 0.5, 1, 1, 2, 30, 700, 1e5, 1e9]

        def matrix(columns: int, more: list[Any]) -> list[list[Any]]:
            return [[draw.choice([*numbers, *more]) for _ in range(columns)] for _ in range(k)]

        some = sorted(draw.sample(range(k), draw.randrange(1, k + 1)))
        budgets = {"epsilon": draw.choice(numbers)}
        privacy: dict[str, Any] = draw.choice(
            [
                {"notion": draw.choice(list(NOTIONS)), **budgets},
                {"notion": draw.choice(["ldp", "lip", "pml"]), **budgets},
                {"notion": "lift", "lower": draw.choice(numbers), "upper": draw.choice(numbers)},
                {"notion": "context-aware", "matrix": matrix(k, [float("inf")] * 5)},
                {"notion": "metric", "distance": "absolute", **budgets},
                {"notion": "metric", "distance": matrix(k, []), **budgets},
                {"notion": "high-low", "sensitive": some, **budgets},
                {"notion": "approximate-ldp", "delta": draw.choice([0, 1e-9, 0.1, 1]), **budgets},
                {"notion": "approximate-lip", "delta": draw.choice([0, 1e-9, 0.1, 1]), **budgets},
            ]
        )
        utility: dict[str, Any] = {"objective": draw.choice(OBJECTIVES)}
        if utility["objective"] == "distortion":
            utility["matrix"] = matrix(k, [])
        elif utility["objective"] == "posterior-mean-squared-error" and draw.random() < 0.5:
            utility["values"] = [draw.choice([-1, 1]) * draw.choice(numbers) for _ in range(k)]
        if draw.random() < 0.2:
            utility["worst_case"] = True
        counts = [draw.choice([0, 1, 1, 2, 5, 10**9]) for _ in range(k)]
        tree = {"domain": {"size": k}, "privacy": privacy, "utility": utility}
        if draw.random() < 0.8:
            tree["prior"] = {"counts": counts}
        command = ["solve", "p.toml", "--time-limit", "0.3", "--json"]
        return Case({"p.toml": toml_text(tree).encode()}, command)

    # tables of data

    def _table(self, mutator: Mutator) -> tuple[str, bytes]:
        """Draw a table as text in CSV, or changed bytes of it, perhaps compressed."""
        draw = mutator.draw
        text = self._records(mutator)
        name = "t.csv"
        if draw.random() < 0.3:
            raw = gzip.compress(text, mtime=0)
            name, text = "t.csv.gz", raw
        elif draw.random() < 0.3:
            name, text = "t.parquet", self._parquet(draw)
        if draw.random() < 0.4 and text:
            changed = bytearray(text)
            for _ in range(draw.choice([1, 1, 3, 20])):
                changed[draw.randrange(len(changed))] = draw.randrange(256)
            text = bytes(changed[: draw.choice([None, None, len(changed) // 2])])
        return name, text

    def _records(self, mutator: Mutator) -> bytes:
        draw = mutator.draw
        comma = draw.choice([",", ",", ";", "\t"])
        labels = [
            "0",
            "1",
            "2",
            "yes",
            "no",
            "a",
            "b",
            "c",
            "",
            "=1+1",
            "1e999",
            "\u0661",
            '"',
            "'",
        ]
        rows = [["x", "y"][: draw.choice([1, 2, 2])]]
        size = draw.choice([0, 1, 3, 50])
        rows += [
            [draw.choice(labels[: draw.choice([3, 14])]) for _ in rows[0]] for _ in range(size)
        ]
        text = "\n".join(comma.join(row) for row in rows)
        ways = [
            lambda: text,
            lambda: text,
            lambda: text,
            lambda: "x" + "," * draw.choice([100, 1_000_000]) + "\n" + text,
            lambda: text + "\n" + "1" * draw.choice([100, 2_000_000]),
            lambda: '"' + text,
            lambda: text.replace("\n", "\r"),
            lambda: "\ufeff" + text,
            lambda: text + "\x00" * 10,
            lambda: "x,x\n" + text,
        ]
        found = draw.choice(ways)()
        return found.encode("utf-16") if draw.random() < 0.05 else found.encode()

    def _parquet(self, draw: random.Random) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        values: list[Any] = draw.choice([["0", "1", "2"], [0, 1, None], [0.5, 1.0], [[1], [2]], []])
        sink = io.BytesIO()
        pq.write_table(pa.table({"x": values}), sink)
        return sink.getvalue()

    def data(self, mutator: Mutator) -> Case:
        """A problem that refers to a table: the prior, a matrix, or rows of one's own."""
        name, raw = self._table(mutator)
        draw = mutator.draw
        table = f'{{ file = "{name}"'
        prior = f"[prior]\ndata = {table}, column = {json.dumps(draw.choice(['x', 'y', 'z']))} }}\n"
        domain = draw.choice(['values = ["0", "1", "2"]', "size = 3", 'values = ["a", "b"]'])
        text = f"[domain]\n{domain}\n{prior}[privacy]\nnotion = 'ldp'\nepsilon = 1\n"
        text += "[utility]\nobjective = 'hamming'\n"
        if draw.random() < 0.3:
            part = draw.choice(
                [
                    f"notion = 'context-aware'\nmatrix = {table} }}",
                    f"notion = 'linear'\nrows = {table} }}",
                    f"notion = 'metric'\nepsilon = 1\ndistance = {table} }}",
                ]
            )
            text = f"[domain]\nsize = 3\n[privacy]\n{part}\n[utility]\nobjective = 'hamming'\n"
        return Case(
            {"p.toml": text.encode(), name: raw}, ["solve", "p.toml", "--time-limit", "0.3"]
        )

    def records(self, mutator: Mutator) -> Case:
        """Records for a channel that is as it should be."""
        name, raw = self._table(mutator)
        document = mutator.draw.choice(self.pool)
        files = {"c.json": json.dumps(document).encode(), name: raw}
        command = mutator.draw.choice(
            [
                ["privatize", "c.json", name, "out.csv", "--column", "x", "--force"],
                ["estimate", "c.json", name, "--column", "x"],
            ]
        )
        return Case(files, command)


KINDS: list[Callable[[Cases, Mutator], Case]] = [
    *[Cases.channel] * 4,
    Cases.read_channel,
    *[Cases.problem] * 3,
    *[Cases.extreme] * 2,
    Cases.data,
    Cases.records,
]


# --- a process for each case ----------------------------------------------------------------------

FORK = multiprocessing.get_context("fork")


def apart(target: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a process of its own, and None if that was killed."""
    receiver, sender = FORK.Pipe(duplex=False)
    worker = FORK.Process(target=lambda: sender.send(target(*arguments)))
    worker.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return None
    finally:
        worker.join()


def limit_resources() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (KILLED_AFTER, KILLED_AFTER))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST_ADDRESSES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run_case(cases: Cases, number: int, folder: str, seconds: float) -> tuple[str, list[str]]:
    """Run a command where its files are; return how it ended, and what is wrong."""
    from mechdesign.cli import main

    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what solvers print is no matter
    limit_resources()
    case, wrong, status = cases.case(number), list[str](), None
    for name, raw in case.files.items():
        Path(name).write_bytes(raw)
    out, err = io.StringIO(), io.StringIO()
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("always")
            status = main(case.arguments)
    except SystemExit as stop:
        status = stop.code
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        wrong.append(f"raised {type(error).__name__} at {where}: {str(error)[:100]}")
    taken = time.process_time() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before << 10
    if not wrong and status not in (0, 1, 2):
        wrong.append(f"status {status!r}")
    said = err.getvalue()
    if said.count("\n") > 1 or "Traceback" in said:
        wrong.append(f"{said.count(chr(10))} lines on standard error: {said[:200]!r}")
    if status in (1, 2) and case.arguments[0] != "check" and not said.strip():
        wrong.append(f"status {status} without a word")
    if any(ord(c) < 32 and c != "\n" for c in said):
        wrong.append(f"a control character on standard error: {said[:100]!r}")
    if taken > seconds:
        wrong.append(f"{taken:.1f} s")
    if grown > MOST_BYTES:
        wrong.append(f"{grown >> 20} MB")
    return f"{case.arguments[0]} {status}", wrong


def tried(cases: Cases, number: int, seconds: float) -> tuple[str, list[str]]:
    """Return what `run_case` does, or that it was killed."""
    with tempfile.TemporaryDirectory() as folder:
        end = apart(run_case, cases, number, folder, seconds)
    return end or ("killed", [f"more than {KILLED_AFTER} s, or killed"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--pool", type=Path, help="honest files, in a list of JSON")
    parser.add_argument("--seconds", type=float, default=1.0, help="that a case may take")
    parser.add_argument("--only", type=int, metavar="NUMBER")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    for module in USED:  # so that no case pays for it
        importlib.import_module(module)
    # apart: a solver that has run here leaves threads, which no fork has
    pool = json.loads(options.pool.read_text()) if options.pool else apart(saved_files)
    cases = Cases(pool, options.seed)
    if options.only is not None:
        case = cases.case(options.only)
        print(*case.arguments)
        options.keep.mkdir(parents=True, exist_ok=True)
        for name, raw in case.files.items():
            (options.keep / name).write_bytes(raw)
        return 0
    ends, bad = collections.Counter[str](), 0
    numbers = range(options.first, options.first + options.files)
    with ThreadPoolExecutor(options.jobs) as threads:
        done = threads.map(lambda number: tried(cases, number, options.seconds), numbers)
        for number, (end, wrong) in zip(numbers, done, strict=True):
            ends[end] += 1
            if wrong:
                bad += 1
                print(number, end, "; ".join(wrong), flush=True)
    print(f"{len(numbers)} cases, {bad} wrong:", dict(sorted(ends.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
