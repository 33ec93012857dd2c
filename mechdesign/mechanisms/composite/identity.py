"""The identity mechanism, the part of composite mechanisms for unprotected inputs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from mechdesign._typing import AnyArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.mechanisms.base import WHOLE
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from mechdesign.notions import BlockLDP
from mechdesign.reports import Labels
from mechdesign.sampling import Source


class IdentityMechanism(GeneralizedRandomizedResponse):
    """Report the input: Q[x, x] = 1, with the score 1{y = x}.

    A single input has a single report.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; a single input is allowed.

    Examples
    --------
    >>> IdentityMechanism(1).bits_per_report
    0.0
    """

    name = "in-clear"
    source = "the identity channel"
    held = WHOLE

    def __init__(self, inputs: Domain | Iterable[Any] | int) -> None:
        self.inputs = Domain.of(inputs, "inputs")
        self.odds = (1, len(self.inputs) - 1)
        self.alphabet = Labels(self.inputs)

    @property
    def privacy(self) -> BlockLDP:
        """Every input is a block of its own."""
        return BlockLDP(0, blocks=[[label] for label in self.inputs])

    def parameters(self) -> dict[str, Any]:
        """Return an empty dict."""
        return {}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Return the input numbers."""
        return codes.copy()

    def largest_ratio(self) -> Fraction:
        """Return 1, the ratio inside a block of one."""
        return Fraction(1)
