"""Boxes of lifts as a certificate of the kernel has them: a tree of cuts, and multipliers of rows.

Branch and bound has two more coordinates, the least entry t of a column and the greatest T. Rows on
T <= m P' . r with r_x <= T are rows r_x <= m P' . r: their multipliers are divided in proportion.
What those of T <= m P' . r have more counts for the entry with the largest lower end, as T is not
below it. So do rows on t, with the entry that has the least upper end. Cuts at t or T have no
counterpart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log

from mechdesign._typing import FloatArray
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.multipliers import block_of
from mechdesign.evidence.rows import members_of, negated, relaxed
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Lift, Listed, Ratio
from mechdesign.kernel.linearizations import Boxes
from mechdesign.kernel.objectives import GainObjective
from mechdesign.kernel.oracles import Knapsack
from mechdesign.kernel.proof import Ends
from mechdesign.kernel.relaxations import Implied, Members, Relaxations
from mechdesign.kernel.statement import Statement
from mechdesign.prior_sets import Weights as Prior
from mechdesign.problem import Problem
from mechdesign.search.rays.box_tree import BoxNode

__all__ = ["box_certificate"]

IMPLIED = Implied(alone=False)

Term = tuple[int, str, int, int, float]
"""The place of a generator, the side, x, other, and the multiplier."""


def box_certificate(
    problem: Problem,
    potentials: FloatArray,
    nodes: Sequence[BoxNode],
    priors: Mapping[int, Sequence[Prior]],
    numbers: Mapping[int, int],
) -> Certificate:
    """Return the certificate of a branch and bound over boxes.

    Parameters
    ----------
    problem
        With a gain that splits by inputs.
    potentials
        ``(n_inputs,)``, of the gain.
    nodes
        The tree, in the order of a walk that goes to the lower part first.
    priors
        The priors whose rows leaves have multipliers of, by notion.
    numbers
        The number of each prior in that list, by that in the nodes.

    Raises
    ------
    UnsupportedError
        If a box is cut at its least or greatest entry.
    """
    compiled, k = problem.compiled, len(problem.domain)
    statement, aim = compiled.statement, compiled.statement.objective
    p = getattr(aim.form, "p", None) if isinstance(aim, GainObjective) else None
    if p is None:
        raise UnsupportedError("objective", "a gain with a tree of boxes", "another")
    tree = tuple(None if n.cut is None else (n.cut[0], as_fraction(n.cut[1])) for n in nodes)
    if any(cut is not None and cut[0] >= k for cut in tree):
        raise UnsupportedError("boxes", "cuts at inputs", "a cut at the least or greatest entry")
    # the boxes are of lifts at the prior of the gain
    named = [*priors.items(), *((n, [problem.prior.probabilities]) for n in priors)]
    members = members_of(compiled, named)
    terms = _Terms(statement, members)
    steps: list[Relaxations] = [Members(at, tuple(listed)) for at, listed in members.items()]
    if terms.closes:
        steps.append(IMPLIED)
    small, line = relaxed(statement, steps), Boxes(tree)
    regions = line(small).regions or []
    lists: dict[tuple[int, str], list[tuple[int, int, int, float]]] = defaultdict(list)
    leaves = [node for node in nodes if node.cut is None]
    for place, leaf in zip(line.nodes(small), leaves, strict=True):
        if place is not None:
            x, z, w = leaf.rows
            rows, others = ([numbers.get(n, n) for n in at.tolist()] for at in (x, z))
            for at, side, a, b, weight in terms.of_leaf(regions[place], rows, others, w.tolist()):
                lists[at, side].append((place, a, b, weight))
    multipliers = [block_of("cone", *at, entries) for at, entries in lists.items()]
    return Certificate(line, Knapsack(p), tuple(steps), tuple(multipliers), negated(potentials))


class _Terms:
    """The rows that multipliers of leaves are on.

    Attributes
    ----------
    closes
        Whether rows together imply a ratio that is tighter, so that the implied ones are needed.
    """

    def __init__(self, statement: Statement, members: dict[int, list[Prior]]) -> None:
        self._statement, self._k = statement, statement.k
        self._implied = IMPLIED(statement).ratios[-1]
        self._listed = [
            (place, n, statement.cone[place])
            for place, priors in members.items()
            for n in range(len(priors))
        ]
        pairs = [(x, z) for x in range(statement.k) for z in range(statement.k) if x != z]
        self._best = {pair: self._row(*pair) for pair in pairs}
        implied = self._implied.exponents
        unmet = (implied.at(*pair, up=True) for pair, row in self._best.items() if row is None)
        self.closes = not _is_one_lift(statement) and any(a is not None for a in unmet)

    def of_leaf(
        self, region: Ends, rows: Sequence[int], others: Sequence[int], weights: Sequence[float]
    ) -> Iterator[Term]:
        """Yield the multipliers of a leaf, whose box is the region."""
        k, tops, bottoms = self._k, defaultdict[int, float](float), defaultdict[int, float](float)
        above, below = dict[int, float](), dict[int, float]()
        for a, b, w in zip(rows, others, weights, strict=True):
            if a < k and b < k:
                best = self._best[a, b]
                if best is None:
                    yield len(self._statement.cone), "", a, b, w
                else:
                    yield best[1], "", a, b, w / best[2]
            elif a == k:
                bottoms[b] += w
            elif b == k + 1:
                tops[a] += w
            elif a == k + 1:
                above[b - k - 2] = w
            else:
                below[a - k - 2] = w
        low, high = region
        most = sum(w / float(self._lift(n).ends()[1] or 1) for n, w in above.items())
        tops[low.index(max(low))] += max(0.0, most - sum(tops.values()))
        yield from self._pairs("upper", above, tops, max(most, sum(tops.values())))
        most = sum(below.values())
        bottoms[high.index(min(high))] += max(0.0, most - sum(bottoms.values()))
        yield from self._pairs("lower", below, bottoms, max(most, sum(bottoms.values())))

    def _pairs(
        self, side: str, priors: dict[int, float], entries: dict[int, float], whole: float
    ) -> Iterator[Term]:
        """Yield multipliers of bounds on the lift: products, over what they would sum to."""
        for n, w in priors.items():
            place, number, _ = self._listed[n]
            for x, v in entries.items():
                if v:
                    yield place, side, x, number, w * v / whole

    def _lift(self, n: int) -> Lift:
        part = self._listed[n][2]
        if not isinstance(part, Lift):
            raise UnsupportedError("boxes", "bounds on the lift of the inputs", part.kind)
        return part

    def _row(self, x: int, z: int) -> tuple[float, int, float] | None:
        """Return the tightest row on q_x / q_z: its logarithm, generator and scale.

        None if several rows imply a tighter one.
        """
        best: tuple[float, int, float] | None = None
        for place, part in enumerate(self._statement.cone):
            if isinstance(part, Ratio):
                a = part.exponents.at(x, z, up=True)
                if a is not None:
                    scale = float(part.scale(x, z))
                    found = (float(a) + log(scale), place, scale)
                    best = found if best is None or found < best else best
        implied = self._implied.exponents.at(x, z, up=True)
        is_beaten = best is not None and implied is not None and float(implied) < best[0]
        return None if is_beaten else best


def _is_one_lift(statement: Statement) -> bool:
    """Return whether all rows bound the lift at one prior, as boxes do by themselves."""
    lifts = (part.priors for part in statement.cone if isinstance(part, Lift))
    alone = [prior for prior in lifts if isinstance(prior, Listed) and prior.count == 1]
    return len(alone) == len(statement.cone)
