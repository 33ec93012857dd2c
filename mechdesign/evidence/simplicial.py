"""The certificate of a universal channel: the optimum where a cone is simplicial.

Where k rows make a simplicial cone that holds every private column, with rays r_i, every private
channel is a post-processing of one channel U of these rays (`kernel.oracles.simplicial`),
and the best objective v_i of each ray gives prices that are optimal, for the facets f_i

    u = Sum_i (v_i / f_i . r_i) f_i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from mechdesign.errors import CertificateError, UnsupportedError
from mechdesign.evidence.rows import averaged, estimator, members_of, relaxed
from mechdesign.kernel.arithmetic import UNIT, dot, scaled
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.generators import Ball, Box, Cone, Lift, Listed
from mechdesign.kernel.linearizations import AsGain, Costs, Linearizations
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import Loss, Risk
from mechdesign.kernel.oracles import DoubleDescription, Facet, Rays, Simplicial
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.relaxations import Estimator, Members, Relaxations
from mechdesign.kernel.risk import Inverse
from mechdesign.kernel.statement import Statement
from mechdesign.notions.rows.cone import reduced
from mechdesign.prior_sets import Weights
from mechdesign.solver_guard import called

FEW_INPUTS, PRECISE = 8, 112
"""Inputs up to which prices have so many bits."""

EXACT = 64
"""Bits of a denominator up to which prices stay exact: longer ones are rounded."""

Row = dict[int, Fraction]


def universal(
    statement: Statement, facets: Sequence[Facet], relaxations: Sequence[Relaxations] = ()
) -> Certificate:
    """Return the certificate of the channel whose columns are the rays of some facets.

    ``statement``: what is claimed.
    ``facets``: one for each input, rows of the statement after the relaxations.
    ``relaxations``: taken first.

    Raises
    ------
    CertificateError
        If a ray is negative.
    """
    k, steps = statement.k, [*relaxations, *averaged(statement, None)]
    small = relaxed(statement, steps)
    source = Simplicial(tuple(facets))
    rays = list(source(small, None).rays)
    ties = [facet for facet, ray in zip(facets, rays, strict=True) if max(ray) <= 0]
    if ties:
        for tie in ties:
            facets = _turned(small, facets, tie)
        source = Simplicial(tuple(facets))
        rays = list(source(small, None).rays)
    if min(map(min, rays)) < 0:
        raise CertificateError("a ray of the facets is negative")
    F = [facet_row(small, facet) for facet in facets]
    scale = [
        sum((v * r[x] for x, v in row.items()), Fraction(0)) for row, r in zip(F, rays, strict=True)
    ]
    if isinstance(small.objective, Risk):
        steps.append(_estimator(small.objective, F, rays, scale))
        small = relaxed(small, steps[-1:])
    line, worth = objective(small)
    prices = [Fraction(0)] * k
    for row, v, s in zip(F, map(worth, rays), scale, strict=True):
        t = v / s
        if not sum(row.values()):  # no channel uses the ray: less is as good
            t = Fraction(scaled(t, bits=EXACT // 2), 1 << EXACT // 2)
        for x, entry in row.items():
            prices[x] += t * entry
    return Certificate(line, Rays(source), tuple(steps), (), short(prices, k))


def _turned(statement: Statement, facets: Sequence[Facet], tie: Facet) -> list[Facet]:
    """Return facets where a row that ties inputs has a ray >= 0.

    q_x <= q_z of tied inputs means q_z <= q_x as well: that row takes its place. Where the notions
    do not say so, since it is the row sums that tie them, the facet q_z >= 0 becomes q_x >= 0.
    """
    turned = replace(tie, x=tie.other, other=tie.x)
    if tie.side:
        turned = replace(tie, side="lower" if tie.side == "upper" else "upper")
    moved = {Facet(None, tie.other): Facet(None, tie.x)}
    with suppress(CertificateError):
        opposite = {x: -v for x, v in facet_row(statement, turned).items()}
        if facet_row(statement, tie) == opposite:
            moved = {tie: turned}
    return [moved.get(facet, facet) for facet in facets]


def facet_row(statement: Statement, facet: Facet) -> Row:
    """Return f with f . q >= 0 for private columns."""
    if facet.place is None:
        return {facet.x: Fraction(1)}
    part: Cone = statement.cone[facet.place]
    row = part.row((facet.side, facet.x, facet.other), statement.k, up=True)
    return {x: -v for x, v in row.net(weak=True, bits=128).items() if v}


def objective(
    statement: Statement,
) -> tuple[Linearizations, Callable[[Sequence[int]], Fraction]]:
    """Return a linearization of the objective, and the best objective of a ray under it."""
    aim = statement.objective
    if isinstance(aim, Loss):
        weights, costs = aim.weights or (), aim.costs
        tables = [costs.lower(y) for y in range(costs.n_outputs)]

        def least(ray: Sequence[int]) -> Fraction:
            weighted = [w * v for w, v in zip(weights, ray, strict=True)]
            return min(Fraction(dot(weighted, table)) for table in tables) / costs.denominator

        return Costs(), least
    if isinstance(aim, Gain):
        return AsGain(), lambda ray: -aim(list(ray), up=True)
    fault = "universal channels are not optimal for this objective"
    raise UnsupportedError("objective", "a loss or a gain", "another", fault=fault)


def _estimator(
    aim: Risk, F: Sequence[Row], rays: Sequence[Sequence[int]], scale: Sequence[Fraction]
) -> Estimator:
    if aim.prior is None:
        raise UnsupportedError("objective", "a risk at a prior", "a worst case")
    shares = [sum(row.values()) / s for row, s in zip(F, scale, strict=True)]
    columns = [
        [scaled(v * share) for v in ray] for ray, share in zip(rays, shares, strict=True) if share
    ]
    inverse = Inverse.of(columns, UNIT, aim.prior)
    A = np.array([[v / (1 << inverse.bits) for v in row] for row in inverse.entries])
    return estimator(A, np.array(list(map(float, aim.prior))), aim.roots)


def short(prices: Sequence[Fraction], k: int) -> Numbers:
    """Return prices as they are if they are short, rounded for few inputs, and else as floats."""
    if all(v.denominator.bit_length() <= EXACT for v in prices):
        return Numbers(prices)
    if k > FEW_INPUTS:
        return Numbers(map(float, prices))
    return Numbers(Fraction(scaled(v, bits=PRECISE), 1 << PRECISE) for v in prices)


NamedRow: TypeAlias = tuple[int | None, str, int, int | None, Weights | None]
"""The place of a notion, None for q_x >= 0; a side, x, another input, and the prior of a lift, None
for that of the problem."""


def simplicial(compiled: Compiled, facets: Sequence[NamedRow]) -> Certificate | None:
    """Return the universal channel of some rows of the notions, one for each input."""
    statement = compiled.statement
    own = compiled.inputs.prior or ()
    about = [(n, [p or own]) for n, side, *_, p in facets if n is not None and side != "ratio"]
    members = members_of(compiled, about)
    found = []
    for notion, side, x, other, prior in facets:
        if notion is None:
            found.append(Facet(None, x))
            continue
        place = compiled.parts[notion].cone.start
        if side == "ratio":
            found.append(Facet(place, x, other or 0))
            continue
        number = members[place].index(prior or own) if place in members else 0
        found.append(Facet(place, x, number, side))
    relaxations = [Members(place, tuple(listed)) for place, listed in members.items()]
    return universal(statement, found, relaxations)


def erasure(compiled: Compiled) -> Certificate | None:
    """Return the universal channel of the largest lower bound on the lift."""
    statement = compiled.statement
    bounded = [
        (part.lower, place)
        for place, part in enumerate(statement.cone)
        if isinstance(part, Lift) and part.lower is not None
    ]
    if not bounded:
        return None
    lower, place = min(bounded)
    priors = statement.cone[place].priors  # type: ignore[union-attr]
    relaxations = [] if isinstance(priors, Listed) else [Members(place, (_member(priors),))]
    facets = [Facet(place, x, 0, "lower") for x in range(statement.k)]
    if not lower:  # q = (P . q) 1: the rows are dependent
        (p, *_) = relaxations[0].priors if relaxations else priors.priors  # type: ignore[union-attr]
        likeliest = p.index(max(p))
        facets[likeliest] = Facet(None, likeliest)
    return universal(statement, facets, relaxations)


def _member(priors: Box | Ball) -> tuple[Fraction, ...]:
    if isinstance(priors, Ball):
        return priors.center
    least, most = sum(priors.low, Fraction(0)), sum(priors.high, Fraction(0))
    share = (1 - least) / (most - least) if most > least else Fraction(0)
    return tuple(a + share * (b - a) for a, b in zip(priors.low, priors.high, strict=True))


def equal_rows(compiled: Compiled, facets: Sequence[NamedRow]) -> Certificate | None:
    """Return the constant channel, by these facets, or by all rays where theirs are not >= 0."""
    with suppress(CertificateError):
        return simplicial(compiled, facets)
    return _by_rays(compiled.statement)


def _by_rays(statement: Statement) -> Certificate | None:
    """Return the prices with the largest sum that are safe on all rays of a cone of few inputs."""
    from scipy.optimize import linprog  # on demand

    if statement.k > FEW_INPUTS or isinstance(statement.objective, Risk):
        return None
    source = DoubleDescription()
    rays = list(source(statement, None).rays)
    line, worth = objective(statement)
    exact = [worth(ray) for ray in rays]
    R = np.array([[float(Fraction(v, max(ray))) for v in ray] for ray in rays])
    values = np.array([float(v / max(ray)) for v, ray in zip(exact, rays, strict=True)])
    found: Any = called("HiGHS", linprog, -np.ones(statement.k), R, values, bounds=(None, None))
    if found.status:
        return None
    nearest = np.argsort(np.abs(R @ found.x - values), kind="stable").tolist()
    tight = reduced([[*map(Fraction, rays[n]), exact[n]] for n in nearest], statement.k)
    prices = [tight[x][-1] if x in tight else Fraction(0) for x in range(statement.k)]
    return Certificate(line, Rays(source), (), (), short(prices, statement.k))
