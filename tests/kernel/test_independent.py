"""A second verifier, which shares no code with the library, says the same of files.

It accepts honest files, and designs of every shape of certificate; changed ones are judged alike.
"""

from __future__ import annotations

import ast
import functools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mechdesign import design
from mechdesign.files.problems import load_problem
from mechdesign.kernel.documents import digest
from mechdesign.kernel.verify import verify
from tests.independent.bounds import rays
from tests.independent.files import check, proved
from tests.independent.rationals import Unable
from tests.independent.reading import seal
from tests.independent.statement import fillings
from tests.kernel.honest import ROUNDING, draw_document, kernel_bound
from tests.kernel.test_tampering import try_many


def test_it_shares_nothing_with_the_library() -> None:
    for file in (Path(__file__).parents[1] / "independent").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.startswith("mechdesign") for name in names), file


def agree(seed: int) -> None:
    document = draw_document(seed)
    assert digest(document) == seal(document)
    verify(document)
    check(document)
    kernel, naive = kernel_bound(document), proved(document)
    off = ROUNDING * max(1.0, abs(naive))
    assert kernel <= naive + Fraction(off)
    if document["certificate"]["oracle"]["kind"] != "products":
        assert kernel >= naive - Fraction(off), document["certificate"]["oracle"]


@pytest.mark.parametrize("seed", range(24))
def test_both_accept_honest_files_and_prove_the_same_bound(seed: int) -> None:
    agree(seed)


@pytest.mark.slow
def test_both_accept_many_honest_files() -> None:
    for seed in range(24, 500):
        agree(seed)


def test_vertices_of_a_box_with_a_sum() -> None:
    """All entries but one are at an end, and there are n choose n/2 of them at the middle."""
    found = fillings([Fraction(0)] * 4, [Fraction(1)] * 4, Fraction(2))
    assert len(found) == math.comb(4, 2)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_rays_of_one_budget_are_its_subsets(k: int) -> None:
    rows = [
        tuple(Fraction((z == x) - 2 * (z == y)) for z in range(k))
        for x in range(k)
        for y in range(k)
        if x != y
    ]
    found = rays(k, rows)
    assert len(found) == 2**k - 2
    assert all({v / min(ray) for v in ray} == {1, 2} for ray in found)


Document = dict[str, Any]

PROBLEMS = Path(__file__).parents[2] / "problems"

SHAPES = {
    "adversaries/reidentification": "costs orthant",
    "adversaries/two_tries": "costs orthant",
    "approximate/randomized_response": "costs orthant",
    "approximate/rating_lip": "costs orthant",
    "bounded_prior/ages_box": "members costs orthant",
    "bounded_prior/ratings_ball": "members costs orthant",
    "bounded_prior/survey_box": "members gain rays simplicial",
    "bounded_prior/survey_list": "members gain rays simplicial",
    "classic/mangat_drug_survey": "gain rays simplicial",
    "classic/randomized_response": "costs one-budget",
    "context_aware/diagnoses": "costs orthant",
    "decisions/triage": "costs knapsack",
    "differential_identifiability/three_levels": "costs orthant",
    "estimation/favourite_colour": "estimator gain rays classes",
    "estimation/line_worst_case": "average estimator gain rays double-description",
    "estimation/rare_answers": "estimator gain rays double-description",
    "gains/chi_squared_metric": "decoders orthant",
    "gains/hellinger_matrix": "gain rays double-description",
    "gains/rare_event_rate": "decoders one-budget",
    "gains/two_wards": "gain rays subsets",
    "histogram/household_lip": "gain rays double-description",
    "information/symptoms_pml": "gain rays double-description",
    "leakage/ages_information": "costs entropy",
    "leakage/fair_bit": "costs entropy",
    "leakage/sites_maximal": "costs orthant",
    "lip/lip_and_ldp": "costs orthant",
    "lip/three_levels_estimate": "decoders knapsack",
    "means/five_numbers": "readings one-budget",
    "means/five_numbers_worst_case": "average readings one-budget",
    "metric/line": "costs line",
    "numeric/worst_case_rating": "average costs one-budget",
    "secrets/browsing_age": "gain rays double-description",
    "secrets/purchases_illness": "decoders orthant",
    "secrets/ratings_party": "costs orthant",
}
"""Problems, and the kinds of relaxations, linearization, oracle and source of their proofs."""

UNABLE = {"estimation/line_worst_case": "a worst case"}


@functools.cache
def designed(name: str) -> Document:
    found: Document = design(load_problem(PROBLEMS / f"{name}.toml")).document()
    return found


def shape(document: Document) -> str:
    certificate = document["certificate"]
    oracle = certificate["oracle"]
    parts = [*certificate.get("relaxations", []), certificate["linearization"], oracle]
    return " ".join(part["kind"] for part in [*parts, oracle.get("source", {"kind": ""})]).strip()


@pytest.mark.parametrize("name", SHAPES)
def test_both_verifiers_accept_designs(name: str) -> None:
    document = designed(name)
    assert shape(document) == SHAPES[name]
    assert digest(document) == seal(document)
    verify(document)
    if name in UNABLE:
        with pytest.raises(Unable, match=UNABLE[name]):
            check(document)
    else:
        check(document)


def test_changed_designs_are_judged_alike() -> None:
    found = try_many([*map(designed, SHAPES)], 1, 40)
    assert found["refused"] > 20


@pytest.mark.slow
@pytest.mark.long
def test_five_thousand_changed_designs_are_judged_alike() -> None:
    found = sum(
        (try_many([*map(designed, SHAPES)], seed, 1000) for seed in range(2, 7)), Counter[str]()
    )
    assert found["accepted"] > 100
