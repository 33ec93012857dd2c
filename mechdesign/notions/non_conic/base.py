"""Notions that are limits on the whole channel, which no cone of columns expresses."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, cast

from mechdesign.domain import Domain, Label
from mechdesign.errors import InfeasibleError
from mechdesign.exact import Exact, as_fraction, short_text
from mechdesign.kernel.limits import Gauge
from mechdesign.notions.base import BudgetNotion, Notion, budget
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.prior import Prior


class WholeChannelNotion(Notion):
    """A notion that is a limit on the whole channel.

    Where the parameter named by :attr:`looseness` is 0, it is a cone of columns: then
    :attr:`is_conic` is true and :meth:`family` returns its rows; otherwise it has no rows.
    """

    allows_sensitive_attribute = False

    looseness: ClassVar[str] = ""
    """The parameter at whose value 0 the notion is a cone; empty if it never is."""

    summary: ClassVar[str] = ""
    """A description of its sum for reports."""

    @property
    def is_conic(self) -> bool:
        """Whether rows on columns define it."""
        return bool(self.looseness) and getattr(self, self.looseness) == 0

    def channel_constraint(
        self, domain: Domain, prior: Prior | None = None
    ) -> ChannelConstraint | None:
        """Return its limits; None if it is rows for any epsilon, or asks nothing."""
        unit = self.at(1) if self.has_epsilon else self
        epsilon = budget(getattr(self, "epsilon", 0)) if self.has_epsilon else None
        _, limits = unit._parts(domain, prior)
        return ChannelConstraint(self.name, len(domain), limits, epsilon) if limits else None

    def limit_name(self, _number: int, _labels: Sequence[Label]) -> str:
        """Return the name of a limit in reports."""
        return self.summary


class ApproximateNotion(WholeChannelNotion, BudgetNotion):
    """A notion on columns that may fail with a small probability ``delta``."""

    on_interval = "mixture"
    looseness = "delta"

    def __init__(self, epsilon: Exact, delta: Exact) -> None:
        super().__init__(epsilon)
        expected = "a number from 0 to 1"
        self.delta = as_fraction(delta, "delta", expected=expected, least=0, most=1)


class GuessNotion(WholeChannelNotion):
    """A limit on the gain of the best guess from the output; it has no epsilon.

        Sum_y max_w Sum_x g(w, x) P_x Q[x,y]  <=  limit

    The sum is convex in Q. It is smallest for a channel that ignores its input, max_w Sum_x g(w, x)
    P_x, so no channel satisfies a smaller limit.
    """

    needs_prior = True
    reach: ClassVar[str]
    """Error message for a limit below the gain without any output."""

    def check(self, domain: Domain, prior: Prior | None) -> None:
        """Reject a limit below the gain of the best guess without any output."""
        limit = cast(Gauge, self._parts(domain, prior)[1][0])
        blind = max(sum(part.values(), Fraction(0)) for part in limit.nets(weak=False))
        if blind > limit.limit:
            gain, most = (in_words(abs(v)) for v in (blind, limit.limit))
            raise InfeasibleError(f"{self.name}: {self.reach.format(gain, most)}")


def positive(value: Exact, key: str) -> Fraction:
    """Return an exact number above 0."""
    return as_fraction(value, key, expected="a number above 0", above=0)


def in_words(value: Fraction) -> str:
    """Return a number with few digits, for a message."""
    text = short_text(value)
    return text if len(text) <= 12 else f"{float(value):.6g}"
