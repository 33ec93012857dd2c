"""The command that measures every closed form against the optimum: atlas."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mechdesign.cli.common import DONE, cleared_when_ended

if TYPE_CHECKING:
    from mechdesign.cli.common import Commands

__all__ = ["add_commands"]


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    atlas = commands.add_parser(
        "atlas",
        help="measure the closed forms of the papers against the optimum",
        description="Write a table (atlas.csv, atlas.json) and a page of maps (atlas.png). "
        "Finished cells are kept in cells.jsonl: a run that was ended goes on where it was.",
    )
    atlas.add_argument("-o", "--output", metavar="FOLDER", default="atlas", help="default: atlas")
    atlas.add_argument("--quick", action="store_true", help="a few points of each map")
    atlas.add_argument("--only", metavar="NAME", nargs="+", help="some formulas, as grr-hamming")
    atlas.add_argument(
        "--jobs", type=int, metavar="N", help="processes to use, -1 for as many as processors"
    )
    atlas.add_argument("--json", action="store_true", help="print JSON instead of a table")
    atlas.set_defaults(run=_atlas)


def _atlas(options: argparse.Namespace) -> int:
    from mechdesign.atlas import FILES, build_atlas

    with cleared_when_ended():
        made = build_atlas(
            options.output, quick=options.quick, only=options.only, n_jobs=options.jobs
        )
    files = {kind: str(Path(options.output) / name) for kind, name in FILES.items()}
    if options.json:
        print(json.dumps({"files": files, "maps": [asdict(line) for line in made.summaries]}))
    else:
        print(made)
        print(f"written: {', '.join(files.values())}")
    return DONE
