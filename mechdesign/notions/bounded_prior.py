"""Bounds on the lift under every prior of a set: LIP, pointwise maximal leakage, either side."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

from mechdesign.domain import Domain
from mechdesign.errors import InputError, check_keys
from mechdesign.exact import Exact, fraction_text
from mechdesign.notions.base import BudgetNotion, Notion
from mechdesign.notions.lift import AsymmetricLift
from mechdesign.prior_sets import PriorBall, PriorBox, PriorList, PriorSet

WAYS = """
center = [0.1, 0.2, 0.3, 0.4]
radius = 0.05               # total-variation distance from the center
# lower = [0.05, 0.1, 0.2, 0.3]
# upper = [0.2, 0.3, 0.4, 0.5]
# priors = [[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]]
"""
"""Keys of an example table that define a set of priors; two alternatives as comments."""

KEYS = ("lower", "upper", "center", "radius")


class ForEveryPrior(Notion):
    """Bounds on the lift for every prior of a set, independent of the prior of the problem."""

    allows_sensitive_attribute = False
    on_interval = ""
    needs_prior = False
    bounds_lift_from_below = False  # the prior of X need not be in the set
    priors: PriorSet

    def aligned(self, domain: Domain) -> Self:
        """Return the notion with its priors in the order of the domain."""
        found = copy.copy(self)
        found.priors = self.priors.aligned(domain)
        return found


def stated_priors(
    priors: Any = None,
    lower: Any = None,
    upper: Any = None,
    center: Any = None,
    radius: Any = None,
) -> PriorSet:
    """Return a set of priors from exactly one of: ``priors``; both ends of a box; a ball.

    ``priors`` is a list of priors, a set of priors, or a table of the other keys.

    Examples
    --------
    >>> stated_priors({"center": [0.5, 0.5], "radius": 0.25})
    PriorBall(2 inputs, radius 0.25)
    """
    ends = dict(zip(KEYS, (lower, upper, center, radius), strict=True))
    named = [key for key, value in ends.items() if value is not None]
    if not named and isinstance(priors, PriorSet):
        return priors
    if not named and isinstance(priors, Mapping) and set(priors) & set(KEYS):
        check_keys(priors, "", KEYS)
        return stated_priors(**priors)
    if priors is not None and not named:
        return PriorList(priors)
    if priors is None and named == ["lower", "upper"]:
        return PriorBox(lower, upper)
    if priors is None and named == ["center", "radius"]:
        return PriorBall(center, radius)
    expected = "exactly one of: priors; lower and upper; center and radius"
    given = [*(["priors"] if priors is not None else []), *named]
    raise InputError("priors", expected, " and ".join(given) or "none")


class BoundedPriorBudget(BudgetNotion, ForEveryPrior):
    """A bound on the lift with one budget, for every prior in a set.

    Parameters are those of :class:`BoundedPriorLIP`.
    """

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
        self.priors = stated_priors(priors, lower, upper, center, radius)

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table."""
        own = {"notion": self.name, "epsilon": fraction_text(self.epsilon)}
        return {**own, **self.priors.to_table()}


class BoundedPriorLIP(BoundedPriorBudget):
    """LIP for every prior in a set: a guarantee for an imprecisely known prior.

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
    Source: Jiang et al. 2021 (TIFS), Definition 6. The rows are linear in P, so the vertices of the
    set suffice; a sort finds them where there are too many to list. The prior of the problem, if
    given, is used by the utility only.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> notion = BoundedPriorLIP(1, lower=[0.1, 0.7], upper=[0.3, 0.9])
    >>> round(notion.leakage(warner), 6)  # ln of 0.7 / (1/4), at the prior (0.1, 0.9)
    1.029619
    """

    name = "bounded-prior-lip"
    on_interval = "masses"
    title = "LIP for every prior in a set"
    example = f"""
epsilon = 1.0               # nats; LIP for every prior in a set, stated in one of three ways
{WAYS.lstrip()}"""


class BoundedPriorPML(BoundedPriorBudget):
    """PML for every prior in a set: P(x|y) / P(x) <= e**epsilon for every x, y and P.

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
    Source: the bound on the lift of Saeidian, Cervia, Oechtering and Skoglund 2023 for a set of
    priors as in Jiang et al. 2021 (TIFS), Definition 6 (Grosse, Saeidian and Oechtering 2024 ask
    what a channel guarantees when P is not known). The largest lift of a column q over P is
    max q / min_P (P . q), so that vertices of the set suffice. For all priors it is LDP.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> notion = BoundedPriorPML(1, lower=[0.1, 0.7], upper=[0.3, 0.9])
    >>> round(notion.leakage(warner), 6)  # ln of (3/4) / 0.3, at the prior (0.1, 0.9)
    0.916291
    """

    name = "bounded-prior-pml"
    title = "pointwise maximal leakage for every prior in a set"
    example = f"""
epsilon = 1.0               # nats; P(x|y)/P(x) <= e^epsilon for every prior of a set
{WAYS.lstrip()}"""


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
