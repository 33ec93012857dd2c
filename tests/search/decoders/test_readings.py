"""Unbiased readings: value and bound meet the optimum of a convex program over all rays.

With weights a_i of the rays r_i and b_i = a_i v_i the second moment is Sum (P . r_i) b_i**2 / a_i,
which is convex; Sum a_i r_i = 1 and Sum b_i r_i = f are linear. The rays come from the definitions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.kernel import verify
from mechdesign.search.rays.enumerate import all_rays
from mechdesign.utilities import UnbiasedVariance
from tests.strategies import examples

FloatArray = npt.NDArray[np.float64]

PRIOR = ["0.1", "0.4", "0.2", "0.3"]
VALUES = [0, 3, 1, 7]


def least_variance(R: FloatArray, f: FloatArray, p: FloatArray | None) -> float:
    """The least variance over mixtures of rays, at a prior, or in the worst case for None."""
    n, span = R.shape[1], float(np.ptp(f)) or 1.0
    R = R / R.max(axis=0)
    unit = span / (1 - R.min())  # about what readings are
    f = (f - f.min()) / unit
    a, b = cp.Variable(n), cp.Variable(n)
    ratios = cp.hstack([cp.quad_over_lin(b[i], a[i]) for i in range(n)])
    second = R @ ratios
    loss = cp.max(second - f**2) if p is None else p @ second - p @ f**2
    program = cp.Problem(cp.Minimize(loss), [R @ a == 1, R @ b == f, a >= 0])
    program.solve(solver="CLARABEL")
    assert program.status == cp.OPTIMAL
    return float(program.value) * unit**2


def solved(
    notion: Any, worst: bool, values: Any = VALUES, prior: Any = PRIOR, gap: float | None = None
) -> md.Solution:
    """The design, proved and read again, with readings that are unbiased exactly."""
    k = len(values)
    problem = md.Problem(range(k), notion, UnbiasedVariance(values, worst), prior=prior)
    solution = md.design(problem, gap=gap)
    verified = verify(solution.document())
    assert verified.value == solution.value >= solution.bound
    rows = solution.channel.numerators.tolist()
    for row, value in zip(rows, values, strict=True):
        total = sum(n * v for n, v in zip(row, solution.decoder or (), strict=True))
        assert total == value * solution.channel.denominator
    return solution


NOTIONS = {
    "ldp": md.LDP(1),
    "small": md.LDP("0.02"),
    "large": md.LDP(6),
    "high-low": md.HighLowLDP(1, [0, 2]),
    "block": md.BlockLDP(1, [[0, 1], [2, 3]]),
    "metric": md.MetricPrivacy(1, "absolute"),
    "lip": md.LIP(1),
    "pml": md.PML("1.2"),
    "one-sided": md.AsymmetricLift(lower="0.5", upper="inf"),
    "matrix": md.ContextAwareLDP([[0, 1, 2, 1], [1, 0, 1, 3], [2, 2, 0, 1], [1, 1, 1, 0]]),
}


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize("name", NOTIONS)
def test_both_sides_meet_the_optimum_over_all_rays(name: str, worst: bool) -> None:
    solution = solved(NOTIONS[name], worst)
    R = all_rays(solution.problem.cone)
    p = None if worst else solution.problem.prior.array
    f = np.array(VALUES, dtype=float)
    optimum = least_variance(R, f, p)
    assert float(solution.value) == pytest.approx(optimum, rel=1e-5)
    assert solution.status == "optimal"


@examples(10)
@given(data=st.data())
def test_random_problems(data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 4))
    number = st.integers(-20, 20)
    values = data.draw(st.lists(number, min_size=k, max_size=k))
    parts = data.draw(st.lists(st.integers(1, 9), min_size=k, max_size=k))
    prior = [f"{part}/{sum(parts)}" for part in parts]
    epsilon = data.draw(st.sampled_from(["0.3", "1", "2.5"]))
    notion = data.draw(st.sampled_from([md.LDP, md.LIP]))(epsilon)
    worst = data.draw(st.booleans())
    solution = solved(notion, worst, values, prior)
    R = all_rays(solution.problem.cone)
    p = None if worst else solution.problem.prior.array
    f = np.array(values, dtype=float)
    optimum = least_variance(R, f, p)
    assert float(solution.value) == pytest.approx(optimum, rel=1e-4, abs=1e-5 * np.ptp(f) ** 2)
    assert solution.gap <= 1e-5


@pytest.mark.parametrize(
    ("k", "epsilon", "worst", "expected"),
    [(5, 1, False, 3.96690), (5, 1, True, 3.98002), (9, 4, True, 0.1243)],
)
def test_numbers_on_the_line(k: int, epsilon: int, worst: bool, expected: float) -> None:
    line = [2 * x - (k - 1) for x in range(k)]  # from -(k - 1) to k - 1
    solution = solved(md.LDP(epsilon), worst, line, None)
    assert float(solution.value) / (k - 1) ** 2 == pytest.approx(expected, rel=2e-4)
    assert solution.status == "optimal"


@pytest.mark.parametrize("worst", [False, True])
def test_values_on_another_scale(worst: bool) -> None:
    """The variance is that of f times the square of the scale."""
    one = solved(md.LDP(1), worst, [0, 1, 5], None)
    other = solved(md.LDP(1), worst, [10**6, 10**6 + 3, 10**6 + 15], None)
    assert float(other.value) == pytest.approx(9 * float(one.value), rel=1e-7)


@pytest.mark.parametrize(("epsilon", "worst"), [(3, True), (6, False)])
def test_values_far_from_0_are_proved_as_well(epsilon: int, worst: bool) -> None:
    prior = [f"{n}/160" for n in (7, 28, 20, 19, 13, 5, 27, 3, 7, 20, 1, 10)]
    solution = solved(md.LDP(epsilon), worst, range(10**5, 10**5 + 12), prior)
    assert solution.status == "optimal"


@pytest.mark.parametrize("worst", [False, True])
def test_equal_values(worst: bool) -> None:
    """Inputs of equal value need not be told apart: two values are Warner's survey."""
    two = float(solved(md.LDP(1), worst, [0, 0, 1, 1], None).value)
    assert two == pytest.approx(math.e / (math.e - 1) ** 2, rel=1e-6)
    constant = solved(md.LDP(1), worst, [5, 5, 5], None)
    assert constant.value == 0
    assert 0 <= -constant.bound < Fraction(1, 10**50)  # prices are in fixed point
    assert constant.decoder == (5,)


def test_nothing_constrained_and_one_input() -> None:
    free = md.ContextAwareLDP([["inf"] * 3] * 3)
    assert solved(free, True, [1, 2, 4], None).value == 0
    assert solved(md.LDP(1), False, [3], None).value == 0


def test_inputs_with_equal_rows() -> None:
    """Rows that a budget of 0 makes equal must have equal values, or nothing is unbiased."""
    tied = md.ContextAwareLDP([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert solved(tied, False, [2, 2, 5], None).status == "optimal"
    for notion in (tied, md.LDP(0)):
        with pytest.raises(md.InfeasibleError, match="rows of 0 and 1 equal"):
            md.Problem(range(3), notion, UnbiasedVariance([1, 2, 5]))


def test_no_output_is_far_from_all_rays() -> None:
    """Every column is a multiple of an extreme ray, but for rounding."""
    solution = solved(md.LDP(1), False)
    for column in solution.channel.matrix.T:
        low, high = column.min(), column.max()
        assert all(min(v - low, high - v) < 1e-6 * high for v in column)
        assert high / low == pytest.approx(math.e, rel=1e-6)


def test_input_is_checked() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"values": [1, 2]}, "3 numbers, one for each input"),
        ({"values": "x"}, "a list of numbers"),
        ({"values": [1, 2, "nan"]}, "values"),
        ({"worst_case": "yes"}, "true or false"),
    ]
    for keys, message in cases:
        with pytest.raises(md.InputError, match=message):
            md.Problem(range(3), md.LDP(1), UnbiasedVariance(**keys))
    with pytest.raises(md.InputError, match="the inputs are labels"):
        md.Problem(["a", "b"], md.LDP(1), UnbiasedVariance())
    with pytest.raises(md.InputError, match="an input has probability 0"):
        md.Problem(range(2), md.LDP(1), UnbiasedVariance(), prior=[0, 1])
    with pytest.raises(md.UnsupportedError, match="at most 129 inputs"):
        md.Problem(range(130), md.LDP(1), UnbiasedVariance())
    with pytest.raises(md.UnsupportedError, match="unbiased-variance"):
        md.design(md.Problem(range(3), md.ApproximateLDP(1, "0.1"), UnbiasedVariance()))


def test_many_inputs_start_from_every_other() -> None:
    """Coarse to fine under one budget; the bound on some inputs is one for all."""
    line = [2 * x - 32 for x in range(33)]
    many = solved(md.LDP(1), True, line, None)
    some = solved(md.LDP(1), True, line[::4], None)
    assert many.status == "optimal"
    assert 0 < float(many.value - some.value) < 2**2 * 2**2 / 4 * 4
    protected = solved(md.HighLowLDP(1, range(1, 22, 3)), False, list(range(22)), None)
    assert protected.status == "optimal"


def test_inputs_of_no_weight_in_a_worst_case_leave_a_bound() -> None:
    """Inputs 3 and 4 have next to no weight, and only rows of the user's own bind them to others.

    The outermost probes were so far out that the rounding of their programs left a bound of 0.
    """
    rows = [
        ("a", {1: 1}, 4, {0: 3, 2: 1}),
        ("b", {2: 1, 3: 2}, "3.25", {0: 1, 4: 2}),
    ]
    notions = [md.LinearNotion(rows), md.BlockLDP("2.85", [[0, 1, 2], [3, 4]])]
    solution = solved(notions, True, range(5), None, gap=1e-3)
    assert solution.value <= Fraction("0.3183")
    assert solution.bound >= solution.value * Fraction("0.999")


def test_a_mixture_of_fewer_rays_has_exact_sums() -> None:
    """The simplex method met its rows to 1e-6 only, which left a gap of 2e-6."""
    center = [f"{2 * x + 1}/64" for x in range(8)]
    notion = md.BoundedPriorLIP(1, [["1/8"] * 8, center])
    assert solved(notion, True, range(8), None).gap < 1e-7


def test_a_search_that_finds_the_same_rays_again_ends() -> None:
    """Dual variables of few digits leave a surplus to rays of the program: 10,000 rounds of it."""
    prior = [Fraction(n, 112) for n in (50, 1, 2, 9, 50)]
    values = [5, 2, 0, Fraction(10, 7), 5]
    found = solved(md.HighLowLDP(5, [0]), False, values, prior)
    assert any(note.startswith("2 rounds") for note in found.notes), found.notes
    assert found.gap < 1e-5


def test_an_input_of_tiny_prior_leaves_a_close_bound() -> None:
    """Errors of costs count for themselves, not divided by the prior of an input."""
    tiny = Fraction(1, 10**5)
    prior = [Fraction(9, 10), Fraction(1, 10) - 3 * tiny, tiny, tiny, tiny]
    notion, utility = md.LDP(14), UnbiasedVariance(values=[0, 1, 2, 3, 24])
    found = md.design(md.Problem(range(5), notion, utility, prior=prior))
    assert notion.holds(found.channel)
    assert found.gap < 1e-3
