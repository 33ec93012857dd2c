"""What was collected: reports as counts, and as the columns of the channel that they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.errors import InputError, UnsupportedError, shown
from mechdesign.mechanisms import Mechanism
from mechdesign.reports import Labels, Reports, Tally, check_counts

__all__ = ["Collected", "Evidence", "Source", "check_mechanism", "evidence_of", "tally_of"]


Source = Channel | Mechanism
"""What the reports were drawn from."""

Collected = Any
"""Reports, a Tally, or for a Channel plain counts, one for each output."""

MOST_ENTRIES, MOST_INPUTS = 1 << 21, 1 << 12
"""Probabilities of a structured mechanism that are written out at most, and its inputs, for which
the standard errors take a square matrix."""


@dataclass(frozen=True)
class Evidence:
    """The reports as a likelihood sees them: how often each came, and how probable it was.

    Attributes
    ----------
    columns
        ``(n_inputs, n_distinct)`` probabilities Q(y|x) of the distinct reports, each column up to a
        factor, on which neither a likelihood ratio nor a posterior depends.
    counts
        ``(n_distinct,)`` how often each was sent, all above 0.
    simulated
        Whether any of them was drawn from a seed.
    """

    columns: FloatArray
    counts: FloatArray
    simulated: bool

    @property
    def total(self) -> int:
        """How many reports there are."""
        return round(float(self.counts.sum()))


def check_mechanism(mechanism: Any) -> Source:
    """Return a Channel or a Mechanism as it is.

    Raises
    ------
    InputError
        If it is neither.
    """
    if not isinstance(mechanism, Channel | Mechanism):
        raise InputError("mechanism", "a Channel or a Mechanism", shown(mechanism))
    return mechanism


def tally_of(mechanism: Source, reports: Collected) -> Tally:
    """Return the counts of reports.

    Parameters
    ----------
    mechanism
        What they were drawn from.
    reports
        Reports, a Tally, or for a Channel plain counts, one for each output.

    Raises
    ------
    InputError
        If there are none, they are of another mechanism, or one can never be sent.
    """
    check_mechanism(mechanism)
    if isinstance(reports, Reports):
        _check_alphabet(mechanism, reports)
        tally = mechanism.tally(reports)
    elif isinstance(reports, Tally):
        tally = reports
    elif isinstance(mechanism, Channel):
        counts = check_counts(reports, len(mechanism.outputs))
        tally = Tally(counts, int(counts.sum()))
    else:
        raise InputError("reports", "Reports or a Tally of this mechanism", shown(reports))
    if tally.total < 1:
        raise InputError("reports", "at least one report", "none")
    if isinstance(mechanism, Channel):
        _check_channel_counts(mechanism, tally)
    return tally


def evidence_of(mechanism: Source, reports: Collected) -> Evidence:
    """Return the distinct reports, with their counts and their columns of the channel.

    Raises
    ------
    InputError
        As :func:`tally_of`; also where counts do not tell the reports of this mechanism.
    UnsupportedError
        If a structured mechanism has more than 4096 inputs, or more than 2**21 probabilities of
        the reports that were sent.
    """
    tally = tally_of(mechanism, reports)
    if isinstance(mechanism, Channel):
        sent = np.flatnonzero(tally.counts)
        columns = mechanism.matrix[:, sent]
        return Evidence(columns, tally.counts[sent].astype(np.float64), tally.simulated)
    if isinstance(reports, Reports):
        distinct, counts = np.unique(reports.data, axis=0, return_counts=True)
    else:
        distinct, counts = _listed(mechanism, tally)
    k = len(mechanism.inputs)
    if k > MOST_INPUTS or k * len(distinct) > MOST_ENTRIES:
        raise UnsupportedError(
            "mechanism",
            f"at most {MOST_INPUTS} inputs, and {MOST_ENTRIES} probabilities to write out",
            f"{k} inputs and {len(distinct)} different reports",
            "use the unbiased method, and project it",
        )
    each = [_column(mechanism, distinct[n : n + 1]) for n in range(len(distinct))]
    return Evidence(np.array(each).T, counts.astype(np.float64), tally.simulated)


def _column(mechanism: Mechanism, report: npt.NDArray[Any]) -> list[float]:
    """Return the probabilities of a report, divided by the largest, which may be below a float."""
    masses = [mechanism.mass(x, report) for x in range(len(mechanism.inputs))]
    most = max(masses)
    if not most:
        raise InputError("reports", "reports that this mechanism can send", "others")
    known = {mass: float(mass / most) for mass in set(masses)}
    return [known[mass] for mass in masses]


def _listed(mechanism: Mechanism, tally: Tally) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the distinct reports of a tally that counts each report by itself."""
    size = mechanism.n_outputs
    plain = isinstance(mechanism.alphabet, Labels) and tally.counts.shape == (size,)
    if plain and size <= MOST_ENTRIES:
        listed = mechanism.listed()
        if listed.ndim == 1 and np.array_equal(listed, np.arange(size)):
            sent = np.flatnonzero(tally.counts)
            return listed[sent], tally.counts[sent]
    raise InputError(
        "reports",
        "the Reports themselves, of which this mechanism's counts are a summary",
        repr(tally),
    )


def _check_alphabet(mechanism: Source, reports: Reports) -> None:
    if not mechanism.alphabet.matches(reports.alphabet):
        raise InputError("reports", "reports of this mechanism", "reports with other outputs")


def _check_channel_counts(channel: Channel, tally: Tally) -> None:
    counts = check_counts(tally.counts, len(channel.outputs))
    if int(counts.sum()) != tally.total:
        raise InputError("reports", f"{tally.total} reports counted", f"{int(counts.sum())}")
    never = ~(channel.numerators != 0).any(axis=0)
    if counts[never].any():
        y = int(np.flatnonzero(never & (counts > 0))[0])
        raise InputError("reports", "outputs that the channel can send", f"{channel.outputs[y]!r}")
