"""What docstrings say, as Markdown: powers that are no emphasis, and links to what they name."""

from __future__ import annotations

import re
from typing import Any

import griffe

import mechdesign

ROLE = re.compile(r":(?:class|func|meth|mod|attr|exc|data):`~?([\w.]+)`|`+(\w[\w.]*)(?:\(\))?`+")
PROMPTS = (">>>", "...")


def public(path: str) -> str | None:
    """Return the public name that a path in a docstring means, if it means one."""
    name = path.rpartition(".")[2]
    known = mechdesign._MODULE_OF.get(name, "mechdesign") != "mechdesign"
    return name if known and (path == name or path.startswith(("mechdesign.", "md."))) else None


def linked(match: re.Match[str]) -> str:
    path = match[1] or match[2]
    name = public(path)
    shown = f"`{path.removeprefix('mechdesign.') if match[1] else match[0].strip('`')}`"
    return f"[{shown}][mechdesign.{name}]" if name else shown


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
