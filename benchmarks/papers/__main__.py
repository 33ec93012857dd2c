"""Run the experiments, draw them, and write the table.

    python -m benchmarks.papers [--quick] [--only NAME ...] [--out FOLDER] [--fresh]

A finished experiment is kept as JSON in ``FOLDER/results`` and is not computed again, unless its
source has changed, so that an interrupted run resumes. The whole form writes pictures
to ``benchmarks/pictures``, ``docs/published.md`` and ``benchmarks/papers/published.json``; with
``--quick`` or ``--out`` all goes to the folder. With ``--only`` the rows of these experiments are
replaced in the table that is there; one that an experiment does not give any more stays in it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tqdm import tqdm

from benchmarks.papers import EXPERIMENTS, NUMBERS, experiment, numbers
from benchmarks.papers.base import MissingDataError, Pair, Panel, Row
from benchmarks.papers.pictures import draw
from benchmarks.papers.tables import PAPERS, as_json, as_markdown, replaced
from benchmarks.start import set_data_folder
from mechdesign.writing.atomic import write_atomically

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
SHARED = ("base", "continuous_data", "formulas", "optimum", "student_grades", "surveys")
"""Modules on which results depend, besides the experiment's own."""


@dataclass(frozen=True)
class Places:
    """Where things are written."""

    results: Path
    pictures: Path
    page: Path
    table: Path

    @classmethod
    def of(cls, out: Path | None, quick: bool) -> Places:
        """Return the places of a run."""
        kept = CHECKOUT / ".cache" / "papers"
        if out is None and not quick:
            page = CHECKOUT / "docs" / "published.md"
            return cls(kept / "whole", HERE.parent / "pictures", page, HERE / "published.json")
        folder = kept / "quick" if out is None else out
        return cls(
            folder / "results",
            folder / "pictures",
            folder / "published.md",
            folder / "published.json",
        )


def fingerprint(name: str, quick: bool) -> str:
    """Return a digest of the sources that a result depends on."""
    digest = hashlib.sha256(b"quick" if quick else b"whole")
    for module in (*SHARED, name):
        digest.update((HERE / f"{module}.py").read_bytes())
    return digest.hexdigest()


def computed(name: str, quick: bool, path: Path, *, fresh: bool = False) -> tuple[Pair, float]:
    """Return (ours, published) and the seconds it took, from the file if it is still good."""
    mark = fingerprint(name, quick)
    if path.is_file() and not fresh:
        known = json.loads(path.read_text(encoding="utf-8"))
        if known.get("fingerprint") == mark:
            sides = ([Panel(**panel) for panel in known[side]] for side in ("ours", "published"))
            ours, published = sides
            return (ours, published), known["seconds"]
    start = time.perf_counter()
    ours, published = experiment(name).run(quick)
    seconds = time.perf_counter() - start
    document = {
        "format": "papers",
        "name": name,
        "fingerprint": mark,
        "quick": quick,
        "seconds": seconds,
        "ours": [asdict(panel) for panel in ours],
        "published": [asdict(panel) for panel in published],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return (ours, published), seconds


def run(
    names: Sequence[str], places: Places, *, quick: bool = False, fresh: bool = False
) -> tuple[list[Row], dict[str, str]]:
    """Compute and draw the experiments; return their rows, and why some were left out."""
    rows: list[Row] = []
    skipped: dict[str, str] = {}
    with tqdm(names, unit="experiment", disable=None, leave=False) as bar:
        for name in bar:
            bar.set_description(name)
            try:
                path = places.results / f"{name}.json"
                pair, seconds = computed(name, quick, path, fresh=fresh)
                rows += experiment(name).rows(pair)
            except MissingDataError as error:
                skipped[name] = str(error)
                bar.write(f"{name:<16} left out: {error}")
                continue
            draw(experiment(name), pair, places.pictures / f"{name}.png")
            bar.write(f"{name:<16} {seconds:6.1f} s")
    return rows, skipped


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of one paper after the other."""
    return [row for paper in PAPERS for row in rows if row.place.startswith(paper)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the chosen figures and tables."""
    set_data_folder()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="few points, under half a minute")
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, metavar="NAME")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    parser.add_argument("--fresh", action="store_true", help="recompute finished parts")
    options = parser.parse_args(arguments)
    places = Places.of(options.out, options.quick)
    start = time.perf_counter()
    names = options.only or EXPERIMENTS
    rows, skipped = run(names, places, quick=options.quick, fresh=options.fresh)
    if options.only:
        if not places.table.is_file():
            return
        listed, table = replaced(places.table.read_text(encoding="utf-8"), rows)
        skipped = json.loads(table)["skipped"]
    else:
        listed = in_order([row for name in NUMBERS for row in numbers(name)] + rows)
        table = as_json(listed, skipped)
    for path, text in ((places.page, as_markdown(listed, skipped)), (places.table, table)):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
        print(path)
    print(f"{len(listed)} numbers, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
