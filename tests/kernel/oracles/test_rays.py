"""Rays of a source: safe for costs and for every form of gain, exact where they are the cone's.

Work is counted from sizes before it begins: steps grow with each size, and are refused.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from mechdesign.errors import LimitError
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.gains import Squares, units
from mechdesign.kernel.generators import Constant, Distance, Lift, Listed, Ratio
from mechdesign.kernel.limits import Information
from mechdesign.kernel.linearizations import AsGain
from mechdesign.kernel.oracles import (
    Classes,
    DoubleDescription,
    Entropy,
    Facet,
    Knapsack,
    Line,
    OneBudget,
    Oracles,
    Orthant,
    Products,
    Rays,
    Simplicial,
    Subsets,
    Walk,
)
from mechdesign.kernel.oracles.common import Ask, Found, Source
from mechdesign.kernel.packed import Numbers, Places, Weights
from mechdesign.kernel.proof import Program
from mechdesign.kernel.statement import Statement
from mechdesign.resources import allow
from tests.kernel.draws import gained, ratio, refused

ONE = Fraction(1)
K3 = (ONE / 2, ONE / 3, ONE / 6)
DD = Rays(DoubleDescription())


class Given(Source):
    """Rays as they are given."""

    kind = "given"

    def __init__(self, found: Found) -> None:
        self.found = found

    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        return self.found

    def count(self, statement: Statement) -> int:
        return 0


def test_a_direction_must_have_weights_where_something_is_missing() -> None:
    def price(*weights: int) -> Any:
        aim = gained(2, p=tuple(ONE * w for w in weights))
        return DD.linear(Statement(2, (), (), aim))

    with refused("of weight 0"):
        price(1, 0)([0, 0], [0, 1], None)
    assert price(1, 0)([0, 0], [5, -1], None) == [0, -1]
    with refused("no ray has a weight"):
        price(0, 0)([0, 0], [0, 0], None)
    for n in ((1,), (1, 1, 1)):
        with refused("a weight for each input"):
            price(*n)
    with refused("negative weight"):
        price(1, -1)
    with refused("without weights"):
        DD.linear(Statement(2, (), (), None))


def test_rays_with_a_negative_entry_are_refused() -> None:
    statement, gain = Statement(2, (), (), gained(2)), gained(2)
    oracle = Rays(Given(Found([[1, 1], [2, -1]])))
    with refused("negative entry"):
        oracle.linear(statement)
    with refused("negative entry"):
        oracle.gain(statement, gain, [0, 0])


def test_a_claim_and_a_rest_are_paid() -> None:
    """The claim is at least paid; the rest takes max(0, d) of each unit vector."""
    statement = Statement(2, (), (), gained(2))
    claimed = Rays(Given(Found([[1, 1]], claim=(7, 2))))
    assert claimed.linear(statement)([0, 0], [0, 0], None) == [-4, -4]
    assert claimed.linear(statement)([0, 0], [8, 8], None) == [0, 0]
    seen = []

    def rest(D: list[int]) -> list[int]:
        seen.append(D)
        return [2 * v for v in D]

    partly = Rays(Given(Found([[1, 1]], rest=rest)))
    assert partly.linear(statement)([0, 0], [3, -9], None) == [3 - 6, -9]
    assert seen == [[3, 0]]


def test_more_rays_than_a_reader_allows_are_refused() -> None:
    rng = random.Random(1)
    statement = Statement(6, (ratio(rng, 6, "constant"),), (), gained(6))
    for source in (DoubleDescription(), Subsets()):
        with allow(rays=60), pytest.raises(LimitError):
            Rays(source).linear(statement)
    large = Statement(40, (Ratio(Constant(ONE)),), (), gained(40))
    with pytest.raises(LimitError):
        Rays(Subsets()).linear(large)


def stated(k: int) -> Statement:
    p = (ONE / k,) * k
    points = tuple((Fraction(x),) for x in range(k))
    parts = (Ratio(Constant(ONE)), Ratio(Distance(ONE, "absolute", points)))
    lift = Lift(ONE, ONE, Listed((p,)))
    return Statement(k, (*parts, lift), (Information(p, ONE),), gained(k))


def oracles(k: int) -> list[tuple[Oracles, bool]]:
    """Return each oracle, and whether it is for gains."""
    pair = Numbers([0.0, 0.0])
    return [
        (Orthant(), False),
        (Line(), False),
        (OneBudget(), False),
        (Knapsack(), False),
        (Knapsack(), True),
        (Entropy(((0, ONE),), Numbers([0.0] * k)), False),
        (Products(ONE, (), Places(), Places(), Weights()), True),
        (Rays(DoubleDescription()), True),
        (Rays(Subsets()), True),
        (Rays(Classes((tuple(range(k)),))), True),
        (Rays(Walk(ONE, ((),), (pair,))), True),
        (Rays(Simplicial(tuple(Facet(None, x) for x in range(k)))), True),
    ]


def program(k: int, nodes: int, *, gain: bool) -> Program:
    p = (ONE / k,) * k
    if gain:
        return Program(ONE, gain=Squares(units(p), p))
    return Program(ONE, [[UNIT] * k for _ in range(nodes)])


@pytest.mark.parametrize("place", range(12))
def test_steps_grow_with_inputs_and_nodes(place: int) -> None:
    small, large = oracles(4)[place], oracles(8)[place]
    few = small[0].steps(stated(4), program(4, 3, gain=small[1]))
    assert 4 <= few < large[0].steps(stated(8), program(8, 3, gain=large[1]))
    if not small[1] or isinstance(small[0], Rays):
        few = small[0].steps(stated(4), program(4, 3, gain=False))
        assert few < small[0].steps(stated(4), program(4, 300, gain=False))


def test_steps_grow_with_the_lists_of_a_certificate() -> None:
    statement, gain = stated(4), program(4, 1, gain=True)
    empty = Products(ONE, (), Places(), Places(), Weights()).steps(statement, gain)
    formed = Products(ONE, ((0, 1),) * 500, Places(), Places(), Weights()).steps(statement, gain)
    lists = Places([0] * 500), Places([0] * 500), Weights([ONE] * 500)
    many = Products(ONE, ((0, 1),) * 500, *lists).steps(statement, gain)
    lifted = Products(ONE, ((0, 1),) * 500, *lists, (ONE / 4,) * 4).steps(statement, gain)
    assert empty < formed < many < lifted
    short = Rays(Walk(ONE, ((),), (Numbers([0.0] * 2),)))
    long = Rays(Walk(ONE, ((ONE / 2,) * 500,), (Numbers([0.0] * 502),)))
    assert short.steps(statement, gain) < long.steps(statement, gain)
    pairs = Rays(Subsets(((0, 1), (2, 3))))
    assert pairs.steps(statement, gain) < Rays(Subsets()).steps(statement, gain)
    one = Rays(Classes((tuple(range(4)),)))
    assert one.steps(statement, gain) < Rays(Classes(())).steps(statement, gain)


class Never(Subsets):
    """A source that must not be asked."""

    def __call__(self, *_: object) -> object:
        raise AssertionError("work was begun")


def test_work_beyond_the_limit_is_not_begun() -> None:
    statement = Statement(20, (Ratio(Constant(ONE)),), (), gained(20))
    certificate = Certificate(AsGain(), Rays(Never()))
    with pytest.raises(LimitError, match="oracle 'rays'"):
        certificate.bound(statement, Steps(10**6))
    with pytest.raises(AssertionError, match="work was begun"):
        certificate.bound(statement, Steps(10**12))
    for place, (oracle, gain) in enumerate(oracles(5)):
        if gain and place != 4:
            with pytest.raises(LimitError, match="oracle"):
                Certificate(AsGain(), oracle).bound(stated(5), Steps(10))


def test_a_claim_of_a_source_is_paid_for() -> None:
    """Prices fall by what the source claims that other rays may need: 2/3 for a weight of 1."""
    source = Given(Found([[1, 1, 1]], claim=(2, 3)))
    statement = Statement(3, (), (), gained(3, p=K3))
    prices = [-(1 << 200)] * 3
    safe = Rays(source).gain(statement, Squares(units(K3), K3), prices)
    for u, v, p in zip(prices, safe, K3, strict=True):
        assert u - v == pytest.approx(2 / 3 * float(p * 6), rel=0, abs=1)


def test_a_claim_is_rounded_up() -> None:
    even = (ONE / 2, ONE / 2)
    source = Given(Found([[1, 1]], claim=(1, 3)))
    statement = Statement(2, (), (), gained(2, p=even))
    prices = [-(1 << 200)] * 2
    safe = Rays(source).gain(statement, Squares(units(even), even), prices)
    assert all(u - v >= Fraction(1, 3) for u, v in zip(prices, safe, strict=True))


def test_prices_of_rays_are_not_saved_by_a_claim_of_nothing() -> None:
    """The dearer of the claim and the rays decides."""
    statement, gain = Statement(3, (), (), gained(3, p=K3)), Squares(units(K3), K3)
    found = [
        Rays(Given(Found([[1, 1, 1]], claim=claim))).gain(statement, gain, [0, 0, 0])
        for claim in (None, (-1, 1), (5 * UNIT, 1))
    ]
    assert found[0] == found[1]
    assert all(a > b for a, b in zip(found[0], found[2], strict=True))
