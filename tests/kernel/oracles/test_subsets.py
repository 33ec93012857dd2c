"""Rays of subsets, of classes of them, and those that a walk cannot rule out."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Entropy, Hellinger, Squares, units
from mechdesign.kernel.generators import Cone, Constant, Lift, Listed, Ratio
from mechdesign.kernel.oracles import Classes, Rays, Subsets, Walk
from mechdesign.kernel.oracles.common import Ask
from mechdesign.kernel.oracles.walk import open_sets
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Cost
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import (
    Vector,
    cost,
    exponent,
    gained,
    most_gain,
    number,
    numbers,
    prior,
    rays,
    safe_for_gain,
)

ONE, ZERO = Fraction(1), Fraction(0)
Blocks = tuple[tuple[int, ...], ...] | None


# ---- classes -----------------------------------------------------------------------------------


def symmetric(rng: random.Random, k: int) -> tuple[Statement, tuple[tuple[int, ...], ...], Cost]:
    """Return a statement, groups whose inputs it does not tell apart, and prices as symmetric."""
    kinds = [rng.randint(0, 2) for _ in range(k)]
    found = {n: [x for x in range(k) if kinds[x] == n] for n in sorted(set(kinds))}
    protected = rng.choice((None, tuple(x for x in range(k) if kinds[x] > 0)))
    block = rng.choice((None, tuple(int(n == 2) for n in kinds)))
    masses = [rng.randint(1, 5) for _ in range(3)]
    p = tuple(Fraction(masses[n], sum(masses[m] for m in kinds)) for n in kinds)
    parts: tuple[Cone, ...] = (Ratio(Constant(exponent(rng), block, protected)),)
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
    for gain in (Squares(units(p), p), Entropy.of_inputs(p), Squares((p,), p, (ONE / 3,))):
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
        exponent(rng) if lower else None, exponent(rng) / 2 if upper else None, Listed((p,))
    )
    statement, prices = Statement(k, (part,), (), gained(k)), [cost(rng, 1)[0]] * k
    columns = rays(statement)
    for gain in (Squares(units(p), p), Entropy.of_inputs(p), Hellinger.of(p, p)):
        oracle = Rays(Classes(group, lifts=True))
        safe = safe_for_gain(statement, oracle, gain, prices, columns)
        if not isinstance(gain, Hellinger):
            best, _ = most_gain(columns, gain)
            assert float(Fraction(sum(safe), UNIT)) == pytest.approx(best, abs=1e-9)


# ---- a walk ------------------------------------------------------------------------------------


def walk(rng: random.Random, statement: Statement, p: Vector, blocks: Blocks, c: Fraction) -> Walk:
    ends, slopes, k = [], [], statement.k
    for block in blocks or (tuple(range(k)),):
        known = [[statement.ratio(x, z) for z in block if z != x] for x in block]
        most = max([max(m) for m in known if None not in m], default=ONE)
        raised = sum((p[x] for x, m in zip(block, known, strict=True) if None not in m), ZERO)
        low = sum((p[x] for x in block), ZERO) / most
        width, inner = (1 - 1 / most) * raised, rng.randint(0, 3)
        near = Fraction(1, 10**9)
        cuts = sorted(near + (1 - 2 * near) * number(rng, 0, 1) for _ in range(inner))
        ends.append(tuple(low + width * t for t in cuts))
        slopes.append(Numbers(numbers(rng, inner + 2, -2, 2)))
    return Walk(c, tuple(ends), tuple(slopes), blocks)


@pytest.mark.parametrize("seed", range(25))
def test_a_walk_pays_what_all_subsets_need_or_its_claim(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(2, 5)
    halves = (tuple(range(k // 2)), tuple(range(k // 2, k)))
    blocks: Blocks = rng.choice((None, None, halves)) if k > 3 else None
    some = rng.choice((None, tuple(rng.sample(range(k), 2)))) if blocks is None else None
    p = prior(rng, k) if rng.random() < 0.6 else (ONE / k,) * k
    statement = Statement(k, (Ratio(Constant(exponent(rng), None, some)),), (), gained(k, p=p))
    u = cost(rng, k) if rng.random() < 0.6 else [cost(rng, 1)[0]] * k
    columns = rays(statement)
    weighed = tuple(v * a for v, a in zip(p, numbers(rng, k, 0, 2), strict=True))
    for gain in (Squares(units(p), p), Entropy.of_inputs(p), Squares(units(weighed), p)):
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
        for gain in (Squares(units(p), p), Entropy.of_inputs(p)):
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
    for gain in (Squares(units(p), p), Entropy.of_inputs(p)):
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
