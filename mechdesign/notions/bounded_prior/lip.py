"""Bounded-prior local information privacy: LIP under every prior of a set."""

from __future__ import annotations

from typing import Any

from mechdesign.exact import Exact, fraction_text
from mechdesign.notions.base import BudgetNotion
from mechdesign.notions.bounded_prior.stated import WAYS, ForEveryPrior, stated_priors


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
