"""Rays of subsets that a walk cannot exclude, for a separable gain and a claimed c.

A ray is 1 on a set S of inputs of a block B, and low on the rest of B; for ratios scaled by a prior
P these are its entries times P_x, and p_x stands for p_x / P_x in what follows. With
t(S) = p . q = low p(B) + (1 - low) p(S), let G(t, S) = Sum_x t h_x(q_x / t) + u . q - c t: the ray
needs no more than c if G(t(S), S) <= 0. Every t h(q / t) is convex in t. So for
t(S) = (1 - s) a + s b and multipliers m_a, m_b

    G(t(S), S)  <=  max over t = a, b of G(t, S) + m_t (t(S) - t),  plus (b - a) (m_b - m_a)+ / 4,

as (1 - s) m_a (t(S) - a) + s m_b (t(S) - b) = s (1 - s) (b - a) (m_a - m_b). At a fixed t this is a
sum over inputs of a number for raised or not: where its largest completion is <= 0 at both ends, or
t(S) would leave [a, b], the walk stops. Of exchangeable inputs the first are raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

from mechdesign.kernel.arithmetic import UNIT, known, need, over_one_denominator, scaled
from mechdesign.kernel.oracles.common import (
    GAINS,
    ONE,
    Ask,
    Found,
    Source,
    limited,
    parts_of,
    scales,
    spread,
    units,
)
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.statement import Statement
from mechdesign.resources import check_size, current

GRID = 1 << 100
STEPS_PER_PLACE = 30
"""Steps per visited place of a walk; all walks of a file together may use the whole limit."""

End: TypeAlias = tuple[Any, Any, list[Any]]
"""An end t, the value there with no raised input, and the increment of each input."""


@dataclass(frozen=True)
class Walk(Source):
    """``surplus`` c; ``ends`` inner ends of t and ``slopes`` of all ends, for each block."""

    surplus: Fraction
    ends: tuple[tuple[Fraction, ...], ...]
    slopes: tuple[Numbers, ...]
    blocks: tuple[tuple[int, ...], ...] | None = None

    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        """Return the rays that may need more than the surplus, and the surplus as a claim."""
        ask, k = known(ask, GAINS), statement.k
        blocks = parts_of(self.blocks, k)
        need(len(blocks) == len(self.ends) == len(self.slopes), "expected ends for each block")
        _, whole = over_one_denominator(ask.gain.p)
        scale = scales(statement)
        rays, bounds = units(statement, blocks, scale)
        factors, _ = over_one_denominator(scale)
        places = iter(range((current().steps - self.steps(statement)) // STEPS_PER_PLACE))
        for block, limits, inner, slopes in zip(
            blocks, bounds, self.ends, self.slopes, strict=True
        ):
            tops = {m for m in limits if m is not None}
            need(len(tops) == 1 and min(tops) > ONE, "expected one budget in a block")
            high = tops.pop()
            inputs = [x for x, m in zip(block, limits, strict=True) if m]
            for raised in self._raised(
                ask, block, inputs, Fraction(ONE, high), scale, inner, slopes, places
            ):
                entries = [high if x in raised else ONE for x in block]
                rays.append(spread(block, entries, factors))
                limited(len(rays))
        surplus = self.surplus * UNIT / whole
        return Found(rays, claim=(surplus.numerator, surplus.denominator))

    def _raised(
        self,
        ask: Ask,
        block: Sequence[int],
        inputs: Sequence[int],
        low: Fraction,
        scale: Sequence[Fraction],
        inner: Sequence[Fraction],
        slopes: Numbers,
        places: Iterator[int],
    ) -> Iterator[set[int]]:
        """Yield the sets of inputs of a block that are not excluded."""
        p = [mass * s for mass, s in zip(ask.gain.p, scale, strict=True)]
        least, mass = low * sum(p[x] for x in block), [(1 - low) * p[x] for x in inputs]
        ends = [least, *inner, least + sum(mass)]
        rising = least > 0 and all(a <= b for a, b in pairwise(ends))
        need(rising and len(slopes) == len(ends), "the ends are not increasing, or lack a slope")
        numbers, _ = over_one_denominator([*ends, *mass])
        whole, masses = numbers[: len(ends)], numbers[len(ends) :]
        prices, parts = [ask.prices[x] for x in inputs], {x: ask.gain.split(x) for x in block}
        found: list[tuple[Fraction, Fraction, End]] = []
        for t, n, m in zip(ends, whole, map(Fraction, slopes), strict=True):
            down = {x: _worth(h, ask.prices[x], low * scale[x], t) for x, h in parts.items()}
            start = scaled(m * (least - t) - self.surplus * t, up=True) + sum(down.values())
            added = [
                _worth(parts[x], ask.prices[x], scale[x], t) - down[x] + scaled(m * w, up=True)
                for x, w in zip(inputs, mass, strict=True)
            ]
            found.append((t, m, (n, start, added)))

        @cache
        def alike(i: int, j: int) -> bool:
            x, z = inputs[i], inputs[j]
            return scale[x] == scale[z] and ask.alike(x, z)

        for (t, m, left), (t2, m2, right) in pairwise(found):
            slack = scaled((t2 - t) * max(Fraction(0), m2 - m) / 4, up=True)
            for raised in open_sets(left, right, slack, whole[0], masses, prices, alike, places):
                yield {inputs[i] for i in raised}

    def count(self, statement: Statement) -> int:
        return min(statement.k, 16) * statement.k

    def steps(self, statement: Statement) -> int:
        return 150 * statement.k * sum(len(inner) + 2 for inner in self.ends)


def _worth(h: Callable[[Fraction], int], price: int, q: Fraction, t: Fraction) -> int:
    """Return t h(q / t) + u q over UNIT, rounded up: h is convex, so at most at a neighbor."""
    (top, bottom), (n, d) = q.as_integer_ratio(), t.as_integer_ratio()
    a = top * d * GRID // (bottom * n)
    most = max(h(Fraction(a, GRID)), h(Fraction(a + 1, GRID)))
    return -(-(n * bottom * most + price * top * d) // (d * bottom))


def open_sets(
    left: End,
    right: End,
    slack: Any,
    least: Any,
    masses: Sequence[Any],
    prices: Sequence[Any],
    alike: Callable[[int, int], bool],
    places: Iterator[int],
) -> Iterator[tuple[int, ...]]:
    """Yield the sets with t(S) between two ends whose bound is positive; in any numbers.

    ``left``, ``right``, ``slack``: the ends, and the addition between them.
    ``least``, ``masses``: the least t(S), and what each input adds.
    ``prices``, ``alike``: decide the order, and which neighbors in it are exchangeable.
    ``places``: exhausted by too long a walk, which is a LimitError.
    """
    (begin, a, one), (end, b, other) = left, right
    a, b, n = a + slack, b + slack, len(masses)
    root = max(a + _rest(one)[0], b + _rest(other)[0])
    order = sorted(
        range(n), key=lambda i: (max(abs(one[i]), abs(other[i])) < root, -masses[i], prices[i])
    )
    after = list(range(1, n + 1))  # the next place if an input is not raised
    for d in reversed(range(n - 1)):
        if alike(order[d], order[d + 1]):
            after[d] = after[d + 1]
    one, other, masses = ([values[i] for i in order] for values in (one, other, masses))
    rest_one, rest_other, rest = map(_rest, (one, other, masses))
    stack: list[tuple[int, Any, Any, Any, tuple[int, ...]]] = [(0, a, b, least, ())]
    while stack:
        d, a, b, total, raised = stack.pop()
        if next(places, None) is None:
            check_size("steps", current().steps + 1, "a walk over subsets")
        if max(a + rest_one[d], b + rest_other[d]) <= 0:
            continue
        if total > end or total + rest[d] < begin:
            continue
        if d == n:
            yield raised
            continue
        stack.append((after[d], a, b, total, raised))
        more = (*raised, order[d])
        stack.append((d + 1, a + one[d], b + other[d], total + masses[d], more))


def _rest(values: Sequence[Any]) -> list[Any]:
    """Return the sums of the positive values from each place on."""
    return [*accumulate((max(0, v) for v in reversed(values)), initial=0)][::-1]
