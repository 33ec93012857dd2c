"""Priors estimated from samples: a ball that contains the true prior, and a robust design."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from mechdesign.accounting.arguments import TINY
from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction, log_upper, sqrt_upper
from mechdesign.notions import BoundedPriorLIP
from mechdesign.prior import Prior, labeled_numbers
from mechdesign.prior_sets import PriorBall
from mechdesign.problem import Problem
from mechdesign.utilities import Utility

RADIUS_STEPS = 10**9
"""A radius is rounded up to a multiple of 1 / RADIUS_STEPS."""


def sample_radius(size: int, samples: int, beta: Exact) -> Fraction:
    """Bound the distance of an empirical prior to the true one, with confidence 1 - beta.

        Pr(TV(P_hat, P) >= r) <= (2**k - 2) e**(-2 n r**2) = beta,
        r = sqrt(ln((2**k - 2) / beta) / (2 n))

    This is Hoeffding's inequality for each of the 2**k - 2 sets of inputs. The radius is rounded up
    to nine digits, and is at most 1.

    Parameters
    ----------
    size
        The number of inputs k, >= 1.
    samples
        The number of independent samples n, >= 1.
    beta
        The probability of failure, in (0, 1).

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Weissman, Ordentlich, Seroussi, Verdú and Weinberger 2003. Jiang et al. 2021 (TIFS),
    Corollary 7, has k in place of ln(2**k - 2), which is valid but looser.

    Examples
    --------
    >>> float(sample_radius(4, 1000, 0.05))
    0.053079138
    """
    chance = as_fraction(beta, "beta", expected="a number in (0, 1)", least=TINY, most=1 - TINY)
    size, samples = whole_number(size, "size"), whole_number(samples, "samples")
    if size == 1:
        return Fraction(0)
    exact = sqrt_upper(log_upper((2**size - 2) / chance) / (2 * samples))
    return min(Fraction(1), Fraction(math.ceil(exact * RADIUS_STEPS), RADIUS_STEPS))


def prior_ball(counts: Iterable[Any], beta: Exact) -> PriorBall:
    """Return a ball around the empirical prior that contains the true one with confidence 1 - beta.

    Parameters
    ----------
    counts
        Number of samples of each input, by position or by label.
    beta
        The probability of failure, in (0, 1).

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
    """Return a problem whose channel is epsilon-LIP under the true prior with confidence 1 - beta.

    The notion is bounded-prior LIP for the ball of :func:`prior_ball`; the utility is measured at
    the empirical prior.

    Parameters
    ----------
    domain
        The inputs.
    counts
        Number of samples of each input.
    epsilon
        The budget in nats.
    utility
        The utility.
    beta
        The probability, over the samples, that the guarantee fails.
    outputs
        As for :class:`~mechdesign.Problem`.

    Examples
    --------
    >>> from mechdesign.utilities import HammingLoss
    >>> robust_problem(["yes", "no"], [20, 80], 1, HammingLoss())
    Problem(2 inputs, BoundedPriorLIP(...), HammingLoss())

    The price of robustness is the difference to the design for ``LIP(epsilon)`` at
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
