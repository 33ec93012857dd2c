"""Multipliers in a file: fewer and rounded ones prove nearly the same bound, and no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    BoundedPriorLIP,
    ContextAwareLDP,
    LinearNotion,
    MeanAbsoluteError,
    MetricPrivacy,
    PosteriorMeanSquaredError,
    PriorBall,
    Problem,
)
from mechdesign.evidence import rows
from mechdesign.evidence.rows import blocks_of, members_of, shortened
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Costs, Linearizations
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.relaxations import Members
from mechdesign.kernel.schema import write
from mechdesign.notions import SensitiveAttribute, SensitiveAttributePrivacy
from mechdesign.notions.rows.row import Multipliers
from mechdesign.search.cones.proofs import multiplier_bound
from mechdesign.search.decoders import search as decoders
from mechdesign.search.decoders.search import solve_decoders
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import by_highs
from mechdesign.search.presolve.chain import program_cost
from mechdesign.search.presolve.reductions import ConicProgram

K, LISTS = 7, ("node", "x", "other", "weight")
PRIOR = [f"{n}/63" for n in (12, 3, 9, 15, 1, 17, 6)]
RNG = np.random.default_rng(4)
SECRET = SensitiveAttribute([0, 1], given_input=[[f"{n}/9", f"{9 - n}/9"] for n in range(1, K + 1)])
NOTIONS: dict[str, Any] = {
    "ratios": ContextAwareLDP(np.where(np.eye(K), 0, RNG.integers(1, 9, (K, K)) / 4).tolist()),
    "lifts": LIP("0.6"),
    "both": [LDP("0.9"), LIP("0.7")],
    "set": BoundedPriorLIP("0.6", PriorBall(PRIOR, "0.1")),
    "line": MetricPrivacy("0.4", "absolute"),
    "rows": LinearNotion(
        [(f"row {x}", {x: 1}, "0.3", {0: "1/2", (x + 1) % K: 1}) for x in range(K)]
    ),
    "secret": SensitiveAttributePrivacy(LIP("0.2"), SECRET),
}


def perturbed(problem: Problem, seed: int) -> list[Multipliers]:
    """Multipliers of the optimum, and many small ones as an interior point has them."""
    cost, scale = program_cost(problem)
    answer = by_highs(ConicProgram(problem.cone, cost), Limits())
    rng = np.random.default_rng(seed)
    found = []
    for m in answer.duals:
        many = m.chosen(np.repeat(np.arange(len(m.weight)), 3))
        n = len(many.weight)
        noise = 1e-9 * rng.random(n) + np.where(np.arange(n) % 3, 0, 1)
        found.append(replace(many, weight=scale * noise * many.weight))
    return found


def bound(problem: Problem, line: Linearizations, parts: list[Multipliers]) -> float:
    """The bound of multipliers, by the kernel."""
    compiled = problem.compiled
    members = members_of(compiled, [(part.notion, part.priors) for part in parts])
    relaxations = [Members(place, tuple(listed)) for place, listed in members.items()]
    blocks = blocks_of(problem, parts, members)
    certificate = Certificate(line, Orthant(), tuple(relaxations), tuple(blocks))
    return float(certificate.bound(compiled.statement))


@pytest.mark.parametrize("spare", [0.0, 1e-10, 1e-6, 1e-2])
@pytest.mark.parametrize("name", NOTIONS)
def test_the_bound_falls_by_no_more_than_there_is_to_spare(
    name: str, spare: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem(range(K), NOTIONS[name], MeanAbsoluteError(), prior=PRIOR)
    duals = perturbed(problem, 1)
    whole = shortened(problem, duals, K, lambda: 0.0)
    best = bound(problem, Costs(), whole)
    assert best == pytest.approx(multiplier_bound(problem, duals), abs=1e-12)
    monkeypatch.setattr(rows, "PACKED_FROM", 1)
    short = shortened(problem, duals, K, lambda: spare)
    assert bound(problem, Costs(), short) >= best - spare - 1e-13
    number = [sum(len(part.weight) for part in parts) for parts in (whole, short)]
    if spare >= 1e-6:
        assert number[1] <= number[0] / 2


def test_a_part_has_those_priors_only_that_it_refers_to_each_once() -> None:
    problem = Problem(range(K), NOTIONS["set"], MeanAbsoluteError(), prior=PRIOR)
    duals = perturbed(problem, 1)
    n, both = len(duals[0].priors), (*duals[0].priors, *duals[0].priors)
    twice = [replace(m, priors=both, other=m.other + at) for m in duals for at in (0, n)]
    apart = [m.with_used_priors() for m in twice]
    parts = shortened(problem, twice, K, lambda: 0.0)
    for part, same in zip(parts, shortened(problem, apart, K, lambda: 0.0), strict=True):
        assert bound(problem, Costs(), [part]) == bound(problem, Costs(), [same])
    assert len(parts) > 1
    for part in parts:
        m, priors = part, part.priors
        assert len(set(priors)) == len(priors)
        assert set(m.other) == set(range(len(priors)))
        named = [
            (y, x, given.priors[n], w)
            for given in twice
            if given.side == m.side
            for y, x, n, w in zip(given.output, given.x, given.other, given.weight, strict=True)
        ]
        mine = zip(m.output, m.x, m.other, m.weight, strict=True)
        found = {(y, x, priors[n], w) for y, x, n, w in mine}
        assert found
        assert found <= set(named)


def test_more_to_spare_makes_shorter_files(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(range(K), NOTIONS["ratios"], MeanAbsoluteError(), prior=PRIOR)
    duals = perturbed(problem, 2)
    monkeypatch.setattr(rows, "PACKED_FROM", 1)
    monkeypatch.setattr("mechdesign.kernel.packed.PACKED_FROM", 1)
    sizes = []
    for spare in (0.0, 1e-8, 1e-4):
        parts = shortened(problem, duals, K, lambda spare=spare: spare)
        blocks = write(tuple(blocks_of(problem, parts, {})))
        assert all(type(block[key]) is str for block in blocks for key in LISTS)
        sizes.append(sum(len(block[key]) for block in blocks for key in LISTS))
    assert sizes[0] > 1.5 * sizes[1] > 1.5 * sizes[2]


@pytest.mark.parametrize("spare", [1e-9, 1e-5])
def test_multipliers_at_decoders_as_well(spare: float, monkeypatch: pytest.MonkeyPatch) -> None:
    loss = PosteriorMeanSquaredError(values=range(K))
    problem = Problem(range(K), [LDP("0.9"), LIP("0.7")], loss, prior=PRIOR)
    monkeypatch.setattr(decoders, "spared", lambda *_: spare)
    (proof,) = solve_decoders(problem).proofs
    found = []
    for packed_from in (10**9, 1):
        monkeypatch.setattr(rows, "PACKED_FROM", packed_from)
        certificate = proof(problem)
        found.append(float(certificate.bound(problem.compiled.statement)))
    assert found[0] - spare - 1e-13 <= found[1]


def test_few_multipliers_are_readable() -> None:
    problem = Problem(range(K), NOTIONS["ratios"], MeanAbsoluteError(), prior=PRIOR)
    never: Any = None
    parts = shortened(problem, perturbed(problem, 3)[:1], K, never)
    (block,) = write(tuple(blocks_of(problem, parts, {})))
    assert all(type(block[key]) is list for key in LISTS)
