"""Points of a plane, or of the Earth: exact coordinates, and distances along great circles."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.errors import InputError, known_word, listed, shown
from mechdesign.exact import as_fraction

__all__ = ["HAVERSINE", "NearestPoint", "check_metric", "exact_points", "great_circle"]

Pair = tuple[Fraction, Fraction]

NUMBER = r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*"
PAIR = re.compile(rf"\s*\({NUMBER},{NUMBER}\)\s*", re.ASCII)

HAVERSINE = "haversine"
METRICS = ("euclidean", HAVERSINE)

EARTH_RADIUS = 6_371_008.8
"""Metres: the mean radius of the Earth."""

ERROR = 1e-6
"""Metres that a distance in floats may be too long by.

The unit vectors are off by a few 2**-52, and an angle by their difference and sum is off by as
much, whatever its size: some 1e-8 metres in all.
"""

ROUNDING = 1e-14
"""How far distances in doubles are off at most, as a share of the numbers that they come from."""


def check_metric(metric: Any) -> str:
    """Return the name of a metric of points.

    Raises
    ------
    InputError
        If it is none.
    """
    return known_word(metric, METRICS, "points.metric")


def exact_points(coordinates: Iterable[Any], metric: str) -> tuple[Pair, ...]:
    """Return points as distinct pairs of exact numbers.

    Parameters
    ----------
    coordinates
        ``(n, 2)`` numbers; for ``"haversine"`` latitude and longitude in degrees.
    metric
        ``"euclidean"`` or ``"haversine"``.

    Raises
    ------
    InputError
        If one is no pair of finite numbers, or no place on the Earth, or is there twice.
    """
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

    It is a whole number of millimetres, at most the true length on a sphere of the mean radius of
    the Earth. Privacy at it is privacy at the true length.

    Notes
    -----
    With unit vectors a, b it is 2 R atan2(|a - b|, |a + b|), which is accurate for near places and
    for opposite ones. The haversine formula gives the same number.

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
    """Finds the points that are nearest to pairs of numbers given as text, ``"(39.9, 116.4)"``.

    A k-d tree of doubles finds what may be nearest. Where that is more than one point, exact
    numbers decide in a plane; on the Earth, unit vectors in doubles.

    Parameters
    ----------
    points
        Exact pairs.
    metric
        ``"euclidean"`` or ``"haversine"``.

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
        """Return the number of the nearest point of each text, the first of several.

        None stands for a text that is no pair, or no place on the Earth.
        """
        found: list[int | None] = [None] * len(texts)
        import numpy as np

        pairs = [PAIR.fullmatch(text) for text in texts]
        some = [n for n, pair in enumerate(pairs) if pair is not None and self._is_place(pair)]
        if not some:
            return found
        heres = [self._place(float(pairs[n][1]), float(pairs[n][2])) for n in some]  # type: ignore[index]
        answers = self._tree.query(np.array(heres), k=[1, 2])
        apart, nearest = (np.asarray(answer).tolist() for answer in answers)
        for n, here, distances, (near, _) in zip(some, heres, apart, nearest, strict=True):
            slack = ROUNDING * (self._scale + max(map(abs, here)) + distances[0])
            if distances[0] + slack < distances[1]:
                found[n] = near
            else:
                found[n] = self._decide(pairs[n], here, distances[0] + slack)  # type: ignore[arg-type]
        return found

    def _is_place(self, pair: re.Match[str]) -> bool:
        first, second = float(pair[1]), float(pair[2])
        if self._on_earth:
            return abs(first) <= 90 and abs(second) <= 180
        return math.isfinite(first) and math.isfinite(second)

    def _decide(self, pair: re.Match[str], here: tuple[float, ...], within: float) -> int:
        """Return the nearest of the points whose distances in doubles may be the least."""
        near: Sequence[int] = range(len(self._points))
        if math.isfinite(within):  # else squares are beyond the doubles
            near = sorted(self._tree.query_ball_point(here, within))
        if self._on_earth:
            return min(near, key=lambda n: math.dist(here, self._places[n]))
        first, second = _exactly(pair[1]), _exactly(pair[2])
        points = self._points
        return min(near, key=lambda n: (first - points[n][0]) ** 2 + (second - points[n][1]) ** 2)


def _exactly(text: str) -> Fraction:
    """Return the number exactly; as the nearest double if it is out of range."""
    try:
        return as_fraction(text)
    except InputError:
        return Fraction(float(text))
