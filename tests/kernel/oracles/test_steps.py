"""Work is counted from sizes before it begins: steps grow with each size, and are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mechdesign.errors import LimitError
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.gains import Squares, units
from mechdesign.kernel.generators import Constant, Distance, Lift, Listed, Ratio
from mechdesign.kernel.limits import Information
from mechdesign.kernel.linearizations import AsGain
from mechdesign.kernel.oracles import (
    Entropy,
    Knapsack,
    Line,
    OneBudget,
    Oracles,
    Orthant,
    Products,
    Rays,
)
from mechdesign.kernel.oracles.sources import (
    Classes,
    DoubleDescription,
    Facet,
    Simplicial,
    Subsets,
    Walk,
)
from mechdesign.kernel.packed import Numbers, Places, Weights
from mechdesign.kernel.proof import Program
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import gained

ONE = Fraction(1)


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
    if not small[1]:
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

    def __call__(self, *_: object) -> object:  # type: ignore[override]
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
