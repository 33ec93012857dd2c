"""Points of a plane and of the Earth: exact, rounded so that privacy is on the safe side."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import Domain, InputError, MetricPrivacy
from mechdesign.geography.points import EARTH_RADIUS, NearestPoint, great_circle
from mechdesign.kernel import verify
from tests.refusals_support import check_refused
from tests.strategies import examples, lp_optimum

PLANE = [["0", "0"], ["0.5", "-1"], ["1/3", "2"], ["1.5", "1"]]
CITY = [["39.9", "116.4"], ["39.8", "116.3"], ["39.95", "116.2"], ["39.7", "116.5"]]

latitudes, longitudes = st.floats(-90, 90), st.floats(-180, 180)
places = st.tuples(latitudes, longitudes)


def haversine(one: tuple[Any, Any], other: tuple[Any, Any]) -> Any:
    """The textbook formula, to 50 digits."""
    with mpmath.workdps(50):
        (a, b), (c, d) = (
            [mpmath.radians(mpmath.mpf(v.numerator) / v.denominator) for v in map(Fraction, p)]
            for p in (one, other)
        )
        root = mpmath.sin((a - c) / 2) ** 2
        root += mpmath.cos(a) * mpmath.cos(c) * mpmath.sin((b - d) / 2) ** 2
        root = min(root, mpmath.mpf(1))
        return 2 * mpmath.mpf(EARTH_RADIUS) * mpmath.asin(mpmath.sqrt(root))


@examples(40)
@given(places, places)
def test_a_great_circle_is_never_longer_than_it_is(one: Any, other: Any) -> None:
    found = great_circle(tuple(map(Fraction, one)), tuple(map(Fraction, other)))
    true = haversine(one, other)
    assert found.denominator in (1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 125, 200, 250, 500, 1000)
    assert found >= 0
    exact = mpmath.mpf(found.numerator) / found.denominator
    assert exact <= true
    assert true - exact < 0.0011
    back = great_circle(tuple(map(Fraction, other)), tuple(map(Fraction, one)))
    assert back == found


def test_opposite_places_are_half_a_circumference_apart() -> None:
    found = great_circle((Fraction(0), Fraction(0)), (Fraction(0), Fraction(180)))
    assert float(found) == pytest.approx(math.pi * EARTH_RADIUS, abs=0.0011)
    assert found <= math.pi * EARTH_RADIUS


@pytest.mark.parametrize("kind", ["euclidean", "manhattan"])
def test_points_of_a_plane_are_private_at_their_distances(kind: str) -> None:
    """All pairs matter: unlike on a grid, no pair is implied by others."""
    plane = Domain.points(PLANE)
    exact = np.array([[float(Fraction(v)) for v in p] for p in PLANE])
    steps = np.abs(exact[:, None] - exact[None])
    apart = np.hypot(*steps.T) if kind == "euclidean" else steps.sum(axis=2)
    cost = np.hypot(*steps.T)
    found = md.design(md.Problem(plane, MetricPrivacy(1, kind), md.EuclideanDistance()))
    rows, matrix = np.exp(apart), found.channel.matrix
    for x, z in itertools.permutations(range(4), 2):
        assert (matrix[x] <= rows[x, z] * matrix[z] * (1 + 1e-12)).all()
    assert MetricPrivacy(1, kind).leakage(found.channel, plane) == pytest.approx(1, abs=1e-6)
    assert verify(found.document()).value == found.value
    free = md.Problem(range(4), MetricPrivacy(1, apart.tolist()), md.Distortion(cost.tolist()))
    assert float(found.value) == pytest.approx(float(md.design(free).value), rel=1e-9)


def test_places_on_the_earth_have_metres() -> None:
    city = Domain.points(CITY, "haversine")
    problem = md.Problem(city, MetricPrivacy("0.0001", city.distance), md.Distortion(city.distance))
    found = md.design(problem)
    assert found.status == "optimal"
    matrix = found.channel.matrix
    labels = dict(zip(found.channel.outputs, matrix.T, strict=True))
    true = [[float(haversine(a, b)) for b in CITY] for a in CITY]
    worst = max(
        math.log(column[x] / column[z]) - 1e-4 * true[x][z]
        for column in labels.values()
        for x, z in itertools.permutations(range(4), 2)
    )
    assert -1e-6 < worst <= 0  # private at the true distance, and no more than that
    assert verify(found.document()).value == found.value
    assert city.coordinates is None
    for wrong in (MetricPrivacy(1, "euclidean"), MetricPrivacy(1, Domain(range(4)).distance)):
        with pytest.raises(InputError, match="distance"):
            md.Problem(city, wrong, md.HammingLoss())


def test_a_problem_file_names_points(tmp_path: Path) -> None:
    table = "name,lat,lon\n" + "".join(f"s,{a},{b}\n" for a, b in CITY)
    (tmp_path / "stations.csv").write_text(table, encoding="utf-8")
    rest = """
[privacy]
notion = "metric"
epsilon = "0.0001"
distance = "haversine"
[utility]
objective = "distortion"
matrix = "haversine"
"""
    forms = [
        'points = { file = "stations.csv", columns = ["lat", "lon"], metric = "haversine" }',
        f'points = {{ coordinates = {CITY}, metric = "haversine" }}'.replace("'", '"'),
    ]
    read = []
    for form in forms:
        (tmp_path / "problem.toml").write_text(f"[domain]\n{form}\n{rest}", encoding="utf-8")
        read.append(md.load_problem(tmp_path / "problem.toml"))
    city = Domain.points(CITY, "haversine")
    assert read[0].to_table() == read[1].to_table()
    assert read[0].domain == city
    found = md.design(read[0])
    md.save(found, tmp_path / "channel.json")
    assert md.load_channel(tmp_path / "channel.json").channel.inputs == city
    for form, message in [
        ('points = { file = "stations.csv", columns = ["lat"] }', "columns"),
        ('points = { file = "stations.csv", columns = ["lat", "name"] }', "number"),
        ('points = { file = "none.csv", columns = ["lat", "lon"] }', "file"),
        ('points = { coordinates = [[1, 2]], metric = "taxi" }', "metric"),
        ("points = 3", "points"),
        ("points = [[1, 2, 3]]", "pair"),
    ]:
        (tmp_path / "problem.toml").write_text(f"[domain]\n{form}\n{rest}", encoding="utf-8")
        with pytest.raises(InputError, match=message):
            md.load_problem(tmp_path / "problem.toml")


PAIRS = [[], [[1]], [[1, 2], [1, 2.0]], [["a", "b"]], [[math.nan, 0]], [[math.inf, 0]], [1, 2]]
INVALID: list[tuple[tuple[Any, ...], str]] = [
    *(((points,), "points") for points in (*PAIRS, "ab", 3, {1: 2})),
    *((([place], "haversine"), "latitude") for place in ([91, 0], [0, 181])),
    (([[0, 0]], "haversin"), "metric"),
]


@pytest.mark.parametrize(("given", "match"), INVALID)
def test_invalid_points_are_refused(given: tuple[Any, ...], match: str) -> None:
    check_refused(match, Domain.points, *given)


def test_points_of_a_plane_are_no_places() -> None:
    assert Domain.points([[0, 0]]) != Domain.points([[0, 0]], "haversine") != Domain.range(1)


@examples(20)
@given(st.lists(places, min_size=1, max_size=6, unique=True), places)
def test_the_nearest_place_is_the_nearest(points: Any, here: Any) -> None:
    exact = [tuple(map(Fraction, p)) for p in points]
    (found,) = NearestPoint(exact, "haversine").find([f"({here[0]!r}, {here[1]!r})"])
    every = [haversine(p, here) for p in exact]
    assert every[found] <= min(every) + 0.001


def test_places_within_the_rounding_of_a_distance_are_told_apart() -> None:
    places = [(Fraction(0), Fraction(0)), (Fraction(0), Fraction(1, 10**14))]
    assert NearestPoint(places, "haversine").find(["(0, 1e-14)", "(0, 0)"]) == [1, 0]


GRID = [Fraction(n, 10) for n in range(-3, 4)]
SCALES = [Fraction(1), Fraction(10) ** 12, Fraction(10) ** 200, Fraction(1, 10**200)]


@examples(25)
@given(
    points=st.lists(st.tuples(*[st.sampled_from(GRID)] * 2), min_size=1, max_size=9, unique=True),
    here=st.lists(st.tuples(*[st.sampled_from(GRID)] * 2), min_size=1, max_size=4),
    shift=st.sampled_from([0, 10**9]),
    scale=st.sampled_from(SCALES),
)
def test_exact_numbers_decide_between_points_of_a_plane(
    points: Any, here: Any, shift: int, scale: Fraction
) -> None:
    """Ties at midpoints, large offsets, and squares beyond the doubles: the first that is least."""

    def moved(pair: Any) -> tuple[Fraction, Fraction]:
        return (pair[0] + shift) * scale, (pair[1] + shift) * scale

    exact = [moved(pair) for pair in points]
    asked = [moved(pair) for pair in here]
    texts = [f"({_decimal(first)}, {_decimal(second)})" for first, second in asked]
    found = NearestPoint(exact, "euclidean").find(["", *texts, "(1, )"])
    squares = [[(a - x) ** 2 + (b - y) ** 2 for x, y in exact] for a, b in asked]
    assert found == [None, *(each.index(min(each)) for each in squares), None]


@pytest.mark.parametrize("digits", ["1e-999999999", "0e-999999999", f"0.{'0' * 5000}1"])
def test_a_number_that_no_exact_number_holds_is_rounded_where_points_are_as_near(
    digits: str,
) -> None:
    """The exponent would be an integer of a gigabyte, the digits more than Python reads."""
    points = ((Fraction(0), Fraction(-1)), (Fraction(0), Fraction(1)))
    nearest = NearestPoint(points, "euclidean")
    assert nearest.find([f"(0, {digits})", "(0, 1e-250)"]) == [0, 1]


def _decimal(number: Fraction) -> str:
    """Return a number with few digits as decimal text, exactly."""
    for exponent in range(-202, 222):
        whole = number / Fraction(10) ** exponent
        if whole.denominator == 1 and (whole % 10 or not whole):
            return f"{whole}e{exponent}"
    raise AssertionError(number)


def test_records_have_coordinates_and_grids_numbers_of_cells() -> None:
    city = Domain.points(CITY, "haversine")
    assert city.read(["(39.9, 116.4)", "( 39.81 ,116.29)", "3"]).tolist() == [0, 1, 3]
    for wrong in ("(99, 0)", "(39.9; 116.4)", "(nan, 0)", "39.9", "4", "(1e999, 0)"):
        check_refused("", city.read, [wrong])
    grid = Domain.grid(2, 3)
    assert grid.read(["(1, 0)", "4", " 5"]).tolist() == [3, 4, 5]
    for wrong in ("6", "-1", "1.0", "(2, 0)"):
        check_refused("", grid.read, [wrong])
    answers = md.mechanisms.GeneralizedRandomizedResponse(grid, 30)
    made = md.privatize(pa.table({"cell": [4, 0, 4]}), {"cell": answers})
    assert made.column("cell").to_pylist() == ["(1, 1)", "(0, 0)", "(1, 1)"]


def test_the_optimum_is_that_of_the_plain_linear_program() -> None:
    plane = Domain.points(PLANE)
    problem = md.Problem(plane, MetricPrivacy("0.7", "euclidean"), md.EuclideanDistance())
    assert float(md.design(problem).value) == pytest.approx(lp_optimum(problem).value, rel=1e-7)
