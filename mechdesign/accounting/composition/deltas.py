"""The delta of several releases at an epsilon: exactly, and by privacy loss distributions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from mechdesign.accounting.composition.products import product, same_inputs
from mechdesign.accounting.measure.max_ratio import float_above
from mechdesign.accounting.measure.privacy_profile import privacy_profile
from mechdesign.channel import Channel
from mechdesign.errors import InputError, UnsupportedError, shown
from mechdesign.exact import Exact
from mechdesign.notions.base import budget

__all__ = ["approximate_delta", "exact_delta"]

LEAST_SHARED = 1e-12
"""What reports that two inputs share have of the mass, where tails of it are dropped."""


def exact_delta(channels: Iterable[Channel], epsilon: Exact) -> float:
    """Return the least delta with which independent releases are (epsilon, delta)-LDP.

        delta = max over x, x' of Sum_y (Q(y|x) - e**epsilon Q(y|x'))_+

    with Q the product of the channels. It is rounded up.

    Parameters
    ----------
    channels
        Channels on the same inputs.
    epsilon
        The budget of all together, in nats, >= 0.

    Raises
    ------
    InputError
        If the channels do not fit.
    UnsupportedError
        If the product has too many outputs after merging.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> exact_delta([warner], 0), round(exact_delta([warner] * 2, "1.0986122886681098"), 9)
    (0.5, 0.375)
    """
    return float_above(privacy_profile(product(channels), [epsilon]).ldp[0])


def approximate_delta(
    channels: Iterable[Channel], epsilon: Exact, *, interval: float = 1e-4
) -> tuple[float, float]:
    """Return bounds on :func:`exact_delta`, by the package dp-accounting (extra ``accounting``).

    For each pair of inputs the privacy loss of every channel is rounded to a lattice, up for the
    one bound and down for the other, and added up by convolutions. The cost
    does not depend on the number of outputs of the product, so it serves where that is too large.

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
        If the package is not installed.

    Notes
    -----
    Source: Koskela, Jälkö and Honkela 2020; Doroshenko et al. 2022 (privacy loss distributions).
    """
    listed = same_inputs(channels)
    given: Any = interval
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not (number and 0 < given < math.inf):
        raise InputError("interval", "a number > 0", shown(interval))
    width = float(given)
    exact = budget(epsilon)
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
    times: dict[Channel, int] = {}
    for channel in channels:
        times[channel] = times.get(channel, 0) + 1
    total = None
    for channel, uses in times.items():
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
