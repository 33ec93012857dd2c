"""Rounding a point to the corners of its cell: its effect on a distance, and on a bound."""

from __future__ import annotations

import math
import random
from itertools import product

from mechdesign.kernel.rounding.bound import ROOT_BITS, _between, _gap

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
