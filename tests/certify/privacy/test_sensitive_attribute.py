"""Notions about a secret, from the file alone: what is proved, and what is refused."""

from __future__ import annotations

import copy
import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    BayesAccuracy,
    CertificateError,
    HammingLoss,
    MeanAbsoluteError,
    MutualInformation,
    PosteriorMeanSquaredError,
    Problem,
    design,
)
from mechdesign.certify import digest, verify
from mechdesign.certify.bounds.sums.rays import all_rays, integer_rows
from mechdesign.certify.privacy.check import check
from mechdesign.certify.privacy.sensitive_attribute import read_sensitive_attribute
from mechdesign.certify.problem import SECRET, Statement, read_statement
from mechdesign.certify.proof import THEOREMS
from mechdesign.files import save
from mechdesign.notions import Notion, SensitiveAttribute, SensitiveAttributePrivacy
from tests.strategies import examples, simplex

LAW = SensitiveAttribute(
    ["ill", "well"], given_input=[["0.9", "0.1"], ["0.2", "0.8"], ["0.4", "0.6"]]
)
PRIOR = ["0.2", "0.3", "0.5"]
JOINT = [["0.18", "0.06", "0.2"], ["0.02", "0.24", "0.3"]]


def document_of(tmp_path: Path, notion: Notion, utility: Any, prior: Any = PRIOR) -> Any:
    save(design(Problem(range(len(prior)), notion, utility, prior=prior)), tmp_path / "c.json")
    return json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))


def statement(table: dict[str, Any], k: int = 3, prior: Any = PRIOR) -> Statement:
    domain = {"values": list(range(k))}
    utility = {"objective": "hamming", "worst_case": False}
    return read_statement(
        {"domain": domain, "prior": prior, "privacy": [table], "utility": utility, "outputs": [0]}
    )


@pytest.mark.parametrize("inner", [LDP("0.3"), LIP("0.1"), PML("0.05")], ids=repr)
def test_the_law_of_the_secret_is_bayes_rule(inner: Notion) -> None:
    stated = statement(SensitiveAttributePrivacy(inner, LAW).to_table())
    (table,) = stated.privacy
    assert (table["notion"], table["of"]) == (SECRET, inner.name)
    secret = read_sensitive_attribute(stated, table)
    joint = [[Fraction(p) for p in row] for row in JOINT]
    assert secret.statement.prior == [sum(row) for row in joint]
    assert [[Fraction(p, secret.whole) for p in row] for row in secret.rows] == [
        [p / sum(row) for p in row] for row in joint
    ]
    assert secret.table == inner.to_table()


@st.composite
def claims(draw: st.DrawFn) -> tuple[list[list[Fraction]], list[int]]:
    """A joint law of two secrets and three inputs, and a column."""
    flat = draw(simplex(6))
    joint = [list(flat[:3]), list(flat[3:])]
    assume(all(any(row) for row in joint))
    return joint, draw(st.lists(st.integers(1, 40), min_size=3, max_size=3))


@given(claims())
@examples(80)
def test_private_exactly_from_the_leakage_on(case: tuple[list[list[Fraction]], list[int]]) -> None:
    """One column, whose ratio and lifts of secrets are rationals, against logarithms of them."""
    joint, q = case
    prior = [sum(column) for column in zip(*joint, strict=True)]
    masses = [sum(row) for row in joint]
    w = [
        sum(p * v for p, v in zip(r, q, strict=True)) / m
        for r, m in zip(joint, masses, strict=True)
    ]
    law = sum(m * v for m, v in zip(masses, w, strict=True))
    notions = {
        "ldp": max(w) / min(w),
        "pml": max(w) / law,
        "lip": max(max(w) / law, law / min(w)),
    }
    given_input = [
        [str(row[x] / p) if p else str(m) for row, m in zip(joint, masses, strict=True)]
        for x, p in enumerate(prior)
    ]
    stated = statement({"notion": "ldp", "epsilon": "1"}, prior=[str(p) for p in prior])
    for name, ratio in notions.items():
        least = Fraction(math.log(ratio))
        table = {
            "notion": name,
            "epsilon": "1",
            "secret": {"values": ["a", "b"], "given_input": given_input},
        }
        assert check(stated, table, [q], least + Fraction(1, 10**12)) is None
        if ratio > 1 + Fraction(1, 10**9):
            broken = check(stated, table, [q], least - Fraction(1, 10**12))
            assert broken is not None
            assert broken.startswith("of the sensitive attribute: output 0")


@given(simplex(6), st.sampled_from(["ldp", "lip", "pml"]), st.data())
@examples(60)
def test_private_columns_are_mixtures_of_the_rays(
    flat: list[Fraction], name: str, data: st.DataObject
) -> None:
    """The rays that the checker lists are private at a hair more, and so are what it bounds by."""
    joint = [flat[:3], flat[3:]]
    prior = [a + b for a, b in zip(*joint, strict=True)]
    assume(all(any(row) for row in joint))
    given_input = [
        [str(row[x] / p) if p else str(sum(row)) for row in joint] for x, p in enumerate(prior)
    ]
    table = {
        "notion": name,
        "epsilon": "0.3",
        "secret": {"values": [0, 1], "given_input": given_input},
    }
    stated = statement(table, prior=[str(p) for p in prior])
    hair = Fraction(3, 10) + Fraction(1, 10**20)
    rays = [list(ray) for ray in all_rays(stated)]
    assert rays
    for ray in rays:
        assert check(stated, stated.privacy[0], [ray], hair) is None
    q = data.draw(st.lists(st.integers(0, 9), min_size=3, max_size=3))
    inside = check(stated, stated.privacy[0], [q]) is None
    rows = integer_rows(stated)
    breaks = any(sum(g * v for g, v in zip(row, q, strict=True)) > 0 for row in rows)
    assert not (inside and breaks)


OBJECTIVES: dict[str, Callable[[], Any]] = {
    "loss": MeanAbsoluteError,
    "worst case": lambda: MeanAbsoluteError(worst_case=True),
    "decoders": PosteriorMeanSquaredError,
    "histogram": lambda: PosteriorMeanSquaredError(histogram=True),
    "information": MutualInformation,
    "guess": BayesAccuracy,
}


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("inner", [LDP("0.2"), LIP("0.1"), PML("0.05")], ids=repr)
def test_the_file_proves_the_optimum(inner: Notion, objective: str, tmp_path: Path) -> None:
    document = document_of(tmp_path, SensitiveAttributePrivacy(inner, LAW), OBJECTIVES[objective]())
    verified = verify(document)
    assert document["status"] == "optimal"
    assert document["privacy"][0]["secret"] == ["ill", "well"]
    assert f"{inner.name} of the sensitive attribute: private as stated" in str(verified)


def test_two_inputs_are_proved_by_the_binary_theorem(tmp_path: Path) -> None:
    secret = SensitiveAttribute(
        [0, 1, 2], given_input=[["0.1", "0.2", "0.7"], ["0.3", "0.3", "0.4"]]
    )
    for inner, utility in itertools.product((LDP("0.1"), LIP(0)), (HammingLoss(), BayesAccuracy())):
        notion = SensitiveAttributePrivacy(inner, secret)
        document = document_of(tmp_path, notion, utility, prior=["0.4", "0.6"])
        assert document["certificate"]["theorem"] in ("binary-universal", "equal-rows")
        assert document["status"] == "optimal"
        verify(document)


def makes_all_rows_equal(stated: Statement) -> bool:
    try:
        THEOREMS["equal-rows"](stated)
    except CertificateError:
        return False
    return True


@pytest.mark.parametrize(
    ("law", "equal"),
    [
        ([["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]], True),
        ([["0.5", "0.5"], ["0.2", "0.8"]], True),
        ([["0.5", "0.5"], ["0.5", "0.5"]], False),
        ([["0.9", "0.1"], ["0.2", "0.8"], ["0.4", "0.6"]], False),
        ([["0.9", "0.1", "0"], ["0.2", "0.4", "0.4"], ["0.4", "0", "0.6"]], True),
    ],
)
def test_when_equal_laws_of_the_report_make_equal_rows(law: Any, equal: bool) -> None:
    k, n = len(law), len(law[0])
    secret = {"values": list(range(n)), "given_input": law}
    stated = statement({"notion": "ldp", "epsilon": "0", "secret": secret}, k, [f"1/{k}"] * k)
    assert makes_all_rows_equal(stated) is equal


ONE_TIE = [["0", "inf", "inf"], ["inf", "0", "0"], ["inf", "inf", "0"]]


@pytest.mark.parametrize(
    ("law", "matrix", "equal"),
    [
        ([["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]], ONE_TIE, True),
        ([["0.5", "0.25", "0.25"], ["0.2", "0.4", "0.4"]], ONE_TIE, False),
        ([["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"], ["1", "0", "0"]], ONE_TIE, False),
    ],
)
def test_one_tie_of_two_secrets_makes_two_inputs_equal(law: Any, matrix: Any, equal: bool) -> None:
    k = len(law)
    secret = {"values": [0, 1, 2], "given_input": law}
    table = {"notion": "context-aware", "matrix": matrix, "secret": secret}
    stated = statement(table, k, [f"1/{k}"] * k)
    assert makes_all_rows_equal(stated) is equal


# Tampering.

Change = Callable[[dict[str, Any]], None]


def table_of(d: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = d["problem"]["privacy"][0]
    return found


def law(d: dict[str, Any]) -> list[list[Any]]:
    found: list[list[Any]] = table_of(d)["secret"]["given_input"]
    return found


def first_rows(d: dict[str, Any]) -> dict[str, Any]:
    return next(b for b in d["certificate"]["dual"]["rows"] if b["weight"])


def swap_law(d: dict[str, Any]) -> None:
    law(d)[0].reverse()


TAMPERING: dict[str, tuple[Change, str]] = {
    "another law": (swap_law, "not private|leaks more"),
    "no law": (
        lambda d: table_of(d)["secret"].pop("given_input"),
        "secret, one law has no 'given_input'",
    ),
    "a law that is none": (lambda d: law(d)[0].__setitem__(0, "0.8"), "no distribution"),
    "a negative law": (lambda d: law(d).__setitem__(0, ["1.1", "-0.1"]), ">= 0"),
    "too few rows": (lambda d: law(d).pop(), "not one row for each input"),
    "a secret that never is": (
        lambda d: table_of(d)["secret"].update(given_input=[["1", "0"], ["1", "0"], ["1", "0"]]),
        "probability 0",
    ),
    "a secret twice": (
        lambda d: (
            table_of(d)["secret"].update(values=["ill", "ill"]),
            d["privacy"][0].update(secret=["ill", "ill"]),
        ),
        "twice",
    ),
    "no secret": (lambda d: table_of(d).pop("secret"), "about is not that"),
    "no secret at all": (
        lambda d: (table_of(d).pop("secret"), d["privacy"][0].pop("secret")),
        "not private",
    ),
    "a claim about the input": (lambda d: d["privacy"][0].pop("secret"), "about is not that"),
    "a claim about another": (lambda d: d["privacy"][0].update(secret=["x"]), "about is not that"),
    "a smaller budget": (
        lambda d: (table_of(d).update(epsilon="0.05"), d["privacy"][0].update(epsilon=0.05)),
        "not private",
    ),
    "less leakage": (lambda d: d["privacy"][0].update(leakage=0.09), "leaks more"),
    "more leakage": (lambda d: d["privacy"][0].update(leakage=0.11), "leaks less"),
    "a notion of that name": (
        lambda d: table_of(d).update(notion=SECRET),
        "the notion 'secret' is not known",
    ),
    "a notion about sets of priors": (
        lambda d: (
            table_of(d).update(notion="bounded-prior-lip", priors=[["0.5", "0.5"]]),
            d["privacy"][0].update(notion="bounded-prior-lip"),
        ),
        "'secret' is no key of notion",
    ),
    "a notion about the whole": (
        lambda d: (
            table_of(d).update(notion="mutual-information"),
            d["privacy"][0].update(notion="mutual-information"),
        ),
        "'secret' is no key of notion",
    ),
    "weights on rows about inputs": (
        lambda d: first_rows(d).update(side="upper"),
        "no rows on the side",
    ),
    "weights on ratios of inputs": (lambda d: first_rows(d).update(side="ratio"), "no row"),
    "weights on ratios of secrets": (
        lambda d: first_rows(d).update(side="secret-ratio"),
        "no row",
    ),
    "a weight below 0": (
        lambda d: first_rows(d)["weight"].__setitem__(0, -1.0),
        "expected number >= 0",
    ),
    "larger weights": (
        lambda d: first_rows(d).update(weight=[2 * w for w in first_rows(d)["weight"]]),
        "the bound proved",
    ),
    "a weight on no secret": (lambda d: first_rows(d)["x"].__setitem__(0, 2), "does not exist"),
    "a better bound": (lambda d: d.update(bound=d["bound"] * 1.001), "the bound proved"),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("saved")
    return document_of(folder, SensitiveAttributePrivacy(LIP("0.1"), LAW), MeanAbsoluteError())


@pytest.mark.parametrize("name", TAMPERING)
def test_what_was_changed_is_refused(name: str, saved: Any) -> None:
    change, reason = TAMPERING[name]
    document = copy.deepcopy(saved)
    change(document)
    assert document != saved
    document["digest"] = digest(document)
    with pytest.raises(CertificateError, match=reason):
        verify(document)


def test_theorems_about_inputs_do_not_speak_of_secrets(saved: Any) -> None:
    """A file that names one proves nothing by it, whatever the notion is called."""
    for theorem in ("erasure", "randomized-response", "uniform-lift", "equal-rows"):
        document = copy.deepcopy(saved)
        document["certificate"]["theorem"] = theorem
        document["digest"] = digest(document)
        with pytest.raises(CertificateError):
            verify(document)
