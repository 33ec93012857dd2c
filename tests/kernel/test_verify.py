"""Every claim of a file is computed again: each that is changed is refused by its own reason."""

from __future__ import annotations

import math
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

import pytest

from mechdesign.errors import LimitError
from mechdesign.kernel.claims import Verified
from mechdesign.kernel.documents import relative_gap
from mechdesign.kernel.verify import verify
from mechdesign.resources import allow
from tests.documents import Document, sealed
from tests.independent.files import check
from tests.independent.rationals import RefusedError, Unable
from tests.kernel.draws import refused

BOUND = 0.249739
VALUE = 0.25
FILE: Document = {
    "format": "mechdesign-channel",
    "version": 2,
    "title": "",
    "source": "",
    "status": "bounded",
    "objective": "hamming",
    "sense": "minimize",
    "value": VALUE,
    "bound": BOUND,
    "gap": relative_gap(VALUE, BOUND),
    "bound_proved": True,
    "route": "",
    "why": "",
    "privacy": [
        {"notion": "ldp", "leakage": math.log(3) + 1e-12, "certified": True, "epsilon": 1.1}
    ],
    "channel": {
        "inputs": ["a", "b"],
        "outputs": ["a", "b"],
        "matrix": [[0.75, 0.25], [0.25, 0.75]],
        "bits": 2,
        "numerators": [["3", "1"], ["1", "3"]],
    },
    "problem": {
        "domain": {"values": ["a", "b"]},
        "prior": ["1/2", "1/2"],
        "privacy": [{"notion": "ldp", "epsilon": "1.1"}],
        "utility": {"objective": "hamming"},
        "outputs": ["a", "b"],
    },
    "certificate": {
        "linearization": {"kind": "costs"},
        "oracle": {"kind": "one-budget"},
        "prices": [0, 0],
    },
}
ACCURACY: Document = {
    "objective": "bayes-accuracy",
    "sense": "maximize",
    "value": 0.75,
    "bound": 0.750261,
    "gap": relative_gap(0.75, 0.750261),
    "channel": {**FILE["channel"], "outputs": [0, 1], "decoder": ["a", "b"]},
    "problem": {**FILE["problem"], "utility": {"objective": "bayes-accuracy"}, "outputs": None},
}
NUMERIC = {"certificate": None, "bound_proved": False}


def changed(*changes: Document) -> Document:
    """Return the file with some keys changed."""
    document = dict(FILE)
    for change in changes:
        for key, entry in change.items():
            inside = isinstance(entry, dict) and isinstance(document.get(key), dict)
            document[key] = {**document[key], **entry} if inside else entry
    return sealed(document)


def checked(*changes: Document) -> Verified:
    return verify(changed(*changes))


def test_a_file_is_verified_in_sentences() -> None:
    found = checked()
    assert found.value == Fraction(1, 4)
    assert BOUND <= found.bound <= found.value
    assert str(found).splitlines() == [
        "verified  rows sum to 1 exactly: integers over 2**2",
        "verified  ldp: private as stated, exactly; leakage 1.098612289",
        "verified  value 0.25, recomputed from the integers",
        "verified  no private channel has a loss below 0.249739",
        "verified  status bounded",
    ]


def test_a_maximized_objective_is_bounded_from_above_and_its_decoder_checked() -> None:
    claims = checked(ACCURACY).claims
    assert "no private channel is above 0.750261" in claims
    assert claims[-1] == "the decoder is what the aggregator reads from each output"


def test_objectives_unknown_to_the_kernel_are_not_checked() -> None:
    own = {"problem": {"constraints": ["unbiased"]}}
    assert checked(NUMERIC, own).claims[-1].startswith("NOT checked: the bound 0.249739, and 1")
    own = {"problem": {"utility": {"objective": "regret"}}, "objective": "regret"}
    assert checked(NUMERIC, own).claims[-1].startswith("NOT checked: the value 0.25 and the bound")


def test_a_users_own_notion_is_marked() -> None:
    cone = [{"kind": "ratio", "exponents": {"kind": "constant", "exponent": "1.1"}}]
    own = {"notion": "ldp\n", "epsilon": "1.1", "cone": cone}
    claim = {**FILE["privacy"][0], "notion": "ldp\n"}
    found = checked({"problem": {"privacy": [own]}, "privacy": [claim]})
    assert found.claims[1] == (
        "'ldp\\n': private as stated, exactly (rows of the user's own, not a known notion); "
        "leakage 1.098612289"
    )


CLAIM = FILE["privacy"][0]
LEAST: list[tuple[dict[str, Any], float]] = [
    ({"notion": "g-vulnerability", "limit": "0.8"}, -0.05),  # of a guess that is right at 0.75
    ({"notion": "lift", "lower": 2, "upper": 2}, math.log(2) - 2),
    ({"notion": "mine"}, 0),
    ({"notion": "approximate-ldp", "epsilon": 1, "delta": "0.9"}, 0),
]


@pytest.mark.parametrize(("notion", "least"), LEAST)
def test_a_leakage_is_negative_only_without_an_epsilon(
    notion: dict[str, Any], least: float
) -> None:
    claim = {"notion": notion["notion"], "certified": True}
    claim |= {key: float(notion[key]) for key in ("epsilon", "delta") if key in notion}
    asked = {"problem": {"privacy": [*FILE["problem"]["privacy"], notion]}}
    for off, why in ((1e-12, ""), (-0.01, "leaks more"), (0.01, "leaks less")):
        claims = {"privacy": [CLAIM, {**claim, "leakage": least + off}]}
        with refused(why) if why else nullcontext():
            lines = checked(asked, claims).claims
            assert len(lines) == 6
            assert ("; largest excess over the bounds -" if least else "; leakage ") in lines[2]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"problem": {"privacy": [{"notion": "ldp", "epsilon": 1}]}}, "epsilon claimed"),
        (
            {
                "problem": {"privacy": [{"notion": "ldp", "epsilon": 1}]},
                "privacy": [{**CLAIM, "epsilon": 1.0}],
            },
            "not private",
        ),
        ({"privacy": []}, "every notion"),
        ({"privacy": [], "problem": {"privacy": []}}, "no notion"),
        ({"privacy": [{**CLAIM, "certified": False}]}, "not claimed"),
        ({"privacy": [{**CLAIM, "notion": "lip"}]}, "not claimed"),
        ({"privacy": [{**CLAIM, "delta": 0.1}]}, "delta"),
        ({"privacy": [{**CLAIM, "secret": ["a"]}]}, "about"),
        ({"privacy": [{**CLAIM, "leakage": 1.0}]}, "leaks more"),
        ({"privacy": [{**CLAIM, "leakage": -1.0}]}, "leaks more"),
        ({"privacy": [{**CLAIM, "leakage": 1.1}]}, "leaks less"),
        ({"objective": "euclidean"}, "claimed objective"),
        ({"sense": "maximize"}, "sense"),
        *(({"value": value}, "value is") for value in (0.2499999, 0.2500001, -0.25)),
        ({"bound": 0.24974}, "bound proved"),
        ({"bound": 0.2}, "gap"),
        ({"gap": 0.0}, "gap"),
        ({"gap": -1e-9}, "gap"),
        ({"status": "optimal"}, "status"),
        ({"status": "proved"}, 'expected "optimal" or'),
        ({"value": float("inf")}, "number"),
        ({"bound_proved": False}, "contains one"),
        ({"certificate": None}, "no proof"),
        ({"certificate": None, "bound_proved": False}, "can be proved"),
        ({**NUMERIC, "bound": 0.3, "gap": 0.2, "problem": {"constraints": ["x"]}}, "exceeds"),
        ({"problem": {"constraints": ["x"]}}, "the user's own terms"),
        ({"problem": {"outputs": ["a"]}}, "does not allow"),
        ({"problem": {"outputs": None}}, "outputs"),
        ({"problem": {"prior": ["1/2", "1/3"]}}, "distribution"),
        ({"channel": {"decoder": ["a", "b"]}}, "the objective has none"),
        ({"channel": {"readings": {"numerators": ["1", "2"], "denominator": "1"}}}, "readings"),
        ({"certificate": {"prices": [0]}}, "price"),
        ({"certificate": {"oracle": {"kind": "guess"}}}, "kind"),
        ({"more": 1}, "no such key"),
    ],
)
def test_a_changed_claim_is_refused(change: Document, why: str) -> None:
    document = changed(change)
    with refused(why):
        verify(document)
    with pytest.raises((RefusedError, Unable)):
        check(document)


@pytest.mark.parametrize("decoder", [None, ["b", "a"], ["a"], ["a", 1]])
def test_a_wrong_decoder_is_refused(decoder: Any) -> None:
    document = changed(ACCURACY, {"channel": {"decoder": decoder}})
    with refused("decoder"):
        verify(document)
    with pytest.raises(RefusedError):
        check(document)


def test_work_is_refused_before_it_begins() -> None:
    many = [f"{n}" for n in range(3000)]
    problem = {"domain": {"values": many}, "utility": {"objective": "mutual-information"}}
    with allow(steps=10), pytest.raises(LimitError, match=r"the statement.*allow steps"):
        checked({"problem": problem})


def test_a_file_that_breaks_the_reader_is_malformed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(document: object) -> None:
        raise KeyError("x")

    monkeypatch.setitem(verify.__globals__, "read_file", broken)
    with refused("the file is malformed"):
        checked()


def test_a_value_that_is_its_bound_does_not_exceed_it() -> None:
    """Under constraints of the user's own, of a loss and of an accuracy."""
    own: dict[str, Any] = {"problem": {"constraints": ["x"]}}
    met = {**NUMERIC, "gap": 0.0, "status": "optimal"}
    assert "NOT checked" in checked(own, {**met, "bound": 0.25}).claims[-1]
    accuracy = {key: entry for key, entry in ACCURACY.items() if key != "certificate"}
    own["problem"] = {**accuracy["problem"], **own["problem"]}
    assert "NOT checked" in checked(accuracy, own, {**met, "bound": 0.75}).claims[-1]
