"""Products of rows: whatever forms, multipliers and levels make T positive, prices are safe."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Squares, units
from mechdesign.kernel.generators import Ball, Cone, Constant, Lift, Listed, Matrix, Ratio
from mechdesign.kernel.oracles import Products
from mechdesign.kernel.packed import Numbers, Places, Weights
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import (
    KINDS,
    Vector,
    cone,
    cost,
    exponent,
    gained,
    number,
    numbers,
    prior,
    ratio,
    rays,
    refused,
    safe_for_gain,
)

ONE = Fraction(1)


def products(
    c: Fraction,
    forms: list[tuple[int, int]],
    pairs: list[tuple[int, int, Fraction]],
    lift: Vector | None = None,
    levels: Numbers | None = None,
) -> Products:
    left, right, weight = zip(*pairs, strict=True) if pairs else ((), (), ())
    return Products(c, tuple(forms), Places(left), Places(right), Weights(weight), lift, levels)


def least_surplus(
    statement: Statement, gain: Squares, prices: list[int], oracle: Products
) -> list[tuple[Products, list[int]]]:
    """Return what is proved with the least surplus that is accepted, to 1%, and with twice that."""
    found, low, high = [], 0.0, 2.0**-8
    while high < 2.0**24:
        try:
            found.append(_with(oracle, high).gain(statement, gain, prices))
            break
        except CertificateError:
            low, high = high, 2 * high
    if not found:
        return []
    for _ in range(6):
        middle = (low + high) / 2
        try:
            _with(oracle, middle).gain(statement, gain, prices)
            high = middle
        except CertificateError:
            low = middle
    return [(_with(oracle, c), prices) for c in (high, 2 * high)]


def _with(o: Products, c: float) -> Products:
    return Products(Fraction(c), o.forms, o.left, o.right, o.weight, o.lift, o.levels)


@pytest.mark.parametrize("seed", range(20))
def test_prices_are_safe(seed: int) -> None:
    """At the least surplus that is accepted, where a form too strong by a little would show."""
    rng = random.Random(seed)
    k = rng.randint(2, 4)
    p = prior(rng, k, least=rng.randint(0, 1))
    lift = prior(rng, k, least=0) if rng.random() < 0.5 else None
    parts = cone(rng, k)
    if lift is not None:
        parts = (*parts, Lift(exponent(rng), exponent(rng), Listed((lift,))))
    statement = Statement(k, parts, (), gained(k, p=p))
    forms = [(x, x) for x in range(k)]
    forms += [(x, z) for x in range(k) for z in range(k) if x != z and statement.ratio(x, z)]
    forms += [(x, k) for x in range(k)] * bool(lift) + [(k, x) for x in range(k)] * bool(lift)
    pairs = [
        (rng.randrange(len(forms)), rng.randrange(len(forms)), number(rng, 0, 1) / 2)
        for _ in range(rng.randint(0, 2 * k))
    ]
    columns, weighed = rays(statement), Squares((numbers(rng, k),), p, (ONE / 3,))
    for gain in (Squares(units(p), p), weighed):
        for oracle, u in least_surplus(
            statement, gain, cost(rng, k), products(ONE, forms, pairs, lift)
        ):
            safe_for_gain(statement, oracle, gain, u, columns)


@pytest.mark.parametrize("seed", range(60))
def test_prices_with_levels_are_safe(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(2, 3)
    p = prior(rng, k)
    table = tuple(tuple(exponent(rng) for _ in range(k)) for _ in range(k))
    statement = Statement(k, (Ratio(Matrix(table)),), (), gained(k, p=p))
    forms = [(x, z) for x in range(k + 2) for z in range(k + 2) if k not in (x, z)]
    forms = [(x, z) for x, z in forms if x != z or x < k]
    pairs = [
        (rng.randrange(len(forms)), rng.randrange(len(forms)), number(rng, 0, 1) / 2)
        for _ in range(rng.randint(1, 2 * k))
    ]
    levels = Numbers(numbers(rng, k, 0, 3))
    columns = rays(statement)
    for gain in (Squares(units(p), p), Squares((numbers(rng, k),), p, (ONE / 3,))):
        oracle = products(ONE, forms, pairs, None, levels)
        for found, u in least_surplus(statement, gain, cost(rng, k), oracle):
            safe_for_gain(statement, found, gain, u, columns)


def test_one_budget_of_two_inputs_is_proved_to_its_optimum() -> None:
    """With the product of its two rows T is 0: any surplus will do."""
    statement, gain = Statement(2, (Ratio(Constant(ONE)),), (), gained(2)), gained(2)
    M = statement.ratio(0, 1)
    best = (M * M + 1) / (2 * (M + 1) ** 2)  # (g / sum) of q = (M, 1)
    oracle = products(Fraction(1, 10**12), [(0, 1), (1, 0)], [(0, 1, 1 / (2 * (M + 1) ** 2))])
    safe = oracle.gain(statement, gain, [-int(best * UNIT)] * 2)
    assert float(Fraction(-sum(safe), UNIT) - 2 * best) == pytest.approx(1e-12)
    with refused("do not prove"):
        oracle.gain(statement, gain, [-int((best - Fraction(1, 10**6)) * UNIT)] * 2)


def test_a_lift_may_be_of_a_set_of_priors() -> None:
    p = (ONE / 3,) * 3
    held = Statement(3, (Lift(ONE, ONE, Ball(p, ONE / 10)),), (), gained(3))
    products(Fraction(10**6), [(0, 3), (3, 0)], [], lift=p).gain(held, gained(3), [0] * 3)
    far = (ONE, 0 * ONE, 0 * ONE)
    with refused("row that does not exist"):
        products(ONE, [(0, 3)], [], lift=far).gain(held, gained(3), [0] * 3)


def test_a_multiplier_of_a_product_is_not_negative() -> None:
    statement = Statement(2, (), (), gained(2))
    with refused("negative multiplier"):
        oracle = products(ONE, [(0, 0)], [(0, 0, -ONE)])
        oracle.gain(statement, gained(2), [0, 0])


def test_a_surplus_of_no_products_is_the_largest_share() -> None:
    """Ratios alone bound each s_x q_x by p . q; any generator may be among them."""
    rng = random.Random(9)
    for kind in KINDS:
        p = prior(rng, 3)
        statement = Statement(3, (ratio(rng, 3, kind),), (), gained(3, p=p))
        gain, u = Squares(units(p), p), [0] * 3
        (tight, _), _ = least_surplus(statement, gain, u, products(ONE, [], []))
        safe = tight.gain(statement, gain, u)
        assert float(Fraction(-sum(safe), UNIT)) == pytest.approx(float(tight.surplus))


@pytest.mark.parametrize("kind", ["ratios", "levels", "lift"])
def test_the_surplus_is_the_least_where_all_entries_are_one(kind: str) -> None:
    """With epsilon 0 every column is a multiple of (1, .., 1), where no step loses anything.

    The products of rows say that entries do not differ; with large multipliers T is positive
    exactly if the claim holds at (1, .., 1): c >= g(1, .., 1) + Sum u.
    """
    rng = random.Random(8)
    for _ in range(12):
        k = rng.randint(2, 4)
        p, u = prior(rng, k), cost(rng, k)
        lift, levels, huge = None, None, Fraction(1 << 70)
        parts: tuple[Cone, ...] = (Ratio(Constant(0 * ONE)),)
        pairs = [((x, z), (z, x)) for x in range(k) for z in range(x)]
        if kind == "lift":
            lift = prior(rng, k)
            parts = (*parts, Lift(0 * ONE, 0 * ONE, Listed((lift,))))
            pairs = [((x, k), (k, x)) for x in range(k)]
        statement = Statement(k, parts, (), gained(k))
        if kind == "levels":
            levels = Numbers([huge] * k)
            pairs += [((x, k + 1), (k + 1, x)) for x in range(k)]
        forms = [form for pair in pairs for form in pair]
        weights = [(2 * n, 2 * n + 1, huge) for n in range(len(pairs))]
        gain = Squares((numbers(rng, k), numbers(rng, k)), p, (ONE / 3, ONE / 2))
        least = gain((1,) * k, up=True) + Fraction(sum(u), UNIT)
        down = max(least + ONE, ONE)  # prices at which the surplus is about 1
        u = [v - int((least - down) / k * UNIT) for v in u]
        for share, holds in ((1 + ONE / 10**9, True), (1 - ONE / 10**9, False)):
            oracle = products(down * share, forms, weights, lift, levels)
            if holds:
                safe = oracle.gain(statement, gain, u)
                assert sum(safe) * ONE / UNIT == pytest.approx(float(-gain((1,) * k, up=True)))
            else:
                with refused("do not prove"):
                    oracle.gain(statement, gain, u)
