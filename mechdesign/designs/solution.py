"""The answer: a channel, how private it is, how far from optimal it can be, and the proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from mechdesign.channel import Channel
from mechdesign.designs.binding import BindingRow, binding_of
from mechdesign.domain import plain_label
from mechdesign.errors import shown
from mechdesign.exact import LEAST_SIZE, fraction_text, short_text
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.documents import FORMAT, OPTIMAL_GAP, VERSION, digest, relative_gap
from mechdesign.kernel.schema import write
from mechdesign.notions import Notion
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.routes import Considered
from mechdesign.text import format_table, html_lines, html_matrix, printable

__all__ = [
    "EARLY",
    "PrivacyClaim",
    "Solution",
    "float_below",
    "privacy_line",
]

EARLY = "ended early"
"""How the note begins that says what limit ended the search."""

MOST_BINDING, SHOWN_BINDING = 1000, 5
"""How many binding rows the JSON and the report name."""

SHORTEST = 0.005
"""Seconds from which on the report names a phase."""


@dataclass(frozen=True)
class PrivacyClaim:
    """What a channel leaks under one notion of the problem.

    Attributes
    ----------
    notion
        The notion.
    leakage
        The smallest epsilon that the exact channel satisfies, rounded up, in nats; for a notion
        without an epsilon, the largest excess over its budgets, at most 0.
    """

    notion: Notion
    leakage: float

    def to_json(self) -> dict[str, Any]:
        """Return the claim as in ``solve --json``; it is made only after the exact check."""
        table = self.notion.to_table()
        claim: dict[str, Any] = {"notion": table["notion"]}
        for key in ("epsilon", "delta"):
            if key in table:
                claim[key] = float(Fraction(table[key]))
        if "secret" in table:
            claim["secret"] = table["secret"]["values"]
        return {**claim, "leakage": self.leakage, "certified": True}


@dataclass(frozen=True)
class Solution:
    """The best channel found, exactly private, with a rigorous bound on the optimum.

    Attributes
    ----------
    problem
        What was asked.
    channel
        The exact channel.
    value
        Its loss or gain, exact, rounded to the worse side where irrational.
    bound
        A rational that no private channel's loss is below, or gain above.
    privacy
        One claim for each notion of the problem, checked in integers.
    route, why
        How the channel was found, and why so.
    considered
        Closed forms that do not apply, each with the reason.
    notes
        Anything else that a reader should know.
    certificate
        What the kernel needs to prove the bound again; None for a bound that is not proved.
    readings
        What the aggregator reads from each output, where the objective is the variance of that.
    seconds
        Wall-clock time.
    timings
        Seconds by phase: ``compile`` (stating the problem, deciding on a route), ``presolve``,
        ``solve``, ``repair`` and ``certify`` (the proof of privacy and of the bound).
    """

    problem: Problem
    channel: Channel
    value: Fraction
    bound: Fraction
    privacy: tuple[PrivacyClaim, ...]
    route: str
    why: str
    considered: tuple[Considered, ...]
    notes: tuple[str, ...]
    certificate: Certificate | None = field(repr=False)
    readings: tuple[Fraction, ...] | None
    seconds: float
    timings: dict[str, float] = field(default_factory=dict)

    @cached_property
    def binding(self) -> tuple[BindingRow, ...]:
        """The rows of the notions that bind, with their multipliers, the largest first.

        They are read from the certificate: rows with a multiplier > 0 that hold with equality; or,
        where prices of the inputs prove the bound of a linear loss, from these. Empty where it is
        proved otherwise, and where prices leave too many entries to go through. At an output that
        is allowed and never sent every row is 0 <= 0: such rows are named only where no other row
        binds, as they then are the reason why it is not sent.
        """
        if self.certificate is None:
            return ()
        return binding_of(self.problem, self.certificate, self.channel, self.decoder)

    @cached_property
    def decoder(self) -> tuple[Any, ...] | None:
        """What the aggregator reads from each output, where the objective comes with it."""
        if self.readings is not None:
            return self.readings
        named = self.certificate.reference if self.certificate else None
        utility = self.problem.utility
        prior = utility.reference(self.problem.prior) if named is None else Prior(named)
        return utility.decoder(self.channel, prior)

    @property
    def gap(self) -> float:
        """``|value - bound| / max(1e-12, |value|)``."""
        return relative_gap(float(self.value), self._float_bound())

    @property
    def bound_proved(self) -> bool:
        """Whether the saved file proves the bound: not for an objective of your own."""
        return self.certificate is not None

    @property
    def status(self) -> str:
        """``"optimal"`` if the gap is at most 1e-6, else ``"bounded"``."""
        return "optimal" if self.gap <= OPTIMAL_GAP else "bounded"

    def _float_bound(self) -> float:
        """Return a float whose decimal text is on the weak side of the bound, or at it."""
        sign = -1 if self.problem.utility.is_maximized else 1
        return sign * float_below(sign * self.bound) + 0.0  # no minus zero

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``mechdesign solve --json`` prints.

        It names the :data:`MOST_BINDING` binding rows with the largest multipliers.
        """
        binding = [row.to_json() for row in self.binding[:MOST_BINDING]]
        return {**self._answer(), "binding": binding}

    def _answer(self) -> dict[str, Any]:
        """Return the answer without what follows from the certificate."""
        return {
            "status": self.status,
            "objective": self.problem.utility.name,
            "sense": self.problem.utility.sense,
            "value": float(self.value),
            "bound": self._float_bound(),
            "gap": self.gap,
            "bound_proved": self.bound_proved,
            "route": self.route,
            "privacy": [claim.to_json() for claim in self.privacy],
            "channel": self._channel_table(),
            "seconds": self.seconds,
            "timings": self.timings,
            "why": self.why,
            "considered": [{"name": c.name, "reason": c.reason} for c in self.considered],
            "notes": list(self.notes),
        }

    def dense(self) -> Channel:
        """Return the channel as a matrix."""
        return self.channel

    def _channel_table(self) -> dict[str, Any]:
        channel: dict[str, Any] = {
            "inputs": [plain_label(x) for x in self.channel.inputs],
            "outputs": [plain_label(y) for y in self.channel.outputs],
            "matrix": self.channel.matrix.tolist(),
        }
        if self.decoder is not None:
            channel["decoder"] = [_plain_reading(reading) for reading in self.decoder]
        return channel

    def document(self) -> dict[str, Any]:
        """Return what a channel file holds: the answer, the problem, the integers, the proof.

        The integers are text, since many readers of JSON keep 53 bits only.
        """
        document = {
            "format": FORMAT,
            "version": VERSION,
            "title": self.problem.title,
            "source": self.problem.source,
            **self._answer(),
        }
        document["channel"]["bits"] = self.channel.bits
        rows = self.channel.numerators.tolist()
        document["channel"]["numerators"] = [list(map(str, row)) for row in rows]
        if self.problem.utility.states_decoder and self.decoder is not None:
            tops, bottom = over_one_denominator(self.decoder)
            document["channel"]["readings"] = {
                "numerators": list(map(str, tops)),
                "denominator": str(bottom),
            }
        document["problem"] = self.problem.to_table()
        document["certificate"] = None if self.certificate is None else write(self.certificate)
        document["digest"] = digest(document)
        return document

    def _repr_html_(self) -> str:
        channel = self.channel
        heat_map = html_matrix(channel.matrix, channel.inputs.labels, channel.outputs)
        return html_lines(self._lines(), heat_map)

    def __repr__(self) -> str:
        lines = [f"{head:<11}{printable(text)}" for head, text in self._lines()]
        return "\n".join([*lines, "", self._table()])

    def _lines(self) -> list[tuple[str, str]]:
        problem = self.problem
        lines = [("problem", problem.title)] if problem.title else []
        if problem.source:
            lines.append(("source", problem.source))
        lines.append(("inputs", repr(problem.domain).removeprefix("Domain(").removesuffix(")")))
        if problem.prior_given:
            lines.append(("prior", repr(problem.prior).removeprefix("Prior(").removesuffix(")")))
        else:
            lines.append(("prior", "none given: taken as uniform"))
        lines += [("privacy", privacy_line(claim)) for claim in self.privacy]
        loss = problem.utility.name
        if problem.utility.worst_case:
            loss += f", worst case over the {problem.utility.worst_over}"
        lines.append(
            (
                "gain" if problem.utility.is_maximized else "loss",
                f"{loss} = {float(self.value):.9g}",
            )
        )
        lines += [("subject to", text) for text in problem.quoted]
        side = "above" if problem.utility.is_maximized else "below"
        which = "no private channel" + (" that keeps this" if problem.quoted else "")
        bound = f"{which} is {side} {self._float_bound():.9g}"
        if not self.bound_proved:
            bound += " (computed in floating point, not proved)"
        lines.append(("optimal?", f"{self.status}, gap {self.gap:.1e}: {bound}"))
        lines.append(("route", self.route))
        lines.append(("", f"because {self.why}"))
        lines += [("considered", f"{c.name}: {c.reason}") for c in self.considered]
        lines += [("note", note) for note in self.notes]
        if self.binding:
            lines.append(("binding", self._binding_line()))
        long = {name: spent for name, spent in self.timings.items() if spent >= SHORTEST}
        phases = ", ".join(f"{name} {spent:.2f}" for name, spent in long.items())
        lines.append(("seconds", f"{self.seconds:.2f}" + (f" ({phases})" if phases else "")))
        return lines

    def _binding_line(self) -> str:
        several = len(self.problem.privacy) > 1
        named = []
        for row in self.binding[:SHOWN_BINDING]:
            head = f"{row.notion}: " if several else ""
            at = "" if row.output is None else f" at {shown(row.output)}"
            named.append(f"{head}{row.row}{at} ({row.multiplier:.3g})")
        more = len(self.binding) - len(named)
        return ", ".join(named) + (f" and {more} more rows" if more else "")

    def _table(self) -> str:
        table = format_table(self.channel.matrix, self.channel.inputs.labels, self.channel.outputs)
        if self.decoder is None:
            return table
        pairs = list(zip(self.channel.outputs, self.decoder, strict=True))
        in_lines = isinstance(_plain_reading(self.decoder[0]), list)
        most, between = (6, "\n                    ") if in_lines else (12, ",  ")
        shown = [f"{printable(label)}: {_shown(reading)}" for label, reading in pairs[:most]]
        more = ["…"] if len(pairs) > most else []
        return f"{table}\nestimate on seeing  {between.join([*shown, *more])}"


def _plain_reading(reading: Any) -> Any:
    """Return what the aggregator reads from an output as JSON has it: numbers, labels, lists."""
    if isinstance(reading, Fraction):
        return float(reading)
    if isinstance(reading, tuple) and reading and isinstance(reading[0], Fraction):
        return [float(entry) for entry in reading]
    return plain_label(reading)


def _shown(reading: Any) -> str:
    plain = _plain_reading(reading)
    if isinstance(plain, float):
        return f"{plain:.6g}"
    if isinstance(plain, list) and isinstance(plain[0], float):
        tail = ", ..." if len(plain) > 6 else ""
        return f"({', '.join(f'{entry:.3g}' for entry in plain[:6])}{tail})"
    return printable(plain)


def float_below(number: Fraction) -> float:
    """Return a float whose decimal text is at most a number, and near it.

    Numbers smaller than the checker reads are rounded to 0, or down to the least that it reads.
    """
    rounded = float(number)
    while Fraction(repr(rounded)) > number:
        rounded = math.nextafter(rounded, -math.inf)
    if 0 < abs(rounded) < LEAST_SIZE:
        return -float(LEAST_SIZE) if rounded < 0 else 0.0
    return rounded


def privacy_line(claim: PrivacyClaim) -> str:
    """Return what a report says of a claim."""
    table = claim.notion.to_table()
    head = claim.notion.heading
    if "epsilon" in table:
        epsilon = Fraction(table["epsilon"])
        share = f" ({claim.leakage / float(epsilon):.2%} of it)" if epsilon else ""
        shown = f"{float(epsilon):.9g}" if len(table["epsilon"]) > 12 else fraction_text(epsilon)
        if "delta" in table:
            shown += f", delta = {short_text(Fraction(table['delta']))}"
        return f"{head}, epsilon = {shown}: proved; leaks {claim.leakage:.9g}{share}"
    return f"{head}: proved; the largest excess over its budgets is {claim.leakage:.3g}"
