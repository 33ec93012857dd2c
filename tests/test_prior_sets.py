"""Sets of priors: the extreme member of an expectation is a vertex, and is found by a sort."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, strategies as st

from mechdesign import PriorBall, PriorBox, PriorList, UnsupportedError
from mechdesign.prior_sets import PriorSet, Weights
from tests.refusals_support import check_refused
from tests.strategies import examples, prior_sets, simplex


def build(keys: dict[str, Any]) -> PriorSet:
    if "priors" in keys:
        return PriorList(keys["priors"])
    return PriorBox(**keys) if "lower" in keys else PriorBall(**keys)


def contains(keys: dict[str, Any], p: Weights) -> bool:
    """Membership by definition, for boxes and balls."""
    if min(p) < 0 or sum(p) != 1:
        return False
    if "lower" in keys:
        return all(a <= v <= b for a, v, b in zip(keys["lower"], p, keys["upper"], strict=True))
    moved = sum(abs(v - c) for v, c in zip(p, keys["center"], strict=True))
    return bool(moved <= 2 * Fraction(keys["radius"]))


def linprog_extreme(keys: dict[str, Any], values: list[int], largest: bool) -> float:
    """The extreme expectation by a linear program on the definition of the set."""
    k = len(values)
    sign = -1.0 if largest else 1.0
    cost = sign * np.array(values, dtype=float)
    one = np.ones((1, k))
    if "priors" in keys:  # mixtures of the list
        members = np.array([[float(p) for p in prior] for prior in keys["priors"]])
        found = scipy.optimize.linprog(members @ cost, A_eq=np.ones((1, len(members))), b_eq=[1])
    elif "lower" in keys:
        box = [(float(a), float(b)) for a, b in zip(keys["lower"], keys["upper"], strict=True)]
        found = scipy.optimize.linprog(cost, A_eq=one, b_eq=[1], bounds=box)
    else:  # P = center + up - down, with Sum up = Sum down <= radius
        c = np.array([float(v) for v in keys["center"]])
        A = np.vstack([np.append(np.zeros(k), np.ones(k)), np.hstack([-np.eye(k), np.eye(k)])])
        found = scipy.optimize.linprog(
            np.append(cost, -cost),
            A,
            np.append(float(Fraction(keys["radius"])), c),
            np.append(np.ones(k), -np.ones(k))[None, :],
            [0],
        )
        return sign * float(found.fun) + float(np.array(values) @ c)
    assert found.status == 0
    return sign * float(found.fun)


sets = st.integers(2, 5).flatmap(
    lambda k: st.tuples(prior_sets(k), st.lists(st.integers(-9, 9), min_size=k, max_size=k))
)


@examples(50)
@given(sets, st.booleans())
def test_extreme_is_the_best_vertex_and_the_linear_program_agrees(
    case: tuple[dict[str, Any], list[int]], largest: bool
) -> None:
    keys, values = case
    priors = build(keys)

    def expectation(p: Weights) -> Fraction:
        return sum((a * v for a, v in zip(p, values, strict=True)), Fraction(0))

    vertices = priors.vertices()
    best = (max if largest else min)(expectation(p) for p in vertices)
    extreme = priors.extreme(values, largest=largest)
    assert extreme in vertices
    assert expectation(extreme) == best == priors.extreme_mean(values, largest=largest)
    assert sum(extreme) == 1
    assert min(extreme) >= 0
    assert float(best) == pytest.approx(linprog_extreme(keys, values, largest), abs=1e-8)


@examples(40)
@given(sets)
def test_the_support_of_boxes_and_balls_is_the_largest_expectation(
    case: tuple[dict[str, Any], list[int]],
) -> None:
    """Its minimum over tau is at one of the values, as it is piecewise linear."""
    keys, values = case
    priors, q = build(keys), np.array(values, dtype=float)
    found = priors.support()
    assert (found is None) == ("priors" in keys)
    if found is None:
        return
    rest = 1 - found.top - found.base.sum()
    fixed = found.base @ q + found.top * q.max()
    least = min(fixed + rest * t + found.weights @ np.maximum(q - t, 0) for t in q)
    assert least == pytest.approx(float(priors.extreme_mean(values, largest=True)), abs=1e-9)


@examples(25)
@given(sets, st.integers(0, 10**6))
def test_a_distribution_in_floating_point_has_a_member_near(
    case: tuple[dict[str, Any], list[int]], seed: int
) -> None:
    """A vertex the same up to rounding, any in a ball one of few digits."""
    keys, values = case
    if "priors" in keys:
        return
    priors = build(keys)
    extreme = priors.extreme(values, largest=True)
    near = priors.member_near(np.array([float(p) for p in extreme]))
    assert contains(keys, near)
    assert max(abs(p - v) for p, v in zip(near, extreme, strict=True)) < Fraction(1, 10**9)
    if "center" in keys:
        near = priors.member_near(np.random.default_rng(seed).dirichlet(np.ones(len(values))))
        assert contains(keys, near)
        is_short = all(10**12 % p.denominator == 0 for p in near)
        assert is_short or near == tuple(map(Fraction, keys["center"]))


def test_too_many_vertices_are_refused_soon() -> None:
    """Sums of ends are not added up again at every entry."""
    with pytest.raises(UnsupportedError, match="a set of at most 4096 vertices"):
        PriorBall([Fraction(1, 100)] * 100, "0.1").vertices()


@examples(20)
@given(sets)
def test_vertices_lie_in_the_set_and_are_not_mixtures_of_each_other(
    case: tuple[dict[str, Any], list[int]],
) -> None:
    keys, _ = case
    priors = build(keys)
    vertices, again = priors.vertices(), build(priors.to_table())
    assert (again, hash(again), again.vertices()) == (priors, hash(priors), vertices)
    assert len(set(vertices)) == len(vertices)
    if "priors" in keys:
        assert {tuple(map(Fraction, p)) for p in keys["priors"]} == set(vertices)
        return
    assert all(contains(keys, p) for p in vertices)
    points = np.array([[float(v) for v in p] for p in vertices])
    for i, point in enumerate(points):
        others = np.delete(points, i, axis=0)
        if len(others):
            A = np.vstack([others.T, np.ones(len(others))])
            mixture = scipy.optimize.linprog(
                np.zeros(len(others)), A_eq=A, b_eq=np.append(point, 1)
            )
            assert mixture.status == 2  # infeasible


@examples(10)
@given(st.integers(1, 5).flatmap(simplex))
def test_a_ball_of_radius_nothing_is_its_centre(center: list[Fraction]) -> None:
    assert PriorBall(center, 0).vertices() == (tuple(center),)
    assert set(PriorBall(center, 1).vertices()) == {
        tuple(Fraction(int(x == z)) for x in range(len(center))) for z in range(len(center))
    }


def test_one_input_and_ties_in_the_values() -> None:
    for priors in (PriorBall([1], 0.5), PriorBox([0.2], [1]), PriorList([[1], [1]])):
        assert priors.vertices() == ((1,),)
        assert priors.extreme_mean([7], largest=True) == 7
    priors = PriorBall([0.25] * 4, 0.3)
    assert priors.extreme_mean([1, 1, 1, 1], largest=True) == 1
    assert priors.extreme_mean([0, 1, 0, 1], largest=True) == Fraction(8, 10)


def test_few_vertices_are_found_in_few_steps() -> None:
    """Counted in calls of functions: there are 14! orders in which to fill the inputs."""
    priors, calls = PriorBox([0] * 14, [1] * 14), [0]

    def count(_frame: Any, event: str, _argument: Any) -> None:
        calls[0] += event == "call"

    sys.setprofile(count)
    try:
        found = priors.vertices()
    finally:
        sys.setprofile(None)
    assert len(found) == 14
    assert calls[0] <= 1_000_000


@pytest.mark.parametrize(
    "priors",
    [
        PriorBall([Fraction(1, 40)] * 40, "0.3"),
        PriorBox([Fraction(1, 80)] * 40, [Fraction(1, 20)] * 40),
    ],
)
def test_too_many_vertices_are_refused_but_the_extreme_is_found(priors: PriorSet) -> None:
    with pytest.raises(UnsupportedError, match="a set of at most 200 vertices"):
        priors.vertices(limit=200)
    values = list(range(40))
    assert priors.extreme_mean(values, largest=False) < priors.extreme_mean(values, largest=True)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: PriorBox([0.5], [0.6, 1]), "upper: expected 1 numbers"),
        (lambda: PriorBox([-0.1, 0], [1, 1]), r"lower\[0\]"),
        (lambda: PriorBall([0.5, 0.6], 0.1), "^center.*sum to 1"),
        (lambda: PriorBall([0.5, 0.5], 1.1), r"radius: expected a number in \[0, 1\]"),
        (lambda: PriorBall([0.5, 0.5], -0.1), "radius"),
        (lambda: PriorBall([0.5, 0.5], "nan"), "radius"),
        (lambda: PriorList([[0.5, 0.6]]), r"^priors\[0\].*sum to 1"),
        (lambda: PriorList("ab"), "a list of priors"),
        (lambda: PriorList(3), "a list of priors"),
    ],
)
def test_invalid_sets_of_priors_are_refused(make: Any, match: str) -> None:
    check_refused(match, make)
