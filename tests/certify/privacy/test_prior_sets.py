"""Sets of priors as the checker reads them: extreme probabilities, by the vertices of each set."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    BoundedPriorLIP,
    CertificateError,
    HammingLoss,
    MutualInformation,
    Problem,
)
from mechdesign.certify.privacy.prior_sets import (
    check_member,
    extreme_probability,
    has_member,
    over_one_denominator,
    prior_bounds,
    read_members,
)
from mechdesign.certify.problem import LINEAR, SECRET, Statement
from mechdesign.certify.schema.problems import NOTIONS
from tests.strategies import examples, prior_sets, simplex, statement_of

Point = list[Fraction]


def stated(keys: dict[str, Any], k: int = 3) -> Statement:
    return statement_of(
        Problem(k, BoundedPriorLIP(1, **keys), MutualInformation(), prior=[Fraction(1, k)] * k)
    )


def vertices_of_box(low: Point, high: Point) -> list[Point]:
    """All entries but one at an end, the last one what is left of 1."""
    found, k = [], len(low)
    for free in range(k):
        for ends in product(*(zip(low, high, strict=True))):
            p = list(ends)
            p[free] = 1 - (sum(p) - p[free])
            if low[free] <= p[free] <= high[free]:
                found.append(p)
    return found


def vertices_of_ball(center: Point, radius: Fraction) -> list[Point]:
    """Of {p >= 0, Sum p = 1, Sum (p - c)_+ <= r}: rays from every set that is emptied in order.

    At a vertex at most one entry is neither 0 nor its center, and at most one is above it.
    """
    k, found = len(center), [center]
    for up in range(k):
        others = [x for x in range(k) if x != up]
        for order in permutations(others):
            p, left = list(center), radius
            for x in order:
                step = min(p[x], left)
                p[x], p[up], left = p[x] - step, p[up] + step, left - step
                found.append(list(p))
    return found


def members(keys: dict[str, Any]) -> list[Point]:
    if "priors" in keys:
        return [[Fraction(p) for p in prior] for prior in keys["priors"]]
    if "lower" in keys:
        return vertices_of_box(*([Fraction(p) for p in keys[s]] for s in ("lower", "upper")))
    return vertices_of_ball([Fraction(p) for p in keys["center"]], Fraction(keys["radius"]))


sets = st.integers(2, 4).flatmap(
    lambda k: st.tuples(prior_sets(k), st.lists(st.integers(0, 9), min_size=k, max_size=k))
)


@examples(200)
@given(sets)
def test_extreme_probabilities_are_those_of_the_best_vertex(
    case: tuple[dict[str, Any], list[int]],
) -> None:
    keys, q = case
    statement = stated(keys, len(q))
    bounds = prior_bounds(statement, statement.privacy[0])
    chances = [sum(p * v for p, v in zip(prior, q, strict=True)) for prior in members(keys)]
    whole_bounds, whole = over_one_denominator(bounds)
    for sign, best in ((+1, max(chances)), (-1, min(chances))):
        assert extreme_probability(bounds, q, sign) == best
        scaled = extreme_probability(whole_bounds, q, sign, whole)
        assert isinstance(scaled, int)
        assert Fraction(scaled, whole) == best
    for prior in members(keys):
        assert has_member(bounds, prior)


@examples(200)
@given(sets, st.data())
def test_membership_is_that_of_the_definition(
    case: tuple[dict[str, Any], list[int]], data: st.DataObject
) -> None:
    keys, q = case
    statement = stated(keys, len(q))
    bounds = prior_bounds(statement, statement.privacy[0])
    p = data.draw(simplex(len(q)))
    if "priors" in keys:
        inside = p in members(keys)
    elif "lower" in keys:
        inside = all(
            Fraction(a) <= v <= Fraction(b)
            for a, v, b in zip(keys["lower"], p, keys["upper"], strict=True)
        )
    else:
        c, r = [Fraction(v) for v in keys["center"]], Fraction(keys["radius"])
        inside = sum(max(Fraction(0), v - w) for v, w in zip(p, c, strict=True)) <= r
    assert has_member(bounds, p) is inside
    if inside:
        check_member(bounds, p)
        assert read_members(statement, statement.privacy[0], [[str(v) for v in p]]) == [p]
    else:
        with pytest.raises(CertificateError, match="not in the notion's set"):
            check_member(bounds, p)
        with pytest.raises(CertificateError, match="not in the notion's set"):
            read_members(statement, statement.privacy[0], [[str(v) for v in p]])


BOX = {"lower": ["0.1", "0.1", "0.1"], "upper": ["0.5", "0.5", "0.8"]}
BALL = {"center": ["0.2", "0.3", "0.5"], "radius": "0.1"}


@pytest.mark.parametrize("keys", [BOX, BALL], ids=["box", "ball"])
def test_what_is_no_distribution_of_the_inputs_is_no_member(keys: dict[str, Any]) -> None:
    statement = stated(keys)
    table = statement.privacy[0]
    good = ["0.2", "0.3", "0.5"]
    assert read_members(statement, table, [good]) == [[Fraction(p) for p in good]]
    for wrong in (["0.2", "0.3", "0.4"], ["0.2", "0.3", "0.6"], ["0.3", "-0.05", "0.75"]):
        with pytest.raises(CertificateError):
            read_members(statement, table, [wrong])
    with pytest.raises(CertificateError, match="no distribution on its inputs"):
        read_members(statement, table, [[*good, "0"]])


def test_a_ball_of_radius_r_moves_the_probability_r() -> None:
    statement = stated(BALL)
    bounds = prior_bounds(statement, statement.privacy[0])
    assert has_member(bounds, [Fraction(n, 100) for n in (10, 30, 60)])
    assert not has_member(bounds, [Fraction(n, 100) for n in (9, 30, 61)])
    assert extreme_probability(bounds, [0, 0, 1], +1) == Fraction(6, 10)
    assert extreme_probability(bounds, [0, 0, 1], -1) == Fraction(4, 10)
    assert extreme_probability(bounds, [1, 0, 1], -1) == Fraction(6, 10)


def test_notions_for_the_prior_of_the_problem_have_it_alone_and_others_none() -> None:
    problem = Problem(3, [LIP(1), LDP(1)], HammingLoss(), prior=["0.2", "0.3", "0.5"])
    statement = statement_of(problem)
    own = [Fraction(n, 10) for n in (2, 3, 5)]
    for table in statement.privacy:
        assert prior_bounds(statement, table) == ([own], None, None)
    for name in (SECRET, LINEAR):
        assert prior_bounds(statement, {"notion": name}) == ([], None, None)
    assert not has_member(([own], None, None), own[::-1])


def test_empty_sets_and_other_shapes_are_refused() -> None:
    statement = stated(BOX)

    def read(**keys: Any) -> Any:
        return prior_bounds(statement, {"notion": "bounded-prior-lip", "epsilon": 1, **keys})

    read(lower=[0, 0, 1], upper=[0, 0, 1])
    read(lower=["0.5", "0.5", 0], upper=["0.5", "0.5", 0])
    boxes = [
        (["0.5", "0.5", "0.01"], [1, 1, 1]),
        ([0, 0, 0], ["0.5", "0.4", "0.09"]),
        (["0.3", 0, 0], ["0.2", 1, 1]),
    ]
    for low, high in boxes:
        with pytest.raises(CertificateError, match="box of priors in the file is empty"):
            read(lower=low, upper=high)
    with pytest.raises(CertificateError, match="2 x 3 matrix"):
        read(lower=[0, 0], upper=[1, 1])
    with pytest.raises(CertificateError, match="priors: expected nonempty list"):
        NOTIONS.check({"notion": "bounded-prior-lip", "epsilon": "1", "priors": []}, "")
    for shape in (["0.5", "0.5"], ["0.5", "0.4", "0.2"]):
        with pytest.raises(CertificateError, match="no distribution"):
            read(priors=[shape])
        with pytest.raises(CertificateError, match="no distribution"):
            read(center=shape, radius=0)
    with pytest.raises(CertificateError, match=">= 0"):
        read(center=["0.5", "0.5", 0], radius=-1)
