"""Bounds on the lift for one prior, and where they are as few as the inputs.

With lifts r = q / (P . q), the columns are the polytope l <= r_x <= u, P . r = 1. Its upper bound
on r_x is a facet exactly if the other lifts can leave r_x = u without all being at l:

    P_x u + (1 - P_x) l < 1,       and the lower one if       P_x l + (1 - P_x) u > 1.

A simplex of more than one dimension has no two parallel facets, and as P > 0 its facets face one
way: all lower, where l is so low or u so high that no upper bound is met, or all upper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.closed_forms.universal.facets import Decision, Facet, LowerBound, UndecidedError
from mechdesign.closed_forms.universal.pairs import Lengths
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior_sets import PriorBall, PriorBox, PriorList, PriorSet, Weights

__all__ = ["Lift", "by_class", "decide_lift", "lift_facet", "one_lift", "sole_prior", "two_lengths"]

MOST = Fraction(4096)
"""Exponents beyond it say the same: e**4096 P_x > 1 for every P_x > 0 that may be given."""


LiftBound: TypeAlias = tuple[Fraction, int, LiftRows]
"""The exponent of a bound, the place of its notion, and its family."""


@dataclass(frozen=True)
class Lift:
    """The tightest bounds on the lift for one prior, each with its row.

    Attributes
    ----------
    prior
        Of the inputs.
    upper, lower
        None for none.
    """

    prior: Weights
    upper: LiftBound | None
    lower: LiftBound | None

    def facet(self, side: str, x: int) -> Facet:
        """Return the row of a side that is about the input x."""
        bound = self.upper if side == "upper" else self.lower
        if bound is None:
            return Facet.positive(x)
        return lift_facet(bound[1], bound[2], side, x, self.prior)


def lift_facet(notion: int, family: LiftRows, side: str, x: int, prior: Weights) -> Facet:
    """Return the row of a family that is about the input x and a prior."""
    return Facet(f"{family.name} {side} x={x}", notion, side, x, None, prior)


def sole_prior(priors: PriorSet) -> Weights | None:
    """Return the only member of a set of priors, None if there are more."""
    if isinstance(priors, PriorList) and len(set(priors.members)) == 1:
        return priors.members[0]
    if isinstance(priors, PriorBall) and priors.radius == 0:
        return priors.center
    if isinstance(priors, PriorBox):
        for end in (priors.lower, priors.upper):
            if sum(end) == 1:
                return tuple(end)
    return None


def one_lift(families: Sequence[tuple[int, LiftRows]]) -> Lift | None:
    """Return the bounds of several families together, None if they speak of several priors."""
    found: set[Weights] = set()
    best: dict[str, LiftBound] = {}
    for n, family in families:
        prior = sole_prior(family.priors)
        if prior is None:
            return None
        found.add(prior)
        for side, bound in family.sides():
            exponent = bound.exponent(family.epsilon)
            if side not in best or exponent < best[side][0]:
                best[side] = (exponent, n, family)
    if len(found) != 1:
        return None
    return Lift(found.pop(), best.get("upper"), best.get("lower"))


def by_class(prior: Weights, classes: IntArray) -> Weights:
    """Return the probability of each class of inputs."""
    total = [Fraction(0)] * (int(classes.max()) + 1)
    for c, p in zip(classes.tolist(), prior, strict=True):
        total[c] += p
    return tuple(total)


def decide_lift(lift: Lift, classes: IntArray, first: Sequence[int]) -> Decision:
    """Count the facets of the bounds on one lift, for at least three classes of inputs.

    Parameters
    ----------
    lift
        With a prior that is positive on two classes or more.
    classes
        The class of each input.
    first
        One input of each class.

    Raises
    ------
    UndecidedError
        If a facet is too near to call.
    """
    P = by_class(lift.prior, classes)
    facets = []
    for c, p in enumerate(P):
        meets_upper = lift.upper is not None and _below_one(p, lift.upper, lift.lower)
        if lift.upper is None or _above_one(p, lift.upper, lift.lower):
            if meets_upper:
                return Decision(False, f"the lift of input {first[c]} can meet both its bounds")
            facets.append(lift.facet("lower", first[c]))
        elif meets_upper:
            facets.append(lift.facet("upper", first[c]))
    n = len(P)
    law, identity = np.tile([float(p) for p in P], (n, 1)), np.eye(n)
    matrix: FloatArray
    if facets[0].side == "upper" and lift.upper is not None:
        matrix = math.exp(lift.upper[0]) * law - math.expm1(lift.upper[0]) * identity
        reason = f"lifts meet only their upper bounds, all {n} of them"
    elif lift.lower is not None:
        matrix = math.exp(-lift.lower[0]) * law - math.expm1(-lift.lower[0]) * identity
        reason = f"lifts meet only their lower bounds, all {n} of them"
    else:
        matrix, reason = identity, "no bound on lifts is ever met"
    return Decision(True, reason, tuple(facets), np.maximum(matrix, 0.0))


def _below_one(p: Fraction, upper: LiftBound, lower: LiftBound | None) -> bool:
    """Return whether p u + (1 - p) l < 1."""
    least, most = _between(p, upper, lower)
    if least < 1 <= most:
        raise UndecidedError("an upper bound on a lift is too near to call")
    return most < 1


def _above_one(p: Fraction, upper: LiftBound, lower: LiftBound | None) -> bool:
    """Return whether p l + (1 - p) u > 1."""
    least, most = _between(1 - p, upper, lower)
    if least <= 1 < most:
        raise UndecidedError("a lower bound on a lift is too near to call")
    return least > 1


def _between(p: Fraction, upper: LiftBound, lower: LiftBound | None) -> tuple[Fraction, Fraction]:
    """Return bounds on p u + (1 - p) l."""
    low, high = (
        p * exp(min(upper[0], MOST)) + (0 if lower is None else (1 - p) * exp(-min(lower[0], MOST)))
        for exp in (exp_lower, exp_upper)
    )
    return low, high


def two_lengths(
    lengths: Lengths, families: Sequence[tuple[int, LiftRows]], classes: IntArray
) -> list[LowerBound | None]:
    """Return the tightest bound on q_1 / q_0 and that on q_0 / q_1, where there are two classes.

    Between two classes every row is such a bound. An upper one on the lift of x says, with z the
    other, q_x (1 - u P_x) <= u P_z q_z, and a lower one on that of z says P_x q_x <= (e**l - P_z)
    q_z: tightest where P_x is least, or largest, so that the ends of a set of priors suffice.
    """
    found: list[LowerBound | None] = []
    for z, x in ((0, 1), (1, 0)):
        candidates: list[LowerBound] = []
        if np.isfinite(lengths.into(z)[x]):
            candidates.append(lengths.edge(x, z))
        of_x, of_z = (int(lengths.members[c][0]) for c in (x, z))
        indicator = [int(c == x) for c in classes.tolist()]
        for n, family in families:
            for largest in (False, True):
                prior = family.priors.extreme(indicator, largest=largest)
                p = by_class(prior, classes)[x]
                for side, bound in family.sides():
                    exponent = float(min(bound.exponent(family.epsilon), Fraction(700)))
                    grown = math.expm1(exponent)
                    if side == "upper" and float(1 - p) > grown * float(p):
                        room = float(1 - p) - grown * float(p)
                        facet = lift_facet(n, family, side, of_x, prior)
                        candidates.append(LowerBound(x, math.log1p(grown / room), facet))
                    if side == "lower" and float(p):
                        facet = lift_facet(n, family, side, of_z, prior)
                        candidates.append(LowerBound(x, math.log1p(grown / float(p)), facet))
        found.append(min(candidates, key=lambda bound: bound.length, default=None))
    return found
