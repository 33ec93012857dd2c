"""Answers from listed rows alone agree with those of families with more structure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, ContextAwareLDP, Domain, Prior
from mechdesign.files.templates import template
from mechdesign.kernel.generators import Lift, Listed
from mechdesign.notions import NOTIONS, Cone, Notion, restored
from mechdesign.notions.rows.family import Family
from mechdesign.notions.rows.row import Row
from mechdesign.repair import repair
from tests.strategies import WHOLE, Case, cases, channels, examples


def plain(case: Case) -> tuple[Family, Family]:
    """The rows of a notion, and the same without anything known about them."""
    family = case.notion.family(case.domain, case.prior)
    return family, Family(list(family.rows()), family.size, family.epsilon)


def same_classes(one: Family, other: Family) -> None:
    for classes in (Cone.components, Cone.equal_classes):
        assert classes(Cone([one])).tolist() == classes(Cone([other])).tolist()


@given(case=cases(), data=st.data())
@examples(50)
def test_rows_are_enough(case: Case, data: st.DataObject) -> None:
    family, rows = plain(case)
    assert family.binds() == rows.binds()
    same_classes(family, rows)
    channel = data.draw(channels(family.size))
    assert family.all_hold(channel.numerators) == rows.all_hold(channel.numerators)
    for column in channel.columns():
        assert (family.violation(column) is None) == (rows.violation(column) is None)
    expected = family.leakage(channel)
    assert rows.leakage(channel) == expected or abs(rows.leakage(channel) - expected) < 1e-12
    positive = np.array([[v > 0 for v in row] for row in channel.numerators])
    wider = rows.support(positive)
    assert (wider >= positive).all()
    assert (rows.support(wider) == wider).all()
    assert (family.support(positive) <= wider).all()


@given(case=cases(), data=st.data())
@examples(25)
def test_terms_of_multipliers_are_those_of_the_rows(case: Case, data: st.DataObject) -> None:
    family, rows = plain(case)
    n = len(list(family.rows()))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=2 * n, max_size=2 * n)))
    costs = np.zeros((2, family.size, 2))
    for place, own in enumerate((family, rows)):
        for m in own.read_dual(weights.reshape(n, 2).astype(float)):
            own.add_terms(costs[place], m)
    np.testing.assert_allclose(costs[0], costs[1], atol=1e-12)


@given(case=cases(), data=st.data())
@examples(30)
def test_repair_needs_rows_only(case: Case, data: st.DataObject) -> None:
    """Repair moves a nearly private channel by about as much as it lacks."""
    family, rows = plain(case)
    noise = data.draw(st.sampled_from([0.0, 1e-9, 1e-3, 1.0]))
    given = data.draw(channels(family.size, least=1)).matrix
    constant = np.tile(given.mean(axis=0), (family.size, 1))
    numerators, kept = repair(Cone([rows]), (1 - noise) * constant + noise * given)
    assert (numerators.sum(axis=1) == WHOLE).all()
    assert family.all_hold(numerators)
    assert rows.all_hold(numerators)
    repaired = numerators / WHOLE
    assert abs(repaired - constant[:, kept]).max() <= 2 * noise + 1e-9


def test_a_sum_on_each_side() -> None:
    """left = q_0 + q_1 and right = 2 q_2: a column may be 0 where no row asks for more."""
    left, right = {0: Fraction(1), 1: Fraction(1)}, {2: Fraction(2)}
    rows = Family([Row("r", left, Fraction(0), right)], 4, Fraction(0))
    assert Cone([rows]).components().tolist() == [0, 0, 0, 1]
    assert rows.equations() == [[Fraction(1), Fraction(1), Fraction(-2), Fraction(0)]]
    assert Cone([rows]).equal_classes().tolist() == [0, 1, 2, 3]
    assert Cone([rows]).flat_basis() is not None
    near = np.array([[0.3, 0.7], [0.5, 0.5], [0.4, 0.6], [1.0, 0.0]]) + 1e-9
    numerators, _ = repair(Cone([rows]), near)
    assert rows.all_hold(numerators)
    assert abs(numerators / WHOLE - near).max() < 1e-6
    assert rows.violation([1, 0, 0, 0]) == "r"
    assert rows.leakage(Channel.from_matrix([["1/2", "1/2"]] * 4)) == 0


def test_a_sum_beside_a_tie() -> None:
    """q_0 + q_1 = 2 q_2 in one notion and q_0 = q_3 in another leave two free entries of four."""
    left, right = {0: Fraction(1), 1: Fraction(1)}, {2: Fraction(2)}
    rows = Family([Row("r", left, Fraction(0), right)], 4, Fraction(0))
    tied = [[0 if {x, z} == {0, 3} else "inf" for z in range(4)] for x in range(4)]
    cone = Cone([rows, ContextAwareLDP(tied).family(Domain(range(4)))])
    basis = cone.flat_basis()
    assert basis is not None
    assert np.linalg.matrix_rank(np.array(basis, dtype=float)) == len(basis[0]) == 2
    channel = np.array([[0.2, 0.8], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    numerators, _ = repair(cone, channel + 1e-9)
    assert cone.all_hold(numerators)
    assert abs(numerators / WHOLE - channel).max() < 1e-6


def test_tiny_coefficients_are_compared_exactly() -> None:
    """e**-3000 is no float: a row that only it breaks is broken all the same."""
    row = Row("r", {0: Fraction(1)}, Fraction(-3000), {1: Fraction(10) ** 2000})
    rows = Family([row], 2, Fraction(0))
    assert rows.all_hold(np.array([[1], [1]]))
    assert not rows.all_hold(np.array([[1], [0]]))


# The generators of the kernel and the rows of the search are the same rows.


INPUTS, PRIOR = Domain(range(4)), Prior(["1/10", "2/10", "3/10", "4/10"])


def example(name: str) -> Notion:
    return restored(tomllib.loads(template(NOTIONS[name]))["privacy"])


def contents(rows: Iterable[Any]) -> list[Any]:
    return sorted(
        (*(sorted(dict(side).items()) for side in (r.left, r.right)), r.exponent) for r in rows
    )


@pytest.mark.parametrize("name", [name for name in NOTIONS if example(name).is_conic])
def test_rows_and_generators_ask_for_the_same(name: str) -> None:
    (part,) = example(name).generators(INPUTS, PRIOR)
    if isinstance(part, Lift) and not isinstance(part.priors, Listed):
        pytest.skip("the members of a ball or a box are not listed")
    rows = [part.row(key, len(INPUTS), up=False) for key in part.keys(len(INPUTS))]
    assert contents(example(name).family(INPUTS, PRIOR).rows()) == contents(rows)
