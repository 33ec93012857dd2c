"""Notions by name that bound the lift P(x | y) / P(x), for one prior or a set of priors."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import ClassVar

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import Ball, Box, Lift, Listed
from mechdesign.kernel.names.base import Asked, Budget, Budgeted, Conic, Notion, Table
from mechdesign.kernel.names.domains import Inputs

Numbers = tuple[Fraction, ...]


def _end(budget: Budget) -> Fraction | None:
    return None if isinstance(budget, str) else budget


@dataclass(frozen=True)
class AsymmetricLift(Conic):
    """e**-lower <= P(x | y) / P(x) <= e**upper."""

    kind: ClassVar[str] = "lift"
    lower: Budget
    upper: Budget

    def generator(self, on: Inputs) -> Lift:
        """Return both bounds for the prior."""
        return Lift(_end(self.lower), _end(self.upper), Listed((on.masses,)))


@dataclass(frozen=True)
class LIP(Budgeted):
    """e**-epsilon <= P(x | y) / P(x) <= e**epsilon."""

    kind: ClassVar[str] = "lip"

    def generator(self, on: Inputs) -> Lift:
        """Return both bounds for the prior."""
        return Lift(self.epsilon, self.epsilon, Listed((on.masses,)))


@dataclass(frozen=True)
class PML(Budgeted):
    """P(x | y) / P(x) <= e**epsilon."""

    kind: ClassVar[str] = "pml"

    def generator(self, on: Inputs) -> Lift:
        """Return the bound from above for the prior."""
        return Lift(None, self.epsilon, Listed((on.masses,)))


@dataclass(frozen=True)
class PriorSet:
    """Priors: a list, or a box between bounds, or a ball in total variation."""

    priors: Table | None = None
    lower: Numbers | None = None
    upper: Numbers | None = None
    center: Numbers | None = None
    radius: Fraction | None = None

    def generator_set(self) -> Listed | Ball | Box:
        """Return the set."""
        stated = {f.name for f in fields(PriorSet) if getattr(self, f.name) is not None}
        if stated == {"priors"}:
            return Listed(self.priors or ())
        if stated == {"lower", "upper"}:
            return Box(self.lower or (), self.upper or ())
        need(stated == {"center", "radius"}, "priors must be a list, a box, or a ball")
        return Ball(self.center or (), self.radius or Fraction(0))


@dataclass(frozen=True)
class BoundedPriorLIP(PriorSet, Notion):
    """LIP for every prior of a set."""

    kind: ClassVar[str] = "bounded-prior-lip"
    bounds_below: ClassVar[bool] = True
    epsilon: Fraction = field(kw_only=True)

    def asked(self, on: Inputs) -> Asked:
        """Return the bounds for the set."""
        lower = self.epsilon if self.bounds_below else None
        return (Lift(lower, self.epsilon, self.generator_set()),), ()


@dataclass(frozen=True)
class BoundedPriorPML(BoundedPriorLIP):
    """PML for every prior of a set."""

    kind: ClassVar[str] = "bounded-prior-pml"
    bounds_below: ClassVar[bool] = False


@dataclass(frozen=True)
class BoundedPriorLift(Notion):
    """Bounds on the lift for every prior of a set."""

    kind: ClassVar[str] = "bounded-prior-lift"
    lower: Budget
    upper: Budget
    priors: Table | PriorSet

    def asked(self, on: Inputs) -> Asked:
        """Return both bounds for the set."""
        stated = self.priors if isinstance(self.priors, PriorSet) else PriorSet(self.priors)
        return (Lift(_end(self.lower), _end(self.upper), stated.generator_set()),), ()


LiftNotions = LIP | PML | AsymmetricLift | BoundedPriorLIP | BoundedPriorPML | BoundedPriorLift
"""A notion of this file."""
