"""Objectives with a cost for each real number, a parabola: nodes for some, joined in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from mechdesign.kernel.arithmetic import BITS, dot, expect, known, lattice, need, scaled
from mechdesign.kernel.gains import ONE, ZERO, Gain, Hellinger, Squares
from mechdesign.kernel.objectives import Reading
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Cost, Program, Slot, parabolas
from mechdesign.kernel.statement import Statement


def costs_between(
    s: Sequence[Fraction], p: Sequence[Fraction], v: Sequence[Fraction]
) -> tuple[list[Cost], list[Cost]]:
    """Return s_i**2 p - s_i v rounded down, and (s_{i+1} - s_i)**2 p rounded up."""
    need(len(s) > 1 and all(a < b for a, b in pairwise(s)), "the nodes are not increasing")
    (mass, value), whole = lattice((p, v))
    costs, bent = [], []
    for a, b in (t.as_integer_ratio() for t in s):
        bottom = b * b * whole
        costs.append(
            [((a * a * m - a * b * f) << BITS) // bottom for m, f in zip(mass, value, strict=True)]
        )
    for a, b in ((t - r).as_integer_ratio() for r, t in pairwise(s)):
        bottom = b * b * whole
        bent.append([-((-a * a * m << BITS) // bottom) for m in mass])
    return costs, bent


@dataclass(frozen=True)
class Decoders(Slot):
    """A gain (v . q)**2 / (p . q) of one vector: posterior means, chi-squared, Fisher information.

    For every s, -(v . q)**2 / (p . q) <= s**2 p . q - 2 s v . q, with equality at
    s = v . q / p . q, a mean of the numbers v_x / p_x and so between the least and the largest
    of them. (If p . q is 0, so is v . q, and the costs of all s are 0.) A column has the cost
    c(s) = s**2 p - 2 s v of that s. Between nodes s**2 is its chord minus (s - s_i)
    (s_{i+1} - s): the join of parabolas.

    A gain of one square: nodes from the least to the largest decoder.
    """

    nodes: tuple[Fraction, ...]

    def __call__(self, statement: Statement) -> Program:
        words = "decoders are for a gain of squares"
        aim = expect(statement.objective, Squares, words)
        one = len(aim.vectors) == 1 and aim.weights is None
        need(one, "decoders need a gain of one square")
        (v,), p = aim.vectors, aim.p
        finite = all(b > 0 or (not a and not b) for a, b in zip(v, p, strict=True))
        need(finite and any(p), "the gain may be infinite")
        ends = [a / b for a, b in zip(v, p, strict=True) if b]
        costs, bent = costs_between(self.nodes, p, [2 * a for a in v])
        reach = self.nodes[0] <= min(ends) and max(ends) <= self.nodes[-1]
        need(reach, "the decoders do not cover all values")
        return Program(aim.constant, costs, join=lambda found: parabolas(found, bent))

    def steps(self, statement: Statement) -> int:
        return 4 * statement.k * len(self.nodes)


@dataclass(frozen=True)
class Chords(Slot):
    """A gain of one scalar, (p . q) h(s), s = v . q / p . q: divergences of two mixtures.

    h is convex: the gain where v . q = s and p . q = 1. Between two nodes it is at most its chord
    A + B s, so that a column has a gain of at most (A p + B v) . q for the chord over its s. h is
    rounded up at the nodes, which raises the chords. For two laws a and b, v = a and p = a + b.

    No column is beyond the nodes if prices 0 are safe for two *tails*: v - s p at the first node,
    and s p - v at the last. (If p . q is 0, so is v . q then, and both are 0.)

    A gain of one vector, or of two laws: nodes, and two tails.
    """

    nodes: tuple[Fraction, ...]

    def __call__(self, statement: Statement) -> Program:
        words = "chords need a gain of one vector, or of two laws"
        aim, s = expect(statement.objective, Gain, words), self.nodes
        (v, *more), p = aim.vectors, aim.p
        need(len(more) == isinstance(aim, Hellinger), words)
        need(min(p) >= 0 < max(p), "the gain may be infinite")
        need(len(s) > 1 and all(a < b for a, b in pairwise(s)), "the nodes are not increasing")
        plane = ((ONE, ZERO), (-ONE, ONE))[: len(aim.vectors)]
        within = isinstance(aim, Squares) or all(dot(u, (t, ONE)) >= 0 for u in plane for t in s)
        need(within, "the gain is not defined at a node")
        alone = replace(aim, vectors=plane, p=(ZERO, ONE))
        heights, costs = [alone((t, ONE), up=True) for t in s], []
        for (r, low), (t, high) in pairwise(zip(s, heights, strict=True)):
            slope = (high - low) / (t - r)
            level = low - slope * r
            costs.append([scaled(-level * m - slope * f) for m, f in zip(p, v, strict=True)])
        for sign, t in ((-1, s[0]), (1, s[-1])):
            costs.append([scaled(sign * (t * m - f)) for m, f in zip(p, v, strict=True)])
        return Program(aim.constant, costs, tails=2)

    def steps(self, statement: Statement) -> int:
        return (4 * statement.k + 50) * (len(self.nodes) + 1)


@dataclass(frozen=True)
class Readings(Slot):
    """The variance of any unbiased readings v, Sum_y v_y**2 w . q_y - w . f**2.

    As Sum_y v_y Q[x, y] = f_x, for any slopes m it is m . f - w . f**2 + Sum_y c(v_y) . q_y
    with c(v) = v**2 w - v m. So a column may have the cost c(v) of any real v. Between probes
    they are joined as parabolas. Beyond the last one, V, c(V + t) = c(V) + t (2 V w - m) + t**2
    w, where w . q >= 0: safe prices of V stay safe if prices 0 are safe for the *tail* 2 V
    w - m; below the first one, for its negative.

    A mean variance: probes, and two tails.
    """

    probes: tuple[Fraction, ...]
    slopes: Numbers

    def __call__(self, statement: Statement) -> Program:
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
        return 4 * statement.k * (len(self.probes) + 2)
