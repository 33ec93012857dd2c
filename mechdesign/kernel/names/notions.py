"""The notions of privacy by name, and that of a user's own.

This package is the only place where the kernel knows names of notions and objectives. A notion that
is not here states its generators itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.kernel.generators import Cone
from mechdesign.kernel.limits import Limit
from mechdesign.kernel.names.base import Asked, Moved, Notion
from mechdesign.kernel.names.domains import Inputs
from mechdesign.kernel.names.lifts import LiftNotions
from mechdesign.kernel.names.ratios import RatioNotions
from mechdesign.kernel.names.sums import SumNotions
from mechdesign.kernel.schema import Json


@dataclass(frozen=True)
class OwnNotion(Notion):
    """A notion that the kernel does not know: it states its generators and limits itself.

    Where it has an epsilon, all its exponents are proportional to it.
    """

    notion: str
    cone: tuple[Cone, ...] = ()
    limits: tuple[Limit, ...] = ()
    epsilon: Fraction | None = None
    title: str = ""
    parameters: Json | None = None

    @property
    def name(self) -> str:
        """The name in a file."""
        return self.notion

    def asked(self, on: Inputs) -> Asked:
        """Return its generators and limits."""
        return self.cone, self.limits

    def at(self, leakage: Fraction) -> Notion:
        """Multiply all exponents; add to them where there is no epsilon."""
        if self.epsilon is None:
            return super().at(leakage)
        t = leakage / self.epsilon if self.epsilon else Fraction(1)
        return Moved(self, t, Fraction(0))


Notions = RatioNotions | LiftNotions | SumNotions | OwnNotion
"""A notion, of one of the names, or of a user's own."""
