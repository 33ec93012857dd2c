"""The tables of files of structured mechanisms: the integers of their laws."""

from __future__ import annotations

from mechdesign.certify.forms import (
    BUDGET,
    INDEX,
    SIZE,
    TEXT,
    WHOLE,
    Fixed,
    Form,
    ListOf,
    Row,
    Table,
    Variants,
    or_null,
)
from mechdesign.certify.schema.certificates import ROWS
from mechdesign.certify.schema.problems import DOMAIN, LOSSES, NOTIONS, ZERO_OR_MORE, objective

__all__ = ["MECHANISM_FILE"]

LAWS: dict[str, dict[str, Form]] = {
    "randomized-response": {"own": WHOLE, "other": WHOLE},
    "hadamard-response": {"size": WHOLE, "held": WHOLE},
    "projective-geometry-response": {"field": WHOLE, "dimension": WHOLE, "held": WHOLE},
    "optimized-unary-encoding": {"digits": WHOLE, "others": WHOLE, "held": WHOLE},
    "symmetric-unary-encoding": {"digits": WHOLE, "others": WHOLE, "held": WHOLE},
    "subset-selection": {"size": WHOLE, "held": WHOLE},
    "in-clear": {},
}
"""The integers of each mechanism that may be a part of another."""

MORE_OF_LAWS: dict[str, dict[str, Form]] = {"hadamard-response": {"copies": WHOLE}}
"""Those that it may lack: one copy, as it always was at first."""


def _law(name: str) -> Table:
    return Table(f"law {name}", LAWS[name], MORE_OF_LAWS.get(name, {}))


PARTS = Variants(
    "part",
    [
        Table(
            f"part {name}",
            {"mechanism": Fixed(name), "epsilon": BUDGET, "law": _law(name)},
        )
        for name in LAWS
    ],
)

NOISE: dict[str, Form] = {
    "margins": ListOf(WHOLE, least=2),
    "weights": ListOf(WHOLE, least=2),
}
REMAP: dict[str, Form] = {"remap": ListOf(WHOLE, least=2)}

WHOLE_LAWS: dict[str, tuple[str, dict[str, Form], dict[str, Form]]] = {
    "by-component": (
        "block",
        {"parts": ListOf(PARTS, least=1), "part_of_block": ListOf(WHOLE)},
        {},
    ),
    "high-low": ("high-low", {"inner": PARTS, "uniform": WHOLE}, {}),
    "lip-randomized-response": (
        "lip",
        {"prior": ZERO_OR_MORE, "truth": WHOLE, "fresh": ListOf(WHOLE)},
        {},
    ),
    "geometric-noise": ("metric", NOISE, REMAP),
    "planar-laplace": ("metric", NOISE, REMAP),
}
"""The notion of each mechanism that is no part of another, and the keys of its law: those that it
has, and those that it may have."""


DESIGN = Table(
    "design",
    {
        "prior": ZERO_OR_MORE,
        "utility": Variants(
            "expected loss",
            [objective(name, worst_case=Fixed(False)) for name in LOSSES if name != "distortion"],
        ),
        "value": SIZE,
        "bound": SIZE,
        "dual": or_null(
            Table(
                "dual of cells",
                {
                    "rows": ListOf(ROWS),
                    "representatives": ListOf(INDEX),
                    "mixtures": ListOf(ListOf(Row([INDEX, SIZE]))),
                    "cells": ListOf(Row([INDEX, INDEX, INDEX, INDEX]), least=1),
                },
            )
        ),
    },
)
"""What noise was designed for, how much it loses, and the proof that nothing loses much less."""


def _mechanism(
    name: str, notion: str, law: dict[str, Form], more: dict[str, Form] | None = None
) -> Table:
    tables = [
        Table(f"{table.says}, of the inputs", table.required)
        for table in NOTIONS.tables
        if table.required["notion"].says == Fixed(notion).says
    ]
    return Table(
        f"mechanism file, {name}",
        {
            "format": Fixed("mechdesign-mechanism"),
            "version": Fixed(1),
            "mechanism": Fixed(name),
            "source": TEXT,
            "domain": DOMAIN,
            "privacy": Variants(f"notion {notion}", tables),
            "leakage": SIZE,
            "law": Table(f"law {name}", law, more or {}),
            "digest": TEXT,
        },
        {"design": DESIGN} if law is NOISE else {},
    )


MECHANISM_FILE = Variants(
    "mechanism file",
    [
        *(
            _mechanism(name, "ldp", law, MORE_OF_LAWS.get(name))
            for name, law in LAWS.items()
            if name != "in-clear"
        ),
        *(_mechanism(name, *law) for name, law in WHOLE_LAWS.items()),
    ],
)
