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


def check_metric(metric: Any) -> str:
    """Return the name of a metric of points.

    Raises
    ------
    InputError
        If it is none.
    """
    return known_word(metric, METRICS, "points.metric")


def exact_points(coordinates: Iterable[Any], metric: str) -> tuple[Pair, ...]:
    """Return points as pairs of exact numbers, which all differ.

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
            raise InputError(f"points[{n}]", "points that all differ", "one that was there before")
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
    """Finds the point that is nearest to a pair of numbers given as text, ``"(39.9, 116.4)"``.

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
    >>> nearest("(-14, -172.5)"), nearest("(0, 12.5)"), nearest("here")  # Samoa, across 180 degrees
    (0, 1, None)
    """

    def __init__(self, points: Sequence[Pair], metric: str) -> None:
        self._on_earth = metric == HAVERSINE
        self._places = [self._place(float(first), float(second)) for first, second in points]

    def _place(self, first: float, second: float) -> tuple[float, ...]:
        return _vector((first, second)) if self._on_earth else (first, second)

    def __call__(self, text: str) -> int | None:
        """Return the number of the nearest point, the first of several; None if it is no pair."""
        found = PAIR.fullmatch(text)
        if found is None:
            return None
        first, second = float(found[1]), float(found[2])
        if self._on_earth and not (abs(first) <= 90 and abs(second) <= 180):
            return None
        here = self._place(first, second)
        apart = [math.dist(here, place) for place in self._places]
        nearest = min(apart)
        return apart.index(nearest) if math.isfinite(nearest) else None
