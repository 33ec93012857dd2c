"""The delta of many releases at an epsilon, by privacy loss distributions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from mechdesign.accounting.composition.products import same_inputs
from mechdesign.accounting.continuous.arguments import positive
from mechdesign.accounting.measure.max_ratio import float_above
from mechdesign.channel import Channel
from mechdesign.errors import UnsupportedError
from mechdesign.exact import Exact
from mechdesign.notions.base import budget

__all__ = ["approximate_delta"]

LEAST_SHARED = 1e-12
"""What reports that two inputs share have of the mass, where tails of it are dropped."""


def approximate_delta(
    channels: Iterable[Channel], epsilon: Exact, *, interval: float = 1e-4
) -> tuple[float, float]:
    """Return bounds on the least delta of independent releases, by the package dp-accounting.

    That is the delta of ``privacy_profile(product(channels), [epsilon])``. For each pair of inputs
    the privacy loss of every channel is rounded to a lattice, up for the one bound and down for the
    other, and added up by convolutions. The cost does not depend on the number of outputs of the
    product, so it serves where that is too large.

    Parameters
    ----------
    channels
        Channels on the same inputs.
    epsilon
        The budget of all together, in nats, >= 0.
    interval
        The step of the lattice, in nats, > 0; the bounds are as far apart as epsilon is uncertain
        by that much for each release.

    Returns
    -------
    tuple of float
        Below and above, in floating point.

    Raises
    ------
    InputError
        If the channels do not fit or the interval is not positive.
    UnsupportedError
        If the package is not installed (extra ``accounting``).

    Notes
    -----
    Source: Koskela, Jälkö and Honkela 2020; Doroshenko et al. 2022 (privacy loss distributions).
    """
    listed = same_inputs(channels)
    width, exact = positive(interval, "interval"), budget(epsilon)
    most, least = float_above(exact), -float_above(-exact)
    inputs = range(len(listed[0].inputs))
    pairs = [(x, other) for x in inputs for other in inputs if x != other]
    if not pairs:  # there is no other input to compare with
        return 0.0, 0.0
    below = max(_pair_delta(listed, pair, most, width, False) for pair in pairs)
    above = max(_pair_delta(listed, pair, least, width, True) for pair in pairs)
    return below, above


def _pair_delta(
    channels: list[Channel],
    pair: tuple[int, int],
    epsilon: float,
    interval: float,
    pessimistic: bool,
) -> float:
    """Return a bound on Sum_y (Q(y|x) - e**epsilon Q(y|x'))_+ for one pair."""
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        expected = 'the package dp-accounting, as in `pip install -e ".[accounting]"`'
        raise UnsupportedError("approximate_delta", expected, "it is not installed") from None
    total = None
    for channel, uses in Counter(channels).items():
        own, other = (
            {y: math.log(entry) for y, entry in enumerate(channel.matrix[x].tolist()) if entry}
            for x in pair
        )
        if own.keys().isdisjoint(other):  # one report tells the two apart
            return 1.0
        loss = privacy_loss_distribution.from_two_probability_mass_functions(
            log_probability_mass_function_lower=other,
            log_probability_mass_function_upper=own,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=interval,
        )
        # the package drops tails of 1e-15, and fails where nothing else is finite
        shared = math.fsum(math.exp(own[y]) for y in own.keys() & other.keys())
        dropped = 1e-15 if shared**uses > LEAST_SHARED else 0.0
        part = loss if uses == 1 else loss.self_compose(uses, dropped)
        total = part if total is None else total.compose(part)
    return 0.0 if total is None else float(total.get_delta_for_epsilon(epsilon))
