"""The central epsilon of reports seen together, as a table or as plain data."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from mechdesign.accounting.channel_leakage import rounded
from mechdesign.text import Table, Tabular


@dataclass(frozen=True, repr=False)
class Central(Tabular):
    """The central epsilon of n reports seen together, at a delta. Its repr is a table.

    Attributes
    ----------
    n, delta
        The number of reports, and the delta.
    epsilon
        An upper bound: the output is (epsilon, delta)-private in the central model under the change
        of one person's input.
    at_least
        A lower bound: the output is not private at any smaller epsilon.
    local
        The epsilon of one report, which holds with delta 0 if all reports are seen.
    pair
        For shuffled reports of a channel: two inputs that are the hardest to hide.
    variation_ratio, closed_form
        For shuffled reports: the published upper bounds of Wang et al. 2023, from three numbers of
        the channel (inf if it does not apply), and of Feldman, McMillan and Talwar 2021, from the
        local epsilon (``local`` if it does not apply).
    others
        For sums of bit vectors: the numbers of other people with the old and the new value in the
        data set that attains the lower bound.
    """

    n: int
    delta: float
    epsilon: float
    at_least: float
    local: float
    pair: tuple[Any, Any] | None = None
    variation_ratio: float | None = None
    closed_form: float | None = None
    others: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON, with infinite numbers as ``"inf"``."""
        return {
            key: "inf" if value == math.inf else list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }

    def _head(self) -> str:
        what = f"the sum of {self.n} reports"
        if self.variation_ratio is not None:
            what = f"{self.n} shuffled report{'s' * (self.n > 1)}"
        hardest = "" if self.pair is None else ", hardest to hide: {!r} or {!r}".format(*self.pair)
        return f"{what} at delta = {self.delta:g}{hardest}"

    def _table(self) -> Table:
        rows = [
            ("at least", rounded(self.at_least, up=False)),
            ("at most", rounded(self.epsilon)),
        ]
        if self.variation_ratio is not None and self.closed_form is not None:
            rows += [
                ("Wang et al. 2023", rounded(self.variation_ratio)),
                ("Feldman et al. 2021", rounded(self.closed_form)),
            ]
        rows.append(("one report", rounded(self.local)))
        return Table(("central epsilon", "nats"), rows, "<>")
