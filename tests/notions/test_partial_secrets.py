"""Notions that tie only some values of a sensitive attribute, against the definitions.

More values than inputs, zeros in P(s|x), inputs that never occur, inputs that the attribute cannot
tell apart, budgets of 0 and of inf, and two notions at once: each problem is refused in one line,
or its channel is private, its file is verified, and its value is that of the textbook.
"""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BayesAccuracy,
    BlockLDP,
    ColumnUtility,
    ContextAwareLDP,
    HammingLoss,
    HighLowLDP,
    InfeasibleError,
    InputError,
    L2Risk,
    MeanAbsoluteError,
    MetricPrivacy,
    MutualInformation,
    PosteriorMeanSquaredError,
    Problem,
    TVRisk,
    design,
)
from mechdesign.kernel import verify
from mechdesign.notions import Cone, Notion, SensitiveAttribute, SensitiveAttributePrivacy
from mechdesign.utilities import EstimationRisk, Utility
from solvers.direct_lp import solve as direct_lp
from solvers.vertices import solve as vertices
from tests.strategies import examples, simplex

TIE = ContextAwareLDP([[0, "inf", "inf"], ["inf", 0, 0], ["inf", "inf", 0]])
"""Of three values, the second is never likelier than the third."""

entries = st.sampled_from(["inf", "inf", "0", "0.1", "0.5", "3"])
budgets = st.sampled_from(["0", "0.1", "0.5", "3"])


@st.composite
def inner_notions(draw: st.DrawFn, n: int) -> Notion:
    epsilon, member = draw(budgets), draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    matrix = [[0 if s == t else draw(entries) for t in range(n)] for s in range(n)]
    blocks = [[s for s in range(n) if member[s] == b] for b in sorted(set(member))]
    return draw(
        st.sampled_from(
            [
                ContextAwareLDP(matrix),
                ContextAwareLDP(matrix),
                HighLowLDP(epsilon, blocks[0]),
                BlockLDP(epsilon, blocks),
                MetricPrivacy(epsilon, "absolute"),
                AsymmetricLift(draw(entries), draw(entries)),
                LDP(epsilon),
                LIP(epsilon),
                PML(epsilon),
            ]
        )
    )


@st.composite
def problems(draw: st.DrawFn) -> Problem | str:
    """A problem, or why there is none."""
    k = draw(st.integers(1, 4))
    notions = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
        n = draw(st.integers(1, 5))
        law = [draw(simplex(n)) for _ in range(k)]
        attribute = SensitiveAttribute(range(n), given_input=law)
        notions.append(SensitiveAttributePrivacy(draw(inner_notions(n)), attribute))
    utility = draw(
        st.sampled_from(
            [
                HammingLoss(),
                MeanAbsoluteError(),
                MeanAbsoluteError(worst_case=True),
                MutualInformation(),
                BayesAccuracy(),
                PosteriorMeanSquaredError(),
                PosteriorMeanSquaredError(histogram=True),
                L2Risk(),
                TVRisk(),
            ]
        )
    )
    try:
        return Problem(range(k), notions, utility, prior=draw(simplex(k)))
    except (InputError, InfeasibleError) as error:
        return str(error)


@given(problems())
@examples(20)
def test_every_problem_is_solved_or_refused(problem: Problem | str) -> None:
    if isinstance(problem, str):
        assert "\n" not in problem
        return
    solution = design(problem)
    assert all(notion.holds(solution.channel, problem.prior) for notion in problem.privacy)
    verify(json.loads(json.dumps(solution.document())))
    if not isinstance(problem.utility, EstimationRisk):
        textbook = vertices if isinstance(problem.utility, ColumnUtility) else direct_lp
        assert float(solution.value) == pytest.approx(textbook(problem).value, rel=2e-6, abs=1e-7)


@pytest.mark.parametrize(
    "utility", [HammingLoss(), MutualInformation(), BayesAccuracy(), PosteriorMeanSquaredError()]
)
def test_one_tie_of_two_values_leaves_two_inputs_a_constant_channel(utility: Utility) -> None:
    law = [["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]]
    attribute = SensitiveAttribute(["a", "b", "c"], given_input=law)
    notion = SensitiveAttributePrivacy(TIE, attribute)
    solution = design(Problem([0, 1], notion, utility, prior=["0.4", "0.6"]))
    assert solution.status == "optimal"
    assert len(set(solution.channel.numerators[:, 0].tolist())) == 1
    with pytest.raises(InfeasibleError, match="equal"):
        Problem([0, 1], notion, L2Risk(), prior=["0.4", "0.6"])


def test_two_notions_together_tie_inputs_that_neither_ties_alone() -> None:
    """Each asks for one equation on three inputs; the two leave only constant columns."""
    laws = (
        [["1/2", "1/2"], ["1/4", "3/4"], ["1/3", "2/3"]],
        [[1, 0], ["1/2", "1/2"], ["1/4", "3/4"]],
    )
    prior = [Fraction(1, 3)] * 3
    notions = [SensitiveAttributePrivacy(LDP(0), SensitiveAttribute([0, 1], law)) for law in laws]
    cones = [Problem(range(3), notion, HammingLoss(), prior=prior).cone for notion in notions]
    assert [cone.equal_classes().tolist() for cone in cones] == [[0, 1, 2]] * 2
    assert all(cone.flat_basis() is not None for cone in cones)
    both = Cone([family for cone in cones for family in cone.families])
    assert (both.equal_classes().tolist(), both.flat_basis()) == ([0, 0, 0], None)
    solution = design(Problem(range(3), notions, HammingLoss(), prior=prior))
    assert solution.status == "optimal"
    assert solution.route == "closed-form: independent release"
    assert solution.value == Fraction(2, 3)
    verify(solution.document())
