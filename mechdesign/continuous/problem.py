"""The problem of a continuous input: an interval, its law, notions of privacy and a loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechdesign.continuous.interval import Interval
from mechdesign.continuous.laws.base import Law
from mechdesign.continuous.laws.empirical import Histogram
from mechdesign.continuous.real_problem import RealProblem
from mechdesign.errors import InputError, UnsupportedError
from mechdesign.notions import Notion
from mechdesign.problem import Expected
from mechdesign.utilities import Utility

__all__ = ["ContinuousProblem"]


class ContinuousProblem(RealProblem):
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

    utility_mark = "on_interval"
    law_kind = Law
    examples = ("MeanAbsoluteError()", "Samples(...)")

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
        super().__init__(Interval.of(interval), privacy, utility, prior, (title, source, expected))
        for notion in self.privacy:
            if notion.on_interval == "masses":
                self._check_masses(notion.name)

    @property
    def interval(self) -> Interval:
        """Where the number lies."""
        found: Interval = self.domain
        return found

    @staticmethod
    def takes(on_interval: Any) -> bool:
        """Return whether a notion that carries over to an interval so has a meaning here."""
        return bool(on_interval)

    def _check_parts(self) -> None:
        utility = self.utility
        for notion in self.privacy:
            if notion.on_interval in ("regions", "masses"):
                notion.family(self.interval.regions, None)  # refuses what is not about the regions
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

    def _needing_law(self) -> list[str]:
        return [n.name for n in self.privacy if n.needs_prior or n.on_interval == "masses"]

    def _uniform(self) -> Law:
        if not self.interval.is_bounded:
            raise InputError("prior", "a law, as no law is uniform without end", "none")
        return Histogram([self.interval.low, self.interval.high], [1])


MOST_REGIONS = 6
"""Regions that laws of the region are on: a proof tries all orders of them."""
