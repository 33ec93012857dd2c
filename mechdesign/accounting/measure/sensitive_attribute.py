"""Leakage about a sensitive attribute S that is correlated with the input: S - X - Y."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.accounting.measure.max_ratio import Ratio, inverse, largest, log_above, pair_ratios
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown
from mechdesign.labels import Labels, aligned, split_matrix
from mechdesign.notions import LDP, LIP
from mechdesign.prior import SUM_TOLERANCE, Prior, exact_numbers
from mechdesign.text import Table, Tabular

__all__ = [
    "SensitiveAttributeLeakage",
    "sensitive_attribute_channel",
    "sensitive_attribute_leakage",
]

Joint = list[list[Fraction]]
"""The distribution of (S, X): a row for each value of S, a column for each input."""


@dataclass(frozen=True, repr=False)
class SensitiveAttributeLeakage(Tabular):
    """The leakage of a channel on X about a sensitive attribute S, and about X itself.

    Attributes
    ----------
    ratios
        The largest Pr(y|s) / Pr(y|s') of each pair of values of S, exactly; None where infinite.
    least, most
        The least and the largest lift Pr(s|y) / Pr(s), exactly.
    data_ldp, data_lip
        The LDP and the LIP of the channel about X itself, in nats: never less, by the linkage
        inequality.
    """

    ratios: tuple[tuple[Ratio, ...], ...]
    least: Fraction
    most: Fraction
    data_ldp: float
    data_lip: float

    @property
    def ldp(self) -> float:
        """The least epsilon with Pr(y|s) <= e**epsilon Pr(y|s') for all values of S, in nats."""
        return log_above(largest(self.ratios))

    @property
    def max_lift(self) -> float:
        """The largest log lift of a value of S, in nats: the pointwise maximal leakage."""
        return log_above(self.most)

    @property
    def min_lift(self) -> float:
        """The largest log inverse lift of a value of S, in nats."""
        return log_above(inverse(self.least))

    @property
    def lip(self) -> float:
        """The larger of the two."""
        return max(self.max_lift, self.min_lift)

    def _table(self) -> Table:
        rows = [
            (name, f"{about_s:.6f}", f"{about_x:.6f}")
            for name, about_s, about_x in (
                ("ldp", self.ldp, self.data_ldp),
                ("lip", self.lip, self.data_lip),
            )
        ]
        return Table(("notion", "about S", "about X"), rows, "<>>")


def sensitive_attribute_leakage(
    joint: Iterable[Iterable[Any]], channel: Channel
) -> SensitiveAttributeLeakage:
    """Return the exact leakage of a release Y about S, made from X alone: S - X - Y.

        Pr(y|s) = Sum_x Pr(x|s) Q(y|x)

    Parameters
    ----------
    joint
        ``(n_values, n_inputs)`` numbers >= 0, Pr(S = s, X = x), that sum to 1; every value of S
        with a positive probability.
    channel
        The channel from X to Y.

    Raises
    ------
    InputError
        If the joint distribution does not fit.

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Lemma 1 (linkage inequality): the entries of a column for S
    are mixtures of those for X, so no ratio or lift is larger.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> sensitive_attribute_leakage([[0.4, 0.1], [0.1, 0.4]], warner)
    notion     about S    about X
    ldp      0.619039   1.098612
    lip      0.356675   0.693147
    """
    distribution, _ = _joint(joint, channel)
    masses = [sum(row, Fraction(0)) for row in distribution]
    columns = [
        [_dot(row, column) / mass for row, mass in zip(distribution, masses, strict=True)]
        for column in channel.columns()
    ]
    columns = [column for column in columns if any(column)]
    lifts = [q / _dot(masses, column) for column in columns for q in column]
    prior = Prior([sum(entries, Fraction(0)) for entries in zip(*distribution, strict=True)])
    return SensitiveAttributeLeakage(
        ratios=pair_ratios(zip(*columns, strict=True)),
        least=min(lifts),
        most=max(lifts),
        data_ldp=LDP(1).leakage(channel),
        data_lip=LIP(1).leakage(channel, prior),
    )


def sensitive_attribute_channel(
    joint: Iterable[Iterable[Any]], channel: Channel, values: Iterable[Any] | None = None
) -> tuple[Channel, Prior]:
    """Return the channel from S to the report, and the prior of S.

    Its entries are rounded to whole multiples of 2**-62, so that a leakage that is read from it is
    right to about 2**-62 of an entry; :func:`sensitive_attribute_leakage` is exact.

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
