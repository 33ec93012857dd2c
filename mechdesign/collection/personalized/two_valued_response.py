"""The two-valued responder of PENA: randomizes a number in a safe range to one of two reports."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mechdesign.channel import Channel
from mechdesign.collection.personalized.budgets import exact_numbers
from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction, fraction_text, log_upper
from mechdesign.mechanisms.base import WHOLE, held_mass, informative
from mechdesign.notions import LDP
from mechdesign.reports import Labels, Reports, Tally
from mechdesign.sampling import Randomness, chances, pieces, rational_coin, source_of

__all__ = ["OUTSIDE", "TwoValuedResponder", "exact_values"]

OUTSIDE = ("refuse", "clip")
"""Policies for a value outside the safe range."""

DIGITS = 62


def exact_values(
    values: Iterable[Any], low: Fraction, high: Fraction, outside: str
) -> tuple[list[Fraction], npt.NDArray[np.int64]]:
    """Return the different values, each in the range, and the place of each record's.

    Raises
    ------
    InputError
        If one is no finite number, or outside the range where that is refused.
    """
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise InputError("values", "a list of numbers", shown(values))
    found, places = exact_numbers(values, "values")
    low_top, low_bottom = low.as_integer_ratio()
    high_top, high_bottom = high.as_integer_ratio()
    for n, value in enumerate(found):
        top, bottom = value.as_integer_ratio()  # integers compare some times faster than fractions
        if low_top * bottom > top * low_bottom or top * high_bottom > high_top * bottom:
            if outside == "refuse":
                expected = f"numbers from {fraction_text(low)} to {fraction_text(high)}"
                place = int(np.argmax(places == n))
                hint = 'outside="clip" takes the nearer end instead'
                raise InputError(f"values[{place}]", expected, fraction_text(value), hint)
            found[n] = min(max(value, low), high)
    return found, places


class TwoValuedResponder:
    """Report +c or -c, with mean t: the value scaled from its safe range to [-1, 1].

        c = (e**eps + 1) / (e**eps - 1),      Pr(+c) = 1/2 + t / (2c)

    In integers: +c has h/2**62 of the probability at t = 1 and 1 - h/2**62 at t = -1, with h the
    largest that the budget allows, and a share between the two that is linear in t. So c is
    2**62 / (2h - 2**62), and E(report) = t exactly, for every rational value. No other t has more
    extreme probabilities than t = +-1, so that their ratio h / (2**62 - h) <= e**eps is the privacy
    of all.

    Parameters
    ----------
    low, high
        The safe range: within it, values are epsilon-indistinguishable. That the
        value lies within is not kept secret.
    epsilon
        The budget in nats, > 0 and at most 30.
    outside
        ``"refuse"`` values outside the range, or ``"clip"`` them to its nearer end. Clipping is as
        private, and biases the mean.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    A draw compares 62 random bits with the probability. Only where all are equal, which happens
    with probability 2**-62, more bits are drawn to decide.

    Source: Akter and Hashem 2017, Algorithm 2; Nguyên et al. 2016.

    Examples
    --------
    >>> salary = TwoValuedResponder(0, 10_000, "0.2")
    >>> salary
    TwoValuedResponder([0, 10000], LDP(epsilon=0.2), reports +-10.0333)
    >>> round(float(salary.probability(800)), 2)
    0.46
    >>> salary.privatize([800, 10_000], rng=1).labels()
    [-10.03331113225399, -10.03331113225399]
    """

    source: ClassVar[str] = "Akter and Hashem 2017, Algorithm 2"

    def __init__(self, low: Exact, high: Exact, epsilon: Exact, *, outside: str = "refuse") -> None:
        self.low, self.high = as_fraction(low, "low"), as_fraction(high, "high")
        if self.low >= self.high:
            given = f"{fraction_text(self.high)} with low = {fraction_text(self.low)}"
            raise InputError("high", "a number above low", given)
        self.width = self.high - self.low
        if outside not in OUTSIDE:
            raise InputError("outside", "'refuse' or 'clip'", shown(outside))
        self.outside = outside
        self.privacy = informative(LDP(epsilon), LDP)
        self._held = held_mass(self.privacy.epsilon, 1, 1)
        if 2 * self._held <= WHOLE:
            expected = "a number so large that the two reports differ in chance"
            raise InputError("epsilon", expected, fraction_text(self.privacy.epsilon))
        self.alphabet = Labels(Domain([-float(self.size), float(self.size)]))

    @property
    def epsilon(self) -> Fraction:
        """The budget."""
        return self.privacy.epsilon

    @property
    def size(self) -> Fraction:
        """The size c of a report, exactly: reports are +c and -c."""
        return Fraction(WHOLE, 2 * self._held - WHOLE)

    @property
    def leakage(self) -> float:
        """The smallest epsilon that holds for any two values of the range, rounded up."""
        ratio = Fraction(self._held, WHOLE - self._held)
        return math.nextafter(float(log_upper(ratio)), math.inf)

    def scaled(self, value: Exact) -> Fraction:
        """Return t, the value scaled to [-1, 1]."""
        found, _ = exact_values([value], self.low, self.high, self.outside)
        return 2 * (found[0] - self.low) / self.width - 1

    def probability(self, value: Exact) -> Fraction:
        """Return the exact probability of the report +c."""
        return (1 + self.scaled(value) / self.size) / 2

    def channel(self, values: Iterable[Exact]) -> Channel:
        """Return the channel of some values, its entries rounded to multiples of 2**-62."""
        listed = list(values)
        positive = [self.probability(value) for value in listed]
        outputs = self.alphabet.outputs.labels
        return Channel.from_matrix([[1 - p, p] for p in positive], inputs=listed, outputs=outputs)

    def privatize(self, values: Iterable[Exact], rng: Randomness = None) -> Reports:
        """Draw one report for each value, with exactly its probabilities.

        Parameters
        ----------
        values
            Numbers: a list, or a NumPy array.
        rng
            None for the cryptographic source of the operating system; a seed or a
            ``numpy.random.Generator`` for a simulation.

        Raises
        ------
        InputError
            If a value is no number, or outside the range where that is refused.
        """
        found, places = exact_values(values, self.low, self.high, self.outside)
        source = source_of(rng)
        masses = [self._mass(value) for value in found]
        floors = np.array([top // bottom for top, bottom in masses], dtype=np.int64)
        drawn = np.empty(len(places), dtype=np.int64)
        for piece in pieces(len(places)):
            chance, bar = chances(source, len(places[piece]), DIGITS), floors[places[piece]]
            hits = chance < bar
            for n in np.flatnonzero(chance == bar):
                top, bottom = masses[places[piece][n]]
                hits[n] = rational_coin(source, Fraction(top % bottom, bottom))
            drawn[piece] = hits
        return Reports(drawn, self.alphabet, source.simulated)

    def _mass(self, value: Fraction) -> tuple[int, int]:
        """Return 2**62 times the chance of +c at a value of the range, as a ratio of integers.

        It is 2**62 - h + (2h - 2**62)(value - low)/width.
        """
        (top, bottom), (low_top, low_bottom) = value.as_integer_ratio(), self.low.as_integer_ratio()
        width_top, width_bottom = self.width.as_integer_ratio()
        above = (top * low_bottom - low_top * bottom) * width_bottom
        unit = bottom * low_bottom * width_top
        return (WHOLE - self._held) * unit + (2 * self._held - WHOLE) * above, unit

    def tally(self, reports: Reports) -> Tally:
        """Count the reports -c and +c."""
        return Tally(self.alphabet.count(reports.data), len(reports), reports.simulated)

    def mean_value(self, tally: Tally) -> Fraction:
        """Return the unbiased estimate of the mean of the values, exactly.

        It is low + (high - low)(mean of the reports + 1)/2.

        Raises
        ------
        InputError
            If there are no reports.
        """
        if tally.total < 1:
            raise InputError("tally", "at least one report", "none")
        surplus = int(tally.counts[1]) - int(tally.counts[0])
        mean_report = self.size * Fraction(surplus, tally.total)
        return self.low + self.width * (mean_report + 1) / 2

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TwoValuedResponder):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.low, self.high, self.epsilon, self.outside

    def __repr__(self) -> str:
        ends = f"[{fraction_text(self.low)}, {fraction_text(self.high)}]"
        return f"TwoValuedResponder({ends}, {self.privacy!r}, reports +-{float(self.size):.6g})"
