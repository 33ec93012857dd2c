"""The numbers of the gallery about the attribution of ads."""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

import mechdesign as md

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    mpl.use("Agg")
    return runpy.run_path(str(ROOT / "docs" / "gallery" / "ads_attribution.py"))


def test_the_published_numbers(script: dict[str, Any]) -> None:
    """Rate of random states, and capacities, as the makers of the interface state them."""
    response = md.mechanisms.GeneralizedRandomizedResponse(len(script["states"]), 14)
    assert response.n_outputs == 2925
    rate = 2925 * response.least
    assert float(rate) == pytest.approx(0.0024263221679834087, rel=1e-12)
    assert rate >= 2925 / (math.exp(14) + 2924)  # rounded to the private side
    assert script["capacity"](response) == pytest.approx(11.461727965384876, rel=1e-13)
    three = md.mechanisms.GeneralizedRandomizedResponse(3, 14)
    assert script["capacity"](three) == pytest.approx(1.584926511508231, rel=1e-14)
    uniform = md.Prior.uniform(3)
    bits = float(md.MutualInformation().value(three.dense(), uniform)) / math.log(2)
    assert bits == pytest.approx(1.584926511508231, rel=1e-14)


def test_the_published_losses(script: dict[str, Any]) -> None:
    general, few, best = (line[-1] for line in script["noise"].values())
    assert general == pytest.approx(0.42829, abs=5e-6)
    assert best == pytest.approx(0.00314, abs=5e-6)
    assert round(general / best) == 136
    assert few == pytest.approx(0.00388, abs=5e-6)
    solution = script["best"][-1]
    assert solution.gap < 1e-4
    assert md.LDP(14).holds(solution.channel)
