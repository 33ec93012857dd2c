"""Multipliers of rows as a saved file has them: no more of them, and no more digits, than needed.

Any multipliers >= 0 prove a bound. Let T be what the terms w (e**-a left - right) of the costs lose
where some multipliers are left out or rounded. A bound is a sum over inputs of least costs, of
outputs or between decoders, so that it falls by Sum_x max(0, max_y T[x, y]) at most. The fewest
multipliers and binary digits are taken for which that is little enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.kernel.generators import Block
from mechdesign.kernel.packed import PACKED_FROM, Places, Weights
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.prior_sets import Weights as Prior
from mechdesign.problem import Problem

__all__ = ["FamilyDual", "SideMultipliers", "block_of", "rounded", "shortened"]

PARALLEL = ("output", "x", "other", "weight")
"""The lists of multipliers, of one length."""

WORTH_SAVING = 1e-16
"""Multipliers below this share of the largest are left out whatever they do."""

THRESHOLDS = 2.0 ** -np.arange(4, 54)
"""Shares of the largest multiplier below which all may be left out."""

DIGITS = (8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40, 53)
"""Binary digits that multipliers may be rounded to. Up to 24 are those of a float of four bytes."""


@dataclass(frozen=True)
class FamilyDual:
    """Multipliers of the rows of the notion number ``notion`` of the problem.

    Attributes
    ----------
    notion
        Its place among the problem's notions.
    multipliers
        Numbers >= 0; ``other`` of a lift row is a place in ``priors``.
    priors
        The priors that lift rows refer to; empty for rows on ratios.
    """

    notion: int
    multipliers: tuple[Multipliers, ...]
    priors: tuple[Prior, ...] = ()


@dataclass(frozen=True)
class SideMultipliers:
    """Multipliers of the rows of one side of a notion.

    Attributes
    ----------
    notion
        Its place among the problem's notions.
    multipliers
        Numbers >= 0; ``other`` of a lift row is a place in ``priors``.
    priors
        The priors that lift rows refer to; empty for other rows.
    """

    notion: int
    multipliers: Multipliers
    priors: tuple[Prior, ...]


def shortened(
    problem: Problem, duals: Sequence[FamilyDual], n_columns: int, spare: Callable[[], float]
) -> list[SideMultipliers]:
    """Return the multipliers of rows of a problem's notions, side by side.

    Parameters
    ----------
    problem, duals
        The multipliers of rows of its notions.
    n_columns
        How many outputs, or decoders, ``output`` counts.
    spare
        Returns how much the bound may fall, in the unit of the loss; not asked about few.
    """
    parts = _by_side(duals)
    if sum(len(part.multipliers.weight) for part in parts) >= PACKED_FROM:
        room = spare()
        parts = _shortened(problem, parts, n_columns, room) if room > 0 else parts
    return [_named(part) for part in parts if len(part.multipliers.weight)]


def block_of(
    of: str, place: int, side: str, entries: Iterable[tuple[int, int, int, float]]
) -> Block:
    """Return multipliers (node, x, other, weight) as the kernel has them."""
    node, x, other, weight = Places(), Places(), Places(), Weights()
    for a, b, c, w in entries:
        node.append(a)
        x.append(b)
        other.append(c)
        weight.append(w)
    return Block(of, place, node, x, weight, other if any(other) else Places(), side)


def rounded(duals: Sequence[FamilyDual], digits: int) -> list[SideMultipliers]:
    """Return multipliers of ratios, rounded to so many binary digits."""
    parts = [part for part in _by_side(duals) if len(part.multipliers.weight)]
    return [_with(part, _rounded(part.multipliers.weight, digits)) for part in parts]


def _by_side(duals: Sequence[FamilyDual]) -> list[SideMultipliers]:
    return [
        SideMultipliers(dual.notion, _joined(dual, side), dual.priors)
        for dual in duals
        for side in dict.fromkeys(m.side for m in dual.multipliers)
    ]


def _joined(dual: FamilyDual, side: str) -> Multipliers:
    """Return the multipliers of one side together, without those that are next to nothing."""
    parts = [m for m in dual.multipliers if m.side == side]
    top = max((float(m.weight.max(initial=0.0)) for m in dual.multipliers), default=0.0)
    joined = Multipliers(
        side, *(np.concatenate([getattr(m, key) for m in parts]) for key in PARALLEL)
    )
    return _chosen(joined, joined.weight > WORTH_SAVING * top)


def _chosen(m: Multipliers, kept: BoolArray | IntArray) -> Multipliers:
    return Multipliers(m.side, m.output[kept], m.x[kept], m.other[kept], m.weight[kept])


def _with(part: SideMultipliers, weight: FloatArray) -> SideMultipliers:
    """Return the multipliers with other weights, in an order in which numbers repeat."""
    m = replace(part.multipliers, weight=weight)
    m = _chosen(m, m.weight > 0)
    return replace(part, multipliers=_chosen(m, np.lexsort((m.other, m.x, m.output))))


def _shortened(
    problem: Problem, parts: list[SideMultipliers], n_columns: int, spare: float
) -> list[SideMultipliers]:
    """Leave out and round multipliers, at a loss of up to half of what there is to spare each."""
    conic = [problem.channel_constraints[part.notion] is None for part in parts]
    in_floats = [[[float(p) for p in prior] for prior in part.priors] for part in parts]
    top = max(float(part.multipliers.weight.max(initial=0.0)) for part in parts)

    def loss(weights: Sequence[FloatArray]) -> float:
        lost = np.zeros((len(problem.domain), n_columns))
        for part, after, priors, is_conic in zip(parts, weights, in_floats, conic, strict=True):
            if is_conic:
                before = part.multipliers
                change = replace(before, weight=before.weight - after)
                family = problem.cone.families[part.notion]
                family.add_terms(lost, _chosen(change, change.weight != 0), priors)
        return float(np.maximum(lost.max(axis=1), 0.0).sum())

    def changed(change: Callable[[FloatArray], FloatArray]) -> list[FloatArray]:
        pairs = zip(parts, conic, strict=True)
        return [change(p.multipliers.weight) if c else p.multipliers.weight for p, c in pairs]

    def without(share: float) -> list[FloatArray]:
        return changed(lambda w: np.where(w > share * top, w, 0.0))

    def to_digits(digits: int) -> list[FloatArray]:
        return changed(lambda w: _rounded(w, digits))

    for attempts in ((without(s) for s in THRESHOLDS), (to_digits(d) for d in DIGITS)):
        own = [part.multipliers.weight for part in parts]
        kept = next((weights for weights in attempts if loss(weights) <= spare / 2), own)
        parts = [_with(part, weight) for part, weight in zip(parts, kept, strict=True)]
    return parts


def _rounded(weight: FloatArray, digits: int) -> FloatArray:
    """Round to so many binary digits."""
    mantissa, exponent = np.frexp(weight)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, digits)), exponent - digits))


def _named(part: SideMultipliers) -> SideMultipliers:
    """Return the multipliers with those priors only that they refer to, each of them once."""
    if not part.priors:
        return part
    used, place = np.unique(part.multipliers.other, return_inverse=True)
    places: dict[Prior, int] = {}
    number = [places.setdefault(part.priors[n], len(places)) for n in used]
    m = replace(part.multipliers, other=np.array(number, dtype=np.intp)[place])
    return SideMultipliers(part.notion, m, tuple(places))
