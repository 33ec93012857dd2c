"""From a certificate to the bound that it proves: the kinds of evidence, and what each is for.

Every kind states the objectives and the notions that it is for. A certificate of a kind that is not
for the problem is refused, before any number of it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.decoders import band_bound
from mechdesign.certify.bounds.duality import decoder_bound, dual_bound, value
from mechdesign.certify.bounds.estimation_risk import estimation_bound
from mechdesign.certify.bounds.exchangeable_inputs import (
    subset_selection,
    uniform_lift,
    uniform_subsets,
)
from mechdesign.certify.bounds.leakage_budget import LEAKAGE, leakage_budget
from mechdesign.certify.bounds.prices.chain import chain_bound
from mechdesign.certify.bounds.prices.lifts import lifts_bound
from mechdesign.certify.bounds.prices.one_budget import one_budget_bound
from mechdesign.certify.bounds.readings import Readings
from mechdesign.certify.bounds.representatives import representatives_bound
from mechdesign.certify.bounds.sums.divergences import binary_mechanism
from mechdesign.certify.bounds.sums.gains import is_unbounded
from mechdesign.certify.bounds.sums.reduced_gains import potentials_bound
from mechdesign.certify.bounds.theorems import (
    binary,
    equal_rows,
    erasure,
    nothing_constrained,
    simplicial,
)
from mechdesign.certify.bounds.unbiased import one_budget_readings_bound, rows_readings_bound
from mechdesign.certify.packed import unpacked
from mechdesign.certify.privacy.non_conic import EXCESS_SIDES
from mechdesign.certify.privacy.prior_sets import OF_PRIORS
from mechdesign.certify.privacy.sensitive_attribute import SIDE
from mechdesign.certify.problem import (
    ACCURACY,
    FISHER,
    INFORMATION,
    LINEAR,
    POSTERIOR,
    READINGS,
    SECRET,
    VULNERABILITY,
    Statement,
    check_indices,
)
from mechdesign.certify.schema.certificates import (
    BAND_DUAL,
    BOXES_DUAL,
    CERTIFICATES,
    DECODERS_DUAL,
    DUALS,
    PRICE_DUALS,
    RAYS_DUAL,
    READINGS_DUALS,
    REPRESENTATIVES_DUAL,
    RISK_DUALS,
    ROWS_DUAL,
    SETS_DUAL,
    SUMS_DUAL,
    WEIGHTED_DUAL,
)
from mechdesign.certify.schema.problems import DIVERGENCES, LOSSES, RISKS
from mechdesign.errors import CertificateError
from mechdesign.resources import counted_apart

__all__ = [
    "BOUNDS",
    "PARALLEL",
    "PRICES",
    "THEOREMS",
    "Kind",
    "bound_of",
    "check_multipliers",
    "prove",
    "unpacked_block",
]

HISTOGRAM = "histogram"
"""The posterior-mean squared error of the histogram, whose name in a file is that of the scalar."""

WORST = ", worst case"
WORST_LOSSES = tuple(name + WORST for name in LOSSES)
GAINS = (POSTERIOR, HISTOGRAM, INFORMATION, ACCURACY, VULNERABILITY, FISHER, *DIVERGENCES)
GUESSES = (ACCURACY, VULNERABILITY)
SPLIT_GAINS = (HISTOGRAM, INFORMATION)
SYMMETRIC_GAINS = (HISTOGRAM, INFORMATION, ACCURACY)
WORST_RISKS = tuple(name + WORST for name in RISKS)
ALL_BUT_WORST_LOSSES = (*LOSSES, *GAINS, *RISKS, *WORST_RISKS)

RATIOS = (
    "ldp",
    "high-low",
    "block",
    "metric",
    "context-aware",
    "differential-identifiability",
    "approximate-ldp",
    "approximate-lip",
    "maximal-leakage",
    "mutual-information",
)
"""Notions that bound ratios of two entries, the last four where their budget makes them do so."""

LIFTS = ("lip", "pml", "lift", *OF_PRIORS, "approximate-lip")
"""Notions that bound the lift, the last one with delta = 0."""


@dataclass(frozen=True)
class Kind:
    """A kind of evidence for a bound: called with a statement and its data it returns the bound.

    Attributes
    ----------
    name
        What a file calls it: the name of a theorem, or of a table of dual variables.
    objectives
        What it is for, as :func:`objective_of` names objectives.
    bound
        The function that computes it, called with the statement and the data.
    notions
        Notions of which the problem needs one; empty if any notion will do. A notion of a sensitive
        attribute is none of them.
    alone
        Whether that notion must be the only one.
    """

    name: str
    objectives: Collection[str]
    bound: Callable[..., Fraction]
    notions: tuple[str, ...] = ()
    alone: bool = False

    def __call__(self, statement: Statement, *data: Any) -> Fraction:
        """Return the bound.

        Raises
        ------
        CertificateError
            If the kind is not for the problem, or the data prove no bound.
        """
        objective, notions = objective_of(statement), [t["notion"] for t in statement.privacy]
        if objective not in self.objectives:
            raise CertificateError(f"{self.name} is no bound on the objective {objective!r:.60}")
        if self.notions and not set(notions) & set(self.notions):
            raise CertificateError(f"{self.name} needs a notion {' or '.join(self.notions)}")
        if self.alone and len(notions) > 1:
            raise CertificateError(f"{self.name} needs a single notion")
        return self.bound(statement, *data)


def objective_of(statement: Statement) -> str:
    """Return the objective, and whether it is that of the histogram or a worst case."""
    if statement.is_histogram:
        return HISTOGRAM
    name: str = statement.utility["objective"]
    return name + WORST if statement.is_worst_case else name


def _by_name(*kinds: Kind) -> dict[str, Kind]:
    return {kind.name: kind for kind in kinds}


PRICES: dict[str, tuple[Callable[..., Fraction], tuple[str, ...], bool]] = {
    "chain": (chain_bound, RATIOS, False),
    "one-budget": (one_budget_bound, RATIOS, True),
    "lifts": (lifts_bound, LIFTS, True),
}
"""What completes potentials for a linear loss, for which notions, and whether for one alone."""

BOUNDS = _by_name(
    Kind(ROWS_DUAL.says, (*LOSSES, *GUESSES), dual_bound),
    Kind(WEIGHTED_DUAL.says, WORST_LOSSES, dual_bound),
    Kind(REPRESENTATIVES_DUAL.says, LOSSES, representatives_bound, RATIOS),
    *(
        Kind(table.says, WORST_LOSSES if worst else (*LOSSES, *GUESSES), *PRICES[search])
        for (search, worst), table in PRICE_DUALS.items()
    ),
    Kind(DECODERS_DUAL.says, (POSTERIOR, FISHER), decoder_bound),
    Kind(BAND_DUAL.says, (POSTERIOR, FISHER), band_bound, (*RATIOS, *LIFTS), alone=True),
    Kind(RAYS_DUAL.says, GAINS, potentials_bound),
    Kind(SUMS_DUAL.says, SPLIT_GAINS, potentials_bound, LIFTS, alone=True),
    Kind(SETS_DUAL.says, SPLIT_GAINS, potentials_bound, RATIOS, alone=True),
    Kind(BOXES_DUAL.says, SPLIT_GAINS, potentials_bound),
    *(
        Kind(
            table.says,
            (READINGS + WORST * worst,),
            rows_readings_bound if search == "rows" else one_budget_readings_bound,
            () if search == "rows" else RATIOS,
            alone=search != "rows",
        )
        for (search, worst), table in READINGS_DUALS.items()
    ),
    *(
        Kind(table.says, (RISKS[roots] + WORST * worst,), estimation_bound)
        for (_, roots, worst), table in RISK_DUALS.items()
    ),
)
"""The bounds that dual variables prove, each with the table of a certificate that has them."""

THEOREMS = _by_name(
    Kind(
        "nothing-constrained",
        (*ALL_BUT_WORST_LOSSES, *WORST_LOSSES, READINGS, READINGS + WORST),
        nothing_constrained,
    ),
    Kind("equal-rows", ALL_BUT_WORST_LOSSES, equal_rows),
    Kind("binary-universal", ALL_BUT_WORST_LOSSES, binary),
    Kind("erasure", ALL_BUT_WORST_LOSSES, erasure, ("lip", "lift")),
    Kind("randomized-response", ("hamming",), uniform_subsets, ("ldp",)),
    Kind("leakage-budget", (*LOSSES, *WORST_LOSSES, *GUESSES), leakage_budget, (LEAKAGE,)),
    Kind("simplicial", ALL_BUT_WORST_LOSSES, simplicial),
    Kind("uniform-subsets", SYMMETRIC_GAINS, uniform_subsets, ("ldp",)),
    Kind("binary-mechanism", ("total-variation",), binary_mechanism, ("ldp",)),
    Kind("uniform-lift", ("hamming", *SYMMETRIC_GAINS), uniform_lift, LIFTS),
    Kind(
        "subset-selection", (*RISKS, *WORST_RISKS), subset_selection, ("ldp", "lip", "lift", "pml")
    ),
)
"""The bounds that a certificate names, which the checker computes by itself."""


SIDES: dict[str, tuple[str, ...]] = {
    "ratio": RATIOS,
    "upper": LIFTS,
    "lower": tuple(name for name in LIFTS if not name.endswith("pml")),
    "row": (LINEAR,),
    **{side: (name,) for side, name in EXCESS_SIDES.items()},
}
"""The notions whose rows a multiplier may be on, by the side that names the rows."""

PARALLEL = ("output", "x", "other", "weight")
"""The keys of multipliers that have a list each, of one length."""

WITH_PAIRS = ("ratio", "excess")
"""The sides whose rows are of two inputs."""


def check_multipliers(statement: Statement, dual: dict[str, Any]) -> None:
    """Raise unless the multipliers of a certificate are on rows that the notions have.

    Where ``other`` has no meaning it is 0.
    """
    for block in dual["rows"]:
        table = _notion(statement, block["notion"])
        side, is_secret = block["side"].removeprefix(SIDE), table["notion"] == SECRET
        name = table["of"] if is_secret else table["notion"]
        if is_secret != block["side"].startswith(SIDE) or name not in SIDES[side]:
            raise CertificateError(f"a notion {name} has no rows on the side {block['side']!r}")
        if "priors" in block and side not in ("upper", "lower"):
            raise CertificateError(f"rows on the side {block['side']!r} have no priors")
        if side not in WITH_PAIRS and "priors" not in block and any(block["other"]):
            raise CertificateError(f"rows on the side {block['side']!r} have no other input")
        if len({len(block[key]) for key in PARALLEL}) > 1:
            raise CertificateError("the lists of a block of multipliers differ in length")
    for place in dual.get("priors", {}):
        _expect(statement, place, *OF_PRIORS)
    for place in dual.get("information", {}).get("multipliers", {}):
        _expect(statement, place, INFORMATION)


def unpacked_block(block: dict[str, Any]) -> dict[str, Any]:
    """Return multipliers of rows with lists, packed or not."""
    return {**block, **{key: unpacked(block[key]) for key in PARALLEL}}


def _notion(statement: Statement, place: int) -> dict[str, Any]:
    """Return the notion of a number."""
    check_indices([place], len(statement.privacy), "a certificate names a notion")
    return statement.privacy[place]


def _expect(statement: Statement, place: str, *names: str) -> None:
    """Raise unless the notion of that number has one of these names."""
    if _notion(statement, int(place))["notion"] not in names:
        raise CertificateError(f"a certificate has data for a notion {names[0]} that is another")


@counted_apart()
def prove(
    statement: Statement,
    certificate: dict[str, Any],
    columns: list[list[int]],
    used: list[int],
    bits: int,
    readings: Readings | None = None,
) -> tuple[Fraction, Fraction]:
    """Return the value of the channel and the best bound that the certificate proves.

    Its steps are counted apart, so that a designer knows beforehand which proofs a reader accepts.
    """
    bound = bound_of(statement, certificate)
    return value(statement, columns, used, bits, certificate["dual"], readings), bound


def bound_of(statement: Statement, certificate: dict[str, Any]) -> Fraction:
    """Return the best bound that a certificate proves.

    Raises
    ------
    CertificateError
        If it is not for the problem, or its data prove no bound.
    """
    CERTIFICATES.find(certificate, "certificate")
    theorem, dual = certificate["theorem"], certificate["dual"]
    bounds = [] if is_unbounded(statement) else [nothing_constrained(statement)]
    if theorem is not None:
        data = [certificate["facets"]] if "facets" in certificate else []
        bounds.append(THEOREMS[theorem](statement, *data))
    if dual is not None:
        kind = BOUNDS[DUALS.find(dual, "certificate.dual").says]
        dual = {**dual, "rows": [unpacked_block(block) for block in dual["rows"]]}
        check_multipliers(statement, dual)
        bounds.append(kind(statement, dual))
    if not bounds:
        raise CertificateError("the certificate proves no bound, and there is none without data")
    return min(bounds) if statement.is_maximized else max(bounds)
