"""Notions that bound the lift P(x|y) / P(x): from above, from below or both, for some priors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Self

from mechdesign.domain import Domain
from mechdesign.notions.base import Notion, prior_for
from mechdesign.notions.rows.cone import Bound
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior import Prior
from mechdesign.prior_sets import PriorList, PriorSet

__all__ = ["ForEveryPrior", "LiftNotion"]


class LiftNotion(Notion):
    """Bounds on the lift of every input, for the prior of the problem.

    A subclass states the bounds; an ``epsilon``, if it has one, is where they stand.
    """

    on_interval = "mixture"
    needs_prior = True

    @property
    @abstractmethod
    def bounds(self) -> tuple[Bound | None, Bound | None]:
        """The bound on the lift and that on its inverse; None for none."""

    def priors_for(self, domain: Domain, prior: Prior | None) -> PriorSet:
        """Return the priors that the lift is bounded for: that of the problem."""
        return PriorList([prior_for(self.name, domain, prior)])

    def family(self, domain: Domain, prior: Prior | None = None) -> LiftRows:
        """Compile to the bounds on the lift, for each of the priors."""
        epsilon = getattr(self, "epsilon", Fraction(0))
        return LiftRows(self.name, self.priors_for(domain, prior), *self.bounds, epsilon)

    @property
    def bounds_lift_from_below(self) -> bool:
        """Whether the inverse of the lift is bounded."""
        return self.bounds[1] is not None

    def of_each_law(self, blocks: Sequence[Sequence[Any]], *, every_law: bool) -> Self:
        """Return the same: lifts under a law are those of the values together with the law."""
        return self


class ForEveryPrior(LiftNotion):
    """Bounds on the lift for every prior of a set, whatever the prior of the problem is."""

    allows_sensitive_attribute = False
    on_interval = ""
    needs_prior = False
    priors: PriorSet

    def priors_for(self, domain: Domain, prior: Prior | None) -> PriorSet:
        """Return the set, in the order of the domain."""
        return self.priors.aligned(domain)

    @property
    def bounds_lift_from_below(self) -> bool:
        """False: the prior of X need not be one of the set."""
        return False
