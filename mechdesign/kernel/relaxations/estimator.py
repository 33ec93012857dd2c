"""A risk of estimation is at least a constant minus a gain: a sum of squares over the outputs.

M = Sum_y q_y q_y' / (p . q_y), and v_x = (M**-1)_xx (infinite where M is singular). For any vector
a, v_x >= 2 a_x - a' M a (largest at a = M**-1 e_x); and, where a_x = 1, 1 / v_x <= a' M a (Cauchy
and Schwarz). A deviation w >= 0, w**2 + s = v with s = p_x**2, is at any t > 0

    w  >=  c - b / v,    b = (t**2 + s)**2 / (2 t),    c = t + (t**2 + s) / (2 t),

as w - c + b / v = (w - t)**2 (w + (t**2 - s) / (2 t)) / v. The last factor is >= 0 if t**2 >= s, or
where w >= (s - t**2) / (2 t): as no channel estimates better than the inputs do, w**2 >= p (1 - p).
a' M a is Sum_y (a . q_y)**2 / (p . q_y): a gain of squares, with the weights b rounded up.

**Any multiple of p is free.** The columns sum to 1, so that M p = 1. For a = d + m p

    a' M a  =  d' M d + 2 m Sum_z d_z + m**2,

and only d, the vector in the file, is in the gain. For v_x the best is m = p_x - Sum_z d_z, which
adds m**2 to the bound; for a deviation m = (1 - d_x) / p_x makes a_x = 1. So vectors with only the
entry x do well, and their gain splits by inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from mechdesign.exact import PI, shortened, sqrt_lower, sqrt_upper
from mechdesign.kernel.arithmetic import dot, expect, known, need
from mechdesign.kernel.gains import Gain, Squares
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Slot
from mechdesign.kernel.statement import Statement


def root_factor(*, up: bool) -> Fraction:
    """Return sqrt(1 / (2 pi)), rounded."""
    low, high = PI
    return sqrt_upper(1 / (2 * low)) if up else sqrt_lower(1 / (2 * high))


@dataclass(frozen=True)
class Estimator(Slot):
    """The risk at a prior: a vector for each input, and for deviations a tangent."""

    vectors: tuple[Numbers, ...]
    tangents: Numbers | None = None

    def __call__(self, statement: Statement) -> Statement:
        k, words = statement.k, "an estimator is for the risk at a prior"
        aim = expect(statement.objective, Risk, words)
        p, rows = known(aim.prior, words), tuple(tuple(map(Fraction, v)) for v in self.vectors)
        need(len(p) == k and min(p) > 0, "expected a prior without zeros")
        need(len(rows) == k and all(len(row) == k for row in rows), "expected k vectors")
        if aim.roots:
            gain = self._of_roots(p, rows)
        else:
            rest = [a - sum(row) for a, row in zip(p, rows, strict=True)]
            own = 2 * sum(row[x] for x, row in enumerate(rows))
            gain = Squares(rows, p, constant=own + Fraction(dot(rest, rest) - dot(p, p)))
        return replace(statement, objective=gain)

    def _of_roots(self, p: tuple[Fraction, ...], rows: tuple[tuple[Fraction, ...], ...]) -> Gain:
        """Return the gain of the deviations, times the factor rounded down.

        A negative bound is also below the risk.
        """
        tangents = [Fraction(t) for t in self.tangents or ()]
        need(len(tangents) == len(p) and min(tangents) > 0, "expected a tangent > 0 for each input")
        factor, constant, weights = root_factor(up=False), Fraction(0), []
        for x, (a, t, row) in enumerate(zip(p, tangents, rows, strict=True)):
            s, more = a * a, (1 - row[x]) / a
            slope = (t * t - s) / (2 * t)
            need(slope >= 0 or slope * slope <= a - s, "a tangent is too small")
            weights.append(shortened(factor * (t * t + s) ** 2 / (2 * t), up=True))
            constant += factor * (t + (t * t + s) / (2 * t))
            constant -= weights[-1] * more * (2 * sum(row) + more)
        return Squares(rows, p, tuple(weights), constant=constant)

    def steps(self, statement: Statement) -> int:
        return statement.k * (statement.k + 10)
