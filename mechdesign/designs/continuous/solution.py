"""The answer to a continuous problem: a kernel on the interval, its loss, and a bound on all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self

from mechdesign.continuous.channel import ContinuousChannel
from mechdesign.continuous.domain import end_text
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.report import Answer, PrivacyClaim
from mechdesign.designs.solution import EARLY, Solution
from mechdesign.domain import plain_label
from mechdesign.exact import as_fraction
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.documents import FORMAT, VERSION, digest
from mechdesign.kernel.rounding.nodes import Rounded, RoundedProblem
from mechdesign.kernel.rounding.value import kernel_decoder, kernel_value, slope
from mechdesign.kernel.schema import write
from mechdesign.text import Report

__all__ = ["ContinuousSolution", "Found"]


@dataclass(frozen=True)
class Found:
    """A kernel as the kernel of proofs reads it.

    Attributes
    ----------
    rounded
        The problem on its nodes.
    channel
        The kernel, to draw from.
    points
        What its outputs are, for a loss of them.
    readings
        The unbiased readings of its outputs.
    """

    rounded: Rounded
    channel: ContinuousChannel
    points: list[tuple[Fraction, ...]]
    readings: tuple[Fraction, ...] | None

    @property
    def columns(self) -> list[list[int]]:
        """The integers of the channel of the nodes."""
        return self.channel.nodes.columns()

    def value(self) -> Fraction:
        """Return its loss, or a little more."""
        bits = self.channel.nodes.bits
        return kernel_value(self.rounded, self.columns, bits, self.points, self.readings)

    def decoder(self) -> tuple[Fraction, ...] | None:
        """Return what is read from each output."""
        bits = self.channel.nodes.bits
        found = kernel_decoder(self.rounded, self.columns, bits, self.readings)
        return None if found is None else tuple(found)


@dataclass(frozen=True, repr=False)
class ContinuousSolution(Answer):
    """The best kernel found on an interval or a box, exactly private, with a bound on all.

    Attributes
    ----------
    problem
        What was asked.
    stated
        The same as files state it.
    channel
        The kernel.
    value
        Its loss on the interval, an exact rational that is at least it.
    bound
        A rational that the loss of no private kernel on the interval is below.
    privacy
        One claim for each notion of the problem, checked in integers.
    decoder
        What is read from each output, where the loss is that of the best estimate or of readings.
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
    stated: RoundedProblem = field(repr=False)
    channel: ContinuousChannel
    value: Fraction
    bound: Fraction
    privacy: tuple[PrivacyClaim, ...]
    decoder: tuple[Fraction, ...] | None
    certificate: Certificate | None = field(repr=False)
    route: str
    ended: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @classmethod
    def of(
        cls,
        problem: ContinuousProblem,
        stated: RoundedProblem,
        found: Found,
        lower: tuple[Solution, Fraction],
        upper: Solution,
    ) -> Self:
        """Return the solution that two finite designs give.

        Parameters
        ----------
        problem, stated
            What was asked, and the same as files state it.
        found
            The kernel.
        lower
            The design whose bound less a number bounds all kernels, and the number.
        upper
            The design that gave the channel of the nodes.
        """
        low, shift = lower
        pairs = zip(problem.privacy, upper.privacy, strict=True)
        privacy = [
            PrivacyClaim(notion, _upward(slope(found.rounded, found.columns)))
            if notion.on_interval == "distance"
            else replace(claim, notion=notion)
            for notion, claim in pairs
        ]
        return cls(
            problem=problem,
            stated=stated,
            channel=found.channel,
            value=found.value(),
            bound=max(low.bound - shift, Fraction(0)),
            privacy=tuple(privacy),
            decoder=found.decoder(),
            certificate=low.certificate,
            route=low.route,
            ended=next((note for note in low.notes if note.startswith(EARLY)), ""),
        )

    def finished(self, seconds: float, notes: list[str]) -> Self:
        """Return the solution with what is known in the end."""
        return replace(self, seconds=seconds, notes=tuple(notes))

    @property
    def cells(self) -> int:
        """How many cells the interval or the box was divided into."""
        return math.prod(len(axis) - 1 for axis in self.channel.axes)

    @property
    def bound_proved(self) -> bool:
        """Always: the file carries the proof."""
        return True

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``mechdesign solve --json`` prints."""
        return {**self._answer(), "cells": self.cells, "rounding": self._rounding()}

    def _answer(self) -> dict[str, Any]:
        nodes, (width, *_) = self.channel.nodes, map(len, reversed(self.channel.axes))
        inputs: list[Any] = list(range(len(nodes.inputs)))
        if len(self.channel.axes) > 1:
            inputs = [list(divmod(place, width)) for place in inputs]
        channel: dict[str, Any] = {
            "inputs": inputs,
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
            "bound": self._float_bound(),
            "gap": self.gap,
            "bound_proved": True,
            "route": self.route,
            "why": "",
            "privacy": [claim.to_json() for claim in self.privacy],
            "channel": channel,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }

    def _rounding(self) -> dict[str, Any]:
        axes = [list(map(end_text, axis)) for axis in self.channel.axes]
        return {"kind": self.channel.kind, "axes": axes}

    def document(self) -> dict[str, Any]:
        """Return what a file holds: the answer, the problem, the integers, the proof.

        The integers are text, since many readers of JSON keep 53 bits only.
        """
        problem, nodes = self.problem, self.channel.nodes
        head = {"format": FORMAT, "version": VERSION}
        document = {**head, "title": problem.title, "source": problem.source, **self._answer()}
        if problem.utility.states_decoder and self.decoder is not None:
            tops, bottom = over_one_denominator(self.decoder)
            document["channel"]["readings"] = {
                "numerators": list(map(str, tops)),
                "denominator": str(bottom),
            }
        document["channel"]["bits"] = nodes.bits
        document["channel"]["numerators"] = [
            list(map(str, row)) for row in nodes.numerators.tolist()
        ]
        document["rounding"] = self._rounding()
        document["problem"] = write(self.stated)
        document["certificate"] = write(self.certificate)
        document["digest"] = digest(document)
        return document

    noun = "kernel"

    def _report(self) -> Report:
        return Report(self._lines(), tail=repr(self.channel))

    def _details(self) -> list[tuple[str, str]]:
        return [("cells", f"{self.cells}, with linear rounding to their ends")]


def _upward(number: Fraction) -> float:
    """Return a float whose decimal is at least a number."""
    found = float(number)
    while as_fraction(found) < number:
        found = math.nextafter(found, math.inf)
    return found
