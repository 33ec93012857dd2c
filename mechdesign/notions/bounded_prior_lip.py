"""Bounded-prior local information privacy: LIP under every prior of a set."""

from __future__ import annotations

from typing import Any

from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.exact import Exact
from mechdesign.notions.base import BudgetNotion
from mechdesign.notions.rows.cone import Bound
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior import Prior
from mechdesign.prior_sets import PriorBall, PriorBox, PriorList, PriorSet

__all__ = ["BoundedPriorLIP"]


class BoundedPriorLIP(BudgetNotion):
    """LIP for every prior in a set: what holds although the prior is only roughly known.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.
    priors
        A list of priors (and all their mixtures), or a set of priors; or
    lower, upper
        a box, ``(n_inputs,)`` each: all priors with lower <= P <= upper; or
    center, radius
        a ball: all priors within total-variation distance ``radius`` of ``center``.

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Definition 6. The rows are linear in P, so the vertices of
    the set suffice; they are found by a sort where they are too many to list. The prior of the
    problem, if given, serves the utility only.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> notion = BoundedPriorLIP(1, lower=[0.1, 0.7], upper=[0.3, 0.9])
    >>> round(notion.leakage(warner), 6)  # ln of 0.7 / (1/4), at the prior (0.1, 0.9)
    1.029619
    """

    name = "bounded-prior-lip"
    allows_sensitive_attribute = False
    on_interval = "masses"
    title = "LIP for every prior in a set"
    example = """
epsilon = 1.0               # nats; LIP for every prior in a set, stated in one of three ways
center = [0.1, 0.2, 0.3, 0.4]
radius = 0.05               # total-variation distance from the center
# lower = [0.05, 0.1, 0.2, 0.3]
# upper = [0.2, 0.3, 0.4, 0.5]
# priors = [[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]]
"""

    priors: PriorSet

    def __init__(
        self,
        epsilon: Exact,
        priors: Any = None,
        lower: Any = None,
        upper: Any = None,
        center: Any = None,
        radius: Any = None,
    ) -> None:
        super().__init__(epsilon)
        if isinstance(priors, PriorSet):
            self.priors = priors
            return
        ways = {
            "priors": (priors,),
            "lower and upper": (lower, upper),
            "center and radius": (center, radius),
        }
        used = [way for way, values in ways.items() if any(v is not None for v in values)]
        whole = [way for way in used if all(v is not None for v in ways[way])]
        if len(used) != 1 or whole != used:
            given = {
                "priors": priors,
                "lower": lower,
                "upper": upper,
                "center": center,
                "radius": radius,
            }
            names = [key for key, value in given.items() if value is not None]
            expected = "exactly one of: priors; lower and upper; center and radius"
            raise InputError("priors", expected, " and ".join(names) or "none")
        if priors is not None:
            self.priors = PriorList(priors)
        elif lower is not None:
            self.priors = PriorBox(lower, upper)
        else:
            self.priors = PriorBall(center, radius)

    def family(self, domain: Domain, prior: Prior | None = None) -> LiftRows:
        """Compile to a bound on the lift from either side, for every prior of the set."""
        priors = self.priors.aligned(domain)
        return LiftRows(self.name, priors, Bound(), Bound(), self.epsilon)

    def aligned(self, domain: Domain) -> BoundedPriorLIP:
        """Return the notion with its priors in the order of the domain."""
        return BoundedPriorLIP(self.epsilon, self.priors.aligned(domain))

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table."""
        return {**super().to_table(), **self.priors.to_table()}
