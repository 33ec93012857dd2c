"""The rows of a problem that make a simplicial cone, for each theorem that names them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from mechdesign.evidence.rows import members_of, relaxed
from mechdesign.evidence.simplicial import FEW_INPUTS, facet_row, objective, short, universal
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Ball, Box, Latent, Lift, Listed, Ratio
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.oracles import Rays
from mechdesign.kernel.oracles.sources import DoubleDescription, Facet
from mechdesign.kernel.relaxations import Members, Relaxations
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


def equal_rows(compiled: Compiled) -> Certificate | None:
    """Return the constant channel, where rows say so of inputs in a tree, or one lift does."""
    statement = compiled.statement
    if any(isinstance(part, Lift) and part.lower == 0 for part in statement.cone):
        return erasure(compiled)
    parents = _tree(statement)
    if parents is None:
        return _by_rays(statement)
    # q_x >= q_z for the parent z of each x but the root
    return universal(
        statement,
        [Facet(None, x) if e is None else Facet(e[0], e[1], x) for x, e in enumerate(parents)],
    )


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


def _tree(statement: Statement) -> list[tuple[int, int] | None] | None:
    """Return for each input a generator and a parent z with q_z <= q_x; None for the root.

    None if no input reaches all others.
    """
    k = statement.k
    ratios = [(n, part) for n, part in enumerate(statement.cone) if isinstance(part, Ratio)]
    for root in range(k):
        found: dict[int, tuple[int, int] | None] = {root: None}
        todo = [root]
        while todo:
            z = todo.pop()
            for place, part in ratios:
                if part.prior is None:
                    near = [x for x in range(k) if x not in found]
                    near = [x for x in near if part.exponents.at(z, x, up=True) == 0]
                    found |= dict.fromkeys(near, (place, z))
                    todo += near
        if len(found) == k:
            return [found[x] for x in range(k)]
    return None


def binary(compiled: Compiled) -> Certificate | None:
    """Return the universal channel of two inputs: the tightest row on each."""
    statement, relaxations = compiled.statement, list[Relaxations]()
    for place, part in enumerate(statement.cone):
        lift = part.inner if isinstance(part, Latent) else part
        if isinstance(lift, Lift) and isinstance(lift.priors, Box | Ball):
            ends = _ends(lift.priors)
            relaxations.append(Members(place, tuple((e, 1 - e) for e in ends)))
    small = relaxed(statement, relaxations)
    best: list[tuple[Fraction | None, Facet]] = [(None, Facet(None, 1)), (None, Facet(None, 0))]
    for place, part in enumerate(small.cone):
        for side, x, other in part.keys(2):
            facet = Facet(place, x, other, side)
            f = facet_row(small, facet)
            for z in (0, 1):
                if f.get(z, 0) < 0:
                    bound = f.get(1 - z, Fraction(0)) / -f[z]
                    have = best[z][0]
                    if have is None or bound < have:
                        best[z] = (bound, facet)
    facets = [facet for _, facet in best]
    tied = [z for z, (bound, _) in enumerate(best) if bound == 1]
    if tied:  # q_0 = q_1
        facets = [facets[tied[0]], Facet(None, tied[0])]
    return universal(statement, facets, relaxations)


def _ends(priors: Box | Ball) -> tuple[Fraction, Fraction]:
    if isinstance(priors, Box):
        low, high = priors.low, priors.high
        return max(low[0], 1 - high[1]), min(high[0], 1 - low[1])
    center, radius = priors.center[0], priors.radius
    return max(Fraction(0), center - radius), min(Fraction(1), center + radius)
