"""The mean squared error of the curator's best estimate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mechdesign.channel import Channel
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, UnsupportedError, shown
from mechdesign.exact import as_fraction, fraction_text
from mechdesign.prior import Prior
from mechdesign.utilities.base import Utility

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["PosteriorMeanSquaredError"]


class PosteriorMeanSquaredError(Utility):
    """E (f(X) - E[f(X) | Y])**2 = Sum_x P_x f_x**2 - Sum_y (Sum_x P_x f_x Q[x,y])**2 / lambda_y.

    The labels of the outputs do not matter, only what they tell. Minimising it is a concave
    problem: a convex solver cannot be given it as it stands.

    Parameters
    ----------
    values
        ``(n_inputs,)`` numbers f(x); default: the inputs themselves, if they are numbers. The
        indicator of one input makes it a survey, multiples make it a weighted sum.

    Notes
    -----
    Source: Jiang et al. 2018 (CNS), eq. (7).

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> survey = PosteriorMeanSquaredError(values=[1, 0])
    >>> survey.value(warner, Prior([0.5, 0.5]))
    Fraction(3, 16)
    """

    name = "posterior-mean-squared-error"
    title = "error of the curator's best estimate of f(X)"

    def __init__(self, values: Sequence[Any] | None = None) -> None:
        self.given: tuple[Fraction, ...] | None = None
        if values is not None:
            if isinstance(values, str | dict) or not hasattr(values, "__iter__"):
                raise InputError("values", "a list of numbers, one for each input", shown(values))
            self.given = tuple(as_fraction(v, f"values[{i}]") for i, v in enumerate(values))

    def values(self, domain: Domain) -> tuple[Fraction, ...]:
        """Return f(x) for each input, exact."""
        if self.given is None:
            if domain.numbers is None:
                raise InputError("values", "one number for each input, which are labels", "none")
            return domain.numbers
        if len(self.given) != len(domain):
            expected = f"{len(domain)} numbers, one for each input"
            raise InputError("values", expected, f"{len(self.given)} numbers")
        return self.given

    def check(self, domain: Domain, outputs: Sequence[Label] | None) -> None:
        """Look the values up."""
        self.values(domain)

    def default_outputs(self, domain: Domain) -> None:
        """Return None: the optimiser chooses how many outputs there are."""
        return

    def value(
        self, channel: Channel, prior: Prior, outputs: Sequence[Label] | None = None
    ) -> Fraction:
        """Return the exact error of a channel."""
        total = prior.mean([v * v for v in self.values(channel.inputs)])
        for law, moment in self._laws_and_moments(channel, prior):
            if law:
                total -= moment * moment / (law * channel.denominator)
        return total

    def decoder(self, channel: Channel, prior: Prior) -> tuple[Fraction, ...]:
        """Return E[f(X) | Y = y] for each output; the prior mean where y never occurs."""
        blind = prior.mean(self.values(channel.inputs))
        pairs = self._laws_and_moments(channel, prior)
        return tuple(moment / law if law else blind for law, moment in pairs)

    def _laws_and_moments(
        self, channel: Channel, prior: Prior
    ) -> Iterator[tuple[Fraction, Fraction]]:
        """Yield P . q and Sum_x P_x f_x q_x for each output, times the channel's denominator."""
        weights = [p * v for p, v in zip(prior, self.values(channel.inputs), strict=True)]
        for column in channel.columns():
            law = sum((p * q for p, q in zip(prior, column, strict=True)), Fraction(0))
            moment = sum((w * q for w, q in zip(weights, column, strict=True)), Fraction(0))
            yield law, moment

    def objective(
        self,
        Q: cp.Variable | cp.Expression,
        domain: Domain,
        prior: Prior,
        outputs: Sequence[Label],
    ) -> cp.Expression:
        """Raise: the error is concave in the channel."""
        raise UnsupportedError(
            "objective", "a loss that is convex in the channel", f"{self.name}, which is concave"
        )

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table, values included."""
        return {
            "objective": self.name,
            "values": [fraction_text(value) for value in self.values(domain)],
        }
