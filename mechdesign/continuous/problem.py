"""The problem of a continuous input: an interval or a box, its law, notions and a loss."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Self

from mechdesign.continuous.domain import Box, Interval, domain_of
from mechdesign.continuous.laws import Histogram, Law, ProductLaw
from mechdesign.errors import InputError, UnsupportedError, shown_kind
from mechdesign.kernel.rounding.nodes import RoundedProblem
from mechdesign.kernel.schema import read, write
from mechdesign.notions import NOTIONS, Notion
from mechdesign.problem import Expected, notions_at, notions_of, utility_of
from mechdesign.utilities import UTILITIES, Utility


class ContinuousProblem:
    """A design problem on an interval or a box: a privacy requirement and a utility.

    Parameters
    ----------
    domain
        The domain of X: an :class:`Interval` or its ends as ``[low, high]``; a :class:`Box` or its
        corners as ``[[low, low], [high, high]]``.
    privacy
        A notion, or several: their intersection.
    utility
        The loss to minimize.
    prior
        The law of the input; default uniform on a bounded domain, unless a notion depends on the
        law.
    title, source
        Free text.
    expected
        The known optimum, to compare with.

    Raises
    ------
    InputError
        If the parts do not match each other.
    UnsupportedError
        If a notion or the loss is not supported on this domain.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import EuclideanDistance, MeanAbsoluteError
    >>> ContinuousProblem([0, 1], LDP(1), MeanAbsoluteError(worst_case=True))
    ContinuousProblem(Interval(0, 1), LDP(epsilon=1), MeanAbsoluteError(worst_case=True))
    >>> ContinuousProblem([(0, 0), (1, 1)], LDP(1), EuclideanDistance())
    ContinuousProblem(Box((0, 0), (1, 1)), LDP(epsilon=1), EuclideanDistance())
    """

    quoted: tuple[str, ...] = ()
    """Constraints of a user's own; none on an interval."""

    def __init__(
        self,
        domain: Interval | Box | Sequence[Any],
        privacy: Notion | Sequence[Notion],
        utility: Utility,
        *,
        prior: Law | None = None,
        title: str = "",
        source: str = "",
        expected: Expected | None = None,
    ) -> None:
        self.domain, self.privacy = domain_of(domain), notions_of(privacy)
        sides = len(self.domain.sides)
        takes = ("mixture", "distance") if sides == 1 else ("mixture",)
        for notion in self.privacy:
            if notion.on_interval not in takes:
                able = [name for name, kind in NOTIONS.items() if kind.on_interval in takes]
                hint = "or MetricPrivacy with the absolute distance" if sides == 1 else ""
                raise UnsupportedError("privacy", f"one of {', '.join(able)}", notion.name, hint)
        loss, mark = ("MeanAbsoluteError()", "on_interval") if sides == 1 else PLANE
        self.utility = utility_of(utility, loss)
        if not (getattr(utility, mark) and utility.exact):
            able = [name for name, kind in UTILITIES.items() if getattr(kind, mark)]
            raise UnsupportedError("utility", f"one of {', '.join(able)}", repr(utility))
        needy = next((notion.name for notion in self.privacy if notion.needs_prior), "")
        self._check_parts(needy)
        self.title, self.source, self.expected = title, source, expected
        self.prior_given = prior is not None
        if prior is not None and getattr(prior, "dimension", 0) != sides:
            law = "Samples(...)" if sides == 1 else "ProductLaw(...)"
            raise InputError("prior", f"a law, such as {law}", shown_kind(prior))
        if prior is None and needy:
            fault = f"{needy} is defined by a law, and none is given"
            raise InputError("prior", "a law", "none", fault=fault)
        self.prior = self._uniform() if prior is None else prior
        self.prior.check(self.domain)

    def _check_parts(self, needy: str) -> None:
        """Raise unless the kernel has a bound for these notions, loss and domain."""
        utility, loss, domain = self.utility, repr(self.utility), self.domain
        line, worst, read = len(domain.sides) == 1, utility.worst_case, utility.on_interval
        metric = [notion.name for notion in self.privacy if notion.on_interval == "distance"]
        limits = [notion.name for notion in self.privacy if not notion.is_conic]
        estimates = line and (read == "estimate" or (read == "reading" and not worst))
        reasons = [*metric, *([loss] if line and (worst or estimates) else [])]
        first, limit, reason = ([*names, ""][0] for names in (metric, limits, reasons))
        on_average = f"an error on average, for {first or needy}"
        on_average += " and a notion that depends on the law" * bool(first)
        released = f"an error of the released number, or a worst case, for {first}"
        conic = f"a notion on the columns of a channel, for {utility.name}"
        for is_broken, key, expected, given in (
            (metric[1:], "privacy", "one notion by distance", f"{len(metric)} notions"),
            (line and read == "reading" and limits, "privacy", conic, limit),
            (metric and estimates, "utility", released, loss),
            (worst and needy and (metric or not line), "utility", on_average, loss),
            (reason and not domain.is_bounded, "interval", TWO_ENDS.format(reason), repr(domain)),
        ):
            if is_broken:
                raise UnsupportedError(key, expected, given)

    def _uniform(self) -> Law:
        """Return the uniform law of the domain."""
        if not self.domain.is_bounded:
            fault = "an unbounded interval has no uniform law: state one"
            raise InputError("prior", "a law", "none", fault=fault)
        laws = [Histogram(ends, [1]) for ends in self.domain.ends]
        return laws[0] if len(laws) == 1 else ProductLaw(*laws)

    def stated(self, axes: tuple[tuple[Fraction, ...], ...]) -> RoundedProblem:
        """Return the problem in the form of saved files, with nodes on each axis."""
        utility: dict[str, Any] = {"objective": self.utility.name}
        if self.utility.on_interval != "estimate":
            utility["worst_case"] = self.utility.worst_case
        table = {
            "domain": [side.to_table() for side in self.domain.sides],
            "prior": write(self.prior.stated(self.domain, axes)),
            "privacy": [notion.to_table() for notion in self.privacy],
            "utility": utility,
        }
        found: RoundedProblem = read(RoundedProblem, table, "problem")
        return found

    def at(self, epsilon: Any) -> Self:
        """Return the problem with another budget.

        Parameters
        ----------
        epsilon
            In nats.
        """
        return type(self)(
            self.domain,
            notions_at(self.privacy, epsilon),
            self.utility,
            prior=self.prior if self.prior_given else None,
            title=self.title,
            source=self.source,
        )

    def __repr__(self) -> str:
        notions = " and ".join(repr(notion) for notion in self.privacy)
        law = f", prior={self.prior!r}" if self.prior_given else ""
        return f"{type(self).__name__}({self.domain!r}, {notions}, {self.utility!r}{law})"


TWO_ENDS = "an interval with two ends, for {}"

PLANE = ("EuclideanDistance()", "on_plane")
"""A loss of points, and the attribute of losses that marks it."""
