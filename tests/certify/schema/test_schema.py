"""No table of a saved file takes a key too many, lacks one, or holds a value of another type."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mechdesign import (
    LDP,
    BayesAccuracy,
    CertificateError,
    Channel,
    ContextAwareLDP,
    HammingLoss,
    L2Risk,
    PosteriorMeanSquaredError,
    Problem,
    design,
)
from mechdesign.certify import digest, parse, verify
from mechdesign.certify.forms import AnyOf, Form, ListOf, MapOf, Row, Table, Variants
from mechdesign.certify.schema.channel_files import BARE_CHANNEL_FILE, CHANNEL_FILE
from mechdesign.certify.schema.mechanism_files import MECHANISM_FILE
from mechdesign.files.channels import bare_document
from tests.corpus import CASES, document_of
from tests.documents import Document, refused, sealed

FILES: dict[str, Form] = {
    "mechdesign-channel": CHANNEL_FILE,
    "mechdesign-mechanism": MECHANISM_FILE,
    "mechdesign-bare-channel": BARE_CHANNEL_FILE,
}

Place = tuple[Any, ...]


def accepting(form: Form, value: Any) -> Form:
    """The form that accepts a value, of those that a choice offers."""
    if isinstance(form, Variants):
        return form.find(value, "")
    if isinstance(form, AnyOf):
        found = next((each for each in form.forms if each.accepts(value)), form)
        return found if found is form else accepting(found, value)
    return form


def tables_in(form: Form, value: Any, place: Place = ()) -> Iterator[tuple[Place, Table]]:
    """Every closed table of a document, and where it stands."""
    if value is None:
        return
    form = accepting(form, value)
    if isinstance(form, Table):
        yield place, form
        for key, entry in value.items():
            yield from tables_in(form.keys[key], entry, (*place, key))
    elif isinstance(form, MapOf):
        for key, entry in value.items():
            yield from tables_in(form.part, entry, (*place, key))
    elif isinstance(form, ListOf):
        for n, entry in enumerate(value):
            yield from tables_in(form.part, entry, (*place, n))
    elif isinstance(form, Row):
        for n, (part, entry) in enumerate(zip(form.parts, value, strict=True)):
            yield from tables_in(part, entry, (*place, n))


def reach(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


@functools.cache
def examples() -> dict[str, tuple[str, Place]]:
    """For each closed table of the schema a file of the library that has it, and where."""
    found: dict[str, tuple[str, Place]] = {}
    for name in CASES:
        document = document_of(name)
        for place, table in tables_in(FILES[document["format"]], document):
            found.setdefault(table.says, (name, place))
    return found


@functools.cache
def known_keys() -> dict[str, Any]:
    """Every key that some table has, with a value that stands there in a file of the library."""
    found: dict[str, Any] = {}
    for name, place in examples().values():
        for key, entry in reach(document_of(name), place).items():
            found.setdefault(key, entry)
    return found


def changed(name: str, place: Place, change: Callable[[dict[str, Any]], None]) -> Document:
    document = copy.deepcopy(document_of(name))
    change(reach(document, place))
    return sealed(document)


def is_refused(document: Document) -> bool:
    try:
        verify(document)
    except CertificateError:
        return True
    return False


def test_the_files_of_the_library_have_nearly_every_table_of_the_schema() -> None:
    assert len(examples()) >= 75


@pytest.mark.slow
def test_a_key_that_a_table_does_not_have_is_refused_in_every_table() -> None:
    """Every key of any other table, with a value that is right there."""
    for name, place in examples().values():
        document = document_of(name)
        form = FILES[document["format"]]
        keys = dict(tables_in(form, document))[place].keys
        for key, entry in {**known_keys(), "": 0}.items():
            if key not in keys:
                document = changed(name, place, lambda t, k=key, e=entry: t.update({k: e}))  # type: ignore[misc]
                assert is_refused(document), (name, place, key)


def test_a_spare_key_is_refused_in_every_table() -> None:
    for name, place in examples().values():
        refused(changed(name, place, lambda t: t.update(spare=1)), "spare")


def test_a_key_that_is_left_out_is_refused_in_every_table() -> None:
    for name, place in examples().values():
        document = document_of(name)
        tables = dict(tables_in(FILES[document["format"]], document))
        for key in tables[place].required:
            if key not in ("format", "version", "digest"):
                refused(changed(name, place, lambda t, k=key: t.pop(k)))  # type: ignore[misc]


def test_a_key_that_moves_to_another_table_is_refused() -> None:
    for name in list(CASES)[::5]:
        document = document_of(name)
        tables = list(tables_in(FILES[document["format"]], document))
        for place, table in tables[1:]:
            for key in table.required:
                moved = copy.deepcopy(document)
                entry = reach(moved, place).pop(key)
                moved.setdefault(key, entry)
                refused(moved)


OTHER_TYPES: list[tuple[type, Callable[[Any], Any]]] = [
    (bool, int),
    (bool, str),
    (int, float),
    (int, str),
    (int, bool),
    (float, str),
    (str, lambda text: [text]),
    (list, lambda entries: {str(n): entry for n, entry in enumerate(entries)}),
    (list, str),
    (dict, lambda table: [[key, entry] for key, entry in table.items()]),
]


def leaves(node: Any, place: Place = ()) -> Iterator[Place]:
    if place:
        yield place
    if isinstance(node, dict | list):
        pairs = node.items() if isinstance(node, dict) else enumerate(node)
        for key, entry in pairs:
            yield from leaves(entry, (*place, key))


@pytest.mark.parametrize("name", list(CASES)[::9])
def test_a_value_of_another_type_is_refused_or_says_the_same(name: str) -> None:
    document = document_of(name)
    seen: set[tuple[Any, ...]] = set()
    for place in leaves(document):
        value = reach(document, place)
        kind = (*(key for key in place if isinstance(key, str)), type(value))
        if place[0] == "digest" or kind in seen:
            continue
        seen.add(kind)
        for old, make in OTHER_TYPES:
            if type(value) is old:
                other = copy.deepcopy(document)
                reach(other, place[:-1])[place[-1]] = make(value)
                if not is_refused(sealed(other)):
                    # a number without a point may stand as one with it: 1 and 1.0; and an output
                    # that is never used, or an input of a mechanism, may have another name
                    renamed = len(place) > 1 and place[-2] in ("outputs", "values")
                    assert renamed or (old, make) == (int, float), (place, value)


# --- forged files ---------------------------------------------------------------------------------


def document_for(problem: Problem) -> Document:
    return parse_back(design(problem).document())


def parse_back(document: Document) -> Document:
    found: Document = parse(json.dumps(document))
    return found


def test_values_and_decoders_beside_hamming_prove_nothing() -> None:
    document = document_for(Problem(range(3), LDP(1), HammingLoss()))
    document["problem"]["utility"]["values"] = ["0", "1", "3"]
    document["certificate"] = {
        "theorem": None,
        "dual": {"weights": None, "rows": [], "decoders": ["0", "3"]},
    }
    refused(document, "'values' is no key of objective hamming")
    del document["problem"]["utility"]["values"]
    refused(document, "dual decoders is no bound on the objective 'hamming'")


def test_an_objective_has_one_form() -> None:
    histogram = document_for(Problem(range(3), LDP(1), PosteriorMeanSquaredError(histogram=True)))
    histogram["problem"]["utility"]["values"] = ["0", "1", "3"]
    refused(histogram, "'values' is no key|'histogram' is no key")
    accuracy = document_for(Problem(range(3), LDP(1), BayesAccuracy()))
    accuracy["problem"]["utility"]["worst_case"] = True
    refused(accuracy, "'worst_case' is no key of objective bayes-accuracy")


@pytest.mark.parametrize("version", [True, 1.0, "1", [1]])
def test_the_version_is_the_number_one(version: Any) -> None:
    document = copy.deepcopy(document_of(next(iter(CASES))))
    document["version"] = version
    refused(document, "version")


@pytest.mark.parametrize("claimed", [-7.0, -1e-12, 0.5])
def test_one_input_leaks_nothing(claimed: float) -> None:
    for notion in (LDP(1), ContextAwareLDP([[0]])):
        document = document_for(Problem(range(1), notion, HammingLoss()))
        assert document["privacy"][0]["leakage"] == 0
        document["privacy"][0]["leakage"] = claimed
        refused(document, "leaks")


def test_terms_of_the_users_own_leave_sense_and_decoder_to_be_checked() -> None:
    problem = Problem(range(3), LDP(1), HammingLoss())
    document = parse_back(design(problem, constraints=[problem.Q[0, 0] >= 0.45]).document())
    verify(document)
    maximized = copy.deepcopy(document) | {"sense": "maximize"}
    refused(maximized, "the sense is 'minimize'")
    invented = copy.deepcopy(document)
    invented["channel"]["decoder"] = [0.0, 1.0, 2.0]
    refused(invented, "has no decoder")
    proved = copy.deepcopy(document) | {"bound_proved": True}
    proved["certificate"] = {"theorem": None, "dual": None}
    refused(proved, "terms of the user's own")


DIGITS = [
    "\u0661",
    "\uff11",
    "1_0",
    " 1",
    "1 ",
    "+1",
    "0x1",
    "1/0",
    "1e9999",
    "inf",
    "nan",
    "1,5",
    "",
]


@pytest.mark.parametrize("text", DIGITS)
def test_a_number_has_the_digits_0_to_9_and_no_others(text: str) -> None:
    document = document_for(Problem(range(2), LDP(1), HammingLoss()))
    for place in (
        ("problem", "prior", 0),
        ("problem", "privacy", 0, "epsilon"),
        ("channel", "numerators", 0, 0),
    ):
        changed = copy.deepcopy(document)
        reach(changed, place[:-1])[place[-1]] = text
        refused(changed, "expected")


@pytest.mark.parametrize("label", [None, True, [], [[1]], {}, float("inf"), 10**101, "\ud800"])
def test_a_label_is_text_or_a_number_or_a_list_of_them(label: Any) -> None:
    document = document_for(Problem([0, 1], LDP(1), HammingLoss()))
    document["problem"]["domain"]["values"][1] = document["channel"]["inputs"][1] = label
    refused(document, "expected nonempty list of label|expected label")


def test_rows_say_nothing_that_is_not_read() -> None:
    name = "multipliers lip: absolute"
    dual = document_of(name)["certificate"]["dual"]
    assert dual["rows"][0]["side"] in ("upper", "lower")
    assert not any(dual["rows"][0]["other"])

    def other(document: Document) -> None:
        document["certificate"]["dual"]["rows"][0]["other"][0] = 1

    document = copy.deepcopy(document_of(name))
    other(document)
    refused(document, "have no other input")


def test_a_bound_is_for_its_objective() -> None:
    risk = copy.deepcopy(document_for(Problem(range(3), LDP(1), L2Risk())))
    accuracy = document_for(Problem(range(3), LDP(1), BayesAccuracy()))
    risk["certificate"] = accuracy["certificate"]
    refused(risk, "is no bound on the objective 'l2-risk'")


def test_a_bare_channel_says_nothing_more() -> None:
    document = bare_document(Channel([[1, 1], [1, 1]], inputs=["a", "b"], outputs=[0, 1], bits=1))
    verify(document)
    refused(document | {"notes": []}, "'notes' is no key of bare channel file")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}',
        '[{"b": {"a": 1, "\\u0061": 2}}]',
        "NaN",
        "[Infinity]",
        '{"a": -Infinity}',
    ],
)
def test_json_that_readers_take_differently_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"twice|no number"):
        parse(text)


def test_the_digest_is_not_what_makes_a_file_true() -> None:
    document = copy.deepcopy(document_of(next(iter(CASES))))
    document["spare"] = 1
    document["digest"] = digest(document)
    with pytest.raises(CertificateError, match="'spare' is no key"):
        verify(document)
