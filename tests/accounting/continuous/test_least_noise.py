"""Both bounds on the least noise are proved, even if some claims are undecided."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
from hypothesis import given, strategies as st

from mechdesign import Prior
from mechdesign.accounting import (
    analytic_gaussian_delta,
    analytic_gaussian_deviation,
    laplace_scale,
)
from mechdesign.accounting.continuous.least_noise import least_noise
from tests.strategies import examples


@pytest.mark.parametrize("start", [0.25, 1.0, 1.5, 2.0, 64.0])
@pytest.mark.parametrize("doubt", [0.0, 1e-12, 0.1, 0.6])
def test_no_bound_is_a_guess(start: float, doubt: float) -> None:
    """The least noise is 1; claims near it are undecided."""

    def holds(noise: float) -> bool | None:
        return None if abs(noise - 1) < doubt else noise >= 1

    low, high = least_noise(holds, start, 1e-9)
    assert holds(low) is False
    assert holds(high) is True
    assert doubt or high - low <= 1e-9 * high


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.4])
def test_gaussian_noise_is_proved_on_both_sides(delta: float) -> None:
    low, high = analytic_gaussian_deviation("0.7", delta, 3.0)
    assert analytic_gaussian_delta("0.7", high, 3.0).high <= delta
    assert analytic_gaussian_delta("0.7", low, 3.0).low > delta


@given(st.integers(1, 60), st.lists(st.integers(1, 20), min_size=2, max_size=5))
@examples(100)
def test_the_scale_of_laplace_noise_is_rounded_up(tenths: int, counts: list[int]) -> None:
    prior, values = Prior.from_counts(counts), range(len(counts))
    with localcontext(prec=60):
        e = Decimal(tenths) / 10
        p = Decimal(min(counts)) / sum(counts)
        inner = ((e.exp() - p) / (1 - p)).ln()
        scale = (len(counts) - 1) / (e if e >= (1 / p).ln() else inner)
        found = Decimal(laplace_scale(values, prior, f"{tenths}/10"))
        assert scale <= found <= scale * (1 + Decimal("1e-15"))


def test_a_scale_exists_for_the_smallest_budget() -> None:
    assert 1e99 < laplace_scale([0, 1], Prior(["1/2", "1/2"]), "1e-100") < 1.1e100
