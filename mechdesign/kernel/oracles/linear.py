"""Oracles for linear costs: none but multipliers of rows, or ratios of inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from mechdesign.kernel.arithmetic import known, need, scaled
from mechdesign.kernel.generators import Constant
from mechdesign.kernel.oracles.common import GRID, ceilings, integers, natural, parts_of
from mechdesign.kernel.proof import Cost, Ends, Oracle, Program
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Orthant(Oracle):
    """After multipliers of rows a cost is a safe price itself.

    Prices u = c have u . q <= c . q for every q.
    """

    def linear(self, statement: Statement) -> Callable[[Cost, Cost, Ends | None], Cost]:
        return lambda cost, *_: cost


@dataclass(frozen=True)
class Line(Oracle):
    """Ratios of neighbors in an order, bounded in both directions: a walk from both ends.

    Let z follow x in the order, and down_x q_x <= q_z <= up_x q_x. The inputs after x cost at
    least R_x q_x: at the end R = 0, and with t = d_z + R_z they cost at least t q_z, so R_x = t
    down_x if t >= 0, and t up_x if t < 0. From the other end likewise L_x. Hence, for d = c - u
    and any x,

        d . q  >=  W_x q_x,    W_x = d_x + R_x + L_x,

    and u + W_x e_x is safe. The largest W is taken. Any order is valid.

    Linear costs, if neighbors in the order bound each other; None is the order of inputs.
    """

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


ONE = 1 << GRID

NEWTON = 40
"""The largest number of Newton's steps; the rest is subtracted from the prices."""


@dataclass(frozen=True)
class OneBudget(Oracle):
    """Ratios inside blocks: the cheapest column for a cost and prices is found in closed form.

    Let B be a block of inputs, t the least entry of q in B, and M_x >= 1 the largest bound on
    q_x / q_z over z in B, of all ratios of the cone together. Then t <= q_x <= M_x t. (Without
    M_x the price of x is lowered to its cost, and only q_x >= t is used.) So with d = c - u,
    weights n >= 0 and any level at which e = d - level n is >= 0 where there is no M_x,

        (d - level n) . q  >=  t W,    W = Sum_x e_x + Sum_x (M_x - 1) min(0, e_x),

    on the block, as e_x q_x >= e_x t where e_x >= 0, and e_x q_x >= e_x M_x t elsewhere. If
    W >= 0, u + level n is safe there. W is concave and decreases in the level, so Newton's
    steps, from any level, find the largest such one; a remaining shortfall of W is subtracted
    from the prices, as t W >= W n . q / n(B) for W < 0. If n is 0 on a block, its first input
    has the weight 1. Outside of all blocks a price is at most the cost.
    """

    blocks: tuple[tuple[int, ...], ...] | None = None

    def linear(self, statement: Statement) -> Callable[[Cost, Cost, Ends | None], Cost]:
        """Return the closed form. Levels and prices are rounded down, M up."""
        weights = integers(natural(statement), statement.k)
        parts = []
        for block in parts_of(self.blocks, statement.k):
            n = [weights[x] for x in block]
            n = n if any(n) else [1, *n[1:]]
            raised = [m and m - ONE for m in ceilings(statement, block)]
            parts.append((block, n, raised, max(n).bit_length()))

        def price(cost: Cost, prices: Cost, *_: object) -> Cost:
            safe = [min(a, b) for a, b in zip(cost, prices, strict=True)]
            for block, n, raised, bits in parts:
                u = [
                    safe[x] if m is None else prices[x] for x, m in zip(block, raised, strict=True)
                ]
                d = [cost[x] - v << bits for x, v in zip(block, u, strict=True)]
                level = _level(d, n, raised)
                for x, v, w in zip(block, u, n, strict=True):
                    safe[x] = v + (level * w >> bits)
            return safe

        return price

    def steps(self, statement: Statement, program: Program) -> int:
        k, ratios, kinds = statement.k, statement.ratios, 1
        for part in ratios:
            e, masses = part.exponents, set(part.prior or (0,))
            apart = 2 * len(set(e.block or (0,))) if isinstance(e, Constant) else k
            kinds = min(k, kinds * apart * len(masses))
        pairs = len(ratios) * (20 * k + 40 * kinds**2)
        return pairs + 12 * k * len(program.nodes or ())


def _level(d: list[int], n: list[int], raised: list[int | None]) -> int:
    """Return the largest level with W >= 0, rounded down, over the unit of d."""
    free = zip(d, n, raised, strict=True)
    cap = min((a // b for a, b, m in free if m is None and b), default=None)
    level, whole, total = 0, sum(n), sum(d)
    for step in range(NEWTON):
        rest, column = total - level * whole << GRID, whole << GRID
        for a, b, m in zip(d, n, raised, strict=True):
            if m and (e := a - level * b) < 0:
                rest += e * m
                column += b * m
        if step and rest >= 0:
            break
        if step == NEWTON - 1:
            return level + (rest // (whole << GRID))
        level += rest // column
        level = level if cap is None else min(level, cap)
    return level
