"""Prior mismatch: the leakage of a channel under a prior that it was not designed for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from mechdesign.accounting.conversions.formulas import added, posterior_ratio
from mechdesign.accounting.measure.max_ratio import log_above
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain
from mechdesign.errors import InputError, listed
from mechdesign.notions import LIP
from mechdesign.prior import Prior, as_prior, prior_on
from mechdesign.text import Table, Tabular


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
    worst = Fraction(1)
    for a, b in zip(p, q, strict=True):
        if a != b:
            if min(a, b) == 0:
                return math.inf
            worst = max(worst, a / b, b / a)
    return log_above(worst)


def family_bound(true: Prior, family: Iterable[Prior]) -> float:
    """Bound how much the LIP of any channel differs between the true prior and a family of priors.

        ln(1 + max_i TV(P, P_i) / min over i and x of P_x and P_i,x)

    Raises
    ------
    InputError
        If the family is empty or the priors are on different numbers of inputs.

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

    Raises
    ------
    InputError
        If the numbers of inputs differ.

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
    labels = p.labels or q.labels
    if labels is not None:
        inputs = Domain(labels)
        return p.aligned(inputs), q.aligned(inputs)
    if len(p) != len(q):
        raise InputError("prior", f"{len(p)} probabilities, as in the other", len(q))
    return p, q
