"""Pairs that imply all others: a channel passes on them exactly if it passes on all pairs."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, Channel, Domain, HammingLoss, MetricPrivacy, Prior, Problem
from mechdesign.certify.privacy.check import check, check_ratios, ratio_bound, ratio_limits
from mechdesign.certify.privacy.metric_pairs import distances_between, sufficient_pairs
from mechdesign.exact import exp_lower
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.notions.rows.ratio_steps import share_above, share_below
from tests.strategies import WHOLE, Case, bare_problem, budgets, examples, statement_of

KINDS = ("line", "manhattan", "euclidean")


@st.composite
def metrics(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(KINDS))
    epsilon = draw(budgets("0", "2"))
    if kind == "line":
        k = draw(st.integers(1, 6))
        domain = Domain(draw(st.lists(st.integers(-9, 9), min_size=k, max_size=k, unique=True)))
        kind = draw(st.sampled_from(["absolute", "manhattan", "euclidean"]))
    else:
        shape = draw(st.sampled_from([(1, 4), (4, 1), (2, 3), (3, 3), (2, 5)]))
        domain = Domain.grid(*shape, draw(st.sampled_from(["1", "0.5", "3/7"])))
    prior = Prior.uniform(len(domain))
    return Case(MetricPrivacy(epsilon, kind), domain, prior, lambda e: MetricPrivacy(e, kind))


@st.composite
def near_columns(draw: st.DrawFn, case: Case) -> list[int]:
    """A column that is private, tight in places, and then moved a little or not at all."""
    k, notion = len(case.domain), case.notion
    limits = ratio_limits(statement_of(bare_problem(case)), notion.to_table()) or []
    starts = draw(st.lists(st.integers(1, WHOLE), min_size=k, max_size=k))
    column = list(starts)
    for x, z in itertools.product(range(k), repeat=2):
        if x != z:
            exponent, _ = limits[x][z]  # type: ignore[misc]
            column[z] = max(column[z], -int(-starts[x] // exp_lower(exponent)))
    if draw(st.booleans()):
        place, step = draw(st.integers(0, k - 1)), draw(st.sampled_from([-(2**40), -1, 1, 2**40]))
        column[place] = max(0, column[place] + step)
    return column


@pytest.mark.slow
@examples(300)
@given(st.data())
def test_the_reduced_check_says_what_the_full_one_says(data: Any) -> None:
    case = data.draw(metrics())
    column = data.draw(near_columns(case))
    statement, table = statement_of(bare_problem(case)), case.notion.to_table()
    full = check_ratios(ratio_limits(statement, table) or [], [column])
    reduced = check(statement, table, [column])
    assert (full is None) == (reduced is None)
    if reduced is not None:
        assert "too likely against" in reduced
    family = case.notion.family(case.domain, case.prior)
    assert (family.violation(column) is None) == (full is None)
    inside = np.array([[min(entry, WHOLE)] for entry in column])
    exact = family.violation(inside[:, 0].tolist()) is None
    assert family.all_hold(inside) == exact


@examples(100)
@given(metrics())
def test_every_distance_is_a_sum_of_those_that_are_kept(case: Case) -> None:
    """Shortest ways over the kept pairs are as long as the distances, to the rounding of roots."""
    statement = statement_of(bare_problem(case))
    k, kept = len(case.domain), sufficient_pairs(statement, case.notion.to_table()["distance"])
    E = np.full((k, k), np.inf)
    np.fill_diagonal(E, 0)
    for distance, pairs in kept.items():
        for x, z in pairs:
            assert x != z
            E[x, z] = float(distance)
    for z in range(k):
        E = np.minimum(E, E[:, [z]] + E[[z], :])
    true = case.notion.distances(case.domain).array  # type: ignore[attr-defined]
    assert np.allclose(E, true, rtol=1e-12, atol=1e-12)


@examples(60)
@given(metrics())
def test_both_sides_keep_the_same_pairs(case: Case) -> None:
    statement = statement_of(bare_problem(case))
    by_distance = sufficient_pairs(statement, case.notion.to_table()["distance"])
    family = case.notion.family(case.domain, case.prior)
    assert isinstance(family, PairRows)
    assert family.near is not None
    kept = set(zip(*(places.tolist() for places in np.nonzero(family.near)), strict=True))
    assert {pair for pairs in by_distance.values() for pair in pairs} == kept


def test_a_line_keeps_neighbours_and_a_grid_its_steps() -> None:
    line = Domain([3, 1, 2])
    statement = statement_of(
        bare_problem(Case(MetricPrivacy(1, "absolute"), line, Prior.uniform(3), None))
    )
    assert sufficient_pairs(statement, "absolute") == {
        Fraction(1): [(1, 2), (2, 1), (2, 0), (0, 2)]
    }
    grid = Case(MetricPrivacy(1, "manhattan"), Domain.grid(3, 4), Prior.uniform(12), None)
    (pairs,) = sufficient_pairs(statement_of(bare_problem(grid)), "manhattan").values()
    assert len(pairs) == len(set(pairs)) == 2 * (2 * 4 + 3 * 3)


@pytest.mark.slow
@examples(100)
@given(metrics(), st.data())
def test_leakage_is_attained_on_the_kept_pairs(case: Case, data: Any) -> None:
    column = data.draw(near_columns(case))
    largest = max(1, *column)
    q = [max(1, entry * (WHOLE // 2) // largest) for entry in column]
    rest = [WHOLE - entry for entry in q]
    channel = Channel(np.array([q, rest]).T, inputs=case.domain)
    family = case.notion.family(case.domain, case.prior)
    assert isinstance(family, PairRows)
    every = PairRows(family.name, family.bounds, family.index, family.epsilon)
    if len(case.domain) > 1:
        assert abs(family.leakage(channel) - every.leakage(channel)) <= 1e-14 * (
            1 + every.leakage(channel)
        )


@pytest.mark.parametrize("notion", [LDP("0.3"), MetricPrivacy("0.3", "absolute")], ids=repr)
def test_raising_ends_in_columns_that_hold(notion: Any) -> None:
    rng = np.random.default_rng(0)
    family = notion.family(Domain.range(30))
    scale = 2.0 ** rng.integers(0, 62, (30, 50))
    columns = (rng.random((30, 50)) * scale).astype(np.int64)
    raised = family.raised(columns)
    assert (raised >= columns * (1 - 2.0**-50)).all()
    assert family.all_hold(raised)
    assert (family.raised(raised) == raised).all()
    assert (raised.max(axis=0) <= columns.max(axis=0)).all()


@examples(300)
@given(st.integers(0, WHOLE), st.integers(0, WHOLE))
def test_shares_are_exact(q: int, share: int) -> None:
    product = q * share
    assert int(share_below(np.array([q]), np.int64(share))[0]) == product // WHOLE
    assert int(share_above(np.array([q]), np.int64(share))[0]) == -(-product // WHOLE)


@pytest.mark.parametrize("spacing", ["1", "3/7"])
def test_irrational_distances_are_below_in_checks_and_above_in_bounds(spacing: str) -> None:
    """What passes is private; and what is proved is proved of every private channel."""
    epsilon, domain = Fraction("3.7"), Domain.grid(3, 4, spacing)
    notion = MetricPrivacy(epsilon, "euclidean")
    statement = statement_of(Problem(domain, notion, HammingLoss()))
    bound = ratio_bound(statement, statement.privacy[0])
    checked = distances_between(statement, "euclidean")
    assert bound is not None
    points = statement.points or []
    for x, z in itertools.permutations(range(12), 2):
        square = sum((a - b) ** 2 for a, b in zip(points[x], points[z], strict=True))
        exponent, factor = bound(x, z) or (Fraction(0), Fraction(0))
        assert factor == 1
        assert checked(x, z) ** 2 <= square <= (exponent / epsilon) ** 2
        assert exponent / epsilon - checked(x, z) <= Fraction(1, 2**150)
