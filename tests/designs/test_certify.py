"""A matrix of one's own: its repaired form is private, and its value and bound are proved."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import mechdesign as md
from mechdesign import Channel, Problem, certify, design
from mechdesign.kernel import verify

INPUTS = ["a", "b", "c"]
PRIOR = [0.5, 0.3, 0.2]
PROBLEMS = {
    "loss": Problem(INPUTS, md.LDP(1), md.HammingLoss(), prior=PRIOR),
    "gain": Problem(INPUTS, md.LIP(1), md.MutualInformation(), prior=PRIOR),
    "risk": Problem(INPUTS, md.LDP(1), md.TVRisk(), prior=PRIOR),
    "not conic": Problem(INPUTS, md.ApproximateLDP(1, "0.05"), md.HammingLoss(), prior=PRIOR),
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
    loss = 1 - sum(p * problem.Q[x, x] for x, p in enumerate(PRIOR))
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
