"""Several attributes: textbook variances in the table, and estimators that find the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import mechdesign as md
from mechdesign import InputError, L2Risk
from mechdesign.collection.attributes import compare_attributes

SIZES = {"ill": ["yes", "no"], "age": ["young", "middle", "old"]}
JOINT = [0.1, 0.2, 0.3, 0.2, 0.05, 0.15]


def warner_risk(epsilon: float) -> float:
    """n times the total variance of both frequencies by randomized response, uniform prior."""
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    return 2 * (0.25 / (2 * p - 1) ** 2)


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_two_answers_have_the_variance_of_warner(epsilon: float) -> None:
    found = compare_attributes({"a": ["yes", "no"], "b": ["yes", "no"]}, epsilon)
    for name in "ab":
        assert found.split.attributes[name] == pytest.approx(warner_risk(epsilon / 2))
        assert found.one_each.attributes[name] == pytest.approx(2 * warner_risk(epsilon))
    # independent answers: the tensor of both estimators has the product of the second moments
    second = 2 * (warner_risk(epsilon / 2) / 2 + 0.25)
    assert found.split.cells == pytest.approx(second**2 - 0.25)
    assert found.one_each.cells == math.inf
    assert found.bound is not None
    assert found.joint is not None
    assert found.bound <= found.joint.cells < found.split.cells
    assert found.price_of_splitting == found.split.cells / found.bound


def test_the_joint_channel_is_the_proved_optimum_and_is_private() -> None:
    found = compare_attributes(SIZES, "1.5", prior=JOINT)
    assert found.joint is not None
    channel = found.joint.joint
    assert channel is not None
    tuples = md.Domain([(i, a) for i in SIZES["ill"] for a in SIZES["age"]])
    assert channel.inputs == tuples
    alone = md.design(md.Problem(tuples, md.LDP("1.5"), L2Risk(), prior=JOINT))
    assert found.joint.cells == pytest.approx(float(alone.value))
    assert md.LDP("1.5").leakage(channel) <= 1.5 < md.LDP("1.4").leakage(channel) + 0.1
    for name, mechanism in found.split.mechanisms.items():
        assert md.LDP(1).leakage(mechanism) <= 0.75, name
    assert md.collection.spending(found.split.mechanisms).total["ldp"] <= 1.5
    assert md.collection.spending(found.one_each.mechanisms, one_each=True).total["ldp"] <= 1.5


@pytest.mark.parametrize("which", ["split", "one_each", "joint"])
def test_estimates_have_the_stated_error(which: str) -> None:
    found = compare_attributes(SIZES, 3, prior=JOINT)
    strategy = getattr(found, which)
    rng, n = np.random.default_rng(5), 40_000
    cells = rng.choice(6, n, p=JOINT)
    ill, age = ([SIZES["ill"][c // 3] for c in cells], [SIZES["age"][c % 3] for c in cells])
    truth = {"ill": np.array([0.6, 0.4]), "age": np.array([0.3, 0.25, 0.45])}
    reports: Any
    if strategy.joint is not None:
        reports = strategy.joint.privatize(list(zip(ill, age, strict=True)), rng=1)
    else:
        table = pa.table({"ill": ill, "age": age})
        drawn = md.privatize(table, strategy.mechanisms, rng=1, one_each=strategy.one_each)
        reports = md.tally(drawn, strategy.mechanisms, one_each=strategy.one_each)
    estimates = strategy.estimate(reports)
    assert set(estimates) == set(SIZES)
    for name, made in estimates.items():
        assert made.inputs == md.Domain(SIZES[name])
        off = (made.values - truth[name]) / made.standard_errors
        assert np.abs(off).max() < 4, (name, off)
        message = strategy.attributes[name] / n
        assert (made.standard_errors**2).sum() == pytest.approx(message, rel=0.1)
        assert made.deviation(np.eye(len(made.inputs))) == pytest.approx(made.standard_errors)


def test_a_large_product_has_no_joint_channel_and_a_note() -> None:
    found = compare_attributes({"a": 9, "b": 9}, 1)
    assert found.joint is None
    assert found.price_of_splitting is None
    assert "no joint channel" in repr(found)
    assert [row["name"] for row in found.to_json()["strategies"]] == [
        "budget split",
        "one attribute each",
    ]
    assert found.to_json()["strategies"][1]["cells"] is None


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"a": 2}, "two or more"),
        ([2, 2], "two or more"),
        ({"a": 2, "b": [(0, 1), (1, 2)]}, "text or numbers"),
        ({"a": 100, "b": 100}, "4096"),
        ({"a": 2, "b": 0}, "b"),
    ],
)
def test_invalid_products_are_refused(attributes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare_attributes(attributes, 1)
    with pytest.raises(InputError, match="reports"):
        compare_attributes({"a": 2, "b": 2}, 1).split.estimate([0, 1])
