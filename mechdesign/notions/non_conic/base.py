"""Non-conic notions: constraints on the whole channel that no cone of columns expresses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from mechdesign.domain import Domain
from mechdesign.exact import Exact, as_fraction
from mechdesign.kernel.limits import Information
from mechdesign.notions.base import BudgetNotion, Notion, budget
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.non_conic.excess_constraint import ExcessConstraint, Named
from mechdesign.notions.non_conic.information_constraint import InformationConstraint
from mechdesign.notions.rows.cone import Family
from mechdesign.prior import Prior

__all__ = ["ApproximateNotion", "NonConicNotion", "WholeChannelNotion"]


class WholeChannelNotion(Notion):
    """A notion that is a constraint on the whole channel.

    For extreme parameters, such as epsilon or delta 0, it may be equivalent to a cone of columns:
    then :attr:`is_conic` is true and :meth:`family` returns its rows; otherwise it has no rows.
    """

    allows_sensitive_attribute = False
    side: str = ""
    """The name of its sum in certificates."""
    summary: str = ""
    """A description of its sum for reports."""

    def named(self, _size: int, n_parts: int) -> Iterable[Named]:
        """Return the names of the sums and of their rows: by default one sum with numbered rows."""
        return [(self.side, self.summary, [(n, 0) for n in range(n_parts)])]

    def channel_constraint(
        self, domain: Domain, prior: Prior | None = None
    ) -> ChannelConstraint | None:
        """Compile to a constraint on the whole channel; None if it is rows for any epsilon.

        Raises
        ------
        InputError
            If the parameters do not fit the domain.
        """
        unit, k = self.at(1) if self.has_epsilon else self, len(domain)
        epsilon = budget(getattr(self, "epsilon", 0)) if self.has_epsilon else None
        _, limits = unit._parts(domain, prior)
        if not limits:
            return None
        if isinstance(limits[0], Information):
            return InformationConstraint(self.name, k, limits, epsilon)
        gauges = cast(Any, limits)
        names = self.named(k, len(gauges[0].parts))
        return ExcessConstraint(self.name, k, gauges, epsilon, names)


class NonConicNotion(WholeChannelNotion, BudgetNotion):
    """A constraint on the whole channel with one budget, epsilon."""

    @property
    def is_conic(self) -> bool:
        """Whether it makes all rows equal, or those of all inputs that occur."""
        return self.epsilon == 0


class ApproximateNotion(NonConicNotion):
    """A notion on columns that may fail with a small probability ``delta``."""

    on_interval = "mixture"

    def __init__(self, epsilon: Exact, delta: Exact) -> None:
        super().__init__(epsilon)
        expected = "a number from 0 to 1"
        self.delta = as_fraction(delta, "delta", expected=expected, least=0, most=1)

    @property
    def is_conic(self) -> bool:
        """Whether it is the notion on columns."""
        return self.delta == 0

    def rows(self, domain: Domain, prior: Prior | None) -> Family:
        """Return the rows of the notion on columns."""
        return type(self)(self.epsilon, 0).family(domain, prior)
