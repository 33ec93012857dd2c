"""Pages of the reference: one for each topic of docs/api.md, one for what each package adds."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
INDEX = DOCS / "api.md"

BLOCK = """::: {name}
    options:
      heading_level: 2
"""

INHERITED = """      inherited_members: true
"""

INHERITING = {
    "mechdesign.ContinuousProblem",
    "mechdesign.continuous.ContinuousChannel",
}
"""What has its members from a base class that no page is about."""

PACKAGE = """::: mechdesign.{name}
    options:
      heading_level: 1
      show_submodules: false
      members: []
"""


def topics() -> dict[str, list[str]]:
    """Return the public names by topic, as the table of docs/api.md lists them."""
    rows = re.findall(
        r"^\| ([^|]+) \| (\[`.+) \|$", INDEX.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {topic: re.findall(r"\]\[(mechdesign\.[\w.]+)\]", names) for topic, names in rows}


def packages() -> dict[str, list[str]]:
    """Return what each package that docs/api.md lists offers beside the public names."""
    text = INDEX.read_text(encoding="utf-8")
    listed = {name.rpartition(".")[2] for names in topics().values() for name in names}
    found = {}
    for name in re.findall(r"^\| \[`mechdesign\.([\w.]+)`\]", text, re.MULTILINE):
        offered = importlib.import_module(f"mechdesign.{name}").__all__
        found[name] = [f"mechdesign.{name}.{n}" for n in offered if n not in listed]
    return found


def file_of(topic: str) -> str:
    return re.sub(r"\W+", "_", topic.lower()) + ".md"


def write(folder: Path = DOCS / "reference") -> None:
    """Write a page for each topic and each package, and their order."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    order = ["* [By topic](../api.md)"]
    for topic, names in topics().items():
        short = [name.rpartition(".")[2] for name in names]
        listed = ", ".join(short[:6]) + (f" and {len(short) - 6} more" if len(short) > 6 else "")
        head = f"---\ntitle: {topic} (reference)\ndescription: Reference of {listed}\n---\n"
        blocks = [BLOCK.format(name=n) + INHERITED * (n in INHERITING) for n in names]
        (folder / file_of(topic)).write_text(
            "\n".join([head, f"# {topic}\n", *blocks]), encoding="utf-8"
        )
        order.append(f"* [{topic}]({file_of(topic)})")
    order.append("* Packages")
    for name, names in packages().items():
        what = f"What the package mechdesign.{name} holds beside the public names"
        head = f"---\ntitle: mechdesign.{name}\ndescription: {what}\n---\n"
        blocks = [PACKAGE.format(name=name), *(BLOCK.format(name=n) for n in names)]
        file = f"package_{file_of(name)}"
        (folder / file).write_text("\n".join([head, *blocks]), encoding="utf-8")
        order.append(f"    * [{name}]({file})")
    (folder / "SUMMARY.md").write_text("\n".join(order), encoding="utf-8")
