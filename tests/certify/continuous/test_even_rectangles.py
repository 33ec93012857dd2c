"""Means of rectangles, recomputed in the checker, against those that the laws state themselves."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import resources
from mechdesign.certify import digest, verify
from mechdesign.certify.continuous.even_rectangles import distance_from_rectangles
from mechdesign.certify.continuous.plane import Plane
from mechdesign.errors import CertificateError, LimitError
from tests.strategies import examples

BOX = md.Box((-1, 0), (2, "5/2"))
SIDES = [(Fraction(-1), Fraction(2)), (Fraction(0), Fraction(5, 2))]


@st.composite
def rising(draw: st.DrawFn, ends: tuple[Fraction, Fraction], *, whole: bool) -> list[Fraction]:
    """Return numbers between two ends, both of which are among them if ``whole``."""
    inner = draw(st.sets(st.fractions(*ends, max_denominator=9), min_size=2, max_size=5))
    return sorted(inner | set(ends)) if whole else sorted(inner)


@st.composite
def masses(draw: st.DrawFn, count: int) -> list[Fraction]:
    weights = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@st.composite
def laws(draw: st.DrawFn) -> Any:
    if draw(st.booleans()):
        edges = [draw(rising(ends, whole=False)) for ends in SIDES]
        rows, across = (len(each) - 1 for each in edges)
        flat = draw(masses(rows * across))
        return md.PlaneHistogram(edges, [flat[n * across :][:across] for n in range(rows)])
    count = draw(st.integers(1, 3))
    drawn = [[draw(rising(ends, whole=False)) for ends in SIDES] for _ in range(count)]
    parts = [[md.Histogram(e, draw(masses(len(e) - 1))) for e in pair] for pair in drawn]
    return md.PlaneMixture(draw(masses(count)), parts)


def distance(law: Any, cells: Any, axes: Any) -> Fraction | None:
    problem = {"law": law.to_table(), "domain": {"box": [list(map(str, e)) for e in SIDES]}}
    return distance_from_rectangles(Plane(axes, tuple(cells), [], {}), problem)


@examples(60)
@given(data=st.data())
def test_the_means_of_rectangles_are_those_of_the_law(data: st.DataObject) -> None:
    law = data.draw(laws())
    axes = tuple(data.draw(rising(ends, whole=True)) for ends in SIDES)
    exact, error = law._means(BOX, axes)
    assert error == 0
    assert distance(law, exact, axes) == 0
    moved = Fraction(1, 10**30)
    n, k = data.draw(st.integers(0, len(exact) - 1)), data.draw(st.integers(0, 8))
    other = [list(cell) for cell in exact]
    other[n][k] += moved
    assert distance(law, other, axes) == moved


def test_rounded_means_are_as_far_off_as_the_law_says() -> None:
    edges = [[-1, Fraction(1, 3**40), 2], [0, Fraction(2, 7**30), 1]]
    law, axes = md.PlaneHistogram(edges, [[0.1, 0.2], [0.3, 0.4]]), ((-1, 0, 2), (0, 1, 2.5))
    places = tuple(tuple(map(Fraction, axis)) for axis in axes)
    cells, error = law.cells(BOX, places)  # type: ignore[arg-type]
    off = distance(law, cells, places)
    assert off is not None
    assert 0 < off <= error < off + Fraction(1, 1 << 127)


def document(law: Any) -> dict[str, Any]:
    with mock.patch("mechdesign.designs.continuous.plane.FIRST", 3):
        problem = md.PlaneProblem([(0, 0), (1, 1)], md.LDP(2), md.MeanSquaredDistance(), prior=law)
        made: dict[str, Any] = json.loads(json.dumps(md.design(problem, gap=9.0).document()))
    return made


HISTOGRAM = document(md.PlaneHistogram([[0, "1/2", 1], [0, 1]], [["1/3"], ["2/3"]]))
N = md.NamedLaw


def test_a_law_that_can_be_recomputed_is_checked() -> None:
    assert verify(HISTOGRAM).claims[-1].endswith("; those of the law named are the same")
    for law in (None, md.ProductLaw(N("uniform", [-1, 3]), md.Histogram([0, "1/3"], [1]))):
        claim = verify(document(law)).claims[-1]
        assert "those of the law named are" in claim
        assert "NOT checked" not in claim
    for law in (md.ProductLaw(N("beta", [2, 5]), N("uniform")), md.PlaneSamples([(0.1, 0.7)])):
        assert "NOT checked: that those of the law named are" in verify(document(law)).claims[-1]


EVEN = {"histogram": {"edges": ["0", "1"], "masses": ["1"]}}
STEPS = {"histogram": {"edges": ["0", "1/2", "1"], "masses": ["1/3", "2/3"]}}


def bins(edges: Any, masses: Any) -> dict[str, Any]:
    return {"histogram": {"edges": edges, "masses": masses}}


def parts(weights: Any, *pairs: Any) -> dict[str, Any]:
    return {"parts": {"weights": weights, "laws": list(map(list, pairs))}}


def renamed(law: dict[str, Any]) -> dict[str, Any]:
    """Return the file with another law named, the moments as they are."""
    forged = {**HISTOGRAM, "problem": {**HISTOGRAM["problem"], "law": law}}
    forged["digest"] = digest(forged)
    return forged


@pytest.mark.parametrize(
    "law",
    [
        parts(["1"], (STEPS, EVEN)),
        parts(["1/2", "1/2"], (STEPS, EVEN), (STEPS, EVEN)),
        parts(
            ["1/3", "2/3"],
            (bins(["0", "1/2"], ["1"]), EVEN),
            (bins(["1/2", "1"], ["1"]), {"law": {"name": "uniform", "parameters": ["-1", "3"]}}),
        ),
        bins([["0", "1/4", "1/2", "1"], ["0", "1"]], [["1/6"], ["1/6"], ["2/3"]]),
    ],
)
def test_another_name_of_the_same_law_is_accepted(law: dict[str, Any]) -> None:
    verify(renamed(law))


@pytest.mark.parametrize(
    "law",
    [
        bins([["0", "1/2", "1"], ["0", "1"]], [["2/3"], ["1/3"]]),
        bins([["0", "1/3", "1"], ["0", "1"]], [["1/3"], ["2/3"]]),
        bins([["0", "1"], ["0", "1/2", "1"]], [["1/3", "2/3"]]),
        bins([["0", "1/2", "1"], ["0", "1"]], [["1/3"], ["1/3"]]),
        bins([["0", "1/2", "1"], ["0", "1"]], [["4/3"], ["-1/3"]]),
        bins([["0", "1/2", "1"], ["0", "1"]], [["1/3", "2/3"]]),
        bins([["0", "1/2", "1"], ["0", "1"]], [["1/3"]]),
        bins([["0", "1/2", "2"], ["0", "1"]], [["1/3"], ["2/3"]]),
        bins([["1/2", "0", "1"], ["0", "1"]], [["1/3"], ["2/3"]]),
        bins([["0", "1/2", "1"], ["0"]], [[], []]),
        bins([[], []], []),
        bins([["0", "1"], ["0", "1"]], [["1"]]),
        parts(["1"], (EVEN, STEPS)),
        parts(["1/2"], (STEPS, EVEN)),
        parts(["1/2", "1/2"], (STEPS, EVEN)),
        parts(["2", "-1"], (STEPS, EVEN), (STEPS, EVEN)),
        parts([]),
        parts(["1"], (STEPS, {"law": {"name": "uniform", "parameters": ["2", "1"]}})),
    ],
)
def test_another_law_is_refused(law: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        verify(renamed(law))


def test_work_on_long_numbers_is_counted() -> None:
    """Edges of thousands of digits, many of them in one cell: refused before any time passes."""
    long = [str(Fraction(n, 300) + Fraction(1, 3**1500 + n)) for n in range(1, 200)]
    law = bins([["0", *long, "1"], ["0", *long, "1"]], [[f"1/{200**2}"] * 200] * 200)
    with resources.allow(steps=10**6), pytest.raises(LimitError):
        verify(renamed(law))


def test_honest_histograms_of_many_bins_are_cheap() -> None:
    side = [0, *sorted(math.sin(n) ** 2 for n in range(1, 30)), 1]
    law = md.PlaneHistogram([side, side], [[f"1/{30**2}"] * 30] * 30)
    assert "NOT checked" not in verify(document(law)).claims[-1]
