"""Multipliers of rows as a saved file has them: no more of them, and no more digits, than needed.

Any multipliers >= 0 prove a bound. Let T be what the terms w (e**-a left - right) of the costs lose
where some multipliers are left out or rounded. A bound is a sum over inputs of least costs, of
outputs or between decoders, so that it falls by Sum_x max(0, max_y T[x, y]) at most. The fewest
multipliers and binary digits are taken for which that is little enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.kernel.generators import Block
from mechdesign.kernel.packed import PACKED_FROM, Places, Weights
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.prior_sets import Weights as Prior
from mechdesign.problem import Problem

WORTH_SAVING = 1e-16
"""Multipliers below this share of the largest are left out whatever they do."""

THRESHOLDS = 2.0 ** -np.arange(4, 54)
"""Shares of the largest multiplier below which all may be left out."""

DIGITS = (8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40, 53)
"""Binary digits that multipliers may be rounded to. Up to 24 are those of a float of four bytes."""


def shortened(
    problem: Problem, duals: Sequence[Multipliers], n_columns: int, spare: Callable[[], float]
) -> list[Multipliers]:
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
    if sum(len(part.weight) for part in parts) >= PACKED_FROM:
        room = spare()
        parts = _shortened(problem, parts, n_columns, room) if room > 0 else parts
    return [part.with_used_priors() for part in parts if len(part.weight)]


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


def rounded(duals: Sequence[Multipliers], digits: int) -> list[Multipliers]:
    """Return multipliers of ratios, rounded to so many binary digits."""
    parts = [part for part in _by_side(duals) if len(part.weight)]
    return [_with(part, _rounded(part.weight, digits)) for part in parts]


def _by_side(duals: Sequence[Multipliers]) -> list[Multipliers]:
    """Join those of each side of a notion, without those that are next to nothing."""
    sides, top = dict[tuple[int, str], list[Multipliers]](), dict[int, float]()
    for m in duals:
        sides.setdefault((m.notion, m.side), []).append(m)
        top[m.notion] = max(top.get(m.notion, 0.0), float(m.weight.max(initial=0.0)))
    joined = map(_joined, sides.values())
    return [m.chosen(m.weight > WORTH_SAVING * top[m.notion]) for m in joined]


def _joined(parts: Sequence[Multipliers]) -> Multipliers:
    """Return multipliers of one side, which refer to each prior once."""
    numbers, numbering = dict[Prior, int](), dict[int, IntArray]()
    others = []
    for m in parts:
        if m.priors and id(m.priors) not in numbering:
            listed = [numbers.setdefault(prior, len(numbers)) for prior in m.priors]
            numbering[id(m.priors)] = np.array(listed, dtype=np.intp)
        others.append(numbering[id(m.priors)][m.other] if m.priors else m.other)
    output, x, weight = (
        np.concatenate([getattr(m, key) for m in parts]) for key in ("output", "x", "weight")
    )
    first, other = parts[0], np.concatenate(others)
    return Multipliers(first.side, output, x, other, weight, tuple(numbers), first.notion)


def _with(part: Multipliers, weight: FloatArray) -> Multipliers:
    """Return the multipliers with other weights, in an order in which numbers repeat."""
    m = replace(part, weight=weight).chosen(weight > 0)
    return m.chosen(np.lexsort((m.other, m.x, m.output)))


def _shortened(
    problem: Problem, parts: list[Multipliers], n_columns: int, spare: float
) -> list[Multipliers]:
    """Leave out and round multipliers, at a loss of up to half of what there is to spare each."""
    conic = [problem.channel_constraints[part.notion] is None for part in parts]
    in_floats: list[Any] = [tuple(tuple(map(float, p)) for p in part.priors) for part in parts]
    top = max(float(part.weight.max(initial=0.0)) for part in parts)

    def loss(weights: Sequence[FloatArray]) -> float:
        lost = np.zeros((len(problem.domain), n_columns))
        for part, after, priors, is_conic in zip(parts, weights, in_floats, conic, strict=True):
            if is_conic:
                change = replace(part, weight=part.weight - after, priors=priors)
                family = problem.cone.families[part.notion]
                family.add_terms(lost, change.chosen(change.weight != 0))
        return float(np.maximum(lost.max(axis=1), 0.0).sum())

    def changed(change: Callable[[FloatArray], FloatArray]) -> list[FloatArray]:
        pairs = zip(parts, conic, strict=True)
        return [change(p.weight) if c else p.weight for p, c in pairs]

    def without(share: float) -> list[FloatArray]:
        return changed(lambda w: np.where(w > share * top, w, 0.0))

    def to_digits(digits: int) -> list[FloatArray]:
        return changed(lambda w: _rounded(w, digits))

    for attempts in ((without(s) for s in THRESHOLDS), (to_digits(d) for d in DIGITS)):
        own = [part.weight for part in parts]
        kept = next((weights for weights in attempts if loss(weights) <= spare / 2), own)
        parts = [_with(part, weight) for part, weight in zip(parts, kept, strict=True)]
    return parts


def _rounded(weight: FloatArray, digits: int) -> FloatArray:
    """Round to so many binary digits."""
    mantissa, exponent = np.frexp(weight)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, digits)), exponent - digits))
