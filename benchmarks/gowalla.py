"""Distribution estimation over 43,750 cells: plain against block-structured LDP at epsilon = 1.

    python benchmarks/gowalla.py [--repetitions 10] [--better-repetitions 3] [--out FILE.json]

The experiment of Acharya et al. 2020 (Section 7, Table 1): check-ins in 125 x 350 cells of 0.2
degrees, reported by Hadamard response under LDP, or inside blocks that are sent in clear; 5 x 7,
25 x 35 and 25 x 70 blocks. Printed is the total-variation distance of the estimate from the
frequencies of the records, raw and brought to the simplex in two ways, beside the published one;
then the same with the better mechanisms of this library.

The data are SEMI-SYNTHETIC (gowalla/us_cells_semisynthetic.csv.gz of the data folder): sums over
about a degree are those of Gowalla, the distribution inside is modelled, as its provenance says.
Draws are from a seed: this is a simulation. Every report is drawn and counted one by one, but for
unary encoding of the whole domain, whose counts are drawn at once: its bits are independent, so
the count of a cell is the sum of two binomial ones.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

# run as a file, it does not see the folders around the library, which are not installed
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.start import set_data_folder
from mechdesign.estimation.result import clipped, projected
from mechdesign.files.reading import data_folder
from mechdesign.mechanisms import (
    HadamardResponse,
    Mechanism,
    OptimizedUnaryEncoding,
    SubsetSelection,
    by_block,
)
from mechdesign.notions import BlockLDP
from mechdesign.reports import Tally
from mechdesign.writing.atomic import write_atomically

ROWS, COLUMNS = 125, 350
EPSILON = 1
BLOCKS = ((5, 7), (25, 35), (25, 70))
PUBLISHED = {"LDP": 0.591, "5 x 7": 0.298, "25 x 35": 0.108, "25 x 70": 0.082}
PIECE = 1 << 18
"""Records that are reported and counted at once."""

Array = np.ndarray


@dataclass(frozen=True)
class Scheme:
    """A way to report, for one partition."""

    partition: str
    words: str
    mechanism: Mechanism
    tally: Callable[[Mechanism, Array, np.random.Generator], Tally]


def cell_counts() -> Array:
    """Return the number of check-ins of each cell, row by row."""
    folder = data_folder()
    path = None if folder is None else folder / "gowalla" / "us_cells_semisynthetic.csv.gz"
    if path is None or not path.is_file():
        raise SystemExit("gowalla.py: no data: set MECHDESIGN_DATA to the folder of data")
    counts = np.zeros((ROWS, COLUMNS), dtype=np.int64)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            counts[int(row["lat_cell"]), int(row["lon_cell"])] = int(row["count"])
    return counts.ravel()


def partition(down: int, across: int) -> list[list[int]]:
    """Return the cells of each of ``down`` x ``across`` equal blocks."""
    numbers = np.arange(ROWS * COLUMNS).reshape(down, ROWS // down, across, COLUMNS // across)
    return numbers.swapaxes(1, 2).reshape(down * across, -1).tolist()


def one_by_one(mechanism: Mechanism, counts: Array, rng: np.random.Generator) -> Tally:
    """Report every record, and count."""
    records = np.repeat(np.arange(len(counts)), counts)
    total = None
    for start in range(0, len(records), PIECE):
        part = mechanism.tally(mechanism.privatize(records[start : start + PIECE], rng=rng))
        total = part if total is None else total + part
    assert total is not None
    return total


def at_once(mechanism: Mechanism, counts: Array, rng: np.random.Generator) -> Tally:
    """Draw the counts of unary encoding from their law."""
    assert isinstance(mechanism, OptimizedUnaryEncoding)
    total = int(counts.sum())
    p, q = map(float, mechanism.chances)
    own = rng.binomial(counts, p)
    return Tally(own + rng.binomial(total - counts, q), total, simulated=True)


def published() -> list[Scheme]:
    """Return the schemes of the paper."""
    size = ROWS * COLUMNS
    found = [Scheme("LDP", "Hadamard response", HadamardResponse(size, EPSILON), one_by_one)]
    for down, across in BLOCKS:
        mechanism = by_block(HadamardResponse, size, BlockLDP(EPSILON, partition(down, across)))
        found.append(Scheme(f"{down} x {across}", "Hadamard in blocks", mechanism, one_by_one))
    return found


def better() -> list[Scheme]:
    """Return schemes of smaller variance."""
    size = ROWS * COLUMNS
    found = [Scheme("LDP", "unary encoding", OptimizedUnaryEncoding(size, EPSILON), at_once)]
    for down, across in BLOCKS:
        mechanism = by_block(SubsetSelection, size, BlockLDP(EPSILON, partition(down, across)))
        found.append(Scheme(f"{down} x {across}", "subsets in blocks", mechanism, one_by_one))
    return found


def distance(estimate: Array, truth: Array) -> float:
    """Return the total-variation distance."""
    return 0.5 * float(np.abs(estimate - truth).sum())


def run(schemes: list[Scheme], counts: Array, repetitions: int, seed: int) -> list[dict[str, Any]]:
    """Return the distances of every scheme, averaged over the repetitions."""
    truth, results = counts / counts.sum(), []
    bar = tqdm(total=len(schemes) * repetitions, unit="run", disable=None, leave=False)
    for scheme in schemes:
        start, found = time.perf_counter(), []
        for repetition in range(repetitions):
            rng = np.random.default_rng([seed, repetition])
            tally = scheme.tally(scheme.mechanism, counts, rng)
            raw = scheme.mechanism.frequencies(tally).estimates
            found.append([distance(p, truth) for p in (raw, projected(raw), clipped(raw))])
            bar.update()
        results.append(
            {
                "partition": scheme.partition,
                "mechanism": scheme.words,
                "bits": scheme.mechanism.bits_per_report,
                "published": PUBLISHED[scheme.partition],
                "raw": np.mean(found, axis=0).tolist()[0],
                "projected": np.mean(found, axis=0).tolist()[1],
                "clipped": np.mean(found, axis=0).tolist()[2],
                "spread": float(np.std(found, axis=0, ddof=1)[1]) if repetitions > 1 else None,
                "seconds": time.perf_counter() - start,
            }
        )
    bar.close()
    return results


def table(results: list[dict[str, Any]]) -> str:
    """Return Markdown."""
    lines = [
        "| partition | mechanism | bits a report | published | raw | projected | clipped | s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        spread = f" ± {r['spread']:.4f}" if r["spread"] is not None else ""
        lines.append(
            f"| {r['partition']} | {r['mechanism']} | {r['bits']:,.1f} | {r['published']} | "
            f"{r['raw']:.3f} | {r['projected']:.4f}{spread} | {r['clipped']:.4f} | "
            f"{r['seconds']:.1f} |"
        )
    return "\n".join(lines)


def verdict(plain: list[dict[str, Any]], improved: list[dict[str, Any]]) -> str:
    """Return which wins, and what it costs."""
    lines = []
    for one, two in zip(plain, improved, strict=True):
        first, second = (min(r["projected"], r["clipped"]) for r in (one, two))
        winner, loser = (two, one) if second < first else (one, two)
        change = 1 - min(first, second) / max(first, second)
        lines.append(
            f"{one['partition']}: {winner['mechanism']} wins by {change:.1%}, at "
            f"{winner['bits']:,.1f} bits a report against {loser['bits']:,.1f}."
        )
    return "\n".join(lines)


def main() -> None:
    """Run and print."""
    set_data_folder()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--better-repetitions", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    options = parser.parse_args()
    counts = cell_counts()
    print(
        f"{counts.sum():,} records (semi-synthetic) in {counts.size:,} cells, "
        f"{np.count_nonzero(counts):,} of them not empty; epsilon = {EPSILON}; simulation.\n"
        "Total-variation distance to the frequencies of the records; projected: mean ± s.d.\n"
    )
    start = time.perf_counter()
    plain = run(published(), counts, options.repetitions, options.seed)
    print(table(plain))
    print(
        f"\nSchemes of the paper, {options.repetitions} repetitions of all four: "
        f"{time.perf_counter() - start:.1f} s.\n"
    )
    report = {"format": "gowalla", "records": int(counts.sum()), "published": plain}
    if options.better_repetitions:
        improved = run(better(), counts, options.better_repetitions, options.seed)
        print(f"{table(improved)}\n\n{verdict(plain, improved)}")
        report["better"] = improved
    if options.out:
        write_atomically(options.out, json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
