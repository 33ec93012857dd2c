"""Statements on some of the inputs: the others are dropped, or represented by those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import mul

from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower
from mechdesign.kernel.arithmetic import UNIT, need, over_one_denominator, scaled
from mechdesign.kernel.gains import Gain, Vector, cut
from mechdesign.kernel.generators import Rows
from mechdesign.kernel.objectives import Loss, Losses, Objective, Reading, Risk
from mechdesign.kernel.proof import Slot, mean_loss
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Restrict(Slot):
    """Drop inputs: the rest of a private channel is a channel on the others.

    It satisfies every row on kept inputs only: the ratios between them, lifts at a prior that
    is 0 elsewhere, listed rows on them. A limit keeps the parts on them, whose largest is not
    larger: those for bounds, as no channel is checked here. (Other generators stay in place as
    empty lists of rows, other limits are dropped.)

    The objective must not increase. A mean loss does not if the dropped inputs have costs >= 0
    or weight 0; a mean variance if their weight is >= 0, as Sum_y v_y**2 Q[x, y] >= f_x**2 for
    an unbiased v; a worst case never does, as it is the maximum over fewer inputs; a gain is
    unchanged if it does not depend on the dropped inputs.
    """

    inputs: tuple[int, ...]

    def __call__(self, statement: Statement) -> Statement:
        kept, k = self.inputs, statement.k
        once = len(set(kept)) == len(kept) and all(x < k for x in kept)
        need(kept and once, "expected some inputs, each once")
        gone = sorted(set(range(k)).difference(kept))
        return restricted(statement, kept, _objective(statement.objective, kept, gone))

    def steps(self, statement: Statement) -> int:
        aim = statement.objective
        outputs = aim.costs.n_outputs if isinstance(aim, Loss) else 1
        return statement.k * (outputs + len(statement.cone)) + len(self.inputs) ** 2


def restricted(statement: Statement, kept: Sequence[int], objective: Objective | None) -> Statement:
    """Return the rows and limits on the kept inputs, with an objective on them."""
    cone = tuple(part.on(kept) or Rows(()) for part in statement.cone)
    limits = tuple(found for limit in statement.limits if (found := limit.on(kept)))
    return replace(statement, k=len(kept), cone=cone, limits=limits, objective=objective)


def _objective(aim: Objective | None, kept: Sequence[int], gone: Sequence[int]) -> Objective | None:
    if aim is None:
        return None
    if isinstance(aim, Gain):
        return aim.on(kept)
    if isinstance(aim, Risk):
        raise CertificateError("a risk needs all inputs")
    weights = aim.weights
    counted = [x for x in gone if weights is not None and weights[x]]
    w = None if weights is None else cut(weights, kept)
    need(weights is None or min(weights) >= 0, "an input has a negative weight")
    if isinstance(aim, Reading):
        return Reading(cut(aim.values, kept), w)
    losses = aim.costs
    if counted:
        least = (losses.lower(y)[x] for y in range(losses.n_outputs) for x in counted)
        need(min(least) >= 0, "a removed input has a negative cost")

    def of(y: int, up: bool) -> list[int]:
        costs = losses.of(y, up)
        return [costs[x] for x in kept]

    return replace(aim, costs=Losses(losses.n_outputs, losses.denominator, of), weights=w)


@dataclass(frozen=True)
class Representatives(Slot):
    """Representatives of the inputs.

    Let q_x >= s_x q_r(x) for every private column, with 1 / s_x a bound on q_r(x) / q_x; s_x is
    1 if x is its own representative, and 0 without a bound.

    Costs and weights are not negative. So the cost w_x D_y[x] of x, shrunk by s_x, moves to
    r(x):

        Sum_x w_x D_y[x] q_x >= Sum_i C_y[i] q_i,    C_y[i] = Sum_{r(x) = i} w_x s_x D_y[x],

    and the statement is on the representatives i alone, on which the channel is a channel.
    Factors and costs are rounded down. There is no table of all outputs: costs are computed on
    demand.

    A mean loss on a subset of the inputs; ``stands`` has the representative of each input.
    """

    stands: tuple[int, ...]

    def __call__(self, statement: Statement) -> Statement:
        r, k = self.stands, statement.k
        aim, weights = mean_loss(statement, "representatives are for a mean loss")
        each = len(r) == k and all(i < k and r[i] == i for i in set(r))
        need(each, "expected a representative for each input, which represents itself")
        kept = sorted(set(r))
        moved = _moved(statement, aim.costs, weights, r, kept)
        ones = (Fraction(1),) * len(kept)
        return restricted(statement, kept, replace(aim, costs=moved, weights=ones))

    def steps(self, statement: Statement) -> int:
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
