"""Saved structured mechanisms: honest ones pass, and any false claim is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign import BlockLDP, CertificateError, Domain, HighLowLDP, Prior
from mechdesign.certify import verify
from mechdesign.certify.mechanism_file import WHOLE
from mechdesign.files.mechanisms import mechanism_document
from mechdesign.mechanisms import (
    ByComponent,
    GeneralizedRandomizedResponse,
    GeometricNoise,
    HadamardResponse,
    HighLow,
    LIPRandomizedResponse,
    Mechanism,
    OptimizedUnaryEncoding,
    PlanarLaplace,
    ProjectiveGeometryResponse,
    SubsetSelection,
    SymmetricUnaryEncoding,
    block_hadamard,
    block_projective_geometry,
    block_subset_selection,
    high_low_hadamard,
    high_low_projective_geometry,
    high_low_subset_selection,
)
from tests.documents import Document, refused, sealed
from tests.mechanisms_support import exact_table
from tests.strategies import examples

Change = Callable[[Document], None]

MADE: dict[str, Mechanism] = {
    "randomized response": GeneralizedRandomizedResponse(["a", "b", "c"], 1),
    "Hadamard": HadamardResponse(5, 1),
    "Hadamard copies": HadamardResponse(7, 3),
    "projective": ProjectiveGeometryResponse(9, 1, 3),
    "optimized unary": OptimizedUnaryEncoding(4, 1),
    "symmetric unary": SymmetricUnaryEncoding(4, "0.5"),
    "subsets": SubsetSelection(6, 1),
    "blocks": block_hadamard(5, 1, [[0, 3], [1, 2], [4]]),
    "grid": block_subset_selection(Domain.grid(4, 6), 1, block_rows=2, block_columns=3),
    "mixed": ByComponent(
        5, BlockLDP(2, [[4, 1], [0, 2, 3]]), [OptimizedUnaryEncoding(2, 1), SubsetSelection(3, 2)]
    ),
    "high-low": high_low_hadamard(["a", "b", "c", "d"], 1, ["d", "a", "b"]),
    "high-low subsets": high_low_subset_selection(6, 1, range(4)),
    "high-low projective": high_low_projective_geometry(6, 1, range(5)),
    "block projective": block_projective_geometry(7, 1, [[0, 3, 5, 6], [1, 2, 4]]),
    "Mangat": high_low_hadamard(3, 1, [1]),
    "high-low randomized": HighLow(
        4, HighLowLDP(1, [0, 1, 2]), GeneralizedRandomizedResponse(3, 1)
    ),
    "LIP": LIPRandomizedResponse(3, 1, Prior(["0.3", "0.3", "0.4"])),
    "line": GeometricNoise([1, 3, 5, 7], 1),
    "walks": GeometricNoise(Domain.grid(2, 3, spacing="0.5"), 4),
    "plane": PlanarLaplace(Domain.grid(3, 4), 1),
}


def document_of(name: str) -> Document:
    found: Document = json.loads(json.dumps(mechanism_document(MADE[name])))
    return found


def law(*path: str | int, by: Any) -> Change:
    """Return the change of one entry of the law."""

    def change(document: Document) -> None:
        place = document["law"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = by

    return change


def plus(*path: str | int, by: int) -> Change:
    """Return the change of a whole number of the law by a few."""

    def change(document: Document) -> None:
        place = document["law"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = str(int(place[path[-1]]) + by)

    return change


def moved(source: int, target: int, by: int) -> Change:
    """Return the change that moves mass among the displacements of two lengths; sums stay."""

    def change(document: Document) -> None:
        kind, weights = document["mechanism"], document["law"]["weights"]
        counts = {"geometric-noise": [1, 2], "planar-laplace": [1, 4, 4, 4, 8, 4, 4, 8]}[kind]
        for place, sign in ((source, -1), (target, 1)):
            share = by * counts[source] * counts[target] // counts[place]
            weights[place] = str(int(weights[place]) + sign * share)

    return change


def put(key: str, by: Any) -> Change:
    def change(document: Document) -> None:
        document[key] = by

    return change


def privacy(key: str, by: Any) -> Change:
    def change(document: Document) -> None:
        document["privacy"][key] = by

    return change


@pytest.mark.parametrize("name", MADE)
def test_honest_documents_pass(name: str) -> None:
    verified = verify(document_of(name))
    assert len(verified.claims) == 2
    assert "rows sum to 1 exactly" in verified.claims[0]
    assert f"leakage {MADE[name].leakage:.10g}" in verified.claims[1]
    assert verified.value is verified.bound is None


@pytest.mark.parametrize("name", MADE)
def test_the_ratio_is_that_of_the_whole_table(name: str) -> None:
    """What a few integers prove is what the matrix says: the leakage, by enumeration."""
    mechanism = MADE[name]
    notion, matrix = mechanism.privacy, mechanism.dense()
    prior = getattr(mechanism, "prior", None)
    assert exact_table(mechanism)
    assert notion.leakage(matrix, prior) == pytest.approx(mechanism.leakage, rel=1e-14)


# (which, what is changed, the words of the refusal)
LIES: list[tuple[str, Change, str]] = [
    ("randomized response", plus("own", by=1), "do not sum to 1"),
    ("randomized response", law("other", by="0"), "mass above 0"),
    ("randomized response", privacy("epsilon", "0.999"), "not private"),
    ("randomized response", put("leakage", 0.99), "leaks more"),
    ("randomized response", put("leakage", 1.01), "leaks less"),
    ("randomized response", put("leakage", -1), "leakage: expected number >= 0"),
    (
        "randomized response",
        put("mechanism", "subset-selection"),
        "own. is no key of law subset-selection|notion|law",
    ),
    ("randomized response", put("mechanism", "magic"), "the mechanism 'magic' is not known"),
    ("randomized response", put("mechanism", "in-clear"), "the mechanism 'in-clear' is not known"),
    ("randomized response", put("domain", {"values": ["a", "b"]}), "do not sum to 1"),
    ("randomized response", put("domain", {"values": ["a", "b", "b"]}), "an input twice"),
    ("randomized response", privacy("notion", "block"), "the notion 'block' is not known"),
    ("randomized response", law("own", by=7), "expected whole, found 7"),
    ("randomized response", law("own", by="-7"), "expected whole, found '-7'"),
    ("randomized response", law("own", by="٣"), "expected whole, found"),
    ("Hadamard", law("size", by="4"), "the size or the mass"),
    ("Hadamard", law("size", by="12"), "the size or the mass"),
    ("Hadamard", plus("held", by=1), "the size or the mass"),
    ("Hadamard", plus("held", by=WHOLE >> 5), "not private"),
    ("Hadamard", law("held", by=str(WHOLE)), "below 2"),
    ("Hadamard copies", law("copies", by="1"), "the size or the mass"),
    ("Hadamard copies", law("copies", by="0"), "equal blocks"),
    ("Hadamard copies", law("copies", by="5"), "equal blocks"),
    ("Hadamard copies", law("copies", by="9"), "equal blocks"),
    ("Hadamard copies", plus("held", by=2), "no whole masses"),
    ("Hadamard copies", plus("held", by=7 << 40), "no whole masses|not private"),
    ("Hadamard copies", law("copies", by=str(10**19)), "equal blocks"),
    ("projective", plus("held", by=WHOLE >> 8), "not private"),
    ("projective", law("field", by="4"), "not of a prime"),
    ("projective", law("field", by="1"), "out of range"),
    ("projective", law("field", by="2"), "fewer points"),
    ("projective", law("field", by=str((1 << 31) + 11)), "out of range"),
    ("projective", law("dimension", by="1"), "out of range"),
    ("projective", law("dimension", by="63"), "out of range"),
    ("projective", law("dimension", by="2"), "fewer points"),
    ("projective", law("dimension", by="4"), "leaks less|not private|leaks more"),
    ("high-low projective", plus("uniform", by=-16), "not private"),
    ("optimized unary", plus("held", by=WHOLE >> 8), "not private"),
    ("optimized unary", plus("digits", by=1), "not private"),
    ("optimized unary", law("others", by="0"), "q is no probability"),
    ("symmetric unary", law("digits", by="63"), "q is no probability"),
    ("subsets", plus("held", by=WHOLE >> 8), "not private"),
    ("subsets", law("size", by="6"), "not of some"),
    ("subsets", law("size", by="0"), "not of some"),
    ("blocks", law("part_of_block", by=["1", "0", "0"]), "told in clear"),
    ("blocks", law("part_of_block", by=["0", "0"]), "one part for each block"),
    ("blocks", law("part_of_block", by=["0", "0", "9"]), "one part for each block"),
    ("blocks", plus("parts", 0, "law", "held", by=WHOLE >> 4), "more than its epsilon"),
    ("blocks", privacy("blocks", [[0, 3], [1, 2]]), "do not divide"),
    ("blocks", privacy("blocks", [[0, 3], [1, 2], [3]]), "expected a list of inputs"),
    ("blocks", privacy("blocks", [[0, 3, 1, 2], [], [4]]), "nonempty list"),
    ("blocks", privacy("blocks", ["03", [1, 2], [4]]), "expected nonempty list"),
    ("blocks", privacy("blocks", {"0": 1}), "expected nonempty list"),
    ("blocks", law("parts", 1, "law", by={"more": "1"}), "'more' is no key of law in-clear"),
    ("blocks", law("part_of_block", by=["0", "0", "0"]), "each part for some"),
    ("grid", privacy("block_rows", 3), "do not divide its grid"),
    ("grid", privacy("block_rows", 0), "expected count"),
    ("grid", put("domain", {"values": [[r, c] for c in range(6) for r in range(4)]}), "a grid"),
    ("mixed", law("parts", 0, "mechanism", by="high-low"), "the mechanism 'high-low' is not known"),
    ("high-low", plus("uniform", by=-16), "not private"),
    (
        "high-low",
        law("inner", "mechanism", by="optimized-unary-encoding"),
        "'size' is no key of law",
    ),
    ("high-low", privacy("sensitive", ["a", "b", "x"]), "expected a list of inputs"),
    ("high-low", privacy("sensitive", "dab"), "expected nonempty list"),
    ("high-low", put("domain", {"values": "abcd"}), "expected nonempty list"),
    ("high-low", privacy("sensitive", ["a", "b", "c", "d"]), "all inputs are sensitive"),
    ("Mangat", privacy("sensitive", [1, 2]), "told in clear"),
    ("LIP", plus("truth", by=1), "do not sum to 1"),
    ("LIP", law("prior", by=["0.2", "0.4", "0.4"]), "not private|leaks"),
    ("LIP", law("prior", by=["0.3", "0.3", "0.3"]), "no distribution"),
    ("LIP", law("prior", by=["0.5", "0.5"]), "no distribution"),
    ("line", plus("weights", 0, by=1), "do not sum to 1"),
    ("line", moved(1, 0, by=1 << 20), "not private"),
    ("line", privacy("epsilon", "0.9999"), "not private"),
    ("line", put("leakage", 0.9999), "leaks more"),
    ("line", put("leakage", 1.0001), "leaks less"),
    ("line", put("domain", {"values": [1, 3, 5, 8]}), "equally spaced"),
    ("line", put("domain", {"values": [7, 5, 3, 1]}), "rising order"),
    ("line", put("domain", {"values": ["a", "b", "c", "d"]}), "equally spaced"),
    ("line", put("domain", {"values": [0.5, 1, 1.5, 2]}), "not private"),
    ("line", put("domain", {"values": [1, 3, 5, 7, 9]}), "do not sum to 1"),
    ("line", law("margins", by=["0"]), "margin"),
    ("line", plus("margins", 1, by=1), "do not sum to 1"),
    ("line", plus("margins", 0, by=1), "fewer than three points"),
    ("line", law("weights", 3, by="0"), "a weight above 0"),
    ("line", law("weights", by=[str(WHOLE)]), "expected nonempty list"),
    ("line", law("weights", by=["1"] * 50), "a weight above 0 for each length"),
    ("line", privacy("distance", [["0", "1", "2", "3"]] * 4), "not for the distance"),
    ("line", privacy("notion", "ldp"), "the notion 'ldp' is not known"),
    ("walks", privacy("distance", "euclidean"), "not for the distance"),
    ("walks", put("mechanism", "planar-laplace"), "not for the distance"),
    ("walks", plus("margins", 0, by=1), "fewer than three points"),
    ("walks", put("domain", {"grid": {"rows": 3, "columns": 2, "spacing": "0.5"}}), "fewer than"),
    (
        "walks",
        put("domain", {"grid": {"rows": 2, "columns": 3, "spacing": "0.4"}}),
        "not private",
    ),
    ("plane", privacy("distance", "manhattan"), "not for the distance"),
    ("plane", privacy("distance", "absolute"), "not for the distance"),
    ("plane", put("mechanism", "geometric-noise"), "not for the distance"),
    ("plane", moved(6, 5, by=1 << 40), "not private"),
    ("plane", law("remap", by=["0"] * 11), "remap has not one input"),
    ("plane", law("remap", by=["12"] * 12), "remap has not one input"),
]


@pytest.mark.parametrize(("name", "change", "words"), LIES)
def test_lies_are_refused(name: str, change: Change, words: str) -> None:
    document = document_of(name)
    change(document)
    with pytest.raises(CertificateError, match="the digest does not match"):
        verify(document)
    refused(document, words)


def test_other_units_that_are_private_still_pass() -> None:
    """The checker proves what a file says, whatever made it: a smaller mass is more private."""
    document = document_of("subsets")
    plus("held", by=-1)(document)
    verify(sealed(document))


@pytest.mark.parametrize("epsilon", ["0", "1"])
def test_reports_that_reveal_nothing_have_the_leakage_0(epsilon: str) -> None:
    """Both bounds are kept with equality: the ratio is 1, which is e**0 exactly."""
    document = json.loads(
        json.dumps(mechanism_document(GeneralizedRandomizedResponse(["a", "b", "c", "d"], 1)))
    )
    for change in (
        law("own", by=str(WHOLE // 4)),
        law("other", by=str(WHOLE // 4)),
        put("leakage", 0),
        privacy("epsilon", epsilon),
    ):
        change(document)
    verify(sealed(document))


@given(st.sampled_from(sorted(MADE)), st.data())
@examples(60)
def test_a_document_that_lacks_anything_is_refused(name: str, data: st.DataObject) -> None:
    document = document_of(name)
    key = data.draw(st.sampled_from(["mechanism", "domain", "privacy", "leakage", "law"]))
    if data.draw(st.booleans()):
        del document[key]
    else:
        document[key] = data.draw(st.sampled_from([None, [], {}, 3, "x", True, [[]]]))
    refused(document)


@given(st.sampled_from(sorted(MADE)), st.data())
@examples(80)
def test_a_law_that_lacks_anything_is_refused(name: str, data: st.DataObject) -> None:
    document = document_of(name)
    before = copy.deepcopy(document)
    place: Any = document["law"]
    while True:
        keys = sorted(set(place) - {"epsilon"}) if isinstance(place, dict) else [0]
        key = data.draw(st.sampled_from(keys))
        if place[key] == {} and key == "law":  # of a part in clear: there is nothing to lack
            break
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(st.sampled_from([None, [], {"x": 1}, 3.5, "x", [["1"]]]))
        break
    if document != before:
        refused(document)


def test_a_part_of_unary_encoding_cannot_be_joined() -> None:
    document = document_of("high-low")
    document["law"]["inner"] = {
        "mechanism": "optimized-unary-encoding",
        "epsilon": "1",
        "law": json.loads(json.dumps(mechanism_document(OptimizedUnaryEncoding(3, 1))))["law"],
    }
    refused(document, "not known to have two probabilities")


def test_the_high_low_condition_is_sharp() -> None:
    """One step of w less, and most > e**eps w / N."""
    mechanism = HighLow(5, HighLowLDP(1, [0, 1, 2]), SubsetSelection(3, 1, 1))
    document = json.loads(json.dumps(mechanism_document(mechanism)))
    verify(document)
    document["law"]["uniform"] = str(int(document["law"]["uniform"]) - 3)
    refused(document, "not private")
