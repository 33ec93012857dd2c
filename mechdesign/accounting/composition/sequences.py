"""Composition over correlated data: a sequence X_1, ..., X_n, each sent by a channel of its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from mechdesign.accounting.composition.composition import Composition, compose
from mechdesign.accounting.composition.formulas import added, lip_to_ldp, through_ldp
from mechdesign.accounting.composition.products import channels_of
from mechdesign.channel import Channel
from mechdesign.domain import Domain
from mechdesign.errors import UnsupportedError
from mechdesign.labels import aligned
from mechdesign.prior import Prior, as_prior

__all__ = ["compose_sequence"]

MOST_SEQUENCES = 4096


def compose_sequence(channels: Iterable[Channel], joint: Prior | Iterable[object]) -> Composition:
    """Return what is leaked about a whole sequence of which each part is released once.

    Y_k depends on X_k alone. The whole sequence is the input, with a prior on all its values. An
    entry of its channel for Y_k depends on the k-th part alone, and the rest is :func:`compose`.

    Parameters
    ----------
    channels
        The channel of each part; their inputs may differ.
    joint
        The probability of each sequence, the last part running fastest: those of n parts with
        k_1, ..., k_n inputs are k_1 ... k_n numbers.

    Raises
    ------
    InputError
        If the parts do not fit.
    UnsupportedError
        If there are more than 4096 sequences.

    Notes
    -----
    Source of the bound: Jiang et al. 2021 (TIFS), Corollary 5. A sequence of probability 0 is
    protected like any other.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> compose_sequence([warner, warner], [0.4, 0.1, 0.1, 0.4])
    Composition(2 releases, 4 inputs; 4 of 4 outputs compared)
    notion                            exact      bound  bound by
    ldp                            2.197225   2.197225  sum
    differential-identifiability   2.484907   2.484907  matrix
    max-lift                       0.973449   0.973449  matrix
    min-lift                       1.526056   1.526056  matrix
    lip                            1.526056   2.104134  Corollary 5
    """
    parts = channels_of(channels)
    sizes = [len(channel.inputs) for channel in parts]
    if math.prod(sizes) > MOST_SEQUENCES:
        expected = f"at most {MOST_SEQUENCES} sequences"
        raise UnsupportedError("channels", expected, math.prod(sizes))
    given = as_prior(joint, "joint")
    every = list(itertools.product(*(channel.inputs for channel in parts)))
    prior = Prior(
        aligned(given.probabilities, given.labels, every, "joint", "sequence", "probabilities")
    )
    sequences = list(itertools.product(*map(range, sizes)))
    domain = Domain.range(len(sequences))
    whole = [
        Channel(channel.numerators[[xs[n] for xs in sequences]], inputs=domain, bits=channel.bits)
        for n, channel in enumerate(parts)
    ]
    found = compose(whole, prior)
    budgets = []
    for n, channel in enumerate(parts):
        marginal = [Fraction(0)] * sizes[n]
        for xs, p in zip(sequences, prior, strict=True):
            marginal[xs[n]] += p
        own = compose([channel], Prior(marginal)).rows[-1].exact
        budgets.append(lip_to_ldp(added([own]), min(marginal)))
    bound = through_ldp(added(budgets), prior.minimum)
    last = replace(found.rows[-1], bound=bound, source="Corollary 5")
    return replace(found, rows=(*found.rows[:-1], last))
