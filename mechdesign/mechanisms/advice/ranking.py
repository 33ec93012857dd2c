"""Which mechanism to take under LDP: by error, length of a report and time to decode."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload

from mechdesign.domain import whole_number
from mechdesign.errors import choose
from mechdesign.exact import Exact
from mechdesign.mechanisms.registry import LDP_MECHANISMS
from mechdesign.mechanisms.two_score import LDPMechanism

__all__ = ["Advice", "Option", "advise"]

MOST_REPORTS = 1 << 62

NEAR = 0.05
"""The share of the error that is given for shorter reports."""

NANOSECONDS = 2.5
"""Measured for an addition while counting and decoding, on one core."""


@dataclass(frozen=True)
class Option:
    """One mechanism, and what it costs.

    Attributes
    ----------
    kind
        Its name, as :func:`~mechdesign.mechanisms.mechanism_for` takes it.
    risk_ratio
        How many times as many people it needs as the least risk of all channels, for the same
        error.
    count_error
        The standard error of the estimated number of people with an input, on average over inputs
        that are equally likely.
    bits_per_report
        The base-2 logarithm of the number of reports.
    best_guess
        How likely the best guess of an input from one report is right, where inputs are equally
        likely; 1/k without a report.
    decoding_seconds
        About how long one core takes from n reports to all estimates.
    """

    kind: str
    risk_ratio: float
    count_error: float
    bits_per_report: float
    best_guess: float
    decoding_seconds: float

    def __str__(self) -> str:
        seconds = self.decoding_seconds
        time = f"{seconds:.1g}" if seconds >= 0.01 else "< 0.01"
        return (
            f"{self.kind:30} {self.risk_ratio:10.4g} {self.count_error:12.4g} "
            f"{self.bits_per_report:12.1f} {self.best_guess:10.3g} {time:>12}"
        )


class Advice(Sequence[Option]):
    """The mechanisms under LDP, the least error first.

    Attributes
    ----------
    k, epsilon, n
        For how many inputs, which budget, how many reports.
    """

    def __init__(self, k: int, epsilon: Exact, n: int, options: Sequence[Option]) -> None:
        self.k, self.epsilon, self.n, self._options = k, epsilon, n, tuple(options)

    @property
    def best(self) -> Option:
        """The shortest reports among those whose error is within 5 % of the least."""
        least = self._options[0].risk_ratio
        near = [each for each in self if each.risk_ratio <= least * (1 + NEAR) ** 2]
        return min(near, key=lambda each: (round(each.bits_per_report, 6), each.decoding_seconds))

    def by(self, what: str) -> list[Option]:
        """Return the mechanisms in the order of ``"error"``, ``"bits"`` or ``"time"``.

        Raises
        ------
        InputError
            If it is none of these.
        """
        keys = {"error": "risk_ratio", "bits": "bits_per_report", "time": "decoding_seconds"}
        found = choose(keys, what, "by")
        return sorted(self, key=lambda each: float(getattr(each, found)))

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        options = [asdict(each) for each in self]
        return {"inputs": self.k, "reports": self.n, "best": self.best.kind, "mechanisms": options}

    def __len__(self) -> int:
        return len(self._options)

    @overload
    def __getitem__(self, place: int) -> Option: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Option]: ...

    def __getitem__(self, place: int | slice) -> Option | Sequence[Option]:
        return self._options[place]

    def __iter__(self) -> Iterator[Option]:
        return iter(self._options)

    def __repr__(self) -> str:
        head = (
            f"{'mechanism':30} {'people':>10} {'count':>12} {'bits':>12} {'guess':>10} "
            f"{'decoding, s':>12}"
        )
        best = f"take {self.best.kind}: the shortest reports within {NEAR:.0%} of the least error"
        words = f"{self.k} inputs, epsilon = {self.epsilon}, {self.n} reports under LDP"
        notes = (
            "people: needed for the same error, over the least; count: standard error of a count\n"
            "guess: how often an attacker guesses the input of one report, at best; "
            f"{1 / self.k:.3g} without it"
        )
        return "\n".join([words, head, *map(str, self), notes, best])


def advise(k: int, epsilon: Exact, n: int) -> Advice:
    """Rank the structured mechanisms under LDP by error, with bits and decoding time.

    The error is the exact l2 risk at the uniform prior, of the integers that are drawn from.

    Parameters
    ----------
    k
        How many inputs, at least 2.
    epsilon
        The budget in nats, from 1e-6 to 30.
    n
        How many people report.

    Raises
    ------
    InputError
        If a number is out of range.

    Notes
    -----
    Source: Ye and Barg 2018 for the least risk; the sources of the mechanisms are theirs.

    Examples
    --------
    >>> advice = advise(22_000, 5, 10**6)
    >>> advice.best.kind
    'projective-geometry-response'
    >>> advice
    22000 inputs, epsilon = 5, 1000000 reports under LDP
    mechanism                          people        count         bits      guess  decoding, s
    subset-selection                        1        165.3       1268.6     0.0034            3
    projective-geometry-response            1        165.3         14.4    0.00339       < 0.01
    optimized-unary-encoding            1.008        165.9      22000.0    0.00362            3
    hadamard-response                       2        233.8         14.4    0.00365       < 0.01
    symmetric-unary-encoding            3.587          313      22000.0   0.000551            3
    randomized-response                 37.56         1013         14.4     0.0067       < 0.01
    people: needed for the same error, over the least; count: standard error of a count
    guess: how often an attacker guesses the input of one report, at best; 4.55e-05 without it
    take projective-geometry-response: the shortest reports within 5% of the least error
    """
    n = whole_number(n, "n", 1, MOST_REPORTS)
    options = []
    for kind, make in LDP_MECHANISMS.items():
        made = make(whole_number(k, "k", 2, 10**6), epsilon)
        options.append(_option(kind, made, n))
    return Advice(k, epsilon, n, sorted(options, key=lambda each: each.risk_ratio))


def _option(kind: str, made: LDPMechanism, n: int) -> Option:
    return Option(
        kind,
        made.risk / made.least_known_risk,
        math.sqrt(n * made.risk / len(made.inputs)),
        made.bits_per_report,
        made.best_guess,
        made.decoding_work(n) * NANOSECONDS / 1e9,
    )
