"""The solution: a channel, its privacy, its value, a bound, and the proof."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, cast

import numpy as np

from mechdesign.channel import Channel
from mechdesign.continuous.domain import End, end_text
from mechdesign.designs.binding import BindingRow, binding_of, label_text
from mechdesign.domain import plain_label
from mechdesign.exact import LEAST_SIZE, fraction_text, short_text
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.documents import FORMAT, OPTIMAL_GAP, VERSION, digest, relative_gap
from mechdesign.kernel.schema import write
from mechdesign.notions import Notion
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.search import RejectedRoute
from mechdesign.solver_guard import called
from mechdesign.text import Matrix, Report

SHORTEST = 0.005
"""The least time of a phase in the report, in seconds."""

EARLY = "ended early"
"""Prefix of the note on the limit that ended the search."""

MOST_BINDING, SHOWN_BINDING = 1000, 5
"""The number of binding rows in the JSON and in the report."""

MOST_RANKED = 200
"""The largest matrix whose rank is computed for a report."""

NEGLIGIBLE = 1e-12
"""Smaller entries of an estimate, relative to its largest, print as 0."""

SHOWN_REPORTS, SHOWN_INPUTS = 8, 6
"""The number of reports, and of inputs of each, in the report."""

ROUNDING = 1e-9
"""Relative error of floating point."""


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
        if "secret" in table and not self.notion.states_generators:  # else it is a parameter
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


@dataclass(frozen=True, repr=False)
class Solution:
    """The best channel found, exactly private, with a rigorous bound on the optimum.

    Attributes
    ----------
    problem
        The problem; a :class:`~mechdesign.ContinuousProblem` for an interval or a box.
    channel
        The exact channel. If there are too many inputs for a matrix, a
        :class:`~mechdesign.mechanisms.lattice_noise.LatticeNoise`, which draws reports
        without one; for an interval or a box, a
        :class:`~mechdesign.continuous.ContinuousChannel`.
    value
        Its exact loss or gain, rounded to the worse side where irrational; for an interval or a
        box an exact upper bound on the loss.
    bound
        A rational lower bound on the loss, or upper bound on the gain, of every private channel.
    privacy
        One claim for each notion of the problem, checked in integers.
    route, why
        How the channel was found, and the reason for this route.
    considered
        Closed forms that do not apply, each with the reason.
    notes
        Further notes for the reader.
    certificate
        The evidence from which the kernel proves the bound; None for an unproved bound.
    readings
        The readings of the outputs, if the objective is their variance; for an interval, the
        estimates for the outputs, if the objective defines any.
    seconds
        Wall-clock time.
    timings
        Seconds by phase: ``compile`` (stating the problem and choosing a route), ``presolve``,
        ``solve``, ``repair`` and ``certify`` (the proof of privacy and of the bound).
    """

    problem: Problem
    channel: Channel
    value: Fraction
    bound: Fraction
    privacy: tuple[PrivacyClaim, ...]
    route: str
    why: str
    considered: tuple[RejectedRoute, ...] = ()
    notes: tuple[str, ...] = ()
    certificate: Certificate | None = field(default=None, repr=False)
    readings: tuple[Fraction, ...] | None = None
    seconds: float = 0.0
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def _maximized(self) -> bool:
        return self.problem.utility.is_maximized

    @property
    def gap(self) -> float:
        """``|value - bound| / max(1e-12, |value|)``."""
        return relative_gap(float(self.value), self.float_bound)

    @property
    def status(self) -> str:
        """``"optimal"`` if the gap is at most 1e-6, else ``"bounded"``."""
        return "optimal" if self.gap <= OPTIMAL_GAP else "bounded"

    @property
    def float_bound(self) -> float:
        """The bound as a float whose decimal text is a valid bound."""
        sign = -1 if self._maximized else 1
        return sign * float_below(sign * self.bound) + 0.0  # avoids -0.0

    @property
    def has_matrix(self) -> bool:
        """Whether the channel is a matrix, rather than noise or one of continuous inputs."""
        return isinstance(self.channel, Channel)

    @property
    def _axes(self) -> tuple[Sequence[End], ...]:
        """The nodes of each axis of an interval or a box; else empty."""
        return getattr(self.channel, "axes", ())

    @property
    def _is_noise(self) -> bool:
        return not (self.has_matrix or self._axes)

    @property
    def cells(self) -> int:
        """The number of cells of an interval or a box; else 0."""
        return math.prod(len(axis) - 1 for axis in self._axes) if self._axes else 0

    @cached_property
    def binding(self) -> tuple[BindingRow, ...]:
        """The binding rows of the notions, in decreasing order of their multipliers.

        These are the rows with a multiplier > 0 in the certificate that hold with equality; or, if
        prices of the inputs prove the bound of a linear loss, those implied by the prices. Empty
        for other proofs, and if prices leave too many entries. At an allowed output that is never
        sent every row is 0 <= 0: such rows are included only if no other row binds, as they are
        then the reason why it is not sent.
        """
        if self.certificate is None or not self.has_matrix:
            return ()
        return binding_of(self.problem, self.certificate, self.channel, self.decoder)

    @cached_property
    def decoder(self) -> tuple[Any, ...] | None:
        """The estimate for each output, for objectives that define one."""
        if self.readings is not None or not self.has_matrix:
            return self.readings
        named = self.certificate.reference if self.certificate else None
        utility = self.problem.utility
        prior = utility.reference(self.problem.prior) if named is None else Prior(named)
        return utility.decoder(self.channel, prior)

    @property
    def bound_proved(self) -> bool:
        """Whether the saved file proves the bound: not for your own objective."""
        return self.certificate is not None

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``mechdesign solve --json`` prints.

        It has the :data:`MOST_BINDING` binding rows with the largest multipliers.
        """
        if self._axes:
            return {**self._answer(), "cells": self.cells}
        binding = [row.to_json() for row in self.binding[:MOST_BINDING]]
        return {**self._answer(), "binding": binding}

    def _answer(self) -> dict[str, Any]:
        """Return the answer without the fields derived from the certificate."""
        answer: dict[str, Any] = {
            "status": self.status,
            "objective": self.problem.utility.name,
            "sense": self.problem.utility.sense,
            "value": float(self.value),
            "bound": self.float_bound,
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
        if self._axes:
            del answer["timings"], answer["considered"]
            axes = [list(map(end_text, axis)) for axis in self._axes]
            answer["rounding"] = {"kind": "linear", "axes": axes}
        return answer

    def dense(self) -> Channel:
        """Return the channel as a matrix; of noise, for up to 2048 inputs; else of the nodes."""
        channel: Any = self.channel
        if self.has_matrix:
            return self.channel
        dense: Channel = channel.nodes if self._axes else channel.dense()
        return dense

    def _channel_table(self) -> dict[str, Any]:
        if self._is_noise:
            noise: Any = self.channel
            domain = noise.inputs.to_table()
            return {"mechanism": noise.name, "domain": domain, "leakage": noise.leakage}
        channel = self.dense().to_table()
        if self._axes:
            places = product(*(range(len(axis)) for axis in self._axes))
            channel["inputs"] = [list(place) if len(place) > 1 else place[0] for place in places]
        if self.decoder is not None:
            channel["decoder"] = [_plain_reading(reading) for reading in self.decoder]
        return channel

    def document(self) -> dict[str, Any]:
        """Return the contents of a channel file: the answer, the problem, the integers, the proof.

        The file of noise has its law in place of a matrix, and its outputs are the inputs.
        """
        document = {
            "format": FORMAT,
            "version": VERSION,
            "title": self.problem.title,
            "source": self.problem.source,
            **self._answer(),
        }
        problem, channel = cast("Any", (self.problem, self.channel))
        document["problem"] = (
            write(problem.stated(self._axes)) if self._axes else self.problem.to_table()
        )
        if self._is_noise:
            document["law"] = channel.to_table()["law"]
            del document["channel"], document["problem"]["outputs"]
        else:
            document["channel"] |= self.dense().integers()
        if self.problem.utility.states_decoder and self.decoder is not None:
            tops, bottom = over_one_denominator(self.decoder)
            document["channel"]["readings"] = {
                "numerators": list(map(str, tops)),
                "denominator": str(bottom),
            }
        document["certificate"] = None if self.certificate is None else write(self.certificate)
        document["digest"] = digest(document)
        return document

    def __repr__(self) -> str:
        return self._report().text()

    def _repr_html_(self) -> str:
        return self._report().html()

    def to_latex(self) -> str:
        """Return the report as LaTeX."""
        return self._report().latex()

    def _report(self) -> Report:
        channel = self.channel
        if not self.has_matrix:
            return Report(self._lines(), tail=repr(channel))
        return Report(self._lines(), Matrix(channel.matrix, channel.inputs.labels, channel.outputs))

    def _lines(self) -> list[tuple[str, str]]:
        problem = self.problem
        lines = [("problem", problem.title), ("source", problem.source)]
        lines = [(head, text) for head, text in lines if text]
        lines.append(("inputs", inside(problem.domain)))
        prior = inside(problem.prior) if problem.prior_given else "none given: taken as uniform"
        lines.append(("prior", prior))
        lines += [("privacy", str(claim)) for claim in self.privacy]
        what = "gain" if self._maximized else "loss"
        worst = f", worst case over the {problem.utility.worst_over}"
        name = problem.utility.heading + (worst if problem.utility.worst_case else "")
        lines += [(what, f"{name} = {float(self.value):.9g}")]
        lines += [("subject to", text) for text in problem.quoted]
        lines += [("bound", self._verdict(what)), ("route", self.route), *self._details()]
        for n, note in enumerate(self.notes):
            lines.append(("" if n else "notes", f"{note[:1].upper()}{note[1:]}."))
        return [*lines, ("seconds", self._spent())]

    def _verdict(self, what: str) -> str:
        """Return the largest possible distance from the optimum as text."""
        noun = "kernel" if self._axes else "channel"
        which = f"no private {noun}{' that keeps this' * bool(self.problem.quoted)}"
        side = "above" if self._maximized else "below"
        verdict = "optimal" if self.status == "optimal" else "not proved optimal"
        share = f"{self.gap:.1e}" if self.gap < 1e-4 else f"{100 * self.gap:.2g}%"
        proved = "" if self.bound_proved else "; computed in floating point, not proved"
        bound = f"{which} has a {what} {side} {self.float_bound:.9g}"
        return f"{verdict}: {bound} (gap {share}{proved})"

    def _details(self) -> list[tuple[str, str]]:
        """Return the lines after the route."""
        if self._axes:
            return [("cells", f"{self.cells}, with linear rounding to their ends")]
        lines = [("", f"because {self.why}")]
        lines += [("rejected", f"{c.name}: {c.reason}") for c in self.considered]
        return [*lines, *self._binding_lines(), *self._report_lines(), *self._frequency_lines()]

    def _frequency_lines(self) -> list[tuple[str, str]]:
        """Return a warning if frequencies cannot be estimated, which a label loss ignores."""
        if not (self.has_matrix and self.problem.utility.is_of_outputs):
            return []
        matrix = self.channel.matrix
        k = len(matrix)
        rank = min(matrix.shape)
        if k <= MOST_RANKED:
            rank = int(called("LAPACK", np.linalg.matrix_rank, matrix))
        if rank == k:
            return []
        text = f"frequencies of all {k} inputs do not follow from reports (rank {rank}): see L2Risk"
        return [("estimates", text)]

    def _binding_lines(self) -> list[tuple[str, str]]:
        rows, several = self.binding, len(self.problem.privacy) > 1
        texts = [f"{row.notion}: {row}" if several else str(row) for row in rows[:SHOWN_BINDING]]
        if len(rows) > len(texts):
            texts.append(f"and {len(rows) - len(texts)} more rows")
        return [("" if n else "binding", text) for n, text in enumerate(texts)]

    def _report_lines(self) -> list[tuple[str, str]]:
        """Return the estimate for each report, and the inputs that it makes likelier."""
        outputs, stands = self.channel.outputs, self._stands_for()
        decoder = self.decoder or (None,) * (len(outputs) if stands else 0)
        texts = []
        for y, reading in enumerate(decoder[:SHOWN_REPORTS]):
            text = " ".join([f"report {label_text(outputs[y])}", *stands[y : y + 1]])
            texts.append(text if reading is None else f"{text}: {_shown(reading)}")
        if len(decoder) > len(texts):
            texts.append(f"and {len(decoder) - len(texts)} more reports")
        head = "reports" if self.decoder is None else "estimates"
        return [("" if n else head, text) for n, text in enumerate(texts)]

    def _stands_for(self) -> list[str]:
        """Return the inputs that each report makes likelier, if the optimizer chose the outputs."""
        if self.problem.outputs is not None:
            return []
        labels, matrix = self.channel.inputs.labels, self.channel.matrix
        mean = self.problem.prior.array @ matrix
        texts = []
        for column, least in zip(matrix.T, mean * (1 + ROUNDING), strict=True):
            favored = [label_text(labels[x]) for x in np.flatnonzero(column > least)]
            more = ", ..." if len(favored) > SHOWN_INPUTS else ""
            texts.append(f"stands for {', '.join(favored[:SHOWN_INPUTS]) or 'no input'}{more}")
        return texts

    def _spent(self) -> str:
        """Return the elapsed time."""
        long = {name: spent for name, spent in self.timings.items() if spent >= SHORTEST}
        phases = ", ".join(f"{name} {spent:.2f}" for name, spent in long.items())
        return f"{self.seconds:.2f}" + (f" ({phases})" if phases else "")


def _plain_reading(reading: Any) -> Any:
    """Return the estimate for an output in a form for JSON: numbers, labels, lists."""
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
        tail = ", ..." if len(plain) > SHOWN_INPUTS else ""
        least = NEGLIGIBLE * max(map(abs, plain))
        entries = (entry if abs(entry) > least else 0 for entry in plain[:SHOWN_INPUTS])
        return f"({', '.join(f'{entry:.3g}' for entry in entries)}{tail})"
    return label_text(reading)


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
