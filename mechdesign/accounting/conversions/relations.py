"""Relations between notions: what a guarantee under one is worth under every other.

Beside the papers' bounds stands the exact value: the largest leakage of any channel that satisfies
the first notion, by optimisation over its polytope, and a channel that attains it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.accounting.conversions.bounds import best_bound
from mechdesign.accounting.conversions.extremal_columns import ExtremalColumns
from mechdesign.accounting.conversions.relation_table import Implied, Relations
from mechdesign.channel import Channel
from mechdesign.designs.facade import design
from mechdesign.domain import Domain
from mechdesign.errors import InputError, UnsupportedError, did_you_mean, shown
from mechdesign.notions import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    DifferentialIdentifiability,
    MaximalLeakage,
    MutualInformationPrivacy,
    Notion,
)
from mechdesign.notions.non_conic.base import NonConicNotion
from mechdesign.prior import Prior, prior_on
from mechdesign.problem import Problem
from mechdesign.utilities import Distortion, MutualInformation

__all__ = ["TARGETS", "implied", "relations"]

ANY = 600
"""An epsilon that is feasible for every prior; a target's own epsilon says nothing."""

TARGETS: dict[str, Notion] = {
    "ldp": LDP(ANY),
    "lip": LIP(ANY),
    "max-lift": AsymmetricLift("inf", 0),
    "min-lift": AsymmetricLift(0, "inf"),
    "pml": PML(ANY),
    "differential-identifiability": DifferentialIdentifiability(ANY),
    "mutual-information": MutualInformationPrivacy(ANY),
    "maximal-leakage": MaximalLeakage(ANY),
}
"""What guarantees are translated to, by name."""

MOST_PROGRAMS = 1024
"""Linear programmes for one exact value, at most."""

NEAR = 1e-10
"""A leakage that is larger by less is not larger."""

LEAST_SHARE = Fraction(1, 2**40)

ZERO, ONE = Fraction(0), Fraction(1)


def implied(
    notion: Notion,
    target: str | Notion,
    prior: Prior | None = None,
    *,
    domain: Domain | None = None,
) -> Implied:
    """Return what a guarantee is worth under another notion, exactly and by the papers' bounds.

    Parameters
    ----------
    notion
        What holds, with its epsilon.
    target
        A word of :data:`TARGETS`; or a notion, of which the epsilon does not matter.
    prior
        The distribution of X, where either notion needs it.
    domain
        The inputs; default the labels of the prior, or ``0..len(prior)-1``.

    Raises
    ------
    InputError
        If neither prior nor domain is given, or they do not fit.
    InfeasibleError
        If no channel satisfies the notion.
    UnsupportedError
        If there are too many inputs.
    SolverError
        If ratios are beyond e**18 or so, which floats do not tell from infinite ones.

    Notes
    -----
    The exact value is problem (9) of Jiang et al. 2021 (TIFS), for any two notions that are cones
    of columns: the largest ratio of two linear forms over the rays of the first cone. Averages are
    maximised by :func:`mechdesign.design`, and then the exact value is its proved bound.

    Examples
    --------
    >>> found = implied(LIP(1), "ldp", Prior([0.1, 0.2, 0.7]))
    >>> found
    LIP(epsilon=1) implies ldp: exactly 2.000000 nats, bound 2.000000 (Jiang et al. ...)
    >>> found.channel.shape, LIP(1).holds(found.channel, Prior([0.1, 0.2, 0.7]))
    ((3, 2), True)
    """
    if domain is None:
        if prior is None:
            raise InputError("prior", "a prior, or the inputs as domain=", "neither")
        domain = Domain(prior.labels or range(len(prior)))
    prior = None if prior is None else prior_on(prior, domain)
    notion = notion.aligned(domain)
    name, wanted = _target(target)
    bound, source = best_bound(notion, wanted, prior) or (None, "")
    if not notion.is_conic:
        tight, channel = _of_rule(notion, wanted, domain, prior)
    elif isinstance(wanted, NonConicNotion):
        tight, channel = _average(notion, wanted, domain, prior)
    else:
        tight, channel = _worst(notion, wanted, domain, prior)
    attained = None
    if channel is not None:
        attained = wanted.leakage(channel, prior)
    return Implied(notion, name, tight, channel, attained, bound, source)


def relations(
    notion: Notion, prior: Prior | None = None, *, domain: Domain | None = None
) -> Relations:
    """Return what a guarantee is worth under every notion of :data:`TARGETS` that applies.

    Parameters
    ----------
    notion, prior, domain
        As for :func:`implied`. Without a prior, notions that need one are left out.

    Examples
    --------
    >>> relations(LIP(1), Prior([0.1, 0.2, 0.7]))
    LIP(epsilon=1) implies, in nats
      notion                         exactly     bound
      ldp                           2.000000  2.000000  Jiang et al. 2021 (TIFS), Proposition 1
      lip                           1.000000         -
      max-lift                      1.000000  1.000000  the definitions
      min-lift                      1.000000  1.000000  the definitions
      pml                           1.000000  1.000000  the definitions
      differential-identifiability  3.185642  3.945910  Jiang et al. 2021 (TIFS), Theorem 3
      mutual-information            0.197737  1.000000  Jiang et al. 2021 (TIFS), Theorem 3; ...
      maximal-leakage               0.717560  1.000000  Jiang et al. 2021 (TIFS), Theorem 3; ...
    """
    rows = [
        implied(notion, name, prior, domain=domain)
        for name, target in TARGETS.items()
        if prior is not None or not target.needs_prior
    ]
    return Relations(notion, tuple(rows))


def _target(target: str | Notion) -> tuple[str, Notion]:
    if isinstance(target, Notion):
        return target.name, target
    if target not in TARGETS:
        expected = f"a notion, or one of: {', '.join(TARGETS)}"
        raise InputError("target", expected, shown(target), did_you_mean(str(target), TARGETS))
    return target, TARGETS[target]


def _worst(
    notion: Notion, target: Notion, domain: Domain, prior: Prior | None
) -> tuple[float, Channel]:
    """Maximise each ratio that the target bounds over the rays of the notion."""
    rays = ExtremalColumns.of(notion.cone(domain, prior))
    family = target.family(domain, prior)
    rows = list(zip(family.at(ZERO).rows(), family.at(ONE).rows(), strict=True))
    if len(rows) > MOST_PROGRAMS:
        expected = f"at most {MOST_PROGRAMS} ratios that {target.name} bounds"
        raise UnsupportedError("domain", expected, f"{len(rows)}, of {len(domain)} inputs")
    best, ray = -math.inf, np.ones(len(domain))
    for row, at_one in rows:
        ratio, found = rays.worst(_form(row.left, domain), _form(row.right, domain))
        leakage = _leakage(ratio, float(row.exponent), float(at_one.exponent - row.exponent))
        if leakage > best + NEAR:
            best, ray = leakage, found
    return (best if rows else 0.0), rays.channel(ray, domain)


def _form(entries: Mapping[int, Fraction], domain: Domain) -> FloatArray:
    form = np.zeros(len(domain))
    for x, entry in entries.items():
        form[x] = float(entry)
    return form


def _leakage(ratio: float, base: float, slope: float) -> float:
    """Return the epsilon at which ``e**(base + slope epsilon)`` reaches a ratio."""
    if slope == 0:
        return math.inf if math.log(ratio) > base + NEAR else -math.inf
    return (math.log(ratio) - base) / slope


def _average(
    notion: Notion, target: Notion, domain: Domain, prior: Prior | None
) -> tuple[float | None, Channel | None]:
    """Maximise a sum over outputs: a problem like any other, solved with a proved bound."""
    distribution = Prior.uniform(len(domain)) if prior is None else prior
    if isinstance(target, MutualInformationPrivacy):
        problem = Problem(domain, notion, MutualInformation(), prior=distribution)
        solution = design(problem)
        return float(solution.bound), solution.channel
    if not distribution.minimum:
        return None, None  # the objective below would not see such an input
    # Sum_y max_x Q[x,y] is k less the least Sum over y != x of Q[x,y], output y guessing input y
    loss = [[(x != y) / p for y in range(len(distribution))] for x, p in enumerate(distribution)]
    problem = Problem(
        domain, notion, Distortion(loss), prior=distribution, outputs=range(len(distribution))
    )
    solution = design(problem)
    return math.log(len(distribution) - solution.bound), solution.channel


def _of_rule(
    notion: Notion, target: Notion, domain: Domain, prior: Prior | None
) -> tuple[float | None, Channel | None]:
    """Release the input with a small probability, which an average allows, and nothing else.

    An output that only one input gives has an infinite ratio. That is all that is said of notions
    on the whole channel: averages of them are not compared.
    """
    if isinstance(target, NonConicNotion) or len(domain) == 1:
        return None, None
    share = Fraction(1)
    while share > LEAST_SHARE:
        channel = _erasure(domain, share)
        if notion.holds(channel, prior):
            found = target.leakage(channel, prior)
            return (math.inf, channel) if math.isinf(found) else (None, None)
        share /= 2
    return None, None


def _erasure(domain: Domain, share: Fraction) -> Channel:
    """Return the channel that releases X with probability ``share``, and else a blank."""
    k = len(domain)
    rows = [[share * (x == y) for y in range(k)] + [1 - share] for x in range(k)]
    return Channel.from_matrix(rows, inputs=domain)
