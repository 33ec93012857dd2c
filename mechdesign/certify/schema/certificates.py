"""The tables of a certificate: multipliers, potentials and theorems that prove a bound."""

from __future__ import annotations

from mechdesign.certify.forms import (
    EXACT,
    INDEX,
    NUMBER,
    SIZE,
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
from mechdesign.certify.schema.problems import ZERO_OR_MORE

__all__ = [
    "BAND_DUAL",
    "BOXES_DUAL",
    "CERTIFICATES",
    "DECODERS_DUAL",
    "DUALS",
    "NUMBERS",
    "PRICE_DUALS",
    "RAYS_DUAL",
    "READINGS_DUALS",
    "REPRESENTATIVES_DUAL",
    "RISK_DUALS",
    "ROWS",
    "ROWS_DUAL",
    "SETS_DUAL",
    "SUMS_DUAL",
    "WEIGHTED_DUAL",
]

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
