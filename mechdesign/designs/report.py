"""The report of every answer: leakage and budget of each notion, the loss, and the bound."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mechdesign.exact import LEAST_SIZE, fraction_text, short_text
from mechdesign.kernel.documents import OPTIMAL_GAP, relative_gap
from mechdesign.notions import Notion
from mechdesign.text import Report, Reported

if TYPE_CHECKING:
    from mechdesign.continuous.problem import ContinuousProblem
    from mechdesign.problem import Problem

__all__ = ["Answer", "PrivacyClaim", "float_below"]

SHORTEST = 0.005
"""The least time of a phase in the report, in seconds."""

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


class Answer(Reported):
    """A mechanism with its value, and a bound on the value of every private one."""

    problem: Problem | ContinuousProblem
    value: Fraction
    bound: Fraction
    privacy: tuple[PrivacyClaim, ...]
    route: str
    notes: tuple[str, ...]
    seconds: float

    noun = "channel"
    """The name of the private object."""

    @property
    @abstractmethod
    def bound_proved(self) -> bool:
        """Whether the saved file proves the bound."""

    @property
    def _maximized(self) -> bool:
        return self.problem.utility.is_maximized

    @property
    def gap(self) -> float:
        """``|value - bound| / max(1e-12, |value|)``."""
        return relative_gap(float(self.value), self._float_bound())

    @property
    def status(self) -> str:
        """``"optimal"`` if the gap is at most 1e-6, else ``"bounded"``."""
        return "optimal" if self.gap <= OPTIMAL_GAP else "bounded"

    def _float_bound(self) -> float:
        """Return a float whose decimal text is a valid bound."""
        sign = -1 if self._maximized else 1
        return sign * float_below(sign * self.bound) + 0.0  # avoids -0.0

    def _lines(self) -> list[tuple[str, str]]:
        """Return the lines of the report, with placeholders for lines of subclasses."""
        problem = self.problem
        lines = [("problem", problem.title), ("source", problem.source)]
        lines = [(head, text) for head, text in lines if text]
        lines.append(("inputs", _inside(problem.domain)))
        prior = _inside(problem.prior) if problem.prior_given else "none given: taken as uniform"
        lines.append(("prior", prior))
        lines += [("privacy", str(claim)) for claim in self.privacy]
        what = "gain" if self._maximized else "loss"
        worst = f", worst case over the {problem.utility.worst_over}"
        name = problem.utility.name + (worst if problem.utility.worst_case else "")
        lines += [(what, f"{name} = {float(self.value):.9g}"), *self._terms()]
        lines += [("bound", self._verdict(what)), ("route", self.route), *self._details()]
        for n, note in enumerate(self.notes):
            lines.append(("" if n else "notes", f"{note[:1].upper()}{note[1:]}."))
        return [*lines, ("seconds", self._spent())]

    def _verdict(self, what: str) -> str:
        """Return the largest possible distance from the optimum as text."""
        which = f"no private {self.noun}{' that keeps this' * bool(self._terms())}"
        side = "above" if self._maximized else "below"
        verdict = "optimal" if self.status == "optimal" else "not proved optimal"
        share = f"{self.gap:.1e}" if self.gap < 1e-4 else f"{100 * self.gap:.2g}%"
        proved = "" if self.bound_proved else "; computed in floating point, not proved"
        bound = f"{which} has a {what} {side} {self._float_bound():.9g}"
        return f"{verdict}: {bound} (gap {share}{proved})"

    def _terms(self) -> list[tuple[str, str]]:
        """Return the lines on the user's own constraints."""
        return []

    def _details(self) -> list[tuple[str, str]]:
        """Return the lines after the route."""
        return []

    def _spent(self) -> str:
        """Return the elapsed time."""
        return f"{self.seconds:.2f}"

    def _report(self) -> Report:
        return Report(self._lines())


def _inside(part: Any) -> str:
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
