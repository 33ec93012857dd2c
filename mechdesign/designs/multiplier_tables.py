"""Multipliers of rows as a saved file has them: no more of them, and no more digits, than needed.

Any multipliers >= 0 prove a bound. Let T be what the terms w (e**-a left - right) of the costs lose
where some multipliers are left out or rounded. A bound is a sum over inputs of least costs, of
outputs or between decoders, so that it falls by Sum_x max(0, max_y T[x, y]) at most. The fewest
multipliers and binary digits are taken for which that is little enough.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.certify.proof import PARALLEL
from mechdesign.exact import fraction_text
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.routes.base import FamilyDual

__all__ = ["PACKED_FROM", "multiplier_tables", "rounded_tables"]

PACKED_FROM = 500
"""Multipliers on the rows of one side from which on they are packed; fewer are lists of numbers."""

WORTH_SAVING = 1e-16
"""Multipliers below this share of the largest are left out whatever they do."""

THRESHOLDS = 2.0 ** -np.arange(4, 54)
"""Shares of the largest multiplier below which all may be left out."""

DIGITS = (8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40, 53)
"""Binary digits that multipliers may be rounded to. Up to 24 are those of a float of four bytes."""


def multiplier_tables(
    problem: Problem, duals: Sequence[FamilyDual], n_columns: int, spare: Callable[[], float]
) -> list[dict[str, Any]]:
    """Return the blocks of multipliers of a certificate.

    Parameters
    ----------
    problem, duals
        The multipliers of rows of its notions.
    n_columns
        How many outputs, or decoders, ``output`` counts.
    spare
        Returns how much the bound may fall, in the unit of the loss; not asked about few.
    """
    blocks = [
        (dual, _joined(dual, side))
        for dual in duals
        for side in dict.fromkeys(m.side for m in dual.multipliers)
    ]
    if sum(len(m.weight) for _, m in blocks) >= PACKED_FROM:
        blocks = _shortened(problem, blocks, n_columns, spare())
    own = (problem.prior.probabilities,)
    return [
        _table(dual, m, ()) if dual.priors == own else _table(dual, *_named(m, dual.priors))
        for dual, m in blocks
        if len(m.weight)  # a notion on the whole channel has no rows on columns
    ]


def rounded_tables(duals: Sequence[FamilyDual], digits: int) -> list[dict[str, Any]]:
    """Return the blocks of multipliers of ratios, rounded to so many binary digits."""
    blocks = [(dual, _joined(dual, "ratio")) for dual in duals if dual.multipliers]
    return [
        _table(dual, _sorted(replace(m, weight=_rounded(m.weight, digits))), ())
        for dual, m in blocks
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


Blocks = list[tuple[FamilyDual, Multipliers]]


def _shortened(problem: Problem, blocks: Blocks, n_columns: int, spare: float) -> Blocks:
    """Leave out and round multipliers, at a loss of up to half of what there is to spare each."""
    conic = [problem.channel_constraints[dual.notion] is None for dual, _ in blocks]
    in_floats = [[[float(p) for p in prior] for prior in dual.priors] for dual, _ in blocks]
    top = max(float(m.weight.max(initial=0.0)) for _, m in blocks)

    def loss(changed: Sequence[Multipliers]) -> float:
        lost = np.zeros((len(problem.domain), n_columns))
        parts = zip(blocks, changed, in_floats, conic, strict=True)
        for (dual, before), after, priors, is_conic in parts:
            if is_conic:
                change = replace(before, weight=before.weight - after.weight)
                family = problem.cone.families[dual.notion]
                family.add_terms(lost, _chosen(change, change.weight != 0), priors)
        return float(np.maximum(lost.max(axis=1), 0.0).sum())

    def without(share: float) -> list[Multipliers]:
        return [
            replace(m, weight=np.where(m.weight > share * top, m.weight, 0.0)) if c else m
            for (_, m), c in zip(blocks, conic, strict=True)
        ]

    def rounded(digits: int) -> list[Multipliers]:
        return [
            replace(m, weight=_rounded(m.weight, digits)) if c else m
            for (_, m), c in zip(blocks, conic, strict=True)
        ]

    for attempts in ((without(s) for s in THRESHOLDS), (rounded(d) for d in DIGITS)):
        found = _first(attempts, lambda changed: loss(changed) <= spare / 2)
        blocks = [
            (dual, _sorted(_chosen(m, m.weight > 0)))
            for (dual, _), m in zip(blocks, found or [m for _, m in blocks], strict=True)
        ]
    return blocks


def _first(
    attempts: Iterator[list[Multipliers]], suits: Callable[[list[Multipliers]], bool]
) -> list[Multipliers] | None:
    return next((attempt for attempt in attempts if suits(attempt)), None)


def _rounded(weight: FloatArray, digits: int) -> FloatArray:
    """Round to so many binary digits."""
    mantissa, exponent = np.frexp(weight)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, digits)), exponent - digits))


def _sorted(m: Multipliers) -> Multipliers:
    """Return the multipliers in an order in which numbers repeat."""
    return _chosen(m, np.lexsort((m.other, m.x, m.output)))


def _named(m: Multipliers, priors: Sequence[Weights]) -> tuple[Multipliers, Sequence[Weights]]:
    """Return the multipliers with those priors only that they refer to, each of them once.

    Without multipliers one prior is left: a block that names none is about that of the problem,
    which need not be in the set.
    """
    if not priors or not len(m.weight):
        return m, priors[:1]
    used, place = np.unique(m.other, return_inverse=True)
    places: dict[Weights, int] = {}
    number = [places.setdefault(priors[n], len(places)) for n in used]
    return replace(m, other=np.array(number, dtype=np.intp)[place]), tuple(places)


def _table(dual: FamilyDual, m: Multipliers, priors: Sequence[Weights]) -> dict[str, Any]:
    """Return one block; without priors, those on lifts are about the prior of the problem."""
    lists: dict[str, FloatArray | IntArray] = {
        "output": m.output,
        "x": m.x,
        "other": m.other,
        "weight": m.weight,
    }
    long = len(m.weight) >= PACKED_FROM
    table: dict[str, Any] = {"notion": dual.notion, "side": m.side}
    table |= {key: _packed(v) if long else v.tolist() for key, v in lists.items()}
    if priors:
        table["priors"] = [[fraction_text(p) for p in prior] for prior in priors]
    return table


def _packed(numbers: FloatArray | IntArray) -> str:
    """Return numbers as packed text, of the shortest type that holds them exactly."""
    if numbers.dtype.kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            short = numbers.astype("<f4")
        kind = "f4" if (short == numbers).all() else "f8"
    else:
        most = int(numbers.max(initial=0))
        kind = next(f"u{size}" for size in (1, 2, 4) if most < 256**size)
    content = zlib.compress(numbers.astype(f"<{kind}").tobytes())
    return f"{kind}:{len(numbers)}:{base64.b64encode(content).decode()}"
