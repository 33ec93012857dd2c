"""Report models: one interface for estimation from channels and structured mechanisms.

A model provides counts, the likelihoods of the distinct reports, and the scores of an unbiased
estimate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.channel import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InputError, UnsupportedError, shown, shown_kind
from mechdesign.estimation.fit import LEVEL, fit_p_value
from mechdesign.estimation.least_squares import ColumnScores, reference_distribution
from mechdesign.labels import aligned, labels_of, split
from mechdesign.mechanisms import Frequencies, Mechanism
from mechdesign.prior import Prior
from mechdesign.reports import (
    UNCHECKED,
    Labels,
    Reports,
    ReportSource,
    Tally,
    check_counts,
    check_digest,
    reports_of,
)

__all__ = ["DistinctReports", "ReportData", "ReportModel", "model_of", "undigested"]


ReportData = Any
"""Reports, a Tally of them, or a list, an array or a column of reports."""

COUNTS = "plain counts go in as counts=..., or as Tally.of(...)"

MOST_ENTRIES, MOST_INPUTS = 1 << 21, 1 << 12
"""Maximum numbers of probabilities of a structured mechanism in an explicit matrix, and of its
inputs, for which the standard errors need a square matrix."""


MOST_TESTED = 1 << 18
"""Maximum number of expected counts of a structured mechanism for the test of consistency."""

LEAST_P = 1e-300


@dataclass(frozen=True)
class DistinctReports:
    """The distinct reports, with their counts and their likelihoods.

    Attributes
    ----------
    columns
        ``(n_inputs, n_distinct)`` probabilities Q(y|x) of the distinct reports, each column up to a
        factor, which cancels in likelihood ratios and posteriors; a matrix or a linear operator.
    counts
        ``(n_distinct,)`` positive counts.
    simulated
        Whether any report was drawn from a seed.
    """

    columns: FloatArray | LinearOperator
    counts: FloatArray
    simulated: bool

    @property
    def is_written(self) -> bool:
        """Whether the columns are an explicit matrix."""
        return isinstance(self.columns, np.ndarray)

    @property
    def matrix(self) -> FloatArray:
        """The columns, if they are an explicit matrix."""
        if not isinstance(self.columns, np.ndarray):
            raise _too_many(*self.columns.shape)
        return self.columns

    @property
    def total(self) -> int:
        """The number of reports."""
        return round(float(self.counts.sum()))

    @property
    def shares(self) -> FloatArray:
        """``(n_distinct,)`` shares of the reports, which sum to 1."""
        return np.asarray(self.counts / self.counts.sum())


class ReportModel(ABC):
    """The interface of a source of reports for estimation."""

    matrix: FloatArray | None
    """``(n_inputs, n_counts)`` probabilities of the counts; None if not explicit."""

    def __init__(self, source: ReportSource, digest: str | None = None) -> None:
        self.source, self.inputs = source, source.inputs
        self.digest = source.digest if digest is None else digest

    def as_reports(self, reports: ReportData) -> Reports | Tally:
        """Return a tally unchanged, and other data as reports of this source."""
        if isinstance(reports, Tally):
            return reports
        try:
            return reports_of(self.source.alphabet, reports)
        except InputError as error:
            hint = f"{error.hint}; {COUNTS}" if error.hint else COUNTS
            raise InputError(error.key, error.expected, error.given, hint) from None

    def tally(self, reports: ReportData) -> Tally:
        """Return the counts of reports.

        Raises
        ------
        InputError
            If there are no reports, they state another mechanism, or one is impossible.
        """
        given = self.as_reports(reports)
        check_digest(given.digest, self.digest)
        tally = given if isinstance(given, Tally) else self.source.tally(undigested(given))
        if tally.total < 1:
            raise InputError("reports", "at least one report", "none")
        return tally

    def checked(self, reports: ReportData) -> Reports | Tally:
        """Return the reports.

        Raises
        ------
        InputError
            If a test of level 1e-6 rejects every distribution of the inputs.
        """
        found, expected = self.as_reports(reports), self.expected_counts()
        tally, alphabet = self.tally(found), self.source.alphabet
        if expected is None:
            return found
        diameter = math.sqrt(2 if isinstance(alphabet, Labels) else alphabet.n_counts)
        p = fit_p_value(expected, tally.counts, tally.total, diameter)
        if p < LEVEL:
            wanted = "reports that some distribution of the inputs explains"
            given = f"others (p < {max(p, LEAST_P):.1e}): of another channel, or no reports"
            raise InputError("reports", wanted, given, UNCHECKED)
        return found

    def expected_counts(self) -> FloatArray | None:
        """Return ``(n_inputs, n_counts)`` expected counts of a report; None for too many."""
        return self.matrix

    @abstractmethod
    def read_counts(self, counts: Any) -> Tally:
        """Return the tally of plain counts."""

    @abstractmethod
    def observed(self, reports: ReportData) -> DistinctReports:
        """Return the distinct reports, with their counts and their columns of the channel.

        Columns of a structured mechanism with more than 4096 inputs, or more than 2**21
        probabilities of distinct reports, are a linear operator instead of a matrix.

        Raises
        ------
        InputError
            As :meth:`tally`; also if counts do not determine the reports of this mechanism.
        UnsupportedError
            If a mechanism without a linear operator is too large for a matrix.
        """

    @abstractmethod
    def scores(self, prior: Prior | None = None) -> ColumnScores | MechanismModel:
        """Return the scores s_x with E[s_x(Y) | X = z] = 1{z = x}, of an unbiased estimate.

        Parameters
        ----------
        prior
            For a Channel, the distribution of least variance; default uniform.
        """


class ChannelModel(ReportModel):
    """A channel, with counts of its outputs and least-squares scores."""

    def __init__(self, channel: Channel, digest: str | None = None) -> None:
        super().__init__(channel, digest)
        self.channel, self.matrix = channel, channel.matrix

    def read_counts(self, counts: Any) -> Tally:
        """Return the tally of one count for each output."""
        if labels_of(counts, "counts") is not None:
            entries, labels = split(counts, "counts", "counts")
            counts = aligned(entries, labels, self.channel.outputs, "counts", "output")
        return Tally.of(check_counts(counts, len(self.channel.outputs)))

    def tally(self, reports: ReportData) -> Tally:
        """Return the counts, which must sum to the total and belong to possible outputs."""
        tally = super().tally(reports)
        counts = check_counts(tally.counts, len(self.channel.outputs))
        if int(counts.sum()) != tally.total:
            raise InputError("reports", f"{tally.total} reports counted", f"{int(counts.sum())}")
        impossible = ~(self.channel.numerators != 0).any(axis=0) & (counts > 0)
        if impossible.any():
            y = int(np.argmax(impossible))
            given = f"{self.channel.outputs[y]!r}"
            raise InputError("reports", "outputs that the channel can send", given)
        return tally

    def observed(self, reports: ReportData) -> DistinctReports:
        """Return the columns of the outputs that were sent."""
        tally = self.tally(reports)
        sent = np.flatnonzero(tally.counts)
        counts = tally.counts[sent].astype(np.float64)
        return DistinctReports(self.channel.matrix[:, sent], counts, tally.simulated)

    def scores(self, prior: Prior | None = None) -> ColumnScores:
        """Return the least-squares scores at a prior."""
        reference = reference_distribution(prior, self.inputs)
        return ColumnScores(self.channel.matrix, reference, self.inputs)


class MechanismModel(ReportModel):
    """A structured mechanism, with its own counts and scores."""

    matrix = None

    def __init__(self, mechanism: Mechanism) -> None:
        super().__init__(mechanism)
        self.mechanism = mechanism

    def tally(self, reports: ReportData) -> Tally:
        """Return the counts, or raise InputError if their number is wrong."""
        tally = super().tally(reports)
        self.mechanism.counted(tally)
        return tally

    def read_counts(self, counts: Any) -> Tally:
        """Reject plain counts, whose meaning depends on the mechanism."""
        raise InputError("counts", "none for a Mechanism, but a Tally", shown(counts))

    def observed(self, reports: ReportData) -> DistinctReports:
        """Return the exact probabilities of each distinct report, or a linear operator."""
        tally, sent, counts = self._sent(reports)
        k, operator = len(self.inputs), self.mechanism.operator()
        columns: FloatArray | LinearOperator
        if k <= MOST_INPUTS and k * len(sent) <= MOST_ENTRIES:
            columns = np.array([self._column(sent[n : n + 1]) for n in range(len(sent))]).T
        elif operator is not None:
            places = (sent, np.arange(len(sent)))
            kept = sp.csc_array((np.ones(len(sent)), places), (operator.shape[1], len(sent)))
            columns = operator @ aslinearoperator(kept)
        else:
            raise _too_many(k, len(sent))
        return DistinctReports(columns, counts.astype(np.float64), tally.simulated)

    def expected_counts(self) -> FloatArray | None:
        """Return the expected counts, one input after the other."""
        k = len(self.inputs)
        if k * self.mechanism.alphabet.n_counts > MOST_TESTED:
            return None
        return np.array([self.mechanism.expected_counts(weights) for weights in np.eye(k)])

    def _sent(self, reports: ReportData) -> tuple[Tally, AnyArray, AnyArray]:
        """Return the tally, the distinct reports, and their counts."""
        given = self.as_reports(reports)
        tally = self.tally(given)
        if isinstance(given, Reports):
            distinct, counts = np.unique(given.data, axis=0, return_counts=True)
            return tally, distinct, counts
        return tally, *self._counted_reports(tally)

    def scores(self, prior: Prior | None = None) -> MechanismModel:
        """Return the model itself: its scores do not depend on the prior."""
        return self

    def frequencies(self, tally: Tally) -> Frequencies:
        """Return the means and mean squares of the scores of all inputs."""
        return self.mechanism.frequencies(tally)

    def combinations(self, tally: Tally, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the mean squares of the scores of combinations."""
        each = np.array([self.mechanism.combination(tally, row) for row in weights])
        return each.reshape(-1, 2)[:, 0], each.reshape(-1, 2)[:, 1]

    def variances(self, prior: Prior) -> FloatArray:
        """Return n times the variances of the estimated frequencies, at least p_x (1 - p_x)."""
        p = prior.array
        return np.asarray(np.maximum(self.mechanism.variances(prior), p * (1 - p)))

    def _column(self, report: AnyArray) -> list[float]:
        """Return the probabilities of a report divided by the largest, which may underflow."""
        masses = [self.mechanism.mass(x, report) for x in range(len(self.inputs))]
        most = max(masses)
        if not most:
            raise InputError("reports", "reports that this mechanism can send", "others")
        known = {mass: float(mass / most) for mass in set(masses)}
        return [known[mass] for mass in masses]

    def _counted_reports(self, tally: Tally) -> tuple[AnyArray, AnyArray]:
        """Return the distinct reports of a tally that counts each report by itself."""
        alphabet = self.mechanism.alphabet
        if isinstance(alphabet, Labels) and alphabet.n_outputs <= MOST_ENTRIES:
            counts = check_counts(tally.counts, alphabet.n_counts)
            sent = np.flatnonzero(counts)
            return sent, counts[sent]
        raise InputError(
            "reports",
            "the Reports themselves, of which this mechanism's counts are a summary",
            repr(tally),
        )


def _too_many(inputs: int, distinct: int) -> UnsupportedError:
    return UnsupportedError(
        "mechanism",
        f"at most {MOST_INPUTS} inputs, and {MOST_ENTRIES} probabilities to write out",
        f"{inputs} inputs and {distinct} different reports",
        "use the unbiased method, and project it",
    )


def undigested(reports: ReportData) -> ReportData:
    """Return the reports without their digest."""
    return replace(reports, digest=None) if isinstance(reports, Reports | Tally) else reports


def model_of(source: Any) -> ReportModel:
    """Return the model of a Channel, a Mechanism, or the nodes of a ContinuousChannel.

    Raises
    ------
    InputError
        For any other source.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> scores = model_of(warner).scores()
    >>> scores.frequencies(Tally(np.array([6, 4]), 10)).estimates.round(12).tolist()
    [0.7, 0.3]
    """
    if isinstance(source, ContinuousChannel):
        return ChannelModel(source.nodes, source.digest)
    if isinstance(source, Channel):
        return ChannelModel(source)
    if isinstance(source, Mechanism):
        return MechanismModel(source)
    hint = "pass its .channel" if hasattr(source, "channel") else ""
    raise InputError("mechanism", "a Channel or a Mechanism", shown_kind(source), hint)
