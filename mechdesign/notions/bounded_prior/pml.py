"""Bounded-prior pointwise maximal leakage: PML under every prior of a set."""

from __future__ import annotations

from mechdesign.notions.bounded_prior.lip import BoundedPriorBudget
from mechdesign.notions.bounded_prior.stated import WAYS


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
