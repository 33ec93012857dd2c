"""Build the site: ``pip install -e ".[docs]" && python docs/build.py``.

The course, the gallery and the reference are written from the notebooks, the scripts of
docs/gallery/ and docs/api.md; then Zensical builds all strictly into site/. With ``--pages`` it
only writes them, for ``zensical serve``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from generate import course, gallery, reference

ROOT = Path(__file__).resolve().parents[1]

NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Explorer: not built - mechdesign</title>
<meta name="description" content="How to get the explorer">
<meta name="viewport" content="width=device-width"></head>
<body style="font: 1.1rem/1.6 system-ui; max-width: 34rem; margin: 4rem auto; padding: 0 1rem">
<h1>The explorer is not part of this copy</h1>
<p>This site was built without it. <code>mechdesign explore</code> opens it, and
<a href="../#build-it">this is how it is built</a>.</p></body></html>
"""


def build_explorer() -> None:
    """Build the explorer where Node is installed and the page is not there yet."""
    folder, npm = ROOT / "docs" / "explorer", shutil.which("npm")
    if npm is None or (folder / "dist" / "index.html").exists() or "NO_EXPLORER" in os.environ:
        return
    for command in (["ci"], ["run", "build"]):
        subprocess.run([npm, *command], cwd=folder, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the site into site/, strictly.")
    parser.add_argument("--pages", action="store_true", help="only write the generated pages")
    arguments = parser.parse_args()
    for part in (course, gallery, reference):
        part.write()
    if not arguments.pages:
        build_explorer()
    if arguments.pages:
        return 0
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"], cwd=ROOT, check=False
    )
    explorer = ROOT / "site" / "explorer" / "dist" / "index.html"
    if built.returncode == 0 and not explorer.exists():
        explorer.parent.mkdir(exist_ok=True)
        explorer.write_text(NOT_BUILT, encoding="utf-8")
    return built.returncode


if __name__ == "__main__":
    sys.exit(main())
