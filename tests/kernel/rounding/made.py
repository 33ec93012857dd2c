"""Honest files of rounded problems: designs of the library on given nodes."""

from __future__ import annotations

import copy
import json
from typing import Any
from unittest.mock import patch

from mechdesign import ContinuousProblem, design
from mechdesign.continuous import NamedLaw, ProductLaw
from mechdesign.designs import continuous
from mechdesign.kernel.rounding.files import Linear
from mechdesign.kernel.rounding.nodes import Rounded, RoundedProblem
from mechdesign.kernel.schema import read
from mechdesign.notions import NOTIONS
from mechdesign.utilities import UTILITIES
from tests.documents import Document, sealed


def problem(
    notion: Document | list[Document],
    objective: str,
    law: Document,
    *sides: list[Any],
    worst_case: bool = False,
) -> Document:
    """Return the table of a problem."""
    utility: Document = {"objective": objective}
    if objective != "posterior-mean-squared-error":
        utility["worst_case"] = worst_case
    return {
        "domain": [{"interval": side} for side in sides],
        "prior": law,
        "privacy": notion if isinstance(notion, list) else [notion],
        "utility": utility,
    }


def rounded(table: Document, axes: list[list[Any]]) -> Rounded:
    """Return a problem on its nodes."""
    stated: RoundedProblem = read(RoundedProblem, table)
    return stated.on(read(Linear, {"kind": "linear", "axes": axes}).axes)


def named(registry: Any, table: Document, key: str) -> Any:
    """Return a notion or a utility from its table."""
    return registry[table[key]](**{name: v for name, v in table.items() if name != key})


def document(table: Document, axes: list[list[Any]]) -> Document:
    """Return the file of a design on these nodes; the law is that of the table."""
    sides = [side["interval"] for side in table["domain"]]
    domain = sides[0] if len(sides) == 1 else list(zip(*sides, strict=True))
    law = NamedLaw("normal", ["0.4", "0.2"])
    asked = ContinuousProblem(
        domain,
        [named(NOTIONS, notion, "notion") for notion in table["privacy"]],
        named(UTILITIES, table["utility"], "objective"),
        prior=law if len(sides) == 1 else ProductLaw(law, law),
    )
    nodes = read(Linear, {"kind": "linear", "axes": axes}).axes
    stated = read(RoundedProblem, table)
    once = {"axes_for": lambda *_: nodes, "MOST": (0, 0)}
    with patch.multiple(continuous, **once), patch.object(asked, "stated", lambda _: stated):
        found = design(asked, gap=1e-6).document()
    return sealed(json.loads(json.dumps(found)) | {"problem": copy.deepcopy(table)})
