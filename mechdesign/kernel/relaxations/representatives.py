"""Representatives of the inputs.

Let q_x >= s_x q_r(x) for every private column, with 1 / s_x a bound on q_r(x) / q_x; s_x is 1 if x
is its own representative, and 0 without a bound.

Costs and weights are not negative. So the cost w_x D_y[x] of x, shrunk by s_x, moves to r(x):

    Sum_x w_x D_y[x] q_x >= Sum_i C_y[i] q_i,  C_y[i] = Sum over x with r(x) = i of w_x s_x D_y[x],

and the statement is on the representatives i alone, on which the channel is a channel. Factors and
costs are rounded down. There is no table of all outputs: costs are computed on demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import mul

from mechdesign.exact import exp_lower
from mechdesign.kernel.arithmetic import UNIT, need, over_one_denominator, scaled
from mechdesign.kernel.gains import Vector
from mechdesign.kernel.losses import Losses
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.proof import Slot, mean_loss
from mechdesign.kernel.relaxations.restrict import restricted
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Representatives(Slot):
    """A mean loss on a subset of the inputs; ``stands`` has the representative of each input."""

    stands: tuple[int, ...]

    def __call__(self, statement: Statement) -> Statement:
        """Return the statement on the representatives, in their order."""
        r, k = self.stands, statement.k
        aim, weights = mean_loss(statement, "representatives are for a mean loss")
        each = len(r) == k and all(i < k and r[i] == i for i in set(r))
        need(each, "expected a representative for each input, which represents itself")
        kept = sorted(set(r))
        moved = _moved(statement, aim.costs, weights, r, kept)
        ones = (Fraction(1),) * len(kept)
        return restricted(statement, kept, replace(aim, costs=moved, weights=ones))

    def steps(self, statement: Statement) -> int:
        """Return the work of moving losses."""
        aim = statement.objective
        outputs = aim.costs.n_outputs if isinstance(aim, Loss) else 1
        return statement.k * (outputs + 20 * len(statement.cone)) + len(set(self.stands)) ** 2


def _moved(
    statement: Statement, losses: Losses, masses: Vector, stands: Sequence[int], kept: list[int]
) -> Losses:
    """Return the costs of the representatives, over UNIT, rounded down."""
    weights, whole = over_one_denominator(masses)
    members: dict[int, list[int]] = {i: [] for i in kept}
    for x, i in enumerate(stands):
        if weights[x]:
            members[i].append(x)
    order = [x for i in kept for x in members[i]]
    ends = list(accumulate((len(members[i]) for i in kept), initial=0))
    shrunk = [scaled(_factor(statement, x, stands[x])) * weights[x] // whole for x in order]

    def of(y: int, _up: bool) -> list[int]:
        loss = list(map(losses.lower(y).__getitem__, order))
        need(min(loss, default=0) >= 0, "representatives need costs >= 0")
        terms = list(map(mul, shrunk, loss))
        return [sum(terms[a:b]) // losses.denominator for a, b in pairwise(ends)]

    return Losses(losses.n_outputs, UNIT, of)


def _factor(statement: Statement, x: int, stand: int) -> Fraction:
    """Return s with q_x >= s q_stand, rounded down."""
    if x == stand:
        return Fraction(1)
    return max(
        (
            _shrink(a) / part.scale(stand, x)
            for part in statement.ratios
            if (a := part.exponents.at(stand, x, up=True)) is not None
        ),
        default=Fraction(0),
    )


@lru_cache(maxsize=4096)
def _shrink(a: Fraction) -> Fraction:
    return exp_lower(-a)
