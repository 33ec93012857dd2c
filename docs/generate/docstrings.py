"""Docstrings as Markdown: powers that are no emphasis, and links to what they name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|attr|exc|data):`~?([\w.]+)`|`+(\w[\w.]*)(?:\(\))?`+")
PROMPTS = (">>>", "...")

INDEX = Path(__file__).resolve().parents[1] / "api.md"
PATHS = {
    path.rpartition(".")[2]: path
    for path in re.findall(r"\]\[(mechdesign\.[\w.]+)\]", INDEX.read_text(encoding="utf-8"))
}
"""Where the reference has each public name."""


def public(path: str) -> str | None:
    """Return where the reference has the public name that a path in a docstring means."""
    name = path.rpartition(".")[2]
    return PATHS.get(name) if path == name or path.startswith(("mechdesign.", "md.")) else None


def linked(match: re.Match[str]) -> str:
    path = match[1] or match[2]
    name = public(path)
    shown = f"`{path.removeprefix('mechdesign.') if match[1] else match[0].strip('`')}`"
    return f"[{shown}][{name}]" if name else shown


def markdown(text: str) -> str:
    """Return the text of a docstring, its examples untouched."""
    lines, example = [], False
    for line in text.splitlines():
        example = line.lstrip().startswith(PROMPTS) or (example and bool(line.strip()))
        powers = re.sub(r"(?<=[\w)\]])\*\*(?=[-\w(])", "^", line)
        lines.append(line if example else ROLE.sub(linked, powers))
    return "\n".join(lines)


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is read."""

    def on_object(self, *, obj: griffe.Object, loader: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
