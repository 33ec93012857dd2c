"""Whether a cone of columns has as many facets as inputs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.closed_forms.universal.facets import (
    Decision,
    Facet,
    LowerBound,
    UndecidedError,
    forest_matrix,
)
from mechdesign.closed_forms.universal.lifts import (
    by_class,
    decide_lift,
    lift_facet,
    one_lift,
    sole_prior,
    two_lengths,
)
from mechdesign.closed_forms.universal.mixed import MOST_EXACT, decide_mixed
from mechdesign.closed_forms.universal.pairs import Lengths, PairSource, find_forest
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions import Cone
from mechdesign.notions.rows.cone import Bound, Family
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.prior_sets import Weights

__all__ = ["decide_cone"]

Numbered = tuple[int, LiftRows]

MARGIN = 1e-9
"""A row whose sides differ by less, relative to the larger, may be broken in spite of floats."""


def decide_cone(cone: Cone) -> Decision:
    """Decide whether a cone is simplicial, and find its universal channel.

    Inputs whose rows of Q must be equal count as one. Rows on ratios alone, and bounds on the lift
    for one prior, are decided exactly for any number of inputs, and so are both where one of them
    implies the other; mixtures and sets of priors where facets are too many, or are at most 16.
    """
    pairs, lifts = list[tuple[int, PairRows]](), list[Numbered]()
    for n, family in enumerate(cone.families):
        if isinstance(family, PairRows):
            pairs.append((n, family))
        elif isinstance(family, LiftRows):
            lifts += [(n, family)] if family.binds() else []
        else:
            return Decision(None, "not decided for rows of this kind")
    classes, ties = _ties(cone, pairs, lifts)
    try:
        found = _decide(pairs, lifts, classes)
    except (SolverError, UndecidedError, UnsupportedError) as error:
        return Decision(None, f"not decided: {error}")
    if found.matrix is None:
        return found
    return Decision(True, found.reason, found.facets + ties, found.matrix[classes])


def _decide(
    pairs: Sequence[tuple[int, PairRows]], lifts: Sequence[Numbered], classes: IntArray
) -> Decision:
    """Decide for classes of inputs that no row ties."""
    sources = [_pair_source(n, family) for n, family in pairs]
    free = list[Numbered]()
    for n, family in lifts:
        prior = sole_prior(family.priors)
        shares = () if prior is None else by_class(prior, classes)
        if prior is None or 1 not in shares:
            free.append((n, family))
        else:
            sources.append(_law_of_one(n, family, prior, classes, shares.index(Fraction(1))))
    lengths = Lengths(sources, classes)
    first = [int(members[0]) for members in lengths.members]
    if lengths.n == 1:
        return Decision(
            True, "all rows of the channel are equal", (Facet.positive(0),), np.ones((1, 1))
        )
    if lengths.n == 2:
        bounds = two_lengths(lengths, free, classes)
        return _forest(bounds, first, "a cone in two dimensions has two facets")
    if not free:
        edges = find_forest(lengths)
        if isinstance(edges, str):
            return Decision(False, edges)
        reason = "each entry of a column is bounded from below by at most one other"
        reason = reason if any(edges) else "no bound is ever met"
        return _forest(edges, first, reason)
    lift = one_lift(free)
    if lift is not None and not any(
        np.isfinite(lengths.into(c)).any() for c in range(lengths.n if sources else 0)
    ):
        return decide_lift(lift, classes, first)
    if lengths.n > MOST_EXACT and pairs:
        alone = _decide(pairs, (), classes)
        if alone.matrix is not None and _surely_hold(lifts, alone.matrix[classes]):
            return alone
        alone = _decide((), lifts, classes)
        if alone.matrix is not None and _surely_hold(pairs, alone.matrix[classes]):
            return alone
    return decide_mixed(lengths, free)


def _surely_hold(families: Sequence[tuple[int, Family]], columns: FloatArray) -> bool:
    """Return whether floats show that columns satisfy all rows, none of them with equality."""
    for _, family in families:
        if isinstance(family, LiftRows) and sole_prior(family.priors) is None:
            return False
        rows = family.matrix()
        left, right = rows.maximum(0), (-rows).maximum(0)
        if any((left @ q > (1 - MARGIN) * (right @ q)).any() for q in columns.T):
            return False
    return True


def _forest(bounds: Sequence[LowerBound | None], first: Sequence[int], reason: str) -> Decision:
    """Return the channel where each entry is bounded from below by at most one other."""
    pairs = zip(first, bounds, strict=True)
    facets = tuple(Facet.positive(x) if b is None else b.facet for x, b in pairs)
    return Decision(True, reason, facets, forest_matrix(bounds))


def _pair_source(n: int, family: PairRows) -> PairSource:
    def facet(x: int, z: int) -> Facet:
        return Facet(f"{family.name} ratio x={x} to {z}", n, "ratio", x, z)

    return PairSource(family, facet)


def _law_of_one(
    n: int, family: LiftRows, prior: Weights, classes: IntArray, alone: int
) -> PairSource:
    """Return bounds on the lift as rows on ratios, where one class has all the probability.

    Its entry is the law: q_x <= e**u q_z, and q_z <= e**l q_x.
    """
    z, sides = int(np.flatnonzero(classes == alone)[0]), dict(family.sides())
    index = np.full((len(classes), len(classes)), FREE, dtype=np.intp)
    bounds: list[Bound] = []
    for side, bound in sides.items():
        where = (slice(None), z) if side == "upper" else (z, slice(None))
        index[where] = len(bounds)
        bounds.append(bound)
    index[classes == alone, z] = index[z, classes == alone] = FREE

    def facet(x: int, other: int) -> Facet:
        side, about = ("upper", x) if other == z else ("lower", other)
        return lift_facet(n, family, side, about, prior)

    return PairSource(PairRows(family.name, bounds, index, family.epsilon), facet)


def _ties(
    cone: Cone, pairs: Sequence[tuple[int, PairRows]], lifts: Sequence[Numbered]
) -> tuple[IntArray, tuple[Facet, ...]]:
    """Return the classes of inputs that bounds of exactly 1 tie, and rows that say so.

    A tree of rows q_x <= q_z spans each class: its slacks add up to 0 over the outputs. For lifts,
    the rows of all inputs but one of positive probability: q_x = P . q makes that one equal too.
    """
    for n, lift in lifts:
        for side, bound in lift.sides():
            if bound.exponent(lift.epsilon) == 0:
                prior = lift.priors.extreme(range(cone.size), largest=True)
                spared = next(x for x, p in enumerate(prior) if p)
                others = [x for x in range(cone.size) if x != spared]
                rows = tuple(lift_facet(n, lift, side, x, prior) for x in others)
                return np.zeros(cone.size, dtype=np.intp), rows
    tied = [
        (n, family, np.isin(family.index, ones))
        for n, family in pairs
        if (ones := family.bounds_of_one())
    ]
    if not tied:
        return np.arange(cone.size), ()
    found, seen = list[Facet](), np.zeros(cone.size, dtype=bool)
    classes = np.arange(cone.size)
    for start in range(cone.size):
        if seen[start]:
            continue
        todo = [start]
        seen[start] = True
        while todo:
            x = todo.pop()
            classes[x] = start
            for n, family, ones_of in tied:
                for z in np.flatnonzero((ones_of[x] | ones_of[:, x]) & ~seen).tolist():
                    seen[z] = True
                    todo.append(z)
                    pair = (x, z) if ones_of[x, z] else (z, x)
                    found.append(_pair_source(n, family).facet(*pair))
    _, numbers = np.unique(classes, return_inverse=True)
    return numbers.astype(np.intp), tuple(found)
