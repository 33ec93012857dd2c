"""A risk of estimation, bounded by what is linear in M: a sum of squares over the outputs.

M = Sum_y q_y q_y' / (p . q_y), and v_x = (M**-1)_xx (infinite where M is singular). For any vector
a, v_x >= 2 a_x - a' M a (largest at a = M**-1 e_x); and, where a_x = 1, 1 / v_x <= a' M a (Cauchy
and Schwarz). A deviation w >= 0, w**2 + s = v with s = p_x**2, is at any t > 0

    w  >=  c - b / v,    b = (t**2 + s)**2 / (2 t),    c = t + (t**2 + s) / (2 t),

as w - c + b / v = (w - t)**2 (w + (t**2 - s) / (2 t)) / v. The last factor is >= 0 if t**2 >= s, or
where w >= (s - t**2) / (2 t): as no channel estimates better than the inputs do, w**2 >= p (1 - p).
a' M a is Sum_y (a . q_y)**2 / (p . q_y): a gain of squares, with the weights b rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mechdesign.exact import PI, sqrt_lower, sqrt_upper
from mechdesign.kernel.arithmetic import dot, expect, known, need, shortened
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Linearization, Program
from mechdesign.kernel.statement import Statement


def root_factor(*, up: bool) -> Fraction:
    """Return sqrt(1 / (2 pi)), rounded."""
    low, high = PI
    return sqrt_upper(1 / (2 * low)) if up else sqrt_lower(1 / (2 * high))


@dataclass(frozen=True)
class Estimator(Linearization):
    """The risk at a prior: a vector for each input, and for deviations a tangent."""

    kind: ClassVar[str] = "estimator"
    vectors: tuple[Numbers, ...]
    tangents: Numbers | None = None

    def __call__(self, statement: Statement) -> Program:
        """Return a gain of squares."""
        k, words = statement.k, "an estimator is for the risk at a prior"
        aim = expect(statement.objective, Risk, words)
        p, rows = known(aim.prior, words), tuple(tuple(map(Fraction, v)) for v in self.vectors)
        need(len(p) == k and min(p) > 0, "expected a prior without zeros")
        need(len(rows) == k and all(len(row) == k for row in rows), "expected k vectors")
        if not aim.roots:
            constant = 2 * sum(row[x] for x, row in enumerate(rows)) - dot(p, p)
            return Program(Fraction(constant), gain=Squares(rows, p))
        need(all(row[x] == 1 for x, row in enumerate(rows)), "expected vectors with a_x = 1")
        tangents = [Fraction(t) for t in self.tangents or ()]
        need(len(tangents) == k and min(tangents) > 0, "expected a tangent > 0 for each input")
        constant, weights = Fraction(0), []
        for a, t in zip(p, tangents, strict=True):
            s = a * a
            slope = (t * t - s) / (2 * t)
            need(slope >= 0 or slope * slope <= a - s, "a tangent is too small")
            constant += t + (t * t + s) / (2 * t)
            weights.append(shortened((t * t + s) ** 2 / (2 * t), up=True))
        return Program(constant, gain=Squares(rows, p, tuple(weights)), finish=_finish)

    def steps(self, statement: Statement) -> int:
        """Return the entries of the vectors."""
        return statement.k * (statement.k + 10)


def _finish(bound: Fraction) -> Fraction:
    return root_factor(up=False) * max(Fraction(0), bound)
