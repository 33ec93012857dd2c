"""A bound on the expected gain of the best guess from the output, and the notions that state one.

    Sum_y max_w Sum_x g(w, x) P_x Q[x,y]  <=  limit

The sum is convex in Q. A channel that ignores its input has the least of all, max_w Sum_x g(w, x)
P_x, so that no channel keeps a limit below that.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import NamedTuple

from mechdesign.channel import Channel
from mechdesign.domain import Domain
from mechdesign.errors import InfeasibleError
from mechdesign.exact import Exact, as_fraction, short_text
from mechdesign.notions.base import prior_for
from mechdesign.notions.channel_constraint import Columns
from mechdesign.notions.non_conic.base import WholeChannelNotion, no_rows
from mechdesign.notions.non_conic.excess_constraint import Excess, ExcessConstraint, ExcessRow
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.prior import Prior

__all__ = ["GuessConstraint", "GuessNotion", "Guesses", "positive"]

ZERO = Fraction(0)


class Guesses(NamedTuple):
    """The gains g(w, x) of guesses, those that are irrational rounded up, and their limit."""

    gains: list[list[Fraction]]
    limit: Fraction


class GuessConstraint(ExcessConstraint):
    """One sum over outputs of the largest gain of a guess.

    Parameters
    ----------
    name
        The notion.
    prior
        The distribution of the input.
    guesses
        The gains and the limit.
    side, title
        The word for the sum in certificates, and its name in reports.
    """

    def __init__(self, name: str, prior: Prior, guesses: Guesses, side: str, title: str) -> None:
        k, self.limit = len(prior), guesses.limit
        forms = [[p * g for p, g in zip(prior, row, strict=True)] for row in guesses.gains]
        rows = tuple(ExcessRow(w, 0, k + 2 + w, k + 1) for w in range(len(forms)))
        excess = Excess(side, rows, guesses.limit, ZERO, title)
        super().__init__(name, k, [excess], ZERO, prior, forms)

    def gained(self, columns: Columns) -> Fraction:
        """Return the sum, exact but for gains that are irrational."""
        forms, whole = self._forms(columns)
        first = self.size + 2
        return Fraction(sum(max(v[first:]) for v in forms), whole)

    def leakage(self, channel: Channel) -> float:
        """Return the excess of the sum over its limit, rounded up."""
        excess = self.gained(channel.columns()) - self.limit
        found = float(excess)
        while as_fraction(found) < excess:
            found = math.nextafter(found, math.inf)
        return found


class GuessNotion(WholeChannelNotion):
    """A notion that limits the gain of the best guess; it has no epsilon."""

    needs_prior = True
    side: str
    """The word for its sum in certificates."""
    summary: str
    """Its sum in reports."""

    @property
    def is_conic(self) -> bool:
        """Return False: the sum is over all columns."""
        return False

    @abstractmethod
    def guesses(self, domain: Domain) -> Guesses:
        """Return the gains of all guesses at the inputs, and their limit."""

    @abstractmethod
    def out_of_reach(self, blind: Fraction, guesses: Guesses) -> str:
        """Return why no channel keeps the limit, where ``blind`` is gained without any output."""

    def family(self, domain: Domain, prior: Prior | None = None) -> PairRows:
        """Return no rows, or say that no channel keeps the limit."""
        weights, found = prior_for(self.name, domain, prior), self.guesses(domain)
        blind = max(weights.mean(row) for row in found.gains)
        if blind > found.limit:
            raise InfeasibleError(self.out_of_reach(blind, found))
        return no_rows(self.name, domain)

    def channel_constraint(self, domain: Domain, prior: Prior | None) -> GuessConstraint:
        """Compile to one sum."""
        weights = prior_for(self.name, domain, prior)
        return GuessConstraint(self.name, weights, self.guesses(domain), self.side, self.summary)


def positive(value: Exact, key: str) -> Fraction:
    """Return an exact number above 0.

    Raises
    ------
    InputError
        If it is another.

    Examples
    --------
    >>> positive("0.25", "limit")
    Fraction(1, 4)
    """
    return as_fraction(value, key, expected="a number above 0", above=0)


def in_words(value: Fraction) -> str:
    """Return a number of few digits, for a message."""
    text = short_text(value)
    return text if len(text) <= 12 else f"{float(value):.6g}"
