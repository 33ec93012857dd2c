"""A problem fits together: what does not fit is refused, and a budget may be exchanged."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mechdesign import (
    LDP,
    LIP,
    HammingLoss,
    InputError,
    MeanAbsoluteError,
    PosteriorMeanSquaredError,
    Problem,
)


def test_the_prior_is_uniform_only_where_no_notion_needs_one() -> None:
    assert list(Problem(["a", "b", "c"], LDP(1), HammingLoss()).prior) == [Fraction(1, 3)] * 3
    with pytest.raises(InputError, match="prior"):
        Problem(["a", "b", "c"], LIP(1), HammingLoss())


def test_a_prior_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="prior"):
        Problem(["a", "b"], LDP(1), HammingLoss(), prior=[0.2, 0.3, 0.5])


def test_a_loss_between_numbers_needs_numbers() -> None:
    with pytest.raises(InputError):
        Problem(["a", "b"], LDP(1), MeanAbsoluteError())
    assert Problem(range(2), LDP(1), MeanAbsoluteError()).outputs == (0, 1)


def test_another_budget_changes_nothing_else() -> None:
    problem = Problem(range(3), [LDP(2), LIP(1)], MeanAbsoluteError(), prior=[0.2, 0.3, 0.5])
    with pytest.raises(InputError, match="one notion with an epsilon"):
        problem.at(1)
    one = Problem(range(3), LIP(1), MeanAbsoluteError(), prior=[0.2, 0.3, 0.5])
    other = one.at("1/2")
    assert [notion.epsilon for notion in other.privacy] == [Fraction(1, 2)]
    assert (other.domain, other.prior, other.outputs) == (one.domain, one.prior, one.outputs)
    assert [notion.epsilon for notion in one.privacy] == [1]


def test_outputs_differ_and_there_is_one() -> None:
    for outputs in ([], ["a", "a"]):
        with pytest.raises(InputError, match=r"outputs\.values"):
            Problem(["a", "b"], LDP(1), HammingLoss(), outputs=outputs)


def test_a_sum_of_gains_leaves_the_outputs_to_the_solver() -> None:
    problem = Problem(["yes", "no"], LIP(1), PosteriorMeanSquaredError([1, 0]), prior=[0.1, 0.9])
    assert problem.outputs is None
