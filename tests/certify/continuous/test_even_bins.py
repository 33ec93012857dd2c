"""Moments of bins, recomputed in the checker, against those that the laws state themselves."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.certify import digest, verify
from mechdesign.certify.continuous.even_bins import bin_moments, bins_of
from mechdesign.errors import CertificateError
from tests.strategies import examples

points = st.fractions(-3, 3, max_denominator=12)


@examples(60)
@given(data=st.data())
def test_the_moments_of_bins_are_those_of_the_histogram(data: st.DataObject) -> None:
    edges = sorted(data.draw(st.sets(points, min_size=2, max_size=6)))
    weights = data.draw(
        st.lists(st.integers(0, 5), min_size=len(edges) - 1, max_size=len(edges) - 1).filter(any)
    )
    places = sorted(data.draw(st.sets(points, min_size=2, max_size=6)))
    law = md.Histogram(edges, [Fraction(weight, sum(weights)) for weight in weights])
    stated = law.cells([-math.inf, *places, math.inf])
    found = bins_of(law.to_table(), ["-inf", "inf"])
    assert found is not None
    rows = zip(stated.masses, stated.first, stated.second, strict=True)
    assert bin_moments(found, tuple(places)) == list(rows)


def document(law: Any, ends: Any = (0, 1)) -> dict[str, Any]:
    problem = md.ContinuousProblem(ends, md.LIP(1), md.MeanAbsoluteError(), prior=law)
    made: dict[str, Any] = json.loads(json.dumps(md.design(problem, gap=0.2).document()))
    return made


HISTOGRAM = document(md.Histogram([0, "1/2", 1], ["1/3", "2/3"]))


def test_a_law_that_can_be_recomputed_is_checked() -> None:
    assert verify(HISTOGRAM).claims[-1].endswith("; those of the law named are the same")
    cut = verify(document(md.NamedLaw("uniform", [-1, 3]))).claims[-1]
    assert "those of the law named are within" in cut
    assert "NOT checked" not in cut
    for law in (md.NamedLaw("beta", [2, 5]), md.Samples([0.1, 0.7])):
        assert "NOT checked: that those of the law named are" in verify(document(law)).claims[-1]


@pytest.mark.parametrize(
    "law",
    [
        {"histogram": {"edges": ["0", "1/2", "1"], "masses": ["2/3", "1/3"]}},
        {"histogram": {"edges": ["0", "1/3", "1"], "masses": ["1/3", "2/3"]}},
        {"histogram": {"edges": ["0", "1"], "masses": ["1"]}},
        {"law": {"name": "uniform", "parameters": ["0", "1"]}},
        {"histogram": {"edges": ["0", "1/2", "1"], "masses": ["1/3", "1/3"]}},
        {"histogram": {"edges": ["0", "1/2", "1"], "masses": ["4/3", "-1/3"]}},
        {"histogram": {"edges": ["0", "0", "1"], "masses": ["1/3", "2/3"]}},
        {"histogram": {"edges": ["0", "1"], "masses": ["1/3", "2/3"]}},
        {"histogram": {"edges": [], "masses": []}},
        {"histogram": {"edges": ["0"], "masses": []}},
        {"law": {"name": "uniform", "parameters": ["2", "1"]}},
        {"law": {"name": "uniform", "parameters": ["0", "0"]}},
    ],
)
def test_another_law_is_refused(law: dict[str, Any]) -> None:
    forged = {**HISTOGRAM, "problem": {**HISTOGRAM["problem"], "law": law}}
    forged["digest"] = digest(forged)
    with pytest.raises(CertificateError):
        verify(forged)
