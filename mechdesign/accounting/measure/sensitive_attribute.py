"""Leakage about a sensitive attribute S correlated with the input: S - X - Y."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.accounting.measure.leakage_table import Leakages
from mechdesign.accounting.measure.leakages import measured
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown
from mechdesign.labels import Labels, aligned, split_matrix
from mechdesign.prior import SUM_TOLERANCE, Prior, exact_numbers

Joint = list[list[Fraction]]
"""The distribution of (S, X): a row for each value of S, a column for each input."""


def sensitive_attribute_leakage(joint: Iterable[Iterable[Any]], channel: Channel) -> Leakages:
    """Return the exact leakage of a release Y about S, made from X alone: S - X - Y.

        Pr(y|s) = Sum_x Pr(x|s) Q(y|x)

    Parameters
    ----------
    joint
        ``(n_values, n_inputs)`` numbers Pr(S = s, X = x) >= 0 that sum to 1; every value of S has
        positive probability.
    channel
        The channel from X to Y.

    Raises
    ------
    InputError
        If the joint distribution is invalid or does not fit the inputs.

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Lemma 1 (linkage inequality): the entries of a column for S
    are mixtures of those for X, so no ratio or lift is larger.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> about = sensitive_attribute_leakage([[0.4, 0.1], [0.1, 0.4]], warner)
    >>> round(about["ldp"].value, 6), about["lip"].factor
    (0.61904, Fraction(10, 7))
    """
    distribution, names = _joint(joint, channel)
    unit = math.lcm(*(p.denominator for row in distribution for p in row))
    weights = [[int(p * unit) for p in row] for row in distribution]
    common = math.lcm(*map(sum, weights))
    shares = [[p * (common // sum(row)) for p in row] for row in weights]
    table = np.array(shares, dtype=object) @ channel.numerators.astype(object)
    what = f"a sensitive attribute with {len(table)} values through {len(channel.outputs)} outputs"
    labels = range(len(table)) if names is None else names
    prior = Prior([sum(row, Fraction(0)) for row in distribution])
    whole, outputs = common * channel.denominator, channel.outputs
    return measured(what, table, whole, tuple(labels), outputs, prior)


def sensitive_attribute_channel(
    joint: Iterable[Iterable[Any]], channel: Channel, values: Iterable[Any] | None = None
) -> tuple[Channel, Prior]:
    """Return the channel from S to the report, and the prior of S.

    Its entries are rounded to multiples of 2**-62, so its leakage is accurate to about 2**-62 of an
    entry; :func:`sensitive_attribute_leakage` is exact.

    Parameters
    ----------
    joint, channel
        As for :func:`sensitive_attribute_leakage`.
    values
        Labels; default those of the rows, or 0, 1, ...

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> sensitive_attribute_channel([[0.4, 0.1], [0.1, 0.4]], warner, ["ill", "well"])[0]
    Channel(2 inputs, 2 outputs, exact over 2**62)
               0       1
    ill   0.6500  0.3500
    well  0.3500  0.6500
    """
    distribution, names = _joint(joint, channel)
    labels = Domain(values if values is not None else names or range(len(distribution)))
    distribution = aligned(distribution, names, labels.labels, "joint, rows", "value")
    masses = [sum(row, Fraction(0)) for row in distribution]
    rows = [
        [_dot(row, column) / mass / channel.denominator for column in channel.columns()]
        for row, mass in zip(distribution, masses, strict=True)
    ]
    return Channel.from_matrix(rows, inputs=labels, outputs=channel.outputs), Prior(masses)


def _joint(joint: Any, channel: Channel) -> tuple[Joint, Labels | None]:
    """Return the joint distribution, normalized exactly, and the labels of its rows."""
    given, names, columns = split_matrix(joint, "joint", "a matrix", "a list of numbers >= 0")
    inputs = as_channel(channel).inputs.labels
    rows = []
    for s, row in enumerate(given):
        numbers = list(exact_numbers(row, f"joint[{s}]"))
        rows.append(aligned(numbers, columns, inputs, f"joint[{s}]"))
    total = sum((sum(row, Fraction(0)) for row in rows), Fraction(0))
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError("joint", "numbers that sum to 1", f"sum {float(total):.9g}")
    for s, row in enumerate(rows):
        if not any(row):
            expected = "a value of positive probability"
            raise InputError(f"joint[{s}]", expected, shown(0), "leave it out")
    return [[p / total for p in row] for row in rows], names


def _dot(weights: Sequence[Fraction], column: Sequence[Any]) -> Fraction:
    return sum((p * q for p, q in zip(weights, column, strict=True)), Fraction(0))
