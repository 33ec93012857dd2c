"""Histograms of numbers under LDP, from which quantiles are estimated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.channel import Channel
from mechdesign.collection.personalized.two_valued_response import OUTSIDE, exact_values
from mechdesign.designs.facade import design
from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.estimation.estimate import estimate
from mechdesign.estimation.quantiles import Quantile
from mechdesign.estimation.result import Estimate
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.mechanisms import Mechanism
from mechdesign.notions import LDP
from mechdesign.problem import Problem
from mechdesign.reports import Reports
from mechdesign.sampling import Randomness
from mechdesign.utilities import L2Risk

__all__ = ["BinnedRange"]

MOST_BINS = 1 << 16
MOST_DESIGNED = 24


class BinnedRange:
    """A safe range cut into bins of one width, whose numbers go through a channel on the bins.

    Two-valued reports identify the mean and nothing else: values that lie half at each end give the
    same distribution of reports as values in the middle. A channel of full rank on bins identifies
    the whole distribution up to the width of a bin, and so its quantiles.

    Parameters
    ----------
    low, high
        The safe range.
    bins
        How many; the channel's inputs are their upper ends, so that a quantile is an upper end.
    epsilon
        The budget in nats, for the channel of least :class:`~mechdesign.L2Risk` at up to 24 bins.
    channel
        In place of epsilon: a Channel or a Mechanism with as many inputs as there are bins,
        in order, as ``HadamardResponse(256, 1)``.
    outside
        ``"refuse"`` values outside the range, or ``"clip"`` them to its nearer end.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> salaries = BinnedRange(0, 100_000, 10, epsilon=2)
    >>> reports = salaries.privatize([32_000] * 6000 + [58_000] * 14_000, rng=5)
    >>> salaries.quantile(reports, 0.5).value, salaries.quantile(reports, 0.1).value
    (60000.0, 40000.0)
    """

    def __init__(
        self,
        low: Exact,
        high: Exact,
        bins: int,
        *,
        epsilon: Exact | None = None,
        channel: Channel | Mechanism | None = None,
        outside: str = "refuse",
    ) -> None:
        self.low, self.high = as_fraction(low, "low"), as_fraction(high, "high")
        if self.low >= self.high:
            given = f"{fraction_text(self.high)} with low = {fraction_text(self.low)}"
            raise InputError("high", "a number above low", given)
        bins = whole_number(bins, "bins", 2, MOST_BINS)
        if outside not in OUTSIDE:
            raise InputError("outside", "'refuse' or 'clip'", shown(outside))
        if (epsilon is None) == (channel is None):
            both = "neither" if epsilon is None else "both"
            raise InputError("epsilon", "either epsilon or channel", both)
        self.bins, self.outside = bins, outside
        self.ends = Domain([float(self.low + self._width * (j + 1)) for j in range(bins)])
        if channel is not None and not isinstance(channel, Channel | Mechanism):
            raise InputError("channel", "a Channel or a Mechanism", shown_kind(channel))
        self.channel = _designed(bins, epsilon) if channel is None else channel
        if len(self.channel.inputs) != bins:
            raise InputError("channel", f"{bins} inputs", f"{len(self.channel.inputs)}")

    @property
    def _width(self) -> Fraction:
        return (self.high - self.low) / self.bins

    def codes(self, values: Iterable[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the bin of each value, exactly: number j holds low + j w < v <= low + (j + 1) w.

        The first holds ``low`` too.
        """
        found, places = exact_values(values, self.low, self.high, self.outside)
        steps = [-((self.low - v) // self._width) - 1 for v in found]
        return np.array([max(int(step), 0) for step in steps], dtype=np.int64)[places]

    def privatize(self, values: Iterable[Any], rng: Randomness = None) -> Reports:
        """Draw one report for each value; see :meth:`mechdesign.Channel.privatize`."""
        codes = self.codes(values)
        labels = self.channel.inputs.labels
        plain = labels == tuple(range(self.bins))
        return self.channel.privatize(codes if plain else [labels[j] for j in codes], rng)

    def estimate(self, reports: Reports, **how: Any) -> Estimate:
        """Estimate the share of each bin, named by its upper end.

        Parameters
        ----------
        reports
            What was collected.
        how
            As for :func:`mechdesign.estimation.estimate`.
        """
        found = estimate(self.channel, reports, **how)
        return replace(found, inputs=self.ends)

    def quantile(self, reports: Reports, q: float, confidence: float = 0.95) -> Quantile:
        """Return a quantile, rounded up to the end of its bin, with a confidence set.

        The minimum and the maximum of the records cannot be estimated privately: take quantiles
        near 0 and 1 in their place.

        Raises
        ------
        InputError
            If a parameter is out of range, or there are no reports.
        """
        return self.estimate(reports).quantile(q, confidence)

    def __repr__(self) -> str:
        ends = f"[{fraction_text(self.low)}, {fraction_text(self.high)}]"
        shape = f"{len(self.channel.inputs)} inputs"
        return f"BinnedRange({ends}, {self.bins} bins, {type(self.channel).__name__} of {shape})"


def _designed(bins: int, epsilon: Any) -> Channel:
    if bins > MOST_DESIGNED:
        hint = "give channel=HadamardResponse(bins, epsilon) or another mechanism"
        raise InputError("bins", f"at most {MOST_DESIGNED} for a designed channel", bins, hint)
    return design(Problem(Domain.range(bins), LDP(epsilon), L2Risk())).channel
