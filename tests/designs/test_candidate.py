"""The proof of a design: one that a reader accepts, and no longer than there is time for."""

from __future__ import annotations

import signal
import sys
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import mechdesign as md
from mechdesign import (
    Channel,
    Prior,
    PriorBall,
    PriorBox,
    Problem,
    Solution,
    certify,
    design,
    resources,
)
from mechdesign.designs.answers import SolutionPool
from mechdesign.evidence.formulas import nothing_constrained
from mechdesign.kernel import verify
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Boxes
from mechdesign.kernel.oracles import Rays
from mechdesign.notions import LDP, LIP, BoundedPriorLIP, ContextAwareLDP
from mechdesign.search import RawSolution
from mechdesign.search.coarse.groups import grouped
from mechdesign.search.limits import Limits
from mechdesign.search.routes import ExtremeRays, LinearProgram
from mechdesign.utilities import HammingLoss, MeanAbsoluteError, MutualInformation

PRIOR = ["0.1", "0.2", "0.3", "0.15", "0.25"]
BUDGETS = [[0 if x == z else 1 + (7 * x + 3 * z) % 10 / 10 for z in range(5)] for x in range(5)]
INFORMATION = Problem(range(5), ContextAwareLDP(BUDGETS), MutualInformation(), prior=PRIOR)
DISTANCE = Problem(range(5), LDP(1), MeanAbsoluteError(), prior=PRIOR)
RAW = {
    "rays": (INFORMATION, ExtremeRays().solve(INFORMATION, Limits())),
    "rows": (DISTANCE, LinearProgram().solve(DISTANCE, Limits())),
}


def blind(problem: Problem) -> list[Any]:
    """The bounds that need no search."""
    statement = problem.compiled.statement
    made = [nothing_constrained(problem.compiled), grouped(problem)]
    return [statement.sign * found.bound(statement) for found in made if found is not None]


def solved(problem: Problem, raw: RawSolution, limits: Limits) -> Solution:
    answers = SolutionPool(problem, limits)
    answers.take(raw, "a test")
    return answers.solution()


@pytest.mark.parametrize("steps", [1, 3_000, 30_000, 10**6])
@pytest.mark.parametrize("name", RAW)
def test_a_reader_with_the_same_limit_accepts_the_saved_file(name: str, steps: int) -> None:
    """Whatever the limit on steps, the proof that is saved is one that keeps it."""
    problem, raw = RAW[name]
    with resources.allow(proof_steps=steps):
        found = solved(problem, raw, Limits())
        left = any("is not proved" in note for note in found.notes)
        assert (found.bound in blind(problem)) == left
    with resources.allow(steps=max(steps, 50_000)):  # the notions are to be checked too
        assert verify(found.document()).bound == found.bound


def test_a_proof_beyond_the_readers_limit_is_noted() -> None:
    problem, raw = RAW["rays"]
    found = solved(problem, raw, Limits())
    assert not any("--allow" in note for note in found.notes)
    with pytest.MonkeyPatch.context() as patch:
        small = resources.Resources(steps=1)
        patch.setattr("mechdesign.designs.answers.Resources", lambda: small)
        long = solved(problem, raw, Limits())
    assert long.bound == found.bound
    assert any("verify with --allow steps=" in note for note in long.notes)


@pytest.mark.parametrize("bits", [10, 3_000])
@pytest.mark.parametrize("steps", [1, 1_000, 2_000, 3_000, 5_000, 8_000])
def test_a_reader_follows_the_note(bits: int, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a note the usual steps suffice, also for long denominators; else those it names."""
    share = Fraction(2**bits // 3, 2**bits)
    problem = Problem(range(2), [LDP(1), LIP(1)], HammingLoss(), prior=[share, 1 - share])
    usual = resources.Resources(steps=steps)
    monkeypatch.setattr("mechdesign.designs.answers.Resources", lambda: usual)
    monkeypatch.setattr(sys.modules["mechdesign.kernel.verify"], "STEPS_PER_ENTRY", 0)
    found = design(problem)
    named = [int(note.split("steps=")[1]) for note in found.notes if "--allow steps=" in note]
    with resources.allow(steps=max([steps, *named])):
        assert verify(found.document()).bound == found.bound


def test_a_proof_that_takes_longer_than_there_is_time_for_is_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, raw = RAW["rays"]
    monkeypatch.setattr("mechdesign.search.limits.STEPS_A_SECOND", 100)
    found = solved(problem, raw, Limits(seconds=10))
    assert any("is not proved" in note for note in found.notes)
    assert found.bound in blind(problem)
    assert verify(found.document()).bound == found.bound


@pytest.mark.parametrize("name", RAW)
def test_an_interrupt_of_the_proof_leaves_a_cheaper_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, raw = RAW[name]
    limits, bound = Limits(), Certificate.bound

    def interrupted(*given: Any) -> Any:
        if not limits.interrupted:
            signal.raise_signal(signal.SIGINT)
        return bound(*given)

    monkeypatch.setattr(Certificate, "bound", interrupted)
    with limits.hold():
        found = solved(problem, raw, limits)
    monkeypatch.undo()
    assert any("an interrupt" in note for note in found.notes)
    assert found.bound in blind(problem)
    assert verify(found.document()).bound == found.bound


def test_time_is_kept_for_the_proof_only_where_time_is_limited() -> None:
    for seconds, reserve in ((float("inf"), 0.0), (1e-4, 1e-4 / 3), (10.0, 25e-5)):
        limits = Limits(seconds=seconds)
        SolutionPool(Problem(range(5), LDP(1), HammingLoss()), limits)
        assert limits.reserve == pytest.approx(reserve)


def test_more_time_is_kept_where_the_proof_names_members_of_a_set_of_priors() -> None:
    kept = []
    fifth, center = ["1/5"] * 5, Prior.uniform(5)
    for priors in ([fifth], PriorBall(center, "0.1"), PriorBox([0] * 5, [1] * 5)):
        limits = Limits(seconds=10)
        problem = Problem(range(5), BoundedPriorLIP(1, priors), HammingLoss(), prior=center)
        SolutionPool(problem, limits)
        kept.append(limits.reserve)
    assert kept[1] == kept[2] > 5 * kept[0]


def test_rays_that_a_reader_would_not_list_are_priced_by_boxes() -> None:
    """The cost of the checker is foreseen: the route takes a search that a reader has steps for."""
    prior = md.Prior.from_counts([100_003 * n + 7 * n * n for n in range(1, 9)])
    problem = Problem(range(8), md.LIP("0.5"), MutualInformation(), prior=prior)
    assert isinstance(ExtremeRays().solve(problem, Limits()).proofs[0](problem).oracle, Rays)
    with resources.allow(proof_steps=100_000):
        short = ExtremeRays().solve(problem, Limits())
    assert isinstance(short.proofs[0](problem).linearization, Boxes)
    found = solved(problem, short, Limits())
    assert found.status == "optimal"
    assert verify(found.document()).bound == found.bound


# A matrix of one's own: its repaired form is private, and its value and bound are proved.


INPUTS = ["a", "b", "c"]
SKEWED = [0.5, 0.3, 0.2]
PROBLEMS = {
    "loss": Problem(INPUTS, md.LDP(1), md.HammingLoss(), prior=SKEWED),
    "gain": Problem(INPUTS, md.LIP(1), md.MutualInformation(), prior=SKEWED),
    "risk": Problem(INPUTS, md.LDP(1), md.TVRisk(), prior=SKEWED),
    "not conic": Problem(INPUTS, md.ApproximateLDP(1, "0.05"), md.HammingLoss(), prior=SKEWED),
}
RESPONSE = np.full((3, 3), 1.0) + (np.e - 1) * np.eye(3)
RESPONSE /= RESPONSE.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_certified_channel_is_private_and_between_value_and_bound(name: str) -> None:
    """Randomized response at e**1 + 1e-6 breaks the notion by a little; its repair does not."""
    problem = PROBLEMS[name]
    rough = RESPONSE + 1e-6 * (3 * np.eye(3) - 1)
    found, best = certify(problem, rough), design(problem)
    for claim in found.privacy:
        assert claim.leakage <= float(claim.notion.epsilon)
    assert abs(found.channel.matrix - rough).max() < 1e-4 or name != "loss"
    assert found.bound == best.bound
    sign = -1 if problem.utility.is_maximized else 1
    assert sign * found.value >= sign * best.value * (1 - sign * 1e-9)
    value = problem.utility.value(found.channel, problem.prior, problem.outputs)
    assert float(found.value) == pytest.approx(float(value), rel=1e-12)
    document = found.document()
    assert verify(document).bound == found.bound
    small = ("the repair moved no probability", "the matrix is private: the repair changed nothing")
    assert any(note.startswith(small) for note in found.notes)
    assert certify(problem, rough, reference=best).value == found.value


def test_columns_keep_their_labels_though_others_would_be_better() -> None:
    swapped = pd.DataFrame(RESPONSE, index=INPUTS, columns=["b", "c", "a"])
    found = certify(PROBLEMS["loss"], swapped)
    columns = dict(zip(found.channel.outputs, found.channel.matrix.T, strict=True))
    assert columns["b"][0] == pytest.approx(RESPONSE[0, 0])
    assert found.status == "bounded"
    plain = pd.DataFrame(RESPONSE, index=INPUTS, columns=INPUTS)
    shuffled = certify(PROBLEMS["loss"], plain.iloc[[2, 0, 1], [1, 0, 2]])
    assert shuffled.value == certify(PROBLEMS["loss"], RESPONSE).value


def test_the_solution_of_a_program_in_cvxpy_is_certified_as_optimal() -> None:
    problem = PROBLEMS["loss"]
    rows = problem.privacy[0].constraints(problem.Q, problem.domain)
    loss = 1 - sum(p * problem.Q[x, x] for x, p in enumerate(SKEWED))
    program = cp.Problem(cp.Minimize(loss), [*rows, cp.sum(problem.Q, axis=1) == 1])
    program.solve(solver="CLARABEL")
    assert certify(problem, problem.Q.value).gap < 1e-6


def test_a_matrix_that_is_far_from_private_is_reported_as_another_channel() -> None:
    """The identity is private at no epsilon: what is certified is not what was given."""
    problem = PROBLEMS["loss"]
    (note,) = [note for note in certify(problem, np.eye(3)).notes if "repair" in note]
    assert note.startswith("the matrix is not private: the repair changed probabilities by up to")


def test_a_channel_counts_by_label_and_stays_as_it_is() -> None:
    problem = PROBLEMS["loss"]
    mine = design(problem.at("1/2")).channel
    rows, bits = mine.numerators[::-1], mine.bits
    swapped = Channel(rows, bits=bits, inputs=INPUTS[::-1], outputs=mine.outputs)
    found = certify(problem, swapped)
    assert found.channel == certify(problem, mine).channel
    assert "the matrix is private: the repair changed nothing" in found.notes
