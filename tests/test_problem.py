"""A problem fits together: what does not fit is refused, and a budget may be exchanged."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import mechdesign as md
from tests.refusals_support import check_refused

HAMMING = md.HammingLoss()


@pytest.mark.parametrize(
    ("notion", "utility", "options", "match"),
    [
        (md.LIP(1), HAMMING, {}, "prior"),
        (md.LDP(1), HAMMING, {"prior": [0.2, 0.3, 0.5]}, "prior"),
        (md.LDP(1), md.MeanAbsoluteError(), {}, "expected numbers"),
        (md.LDP(1), HAMMING, {"outputs": []}, r"outputs\.values"),
        (md.LDP(1), HAMMING, {"outputs": ["a", "a"]}, r"outputs\.values"),
    ],
)
def test_what_does_not_fit_is_refused(
    notion: Any, utility: Any, options: dict[str, Any], match: str
) -> None:
    check_refused(match, md.Problem, ["a", "b"], notion, utility, **options)


def test_what_is_left_out_is_filled_in() -> None:
    """A uniform prior, if no notion needs one, and outputs, but for a sum of gains."""
    assert list(md.Problem(["a", "b", "c"], md.LDP(1), HAMMING).prior) == [Fraction(1, 3)] * 3
    assert md.Problem(range(2), md.LDP(1), md.MeanAbsoluteError()).outputs == (0, 1)
    gains = md.PosteriorMeanSquaredError([1, 0])
    assert md.Problem(["yes", "no"], md.LIP(1), gains, prior=[0.1, 0.9]).outputs is None


def test_outputs_of_a_grid_are_pairs_times_its_spacing() -> None:
    grid = md.Domain.grid(2, 2, spacing="0.5")
    table = md.MeanSquaredDistance().loss(grid, [(0, 0), (2, 1)]).array
    assert table.tolist() == [[0, 1.25], [0.25, 1], [0.25, 0.5], [0.5, 0.25]]


def test_another_budget_changes_nothing_else() -> None:
    error = md.MeanAbsoluteError()
    problem = md.Problem(range(3), [md.LDP(2), md.LIP(1)], error, prior=[0.2, 0.3, 0.5])
    check_refused("one notion with an epsilon", problem.at, 1)
    one = md.Problem(range(3), md.LIP(1), error, prior=[0.2, 0.3, 0.5])
    other = one.at("1/2")
    assert [notion.epsilon for notion in other.privacy] == [Fraction(1, 2)]
    assert (other.domain, other.prior, other.outputs) == (one.domain, one.prior, one.outputs)
    assert [notion.epsilon for notion in one.privacy] == [1]
