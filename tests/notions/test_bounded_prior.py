"""Bounds on the lift for every prior of a set: both sides of the budget, and what they imply."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import BoundedPriorLift, BoundedPriorPML, Channel, Prior, Problem
from mechdesign.notions.bounded_prior import stated_priors
from tests.refusals_support import check_refused
from tests.strategies import channels, examples, priors, simplex

CENTER = ["0.1", "0.2", "0.3", "0.4"]
WAYS: dict[str, Any] = {
    "list": [CENTER, ["0.25"] * 4],
    "box": {"lower": ["0.05", "0.1", "0.2", "0.3"], "upper": ["0.2", "0.3", "0.4", "0.5"]},
    "ball": {"center": CENTER, "radius": "0.05"},
}


def largest(channel: Channel, members: Any, *, above: bool) -> float:
    """Return the largest log lift, or inverse log lift, over some priors, from the definition."""
    worst = -math.inf
    for prior, row in itertools.product(members, channel.rows()):
        for y, q in enumerate(row):
            if not any(other[y] for other in channel.rows()):
                continue
            law = sum(p * other[y] for p, other in zip(prior, channel.rows(), strict=True))
            top, bottom = (q, law) if above else (law, q)
            worst = max(worst, math.inf if not bottom else math.log(top / bottom or 1e-300))
    return worst


@pytest.mark.parametrize("way", WAYS)
def test_optimal_channels_are_private_at_the_budget_and_not_below(way: str) -> None:
    pml = BoundedPriorPML("0.5", stated_priors(WAYS[way]))
    solution = md.design(Problem(range(4), pml, md.HammingLoss(), prior=CENTER))
    assert solution.gap < 1e-9
    assert pml.holds(solution.channel)
    assert not pml.at("0.49").holds(solution.channel)
    assert largest(solution.channel, pml.priors.vertices(), above=True) <= 0.5
    assert md.PML("0.5").holds(solution.channel, Prior(CENTER))

    sides = BoundedPriorLift("0.6", "0.4", WAYS[way])
    solution = md.design(Problem(range(4), sides, md.HammingLoss(), prior=CENTER))
    assert solution.gap < 1e-9
    assert sides.holds(solution.channel)
    for lower, upper in (("0.59", "0.4"), ("0.6", "0.39")):
        assert not BoundedPriorLift(lower, upper, WAYS[way]).holds(solution.channel)
    assert largest(solution.channel, sides.priors.vertices(), above=False) <= 0.6


@examples(15)
@given(channels(3), priors(3, 1), st.lists(simplex(3), max_size=2))
def test_leakage_is_the_largest_over_the_members(channel: Channel, own: Prior, others: Any) -> None:
    members = [list(own), *others]
    found = BoundedPriorPML(1, members).leakage(channel)
    expected = largest(channel, members, above=True)
    assert found == pytest.approx(expected, abs=1e-12)
    assert found >= md.PML(1).leakage(channel, own)
    excess = BoundedPriorLift("inf", 1, members).leakage(channel)
    assert excess == pytest.approx(expected - 1, abs=1e-12)


@examples(20)
@given(channels(3))
def test_for_all_priors_it_is_local_differential_privacy(channel: Channel) -> None:
    every = BoundedPriorPML(1, center=[Fraction(1, 3)] * 3, radius=1)
    assert every.leakage(channel) == pytest.approx(md.LDP(1).leakage(channel), abs=1e-12)


def test_one_prior_is_the_notion_of_that_prior_and_the_two_budgets_equal_are_lip() -> None:
    domain, prior = md.Domain.range(4), Prior(CENTER)
    for one, many in (
        (md.PML(1), BoundedPriorPML(1, [CENTER])),
        (md.AsymmetricLift(1, "inf"), BoundedPriorLift(1, "inf", [CENTER])),
        (
            md.BoundedPriorLIP(1, **WAYS["ball"]),
            BoundedPriorLift(1, 1, WAYS["ball"]),
        ),
    ):
        rows, others = (list(n.family(domain, prior).rows()) for n in (one, many))
        assert [row[1:] for row in rows] == [row[1:] for row in others]


BAD: list[tuple[Any, str]] = [
    (lambda: BoundedPriorPML(1), "priors: expected exactly one of"),
    (lambda: BoundedPriorPML(-1, [[1]]), "epsilon: expected a finite number >= 0"),
    (lambda: BoundedPriorLift(1, 1, {"lower": [1]}), "priors: expected exactly one of"),
    (lambda: BoundedPriorLift(1, 1, {"center": [1], "radus": 0}), "radus: expected one of the"),
    (lambda: BoundedPriorLift(1, 1, []), "priors: expected at least one prior"),
    (lambda: BoundedPriorLift(math.nan, 1, [[1]]), "lower: expected a finite number"),
    (lambda: BoundedPriorLift(1, 1, [[1]]).cone(md.Domain.range(2)), "priors: expected 2"),
    (lambda: md.SensitiveAttributePrivacy(BoundedPriorPML(1, [[1]]), {}), "notion: expected"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_wrong_sets_are_refused_in_one_line(make: Any, message: str) -> None:
    check_refused(message, make)


def test_labels_decide() -> None:
    labelled = BoundedPriorLift(1, 1, {"center": {"b": "0.7", "a": "0.3"}, "radius": "0.1"})
    plain = BoundedPriorLift(1, 1, {"center": ["0.3", "0.7"], "radius": "0.1"})
    domain = md.Domain(["a", "b"])
    assert labelled.aligned(domain) == plain
    rows = [[row[1:] for row in n.family(domain).rows()] for n in (labelled, plain)]
    assert rows[0] == rows[1]
