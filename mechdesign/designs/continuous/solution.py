"""The answer to a continuous problem: a kernel on the interval, its loss, and a bound on all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from mechdesign.certify.bounds.readings import Readings
from mechdesign.certify.channel_file import OPTIMAL_GAP, digest, relative_gap
from mechdesign.certify.continuous.continuous_file import FORMAT
from mechdesign.certify.continuous.law import Continuous
from mechdesign.continuous.channel import ContinuousChannel
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.solution import (
    EARLY,
    PrivacyClaim,
    Solution,
    float_below,
    privacy_line,
)
from mechdesign.domain import plain_label
from mechdesign.exact import as_fraction, fraction_text
from mechdesign.text import html_lines, printable

__all__ = ["ContinuousSolution"]


@dataclass(frozen=True)
class ContinuousSolution:
    """The best kernel found on an interval, exactly private, with a rigorous bound on the optimum.

    Attributes
    ----------
    problem
        What was asked.
    stated
        The same with the nodes that it was solved on, and the moments of the cells between them.
    channel
        The kernel.
    value
        Its loss on the interval, an exact rational that is at least it.
    bound
        A rational that the loss of no private kernel on the interval is below.
    privacy
        One claim for each notion of the problem, checked in integers.
    decoder
        The posterior mean of x at each output, where the loss is that of the best estimate.
    certificate
        What the checker needs to prove the bound again.
    route
        How the finite program was solved.
    ended
        Why the search ended before the gap was reached; else empty.
    notes
        Anything else that a reader should know.
    seconds
        Wall-clock time.
    """

    problem: ContinuousProblem
    stated: Continuous = field(repr=False)
    channel: ContinuousChannel
    value: Fraction
    bound: Fraction
    privacy: tuple[PrivacyClaim, ...]
    decoder: tuple[Fraction, ...] | None
    certificate: dict[str, Any] = field(repr=False)
    route: str
    ended: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @classmethod
    def of(
        cls,
        problem: Any,
        kernel: Any,
        channel: Any,
        lower: tuple[Solution, Fraction],
        upper: Solution,
        decoder: tuple[Fraction, ...] | None = None,
    ) -> Self:
        """Return the solution that two finite designs give.

        Parameters
        ----------
        problem
            What was asked.
        kernel
            The kernel as the checker reads it, and the nodes.
        channel
            The same, to draw from.
        lower
            The design whose bound less a number bounds all kernels, and the number.
        upper
            The design that gave the channel of the nodes.
        decoder
            What is read from the outputs.
        """
        found, shift = lower
        pairs = zip(problem.privacy, upper.privacy, strict=True)
        privacy = [
            replace(claim, notion=notion, leakage=_upward(kernel.slope()))
            if notion.on_interval == "distance"
            else replace(claim, notion=notion)
            for notion, claim in pairs
        ]
        return cls(
            problem=problem,
            stated=kernel.stated,
            channel=channel,
            value=kernel.value(),
            bound=max(found.bound - shift, Fraction(0)),
            privacy=tuple(privacy),
            decoder=decoder,
            certificate=found.certificate,
            route=found.route,
            ended=next((note for note in found.notes if note.startswith(EARLY)), ""),
        )

    def finished(self, seconds: float, notes: list[str]) -> Self:
        """Return the solution with what is known in the end."""
        return replace(self, seconds=seconds, notes=tuple(notes))

    @property
    def cells(self) -> int:
        """How many cells the interval was divided into."""
        return self.stated.size

    @property
    def gap(self) -> float:
        """``|value - bound| / max(1e-12, |value|)``."""
        return relative_gap(float(self.value), float_below(self.bound))

    @property
    def status(self) -> str:
        """``"optimal"`` if the gap is at most 1e-6, else ``"bounded"``."""
        return "optimal" if self.gap <= OPTIMAL_GAP else "bounded"

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``mechdesign solve --json`` prints."""
        nodes = self.channel.nodes
        channel: dict[str, Any] = {
            "kind": self.channel.kind,
            **self._points(),
            "outputs": [plain_label(y) for y in nodes.outputs],
            "matrix": nodes.matrix.tolist(),
        }
        if self.decoder is not None:
            channel["decoder"] = [float(reading) for reading in self.decoder]
        return {
            "status": self.status,
            "objective": self.problem.utility.name,
            "sense": "minimize",
            "value": float(self.value),
            "bound": float_below(self.bound),
            "gap": self.gap,
            "cells": self.cells,
            "route": self.route,
            "privacy": [claim.to_json() for claim in self.privacy],
            "channel": channel,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }

    def document(self) -> dict[str, Any]:
        """Return what a file holds: the answer, the problem, the integers, the proof.

        The integers are text, since many readers of JSON keep 53 bits only.
        """
        problem, stated = self.problem, self.stated
        head = {**self.format, "title": problem.title, "source": problem.source}
        document = {**head, **self.to_json()}
        nodes = self.channel.nodes
        rows = nodes.numerators.tolist()
        if problem.utility.states_decoder and self.decoder is not None:
            document["channel"]["readings"] = Readings.of(self.decoder).table
        document["channel"]["bits"] = nodes.bits
        document["channel"]["numerators"] = [list(map(str, row)) for row in rows]
        law = problem.prior.to_table()
        document["problem"] = {
            "domain": problem.domain.to_table(),
            "law": {key: law[key] for key in sorted(law)},
            "moments": self._moments(),
            "privacy": stated.privacy,
            "utility": stated.utility,
        }
        document["certificate"] = self.certificate
        document["digest"] = digest(document)
        return document

    format: ClassVar[dict[str, Any]] = FORMAT
    """The head of a file of it."""

    def _points(self) -> dict[str, Any]:
        """Return the nodes, as a file has them."""
        return {"points": [fraction_text(t) for t in self.stated.nodes]}

    def _moments(self) -> dict[str, Any]:
        """Return the moments of the law, as a file has them."""
        cells = [self.stated.tails[0], *self.stated.cells, self.stated.tails[1]]
        return {
            "masses": [fraction_text(mass) for mass, _, _ in cells],
            "first": [fraction_text(first) for _, first, _ in cells],
            "second": [fraction_text(second) for _, _, second in cells],
            "error": [fraction_text(part) for part in self.stated.error],
        }

    def _repr_html_(self) -> str:
        return html_lines(self._lines())

    def __repr__(self) -> str:
        lines = [f"{head:<11}{printable(text)}" for head, text in self._lines()]
        return "\n".join([*lines, "", repr(self.channel)])

    def _lines(self) -> list[tuple[str, str]]:
        problem = self.problem
        lines = [("problem", problem.title)] if problem.title else []
        if problem.source:
            lines.append(("source", problem.source))
        lines.append(("inputs", repr(problem.domain)))
        given = repr(problem.prior) if problem.prior_given else "none given: taken as uniform"
        lines.append(("prior", given))
        lines += [("privacy", privacy_line(claim)) for claim in self.privacy]
        worst = ", worst case over the inputs" if problem.utility.worst_case else ""
        lines.append(("loss", f"{problem.utility.name}{worst} = {float(self.value):.9g}"))
        bound = f"no private kernel is below {float_below(self.bound):.9g}"
        lines.append(("optimal?", f"{self.status}, gap {self.gap:.1e}: {bound}"))
        lines.append(("cells", f"{self.cells}, with linear rounding to their ends"))
        lines.append(("route", self.route))
        lines += [("note", note) for note in self.notes]
        return [*lines, ("seconds", f"{self.seconds:.2f}")]


def _upward(number: Fraction) -> float:
    """Return a float whose decimal is at least a number."""
    found = float(number)
    while as_fraction(found) < number:
        found = math.nextafter(found, math.inf)
    return found
