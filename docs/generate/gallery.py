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
    """Return the title of a script, its description, and its code."""
    text = script.read_text(encoding="utf-8")
    tree = ast.parse(text)
    said = ast.get_docstring(tree) or ""
    title, _, rest = said.partition("\n")
    code = "\n".join(text.splitlines()[tree.body[0].end_lineno :]).strip()
    return title.rstrip("."), rest.strip(), code


def changed(path: Path) -> float:
    return path.stat().st_mtime


PROGRAM = """
import runpy, sys, matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot as plt
for script, picture in zip(sys.argv[1::2], sys.argv[2::2]):
    runpy.run_path(script)
    if len(plt.get_fignums()) != 1:
        sys.exit(f"{script}: a script of the gallery draws one figure")
    plt.gcf().savefig(picture, dpi=150)
    plt.close("all")
"""


def draw(pictures: dict[Path, Path]) -> None:
    """Run scripts in a process of their own, and save the figure that each leaves."""
    names = [str(path) for pair in pictures.items() for path in pair]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *names],
        cwd=DOCS.parent,
        env=os.environ | {"PYTHONPATH": str(DOCS.parent)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode:
        raise SystemExit(done.stderr)


def write(folder: Path = FOLDER) -> None:
    """Draw what is missing or older than its script, and write the page."""
    pictures = {script: folder / f"{script.stem}.png" for script in scripts()}
    draw({s: p for s, p in pictures.items() if not p.exists() or changed(p) < changed(s)})
    cards, sections = [], []
    for script, picture in pictures.items():
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
