"""Files of rounded problems: honest ones are confirmed, and each forged claim is refused.

Honest files are designs of the library on given nodes. Of random changes what is accepted is no
better than what can be.
"""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest

from mechdesign import ContinuousProblem, design
from mechdesign.continuous import NamedLaw, ProductLaw
from mechdesign.designs import continuous
from mechdesign.errors import MechdesignError
from mechdesign.kernel.packed import exact
from mechdesign.kernel.rounding.files import Linear
from mechdesign.kernel.rounding.nodes import Rounded, RoundedProblem
from mechdesign.kernel.schema import read
from mechdesign.kernel.verify import verify
from mechdesign.notions import NOTIONS
from mechdesign.utilities import UTILITIES
from tests.documents import Document, sealed
from tests.kernel.changes import Change, Changer, put


def problem(
    notion: Document | list[Document],
    objective: str,
    law: Document,
    *sides: list[Any],
    worst_case: bool = False,
) -> Document:
    """Return the table of a problem."""
    utility: Document = {"objective": objective}
    if objective != "posterior-mean-squared-error":
        utility["worst_case"] = worst_case
    return {
        "domain": [{"interval": side} for side in sides],
        "prior": law,
        "privacy": notion if isinstance(notion, list) else [notion],
        "utility": utility,
    }


def rounded(table: Document, axes: list[list[Any]]) -> Rounded:
    """Return a problem on its nodes."""
    stated: RoundedProblem = read(RoundedProblem, table)
    return stated.on(read(Linear, {"kind": "linear", "axes": axes}).axes)


def named(registry: Any, table: Document, key: str) -> Any:
    """Return a notion or a utility from its table."""
    return registry[table[key]](**{name: v for name, v in table.items() if name != key})


def document(table: Document, axes: list[list[Any]]) -> Document:
    """Return the file of a design on these nodes; the law is that of the table."""
    sides = [side["interval"] for side in table["domain"]]
    domain = sides[0] if len(sides) == 1 else list(zip(*sides, strict=True))
    law = NamedLaw("normal", ["0.4", "0.2"])
    asked = ContinuousProblem(
        domain,
        [named(NOTIONS, notion, "notion") for notion in table["privacy"]],
        named(UTILITIES, table["utility"], "objective"),
        prior=law if len(sides) == 1 else ProductLaw(law, law),
    )
    nodes = read(Linear, {"kind": "linear", "axes": axes}).axes
    stated = read(RoundedProblem, table)
    once = {"axes_for": lambda *_: nodes, "MOST": (0, 0)}
    with patch.multiple(continuous, **once), patch.object(asked, "stated", lambda _: stated):
        found = design(asked, gap=1e-6).document()
    return sealed(json.loads(json.dumps(found)) | {"problem": copy.deepcopy(table)})


NORMAL = {"kind": "normal", "location": "0.4", "scale": "0.2"}
UNIFORM = {"kind": "uniform"}
LINE = [[str(Fraction(i, 8)) for i in range(9)]]
SQUARE = [["0", "0.5", "1"], ["0", "1"]]
BOX = {"kind": "products", "weights": ["1"], "parts": [[NORMAL, UNIFORM]]}
SIDE = ["0", "1"]
MAE, MSE, EUCLIDEAN = "mean-absolute-error", "mean-squared-distance", "euclidean"
ESTIMATE, READ = "posterior-mean-squared-error", "unbiased-variance"


def n(notion: str, epsilon: str = "1", **more: Any) -> Document:
    return {"notion": notion, "epsilon": epsilon, **more}


METRIC = n("metric", "3", distance="absolute")
LIFT = {"notion": "lift", "lower": "1", "upper": "2"}
MADE: dict[str, tuple[Document, list[list[str]]]] = {
    "lip": (problem(n("lip"), MAE, NORMAL, SIDE), LINE),
    "ldp": (problem(n("ldp"), MSE, UNIFORM, SIDE), LINE),
    "pml": (problem([n("pml"), n("ldp", "2")], MAE, NORMAL, SIDE), LINE),
    "lift": (problem(LIFT, MAE, NORMAL, ["-inf", "1"]), LINE),
    "tails": (problem(n("ldp"), MSE, NORMAL, ["-inf", "inf"]), LINE),
    "worst": (problem(n("ldp"), MAE, UNIFORM, SIDE, worst_case=True), LINE),
    "averages": (problem(n("lip"), MSE, NORMAL, SIDE, worst_case=True), LINE),
    "metric": (problem(METRIC, MAE, NORMAL, SIDE), LINE),
    "metric-worst": (problem(METRIC, MSE, NORMAL, SIDE, worst_case=True), LINE),
    "approximate": (problem(n("approximate-ldp", delta="0.01"), MAE, NORMAL, SIDE), LINE),
    "approximate-lip": (problem(n("approximate-lip", delta="0.01"), MAE, NORMAL, SIDE), LINE),
    "leakage": (problem(n("maximal-leakage"), MAE, NORMAL, SIDE), LINE),
    "information": (problem(n("mutual-information", "0.5"), MAE, NORMAL, SIDE), LINE),
    "estimate": (problem(n("lip"), ESTIMATE, NORMAL, SIDE), LINE),
    "read": (problem(n("ldp"), READ, UNIFORM, SIDE, worst_case=True), LINE),
    "read-mean": (problem(n("lip"), READ, NORMAL, SIDE), LINE),
    "box": (problem(n("lip"), EUCLIDEAN, BOX, SIDE, SIDE), SQUARE),
    "box-squares": (problem(n("ldp"), MSE, BOX, SIDE, SIDE), SQUARE),
    "box-worst": (problem(n("ldp"), EUCLIDEAN, BOX, SIDE, SIDE, worst_case=True), SQUARE),
}


@functools.cache
def made(name: str) -> Document:
    return document(*MADE[name])


@pytest.mark.parametrize("name", MADE)
def test_true_claims_are_confirmed(name: str) -> None:
    found = verify(copy.deepcopy(made(name)))
    assert 0 <= found.bound <= found.value
    message = r"for every law with the moments of the [0-9]+ cells; those of the law named are .*"
    assert re.fullmatch(message, found.claims[-1])
    assert sum(f"on the {'box' if 'box' in name else 'interval'}" in v for v in found.claims) > 0


@pytest.mark.parametrize("name", ["lip", "ldp", "worst", "metric", "estimate", "averages"])
def test_the_bound_is_not_far_from_the_value(name: str) -> None:
    assert made(name)["bound"] > 0.2 * made(name)["value"]


def more(share: float) -> Callable[[float], float]:
    return lambda number: number * (1 + share)


def leaky(document: Document) -> None:
    """Take an output away from the first node: the channel is no longer private."""
    channel = document["channel"]
    first = [int(entry) for entry in channel["numerators"][0]]
    big, small = first.index(max(first)), first.index(min(first))
    first[big], first[small] = first[big] + first[small], 0
    channel["numerators"][0] = [str(v) for v in first]
    channel["matrix"][0] = [v / 2 ** channel["bits"] for v in first]


FORGED: list[tuple[str, Change, str]] = [
    ("lip", put("value", more(-1e-9)), "the value is"),
    ("lip", put("bound", more(1e-3)), "the bound proved is"),
    ("lip", put("problem", "utility", "objective", MSE), "the claimed objective"),
    ("lip", put("problem", "utility", "worst_case", True), "the value is"),
    ("lip", put("problem", "utility", "objective", EUCLIDEAN), "of a number or a point"),
    ("lip", put("privacy", 0, "leakage", more(-0.01)), "leaks more"),
    ("lip", put("problem", "privacy", 0, "epsilon", "0.9"), "the epsilon claimed"),
    ("lip", put("problem", "privacy", 0, "notion", "ldp"), "is not claimed as certified"),
    ("lip", put("problem", "privacy", [n("high-low", sensitive=[0])]), "does not extend"),
    ("lip", put("problem", "prior", "scale", "0.3"), "not private|leaks|the value is"),
    ("lip", put("problem", "prior", "scale", "0"), "the scale"),
    ("lip", put("problem", "prior", "location", "40"), "1e-12"),
    ("lip", put("problem", "prior", "kind", "gamma"), "a kind among"),
    ("lip", put("problem", "prior", BOX), "as many coordinates"),
    ("lip", put("problem", "domain", 0, "interval", 1, "2"), "do not go from end to end"),
    ("lip", put("problem", "domain", 0, "interval", 1, "inf"), "not private|leaks|the value is"),
    ("lip", put("problem", "domain", []), "one or two intervals"),
    ("lip", put("rounding", "axes", 0, 3, "0"), "not increasing"),
    ("lip", put("rounding", "axes", 0, 3, "0.4"), "not private|leaks|the value is"),
    ("lip", put("rounding", "axes", 0, ["0", "0.25", "0.5", "1"]), "the inputs of the channel"),
    ("lip", put("rounding", "axes", 0, 8, "0.9"), "from end to end"),
    ("lip", put("rounding", "kind", "cells"), "rounding.kind: expected"),
    ("lip", put("rounding", "axes", []), "nodes on each"),
    ("lip", put("channel", "outputs", 0, 0.123), "the value is"),
    ("lip", put("channel", "outputs", 0, [0.1, 0.2]), "not a point of the domain"),
    ("lip", put("channel", "outputs", 0, "a"), "channel.outputs: expected"),
    ("lip", put("channel", "decoder", [0.5]), "the objective has none"),
    ("lip", put("channel", "readings", {"numerators": [], "denominator": "1"}), "unbiased"),
    ("lip", leaky, "not private"),
    ("ldp", leaky, "not private"),
    ("box", leaky, "not private"),
    ("metric", leaky, "not private|is 0 at one node"),
    ("approximate", leaky, "leaks more|not private|the value is"),
    ("worst", put("value", more(-1e-4)), "the value is"),
    ("worst", put("problem", "utility", "worst_case", False), "the value is"),
    ("metric", put("privacy", 0, "leakage", 2.5), "leaks more"),
    ("metric", put("problem", "privacy", 0, "epsilon", "2.9"), "is not claimed|not private"),
    ("metric", put("problem", "privacy", 0, "distance", "euclidean"), "that of numbers"),
    ("metric", put("problem", "domain", 0, "interval", 0, "-inf"), "without end|the value is"),
    ("estimate", put("channel", "decoder", 0, more(0.01)), "the decoder differs"),
    ("estimate", put("channel", "outputs", 0, 7), "not numbered from 0"),
    ("read", put("channel", "readings", "denominator", "3"), "the mean of the readings"),
    ("leakage", put("privacy", 0, "leakage", more(-0.1)), "leaks more"),
    ("box", put("problem", "prior", "weights", ["0.9"]), "a distribution"),
    ("box", put("problem", "domain", 0, "interval", ["-inf", "1"]), "an unbounded box"),
    ("box", put("problem", "utility", "objective", MAE), "of a number or a point"),
    ("box", put("problem", "domain", 0, "interval", ["0", "2"]), "end to end"),
    ("box", put("problem", "prior", "parts", 0, 0, "location", "0.3"), "the value is|leaks"),
    ("box", put("channel", "outputs", lambda found: found[:1] * len(found)), "duplicate"),
    ("box", put("channel", "outputs", 0, 3), "not a point of the domain"),
    ("box", put("problem", "utility", "worst_case", True), "the value is|no bound"),
    ("box-squares", put("problem", "utility", "objective", EUCLIDEAN), "claimed objective"),
    ("box-squares", put("value", more(-1e-9)), "the value is"),
    ("box", put("problem", "privacy", 0, METRIC), "by that of numbers"),
]


@pytest.mark.parametrize(("name", "change", "message"), FORGED)
def test_a_forged_claim_is_refused(name: str, change: Change, message: str) -> None:
    found = copy.deepcopy(made(name))
    change(found)
    with pytest.raises(MechdesignError, match=message):
        verify(sealed(found))


@pytest.mark.parametrize("name", MADE)
def test_each_notion_holds_at_its_leakage_and_not_below(name: str) -> None:
    """Both sides: a claim of less is refused, and so is a stricter notion of the problem."""
    found = copy.deepcopy(made(name))
    for claim in found["privacy"]:
        claim["leakage"] -= 1e-6 * (1 + abs(claim["leakage"]))
    with pytest.raises(MechdesignError, match="leaks more"):
        verify(sealed(found))


def stated(cells: list[list[str]], **more: Any) -> Document:
    return {"kind": "moments", "cells": cells, **more}


TAILS = [["1/4", "0", "0"], ["0", "0", "0"]]


def test_stated_moments_are_not_called_verified() -> None:
    cells = [["1/24", "1/48", "1/24"]] * 8
    law = stated(cells, error="0", source="a sample")
    found = verify(document(problem(n("lip"), MAE, law, SIDE), LINE))
    assert found.claims[-1] == "NOT checked: that those of the law named are the same"
    assert found.claims[-2] == "for every law with the moments of the 8 cells"
    same = verify(document(problem(n("lip"), MAE, UNIFORM, SIDE), LINE))
    assert (same.value, same.bound) == (found.value, found.bound)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (stated([["1/12", "1/24", "1/12"]] * 3), "expected all cells"),
        (stated([["1/12", "1/24"]] * 8), "3 means"),
        (stated([["1/12", "1/8", "-1/12"]] * 8), "no law has"),
        (stated([["1/24", "1/12", "1/24"]] * 8), "no law has"),
        (stated([["199/2000", "1/80", "1/2000"]] * 8), "no law has"),
        (stated([["1/12", "1/24", "1/11"]] * 8), "do not sum to 1"),
        (stated([["1/32", "1/64", "1/32"]] * 8, tails=TAILS), "there is mass beyond the ends"),
    ],
)
def test_moments_of_no_law_are_refused(law: Document, message: str) -> None:
    found = copy.deepcopy(made("lip"))
    found["problem"]["prior"] = law
    with pytest.raises(MechdesignError, match=message):
        verify(sealed(found))


def test_a_finer_grid_proves_more() -> None:
    table = problem(n("ldp"), MAE, UNIFORM, SIDE)
    coarse, fine = (document(table, [[str(Fraction(i, k)) for i in range(k + 1)]]) for k in (2, 6))
    assert coarse["bound"] < fine["bound"] <= fine["value"] <= coarse["value"]


NAMES = ["lip", "pml", "metric", "averages", "estimate", "read", "tails", "box", "box-worst"]


@pytest.mark.parametrize("name", NAMES)
def test_accepted_bounds_hold(name: str) -> None:
    changer, accepted = Changer([made(name)], NAMES.index(name)), 0
    for _ in range(16):
        found, honest = changer.document()
        try:
            verified = verify(found)
        except MechdesignError:
            continue
        accepted += 1
        assert exact(found["bound"]) <= verified.bound <= verified.value
        assert abs(exact(found["value"]) - verified.value) <= Fraction(1, 10**11) * verified.value
        if found["problem"] == honest["problem"]:
            # the honest kernel is private there, and has this loss
            assert verified.bound <= exact(honest["value"])
            for claim, own in zip(found["privacy"], honest["privacy"], strict=True):
                if found["channel"]["numerators"] == honest["channel"]["numerators"]:
                    assert abs(claim["leakage"] - own["leakage"]) <= 1e-6
    assert accepted < 10
