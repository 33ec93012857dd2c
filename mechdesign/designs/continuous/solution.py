"""The solution of a continuous problem: a kernel, its loss, and a bound on all private kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from mechdesign.channel import Channel
from mechdesign.continuous.channel import ContinuousChannel
from mechdesign.continuous.domain import end_text
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.binding import BindingRow
from mechdesign.designs.solution import Solution
from mechdesign.kernel.rounding.nodes import RoundedProblem
from mechdesign.kernel.schema import write
from mechdesign.text import Report

__all__ = ["ContinuousSolution"]


@dataclass(frozen=True, repr=False, kw_only=True)
class ContinuousSolution(Solution):
    """The best kernel found on an interval or a box, exactly private, with a bound on all kernels.

    Attributes
    ----------
    channel
        The kernel.
    value
        An exact rational upper bound on its loss.
    bound
        A rational lower bound on the loss of every private kernel.
    route
        The route of the finite program.
    readings
        The estimate for each output, if the loss is that of the best estimate or of readings.
    stated
        The problem as files state it.
    """

    problem: ContinuousProblem  # type: ignore[assignment]
    channel: ContinuousChannel  # type: ignore[assignment]
    stated: RoundedProblem = field(repr=False)

    noun = "kernel"

    @property
    def binding(self) -> tuple[BindingRow, ...]:
        """None: rows of the finite program are about nodes."""
        return ()

    @property
    def decoder(self) -> tuple[Any, ...] | None:
        """The estimate for each output, of objectives that come with one."""
        return self.readings

    @property
    def cells(self) -> int:
        """The number of cells of the interval or the box."""
        return math.prod(len(axis) - 1 for axis in self.channel.axes)

    def dense(self) -> Channel:
        """Return the channel of the nodes."""
        return self.channel.nodes

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``mechdesign solve --json`` prints."""
        return {**self._answer(), "cells": self.cells}

    def _answer(self) -> dict[str, Any]:
        answer, axes = super()._answer(), self.channel.axes
        places = list(product(*(range(len(axis)) for axis in axes)))
        answer["channel"]["inputs"] = [x[0] if len(axes) == 1 else list(x) for x in places]
        kind, ends = self.channel.kind, [list(map(end_text, axis)) for axis in axes]
        del answer["timings"], answer["considered"]
        return {**answer, "rounding": {"kind": kind, "axes": ends}}

    def _problem_table(self) -> dict[str, Any]:
        table: dict[str, Any] = write(self.stated)
        return table

    def _report(self) -> Report:
        return Report(self._lines(), tail=repr(self.channel))

    def _terms(self) -> list[tuple[str, str]]:
        return []

    def _details(self) -> list[tuple[str, str]]:
        return [("cells", f"{self.cells}, with linear rounding to their ends")]
