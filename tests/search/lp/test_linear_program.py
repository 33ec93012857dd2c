"""Outputs that are added as they pay end at the optimum over all outputs, and prove it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import mechdesign as md
from mechdesign._typing import FloatArray
from mechdesign.notions import Notion
from mechdesign.prior_sets import PriorSet, Weights
from mechdesign.search.limits import Limits
from mechdesign.search.lp import linear_program as module
from mechdesign.search.lp.linear_program import by_highs, by_outputs, pays
from mechdesign.search.presolve.chain import conic_program
from problems.families import bounded_prior_ball, bounded_prior_box


def hamming(k: int) -> md.Problem:
    """All outputs are used."""
    like = bounded_prior_ball(k)
    return md.Problem(like.domain, like.privacy, md.HammingLoss(), prior=like.prior)


def joined(k: int) -> md.Problem:
    like = bounded_prior_ball(k)
    notions = [*like.privacy, md.LIP(1), md.LDP("3/2")]
    return md.Problem(like.domain, notions, md.MeanAbsoluteError(), prior=like.prior)


KINDS = [bounded_prior_ball, bounded_prior_box, hamming, joined]


@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_that_over_all_outputs_and_proved(
    kind: Callable[[int], md.Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant, value in (("FIRST", 2), ("LEAST_ADDED", 1), ("FEWEST_INPUTS", 2)):
        monkeypatch.setattr(module, constant, value)
    problem = kind(9)
    program, _ = conic_program(problem)
    assert pays(program)
    losses = [program.loss(backend(program, Limits()).matrix) for backend in (by_outputs, by_highs)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    solution = md.design(problem, route="linear-program")
    assert solution.gap < 1e-8
    assert problem.privacy[0].holds(solution.channel, problem.prior)


def test_the_best_so_far_is_returned_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST", 2)
    program, _ = conic_program(bounded_prior_ball(9))
    limits = Limits(watch=lambda _: setattr(limits, "interrupted", True))
    answer = by_outputs(program, limits)
    assert np.count_nonzero(answer.matrix.max(axis=0)) <= 2
    assert answer.duals


@pytest.mark.parametrize("kind", [bounded_prior_ball, bounded_prior_box])
def test_members_are_found_after_the_last_round_only(
    kind: Callable[[int], md.Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST", 2)
    monkeypatch.setattr(module, "LEAST_ADDED", 1)
    problem = kind(11)
    program, _ = conic_program(problem)
    family = program.cone.families[0].lift_rows()
    calls, rounds, near = [], [], type(family.priors).member_near

    def counted(self: PriorSet, prior: FloatArray) -> Weights:
        calls.append(len(rounds))
        return near(self, prior)

    monkeypatch.setattr(type(family.priors), "member_near", counted)
    answer = by_outputs(program, Limits(watch=rounds.append))
    assert len(rounds) > 1
    assert set(calls) == {len(rounds)}
    assert len(calls) <= 2 * program.cost.shape[1]
    for prior in answer.duals[0].priors:
        assert sum(prior) == 1
        assert min(prior) >= 0
        assert family.part.priors.has(prior)


@pytest.mark.parametrize("notion", [md.LDP("11.8"), md.ApproximateLDP("11.8", 0)])
def test_inputs_of_prior_zero_leave_no_gap(notion: Notion) -> None:
    """The loss is so small that a cost of 1e-10 for them, which finds their best rows, counts."""
    prior = md.Prior.from_counts([65, 0, 54, 42, 73])
    solution = md.design(md.Problem([3, 6, 8, 10, 14], notion, md.MeanAbsoluteError(), prior=prior))
    assert 0 < solution.value < 1e-3
    assert solution.status == "optimal"
    assert solution.gap < 1e-8
