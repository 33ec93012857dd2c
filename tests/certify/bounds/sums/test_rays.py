"""Extreme rays in integers: the definition by subsets of rows, and rays known in closed form."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, pairwise
from math import gcd
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    BlockLDP,
    BoundedPriorLIP,
    ContextAwareLDP,
    HammingLoss,
    HighLowLDP,
    LinearNotion,
    MetricPrivacy,
    Problem,
)
from mechdesign.certify.bounds.one_budget import one_budget
from mechdesign.certify.bounds.sums.rays import (
    all_rays,
    extreme_rays,
    integer_rows,
    single_budget_rays,
)
from mechdesign.certify.problem import Statement
from mechdesign.notions import Notion
from mechdesign.resources import counted
from tests.strategies import statement_of

Row = tuple[int, ...]


def stated(*notions: Notion, k: int = 3, prior: list[str] | None = None) -> Statement:
    return statement_of(Problem(list(range(k)), list(notions), HammingLoss(), prior=prior))


def primitive(line: Iterable[int]) -> Row:
    entries = tuple(line)
    shared = gcd(*entries) or 1
    return tuple(entry // shared for entry in entries)


def null_vector(rows: list[Row], k: int) -> Row | None:
    """Return the solution of rows . q = 0 if it is unique up to its size, by elimination."""
    left = [[Fraction(entry) for entry in row] for row in rows]
    pivots: list[int] = []
    for x in range(k):
        below = next((n for n in range(len(pivots), len(left)) if left[n][x]), None)
        if below is None:
            continue
        left[len(pivots)], left[below] = left[below], left[len(pivots)]
        top = left[len(pivots)]
        top[:] = [entry / top[x] for entry in top]
        for n, row in enumerate(left):
            if n != len(pivots) and row[x]:
                row[:] = [a - row[x] * b for a, b in zip(row, top, strict=True)]
        pivots.append(x)
    free = [x for x in range(k) if x not in pivots]
    if len(free) != 1:
        return None
    found = [Fraction(0)] * k
    found[free[0]] = Fraction(1)
    for n, x in enumerate(pivots):
        found[x] = -left[n][free[0]]
    whole = 1
    for entry in found:
        whole = whole * entry.denominator // gcd(whole, entry.denominator)
    return primitive(int(entry * whole) for entry in found)


def rays_by_definition(rows: list[Row], k: int) -> set[Row]:
    """Return the nonzero points of the cone where k - 1 independent rows are tight."""
    signs = [tuple(-int(x == z) for z in range(k)) for x in range(k)]
    every = [*signs, *rows]
    found = set()
    for tight in combinations(every, k - 1):
        ray = null_vector(list(tight), k)
        for side in (ray, ray and tuple(-entry for entry in ray)):
            if side and all(
                sum(g * q for g, q in zip(row, side, strict=True)) <= 0 for row in every
            ):
                found.add(side)
    return found


@st.composite
def cones(draw: st.DrawFn) -> tuple[int, list[Row]]:
    k = draw(st.integers(1, 4))
    entries = st.integers(-3, 3)
    rows = draw(st.lists(st.tuples(*[entries] * k).filter(lambda row: max(row) > 0), max_size=5))
    return k, list(dict.fromkeys(map(primitive, rows)))


@given(cones())
def test_they_are_the_points_of_the_cone_where_so_many_rows_are_tight(
    cone: tuple[int, list[Row]],
) -> None:
    k, rows = cone
    found = extreme_rays(rows, k)
    assert len(set(found)) == len(found)
    assert set(found) == rays_by_definition(rows, k)


ONE_BUDGET = [
    LDP("0.7"),
    LDP(0),
    HighLowLDP("0.7", [1]),
    HighLowLDP("0.7", [0, 2]),
    BlockLDP("0.7", [[0, 2], [1, 3]]),
    BlockLDP("0.7", [[0, 1, 2], [3]]),
    ContextAwareLDP([[0, "0.7", "inf", "inf"], ["0.7", 0, "inf", "inf"], *[["inf"] * 4] * 2]),
]


@pytest.mark.parametrize("notion", ONE_BUDGET, ids=str)
def test_the_rays_of_one_budget_make_the_same_cone(notion: Notion) -> None:
    statement = stated(notion, k=4)
    budget = one_budget(statement)
    assert budget is not None
    rows = integer_rows(statement)
    listed = {primitive(ray) for ray in single_budget_rays(budget)}
    assert set(extreme_rays(rows, 4)) <= listed
    for ray in listed:
        assert all(sum(g * q for g, q in zip(row, ray, strict=True)) <= 0 for row in rows)
    assert {primitive(ray) for ray in all_rays(statement)} == listed


@pytest.mark.parametrize("notion", [*ONE_BUDGET[:1], ONE_BUDGET[4]], ids=str)
def test_of_rays_that_are_alike_there_is_one_for_each_size(notion: Notion) -> None:
    budget = one_budget(stated(notion, k=4))
    assert budget is not None
    for ray in single_budget_rays(budget):
        alike = [
            one
            for one in single_budget_rays(budget, alike=True)
            if any(
                sorted(one[z] for z in block) == sorted(ray[z] for z in block)
                and any(one[z] for z in block)
                for block in budget.blocks
            )
        ]
        assert alike


MORE = [
    [LDP(1), LDP(2)],
    [MetricPrivacy(1, "absolute")],
    [ContextAwareLDP([[0, 1, 1], [1, 0, 2], [1, 1, 0]])],
    [ContextAwareLDP([[0, 1, "inf"], [1, 0, 1], ["inf", 1, 0]])],
    [BoundedPriorLIP(1, priors=[["0.2", "0.3", "0.5"]])],
]


@pytest.mark.parametrize("notions", MORE, ids=str)
def test_other_notions_have_no_single_budget(notions: list[Notion]) -> None:
    assert one_budget(stated(*notions)) is None


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_neighbors_on_a_line_imply_all_other_pairs(k: int) -> None:
    statement = stated(MetricPrivacy("0.5", "absolute"), k=k)
    rows = integer_rows(statement)
    assert len(rows) == 2 * (k - 1)
    assert all(sum(1 for entry in row if entry) == 2 for row in rows)
    for ray in extreme_rays(rows, k):
        assert all(q * 1.0 <= 1.65 * other for q, other in pairwise(ray))


def test_a_pair_is_kept_unless_the_way_round_is_shorter() -> None:
    """By way of input 1, from 0 to 2 it is 0.3 + 0.6, above 0.8 and not above 0.9."""
    far = {"0.8": 6, "0.9": 5}
    for direct, count in far.items():
        matrix = [[0, "0.3", direct], ["2", 0, "0.6"], ["2", "2", 0]]
        assert len(integer_rows(stated(ContextAwareLDP(matrix)))) == count


def test_rows_hold_for_the_members_of_the_set_of_priors_that_are_named() -> None:
    statement = stated(BoundedPriorLIP("0.5", lower=["0.1"] * 3, upper=["0.8"] * 3))
    named = {"0": [["0.1", "0.1", "0.8"], ["0.8", "0.1", "0.1"]]}
    few = integer_rows(statement, named)
    assert len(few) == 2 * 3 * 2
    assert set(few) == {
        row
        for prior in named["0"]
        for row in integer_rows(stated(BoundedPriorLIP("0.5", priors=[prior])))
    }
    # without names, and by the number of another notion, there is none to use
    assert integer_rows(statement) == integer_rows(statement, {"1": named["0"]}) == []


@given(cones(), st.data())
def test_rows_that_cut_nothing_off_cost_no_more_than_their_sides(
    cone: tuple[int, list[Row]], data: Any
) -> None:
    """A set of priors has hundreds of such rows; only those that cut are kept in mind."""
    k, rows = cone
    with counted() as once:
        found = extreme_rays(rows, k)
    many = rows * data.draw(st.integers(2, 20))
    with counted() as often:
        assert extreme_rays(many, k) == found
    sides = (len(many) - len(rows)) * len(found) * (k + 5)
    assert often.spent <= once.spent + sides


def test_rows_of_the_users_own_stand_beside_those_of_other_notions() -> None:
    """q_0 <= q_1 has entries of 1 only, and 2 q_0 <= 3 e**0.5 q_0 excludes nothing."""
    own = LinearNotion([("equal", {0: 1}, 0, {1: 1}), ("idle", {0: 2}, "0.5", {0: 3})])
    rows = integer_rows(stated(own, k=2))
    assert rows == [(1, -1)]
    alone = integer_rows(stated(LDP(1), k=2))
    for notions in ([own, LDP(1)], [LDP(1), own]):
        assert set(integer_rows(stated(*notions, k=2))) == {*rows, *alone}
