"""Any linear cost or convex gain, on rays that generate the cone, or a larger one.

A convex gain g, homogeneous of degree 1, has g(q) + u . q <= 0 on a cone if it has this property on
rays that generate it. Prices u become u - c n, with weights n >= 0 and c the largest (g(r) + u . r)
/ n . r over the rays r; where n . r = 0, the numerator must be <= 0. A linear cost c is the gain -c
. q. All rays must be >= 0. Limits are dropped for gains, which makes the set of channels larger.

If the rays generate all but a rest, q = Sum_i s_i r_i + e with s, e >= 0 and e linear in q, let D_x
be max(0, g(e_x) + u_x) for unit vectors e_x. For c >= 0

    g(q) + u . q  <=  Sum_i s_i c n . r_i + D . e  <=  c n . q + D . e,

and an upper bound on D . e is also subtracted from the prices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import mul

from mechdesign.kernel.arithmetic import known, need, scaled
from mechdesign.kernel.gains import Gain, Squares
from mechdesign.kernel.oracles.common import Ask, Found, Ray, integers, natural
from mechdesign.kernel.oracles.double_description import DoubleDescription
from mechdesign.kernel.oracles.simplicial import Simplicial
from mechdesign.kernel.oracles.subsets import Classes, Subsets
from mechdesign.kernel.oracles.walk import Walk
from mechdesign.kernel.proof import Cost, Ends, Oracle, Program
from mechdesign.kernel.statement import Statement

Sources = DoubleDescription | Simplicial | Subsets | Classes | Walk
"""A source of rays, of one of the kinds."""


@dataclass(frozen=True)
class Rays(Oracle):
    """Any cost or gain, on the rays of a source."""

    source: Sources

    def _found(self, statement: Statement, ask: Ask | None) -> Found:
        found = self.source(statement, ask)
        need(all(min(r) >= 0 for r in found.rays), "a ray has a negative entry")
        return found

    def linear(self, statement: Statement) -> Callable[[Cost, Cost, Ends | None], Cost]:
        """Return u - c n, with c rounded up."""
        n = integers(natural(statement), statement.k)
        found = self._found(statement, None)

        def price(cost: Cost, prices: Cost, *_: object) -> Cost:
            d = [b - a for a, b in zip(cost, prices, strict=True)]
            return _lowered(found, lambda r: sum(map(mul, d, r)), prices, n)

        return price

    def gain(self, statement: Statement, gain: Gain, prices: Cost) -> Cost:
        """Return u - c n: gains and c are rounded up."""
        n = integers(gain.p, statement.k)
        found = self._found(statement, Ask(gain, prices))

        def missing(r: Ray) -> int:
            paid: int = sum(map(mul, prices, r))
            return scaled(gain(r, up=True), up=True) + paid

        return _lowered(found, missing, prices, n)

    def steps(self, statement: Statement, program: Program) -> int:
        each = 1 if program.nodes is None else len(program.nodes)
        if program.gain is not None:
            vectors = getattr(program.gain, "vectors", ())
            each = 4 + sum(sum(map(bool, v)) for v in vectors) // statement.k
            each += 50 if not isinstance(program.gain, Squares) else len(vectors) // statement.k
        return self.source.steps(statement) + 4 * self.source.count(statement) * statement.k * each


def _lowered(found: Found, missing: Callable[[Ray], int], prices: Cost, n: list[int]) -> Cost:
    """Return u - c n minus the rest, rounded down; c is over ``2**bits`` and rounded up."""
    bits, most, k = max(n).bit_length(), None if found.rest is None else 0, len(n)
    if found.claim is not None:
        top, bottom = found.claim
        most = -(-(top << bits) // bottom)
    for r in found.rays:
        weight, value = sum(map(mul, n, r)), missing(r)
        need(weight or value <= 0, "a ray of weight 0 has a gain above its price")
        if weight:
            c = -((-value << bits) // weight)
            most = c if most is None else max(most, c)
    level = known(most, "no ray has a weight")
    safe = [u - -(-level * w >> bits) for u, w in zip(prices, n, strict=True)]
    if found.rest is None:
        return safe
    alone = [max(0, missing([int(x == z) for z in range(k)])) for x in range(k)]
    return [u - v for u, v in zip(safe, found.rest(alone), strict=True)]
