"""Bounds on the variance of unbiased readings hold for any dual variables, or are refused."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    CertificateError,
    HammingLoss,
    HighLowLDP,
    Problem,
    UnbiasedVariance,
    design,
)
from mechdesign.certify import verify
from mechdesign.certify.proof import BOUNDS, check_multipliers
from mechdesign.certify.schema.certificates import DUALS
from mechdesign.notions import Notion
from tests.mutations import digest
from tests.strategies import examples, statement_of

Document = dict[str, Any]

NOTIONS: dict[str, Notion] = {"ldp": LDP(1), "high-low": HighLowLDP(1, [0, 2]), "lip": LIP(1)}
PRIOR = ["0.2", "0.5", "0.3"]


@functools.cache
def solved(name: str, worst: bool) -> tuple[Problem, Document]:
    problem = Problem(range(3), NOTIONS[name], UnbiasedVariance([1, 2, 5], worst), prior=PRIOR)
    return problem, design(problem).document()


def bound(problem: Problem, dual: dict[str, Any]) -> float:
    statement = statement_of(problem)
    check_multipliers(statement, dual)
    return float(BOUNDS[DUALS.find(dual, "dual").says](statement, dual))


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize("name", NOTIONS)
def test_the_bound_is_that_of_the_file(name: str, worst: bool) -> None:
    problem, document = solved(name, worst)
    found = bound(problem, document["certificate"]["dual"])
    assert document["bound"] == pytest.approx(found, rel=1e-12)
    assert found == pytest.approx(document["value"], rel=1e-6)


numbers = st.floats(-3, 3, allow_subnormal=False)


@examples(60)
@given(st.data())
def test_any_dual_variables_prove_no_more_than_the_optimum(data: st.DataObject) -> None:
    """Moved at random; a bound that is refused proves nothing."""
    name = data.draw(st.sampled_from(list(NOTIONS)))
    problem, document = solved(name, data.draw(st.booleans()))
    dual = copy.deepcopy(document["certificate"]["dual"])
    size = data.draw(st.sampled_from([1e-6, 1e-2, 1.0]))
    for key in {"slope", "potential"} & set(dual):
        dual[key] = [v + size * data.draw(numbers) for v in dual[key]]
    if dual["weights"] is not None:
        dual["weights"] = [abs(v + size * data.draw(numbers)) for v in dual["weights"]]
    for block in dual["rows"]:
        block["weight"] = [abs(w * (1 + size * data.draw(numbers))) for w in block["weight"]]
    count = len(dual["decoders"])
    if not dual["rows"] and data.draw(st.booleans()):  # fewer probes
        kept = sorted({0, count - 1, *data.draw(st.sets(st.integers(0, count - 1)))})
        dual["decoders"] = [dual["decoders"][n] for n in kept]
    try:
        found = bound(problem, dual)
    except CertificateError:
        return
    assert found <= document["value"] * (1 + 1e-9)


def changed(name: str, worst: bool, change: Callable[[Document], Any]) -> Document:
    document = copy.deepcopy(solved(name, worst)[1])
    change(document)
    document["digest"] = digest(document)
    return document


def refused(document: Document, message: str) -> None:
    with pytest.raises(CertificateError, match=message):
        verify(document)


def shifted(document: Document) -> None:
    """Add the same to all readings: their means are off by it, the variance is not."""
    readings = document["channel"]["readings"]
    bottom = int(readings["denominator"])
    readings["numerators"] = [str(int(top) + bottom) for top in readings["numerators"]]
    document["channel"]["decoder"] = [v + 1 for v in document["channel"]["decoder"]]


def one_unit(document: Document) -> None:
    readings = document["channel"]["readings"]
    readings["numerators"][0] = str(int(readings["numerators"][0]) + 1)


def raised(key: str, by: float) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document[key] *= 1 + by
        document["gap"] = abs(document["value"] - document["bound"]) / document["value"]
        document["status"] = "optimal" if document["gap"] <= 1e-6 else "bounded"

    return change


FORGERIES: dict[str, tuple[Callable[[Document], Any], str]] = {
    "readings with a bias": (shifted, "mean of the readings at input 0"),
    "one unit of one reading": (one_unit, "mean of the readings at input 0"),
    "a bound too high": (raised("bound", 1e-7), "the bound proved is"),
    "a value too small": (raised("value", -1e-7), "the value is"),
    "no readings": (lambda d: d["channel"].pop("readings"), "belong to the objective"),
    "too few readings": (
        lambda d: d["channel"]["readings"]["numerators"].pop(),
        "one reading for each output",
    ),
    "another decoder": (lambda d: d["channel"]["decoder"].reverse(), "the decoder is not"),
    "a denominator of 0": (
        lambda d: d["channel"]["readings"].update(denominator="0"),
        "one reading for each output",
    ),
    "a long integer": (
        lambda d: d["channel"]["readings"].update(denominator="1" * 5000),
        "at most 4096 digits",
    ),
    "probes out of order": (
        lambda d: d["certificate"]["dual"]["decoders"].reverse(),
        "do not rise",
    ),
    "probes too near": (
        lambda d: d["certificate"]["dual"].update(decoders=["2.9", "3.1"]),
        "reach far enough",
    ),
    "a slope too few": (lambda d: d["certificate"]["dual"]["slope"].pop(), "one slope"),
    "a word for an integer": (
        lambda d: d["channel"]["readings"].update(denominator="1e3"),
        "expected whole",
    ),
}


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize("name", FORGERIES)
def test_forged_files_are_refused(name: str, worst: bool) -> None:
    change, message = FORGERIES[name]
    refused(changed("ldp", worst, change), message)


def test_weights_of_a_worst_case() -> None:
    def negative(document: Document) -> None:
        document["certificate"]["dual"]["weights"][0] = -0.1

    refused(changed("ldp", True, negative), "expected")
    refused(
        changed("ldp", True, lambda d: d["certificate"]["dual"].update(weights=[0.0, 0.0, 0.0])),
        "no distribution",
    )


def test_the_evidence_of_another_problem() -> None:
    """One budget is asked for, and the objective is that of readings."""
    _, document = solved("ldp", False)
    dual = document["certificate"]["dual"]
    kind = BOUNDS[DUALS.find(dual, "dual").says]
    hamming = statement_of(Problem(range(3), LDP(1), HammingLoss(), prior=PRIOR))
    with pytest.raises(CertificateError, match="no bound on the objective"):
        kind(hamming, dual)
    with pytest.raises(CertificateError, match="needs a notion"):
        kind(statement_of(solved("lip", False)[0]), dual)
    spread = Problem(range(3), [LDP(1), LDP(2)], UnbiasedVariance(), prior=PRIOR)
    with pytest.raises(CertificateError, match="single notion"):
        kind(statement_of(spread), dual)
    constant = Problem(range(3), LDP(1), UnbiasedVariance([2, 2, 2]), prior=PRIOR)
    with pytest.raises(CertificateError, match="the same for all inputs"):
        kind(statement_of(constant), dual)


def test_readings_are_for_their_objective_only() -> None:
    document = design(Problem(range(3), LDP(1), HammingLoss(), prior=PRIOR)).document()
    document["channel"]["readings"] = {"numerators": ["0", "0", "0"], "denominator": "1"}
    document["digest"] = digest(document)
    refused(document, "belong to the objective")


def test_probes_are_any_numbers_that_rise() -> None:
    """Fewer probes prove less, and nothing wrong."""
    problem, document = solved("ldp", False)
    dual = copy.deepcopy(document["certificate"]["dual"])
    ends = [dual["decoders"][0], "2", dual["decoders"][-1]]
    few = bound(problem, {**dual, "decoders": ends})
    assert few < bound(problem, dual) <= float(Fraction(repr(document["value"])))
