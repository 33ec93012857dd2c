"""Tests that mutants asked for, which the tests of their own files did not see."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log
from operator import mul
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import LimitError
from mechdesign.kernel import packed, risk
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.documents import parse
from mechdesign.kernel.gains import Entropy, Squares, units
from mechdesign.kernel.generators import Block, ListedRow
from mechdesign.kernel.laws.ratios import WHOLE, ConstantLaw
from mechdesign.kernel.limits import Gauge
from mechdesign.kernel.names.domains import Domain, Inputs
from mechdesign.kernel.names.notions import Notion
from mechdesign.kernel.objectives import Risk, distances, hamming
from mechdesign.kernel.oracles import Rays
from mechdesign.kernel.oracles.common import Found
from mechdesign.kernel.packed import (
    Places,
    Weights,
    denominator_bits,
)
from mechdesign.kernel.proof import Program, safe_bound
from mechdesign.kernel.statement import Statement
from mechdesign.kernel.value import reference_prior
from mechdesign.kernel.verify import verify
from mechdesign.resources import allow
from tests.kernel.draws import Plain, gained, refused
from tests.kernel.oracles.test_rays import Given
from tests.kernel.test_verify import ACCURACY, NUMERIC, checked

ONE, ZERO = Fraction(1), Fraction(0)


def limited(parts: list[ListedRow], *entries: tuple[int, int, Fraction]) -> Fraction:
    """Return the bound of a cost 0 beside a limit; entries are (node, part, weight)."""
    statement = Statement(2, (), (Gauge(tuple(parts), ONE),), None)
    node, x, weight = zip(*entries, strict=True)
    block = Block("limit", 0, Places(node), Places(x), Weights(weight))
    program = Program(ZERO, [[0, 0]])
    return safe_bound(statement, program, [block], None, Plain())


def test_every_multiplier_is_of_a_part_that_exists() -> None:
    """The largest number of a part is compared, not the least."""
    parts = [ListedRow(((0, ONE),), ZERO, ())]
    with refused("names a part that does not exist"):
        limited(parts, (0, 0, ONE), (0, 1, ONE))


def test_the_costs_added_by_a_limit_are_rounded_down() -> None:
    """Two thirds of a unit less than 2**-192 are no unit."""
    parts = [ListedRow(((0, Fraction(1, 3)),), ZERO, ())]
    found = limited(parts, (0, 0, Fraction(1, 3)))
    assert found + Fraction(1, 3) <= Fraction(1, 9)
    assert found + Fraction(1, 3) > Fraction(1, 9) - Fraction(2, UNIT)


def test_units_have_one_entry_for_each_input() -> None:
    """A vector that is too long sums to the same, but is like no other once inputs are swapped."""
    p = (Fraction(1, 2), ZERO, Fraction(1, 2))
    assert units(p) == ((p[0], ZERO, ZERO), (ZERO, ZERO, p[2]))


def test_a_weighted_sum_of_squares_has_all_denominators() -> None:
    """(q_0 / 2 + q_1 / 3)**2 / 5 over (q_0 + q_1) / 2, at q = (1, 2)."""
    gain = Squares(((ONE / 2, ONE / 3),), (ONE / 2, ONE / 2), (ONE / 5,))
    expected = (ONE / 2 + 2 * ONE / 3) ** 2 / 5 / (3 * ONE / 2)
    assert gain([1, 2], up=True) == gain([1, 2], up=False) == expected


def test_tables_are_counted_beside_lists() -> None:
    with allow(lists=5), pytest.raises(LimitError, match="7"):
        parse("[{}, {}, {}, {}, {}, {}]")


K3 = (ONE / 2, ONE / 3, ONE / 6)


def test_an_entropy_is_enclosed_and_is_a_sum_over_inputs() -> None:
    """g(q) = t Sum_x h_x(q_x / t) with t = p . q, and g is irrational."""
    gain, q = Entropy.of_inputs(K3), (2, 3, 7)
    low, high = gain(q, up=False), gain(q, up=True)
    t = sum(map(mul, K3, q))
    assert low < high < low + Fraction(1, 10**30)
    assert float(high) == pytest.approx(
        sum(float(p) * v * log(v / t) for p, v in zip(K3, q, strict=True))
    )
    whole = sum(t * gain.split(x)(v / t) for x, v in enumerate(q))
    assert high * UNIT <= whole <= (high + Fraction(1, 10**30)) * UNIT


def test_a_claim_of_a_source_is_paid_for() -> None:
    """Prices fall by what the source claims that other rays may need: 2/3 for a weight of 1."""
    source = Given(Found([[1, 1, 1]], claim=(2, 3)))
    statement = Statement(3, (), (), gained(3, p=K3))
    prices = [-(1 << 200)] * 3
    safe = Rays(source).gain(statement, Squares(units(K3), K3), prices)
    for u, v, p in zip(prices, safe, K3, strict=True):
        assert u - v == pytest.approx(2 / 3 * float(p * 6), rel=0, abs=1)


def test_a_claim_is_rounded_up() -> None:
    even = (ONE / 2, ONE / 2)
    source = Given(Found([[1, 1]], claim=(1, 3)))
    statement = Statement(2, (), (), gained(2, p=even))
    prices = [-(1 << 200)] * 2
    safe = Rays(source).gain(statement, Squares(units(even), even), prices)
    assert all(u - v >= Fraction(1, 3) for u, v in zip(prices, safe, strict=True))


def test_prices_of_rays_are_not_saved_by_a_claim_of_nothing() -> None:
    """The dearer of the claim and the rays decides."""
    statement, gain = Statement(3, (), (), gained(3, p=K3)), Squares(units(K3), K3)
    found = [
        Rays(Given(Found([[1, 1, 1]], claim=claim))).gain(statement, gain, [0, 0, 0])
        for claim in (None, (-1, 1), (5 * UNIT, 1))
    ]
    assert found[0] == found[1]
    assert all(a > b for a, b in zip(found[0], found[2], strict=True))


def test_unary_encoding_that_prefers_zeros_leaks_as_much() -> None:
    """Of p < q the odds are turned over."""
    p, q = Fraction(1, 4), Fraction(1, 2)
    keys = {"digits": 1, "others": 1, "held": WHOLE // 4}
    law = ConstantLaw("optimized-unary-encoding", keys)
    assert law.ratios(3).ratio == q * (1 - p) / (p * (1 - q)) == 3


def test_only_outputs_that_are_a_grid_of_inputs_have_sides() -> None:
    points = [(a, b) for a in range(2) for b in range(3)]
    assert hamming(points, points).grid == (2, 3)
    assert hamming(list("abc"), list("abc")).grid == (1, 3)
    assert hamming(points, points[::-1]).grid is None
    for kind in ("euclidean", "squared"):
        assert distances(points, points, 1, kind).grid == (2, 3)
        assert distances(points, points[::-1], 1, kind).grid is None
    uneven = [(a, b) for a in range(2) for b in (0, 1, 3)]
    assert distances(uneven, uneven, 1, "euclidean").grid is None


def test_an_output_of_points_is_the_number_of_one() -> None:
    on = Inputs((0, 1), ((ONE,), (2 * ONE,)), spacing=None)
    assert on.target(1) == (2,)
    for output in (2, -1, True, (0, 1)):
        with refused("not the number of a point"):
            on.target(output)


def test_labels_have_coordinates_if_all_are_numbers() -> None:
    assert Domain(values=(1, 2.5)).inputs().points == ((1,), (Fraction(5, 2),))
    assert Domain(values=(1, "a")).inputs().points is None


def test_blocks_of_rows_and_columns_need_a_grid() -> None:
    block = Notion("block", {"epsilon": ONE, "block_rows": 1, "block_columns": 1})
    for on in (Inputs((0, 1)), Inputs(((0, 0), 5)), Inputs(((0, 0), (0, 1)), spacing=None)):
        with refused("need a grid"):
            block.asked(on)


def test_budgets_and_distances_are_not_negative() -> None:
    on = Inputs((0, 1), prior=(ONE / 2, ONE / 2))
    with refused("a budget is below 0"):
        Notion("context-aware", {"matrix": (("inf", -ONE), (ONE, "inf"))}).asked(on)
    for table in ((), ((ONE,),), ((ONE, ZERO), (ONE,)), ((), ()), ((ZERO, -ONE), (ONE, ZERO))):
        with refused("expected distances >= 0"):
            Notion("attack-error", {"least": ONE, "distance": table}).asked(on)


@pytest.mark.parametrize(("distance", "irrational"), [("euclidean", True), ("squared", False)])
def test_an_attack_has_two_ends_where_distances_are_irrational(
    distance: str, irrational: bool
) -> None:
    on = Inputs((0, 1), ((ZERO, ZERO), (ONE, ONE)), None, (ONE / 2, ONE / 2))
    (gauge,) = Notion("attack-error", {"least": ONE, "distance": distance}).asked(on)
    assert (gauge.below is not None) == irrational
    assert (gauge.nets(weak=True) != gauge.nets(weak=False)) == irrational


@pytest.mark.parametrize("p", [(ONE / 3, 2 * ONE / 3), None])
def test_an_estimator_of_the_worst_case_is_made_for_the_prior_given(p: Any) -> None:
    found = reference_prior(Statement(2, (), (), Risk(False, None)), p)
    assert found == (p or (ONE / 2, ONE / 2))


def test_no_information_leaves_inputs_without_mass_free() -> None:
    on = Inputs((0, 1, 2, 3), prior=(ZERO, ONE / 2, ONE / 2, ZERO))
    (part,) = Notion("mutual-information", {"epsilon": ZERO}).asked(on)
    bounded = {(x, z) for x in range(4) for z in range(4) if part.exponents.at(x, z, up=True) == 0}
    assert bounded == {(1, 2), (2, 1)}


def test_the_common_denominator_is_of_the_exact_numbers_that_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert denominator_bits({"prior": ["1/3", "2/3"]}) == 2
    assert denominator_bits(["-0.25", "1.5e-1", "1e2", "1/7", "a"]) == (7 * 100).bit_length()
    assert denominator_bits([]) == 1
    monkeypatch.setattr(packed, "MOST_PRODUCTS", 6000)
    assert denominator_bits([f"1/{n}" for n in range(1, 50)]) < 100
    many = [f"1/{n}" for n in range(1, 200)]
    with pytest.raises(LimitError, match="products of digits"):
        denominator_bits(many)


def test_an_inverse_that_is_off_by_more_than_half_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neumann's series bounds the error of an inverse with a residual of at most one half."""
    columns = [[3, 1], [1, 3]]
    honest = risk._inverted
    for share, holds in ((1, True), (Fraction(5, 8), True), (Fraction(2, 5), False)):

        def shrunk(M: list[list[int]], bits: int, share: Fraction | int = share) -> list[list[int]]:
            return [[int(v * share) for v in row] for row in honest(M, bits)]

        monkeypatch.setattr(risk, "_inverted", shrunk)
        if holds:
            found = risk.Inverse.of(columns, 4, (ONE / 2, ONE / 2))
            off = max(abs(v / share - v) for row in found.entries for v in row)
            assert found.error >= max(off, 1)
        else:
            with refused("do not determine"):
                risk.Inverse.of(columns, 4, (ONE / 2, ONE / 2))


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 9)), min_size=1, max_size=4))
def test_the_most_on_a_simplex_is_the_value_of_the_best_distribution(
    terms: list[tuple[int, int]],
) -> None:
    b, h = [Fraction(v) for v, _ in terms], [Fraction(v, 7) for _, v in terms]
    found = risk._most_on_simplex(b, h)

    def least_multiplier(t: float) -> float:
        return sum(max(0.0, float(v) - t) / (2 * float(w)) for v, w in zip(b, h, strict=True)) - 1

    t = root(least_multiplier, -100, 100)
    p = [max(0.0, float(v) - t) / (2 * float(w)) for v, w in zip(b, h, strict=True)]
    best = sum(float(v) * a - float(w) * a * a for v, w, a in zip(b, h, p, strict=True))
    assert float(found) == pytest.approx(best, abs=1e-9)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return low


@pytest.mark.parametrize("roots", [False, True])
def test_the_worst_case_of_a_symmetric_channel_is_at_the_even_prior(roots: bool) -> None:
    columns, p = [[4, 1, 1], [1, 4, 1], [1, 1, 4]], (ONE / 3,) * 3
    worst, mean = (risk.risk(Risk(roots, prior), columns, 6, p) for prior in (None, p))
    assert float(worst) == pytest.approx(float(mean))


def test_a_file_that_breaks_the_reader_is_malformed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(document: object) -> None:
        raise KeyError("x")

    monkeypatch.setitem(verify.__globals__, "read_file", broken)
    with refused("the file is malformed"):
        checked()


def test_a_value_that_is_its_bound_does_not_exceed_it() -> None:
    """Under constraints of the user's own, of a loss and of an accuracy."""
    own: dict[str, Any] = {"problem": {"constraints": ["x"]}}
    met = {**NUMERIC, "gap": 0.0, "status": "optimal"}
    assert "NOT checked" in checked(own, {**met, "bound": 0.25}).claims[-1]
    accuracy = {key: entry for key, entry in ACCURACY.items() if key != "certificate"}
    own["problem"] = {**accuracy["problem"], **own["problem"]}
    assert "NOT checked" in checked(accuracy, own, {**met, "bound": 0.75}).claims[-1]
