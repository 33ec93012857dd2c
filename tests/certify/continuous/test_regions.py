"""Regions in the checker: notions about them on the nodes, and forged files."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.certify import digest, parse, verify
from mechdesign.certify.continuous.regions import check_cuts, on_nodes, regions_of

UNIT = md.Interval(0, 1, cuts=["1/4", "1/2"])
LABELS = list(UNIT.regions.labels)
LAW = md.NamedLaw("beta", [2, 3])
NODES = [Fraction(x) for x in ("0", "1/4", "1/4", "1/2", "1/2", "3/4", "1")]
PRIOR = [Fraction(n, 28) for n in range(1, 8)]
BOX = {"lower": ["0.1", "0.2", "0.3"], "upper": ["0.4", "0.5", "0.6"]}
BALL = {"center": ["0.2", "0.3", "0.5"], "radius": "0.25"}
LIST = {"priors": [["0.2", "0.3", "0.5"], ["1", "0", "0"]]}


def of_nodes(notion: str, **keys: Any) -> dict[str, Any]:
    table = {"notion": notion, "epsilon": "1", **keys}
    return on_nodes(table, LABELS, regions_of(NODES), PRIOR)


def test_a_cut_is_a_node_of_either_region() -> None:
    assert regions_of(NODES) == [0, 0, 1, 1, 2, 2, 2]
    assert of_nodes("high-low", sensitive=[LABELS[1]])["sensitive"] == [2, 3]
    blocks = [[LABELS[2], LABELS[0]], [LABELS[1]]]
    assert sorted(map(sorted, of_nodes("block", blocks=blocks)["blocks"])) == [
        [0, 1, 4, 5, 6],
        [2, 3],
    ]
    matrix = of_nodes("context-aware", matrix=[["1", "2", "inf"], ["3", "4", "5"], ["6", 7, "8"]])
    assert matrix["matrix"][0] == ["1", "1", "2", "2", "inf", "inf", "inf"]
    assert [row[0] for row in matrix["matrix"]] == ["1", "1", "3", "3", "6", "6", "6"]
    assert of_nodes("lip") == {"notion": "lip", "epsilon": "1"}


def members(keys: dict[str, Any]) -> list[tuple[Fraction, ...]]:
    """Return laws of the region on a fine grid that are in a set."""
    found = []
    for a, b in product(range(21), repeat=2):
        law = (Fraction(a, 20), Fraction(b, 20), Fraction(20 - a - b, 20))
        if min(law) < 0:
            continue
        if "lower" in keys:
            ends = zip(keys["lower"], law, keys["upper"], strict=True)
            inside = all(Fraction(low) <= p <= Fraction(high) for low, p, high in ends)
        else:
            moved = sum(abs(p - Fraction(c)) for p, c in zip(law, keys["center"], strict=True))
            inside = moved <= 2 * Fraction(keys["radius"])
        if inside:
            found.append(law)
    return found


@pytest.mark.parametrize("keys", [BOX, BALL])
def test_the_listed_priors_bound_the_law_of_each_column(keys: dict[str, Any]) -> None:
    """Their extreme probabilities are those over the whole set, of which a grid is a part."""
    listed = of_nodes("bounded-prior-lip", **keys)["priors"]
    regions, rng = regions_of(NODES), np.random.default_rng(2)
    shares = [sum(p for p, r in zip(PRIOR, regions, strict=True) if r == s) for s in range(3)]
    laws = members(keys)
    assert len(laws) > 20
    on_grid = [
        [law[r] * p / shares[r] for p, r in zip(PRIOR, regions, strict=True)] for law in laws
    ]
    assert all(sum(prior) == 1 for prior in listed)
    for _ in range(20):
        column = rng.integers(0, 50, 7).tolist()
        means, others = (
            [sum(p * q for p, q in zip(prior, column, strict=True)) for prior in priors]
            for priors in (listed, on_grid)
        )
        assert max(others) == max(means)  # the corners of the sets are on the grid
        assert min(others) == min(means)


def test_a_list_of_priors_is_spread_over_the_nodes() -> None:
    first, second = of_nodes("bounded-prior-lip", **LIST)["priors"]
    assert second == [Fraction(1, 3), Fraction(2, 3), 0, 0, 0, 0, 0]
    assert sum(first[:2]) == Fraction(1, 5)


@pytest.mark.parametrize(
    ("notion", "keys", "said"),
    [
        ("high-low", {"sensitive": ["[0, 1]"]}, "a list of inputs"),
        ("block", {"blocks": [[LABELS[0]], [LABELS[1]]]}, "do not divide"),
        ("block", {"blocks": [[LABELS[0], LABELS[1]], LABELS[1:]]}, "a list of inputs"),
        ("context-aware", {"matrix": [["1", "1"], ["1", "1"]]}, "one row for each region"),
        ("context-aware", {"matrix": [["1"] * 3, ["1"] * 3, ["1"] * 2]}, "one row for each"),
        ("bounded-prior-lip", {"lower": ["0.5"] * 3, "upper": ["0.6"] * 3}, "empty"),
        ("bounded-prior-lip", {"center": ["0.5"] * 3, "radius": "0.1"}, "no distribution"),
        ("bounded-prior-lip", {"priors": [["1", "0"]]}, "no distribution"),
    ],
)
def test_what_is_not_about_the_regions_is_refused(notion: str, keys: Any, said: str) -> None:
    with pytest.raises(md.CertificateError, match=said):
        of_nodes(notion, **keys)


def test_sets_that_cannot_be_listed_are_refused() -> None:
    nodes = [Fraction(n // 2 + n % 2, 8) for n in range(16)]
    labels, prior = [str(n) for n in range(8)], [Fraction(1, 16)] * 16
    table = {"notion": "bounded-prior-lip", "epsilon": "1", "center": ["1/8"] * 8, "radius": "0.1"}
    with pytest.raises(md.CertificateError, match="at most 6 regions"):
        on_nodes(table, labels, regions_of(nodes), prior)
    empty = [Fraction(0)] * 2 + [p * 28 / 25 for p in PRIOR[2:]]
    table = {"notion": "bounded-prior-lip", "epsilon": "1", **LIST}
    with pytest.raises(md.CertificateError, match="a region has no mass"):
        on_nodes(table, LABELS, regions_of(NODES), empty)


@pytest.mark.parametrize(
    ("nodes", "cuts"),
    [
        ("0 1 1 2", []),
        ("0 1 2", ["1"]),
        ("0 1 1 1 2", ["1"]),
        ("0 2 1", []),
        ("0 0 1", ["0"]),
        ("0 1 1", ["1"]),
        ("0 1 1 2 2 3", ["2", "1"]),
        ("0 1 1 1 2", ["1", "1"]),
    ],
)
def test_points_come_twice_at_the_cuts_only(nodes: str, cuts: list[str]) -> None:
    with pytest.raises(md.CertificateError, match="points"):
        check_cuts(list(map(Fraction, nodes.split())), list(map(Fraction, cuts)))


PROBLEMS = {
    "high-low": md.HighLowLDP(1, [LABELS[1]]),
    "block": md.BlockLDP(1, [LABELS[:1], LABELS[1:]]),
    "priors": md.BoundedPriorLIP(1, lower=[0.1, 0.2, 0.3], upper=[0.4, 0.5, 0.6]),
    "context-aware": md.ContextAwareLDP([[1, 2, 3], [1, 1, 1], [2, 0.5, 1]]),
}


@functools.cache
def document_of(name: str) -> dict[str, Any]:
    loss = md.MeanSquaredDistance()
    problem = md.ContinuousProblem(UNIT, PROBLEMS[name], loss, prior=LAW)
    found: dict[str, Any] = parse(json.dumps(md.design(problem, gap=0.5).document()))
    return found


def forged(name: str, change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    document = copy.deepcopy(document_of(name))
    change(document["problem"])
    document["digest"] = digest(document)
    return document


FORGED: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("high-low", lambda p: p["privacy"][0].update(sensitive=LABELS[:2]), "not private|the bound"),
    ("high-low", lambda p: p["privacy"][0].update(sensitive=["[1/4, 1/2)"]), "a list of inputs"),
    ("high-low", lambda p: p["domain"].update(cuts=["0.3", "0.5"]), "not just the cuts"),
    ("high-low", lambda p: p["domain"].update(cuts=["0.25"]), "not just the cuts"),
    ("high-low", lambda p: p["domain"].pop("cuts"), "not just the cuts"),
    ("block", lambda p: p["privacy"][0].update(blocks=[LABELS]), "not private|the bound"),
    ("priors", lambda p: p["privacy"][0].update(lower=["0", "0", "0"]), "not private|the bound"),
    ("context-aware", lambda p: p["privacy"][0]["matrix"][0].reverse(), "not private|the bound|le"),
]


@pytest.mark.parametrize(("name", "change", "said"), FORGED)
def test_a_forged_file_is_refused(name: str, change: Any, said: str) -> None:
    assert verify(document_of(name)).value > 0
    with pytest.raises(md.CertificateError, match=said):
        verify(forged(name, change))


def test_mass_at_a_cut_itself_is_refused() -> None:
    def moved(problem: dict[str, Any]) -> None:
        moments = problem["moments"]
        cut = moments["masses"].index("0", 2)
        for key in ("masses", "first", "second"):
            moments[key][cut], moments[key][cut - 1] = moments[key][cut - 1], "0"

    with pytest.raises(md.CertificateError, match="a cut has mass"):
        verify(forged("high-low", moved))


def test_an_empty_region_ties_no_others_together() -> None:
    """No number is in ``[1/2, 1/2)``, so that rows tied to its own are not tied to one another."""
    half, loss = md.Interval(0, 1, cuts=["1/2"]), md.MeanSquaredDistance()
    uniform, tied = md.NamedLaw("uniform", [0, 1]), md.ContextAwareLDP([[0, 0], [0, 0]])
    found = md.design(md.ContinuousProblem(half, tied, loss, prior=uniform), gap=0.9)
    document = parse(json.dumps(found.document()))
    assert verify(document).bound > Fraction(1, 20)  # with the halves told apart, 1/48 is lost
    problem, channel = document["problem"], document["channel"]
    (cut,) = problem["domain"]["cuts"]
    at = channel["points"].index(cut)
    problem["domain"]["cuts"] = [cut, cut]
    problem["privacy"][0]["matrix"] = [["0", "0", "inf"], ["0", "0", "0"], ["inf", "0", "0"]]
    channel["points"].insert(at, cut)
    for rows in (channel["matrix"], channel["numerators"]):
        rows.insert(at, rows[at])
    for key in ("masses", "first", "second"):
        problem["moments"][key].insert(at + 1, "0")
    document["certificate"] = {"theorem": "equal-rows", "dual": None}
    document["digest"] = digest(document)
    with pytest.raises(md.CertificateError, match="a cut twice"):
        verify(document)
