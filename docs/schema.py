"""The tables of docs/certificates.md: what a saved file may hold, and what each member proves.

``python docs/schema.py`` prints them into the page from the dataclasses of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING
from pathlib import Path
from typing import Any, get_args

from mechdesign.kernel.documents import BareFile, ChannelFile
from mechdesign.kernel.generators import Cone
from mechdesign.kernel.laws import DesignedLawFile, LawFile
from mechdesign.kernel.limits import Limit
from mechdesign.kernel.linearizations import Linearizations
from mechdesign.kernel.oracles import Oracles
from mechdesign.kernel.relaxations import Relaxations
from mechdesign.kernel.rounding.files import RoundedFile
from mechdesign.kernel.schema import Table, tables, words

PAGE = Path(__file__).resolve().parent / "certificates.md"

THEOREMS = {
    "ratio": "q_x ≤ s_xz e^(a_xz) q_z. The exponent is a constant on blocks, a distance or a "
    "matrix; the scale s_xz is 1, or P_z / P_x with `prior`.",
    "lift": "e^(−lower) (p · q) ≤ q_x ≤ e^upper (p · q) for every prior p of a list, a ball or "
    "a box. A missing end is no bound.",
    "rows": "Listed rows, left · q ≤ e^exponent (right · q), with coefficients ≥ 0.",
    "latent": "w = B q lies in an inner cone. Row s of B is P(x given s) for a sensitive "
    "attribute S.",
    "gauge": "Σ_y max_j A_j · q_y ≤ e^exponent limit, with parts A_j = e^(−exponent) left − "
    "right. Multipliers of parts mix them: a mixture is at most the maximum.",
    "information": "I(X; Y) ≤ limit, in nats, at `prior`.",
    "average": "A worst case over inputs or priors is at least the mean with any weights.",
    "cells": "A rectangle of outputs on a grid costs at every input what its nearest output "
    "does. Rectangles that cover all outputs replace them.",
    "members": "Bounds for a set of priors imply those for some of its members, each checked to "
    "be one.",
    "restrict": "Ratios between the kept inputs also hold for a private channel with the other "
    "inputs removed. The removed inputs may not lower the objective.",
    "implied": "q_x ≤ M q_z and q_z ≤ N q_w imply q_x ≤ M N q_w; two bounds on the lift imply "
    "ratios. The implied ratios replace the cone (`alone`: one constant, their maximum) or are "
    "added to it.",
    "representatives": "q_x ≥ s_x q_r(x) moves the cost of x, times s_x, to its representative "
    "r(x).",
    "tiles": "A grid with a mean loss, cut into tiles of `sides` points: the first one, with the "
    "least weight of each tile at every input, loses no more than all of them.",
    "costs": "A mean loss as it is: one node for each output.",
    "gain": "A sum of convex gains as it is.",
    "decoders": "−(v · q)² / (p · q) ≤ s² (p · q) − 2 s (v · q) for every s, with equality at s "
    "= (v · q) / (p · q). Between two nodes s² is its chord minus a parabola.",
    "chords": "(p · q) h(s), s = (v · q) / (p · q), is convex: between two nodes h is at most its "
    "chord, a line in s. No column is beyond the nodes if prices 0 are safe for two tails. For "
    "divergences of two mixtures.",
    "readings": "Σ_y v_y Q[x, y] = f_x makes the variance a sum of costs v² w − v m plus a "
    "constant, for any slopes m. Beyond the last probe prices 0 must be safe.",
    "boxes": "A convex function is at most its secant on an interval. A tree of cuts covers all "
    "lifts, and each leaf is a node for the columns in its box.",
    "estimator": "(M⁻¹)_xx ≥ 2 a_x − aᵀ M a for any vector a, with equality at a = M⁻¹ e_x; "
    "any multiple of p is free, as M p = 1; a root is bounded by `tangents`. This leaves a gain of "
    "squares.",
    "orthant": "On q ≥ 0 a cost is its own safe price.",
    "line": "With ratios of neighbors bounded in both directions, the cost of all inputs beyond "
    "x is at least R_x q_x. A walk from both ends computes R.",
    "one-budget": "In a block an entry lies between the least entry t and M_x t, with M_x the "
    "largest bound on q_x / q_z. So d · q ≥ t Σ_x (d_x + (M_x − 1) min(0, d_x)).",
    "knapsack": "With the lift bounded at p, the cheapest column solves a fractional knapsack; "
    "a gain that is a sum over inputs solves a 0-1 knapsack.",
    "rays": "A convex, homogeneous gain is at most u · q on a cone if it is so on rays that "
    "generate the cone.",
    "products": "Products of rows are ≥ 0, and a set of priors about p bounds the variance of the "
    "lift. If the rest of a quadratic form is positive definite, the gain of squares is at most "
    "its price.",
    "entropy": "Σ_x a_x ln(a_x / c_x) ≥ a ln(a / c) with a = Σ_x a_x and c = Σ_x c_x bounds "
    "costs plus a multiple of the information.",
}
"""The theorem of each member. The module of a member has the proof."""

SLOTS = {
    "generators": Cone,
    "limits": Limit,
    "relaxations": Relaxations,
    "linearizations": Linearizations,
    "oracles": Oracles,
}


FORMS = (ChannelFile, BareFile, LawFile, DesignedLawFile, RoundedFile)
"""The tables of all files."""


def inside(form: Any) -> Iterator[Any]:
    """Yield unions and single tables in an annotation, outermost first."""
    if tables(form):
        yield form
        return
    for part in get_args(form):
        yield from inside(part)


def keys(table: Table) -> str:
    """Return the keys of a table with their forms; optional ones end in a question mark."""
    found = []
    for key, (form, default) in table.keys.items():
        if table.kind and key == table.tag:
            continue
        shown = words(form)
        if default is not MISSING:
            shown = shown.removesuffix(" or null")
        for union in inside(form):
            if len(tables(union)) > 1:
                listed = " or ".join(dict.fromkeys(table.name for table in tables(union)))
                shown = shown.replace(listed, f"table by `{tables(union)[0].tag}`")
        found.append(f"`{key}{'' if default is MISSING else '?'}` {shown}")
    return ", ".join(found)


def slot(form: Any) -> Iterator[str]:
    """Yield the lines of a table of members."""
    yield "| kind | keys | theorem |"
    yield "|---|---|---|"
    for table in tables(form):
        yield f"| `{table.kind}` | {keys(table)} | {THEOREMS[str(table.kind)]} |"


def file_tables() -> Iterator[str]:
    """Yield the lines of the table of all other tables, in the order in which a file holds them.

    A member of several unions has its keys in the first one, and only its name in the others.
    """
    yield "| table | keys |"
    yield "|---|---|"
    slots = {table for form in SLOTS.values() for table in tables(form)}
    seen: set[Any] = set()
    known: set[Table] = set()
    waiting = [("", form) for form in FORMS]
    later = [("", form) for form in SLOTS.values()]
    while waiting or later:
        field, form = (waiting or later).pop(0)
        union = tables(form)
        fresh = [table for table in union if table not in known]
        known.update(fresh)
        for table in fresh:
            for name, (hint, _) in table.keys.items():
                waiting += [(f"`{name}` of {called(table)}", part) for part in inside(hint)]
        if union in seen or slots.intersection(union):
            continue
        seen.add(union)
        if len(union) == 1:
            yield f"| {union[0].name} | {keys(union[0])} |"
        else:
            listed = "<br>".join(one_of(table, table in fresh) for table in union)
            yield f"| {field}, by its `{union[0].tag}` | {listed} |"


def one_of(table: Table, in_full: bool) -> str:
    """Return a member of a union, with its keys if they are to be listed."""
    return f"{called(table)}: {keys(table)}" if in_full and keys(table) else called(table)


def called(table: Table) -> str:
    """Return the kind of a table, or its name where it has none."""
    return f"`{table.kind}`" if table.kind else table.name


TABLES = {"file": file_tables} | {
    name: (lambda form=form: slot(form)) for name, form in SLOTS.items()
}


def written(page: str) -> str:
    """Return the page with its tables as the kernel has them."""
    for name, lines in TABLES.items():
        head, tail = f"<!-- {name}: python docs/schema.py -->\n", f"<!-- end of {name} -->"
        before, after = page.split(head)
        table = "\n".join(lines())
        page = f"{before}{head}\n{table}\n\n{tail}{after.split(tail)[1]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
