"""The exact privacy of the sampling mechanism of Jiang et al. 2021 (TIFS), Section IV-C.1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.accounting.arguments import limited
from mechdesign.channel import Channel
from mechdesign.exact import Exact, as_fraction, exp_lower, exp_upper
from mechdesign.exact.enclosures import Bounds, exponential
from mechdesign.prior import Prior


@dataclass(frozen=True)
class SamplingMechanism:
    """Release X with probability ``keep``, else a fresh draw from the law of X.

    **Theorem.** If the law of X has no atoms, the mechanism is (epsilon, delta)-LIP
    (Definition 5) iff

        keep <= min{ delta e**epsilon, 1 - e**-epsilon + delta e**-epsilon }.

    So the probability of Proposition 2, which the paper calls feasible, is the largest.

    *Proof.* Let P be the law of X, which is also that of Y. Given X = x, the law of Y is
    Q = keep d_x + (1 - keep) P, d_x the unit mass at x. For a set S,

        Q(S) - e**epsilon P(S) = keep 1{x in S} - (e**epsilon - 1 + keep) P(S).

    The last factor is not negative and P{x} = 0, so the supremum over S is keep, attained by
    S = {x}: the first inequality, Pr(Y in S) >= e**-epsilon Q(S) - delta for all S, holds iff
    e**-epsilon keep <= delta. And

        P(S) - e**epsilon Q(S) = (1 - e**epsilon (1 - keep)) P(S) - e**epsilon keep 1{x in S},

    whose supremum is max(0, 1 - e**epsilon (1 - keep)), attained by the empty set or by the
    complement of {x}. So the second inequality holds iff
    keep <= 1 - e**-epsilon + delta e**-epsilon. For a set of inputs in place of x, Q is a mixture
    of these laws, and both suprema are convex. QED

    With atoms both suprema are smaller: at an atom of mass p the first is
    max(0, keep - (e**epsilon - 1 + keep) p), the second at most max(0, 1 - e**epsilon (1 - keep)).
    So ``keep`` is sufficient for every law, and again the largest if there are points of
    arbitrarily small mass.

    Parameters
    ----------
    keep
        The probability of releasing X, exact, from 0 to 1.

    Raises
    ------
    InputError
        If ``keep`` is not a number from 0 to 1.

    Examples
    --------
    >>> best = SamplingMechanism.best(1, 0.01)
    >>> round(float(best.keep), 6)  # 0.01 e
    0.027183
    >>> best.delta(1)
    Bounds(low=0.00999999..., high=0.01)
    """

    keep: Fraction

    def __init__(self, keep: Exact) -> None:
        object.__setattr__(self, "keep", _share(keep, "keep"))

    @classmethod
    def best(cls, epsilon: Exact, delta: Exact) -> SamplingMechanism:
        """Return the mechanism with the largest ``keep``, rounded down by less than 1e-40.

        Parameters
        ----------
        epsilon
            In nats, from 0 to 100.
        delta
            From 0 to 1. With 0, X is never released.

        Raises
        ------
        InputError
            If a number is out of range.
        """
        given, failure = limited(epsilon), _share(delta, "delta")
        most = min(failure * exp_lower(given), 1 - (1 - failure) * exp_upper(-given))
        return cls(min(most, Fraction(1)))

    def delta(self, epsilon: Exact) -> Bounds:
        """Return the least delta at a budget, for a law of X without atoms.

        That is max{keep e**-epsilon, 1 - e**epsilon (1 - keep)}.

        Raises
        ------
        InputError
            If epsilon is out of range.
        """
        given = limited(epsilon)
        two = exponential(-given) * self.keep, 1 - exponential(given) * (1 - self.keep)
        return Bounds.largest(side.ends for side in two)

    def channel(self, prior: Prior) -> Channel:
        """Return the mechanism on finitely many inputs: keep I + (1 - keep) 1 P.

        Examples
        --------
        >>> print(SamplingMechanism("1/2").channel(Prior(["1/4", "3/4"])).matrix)
        [[0.625 0.375]
         [0.125 0.875]]
        """
        rest = [(1 - self.keep) * p for p in prior]
        rows = [[r + self.keep * (x == y) for y, r in enumerate(rest)] for x in range(len(prior))]
        return Channel.from_matrix(rows, inputs=prior.labels, outputs=prior.labels)


def _share(value: Exact, key: str) -> Fraction:
    return as_fraction(value, key, expected="a number from 0 to 1", least=0, most=1)
