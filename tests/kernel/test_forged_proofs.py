"""Forged proofs, slot by slot: each is refused with a reason, or proves no more than is true."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize

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
from mechdesign.kernel.losses import of_table
from mechdesign.kernel.objectives import Loss, Objective, Reading, Risk
from mechdesign.kernel.schema import read
from mechdesign.kernel.statement import Statement
from tests.independent.bounds import rays as rays_of

Slots = dict[str, Any]

ONE = Fraction(1)
P = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
UNIFORM = (Fraction(1, 3),) * 3
UNITS = tuple(tuple(ONE * (x == z) for z in range(3)) for x in range(3))
WEIGHED = tuple(tuple(p * v for v in unit) for p, unit in zip(P, UNITS, strict=True))

LDP = Ratio(Constant(ONE))
BLOCKS = Ratio(Constant(ONE, (0, 0, 1)))
NEIGHBORS = Ratio(Matrix(((0, 1, "inf"), (1, 0, 1), ("inf", 1, 0))))  # type: ignore[arg-type]
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


def of(cone: Any, aim: Objective, *limits: Any) -> Statement:
    return Statement(3, (cone,) if cone else (), limits, aim)


def slots(line: Any = "costs", oracle: Any = "orthant", *chain: Slots, **more: Any) -> Slots:
    found: Slots = {
        "linearization": {"kind": line} if isinstance(line, str) else line,
        "oracle": {"kind": oracle} if isinstance(oracle, str) else oracle,
    }
    return found | ({"relaxations": list(chain)} if chain else {}) | more


def rays(**source: Any) -> Slots:
    return {"kind": "rays", "source": source}


def multiplier(of: str, *entries: tuple[int, int, int, Any], place: int = 0, **more: Any) -> Slots:
    """Entries are (node, x, other, weight)."""
    node, x, other, weight = ([*column] for column in zip(*entries, strict=True))
    table = {"of": of, "place": place, "node": node, "x": x, "other": other, "weight": weight}
    return {"multipliers": [table | more]}


def prove(statement: Statement, certificate: Slots) -> Fraction:
    found = read(Certificate, json.loads(json.dumps(certificate)), "certificate")
    assert isinstance(found, Certificate)
    return found.bound(statement, Steps(10**7))


DD = rays(kind="double-description")
WALK = rays(kind="walk", surplus=0, ends=[[]], slopes=[[0, 0]])
AVERAGE = {"kind": "average", "weights": [1, 1, 1]}
PRICES = [0.1, 0.1, 0.1]
NODES = {"kind": "decoders", "nodes": [0, 1, 2]}
PROBES = {"kind": "readings", "probes": [-9, 0, 9], "slopes": [-1.0, 0.0, 1.0]}
IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
VECTORS = {"kind": "estimator", "vectors": IDENTITY}
TANGENTS = {"kind": "estimator", "vectors": IDENTITY, "tangents": [1, 1, 1]}


def restrict(*inputs: int) -> Slots:
    return {"kind": "restrict", "inputs": list(inputs)}


def members(*priors: list[str], place: int = 0) -> Slots:
    return {"kind": "members", "place": place, "priors": list(priors)}


def stands(*inputs: int) -> Slots:
    return {"kind": "representatives", "stands": list(inputs)}


def facets(*entries: tuple[int | None, int, int, str]) -> Slots:
    tables = [
        {"place": place, "x": x} | ({"other": o} if o else {}) | ({"side": side} if side else {})
        for place, x, o, side in entries
    ]
    return rays(kind="simplicial", facets=tables)


CENTER, FAR = ["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"]

FORGED: dict[str, tuple[Statement, Slots, str]] = {
    # relaxations
    "restrict: forgets a negative cost": (
        of(LDP, FREE),
        slots("costs", "orthant", restrict(0, 1)),
        "negative cost",
    ),
    "restrict: an input twice": (of(LDP, LOSS), slots("costs", "orthant", restrict(0, 0)), "once"),
    "restrict: no such input": (of(LDP, LOSS), slots("costs", "orthant", restrict(0, 3)), "once"),
    "restrict: nothing is left": (of(LDP, LOSS), slots("costs", "orthant", restrict()), "some"),
    "restrict: a risk": (of(LDP, L2), slots("gain", DD, restrict(0, 1), VECTORS), "risk"),
    "restrict: a gain that sees it": (
        of(LDP, MEAN),
        slots("gain", DD, restrict(0, 1)),
        "depends on removed",
    ),
    "restrict: a mean variance of negative weight": (
        of(LDP, Reading(READING.values, (ONE, ONE, -ONE))),
        slots(PROBES, "orthant", restrict(0, 1)),
        "negative weight",
    ),
    "members: outside a ball": (
        of(BALL, LOSS),
        slots("costs", "orthant", members(CENTER, FAR)),
        "not in the set",
    ),
    "members: outside a box": (
        of(BOX, LOSS),
        slots("costs", "orthant", members(CENTER)),
        "not in the set",
    ),
    "members: outside a list": (
        of(LIP, LOSS),
        slots("costs", "orthant", members(FAR)),
        "not in the set",
    ),
    "members: no distribution": (
        of(BALL, LOSS),
        slots("costs", "orthant", members(["1/2", "1/3", "1/3"])),
        "distribution",
    ),
    "members: a negative mass": (
        of(BALL, LOSS),
        slots("costs", "orthant", members(["-1/6", "1/2", "2/3"])),
        "distribution",
    ),
    "members: none": (of(BALL, LOSS), slots("costs", "orthant", members()), "set"),
    "members: of ratios": (of(LDP, LOSS), slots("costs", "orthant", members(CENTER)), "a set"),
    "members: no generator": (
        of(BALL, LOSS),
        slots("costs", "orthant", members(CENTER, place=1)),
        "no such generator",
    ),
    "members: rows of a ball that are not listed": (
        of(BALL, LOSS),
        slots("costs", "orthant", **multiplier("cone", (0, 0, 0, 1), side="upper")),
        "not listed",
    ),
    "representatives: a stand stands for another": (
        of(LDP, LOSS),
        slots("costs", "orthant", stands(1, 2, 2)),
        "represents itself",
    ),
    "representatives: too few": (of(LDP, LOSS), slots("costs", "orthant", stands(0, 0)), "each"),
    "representatives: no such input": (
        of(LDP, LOSS),
        slots("costs", "orthant", stands(3, 3, 3)),
        "each",
    ),
    "representatives: negative costs": (
        of(LDP, FREE),
        slots("costs", "orthant", stands(0, 0, 0)),
        "costs >= 0",
    ),
    "representatives: negative weights": (
        of(LDP, Loss(HAMMING, (ONE, ONE, -ONE))),
        slots("costs", "orthant", stands(0, 0, 0)),
        "weights >= 0",
    ),
    "representatives: a worst case": (
        of(LDP, WORST),
        slots("costs", "orthant", stands(0, 0, 0)),
        "mean loss",
    ),
    "representatives: a gain": (of(LDP, MEAN), slots("gain", DD, stands(0, 0, 0)), "mean loss"),
    "average: negative weights": (
        of(LDP, WORST),
        slots("costs", "orthant", {"kind": "average", "weights": [2, 0, -1]}),
        "negative",
    ),
    "average: of nothing": (
        of(LDP, WORST),
        slots("costs", "orthant", {"kind": "average", "weights": [0, 0, 0]}),
        "weights",
    ),
    "average: too few": (
        of(LDP, WORST),
        slots("costs", "orthant", {"kind": "average", "weights": [1, 1]}),
        "weights",
    ),
    "average: of a mean": (of(LDP, LOSS), slots("costs", "orthant", AVERAGE), "worst case"),
    "average: of a gain": (of(LDP, MEAN), slots("gain", DD, AVERAGE), "worst case"),
    "average: twice": (of(LDP, WORST), slots("costs", "orthant", AVERAGE, AVERAGE), "worst case"),
    "implied: not all pairs": (
        of(PML, LOSS),
        slots("costs", "one-budget", {"kind": "implied"}),
        "all pairs",
    ),
    "implied: across blocks": (
        of(BLOCKS, LOSS),
        slots("costs", "one-budget", {"kind": "implied"}),
        "all pairs",
    ),
    # linearizations
    "costs: of a gain": (of(LDP, MEAN), slots("costs", DD), "mean loss"),
    "costs: of a worst case": (of(LDP, WORST), slots("costs", DD), "mean loss"),
    "costs: negative weights": (
        of(LDP, Loss(HAMMING, (ONE, ONE, -ONE))),
        slots("costs", "orthant"),
        "weights >= 0",
    ),
    "gain: of a loss": (of(LDP, LOSS), slots("gain", DD), "gain"),
    "gain: of a risk": (of(LDP, L2), slots("gain", DD), "gain"),
    "decoders: of a loss": (of(LDP, LOSS), slots(NODES, "orthant"), "squares"),
    "decoders: of an entropy": (of(LDP, ENTROPY), slots(NODES, "orthant"), "squares"),
    "decoders: of two squares": (of(LDP, HISTOGRAM), slots(NODES, "orthant"), "one square"),
    "decoders: do not reach": (
        of(LDP, MEAN),
        slots({"kind": "decoders", "nodes": [0, 1]}, "orthant"),
        "cover",
    ),
    "decoders: begin too late": (
        of(LDP, MEAN),
        slots({"kind": "decoders", "nodes": ["1/10", 2]}, "orthant"),
        "cover",
    ),
    "decoders: fall": (
        of(LDP, MEAN),
        slots({"kind": "decoders", "nodes": [0, 2, 1]}, "orthant"),
        "increasing",
    ),
    "decoders: one": (
        of(LDP, MEAN),
        slots({"kind": "decoders", "nodes": [0]}, "orthant"),
        "increasing",
    ),
    "readings: of a loss": (of(LDP, LOSS), slots(PROBES, "orthant"), "variance"),
    "readings: of a worst case": (
        of(LDP, Reading(READING.values, None)),
        slots(PROBES, "orthant"),
        "variance",
    ),
    "readings: tails too near": (
        of(LDP, READING),
        slots({"kind": "readings", "probes": ["-1/10", "1/10"], "slopes": [-1, 0, 1]}, "orthant"),
        "reach",
    ),
    "readings: too few slopes": (
        of(LDP, READING),
        slots({"kind": "readings", "probes": [-9, 9], "slopes": [-1, 0]}, "orthant"),
        "slope",
    ),
    "boxes: of a loss": (
        of(LIP, LOSS),
        slots({"kind": "boxes", "tree": [None]}, "orthant"),
        "a sum over inputs",
    ),
    "boxes: does not split": (
        of(LIP, HELLINGER),
        slots({"kind": "boxes", "tree": [None]}, "orthant"),
        "a sum over inputs",
    ),
    "boxes: a tree that is not complete": (
        of(LIP, HISTOGRAM),
        slots({"kind": "boxes", "tree": [[0, 1], None]}, "orthant"),
        "not complete",
    ),
    "boxes: no tree": (
        of(LIP, HISTOGRAM),
        slots({"kind": "boxes", "tree": []}, "orthant"),
        "complete",
    ),
    "boxes: too many leaves": (
        of(LIP, HISTOGRAM),
        slots({"kind": "boxes", "tree": [None, None]}, "orthant"),
        "too many",
    ),
    "boxes: a cut of no input": (
        of(LIP, HISTOGRAM),
        slots({"kind": "boxes", "tree": [[3, 1], None, None]}, "orthant"),
        "an input that does not exist",
    ),
    "estimator: of a gain": (of(LDP, MEAN), slots("gain", DD, VECTORS), "risk"),
    "estimator: of a worst case": (of(LDP, ANY), slots("gain", DD, VECTORS), "risk"),
    "estimator: too few": (
        of(LDP, L2),
        slots("gain", DD, {"kind": "estimator", "vectors": IDENTITY[:2]}),
        "k vectors",
    ),
    "estimator: no tangents": (of(LDP, TV), slots("gain", DD, VECTORS), "tangent"),
    "estimator: a negative tangent": (
        of(LDP, TV),
        slots("gain", DD, TANGENTS | {"tangents": [1, 1, -1]}),
        "tangent",
    ),
    "estimator: a tangent too small": (
        of(LDP, TV),
        slots("gain", DD, TANGENTS | {"tangents": [1, 1, "1/1000"]}),
        "too small",
    ),
    # multipliers
    "multipliers: negative": (
        of(LDP, LOSS),
        slots(**multiplier("cone", (0, 0, 1, -1))),
        "negative",
    ),
    "multipliers: not a number": (
        of(LDP, LOSS),
        slots(**multiplier("cone", (0, 0, 1, float("nan")))),
        "finite|number",
    ),
    "multipliers: infinite": (
        of(LDP, LOSS),
        slots(**multiplier("cone", (0, 0, 1, float("inf")))),
        "finite|number",
    ),
    "multipliers: at no node": (
        of(LDP, LOSS),
        slots(**multiplier("cone", (3, 0, 1, 1))),
        "node that does not exist",
    ),
    "multipliers: of no row": (
        of(LDP, LOSS),
        slots(**multiplier("cone", (0, 0, 3, 1))),
        "two inputs",
    ),
    "multipliers: of an input and itself": (
        of(LDP, LOSS),
        slots(**multiplier("cone", (0, 1, 1, 1))),
        "bounded",
    ),
    "multipliers: across blocks": (
        of(BLOCKS, LOSS),
        slots(**multiplier("cone", (0, 0, 2, 1))),
        "bounded",
    ),
    "multipliers: of an infinite budget": (
        of(NEIGHBORS, LOSS),
        slots(**multiplier("cone", (0, 0, 2, 1))),
        "bounded",
    ),
    "multipliers: a side of ratios": (
        of(LDP, LOSS),
        slots(**multiplier("cone", (0, 0, 1, 1), side="upper")),
        "two inputs",
    ),
    "multipliers: the other side": (
        of(PML, LOSS),
        slots(**multiplier("cone", (0, 0, 0, 1), side="lower")),
        "no lower bound",
    ),
    "multipliers: a lift without a side": (
        of(LIP, LOSS),
        slots(**multiplier("cone", (0, 0, 0, 1))),
        "side|row",
    ),
    "multipliers: of no prior": (
        of(LIP, LOSS),
        slots(**multiplier("cone", (0, 0, 1, 1), side="upper")),
        "no such row",
    ),
    "multipliers: of no listed row": (
        of(OWN, LOSS),
        slots(**multiplier("cone", (0, 1, 0, 1))),
        "no such row",
    ),
    "multipliers: of a listed row and another": (
        of(OWN, LOSS),
        slots(**multiplier("cone", (0, 0, 1, 1))),
        "no such row",
    ),
    "multipliers: of no value of a secret": (
        of(SECRET, LOSS),
        slots(**multiplier("cone", (0, 0, 2, 1))),
        "two inputs",
    ),
    "multipliers: of no generator": (
        of(LDP, LOSS),
        slots(**multiplier("cone", (0, 0, 1, 1), place=1)),
        "does not exist",
    ),
    "multipliers: of something else": (
        of(LDP, LOSS),
        slots(**multiplier("price", (0, 0, 1, 1))),
        "does not exist|one of",
    ),
    "multipliers: of no limit": (
        of(LDP, LOSS),
        slots(**multiplier("limit", (0, 0, 0, 1))),
        "does not exist",
    ),
    "multipliers: of no part": (
        of(LDP, LOSS, LEAKAGE),
        slots(**multiplier("limit", (0, 3, 0, 1))),
        "names a part that does not exist",
    ),
    "multipliers: of a limit at a tail": (
        of(LDP, READING, LEAKAGE),
        slots(PROBES, "orthant", **multiplier("limit", (3, 0, 0, 1))),
        "node that does not exist",
    ),
    "multipliers: of an information": (
        of(LDP, LOSS, KNOWN),
        slots(**multiplier("limit", (0, 0, 0, 1))),
        "entropy",
    ),
    "multipliers: of a gain": (
        of(LDP, MEAN),
        slots("gain", DD, **multiplier("cone", (0, 0, 1, 1))),
        "no multipliers",
    ),
    "multipliers: lists of two lengths": (
        of(LDP, LOSS),
        slots(multipliers=[{"of": "cone", "place": 0, "node": [0], "x": [0, 1], "weight": [1]}]),
        "length",
    ),
    # prices
    "prices: too few": (of(LDP, LOSS), slots("costs", "one-budget", prices=[0, 0]), "a price"),
    "prices: too many": (of(LDP, LOSS), slots("costs", "one-budget", prices=[0] * 4), "a price"),
    "prices: infinite": (
        of(LDP, LOSS),
        slots("costs", "one-budget", prices=[0.0, 0.0, float("inf")]),
        "finite|number",
    ),
    "prices: huge": (
        of(LDP, LOSS),
        slots("costs", "one-budget", prices=[1e300, -1e300, 0.0]),
        "range|number",
    ),
    # oracles
    "orthant: of a gain": (of(LDP, MEAN), slots("gain", "orthant"), "does not support"),
    "line: of a gain": (of(LDP, MEAN), slots("gain", "line"), "does not support"),
    "line: on no line": (of(BLOCKS, LOSS), slots("costs", "line"), "bound"),
    "line: another order than that of the neighbors": (
        of(NEIGHBORS, LOSS),
        slots("costs", {"kind": "line", "order": [0, 2, 1]}),
        "bound",
    ),
    "line: on a lift": (of(LIP, LOSS), slots("costs", "line"), "bound"),
    "line: an input left out": (
        of(LDP, LOSS),
        slots("costs", {"kind": "line", "order": [0, 1]}),
        "order",
    ),
    "line: an input twice": (
        of(LDP, LOSS),
        slots("costs", {"kind": "line", "order": [0, 1, 1]}),
        "order",
    ),
    "one budget: of a gain": (of(LDP, MEAN), slots("gain", "one-budget"), "does not support"),
    "one budget: blocks that overlap": (
        of(LDP, LOSS),
        slots("costs", {"kind": "one-budget", "blocks": [[0, 1], [1, 2]]}),
        "overlap|once",
    ),
    "one budget: no such input": (
        of(LDP, LOSS),
        slots("costs", {"kind": "one-budget", "blocks": [[0, 3]]}),
        "input|block",
    ),
    "one budget: a negative direction": (
        of(LDP, LOSS),
        slots("costs", {"kind": "one-budget", "direction": [1, 1, -1]}),
        "negative|>= 0",
    ),
    "one budget: a short direction": (
        of(LDP, LOSS),
        slots("costs", {"kind": "one-budget", "direction": [1, 1]}),
        "direction|weight|each input",
    ),
    "knapsack: without a lift": (
        of(LDP, LOSS),
        slots("costs", {"kind": "knapsack", "p": CENTER}),
        "",
    ),
    "knapsack: a prior that is not of the lift": (
        of(LIP, LOSS),
        slots("costs", {"kind": "knapsack", "p": FAR}),
        "",
    ),
    "knapsack: no distribution": (
        of(LIP, LOSS),
        slots("costs", {"kind": "knapsack", "p": [1, 1, 1]}),
        "",
    ),
    "knapsack: of a ball without a prior": (of(BALL, LOSS), slots("costs", "knapsack"), ""),
    "knapsack: a gain that does not split": (
        of(LIP, MEAN),
        slots("gain", "knapsack"),
        "a sum over inputs",
    ),
    "knapsack: a gain at another prior": (
        of(LIP, Squares(WEIGHED, UNIFORM, constant=ONE)),
        slots("gain", "knapsack"),
        "",
    ),
    "knapsack: a gain without a lower bound": (
        of(None, HISTOGRAM),
        slots("gain", {"kind": "knapsack", "p": CENTER}),
        "",
    ),
    "rays: a direction that no column has": (
        of(LDP, MEAN),
        slots("gain", DD | {"direction": [0, 0, 0]}, prices=PRICES),
        "",
    ),
    "rays: a negative direction": (
        of(LDP, MEAN),
        slots("gain", DD | {"direction": [3, -1, -1]}, prices=PRICES),
        "",
    ),
    "rays: of a worst-case risk": (of(LDP, ANY), slots("gain", DD), "gain"),
    "simplicial: too few facets": (
        of(LDP, MEAN),
        slots("gain", facets((0, 0, 1, ""), (0, 1, 0, ""))),
        "",
    ),
    "simplicial: a facet twice": (
        of(LDP, MEAN),
        slots("gain", facets((0, 0, 1, ""), (0, 0, 1, ""), (0, 1, 2, ""))),
        "",
    ),
    "simplicial: facets that do not exist": (
        of(BLOCKS, MEAN),
        slots("gain", facets((0, 0, 1, ""), (0, 1, 0, ""), (0, 0, 2, ""))),
        "",
    ),
    "simplicial: of no generator": (
        of(LDP, MEAN),
        slots("gain", facets((1, 0, 1, ""), (0, 1, 0, ""), (None, 2, 0, ""))),
        "",
    ),
    "simplicial: no such input": (
        of(LDP, MEAN),
        slots("gain", facets((0, 0, 1, ""), (0, 1, 0, ""), (None, 3, 0, ""))),
        "",
    ),
    "subsets: on a lift": (of(LIP, MEAN), slots("gain", rays(kind="subsets")), ""),
    "subsets: on budgets that differ": (
        of(NEIGHBORS, MEAN),
        slots("gain", rays(kind="subsets")),
        "",
    ),
    "subsets: blocks that miss an input": (
        of(LDP, MEAN),
        slots("gain", rays(kind="subsets", blocks=[[0, 1]])),
        "",
    ),
    "subsets: blocks that overlap": (
        of(LDP, MEAN),
        slots("gain", rays(kind="subsets", blocks=[[0, 1], [1, 2]])),
        "",
    ),
    "subsets: a block that is cut in two": (
        of(LDP, MEAN),
        slots("gain", rays(kind="subsets", blocks=[[0], [1], [2]])),
        "",
    ),
    "classes: an asymmetric gain": (
        of(LDP, MEAN),
        slots("gain", rays(kind="classes", groups=[[0, 1, 2]], blocks=[[0, 1, 2]])),
        "",
    ),
    "classes: asymmetric prices": (
        of(LDP, Squares(UNITS, UNIFORM, constant=ONE)),
        slots(
            "gain",
            rays(kind="classes", groups=[[0, 1, 2]], blocks=[[0, 1, 2]]),
            prices=[0.1, 0.2, 0.3],
        ),
        "",
    ),
    "classes: groups that miss an input": (
        of(LDP, Squares(UNITS, UNIFORM, constant=ONE)),
        slots("gain", rays(kind="classes", groups=[[0, 1]], blocks=[[0, 1, 2]])),
        "",
    ),
    "classes: blocks across budgets": (
        of(BLOCKS, Squares(UNITS, UNIFORM, constant=ONE)),
        slots("gain", rays(kind="classes", groups=[[0, 1, 2]], blocks=[[0, 1, 2]])),
        "",
    ),
    "walk: a direction that is not the weights of the gain": (
        of(LDP, HISTOGRAM),
        slots("gain", WALK | {"direction": [1, 1, 1]}),
        "weights of the gain",
    ),
    "walk: no direction at all": (
        of(LDP, HISTOGRAM),
        slots("gain", WALK | {"direction": [0, 0, 0]}),
        "weights of the gain",
    ),
    "walk: ends that fall": (
        of(LDP, HISTOGRAM),
        slots("gain", rays(kind="walk", surplus=0, ends=[["1/2", "2/5"]], slopes=[[0] * 4])),
        "increasing",
    ),
    "walk: ends beyond all columns": (
        of(LDP, HISTOGRAM),
        slots("gain", rays(kind="walk", surplus=0, ends=[[9]], slopes=[[0] * 3])),
        "increasing",
    ),
    "walk: a slope too few": (
        of(LDP, HISTOGRAM),
        slots("gain", rays(kind="walk", surplus=0, ends=[["1/2"]], slopes=[[0, 0]])),
        "slope",
    ),
    "walk: a gain that does not split": (of(LDP, MEAN), slots("gain", WALK), "a sum over inputs"),
    "walk: of costs": (of(LDP, LOSS), slots("costs", WALK), "gains"),
    "classes: an asymmetric direction": (
        of(LDP, Squares(UNITS, UNIFORM, constant=ONE)),
        slots("gain", rays(kind="classes", groups=[[0, 1, 2]]) | {"direction": [1, 2, 1]}),
        "direction",
    ),
    "classes: of lifts, and not of all inputs": (
        of(LIP, Squares(UNITS, UNIFORM, constant=ONE)),
        slots("gain", rays(kind="classes", groups=[[0, 1]], lifts=True)),
        "one group",
    ),
    "multipliers: of a limit far beyond the last": (
        of(LDP, LOSS, LEAKAGE),
        slots(**multiplier("limit", (0, 0, 1, 1))),
        "does not exist",
    ),
    "multipliers: of a limit beyond all integers": (
        of(LDP, LOSS, LEAKAGE),
        slots(**multiplier("limit", (0, 0, 1 << 52, 1))),
        "does not exist",
    ),
    "prices: denormal, and too few": (
        of(LDP, LOSS),
        slots("costs", "one-budget", prices=[5e-324, -5e-324]),
        "a price",
    ),
    "prices: not numbers": (
        of(LDP, LOSS),
        slots("costs", "one-budget", prices=[float("nan")] * 3),
        "finite|number",
    ),
    "prices: of another statement": (
        Statement(2, (LDP,), (), Loss(of_table([[ONE, ONE]] * 2), (ONE / 2,) * 2)),
        slots("costs", "one-budget", prices=[0.1, 0.1, 0.1]),
        "a price",
    ),
    "entropy: a multiplier of 0": (
        of(None, LOSS, KNOWN),
        slots("costs", {"kind": "entropy", "multipliers": [[0, 0]], "levels": [0, 0, 0]}),
        "> 0",
    ),
    "entropy: readings, whose tails take no limit": (
        of(LDP, READING, KNOWN),
        slots(PROBES, {"kind": "entropy", "multipliers": [[0, 1]], "levels": [0, 0, 0]}),
        "tail",
    ),
    "entropy: without a limit": (
        of(LDP, LOSS),
        slots("costs", {"kind": "entropy", "multipliers": [[0, 1]], "levels": [0, 0, 0]}),
        "",
    ),
    "entropy: of a gauge": (
        of(None, LOSS, LEAKAGE),
        slots("costs", {"kind": "entropy", "multipliers": [[0, 1]], "levels": [0, 0, 0]}),
        "",
    ),
    "entropy: a negative multiplier": (
        of(None, LOSS, KNOWN),
        slots("costs", {"kind": "entropy", "multipliers": [[0, -1]], "levels": [0, 0, 0]}),
        "",
    ),
    "entropy: no multiplier": (
        of(None, LOSS, KNOWN),
        slots("costs", {"kind": "entropy", "multipliers": [], "levels": [0, 0, 0]}),
        "",
    ),
    "entropy: too few levels": (
        of(None, LOSS, KNOWN),
        slots("costs", {"kind": "entropy", "multipliers": [[0, 1]], "levels": [0, 0]}),
        "",
    ),
    "entropy: two priors": (
        of(None, LOSS, KNOWN, Information(UNIFORM, ONE)),
        slots("costs", {"kind": "entropy", "multipliers": [[0, 1], [1, 1]], "levels": [0, 0, 0]}),
        "",
    ),
    # the form
    "form: no oracle": (of(LDP, LOSS), {"linearization": {"kind": "costs"}}, "missing"),
    "form: an unknown oracle": (of(LDP, LOSS), slots("costs", "trust-me"), "kind"),
    "form: a relaxation in the place of an oracle": (
        of(LDP, LOSS),
        slots("costs", "average"),
        "kind",
    ),
    "form: a spare key": (of(LDP, LOSS), slots() | {"bound": 1}, "no such key"),
    "form: a spare key of a slot": (
        of(LDP, LOSS),
        slots("costs", {"kind": "orthant", "levels": []}),
        "no such key",
    ),
    "form: an index as text": (
        of(LDP, LOSS),
        slots("costs", {"kind": "line", "order": ["0", "1", "2"]}),
        "integer",
    ),
    "form: a negative index": (
        of(LDP, LOSS),
        slots("costs", {"kind": "line", "order": [0, 1, -1]}),
        "integer",
    ),
    "form: a bool as an index": (
        of(LDP, LOSS),
        slots("costs", {"kind": "line", "order": [0, True, 2]}),
        "integer",
    ),
}


SOUND = {
    "knapsack: without a lift",
    "knapsack: a prior that is not of the lift",
    "knapsack: of a ball without a prior",
    "subsets: on a lift",
    "subsets: on budgets that differ",
    "subsets: blocks that miss an input",
    "subsets: a block that is cut in two",
    "classes: groups that miss an input",
    "classes: blocks across budgets",
}
"""An oracle may take these: it knows less of the cone, and proves less."""


@pytest.mark.parametrize("name", sorted(set(FORGED) - SOUND))
def test_a_forged_proof_is_refused_with_a_reason(name: str) -> None:
    statement, certificate, reason = FORGED[name]
    with pytest.raises(CertificateError, match=reason or "."):
        prove(statement, certificate)


# what is accepted proves no more than is true


@pytest.mark.parametrize("name", sorted(SOUND))
def test_an_oracle_that_knows_less_proves_no_more(name: str) -> None:
    """The true optimum is that of a mixture of all rays of the cone, in floats.

    Of a ball of priors that of its center alone, which is no larger.
    """
    statement, certificate, _ = FORGED[name]
    if BALL in statement.cone:
        statement = replace(statement, cone=(replace(BALL, priors=Listed((P,))),))
    try:
        found = prove(statement, certificate)
    except CertificateError:
        return
    assert float(found) <= optimum(statement) + 1e-9


def optimum(statement: Statement) -> float:
    aim = statement.objective
    rows = [tuple(row) for row in statement.rows()]
    columns = [tuple(v / max(r) for v in r) for r in rays_of(statement.k, rows)]
    constant = Fraction(0)
    if isinstance(aim, Gain):
        costs, constant = [-float(aim(q, up=False)) for q in columns], aim.constant
    else:
        assert isinstance(aim, Loss)
        tables = [aim.costs.lower(y) for y in range(aim.costs.n_outputs)]
        weights = [w / aim.costs.denominator for w in aim.weights or ()]
        costs = [
            float(
                min(sum(w * c * v for w, c, v in zip(weights, D, q, strict=True)) for D in tables)
            )
            for q in columns
        ]
    R = np.array([[float(v) for v in q] for q in columns])
    found = scipy.optimize.linprog(costs, A_eq=R.T, b_eq=np.ones(statement.k))
    assert found.status == 0
    return float(found.fun) + float(constant)


E = exp_upper(ONE)
BEST: dict[str, tuple[Statement, Fraction]] = {
    "randomized response": (of(LDP, Loss(HAMMING, UNIFORM)), 2 / (E + 2)),
    "guesses": (of(LDP, Loss(GUESSES, UNIFORM, free=True)), -exp_upper(ONE) / (E + 2)),
    "worst case": (of(LDP, WORST), 2 / (E + 2)),
}

HONEST_OR_NOT: list[Slots] = [
    slots("costs", "orthant"),
    slots("costs", "one-budget"),
    slots("costs", "one-budget", prices=[0.141, 0.141, 0.141]),
    slots("costs", "one-budget", prices=[1e6, -1e6, 1e3]),
    slots("costs", {"kind": "one-budget", "blocks": [[0, 1]]}, prices=[1, 1, 1]),
    slots("costs", {"kind": "one-budget", "blocks": [[0, 1], [2]]}, prices=[9, 9, 9]),
    slots("costs", {"kind": "one-budget", "blocks": []}, prices=[9, 9, 9]),
    slots("costs", {"kind": "one-budget", "direction": [0, 0, 0]}, prices=[9, 9, 9]),
    slots("costs", {"kind": "one-budget", "direction": [0, 0, 1]}, prices=[9, 9, 9]),
    slots("costs", "line", prices=[9, 0, 9]),
    slots("costs", {"kind": "line", "order": [2, 0, 1]}, prices=[-9, 0, 9]),
    slots("costs", DD, prices=[9, 9, 9]),
    slots("costs", rays(kind="subsets"), prices=[9, 9, 9]),
    slots("costs", "orthant", **multiplier("cone", (0, 0, 1, 100), (1, 1, 0, 100))),
    slots("costs", "one-budget", restrict(0), prices=[1]),
    slots("costs", "one-budget", {"kind": "implied"}, prices=[0.2, 0.2, 0.2]),
    slots("costs", "one-budget", {"kind": "implied", "alone": False}, prices=[0.2, 0.2, 0.2]),
    slots("costs", "one-budget", stands(0, 0, 0), prices=[3]),
    slots("costs", "orthant", stands(0, 1, 1)),
]


@pytest.mark.parametrize("name", BEST)
def test_no_certificate_proves_more_than_the_optimum(name: str) -> None:
    statement, best = BEST[name]
    proved = []
    for certificate in HONEST_OR_NOT:
        found = copy.deepcopy(certificate)
        if name == "worst case":
            found["relaxations"] = [AVERAGE, *found.get("relaxations", [])]
        try:
            proved.append(prove(statement, found))
        except CertificateError:
            continue
    assert max(proved) <= best
    assert max(proved) > best - abs(best) / 2
    assert len(proved) > 5


def test_multipliers_of_a_limit_pay_for_it() -> None:
    """Without privacy but maximal leakage the error is at least 1 - e**(1/5) / 3, and no more."""
    aim = Loss(HAMMING, UNIFORM)
    best = 1 - exp_upper(Fraction(1, 5)) / 3
    for m in ("1/10", "1/3", "0.4071342", 1, 10):
        entries = [(y, y, 0, m) for y in range(3)]
        certificate = slots("costs", "orthant", **multiplier("limit", *entries))
        assert prove(of(None, aim, LEAKAGE), certificate) <= best


ROOT = (Fraction(1414213562, 10**9), Fraction(1414213563, 10**9))
DISTANT = Gauge(
    *(
        tuple(
            ListedRow((), Fraction(0), ((x, d * p),))
            for x, p in ((1, Fraction(1, 10)), (0, Fraction(9, 10)))
        )
        for d in ROOT[:1]
    ),
    Fraction(-1, 10),
    Fraction(0),
    tuple(
        ListedRow((), Fraction(0), ((x, ROOT[1] * p),))
        for x, p in ((1, Fraction(1, 10)), (0, Fraction(9, 10)))
    ),
)
"""Of two points at the distance of the root of 2, an attack errs by 1/10: in checks, and bounds."""


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_limit_of_irrational_distances_moves_with_the_inputs(order: list[int]) -> None:
    """The parts for bounds were those of the old order: a bound of 0.63 where the optimum is 0.07.

    The second input is always sent as it is; of the first so much as the limit asks for is not.
    """
    costs = of_table([[Fraction(0), ONE], [Fraction(100), Fraction(0)]])
    statement = Statement(2, (), (DISTANT,), Loss(costs, (Fraction(9, 10), Fraction(1, 10))))
    DISTANT.check(2)
    for m in ("1/2", "0.7", 1, 2, 5, 6.3, 10):
        for parts in ((0, 0), (0, 1), (1, 0), (1, 1)):
            entries = [(node, part, 0, m) for node, part in enumerate(parts)]
            moved = slots("costs", "orthant", restrict(*order), **multiplier("limit", *entries))
            assert prove(statement, moved) <= Fraction(1, 10) / ROOT[0]
