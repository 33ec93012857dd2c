"""Divergences between mixtures of inputs: definitions, closed forms, all rays, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, Channel, ChiSquared, HighLowLDP, InputError, Prior, Problem, design
from mechdesign.errors import CertificateError
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.names import compile_problem
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.statement import Statement
from mechdesign.utilities import Divergence
from tests.refusals_support import check_refused
from tests.strategies import DIGITS, decimal, examples, simplex, statement_of

ALL = [md.TotalVariation, md.KullbackLeibler, ChiSquared, md.SquaredHellinger]
PRIOR = Prior([0.4, 0.3, 0.2, 0.1])
MIXED = {1: "0.5", 3: "0.5"}


def gain(statement: Statement, q: list[int], *, up: bool) -> Fraction:
    """The divergence of a column by the kernel."""
    aim = statement.objective
    if isinstance(aim, Gain):
        return aim(q, up=up)
    assert isinstance(aim, Loss)  # of two free outputs, the signs
    costs = [aim.costs.lower(y) for y in range(aim.costs.n_outputs)]
    most = max(-sum(c * v for c, v in zip(column, q, strict=True)) for column in costs)
    return Fraction(most, aim.costs.denominator)


def term(name: str, a: Decimal, b: Decimal) -> Decimal:
    if name == "total-variation":
        return abs(a - b) / 2
    if name == "squared-hellinger":
        return (a.sqrt() - b.sqrt()) ** 2 / 2
    if name == "chi-squared":
        return (a - b) ** 2 / b if b else Decimal(0)
    return a * (a / b).ln() if a else Decimal(0)


@pytest.mark.parametrize("kind", [md.KullbackLeibler, ChiSquared])
def test_a_report_of_the_first_mixture_alone_is_infinitely_telling(kind: type[Divergence]) -> None:
    channel = Channel.from_matrix([["1/2", "1/2"], [1, 0]])
    check_refused("infinite", lambda: kind(0, 1).value(channel, Prior.uniform(2)))
    assert kind(1, 0).value(channel, Prior.uniform(2)) > 0


@pytest.mark.parametrize("kind", ALL)
@examples(12)
@given(st.data())
def test_the_checker_rounds_outward(kind: type[Divergence], data: st.DataObject) -> None:
    first, second = data.draw(simplex(3, 1)), data.draw(simplex(3))
    q = data.draw(st.lists(st.integers(1, 9), min_size=3, max_size=3))
    if first == second:
        return
    statement = statement_of(Problem(3, LDP(1), kind(first, second)))
    low, high = (gain(statement, q, up=up) for up in (False, True))
    a, b = (decimal(sum(w * v for w, v in zip(side, q, strict=True))) for side in (first, second))
    with localcontext(DIGITS):
        exact, slack = term(kind.name, a, b), Decimal("1e-50")
        assert decimal(low) <= exact + slack
        assert decimal(high) >= exact - slack
    assert high - low <= Fraction(1, 10**30)


@pytest.mark.parametrize("epsilon", [0.3, 1, 2.5])
def test_two_inputs_are_warners(epsilon: float) -> None:
    """Kairouz et al. 2014: variation (e - 1) / (e + 1), divergence eps times it."""
    e = math.exp(epsilon)
    tanh = (e - 1) / (e + 1)
    expected = {
        md.TotalVariation: tanh,
        md.KullbackLeibler: epsilon * tanh,
        ChiSquared: (e - 1) ** 2 / e,
        md.SquaredHellinger: (math.sqrt(e) - 1) ** 2 / (e + 1),
    }
    for kind, value in expected.items():
        found = design(Problem(["a", "b"], LDP(epsilon), kind("a", "b")))
        assert math.isclose(found.value, value, rel_tol=1e-12)


def test_a_gain_at_a_prior_without_an_input_of_a_mixture_is_refused() -> None:
    with pytest.raises(InputError, match="prior: expected a prior at which the gain is defined"):
        md.KullbackLeibler([1, 0], [0, 1]).gain(np.eye(2), np.array([1.0, 0.0]))


def test_the_optimum_does_not_depend_on_the_prior() -> None:
    for kind in ALL:
        found = [
            design(Problem(3, LDP(1), kind(0, 2), prior=prior)).value
            for prior in ([0.2, 0.3, 0.5], [0.8, 0.1, 0.1])
        ]
        assert math.isclose(*found, rel_tol=1e-9)


FREE = md.ContextAwareLDP([[0, "inf", "inf"], ["inf", 0, "inf"], [1, 1, 0]])


@pytest.mark.parametrize("kind", [md.KullbackLeibler, ChiSquared])
@pytest.mark.parametrize(
    ("notion", "first", "second", "is_infinite"),
    [
        (HighLowLDP(1, [0]), 0, 1, False),
        (HighLowLDP(1, [1]), 0, 1, True),
        (FREE, 2, 1, False),
        (FREE, 1, 2, True),
        (FREE, {0: 0.5, 2: 0.5}, {1: 0.5, 2: 0.5}, True),
        (FREE, {0: 0.5, 2: 0.5}, {1: 0.5, 0: 0.5}, False),
        (LDP(30), 0, 1, False),
        (md.PML(3), 0, 1, True),
    ],
)
def test_an_infinite_divergence_is_refused(
    kind: type[Divergence], notion: Any, first: Any, second: Any, is_infinite: bool
) -> None:
    if is_infinite:
        with pytest.raises(InputError, match="infinite"):
            Problem(3, notion, kind(first, second), prior=[0.3, 0.3, 0.4])
    else:
        solution = design(Problem(3, notion, kind(first, second), prior=[0.3, 0.3, 0.4]))
        assert solution.value <= solution.bound


def test_the_checker_believes_no_file(tmp_path: Path) -> None:
    solution = design(Problem(3, LDP(2), md.KullbackLeibler(0, 1)))
    statement = statement_of(solution.problem)
    with pytest.raises(CertificateError, match="infinite"):
        gain(statement, [1, 0, 5], up=True)
    table = Problem(3, LDP(2), md.TotalVariation(0, 1), prior=[0.5, 0.5, 0]).compiled.table
    with pytest.raises(CertificateError, match="prior 0"):
        compile_problem(replace(table, prior=(Fraction(1), Fraction(0), Fraction(0))))
