"""A bound on the expected gain of the best guess from the output, and the notions that use it.

    Sum_y max_w Sum_x g(w, x) P_x Q[x,y]  <=  limit

The sum is convex in Q. It is smallest for a channel that ignores its input, max_w Sum_x g(w, x)
P_x, so no channel satisfies a smaller limit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from mechdesign.domain import Domain
from mechdesign.errors import InfeasibleError
from mechdesign.exact import Exact, as_fraction, short_text
from mechdesign.kernel.limits import Gauge
from mechdesign.notions.non_conic.base import WholeChannelNotion
from mechdesign.prior import Prior

__all__ = ["GuessNotion", "in_words", "positive"]


class GuessNotion(WholeChannelNotion):
    """A notion that limits the gain of the best guess; it has no epsilon."""

    needs_prior = True
    reach: str
    """Error message for a limit below the gain without any output."""

    @property
    def is_conic(self) -> bool:
        """Return False: the sum is over all columns."""
        return False

    def check(self, domain: Domain, prior: Prior | None) -> None:
        """Reject a limit below the gain of the best guess without any output."""
        _, limits = self._parts(domain, prior)
        gauge = cast(Gauge, limits[0])
        blind = max(
            sum((v for _, v in part.left), Fraction(0)) - sum(v for _, v in part.right)
            for part in gauge.parts
        )
        if blind > gauge.limit:
            found, limit = (in_words(abs(v)) for v in (blind, gauge.limit))
            raise InfeasibleError(f"{self.name}: {self.reach.format(found, limit)}")


def positive(value: Exact, key: str) -> Fraction:
    """Return an exact number above 0.

    Raises
    ------
    InputError
        If it is not above 0.

    Examples
    --------
    >>> positive("0.25", "limit")
    Fraction(1, 4)
    """
    return as_fraction(value, key, expected="a number above 0", above=0)


def in_words(value: Fraction) -> str:
    """Return a number with few digits, for a message."""
    text = short_text(value)
    return text if len(text) <= 12 else f"{float(value):.6g}"
