"""Priors estimated from samples: a ball that holds the true one, and a design safe in it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction, log_upper, sqrt_upper
from mechdesign.notions import BoundedPriorLIP
from mechdesign.prior import Prior, labeled_numbers
from mechdesign.prior_sets import PriorBall
from mechdesign.problem import Problem
from mechdesign.utilities import Utility

__all__ = ["prior_ball", "robust_problem", "sample_radius"]

RADIUS_STEPS = 10**9
"""A radius is rounded up to a whole number of these parts of 1."""


def sample_radius(size: int, samples: int, beta: Exact) -> Fraction:
    """Return a distance that an empirical prior keeps to the true one, but with chance beta.

        Pr(TV(P_hat, P) >= r) <= (2**k - 2) e**(-2 n r**2) = beta,
        r = sqrt(ln((2**k - 2) / beta) / (2 n))

    By Hoeffding's inequality for each of the 2**k - 2 sets of inputs. It is rounded up to nine
    digits, and is at most 1.

    Parameters
    ----------
    size
        The number of inputs k, >= 1.
    samples
        The number of independent samples n, >= 1.
    beta
        The chance of failure, in (0, 1).

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Weissman, Ordentlich, Seroussi, Verdú and Weinberger 2003. Jiang et al. 2021 (TIFS),
    Corollary 7, has k for ln(2**k - 2), which is valid and looser.

    Examples
    --------
    >>> float(sample_radius(4, 1000, 0.05))
    0.053079138
    """
    expected = "a number in (0, 1)"
    chance = as_fraction(beta, "beta", expected=expected, above=0)
    if chance >= 1:
        raise InputError("beta", expected, shown(beta))
    size, samples = whole_number(size, "size"), whole_number(samples, "samples")
    if size == 1:
        return Fraction(0)
    exact = sqrt_upper(log_upper((2**size - 2) / chance) / (2 * samples))
    return min(Fraction(1), Fraction(math.ceil(exact * RADIUS_STEPS), RADIUS_STEPS))


def prior_ball(counts: Iterable[Any], beta: Exact) -> PriorBall:
    """Return a ball around the empirical prior that holds the true one with chance 1 - beta.

    Parameters
    ----------
    counts
        How many samples there were of each input, by position or by label.
    beta
        The chance of failure, in (0, 1).

    Raises
    ------
    InputError
        If the counts are not whole numbers >= 0, or all are 0.

    Examples
    --------
    >>> prior_ball([100, 100, 100, 700], 0.05)
    PriorBall(4 inputs, radius 0.053079138)
    """
    prior, count = _empirical(counts)
    return PriorBall(prior, sample_radius(len(prior), count, beta))


def robust_problem(
    domain: Domain | Iterable[Any],
    counts: Iterable[Any],
    epsilon: Exact,
    utility: Utility,
    *,
    beta: Exact = "0.05",
    outputs: Iterable[Any] | None = None,
) -> Problem:
    """Return a problem whose channel is epsilon-LIP under the true prior with chance 1 - beta.

    The notion is bounded-prior LIP for the ball of :func:`prior_ball`; the utility is measured at
    the empirical prior.

    Parameters
    ----------
    domain
        The inputs.
    counts
        How many samples there were of each.
    epsilon
        The budget in nats.
    utility
        What is to be designed for.
    beta
        The chance, over the samples, that the guarantee fails.
    outputs
        As for a problem.

    Examples
    --------
    >>> from mechdesign.utilities import HammingLoss
    >>> robust_problem(["yes", "no"], [20, 80], 1, HammingLoss())
    Problem(2 inputs, BoundedPriorLIP(...), HammingLoss())

    What it costs not to trust the estimate is the difference to the design for ``LIP(epsilon)`` at
    ``problem.prior``.
    """
    inputs = Domain.of(domain)
    prior, _ = _empirical(counts)
    notion = BoundedPriorLIP(epsilon, prior_ball(counts, beta))
    return Problem(inputs, notion, utility, prior=prior, outputs=outputs)


def _empirical(counts: Any) -> tuple[Prior, int]:
    """Return the prior proportional to whole counts, and their sum."""
    expected = "a whole number >= 0"
    given, labels = labeled_numbers(counts, "counts", expected)
    for n, count in enumerate(given):
        if count.denominator != 1:
            raise InputError(f"counts[{n}]", expected, shown(float(count)))
    if not any(given):
        raise InputError("counts", "at least one count above 0", "none")
    named = given if labels is None else dict(zip(labels, given, strict=True))
    return Prior.from_counts(named), int(sum(given))
