"""What tests of the routes share: the exact checker is the judge of a raw answer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign import Channel, Problem
from mechdesign.certify.bounds.duality import dual_bound
from mechdesign.certify.proof import PRICES
from mechdesign.repair import repair
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.column_generation.feasible_prices import feasible_prices
from tests.strategies import statement_of


def dual_table(problem: Problem, dual: Dual) -> dict[str, Any]:
    """Weights as a saved file has them."""
    rows = []
    for family in dual.families:
        for m in family.multipliers:
            block: dict[str, Any] = {"notion": family.notion, "side": m.side}
            block |= {key: getattr(m, key).tolist() for key in ("output", "x", "other", "weight")}
            if m.side != "ratio":
                block["priors"] = [[str(p) for p in prior] for prior in family.priors]
            rows.append(block)
    weights = None if dual.input_multipliers is None else dual.input_multipliers.tolist()
    return {"weights": weights, "rows": rows}


def proved_bound(problem: Problem, raw: RawSolution) -> float:
    """The bound that the weights, or prices, prove, by the checker."""
    assert raw.dual is not None
    dual = feasible_prices(problem, raw.dual)
    if not dual.search or dual.potentials is None:
        return float(dual_bound(statement_of(problem), dual_table(problem, dual)))
    weights = None if dual.input_multipliers is None else dual.input_multipliers.tolist()
    table = {"weights": weights, "rows": [], "potential": dual.potentials.tolist()}
    return float(PRICES[dual.search][0](statement_of(problem), table))


def repaired_value(problem: Problem, raw: RawSolution) -> Fraction:
    """The value of the channel after the repair, which makes it private exactly."""
    rows, kept = repair(problem.cone, raw.matrix)
    channel = Channel(rows, inputs=problem.domain, outputs=[raw.outputs[y] for y in kept])
    assert problem.cone.holds(channel)
    return problem.utility.value(channel, problem.prior, problem.outputs)


def assert_optimal(problem: Problem, raw: RawSolution, optimum: float, tol: float = 1e-7) -> None:
    """Channel and weights each meet the optimum: neither can be beyond it."""
    assert np.allclose(raw.matrix.sum(axis=1), 1, atol=1e-6)
    scale = max(1.0, abs(optimum))
    assert abs(float(repaired_value(problem, raw)) - optimum) <= tol * scale
    assert abs(proved_bound(problem, raw) - optimum) <= tol * scale
