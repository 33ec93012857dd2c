"""Divergences of two mixtures of inputs are proved by chords where rays are too many to list."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

import pytest

import mechdesign as md
from mechdesign.kernel import verify
from mechdesign.kernel.linearizations import Chords
from tests.documents import as_read
from tests.independent.files import check
from tests.kernel.test_tampering import try_many

K = 16
BUDGETS = [[0 if x == z else 1 + (3 * x + z) % 2 for z in range(K)] for x in range(K)]
NOTIONS = {
    "ldp": md.LDP(1),
    "much": md.LDP(10),
    "metric": md.MetricPrivacy("0.3", "absolute"),
    "lip": md.LIP(1),
    "matrix": md.ContextAwareLDP(BUDGETS),
}


def mixture(*weights: int) -> list[Any]:
    """Return the law of the inputs in proportion to weights, from the first one again."""
    return list(md.Prior.from_counts(islice(cycle(weights), K)).probabilities)


@pytest.mark.parametrize("utility", [md.KullbackLeibler, md.SquaredHellinger])
@pytest.mark.parametrize("name", NOTIONS)
def test_a_divergence_of_mixtures_is_proved_optimal(name: str, utility: Any) -> None:
    aim = utility(mixture(1, 2, 3), mixture(2, 1, 1, 4))
    found = md.design(md.Problem(range(K), NOTIONS[name], aim, prior=md.Prior.uniform(K)))
    assert found.status == "optimal"
    assert "optimal" in str(found)
    assert not found.binding  # multipliers at chords are of no output
    assert found.certificate is not None
    assert isinstance(found.certificate.linearization, Chords)
    document = as_read(found)
    verify(document)
    check(document)
    assert try_many([document], 1, 6)["refused"]


@pytest.mark.parametrize("utility", [md.KullbackLeibler, md.ChiSquared, md.SquaredHellinger])
@pytest.mark.parametrize("name", ["ldp", "lip", "matrix"])
@pytest.mark.parametrize(
    ("first", "second"),
    [((1, 2, 0, 0), (2, 1, 0, 0)), ((1, 2, 0, 0), (1, 1, 1, 0)), ((1, 0), (0, 1))],
    ids=["unseen inputs", "inputs of one mixture", "no input of both"],
)
def test_inputs_may_be_in_one_mixture_or_none(
    first: tuple[int, ...], second: tuple[int, ...], name: str, utility: Any
) -> None:
    """The gain is finite as the ratios of two entries are bounded."""
    aim = utility(mixture(*first), mixture(*second))
    found = md.design(md.Problem(range(K), NOTIONS[name], aim, prior=md.Prior.uniform(K)))
    assert found.status == "optimal"
    document = as_read(found)
    verify(document)
    if found.certificate and isinstance(found.certificate.linearization, Chords):
        check(document)  # which lists all rays of other proofs
