"""Extended formulations project to the same cone; their multipliers carry back to its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import mechdesign as md
from mechdesign import LDP, BlockLDP, ContextAwareLDP, Domain, HighLowLDP
from mechdesign._typing import FloatArray
from mechdesign.kernel.generators import Lift, Listed
from mechdesign.notions import Notion
from mechdesign.notions.rows.cone import Family, Multipliers
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.prior_sets import PriorSet, Weights
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.limits import Limits
from mechdesign.search.lp import linear_program as module
from mechdesign.search.lp.extended_formulation import family_rows, transport
from mechdesign.search.lp.linear_program import by_highs, by_outputs, pays
from mechdesign.search.presolve.chain import conic_program
from mechdesign.search.presolve.reductions import thin_pairs
from problems.families import bounded_prior_ball, bounded_prior_box, random_prior
from tests.strategies import KINDS, TIGHT, cases, decimal, examples


def listed(family: Family) -> Family:
    """List the vertices of a set of priors."""
    if not isinstance(family, LiftRows) or family.priors.members:
        return family
    part = replace(family.part, priors=Listed(family.priors.vertices()))
    return LiftRows(family.name, part, family.epsilon, has_epsilon=family.has_epsilon)


def least_cost(
    rows: np.ndarray, equal: np.ndarray, cost: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Minimize cost . q over columns of the cone with sum 1; auxiliary variables cost nothing."""
    k = len(cost)
    n = rows.shape[1]
    sums = np.append(np.ones(k), np.zeros(n - k))[None, :]
    found = scipy.optimize.linprog(
        np.append(cost, np.zeros(n - k)),
        rows[~equal] if (~equal).any() else None,
        np.zeros((~equal).sum()) if (~equal).any() else None,
        np.vstack([sums, rows[equal]]),
        np.append(1.0, np.zeros(equal.sum())),
        options={"presolve": False, **TIGHT},
    )
    assert found.status == 0, found.message
    weights = np.zeros(len(rows))
    if (~equal).any():
        weights[~equal] = np.maximum(-found.ineqlin.marginals, 0)
    return float(found.fun), found.x[:k], weights


def drawn_families() -> st.SearchStrategy[tuple[Family, int]]:
    return st.tuples(
        st.sampled_from([2, 3, 4, 4, 4])
        .flatmap(lambda k: cases(KINDS, k=k))
        .map(lambda c: listed(c.notion.family(c.domain, c.prior))),
        st.integers(0, 2**32),
    )


@examples(150)
@given(drawn_families())
def test_a_column_is_in_the_one_if_and_only_if_it_is_in_the_other(
    pair: tuple[Family, int],
) -> None:
    """Set each auxiliary to what it stands for: P . q, or the largest or the least of a set."""
    family, seed = pair
    short = family_rows(family)
    G, A = family.matrix().toarray(), short.A.toarray()
    n_auxiliary = A.shape[1] - family.size
    rng = np.random.default_rng(seed)
    for _ in range(20):
        q = rng.choice([0.0, 0.1, 0.5, 1.0, 2.0], family.size) * rng.random()
        if isinstance(family, LiftRows):
            ends = {"upper": float(q.max()), "lower": float(q.min())}
            h = [ends[side] for side in family.sides()]
            if len(family.priors.members) == 1:
                h = [float(np.array(family.priors.members[0], dtype=float) @ q)]
        else:
            h = [
                min(
                    q[x]
                    for x in range(family.size)
                    for r in A
                    if r[family.size + n] == 1 and r[x] == -1
                )
                for n in range(n_auxiliary)
            ]
        inside = (G @ q).max(initial=0) <= 1e-9 * q.max()
        outside = (G @ q).max(initial=0) > 1e-6 * q.max()
        excess = (A @ np.append(q, h)).max(initial=0)
        if inside:
            assert excess <= 1e-8
        if outside:
            assert excess > 1e-9 * q.max()


def applied(found: list[Multipliers], family: Family) -> np.ndarray:
    """Sum of weight times row, over the rows that the multipliers name."""
    total = np.zeros(family.size)
    for m in found:
        assert (m.weight > 0).all()
        for x, other, w in zip(m.x, m.other, m.weight, strict=True):
            if isinstance(family, PairRows):
                b = family.index[x, other]
                assert b != FREE
                total[x] += w * family.inverse[b]
                total[other] -= w * family.factors[b]
                continue
            law = np.array([float(p) for p in m.priors[other]])
            shrink = float(np.exp(-float(family.sides()[m.side])))
            unit = np.eye(family.size)[x]
            total += w * (shrink * unit - law if m.side == "upper" else shrink * law - unit)
    return total


@pytest.mark.slow
@examples(200)
@given(drawn_families())
def test_the_dual_of_the_short_rows_proves_the_same_on_the_rows(pair: tuple[Family, int]) -> None:
    """With weights w on rows v <= 0, cost . q >= min_x (cost + w v)_x on columns of sum 1."""
    family, seed = pair
    short = family_rows(family)
    cost = np.random.default_rng(seed).integers(-5, 6, family.size).astype(float)
    value, _, weights = least_cost(short.A.toarray(), short.equal, cost)
    both = short.duals(np.column_stack([0 * weights, weights]))
    found = [m for m in both if len(m.x)]
    assert all((m.output == 1).all() for m in found)
    assert (cost + applied(found, family)).min() >= value - 1e-7


@pytest.mark.parametrize("k", [3, 10, 40])
def test_plain_ldp_needs_two_rows_for_each_input(k: int) -> None:
    assert family_rows(LDP(1).family(Domain.range(k))).A.shape == (2 * k, k + 1)
    assert LDP(1).family(Domain.range(k)).matrix().shape == (k * (k - 1), k)
    high_low = family_rows(HighLowLDP(1, range(k // 2 + 1)).family(Domain.range(k)))
    assert high_low.A.shape == (k // 2 + 1 + k, k + 1)
    if k > 3:
        halves = BlockLDP(1, [range(k // 2), range(k // 2, k)])
        assert family_rows(halves.family(Domain.range(k))).A.shape == (2 * k, k + 2)


# --- chains ---------------------------------------------------------------------------------------


def kept_pairs(family: PairRows) -> set[tuple[int, int]]:
    return {(int(x), int(z)) for x, z in np.argwhere(family.index != FREE)}


def test_zero_budgets_are_left_alone() -> None:
    """Ties imply each other both ways: dropping them all at once would lose them."""
    family = ContextAwareLDP([["0"] * 4] * 4).family(Domain.range(4))
    assert kept_pairs(thin_pairs(family)) == kept_pairs(family)
    tiny = Fraction(1, 10**12)
    family = ContextAwareLDP([[tiny] * 4] * 4).family(Domain.range(4))
    assert kept_pairs(thin_pairs(family)) == kept_pairs(family)
    assert float(decimal(tiny)) == 1e-12


# --- transport ------------------------------------------------------------------------------------

amounts = st.lists(
    st.one_of(st.just(0.0), st.floats(1e-9, 1e3), st.sampled_from([1e-12, 1.0])),
    min_size=1,
    max_size=6,
).map(np.array)


@examples(300)
@given(amounts, amounts)
def test_transport_conserves(supply: np.ndarray, demand: np.ndarray) -> None:
    source, target, amount = transport(supply, demand)
    assert (amount > 0).all()
    assert len(amount) <= len(supply) + len(demand)
    scale = 1e-12 * (supply.sum() + demand.sum())
    assert abs(amount.sum() - min(supply.sum(), demand.sum())) <= scale
    sent = np.bincount(source, amount, minlength=len(supply))
    received = np.bincount(target, amount, minlength=len(demand))
    assert (sent <= supply + scale).all()
    assert (received <= demand + scale).all()
    smaller = (sent, supply) if supply.sum() <= demand.sum() else (received, demand)
    assert np.abs(smaller[0] - smaller[1]).max() <= scale


# --- rows for all priors of a box or a ball at once -----------------------------------------------


def sets(k: int, seed: int) -> list[PriorSet]:
    prior = list(random_prior(k, seed, largest=9))
    fifth = Fraction(1, 5)
    return [
        md.PriorBall(prior, Fraction(seed, 10)),
        md.PriorBox([p * (1 - fifth) for p in prior], [min(1, p * (1 + fifth)) for p in prior]),
        md.PriorBox([0] * k, [1] * k),
    ]


@settings(max_examples=40)
@given(
    k=st.integers(2, 5),
    seed=st.integers(0, 10),
    n=st.integers(0, 3),
    draw=st.integers(0, 99),
    sides=st.sampled_from([(True, True), (True, False), (False, True)]),
)
def test_the_columns_are_those_of_all_vertices(
    k: int, seed: int, n: int, draw: int, sides: tuple[bool, bool]
) -> None:
    """The cheapest column with one sum is the same, and multipliers carried back prove it."""
    priors = sets(k, seed)[min(n, 2)]
    vertices = Listed(priors.vertices())
    (both,) = md.BoundedPriorLIP(1, priors).generators(md.Domain.range(k), None)
    upper, lower = (Fraction(1) if side else None for side in sides)
    own, listed = (
        LiftRows("lift", Lift(lower, upper, given), Fraction(1, 2))
        for given in (vertices if n == 3 else both.priors, vertices)
    )
    costs, values = np.random.default_rng(draw).normal(size=k), []
    for family in (own, listed):
        short = family_rows(family, True)
        extra = np.zeros(short.A.shape[1] - k)
        model = LPModel(
            np.append(costs, extra),
            sp.csr_array(sp.vstack([short.A, np.append(np.ones(k), extra)[None]])),
            np.append(np.where(short.equal, 0.0, -np.inf), 1.0),
            np.append(np.zeros(len(short.equal)), 1.0),
        )
        found = solve_lp(model, "simplex")
        values.append(float(model.cost @ found.primal))
        reduced = costs[:, None].copy()
        for m in short.duals(np.maximum(-found.dual[:-1, None], 0.0)):
            family.add_terms(reduced, m)
            assert all(map(both.priors.has, m.priors))
        assert float(reduced.min()) == pytest.approx(values[0], abs=1e-8)
    assert values[0] == pytest.approx(values[1], abs=1e-9)


def test_an_exponential_that_is_0_in_floats_leaves_a_proof() -> None:
    """Multipliers over e**-800 were no numbers, and the proof of the program was lost."""
    priors = [["5/18", "5/18", "8/18"], ["6/18", "4/18", "8/18"]]
    loss = md.Distortion([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    problem = md.Problem(
        range(3),
        md.BoundedPriorLIP(800, priors),
        loss,
        prior=["2/9", "3/9", "4/9"],
        outputs=range(3),
    )
    found = md.design(problem, route="linear-program")
    assert (found.route, found.status) == ("linear-program: HiGHS simplex", "optimal")


# Outputs that are added as they pay end at the optimum over all outputs, and prove it.


def hamming(k: int) -> md.Problem:
    """All outputs are used."""
    like = bounded_prior_ball(k)
    return md.Problem(like.domain, like.privacy, md.HammingLoss(), prior=like.prior)


def joined(k: int) -> md.Problem:
    like = bounded_prior_ball(k)
    notions = [*like.privacy, md.LIP(1), md.LDP("3/2")]
    return md.Problem(like.domain, notions, md.MeanAbsoluteError(), prior=like.prior)


PROGRAMS = [bounded_prior_ball, bounded_prior_box, hamming, joined]


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_optimum_is_that_over_all_outputs_and_proved(
    kind: Callable[[int], md.Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant, value in (("FIRST", 2), ("LEAST_ADDED", 1), ("FEWEST_INPUTS", 2)):
        monkeypatch.setattr(module, constant, value)
    problem = kind(9)
    program, _ = conic_program(problem)
    assert pays(program)
    losses = [program.loss(backend(program, Limits()).matrix) for backend in (by_outputs, by_highs)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    solution = md.design(problem, route="linear-program")
    assert solution.gap < 1e-8
    assert problem.privacy[0].holds(solution.channel, problem.prior)


def test_the_best_so_far_is_returned_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST", 2)
    program, _ = conic_program(bounded_prior_ball(9))
    limits = Limits(watch=lambda _: setattr(limits, "interrupted", True))
    answer = by_outputs(program, limits)
    assert np.count_nonzero(answer.matrix.max(axis=0)) <= 2
    assert answer.duals


@pytest.mark.parametrize("kind", [bounded_prior_ball, bounded_prior_box])
def test_members_are_found_after_the_last_round_only(
    kind: Callable[[int], md.Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST", 2)
    monkeypatch.setattr(module, "LEAST_ADDED", 1)
    problem = kind(11)
    program, _ = conic_program(problem)
    family = program.cone.families[0].lift_rows()
    calls, rounds, near = [], [], type(family.priors).member_near

    def counted(self: PriorSet, prior: FloatArray) -> Weights:
        calls.append(len(rounds))
        return near(self, prior)

    monkeypatch.setattr(type(family.priors), "member_near", counted)
    answer = by_outputs(program, Limits(watch=rounds.append))
    assert len(rounds) > 1
    assert set(calls) == {len(rounds)}
    assert len(calls) <= 2 * program.cost.shape[1]
    for prior in answer.duals[0].priors:
        assert sum(prior) == 1
        assert min(prior) >= 0
        assert family.part.priors.has(prior)


@pytest.mark.parametrize("notion", [md.LDP("11.8"), md.ApproximateLDP("11.8", 0)])
def test_inputs_of_prior_zero_leave_no_gap(notion: Notion) -> None:
    """The loss is so small that a cost of 1e-10 for them, which finds their best rows, counts."""
    prior = md.Prior.from_counts([65, 0, 54, 42, 73])
    solution = md.design(md.Problem([3, 6, 8, 10, 14], notion, md.MeanAbsoluteError(), prior=prior))
    assert 0 < solution.value < 1e-3
    assert solution.status == "optimal"
    assert solution.gap < 1e-8
