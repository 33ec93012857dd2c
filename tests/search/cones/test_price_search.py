"""Which cones need prices only, and what counts as a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.search.cones.forms import InputLine
from mechdesign.search.cones.pricing import BlockPricer, LiftPricer, LinePricer, pricer_of

SECRET = md.SensitiveAttribute([0, 1, 2, 3], given_input=np.eye(4).tolist())
FORMS: list[tuple[Any, Any]] = [
    (md.LDP(1), BlockPricer),
    (md.LDP("1e-300"), None),
    (md.LDP(800), None),
    (md.HighLowLDP(1, [2]), BlockPricer),
    (md.BlockLDP(1, [[0, 3], [1, 2]]), BlockPricer),
    (
        md.ContextAwareLDP([[0, 1, "inf", "inf"], [1, 0, "inf", "inf"], *[["inf"] * 4] * 2]),
        BlockPricer,
    ),
    (md.DifferentialIdentifiability("1.4"), None),
    ([md.LDP(1), md.LDP(2)], None),
    (md.LIP(1), LiftPricer),
    (md.PML(1), LiftPricer),
    (md.AsymmetricLift("inf", 1), LiftPricer),
    (md.AsymmetricLift("inf", "inf"), LiftPricer),
    (md.BoundedPriorLIP(1, priors=[["0.1", "0.2", "0.3", "0.4"]]), LiftPricer),
    (md.BoundedPriorLIP(1, priors=[["0.1", "0.2", "0.4", "0.3"]]), None),
    ([md.LIP(1), md.LDP(1)], None),
    (md.MetricPrivacy(1, "absolute"), LinePricer),
    ([md.MetricPrivacy(1, "absolute"), md.LDP(1)], None),
    ([md.MetricPrivacy(1, "absolute"), md.LDP(3)], LinePricer),
    (md.LinearNotion([("row", {0: 1}, 1, {1: 1})]), None),
    (md.SensitiveAttributePrivacy(md.LDP(1), SECRET), None),
    (md.ApproximateLDP(1, 0), BlockPricer),
    (md.MetricPrivacy(1, [[int(x != z) for z in range(4)] for x in range(4)]), BlockPricer),
    (md.MaximalLeakage(1), None),
]


@pytest.mark.parametrize(("notion", "form"), FORMS, ids=lambda v: str(v)[:40])
def test_the_form_of_a_cone(notion: Any, form: Any) -> None:
    prior = ["0.1", "0.2", "0.3", "0.4"]
    pricer = pricer_of(md.Problem(range(4), notion, md.HammingLoss(), prior=prior))
    assert type(pricer) is (form or type(None))


def test_entries_without_a_bound_have_no_price() -> None:
    problem = md.Problem(
        range(3), md.AsymmetricLift("inf", 1), md.HammingLoss(), prior=[0, "0.5", "0.5"]
    )
    assert isinstance(pricer_of(problem), LiftPricer)
    wide = md.Problem(
        range(3), md.AsymmetricLift(1, "inf"), md.HammingLoss(), prior=[0, "0.5", "0.5"]
    )
    assert pricer_of(wide) is None


def test_a_line_is_taken_in_the_order_of_its_numbers() -> None:
    problem = md.Problem(md.Domain([3, 0, 1]), md.MetricPrivacy(1, "absolute"), md.HammingLoss())
    line = InputLine.of_problem(problem)
    assert line.order.tolist() == [1, 2, 0]


def test_cones_that_are_not_lines() -> None:
    x = np.arange(4)
    E = np.abs(x[:, None] - x).astype(float)
    assert InputLine.of(E, x) is not None
    assert InputLine.of(E, np.array([1, 0, 2, 3])) is None
    nearer = E.copy()
    nearer[0, 3] = 2.0  # tighter than the neighbors imply
    assert InputLine.of(nearer, x) is None
    free = E.copy()
    free[0, 1] = np.inf
    assert InputLine.of(free, x) is None
    farther = np.where(E > 1, 9.0, E)  # looser than they imply
    assert InputLine.of(farther, x) is not None
