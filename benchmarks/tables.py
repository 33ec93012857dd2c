"""Tables of ten million people, from Parquet to Parquet: seconds and memory, beside the bare draw.

    python benchmarks/tables.py [--rows 10000000] [--peer-rows 20000] [--out FILE.json]

Four columns (2, 5, 16 and 100 labels, two of them text) are read, drawn for and written, each time
in a process of its own, whose largest memory is that of the run. The bare draw is what the same
mechanisms take for input numbers that are in memory already. Plain loops and other packages draw
for fewer rows of the same data, and are counted up. The files lie in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# run as a file, it does not see the folders around the library, which are not installed
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.sampling_speed import Client, missing, multi_freq, numpy_grr, pure_ldp
from mechdesign import Channel
from mechdesign.mechanisms import GeneralizedRandomizedResponse
from mechdesign.writing.atomic import write_atomically

SIZES = {"sex": 2, "answer": 5, "region": 16, "age": 100}
TEXT = ("answer", "region")
PIECE = 1 << 20


def labels_of(name: str) -> list[Any]:
    return [f"{name} {n}" if name in TEXT else n for n in range(SIZES[name])]


def mechanisms() -> dict[str, Any]:
    """Return two channels and two structured mechanisms."""
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for name, k in SIZES.items():
        if name in ("sex", "answer"):
            matrix = rng.dirichlet(np.ones(k), size=k)
            found[name] = Channel.from_matrix(
                matrix, inputs=labels_of(name), outputs=labels_of(name)
            )
        else:
            found[name] = GeneralizedRandomizedResponse(labels_of(name), 1)
    return found


def write_records(path: Path, rows: int, spare: int) -> None:
    """Write records, with unused columns beside them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, writer = np.random.default_rng(1), None
    for start in range(0, rows, PIECE):
        n = min(PIECE, rows - start)
        columns: dict[str, Any] = {"id": np.arange(start, start + n)}
        for name, k in SIZES.items():
            codes = rng.integers(0, k, n).astype(np.int32)
            labels = pa.array(labels_of(name))
            columns[name] = labels.take(pa.array(codes))
        columns |= {f"spare {s}": rng.random(n) for s in range(spare)}
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


# --- what is timed, in processes of their own -----------------------------------------------------


def file_to_file(folder: Path, rows: int, keyed: bool = False) -> None:
    from mechdesign.collection.records import privatize_file

    key = {"key": bytes(32), "ids": "id"} if keyed else {}
    done = privatize_file(
        mechanisms(), folder / "in.parquet", folder / "out.parquet", **key, force=True
    )
    assert done.reports == rows


def keyed_file_to_file(folder: Path, rows: int) -> None:
    file_to_file(folder, rows, keyed=True)


def counts(folder: Path, rows: int) -> None:
    from mechdesign.collection.records import tally_file

    found = tally_file(mechanisms(), folder / "out.parquet")
    assert all(tally.total == rows for tally in found.values())


def bare_draw(_: Path, rows: int) -> None:
    rng = np.random.default_rng(1)
    codes = {name: rng.integers(0, k, PIECE) for name, k in SIZES.items()}
    made = mechanisms()
    numbered = {
        name: GeneralizedRandomizedResponse(SIZES[name], 1)
        if name in ("region", "age")
        else Channel(made[name].numerators)
        for name in made
    }
    begin_timing()
    for start in range(0, rows, PIECE):
        for name, mechanism in numbered.items():
            mechanism.privatize(codes[name][: min(PIECE, rows - start)])


def copy_only(folder: Path, _: int) -> None:
    """Read and write the same columns, and draw nothing."""
    import pyarrow.parquet as pq

    file, writer = pq.ParquetFile(folder / "in.parquet"), None
    for batch in file.iter_batches(columns=list(SIZES)):
        writer = writer or pq.ParquetWriter(folder / "copy.parquet", batch.schema)
        writer.write_batch(batch)
    assert writer is not None
    writer.close()


def data_frame(_: Path, rows: int) -> None:
    """Draw for a data frame of pandas with categories, and get one back."""
    import pandas as pd

    import mechdesign as md

    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(rng.integers(0, k, rows), categories=labels_of(name))
            for name, k in SIZES.items()
        }
    )
    begin_timing()
    assert len(md.privatize(frame, mechanisms())) == rows


RUNS: dict[str, Callable[[Path, int], None]] = {
    "Parquet to Parquet": file_to_file,
    "the same with a key": keyed_file_to_file,
    "counts of the reports": counts,
    "bare draw": bare_draw,
    "read and write only": copy_only,
    "pandas, categories": data_frame,
}

BEGUN = [0.0, 0.0]


def begin_timing() -> None:
    BEGUN[:] = time.process_time(), time.perf_counter()


def child(name: str, folder: Path, rows: int) -> None:
    """Run one of them and print CPU seconds, seconds, and the largest memory in megabytes."""
    begin_timing()
    RUNS[name](folder, rows)
    cpu, wall = time.process_time() - BEGUN[0], time.perf_counter() - BEGUN[1]
    print(json.dumps({"cpu": cpu, "seconds": wall, "megabytes": most_memory()}))


def most_memory() -> float | None:
    """Return the most memory of this process in megabytes, without that of its parent."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


# --- loops and other packages ---------------------------------------------------------------------


def plain_loop(k: int) -> Client:
    import random

    p = np.exp(1) / (np.exp(1) + k - 1)

    def draw(x: int) -> int:
        if random.random() < p:
            return x
        other = random.randrange(k - 1)
        return other + (other >= x)

    return lambda records: [draw(x) for x in records.tolist()]


PEERS: dict[str, Callable[[int], Client]] = {
    "a plain loop": plain_loop,
    "NumPy": numpy_grr,
    "pure-LDP": pure_ldp("DEClient"),
    "multi-freq-ldpy": multi_freq("GRR"),
}


def peer_seconds(make: Callable[[int], Client], rows: int) -> float:
    """Return CPU seconds for a row of four columns by randomized response."""
    rng = np.random.default_rng(1)
    records = {k: rng.integers(0, k, rows) for k in SIZES.values()}
    clients = {k: make(k) for k in records}
    start = time.process_time()
    for k, client in clients.items():
        client(records[k])
    return (time.process_time() - start) / rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--spare", type=int, default=8, help="unused columns")
    parser.add_argument("--peer-rows", type=int, default=20_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], Path(options.child[1]), options.rows)
        return
    found: dict[str, Any] = {"rows": options.rows, "columns": SIZES, "runs": {}, "peers": {}}
    with tempfile.TemporaryDirectory() as name:
        write_records(Path(name) / "in.parquet", options.rows, options.spare)
        for run in RUNS:
            words = [sys.executable, __file__, "--rows", str(options.rows), "--child", run, name]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            found["runs"][run] = json.loads(done.stdout)
            row = found["runs"][run]
            memory = f"{row['megabytes']:8.0f} MB" if row["megabytes"] else ""
            print(f"{run:<24}{row['cpu']:8.2f} s CPU {row['seconds']:8.2f} s {memory}")
    for peer, make in PEERS.items():
        if missing(peer):
            print(f"{peer:<24}not installed")
            continue
        found["peers"][peer] = peer_seconds(make, options.peer_rows) * options.rows
        print(f"{peer:<24}{found['peers'][peer]:8.2f} s CPU for the draws alone")
    if options.out is not None:
        write_atomically(options.out, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
