"""Files of mechanisms for numbers: honest ones are confirmed, and each forged claim is refused."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import mechdesign as md
from mechdesign.certify import Verified, digest, parse, verify
from mechdesign.certify.continuous.kernel import Kernel
from mechdesign.certify.continuous.law import Continuous
from mechdesign.certify.continuous.relaxation import node_places, stretched

LAW = md.NamedLaw("normal", [0.4, 0.2])
MAE, MSE = md.MeanAbsoluteError, md.MeanSquaredDistance

PROBLEMS = {
    "lip": md.ContinuousProblem([0, 1], md.LIP(1), MAE(), prior=LAW),
    "worst": md.ContinuousProblem([0, 1], md.LDP(1), MAE(worst_case=True)),
    "metric": md.ContinuousProblem([0, 1], md.MetricPrivacy(3, "absolute"), MAE(), prior=LAW),
    "squares": md.ContinuousProblem([0, 1], [md.PML(1), md.LDP(2)], MSE(), prior=LAW),
    "tails": md.ContinuousProblem(["-inf", 1], md.AsymmetricLift(1, 2), MAE(), prior=LAW),
    "estimate": md.ContinuousProblem([0, 1], md.LIP(1), md.PosteriorMeanSquaredError(), prior=LAW),
    "leakage": md.ContinuousProblem([0, 1], md.MaximalLeakage(1), MAE(), prior=LAW),
}


@functools.cache
def document_of(name: str) -> dict[str, Any]:
    solution = md.design(PROBLEMS[name], gap=0.5)
    found: dict[str, Any] = parse(json.dumps(solution.document()))
    return found


def checked(document: dict[str, Any]) -> Verified:
    """Check a document whose digest is made to fit."""
    document["digest"] = digest(document)
    return verify(document)


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_was_designed_is_confirmed(name: str) -> None:
    document = copy.deepcopy(document_of(name))
    found = checked(document)
    assert found.value == pytest.approx(document["value"])
    assert document["bound"] <= found.bound
    assert f"for every law with the moments of the {document['cells']} cells" in found.claims[-1]


Change = Callable[[dict[str, Any]], None]


def put(*path: Any) -> Change:
    """Return a change that puts the last of the path where the others lead to."""

    def change(document: dict[str, Any]) -> None:
        place: Any = document
        *keys, last, value = path
        for key in keys:
            place = place[key]
        place[last] = value(place[last]) if callable(value) else value

    return change


def more(share: float) -> Callable[[float], float]:
    return lambda number: number * (1 + share)


def shifted(text: str) -> str:
    return str(Fraction(text) + Fraction(1, 1000))


def moved_numerators(rows: list[list[str]]) -> list[list[str]]:
    """Take an output away from the first node: the channel is no longer private."""
    first = [int(entry) for entry in rows[0]]
    big, small = first.index(max(first)), first.index(min(first))
    first[big], first[small] = first[big] + first[small], 0
    return [list(map(str, first)), *rows[1:]]


FORGED: list[tuple[str, Change, str]] = [
    ("lip", put("value", more(-1e-9)), "the value is"),
    ("lip", put("bound", more(1e-3)), "the bound proved is|the gap is"),
    ("lip", put("gap", more(-0.5)), "the gap is"),
    ("lip", put("status", "optimal"), "the status is"),
    ("lip", put("cells", 99), "the cells claimed"),
    ("lip", put("objective", "mean-squared-distance"), "the objective claimed"),
    (
        "lip",
        put("problem", "utility", "objective", "mean-squared-distance"),
        "the objective claimed",
    ),
    ("lip", put("problem", "utility", "worst_case", True), "the value is"),
    ("lip", put("privacy", 0, "leakage", more(-0.01)), "leaks more"),
    ("lip", put("privacy", 0, "epsilon", 0.5), "the epsilon claimed"),
    ("lip", put("problem", "privacy", 0, "epsilon", "0.9"), "the epsilon claimed"),
    ("lip", put("problem", "privacy", 0, "notion", "ldp"), "is not claimed as certified"),
    ("lip", put("problem", "moments", "first", 5, shifted), "no law has"),
    ("lip", put("problem", "moments", "masses", 5, shifted), "no law has|do not sum to 1"),
    ("lip", put("problem", "moments", "second", 5, shifted), "no law has"),
    ("lip", put("problem", "domain", "interval", 1, "2"), "do not go from end to end"),
    ("lip", put("channel", "points", 3, "0"), "do not rise|no law has"),
    ("lip", put("channel", "kind", "cells"), "channel.kind: expected"),
    ("lip", put("channel", "outputs", 0, 0.123), "the value is"),
    ("lip", put("channel", "numerators", moved_numerators), "row 0 of the matrix"),
    ("lip", put("channel", "decoder", [0.5]), "no decoder"),
    ("lip", put("certificate", {"theorem": None, "dual": None}), "the bound proved is"),
    ("lip", put("certificate", {"theorem": "equal-rows", "dual": None}), "."),
    ("lip", put("certificate", {"theorem": None, "dual": None, "numeric": True}), "no proof"),
    ("worst", put("value", more(-1e-4)), "the value is"),
    ("worst", put("problem", "utility", "worst_case", False), "the value is"),
    ("metric", put("privacy", 0, "leakage", 2.5), "the leakage is"),
    ("metric", put("problem", "privacy", 0, "epsilon", "2.9"), "not about the notion|not private"),
    ("tails", put("problem", "moments", "masses", 0, shifted), "no law has|do not sum"),
    ("tails", put("problem", "moments", "second", 0, "0"), "no law has"),
    ("tails", put("problem", "domain", "interval", 0, "-2"), "do not go from end to end"),
    ("estimate", put("channel", "decoder", 0, more(0.01)), "the decoder is not"),
    ("estimate", put("channel", "outputs", 0, 7), "not numbered from 0"),
    ("leakage", put("privacy", 0, "leakage", more(-0.1)), "leak"),
]


@pytest.mark.parametrize(("name", "change", "said"), FORGED)
def test_a_forged_claim_is_refused(name: str, change: Change, said: str) -> None:
    document = copy.deepcopy(document_of(name))
    change(document)
    with pytest.raises(md.MechdesignError, match=said):
        checked(document)


@pytest.mark.parametrize("name", ["lip", "metric", "worst"])
def test_a_channel_that_is_not_private_is_refused(name: str) -> None:
    document = copy.deepcopy(document_of(name))
    channel = document["channel"]
    channel["numerators"] = moved_numerators(channel["numerators"])
    whole = 1 << channel["bits"]
    channel["matrix"] = [[int(entry) / whole for entry in row] for row in channel["numerators"]]
    with pytest.raises(md.CertificateError, match=r"not private|is 0 at one node"):
        checked(document)


def test_a_changed_file_has_another_digest() -> None:
    document = copy.deepcopy(document_of("lip"))
    document["notes"] = ["better than it is"]
    with pytest.raises(md.CertificateError, match="digest"):
        verify(document)


def test_the_loss_of_a_kernel_is_that_of_atoms_in_its_cells() -> None:
    """Two atoms in each cell have given moments: their loss is a finite sum, exactly the value."""
    nodes = tuple(Fraction(n, 4) for n in range(5))
    atoms = [[Fraction(n, 4) + Fraction(m, 40) for m in (3, 8)] for n in range(4)]
    cells = tuple(tuple(Fraction(sum(x**k for x in pair)) / 8 for k in range(3)) for pair in atoms)
    columns = [[60, 40, 30, 20, 10], [4, 24, 34, 44, 54]]
    outputs = [Fraction(1, 4), Fraction(3, 4)]
    nothing = (Fraction(0),) * 3
    for objective, power in (("mean-absolute-error", 1), ("mean-squared-distance", 2)):
        utility = {"objective": objective, "worst_case": False}
        stated = Continuous(nodes, cells, (nothing, nothing), [], utility)  # type: ignore[arg-type]
        found = Kernel(stated, columns, 6, outputs).value()
        wanted = Fraction(0)
        for c, pair in enumerate(atoms):
            for x in pair:
                u = (x - nodes[c]) * 4
                for column, y in zip(columns, outputs, strict=True):
                    chance = ((1 - u) * column[c] + u * column[c + 1]) / 64
                    wanted += chance * abs(x - y) ** power / 8
        assert found == wanted


def test_the_slope_is_the_largest_between_two_nodes() -> None:
    nodes = (Fraction(0), Fraction(1, 2), Fraction(2))
    stated = Continuous(nodes, (), ((Fraction(0),) * 3,) * 2, [], {})
    kernel = Kernel(stated, [[32, 48, 32], [32, 16, 32]], 6, [])
    assert kernel.slope() == 2  # from 16 to 32 on a way of 1/2
    with pytest.raises(md.CertificateError, match="0 at one node"):
        Kernel(stated, [[32, 0, 32]], 6, []).slope()


def test_places_keep_their_distances_on_the_safe_side() -> None:
    gaps = [Fraction(1, 3), Fraction(1, 7), Fraction(10, 3)]
    for up in (True, False):
        exact = [Fraction(repr(place)) for place in stretched(gaps, up=up)]
        for low, high, gap in zip(exact, exact[1:], gaps, strict=False):
            assert (high - low >= gap) if up else (high - low <= gap)
    privacy = [{"notion": "metric", "epsilon": "2", "distance": "absolute"}]
    nodes = (Fraction(0), Fraction(1, 2))
    stated = Continuous(nodes, (), ((Fraction(0),) * 3,) * 2, privacy, {})
    assert node_places(stated)[1] == pytest.approx(0.34657359)  # ln(2) / 2
