"""Points in the plane or on the Earth: exact coordinates and great-circle distances."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.errors import InputError, known_word, listed, shown
from mechdesign.exact import as_fraction

Pair = tuple[Fraction, Fraction]

NUMBER = r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*"
PAIR = re.compile(rf"\s*\({NUMBER},{NUMBER}\)\s*", re.ASCII)

HAVERSINE = "haversine"
METRICS = ("euclidean", HAVERSINE)

EARTH_RADIUS = 6_371_008.8
"""The mean radius of the Earth in metres."""

ERROR = 1e-6
"""Bound in metres on the error of a float distance.

The unit vectors have errors of a few 2**-52, and so has an angle from their difference and sum,
whatever its size: some 1e-8 metres in all.
"""

ROUNDING = 1e-14
"""Bound on the error of distances in doubles, relative to the coordinates."""


def check_metric(metric: Any) -> str:
    """Return the name of a metric, or raise InputError."""
    return known_word(metric, METRICS, "points.metric")


def exact_points(coordinates: Iterable[Any], metric: str) -> tuple[Pair, ...]:
    """Return ``(n, 2)`` distinct numbers as exact pairs; latitude and longitude for haversine."""
    if hasattr(coordinates, "to_numpy"):  # a DataFrame, whose iteration is over names
        coordinates = coordinates.to_numpy()
    expected = "pairs of numbers, one for each point"
    found: list[Pair] = []
    places: dict[Pair, int] = {}
    for n, each in enumerate(listed(coordinates, "points", expected)):
        pair = listed(each, f"points[{n}]", "a pair of numbers")
        if len(pair) != 2:
            raise InputError(f"points[{n}]", "a pair of numbers", f"{len(pair)} of them")
        first, second = (as_fraction(part, f"points[{n}]") for part in pair)
        if metric == HAVERSINE and not (abs(first) <= 90 and abs(second) <= 180):
            expected = "a latitude from -90 to 90 and a longitude from -180 to 180 degrees"
            raise InputError(f"points[{n}]", expected, shown(list(pair)))
        if (first, second) in places:
            raise InputError(
                f"points[{n}]", "distinct points", "a duplicate", fault="this point occurs twice"
            )
        places[first, second] = n
        found.append((first, second))
    if not found:
        raise InputError("points", "at least one point", "an empty list")
    return tuple(found)


def great_circle(one: Pair, other: Pair) -> Fraction:
    """Return the length of the great circle between two places, in metres, rounded down.

    The result is a multiple of a millimetre, at most the true length on a sphere with the mean
    radius of the Earth. Privacy at this distance implies privacy at the true one. With unit vectors
    a, b the length is 2 R atan2(|a - b|, |a + b|), which is accurate for near and for antipodal
    places.

    Examples
    --------
    >>> pole, equator = (Fraction(90), Fraction(0)), (Fraction(0), Fraction(0))
    >>> float(great_circle(pole, equator))  # a quarter of the circumference
    10007557.221
    """
    a, b = _vector(one), _vector(other)
    apart = math.dist(a, b)
    together = math.hypot(*(s + t for s, t in zip(a, b, strict=True)))
    metres = 2 * EARTH_RADIUS * math.atan2(apart, together)
    return Fraction(max(0, math.floor((metres - ERROR) * 1000)), 1000)


def _vector(place: tuple[Fraction | float, Fraction | float]) -> tuple[float, float, float]:
    latitude, longitude = (math.radians(float(part)) for part in place)
    across = math.cos(latitude)
    return across * math.cos(longitude), across * math.sin(longitude), math.sin(latitude)


class NearestPoint:
    """Finds the nearest points to pairs of numbers given as text, such as ``"(39.9, 116.4)"``.

    A k-d tree of doubles finds the candidates. Ties are broken by exact distances in the plane, and
    by unit vectors in doubles on the Earth.

    Examples
    --------
    >>> fiji, accra = (Fraction(-18), Fraction(179)), (Fraction(6), Fraction(0))
    >>> nearest = NearestPoint((fiji, accra), HAVERSINE)
    >>> nearest.find(["(-14, -172.5)", "(0, 12.5)", "here"])  # Samoa, across 180 degrees
    [0, 1, None]
    """

    def __init__(self, points: Sequence[Pair], metric: str) -> None:
        from scipy.spatial import cKDTree  # loaded where points are read, not with the library

        self._points, self._on_earth = points, metric == HAVERSINE
        self._places = [self._place(float(first), float(second)) for first, second in points]
        self._tree = cKDTree(self._places)
        self._scale = max(abs(part) for place in self._places for part in place)

    def _place(self, first: float, second: float) -> tuple[float, ...]:
        return _vector((first, second)) if self._on_earth else (first, second)

    def find(self, texts: Sequence[str]) -> list[int | None]:
        """Return the index of the nearest point for each text, the first if several are nearest.

        None for a text that is not a pair of numbers, or not a place on the Earth.
        """
        found: list[int | None] = [None] * len(texts)
        pairs = {n: pair for n, text in enumerate(texts) if (pair := self._pair(text))}
        if not pairs:
            return found
        heres: Any = [self._place(float(pair[1]), float(pair[2])) for pair in pairs.values()]
        answers: Any = self._tree.query(heres, k=[1, 2])
        apart, nearest = (answer.tolist() for answer in answers)
        for (n, pair), here, (d, next_d), (near, _) in zip(
            pairs.items(), heres, apart, nearest, strict=True
        ):
            within = d + ROUNDING * (self._scale + max(map(abs, here)) + d)
            found[n] = near if within < next_d else self._decide(pair, here, within)
        return found

    def _pair(self, text: str) -> re.Match[str] | None:
        pair = PAIR.fullmatch(text)
        if pair is None:
            return None
        first, second = abs(float(pair[1])), abs(float(pair[2]))
        inside = first <= 90 and second <= 180 if self._on_earth else max(first, second) < math.inf
        return pair if inside else None

    def _decide(self, pair: re.Match[str], here: tuple[float, ...], within: float) -> int:
        """Return the nearest of the points within a distance in doubles."""
        near: Sequence[int] = range(len(self._points))
        if math.isfinite(within):  # else squares overflow
            near = sorted(self._tree.query_ball_point(here, within))
        if self._on_earth:
            return min(near, key=lambda n: math.dist(here, self._places[n]))
        first, second = _exactly(pair[1]), _exactly(pair[2])
        points = self._points
        return min(near, key=lambda n: (first - points[n][0]) ** 2 + (second - points[n][1]) ** 2)


def _exactly(text: str) -> Fraction:
    """Return the exact number, or the nearest double if it is out of range."""
    try:
        return as_fraction(text)
    except InputError:
        return Fraction(float(text))
