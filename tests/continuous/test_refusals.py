"""Wrong arguments of continuous problems, laws and channels are refused in one line."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.continuous import ContinuousChannel
from mechdesign.continuous.rounding import rounding_of
from tests.refusals_support import check_refused

MAE, SQUARE = md.MeanAbsoluteError(), md.MeanSquaredDistance()
BOX, UNIFORM = md.Box((0, 0), (1, 1)), md.NamedLaw("uniform")
BOTH, BETA = md.ProductLaw(UNIFORM, UNIFORM), md.NamedLaw("beta", [2, 3])
COIN = md.Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], outputs=[-1, 3])
CELLS = ContinuousChannel([0, 2], "cells", [0, 1, 2], COIN)
LINE = ContinuousChannel([0, 2], "linear", [0, 2], COIN)
CORNERS = md.Channel.from_matrix([["3/4", "1/4"]] * 2 + [["1/4", "3/4"]] * 2)
PLANE = ContinuousChannel([(0, 0), (1, 2)], "linear", [[0, 1], [0, 2]], CORNERS)
OF_LABELS = [
    md.PosteriorMeanSquaredError([1, 0]),
    md.PosteriorMeanSquaredError(histogram=True),
    md.UnbiasedVariance([1, 0]),
]

PROBLEMS: list[tuple[Any, Any, Any, Any, str]] = [
    ([0, 1], md.DifferentialIdentifiability(1), MAE, None, "privacy: expected one"),
    ([0, 1], md.HighLowLDP(1, [0]), MAE, None, "privacy: expected one"),
    ([0, 1], md.LDP(1), md.HammingLoss(), None, "utility: expected"),
    *(([0, 1], md.LDP(1), of_labels, UNIFORM, "utility: expected") for of_labels in OF_LABELS),
    ([0, 1], md.LIP(1), MAE, None, "lip is defined by a law"),
    ([0, math.inf], md.LDP(1), MAE, None, "an unbounded interval has no uniform law"),
    (3, md.LDP(1), MAE, None, r"an interval \[low, high\], given 3"),
    ([0, 1], md.LDP(1), MAE, md.Samples([0, 2]), r"numbers in Interval\(0, 1\), given 2"),
    ([0, 1], md.LIP(1), MAE, md.NamedLaw("norm", [99]), "a law with a mass of 1e-12 or more"),
    (BOX, md.MetricPrivacy(1, "euclidean"), SQUARE, None, "privacy: expected one"),
    (BOX, md.LDP(1), MAE, None, "utility: expected one"),
    (BOX, md.LIP(1), SQUARE, None, "lip is defined by a law"),
    (BOX, md.LIP(1), md.EuclideanDistance(worst_case=True), BOTH, "on average"),
    ([(0, 0), 3], md.LDP(1), SQUARE, None, "interval"),
    (BOX, md.LDP(1), SQUARE, UNIFORM, "ProductLaw"),
]

POINTS: list[tuple[str, list[Any], str]] = [
    ("steps", [0, 1], "kind: expected one of cells, linear"),
    ("linear", [0], "points: expected at least two"),
    ("cells", [0, 1, 1], r"points\[2\]: expected points that rise"),
    ("cells", [0, Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30), 1], "as doubles too"),
    ("linear", [0, math.inf], r"points\[1\]: expected a finite number"),
    ("cells", [0, math.nan], r"points\[1\]: expected a finite number, -inf or inf"),
    ("cells", [math.inf, 0], r"points\[1\]: expected points that rise"),
    ("cells", [0, 2], "points: expected points from end to end"),
]

NO_NUMBERS: list[Any] = ["0.5", True, None, [0.5], 1j, Decimal("sNaN"), Fraction(-(10**400))]
NO_POINTS: list[Any] = [[1, 2], [(1, 2, 3)], "ab", np.zeros(3), np.zeros((2, 3)), 7, [(1,)]]
NO_ENDS: list[Any] = [(1, 0), (0, 0), (0, math.nan), ("a", 1), (math.inf, math.inf)]
OUTSIDE: list[Any] = [(-0.1, 0), (0, 2.1), (math.nan, 0), (0, math.inf)]

INVALID: list[tuple[Callable[[], Any], str]] = [
    *(
        (lambda given=given: md.ContinuousProblem(*given[:3], prior=given[3]), given[4])
        for given in PROBLEMS
    ),
    (lambda: md.Problem(md.Interval(0, 1), md.LDP(1), MAE), "ContinuousProblem"),
    (lambda: md.Problem(BOX, md.LDP(1), MAE), "ContinuousProblem"),
    *((lambda ends=ends: md.Interval(*ends), "interval: expected") for ends in NO_ENDS),
    (lambda: md.Box((0, 0), (1, 0)), "low < high"),
    (lambda: md.Box((0, 0), (1, "inf")), "finite corners"),
    (lambda: md.Box((0,), (1, 1)), "low: expected two numbers"),
    # laws
    (lambda: md.Samples([1, math.nan]), r"samples\[1\]: expected a finite number, given nan"),
    (lambda: md.Samples([]), "there are no samples"),
    (lambda: md.Histogram([0, 1], [0.5]), "numbers that sum to 1, given sum 0.5"),
    (lambda: md.Histogram([0, 1], [0.5, 0.5]), "1 numbers, one for each bin"),
    (lambda: md.Histogram([1, 0], [1]), "positions that rise"),
    (lambda: md.Histogram([0], []), "at least two positions, given 1"),
    (lambda: md.Histogram([-1, 0, 1], [0.5, 0.5]).check(md.Interval(0, 1)), "given -1"),
    (lambda: md.Histogram([0, 1, 2], [0.5, 0.5]).check(md.Interval(0, 1)), "given 2"),
    (lambda: md.NamedLaw("cauchy", [0, 1]), "law.name: expected one of normal.*have a mean"),
    (lambda: md.NamedLaw("normal", [0, -1]), r"law.parameters\[1\]: expected a number > 0"),
    (lambda: md.NamedLaw("beta", [2]), "2 to 4 numbers"),
    (lambda: md.GaussianMixture([1], [0, 1], [1]), "mixture.means: expected 1 numbers"),
    (lambda: md.GaussianMixture([1], [0], [0]), "mixture.deviations: expected numbers > 0"),
    (lambda: md.KDE([1, 1]), "all samples are equal"),
    (lambda: md.KDE([1, 2], 0), "bandwidth: expected a number > 0, given 0"),
    (lambda: md.PlaneSamples([]), "there are no samples"),
    (lambda: md.PlaneSamples([(1, 2, 3)]), r"samples\[0\]: expected two numbers"),
    (lambda: md.PlaneSamples([(1, "nan")]), r"samples\[0\]"),
    (lambda: md.PlaneMixture([0.5], [(BETA, UNIFORM)]), "sum to 1"),
    (lambda: md.PlaneMixture([1], [(BETA, 1)]), "laws, such as"),
    (lambda: md.PlaneMixture([1], []), "1 pairs of laws"),
    (lambda: md.PlaneHistogram([[0, 1]], [[1]]), "two lists"),
    (lambda: md.PlaneHistogram([[0, 1], [0, 1]], [[0.5, 0.5]]), "1 rows of 1 numbers"),
    (lambda: md.PlaneSamples([(2, 0)]).check(BOX), "numbers in Interval"),
    (
        lambda: md.ProductLaw(md.NamedLaw("normal", [99, 1]), UNIFORM).check(BOX),
        "law with a mass",
    ),
    # channels
    *(
        (lambda given=given: rounding_of(*given[:2], md.Interval(0, 1)), given[2])
        for given in POINTS
    ),
    (lambda: ContinuousChannel([0, 2], "linear", [0, 1, 2], COIN), "nodes: expected 3 inputs"),
    (lambda: ContinuousChannel([0, 2], "linear", [0, 2], "coin"), "nodes: expected a Channel"),
    (lambda: ContinuousChannel(BOX, "linear", [[0, 1]] * 2, COIN), "4 inputs"),
    (lambda: ContinuousChannel(BOX, "linear", [[0, 1]], CORNERS), "of numbers for each axis"),
    *((lambda bad=bad: CELLS.privatize([0.5, bad]), "values") for bad in NO_NUMBERS),
    (lambda: CELLS.privatize({0.5}), "order of the records"),
    (lambda: CELLS.privatize([0.5, math.nan], outside="clip"), "given nan"),
    (lambda: CELLS.privatize([0.5], outside="drop"), "'refuse' or 'clip'"),
    (lambda: CELLS.node_prior([1, 2]), "law: expected a law"),
    (lambda: LINE.node_prior(md.Samples([3])), "numbers in Interval"),
    (lambda: CELLS.expected_loss([1], "cubic"), "'absolute' or 'squared'"),
    (lambda: CELLS.report_quantiles([1], [2]), "numbers above 0 and below 1"),
    *((lambda bad=bad: PLANE.privatize(bad), "values") for bad in NO_POINTS),
    *(
        (lambda bad=bad: PLANE.privatize([(0.5, 0.5), bad]), r"values\[1\]: expected numbers of")
        for bad in OUTSIDE
    ),
    *((lambda bad=bad: PLANE.density(bad), "x: expected") for bad in OUTSIDE),
    (lambda: PLANE.points, "numbers of an interval"),
    (lambda: PLANE.positions, "numbers of an interval"),
    (lambda: PLANE.supports, "numbers of an interval"),
]


@pytest.mark.parametrize(("call", "match"), INVALID)
def test_wrong_arguments_are_refused(call: Callable[[], Any], match: str) -> None:
    check_refused(match, call)


@pytest.mark.parametrize("channel", [LINE, PLANE], ids=["line", "plane"])
def test_a_kernel_is_no_array(channel: ContinuousChannel) -> None:
    with pytest.raises(TypeError, match="no matrix"):
        np.asarray(channel)
