"""How long it takes to start: ``import mechdesign``, and the smallest solve as a whole process.

Run ``python benchmarks/start.py [RUNS]``: prints a Markdown table of medians over fresh processes,
taken in turn, beside a bare interpreter, and which heavy packages each of them loads.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROBLEM = "problems/lip/rare_disease.toml"

HEAVY = (
    "numpy",
    "scipy",
    "scipy.optimize",
    "highspy",
    "cvxpy",
    "matplotlib",
    "pandas",
    "pyarrow",
    "tqdm",
)

RUNS = 10

COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "import mechdesign": ("-c", "import mechdesign"),
    f"mechdesign solve {PROBLEM}": ("-m", "mechdesign", "solve", PROBLEM),
}
GOALS = {"import mechdesign": 0.25, f"mechdesign solve {PROBLEM}": 1.0}


def set_data_folder() -> None:
    """Set ``MECHDESIGN_DATA`` to ``shared/data`` beside the checkout, if it is there and unset.

    Real data stay out of the repository, and the library looks for them nowhere by itself.
    """
    folder = ROOT.parent / "shared" / "data"
    if folder.is_dir():
        os.environ.setdefault("MECHDESIGN_DATA", str(folder))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the top folder."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


def seconds(arguments: Sequence[str]) -> tuple[float, float]:
    """Return the wall-clock and the CPU seconds of a whole process."""
    start, before = time.perf_counter(), os.times()
    run(*arguments)
    wall, after = time.perf_counter() - start, os.times()
    user, system = (
        after.children_user - before.children_user,
        after.children_system - before.children_system,
    )
    return wall, user + system


def import_seconds(*arguments: str) -> float:
    """Return the seconds that ``-X importtime`` gives for the first import of the package."""
    trace = run("-X", "importtime", *arguments).stderr.splitlines()
    line = next(line for line in trace if line.split("|")[-1].strip() == "mechdesign")
    return int(line.split("|")[1]) / 1e6


def loaded(arguments: Sequence[str]) -> list[str]:
    """Return which heavy packages a run of the command line loads."""
    code = (
        "import json, sys; from contextlib import redirect_stdout; from io import StringIO\n"
        "arguments = json.loads(sys.argv[1])\n"
        "with redirect_stdout(StringIO()):\n"
        "    from mechdesign.cli import main; status = main(arguments)\n"
        f"print(json.dumps([status, [name for name in {HEAVY!r} if name in sys.modules]]))"
    )
    status, names = json.loads(run("-c", code, json.dumps(list(arguments))).stdout)
    if status:
        raise RuntimeError(f"mechdesign {' '.join(arguments)} ended with {status}")
    return list(names)


def main(runs: int = RUNS) -> None:
    """Print the table."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    imports = []
    for _ in range(runs):
        for name, arguments in COMMANDS.items():
            times[name].append(seconds(arguments))
        imports.append(import_seconds("-c", "import mechdesign"))
    print("| what | wall, s | CPU, s | goal, s |")
    print("|---|---|---|---|")
    for name, taken in times.items():
        wall, cpu = (statistics.median(values) for values in zip(*taken, strict=True))
        print(f"| {name}, whole process | {wall:.3f} | {cpu:.3f} | {GOALS.get(name, '')} |")
    print(f"| import mechdesign, by importtime | {statistics.median(imports):.3f} | | 0.25 |")
    print(f"\n`mechdesign solve {PROBLEM}` loads {', '.join(loaded(['solve', PROBLEM]))}.")


if __name__ == "__main__":
    main(*(int(runs) for runs in sys.argv[1:]))
