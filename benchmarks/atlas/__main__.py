"""Measure the closed forms of the papers against the optimum: ``python -m benchmarks.atlas``.

It writes a table (atlas.csv, atlas.json) and a page of maps (atlas.png). Finished cells are kept in
cells.jsonl: an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.atlas import FILES, build_atlas
from mechdesign.cli.common import DONE, FAILED, cleared_when_ended, complain
from mechdesign.errors import InputError, MechdesignError


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the atlas, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.atlas", description=__doc__)
    parser.add_argument("-o", "--output", metavar="FOLDER", default="atlas", help="default: atlas")
    parser.add_argument("--quick", action="store_true", help="a few points of each map")
    parser.add_argument("--only", metavar="NAME", nargs="+", help="some formulas, as grr-hamming")
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="processes to use, -1 for as many as processors"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    try:
        with cleared_when_ended():
            made = build_atlas(
                options.output, quick=options.quick, only=options.only, n_jobs=options.jobs
            )
    except InputError as error:
        return complain(str(error))
    except MechdesignError as error:
        complain(str(error))
        return FAILED
    files = {kind: str(Path(options.output) / name) for kind, name in FILES.items()}
    if options.json:
        print(json.dumps({"files": files, "maps": [asdict(line) for line in made.summaries]}))
    else:
        print(made)
        print(f"written: {', '.join(files.values())}")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
