"""The rows of a problem that make a simplicial cone, for each theorem that names them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from mechdesign.errors import CertificateError
from mechdesign.evidence.rows import members_of
from mechdesign.evidence.simplicial import FEW_INPUTS, objective, short, universal
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Ball, Box, Lift, Listed
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.oracles import Rays
from mechdesign.kernel.oracles.sources import DoubleDescription, Facet
from mechdesign.kernel.relaxations import Members
from mechdesign.kernel.statement import Statement
from mechdesign.notions.rows.equations import reduced
from mechdesign.prior_sets import Weights
from mechdesign.solver_guard import called

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
    """Return a prior of a set."""
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
