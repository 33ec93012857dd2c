"""The binary mechanism: optimal by all rays, not beside its region, and proved from the file."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, LIP, ChiSquared, Problem, TotalVariation, design
from mechdesign.closed_forms.response_on_bins import BinaryMechanism
from mechdesign.errors import CertificateError
from mechdesign.kernel import digest, verify
from mechdesign.notions import Notion
from solvers import SOLVERS
from tests.strategies import examples, simplex


@examples(10)
@given(st.data())
def test_it_is_the_optimum_over_all_rays(data: st.DataObject) -> None:
    first, second = data.draw(simplex(3)), data.draw(simplex(3))
    epsilon = data.draw(st.sampled_from(["0", "0.3", "1", "2.5"]))
    if first == second:
        return
    problem = Problem(3, LDP(epsilon), TotalVariation(first, second))
    solution = design(problem)
    assert solution.status == "optimal"
    apart = sum(abs(a - b) for a, b in zip(first, second, strict=True)) / 2
    assert math.isclose(solution.value, apart * math.tanh(float(epsilon) / 2), abs_tol=1e-12)
    assert math.isclose(solution.value, SOLVERS["vertices"](problem).value, abs_tol=1e-9)
    by_rays = design(problem, route="extreme-rays")
    assert math.isclose(by_rays.value, solution.value, abs_tol=1e-9)
    verify(solution.document())


def test_a_thousand_inputs() -> None:
    k = 1000
    rising = [Fraction(2 * (x + 1), k * (k + 1)) for x in range(k)]
    solution = design(Problem(range(k), LDP(1), TotalVariation(rising, rising[::-1])))
    assert solution.status == "optimal"
    assert solution.route == "closed-form: binary mechanism"
    assert solution.channel.shape == (k, 2)


@pytest.mark.parametrize("notion", [LIP(1), LDP(1)], ids=lambda n: n.name)
def test_it_is_not_for_other_problems(notion: Notion) -> None:
    utility = ChiSquared(0, 1) if notion.name == "ldp" else TotalVariation(0, 1)
    problem = Problem(3, notion, utility, prior=[0.5, 0.3, 0.2])
    assert "binary mechanism" not in design(problem).route
    assert not BinaryMechanism().holds(problem)


def test_a_bolder_claim_is_refused() -> None:
    document = design(Problem(3, LDP(1), TotalVariation(0, 1))).document()
    assert document["certificate"]["oracle"]["kind"] == "one-budget"
    document["bound"] *= 1 - 1e-9
    document["digest"] = digest(document)
    with pytest.raises(CertificateError):
        verify(document)
