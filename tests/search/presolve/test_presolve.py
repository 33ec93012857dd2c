"""Reductions change no optimum, and multipliers that are carried back prove the same bound."""

from __future__ import annotations

import itertools
import re
from typing import Any, Literal, TypeAlias

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.notions import Cone, Notion
from mechdesign.notions.rows.family import Family
from mechdesign.notions.rows.pair_rows import FREE
from mechdesign.search.cones.forms import closure
from mechdesign.search.cones.proofs import RepresentativesProof
from mechdesign.search.interior.solve import by_interior
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import by_highs, solve_linear
from mechdesign.search.presolve.chain import PRESOLVE, conic_program, solve_chain, solve_reduced
from mechdesign.search.presolve.reductions import (
    ConicProgram,
    Reduced,
    implied_pairs,
    merge_inputs,
    reduced_costs,
    thin_pairs,
    without_implied,
)
from tests.search_support import assert_optimal, proved_bound, repaired_value
from tests.strategies import cases, examples, lp_optimum, priors


def text_of(E: np.ndarray) -> list[list[str]]:
    return [["inf" if np.isinf(e) else repr(float(e)) for e in row] for row in E]


def cone_of(E: list[list[Any]]) -> Cone:
    return md.ContextAwareLDP(E).cone(md.Domain.range(len(E)))


def random_lengths(rng: np.random.Generator, k: int, free: float = 0.3) -> np.ndarray:
    """Multiples of 1/8, so that sums are exact and ties are common."""
    E = rng.integers(1, 24, (k, k)) / 8
    E[rng.random((k, k)) < free] = np.inf
    np.fill_diagonal(E, 0)
    return E


def shortest(E: np.ndarray) -> np.ndarray:
    """By the textbook: every input in turn may be passed through."""
    E = E.copy()
    for z in range(len(E)):
        E = np.minimum(E, E[:, [z]] + E[[z], :])
    return E


# --- closure and implied pairs --------------------------------------------------------------------

seeds = st.integers(0, 2**32)


@examples(50)
@given(st.integers(1, 8), seeds, st.sampled_from([0.0, 0.3, 0.8, 0.95]), st.booleans())
def test_the_closure_is_that_of_shortest_paths(k: int, seed: int, free: float, zero: bool) -> None:
    rng = np.random.default_rng(seed)
    E = random_lengths(rng, k, free)
    if zero:
        E[rng.random((k, k)) < 0.2] = 0
    E[np.diag_indices(k)] = rng.choice([0.0, 1.0, np.inf])  # ignored
    expected = E.copy()
    np.fill_diagonal(expected, 0)
    assert (closure(E) == shortest(expected)).all()


def one_by_one(E: np.ndarray) -> set[tuple[int, int]]:
    """Drop pairs, longest first, while the shortest paths over the rest are as short."""
    E = E.copy()
    wanted = shortest(E)
    pairs = [(x, z) for x, z in np.argwhere(np.isfinite(E)).tolist() if x != z]
    dropped = set()
    for x, z in sorted(pairs, key=lambda pair: -E[pair]):
        trial = E.copy()
        trial[x, z] = np.inf
        if (shortest(trial) == wanted).all():
            dropped.add((x, z))
            E = trial
    return dropped


@examples(50)
@given(st.integers(2, 8), seeds, st.sampled_from([0.0, 0.3, 0.7]))
def test_all_pairs_that_can_go_one_by_one_go_at_once(k: int, seed: int, free: float) -> None:
    E = random_lengths(np.random.default_rng(seed), k, free)
    found = {(x, z) for x, z in np.argwhere(implied_pairs(E)).tolist()}
    assert found == one_by_one(E)
    left = np.where(implied_pairs(E), np.inf, E)
    assert (shortest(left) == shortest(E)).all()


@examples(30)
@given(cases(("ldp", "context-aware", "metric", "grid", "differential-identifiability"), k=4))
def test_lengths_are_those_of_the_rows(case: Any) -> None:
    family = case.notion.family(case.domain, case.prior)
    E = family.lengths()
    rows = np.full(E.shape, np.inf)
    np.fill_diagonal(rows, 0)
    for row in family.rows():
        ((x, _),), ((z, factor),) = row.left.items(), row.right.items()
        rows[x, z] = float(row.exponent) + np.log(float(factor))
    assert np.allclose(E, rows, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("k", [50, 301])
def test_long_lines_and_their_ends(k: int) -> None:
    rng = np.random.default_rng(k)
    places = np.sort(rng.random(k))
    kept = ~implied_pairs(np.abs(places[:, None] - places)) & ~np.eye(k, dtype=bool)
    assert (kept == (np.abs(np.subtract.outer(range(k), range(k))) == 1)).all()


def test_a_budget_for_all_leaves_nothing_out() -> None:
    E = np.ones((60, 60)) - np.eye(60)
    assert not implied_pairs(E).any()
    apart = np.add.outer(np.arange(60), np.arange(60)) % 2 == 0  # the others are on the way
    assert (implied_pairs(E + E * apart) == (E * apart > 0)).all()


def test_a_note_counts_the_implied_pairs() -> None:
    both = md.Problem(
        md.Domain.grid(3, 3),
        [md.MetricPrivacy(1, "manhattan"), md.LIP(2)],
        md.HammingLoss(),
        prior=[1 / 9] * 9,
    )
    reduced = without_implied(conic_program(both)[0])
    assert reduced.note == "48 of 72 pairs follow from others"
    (left,) = reduced.programs
    assert len(left.cone.families) == 2
    assert left.cone.families[1] is both.cone.families[1]
    alone = md.LDP(1).cone(md.Domain.range(4))
    assert without_implied(ConicProgram(alone, np.eye(4))) is None


# --- merging --------------------------------------------------------------------------------------


Way: TypeAlias = Literal["all", "both", "one"]
"""Zero pairs: all in a class, with the same lengths to others; or those along a random tree of it,
in both directions or in one."""


def planted(rng: np.random.Generator, classes: list[int], way: Way) -> np.ndarray:
    k = len(classes)
    if way == "all":
        return random_lengths(rng, max(classes) + 1, 0.2)[np.ix_(classes, classes)]
    E = random_lengths(rng, k, 0.2)
    for c in set(classes):
        members = rng.permutation([x for x in range(k) if classes[x] == c])
        for n in range(1, len(members)):
            x, z = int(members[n]), int(members[rng.integers(n)])
            for a, b in ((x, z), (z, x)) if way == "both" else ((x, z),):
                E[a, b] = 0
    return E


def distortion(rng: np.random.Generator, k: int, m: int) -> md.Distortion:
    return md.Distortion(rng.integers(0, 10, (k, m)).tolist())


@examples(30)
@given(
    st.lists(st.integers(0, 2), min_size=2, max_size=6),
    seeds,
    st.sampled_from(["all", "both", "one"]),
    st.integers(1, 4),
    st.data(),
)
def test_merged_problems_have_the_same_optimum(
    classes: list[int], seed: int, way: Way, m: int, data: st.DataObject
) -> None:
    k = len(classes)
    rng = np.random.default_rng(seed)
    E = planted(rng, classes, way)
    prior = data.draw(priors(k))
    problem = md.Problem(
        md.Domain.range(k), md.ContextAwareLDP(text_of(E)), distortion(rng, k, m), prior=prior
    )
    raw = solve_reduced(problem, Limits(), by_highs)
    assert_optimal(problem, raw, lp_optimum(problem).value)
    merges = re.search(r"(\d+) inputs merged to (\d+)", " ".join(raw.notes))
    n_classes = len(set(classes))
    if way == "all":
        assert (merges is None) == (n_classes == k)
    if merges:
        assert (int(merges[1]), int(merges[2])) == (k, n_classes)
        for x, z in itertools.combinations(range(k), 2):
            if classes[x] == classes[z]:
                assert (raw.matrix[x] == raw.matrix[z]).all()


def test_inputs_with_equal_rows_stay_apart_beside_bounds_on_the_lift() -> None:
    rng = np.random.default_rng(7)
    E = planted(rng, [0, 0, 1, 1, 2], "all")
    notions: list[Notion] = [md.ContextAwareLDP(text_of(E)), md.LIP("0.4"), md.LDP("0.9")]
    prior = md.Prior.from_counts([3, 1, 4, 1, 5])
    problem = md.Problem(md.Domain.range(5), notions, distortion(rng, 5, 3), prior=prior)
    assert merge_inputs(conic_program(problem)[0]) is None
    assert_optimal(problem, solve_reduced(problem, Limits(), by_highs), lp_optimum(problem).value)


def test_the_bound_is_the_same_for_weights_that_are_not_optimal() -> None:
    rng = np.random.default_rng(5)
    E = planted(rng, [0, 0, 0, 1, 1, 2], "all")
    problem = md.Problem(md.Domain.range(6), md.ContextAwareLDP(text_of(E)), distortion(rng, 6, 4))
    program, unit = conic_program(problem)
    merged = merge_inputs(program)
    (small,) = merged.programs
    answer = by_highs(ConicProgram(small.cone, small.cost + 0.1 * rng.random((3, 4))), Limits())
    bound = reduced_costs(small, answer.duals).min(axis=1).sum()
    found = merged.invert([answer])
    assert found.stands == (0, 0, 0, 3, 3, 5)
    proof = RepresentativesProof(found.stands, [m.scaled(unit) for m in found.duals], 0.0)
    proved = proof(problem).bound(problem.compiled.statement)
    assert float(proved) == pytest.approx(unit * bound, abs=1e-12)


def test_nothing_is_merged_where_rows_may_differ() -> None:
    def merged(cone: Cone, *, worst_case: bool = False) -> Reduced | None:
        return merge_inputs(ConicProgram(cone, np.eye(cone.size), worst_case))

    assert merged(md.LDP("0.001").cone(md.Domain.range(4))) is None
    assert merged(md.LIP(0).cone(md.Domain.range(4), md.Prior.uniform(4))) is None
    blocks = md.BlockLDP(0, [[0, 2], [1, 3]]).cone(md.Domain.range(4))
    two = merged(blocks)
    assert two.programs[0].cost.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]
    assert merged(blocks, worst_case=True) is None
    lengths: list[list[list[Any]]] = [
        [[0, 0, 1], [1, 0, 1], [1, 1, 0]],  # only the first bounds the second
        [[0, 0, 1], [0, 0, 2], [2, 1, 0]],  # neither has the tightest bounds of both
    ]
    counts = [part and len(part.programs[0].cost) for part in map(merged, map(cone_of, lengths))]
    assert counts == [2, None]
    equal = md.DifferentialIdentifiability(0).cone(md.Domain.range(3), md.Prior.uniform(3))
    assert merged(equal) is not None


# --- the whole ------------------------------------------------------------------------------------


@examples(15)
@given(st.integers(2, 6), seeds, st.sampled_from([0.2, 0.6, 0.9]), st.data())
def test_reduced_problems_have_the_same_optimum(
    k: int, seed: int, free: float, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    notion = md.ContextAwareLDP(text_of(random_lengths(rng, k, free)))
    prior = data.draw(priors(k))
    problem = md.Problem(md.Domain.range(k), notion, distortion(rng, k, 3), prior=prior)
    optimum = lp_optimum(problem).value
    for backend in (by_highs, by_interior):
        assert_optimal(problem, solve_reduced(problem, Limits(), backend), optimum)


def test_notes_describe_the_reductions() -> None:
    E = np.full((5, 5), np.inf)
    E[:3, :3] = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    E[3:, 3:] = [[0, 1], [1, 0]]
    problem = md.Problem(md.Domain.range(5), md.ContextAwareLDP(text_of(E)), md.MeanAbsoluteError())
    raw = solve_reduced(problem, Limits(), by_highs)
    assert raw.notes == [
        "Presolve: 5 inputs merged to 4, as rows must be equal; 2 groups that share no row, "
        "solved apart"
    ]
    assert_optimal(problem, raw, lp_optimum(problem).value)
    plain = md.Problem(md.Domain.range(3), md.LDP(1), md.HammingLoss())
    assert list(solve_reduced(plain, Limits(), by_highs).notes) == []


def test_a_worst_case_is_left_whole_and_refused_by_the_interior_point_method() -> None:
    E = [[0.0, 0.0, np.inf], [0.0, 0.0, np.inf], [np.inf, np.inf, 0.0]]
    loss = md.HammingLoss(worst_case=True)
    worst = md.Problem(md.Domain.range(3), md.ContextAwareLDP(text_of(np.array(E))), loss)
    raw = solve_reduced(worst, Limits(), by_highs)
    assert list(raw.notes) == []
    assert_optimal(worst, raw, lp_optimum(worst).value)
    with pytest.raises(md.UnsupportedError, match="worst case"):
        solve_reduced(worst, Limits(), by_interior)


@pytest.mark.parametrize("total", [60, 200, 600])
def test_tiny_ratios_do_not_drown(total: int) -> None:
    """Ends of the line differ by e**total; still the gap is a small share of the value."""
    k = 30
    domain = md.Domain.range(k)
    notion = md.MetricPrivacy(f"{total}/{k - 1}", "absolute")
    problem = md.Problem(
        domain, notion, md.MeanAbsoluteError(), prior=md.Prior.from_counts(range(1, k + 1))
    )
    family = notion.family(domain).ratio_rows()
    assert family is not None
    reduced = thin_pairs(family)
    assert int((reduced.index != FREE).sum()) == 2 * (k - 1)
    answers = [solve_linear(problem, method) for method in ("simplex", "ipm")]
    value = min(float(repaired_value(problem, raw)) for raw in answers)
    bound = max(proved_bound(problem, raw) for raw in answers)
    assert bound <= value <= bound * (1 + 1e-6)
    inside = solve_reduced(problem, Limits(), by_interior)
    assert repaired_value(problem, inside) <= value * (1 + 1e-6)
    assert proved_bound(problem, inside) >= bound * (1 - 1e-6)


# --- rows of which nothing is known ---------------------------------------------------------------


def without_structure(family: Family) -> Family:
    """The same rows, known by their numbers only."""
    return Family(list(family.rows()), family.size, family.epsilon)


@examples(25)
@given(cases(), seeds)
def test_any_rows_go_through_the_chain(case: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    family = case.notion.family(case.domain, case.prior)
    program = ConicProgram(Cone([without_structure(family)]), rng.random((family.size, 3)))
    known = ConicProgram(Cone([family]), program.cost)
    optimum = float((known.cost * by_highs(known, Limits()).matrix).sum())
    answer = solve_chain(program, PRESOLVE, by_highs, Limits())
    assert float((program.cost * answer.matrix).sum()) == pytest.approx(optimum, abs=1e-7)
    bound = reduced_costs(program, answer.duals).min(axis=1).sum()
    assert bound == pytest.approx(optimum, abs=1e-7)
