"""The tables of docs/certificates.md that state what a saved file may hold, and what proves what.

``python docs/schema.py`` prints them from the checker's own tables into the page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from mechdesign.certify import proof
from mechdesign.certify.forms import AnyOf, Form, ListOf, MapOf, Row, Table, Variants
from mechdesign.certify.schema.channel_files import BARE_CHANNEL_FILE, CHANNEL_FILE
from mechdesign.certify.schema.continuous_files import CONTINUOUS_FILE, PLANE_FILE
from mechdesign.certify.schema.mechanism_files import MECHANISM_FILE

PAGE = Path(__file__).resolve().parent / "certificates.md"

GROUPS = {
    "losses": proof.LOSSES,
    "losses, worst case": proof.WORST_LOSSES,
    "risks": proof.RISKS,
    "risks, worst case": proof.WORST_RISKS,
    "divergences": proof.DIVERGENCES,
}
"""Objectives that the page names together."""


def parts(form: Form) -> Iterator[Form]:
    """Yield the forms that a form is made of."""
    if isinstance(form, Table):
        yield from form.keys.values()
    elif isinstance(form, Variants):
        yield from form.tables
    elif isinstance(form, AnyOf):
        yield from form.forms
    elif isinstance(form, Row):
        yield from form.parts
    elif isinstance(form, ListOf | MapOf):
        yield form.part


def named(form: Form) -> Iterator[Form]:
    """Yield a form, if it has a name, and all forms with a name inside, in the order met."""
    if isinstance(form, Table | Variants) or (isinstance(form, AnyOf) and form.name):
        yield form
    for part in parts(form):
        yield from named(part)


def keys(table: Table, optional: bool) -> str:
    """Return the keys of a table, each with its form."""
    chosen = table.optional if optional else table.required
    return ", ".join(f"`{key}` {form.says}" for key, form in chosen.items())


def file_tables() -> Iterator[str]:
    """Yield the lines of the table of all tables."""
    yield "| table | has | may have |"
    yield "|---|---|---|"
    seen: list[Form] = []
    for file in (CHANNEL_FILE, BARE_CHANNEL_FILE, CONTINUOUS_FILE, PLANE_FILE, MECHANISM_FILE):
        for form in named(file):
            if form in seen:
                continue
            seen.append(form)
            if isinstance(form, Table):
                yield f"| {form.says} | {keys(form, False)} | {keys(form, True)} |"
            elif isinstance(form, AnyOf):
                yield f"| {form.says} | {form.choices} | |"
            elif isinstance(form, Variants):
                names = list(dict.fromkeys(table.says for table in form.tables))
                if names != [form.says]:
                    yield f"| {form.says} | one of: {'; '.join(names)} | |"


def objectives(chosen: Collection[str]) -> str:
    """Return objectives in words, those of a group together."""
    left, found = list(chosen), []
    for name, group in GROUPS.items():
        if set(group) <= set(left):
            found.append(name)
            left = [each for each in left if each not in group]
    return "; ".join([*found, *left])


def kinds(known: dict[str, proof.Kind]) -> Iterator[str]:
    """Yield the lines of a table of kinds of evidence."""
    yield "| kind | objectives | notions |"
    yield "|---|---|---|"
    for kind in known.values():
        notions = f"one of {', '.join(kind.notions)}" if kind.notions else "any"
        alone = ", and no other" if kind.alone else ""
        yield f"| {kind.name} | {objectives(kind.objectives)} | {notions}{alone} |"


def sides() -> Iterator[str]:
    """Yield the lines of the table of sides."""
    yield "| side | notions |"
    yield "|---|---|"
    yield from (f"| {side} | {', '.join(names)} |" for side, names in proof.SIDES.items())


TABLES = {
    "tables of a file": file_tables,
    "bounds by dual variables": lambda: kinds(proof.BOUNDS),
    "bounds by theorems": lambda: kinds(proof.THEOREMS),
    "sides": sides,
}


def written(page: str) -> str:
    """Return the page with its tables as the checker has them."""
    for name, lines in TABLES.items():
        head, tail = f"<!-- {name}: python docs/schema.py -->\n", f"<!-- end of {name} -->"
        before, after = page.split(head)
        table = "\n".join(lines())
        page = f"{before}{head}\n{table}\n\n{tail}{after.split(tail)[1]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
