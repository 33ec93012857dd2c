"""Prices of a linear loss, and what they prove by definition: over all extreme rays, listed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BlockLDP,
    BoundedPriorLIP,
    ContextAwareLDP,
    Distortion,
    HighLowLDP,
    Problem,
)
from mechdesign.exact import exp_lower, exp_upper
from tests.strategies import budgets, priors, statement_of

Ray = tuple[Fraction, ...]
ZERO, ONE = Fraction(0), Fraction(1)


@st.composite
def one_budget_problems(draw: st.DrawFn, worst_case: bool | None = False) -> Problem:
    """LDP and its kin on a few inputs, with ties and zeros in prior and loss."""
    k = draw(st.integers(2, 5))
    epsilon = draw(budgets("0.01"))
    member = draw(st.lists(st.integers(0, 2), min_size=k, max_size=k))
    blocks = [[x for x in range(k) if member[x] == b] for b in sorted(set(member))]
    one = [[epsilon if b == c else "inf" for b in member] for c in member]
    sensitive = draw(st.lists(st.integers(0, k - 1), min_size=1, unique=True))
    kinds = [LDP(epsilon), HighLowLDP(epsilon, sensitive), BlockLDP(epsilon, blocks)]
    kinds += [ContextAwareLDP(one)] * (len(blocks) < k)
    return Problem(
        range(k), draw(st.sampled_from(kinds)), draw(losses(k, worst_case)), prior=draw(priors(k))
    )


@st.composite
def lift_problems(draw: st.DrawFn, worst_case: bool | None = False) -> Problem:
    """Bounds on the lift for the prior, on either side or both, at priors with zeros."""
    k, epsilon = draw(st.integers(2, 5)), draw(budgets("0.01"))
    prior = draw(priors(k))
    kinds = [LIP(epsilon), PML(epsilon), AsymmetricLift(epsilon, draw(budgets("0.01")))]
    kinds += [AsymmetricLift(epsilon, "inf"), AsymmetricLift("inf", epsilon)]
    kinds += [BoundedPriorLIP(epsilon, priors=[list(prior)])]
    return Problem(range(k), draw(st.sampled_from(kinds)), draw(losses(k, worst_case)), prior=prior)


@st.composite
def losses(draw: st.DrawFn, k: int, worst_case: bool | None) -> Distortion:
    m = draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 9), min_size=m, max_size=m)
    worst = draw(st.booleans()) if worst_case is None else worst_case
    return Distortion(draw(st.lists(row, min_size=k, max_size=k)), worst)


def reduced_costs(problem: Problem, u: Sequence[Fraction], mass: Sequence[Fraction]) -> list[Ray]:
    """Return the costs less the prices, one tuple for each output."""
    losses = statement_of(problem).losses
    return [
        tuple(
            p * Fraction(cost, losses.denominator) - v
            for p, cost, v in zip(mass, losses.lower(y), u, strict=True)
        )
        for y in range(losses.n_outputs)
    ]


def price_bound(problem: Problem, u: Sequence[Fraction], mass: Sequence[Fraction]) -> Fraction:
    """Return what prices prove by definition: with the least reduced cost of all rays."""
    u = list(u)
    for x in unbounded(problem):
        u[x] += min(ZERO, *(c[x] for c in reduced_costs(problem, u, mass)))
    costs = reduced_costs(problem, u, mass)
    lift = problem.cone.families[0].lift_rows()
    if lift is not None:
        P = list(problem.prior)
        worth = [dot(c, r) / dot(P, r) for c in costs for r in lift_rays(problem) if dot(P, r)]
        return sum(u, ZERO) + min(worth)
    found = sum(u, ZERO)
    for rays in block_rays(problem):
        found += min(ZERO, *(dot(c, r) for c in costs for r in rays))
    return found


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((s * t for s, t in zip(a, b, strict=True)), ZERO)


def unbounded(problem: Problem) -> list[int]:
    """Return the inputs whose entries no row bounds from above by others."""
    table, k = problem.privacy[0].to_table(), len(problem.domain)
    if table["notion"] == "high-low":
        return [x for x in range(k) if x not in table["sensitive"]]
    if table["notion"] == "block":
        return [block[0] for block in table["blocks"] if len(block) == 1]
    if table["notion"] == "context-aware":
        rows = enumerate(table["matrix"])
        return [x for x, row in rows if all(e == "inf" or z == x for z, e in enumerate(row))]
    if table["notion"] == "lift" and table["upper"] == "inf":
        return [x for x, p in enumerate(problem.prior) if not p]
    return []


def block_rays(problem: Problem) -> Iterator[list[Ray]]:
    """Yield for each block the columns that are e**eps on some protected inputs, 1 on the rest."""
    table, k = problem.privacy[0].to_table(), len(problem.domain)
    blocks, guarded = [list(range(k))], set(range(k))
    if table["notion"] == "high-low":
        guarded = set(table["sensitive"])
    elif table["notion"] == "block":
        blocks = table["blocks"]
    elif table["notion"] == "context-aware":
        rows = table["matrix"]
        blocks = [list(b) for b in {tuple(z for z in range(k) if r[z] != "inf") for r in rows}]
    epsilon = next(
        Fraction(e)
        for e in (table.get("epsilon"), *(e for r in table.get("matrix", ()) for e in r))
        if e not in (None, "inf")
    )
    for block in blocks:
        inside = [x for x in block if x in guarded]
        high = exp_upper(epsilon)
        yield [
            tuple((high if x in raised else ONE) if x in block else ZERO for x in range(k))
            for n in range(len(inside) + 1)
            for raised in itertools.combinations(inside, n)
        ]


def lift_rays(problem: Problem) -> list[Ray]:
    """Return the vertices of the lifts: all at an end but one, or one alone without an end."""
    table, P = problem.privacy[0].to_table(), list(problem.prior)
    k = len(P)
    up = table.get("upper", table.get("epsilon"))
    down = table.get("lower", table.get("epsilon")) if table["notion"] != "pml" else "inf"
    low = ZERO if down == "inf" else exp_lower(-Fraction(down))
    high = None if up == "inf" else exp_upper(Fraction(up))
    ends = [low] if high is None else [low, high]
    found = []
    for f in range(k):
        for rest in itertools.product(ends, repeat=k - 1):
            r = [*rest[:f], ZERO, *rest[f:]]
            if P[f]:
                r[f] = (1 - dot(P, r)) / P[f]
                if low <= r[f] and (high is None or r[f] <= high):
                    found.append(tuple(r))
            elif dot(P, r) == 1:
                found += [(*rest[:f], end, *rest[f:]) for end in ends]
    return found


def random_prices(rng: Any, k: int, size: float) -> list[float]:
    found: list[float] = (size * rng.normal(size=k)).tolist()
    return found


def weights_of(rng: Any, k: int) -> list[float]:
    found: list[float] = np.where(rng.random(k) < 0.3, 0.0, rng.random(k)).tolist()
    return found if any(found) else [1.0] * k
