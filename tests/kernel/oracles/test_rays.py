"""Rays of each source are safe for costs and gains, and exact where they are the cone's.

Work is counted from sizes before it begins: steps grow with each size, and are refused.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import gcd
from operator import mul
from typing import Any

import pytest

from mechdesign.errors import LimitError
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.gains import Entropy as EntropyGain, Hellinger, Squares, units
from mechdesign.kernel.generators import (
    Cone,
    Constant,
    Distance,
    Latent,
    Lift,
    Listed,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
)
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
    knapsack,
)
from mechdesign.kernel.oracles.common import Ask, Found, Source, scales
from mechdesign.kernel.oracles.double_description import PAIRS
from mechdesign.kernel.oracles.simplicial import _diagonal
from mechdesign.kernel.oracles.walk import GRID, _worth, open_sets
from mechdesign.kernel.packed import Numbers, Places, Weights
from mechdesign.kernel.proof import Cost, Program
from mechdesign.kernel.statement import Statement
from mechdesign.resources import allow
from tests.independent import bounds
from tests.independent.files import inverse
from tests.independent.rationals import RefusedError
from tests.kernel.draws import (
    Vector,
    cone,
    cost,
    dot,
    exponent,
    gained,
    most_gain,
    number,
    numbers,
    prior,
    ratio,
    rays,
    refused,
    safe_for_gain,
)
from tests.kernel.oracles.test_oracles import cycle

ONE, ZERO = Fraction(1), Fraction(0)
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


def whole_rows(rng: random.Random, k: int) -> Rows:
    """Return rows of small integers, which rays break by one unit and (1, .., 1) satisfies."""
    rows = []
    for _ in range(4):
        sides = sorted(([rng.randint(0, 2) for _ in range(k)] for _ in range(2)), key=sum)
        left, right = (tuple((x, Fraction(v)) for x, v in enumerate(side)) for side in sides)
        rows.append(ListedRow(left, Fraction(0), right))
    return Rows(tuple(rows))


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_rays_are_the_extreme_ones(seed: int, small: bool) -> None:
    """A ray too many may be found, in the cone of all rows."""
    rng = random.Random(seed)
    k = rng.randint(1, 4)
    statement = Statement(k, (whole_rows(rng, k),) if small else cone(rng, k), (), None)
    rows = statement.rows()
    found = [tuple(ray) for ray in DoubleDescription()(statement, None).rays]
    assert len(set(found)) == len(found)
    assert all(gcd(*ray) == 1 and min(ray) >= 0 for ray in found)
    assert set(bounds.rays(k, rows)) <= set(found)
    assert all(dot(row, ray) <= 0 for row in rows for ray in found)


def test_rays_and_pairs_have_a_limit() -> None:
    rng = random.Random(3)
    statement = Statement(4, cone(rng, 4)[:1], (), None)
    size = len(DoubleDescription()(statement, None).rays)
    with allow(rays=size):
        DoubleDescription()(statement, None)
    with allow(rays=1), pytest.raises(LimitError):
        DoubleDescription()(statement, None)
    assert PAIRS == 400
    assert DoubleDescription().count(statement) == 2**4


@pytest.mark.parametrize(("k", "n_values", "most"), [(12, 2, 144), (9, 3, 1797), (9, 4, 9261)])
def test_rays_of_a_latent_variable_of_few_values_are_few(k: int, n_values: int, most: int) -> None:
    """The steps of a list count C(m, j) C(k, j + 1) for each j below the number of values."""
    rng = random.Random(k)
    B = tuple(tuple(Fraction(rng.randint(1, 9)) for _ in range(k)) for _ in range(n_values))
    part = Latent(B, Ratio(Constant(ONE)))
    statement = Statement(k, (part,), (), gained(k))
    found, count = DoubleDescription()(statement, None).rays, DoubleDescription().count(statement)
    assert all(part.test(k)(ray) is None or max(ray) > 2**64 for ray in found)
    assert len(found) <= count == min(2**k, most)
    assert DoubleDescription().count(replace(statement, cone=(part, part))) == 2**k


def test_rays_are_rounded_towards_zero_only_along_a_diagonal() -> None:
    """Each of a cycle is close to its exact column from below; what is missing is the rest."""
    rng = random.Random(2)
    for k in (2, 3, 5):
        part, faces = cycle(rng, k)
        statement = Statement(k, (part,), (), gained(k))
        found = Simplicial(faces)(statement, None)
        D = [2**200 + x for x in range(k)]
        left = found.rest(D)
        for q in rays(statement):
            share = sum(a * v for a, v in zip(left, q, strict=True))
            assert 0 <= share << 100 <= sum(D) * max(q)
    exact = Simplicial((Facet(0, 0, 1), Facet(0, 1, 0), Facet(1, 0)))
    rows = Rows((ListedRow(((0, ONE), (1, ONE)), ONE, ((2, ONE),)),))
    part = Ratio(Matrix(((ONE, ONE, "inf"), (ONE, ONE, "inf"), ("inf", "inf", "inf"))))
    plain = exact(Statement(3, (part, rows), (), gained(3)), None)
    assert plain.rest is not None  # rows of one positive entry each are enough


def test_facets_of_a_latent_generator() -> None:
    rng = random.Random(7)
    B = ((ONE / 2, ONE / 4, ONE / 4), (ONE / 5, ONE / 5, 3 * ONE / 5))
    part = Latent(B, Ratio(Matrix(((ONE, ONE / 9), (ONE / 9, ONE)))))
    statement = Statement(3, (part,), (), gained(3))
    oracle = Rays(Simplicial((Facet(None, 0), Facet(None, 1), Facet(0, 0, 1))))
    test = part.test(3)
    price = oracle.linear(statement)
    for _ in range(40):
        c = cost(rng, 3)
        safe = price(list(c), cost(rng, 3), None)
        for _ in range(30):
            q = [rng.randint(0, 50) for _ in range(3)]
            if test(q) is None:
                assert sum((a - b) * v for a, b, v in zip(safe, c, q, strict=True)) <= 0


def test_facets_of_lifts_at_two_priors_are_apart() -> None:
    rng, priors = random.Random(8), ((ONE / 10, 9 * ONE / 10), (9 * ONE / 10, ONE / 10))
    statement = Statement(2, (Lift(None, ONE / 2, Listed(priors)),), (), gained(2))
    facets = Rays(Simplicial((Facet(0, 0, 0, "upper"), Facet(0, 1, 1, "upper"))))
    for _ in range(9):
        c, u = cost(rng, 2), cost(rng, 2)
        one, two = (oracle.linear(statement)(list(c), list(u), None) for oracle in (facets, DD))
        assert one == pytest.approx(two, rel=0, abs=UNIT / 10**20)


def test_a_facet_is_a_row_of_a_list_longer_than_the_inputs() -> None:
    rows = Rows(tuple(ListedRow(((0, ONE),), n * ONE, ((1, ONE),)) for n in (3, 2, 1)))
    statement, sums = Statement(2, (rows,), (), gained(2)), []
    for n in range(3):
        price = Rays(Simplicial((Facet(0, n), Facet(None, 0)))).linear(statement)
        sums.append(sum(price([0, 1 << 192], [1 << 192] * 2, None)))
    assert sums[0] < sums[1] < sums[2]


def test_a_long_chain_is_safe() -> None:
    """Its numbers are rounded many times."""
    rng = random.Random(11)
    k = 40
    table = [[exponent(rng) * abs(x - z) for z in range(k)] for x in range(k)]
    statement = Statement(k, (Ratio(Matrix(tuple(map(tuple, table)))),), (), gained(k))
    up = [Facet(0, x + 1, x) for x in range(20)] + [Facet(0, x - 1, x) for x in range(21, k)]
    oracle = Rays(Simplicial((*up, Facet(None, 20))))
    price = oracle.linear(statement)
    for _ in range(5):
        c = cost(rng, k)
        safe = price(list(c), cost(rng, k), None)
        q = [2**60] * k
        for _ in range(4):
            assert sum((a - b) * v for a, b, v in zip(safe, c, q, strict=True)) <= 0
            q = [v + rng.randint(0, 2**59) for v in q]


def undone_or_none(rows: list[list[Fraction]]) -> list[list[Fraction]] | None:
    try:
        return inverse(rows)
    except RefusedError:
        return None


def test_rounding_is_allowed_for_regular_m_matrices_only() -> None:
    """One positive entry in each row, each in a column of its own, sums >= 0, and regular."""
    rng = random.Random(5)
    seen = [0, 0]
    for _ in range(800):
        k = rng.randint(1, 4)
        rows = [[Fraction(rng.choice((0, 0, 0, -1, -1, -2))) for _ in range(k)] for _ in range(k)]
        places = rng.sample(range(k), k)
        if rng.random() < 0.2:
            places[0] = rng.randrange(k)
        for row, place in zip(rows, places, strict=True):
            row[place] = Fraction(-sum(row) + row[place] + rng.choice((0, 0, 1, 1, -1)))
            row[rng.randrange(k)] += rng.choice((0, 0, 0, 0, 1))
        positive = [[x for x, v in enumerate(row) if v > 0] for row in rows]
        signs = all(len(some) == 1 for some in positive)
        signs = signs and len({some[0] for some in positive}) == k
        signs = signs and all(sum(row) >= 0 for row in rows)
        found = _diagonal([{x: v for x, v in enumerate(row) if v} for row in rows])
        undone = undone_or_none(rows)
        assert (found is not None) == (signs and undone is not None)
        if found is not None and undone is not None:
            assert found == [some[0] for some in positive]
            assert min(map(min, undone)) >= 0
        seen[found is not None] += 1
    assert min(seen) > 100


Blocks = tuple[tuple[int, ...], ...] | None


@pytest.mark.parametrize("seed", range(8))
def test_subsets_price_ratios_scaled_by_a_prior_as_all_extreme_rays_do(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(2, 4)
    p, base, u = prior(rng, k), prior(rng, k, least=4), cost(rng, k)
    statement = Statement(k, (Ratio(Constant(exponent(rng)), base),), (), gained(k, p=p))
    for gain in (Squares(units(p), p), EntropyGain.of_inputs(p)):
        few, every = (
            Rays(source).gain(statement, gain, u) for source in (Subsets(), DoubleDescription())
        )
        assert few == pytest.approx(every, rel=1e-12)


# ---- classes -----------------------------------------------------------------------------------


def symmetric(rng: random.Random, k: int) -> tuple[Statement, tuple[tuple[int, ...], ...], Cost]:
    """Return a statement, groups whose inputs it does not tell apart, and prices as symmetric."""
    kinds = [rng.randint(0, 2) for _ in range(k)]
    found = {n: [x for x in range(k) if kinds[x] == n] for n in sorted(set(kinds))}
    protected = rng.choice((None, tuple(x for x in range(k) if kinds[x] > 0)))
    block = rng.choice((None, tuple(int(n == 2) for n in kinds)))
    masses = [rng.randint(1, 5) for _ in range(3)]
    p = tuple(Fraction(masses[n], sum(masses[m] for m in kinds)) for n in kinds)
    base = rng.choice((None, tuple(Fraction(9 - n, sum(9 - m for m in kinds)) for n in kinds)))
    parts: tuple[Cone, ...] = (Ratio(Constant(exponent(rng), block, protected), base),)
    part = [cost(rng, 3)[n] for n in range(3)]
    groups = tuple(tuple(rng.sample(g, len(g))) for g in found.values())
    return Statement(k, parts, (), gained(k, p=p)), groups, [part[n] for n in kinds]


@pytest.mark.parametrize("seed", range(20))
def test_one_ray_of_each_class_is_enough(seed: int) -> None:
    """Prices are those of all subsets, and safe."""
    rng = random.Random(seed)
    k = rng.randint(1, 5)
    statement, groups, prices = symmetric(rng, k)
    p = statement.objective.p
    columns = rays(statement)
    some = rng.choice((groups, groups[:1]))
    for gain in (Squares(units(p), p), EntropyGain.of_inputs(p), Squares((p,), p, (ONE / 3,))):
        for blocks in (None, groups):
            found = Rays(Classes(some, blocks)).gain(statement, gain, prices)
            assert found == Rays(Subsets(blocks)).gain(statement, gain, prices)
        safe_for_gain(statement, Rays(Classes(some)), gain, prices, columns)


@pytest.mark.parametrize("seed", range(15))
def test_classes_of_two_lifts_at_the_uniform_prior(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(1, 5)
    p, group = (ONE / k,) * k, (tuple(rng.sample(range(k), k)),)
    lower, upper = rng.choice(((1, 1), (0, 1), (1, 0)))
    part = Lift(
        exponent(rng) * rng.randint(0, 1) if lower else None,
        exponent(rng) / 2 if upper else None,
        Listed((p,)),
    )
    statement, prices = Statement(k, (part,), (), gained(k)), [cost(rng, 1)[0]] * k
    columns = rays(statement)
    for gain in (Squares(units(p), p), EntropyGain.of_inputs(p), Hellinger.of(p, p)):
        oracle = Rays(Classes(group, lifts=True))
        safe = safe_for_gain(statement, oracle, gain, prices, columns)
        if not isinstance(gain, Hellinger):
            best, _ = most_gain(columns, gain)
            assert float(Fraction(sum(safe), UNIT)) == pytest.approx(best, abs=1e-9)


# ---- a walk ------------------------------------------------------------------------------------


def walk(rng: random.Random, statement: Statement, p: Vector, blocks: Blocks, c: Fraction) -> Walk:
    ends, slopes, k, s = [], [], statement.k, scales(statement)
    bounds, p = [[statement.ratio(x, z) for z in range(k)] for x in range(k)], tuple(map(mul, p, s))
    for block in blocks or (tuple(range(k)),):
        known = [[(m := bounds[x][z]) and m * s[z] / s[x] for z in block if z != x] for x in block]
        most = max([max(m) for m in known if None not in m], default=ONE)
        raised = sum((p[x] for x, m in zip(block, known, strict=True) if None not in m), ZERO)
        low = sum((p[x] for x in block), ZERO) / most
        width, inner = (1 - 1 / most) * raised, rng.randint(0, 3)
        near = Fraction(1, 10**9)
        cuts = sorted(near + (1 - 2 * near) * number(rng, 0, 1) for _ in range(inner))
        ends.append(tuple(low + width * t for t in cuts))
        slopes.append(Numbers(numbers(rng, inner + 2, -2, 2)))
    return Walk(c, tuple(ends), tuple(slopes), blocks)


@pytest.mark.parametrize("seed", range(10))
def test_the_worth_of_an_input_is_rounded_up(seed: int) -> None:
    """It is convex in the lift, so at most that of a neighbor on the grid of lifts."""
    rng = random.Random(seed)
    p, prices = (ONE / 3, ONE / 6, ONE / 2), [rng.randint(-5, 5) * UNIT // 7 for _ in range(3)]
    ask = Ask(Squares(units(p), p), prices)
    none, falling = Ask(Squares(units(p)[1:], p), prices), Ask(EntropyGain.of_inputs(p), prices)
    for x in range(3):
        q, t = (Fraction(rng.randint(1, 999), 997) for _ in range(2))
        exact = t * (p[x] * q / t) ** 2 * UNIT + prices[x] * q
        assert (
            exact <= _worth(ask.gain.split(x), prices[x], q, t) < exact + 4 * Fraction(UNIT, GRID)
        )
        near = t * (falling.gain.split(x)(q / t / 2000) - 1) + prices[x] * q / 2000
        assert near <= _worth(falling.gain.split(x), prices[x], q / 2000, t)
    assert prices[0] * q <= _worth(none.gain.split(0), prices[0], q, t) < prices[0] * q + 1
    place = rng.randrange(1, 3 << knapsack.GRID)
    exact = Fraction(prices[0] * place, 1 << knapsack.GRID)
    assert exact <= knapsack._worth(none.gain.split(0), prices[0])(place) < exact + 1


def test_a_walk_needs_one_budget_above_0_in_a_block() -> None:
    p, one = (ONE / 3,) * 3, Walk(ONE, ((),), (Numbers([0.0] * 2),))
    for far, near in ((2, 1), (0, 0)):
        table = [[0, near, far], [near, 0, near], [far, near, 0]]
        part = Ratio(Matrix(tuple(tuple(map(Fraction, row)) for row in table)))
        with refused("expected one budget"):
            Rays(one).gain(Statement(3, (part,), (), gained(3)), EntropyGain.of_inputs(p), [0] * 3)


@pytest.mark.parametrize("seed", range(25))
def test_a_walk_pays_what_all_subsets_need_or_its_claim(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(2, 5)
    halves = (tuple(range(k // 2)), tuple(range(k // 2, k)))
    blocks: Blocks = rng.choice((None, None, halves)) if k > 3 else None
    some = rng.choice((None, tuple(rng.sample(range(k), 2)))) if blocks is None else None
    p = prior(rng, k) if rng.random() < 0.6 else (ONE / k,) * k
    base = prior(rng, k, least=4) if rng.random() < 0.5 else None
    statement = Statement(
        k, (Ratio(Constant(exponent(rng), None, some), base),), (), gained(k, p=p)
    )
    u = cost(rng, k) if rng.random() < 0.6 else [cost(rng, 1)[0]] * k
    columns = rays(statement)
    weighed = tuple(v * a for v, a in zip(p, numbers(rng, k, 0, 2), strict=True))
    for gain in (Squares(units(p), p), EntropyGain.of_inputs(p), Squares(units(weighed), p)):
        full = Rays(Subsets(blocks)).gain(statement, gain, u)
        needed = max(Fraction(a - b, UNIT) / w for a, b, w in zip(u, full, p, strict=True))
        for more in (ZERO, Fraction(1, 2**60), ONE / 3, -ONE / 2, -Fraction(7)):
            c = needed + more
            safe = safe_for_gain(
                statement, Rays(walk(rng, statement, p, blocks, c)), gain, u, columns
            )
            claimed = [a - c * w * UNIT for a, w in zip(u, p, strict=True)]
            for a, b, d in zip(safe, full, claimed, strict=True):
                assert abs(a - min(b, d)) <= 4


def test_a_walk_with_good_slopes_rules_out_all_that_its_claim_pays() -> None:
    """For inputs alike, G(t, S) + m (t(S) - t) depends on t alone with the right m: with ends near
    each t(S), what all sets need at most is found from both sides.
    """
    rng = random.Random(4)
    for _ in range(6):
        k = rng.randint(2, 5)
        p, u = (ONE / k,) * k, [cost(rng, 1)[0]] * k
        statement = Statement(k, (Ratio(Constant(exponent(rng))),), (), gained(k, p=p))
        most = statement.ratio(0, 1)
        low = 1 / most
        sizes = [low + (1 - low) * Fraction(n, k) for n in range(k + 1)]
        near = Fraction(1, 10**7)
        ends = sorted([*(t + near for t in sizes[:-1]), *(t - near for t in sizes[1:])])
        ends = [low, *ends, ONE]
        for gain in (Squares(units(p), p), EntropyGain.of_inputs(p)):
            slopes = []
            for t in ends:  # what one more input that is raised adds, for each unit of t(S)
                up, down = (float(t * gain.split(0)(q / t)) / UNIT for q in (ONE, low))
                rise = up - down + float(u[0] * (1 - low)) / UNIT
                slopes.append(-rise / float((1 - low) / k))
            full = Rays(Subsets()).gain(statement, gain, u)
            needed = Fraction(u[0] - full[0], UNIT) * k
            for c in (needed + ONE / 1000, needed - ONE / 1000):
                found = Walk(c, (tuple(ends[1:-1]),), (Numbers(slopes),))
                listed = found(statement, Ask(gain, u)).rays
                assert (listed == []) == (c > needed)


@pytest.mark.parametrize("slopes", [(-9.0, 9.0), (-100.0, 0.0), (0.0, 100.0)])
def test_slopes_that_pull_both_ends_down_exclude_no_set(slopes: tuple[float, float]) -> None:
    """Halfway between the ends, the addition of a quarter of their difference is tight."""
    p, u = (ONE / 2,) * 2, [0, 0]
    statement = Statement(2, (Ratio(Constant(ONE)),), (), gained(2, p=p))
    for gain in (Squares(units(p), p), EntropyGain.of_inputs(p)):
        needed = Fraction(-Rays(Subsets()).gain(statement, gain, u)[0], UNIT) * 2
        found = Walk(needed * Fraction(99, 100), ((),), (Numbers(slopes),))
        listed = found(statement, Ask(gain, u)).rays
        assert any(max(ray) > min(ray) for ray in listed)


@pytest.mark.parametrize("ends", [(-1, -5), (-5, -1)])
def test_between_two_ends_a_set_may_need_more_than_at_either(ends: tuple[int, int]) -> None:
    """By an addition, here 2: no set is ruled out."""
    left, right = (0, ends[0], [0]), (4, ends[1], [0])
    for slack, found in ((2, [(), (0,)]), (1, [])):
        sets = open_sets(left, right, slack, 1, [1], [0], lambda _i, _j: False, iter(range(9)))
        assert sorted(sets) == found


@pytest.mark.parametrize("first", [True, False])
def test_a_walk_adds_the_increment_of_each_input(first: bool) -> None:
    """Two inputs add 2 each to -3 at one end, and too little at the other."""
    starts, added = ([-3, -9][:: 1 if first else -1], [[2, 2], [0, 0]][:: 1 if first else -1])
    left, right = (0, starts[0], added[0]), (4, starts[1], added[1])
    found = open_sets(left, right, 0, 1, [1, 1], [0, 1], lambda _i, _j: False, iter(range(9)))
    assert [sorted(some) for some in found] == [[0, 1]]


def test_of_exchangeable_inputs_the_first_are_raised() -> None:
    """Two of mass 2 are exchangeable, one of mass 1 is not."""
    end, masses = (1, [0, 0, 0]), [2, 2, 1]
    found = open_sets(
        (0, *end),
        (9, *end),
        0,
        0,
        masses,
        [0] * 3,
        lambda i, j: masses[i] == masses[j],
        iter(range(99)),
    )
    assert sorted(map(sorted, found)) == [[], [0], [0, 1], [0, 1, 2], [0, 2], [2]]
