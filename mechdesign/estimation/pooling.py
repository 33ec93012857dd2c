"""Sums over groups of scores: least squares on all channels at once, or weighted averages."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.errors import InputError
from mechdesign.estimation.counts import Source
from mechdesign.estimation.estimands import Moments, check_target
from mechdesign.estimation.least_squares import (
    ColumnScores,
    Scores,
    combinations,
    reference_law,
    scores_of,
)
from mechdesign.mechanisms import Mechanism
from mechdesign.prior import Prior
from mechdesign.reports import Tally
from mechdesign.sampling import pieces, source_of

__all__ = ["BORROWING", "Averaged", "Pooled"]


BORROWING = {"population"}
"""Targets for which the reports of one group tell something about another."""

REPEATS, LEAST_PILOT, PILOT_BITS = 24, 1 << 15, 1 << 30
"""Of the simulated collection that weights are read from: records for each input, records at least,
and bits of all reports at most."""

LEAST_VARIANCE = 1e-9
"""Weights are no larger than those of it: without noise, an input of probability 0 has none."""


class Pooled:
    """Least squares on the reports of all channels at once.

    Side by side, each times its share n_g / n of the reports, their columns are those of one
    channel that also tells the group; the scores of that channel are what is averaged. Within a
    group the mean of a score is not what is estimated, so that the variance is
    Sum_g (n_g / n) (E_g s**2 - (E_g s)**2), with E_g s from the estimate itself.
    """

    def __init__(
        self, channels: list[Channel], tallies: list[Tally], prior: Prior | None, target: str
    ) -> None:
        self.target, inputs = target, channels[0].inputs
        self.tally = Tally(
            np.concatenate([tally.counts for tally in tallies]),
            sum(tally.total for tally in tallies),
            any(tally.simulated for tally in tallies),
        )
        self.matrices = [channel.matrix for channel in channels]
        self.shares = [tally.total / self.tally.total for tally in tallies]
        columns = np.hstack([n * Q for n, Q in zip(self.shares, self.matrices, strict=True)])
        law = reference_law(prior, len(inputs))
        self.scores = ColumnScores(columns, law, inputs)
        self.values = self.scores.frequencies(self.tally).estimates

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Return standard errors of combinations."""
        scores = self.scores.information.scores(weights)
        square = scores**2 @ (self.tally.counts / self.tally.total)
        of_mean, start = np.zeros(len(weights)), 0
        for share, Q in zip(self.shares, self.matrices, strict=True):
            own = scores[:, start : start + Q.shape[1]]
            of_mean += share * (own @ (self.values @ Q)) ** 2
            start += Q.shape[1]
        truth = np.zeros(len(weights))  # these scores do not estimate that of the respondents
        return np.sqrt(check_target(self.target)(Moments(square, of_mean, truth), self.tally.total))

    def errors(self) -> FloatArray:
        """Return the standard errors of the frequencies."""
        return self(np.eye(len(self.values)))


class Averaged:
    """Weighted averages of the groups' own estimates: Sum_g (n_g / n) W_g p_g, input by input.

    Of the population W_g is in proportion to 1 / Var_g; of the respondents it is 1.
    """

    def __init__(
        self, mechanisms: list[Source], tallies: list[Tally], prior: Prior | None, target: str
    ) -> None:
        k = len(mechanisms[0].inputs)
        self.target = target
        n = sum(tally.total for tally in tallies)
        self.tally = Tally(np.zeros(0, dtype=np.int64), n, any(t.simulated for t in tallies))
        law = reference_law(prior, k)
        scores = [scores_of(mechanism, prior) for mechanism in mechanisms]
        shares = [tally.total / n for tally in tallies]
        weights = np.ones((len(tallies), k))
        if target in BORROWING:
            variances = np.array([_variances(s, law) for s in scores])
            weights = 1 / np.maximum(variances, LEAST_VARIANCE)
            weights /= np.array(shares) @ weights
        self.parts = list(zip(scores, tallies, shares, weights, strict=True))
        self.found = [part.frequencies(tally) for part, tally, _, _ in self.parts]
        self.values = np.zeros(k)
        for found, (_, _, share, W) in zip(self.found, self.parts, strict=True):
            self.values += share * W * found.estimates

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Return standard errors of combinations."""
        square, of_mean, truth = (np.zeros(len(weights)) for _ in range(3))
        for scores, tally, share, W in self.parts:
            own = weights * W
            square += share * combinations(scores, tally, own)[1]
            of_mean += share * (own @ self.values) ** 2
            truth += share * combinations(scores, tally, own**2)[0]
        return np.sqrt(check_target(self.target)(Moments(square, of_mean, truth), self.tally.total))

    def errors(self) -> FloatArray:
        """Return the standard errors of the frequencies, from their scores at once."""
        square, of_mean, truth = (np.zeros(len(self.values)) for _ in range(3))
        for found, (_, _, share, W) in zip(self.found, self.parts, strict=True):
            square += share * W**2 * found.squares
            of_mean += share * (W * self.values) ** 2
            truth += share * W**2 * found.estimates
        return np.sqrt(check_target(self.target)(Moments(square, of_mean, truth), self.tally.total))


def _variances(scores: Scores, law: FloatArray) -> FloatArray:
    """Return n Var of the estimated frequencies where ``law`` is the true one, ``(n_inputs,)``.

    For a structured mechanism they are read from a simulated collection with a fixed seed. It knows
    nothing of the reports, so that no bias comes of it; weights that are off by a share d raise the
    variance by a share of d**2 / 4 at most. No estimate is less variable than the records are:
    P_x (1 - P_x).
    """
    if isinstance(scores, ColumnScores):
        return np.asarray(scores.information.covariance(law).diagonal())
    if not isinstance(scores, Mechanism):
        raise InputError("mechanism", "a Channel or a Mechanism", type(scores).__name__)
    return _simulated_variances(scores, law.tobytes())


@lru_cache(maxsize=64)
def _simulated_variances(mechanism: Mechanism, law_bytes: bytes) -> FloatArray:
    """Return n Var as a simulated collection has it; the law as bytes, to be remembered by."""
    law = np.frombuffer(law_bytes)
    wanted = max(LEAST_PILOT, REPEATS * len(law))
    size = int(min(wanted, max(LEAST_PILOT, PILOT_BITS // mechanism.bits_per_report)))
    places = (np.arange(size) + 0.5) / size
    codes = np.minimum(np.searchsorted(np.cumsum(law), places), len(law) - 1)
    source = source_of(0)
    counts = [mechanism.count(mechanism.draw(codes[piece], source)) for piece in pieces(size)]
    tally = Tally(np.sum(counts, axis=0), size, simulated=True)
    found = np.maximum(mechanism.frequencies(tally).squares - law**2, law * (1 - law))
    found.flags.writeable = False
    return found
