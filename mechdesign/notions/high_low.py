"""High-low local differential privacy: only some inputs are sensitive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.exact import Exact
from mechdesign.labels import clean_labels
from mechdesign.notions.base import BudgetNotion


class HighLowLDP(BudgetNotion):
    """High-low LDP: Q(y|x) <= e**epsilon Q(y|x') for sensitive x, every x' and every y.

    Parameters
    ----------
    epsilon
        The budget of the sensitive inputs in nats, >= 0.
    sensitive
        Labels of the sensitive inputs, at least one.

    Notes
    -----
    Source: Acharya et al. 2020, Definition 3. No output raises the odds of a sensitive input by
    more than e**epsilon; that an input is *not* sensitive may be revealed.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> channel = Channel.from_matrix([["1", "0"], ["1/2", "1/2"]], inputs=["ill", "well"])
    >>> HighLowLDP(0.7, ["ill"]).holds(channel), HighLowLDP(0.7, ["well"]).holds(channel)
    (True, False)
    """

    name = "high-low"
    on_interval = "regions"
    title = "high-low LDP, some inputs sensitive"
    example = """
epsilon = 1.0               # nats
sensitive = [0, 1]          # labels of the inputs that must be hidden among all
"""

    def __init__(self, epsilon: Exact, sensitive: Iterable[Any]) -> None:
        super().__init__(epsilon)
        self.sensitive = clean_labels(sensitive, "sensitive", "a list of labels of the domain")
        if not self.sensitive:
            raise InputError("sensitive", "at least one label of the domain", "an empty list")

    def aligned(self, domain: Domain) -> HighLowLDP:
        """Return the notion, after a check that its labels are in the domain."""
        for label in self.sensitive:
            domain.index(label, "sensitive")
        return self
