"""A multiplier v of limits on the information, after multipliers of rows.

Let P_x d_x be the cost of a node, b potentials, s = Sum_x P_x e**((b_x - d_x) / v) and l = P . q.
With a_x = P_x q_x and c_x = P_x l e**((b_x - d_x) / v),

    Sum_x P_x q_x (d_x - b_x) + v Sum_x P_x q_x ln(q_x / l)  =  v Sum_x a_x ln(a_x / c_x)
                                                            >=  v a ln(a / c)  =  - v l ln s,

by the log sum inequality, where a = l and c = l s are the sums. So P_x (b_x - v ln s) are safe
prices for the cost plus v times the information, whose limit costs v L. Where P_x is 0 the cost is
its own safe price. Multipliers of limits do not apply to the tails of readings, whose costs must be
safe without them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from mechdesign.exact import exp_upper, log_upper, shortened
from mechdesign.kernel.arithmetic import UNIT, expect, need, scaled
from mechdesign.kernel.limits import Information
from mechdesign.kernel.objectives import Reading
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Cost, Ends, Oracle, Program
from mechdesign.kernel.statement import Statement

MOST, LEAST = 2000, -2000
"""Exponents are at most MOST; those below LEAST are raised to it."""


@dataclass(frozen=True)
class Entropy(Oracle):
    """Linear costs with limits on the information at one prior: (limit, multiplier), and b."""

    multipliers: tuple[tuple[int, Fraction], ...]
    levels: Numbers

    def _limits(self, statement: Statement) -> list[tuple[Information, Fraction]]:
        found = []
        for place, v in self.multipliers:
            limit = statement.limits[place] if place < len(statement.limits) else None
            need(v > 0, "expected multipliers > 0")
            found.append((expect(limit, Information, "expected a limit on information"), v))
        need(len({limit.prior for limit, _ in found}) == 1, "expected limits at one prior")
        return found

    def linear(self, statement: Statement) -> Callable[[Cost, Cost, Ends | None], Cost]:
        """Return the potentials minus v ln s: exponentials, s and ln s are rounded up."""
        need(not isinstance(statement.objective, Reading), "a tail of readings allows no limit")
        limits = self._limits(statement)
        p, v = limits[0][0].prior, sum((m for _, m in limits), Fraction(0))
        levels = [Fraction(n) for n in self.levels]
        need(len(levels) == statement.k, "expected a potential for each input")

        def price(cost: Cost, *_: object) -> Cost:
            total = Fraction(0)
            for w, level, c in zip(p, levels, cost, strict=True):
                if w:
                    exact = (level - Fraction(c, UNIT) / w) / v
                    exponent = Fraction(scaled(exact, up=True, bits=100), 1 << 100)
                    need(exponent <= MOST, "a potential is out of range")
                    total += shortened(w * exp_upper(max(exponent, Fraction(LEAST))), up=True)
            taken = v * log_upper(total)
            return [
                scaled(w * (level - taken)) if w else c
                for w, level, c in zip(p, levels, cost, strict=True)
            ]

        return price

    def paid(self, statement: Statement) -> Fraction:
        return sum((v * limit.limit for limit, v in self._limits(statement)), Fraction(0))

    def steps(self, statement: Statement, program: Program) -> int:
        return 300 * statement.k * (1 + len(program.nodes or ()))
