"""The delta of many releases at an epsilon, from their privacy loss distributions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np

from mechdesign._typing import AnyArray
from mechdesign.accounting.arguments import positive
from mechdesign.accounting.central.lattice_sums import Part, is_spread, saddle_point, sum_law
from mechdesign.accounting.composition.products import same_inputs
from mechdesign.accounting.measure.max_ratio import float_above
from mechdesign.channel import Channel
from mechdesign.exact import Exact
from mechdesign.notions.base import budget

SLACK = 1e-14
"""Bound on the relative error of a probability, of a logarithm and of a product."""

LARGEST_TILT = 600.0


def approximate_delta(
    channels: Iterable[Channel], epsilon: Exact, *, interval: float = 1e-4
) -> tuple[float, float]:
    """Return bounds on the least delta of independent releases, in floating point.

    The bounds enclose the delta of ``privacy_profile(product(channels), [epsilon])``. For each pair
    of inputs the privacy loss of every channel is rounded to a lattice, up for the upper bound and
    down for the lower one, and convolved by a Fourier transform with bounded errors. The cost does
    not depend on the number of outputs of the product.

    Parameters
    ----------
    channels
        Channels on the same inputs.
    epsilon
        The budget of all together, in nats, >= 0.
    interval
        The step of the lattice, in nats, > 0. The bounds differ as if epsilon were uncertain by one
        step for each release.

    Returns
    -------
    tuple of float
        The lower and the upper bound.

    Raises
    ------
    InputError
        If the inputs of the channels differ or the interval is not positive.

    Notes
    -----
    Source: Koskela, Jälkö and Honkela 2020; Doroshenko et al. 2022 (privacy loss distributions).

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> [round(delta, 4) for delta in approximate_delta([warner] * 100, 60)]
    [0.2683, 0.2685]
    """
    uses = Counter(same_inputs(channels))
    width, exact = positive(interval, "interval"), budget(epsilon)
    most, least = float_above(exact), -float_above(-exact)
    inputs = range(len(next(iter(uses)).inputs))
    pairs = [(x, other) for x in inputs for other in inputs if x != other]
    below = max((_pair_delta(uses, *pair, most, width, up=False) for pair in pairs), default=0.0)
    above = max((_pair_delta(uses, *pair, least, width, up=True) for pair in pairs), default=0.0)
    return min(below, above), above


def _pair_delta(
    uses: Counter[Channel], x: int, other: int, epsilon: float, width: float, *, up: bool
) -> float:
    """Return a bound on E[(1 - e**(epsilon - L))_+], L the sum of ln(Q(y|x) / Q(y|other)).

    Reports that are impossible for the other input have an infinite loss and reveal the input.
    """
    side, parts, hidden = (1 if up else -1), [], 0.0
    for channel, n in uses.items():
        own, rival = channel.matrix[x], channel.matrix[other]
        clear = own[rival == 0 if up else channel.numerators[other] == 0]
        revealed = float(clear.sum()) * (1 + side * SLACK * len(own))
        if revealed >= 1 or not (shared := (own > 0) & (rival > 0)).any():
            return 1.0
        hidden += n * math.log1p(-revealed)
        losses = np.log(own[shared] / rival[shared])
        losses += side * SLACK * (1 + np.abs(losses))
        steps = losses / width * (1 + side * np.sign(losses) * SLACK)
        parts.append(Part(np.ceil(steps) if up else np.floor(steps), own[shared], n))
    revealed = max(-math.expm1(hidden) * (1 + side * SLACK), 0.0)
    goal = epsilon / width
    moved = [part._replace(values=part.values - goal / sum(uses.values())) for part in parts]
    steps = np.concatenate([part.values for part in moved])
    tilt = saddle_point(moved) if is_spread(steps) else 0.0
    largest = max(float(np.abs(part.values).max()) for part in parts)
    law = sum_law(parts, min(tilt, LARGEST_TILT / max(1.0, largest)))

    def gain(places: AnyArray) -> AnyArray:
        losses = places * width * (1 + side * SLACK) - epsilon
        return np.maximum(-np.expm1(-losses), 0)

    inside = law.mean(gain, math.floor(goal * (1 - SLACK)) + 1, 1.0, up=up) * (1 + side * 1e-9)
    return min(max(revealed + inside, 0.0), 1.0)
