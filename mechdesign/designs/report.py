"""What the report of an answer has: the leakage of each notion, and bounds in decimals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from mechdesign.exact import LEAST_SIZE, fraction_text, short_text
from mechdesign.notions import Notion

WHOLE = 1e-6
"""A budget with no larger share left counts as used up."""


@dataclass(frozen=True)
class PrivacyClaim:
    """The leakage of a channel under one notion of the problem.

    Attributes
    ----------
    notion
        The notion.
    leakage
        The smallest epsilon that the exact channel satisfies, rounded up, in nats; for a notion
        without an epsilon, the largest excess over its budgets, at most 0.
    """

    notion: Notion
    measured: float | Callable[[], float] = field(repr=False, compare=False)
    """The leakage, or a function that computes it on demand."""

    @cached_property
    def leakage(self) -> float:
        """The leakage."""
        return self.measured() if callable(self.measured) else self.measured

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the number, as the function may not be picklable."""
        return {"notion": self.notion, "measured": self.leakage}

    def to_json(self) -> dict[str, Any]:
        """Return the claim as in ``solve --json``; a claim exists only after the exact check."""
        table = self.notion.to_table()
        claim: dict[str, Any] = {"notion": table["notion"]}
        for key in ("epsilon", "delta"):
            if key in table:
                claim[key] = float(Fraction(table[key]))
        if "secret" in table:
            claim["secret"] = table["secret"]["values"]
        return {**claim, "leakage": self.leakage, "certified": True}

    def __str__(self) -> str:
        """Return the leakage and the budget as text."""
        table, head = self.notion.to_table(), self.notion.heading
        if "epsilon" not in table:
            left = (
                f"at least {-self.leakage:.3g} below" if self.leakage < -WHOLE else "one exactly at"
            )
            return f"{head}: every bound is kept, {left} its limit; proved"
        epsilon = Fraction(table["epsilon"])
        budget = f"{float(epsilon):.9g}" if len(table["epsilon"]) > 12 else fraction_text(epsilon)
        if "delta" in table:
            budget += f" with delta = {short_text(Fraction(table['delta']))}"
        share = self.leakage / float(epsilon) if epsilon else 1.0
        part = (
            "the whole budget"
            if share > 1 - WHOLE
            else f"{math.floor(1e4 * share) / 100:.2f}% of the budget"
        )
        return f"{head}: leaks {self.leakage:.9g} of epsilon = {budget}, {part}; proved"


def inside(part: Any) -> str:
    """Return the repr of a domain or a prior without the name of its class."""
    text = repr(part)
    for name in ("Domain", "Prior"):
        if text.startswith(f"{name}("):
            return text.removeprefix(f"{name}(").removesuffix(")")
    return text


def float_below(number: Fraction) -> float:
    """Return a float whose decimal text is at most a number, and close to it.

    Numbers smaller than the checker reads are rounded to 0, or down to its least number.
    """
    rounded = float(number)
    while Fraction(repr(rounded)) > number:
        rounded = math.nextafter(rounded, -math.inf)
    if 0 < abs(rounded) < LEAST_SIZE:
        return -float(LEAST_SIZE) if rounded < 0 else 0.0
    return rounded
