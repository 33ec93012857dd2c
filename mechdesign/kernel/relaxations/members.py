"""Bounds on the lift for a set of priors imply those for listed members of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from mechdesign.kernel.arithmetic import expect, need
from mechdesign.kernel.generators import Cone, Latent, Lift, Listed, distribution
from mechdesign.kernel.proof import Slot
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Members(Slot):
    """Members of the set of the generator at ``place``, each checked."""

    place: int
    priors: tuple[tuple[Fraction, ...], ...]

    def __call__(self, statement: Statement) -> Statement:
        """Return the statement with a list of priors in place of the set."""
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
        """Return the entries of the priors, compared with those of a list."""
        parts = (part.inner if isinstance(part, Latent) else part for part in statement.cone)
        most = max((part.priors.count for part in parts if isinstance(part, Lift)), default=1)
        return sum(map(len, self.priors)) * (1 + most)
