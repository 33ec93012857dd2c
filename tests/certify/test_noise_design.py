"""Noise as the answer to a problem: what it loses, what nothing loses less than, no false claim.

The loss is compared with that of all rows, one by one; the bound with the optimum of the textbook
linear program.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    Domain,
    EuclideanDistance,
    HammingLoss,
    MeanSquaredDistance,
    MetricPrivacy,
    Prior,
    Problem,
    design,
    resources,
)
from mechdesign.certify import verify
from mechdesign.certify.loss_tables import CellLosses
from mechdesign.certify.noise_design import NoiseDesign
from mechdesign.certify.problem import statement_without_problem
from mechdesign.certify.torus_noise import read_torus_noise
from mechdesign.errors import LimitError
from mechdesign.files.mechanisms import mechanism_document
from mechdesign.mechanisms import GeneralizedRandomizedResponse, GeometricNoise, PlanarLaplace
from mechdesign.mechanisms.noise.lattice_noise import LatticeNoise
from mechdesign.utilities.base import LinearUtility
from tests.documents import Document, refused, sealed
from tests.strategies import examples, lp_optimum

LOSSES: dict[str, LinearUtility] = {
    "euclidean": EuclideanDistance(),
    "squared": MeanSquaredDistance(),
    "hamming": HammingLoss(),
}


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Some people on a line or on a grid, a few points of it empty."""
    step = draw(st.sampled_from(["0.5", 1, 3]))
    rows, columns = draw(st.tuples(st.integers(1, 3), st.integers(3, 4)))
    domain, distance = Domain.grid(rows, columns, step), draw(st.sampled_from(DISTANCES))
    if draw(st.booleans()):
        domain, distance = Domain([2 + 3 * n for n in range(draw(st.integers(3, 7)))]), "absolute"
    counts = draw(st.lists(st.integers(0, 5), min_size=len(domain), max_size=len(domain)))
    prior = Prior.from_counts([counts[0] + 1, *counts[1:]])
    epsilon, loss = draw(st.sampled_from(["0.3", "1"])), draw(st.sampled_from([*LOSSES]))
    return Problem(domain, MetricPrivacy(epsilon, distance), LOSSES[loss], prior=prior)


DISTANCES = ["euclidean", "manhattan"]


def noise_for(problem: Problem) -> LatticeNoise:
    notion = problem.sole_notion(MetricPrivacy)
    assert notion is not None
    kind = PlanarLaplace if notion.distance == "euclidean" else GeometricNoise
    return kind.for_notion(problem.domain, notion)


def checked(problem: Problem, noise: LatticeNoise) -> NoiseDesign:
    """Return the problem and the noise as the checker reads them."""
    table = noise.to_table()
    statement = statement_without_problem(table["domain"])
    read = read_torus_noise(table["mechanism"], statement, table["privacy"], table["law"])
    asked = problem.to_table()
    claims = {"prior": asked["prior"], "utility": asked["utility"]}
    return NoiseDesign(statement, table["privacy"], read, claims)


@examples(40)
@given(problem=problems(), block=st.sampled_from([0, 1, 2, 3]))
def test_the_value_is_that_of_all_rows(problem: Problem, block: int) -> None:
    noise, loss, domain = noise_for(problem), problem.expected_loss, problem.domain
    assert loss is not None
    if block:
        name = {"mean-squared-distance": "squared"}.get(loss.name, loss.name)
        noise = noise.remapped(problem.prior, name, block)
    table, total = loss.loss(domain, domain.labels), Fraction(0)
    for x, p in enumerate(problem.prior):
        for y, mass in enumerate(noise.row(x).tolist()):
            total += p * mass / 2**62 * table.bound(int(table.numerators[x, y]), up=True)
    value = checked(problem, noise).value()
    assert abs(value - total) <= total / 2**140
    assert not isinstance(loss, EuclideanDistance) or value >= total - total / 2**140


def cells_of(draw: st.DrawFn, sides: tuple[int, int]) -> list[list[int]]:
    """Return rectangles that hold all points, and some that hold points twice."""
    ends = [sorted(draw(st.sets(st.integers(1, n)))) for n in sides]
    parts = [list(zip([0, *e], [*e, n], strict=True)) for e, n in zip(ends, sides, strict=True)]
    found = [[a, b - 1, c, d - 1] for a, b in parts[0] for c, d in parts[1] if a < b and c < d]
    return found + found[: draw(st.integers(0, 2))]


@examples(25)
@given(problem=problems(), data=st.data())
def test_any_proof_is_of_a_bound_that_holds(problem: Problem, data: st.DataObject) -> None:
    """Whatever the rectangles, the representatives, and the multipliers."""
    draw, k, noise = data.draw, len(problem.domain), noise_for(problem)
    cells = cells_of(draw, noise.law.sides)
    some = sorted(draw(st.sets(st.integers(0, k - 1), min_size=1)))
    stands = [x if x in some else draw(st.sampled_from(some)) for x in range(k)]
    size = draw(st.integers(0, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pairs = rng.choice(some, size=(size, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    size = len(pairs)
    dual = {
        "representatives": stands,
        "mixtures": [[[y, 1.0]] for y in range(len(cells))],
        "cells": cells,
        "rows": [
            {
                "notion": 0,
                "side": "ratio",
                "output": rng.integers(0, len(cells), size).tolist(),
                "x": pairs[:, 0].tolist(),
                "other": pairs[:, 1].tolist(),
                "weight": (rng.random(size) * draw(st.sampled_from([0.01, 0.1]))).tolist(),
            }
        ],
    }
    found = checked(problem, noise)
    assert float(found.bound(dual)) <= lp_optimum(problem).value + 1e-7
    assert found.bound(None) == 0 <= found.value()


@examples(25)
@given(problem=problems(), data=st.data())
def test_a_rectangle_costs_what_its_nearest_point_does(
    problem: Problem, data: st.DataObject
) -> None:
    noise, loss, domain = noise_for(problem), problem.expected_loss, problem.domain
    assert loss is not None
    cells, table = cells_of(data.draw, noise.law.sides), loss.loss(domain, domain.labels).array
    statement = checked(problem, noise).statement
    corner, unit = statement.losses.lower(0), statement.losses.denominator
    found, m = CellLosses(corner, unit, noise.law.sides, cells), noise.law.sides[1]
    for y, (top, bottom, left, right) in enumerate(cells):
        held = [r * m + c for r in range(top, bottom + 1) for c in range(left, right + 1)]
        least = table[:, held].min(axis=1)
        assert np.array(found.lower(y), dtype=float) / unit == pytest.approx(least, abs=1e-12)
        assert found.lower_at(y, [2, 0]) == [found.lower(y)[2], found.lower(y)[0]]


# --- a file -------------------------------------------------------------------------------------


COUNTS = [(x * 7) % 5 for x in range(36)]

CITY = Problem(
    Domain.grid(6, 6),
    MetricPrivacy("0.8", "euclidean"),
    EuclideanDistance(),
    prior=Prior.from_counts(COUNTS),
)


@pytest.fixture(scope="module")
def honest() -> Document:
    found: Document = json.loads(json.dumps(design(CITY, route="noise").document()))
    return found


@pytest.fixture
def document(honest: Document) -> Document:
    return copy.deepcopy(honest)


def test_an_honest_file_is_accepted_and_its_numbers_are_those_of_the_problem(
    document: Document,
) -> None:
    verified, best = verify(document), design(CITY)
    assert verified.value is not None
    assert verified.bound is not None
    assert best.gap < 1e-6
    assert 0.95 * best.value <= verified.bound <= best.value <= verified.value <= 1.2 * best.value
    assert document["design"]["value"] == pytest.approx(float(verified.value), rel=1e-15)
    assert len(verified.claims) == 4
    document["design"]["bound"] *= 0.5  # less is claimed than is proved
    assert verify(sealed(document)).bound == verified.bound


Change = Callable[[dict[str, Any]], Any]

FORGED: dict[str, tuple[Change, str]] = {
    "less loss": (lambda d: d.update(value=d["value"] * (1 - 1e-9)), "the value is"),
    "more loss": (lambda d: d.update(value=d["value"] * (1 + 1e-9)), "the value is"),
    "a closer bound": (lambda d: d.update(bound=d["bound"] + 1e-7), "the bound proved is"),
    "a bound at the value": (lambda d: d.update(bound=d["value"]), "the bound proved is"),
    "no proof": (lambda d: d.update(dual=None), "the bound proved is 0.0"),
    "another prior": (lambda d: d["prior"].reverse(), "the value is"),
    "no distribution": (lambda d: d["prior"].__setitem__(0, "1/2"), "no distribution"),
    "too short a prior": (lambda d: d["prior"].pop(), "no distribution"),
    "another loss": (
        lambda d: d["utility"].update(objective="mean-squared-distance"),
        "the value is",
    ),
    "a loss not of the grid": (
        lambda d: d["utility"].update(objective="mean-absolute-error"),
        "no distance",
    ),
    "a worst case": (lambda d: d["utility"].update(worst_case=True), "worst_case"),
    "an output left out": (
        lambda d: (d["dual"]["cells"].pop(), d["dual"]["mixtures"].pop()),
        "do not hold all",
    ),
    "a rectangle off the grid": (
        lambda d: d["dual"]["cells"].append([0, 6, 0, 0]),
        "not within the grid",
    ),
    "a rectangle inside out": (
        lambda d: d["dual"]["cells"].append([3, 2, 0, 0]),
        "not within the grid",
    ),
    "a rectangle without multipliers": (
        lambda d: d["dual"]["cells"].append([0, 0, 0, 0]),
        "one mixture",
    ),
    "a representative of itself alone": (
        lambda d: d["dual"].update(representatives=[*range(35), 36]),
        "represented",
    ),
    "a negative weight": (
        lambda d: d["dual"]["mixtures"][0].append([0, -1.0]),
        "expected",
    ),
    "a side that no ratio has": (
        lambda d: [block.update(side="upper") for block in d["dual"]["rows"]],
        "no rows on the side",
    ),
    "a notion that there is not": (
        lambda d: [block.update(notion=1) for block in d["dual"]["rows"]],
        "a notion",
    ),
    "twice the multipliers": (
        lambda d: [mixture[0].__setitem__(1, 2.0) for mixture in d["dual"]["mixtures"] if mixture],
        "the bound proved is",
    ),
}


@pytest.mark.parametrize("claim", FORGED)
def test_a_false_claim_is_refused(claim: str, document: Document) -> None:
    change, reason = FORGED[claim]
    change(document["design"])
    refused(document, reason)


def test_another_law_does_not_lose_what_the_file_says(document: Document) -> None:
    """Less noise is not private; more of it is, and loses more."""
    weights, by = document["law"]["weights"], 1 << 50
    kept = list(weights)
    weights[0], weights[1] = str(int(weights[0]) + 4 * by), str(int(weights[1]) - by)
    refused(document, "not private")
    weights[:] = kept
    other = mechanism_document(PlanarLaplace(CITY.domain, "0.75"))
    document["law"] |= {key: other["law"][key] for key in ("weights", "margins")}
    refused(document, "leaks less")
    document["leakage"] = other["leakage"]
    refused(document, "the value is")


def test_another_remap_does_not_lose_what_the_file_says(document: Document) -> None:
    remap = document["law"]["remap"]
    remap[14] = "0" if remap[14] != "0" else "1"
    refused(document, "the value is")
    del document["law"]["remap"]
    refused(document, "the value is")


def test_another_budget_does_not_bound_what_the_file_says(document: Document) -> None:
    """With more of it a better channel may be private, so that the bound is not proved."""
    document["privacy"]["epsilon"] = "0.9"
    refused(document, "the bound proved is")


def test_only_noise_has_a_design(document: Document) -> None:
    other: Document = mechanism_document(GeneralizedRandomizedResponse(36, 1))
    refused({**other, "design": document["design"]}, "'design' is no key")


def test_the_work_on_a_file_is_limited(document: Document) -> None:
    """The loss and the bound count apart, against the same limit."""
    with resources.allow(steps=1):
        assert verify(document).bound  # each entry of a file allows some
    document["law"]["margins"] = ["2000", "2000"]
    with pytest.raises(LimitError):
        verify(sealed(document))


def test_the_work_on_long_numbers_of_a_prior_is_counted() -> None:
    """Every input adds a multiple of a number as long as the common denominator of the prior."""
    noise = noise_for(CITY)
    table = noise.to_table()
    statement = statement_without_problem(table["domain"])
    read = read_torus_noise(table["mechanism"], statement, table["privacy"], table["law"])
    utility, steps = CITY.to_table()["utility"], []
    for digits in (1, 900):
        bottoms = [10**digits + n for n in range(18)]
        pairs = [(Fraction(b // 3, 18 * b), Fraction(b - b // 3, 18 * b)) for b in bottoms]
        claims = {"prior": [str(p) for pair in pairs for p in pair], "utility": utility}
        found = NoiseDesign(statement, table["privacy"], read, claims)
        words = found.statement.masses[1].bit_length() // 512
        with resources.counted() as work:
            assert found.value() > 0
        steps.append(work.apart)
    assert words > 50
    assert steps[1] - steps[0] >= 36 * (words - 10)
