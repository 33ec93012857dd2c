"""Boxes hold every private column, and at one of them it costs no less than the secant says.

Nodes of a mean loss: w_x D_y[x], rounded down, from the lower ends of losses.

Nodes of one square: for each column no less than the joined prices, and no less for units.

Nodes of a mean variance, its tails, and the bound that they prove.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

import pytest

from mechdesign.exact import exp_lower, exp_upper, log_upper
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Entropy, Gain, Hellinger, Squares
from mechdesign.kernel.generators import Constant, Lift, Listed, Matrix, Ratio
from mechdesign.kernel.linearizations import Boxes, Chords, Costs, Decoders, Readings
from mechdesign.kernel.linearizations.boxes import _Shrink
from mechdesign.kernel.linearizations.decoders import costs_between
from mechdesign.kernel.objectives import Loss, Reading, distances, of_table
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Program, safe_bound
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import (
    Plain,
    Vector,
    channel,
    dot,
    exact,
    number,
    numbers,
    prior,
    private_column,
    refused,
)

ONE = Fraction(1)
GRID = Fraction(1, 1 << 80)
Tree = tuple[tuple[int, Fraction] | None, ...]


def histogram(p: Vector) -> Squares:
    k = len(p)
    return Squares(tuple(tuple(a * (x == z) for z in range(k)) for x, a in enumerate(p)), p)


def ldp(p: Vector, epsilon: Fraction) -> Statement:
    cone = (Ratio(Constant(epsilon)),)
    return Statement(len(p), cone, (), replace(histogram(p), constant=ONE / 3))


def tree(rng: random.Random, k: int, depth: int) -> Tree:
    if not depth:
        return (None,)
    cut = (rng.randrange(k), number(rng, 0, 3))
    return (cut, *tree(rng, k, depth - 1), *tree(rng, k, depth - 1))


def least_cost(program: Program, q: Vector, p: Vector) -> Fraction:
    """Return the largest cost of the boxes that hold a column; no box: fail."""
    r, found = [v / dot(p, q) for v in q], []
    for cost, (low, high) in zip(program.nodes, program.regions, strict=True):
        if all(a <= v <= b for a, v, b in zip(low, r, high, strict=True)):
            found.append(sum((c * v for c, v in zip(cost, q, strict=True)), 0 * ONE) / UNIT)
    assert found
    return max(found)


def test_every_private_column_is_in_a_box_and_costs_no_less() -> None:
    rng = random.Random(9)
    for _ in range(25):
        k, epsilon = rng.randint(2, 4), number(rng, 0, 2) + ONE / 9
        p = prior(rng, k)
        form = rng.choice([histogram(p), Entropy.of_inputs(p)])
        asked = Statement(k, ldp(p, epsilon).cone, (), replace(form, constant=ONE / 3))
        program = Boxes(tree(rng, k, rng.randint(0, 3)))(asked)
        assert program.constant == ONE / 3
        ceilings = [[exp_upper(epsilon)] * k for _ in range(k)]
        for _ in range(6):
            q = private_column(rng, ceilings)
            assert least_cost(program, q, p) <= -form(q, up=True)


def test_columns_under_a_lift_are_in_a_box() -> None:
    """At its ends, and where the bound of another prior is sharper but not of these columns."""
    p = (ONE / 4, ONE / 4, ONE / 2)
    lift = Lift(priors=Listed((p,)), lower=ONE, upper=ONE / 2)
    other = Lift(priors=Listed(((ONE, 0 * ONE, 0 * ONE),)), lower=ONE / 100, upper=ONE / 100)
    for cone in ((lift,), (other, lift)):
        asked = Statement(3, cone, (), histogram(p))
        ((low, high),) = Boxes((None,))(asked).regions or []
        assert low[0] == low[1] > Fraction("0.3678") >= low[0] - ONE / 10000
        assert high[0] == high[1] < Fraction("1.6488") <= high[0] + ONE / 10000
        assert low[0] <= low[2] < high[2] <= high[0]


def test_a_box_is_as_small_as_ratios_and_the_mean_make_it() -> None:
    """By hand: q_1 <= 2 q_2 and q_2 <= 3 q_1, and of q_3 nothing is known."""
    p, (two, three) = (ONE / 2, ONE / 4, ONE / 4), map(log_upper, (2 * ONE, 3 * ONE))
    table = ((0 * ONE, two, "inf"), (three, 0 * ONE, "inf"), ("inf", "inf", 0 * ONE))
    form = histogram(p)
    ((low, high),) = Boxes((None,))(Statement(3, (Ratio(Matrix(table)),), (), form)).regions or []
    near(low, (0 * ONE, 0 * ONE, 0 * ONE))
    near(high, (ONE / (ONE / 2 + ONE / 8), ONE / (ONE / 4 + ONE / 6), 4 * ONE))
    half = (ONE / 2, ONE / 2)
    ((low, high),) = Boxes((None,))(ldp(half, two)).regions or []
    near(low, (2 * ONE / 3, 2 * ONE / 3))
    near(high, (4 * ONE / 3, 4 * ONE / 3))


def near(found: Sequence[Fraction], wanted: Vector) -> None:
    gaps = (abs(a - b) for a, b in zip(found, wanted, strict=True))
    assert all(gap < Fraction(1, 2**70) for gap in gaps)


def _part(terms: list[Fraction], inside: list[bool]) -> Fraction:
    return sum((v for v, held in zip(terms, inside, strict=True) if held), 0 * ONE)


def _rest(terms: list[Fraction], inside: list[bool]) -> Fraction:
    return 1 - _part(terms, [not held for held in inside])


def test_boxes_shrink_as_in_plain_rationals() -> None:
    """Two rounds of ratios and the mean, then both at once; ends are rounded outward."""
    rng, seen = random.Random(11), set()
    for _ in range(40):
        k = rng.randint(2, 4)
        p = prior(rng, k)
        table = tuple(
            tuple(rng.choice(["inf", number(rng, 0, 2)]) for _ in range(k)) for _ in range(k)
        )
        asked = Statement(k, (Ratio(Matrix(table)),), (), histogram(p))
        low = [rng.randrange(1 << 80) for _ in range(k)]
        high = [a + rng.randrange(1 << 81) for a in low]
        found = _Shrink(asked, p)(low, high)
        low, high = [v * GRID for v in low], [v * GRID for v in high]
        for _ in range(2):
            for x in range(k):
                for z in range(k):
                    m = asked.ratio(x, z)
                    if x != z and m is not None:
                        high[x] = min(high[x], up(up(m) * high[z]))
                        low[z] = max(low[z], -up(-low[x] * -up(-1 / m)))
            least, most = dot(p, tuple(low)), dot(p, tuple(high))
            room = [a + (1 - least) / w for a, w in zip(low, p, strict=True)]
            left = [b + (1 - most) / w for b, w in zip(high, p, strict=True)]
            high = [min(b, up(v)) for b, v in zip(high, room, strict=True)]
            low = [max(a, -up(-v)) for a, v in zip(low, left, strict=True)]
            if any(a > b for a, b in zip(low, high, strict=True)):
                assert found is None
                break
        else:
            below, above = ([w * v for w, v in zip(p, ends, strict=True)] for ends in (low, high))
            for x in range(k if any(asked.ratios) else 0):
                known = [(z, asked.ratio(x, z), asked.ratio(z, x)) for z in range(k)]
                shares = [p[z] * -up(-1 / m) if m else 0 * ONE for z, m, _ in known]
                loads = [p[z] * up(m) if m else 0 * ONE for z, _, m in known]
                inside = [v * high[x] > a for v, a in zip(shares, below, strict=True)]
                high[x] = min(high[x], up(_rest(below, inside) / _part(shares, inside)))
                inside = [0 < v * low[x] < b for v, b in zip(loads, above, strict=True)]
                if any(inside):
                    low[x] = max(low[x], -up(-_rest(above, inside) / _part(loads, inside)))
            empty = any(a > b for a, b in zip(low, high, strict=True))
            assert found == (None if empty else ([a / GRID for a in low], [b / GRID for b in high]))
        seen.add(found is None)
    assert seen == {True, False}


def up(v: Fraction) -> Fraction:
    return ceil(v / GRID) * GRID


def test_secants_are_those_of_plain_rationals() -> None:
    rng = random.Random(12)
    for _ in range(20):
        k = rng.randint(1, 3)
        p = prior(rng, k)
        low = [rng.randrange(1 << 80) for _ in range(k)]
        high = [a + rng.choice([0, rng.randrange(1 << 81)]) for a in low]
        values = [{r: rng.randrange(UNIT) for r in (a, b)} for a, b in zip(low, high, strict=True)]
        slopes, total = [], 0
        for h, a, b in zip(values, low, high, strict=True):
            slopes.append(floor((h[b] - h[a]) / ((b - a) * GRID)) if b > a else 0)
            total += max(ceil(h[r] - slopes[-1] * r * GRID) for r in (a, b))
        wanted = [-s - ceil(total * w) for s, w in zip(slopes, p, strict=True)]
        shrink = _Shrink(ldp(p, ONE), p)
        assert shrink.secants([h.__getitem__ for h in values], low, high) == wanted


def test_boxes_without_private_columns_have_no_node() -> None:
    """q_1 <= q_2 leaves nothing of r_1 >= 3/2, r_2 <= 1/2; LDP at 0 leaves one point."""
    p = (ONE / 3, ONE / 3, ONE / 3)
    table = ((0 * ONE, 0 * ONE, "inf"), ("inf", 0 * ONE, "inf"), ("inf", "inf", 0 * ONE))
    asked = Statement(3, (Ratio(Matrix(table)),), (), histogram(p))
    unit = 1 << 80
    assert _Shrink(asked, p)([3 * unit // 2, 0, 0], [3 * unit, unit // 2, 3 * unit]) is None
    ((low, high),) = Boxes((None,))(ldp(p, 0 * ONE)).regions or []
    assert low == high == [1, 1, 1]
    lift = Lift(priors=Listed((p,)), lower=-ONE, upper=None)
    with refused("no leaf contains"):
        Boxes((None,))(Statement(3, (lift,), (), histogram(p)))


def test_the_sharpest_lift_counts() -> None:
    p = (ONE / 8,) * 8
    lifts = [Lift(priors=Listed((p,)), lower=a, upper=a) for a in (ONE, ONE / 4, ONE / 2)]
    asked = Statement(8, tuple(lifts), (), histogram(p))
    ((low, high),) = Boxes((None,))(asked).regions or []
    near(low, (exp_lower(-ONE / 4),) * 8)
    near(high, (exp_upper(ONE / 4),) * 8)


def test_the_cost_of_small_boxes_is_the_gain() -> None:
    rng = random.Random(10)
    p = (ONE / 3, 2 * ONE / 3)
    cuts: Tree = (None,)
    for n in range(1, 40):
        cuts = ((0, Fraction(n, 20) + ONE / 3), *cuts, None)  # the lower part is cut again
    cuts = tuple(reversed_cuts(cuts))
    program = Boxes(cuts)(ldp(p, ONE))
    for _ in range(10):
        q = private_column(rng, [[exp_upper(ONE)] * 2] * 2)
        gap = -histogram(p)(q, up=True) - least_cost(program, q, p)
        assert 0 <= gap <= dot(p, q) / 400


def reversed_cuts(cuts: Tree) -> Tree:
    """Return the same cuts, from above, so that each is inside the one before."""
    inner = [c for c in cuts if c is not None]
    return (*sorted(inner, key=lambda c: -c[1]), *(None,) * (len(inner) + 1))


def test_the_first_box_of_one_budget_is_the_least() -> None:
    """With p . r = 1 an entry is least if all others are M times it, and largest if 1 / M."""
    rng = random.Random(9)
    for _ in range(20):
        k = rng.randint(1, 5)
        p, most = prior(rng, k), exp_upper(ONE)
        low, high = _Shrink(ldp(p, ONE), p).root()
        for w, a, b in zip(p, low, high, strict=True):
            least, largest = 1 / (w + (1 - w) * most), 1 / (w + (1 - w) / most)
            assert 0 <= least - a * GRID < GRID
            assert 0 <= b * GRID - largest < GRID


ONE, ZERO = Fraction(1), Fraction(0)
ROUNDED = Fraction(1, 2**180)


def test_every_output_is_a_node_rounded_down() -> None:
    rng = random.Random(1)
    for _ in range(20):
        k, m = rng.randint(1, 4), rng.randint(1, 4)
        table, w = [list(numbers(rng, m)) for _ in range(k)], prior(rng, k, least=0)
        program = Costs()(Statement(k, (), (), Loss(of_table(table), w)))
        assert program.nodes == [
            [floor(w[x] * table[x][y] * UNIT) for x in range(k)] for y in range(m)
        ]
        assert program.constant == program.tails == 0
        assert program.regions is None


def test_irrational_losses_are_the_lower_ends() -> None:
    losses = distances([(0, 0), (1, 1)], [(0, 0)], 3, "euclidean")
    (node,) = Costs()(Statement(2, (), (), Loss(losses, (ONE / 3, 2 * ONE / 3)))).nodes or []
    assert node == [0, floor(2 * ONE / 3 * Fraction(losses.lower(0)[1], losses.denominator) * UNIT)]


def of_square(v: Vector, p: Vector, constant: Fraction = ZERO) -> Statement:
    return Statement(len(p), (), (), Squares((v,), p, constant=constant))


def test_nodes_and_curvatures_are_rounded_to_their_sides() -> None:
    rng = random.Random(2)
    for _ in range(20):
        s = sorted({number(rng) for _ in range(5)} | {Fraction(5)} | {Fraction(-5)})
        p, v = prior(rng, 3, least=0), numbers(rng, 3)
        costs, bent = costs_between(s, p, v)
        assert costs == [
            [floor((t * t * a - t * b) * UNIT) for a, b in zip(p, v, strict=True)] for t in s
        ]
        gaps = [b - a for a, b in pairwise(s)]
        assert bent == [[ceil(d * d * a * UNIT) for a in p] for d in gaps]


def test_joined_prices_are_below_every_column_and_tight() -> None:
    rng = random.Random(3)
    for _ in range(20):
        k = rng.randint(1, 4)
        p = prior(rng, k, least=0)
        v = tuple(number(rng) * bool(mass) for mass in p)
        ends = [a / b for a, b in zip(v, p, strict=True) if b]
        inner = {min(ends) + (max(ends) - min(ends)) * number(rng, 0, 1) for _ in range(3)}
        nodes = tuple(sorted(inner | {min(ends) - rng.randint(0, 1), max(ends) + 1, min(ends)}))
        program = Decoders(nodes)(of_square(v, p, constant=ONE / 7))
        assert program.constant == ONE / 7
        assert program.nodes[0][0] == floor((nodes[0] ** 2 * p[0] - 2 * nodes[0] * v[0]) * UNIT)
        safe = exact(program.join(program.nodes))
        for q in channel(rng, k, 3):
            assert dot(safe, q) <= -(Squares((v,), p)(q, up=True))
        for u, a, b in zip(safe, v, p, strict=True):
            assert 0 <= (-a * a / b if b else ZERO) - u <= ROUNDED


def test_decoders_must_reach_and_rise() -> None:
    small = Fraction(1, 10**30)
    asked = of_square((ONE, -ONE / 2), (ONE / 2, ONE / 2))  # decoders from -1 to 2
    Decoders((-ONE, 2 * ONE))(asked)
    for nodes in ((-ONE + small, 2 * ONE), (-ONE, 2 * ONE - small)):
        with refused("do not cover"):
            Decoders(nodes)(asked)


@pytest.mark.parametrize("kind", [Entropy, Hellinger, Squares])
@pytest.mark.parametrize("seed", range(12))
def test_chords_bound_a_gain_of_one_scalar(kind: type[Gain], seed: int) -> None:
    """Between the nodes their least cost is at most minus the gain, and tight at the nodes."""
    rng = random.Random(seed)
    k = rng.randint(2, 5)
    a, b = prior(rng, k, least=int(kind is Hellinger)), prior(rng, k, least=seed % 2)
    gain = Hellinger.of(a, b) if kind is Hellinger else kind((a,), b)
    p = gain.p
    columns = [q for q in ([rng.randint(0, 9) for _ in range(k)] for _ in range(9)) if dot(p, q)]
    ends = [Fraction(dot(a, q), dot(p, q)) for q in columns]
    nodes = tuple(sorted(set(ends[:3])))
    if len(nodes) < 2:
        return
    program = Chords(nodes)(Statement(k, (), (), gain))
    *costs, below, above = [exact(node) for node in program.nodes]
    assert len(costs) == len(nodes) - 1
    units = ([Fraction(x == z) for z in range(k)] for x in range(k))
    for q in (*columns, *channel(rng, k, 4), *units):
        if not dot(p, q):
            assert not dot(a, q) or dot(above, q) < 0
            continue
        s = dot(a, q) / Fraction(dot(p, q))
        if s not in (nodes[0], nodes[-1]):  # there tails are 0, rounded down
            assert (dot(below, q) > 0, dot(above, q) > 0) == (s > nodes[0], s < nodes[-1])
        if nodes[0] <= s <= nodes[-1]:
            least = min(dot(cost, q) for cost in costs)
            assert least <= -gain(q, up=False)
            assert s not in nodes or abs(least + gain(q, up=True)) < Fraction(1, 10**40)
    joined = exact(program.join(program.nodes[:-2]))
    assert joined == [min(entries) for entries in zip(*costs, strict=True)]


def of_reading(f: Vector, w: Vector | None) -> Statement:
    return Statement(len(f), (), (), Reading(f, w))


def test_nodes_tails_and_constant() -> None:
    rng = random.Random(4)
    for _ in range(20):
        k = rng.randint(1, 4)
        w, f, m = prior(rng, k, least=0), numbers(rng, k), numbers(rng, k)
        probes = (Fraction(-7, 3), Fraction(1, 7), Fraction(9, 7))
        program = Readings(probes, Numbers(m))(of_reading(f, w))
        costs = [[t * t * b - t * a for a, b in zip(m, w, strict=True)] for t in probes]
        costs += [
            [sign * (2 * t * b - a) for a, b in zip(m, w, strict=True)]
            for sign, t in ((-1, probes[0]), (1, probes[-1]))
        ]
        assert program.nodes == [[floor(v * UNIT) for v in cost] for cost in costs]
        assert program.tails == 2
        assert program.constant == sum(a * b - c * b * b for a, b, c in zip(m, f, w, strict=True))


def test_the_bound_of_all_channels_is_tight() -> None:
    """With slopes 2 w f it is 0, as readings f of the input itself have no variance."""
    rng = random.Random(5)
    for _ in range(20):
        k = rng.randint(1, 4)
        w, f = prior(rng, k), numbers(rng, k)
        line = Readings(
            tuple(sorted({min(f), max(f) + 1, *f})),
            Numbers(2 * a * b for a, b in zip(w, f, strict=True)),
        )
        program = line(of_reading(f, w))
        safe = exact(program.join(program.nodes[:-2]))
        for u, a, b in zip(safe, w, f, strict=True):
            assert 0 <= -a * b * b - u <= ROUNDED
        bound = safe_bound(of_reading(f, w), program, (), None, Plain())
        assert -ROUNDED <= bound <= 0


def test_probes_that_do_not_reach_prove_nothing() -> None:
    small, asked = Fraction(1, 10**30), of_reading((-ONE, 2 * ONE), (ONE / 2, ONE / 2))
    slopes = Numbers([-ONE, 2 * ONE])  # cheapest at -1 and 2
    for probes in ((-ONE + small, 2 * ONE), (-ONE, 2 * ONE - small)):
        with refused("far enough"):
            safe_bound(asked, Readings(probes, slopes)(asked), (), None, Plain())
    safe_bound(asked, Readings((-ONE, 2 * ONE), slopes)(asked), (), None, Plain())
