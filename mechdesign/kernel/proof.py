"""The one inequality, and the five slots of a certificate.

Let F(Q) = constant + Sum_y f(q_y) be minimized over channels whose columns lie in a cone. Prices u
are **safe** if f(q) >= u . q for every q of the cone and every cost f that a column may have. Then

    F(Q)  >=  constant + Sum_y u . q_y  =  constant + Sum_x u_x,

as the columns sum to 1. Limits Sum_y h_i(q_y) <= L_i with multipliers m_i >= 0 add Sum m_i h_i to
f, and cost Sum m_i L_i. The rest is how safe prices are found.

1. ``relaxations`` take the statement to others whose optimum is not larger.
2. ``linearization`` writes F with costs that oracles take: finitely many linear costs, the *nodes*
   (with a join), or one convex gain, f = -g.
3. ``multipliers`` w >= 0 of rows g of the cone, and of the parts of limits, by node: the cost c
   becomes c + w g, which is not larger on the cone. (max_j A_j . q is at least any mixture of the
   A_j . q; what a node lacks of the largest sum m of its multipliers goes to A_0.)
4. ``prices``, any, of no meaning for soundness, and
5. the ``oracle``, which makes them safe, node by node.

**The join.** Where a column may have any of some costs, prices are safe if they are at most safe
prices of each, entry by entry: the minimum. Where costs c(s) lie between two neighboring nodes,

    c(s_0 + t d) = (1 - t) c(s_0) + t c(s_0 + d) - t (1 - t) d**2 p,

so are safe prices: the least of the same parabola over t, entry by entry (:func:`least`). So every
oracle for linear costs serves expected and worst-case losses, guesses, posterior errors and
readings.

Work is bounded before it begins: each relaxation, linearization and oracle has ``steps``, a number
computed from sizes, which is compared with what the reader allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import BITS, UNIT, expect, known, need, scaled
from mechdesign.kernel.gains import Gain, Vector
from mechdesign.kernel.generators import Block, Latent, Lift, Listed, Ratio
from mechdesign.kernel.limits import Gauge
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.schema import Kind
from mechdesign.kernel.statement import Statement

Cost = list[int]
"""A cost or prices, one integer over UNIT for each input."""

Ends = tuple[Sequence[Fraction], Sequence[Fraction]]
"""Lower and upper ends of r = q / (p . q): where the columns of a node may lie."""


def minimum(found: list[Cost]) -> Cost:
    """Join nodes for alternative costs of a column: the entrywise minimum."""
    return list(map(min, *found)) if len(found) > 1 else found[0]


@dataclass(frozen=True)
class Program:
    """An objective with costs that oracles take: linear nodes, or one convex gain.

    ``constant``: the additive constant.
    ``nodes``: linear costs; None for a gain.
    ``gain``: g, if the cost of a column is -g(q).
    ``join``: maps safe prices of the nodes to safe prices of every cost that a column may have.
    ``tails``: the number of final nodes for which prices 0 must be safe; they are not joined.
    ``regions``: of each node, ends of r = q / (p . q) for its columns; an oracle may ignore them.
    """

    constant: Fraction
    nodes: list[Cost] | None = None
    gain: Gain | None = None
    join: Callable[[list[Cost]], Cost] = minimum
    tails: int = 0
    regions: list[Ends] | None = None


class Slot(Kind):
    """A relaxation, a function from a statement to one whose optimum is not larger.

    Or a linearization, a function from a statement to its :class:`Program`. Each states its theorem
    and proof, and rejects other statements.
    """

    def steps(self, statement: Statement) -> int:
        """Return an upper bound on the work, from sizes."""
        return statement.k


def mean_loss(statement: Statement, words: str) -> tuple[Loss, Vector]:
    """Return the objective, and its weights; raise CertificateError if it is not a mean loss."""
    aim = expect(statement.objective, Loss, words)
    weights = known(aim.weights, words)
    need(len(weights) == statement.k and min(weights) >= 0, "expected weights >= 0")
    return aim, weights


class Oracle(Kind):
    """Makes prices safe."""

    def linear(self, statement: Statement) -> Callable[[Cost, Cost, Ends | None], Cost]:
        """Return a function from the cost of a node, prices, and the region of the node.

        It returns prices u with ``u . q <= cost . q`` for every q of the cone in the region.
        """
        raise CertificateError(f"the oracle {self.kind!r} does not support linear costs")

    def gain(self, statement: Statement, gain: Gain, prices: Cost) -> Cost:
        """Return prices u with ``g(q) + u . q <= 0`` for every q of the cone."""
        raise CertificateError(f"the oracle {self.kind!r} does not support convex gains")

    def paid(self, statement: Statement) -> Fraction:
        """Return the cost of the limits priced by the oracle: Sum m_i L_i."""
        return Fraction(0)

    def steps(self, statement: Statement, program: Program) -> int:
        """Return an upper bound on the work, from sizes."""
        return statement.k * (len(program.nodes) if program.nodes is not None else 1)


def safe_bound(
    statement: Statement,
    program: Program,
    multipliers: Sequence[Block],
    prices: Numbers | None,
    oracle: Oracle,
) -> Fraction:
    """Return a lower bound on the objective of every private channel."""
    k = statement.k
    need(program.gain is None or not multipliers, "a gain allows no multipliers")
    given = [0] * k if prices is None else prices.scaled(BITS)
    need(len(given) == k, "expected a price for each input")
    if program.gain is not None:
        safe, paid = oracle.gain(statement, program.gain, given), Fraction(0)
    else:
        nodes = program.nodes or []
        need(len(nodes) > program.tails, "the objective has no nodes")
        paid, plain = _multiply(statement, multipliers, program), len(nodes) - program.tails
        price = oracle.linear(statement)
        regions: Sequence[Ends | None] = program.regions or [None] * len(nodes)
        found = [
            price(cost, given if n < plain else [0] * k, regions[n]) for n, cost in enumerate(nodes)
        ]
        reach = all(min(found[n]) >= 0 for n in range(plain, len(found)))
        need(reach, "the nodes do not reach far enough: prices 0 are not safe beyond them")
        safe = program.join(found[:plain])
    rest = Fraction(sum(safe), UNIT) - paid - oracle.paid(statement)
    return program.constant + rest


def multiplier_steps(statement: Statement, nodes: int, multipliers: Sequence[Block]) -> int:
    """Return an upper bound on the work of multipliers, from sizes."""
    steps, k = 0, statement.k
    for block in multipliers:
        entries, part = len(block.x), None
        if block.of == "cone" and block.place < len(statement.cone):
            part = statement.cone[block.place]
        if isinstance(part, Latent):
            steps += nodes * len(part.matrix) * k
            part = part.inner
        dense = entries
        if isinstance(part, Ratio):
            dense = 0
        elif isinstance(part, Lift) and isinstance(part.priors, Listed):
            dense = min(entries, nodes * len(part.priors.priors))
        steps += 4 * entries + dense * k
    return steps


def _multiply(statement: Statement, multipliers: Sequence[Block], program: Program) -> Fraction:
    """Add multipliers to node costs, rounded down; return the cost of limits, rounded up.

    Multipliers of limits do not apply to tails, which must be safe without them.
    """
    nodes = program.nodes or []
    plain = nodes[: len(nodes) - program.tails]
    of_limits: dict[int, list[tuple[int, int, int]]] = {}
    for block in multipliers:
        if block.of == "limit":
            for node, part, after, w in block.entries(len(plain)):
                of_limits.setdefault(block.place + after, []).append((node, part, w))
            continue
        exists = block.of == "cone" and block.place < len(statement.cone)
        need(exists, "a multiplier names a generator that does not exist")
        statement.cone[block.place].add(block, nodes)
    paid = (_multiply_limit(statement, place, terms, plain) for place, terms in of_limits.items())
    return sum(paid, Fraction(0))


def _multiply_limit(
    statement: Statement, place: int, terms: list[tuple[int, int, int]], nodes: list[Cost]
) -> Fraction:
    """Add parts of a limit: (node, part, multiplier); what a node lacks of the most goes to A_0."""
    need(place < len(statement.limits), "a multiplier names a limit that does not exist")
    words = "a limit on information takes the oracle 'entropy'"
    limit, sums = expect(statement.limits[place], Gauge, words), [0] * len(nodes)
    parts = [[(x, scaled(v)) for x, v in net.items()] for net in limit.nets(weak=True)]
    exists = max(j for _, j, _ in terms) < len(parts)
    need(exists, "a multiplier names a part that does not exist")
    for node, _, w in terms:
        sums[node] += w
    most = max(sums)
    for node, j, w in (*terms, *((node, 0, most - have) for node, have in enumerate(sums))):
        for x, v in parts[j]:
            nodes[node][x] += v * w >> BITS
    return Fraction(most, UNIT) * limit.most(up=True)


def parabolas(found: list[Cost], curvatures: list[Cost]) -> Cost:
    """Join nodes in a row; ``curvatures[i]`` is d**2 p between nodes i and i + 1, rounded up."""
    between = [
        [least(a, b, c) for a, b, c in zip(*ends, bent, strict=True)]
        for ends, bent in zip(pairwise(found), curvatures, strict=True)
    ]
    return minimum(between)


def least(a: int, b: int, curvature: int) -> int:
    """Return the minimum of (1 - t) a + t b - curvature t (1 - t), 0 <= t <= 1, rounded down.

    The stationary point is t = 1/2 - (b - a) / (2 curvature), inside where |b - a| < curvature.

    Examples
    --------
    >>> least(0, 0, 4), least(0, 8, 4)
    (-1, 0)
    """
    if abs(b - a) >= curvature:
        return min(a, b)
    return ((2 * (a + b) - curvature) * curvature - (b - a) ** 2) // (4 * curvature)
