"""Ratios of neighbors in an order, bounded in both directions: a walk from both ends.

Let z follow x in the order, and down_x q_x <= q_z <= up_x q_x. The inputs after x cost at least R_x
q_x: at the end R = 0, and with t = d_z + R_z they cost at least t q_z, so R_x = t down_x if t >= 0,
and t up_x if t < 0. From the other end likewise L_x. Hence, for d = c - u and any x,

    d . q  >=  W_x q_x,    W_x = d_x + R_x + L_x,

and u + W_x e_x is safe. The largest W is taken. Any order is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from mechdesign.kernel.arithmetic import known, need, scaled
from mechdesign.kernel.oracles.common import GRID
from mechdesign.kernel.proof import Cost, Ends, Oracle, Program
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Line(Oracle):
    """Linear costs, if neighbors in the order bound each other; None is the order of inputs."""

    order: tuple[int, ...] | None = None

    def linear(self, statement: Statement) -> Callable[[Cost, Cost, Ends | None], Cost]:
        """Return the walk. W is rounded down, so that the prices stay safe."""
        order = range(statement.k) if self.order is None else self.order
        need(sorted(order) == list(range(statement.k)), "expected all inputs in an order")
        right, left = _steps(statement, order), _steps(statement, order[::-1])

        def price(cost: Cost, prices: Cost, *_: object) -> Cost:
            d = [cost[x] - prices[x] for x in order]
            after, before = _beyond(d, right), _beyond(d[::-1], left)[::-1]
            worth = [a + b + c for a, b, c in zip(d, after, before, strict=True)]
            most, safe = max(worth), list(prices)
            safe[order[worth.index(most)]] += most
            return safe

        return price

    def steps(self, statement: Statement, program: Program) -> int:
        """Return two bounds for each pair of neighbors, and two products a step."""
        return statement.k * (500 * max(1, len(statement.cone)) + 12 * len(program.nodes or ()))


def _steps(statement: Statement, order: Sequence[int]) -> list[tuple[int, int]]:
    """Return (down, up) from each input to the next: down is rounded down, up is rounded up."""
    found = []
    for x, z in pairwise(order):
        words = f"the inputs {x} and {z} do not bound each other"
        up, down = (known(m, words) for m in (statement.ratio(z, x), statement.ratio(x, z)))
        found.append((scaled(Fraction(1) / down, bits=GRID), scaled(up, up=True, bits=GRID)))
    return found


def _beyond(d: Sequence[int], steps: Sequence[tuple[int, int]]) -> list[int]:
    """Return R, rounded down: t >= 0 takes a factor that is too small, t < 0 one too large."""
    total, found = 0, [0]
    for cost, (down, up) in zip(reversed(d[1:]), reversed(steps), strict=True):
        total += cost
        total = total * (down if total >= 0 else up) >> GRID
        found.append(total)
    return found[::-1]
