"""Conversion bounds between privacy notions: the papers' theorems, one function each.

Each takes a guarantee under one notion and returns an upper bound on the leakage under another, in
nats. None is tight for every prior; :mod:`~mechdesign.accounting.conversions.relations` puts the
exact value beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy.optimize

from mechdesign.accounting.composition.formulas import lip_to_ldp, through_ldp
from mechdesign.accounting.measure.max_ratio import float_above
from mechdesign.exact import exp_upper, log_upper
from mechdesign.notions import (
    LDP,
    LIP,
    PML,
    ApproximateLDP,
    ApproximateLIP,
    AsymmetricLift,
    BoundedPriorLIP,
    DifferentialIdentifiability,
    MaximalLeakage,
    MutualInformationPrivacy,
    Notion,
)
from mechdesign.outside import called, checked
from mechdesign.prior import Prior
from mechdesign.prior_sets import PriorSet

__all__ = ["BOUNDS", "Theorem", "best_bound"]

ROUNDING = 1e-12
"""The relative amount by which the least entry of a mixture is lowered for its rounding."""


Bound: TypeAlias = Fraction | float
"""A bound, not below the truth: exact, or a float that is rounded up; inf for none."""

Notions: TypeAlias = tuple[type[Notion], ...]


@dataclass(frozen=True)
class Implication:
    """What is asked of a theorem: two notions of those that it is about, and the prior."""

    notion: Any
    target: Any
    prior: Prior | None

    @property
    def epsilon(self) -> Fraction:
        """The budget of the guarantee."""
        return Fraction(self.notion.epsilon)

    @property
    def least(self) -> Fraction:
        """P_min."""
        return Fraction(0) if self.prior is None else self.prior.minimum

    @property
    def skew(self) -> Bound:
        """The largest ln(P_x / P_x')."""
        return log_upper(max(self.prior) / self.least) if self.prior and self.least else math.inf


Value: TypeAlias = Callable[[Implication], Bound]


@dataclass(frozen=True)
class Theorem:
    """A theorem: every channel that satisfies one notion has a bounded leakage under another.

    Attributes
    ----------
    source
        Where it is from.
    given, target
        The notions of the hypothesis, and of the conclusion.
    value
        Returns the bound on the epsilon of the target, in nats.
    """

    source: str
    given: Notions
    target: Notions
    value: Value

    def applies(self, notion: Notion, target: Notion) -> bool:
        """Return whether the theorem is about these two notions."""
        return isinstance(notion, self.given) and isinstance(target, self.target)


BOUNDS: list[Theorem] = []
"""The registry of theorems."""


def _theorem(source: str, given: Notions, target: Notions) -> Callable[[Value], Value]:
    """Register a function as the bound of a theorem."""

    def register(value: Value) -> Value:
        BOUNDS.append(Theorem(source, given, target, value))
        return value

    return register


@_theorem("Jiang et al. 2021 (TIFS), Theorem 1", (LDP,), (LIP, PML, AsymmetricLift))
def ldp_to_lip(case: Implication) -> Bound:
    """Bound LIP by ln(P_min + e**eps (1 - P_min)).

    The probability of an output is at least P_min times the largest entry of its column plus
    1 - P_min times the least.
    """
    return through_ldp(case.epsilon, case.least)


@_theorem("Jiang et al. 2021 (TIFS), Theorem 2", (LDP,), (BoundedPriorLIP,))
def ldp_to_bounded_priors(case: Implication) -> Bound:
    """Bound bounded-prior LIP by ln(p + e**eps (1 - p)), p the least probability in the set.

    The remark after the theorem says that this is at most the bound for one prior. The reverse is
    true: a smaller p gives a larger bound, as it should for a larger set of priors.
    """
    priors = case.target.priors
    units = np.eye(priors.size, dtype=int).tolist()
    least = min(priors.extreme_mean(unit, largest=False) for unit in units)
    return through_ldp(case.epsilon, least)


@_theorem("Jiang et al. 2021 (TIFS), Proposition 1", (LIP,), (LDP,))
def from_lip_to_ldp(case: Implication) -> Bound:
    """Bound LDP by min{2 eps, ln((e**eps - 1 + P_min) / P_min)}.

    The paper calls it looser than the exact value (9) except for a uniform prior. For three inputs
    or more it is the exact value for every prior. For two inputs, one of which has P > 1/2, the
    exact value is lower where e**eps < P / (1 - P): it is eps + ln(P / (1 - (1 - P) e**eps)).
    """
    return lip_to_ldp(case.epsilon, case.least)


@_theorem("Jiang et al. 2021 (TIFS), Theorem 2", (BoundedPriorLIP,), (LDP,))
def bounded_priors_to_ldp(case: Implication) -> Bound:
    """Bound LDP by min{2 eps, ln((e**eps - 1 + p) / p)}, p the largest P_min in the set."""
    return lip_to_ldp(case.epsilon, _largest_minimum(case.notion.priors))


@_theorem("Jiang et al. 2021 (TIFS), Theorem 3", (LIP,), (DifferentialIdentifiability,))
def lip_to_identifiability(case: Implication) -> Bound:
    """Bound differential identifiability by 2 eps + max ln(P_x / P_x')."""
    return 2 * case.epsilon + case.skew


@_theorem(
    "Jiang et al. 2021 (TIFS), Theorem 3",
    (DifferentialIdentifiability,),
    (LIP, PML, AsymmetricLift),
)
def identifiability_to_lip(case: Implication) -> Bound:
    """Bound LIP by ln(P_min + e**(eps + D) (1 - P_min)), D = max ln(P_x / P_x')."""
    return through_ldp(case.epsilon + case.skew, case.least)


@_theorem(
    "Jiang et al. 2021 (TIFS), Theorem 3; Issa, Wagner and Kamath 2020",
    (LDP, LIP, PML),
    (MutualInformationPrivacy, MaximalLeakage),
)
def to_averages(case: Implication) -> Bound:
    """Bound mutual information and maximal leakage by epsilon, which bounds every term of them."""
    return case.epsilon


@_theorem("Issa, Wagner and Kamath 2020, Lemma 1", (MaximalLeakage,), (MutualInformationPrivacy,))
def leakage_to_information(case: Implication) -> Bound:
    """Bound mutual information by maximal leakage."""
    return case.epsilon


@_theorem("Jiang et al. 2021 (TIFS), Corollary 3", (ApproximateLDP,), (ApproximateLIP,))
def approximate_ldp_to_lip(case: Implication) -> Bound:
    """Bound the epsilon of approximate LIP by that of approximate LDP, at the same delta."""
    return case.epsilon if case.target.delta >= case.notion.delta else math.inf


@_theorem(
    "Jiang et al. 2021 (TIFS), Corollary 3, with 2 e**eps delta for (e**eps + 1) delta",
    (ApproximateLIP,),
    (ApproximateLDP,),
)
def approximate_lip_to_ldp(case: Implication) -> Bound:
    """Bound the epsilon of approximate LDP by 2 eps, at a delta of 2 e**eps delta.

        Pr(S|x) <= e**eps (Pr(S) + delta) <= e**eps (e**eps Pr(S|x') + 2 delta)

    The paper states it for (e**eps + 1) delta, which is less. That would follow if delta stood on
    the other side of the first inequality of its Definition 5; as it stands it is wrong. For the
    prior (0.1, 0.1, 0.8), eps = 1 and delta = 0.05, a report of probability 0.27, 0 and 0.0287 at
    the three inputs is allowed; (e**eps + 1) delta is 0.186, and 2 e**eps delta is 0.272.
    """
    enough = 2 * exp_upper(case.epsilon) * case.notion.delta
    return 2 * case.epsilon if case.target.delta >= enough else math.inf


@_theorem("the definitions", (LDP, LIP), (PML, AsymmetricLift))
def by_definition(case: Implication) -> Bound:
    """Bound max-lift, min-lift and PML by the LDP or the LIP that includes them."""
    return case.epsilon


def best_bound(notion: Notion, target: Notion, prior: Prior | None) -> tuple[float, str] | None:
    """Return the least bound of all theorems that apply, and its source; None if none applies."""
    case = Implication(notion, target, prior)
    applied = [each for each in BOUNDS if each.applies(notion, target)]
    found = [(theorem.value(case), theorem.source) for theorem in applied]
    least, source = min(found, default=(math.inf, ""))
    if least == math.inf:
        return None
    return float_above(Fraction(least) - _least_budget(target)), source


def _least_budget(target: Notion) -> Fraction:
    """Return what is subtracted from a bound on both lifts to bound their excess over budgets.

    The leakage of lift bounds is the larger excess of the two log lifts. It is 0 without budgets.
    """
    if target.has_epsilon:
        return Fraction(0)
    budgets = (target.lower, target.upper)  # type: ignore[attr-defined]
    return min((budget for budget in budgets if budget is not None), default=Fraction(0))


def _largest_minimum(priors: PriorSet) -> float:
    """Return the largest P_min of a mixture of the set's vertices, rounded down: one small LP.

    A channel that is private for all vertices is private for all their mixtures.
    """
    vertices = np.array([[float(p) for p in vertex] for vertex in priors.vertices()])
    n, k = vertices.shape
    goal, sums = np.append(np.zeros(n), -1.0), np.append(np.ones(n), 0.0)[None, :]
    rows = np.hstack([-vertices.T, np.ones((k, 1))])
    found: Any = called("HiGHS", scipy.optimize.linprog, goal, rows, np.zeros(k), sums, [1.0])
    mixture = np.maximum(checked("HiGHS", found.x, (n + 1,))[:n], 0)
    return float((mixture / mixture.sum() @ vertices).min()) * (1 - ROUNDING)
