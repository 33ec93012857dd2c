"""Rebuild the atlas, every figure of the papers and their tables, from nothing.

    python -m benchmarks.rebuild [--quick] [--only PART ...] [--out FOLDER] [--fresh]

The whole takes about nine minutes on one core, and writes to where files are kept: pictures to
``benchmarks/pictures``, ``docs/published.md``, the atlas's picture to ``docs/pictures``, and the
rest to ``.cache/rebuild``. With ``--out`` all goes to a folder; so it does with ``--quick``, a few
points of everything in less than a minute. The atlas and the experiments keep what is finished, so
that an interrupted run resumes; ``--fresh`` computes it again.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib as mpl

from benchmarks import figures_accounting, figures_relations, gowalla
from benchmarks.atlas import FILES, build_atlas
from benchmarks.papers import __main__ as papers
from benchmarks.start import set_data_folder
from mechdesign.writing.atomic import write_atomically

ROOT = Path(__file__).resolve().parents[1]

FIGURES: dict[str, Callable[[Path], Path]] = {
    "tifs-figure-2": figures_relations.figure_2,
    "tifs-figure-4": figures_relations.figure_4,
    "icml-figure-1": figures_relations.figure_1,
    "tifs-figure-5": figures_accounting.figure_5,
    "tifs-figure-6": figures_accounting.figure_6,
    "arxiv-figure-8": figures_accounting.figure_8,
}
"""Figures that are functions of a folder; those of ``benchmarks.papers`` are experiments."""

LONG = ("tifs-figure-5", "tifs-figure-6")
"""Figures that have no quick form, and take too long for one."""

REPETITIONS, OF_BETTER = 10, 3
"""Of the location experiment."""


class SkippedError(Exception):
    """A part that is left out, and why."""


@dataclass(frozen=True)
class Places:
    """Where things are written.

    Attributes
    ----------
    folder
        What has no place of its own.
    pictures
        Figures.
    whole
        Whether it is the checkout itself, where the atlas's picture and the table of numbers lie.
    """

    folder: Path
    pictures: Path
    whole: bool = False

    @classmethod
    def of(cls, out: Path | None, quick: bool) -> Places:
        """Return the places of a run."""
        kept = ROOT / ".cache" / "rebuild"
        if out is None and not quick:
            return cls(kept, ROOT / "benchmarks" / "pictures", whole=True)
        folder = kept / "quick" if out is None else out
        return cls(folder, folder / "pictures")


@dataclass(frozen=True)
class Options:
    """How to build: a few points only, and from nothing even if finished parts are kept."""

    quick: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class Result:
    """The result of a part: its files, or the reason to skip it, and the seconds."""

    part: str
    made: str
    seconds: float
    skipped: bool = False


def atlas(places: Places, options: Options) -> str:
    """Build the atlas."""
    folder = places.folder / "atlas"
    if options.fresh:
        (folder / FILES["cells"]).unlink(missing_ok=True)
    made = build_atlas(folder, quick=options.quick)
    if places.whole:
        shutil.copyfile(folder / FILES["maps"], ROOT / "docs" / "pictures" / FILES["maps"])
    return f"{len(made.cells):,} cells of {len(made.summaries)} formulas"


def figure(name: str, places: Places, options: Options) -> str:
    """Draw a figure."""
    if options.quick and name in LONG:
        raise SkippedError("no quick form")
    return FIGURES[name](places.pictures).name


def experiments(places: Places, options: Options) -> str:
    """Run and draw the papers' experiments, and write the table of their numbers."""
    flags = [*(["--quick"] * options.quick), *(["--fresh"] * options.fresh)]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        papers.main(flags if places.whole else [*flags, "--out", str(places.folder)])
    return said.getvalue().splitlines()[-1].partition(",")[0]


def location(places: Places, options: Options) -> str:
    """Run the location experiment; in the quick form the schemes of the paper, once."""
    try:
        counts = gowalla.cell_counts()
    except SystemExit as absent:
        raise SkippedError(str(absent)) from None
    report = {"format": "gowalla", "records": int(counts.sum())}
    schemes = gowalla.published()
    report["published"] = plain = gowalla.run(
        schemes, counts, 1 if options.quick else REPETITIONS, 1
    )
    text = gowalla.table(plain)
    if not options.quick:
        report["better"] = improved = gowalla.run(gowalla.better(), counts, OF_BETTER, 1)
        text += f"\n\n{gowalla.table(improved)}\n\n{gowalla.verdict(plain, improved)}"
    places.folder.mkdir(parents=True, exist_ok=True)
    write_atomically(places.folder / "gowalla.json", json.dumps(report, indent=1) + "\n")
    write_atomically(places.folder / "gowalla.md", text + "\n")
    return "gowalla.md, gowalla.json"


PARTS: dict[str, Callable[[Places, Options], str]] = {
    "atlas": atlas,
    **{name: partial(figure, name) for name in FIGURES},
    "papers": experiments,
    "location": location,
}
"""Every part by name: it returns what it made."""


def rebuild(names: Sequence[str], places: Places, options: Options) -> list[Result]:
    """Build parts one after the other, with a line after each.

    Parameters
    ----------
    names
        Names in :data:`PARTS`.
    places, options
        Where and how.
    """
    mpl.use("Agg")
    results = []
    for name in names:
        start = time.perf_counter()
        try:
            made, skipped = PARTS[name](places, options), False
        except SkippedError as reason:
            made, skipped = f"left out: {reason}", True
        result = Result(name, made, time.perf_counter() - start, skipped)
        results.append(result)
        print(f"{name:<15} {result.seconds:7.1f} s  {made}", flush=True)
    return results


def main(arguments: Sequence[str] | None = None) -> list[Result]:
    """Build the chosen parts, and return the exit status."""
    set_data_folder()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rebuild",
        description="Rebuild the atlas, every figure of the papers and their tables.",
    )
    parser.add_argument("--quick", action="store_true", help="a few points, less than a minute")
    listed = ", ".join(PARTS)
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=listed)
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    parser.add_argument("--fresh", action="store_true", help="recompute finished parts")
    options = parser.parse_args(arguments)
    places = Places.of(options.out, options.quick)
    results = rebuild(options.only or list(PARTS), places, Options(options.quick, options.fresh))
    seconds, skipped = sum(r.seconds for r in results), sum(r.skipped for r in results)
    left_out = f", {skipped} left out" if skipped else ""
    print(f"{len(results) - skipped} parts in {seconds:.0f} s{left_out}: {places.folder}")
    if places.whole:
        print(f"and {places.pictures}, {ROOT / 'docs'}")
    return results


if __name__ == "__main__":
    main(sys.argv[1:])
