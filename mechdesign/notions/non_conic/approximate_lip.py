"""Approximate local information privacy: LIP but for events of small probability."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.domain import Domain
from mechdesign.notions.base import prior_for
from mechdesign.notions.non_conic.base import ApproximateNotion
from mechdesign.notions.non_conic.excess_constraint import Excess, ExcessConstraint, ExcessRow
from mechdesign.notions.rows.cone import Bound
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior import Prior
from mechdesign.prior_sets import PriorList

__all__ = ["ApproximateLIP"]


class ApproximateLIP(ApproximateNotion):
    """Approximate LIP: LIP for all sets of outputs, up to a probability delta.

        e**-epsilon Pr(Y in S|x) - delta <= Pr(Y in S) <= e**epsilon Pr(Y in S|x) + delta

    for all x and S. With the worst S for each side, and lambda the output distribution:

        Sum_y (Q[x,y] - e**epsilon lambda_y)_+ <= e**epsilon delta,
        Sum_y (lambda_y - e**epsilon Q[x,y])_+ <= delta             for every x.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.
    delta
        From 0, which is LIP, to 1, which asks nothing.

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Definition 2. An input of prior 0 is protected like any other.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> identity = Channel.from_matrix([[1, 0], [0, 1]])
    >>> half = Prior([0.5, 0.5])
    >>> [ApproximateLIP(0, delta).holds(identity, half) for delta in (0.5, 0.49)]
    [True, False]
    """

    name = "approximate-lip"
    title = "approximate local information privacy"
    example = """
epsilon = 1.0               # nats; for all sets of outputs: Pr(S|x)/Pr(S) within e^+-epsilon,
delta = 0.05                # but for so much probability
"""
    needs_prior = True

    def rows(self, domain: Domain, prior: Prior | None) -> LiftRows:
        """Return the rows of LIP."""
        priors = PriorList([prior_for(self.name, domain, prior)])
        return LiftRows(self.name, priors, Bound(), Bound(), self.epsilon)

    def channel_constraint(self, domain: Domain, prior: Prior | None) -> ExcessConstraint:
        """Compile to two sums for each input."""
        P, k = prior_for(self.name, domain, prior), len(domain)
        output, none = k, Fraction(0)
        excesses = []
        for x in range(k):
            upper, lower = ExcessRow(x, 0, x, output), ExcessRow(x, 0, output, x)
            excesses.append(Excess("excess-upper", (upper,), none, self.delta, "max-lift of {x}"))
            excesses.append(Excess("excess-lower", (lower,), self.delta, none, "min-lift of {x}"))
        return ExcessConstraint(self.name, k, excesses, self.epsilon, P)
