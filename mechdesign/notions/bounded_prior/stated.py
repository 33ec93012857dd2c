"""Notions for every prior of a set, given as a list, a box, a ball, or a table of one of these."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

from mechdesign.domain import Domain
from mechdesign.errors import InputError, check_keys
from mechdesign.notions.base import Notion
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
    """Return a set of priors.

    Parameters
    ----------
    priors
        A list of priors (and all their mixtures), a set of priors, or a table of the other keys; or
    lower, upper
        a box, ``(n_inputs,)`` each: all priors with lower <= P <= upper; or
    center, radius
        a ball: all priors within total-variation distance ``radius`` of ``center``.

    Raises
    ------
    InputError
        If not exactly one of these is given, or it does not define a set of priors.

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
