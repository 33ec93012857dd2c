"""Bounds between LIP and LDP, and on the LIP of several releases, rounded up.

With t = e**-epsilon nothing overflows, and rationals avoid cancellation for P_min near 1.

Conversion bounds between privacy notions: a table of arrows, with a formula for each.

An arrow maps a guarantee under one notion to an upper bound on the leakage under another, in nats.
None is tight for every prior; :mod:`~mechdesign.accounting.implications` also computes the
exact value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import linprog

from mechdesign.accounting.ratios import float_above
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.exact import Exact, as_fraction, exp_lower, exp_upper, log_upper
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
    MutualInformationLeakage,
    Notion,
)
from mechdesign.prior import Prior
from mechdesign.prior_sets import PriorSet
from mechdesign.solver_guard import called, checked

ZERO = Fraction(0)


def lip_composition_bound(
    budgets: Iterable[Exact], least: Exact, most: Exact | None = None
) -> float:
    """Return the bound on the LIP of n releases: Jiang et al. 2021 (TIFS), Theorem 4.

        ln(P_min + exp(Sum_k min{2 eps_k, ln((e**eps_k - 1 + P_min) / P_min)}) (1 - P_min))

    Parameters
    ----------
    budgets
        The LIP of each release, in nats.
    least
        The smallest probability P_min of the prior, or of any prior of a set.
    most
        For a set of priors, the largest P_min of one of them or of a mixture (Corollary 4);
        default ``least``.

    Examples
    --------
    >>> round(lip_composition_bound([2.0] * 10, 0.25), 6)
    32.50496
    """
    parts = [lip_to_ldp(epsilon, least if most is None else most) for epsilon in budgets]
    return through_ldp(added(parts), least)


def added(parts: Iterable[float]) -> Fraction | float:
    """Return the exact sum of floats >= 0; inf if a term is."""
    listed = list(parts)
    return math.inf if math.inf in listed else sum(map(Fraction, listed), ZERO)


def through_ldp(epsilon: Exact, least: Exact) -> float:
    """Return the LIP that epsilon-LDP implies: ln(P_min + e**eps (1 - P_min)).

    Source: Jiang et al. 2021 (TIFS), Theorem 1.

    Examples
    --------
    >>> round(through_ldp(1.0, 0.5), 6)
    0.620115
    """
    p = as_fraction(least, "least")
    if p == 1:
        return 0.0
    if epsilon == math.inf:
        return math.inf
    exponent = as_fraction(epsilon, "epsilon")
    return float_above(exponent + log_upper(1 - p * (1 - exp_upper(-exponent))))


def lip_to_ldp(epsilon: Exact, least: Exact) -> float:
    """Return the LDP that epsilon-LIP implies: min{2 eps, ln((e**eps - 1 + P_min) / P_min)}.

    Source: Jiang et al. 2021 (TIFS), Theorem 1.

    Examples
    --------
    >>> round(lip_to_ldp(2.0, 0.25), 6), lip_to_ldp(2.0, 0.01)
    (3.279264, 4.0)
    """
    if epsilon == math.inf:
        return math.inf
    return min(float_above(2 * as_fraction(epsilon, "epsilon")), posterior_ratio(epsilon, least))


def posterior_ratio(epsilon: Exact, least: Exact) -> float:
    """Return ln((e**eps - 1 + P_min) / P_min), the second bound in :func:`lip_to_ldp`."""
    p = as_fraction(least, "least")
    if p == 0 or epsilon == math.inf:
        return math.inf
    exponent = as_fraction(epsilon, "epsilon")
    return float_above(exponent + log_upper((1 - (1 - p) * exp_lower(-exponent)) / p))


ROUNDING = 1e-12
"""Relative amount by which the least entry of a mixture is lowered to cover rounding."""

Bound: TypeAlias = Fraction | float
"""An upper bound: exact, or a float that is rounded up; inf if there is none."""


class Arrow(NamedTuple):
    """A theorem: every channel that satisfies one notion has a bounded leakage under another.

    ``bound`` maps the guarantee, the target and the prior to a bound on the target's epsilon.
    """

    given: tuple[type[Notion], ...]
    target: tuple[type[Notion], ...]
    source: str
    bound: Callable[[Any, Any, Prior | None], Bound]


def _least(prior: Prior | None) -> Fraction:
    """Return P_min."""
    return Fraction(0) if prior is None else prior.minimum


def _skew(prior: Prior | None) -> Bound:
    """Return the largest ln(P_x / P_x')."""
    return log_upper(max(prior) / _least(prior)) if prior and _least(prior) else math.inf


def extreme_minima(priors: PriorSet) -> tuple[Fraction, Fraction]:
    """Return bounds on P_min over a set: on the least, and on the largest over its mixtures.

    A channel that is private for all vertices is private for all their mixtures. The best mixture
    is found by a small LP; without it, the value of one member is valid.
    """
    units = np.eye(priors.size, dtype=int).tolist()
    least = min(priors.extreme_mean(unit, largest=False) for unit in units)
    try:
        listed = priors.vertices()
    except UnsupportedError:
        return least, least
    most = max(map(min, listed))
    if len(listed) > 1:
        vertices = np.array([[float(p) for p in vertex] for vertex in listed])
        n, k = vertices.shape
        goal, sums = np.append(np.zeros(n), -1.0), np.append(np.ones(n), 0.0)[None, :]
        rows = np.hstack([-vertices.T, np.ones((k, 1))])
        try:
            found: Any = called("HiGHS", linprog, goal, rows, np.zeros(k), sums, [1.0])
            mixture = np.maximum(checked("HiGHS", found.x, (n + 1,))[:n], 0)
        except SolverError:
            return least, most
        mixed = float((mixture @ vertices).min() / max(1.0, mixture.sum())) * (1 - ROUNDING)
        most = max(most, Fraction(mixed))
    return least, most


LIFTS = (PML, AsymmetricLift)
AVERAGES = (MutualInformationLeakage, MaximalLeakage)
DI = DifferentialIdentifiability
TIFS = "Jiang et al. 2021 (TIFS), "
ISSA = "Issa, Wagner and Kamath 2020"

ARROWS = (
    # ln(P_min + e**eps (1 - P_min)): the probability of an output is at least P_min times the
    # largest entry of its column plus 1 - P_min times the least
    Arrow(
        (LDP,), (LIP, *LIFTS), f"{TIFS}Theorem 1", lambda n, _, p: through_ldp(n.epsilon, _least(p))
    ),
    # The remark after the theorem states that this is at most the bound for one prior. The reverse
    # is true: a smaller p gives a larger bound, as expected for a larger set of priors.
    Arrow(
        (LDP,),
        (BoundedPriorLIP,),
        f"{TIFS}Theorem 2",
        lambda n, t, _: through_ldp(n.epsilon, extreme_minima(t.priors)[0]),
    ),
    # min{2 eps, ln((e**eps - 1 + P_min) / P_min)}: the paper calls it looser than the exact value
    # (9) except for a uniform prior. For three or more inputs it is exact for every prior. For two
    # inputs, one of which has P > 1/2, the exact value is lower if e**eps < P / (1 - P): it is
    # eps + ln(P / (1 - (1 - P) e**eps)).
    Arrow((LIP,), (LDP,), f"{TIFS}Proposition 1", lambda n, _, p: lip_to_ldp(n.epsilon, _least(p))),
    # the same with the largest P_min in the set
    Arrow(
        (BoundedPriorLIP,),
        (LDP,),
        f"{TIFS}Theorem 2",
        lambda n, *_: lip_to_ldp(n.epsilon, extreme_minima(n.priors)[1]),
    ),
    # 2 eps + max ln(P_x / P_x')
    Arrow((LIP,), (DI,), f"{TIFS}Theorem 3", lambda n, _, p: 2 * n.epsilon + _skew(p)),
    # ln(P_min + e**(eps + D) (1 - P_min)), D = max ln(P_x / P_x')
    Arrow(
        (DI,),
        (LIP, *LIFTS),
        f"{TIFS}Theorem 3",
        lambda n, _, p: through_ldp(n.epsilon + _skew(p), _least(p)),
    ),
    # epsilon bounds every term of these averages
    Arrow((LDP, LIP, PML), AVERAGES, f"{TIFS}Theorem 3; {ISSA}", lambda n, *_: n.epsilon),
    Arrow(
        (MaximalLeakage,), (MutualInformationLeakage,), f"{ISSA}, Lemma 1", lambda n, *_: n.epsilon
    ),
    Arrow(
        (ApproximateLDP,),
        (ApproximateLIP,),
        f"{TIFS}Corollary 3",
        lambda n, t, _: n.epsilon if t.delta >= n.delta else math.inf,
    ),
    # 2 eps, at a delta of 2 e**eps delta:
    #     Pr(S|x) <= e**eps (Pr(S) + delta) <= e**eps (e**eps Pr(S|x') + 2 delta)
    # The paper states the smaller (e**eps + 1) delta. This would follow with delta on the other
    # side of the first inequality of its Definition 5, but is wrong for the inequality as stated:
    # for the prior (0.1, 0.1, 0.8), eps = 1 and delta = 0.05, a report of probability 0.27, 0 and
    # 0.0287 at the three inputs is allowed; (e**eps + 1) delta is 0.186, 2 e**eps delta is 0.272.
    Arrow(
        (ApproximateLIP,),
        (ApproximateLDP,),
        f"{TIFS}Corollary 3, with 2 e**eps delta for (e**eps + 1) delta",
        lambda n, t, _: (
            2 * n.epsilon if t.delta >= 2 * exp_upper(n.epsilon) * n.delta else math.inf
        ),
    ),
    # max-lift, min-lift and PML are included in LDP and LIP
    Arrow((LDP, LIP), LIFTS, "the definitions", lambda n, *_: n.epsilon),
)
"""All theorems."""


def best_bound(notion: Notion, target: Notion, prior: Prior | None) -> tuple[float, str] | None:
    """Return the least bound of the theorems that apply, with its source; None if none applies."""
    bounds = [
        (arrow.bound(notion, target, prior), arrow.source)
        for arrow in ARROWS
        if isinstance(notion, arrow.given) and isinstance(target, arrow.target)
    ]
    least, source = min(bounds, default=(math.inf, ""))
    if least == math.inf:
        return None
    return float_above(Fraction(least) - _least_budget(target)), source


def _least_budget(target: Notion) -> Fraction:
    """Return the least budget, to turn a bound on both log lifts into one on their excess.

    The leakage of lift bounds is the larger excess of the two log lifts over their budgets.
    """
    if target.has_epsilon:
        return Fraction(0)
    budgets = (target.lower, target.upper)  # type: ignore[attr-defined]
    return min((budget for budget in budgets if budget is not None), default=Fraction(0))
