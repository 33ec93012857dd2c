"""Report models: one view of channels and structured mechanisms for estimation.

A model has the counts of reports, the likelihoods of the distinct reports, and the scores of an
unbiased estimate. A channel differs from a structured mechanism only in that its probabilities are
a matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.channel import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InputError, UnsupportedError, shown, shown_kind
from mechdesign.estimation.least_squares import ColumnScores, reference_distribution
from mechdesign.estimation.result import projected
from mechdesign.labels import aligned, labels_of, split
from mechdesign.mechanisms import Mechanism
from mechdesign.prior import Prior
from mechdesign.reports import (
    UNCHECKED,
    Labels,
    Reports,
    Tally,
    check_counts,
    check_digest,
    reports_of,
)

LEVEL = 1e-6
"""The level: at most this share of the collections drawn by the channel is rejected."""

STEPS = 500


def fit_p_value(expected: FloatArray, counts: AnyArray, total: int, diameter: float) -> float:
    """Return an upper bound on the p-value of "the channel drew these reports from some inputs".

    Let T in {0, 1}^m be the contribution of one report to the counts, and t its mean over n reports
    that are independent given their inputs. Let K be the convex hull of the rows t_x = E[T | x].
    Then, for all inputs and every s >= 0,

        P(dist(t, K) >= sqrt(V / n) + s) <= exp(-2 n s**2 / D**2),

    where V = max_x Sum_j t_xj (1 - t_xj), and D is the largest distance of two values of T.

    Proof. Given the inputs, m = E[t] is a mean of rows, hence in K, so dist(t, K) <= |t - m|. The
    mean of |t - m|**2 is a mean of variances divided by n, at most V / n; the mean of |t - m| is at
    most its root. Changing one report changes |t - m| by at most D / n, so McDiarmid's inequality
    bounds the deviation from the mean. The bound is not asymptotic and holds for any records. QED

    The distance is bounded from below by a direction that separates t from K. This is valid for any
    direction: a search that stops early rejects less often.

    Source: McDiarmid 1989, On the method of bounded differences, Lemma 1.2.

    ``expected`` are the counts of one report of each input, in [0, 1], and ``diameter`` is the
    largest Euclidean distance between the counts of two reports. The bound is 1.0 unless it is
    below the level of 1e-6.

    Examples
    --------
    >>> warner = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> fit_p_value(warner, np.array([740, 260]), 1000, 2**0.5)
    1.0
    >>> fit_p_value(warner, np.array([990, 10]), 1000, 2**0.5) < 1e-40
    True
    """
    noise = math.sqrt((expected * (1 - expected)).sum(axis=1).max() / total)
    margin = noise + diameter * math.sqrt(-math.log(LEVEL) / (2 * total))
    rows = expected - counts / total
    largest = np.abs(rows).sum(axis=0).max() * np.abs(rows).sum(axis=1).max()
    p = at = np.full(len(rows), 1 / len(rows))
    momentum = 1.0
    for _ in range(STEPS):  # accelerated projected gradient on |p rows|**2 / 2
        nearest = p @ rows
        distance = float(np.linalg.norm(nearest))
        if distance <= margin:
            return 1.0
        proved = float((rows @ nearest).min()) / distance
        if proved > margin:
            return math.exp(-2 * total * ((proved - noise) / diameter) ** 2)
        before, p = p, projected(at - rows @ (at @ rows) / largest)
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        at = p + (momentum - 1) / following * (p - before)
        momentum = following
    return 1.0


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

    Columns are Q(y|x), ``(n_inputs, n_distinct)``, each up to a factor, which cancels in likelihood
    ratios and posteriors; a matrix or a linear operator.
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


class ReportModel:
    """A source of reports for estimation: a channel or a structured mechanism.

    Of a ContinuousChannel the nodes are estimated. ``matrix`` is that of a channel; None for a
    mechanism.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> scores = ReportModel(warner).scores()
    >>> scores.frequencies(Tally(np.array([6, 4]), 10)).estimates.round(12).tolist()
    [0.7, 0.3]
    """

    def __init__(self, source: Any) -> None:
        self.source: Any = source.nodes if isinstance(source, ContinuousChannel) else source
        if not isinstance(self.source, Channel | Mechanism):
            hint = "pass its .channel" if hasattr(source, "channel") else ""
            raise InputError("mechanism", "a Channel or a Mechanism", shown_kind(source), hint)
        self.inputs, self.digest = self.source.inputs, source.digest
        self._alphabet = self.source.alphabet
        self.matrix = self.source.matrix if isinstance(self.source, Channel) else None

    def read_counts(self, counts: Any) -> Tally:
        """Return the tally of one count for each output of a channel."""
        if self.matrix is None:
            raise InputError("counts", "none for a Mechanism, but a Tally", shown(counts))
        if labels_of(counts, "counts") is not None:
            entries, labels = split(counts, "counts", "counts")
            counts = aligned(entries, labels, self.source.outputs, "counts", "output")
        return Tally.of(check_counts(counts, self.matrix.shape[1]))

    def as_reports(self, reports: ReportData) -> Reports | Tally:
        """Return a tally unchanged, and other data as reports of this source."""
        if isinstance(reports, Tally):
            return reports
        try:
            return reports_of(self._alphabet, reports)
        except InputError as error:
            hint = f"{error.hint}; {COUNTS}" if error.hint else COUNTS
            raise InputError(error.key, error.expected, error.given, hint) from None

    def tally(self, reports: ReportData) -> Tally:
        """Return the counts of reports."""
        given = self.as_reports(reports)
        check_digest(given.digest, self.digest)
        tally = (
            given if isinstance(given, Tally) else self.source.tally(replace(given, digest=None))
        )
        if tally.total < 1:
            raise InputError("reports", "at least one report", "none")
        counts = check_counts(tally.counts, self._alphabet.n_counts)
        is_single = isinstance(self._alphabet, Labels)  # each report has one count
        most = int(counts.sum() if is_single else counts.max())
        if most != tally.total if is_single else most > tally.total:
            raise InputError("reports", f"{tally.total} reports counted", f"{most}")
        if self.matrix is not None:
            impossible = ~self.matrix.any(axis=0) & (counts > 0)
            if impossible.any():
                given_label = f"{self.source.outputs[int(np.argmax(impossible))]!r}"
                raise InputError("reports", "outputs that the channel can send", given_label)
        return tally

    def checked(self, reports: ReportData, check: bool = True) -> Reports | Tally:
        """Return the reports; unchecked ones may state another channel, or fit no distribution."""
        found = self.as_reports(reports)
        found = found if check else replace(found, digest=None)
        tally, expected = self.tally(found), self._expected_counts() if check else None
        if expected is None:
            return found
        diameter = math.sqrt(2 if isinstance(self._alphabet, Labels) else self._alphabet.n_counts)
        p = fit_p_value(expected, tally.counts, tally.total, diameter)
        if p < LEVEL:
            wanted = "reports that some distribution of the inputs explains"
            given = f"others (p < {max(p, LEAST_P):.1e}): of another channel, or no reports"
            raise InputError("reports", wanted, given, UNCHECKED)
        return found

    def _expected_counts(self) -> FloatArray | None:
        """Return ``(n_inputs, n_counts)`` expected counts of a report; None for too many."""
        k = len(self.inputs)
        if self.matrix is not None or k * self._alphabet.n_counts > MOST_TESTED:
            return self.matrix
        return np.array([self.source.expected_counts(weights) for weights in np.eye(k)])

    def observed(self, reports: ReportData) -> DistinctReports:
        """Return the distinct reports, with their counts and their likelihoods.

        Likelihoods of a structured mechanism with more than 4096 inputs, or more than 2**21
        probabilities of distinct reports, are a linear operator instead of a matrix.
        """
        given = self.as_reports(reports)
        tally = self.tally(given)
        if isinstance(self._alphabet, Labels) and self._alphabet.n_outputs <= MOST_ENTRIES:
            sent = np.flatnonzero(tally.counts)
            counts = tally.counts[sent]
        elif isinstance(given, Reports):
            sent, counts = np.unique(given.data, axis=0, return_counts=True)
        else:
            expected = "the Reports themselves, of which this mechanism's counts are a summary"
            raise InputError("reports", expected, repr(tally))
        matrix = self.matrix
        columns = self._likelihoods(sent) if matrix is None else matrix[:, sent]
        return DistinctReports(columns, counts.astype(np.float64), tally.simulated)

    def _likelihoods(self, sent: AnyArray) -> FloatArray | LinearOperator:
        """Return the probabilities of reports of a mechanism, or a linear operator."""
        k, n, operator = len(self.inputs), len(sent), self.source.operator()
        if k <= MOST_INPUTS and k * n <= MOST_ENTRIES:
            return np.array([self._column(sent[i : i + 1]) for i in range(n)]).T
        if operator is None:
            raise _too_many(k, n)
        kept = sp.csc_array((np.ones(n), (sent, np.arange(n))), (operator.shape[1], n))
        columns: LinearOperator = operator @ aslinearoperator(kept)
        return columns

    def _column(self, report: AnyArray) -> list[float]:
        """Return the probabilities of a report divided by the largest, which may underflow."""
        masses = [self.source.mass(x, report) for x in range(len(self.inputs))]
        most = max(masses)
        if not most:
            raise InputError("reports", "reports that this mechanism can send", "others")
        known = {mass: float(mass / most) for mass in set(masses)}
        return [known[mass] for mass in masses]

    def scores(self, prior: Prior | None = None) -> ColumnScores | Mechanism:
        """Return the scores s_x with E[s_x(Y) | X = z] = 1{z = x}, of an unbiased estimate.

        For a Channel, ``prior`` is the distribution of least variance; default uniform.
        """
        if self.matrix is None:
            mechanism: Mechanism = self.source
            return mechanism
        return ColumnScores(self.matrix, reference_distribution(prior, self.inputs), self.inputs)


def _too_many(inputs: int, distinct: int) -> UnsupportedError:
    return UnsupportedError(
        "mechanism",
        f"at most {MOST_INPUTS} inputs, and {MOST_ENTRIES} probabilities to write out",
        f"{inputs} inputs and {distinct} different reports",
        "use the unbiased method, and project it",
    )
