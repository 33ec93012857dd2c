"""The gallery: every script of docs/gallery/ is run, and its picture stands beside its code."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
FOLDER = DOCS / "gallery"


def scripts() -> list[Path]:
    return sorted(FOLDER.glob("*.py"))


def parts(script: Path) -> tuple[str, str, str]:
    """Return the title of a script, what it says below, and its code."""
    text = script.read_text(encoding="utf-8")
    tree = ast.parse(text)
    said = ast.get_docstring(tree) or ""
    title, _, rest = said.partition("\n")
    code = "\n".join(text.splitlines()[tree.body[0].end_lineno :]).strip()
    return title.rstrip("."), rest.strip(), code


def draw(script: Path, picture: Path) -> None:
    """Run a script in a process of its own, and save the figure that it leaves."""
    program = (
        "import runpy, sys, matplotlib; matplotlib.use('Agg')\n"
        "from matplotlib import pyplot as plt\n"
        "runpy.run_path(sys.argv[1])\n"
        "if len(plt.get_fignums()) != 1: sys.exit('a script of the gallery draws one figure')\n"
        "plt.gcf().savefig(sys.argv[2], dpi=150)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(DOCS.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program, str(script), str(picture)],
        cwd=DOCS.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode:
        raise SystemExit(f"{script.name}: {done.stderr}")


def write(folder: Path = FOLDER) -> None:
    """Draw what is missing or older than its script, and write the page."""
    cards, sections = [], []
    for script in scripts():
        picture = folder / f"{script.stem}.png"
        if not picture.exists() or picture.stat().st_mtime < script.stat().st_mtime:
            draw(script, picture)
        title, said, code = parts(script)
        anchor = script.stem
        cards.append(f"-   [![]({picture.name}){{ loading=lazy }} {title}](#{anchor})")
        sections.append(
            f"## {title} {{ #{anchor} }}\n\n{said}\n\n![{title}]({picture.name}){{ loading=lazy }}"
            f"\n\n```python\n{code}\n```\n"
        )
    head = (
        "---\ntitle: Gallery\ndescription: Pictures of channels, notions and estimates, each with"
        " the code that draws it\n---\n\n# Gallery\n\nEach picture with the whole code that draws"
        " it.\n\n"
    )
    grid = '<div class="grid gallery" markdown>\n\n' + "\n".join(cards) + "\n\n</div>\n\n"
    page = head + grid + "\n".join(sections)
    (folder / "index.md").write_text(page, encoding="utf-8")
