"""Structured mechanisms by name: which kinds there are for a notion, and how one is made again.

To add a kind, name its class in :data:`PLAIN` and its forms under the notions in :data:`FORMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from mechdesign.domain import Domain
from mechdesign.errors import InputError, did_you_mean, shown
from mechdesign.mechanisms.base import Mechanism
from mechdesign.mechanisms.composite.by_component import ByComponent, alike
from mechdesign.mechanisms.composite.high_low import HighLow, split
from mechdesign.mechanisms.composite.high_low_schemes import around, best_high_low_size
from mechdesign.mechanisms.composite.identity import InClear
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.lip_randomized_response import LIPRandomizedResponse
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from mechdesign.mechanisms.subsets.subset_selection import SubsetSelection
from mechdesign.mechanisms.subsets.unary_encoding import (
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)
from mechdesign.notions import LDP, LIP, BlockLDP, HighLowLDP, Notion
from mechdesign.prior import Prior

__all__ = ["FORMS", "MECHANISMS", "PLAIN", "mechanism_for", "restored"]

Law: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Plain:
    """A mechanism under LDP: how to make it, and which of its parameters a law tells.

    Attributes
    ----------
    make
        The class.
    options
        Parameters beyond inputs and epsilon that stand under the same names in the law.
    """

    make: Callable[..., Mechanism]
    options: tuple[str, ...] = ()

    def again(self, inputs: Domain, epsilon: Any, law: Law) -> Mechanism:
        """Make the mechanism of a law."""
        return self.make(inputs, epsilon, **{key: law[key] for key in self.options})


PLAIN: dict[str, Plain] = {
    GeneralizedRandomizedResponse.name: Plain(GeneralizedRandomizedResponse),
    HadamardResponse.name: Plain(HadamardResponse),
    OptimizedUnaryEncoding.name: Plain(OptimizedUnaryEncoding, ("digits",)),
    SymmetricUnaryEncoding.name: Plain(SymmetricUnaryEncoding, ("digits",)),
    SubsetSelection.name: Plain(SubsetSelection, ("size",)),
}
"""Mechanisms under LDP."""

JOINING = (GeneralizedRandomizedResponse.name, HadamardResponse.name, SubsetSelection.name)
"""Those that sensitive inputs can use while all others join them."""

BEST_SIZES = {SubsetSelection.name: best_high_low_size}
"""Where the best size among all inputs is another than among the sensitive ones alone."""


@dataclass(frozen=True)
class Wanted:
    """What was asked for."""

    kind: str
    domain: Domain
    notion: Any
    prior: Prior | None
    options: Mapping[str, int]

    def plain(self, inputs: Domain | int) -> Mechanism:
        """Make the mechanism on some inputs under LDP."""
        return PLAIN[self.kind].make(inputs, self.notion.epsilon, **self.options)


def _plain(wanted: Wanted) -> Mechanism:
    return wanted.plain(wanted.domain)


def _by_block(wanted: Wanted) -> Mechanism:
    return alike(wanted.domain, wanted.notion, wanted.plain)


def _high_low(wanted: Wanted) -> Mechanism:
    def make(size: int) -> Mechanism:
        if wanted.kind not in BEST_SIZES or wanted.options:
            return wanted.plain(size)
        best = BEST_SIZES[wanted.kind](len(wanted.domain), size, wanted.notion.epsilon)
        return replace(wanted, options={"size": best}).plain(size)

    return around(wanted.domain, wanted.notion, make)


def _lip(wanted: Wanted) -> Mechanism:
    if wanted.prior is None:
        raise InputError("prior", f"a prior, since {wanted.kind} needs one", "none")
    return LIPRandomizedResponse(wanted.domain, wanted.notion.epsilon, wanted.prior)


Form: TypeAlias = Callable[[Wanted], Mechanism]

FORMS: dict[type[Notion], dict[str, Form]] = {
    LDP: dict.fromkeys(PLAIN, _plain),
    BlockLDP: dict.fromkeys(PLAIN, _by_block),
    HighLowLDP: dict.fromkeys(JOINING, _high_low),
    LIP: {LIPRandomizedResponse.name: _lip},
}
"""How a mechanism is made, by notion and by the name of its kind."""

MECHANISMS: dict[str, str] = {
    **{name: f"{plain.make.__doc__}".strip().split("\n")[0] for name, plain in PLAIN.items()},
    LIPRandomizedResponse.name: f"{LIPRandomizedResponse.__doc__}".strip().split("\n")[0],
}
"""Every kind that can be asked for, with a line on what it does."""


def mechanism_for(
    kind: str,
    domain: Domain,
    notion: Notion,
    prior: Prior | None = None,
    size: int | None = None,
) -> Mechanism:
    """Return the mechanism of a kind in the form that a notion asks for.

    Parameters
    ----------
    kind
        ``"randomized-response"``, ``"hadamard-response"``, ``"optimized-unary-encoding"``,
        ``"symmetric-unary-encoding"`` or ``"subset-selection"``: as it is under LDP, inside every
        block under block-structured LDP, and (not unary encoding) for the sensitive inputs under
        high-low LDP; ``"lip-randomized-response"`` under LIP.
    domain, notion
        The inputs, and what must stay secret.
    prior
        The prior, for LIP.
    size
        How many inputs a subset has, for subset selection; default, the best.

    Raises
    ------
    InputError
        If the kind is unknown, or there is none of it for the notion.
    UnsupportedError
        If it is not private at this prior.

    Examples
    --------
    >>> mechanism_for("hadamard-response", Domain.range(6), BlockLDP(1, [[0, 1, 2], [3, 4, 5]]))
    ByComponent(6 inputs, BlockLDP(epsilon=1, blocks=[[0, 1, 2], [3, 4, 5]]), 3 bits a report)
    """
    if kind not in MECHANISMS:
        hint = did_you_mean(str(kind), MECHANISMS)
        raise InputError("kind", f"one of {', '.join(MECHANISMS)}", shown(kind), hint)
    forms = FORMS.get(type(notion))
    if forms is None:
        known = ", ".join(known.name for known in FORMS)
        raise InputError("privacy.notion", f"one of {known}, for a mechanism", shown(notion.name))
    if kind not in forms:
        expected = f"one of {', '.join(forms)} under {notion.name}"
        raise InputError("kind", expected, shown(kind))
    if size is not None and (kind not in PLAIN or "size" not in PLAIN[kind].options):
        raise InputError("size", f"none, as {kind} has no subsets", shown(size))
    options = {} if size is None else {"size": size}
    return forms[kind](Wanted(kind, domain, notion, prior, options))


def restored(name: str, domain: Domain, notion: Any, law: Law) -> Mechanism:
    """Return the mechanism of a saved law.

    Parameters
    ----------
    name
        The name of the class.
    domain, notion, law
        As saved; the law with whole numbers.

    Raises
    ------
    InputError
        If the name is unknown, or the mechanism that is made anew has another law.
    """
    known = [*PLAIN, *COMPOSITE]
    if name not in known:
        raise InputError("mechanism", f"one of {', '.join(known)}", shown(name))
    make = COMPOSITE.get(name)
    if make is None:
        found = PLAIN[name].again(domain, notion.epsilon, law)
    else:
        found = make(domain, notion, law)
    if found.parameters() != law:
        hint = "it was made by another version of the library"
        raise InputError("law", f"the law of {found!r}", "other integers", hint)
    return found


def _inner(table: Law, size: int) -> Mechanism | None:
    """Return an inner mechanism on ``size`` inputs; None for the trivial one."""
    if table["mechanism"] == InClear.name:
        return None
    return restored(table["mechanism"], Domain.range(size), LDP(table["epsilon"]), table["law"])


def _components_again(domain: Domain, notion: BlockLDP, law: Law) -> Mechanism:
    part_of = law["part_of_block"]
    members = notion.membership(domain).tolist()
    sizes = {part_of[member]: 0 for member in members}
    first = {part: part_of.index(part) for part in sizes}
    for member in members:
        sizes[part_of[member]] += member == first[part_of[member]]
    kinds = [_inner(table, sizes[n]) for n, table in enumerate(law["parts"])]
    return ByComponent(domain, notion, [kinds[n] for n in part_of])


def _high_low_again(domain: Domain, notion: HighLowLDP, law: Law) -> Mechanism:
    return HighLow(domain, notion, _inner(law["inner"], len(split(domain, notion)[0])))


def _lip_again(domain: Domain, notion: LIP, law: Law) -> Mechanism:
    return LIPRandomizedResponse(domain, notion.epsilon, Prior(law["prior"]))


COMPOSITE: dict[str, Callable[[Domain, Any, Law], Mechanism]] = {
    ByComponent.name: _components_again,
    HighLow.name: _high_low_again,
    LIPRandomizedResponse.name: _lip_again,
}
"""Mechanisms whose law takes more than a class and its options to read."""
