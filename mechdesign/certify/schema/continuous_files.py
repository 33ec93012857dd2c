"""The tables of files of a number on an interval, and of a point of a box."""

from __future__ import annotations

from mechdesign.certify.forms import (
    BUDGET,
    COUNT,
    EXACT,
    NUMBER,
    SIZE,
    TEXT,
    TRUTH,
    WHOLE,
    AnyOf,
    Fixed,
    Form,
    ListOf,
    Row,
    Table,
    Variants,
)
from mechdesign.certify.schema.certificates import CERTIFICATES, NUMBERS
from mechdesign.certify.schema.channel_files import CLAIM, EXACT_READINGS
from mechdesign.certify.schema.problems import (
    EXACT_OR_INF,
    LABELS,
    PRIOR_SETS,
    TABLE_OF_NUMBERS,
    ZERO_OR_MORE,
    notion,
    objective,
    with_budget,
)

__all__ = ["CONTINUOUS_FILE", "PLANE_FILE"]

END = AnyOf([EXACT, Fixed("-inf"), Fixed("inf")])
EXACTS = ListOf(EXACT)

LAW = Variants(
    "law",
    [
        Table("law of samples", {"samples": COUNT}),
        Table("law histogram", {"histogram": Table("bins", {"edges": EXACTS, "masses": EXACTS})}),
        Table("law kde", {"kde": Table("kernels", {"samples": COUNT, "bandwidth": EXACT})}),
        Table("law by name", {"law": Table("named", {"name": TEXT, "parameters": EXACTS})}),
        Table(
            "law mixture",
            {
                "mixture": Table(
                    "normal laws", {"weights": EXACTS, "means": EXACTS, "deviations": EXACTS}
                )
            },
        ),
    ],
)
"""Where the moments come from: nothing is proved of it, unless it is even on bins."""

MOMENTS = Table(
    "moments",
    {
        "masses": ZERO_OR_MORE,
        "first": EXACTS,
        "second": EXACTS,
        "error": Row([BUDGET, BUDGET, BUDGET]),
    },
)

OF_MIXTURES = [
    *(with_budget(name) for name in ("ldp", "lip", "pml", "maximal-leakage")),
    with_budget("mutual-information"),
    notion("lift", {"lower": EXACT_OR_INF, "upper": EXACT_OR_INF}, of_secret=False),
    with_budget("approximate-ldp", {"delta": BUDGET}),
    with_budget("approximate-lip", {"delta": BUDGET}),
]

PLANE_NOTIONS = Variants("privacy notion of a box", OF_MIXTURES)

CONTINUOUS_NOTIONS = Variants(
    "privacy notion of an interval",
    [
        *OF_MIXTURES,
        with_budget("metric", {"distance": Fixed("absolute")}),
        with_budget("high-low", {"sensitive": LABELS}),
        with_budget("block", {"blocks": ListOf(LABELS, least=1)}),
        notion("context-aware", {"matrix": ListOf(ListOf(EXACT_OR_INF))}, of_secret=False),
        *(with_budget("bounded-prior-lip", keys) for keys in PRIOR_SETS),
    ],
)

CONTINUOUS_OBJECTIVES = Variants(
    "loss of an interval",
    [
        objective("mean-absolute-error", worst_case=TRUTH),
        objective("mean-squared-distance", worst_case=TRUTH),
        objective("posterior-mean-squared-error"),
        objective("unbiased-variance", worst_case=TRUTH),
    ],
)

NODE_CHANNEL: dict[str, Form] = {
    "kind": Fixed("linear"),
    "points": ListOf(EXACT, least=2),
    "outputs": LABELS,
    "matrix": ListOf(NUMBERS),
    "bits": COUNT,
    "numerators": ListOf(ListOf(WHOLE)),
}

CLAIMED: dict[str, Form] = {
    "version": Fixed(1),
    "title": TEXT,
    "source": TEXT,
    "status": AnyOf([Fixed("optimal"), Fixed("bounded")]),
    "objective": TEXT,
    "sense": Fixed("minimize"),
    "value": NUMBER,
    "bound": NUMBER,
    "gap": SIZE,
    "cells": COUNT,
    "route": TEXT,
    "privacy": ListOf(CLAIM, least=1),
    "seconds": SIZE,
    "notes": ListOf(TEXT),
    "certificate": CERTIFICATES,
    "digest": TEXT,
}
"""What files of an interval and of a box say alike."""

CONTINUOUS_FILE = Table(
    "continuous file",
    {
        "format": Fixed("mechdesign-continuous"),
        **CLAIMED,
        "channel": Table(
            "channel of the nodes", NODE_CHANNEL, {"decoder": NUMBERS, "readings": EXACT_READINGS}
        ),
        "problem": Table(
            "problem of an interval",
            {
                "domain": Table(
                    "domain, interval",
                    {"interval": Row([END, END])},
                    {"cuts": ListOf(EXACT, least=1)},
                ),
                "law": LAW,
                "moments": MOMENTS,
                "privacy": ListOf(CONTINUOUS_NOTIONS, least=1),
                "utility": CONTINUOUS_OBJECTIVES,
            },
        ),
    },
)

AXIS = ListOf(EXACT, least=2)
TABLE_OF_MASSES = Table(
    "bins of a plane", {"edges": Row([EXACTS, EXACTS]), "masses": TABLE_OF_NUMBERS}
)

PLANE_LAW = Variants(
    "law of a point",
    [
        Table("law of points", {"samples": COUNT}),
        Table("law of bins of a plane", {"histogram": TABLE_OF_MASSES}),
        Table(
            "law of independent coordinates",
            {"parts": Table("parts", {"weights": EXACTS, "laws": ListOf(Row([LAW, LAW]))})},
        ),
    ],
)
"""The same in the plane, and rectangles."""

PLANE_FILE = Table(
    "plane file",
    {
        "format": Fixed("mechdesign-plane"),
        **CLAIMED,
        "channel": Table(
            "channel of pairs of nodes",
            {
                **{key: form for key, form in NODE_CHANNEL.items() if key != "points"},
                "kind": Fixed("tensor"),
                "axes": Row([AXIS, AXIS]),
            },
        ),
        "problem": Table(
            "problem of a box",
            {
                "domain": Table(
                    "domain, box", {"box": Row([Row([EXACT, EXACT]), Row([EXACT, EXACT])])}
                ),
                "law": PLANE_LAW,
                "moments": Table("means", {"means": ListOf(ZERO_OR_MORE), "error": BUDGET}),
                "privacy": ListOf(PLANE_NOTIONS, least=1),
                "utility": Variants(
                    "loss of a box",
                    [
                        objective(name, worst_case=TRUTH)
                        for name in ("euclidean", "mean-squared-distance")
                    ],
                ),
            },
        ),
    },
)
