"""The variance of any unbiased readings v, Sum_y v_y**2 w . q_y - w . f**2.

As Sum_y v_y Q[x, y] = f_x, for any slopes m it is m . f - w . f**2 + Sum_y c(v_y) . q_y with c(v) =
v**2 w - v m. So a column may have the cost c(v) of any real v. Between probes they are joined as
parabolas. Beyond the last one, V, c(V + t) = c(V) + t (2 V w - m) + t**2 w, where w . q >= 0: safe
prices of V stay safe if prices 0 are safe for the *tail* 2 V w - m; below the first one, for its
negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.kernel.arithmetic import dot, expect, known, need, scaled
from mechdesign.kernel.linearizations.decoders import costs_between
from mechdesign.kernel.objectives import Reading
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Program, Slot, parabolas
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Readings(Slot):
    """A mean variance: probes, and two tails."""

    probes: tuple[Fraction, ...]
    slopes: Numbers

    def __call__(self, statement: Statement) -> Program:
        """Return a node for each probe, and two for the tails."""
        words = "readings are for a mean variance"
        aim = expect(statement.objective, Reading, words)
        w, f, s = known(aim.weights, words), aim.values, self.probes
        need(len(self.slopes) == statement.k, "expected a slope for each input")
        need(len(w) == statement.k and min(w) >= 0, "expected weights >= 0")
        m = [Fraction(v) for v in self.slopes]
        costs, bent = costs_between(s, w, m)
        for sign, t in ((-1, s[0]), (1, s[-1])):
            costs.append([scaled(sign * (2 * t * b - a)) for a, b in zip(m, w, strict=True)])
        constant = Fraction(dot(m, f) - dot(w, [v * v for v in f]))
        return Program(constant, costs, join=lambda found: parabolas(found, bent), tails=2)

    def steps(self, statement: Statement) -> int:
        """Return the entries of the nodes and of the gaps between them."""
        return 4 * statement.k * (len(self.probes) + 2)
