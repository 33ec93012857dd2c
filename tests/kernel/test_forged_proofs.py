"""Forged proofs, slot by slot: each is refused with a reason, or proves no more than is true."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from mechdesign.errors import CertificateError
from mechdesign.exact import exp_upper
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.gains import Entropy, Gain, Hellinger, Squares
from mechdesign.kernel.generators import (
    Ball,
    Box,
    Constant,
    Latent,
    Lift,
    Listed,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
)
from mechdesign.kernel.limits import Gauge, Information
from mechdesign.kernel.objectives import Loss, Objective, Reading, Risk, of_table
from mechdesign.kernel.packed import MOST_DUAL
from mechdesign.kernel.schema import read
from mechdesign.kernel.statement import Statement

Slots = dict[str, Any]

ONE, ZERO = Fraction(1), Fraction(0)
P = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
UNIFORM = (Fraction(1, 3),) * 3
UNITS = tuple(tuple(ONE * (x == z) for z in range(3)) for x in range(3))
WEIGHED = tuple(tuple(p * v for v in unit) for p, unit in zip(P, UNITS, strict=True))

LDP = Ratio(Constant(ONE))
BLOCKS = Ratio(Constant(ONE, (0, 0, 1)))
NEIGHBORS = Ratio(Matrix(((0, 1, "inf"), (1, 0, 1), ("inf", 1, 0))))
LIP = Lift(ONE, ONE, Listed((P,)))
PML = Lift(None, ONE, Listed((P,)))
BALL = Lift(ONE, ONE, Ball(P, Fraction(1, 10)))
BOX = Lift(ONE, ONE, Box((Fraction(1, 4),) * 3, (Fraction(1, 2),) * 3))
OWN = Rows((ListedRow(((0, ONE),), ONE, ((1, ONE), (2, ONE))),))
SECRET = Latent((UNITS[0], (Fraction(0), Fraction(1, 2), Fraction(1, 2))), Ratio(Constant(ONE)))

HAMMING = of_table([[ONE * (x != y) for y in range(3)] for x in range(3)])
GUESSES = of_table([[-ONE * (x == y) for y in range(3)] for x in range(3)])
LOSS, WORST, FREE = Loss(HAMMING, P), Loss(HAMMING, None), Loss(GUESSES, P, free=True)
MEAN = Squares(((Fraction(0), Fraction(1, 3), Fraction(1, 3)),), P, constant=ONE)
HISTOGRAM = Squares(WEIGHED, P, constant=ONE)
ENTROPY = Entropy.of_inputs(P)
HELLINGER = Hellinger.of(UNITS[0], UNITS[1])
L2, TV, ANY = Risk(False, P), Risk(True, P), Risk(False, None)
READING = Reading((-ONE, Fraction(0), ONE), UNIFORM)

LEAKAGE = Gauge(tuple(ListedRow(((x, ONE),), ONE / 5, ()) for x in range(3)), ONE)
KNOWN = Information(P, Fraction(1, 10))


NEGATIVE = Loss(HAMMING, (ONE, ONE, -ONE))
FALLING = replace(READING, weights=(ONE, ONE, -ONE))
ALIKE = Squares(UNITS, UNIFORM, constant=ONE)


def of(cone: Any, aim: Objective, *limits: Any) -> Statement:
    return Statement(3, (cone,) if cone else (), limits, aim)


ASKED, OF_MEAN, LEAKING = of(LDP, LOSS), of(LDP, MEAN), of(LDP, LOSS, LEAKAGE)
KNOWING, LIKE = of(None, LOSS, KNOWN), of(LDP, ALIKE)
ONE_WAY = Ratio(Matrix((("inf", 1, "inf"), ("inf", "inf", 1), ("inf",) * 3)))
PARTLY = Ratio(Matrix(((ONE,) * 3, ("inf", ONE, ONE), (ONE,) * 3)))
OF_ALL = Statement(3, (PARTLY, Lift(None, ONE, Listed((UNIFORM,)))), (), LOSS)
SOME = Ratio(Matrix(((ONE, ONE, "inf"), (ONE,) * 3, (ONE,) * 3)))
BY_ROWS = of(SOME, Squares(tuple(tuple(v / 3 for v in unit) for unit in UNITS), UNIFORM))
SPLIT, LIFTED = of(LDP, HISTOGRAM), of(LIP, HISTOGRAM)
OF_TWO = Statement(2, (LDP,), (), Loss(of_table([[ONE, ONE]] * 2), (ONE / 2,) * 2))


def form(kind: str, **keys: Any) -> Slots:
    return {"kind": kind, **keys}


def slots(line: Any = "costs", oracle: Any = "orthant", *chain: Slots, **more: Any) -> Slots:
    found: Slots = {
        "linearization": form(line) if isinstance(line, str) else line,
        "oracle": form(oracle) if isinstance(oracle, str) else oracle,
    }
    return found | ({"relaxations": list(chain)} if chain else {}) | more


def rays(kind: str, **keys: Any) -> Slots:
    return form("rays", source=form(kind, **keys))


def multiplier(of: str, *entries: tuple[int, int, int, Any], place: int = 0, **more: Any) -> Slots:
    """Entries are (node, x, other, weight)."""
    node, x, other, weight = ([*column] for column in zip(*entries, strict=True))
    table = {"of": of, "place": place, "node": node, "x": x, "other": other, "weight": weight}
    return {"multipliers": [table | more]}


def row(*entry: Any, **more: Any) -> Slots:
    return multiplier("cone", entry, **more)


def part(*entry: Any) -> Slots:
    return multiplier("limit", entry)


def prove(statement: Statement, certificate: Slots) -> Fraction:
    found = read(Certificate, json.loads(json.dumps(certificate)), "certificate")
    return found.bound(statement, Steps(10**7))


DD = rays("double-description")
CLASSES = rays("classes", groups=[[0, 1, 2]], blocks=[[0, 1, 2]])
AVERAGE = form("average", weights=[1, 1, 1])
NODES = form("decoders", nodes=[0, 1, 2])
CHORDS = form("chords", nodes=[0, "1/2", 1])
PROBES = form("readings", probes=[-9, 0, 9], slopes=[-1.0, 0.0, 1.0])
CUT = [0, 1]
IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
VECTORS = form("estimator", vectors=IDENTITY)
TANGENTS = form("estimator", vectors=IDENTITY, tangents=[1, 1, 1])
TWO_LENGTHS = {"of": "cone", "place": 0, "node": [0], "x": [0, 1], "weight": [1]}


def of_list(kind: str, key: str) -> Callable[..., Slots]:
    return lambda entries, **more: form(kind, **{key: entries}, **more)


def of_entries(kind: str, key: str) -> Callable[..., Slots]:
    return lambda *entries, **more: form(kind, **{key: entries}, **more)


line, boxes = of_list("line", "order"), of_list("boxes", "tree")
chords = of_list("chords", "nodes")
decoders, budget = of_list("decoders", "nodes"), partial(form, "one-budget")
sack, mean = of_entries("knapsack", "p"), of_entries("average", "weights")
vectors, restrict = of_entries("estimator", "vectors"), of_entries("restrict", "inputs")
stands = of_entries("representatives", "stands")


def walk(ends: list[Any], slopes: list[Any]) -> Slots:
    return walks([ends], [slopes])


def walks(ends: list[Any], slopes: list[Any], **more: Any) -> Slots:
    return rays("walk", **{"surplus": 0, "ends": ends, "slopes": slopes} | more)


def classes(*groups: list[int], **more: Any) -> Slots:
    return rays("classes", groups=groups, **more)


HUGE, LIFTS = 10**6, ({}, {"lift": ["1/3"] * 3})


def products(surplus: int, forms: Any = (), product: Any = None, **more: Any) -> Slots:
    lists = zip(("left", "right", "weight"), ([v] for v in product or ()), strict=False)
    empty: Slots = {"left": [], "right": [], "weight": []}
    return form("products", surplus=surplus, forms=forms, **empty | dict(lists), **more)


def probes(*probes: Any, slopes: Any = (-1, 0, 1)) -> Slots:
    return form("readings", probes=probes, slopes=slopes)


WALK = walk([], [0, 0])


def entropy(multipliers: list[Any], levels: Any = (0, 0, 0)) -> Slots:
    return form("entropy", multipliers=multipliers, levels=levels)


def members(*priors: list[str], place: int = 0) -> Slots:
    return form("members", place=place, priors=priors)


def facets(*entries: tuple[Any, ...]) -> Slots:
    keys = ("place", "x", "other", "side")
    return rays("simplicial", facets=[dict(zip(keys, entry, strict=False)) for entry in entries])


def third(*entry: Any) -> Slots:
    """Facets of which the first two are q_0 >= 0 and q_1 >= 0."""
    return facets((None, 0), (None, 1), entry)


class Each(tuple[Any, ...]):
    """Several statements, or forgeries, that are refused alike."""


def each(*forged: Any) -> Each:
    return Each(forged)


CENTER, FAR = ["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"]
APART = "distinguish inputs of a group"
ALL_LIFTS = classes([0, 1, 2], lifts=True)
Forged = tuple[Any, Any, str]
"""A statement, a forged slot of its proof, or several of either, and the words of the refusal."""

RELAXATIONS: list[Forged] = [
    (of(LDP, FREE), restrict(0, 1), "negative cost"),
    (ASKED, each(restrict(0, 0), restrict(0, 3)), "once"),
    (ASKED, restrict(), "some"),
    (of(LDP, L2), restrict(0, 1), "risk"),
    (OF_MEAN, restrict(0, 1), "depends on removed"),
    (of(BALL, LOSS), members(CENTER, FAR), "not in the set"),
    (of(BOX, LOSS), members(CENTER), "not in the set"),
    (of(LIP, LOSS), members(FAR), "not in the set"),
    (of(BALL, LOSS), members(["1/2", "1/3", "1/3"]), "distribution"),
    (of(BALL, LOSS), members(["-1/6", "1/2", "2/3"]), "distribution"),
    (of(BALL, LOSS), members(), "set"),
    (of(BALL, LOSS), members(["601/1000", "1/3", "197/3000"]), "not in the set"),
    (each(of(SECRET, LOSS), ASKED), members(CENTER), "a set"),
    (of(BALL, LOSS), members(CENTER, place=1), "no such generator"),
    (
        ASKED,
        each(*(stands(*r) for r in ((1, 2, 2), (1, 0, 2), (0, 0), (0,) * 4, (3,) * 3, (0, 3, 2)))),
        "represents itself",
    ),
    (each(of(LDP, Loss(HAMMING, (ONE,))), of(LDP, NEGATIVE)), stands(0, 0, 0), "weights >= 0"),
    (of(LDP, FREE), stands(0, 0, 0), "costs >= 0"),
    (each(of(LDP, WORST), OF_MEAN), stands(0, 0, 0), "mean loss"),
    (of(LDP, WORST), form("average", weights=[2, 0, -1]), "negative"),
    (of(LDP, WORST), each(mean(1), mean(1, 1)), "weights >= 0 of all inputs"),
    (of(LDP, WORST), each(mean(), mean(0, 0, 0)), "weights >= 0"),
    (each(ASKED, of(LDP, READING), of(LDP, L2), OF_MEAN), AVERAGE, "worst case"),
    (each(OF_MEAN, of(LDP, ANY)), VECTORS, "risk"),
    (of(LDP, READING), VECTORS, "risk at a prior"),
    (of(None, Risk(False, (ONE, 0 * ONE, 0 * ONE))), VECTORS, "without zeros"),
    (of(None, Risk(False, (ONE,))), VECTORS, "without zeros"),
    (
        of(LDP, L2),
        each(vectors(*IDENTITY[:2]), vectors(*IDENTITY[:2], [1]), vectors(*IDENTITY, [1, 0, 0])),
        "k vectors",
    ),
    (
        of(LDP, TV),
        each(VECTORS, *(TANGENTS | {"tangents": [1, 1, *t]} for t in ([], [0], [-1], [1, 1]))),
        "tangent > 0",
    ),
    (of(LDP, TV), TANGENTS | {"tangents": [1, 1, "1/1000"]}, "too small"),
    (each(of(LDP, NEGATIVE), of(LDP, FALLING)), restrict(0, 1), "negative weight"),
    (of(LDP, WORST), [AVERAGE, AVERAGE], "worst case"),
    (each(of(PML, LOSS), of(BLOCKS, LOSS)), form("implied"), "all pairs"),
]

LINEARIZATIONS: list[Forged] = [
    (each(OF_MEAN, of(LDP, WORST)), "costs", "mean loss"),
    (each(of(LDP, NEGATIVE), of(LDP, Loss(HAMMING, (ONE,)))), "costs", "weights >= 0"),
    (each(ASKED, of(LDP, L2)), "gain", "gain"),
    (each(ASKED, of(LDP, ENTROPY)), NODES, "squares"),
    (of(LDP, Squares((P,), (ONE, 0 * ONE, 0 * ONE))), NODES, "infinite"),
    (of(LDP, Squares(((0 * ONE,) * 3,), (0 * ONE,) * 3)), NODES, "infinite"),
    (of(LDP, Squares((P,), tuple(-p for p in P))), NODES, "infinite"),
    (each(SPLIT, of(LDP, Squares((P,), P, (ONE,)))), NODES, "one square"),
    (each(of(LDP, HELLINGER), of(LDP, L2)), NODES, "gain of squares"),
    (OF_MEAN, each(*map(decoders, ([], [0], [0, 2, 1], [0, 1, 1, 2]))), "increasing"),
    (OF_MEAN, each(decoders([0, 1]), decoders(["1/10", 2])), "cover"),
    (each(ASKED, SPLIT, of(LDP, ENTROPY), of(LDP, L2)), CHORDS, "one vector"),
    (of(LDP, Hellinger((P,), P)), CHORDS, "two laws"),
    (of(LDP, Entropy((P,), (ONE, 0 * ONE, 0 * ONE))), CHORDS, "reach"),
    (of(LDP, Squares((P,), tuple(-p for p in P))), CHORDS, "infinite"),
    (of(LDP, HELLINGER), each(*map(chords, ([], [0], [0, 1, 1], [1, 0]))), "increasing"),
    (of(LDP, HELLINGER), each(*map(chords, ([0, "1/4"], ["3/4", 1]))), "reach"),
    (of(LDP, HELLINGER), each(*map(chords, ([-1, 0, 1], [0, 1, 2]))), "not defined"),
    (each(ASKED, of(LDP, Reading(READING.values, None))), PROBES, "variance"),
    (of(LDP, READING), probes("-1/10", "1/10"), "reach"),
    (OF_MEAN, PROBES, "mean variance"),
    (of(LDP, FALLING), PROBES, "weights >= 0"),
    (of(LDP, replace(READING, weights=(ONE,))), PROBES, "weights >= 0"),
    (of(LDP, READING), probes(-9, 9, slopes=[-1, 0]), "slope"),
    (of(LDP, READING), each(probes(), probes(1), probes(1, 1), probes(1, -1)), "increasing"),
    (LIFTED, each(*map(boxes, ([], [CUT], [CUT, None], [CUT, CUT, None, None]))), "not complete"),
    (
        LIFTED,
        each(*map(boxes, ([None, None], [None, CUT], [CUT, None, None, None]))),
        "too many leaves",
    ),
    (of(None, Squares(UNITS, (ONE, 0 * ONE, 0 * ONE))), boxes([None]), "unbounded"),
    (of(None, Squares((), (ONE,))), boxes([None]), "a weight for each input"),
    (each(of(LIP, L2), of(LIP, MEAN), of(LIP, LOSS)), boxes([None]), "a sum over inputs"),
    (of(LIP, HELLINGER), boxes([None]), "a sum over inputs"),
    (LIFTED, boxes([[3, 1], None, None]), "an input that does not"),
]

MULTIPLIERS: list[Forged] = [
    (of(LDP, READING, LEAKAGE), part(3, 0, 0, 1), "a node that does not"),
    (OF_MEAN, row(0, 0, 1, 1), "no multipliers"),
    (ASKED, TWO_LENGTHS, "length"),
    (of(BALL, LOSS), row(0, 0, 0, 1, side="upper"), "not listed"),
    (ASKED, row(0, 0, 1, -1), "negative"),
    (ASKED, each(row(0, 0, 1, float("nan")), row(0, 0, 1, float("inf"))), "finite|number"),
    (ASKED, row(3, 0, 1, 1), "a node that does not"),
    (ASKED, each(row(0, 0, 3, 1), row(0, 0, 1, 1, side="upper")), "two inputs"),
    (ASKED, row(0, 1, 1, 1), "bounded"),
    (each(of(BLOCKS, LOSS), of(NEIGHBORS, LOSS)), row(0, 0, 2, 1), "bounded"),
    (of(PML, LOSS), row(0, 0, 0, 1, side="lower"), "no lower bound"),
    (of(LIP, LOSS), row(0, 0, 0, 1), "side|row"),
    (of(LIP, LOSS), row(0, 0, 1, 1, side="upper"), "no such row"),
    (of(OWN, LOSS), each(row(0, 1, 0, 1), row(0, 0, 1, 1)), "no such row"),
    (of(SECRET, LOSS), row(0, 0, 2, 1), "two inputs"),
    (ASKED, each(row(0, 0, 1, 1, place=1), multiplier("price", (0, 0, 1, 1))), "does not exist"),
    (ASKED, part(0, 0, 0, 1), "does not exist"),
    (LEAKING, part(0, 3, 0, 1), "a part that does not"),
    (of(LDP, LOSS, KNOWN), part(0, 0, 0, 1), "entropy"),
    (LEAKING, each(part(0, 0, 1, 1), part(0, 0, 1 << 52, 1)), "does not exist"),
]

PRICED: list[Forged] = [
    (ASKED, each([0, 0], [0] * 4, [5e-324, -5e-324]), "a price"),
    (ASKED, each([0.0, 0.0, float("inf")], [float("nan")] * 3), "finite|number"),
    (ASKED, each([1e300, -1e300, 0.0], *([sign * MOST_DUAL, 0, 0] for sign in (1, -1))), "range"),
    (OF_TWO, [0.1, 0.1, 0.1], "a price"),
]

ORACLES: list[Forged] = [
    (of(LDP, READING, KNOWN), entropy([[0, 1]]), "tail"),
    (ASKED, each("trust-me", "average"), "kind"),
    (ASKED, form("orthant", levels=[]), "no such key"),
    (ASKED, each(line(["0", "1", "2"]), line([0, 1, -1]), line([0, True, 2])), "integer"),
    (OF_MEAN, each("orthant", "line", "one-budget"), "does not support"),
    (each(of(BLOCKS, LOSS), of(LIP, LOSS)), "line", "bound"),
    (of(NEIGHBORS, LOSS), line([0, 2, 1]), "bound"),
    (ASKED, each(*map(line, ([], [0, 1], [0, 1, 1], [0, 1, 2, 2]))), "in an order"),
    (of(ONE_WAY, LOSS), each(line([0, 1, 2]), line([2, 1, 0])), "do not bound each"),
    (of(LIP, LOSS), each(sack(), sack(1), sack(1, 1, 1), sack("3/2", "-1/2", 0)), "a distribution"),
    (of(Lift(ONE, ONE, Listed((P, UNIFORM))), LOSS), "knapsack", "ambiguous"),
    (of(Lift(-ONE, None, Listed((P,))), LOSS), sack(*CENTER), "contradict"),
    (of(Lift(None, -ONE, Listed((P,))), LOSS), sack(*CENTER), "contradict"),
    (
        each(*(of(Lift(a, b, Listed((P,))), HISTOGRAM) for a, b in ((ONE, None), (ZERO, ZERO)))),
        "knapsack",
        "two bounds",
    ),
    (each(of(LIP, HELLINGER), of(LIP, MEAN)), "knapsack", "a sum over inputs"),
    (
        ASKED,
        each(*(budget(blocks=b) for b in ([[0, 1], [1, 2]], [[0, 0]], [[0, 1, 2], [0]]))),
        "overlap",
    ),
    (ASKED, each(budget(blocks=[[0, 3]]), budget(blocks=[[0], []])), "empty, or names an input"),
    (of(LIP, Squares(WEIGHED, UNIFORM, constant=ONE)), "knapsack", ""),
    (of(None, HISTOGRAM), form("knapsack", p=CENTER), ""),
    (BY_ROWS, each(products(0), products(HUGE, [[0, 1]], [0, 0, HUGE**2])), "do not prove"),
    (BY_ROWS, products(-1), "surplus >= 0"),
    (
        BY_ROWS,
        each(*(products(HUGE, [f], **more) for f in ([0, 2], [0, 3], [3, 0]) for more in LIFTS)),
        "row that does not exist",
    ),
    (
        BY_ROWS,
        each(*(products(HUGE, [f]) for f in ([3, 3], [4, 4], [0, 4], [4, 0], [9, 1]))),
        "an entry that does not exist",
    ),
    (
        BY_ROWS,
        each(*(products(HUGE, lift=p) for p in ([1], [1, 1, -1], [1, 1, 1]))),
        "a distribution",
    ),
    (
        BY_ROWS,
        each(products(HUGE, [[0, 1]], [0, 1, 1]), products(HUGE, [], [0, 0, 1])),
        "no such form",
    ),
    (BY_ROWS, products(HUGE, levels=[0, 0, 0]), "a bound on every ratio"),
    (LIKE, each(*(products(HUGE, levels=[0] * n) for n in (2, 4))), "a level for each input"),
    (
        LIKE,
        each(*(products(HUGE, levels=[0] * 3, **m) for m in (LIFTS[1], {"spreads": [0] * 4}))),
        "a cone of ratios only",
    ),
    (
        LIKE,
        each(*(products(HUGE, [f], levels=[0] * 3) for f in ([0, 3], [3, 4], [4, 3]))),
        "a row that does not exist",
    ),
    (LIKE, products(HUGE, levels=[-(10**9)] * 3), "do not prove"),
    (
        of(BALL, ALIKE),
        each(*(products(HUGE, spreads=v, lift=CENTER) for v in ([0] * 3, [0] * 5))),
        "for each input, and one more",
    ),
    (of(BALL, ALIKE), products(HUGE, spreads=[0, 0, 0, -1], lift=CENTER), "numbers >= 0"),
    (of(BALL, ALIKE), products(0, spreads=[10**6] * 4, lift=CENTER), "do not prove"),
    (of(BALL, ALIKE), products(HUGE, spreads=[0] * 4), "the prior of a lift"),
    (of(BALL, ALIKE), products(HUGE, spreads=[0] * 4, lift=["1/3"] * 3), "a set of priors about p"),
    (
        each(*(of(part, ALIKE) for part in (LIP, LDP, replace(BALL, upper=None)))),
        products(HUGE, spreads=[0] * 4, lift=CENTER),
        "a set of priors about p",
    ),
    (of(LDP, ENTROPY), products(HUGE), "gain of squares"),
    (of(LDP, Squares((), (ONE,) * 3)), products(HUGE), "a distribution"),
    (ASKED, products(HUGE), "does not support linear costs"),
    (BY_ROWS, products(HUGE, [[0, 1]], [0, 0, -1]), ">= 0"),
    (BY_ROWS, products(HUGE, [[0, 1]]) | {"left": [0]}, "differ in length"),
    (of(LDP, ANY), DD, "gain"),
    (of(BALL, MEAN), DD, "not listed"),
    (of(None, Squares(((ONE,) * 3,), UNITS[0])), DD, "infinite"),
    (OF_MEAN, each(facets(*[(0, 0, 1)] * 2), facets(*[(None, 0)] * 4)), "for each"),
    (OF_ALL, each(third(None, 0), facets((None, 0), (0, 0, 1), (None, 1))), "independent"),
    (OF_ALL, third(None, 3), "an input that does not exist"),
    (OF_ALL, third(2, 0, 1), "a generator that does not exist"),
    (OF_ALL, each(third(0, 1, 0), third(0, 2, 2)), "is bounded"),
    (OF_ALL, each(third(0, 2, 3), third(0, 2, 0, "upper")), "two inputs"),
    (OF_ALL, each(third(1, 2, 1, "upper"), third(1, 2, 0)), "no such row"),
    (OF_ALL, third(1, 2, 0, "lower"), "no lower bound"),
    (OF_ALL, third(0, 2, 0), "negative entry"),
    (OF_MEAN, rays("subsets", blocks=[[0, 1], [1, 2]]), ""),
    (LIKE, each(classes([0, 1], [1, 2]), classes(blocks=[[0, 1], [1]])), "overlap"),
    (LIKE, each(classes([0, 3]), classes([])), "an input that does not exist"),
    (
        of(LIP, ALIKE),
        each(classes([0, 1], lifts=True), classes([0, 1], [2], lifts=True)),
        "one group of all",
    ),
    (each(OF_MEAN, of(LDP, Squares(WEIGHED, UNIFORM)), of(LDP, Squares((), P))), CLASSES, APART),
    (of(LDP, Squares(UNITS[:1], UNIFORM)), classes([0, 1]), APART),
    (of(LDP, Squares(UNITS, UNIFORM, P)), CLASSES, APART),
    (ASKED, CLASSES, "are for gains"),
    (of(Ratio(Constant(ONE, None, (0, 1))), ALIKE), CLASSES, "two bounds"),
    (of(Ratio(Constant(ONE), P), ALIKE), CLASSES, "two bounds"),
    (of(Lift(-ONE, None, Listed((UNIFORM,))), ALIKE), ALL_LIFTS, "contradict"),
    (SPLIT, each(walks([], []), walks([[]] * 2, [[0, 0]] * 2), walks([[]], [])), "each block"),
    (SPLIT, walks([[]] * 2, [[0, 0]] * 2, blocks=[[0, 1], [1, 2]]), "overlap"),
    (SPLIT, walks([[]] * 2, [[0, 0]] * 2, blocks=[[0], [1, 2]]), "one budget"),
    (
        SPLIT,
        each(walk(["1/2", "2/5"], [0] * 4), *(walk([t], [0] * 3) for t in ("1/4", 2, -1))),
        "increasing",
    ),
    (SPLIT, each(walk([], [0]), walk([], [0] * 3), walk(["1/2"], [0, 0])), "lack a slope"),
    (OF_MEAN, WALK, "a sum over inputs"),
    (ASKED, WALK, "gains"),
    (ASKED, entropy([[0, 1]]), "limit on information"),
    (KNOWING, each(entropy([[1, 1]]), entropy([[0, 1], [9, 1]])), "limit on information"),
    (KNOWING, each(entropy([[0, 0]]), entropy([[0, -1]])), "multipliers > 0"),
    (KNOWING, entropy([]), "one prior"),
    (KNOWING, each(*(entropy([[0, 1]], [0] * n) for n in (2, 4))), "a potential for"),
    (of(None, MEAN, KNOWN), entropy([[0, 1]]), "does not support convex gains"),
    (of(None, LOSS, LEAKAGE), entropy([[0, 1]]), ""),
    (of(None, LOSS, KNOWN, Information(UNIFORM, ONE)), entropy([[0, 1], [1, 1]]), ""),
]

WHOLE: list[Forged] = [
    (LIFTED, slots(boxes([None]), sack(*FAR)), "at another prior"),
    (ASKED, {"linearization": {"kind": "costs"}}, "missing"),
    (ASKED, slots() | {"bound": 1}, "no such key"),
    (of(LDP, ALIKE), slots("gain", CLASSES, prices=[0.1, 0.2, 0.3]), ""),
]


def filled(statement: Statement, slot: str, forged: Any) -> Slots:
    """Return a certificate with a forged slot; the others suit the objective."""
    if slot == "":
        found: Slots = forged
        return found
    aim = statement.objective
    rest = slots("gain", DD) if isinstance(aim, Gain | Risk) else slots()
    if isinstance(aim, Reading):
        rest = slots(PROBES)
    if slot == "multipliers":
        return rest | (forged if "multipliers" in forged else {slot: [forged]})
    if slot == "relaxations":
        return rest | {slot: forged if isinstance(forged, list) else [forged]}
    if slot == "prices":
        rest["oracle"] = budget()
    return rest | {slot: form(forged) if isinstance(forged, str) else forged}


FORGED = {
    "relaxations": RELAXATIONS,
    "linearization": LINEARIZATIONS,
    "multipliers": MULTIPLIERS,
    "prices": PRICED,
    "oracle": ORACLES,
    "": WHOLE,
}
CASES = [
    pytest.param(statement, filled(statement, slot, forged), reason, id=f"{slot}: {reason}")
    for slot, table in FORGED.items()
    for statements, several, reason in table
    for statement in (statements if isinstance(statements, Each) else [statements])
    for forged in (several if isinstance(several, Each) else [several])
]


@pytest.mark.parametrize(("statement", "certificate", "reason"), CASES)
def test_a_forged_proof_is_refused_with_a_reason(
    statement: Statement, certificate: Slots, reason: str
) -> None:
    with pytest.raises(CertificateError, match=reason or "."):
        prove(statement, certificate)


def test_multipliers_of_a_limit_pay_for_it() -> None:
    """Without privacy but maximal leakage the error is at least 1 - e**(1/5) / 3, and no more."""
    aim = Loss(HAMMING, UNIFORM)
    best = 1 - exp_upper(Fraction(1, 5)) / 3
    for m in ("1/10", "1/3", "0.4071342", 1, 10):
        entries = [(y, y, 0, m) for y in range(3)]
        certificate = slots("costs", "orthant", **multiplier("limit", *entries))
        assert prove(of(None, aim, LEAKAGE), certificate) <= best
