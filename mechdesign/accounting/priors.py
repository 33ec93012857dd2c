"""Priors that differ from the assumed one, and priors estimated from samples."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.accounting.arguments import TINY
from mechdesign.accounting.conversions import added, posterior_ratio
from mechdesign.accounting.ratios import log_above
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import Exact, as_fraction, log_upper, sqrt_upper
from mechdesign.notions import LIP, BoundedPriorLIP
from mechdesign.prior import Prior, as_prior, labeled_numbers, prior_on
from mechdesign.prior_sets import PriorBall
from mechdesign.problem import Problem
from mechdesign.text import Table, Tabular
from mechdesign.utilities import Utility


def total_variation(p: Prior, q: Prior) -> Fraction:
    """Return half of Sum_x |P_x - Q_x|, exactly.

    Examples
    --------
    >>> total_variation(Prior([0.5, 0.5]), Prior([0.2, 0.8]))
    Fraction(3, 10)
    """
    p, q = _on_the_same(p, q)
    return sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2


def log_ratio_bound(p: Prior, q: Prior) -> float:
    """Bound how much the LIP of any channel differs between two priors.

        |LIP(Q, P1) - LIP(Q, P2)| <= max over x of |ln(P1_x / P2_x)|

    The bound is at most :func:`family_bound` of the two.

    The entries of a column are the same under both priors, and the probability of the output
    changes by a factor between the least and the largest P1_x / P2_x. Lemma 3 bounds these factors
    further by the total-variation distance.

    Examples
    --------
    >>> round(log_ratio_bound(Prior([0.5, 0.5]), Prior([0.4, 0.6])), 6)  # ln(0.5 / 0.4)
    0.223144
    """
    p, q = _on_the_same(p, q)
    apart = [(max(pair), min(pair)) for pair in zip(p, q, strict=True) if pair[0] != pair[1]]
    if any(least == 0 for _, least in apart):
        return math.inf
    return log_above(max((most / least for most, least in apart), default=Fraction(1)))


def family_bound(true: Prior, family: Iterable[Prior]) -> float:
    """Bound how much the LIP of any channel differs between the true prior and a family of priors.

        ln(1 + max_i TV(P, P_i) / min over i and x of P_x and P_i,x)

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Corollary 8; for one prior Lemma 3,
    |LIP(Q, P1) - LIP(Q, P2)| <= ln(1 + TV(P1, P2) / c), c = min over x of P1_x and P2_x.

    Examples
    --------
    >>> round(family_bound(Prior([0.5, 0.5]), [Prior([0.2, 0.8])]), 6)
    0.916291
    """
    true = as_prior(true, "true")
    given = listed(family, "family", "a list of priors")
    priors = [as_prior(prior, f"family[{n}]") for n, prior in enumerate(given)]
    if not priors:
        raise InputError("family", "at least one prior", "none")
    distance = max(total_variation(true, prior) for prior in priors)
    least = min(true.minimum, *(prior.minimum for prior in priors))
    if distance == 0:
        return 0.0
    return log_above(1 + distance / least) if least else math.inf


@dataclass(frozen=True, repr=False)
class PriorMismatch(Tabular):
    """The exact LIP of a channel under the assumed and the true prior, and bounds on the latter.

    Attributes
    ----------
    assumed, true
        The exact LIP under each prior, in nats, rounded up.
    shift
        The bound of Lemma 3 on their difference.
    sharper
        The bound max over x of |ln(P1_x / P2_x)|.
    twice
        The bound 2 eps, with eps the LIP under the assumed prior.
    through_ldp
        The bound ln((e**eps - 1 + P_min) / P_min), with P_min of the assumed prior.
    """

    assumed: float
    true: float
    shift: float
    sharper: float
    twice: float
    through_ldp: float

    @property
    def difference(self) -> float:
        """The difference of the leakages, in nats."""
        return abs(self.true - self.assumed)

    @property
    def bound(self) -> float:
        """The bound (12) on the leakage under the true prior."""
        return min(self.assumed + self.shift, self.twice, self.through_ldp)

    def _table(self) -> Table:
        rows = [
            ("LIP under the assumed prior", self.assumed),
            ("LIP under the other prior", self.true),
            ("bound (12), the least of:", self.bound),
            ("  eps + ln(1 + TV / c)", self.assumed + self.shift),
            ("  2 eps", self.twice),
            ("  ln((e^eps - 1 + P_min) / P_min)", self.through_ldp),
            ("eps + max |ln(P1 / P2)|", self.assumed + self.sharper),
        ]
        cells = [(name, f"{value:.6f}") for name, value in rows]
        return Table(("leakage", "nats"), cells, "<>")


def prior_mismatch(channel: Channel, assumed: Prior, true: Prior) -> PriorMismatch:
    """Return the exact leakage of a channel under two priors, and the bounds on the second.

    Parameters
    ----------
    channel
        The channel, designed for the assumed prior.
    assumed, true
        The priors.

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Lemma 3 and eq. (12).

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> prior_mismatch(warner, Prior([0.5, 0.5]), Prior([0.2, 0.8]))
    leakage                                nats
    LIP under the assumed prior        0.693147
    LIP under the other prior          0.955511
    bound (12), the least of:          1.098612
      eps + ln(1 + TV / c)             1.609438
      2 eps                            1.386294
      ln((e^eps - 1 + P_min) / P_min)  1.098612
    eps + max |ln(P1 / P2)|            1.609438
    """
    assumed = prior_on(assumed, as_channel(channel).inputs)
    true = prior_on(true, channel.inputs, "true")
    notion = LIP(1)
    epsilon = notion.leakage(channel, assumed)
    return PriorMismatch(
        assumed=epsilon,
        true=notion.leakage(channel, true),
        shift=family_bound(assumed, [true]),
        sharper=log_ratio_bound(assumed, true),
        twice=2 * epsilon,
        through_ldp=posterior_ratio(added([epsilon]), assumed.minimum),
    )


def _on_the_same(p: Prior, q: Prior) -> tuple[Prior, Prior]:
    """Return both priors in one order of labels."""
    p, q = as_prior(p), as_prior(q)
    if p.labels is not None and q.labels is not None:
        return p, q.aligned(Domain(p.labels))
    if len(p) != len(q):
        raise InputError("prior", f"{len(p)} probabilities, as in the other", len(q))
    return p, q


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
