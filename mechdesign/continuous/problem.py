"""The problem of a continuous input: an interval, its law, notions of privacy and a loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechdesign.continuous.interval import Interval
from mechdesign.continuous.laws.base import Law
from mechdesign.continuous.laws.empirical import Histogram
from mechdesign.errors import InputError, UnsupportedError, shown_kind
from mechdesign.notions import NOTIONS, Notion
from mechdesign.problem import Expected, notions_at, notions_of
from mechdesign.utilities import UTILITIES, Utility

__all__ = ["ContinuousProblem"]


class ContinuousProblem:
    """What to keep secret of a number on an interval, and what to keep useful.

    Parameters
    ----------
    interval
        Where the number lies: an :class:`Interval`, or its ends as ``[low, high]``.
    privacy
        A notion, or several: their intersection.
    utility
        The loss to minimize.
    prior
        The law of the number; default uniform where the interval is bounded, unless a notion is
        defined by the law. Bounded priors are sets of laws of the region, each with this law within
        the regions.
    title, source
        Free text.
    expected
        What is known of the optimum.

    Raises
    ------
    InputError
        If the parts do not fit each other.
    UnsupportedError
        If a notion or the loss has no meaning on an interval here.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import MeanAbsoluteError
    >>> ContinuousProblem([0, 1], LDP(1), MeanAbsoluteError(worst_case=True))
    ContinuousProblem(Interval(0, 1), LDP(epsilon=1), MeanAbsoluteError(worst_case=True))
    """

    def __init__(
        self,
        interval: Interval | Sequence[Any],
        privacy: Notion | Sequence[Notion],
        utility: Utility,
        *,
        prior: Law | None = None,
        title: str = "",
        source: str = "",
        expected: Expected | None = None,
    ) -> None:
        self.interval = Interval.of(interval)
        self.privacy = notions_of(privacy)
        for notion in self.privacy:
            if not notion.on_interval:
                raise UnsupportedError("privacy", f"one of {_able(NOTIONS)}", notion.name)
            if notion.on_interval in ("regions", "masses"):
                regions = self.interval.regions
                notion.family(regions, None)  # refuses what is not about the regions
        given: Any = utility
        if not isinstance(given, Utility):
            kind = shown_kind(given)
            raise InputError("utility", "a utility, such as MeanAbsoluteError()", kind)
        if not (utility.on_interval and utility.exact):
            raise UnsupportedError("utility", f"one of {_able(UTILITIES)}", repr(utility))
        self._check_distance(utility)
        self.utility = utility
        self.title, self.source, self.expected = title, source, expected
        self.prior_given = prior is not None
        self.prior = self._law(prior)
        self.prior.check(self.interval)
        for notion in self.privacy:
            if notion.on_interval == "masses":
                self._check_masses(notion.name)

    def _check_distance(self, utility: Utility) -> None:
        """Raise unless there is a bound for such notions, such a loss and such an interval."""
        names = [notion.name for notion in self.privacy if notion.on_interval == "distance"]
        if len(names) > 1:
            raise UnsupportedError("privacy", "one notion by distance", f"{len(names)}")
        read = utility.on_interval == "reading"
        for notion in self.privacy:
            if read and not notion.is_conic:
                expected = f"a notion on the columns of a channel, for {utility.name}"
                raise UnsupportedError("privacy", expected, notion.name)
        estimates = utility.on_interval == "estimate" or (read and not utility.worst_case)
        if names and self.interval.cuts:
            expected = f"an interval without cuts, for {names[0]}"
            raise UnsupportedError("interval", expected, repr(self.interval))
        if names and estimates:
            expected = f"an error of the released number, or a worst case, for {names[0]}"
            raise UnsupportedError("utility", expected, repr(utility))
        if names and utility.worst_case and any(notion.needs_prior for notion in self.privacy):
            expected = f"an error on average, for {names[0]} and a notion that depends on the law"
            raise UnsupportedError("utility", expected, repr(utility))
        for reason in (*names, *([repr(utility)] if utility.worst_case or estimates else [])):
            if not self.interval.is_bounded:
                expected = f"an interval with two ends, for {reason}"
                raise UnsupportedError("interval", expected, repr(self.interval))

    def _check_masses(self, name: str) -> None:
        """Raise unless there is a law within each region, and not too many regions."""
        interval, regions = self.interval, self.interval.regions.labels
        if len(regions) > MOST_REGIONS:
            expected = f"at most {MOST_REGIONS} regions, for {name}"
            raise UnsupportedError("cuts", expected, f"{len(regions)}")
        masses = self.prior.cells([interval.low, *interval.cuts, interval.high]).masses
        for region, mass in zip(regions, masses, strict=True):
            if not mass:
                expected = f"a law with mass on every region, for {name}"
                raise InputError("prior", expected, f"none on {region}")

    def _law(self, prior: Any) -> Law:
        if isinstance(prior, Law):
            return prior
        if prior is not None:
            raise InputError("prior", "a law, such as Samples(...)", shown_kind(prior))
        needy = [n.name for n in self.privacy if n.needs_prior or n.on_interval == "masses"]
        if needy:
            raise InputError("prior", f"the law that {needy[0]} is defined by", "none")
        low, high = self.interval.low, self.interval.high
        if not self.interval.is_bounded:
            raise InputError("prior", "a law, as no law is uniform without end", "none")
        return Histogram([low, high], [1])

    @property
    def utility_table(self) -> dict[str, Any]:
        """The ``[utility]`` table."""
        table: dict[str, Any] = {"objective": self.utility.name}
        if self.utility.on_interval != "estimate":
            table["worst_case"] = self.utility.worst_case
        return table

    def at(self, epsilon: Any) -> ContinuousProblem:
        """Return the problem with another budget.

        Parameters
        ----------
        epsilon
            In nats.

        Raises
        ------
        InputError
            If it is no budget, or not just one notion of the problem has an epsilon.
        """
        prior = self.prior if self.prior_given else None
        return ContinuousProblem(
            self.interval,
            notions_at(self.privacy, epsilon),
            self.utility,
            prior=prior,
            title=self.title,
            source=self.source,
        )

    def __repr__(self) -> str:
        notions = " and ".join(repr(notion) for notion in self.privacy)
        law = f", prior={self.prior!r}" if self.prior_given else ""
        return f"ContinuousProblem({self.interval!r}, {notions}, {self.utility!r}{law})"


MOST_REGIONS = 6
"""Regions that laws of the region are on: a proof tries all orders of them."""


def _able(registry: Any) -> str:
    """Return the names of what has a meaning on an interval."""
    return ", ".join(name for name, kind in registry.items() if kind.on_interval)
