"""Pages of the course: every notebook as it was saved, with its pictures and its mathematics."""

from __future__ import annotations

import argparse
import base64
import html
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
from generate.reference import topics
from latex2mathml.converter import convert

from mechdesign.files.problems import load_problem_on_labels

DOCS = Path(__file__).resolve().parents[1]
NOTEBOOKS = DOCS.parent / "notebooks"

INLINE = re.compile(
    r"(?P<fence>^```.*?^```$)|(?P<code>`[^`\n]+`)|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$]+?)\$"
    r"|\]\((?P<link>[^)\s]+)\)|\b[Nn]otebook (?P<number>\d+)\b",
    re.MULTILINE | re.DOTALL,
)
"""What means something else in a notebook than on a page."""

MARKUP = re.compile(r">([^<>]+)<")

PRIME = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>(&#x02032;)</mi></msup>")
"""The sign is small and raised as it is."""

FOLD = "</details>"


def mathematics(tex: str, display: str) -> str:
    """Return TeX as MathML, in which Markdown finds nothing to do."""

    def spelled(match: re.Match[str]) -> str:
        text = html.unescape(match[1])
        return ">" + "".join(c if c.isalnum() else f"&#{ord(c)};" for c in text) + "<"

    written = PRIME.sub(r"<mrow>\1<mo>\2</mo></mrow>", convert(tex.strip(), display=display))
    written = MARKUP.sub(spelled, written)
    return written if display == "block" else f'<span class="math">{written}</span>'


def linked(target: str, source: Path) -> str:
    """Return the end of a link: what leads to a notebook or a page leads to a page of the site."""
    if re.match(r"https://|#", target):
        return f"]({target})"
    path, _, anchor = target.partition("#")
    file = (source.parent / path).resolve()
    if not file.exists():
        raise SystemExit(f"{source.name}: a link leads to {target}, which is not there")
    if file.parent == NOTEBOOKS:
        name = "index.md" if file.name == "README.md" else f"{file.stem}.md"
    elif file.is_relative_to(DOCS):
        name = os.path.relpath(file, DOCS / "course")
    else:
        raise SystemExit(f"{source.name}: a link leads to {target}, which is not on the site")
    return f"]({name}{'#' if anchor else ''}{anchor})"


def on_page(text: str, source: Path) -> str:
    """Return the Markdown of a notebook as that of a page."""
    pages = {int(path.name[:2]): f"{path.stem}.md" for path in NOTEBOOKS.glob("*.ipynb")}
    listed = {name for names in topics().values() for name in names}

    def change(match: re.Match[str]) -> str:
        if name := re.fullmatch(r"`(?:md|mechdesign)\.((?:\w+\.)?\w+)`", match["code"] or ""):
            path = f"mechdesign.{name[1]}"
            return f"[{match[0]}][{path}]" if path in listed else match[0]
        if command := re.fullmatch(r"`mechdesign explore ?(.*)`", match["code"] or ""):
            address = in_explorer(command[1].split(), source)
            return f'<a href="{html.escape(address)}"><code>{match["code"][1:-1]}</code></a>'
        if match["block"]:
            return mathematics(match["block"], "block")
        if match["inline"]:
            return mathematics(match["inline"], "inline")
        if match["link"]:
            return linked(match["link"], source)
        page = pages.get(int(match["number"] or 0))
        return f"[{match[0]}]({page})" if page and page != f"{source.stem}.md" else match[0]

    return INLINE.sub(change, text)


def in_explorer(words: list[str], source: Path) -> str:
    """Return where the explorer of the site shows what `mechdesign explore` opens."""
    given = argparse.ArgumentParser()
    given.add_argument("file", nargs="?")
    given.add_argument("--part", default="design")
    options = given.parse_args(words)
    address = f"../../explorer/dist/index.html#part={options.part}"
    if options.file is None:
        return address
    problem = load_problem_on_labels((source.parent / options.file).resolve())
    table = problem.to_table()
    (notion,) = table["privacy"]
    stated = {"title": problem.title, **table, "privacy": notion}
    return f"{address}&problem={quote(json.dumps(stated), safe='')}"


def fenced(text: str, kind: str) -> str:
    return f"```{{ .{kind} }}\n{text.rstrip()}\n```"


def shown(cell: Any, heading: str, keep: Callable[[bytes], str]) -> list[str]:
    """Return a cell of code and what came out of it."""
    parts = [fenced(cell.source, "python")]
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.append(fenced(output.text, "text .output"))
        elif "image/png" in output.data:
            picture = keep(base64.b64decode(output.data["image/png"]))
            parts.append(f"![{heading}: what the code above draws]({picture})")
        else:
            parts.append(fenced(output.data["text/plain"], "text .output"))
    return parts


def page_of(path: Path, question: str, folder: Path) -> str:
    """Write the pictures of a notebook into a folder, and return its page."""
    pictures = folder / path.stem
    pictures.mkdir()

    def keep(picture: bytes) -> str:
        file = pictures / f"{len(list(pictures.iterdir())) + 1}.png"
        file.write_bytes(picture)
        return f"{path.stem}/{file.name}"

    shutil.copy(path, folder)
    parts, heading = [], title_of(path)
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            code = shown(cell, heading, keep)
            folded = bool(parts) and parts[-1].endswith(FOLD)
            if folded:  # the code of a solution is part of it
                code = [parts.pop().removesuffix(FOLD), *code, FOLD]
            parts += ["\n\n".join(code)] if folded else code
            continue
        heading = (re.findall(r"^#+ (?:\d+\. )?(.+)$", cell.source, re.MULTILINE) or [heading])[-1]
        heading = re.sub(r"[$\\\[\]{}`]", "", heading)
        parts.append(on_page(cell.source, path))
    title, _, rest = "\n\n".join(parts).partition("\n")
    needs = [file for file in NOTEBOOKS.glob("*.py") if f"from {file.stem} import" in rest]
    beside = "".join(f", with [{file.name}]({file.name}){{ download }} beside it" for file in needs)
    download = f"[Download this notebook]({path.name}){{ download }} to run and change it{beside}."
    head = f"---\ntitle: {title_of(path)}\ndescription: {question}\n---\n"
    return f"{head}\n{title}\n\n{download}\n{rest}\n"


def title_of(path: Path) -> str:
    first = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]
    return re.sub(r"^# \d+\. ", "", first)


def write(folder: Path = DOCS / "course") -> None:
    """Write the pages of all notebooks, their index and their order."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    readme = (NOTEBOOKS / "README.md").read_text(encoding="utf-8")
    questions = dict(re.findall(r"^\| \[\w+\]\((\w+)\.ipynb\) \| (.+) \|$", readme, re.MULTILINE))
    for file in NOTEBOOKS.glob("*.py"):
        shutil.copy(file, folder)
    order = ["* [The course](index.md)"]
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        page = page_of(path, questions[path.stem], folder)
        (folder / f"{path.stem}.md").write_text(page, encoding="utf-8")
        order.append(f"* [{int(path.name[:2])}. {title_of(path)}]({path.stem}.md)")
        readme = readme.replace(f"[{path.stem}](", f"[{int(path.name[:2])}. {title_of(path)}](")
    head = (
        "---\ndescription: A course in local privacy, from the first channel to its proof\n---\n\n"
    )
    readme = head + readme.replace("# Notebooks", "# The course", 1)
    (folder / "index.md").write_text(on_page(readme, NOTEBOOKS / "README.md"), encoding="utf-8")
    order.append("* [Gallery](../gallery/index.md)")
    (folder / "SUMMARY.md").write_text("\n".join(order), encoding="utf-8")
