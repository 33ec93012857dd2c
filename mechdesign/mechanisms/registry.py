"""Registry of structured mechanisms: the kinds for each notion, and constructors from files.

To add a kind under LDP, add its class to :data:`LDP_MECHANISMS`, which combinators extend to
blocks; :data:`FORMS` has the kinds for each notion.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias, cast

import numpy as np

from mechdesign.domain import Domain
from mechdesign.errors import InputError, choose, known_word, shown
from mechdesign.mechanisms.base import Mechanism
from mechdesign.mechanisms.composite import (
    ByComponent,
    HighLow,
    around_sensitive,
    by_block,
    split_by_sensitivity,
)
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.lattice_noise import GeometricNoise, LatticeNoise, PlanarLaplace
from mechdesign.mechanisms.projective_geometry import ProjectiveGeometryResponse
from mechdesign.mechanisms.randomized_response import (
    GeneralizedRandomizedResponse,
    IdentityMechanism,
    LIPRandomizedResponse,
)
from mechdesign.mechanisms.reported_sets import (
    OptimizedUnaryEncoding,
    SubsetSelection,
    SymmetricUnaryEncoding,
)
from mechdesign.mechanisms.set_system import LDPMechanism, SetMechanism
from mechdesign.notions import LDP, LIP, BlockLDP, HighLowLDP, MetricPrivacy, Notion
from mechdesign.prior import Prior

Parameters: TypeAlias = Mapping[str, Any]


LDP_MECHANISMS: dict[str, type[LDPMechanism]] = {
    kind.name: kind
    for kind in (
        GeneralizedRandomizedResponse,
        HadamardResponse,
        ProjectiveGeometryResponse,
        OptimizedUnaryEncoding,
        SymmetricUnaryEncoding,
        SubsetSelection,
    )
}
"""Mechanisms under LDP."""

NOISE: dict[str, type[LatticeNoise]] = {kind.name: kind for kind in (GeometricNoise, PlanarLaplace)}
"""Mechanisms under metric privacy."""

FORMS: dict[type[Notion], Collection[str]] = {
    LDP: LDP_MECHANISMS,
    BlockLDP: LDP_MECHANISMS,
    HighLowLDP: [name for name, kind in LDP_MECHANISMS.items() if issubclass(kind, SetMechanism)],
    LIP: (LIPRandomizedResponse.name,),
    MetricPrivacy: NOISE,
}
"""The kinds for each notion."""

COMBINATORS: dict[type[Notion], Callable[..., Mechanism]] = {
    LDP: lambda make, domain, notion, **options: make(domain, notion.epsilon, **options),
    BlockLDP: by_block,
    HighLowLDP: around_sensitive,
}
"""Constructors of a mechanism under a notion from one under LDP."""

MECHANISMS: dict[str, str] = {
    name: f"{made.__doc__}".strip().split("\n")[0]
    for name, made in {
        **LDP_MECHANISMS,
        LIPRandomizedResponse.name: LIPRandomizedResponse,
        **NOISE,
    }.items()
}
"""Every kind, with a one-line description."""


def mechanism_for(
    kind: str,
    domain: Domain,
    notion: Notion,
    prior: Prior | None = None,
    size: int | None = None,
    remap: str | None = None,
    copies: int | None = None,
    field: int | None = None,
) -> Mechanism:
    """Return the mechanism of a kind in the form for a notion.

    Parameters
    ----------
    kind
        ``"randomized-response"``, ``"hadamard-response"``, ``"projective-geometry-response"``,
        ``"optimized-unary-encoding"``, ``"symmetric-unary-encoding"`` or ``"subset-selection"``: on
        all inputs under LDP, inside every block under block-structured LDP, and (except unary
        encoding) for the sensitive inputs under high-low LDP; ``"lip-randomized-response"`` under
        LIP; ``"geometric-noise"`` and ``"planar-laplace"`` under metric privacy, for Manhattan and
        for Euclidean distances.
    domain, notion
        The inputs, and the privacy notion.
    prior
        The prior, for LIP and for a remap.
    size
        The number of inputs in a subset, for subset selection; default the best.
    remap
        For noise, a loss: each report is replaced by the point of least expected loss at the prior,
        as in :meth:`GeometricNoise.remapped`.
    copies
        For Hadamard response, the number of blocks; 1 is the papers' form for small epsilon.
    field
        For projective geometry response, the prime; default of both, the best.

    Raises
    ------
    InputError
        If the kind is unknown, or not available for the notion.
    UnsupportedError
        If the mechanism is not private at this prior.

    Examples
    --------
    >>> mechanism_for("hadamard-response", Domain.range(6), BlockLDP(1, [[0, 1, 2], [3, 4, 5]]))
    ByComponent(6 inputs, BlockLDP(epsilon=1, blocks=[[0, 1, 2], [3, 4, 5]]), 3 bits a report)
    """
    known_word(kind, MECHANISMS, "kind")
    forms = FORMS.get(type(notion))
    if forms is None:
        known = ", ".join(known.name for known in FORMS)
        raise InputError("privacy.notion", f"one of {known}, for a mechanism", shown(notion.name))
    known_word(kind, forms, "kind", also=f" under {notion.name}")
    takes = LDP_MECHANISMS[kind].options if kind in LDP_MECHANISMS else {}
    takes = {"remap": None} if kind in NOISE else takes
    given = {"size": size, "copies": copies, "field": field, "remap": remap}
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    for key, value in options.items():
        if key not in takes:
            raise InputError(key, f"none, as {kind} takes no {key}", shown(value))
    if kind in LDP_MECHANISMS:
        return COMBINATORS[type(notion)](LDP_MECHANISMS[kind], domain, notion, **options)
    if prior is None and (remap is not None or kind not in NOISE):
        what = kind if remap is None else f"{kind} with a remap"
        raise InputError("prior", f"a prior, since {what} needs one", "none")
    if kind not in NOISE:
        return LIPRandomizedResponse(domain, cast(LIP, notion).epsilon, cast(Prior, prior))
    made = NOISE[kind](domain, cast(MetricPrivacy, notion))
    return made if remap is None else made.remapped(cast(Prior, prior), remap)


def restored(
    name: str, domain: Domain, notion: Any, parameters: Parameters, prior: Prior | None = None
) -> Mechanism:
    """Return the mechanism of saved parameters."""
    make = choose(RESTORED, name, "mechanism")
    found = make(domain, notion, {**parameters, "prior": prior})
    if found.parameters() != parameters:
        hint = "it was made by another version of the library"
        raise InputError("law", f"the parameters of {found!r}", "other integers", hint)
    return found


def _restore_inner(table: Parameters, size: int) -> Mechanism | None:
    """Return an inner mechanism on ``size`` inputs; None for the identity."""
    law = dict(table["law"])
    if (kind := law.pop("kind")) == IdentityMechanism.name:
        return None
    return restored(kind, Domain.range(size), LDP(table["epsilon"]), law)


def _restore_by_component(domain: Domain, notion: BlockLDP, parameters: Parameters) -> Mechanism:
    part_of, sizes = parameters["part_of_block"], np.bincount(notion.membership(domain)).tolist()
    tables = enumerate(parameters["parts"])
    kinds = [_restore_inner(table, sizes[part_of.index(n)]) for n, table in tables]
    return ByComponent(domain, notion, [kinds[n] for n in part_of])


def _restore_high_low(domain: Domain, notion: HighLowLDP, parameters: Parameters) -> Mechanism:
    sensitive, _ = split_by_sensitivity(domain, notion)
    return HighLow(domain, notion, _restore_inner(parameters["inner"], len(sensitive)))


def _restore_lip(domain: Domain, notion: LIP, parameters: Parameters) -> Mechanism:
    return LIPRandomizedResponse(domain, notion.epsilon, parameters["prior"])


RESTORED: dict[str, Callable[[Domain, Any, Parameters], Mechanism]] = {
    **{name: kind.restored for name, kind in LDP_MECHANISMS.items()},
    ByComponent.name: _restore_by_component,
    HighLow.name: _restore_high_low,
    LIPRandomizedResponse.name: _restore_lip,
    **{name: kind.restored for name, kind in NOISE.items()},
}
"""Constructors of mechanisms from the tables of a file, by name."""
