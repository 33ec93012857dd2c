"""Loss and leakage of kernels, and the bound on all of them, against finite sums over atoms.

Rounding a point to the corners of its cell: its effect on a distance, and on a bound.
"""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from mechdesign import Distortion, Domain, Prior, Problem
from mechdesign.errors import CertificateError
from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.packed import exact
from mechdesign.kernel.rounding.bound import (
    ROOT_BITS,
    _between,
    _gap,
    _log_ratio,
    node_places,
    program_of,
    stretched,
)
from mechdesign.kernel.rounding.moments import Cells, Law
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.rounding.value import highest, kernel_value, slope
from mechdesign.notions import NOTIONS
from tests.documents import Document
from tests.kernel.rounding.test_files import document, named, problem, rounded
from tests.strategies import lp_optimum

F = Fraction
LOSSES = [("mean-absolute-error", 1), ("mean-squared-distance", 2)]
LDP = {"notion": "ldp", "epsilon": "1"}


def weights(x: Fraction, axis: tuple[Fraction, ...]) -> dict[int, Fraction]:
    """Return the weights of the nodes beside a number."""
    n = next((n for n in range(len(axis) - 1) if x <= axis[n + 1]), len(axis) - 2)
    up = min(max((x - axis[n]) / (axis[n + 1] - axis[n]), F(0)), F(1))
    return {n: 1 - up, n + 1: up}


def atoms_of(axis: list[Fraction], atoms: list[Fraction]) -> Document:
    """Return the stated moments of equal atoms on an interval."""
    cells, tails = [[F(0)] * 3 for _ in axis[1:]], [[F(0)] * 3, [F(0)] * 3]
    share = F(1, len(atoms))
    for x in atoms:
        if axis[0] <= x <= axis[-1]:
            (n, _), (_, s) = weights(x, tuple(axis)).items()
            for k, part in enumerate(((1 - s) ** 2, s * (1 - s), s * s)):
                cells[n][k] += share * part
        else:
            r = max(axis[0] - x, x - axis[-1])
            for k in range(3):
                tails[x > axis[-1]][k] += share * r**k
    text = [[[str(v) for v in row] for row in rows] for rows in (cells, tails)]
    return {"kind": "moments", "cells": text[0], "tails": text[1]}


@pytest.mark.parametrize(("objective", "power"), LOSSES)
def test_the_loss_of_a_kernel_is_that_of_atoms(objective: str, power: int) -> None:
    """Outputs are at nodes: the loss is a finite sum, exactly the value; also beyond the nodes."""
    axis = [F(n, 4) for n in range(5)]
    atoms = [F(-1, 3), F(-2), F(3), *(F(n, 4) + F(m, 40) for n in range(4) for m in (3, 8))]
    columns = [[60, 40, 30, 20, 10], [4, 24, 34, 44, 54]]
    outputs = [F(1, 4), F(3, 4)]
    table = problem(LDP, objective, atoms_of(axis, atoms), ["-inf", "inf"])
    asked = rounded(table, [list(map(str, axis))])
    wanted = F(0)
    for x in atoms:
        for node, w in weights(x, tuple(axis)).items():
            for column, y in zip(columns, outputs, strict=True):
                wanted += w * F(column[node], 64) * abs(x - y) ** power / len(atoms)
    found = kernel_value(asked, columns, 6, [(y,) for y in outputs])
    assert found == wanted if power == 2 else wanted <= found <= wanted + F(1, 100)


def losses_at(
    asked: Rounded, columns: list[list[int]], outputs: list[Any], point: Any, power: float
) -> float:
    """Return the loss of a kernel at a point, in floats."""
    spread = [weights(x, axis) for x, axis in zip(point, asked.axes, strict=True)]
    total, across = 0.0, len(asked.axes[-1])
    for places in itertools.product(*(each.items() for each in spread)):
        node, w = 0, 1.0
        for place, share in places:
            node, w = node * across + place, w * float(share)
        for column, y in zip(columns, outputs, strict=True):
            far = sum(float(a - b) ** 2 for a, b in zip(point, y, strict=True)) ** 0.5
            total += w * column[node] / 64 * far**power
    return total


@pytest.mark.parametrize(("objective", "power"), [*LOSSES, ("euclidean", 1)])
def test_the_worst_case_is_above_the_loss_at_every_point(objective: str, power: int) -> None:
    rng, box = random.Random(objective), objective != "mean-absolute-error"
    for _ in range(5):
        axes = [[F(0), F(1, 3), F(1)], [F(0), F(1, 2), F(2)]][: 2 if box else 1]
        sides = [[str(axis[0]), str(axis[-1])] for axis in axes]
        size = 3 ** len(axes)
        ones = [1, 2, 1] if size == 3 else [1, 2, 1, 2, 4, 2, 1, 2, 1]
        share = str(F(1, sum(ones)) / 2 ** len(axes))
        law = {"kind": "moments", "cells": [[share] * size] * 2 ** len(axes)}
        table = problem(LDP, objective, law, *sides, worst_case=True)
        asked = rounded(table, [list(map(str, axis)) for axis in axes])
        first = [rng.randint(1, 63) for _ in asked.points]
        columns = [first, [64 - q for q in first]]
        outputs = [tuple(rng.choice(axis) for axis in axes) for _ in columns]
        value = float(kernel_value(asked, columns, 6, outputs))
        grid = itertools.product(*([axis[-1] * F(n, 12) for n in range(13)] for axis in axes))
        found = [losses_at(asked, columns, outputs, point, power) for point in grid]
        assert max(found) <= value + 1e-12
        if not box and power == 1:
            assert value <= max(found) + 0.2


def test_the_highest_place_of_a_parabola() -> None:
    rng = random.Random(1)
    for _ in range(200):
        a, b, c = (F(rng.randint(-9, 9)) for _ in range(3))
        seen = max(
            a * (1 - u) ** 2 + b * u * (1 - u) + c * u * u for u in (F(n, 60) for n in range(61))
        )
        assert seen <= highest(a, b, c) <= seen + F(1, 100)


def test_the_slope_is_the_largest_between_two_nodes() -> None:
    law = {"kind": "uniform", "scale": "2"}
    asked = rounded(problem(LDP, "mean-absolute-error", law, ["0", "2"]), [["0", "1/2", "2"]])
    assert slope(asked, [[32, 48, 32], [32, 16, 32]]) == 2  # from 16 to 32 on a way of 1/2
    with pytest.raises(CertificateError, match="0 at one node"):
        slope(asked, [[32, 0, 32]])


def test_places_keep_their_distances_on_the_safe_side() -> None:
    gaps = [F(1, 3), F(1, 7), F(10, 3)]
    for up in (True, False):
        places = [exact(place) for place in stretched(gaps, up=up)]
        for low, high, gap in zip(places, places[1:], gaps, strict=False):
            assert (high - low >= gap) if up else (high - low <= gap)
    notion = {"notion": "metric", "epsilon": "2", "distance": "absolute"}
    law = {"kind": "uniform", "scale": "1/2"}
    asked = rounded(problem(notion, "mean-absolute-error", law, ["0", "1/2"]), [["0", "1/2"]])
    assert node_places(asked)[1] == pytest.approx(0.34657359)  # ln(2) / 2


CASES = [
    (notion, objective, worst)
    for notion in ("ldp", "lip", "pml", "metric", "lift")
    for objective in ("mean-absolute-error", "mean-squared-distance")
    for worst in (False, True)
]


@pytest.mark.parametrize(("notion", "objective", "worst"), CASES)
def test_no_kernel_on_atoms_of_the_law_is_below_the_bound(
    notion: str, objective: str, worst: bool
) -> None:
    """Atoms with the moments of the cells are a law with them, so the bound is below its optimum.

    Outputs are on a fine grid: what is lost by that is far less than the gap of the bound.
    """
    rng, axis = random.Random(notion + objective), [F(n, 4) for n in range(5)]
    if notion == "lift":  # no lift is too large, so a cell takes off all that its inputs lose
        axis = [F(0), F(1, 2)]
    atoms = [axis[-1] * F(n, 80) for n in sorted(rng.sample(range(1, 80), 12))]
    if worst:
        atoms = sorted({*atoms, *axis, axis[-1] * F(1, 80)})
    asked: dict[str, Any] = {"notion": notion, "epsilon": "3" if notion == "metric" else "1"}
    if notion == "metric":
        asked["distance"] = "absolute"
    if notion == "lift":
        asked = {"notion": notion, "lower": "1", "upper": "inf"}
    ends = ["0", str(axis[-1])]
    table = problem(asked, objective, atoms_of(axis, atoms), ends, worst_case=worst)
    found = document(table, [list(map(str, axis))])
    targets = [axis[-1] * F(n, 12) for n in range(13)]
    power = 2 if objective == "mean-squared-distance" else 1
    costs = Distortion([[abs(x - y) ** power for y in targets] for x in atoms], worst_case=worst)
    stated = named(NOTIONS, asked, "notion")
    domain, prior = Domain(list(map(float, atoms))), Prior.uniform(len(atoms))
    finite = Problem(domain, stated, costs, prior=prior, outputs=range(13))
    optimum = lp_optimum(finite).value
    assert found["bound"] <= optimum + 1e-9
    assert optimum <= found["value"] + 1e-2 + (notion == "lift")


def test_bounds_that_are_not_known_are_refused() -> None:
    law, line = {"kind": "normal"}, [["0", "1/2", "1"]]
    metric = {"notion": "metric", "epsilon": "1", "distance": "absolute"}
    lip = {"notion": "lip", "epsilon": "1"}
    estimate, read = "posterior-mean-squared-error", "unbiased-variance"
    free: list[Any] = ["-inf", "1"]
    for table in (
        problem(LDP, "mean-absolute-error", law, free, worst_case=True),
        problem(metric, "mean-absolute-error", law, free),
        problem([metric, lip], "mean-absolute-error", law, ["0", "1"], worst_case=True),
        problem(metric, estimate, law, ["0", "1"]),
        problem(LDP, estimate, law, free),
        problem(metric, read, law, ["0", "1"]),
        problem(LDP, read, law, free, worst_case=True),
    ):
        with pytest.raises(CertificateError, match="no bound is known"):
            program_of(rounded(table, line))
    box = {"kind": "products", "weights": ["1"], "parts": [[law, law]]}
    side = ["0", "1"]
    table = problem(lip, "euclidean", box, side, side, worst_case=True)
    with pytest.raises(CertificateError, match="no bound is known"):
        program_of(rounded(table, line * 2))


def of_atoms(
    notion: str, objective: str, axis: list[Fraction], atoms: list[Fraction], worst: bool = False
) -> Rounded:
    """Return a problem with a law of atoms, on an interval or on the whole line."""
    ends = ["-inf", "inf"] if min(atoms) < axis[0] or max(atoms) > axis[-1] else [
        str(axis[0]), str(axis[-1])
    ]  # fmt: skip
    asked: Document = {"notion": notion, "epsilon": "1/4"}
    if notion == "metric":
        asked = {"notion": notion, "epsilon": "2", "distance": "absolute"}
    table = problem(asked, objective, atoms_of(axis, atoms), ends, worst_case=worst)
    return rounded(table, [list(map(str, axis))])


def test_the_second_moment_is_that_of_atoms_where_x_is_the_mean_of_its_node() -> None:
    atoms = [F(1, 3), F(1, 2), F(5, 4), F(7, 4)]
    axis = [F(1, 3), F(1), F(2)]
    asked = of_atoms("ldp", "mean-squared-distance", axis, atoms)
    spreads = [w * (axis[i] - x) ** 2 for x in atoms for i, w in weights(x, tuple(axis)).items()]
    assert asked.variance == sum(spreads) / len(atoms)
    assert asked.square == sum(x * x for x in atoms) / len(atoms)
    assert sum(asked.means) == sum(atoms) / len(atoms)
    assert asked.moments.error == 0


@pytest.mark.parametrize(("worst", "wanted"), [(False, F(119, 8)), (True, F(16))])
def test_the_variance_of_readings_is_that_of_atoms_or_the_largest(worst: bool, wanted: F) -> None:
    """Readings -2 and 6 with the mean x have the variance 12 + 4 x - x**2 = 16 - (x - 2)**2."""
    asked = of_atoms("ldp", "unbiased-variance", [F(0), F(1), F(3)], [F(1, 2), F(2)], worst)
    columns, readings = [[6, 5, 3], [2, 3, 5]], [F(-2), F(6)]
    assert kernel_value(asked, columns, 3, [], readings=readings) == wanted


def test_in_the_worst_case_the_largest_variance_within_averages_is_taken_off() -> None:
    """(1/P_i) integral of w_i (chord of x**2) - c_i**2, at its largest."""
    axis, atoms = [F(0), F(1), F(3)], [F(0), F(1, 2), F(1), F(3, 2), F(5, 2), F(3)]
    asked = of_atoms("lip", "unbiased-variance", axis, atoms, worst=True)
    spreads = []
    for i in range(len(axis)):
        shares = [(w[i], w, x) for x in atoms if i in (w := weights(x, tuple(axis)))]
        mass = sum(share for share, _, _ in shares)
        center = sum(share * x for share, _, x in shares) / mass
        chord = sum(share * sum(v * axis[j] ** 2 for j, v in w.items()) for share, w, _ in shares)
        spreads.append(chord / mass - center**2)
    assert program_of(asked).shift == max(spreads) > min(spreads)


@pytest.mark.parametrize("notion", ["lip", "ldp"])
def test_outputs_inside_cells_take_off_what_the_law_and_the_lift_allow(notion: str) -> None:
    """C (2 / h) times the integral of (x - s)(s' - x) over the larger cell beside an output."""
    axis = [F(0), F(1), F(2), F(3)]
    asked = of_atoms(notion, "mean-absolute-error", axis, [F(9, 4)])
    rows, unit = program_of(asked).costs or ([], 1)
    off = float(np.exp(0.25)) * 2 * float(F(1, 4) * F(3, 4))
    wanted = [
        [abs(i - j) - (off if j > 1 else 0) for j in range(len(axis))] for i in range(len(axis))
    ]
    found = np.array(rows, dtype=float) / unit
    assert found - found.min() == pytest.approx(np.array(wanted) - np.min(wanted), abs=1e-6)
    assert found.min() >= 0


@pytest.mark.parametrize("objective", ["mean-absolute-error", "mean-squared-distance"])
def test_in_the_worst_case_averages_are_as_far_as_their_inputs(objective: str) -> None:
    """The mean distance of x to the node, or the larger cell beside it, is taken off."""
    axis, atoms = [F(-2), F(-1), F(1), F(2)], [F(-7, 4), F(-1, 2), F(0), F(3, 2)]
    rows, unit = program_of(of_atoms("lip", objective, axis, atoms, worst=True)).costs or ([], 1)
    costs, squared = np.array(rows, dtype=float) / unit, objective.endswith("distance")
    wanted = np.zeros(costs.shape)
    for i, t in enumerate(axis):
        shares = [(weights(x, tuple(axis)).get(i, F(0)), x) for x in atoms]
        mean = sum(w * abs(x - t) for w, x in shares) / sum(w for w, _ in shares)
        moved = max(b - a for a, b in pairwise(axis) if t in (a, b)) if squared else mean
        near = [float(abs(t - s) - moved) for s in axis]
        wanted[i] = np.maximum(near, 0) ** 2 - [0.25, 1, 1, 0.25] if squared else near
    assert costs - costs[0, 0] == pytest.approx(wanted - wanted[0, 0], abs=1e-6)
    assert costs.min() >= 0


def test_an_output_at_an_end_of_its_hard_cell_costs_nothing() -> None:
    axis, atoms = [F(0), F(1), F(3), F(4)], [F(1, 2), F(9, 8), F(7, 2)]
    for objective in ("mean-absolute-error", "mean-squared-distance"):
        rows, unit = program_of(of_atoms("metric", objective, axis, atoms)).costs or ([], 1)
        taken = [F(0)] * 4 if "absolute" in objective else [F(1, 4), F(1), F(1), F(1, 4)]
        costs = [[F(v, unit) + a for v, a in zip(row, taken, strict=True)] for row in rows]
        for c, row in enumerate(costs):
            assert row[c] == row[c + 1] == min(row)
            assert row[0 if c else -1] > row[c]


def test_an_output_outside_its_hard_cell_costs_its_distance_at_least() -> None:
    """The larger of the distance to the cell, and that to its mean less epsilon h**2 / 4."""
    axis, atoms = [F(0), F(1), F(3), F(4)], [F(1, 8), F(9, 8), F(7, 2)]
    program = program_of(of_atoms("metric", "mean-absolute-error", axis, atoms))
    widths, places = [F(1), F(2), F(1)], list(map(float, program.table.domain.values))
    apart = (_log_ratio(F(2), atoms[c:][:2], widths[c:][:2], axis[c + 1]) / 2 for c in range(2))
    assert np.diff(places) == pytest.approx(list(map(float, apart)))
    rows, unit = program.costs
    for c, (row, center) in enumerate(zip(rows, atoms, strict=True)):
        low, high = axis[c : c + 2]
        drift = 2 * (high - low) ** 2 / 4
        wanted = [max(low - s, s - high, abs(center - s) - drift) for s in axis]
        wanted[c] = wanted[c + 1] = F(0)
        assert [F(v, unit) for v in row] == wanted


def test_means_over_neighboring_cells_differ_by_no_more_than_extreme_kernels() -> None:
    """K = e**(epsilon |x - b|) on the ends of one cell, e**(-epsilon |x - b|) at a point of one."""
    epsilon, widths, b = F(2), [F(1), F(2)], F(1)
    for share, center in ((F(1, 3), F(3, 2)), (F(1, 8), F(5, 2)), (F(7, 8), F(1))):
        far = b - share * widths[0]  # the mean of atoms at both ends
        chord = 1 + float(share) * (np.exp(float(epsilon * widths[0])) - 1)
        forward = np.log(chord) + float(epsilon * (center - b))
        back = 1 + float((center - b) / widths[1]) * (np.exp(float(epsilon * widths[1])) - 1)
        backward = np.log(back) + float(epsilon * (b - far))
        found = _log_ratio(epsilon, [far, center], widths, b)
        assert float(found) == pytest.approx(max(forward, backward))


def test_places_by_distance_need_a_budget_for_a_unit_of_distance() -> None:
    with pytest.raises(CertificateError, match="a budget above 0"):
        node_places(of_atoms("ldp", "mean-absolute-error", [F(0), F(1)], [F(1, 2)]))


def test_the_worst_case_in_a_box_is_exact_where_the_loss_is_a_square_of_a_distance() -> None:
    """One report for all: the loss is that of the farthest corner."""
    axes = [["0", "1/3", "1"], ["0", "1/2", "2"]]
    law = {"kind": "moments", "cells": [[str(F(1, 64))] * 9] * 4}
    table = problem(LDP, "mean-squared-distance", law, ["0", "1"], ["0", "2"], worst_case=True)
    asked = rounded(table, axes)
    for y, wanted in (((F(0), F(0)), 5), ((F(1, 3), F(1, 2)), F(4, 9) + F(9, 4))):
        assert kernel_value(asked, [[64] * 9], 6, [y]) == wanted


def test_the_highest_place_may_be_inside() -> None:
    assert highest(F(0), F(1, 2), F(0)) == F(1, 8)
    assert highest(F(0), F(1, 2), F(1, 4)) == F(1, 4)


class Enclosed(Law):
    """A law whose means are given."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells

    def means(self, axes: Any, ends: Any) -> Cells:
        return self.cells

    def steps(self, axes: Any) -> int:
        return 0


def test_rounded_moments_of_a_point_are_those_of_a_law() -> None:
    """A point has the least spread: rounding keeps the inequality of Cauchy and Schwarz."""
    rng, axes = random.Random(0), ((F(0), F(1), F(2)), (F(0), F(1)))
    for _ in range(60):
        doubt = F(rng.randrange(1, 1 << 20), 1 << 140)
        places = [
            F(rng.choice((0, rng.randrange(1, 999))), 997 + 2 * rng.randrange(9)) for _ in axes
        ]
        along = [[(1 - s) ** 2, s * (1 - s), s * s] for s in places]
        means = [a * b / 4 for a, b in itertools.product(*along)]
        light = [Enclosure(max(a - doubt, F(0)), a + doubt if a else a) for a in means]
        heavy = [Enclosure(F(3, 64), F(3, 64))] * 9
        found = Enclosed(Cells({(0, 0): light, (1, 0): heavy})).moments(axes, ())
        found.check(2)
        off = sum(abs(a - b.low) for a, b in zip(found.cells[0], light, strict=True))
        assert off <= found.error


UNIT = 2.0**ROOT_BITS


def test_g_is_the_smaller_bound_rounded_up_by_one_unit() -> None:
    """g(V, r) = min(V**(1/2), V / (2 r)), from 4 V and r**2."""
    rng = random.Random(1)
    for _ in range(300):
        spread, apart = rng.randint(1, 1 << 20), rng.choice((0, rng.randint(1, 1 << 24)))
        near = math.isqrt(spread << 400) << ROOT_BITS  # 2**(200 + 64) times 2 V**(1/2)
        exact = near // 2
        if apart:
            far = (spread << 400 + ROOT_BITS) // (8 * math.isqrt(apart << 400))
            exact = min(exact, far)
        above = (_gap(spread, apart) << 200) - exact
        assert 0 < above <= 3 << 199


def test_a_distance_grows_by_at_most_g_when_a_point_is_rounded() -> None:
    """E|T - y| - |x - y| <= g(V, r), with T a corner of the cell of x whose mean is x."""
    rng = random.Random(2)
    tightest = 0.0
    for _ in range(2000):
        (a, c), (h, w) = (
            (rng.randint(0, 9), rng.randint(0, 9)),
            (rng.randint(1, 6), rng.randint(1, 6)),
        )
        cell = ((a, a + h), (c, c + w))
        y = rng.randint(-5, 20), rng.randint(-5, 20)
        shares = [rng.random(), rng.random()]
        x = [low + share * (high - low) for (low, high), share in zip(cell, shares, strict=True)]
        found = 0.0
        for corner in product((0, 1), repeat=2):
            weight = math.prod(s if up else 1 - s for s, up in zip(shares, corner, strict=True))
            found += weight * math.dist(
                [side[up] for side, up in zip(cell, corner, strict=True)], y
            )
        found -= math.dist(x, y)
        apart = _between(cell, tuple((v, v) for v in y))
        bound = _gap(h * h + w * w, apart) / UNIT
        assert -1e-9 <= found <= bound + 1e-9
        tightest = max(tightest, found / bound)
    assert tightest > 0.5


def test_the_distance_of_two_rectangles_is_that_of_their_nearest_points() -> None:
    rng = random.Random(3)
    for _ in range(300):
        one, other = (
            tuple((low, low + rng.randint(0, 3)) for low in (rng.randint(0, 9), rng.randint(0, 9)))
            for _ in range(2)
        )
        points = [product(*(range(a, b + 1) for a, b in side)) for side in (one, other)]
        first, second = map(list, points)
        nearest = min((p - r) ** 2 + (q - s) ** 2 for p, q in first for r, s in second)
        assert _between(one, other) == nearest
