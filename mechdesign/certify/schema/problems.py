"""The tables of a problem in a saved file: domain, prior, notions of privacy and objective."""

from __future__ import annotations

from mechdesign.certify.forms import (
    BUDGET,
    COUNT,
    EXACT,
    LABEL,
    TEXT,
    TRUTH,
    AnyOf,
    Fixed,
    Form,
    Leaf,
    ListOf,
    Row,
    Table,
    Variants,
    or_null,
)

__all__ = [
    "DIVERGENCES",
    "DOMAIN",
    "EXACT_OR_INF",
    "KNOWN_OBJECTIVES",
    "LABELS",
    "LOSSES",
    "NOTIONS",
    "PRIOR_SETS",
    "PROBLEM",
    "RISKS",
    "TABLE_OF_NUMBERS",
    "ZERO_OR_MORE",
    "notion",
    "objective",
    "with_budget",
]

ZERO_OR_MORE = ListOf(BUDGET)
TABLE_OF_NUMBERS = ListOf(ZERO_OR_MORE)
LABELS = ListOf(LABEL, least=1)
EXACT_OR_INF = AnyOf([BUDGET, Fixed("inf")])

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


def notion(name: str, keys: dict[str, Form], *, of_secret: bool, **optional: Form) -> Table:
    """Return the table of a notion; one about a secret may state it."""
    secret = {"secret": SECRET} if of_secret else {}
    return Table(f"notion {name}", {"notion": Fixed(name), **keys}, {**optional, **secret})


def with_budget(
    name: str, keys: dict[str, Form] | None = None, *, of_secret: bool = False
) -> Table:
    """Return the table of a notion that has a budget."""
    return notion(name, {"epsilon": BUDGET, **(keys or {})}, of_secret=of_secret)


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
        with_budget("ldp", of_secret=True),
        with_budget("lip", of_secret=True),
        with_budget("pml", of_secret=True),
        with_budget("differential-identifiability", of_secret=True),
        with_budget("high-low", {"sensitive": LABELS}, of_secret=True),
        with_budget("block", {"blocks": ListOf(LABELS, least=1)}, of_secret=True),
        with_budget("block", {"block_rows": COUNT, "block_columns": COUNT}),
        with_budget("metric", {"distance": DISTANCE}, of_secret=True),
        notion("context-aware", {"matrix": ListOf(ListOf(EXACT_OR_INF))}, of_secret=True),
        notion("lift", {"lower": EXACT_OR_INF, "upper": EXACT_OR_INF}, of_secret=True),
        notion("linear", {"rows": ListOf(LINEAR_ROW)}, of_secret=True, title=TEXT, epsilon=BUDGET),
        *(
            with_budget(name, keys)
            for name in ("bounded-prior-lip", "bounded-prior-pml")
            for keys in PRIOR_SETS
        ),
        notion(
            "bounded-prior-lift",
            {
                "lower": EXACT_OR_INF,
                "upper": EXACT_OR_INF,
                "priors": AnyOf([PRIOR_LIST, PRIOR_TABLES]),
            },
            of_secret=False,
        ),
        with_budget("approximate-ldp", {"delta": BUDGET}),
        with_budget("approximate-lip", {"delta": BUDGET}),
        with_budget("maximal-leakage"),
        with_budget("mutual-information"),
        notion(
            "g-vulnerability",
            {"limit": BUDGET},
            of_secret=False,
            gain_matrix=ListOf(ZERO_OR_MORE, least=1),
        ),
        notion("attack-error", {"least": BUDGET, "distance": ERROR}, of_secret=False),
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


def objective(name: str, **keys: Form) -> Table:
    """Return the table of an objective."""
    return Table(f"objective {name}", {"objective": Fixed(name), **keys})


OWN_NAME = Leaf("other text", lambda value: TEXT.holds(value) and value not in KNOWN_OBJECTIVES)

OBJECTIVES = Variants(
    "objective",
    [
        objective("distortion", worst_case=TRUTH, matrix=TABLE_OF_NUMBERS),
        *(objective(name, worst_case=TRUTH) for name in (*LOSSES[1:], *RISKS)),
        objective("posterior-mean-squared-error", values=ListOf(EXACT)),
        objective("posterior-mean-squared-error", histogram=Fixed(True)),
        objective("unbiased-variance", worst_case=TRUTH, values=ListOf(EXACT)),
        objective("mutual-information"),
        objective("bayes-accuracy"),
        objective("g-vulnerability", gain_matrix=ListOf(ZERO_OR_MORE, least=1)),
        objective("fisher-information", scores=ListOf(ListOf(EXACT, least=1))),
        *(objective(name, first=ZERO_OR_MORE, second=ZERO_OR_MORE) for name in DIVERGENCES),
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
