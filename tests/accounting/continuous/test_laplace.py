"""The Laplace mechanism under LIP: its exact leakage, and Theorem 6 of TIFS."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.accounting import LaplaceMechanism, laplace_scale, least_laplace_scale
from mechdesign.errors import InputError
from mechdesign.prior import Prior

VALUES, PRIOR = (0, 1, 2), Prior(["13/30", "10/30", "7/30"])


def leakage_by_search(mechanism: LaplaceMechanism) -> float:
    """Return the largest |ln f_x(y) / g(y)| on a fine grid of reports, and at the clamp."""
    x, b = np.array(mechanism.values), np.array(mechanism.scales)
    ends = mechanism.clamp or (x.min() - 1, x.max() + 1)
    y = np.unique(np.concatenate([np.linspace(*ends, 20001), x]))
    own = np.exp(-np.abs(y[:, None] - x) / b) / b
    if mechanism.clamp:
        own = np.concatenate([own, np.exp(-np.abs(np.array(ends)[:, None] - x) / b)])
    return float(np.abs(np.log(own / (own @ mechanism.prior.array)[:, None])).max())


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=5, unique=True),
    st.lists(st.integers(1, 9), min_size=5, max_size=5),
    st.lists(st.floats(0.3, 4), min_size=5, max_size=5),
    st.booleans(),
)
def test_the_leakage_is_the_largest_found(
    integers: list[int], counts: list[int], scales: list[float], clamped: bool
) -> None:
    k, values = len(integers), [n / 4 for n in integers]
    prior = Prior.from_counts(counts[:k])
    if clamped:
        ends = (min(values) - 0.5, max(values))
        made = LaplaceMechanism(values, prior, scales[:k], clamp=ends)
    else:
        made = LaplaceMechanism(values, prior, scales[0])
    low, high = made.leakage()
    found = leakage_by_search(made)
    assert found <= high + 1e-12
    assert low <= found * (1 + 1e-4) + 1e-6  # the grid misses the least ratio by little
    assert high - low <= 1e-9


def test_the_leakage_encloses_mpmath_where_a_ratio_is_least_inside() -> None:
    """Three values: between the outer two, g / f_1 is least inside of a segment."""
    made = LaplaceMechanism([0, 3, 4], Prior(["1/10", "8/10", "1/10"]), 1.5)
    with mpmath.workdps(30):
        exact = max(
            abs(mpmath.log(ratio(made, x, y)))
            for x in range(3)
            for y in [*made.values, *(mpmath.mpf(n) / 400 for n in range(1600))]
        )
        low, high = made.leakage()
        assert low - 1e-7 <= exact <= high


def ratio(made: LaplaceMechanism, x: int, y: object) -> object:
    own = [mpmath.exp(-abs(y - z) / b) / b for z, b in zip(made.values, made.scales, strict=True)]
    law = sum(
        mpmath.mpf(p.numerator) / p.denominator * f for p, f in zip(made.prior, own, strict=True)
    )
    return law / own[x]


# Theorem 6.


@pytest.mark.parametrize("epsilon", [0.2, 1, 1.4, 1.5, 4])
def test_the_formula_is_valid_and_loose(epsilon: float) -> None:
    scale = laplace_scale(VALUES, PRIOR, epsilon)
    high = LaplaceMechanism(VALUES, PRIOR, scale).leakage().high
    assert high < epsilon
    assert least_laplace_scale(VALUES, PRIOR, epsilon).high < scale


def test_its_second_branch_adds_noise_for_nothing() -> None:
    """(25) turns to D / epsilon at epsilon = ln(1 / p), where the first branch still holds."""
    border = math.log(1 / float(min(PRIOR)))
    below, above = (laplace_scale(VALUES, PRIOR, border + step) for step in (-1e-6, 1e-6))
    assert above > below * 1.05
    for epsilon in (border + 0.1, 3):
        least = float(min(PRIOR))
        first = 2 / math.log((math.exp(epsilon) - least) / (1 - least))
        assert first < laplace_scale(VALUES, PRIOR, epsilon)
        assert LaplaceMechanism(VALUES, PRIOR, first).leakage().high <= epsilon


@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
def test_the_least_scale_is_private_and_less_is_not(epsilon: float) -> None:
    low, high = least_laplace_scale(VALUES, PRIOR, epsilon)
    assert high <= low * (1 + 2e-9)
    assert LaplaceMechanism(VALUES, PRIOR, high).leakage().high <= epsilon
    assert LaplaceMechanism(VALUES, PRIOR, low * 0.999).leakage().low > epsilon


def test_scales_that_depend_on_the_value_leak_without_limit() -> None:
    """(26) of TIFS: far from all values the ratio to the wider noise is unbounded."""
    scales = [2 / (0.3 * float(p) + 1) for p in PRIOR]
    assert LaplaceMechanism(VALUES, PRIOR, scales).leakage().low == math.inf
    far = 600.0
    y = np.exp(-np.abs(far - np.array(VALUES)) / scales) / scales
    assert abs(np.log(y / (y @ PRIOR.array))).max() > 5
    assert LaplaceMechanism(VALUES, PRIOR, scales, clamp=(0, 2)).leakage().high < 2


def test_the_mean_error() -> None:
    rng = np.random.default_rng(5)
    made = LaplaceMechanism(VALUES, PRIOR, [1, 2, 3], clamp=(-1, 4))
    x = rng.choice(3, size=400_000, p=PRIOR.array)
    reports = np.clip(x + rng.laplace(0, np.array(made.scales)[x]), -1, 4)
    assert made.expected_error() == pytest.approx(np.abs(reports - x).mean(), rel=0.01)
    assert LaplaceMechanism(VALUES, PRIOR, 1.5).expected_error() == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (lambda: LaplaceMechanism([0], Prior([1]), 1), "values"),
        (lambda: LaplaceMechanism([0, 0], Prior([0.5, 0.5]), 1), "values"),
        (lambda: LaplaceMechanism([0, math.inf], Prior([0.5, 0.5]), 1), "values"),
        (lambda: LaplaceMechanism([0, 1], Prior([1, 0]), 1), "prior"),
        (lambda: LaplaceMechanism(VALUES, Prior([0.5, 0.5]), 1), "prior"),
        (lambda: LaplaceMechanism(VALUES, PRIOR, 0), "scales"),
        (lambda: LaplaceMechanism(VALUES, PRIOR, [1, 2]), "scales"),
        (lambda: LaplaceMechanism(VALUES, PRIOR, 1e-3), "scales"),
        (lambda: LaplaceMechanism(VALUES, PRIOR, 1, clamp=(0, 1)), "clamp"),
        (lambda: laplace_scale(VALUES, PRIOR, 0), "epsilon"),
        (lambda: least_laplace_scale(VALUES, PRIOR, -1), "epsilon"),
    ],
)
def test_bad_input_gets_a_line(call: object, key: str) -> None:
    with pytest.raises(InputError, match=key):
        call()  # type: ignore[operator]
