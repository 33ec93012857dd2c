"""How many records a second are privatized: ours, plain NumPy, pure-LDP and multi-freq-ldpy.

    python benchmarks/sampling_speed.py [--seconds 1] [--runs 5] [--out FILE.json]

Ours draws exactly, from the cryptographic source of the operating system; all others use floating
point and generators that can be foretold. The contenders of a case run in turn, several times; a
rate is the median over the runs, on one thread, with as many records as take the time given. The
records are integers already, and what comes out is the array or the list that the contender makes.
A package that is not installed is left out, with a note in the table.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

# run as a file, it does not see the folders around the library, which are not installed
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.start import set_data_folder
from mechdesign import Channel
from mechdesign.channel import BITS
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    OptimizedUnaryEncoding,
    SubsetSelection,
)
from mechdesign.writing.atomic import write_atomically

Records = np.ndarray
Client = Callable[[Records], object]
"""Privatizes an array of input numbers."""

EPSILON = 1.0
FIRST, MOST = 64, 1 << 20
"""Records of the first trial, and at most in one call; calls are repeated to fill the time."""

PEERS = {"pure-LDP": "pure_ldp", "multi-freq-ldpy": "multi_freq_ldpy"}
PACKAGES = ("mechdesign", "numpy", "cryptography", "pure-ldp", "multi-freq-ldpy", "numba")

Contenders = dict[str, Callable[[int], Client]]


@dataclass(frozen=True)
class Case:
    """One mechanism, and its implementations: each maps a domain size to a client."""

    mechanism: str
    size: int
    contenders: Contenders
    goal: float | None = None
    """Millions of records a second that ours is to reach."""


# Ours.


def ours_dense(k: int) -> Client:
    """Draw from the integers of a random channel."""
    matrix = np.random.default_rng(0).dirichlet(np.ones(k), size=k)
    masses = np.floor(np.ldexp(matrix, BITS)).astype(np.int64)
    masses[:, 0] += (1 << BITS) - masses.sum(axis=1)
    return Channel(masses).privatize


def ours(kind: Callable[[int, float], Any]) -> Callable[[int], Client]:
    """Draw from a structured mechanism."""
    return lambda k: kind(k, EPSILON).privatize


# Plain NumPy, with floating-point noise.


def numpy_dense(k: int) -> Client:
    rng = np.random.default_rng(1)
    cumulative = rng.dirichlet(np.ones(k), size=k).cumsum(axis=1)
    return lambda records: (cumulative[records] < rng.random(len(records))[:, None]).sum(axis=1)


def numpy_grr(k: int) -> Client:
    rng, p = np.random.default_rng(1), np.exp(EPSILON) / (np.exp(EPSILON) + k - 1)

    def client(records: Records) -> Records:
        other = (records + rng.integers(1, k, len(records))) % k
        return np.where(rng.random(len(records)) < p, records, other)

    return client


def numpy_hadamard(k: int) -> Client:
    rng, p = np.random.default_rng(1), np.exp(EPSILON) / (np.exp(EPSILON) + 1)
    size = 1 << k.bit_length()

    def client(records: Records) -> Records:
        row = records + 1
        report = rng.integers(0, size, len(records))
        odd = np.bitwise_count(report & row) % 2 == 1
        return np.where(odd == (rng.random(len(records)) < p), report ^ (row & -row), report)

    return client


def numpy_unary(k: int) -> Client:
    rng, q = np.random.default_rng(1), 1 / (np.exp(EPSILON) + 1)

    def client(records: Records) -> Records:
        bits = rng.random((len(records), k)) < q
        bits[np.arange(len(records)), records] = rng.random(len(records)) < 0.5
        return bits

    return client


def numpy_subset(k: int) -> Client:
    rng, size = np.random.default_rng(1), subset_size(k)
    p = size * np.exp(EPSILON) / (size * np.exp(EPSILON) + k - size)

    def client(records: Records) -> Records:
        keys = rng.random((len(records), k))
        inside = rng.random(len(records)) < p
        keys[np.arange(len(records)), records] = np.where(inside, -1, 2)
        return np.argpartition(keys, size, axis=1)[:, :size]

    return client


def subset_size(k: int) -> int:
    return max(1, round(k / (np.exp(EPSILON) + 1)))


# Peers: one record at a time, as they offer it.


def pure_ldp(name: str, **keys: Any) -> Callable[[int], Client]:
    def make(k: int) -> Client:
        import pure_ldp.frequency_oracles as oracles

        rest = ([],) if name == "HadamardResponseClient" else ()
        client = getattr(oracles, name)(EPSILON, k, *rest, **keys)
        return lambda records: [client.privatise(int(x) + 1) for x in records]

    return make


def multi_freq(module: str, *options: Any) -> Callable[[int], Client]:
    def make(k: int) -> Client:
        home = importlib.import_module(f"multi_freq_ldpy.pure_frequency_oracles.{module}")
        client = getattr(home, f"{module}_Client")
        client(0, k, EPSILON, *options)  # compiled by the first call
        return lambda records: [client(int(x), k, EPSILON, *options) for x in records]

    return make


def cases() -> Iterator[Case]:
    """Yield the measurements."""
    for k in (21, 1000):
        yield Case("dense channel", k, {"ours": ours_dense, "NumPy": numpy_dense}, goal=3)
    for k in (1000, 43_750):
        grr = {"ours": ours(GeneralizedRandomizedResponse), "NumPy": numpy_grr}
        grr |= {"pure-LDP": pure_ldp("DEClient"), "multi-freq-ldpy": multi_freq("GRR")}
        yield Case("randomized response", k, grr, goal=10)
    for k in (1000, 43_750):
        hadamard = {"ours": ours(HadamardResponse), "NumPy": numpy_hadamard}
        hadamard |= {"pure-LDP": pure_ldp("HadamardResponseClient")}
        yield Case("Hadamard response", k, hadamard, goal=2)
    unary = {"ours": ours(OptimizedUnaryEncoding), "NumPy": numpy_unary}
    unary |= {"pure-LDP": pure_ldp("UEClient", use_oue=True)}
    unary |= {"multi-freq-ldpy": multi_freq("UE", True)}
    yield Case("unary encoding", 1000, unary)
    subset = {"ours": ours(SubsetSelection), "NumPy": numpy_subset}
    subset |= {"multi-freq-ldpy": multi_freq("SS")}
    yield Case("subset selection", 1000, subset)


def missing(name: str) -> bool:
    return name in PEERS and importlib.util.find_spec(PEERS[name]) is None


def measure(case: Case, seconds: float, runs: int) -> dict[str, Any]:
    """Return the rates of all contenders in millions of records a second, taken in turn."""
    rng = np.random.default_rng(2)
    clients = {name: make(case.size) for name, make in case.contenders.items() if not missing(name)}
    sizes = {name: fitting(client, case.size, seconds) for name, client in clients.items()}
    rates: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(runs):
        for name, client in clients.items():
            records, calls = rng.integers(0, case.size, sizes[name]), 0
            start = time.perf_counter()
            while (spent := time.perf_counter() - start) < seconds or not calls:
                client(records)
                calls += 1
            rates[name].append(calls * len(records) / spent / 1e6)
    return {
        "mechanism": case.mechanism,
        "size": case.size,
        "goal": case.goal,
        "records": sizes,
        "rates": rates,
        "median": {name: statistics.median(found) for name, found in rates.items()},
    }


def fitting(client: Client, size: int, seconds: float) -> int:
    """Return how many records take about the time given, after a first call that is not timed."""
    count = FIRST
    client(np.zeros(count, dtype=np.int64))
    while True:
        records = np.random.default_rng(3).integers(0, size, count)
        start = time.perf_counter()
        client(records)
        spent = time.perf_counter() - start
        if spent > seconds / 4 or count >= MOST:
            return int(min(MOST, max(FIRST, count * seconds / max(spent, 1e-9))))
        count *= 4


def table(results: list[dict[str, Any]]) -> str:
    """Return Markdown: millions of records a second, and how many times ours is as fast."""
    names = ["ours", "NumPy", *PEERS]
    lines = [
        f"| mechanism | inputs | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for result in results:
        best, cells = result["median"]["ours"], []
        for name in names:
            rate = result["median"].get(name)
            text = "" if rate is None else f"{rate:.3g}"
            cells.append(text if name == "ours" or not text else f"{text} ({best / rate:.3g}x)")
        lines.append(f"| {result['mechanism']} | {result['size']:,} | {' | '.join(cells)} |")
    absent = [name for name in PEERS if missing(name)]
    if absent:
        lines += ["", f"Not installed: {', '.join(absent)} (`pip install -e '.[peers]'`)."]
    return "\n".join(lines)


def installed() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def main() -> None:
    """Measure and print."""
    set_data_folder()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="of one run")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", help="mechanisms whose name holds this")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    options = parser.parse_args()
    results = []
    for case in cases():
        if options.only is None or options.only in case.mechanism:
            results.append(measure(case, options.seconds, options.runs))
            print(results[-1]["mechanism"], results[-1]["size"], file=sys.stderr)
    print("Millions of records a second, one thread; in brackets how many times ours is as fast.\n")
    print(table(results))
    if options.out:
        report = {
            "format": "sampling-speed",
            "machine": platform.machine(),
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
            "packages": installed(),
            "results": results,
        }
        write_atomically(options.out, json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
