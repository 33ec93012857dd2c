"""Bounded-prior lift bounds: a budget for each side, under every prior of a set."""

from __future__ import annotations

from typing import Any

from mechdesign.notions.asymmetric_lift import AsymmetricLift
from mechdesign.notions.bounded_prior.stated import ForEveryPrior, stated_priors


class BoundedPriorLift(ForEveryPrior, AsymmetricLift):
    """Asymmetric LIP for every prior in a set: e**-lower <= P(x|y) / P(x) <= e**upper.

    Parameters
    ----------
    lower, upper
        Budgets in nats, in [0, inf]; ``inf`` removes a bound.
    priors
        A list of priors (and all their mixtures), a set of priors, or a table: ``lower`` and
        ``upper``, ``(n_inputs,)`` each, for a box; ``center`` and ``radius`` for a ball in total
        variation.

    Notes
    -----
    Source: Zarrabian, Ding and Sadeghi 2023 for the two sides; Jiang et al. 2021 (TIFS), Definition
    6, for the set. There is no epsilon, so the leakage is the largest excess of a log lift over its
    budget, at most 0 when the channel is private.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> box = {"lower": [0.1, 0.7], "upper": [0.3, 0.9]}
    >>> [BoundedPriorLift(lower, 0.92, box).holds(warner) for lower in (1.03, 1.02)]
    [True, False]
    """

    name = "bounded-prior-lift"
    title = "lift bounds with a budget for each side, for every prior in a set"
    example = """
lower = 1.0                 # nats; P(x|y)/P(x) >= e^-lower; may be inf
upper = 0.5                 # nats; P(x|y)/P(x) <= e^upper; may be inf
priors = { center = [0.1, 0.2, 0.3, 0.4], radius = 0.05 }    # for every prior of a set
# priors = { lower = [0.05, 0.1, 0.2, 0.3], upper = [0.2, 0.3, 0.4, 0.5] }
# priors = [[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]]
"""

    def __init__(self, lower: Any, upper: Any, priors: Any) -> None:
        super().__init__(lower, upper)
        self.priors = stated_priors(priors)

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table."""
        stated = self.priors.to_table()
        return {**super().to_table(), "priors": stated.get("priors", stated)}
