"""Boxes of lifts as a certificate of the kernel has them: a tree of cuts, and multipliers of rows.

Branch and bound has two more coordinates, the least entry t of a column and the greatest T. Rows on
T <= m P' . r with r_x <= T are rows r_x <= m P' . r: their multipliers are divided in proportion.
What those of T <= m P' . r have more counts for the entry with the largest lower end, as T is not
below it. So do rows on t, with the entry that has the least upper end. Cuts at t or T have no
counterpart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import log
from typing import Any

from mechdesign.designs.multipliers import block_of
from mechdesign.errors import UnsupportedError
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Lift, Listed, Ratio
from mechdesign.kernel.linearizations import Boxes
from mechdesign.kernel.objectives import GainObjective
from mechdesign.kernel.oracles import Knapsack
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Ends
from mechdesign.kernel.relaxations import Implied, Relaxations
from mechdesign.kernel.statement import Statement
from mechdesign.prior_sets import Weights as Prior
from mechdesign.routes.base import Dual

__all__ = ["boxes"]

IMPLIED = Implied(alone=False)

Leaf = Sequence[Any]
"""Rows a <= m b by the numbers of a and of b, and their multipliers."""

Term = tuple[int, str, int, int, float]
"""The place of a generator, the side, x, other, and the multiplier."""


def boxes(
    statement: Statement,
    dual: Dual,
    relaxations: Sequence[Relaxations],
    members: dict[int, list[Prior]],
) -> Certificate:
    """Return the certificate of a branch and bound over boxes.

    Raises
    ------
    UnsupportedError
        If a box is cut at its least or greatest entry.
    """
    aim = statement.objective
    p = getattr(aim.form, "p", None) if isinstance(aim, GainObjective) else None
    if dual.tree is None or dual.potentials is None or p is None:
        raise UnsupportedError("objective", "a gain with a tree of boxes", "another")
    k, items = statement.k, dual.tree.to_list()
    tree = tuple((item[0], as_fraction(item[1])) if len(item) == 2 else None for item in items)
    if any(cut is not None and cut[0] >= k for cut in tree):
        raise UnsupportedError("boxes", "cuts at inputs", "a cut at the least or greatest entry")
    leaves = [item[1:] for item in items if len(item) != 2]
    terms = _Terms(statement, members)
    steps = list(relaxations)
    if terms.closes:
        steps.append(IMPLIED)
    relaxed = statement
    for step in steps:
        relaxed = step(relaxed)
    line = Boxes(tree)
    regions = line(relaxed).regions or []
    lists: dict[tuple[int, str], list[tuple[int, int, int, float]]] = defaultdict(list)
    for node, leaf in zip(line.nodes(relaxed), leaves, strict=True):
        if node is not None:
            for place, side, x, other, weight in terms.of_leaf(regions[node], *leaf):
                lists[place, side].append((node, x, other, weight))
    multipliers = [block_of("cone", *at, rows) for at, rows in lists.items()]
    prices = Numbers([-v for v in dual.potentials.tolist()])
    return Certificate(line, Knapsack(p), tuple(steps), tuple(multipliers), prices)


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
