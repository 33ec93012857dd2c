"""Certificates of closed forms: what a theorem says of the optimum, in the kernel's words.

Most of them are universal channels. Where k rows make a simplicial cone that holds every private
column, with rays r_i, every private channel is a post-processing of one channel U of these rays
(`kernel.oracles.sources.simplicial`), and the best objective v_i of each ray gives prices that are
optimal: u = Sum_i (v_i / f_i . r_i) f_i for the facets f_i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.designs.evidence import estimator, members_of
from mechdesign.designs.multipliers import block_of
from mechdesign.errors import CertificateError, UnsupportedError
from mechdesign.kernel.arithmetic import UNIT, dot, scaled
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Ball, Box, Cone, Latent, Lift, Listed, Ratio
from mechdesign.kernel.limits import Gauge
from mechdesign.kernel.linearizations import AsGain, Costs, Linearizations, Readings
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import GainObjective, Loss, Reading, Risk
from mechdesign.kernel.oracles import Knapsack, OneBudget, Orthant, Rays
from mechdesign.kernel.oracles.sources import Classes, DoubleDescription, Facet, Simplicial
from mechdesign.kernel.packed import Numbers, Weights
from mechdesign.kernel.relaxations import Average, Members, Relaxations
from mechdesign.kernel.risk import Inverse
from mechdesign.kernel.statement import Statement
from mechdesign.outside import called
from mechdesign.routes.base import EstimationData

__all__ = ["THEOREMS", "nothing_constrained"]

FEW_INPUTS, PRECISE = 8, 112
"""Inputs up to which all rays of a cone are listed, and prices have so many bits."""

EXACT = 64
"""Bits of a denominator up to which prices stay exact: longer ones are rounded."""

POSITIVE = "positive"
"""The side of a facet q_x >= 0."""

Found = Certificate | None
Row = dict[int, Fraction]


def nothing_constrained(compiled: Compiled) -> Found:
    """Return the bound that every input has its own best output."""
    statement = compiled.statement
    aim, k = statement.objective, statement.k
    if isinstance(aim, Reading):
        return _read_exactly(aim, k)
    if isinstance(aim, Loss):
        if aim.weights is not None:
            return Certificate(Costs(), Orthant())
        tables = [aim.costs.lower(y) for y in range(aim.costs.n_outputs)]
        least = [min(costs) for costs in zip(*tables, strict=True)]
        return Certificate(Costs(), Orthant(), (_at_one(least.index(max(least)), k),))
    return universal(statement, [Facet(None, x) for x in range(k)])


def _at_one(x: int, k: int) -> Average:
    return Average(Weights([float(z == x) for z in range(k)]))


def _read_exactly(aim: Reading, k: int) -> Found:
    """Return probes at the ends of f, with slopes 2 w f: the variance is at least 0."""
    low, high = min(aim.values), max(aim.values)
    relaxations = () if aim.weights else (Average(Weights([1.0] * k)),)
    weights = aim.weights or (Fraction(1, k),) * k
    slopes = Numbers([2 * w * f for w, f in zip(weights, aim.values, strict=True)])
    probes = (low, high) if low < high else (low, low + 1)
    return Certificate(Readings(probes, slopes), Orthant(), relaxations)


def _simplicial(compiled: Compiled, facets: Sequence[Sequence[Any]]) -> Found:
    """Return the universal channel of rows [notion, side, x, other] of the notions."""
    statement = compiled.statement
    named = [
        (notion, side, x, None if other is None or side == "ratio" else _prior(other))
        for notion, side, x, other in facets
    ]
    own = compiled.inputs.prior or ()
    about = [(n, [p or own]) for n, side, _, p in named if side in ("upper", "lower")]
    members = members_of(compiled, about)
    found = []
    for (notion, side, x, prior), (*_, other) in zip(named, facets, strict=True):
        if side == POSITIVE:
            found.append(Facet(None, x))
            continue
        place = compiled.parts[notion].cone.start
        if side == "ratio":
            found.append(Facet(place, x, other))
            continue
        number = members[place].index(prior or own) if place in members else 0
        found.append(Facet(place, x, number, side))
    relaxations = [Members(place, tuple(listed)) for place, listed in members.items()]
    return universal(statement, found, relaxations)


def _prior(listed: Sequence[Any]) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, listed))


def _erasure(compiled: Compiled) -> Found:
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


def _equal_rows(compiled: Compiled) -> Found:
    """Return the constant channel, where rows say so of inputs in a tree, or one lift does."""
    statement = compiled.statement
    if any(isinstance(part, Lift) and part.lower == 0 for part in statement.cone):
        return _erasure(compiled)
    parents = _tree(statement)
    if parents is None:
        return _by_rays(statement)
    # q_x >= q_z for the parent z of each x but the root
    return universal(
        statement,
        [Facet(None, x) if e is None else Facet(e[0], e[1], x) for x, e in enumerate(parents)],
    )


def _by_rays(statement: Statement) -> Found:
    """Return the prices with the largest sum that are safe on all rays of a cone of few inputs."""
    from scipy.optimize import linprog  # on demand

    if statement.k > FEW_INPUTS or isinstance(statement.objective, Risk):
        return None
    source = DoubleDescription()
    rays = list(source(statement, None).rays)
    line, worth = _objective(statement, [], rays, [])
    exact = [worth(ray) for ray in rays]
    R = np.array([[float(Fraction(v, max(ray))) for v in ray] for ray in rays])
    values = np.array([float(v / max(ray)) for v, ray in zip(exact, rays, strict=True)])
    found: Any = called("HiGHS", linprog, -np.ones(statement.k), R, values, bounds=(None, None))
    if found.status:
        return None
    nearest = np.argsort(np.abs(R @ found.x - values), kind="stable").tolist()
    prices = _solved([(rays[n], exact[n]) for n in nearest], statement.k)
    return Certificate(line, Rays(source), (), (), _short(prices, statement.k))


def _solved(equations: Sequence[tuple[Sequence[int], Fraction]], k: int) -> list[Fraction]:
    """Return u with r . u = v for the first k independent equations, by Gauss and Jordan."""
    pivots: dict[int, list[Fraction]] = {}
    for ray, value in equations:
        row = [*map(Fraction, ray), value]
        for x, other in pivots.items():
            row = [a - row[x] * b for a, b in zip(row, other, strict=True)]
        pivot = next((x for x in range(k) if row[x]), None)
        if pivot is None:
            continue
        row = [v / row[pivot] for v in row]
        for x, other in pivots.items():
            pivots[x] = [a - other[pivot] * b for a, b in zip(other, row, strict=True)]
        pivots[pivot] = row
    return [pivots[x][k] if x in pivots else Fraction(0) for x in range(k)]


def _short(prices: Sequence[Fraction], k: int) -> Numbers:
    """Return prices as they are if they are short, rounded for few inputs, and else as floats."""
    if all(v.denominator.bit_length() <= EXACT for v in prices):
        return Numbers(prices)
    if k > FEW_INPUTS:
        return Numbers(map(float, prices))
    return Numbers(Fraction(scaled(v, bits=PRECISE), 1 << PRECISE) for v in prices)


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


def _binary(compiled: Compiled) -> Found:
    """Return the universal channel of two inputs: the tightest row on each."""
    statement, relaxations = compiled.statement, list[Relaxations]()
    for place, part in enumerate(statement.cone):
        lift = part.inner if isinstance(part, Latent) else part
        if isinstance(lift, Lift) and isinstance(lift.priors, Box | Ball):
            ends = _ends(lift.priors)
            relaxations.append(Members(place, tuple((e, 1 - e) for e in ends)))
    relaxed = _relaxed(statement, relaxations)
    best: list[tuple[Fraction | None, Facet]] = [(None, Facet(None, 1)), (None, Facet(None, 0))]
    for place, part in enumerate(relaxed.cone):
        for side, x, other in part.keys(2):
            facet = Facet(place, x, other, side)
            f = _row(relaxed, facet)
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


def _leakage_budget(compiled: Compiled) -> Found:
    """Return one multiplier of maximal leakage: what one more unit of e**epsilon is worth."""
    statement = compiled.statement
    aim, k = statement.objective, statement.k
    limits = [
        (part.parts[0].exponent, place)
        for place, part in enumerate(statement.limits)
        if isinstance(part, Gauge) and len(part.parts) == k and part.limit == 1
    ]
    if not isinstance(aim, Loss) or not limits:
        return None
    exponent, place = min(limits)
    cheap = [min(aim.costs.lower(y)) for y in range(aim.costs.n_outputs)]
    right = [
        aim.costs.lower(y).index(cost)
        if cost < (0 if aim.free else aim.costs.denominator)
        else None
        for y, cost in enumerate(cheap)
    ]
    hit = {x for x in right if x is not None}
    relaxations: tuple[Relaxations, ...] = ()
    weights = aim.weights
    if weights is None:
        if len(hit) < k:
            missed = next(x for x in range(k) if x not in hit)
            return Certificate(Costs(), Orthant(), (_at_one(missed, k),))
        relaxations, weights = (Average(Weights([1.0] * k)),), (Fraction(1, k),) * k
    budget = float(np.exp(min(float(exponent), 700.0)))
    paid = sorted((float(weights[x]) for x in hit), reverse=True)
    worth = paid[int(budget)] * budget if budget < len(paid) else 0.0
    block = block_of("limit", place, "", [(y, x or 0, 0, worth) for y, x in enumerate(right)])
    return Certificate(Costs(), Orthant(), relaxations, (block,))


def _binary_mechanism(compiled: Compiled) -> Found:
    """Return the prices of two outputs under one budget: -tanh(epsilon / 2) |a - b| / 2."""
    statement = compiled.statement
    aim = statement.objective
    ratios = statement.ratios
    if not isinstance(aim, Loss) or not ratios:
        return None
    exponent = min(
        part.exponents.exponent for part in ratios if hasattr(part.exponents, "exponent")
    )
    t = float(np.tanh(float(exponent) / 2))
    unit = aim.costs.denominator
    prices = Numbers([-t * abs(c / unit) for c in aim.costs.lower(0)])
    return Certificate(Costs(), OneBudget(_blocks(statement)), (), (), prices)


def _blocks(statement: Statement) -> tuple[tuple[int, ...], ...] | None:
    """Return the blocks of the first generator that has any; None for one of all."""
    for part in statement.ratios:
        marks = getattr(part.exponents, "block", None)
        if marks is not None:
            found: dict[int, list[int]] = {}
            for x, mark in enumerate(marks):
                found.setdefault(mark, []).append(x)
            return tuple(map(tuple, found.values())) if len(found) > 1 else None
    return None


def _priced(compiled: Compiled, oracle: Any) -> Found:
    """Return prices 0 under an oracle that needs no others, for an objective alike everywhere."""
    aim, k = compiled.statement.objective, compiled.statement.k
    line: Linearizations = Costs() if isinstance(aim, Loss) else AsGain()
    relaxations = ()
    if isinstance(aim, Loss) and aim.weights is None:
        relaxations = (Average(Weights([1.0] * k)),)  # type: ignore[assignment]
    return Certificate(line, oracle, relaxations)


def _symmetric(compiled: Compiled) -> Found:
    """Return classes of rays that are alike but for a permutation of all inputs."""
    statement = compiled.statement
    if isinstance(statement.objective, Loss):
        one = Knapsack() if not statement.ratios else OneBudget()
        return _priced(compiled, one)
    return _priced(compiled, Rays(_classes(statement)))


def _classes(statement: Statement) -> Classes:
    return Classes((tuple(range(statement.k)),), None, not statement.ratios)


def _subset_selection(compiled: Compiled) -> Found:
    """Return the estimator of all permutations of the best ray."""
    statement = compiled.statement
    aim, k = statement.objective, statement.k
    if not isinstance(aim, Risk) or k < 2:
        return None
    relaxations = () if aim.prior else (Average(Weights([1.0] * k)),)
    source = _classes(statement)
    rays = _rays_of(source, statement, k)
    rays = rays / rays.sum(axis=1, keepdims=True)
    square = float((rays**2).sum(axis=1).max()) * k * k  # |r|**2 with mean 1
    a = (square - k) / (k - 1)
    if a <= 0:  # nothing can be told
        return None
    A = (np.eye(k) - 1 / k) / a + 1 / (k * k)
    line = estimator(_estimation(A, np.full(k, 1 / k), aim.roots))
    return Certificate(line, Rays(source), relaxations)


def _rays_of(source: Classes, statement: Statement, k: int) -> FloatArray:
    from mechdesign.kernel.gains import Squares
    from mechdesign.kernel.oracles.sources.base import Ask

    p = (Fraction(1, k),) * k
    found = source(statement, Ask(Squares((p,), p), [0] * k, [1] * k)).rays
    return np.array([[float(v) for v in ray] for ray in found])


# ---- simplicial cones --------------------------------------------------------------------------


def universal(
    statement: Statement, facets: Sequence[Facet], relaxations: Sequence[Relaxations] = ()
) -> Found:
    """Return the certificate of the channel whose columns are the rays of some facets.

    Parameters
    ----------
    statement
        What is claimed.
    facets
        One for each input, rows of the statement after the relaxations.
    relaxations
        Taken first.
    """
    steps = list(relaxations)
    k, aim = statement.k, statement.objective
    if isinstance(aim, Risk) and aim.prior is None:
        steps.append(Average(Weights([1.0] * k)))
    relaxed = _relaxed(statement, steps)
    for facet, ray in zip(facets, Simplicial(tuple(facets))(relaxed, None).rays, strict=True):
        if max(ray) <= 0:
            facets = _turned(relaxed, facets, facet)
    source = Simplicial(tuple(facets))
    F = [_row(relaxed, facet) for facet in facets]
    rays = list(source(relaxed, None).rays)
    scale = [
        sum((v * r[x] for x, v in row.items()), Fraction(0)) for row, r in zip(F, rays, strict=True)
    ]
    line, worth = _objective(relaxed, F, rays, scale)
    prices = [Fraction(0)] * k
    for row, v, s in zip(F, map(worth, rays), scale, strict=True):
        t = v / s
        if not sum(row.values()):  # no channel uses the ray: less is as good
            t = Fraction(scaled(t, bits=EXACT // 2), 1 << EXACT // 2)
        for x, entry in row.items():
            prices[x] += t * entry
    return Certificate(line, Rays(source), tuple(steps), (), _short(prices, k))


def _turned(statement: Statement, facets: Sequence[Facet], tie: Facet) -> list[Facet]:
    """Return facets where a row that ties inputs has a ray >= 0.

    q_x <= q_z of tied inputs says q_z <= q_x as well: that row takes its place. Where the notions
    do not say so, the facet q_z >= 0 becomes q_x >= 0.
    """
    turned = replace(tie, x=tie.other, other=tie.x)
    if tie.side:
        turned = replace(tie, side="lower" if tie.side == "upper" else "upper")
    try:
        opposite = {x: -v for x, v in _row(statement, turned).items()}
    except CertificateError:
        moved = {Facet(None, tie.other): Facet(None, tie.x)}
    else:
        moved = {tie: turned} if _row(statement, tie) == opposite else {}
    return [moved.get(facet, facet) for facet in facets]


def _relaxed(statement: Statement, relaxations: Sequence[Relaxations]) -> Statement:
    for relaxation in relaxations:
        statement = relaxation(statement)
    return statement


def _row(statement: Statement, facet: Facet) -> Row:
    """Return f with f . q >= 0 for private columns."""
    if facet.place is None:
        return {facet.x: Fraction(1)}
    part: Cone = statement.cone[facet.place]
    row = part.row((facet.side, facet.x, facet.other), statement.k, up=True)
    return {x: -v for x, v in row.net(weak=True, bits=128).items() if v}


def _objective(
    statement: Statement, F: Sequence[Row], rays: Sequence[Sequence[int]], scale: Sequence[Fraction]
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
    if isinstance(aim, GainObjective):
        form = aim.form
        return AsGain(), lambda ray: -form(list(ray), up=True)
    if not isinstance(aim, Risk) or aim.prior is None:
        raise UnsupportedError("objective", "one that a universal channel is best for", "another")
    shares = [sum(row.values()) / s for row, s in zip(F, scale, strict=True)]
    columns = [
        [scaled(v * share) for v in ray] for ray, share in zip(rays, shares, strict=True) if share
    ]
    inverse = Inverse.of(columns, UNIT, aim.prior)
    A = np.array([[v / (1 << inverse.bits) for v in row] for row in inverse.entries])
    line = estimator(_estimation(A, np.array(list(map(float, aim.prior))), aim.roots))
    found = line(statement).gain
    if found is None:
        raise UnsupportedError("objective", "a gain", "another")
    return line, lambda ray: -found(list(ray), up=True)


def _estimation(A: FloatArray, p: FloatArray, roots: bool) -> EstimationData:
    """Return the estimator of an inverse information matrix, and tangents at its deviations."""
    if not roots:
        return EstimationData(A)
    deviations = np.sqrt(np.maximum(np.diag(A) - p * p, 0.0))
    least = (np.sqrt(p) - np.sqrt(p * (1 - p))) * (1 + 1e-12)
    return EstimationData(A / np.diag(A)[:, None], np.maximum(deviations, least))


THEOREMS: dict[str, Callable[..., Found]] = {
    "simplicial": _simplicial,
    "nothing-constrained": nothing_constrained,
    "erasure": _erasure,
    "equal-rows": _equal_rows,
    "binary-universal": _binary,
    "leakage-budget": _leakage_budget,
    "binary-mechanism": _binary_mechanism,
    "randomized-response": lambda compiled: _priced(compiled, OneBudget()),
    "uniform-subsets": _symmetric,
    "uniform-lift": _symmetric,
    "subset-selection": _subset_selection,
}
"""The certificate of each closed form's theorem; None where it does not apply."""
