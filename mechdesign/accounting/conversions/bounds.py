"""Conversion bounds between privacy notions: the papers' theorems, one class each.

Each takes a guarantee under one notion and returns an upper bound on the leakage under another, in
nats. None is tight for every prior; :mod:`~mechdesign.accounting.conversions.relations` puts the
exact value beside it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

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

__all__ = ["BOUNDS", "ConversionBound", "best_bound"]

ROUNDING = 1e-12
"""The relative amount by which the least entry of a mixture is lowered for its rounding."""


Bound: TypeAlias = Fraction | float
"""A bound, not below the truth: exact, or a float that is rounded up; inf for none."""


class ConversionBound:
    """A theorem: every channel that satisfies one notion has a bounded leakage under another."""

    source: ClassVar[str]
    given: ClassVar[tuple[type[Notion], ...]]
    """The notions of the hypothesis."""

    target: ClassVar[tuple[type[Notion], ...]]
    """The notions of the conclusion."""

    def applies(self, notion: Notion, target: Notion) -> bool:
        """Return whether the theorem is about these two notions."""
        return isinstance(notion, self.given) and isinstance(target, self.target)

    def value(self, notion: Notion, target: Notion, prior: Prior | None) -> Bound:
        """Return the bound on the epsilon of the target in nats; inf where there is none.

        Unless a theorem says otherwise, it is the epsilon of the hypothesis.
        """
        return _epsilon(notion)


class LDPToLIP(ConversionBound):
    """Bound LIP by ln(P_min + e**eps (1 - P_min)).

    The probability of an output is at least P_min times the largest entry of its column plus
    1 - P_min times the least.
    """

    source = "Jiang et al. 2021 (TIFS), Theorem 1"
    given = (LDP,)
    target = (LIP, PML, AsymmetricLift)

    def value(self, notion: Notion, target: Notion, prior: Prior | None) -> Bound:
        """Return the bound."""
        return through_ldp(_epsilon(notion), _least(prior))


class LDPToBoundedPriors(ConversionBound):
    """Bound bounded-prior LIP by ln(p + e**eps (1 - p)), p the least probability in the set.

    The remark after the theorem says that this is at most the bound for one prior. The reverse is
    true: a smaller p gives a larger bound, as it should for a larger set of priors.
    """

    source = "Jiang et al. 2021 (TIFS), Theorem 2"
    given = (LDP,)
    target = (BoundedPriorLIP,)

    def value(self, notion: Notion, target: Notion, prior: Prior | None) -> Bound:
        """Return the bound."""
        priors = _priors(target)
        units = np.eye(priors.size, dtype=int).tolist()
        least = min(priors.extreme_mean(unit, largest=False) for unit in units)
        return through_ldp(_epsilon(notion), least)


class LIPToLDP(ConversionBound):
    """Bound LDP by min{2 eps, ln((e**eps - 1 + P_min) / P_min)}.

    The paper calls it looser than the exact value (9) except for a uniform prior. For three inputs
    or more it is the exact value for every prior. For two inputs, one of which has P > 1/2, the
    exact value is lower where e**eps < P / (1 - P): it is eps + ln(P / (1 - (1 - P) e**eps)).
    """

    source = "Jiang et al. 2021 (TIFS), Proposition 1"
    given = (LIP,)
    target = (LDP,)

    def value(self, notion: Notion, target: Notion, prior: Prior | None) -> Bound:
        """Return the bound."""
        return lip_to_ldp(_epsilon(notion), _least(prior))


class BoundedPriorsToLDP(ConversionBound):
    """Bound LDP by min{2 eps, ln((e**eps - 1 + p) / p)}, p the largest P_min in the set."""

    source = "Jiang et al. 2021 (TIFS), Theorem 2"
    given = (BoundedPriorLIP,)
    target = (LDP,)

    def value(self, notion: Notion, target: Notion, prior: Prior | None) -> Bound:
        """Return the bound."""
        return lip_to_ldp(_epsilon(notion), _largest_minimum(_priors(notion)))


class LIPToIdentifiability(ConversionBound):
    """Bound differential identifiability by 2 eps + max ln(P_x / P_x')."""

    source = "Jiang et al. 2021 (TIFS), Theorem 3"
    given = (LIP,)
    target = (DifferentialIdentifiability,)

    def value(self, notion: Notion, target: Notion, prior: Prior | None) -> Bound:
        """Return the bound."""
        return 2 * _epsilon(notion) + _skew(prior)


class IdentifiabilityToLIP(ConversionBound):
    """Bound LIP by ln(P_min + e**(eps + D) (1 - P_min)), D = max ln(P_x / P_x')."""

    source = "Jiang et al. 2021 (TIFS), Theorem 3"
    given = (DifferentialIdentifiability,)
    target = (LIP, PML, AsymmetricLift)

    def value(self, notion: Notion, target: Notion, prior: Prior | None) -> Bound:
        """Return the bound."""
        return through_ldp(_epsilon(notion) + _skew(prior), _least(prior))


class ToAverages(ConversionBound):
    """Bound mutual information and maximal leakage by epsilon, which bounds every term of them."""

    source = "Jiang et al. 2021 (TIFS), Theorem 3; Issa, Wagner and Kamath 2020"
    given = (LDP, LIP, PML)
    target = (MutualInformationPrivacy, MaximalLeakage)


class LeakageToInformation(ConversionBound):
    """Bound mutual information by maximal leakage."""

    source = "Issa, Wagner and Kamath 2020, Lemma 1"
    given = (MaximalLeakage,)
    target = (MutualInformationPrivacy,)


class ApproximateLDPToLIP(ConversionBound):
    """Bound the epsilon of approximate LIP by that of approximate LDP, at the same delta."""

    source = "Jiang et al. 2021 (TIFS), Corollary 3"
    given = (ApproximateLDP,)
    target = (ApproximateLIP,)

    def value(self, notion: Notion, target: Notion, prior: Prior | None) -> Bound:
        """Return the bound."""
        return _epsilon(notion) if _delta(target) >= _delta(notion) else math.inf


class ApproximateLIPToLDP(ConversionBound):
    """Bound the epsilon of approximate LDP by 2 eps, at a delta of 2 e**eps delta.

        Pr(S|x) <= e**eps (Pr(S) + delta) <= e**eps (e**eps Pr(S|x') + 2 delta)

    The paper states it for (e**eps + 1) delta, which is less. That would follow if delta stood on
    the other side of the first inequality of its Definition 5; as it stands it is wrong. For the
    prior (0.1, 0.1, 0.8), eps = 1 and delta = 0.05, a report of probability 0.27, 0 and 0.0287 at
    the three inputs is allowed; (e**eps + 1) delta is 0.186, and 2 e**eps delta is 0.272.
    """

    source = "Jiang et al. 2021 (TIFS), Corollary 3, with 2 e**eps delta for (e**eps + 1) delta"
    given = (ApproximateLIP,)
    target = (ApproximateLDP,)

    def value(self, notion: Notion, target: Notion, prior: Prior | None) -> Bound:
        """Return the bound."""
        enough = 2 * exp_upper(notion.epsilon) * _delta(notion)  # type: ignore[attr-defined]
        return 2 * _epsilon(notion) if _delta(target) >= enough else math.inf


class ByDefinition(ConversionBound):
    """Bound max-lift, min-lift and PML by the LDP or the LIP that includes them."""

    source = "the definitions"
    given = (LDP, LIP)
    target = (PML, AsymmetricLift)


BOUNDS: tuple[ConversionBound, ...] = (
    LDPToLIP(),
    LDPToBoundedPriors(),
    LIPToLDP(),
    BoundedPriorsToLDP(),
    LIPToIdentifiability(),
    IdentifiabilityToLIP(),
    ToAverages(),
    LeakageToInformation(),
    ApproximateLDPToLIP(),
    ApproximateLIPToLDP(),
    ByDefinition(),
)
"""The registry of theorems."""


def best_bound(notion: Notion, target: Notion, prior: Prior | None) -> tuple[float, str] | None:
    """Return the least bound of all theorems that apply, and its source; None if none applies."""
    applied = (bound for bound in BOUNDS if bound.applies(notion, target))
    found = [(bound.value(notion, target, prior), bound.source) for bound in applied]
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


def _epsilon(notion: Notion) -> Fraction:
    epsilon: Fraction = notion.epsilon  # type: ignore[attr-defined]
    return epsilon


def _delta(notion: Notion) -> Fraction:
    delta: Fraction = notion.delta  # type: ignore[attr-defined]
    return delta


def _priors(notion: Notion) -> PriorSet:
    priors: PriorSet = notion.priors  # type: ignore[attr-defined]
    return priors


def _least(prior: Prior | None) -> Fraction:
    return Fraction(0) if prior is None else prior.minimum


def _skew(prior: Prior | None) -> Bound:
    """Return max ln(P_x / P_x')."""
    if prior is None or not prior.minimum:
        return math.inf
    return log_upper(max(prior) / prior.minimum)


def _largest_minimum(priors: PriorSet) -> float:
    """Return the largest P_min of a mixture of the set's vertices, rounded down: one small LP.

    A channel that is private for all vertices is private for all their mixtures.
    """
    vertices = np.array([[float(p) for p in vertex] for vertex in priors.vertices()])
    n, k = vertices.shape
    found: Any = called(
        "HiGHS",
        scipy.optimize.linprog,
        np.append(np.zeros(n), -1.0),
        np.hstack([-vertices.T, np.ones((k, 1))]),
        np.zeros(k),
        np.append(np.ones(n), 0.0)[None, :],
        [1.0],
    )
    mixture = np.maximum(checked("HiGHS", found.x, (n + 1,))[:n], 0)
    return float((mixture / mixture.sum() @ vertices).min()) * (1 - ROUNDING)
