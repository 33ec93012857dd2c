"""The tables of a saved file: every key that a file may have, and the form of its value.

No table has a key that is not named here, so that nothing in a file is unread. Where two keys
exclude one another, or belong to one notion, objective or kind of certificate only, each
combination is a table of its own. What the values must satisfy beyond their form is checked where
they are used. docs/certificates.md prints these tables.
"""

from __future__ import annotations

from mechdesign.certify.forms import (
    BUDGET,
    COUNT,
    EXACT,
    INDEX,
    LABEL,
    NUMBER,
    SIGNED,
    SIZE,
    TEXT,
    TRUTH,
    WHOLE,
    AnyOf,
    Fixed,
    Form,
    Leaf,
    ListOf,
    MapOf,
    Row,
    Table,
    Variants,
    list_or_packed,
    or_null,
)
from mechdesign.certify.packed import FLOATS, INTEGERS

__all__ = [
    "BAND_DUAL",
    "BARE_CHANNEL_FILE",
    "BOXES_DUAL",
    "CERTIFICATES",
    "CHANNEL_FILE",
    "CONTINUOUS_FILE",
    "DECODERS_DUAL",
    "DIVERGENCES",
    "DUALS",
    "KNOWN_OBJECTIVES",
    "LOSSES",
    "MECHANISM_FILE",
    "PLANE_FILE",
    "PRICE_DUALS",
    "PROBLEM",
    "RAYS_DUAL",
    "READINGS_DUALS",
    "REPRESENTATIVES_DUAL",
    "RISKS",
    "RISK_DUALS",
    "ROWS_DUAL",
    "SETS_DUAL",
    "SUMS_DUAL",
    "WEIGHTED_DUAL",
]

ZERO_OR_MORE = ListOf(BUDGET)
TABLE_OF_NUMBERS = ListOf(ZERO_OR_MORE)
LABELS = ListOf(LABEL, least=1)
EXACT_OR_INF = AnyOf([BUDGET, Fixed("inf")])

# --- the problem --------------------------------------------------------------------------------

DOMAIN = Variants(
    "domain",
    [
        Table("domain, listed", {"values": LABELS}),
        Table(
            "domain, grid",
            {"grid": Table("grid", {"rows": COUNT, "columns": COUNT, "spacing": BUDGET})},
        ),
        Table(
            "domain, points",
            {
                "points": Table(
                    "points",
                    {
                        "coordinates": ListOf(Row([EXACT, EXACT]), least=1),
                        "metric": AnyOf([Fixed("euclidean"), Fixed("haversine")]),
                    },
                )
            },
        ),
    ],
)

SECRET = Variants(
    "secret",
    [
        Table(f"secret, {name}", {"values": LABELS, **keys})
        for name, keys in {
            "one law": {"given_input": TABLE_OF_NUMBERS},
            "ball of laws": {"given_input": TABLE_OF_NUMBERS, "radius": ZERO_OR_MORE},
            "laws between bounds": {"lower": TABLE_OF_NUMBERS, "upper": TABLE_OF_NUMBERS},
            "list of laws": {"laws": ListOf(TABLE_OF_NUMBERS, least=1)},
        }.items()
    ],
)

COEFFICIENTS = ListOf(Row([LABEL, BUDGET]))

LINEAR_ROW = Table(
    "row of the user's own",
    {"name": TEXT, "left": COEFFICIENTS, "right": COEFFICIENTS, "exponent": EXACT},
    {"slope": BUDGET},
)


def _notion(name: str, keys: dict[str, Form], *, of_secret: bool, **optional: Form) -> Table:
    secret = {"secret": SECRET} if of_secret else {}
    return Table(f"notion {name}", {"notion": Fixed(name), **keys}, {**optional, **secret})


def _with_budget(
    name: str, keys: dict[str, Form] | None = None, *, of_secret: bool = False
) -> Table:
    return _notion(name, {"epsilon": BUDGET, **(keys or {})}, of_secret=of_secret)


PRIOR_LIST = ListOf(ZERO_OR_MORE, least=1)
PRIOR_SETS: list[dict[str, Form]] = [
    {"priors": PRIOR_LIST},
    {"lower": ZERO_OR_MORE, "upper": ZERO_OR_MORE},
    {"center": ZERO_OR_MORE, "radius": BUDGET},
]

ERROR = AnyOf([*map(Fixed, ("hamming", "absolute", "squared", "euclidean")), TABLE_OF_NUMBERS])

PRIOR_TABLES = Variants(
    "box or ball of priors",
    [
        Table(f"{name} of priors", keys)
        for name, keys in zip(("box", "ball"), PRIOR_SETS[1:], strict=True)
    ],
)

DISTANCE = AnyOf([*map(Fixed, ("absolute", "manhattan", "euclidean")), TABLE_OF_NUMBERS])

NOTIONS = Variants(
    "privacy notion",
    [
        _with_budget("ldp", of_secret=True),
        _with_budget("lip", of_secret=True),
        _with_budget("pml", of_secret=True),
        _with_budget("differential-identifiability", of_secret=True),
        _with_budget("high-low", {"sensitive": LABELS}, of_secret=True),
        _with_budget("block", {"blocks": ListOf(LABELS, least=1)}, of_secret=True),
        _with_budget("block", {"block_rows": COUNT, "block_columns": COUNT}),
        _with_budget("metric", {"distance": DISTANCE}, of_secret=True),
        _notion("context-aware", {"matrix": ListOf(ListOf(EXACT_OR_INF))}, of_secret=True),
        _notion("lift", {"lower": EXACT_OR_INF, "upper": EXACT_OR_INF}, of_secret=True),
        _notion("linear", {"rows": ListOf(LINEAR_ROW)}, of_secret=True, title=TEXT, epsilon=BUDGET),
        *(
            _with_budget(name, keys)
            for name in ("bounded-prior-lip", "bounded-prior-pml")
            for keys in PRIOR_SETS
        ),
        _notion(
            "bounded-prior-lift",
            {
                "lower": EXACT_OR_INF,
                "upper": EXACT_OR_INF,
                "priors": AnyOf([PRIOR_LIST, PRIOR_TABLES]),
            },
            of_secret=False,
        ),
        _with_budget("approximate-ldp", {"delta": BUDGET}),
        _with_budget("approximate-lip", {"delta": BUDGET}),
        _with_budget("maximal-leakage"),
        _with_budget("mutual-information"),
        _notion(
            "g-vulnerability",
            {"limit": BUDGET},
            of_secret=False,
            gain_matrix=ListOf(ZERO_OR_MORE, least=1),
        ),
        _notion("attack-error", {"least": BUDGET, "distance": ERROR}, of_secret=False),
    ],
)

LOSSES = (
    "distortion",
    "hamming",
    "mean-absolute-error",
    "mean-squared-distance",
    "euclidean",
)
"""The objectives that are linear in the channel, on average or in the worst case over inputs."""

GAINS = (
    "posterior-mean-squared-error",
    "mutual-information",
    "bayes-accuracy",
    "g-vulnerability",
    "fisher-information",
)
DIVERGENCES = ("total-variation", "kullback-leibler", "chi-squared", "squared-hellinger")
"""The objectives that compare the reports of two mixtures of inputs."""

RISKS = ("l2-risk", "tv-risk")
KNOWN_OBJECTIVES = (*LOSSES, *GAINS, *DIVERGENCES, *RISKS, "unbiased-variance")


def _objective(name: str, **keys: Form) -> Table:
    return Table(f"objective {name}", {"objective": Fixed(name), **keys})


OWN_NAME = Leaf("other text", lambda value: TEXT.holds(value) and value not in KNOWN_OBJECTIVES)

OBJECTIVES = Variants(
    "objective",
    [
        _objective("distortion", worst_case=TRUTH, matrix=TABLE_OF_NUMBERS),
        *(_objective(name, worst_case=TRUTH) for name in (*LOSSES[1:], *RISKS)),
        _objective("posterior-mean-squared-error", values=ListOf(EXACT)),
        _objective("posterior-mean-squared-error", histogram=Fixed(True)),
        _objective("unbiased-variance", worst_case=TRUTH, values=ListOf(EXACT)),
        _objective("mutual-information"),
        _objective("bayes-accuracy"),
        _objective("g-vulnerability", gain_matrix=ListOf(ZERO_OR_MORE, least=1)),
        _objective("fisher-information", scores=ListOf(ListOf(EXACT, least=1))),
        *(_objective(name, first=ZERO_OR_MORE, second=ZERO_OR_MORE) for name in DIVERGENCES),
        Table("objective of the user's own", {"objective": OWN_NAME}, {"expression": TEXT}),
    ],
)

PROBLEM = Table(
    "problem",
    {
        "domain": DOMAIN,
        "prior": ZERO_OR_MORE,
        "privacy": ListOf(NOTIONS, least=1),
        "utility": OBJECTIVES,
        "outputs": or_null(LABELS),
    },
    {"constraints": ListOf(TEXT, least=1)},
)

# --- the certificate ----------------------------------------------------------------------------

SIDES = (
    "ratio",
    "upper",
    "lower",
    "row",
    "excess",
    "excess-upper",
    "excess-lower",
    "largest",
    "guess",
    "attack",
)
OF_SECRETS = tuple(f"secret-{side}" for side in SIDES[:4])

SIDE = Leaf("side", lambda value: type(value) is str and value in (*SIDES, *OF_SECRETS))

ROWS = Table(
    "multipliers of rows",
    {
        "notion": INDEX,
        "side": SIDE,
        "output": list_or_packed(INDEX, INTEGERS),
        "x": list_or_packed(INDEX, INTEGERS),
        "other": list_or_packed(INDEX, INTEGERS),
        "weight": list_or_packed(SIZE, FLOATS),
    },
    {"priors": ListOf(ZERO_OR_MORE, least=1)},
)

NUMBERS = ListOf(NUMBER)
NO_WEIGHTS: dict[str, Form] = {"weights": Fixed(None)}
NO_ROWS: dict[str, Form] = {**NO_WEIGHTS, "rows": Fixed([])}
OF_PRIORS: dict[str, Form] = {"priors": MapOf(ListOf(ZERO_OR_MORE, least=1))}

INFORMATION = Table("information", {"multipliers": MapOf(SIZE), "levels": NUMBERS})

CUT = Row([INDEX, NUMBER])
LEAF = Row([NUMBER, ListOf(INDEX), ListOf(INDEX), ListOf(SIZE)])
TREE = ListOf(AnyOf([CUT, LEAF], "cut or leaf"))
INDICES = ListOf(INDEX)
PRODUCTS = Row([INDICES, INDICES, INDICES, INDICES, ListOf(SIZE)])
INTERVALS = ListOf(Row([NUMBERS, NUMBERS]))


def _search(name: str, search: str, keys: dict[str, Form], **optional: Form) -> Table:
    own = {"potential": NUMBERS, "search": Fixed(search)}
    return Table(f"dual {name}", {**NO_ROWS, **own, **keys}, optional)


def _risk(search: str, *, roots: bool, worst: bool) -> Table:
    keys: dict[str, Form] = {"estimator": ListOf(NUMBERS)}
    keys |= {"tangents": NUMBERS} if roots else {}
    keys |= {"prior": ZERO_OR_MORE} if worst else {}
    keys |= {"surplus": NUMBER, "products": PRODUCTS} if search == "products" else {}
    name = f"{'tv' if roots else 'l2'}-risk{', worst case' if worst else ''} by {search}"
    optional: dict[str, dict[str, Form]] = {"rays": OF_PRIORS, "products": {"levels": NUMBERS}}
    return _search(name, search, keys, **optional.get(search, {}))


RISK_DUALS = {
    (search, roots, worst): _risk(search, roots=roots, worst=worst)
    for search in ("rays", "classes", "products", "ldp-rays", "ldp-classes")
    for roots in (False, True)
    for worst in (False, True)
}
"""Those of the risks of estimation: by the search, whether it is a sum of roots, and the case."""

ROWS_DUAL = Table("dual rows", {**NO_WEIGHTS, "rows": ListOf(ROWS)}, {"information": INFORMATION})
WEIGHTED_DUAL = Table(
    "dual weighted rows",
    {"weights": ListOf(SIZE), "rows": ListOf(ROWS)},
    {"information": INFORMATION},
)
REPRESENTATIVES_DUAL = Table(
    "dual representatives",
    {
        **NO_WEIGHTS,
        "rows": ListOf(ROWS),
        "representatives": ListOf(INDEX),
        "mixtures": ListOf(ListOf(Row([INDEX, SIZE]))),
    },
)
PRICE_DUALS = {
    (search, worst): Table(
        f"dual{' weighted' * worst} {search}",
        {
            "weights": ListOf(SIZE) if worst else Fixed(None),
            "rows": Fixed([]),
            "potential": NUMBERS,
            "search": Fixed(search),
        },
    )
    for search in ("chain", "one-budget", "lifts")
    for worst in (False, True)
}
"""Those of linear losses that are potentials alone: by the form of the cone, and the case."""

DECODERS_DUAL = Table(
    "dual decoders", {**NO_WEIGHTS, "rows": ListOf(ROWS), "decoders": ListOf(EXACT)}
)
BAND_DUAL = _search("bands", "decoders", {"decoders": ListOf(EXACT), "levels": NUMBERS})
READINGS_DUALS = {
    (search, worst): Table(
        f"dual{' weighted' * worst} readings by {search}",
        {
            "weights": ListOf(SIZE) if worst else Fixed(None),
            "slope": NUMBERS,
            "decoders": ListOf(EXACT),
            **keys,
        },
    )
    for search, keys in (
        ("rows", {"rows": ListOf(ROWS)}),
        (
            "one budget",
            {
                "rows": Fixed([]),
                "potential": NUMBERS,
                "search": Fixed("one-budget-readings"),
            },
        ),
    )
    for worst in (False, True)
}
"""Those of unbiased readings: by multipliers at probes, or by potentials where one budget bounds
all ratios, and the case."""
RAYS_DUAL = _search("rays", "rays", {}, **OF_PRIORS)
SUMS_DUAL = _search("sums", "sums", {})
SETS_DUAL = _search("sets", "sets", {"surplus": NUMBER, "intervals": INTERVALS})
BOXES_DUAL = _search("boxes", "boxes", {"tree": TREE}, **OF_PRIORS)

DUALS = Variants(
    "dual",
    [
        ROWS_DUAL,
        WEIGHTED_DUAL,
        REPRESENTATIVES_DUAL,
        *PRICE_DUALS.values(),
        DECODERS_DUAL,
        BAND_DUAL,
        RAYS_DUAL,
        SUMS_DUAL,
        SETS_DUAL,
        BOXES_DUAL,
        *READINGS_DUALS.values(),
        *RISK_DUALS.values(),
    ],
)

LIFT_PRIOR = or_null(ZERO_OR_MORE)

FACET = AnyOf(
    [
        Row([Fixed(None), Fixed("positive"), INDEX, Fixed(None)]),
        Row([INDEX, Fixed("ratio"), INDEX, INDEX]),
        Row([INDEX, Fixed("upper"), INDEX, LIFT_PRIOR]),
        Row([INDEX, Fixed("lower"), INDEX, LIFT_PRIOR]),
    ],
    "facet",
)

PLAIN_THEOREMS = (
    "nothing-constrained",
    "equal-rows",
    "randomized-response",
    "erasure",
    "binary-universal",
    "uniform-lift",
    "uniform-subsets",
    "binary-mechanism",
    "subset-selection",
    "leakage-budget",
)
"""The theorems without data of their own; ``simplicial`` is the one with."""

PLAIN_THEOREM = AnyOf([Fixed(None), *map(Fixed, PLAIN_THEOREMS)])

NO_PROOF = Table(
    "certificate without a proof",
    {"theorem": Fixed(None), "dual": Fixed(None), "numeric": Fixed(True)},
)

CERTIFICATES = Variants(
    "certificate",
    [
        NO_PROOF,
        Table(
            "certificate with facets",
            {"theorem": Fixed("simplicial"), "facets": ListOf(FACET), "dual": or_null(DUALS)},
        ),
        Table("certificate without facets", {"theorem": PLAIN_THEOREM, "dual": or_null(DUALS)}),
    ],
)

# --- channel files ------------------------------------------------------------------------------

READING = AnyOf([NUMBER, LABEL, NUMBERS])

EXACT_READINGS = Table("exact readings", {"numerators": ListOf(SIGNED), "denominator": WHOLE})

CHANNEL_KEYS: dict[str, Form] = {
    "inputs": LABELS,
    "outputs": LABELS,
    "matrix": ListOf(NUMBERS),
    "bits": COUNT,
    "numerators": ListOf(ListOf(WHOLE)),
}

CLAIM = Table(
    "claim of privacy",
    {"notion": TEXT, "leakage": NUMBER, "certified": Fixed(True)},
    {"epsilon": SIZE, "delta": SIZE, "secret": LABELS},
)

PHASES = ("compile", "presolve", "solve", "repair", "certify")

CHANNEL_FILE = Table(
    "channel file",
    {
        "format": Fixed("mechdesign-channel"),
        "version": Fixed(1),
        "title": TEXT,
        "source": TEXT,
        "status": AnyOf([Fixed("optimal"), Fixed("bounded")]),
        "objective": TEXT,
        "sense": AnyOf([Fixed("minimize"), Fixed("maximize")]),
        "value": NUMBER,
        "bound": NUMBER,
        "gap": SIZE,
        "bound_proved": TRUTH,
        "route": TEXT,
        "privacy": ListOf(CLAIM, least=1),
        "channel": Table(
            "channel",
            CHANNEL_KEYS,
            {"decoder": ListOf(READING, least=1), "readings": EXACT_READINGS},
        ),
        "seconds": SIZE,
        "timings": Table("timings", {}, dict.fromkeys(PHASES, SIZE)),
        "why": TEXT,
        "considered": ListOf(Table("closed form considered", {"name": TEXT, "reason": TEXT})),
        "notes": ListOf(TEXT),
        "problem": PROBLEM,
        "certificate": CERTIFICATES,
        "digest": TEXT,
    },
)

BARE_CHANNEL_FILE = Table(
    "bare channel file",
    {
        "format": Fixed("mechdesign-bare-channel"),
        "version": Fixed(1),
        "domain": DOMAIN,
        "channel": Table("bare channel", CHANNEL_KEYS),
        "digest": TEXT,
    },
)

# --- files of a continuous input ------------------------------------------------------------------

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
"""Where the moments come from: nothing is proved of it."""

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
    *(_with_budget(name) for name in ("ldp", "lip", "pml", "maximal-leakage")),
    _with_budget("mutual-information"),
    _notion("lift", {"lower": EXACT_OR_INF, "upper": EXACT_OR_INF}, of_secret=False),
    _with_budget("approximate-ldp", {"delta": BUDGET}),
    _with_budget("approximate-lip", {"delta": BUDGET}),
]

PLANE_NOTIONS = Variants("privacy notion of a box", OF_MIXTURES)

CONTINUOUS_NOTIONS = Variants(
    "privacy notion of an interval",
    [
        *OF_MIXTURES,
        _with_budget("metric", {"distance": Fixed("absolute")}),
        _with_budget("high-low", {"sensitive": LABELS}),
        _with_budget("block", {"blocks": ListOf(LABELS, least=1)}),
        _notion("context-aware", {"matrix": ListOf(ListOf(EXACT_OR_INF))}, of_secret=False),
        *(_with_budget("bounded-prior-lip", keys) for keys in PRIOR_SETS),
    ],
)

CONTINUOUS_OBJECTIVES = Variants(
    "loss of an interval",
    [
        _objective("mean-absolute-error", worst_case=TRUTH),
        _objective("mean-squared-distance", worst_case=TRUTH),
        _objective("posterior-mean-squared-error"),
        _objective("unbiased-variance", worst_case=TRUTH),
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
"""Where the moments come from: nothing is proved of it."""

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
                        _objective(name, worst_case=TRUTH)
                        for name in ("euclidean", "mean-squared-distance")
                    ],
                ),
            },
        ),
    },
)

# --- mechanism files ----------------------------------------------------------------------------

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
            [_objective(name, worst_case=Fixed(False)) for name in LOSSES if name != "distortion"],
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
