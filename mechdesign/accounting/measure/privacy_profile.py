"""Privacy profiles delta(epsilon) of approximate LDP and LIP (Balle, Barthe and Gaboardi 2018)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel, as_channel
from mechdesign.errors import listed
from mechdesign.exact import Exact, exp_lower, exp_upper
from mechdesign.notions.base import budget
from mechdesign.prior import Prior, prior_on
from mechdesign.text import Table, Tabular

MOST_EXACT = 1 << 21
"""Maximum number of entries of near-largest sums that are added exactly."""

LARGEST_FACTOR = Fraction(10**300)


@dataclass(frozen=True, repr=False)
class PrivacyProfile(Tabular):
    """The least delta at some epsilons. Its repr is a table.

    Attributes
    ----------
    epsilons
        The budgets, exact, in nats.
    ldp
        For each, the least delta of approximate LDP: a rational, rounded up by 2**-149 if
        e**epsilon is irrational, and by 1e-12 if thousands of pairs are that close to the worst.
    lip
        The same for approximate LIP; None without a prior.
    """

    epsilons: tuple[Fraction, ...]
    ldp: tuple[Fraction, ...]
    lip: tuple[Fraction, ...] | None = None

    def _table(self) -> Table:
        deltas = {"delta (LDP)": self.ldp} | ({} if self.lip is None else {"delta (LIP)": self.lip})
        rows = []
        for epsilon, *least in zip(self.epsilons, *deltas.values(), strict=True):
            rows.append((f"{float(epsilon):.6g}", *(f"{float(delta):.9f}" for delta in least)))
        return Table(("epsilon", *deltas), rows, ">" * (1 + len(deltas)))


def privacy_profile(
    channel: Channel, epsilons: Iterable[Exact], prior: Prior | None = None
) -> PrivacyProfile:
    """Return the least delta with which a channel is (epsilon, delta)-private.

        LDP:  delta = max over x, x' of  Sum_y (Q[x,y] - e**epsilon Q[x',y])_+
        LIP:  delta = max over x of      Sum_y (e**-epsilon Q[x,y] - lambda_y)_+
                                   and   Sum_y (lambda_y - e**epsilon Q[x,y])_+

    Parameters
    ----------
    channel
        The channel.
    epsilons
        Budgets in nats, >= 0.
    prior
        The distribution of X, for LIP.

    Raises
    ------
    InputError
        If a budget is negative, or the prior does not fit the inputs.

    Notes
    -----
    Sources: Dwork et al. 2006 (approximate LDP); Jiang et al. 2021 (TIFS), Definition 5
    (approximate LIP). Pairs are compared in floats; the sums of those within rounding of the worst
    are computed again in integers.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> privacy_profile(warner, [0, 1, 2], Prior([0.5, 0.5]))
       epsilon     delta (LDP)     delta (LIP)
             0     0.500000000     0.250000000
             1     0.070429543     0.000000000
             2     0.000000000     0.000000000
    """
    as_channel(channel)
    given = listed(epsilons, "epsilons", "a list of budgets")
    budgets = tuple(budget(epsilon, f"epsilons[{n}]") for n, epsilon in enumerate(given))
    if prior is not None:
        prior = prior_on(prior, channel.inputs)
    rows = channel.numerators.tolist()
    whole = channel.denominator
    ldp = tuple(_largest(rows, rows, exp_lower(e)) / whole for e in budgets)
    if prior is None:
        return PrivacyProfile(budgets, ldp)
    unit = lcm(*(p.denominator for p in prior))
    shares = [int(p * unit) for p in prior]
    outputs = [sum(map(mul, shares, column)) for column in channel.columns()]
    scaled = [[unit * q for q in row] for row in rows]
    lip = tuple(
        max(
            _largest(scaled, [outputs], exp_lower(e)) * exp_upper(-e),
            _largest([outputs], scaled, exp_lower(e)),
        )
        / (unit * whole)
        for e in budgets
    )
    return PrivacyProfile(budgets, ldp, lip)


def _largest(tops: list[list[int]], bottoms: list[list[int]], factor: Fraction) -> Fraction:
    """Return the largest Sum_y (a_y - factor b_y)_+ over the rows a of tops and b of bottoms."""
    n = len(tops[0])
    # if the factor overflows, the float sums are upper bounds only, and all of them count as near
    is_float = factor <= LARGEST_FACTOR
    sums, margin = _sums(tops, bottoms, float(min(factor, LARGEST_FACTOR)))
    best = sums.max()
    near = np.argwhere(sums >= (best - 2 * margin if is_float else 0))
    surely = near[: max(1, MOST_EXACT // n)]
    top, bottom = factor.numerator, factor.denominator
    exact = max(
        sum(max(0, bottom * a - top * b) for a, b in zip(tops[x], bottoms[z], strict=True))
        for x, z in surely.tolist()
    )
    if len(surely) == len(near):
        return Fraction(exact, bottom)
    total = sum(tops[0])
    return max(Fraction(exact, bottom), Fraction(float(best) + margin) * total)


def _sums(
    tops: list[list[int]], bottoms: list[list[int]], factor: float
) -> tuple[FloatArray, float]:
    """Return all sums as shares of the sum of a row, and a bound on their error.

    A term is at most a_y, and its error at most 4 roundings of a_y and of a term not larger.
    """
    A, B = _shares(tops), factor * _shares(bottoms)
    sums = np.stack([np.maximum(a - B, 0).sum(axis=1) for a in A])
    return sums, (A.shape[1] + 8) * 2.0**-51


def _shares(rows: list[list[int]]) -> FloatArray:
    total = sum(rows[0])
    return np.array([[entry / total for entry in row] for row in rows])
