"""Universal channels: the question and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mechdesign.channel import Channel
from mechdesign.closed_forms.universal.decision import decide_cone
from mechdesign.closed_forms.universal.facets import Decision
from mechdesign.domain import Domain
from mechdesign.errors import UnsupportedError
from mechdesign.notions import Cone, Notion, cone_of
from mechdesign.prior import Prior, prior_on
from mechdesign.problem import notions_of
from mechdesign.repair import repair

__all__ = ["Universality", "universal_channel"]

MOST_FACETS_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Universality:
    """Whether one private channel is best for every purpose.

    Attributes
    ----------
    domain
        The inputs.
    privacy
        The notions, all of which must hold.
    decision
        What was found of their cone.
    """

    domain: Domain
    privacy: tuple[Notion, ...]
    decision: Decision
    _cone: Cone

    @property
    def simplicial(self) -> bool | None:
        """Whether the cone has as many facets as inputs; None where it is not decided."""
        return self.decision.simplicial

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return self.decision.reason

    @property
    def facets(self) -> tuple[str, ...]:
        """The names of the rows that imply all others, one for each input; empty if there are more.

        Rows that tie inputs to each other come last.
        """
        return tuple(facet.name for facet in self.decision.facets)

    @cached_property
    def channel(self) -> Channel | None:
        """The universal channel, exactly private; None where there is none, or it is not known."""
        if self.decision.matrix is None:
            return None
        rows, _ = repair(self._cone, self.decision.matrix)
        return Channel(rows, inputs=self.domain)

    def __repr__(self) -> str:
        notions = " and ".join(repr(notion) for notion in self.privacy)
        word = {True: "there is one", False: "there is none", None: "not known"}[self.simplicial]
        lines = [f"universal channel for {notions}: {word}", f"because {self.reason}"]
        if self.facets:
            shown, more = self.facets[:MOST_FACETS_SHOWN], len(self.facets) - MOST_FACETS_SHOWN
            lines.append(f"facets: {', '.join(shown)}{f', and {more} more' if more > 0 else ''}")
        return "\n".join([*lines, "" if self.channel is None else repr(self.channel)]).rstrip()


def universal_channel(
    domain: Domain | Iterable[Any],
    privacy: Notion | Sequence[Notion],
    *,
    prior: Prior | Iterable[Any] | None = None,
) -> Universality:
    """Decide whether one channel is best for every purpose, and find it.

    A channel U is universal if every private channel is U followed by post-processing. Then no
    private channel has more information, fewer errors, or, when each report is turned into the best
    output for the purpose, a smaller expected loss. (Worst cases over the inputs are another
    matter.) There is one if the cone of columns has as many facets as inputs.

    Parameters
    ----------
    domain
        The inputs, or their labels.
    privacy
        A notion, or several: their intersection.
    prior
        The law of the input, where a notion is defined by it.

    Returns
    -------
    Universality
        Whether there is such a channel, why, the rows that bind, and the channel.

    Raises
    ------
    InputError
        If the parts do not fit each other.
    UnsupportedError
        If a notion is no condition on columns.

    Notes
    -----
    Source: Warner 1965, Mangat 1994 and Acharya et al. 2020, Theorem 2, for two inputs; ours for
    more.

    Examples
    --------
    One input of three is sensitive: it always gives the same answer, which others give sometimes.

    >>> from mechdesign.notions import LDP, HighLowLDP
    >>> universal_channel(["ill", "well", "unknown"], HighLowLDP(1, ["ill"]))
    universal channel for HighLowLDP(epsilon=1, sensitive=['ill']): there is one
    because each entry of a column is bounded from below by at most one other
    facets: positive x=0, high-low ratio x=0 to 1, high-low ratio x=0 to 2
    Channel(3 inputs, 3 outputs, exact over 2**62)
                  0       1       2
    ill      1.0000       0       0
    well     0.3679  0.6321       0
    unknown  0.3679       0  0.6321
    >>> print(universal_channel(range(3), LDP(1)).channel)
    None
    """
    inputs = Domain.of(domain)
    notions = notions_of(privacy)
    for notion in notions:
        if not notion.is_conic:
            raise UnsupportedError("privacy", "conditions on single columns", notion.name)
    notions = tuple(notion.aligned(inputs) for notion in notions)
    given = None if prior is None else prior_on(prior, inputs)
    cone = cone_of(notions, inputs, given)
    return Universality(inputs, notions, decide_cone(cone), cone)
