"""Every kind of evidence says which objectives and notions it is for, and is refused elsewhere."""

from __future__ import annotations

import copy

import pytest

from mechdesign.certify.forms import Fixed, Table
from mechdesign.certify.problem import read_statement
from mechdesign.certify.proof import BOUNDS, THEOREMS, objective_of
from mechdesign.certify.schema.certificates import DUALS, PLAIN_THEOREMS
from mechdesign.errors import CertificateError
from tests.corpus import CASES, document_of


def test_every_certificate_that_a_file_may_have_is_of_a_kind() -> None:
    assert {table.says for table in DUALS.tables} == set(BOUNDS)
    assert {*PLAIN_THEOREMS, "simplicial"} == set(THEOREMS)


@pytest.mark.parametrize("table", DUALS.tables, ids=lambda table: table.says)
def test_a_search_that_is_not_known_is_refused(table: Table) -> None:
    fixed = {key: form.value for key, form in table.required.items() if isinstance(form, Fixed)}
    dual = {**{key: [1] for key in table.required}, **fixed}
    assert DUALS.find(dual, "") is table
    with pytest.raises(CertificateError, match="the search 'luck' is not known"):
        DUALS.find({**dual, "search": "luck"}, "")


@pytest.mark.parametrize("name", list(CASES)[::4])
def test_evidence_is_refused_where_it_is_not_for_the_objective(name: str) -> None:
    """No kind of evidence is as much as called for an objective that it does not name."""
    document = copy.deepcopy(document_of(name))
    if "problem" not in document:
        return
    statement = read_statement(document["problem"])
    for kind in (*BOUNDS.values(), *THEOREMS.values()):
        if objective_of(statement) not in kind.objectives:
            with pytest.raises(CertificateError, match="is no bound on the objective"):
                kind(statement, None)
