"""The table of all published numbers that can be checked, as Markdown and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping

from benchmarks.papers.base import Row

PAPERS = {
    "CNS": "Jiang, Li, Tandon 2018, CNS",
    "arXiv": "Jiang, Li, Tandon 2018, the extended version on arXiv",
    "TIFS": "Jiang, Seif, Tandon, Li 2021, TIFS",
    "ICML": "Acharya, Bonawitz, Kairouz, Ramage, Sun 2020, ICML",
    "PENA": "Akter, Hashem, PENA",
}
"""By the first word of a row's place."""

HEAD = """---
description: Numbers of the papers beside those of this library, with what differs and why
---

# Published numbers

Every number of the five papers that can be checked, beside ours. This page is written by
`python -m benchmarks.papers`; its pictures are in `benchmarks/pictures/`, the same table as JSON in
`benchmarks/papers/published.json`. A mark \\* is at a number that is printed in the paper;
otherwise the paper's own formula was evaluated, as the data of its figures are not in its text.
Ours is exact: a certified optimum, an exact leakage, a count of the data; or a seeded simulation
where the paper simulates. They agree when they are equal up to half a unit of the last printed
digit, or up to 1e-6 where there is none. Where they are not, the last column states why: mostly a
formula used where it is not private, or a channel that is private and not the best; else a bound
that holds and is loose, a misprint, or other data.

Sizes, with the CPU time of one core where ours is smaller or a curve is missing:

- Kosarak: all 41,270 pages and their exact count of popular ones; one prior, so one design for
  each ε.
- Students: all 395, of whom 60 report, and all four cardinalities.
- arXiv, Fig. 6(a): 40 people for the paper's 500. One person takes 0.08 s at each ε (three
  designs), so 500 people at the nine values of ε take 6 minutes; the priors are independent draws
  of one law.
- arXiv, Fig. 9(b), LDP on 81 districts: no curve, as it is not closed to the 1e-5 that the others
  have. At ε = 1, 11 s give √(MSE/N) = 0.8742, proved not below 0.8700.
- Incomes: the data are 20.8 million personal incomes, the paper's 3.15 million are of families
  and could not be had; so no figure, and its formulas are compared on numbers of the text only.
- TIFS, Figs. 7, 8, 9 and 12: the designed kernels are pure LIP (or LDP), hence (ε, δ) for every
  δ. A wanted gap is not always reached in the time given, but what is drawn is the exact error of
  a private kernel.

"""

COLUMNS = """| place | quantity | published | ours | difference | why |
|---|---|---|---|---|---|"""


def as_markdown(rows: Iterable[Row], skipped: Mapping[str, str]) -> str:
    """Return the page: a section for each paper, printed numbers first."""
    listed = list(rows)
    agree = sum(row.agrees for row in listed)
    text = HEAD + f"{len(listed)} numbers: {agree} agree, {len(listed) - agree} do not.\n"
    for name, reason in skipped.items():
        text += f"\nNot run: `{name}` ({reason}).\n"
    for paper, title in PAPERS.items():
        own = sorted(
            (row for row in listed if row.place.startswith(paper)),
            key=lambda row: not row.is_printed,
        )
        if own:
            lines = "\n".join(map(line, own))
            text += f"\n## {title}\n\n{COLUMNS}\n{lines}\n"
    return text


def line(row: Row) -> str:
    """Return a line of the table."""
    published = f"{row.published} \\*" if row.is_printed else number(row.published)
    difference = "" if row.difference is None else number(row.difference, signed=True)
    if row.agrees:
        difference = "0"
    why = "" if row.agrees else row.why
    cells = (row.place, row.quantity, published, number(row.ours), difference, why)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def number(value: float | str, *, signed: bool = False) -> str:
    """Return a number in few digits, or words."""
    if isinstance(value, str):
        return value
    if abs(value) >= 1000 and math.isfinite(value) and math.isclose(value, round(value)):
        return f"{value:+,.0f}" if signed else f"{value:,.0f}"
    if abs(value) < 1e-12:
        return "0"
    return f"{value:+.3g}" if signed else f"{value:.6g}"


def as_json(rows: Iterable[Row], skipped: Mapping[str, str]) -> str:
    """Return the table for programs."""
    listed = [
        {
            "place": row.place,
            "quantity": row.quantity,
            "published": row.published,
            "printed": row.is_printed,
            "ours": rounded(row.ours),
            "difference": None if row.difference is None else rounded(row.difference),
            "agrees": row.agrees,
            "why": "" if row.agrees else row.why,
        }
        for row in rows
    ]
    report = {"format": "published-numbers", "rows": listed, "skipped": dict(skipped)}
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def replaced(text: str, rows: Iterable[Row]) -> tuple[list[Row], str]:
    """Return a table with new rows where old ones are, or after the row before; and its JSON."""
    report, new = json.loads(text), list(rows)
    listed = report["rows"]
    at = len(listed) - 1
    for each in json.loads(as_json(new, {}))["rows"]:
        keys = [(old["place"], old["quantity"]) for old in listed]
        if (each["place"], each["quantity"]) in keys:
            at = keys.index((each["place"], each["quantity"]))
            listed[at] = each
        else:
            at += 1
            listed.insert(at, each)
    names = ("place", "quantity", "published", "ours", "why")
    found = [Row(*(each[name] for name in names)) for each in listed]
    return found, json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def rounded(value: float | str) -> float | str:
    """Return a number without the digits that differ between machines."""
    return value if isinstance(value, str) else float(f"{value:.10g}")
