"""Less is asked for: a mean in place of a worst case, some priors in place of a set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import expect, need
from mechdesign.kernel.generators import Cone, Latent, Lift, Listed, distribution
from mechdesign.kernel.objectives import Loss, Reading, Risk
from mechdesign.kernel.packed import Weights
from mechdesign.kernel.proof import Slot
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Average(Slot):
    """A worst case over inputs, or over their distributions, is at least the mean at any weights.

    max_x F_x(Q) >= Sum_x w_x F_x(Q) for w >= 0 of sum 1. This holds for each choice of guesses
    and of readings, and so for the best of each.

    A worst case becomes a mean; weights are divided by their sum.
    """

    weights: Weights

    def normalized(self) -> tuple[Fraction, ...]:
        listed = [Fraction(w) for w in self.weights]
        total = sum(listed, Fraction(0))
        need(listed and min(listed) >= 0 < total, "expected weights >= 0")
        return tuple(v / total for v in listed)

    def __call__(self, statement: Statement) -> Statement:
        aim, w = statement.objective, self.normalized()
        need(len(w) == statement.k, "expected weights >= 0 of all inputs")
        if isinstance(aim, Risk) and aim.prior is None:
            return replace(statement, objective=replace(aim, prior=w))
        if isinstance(aim, Loss | Reading) and aim.weights is None:
            return replace(statement, objective=replace(aim, weights=w))
        raise CertificateError("an average needs a worst case")


@dataclass(frozen=True)
class Members(Slot):
    """Bounds on the lift for a set of priors imply those for listed members of it.

    Members of the set of the generator at ``place``, each checked.
    """

    place: int
    priors: tuple[tuple[Fraction, ...], ...]

    def __call__(self, statement: Statement) -> Statement:
        need(self.place < len(statement.cone), "no such generator")
        parts: list[Cone] = list(statement.cone)
        part, k = parts[self.place], statement.k
        latent = part if isinstance(part, Latent) else None
        if latent is not None:
            part, k = latent.inner, len(latent.matrix)
        lift = expect(part, Lift, "members need a set of priors")
        listed = tuple(distribution(p, k) for p in self.priors)
        need(listed and all(map(lift.priors.has, listed)), "a prior is not in the set")
        found = replace(lift, priors=Listed(listed))
        parts[self.place] = found if latent is None else replace(latent, inner=found)
        return replace(statement, cone=tuple(parts))

    def steps(self, statement: Statement) -> int:
        parts = (part.inner if isinstance(part, Latent) else part for part in statement.cone)
        most = max((part.priors.count for part in parts if isinstance(part, Lift)), default=1)
        return sum(map(len, self.priors)) * (1 + most)
