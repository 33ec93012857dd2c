"""Drop inputs: the rest of a private channel is a channel on the others.

It satisfies every row on kept inputs only: the ratios between them, lifts at a prior that is 0
elsewhere, listed rows on them. A limit keeps the parts on them, whose largest is not larger: those
for bounds, as no channel is checked here. (Other generators stay in place as empty lists of rows,
other limits are dropped.)

The objective must not increase. A mean loss does not if the dropped inputs have costs >= 0 or
weight 0; a mean variance if their weight is >= 0, as Sum_y v_y**2 Q[x, y] >= f_x**2 for an unbiased
v; a worst case never does, as it is the maximum over fewer inputs; a gain is unchanged if it does
not depend on the dropped inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.gains import Gain, cut
from mechdesign.kernel.generators import Rows
from mechdesign.kernel.losses import Losses
from mechdesign.kernel.objectives import Loss, Objective, Reading, Risk
from mechdesign.kernel.proof import Slot
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Restrict(Slot):
    """The statement on a subset of the inputs, in the order given."""

    inputs: tuple[int, ...]

    def __call__(self, statement: Statement) -> Statement:
        """Return the statement on the kept inputs."""
        kept, k = self.inputs, statement.k
        once = len(set(kept)) == len(kept) and all(x < k for x in kept)
        need(kept and once, "expected some inputs, each once")
        gone = sorted(set(range(k)).difference(kept))
        return restricted(statement, kept, _objective(statement.objective, kept, gone))

    def steps(self, statement: Statement) -> int:
        """Return the kept entries of exponents, and the dropped entries of losses."""
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
