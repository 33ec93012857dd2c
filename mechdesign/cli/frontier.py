"""The command that draws loss against epsilon, and finds the least epsilon for a loss."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.cli.common import (
    DATA,
    DONE,
    FAILED,
    GAP,
    INTERRUPTED,
    JSON,
    PLOT,
    SPREADSHEET_SAFE,
    TABLE,
    Command,
    check_writable,
    complain,
    keywords,
)
from mechdesign.errors import InfeasibleError, InputError, SolverError, shown

if TYPE_CHECKING:
    from mechdesign.designs.min_epsilon import Reach
    from mechdesign.problem import Problem
    from mechdesign.sweeps.frontier import Frontier

__all__ = ["COMMANDS"]

COLUMNS = ("epsilon", "value", "bound", "gap", "status", "route")
MOST_BUDGETS = 10_000
DIGITS = 12
"""Significant digits of a budget between START and STOP."""


def _jobs(text: str) -> int:
    """Read a number of processes."""
    number = int(text) if re.fullmatch(r"-?[0-9]{1,5}", text, re.ASCII) else 0
    if number < -1 or number == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, or -1, given {text!r}")
    return number


@dataclass(frozen=True)
class _Answer:
    """The result of one problem file; ``failure`` is the reason why nothing reaches the loss.

    ``ended`` names what is missing after Ctrl-C.
    """

    path: str
    curve: Frontier
    reach: Reach | None = None
    failure: str = ""
    ended: str = ""

    def is_good(self) -> bool:
        """Whether some budget has a channel and, if requested, one reaches the loss."""
        return not self.failure and (not self.curve.points or bool(self.curve.solutions))

    def to_json(self, wanted: str | None) -> dict[str, Any]:
        """Return plain data; the reach is null where none is asked for."""
        reach = None if self.reach is None else self.reach.to_json()
        if self.failure:
            reach = {"wanted": float(wanted or 0), "epsilon": None, "reason": self.failure}
        return {"problem": self.path, **self.curve.to_json(), "reach": reach}

    def __str__(self) -> str:
        parts = [f"problem    {self.path}"]
        if self.curve.points:
            parts.append(repr(self.curve))
        if self.reach is not None:
            parts.append(repr(self.reach))
        return "\n".join(parts)


def _frontier(options: argparse.Namespace) -> int:
    _check_options(options)
    budgets = [] if options.epsilon is None else _budgets(options.epsilon, options.logarithmic)
    answers, ended = list[_Answer](), ""
    for path, problem in _problems(options):
        try:
            answers.append(_answered(path, problem, budgets, options))
            ended = answers[-1].ended
        except KeyboardInterrupt:
            if not answers:
                raise
            ended = "interrupted before any budget was designed"
        if ended:
            ended = f"{path}: {ended}"
            break
    if options.csv:
        _write_table(Path(options.csv), answers, options.spreadsheet_safe)
    if options.plot:
        _draw(options, answers)
    if options.json:
        print(json.dumps({"frontiers": [answer.to_json(options.reach) for answer in answers]}))
    else:
        print("\n\n".join(map(str, answers)))
    failed = [answer for answer in answers if not answer.is_good()]
    for answer in failed:
        reason = answer.failure or f"no budget has a channel: {answer.curve.points[-1].reason}"
        complain(f"{answer.path}: {reason}")
    if ended:
        complain(ended)
        return INTERRUPTED
    return FAILED if failed else DONE


def _check_options(options: argparse.Namespace) -> None:
    """Refuse incompatible options before the work."""
    from mechdesign.exact import as_fraction

    if options.spreadsheet_safe and not options.csv:
        raise InputError("--spreadsheet-safe", "--csv", "none", fault="needs --csv")
    if options.epsilon is None and options.reach is None:
        fault = "give --epsilon, --reach or both"
        raise InputError("frontier", "--epsilon or --reach", "neither", fault=fault)
    for needed, others in (
        ("epsilon", ("plot", "csv", "logarithmic", "jobs", "cache")),
        ("reach", ("precision",)),
    ):
        for other in others:
            if getattr(options, needed) is None and getattr(options, other):
                raise InputError(f"--{other}", f"--{needed}", "none", fault=f"needs --{needed}")
    if options.reach is not None:
        as_fraction(options.reach, "--reach")
        if as_fraction(options.precision or "1e-6", "--precision") <= 0:
            raise InputError("--precision", "a number > 0", options.precision)
    check_writable(options.csv, options.plot, *options.problems)
    if options.csv is not None:
        from mechdesign.collection.records import check_table_name

        check_table_name(options.csv)


def _budgets(text: str, logarithmic: bool) -> list[float]:
    """Read budgets: a range or a list."""
    if ":" not in text:
        if logarithmic:
            raise InputError("--logarithmic", "--epsilon START:STOP:COUNT", shown(text))
        return [_budget(part) for part in text.split(",")]
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError("--epsilon", "START:STOP:COUNT, as 0.1:5:25", shown(text))
    start, stop = _budget(parts[0]), _budget(parts[1])
    count = int(parts[2]) if parts[2].isdecimal() and len(parts[2]) < 10 else 0
    if not 2 <= count <= MOST_BUDGETS:
        raise InputError("--epsilon", f"a COUNT from 2 to {MOST_BUDGETS}", shown(parts[2]))
    if stop <= start:
        raise InputError("--epsilon", "START below STOP", shown(text))
    if logarithmic and not start:
        raise InputError("--epsilon", "a START > 0 for a logarithmic scale", shown(text))
    shares = [n / (count - 1) for n in range(1, count - 1)]
    if logarithmic:
        between = [start * (stop / start) ** share for share in shares]
    else:
        between = [start + share * (stop - start) for share in shares]
    return [start, *(float(f"{epsilon:.{DIGITS}g}") for epsilon in between), stop]


def _budget(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise InputError("--epsilon", "numbers >= 0, as 0.1:5:25 or 0.5,1,2", shown(text))
    return number


def _problems(options: argparse.Namespace) -> list[tuple[str, Problem]]:
    """Read the problems, which must have one objective."""
    from mechdesign.files.problems import load_problem_on_labels

    read: list[tuple[str, Problem]] = []
    for path in options.problems:
        try:
            read.append((path, load_problem_on_labels(path)))
        except InfeasibleError as error:
            raise InfeasibleError(f"{path}: {error}") from None
        first, this = (problem.utility.name for problem in (read[0][1], read[-1][1]))
        if this != first:
            expected = f"the objective of {read[0][0]}, {first}"
            raise InputError(f"{path}: utility.objective", expected, this)
    return read


def _answered(
    path: str, problem: Problem, budgets: list[float], options: argparse.Namespace
) -> _Answer:
    """Trace the frontier of a problem, and find the least budget for a loss, as asked."""
    from mechdesign.designs.min_epsilon import min_epsilon
    from mechdesign.sweeps.frontier import Frontier, trace_frontier

    curve, reach, failure, ended = Frontier(problem, ()), None, "", ""
    limits = keywords(options, "gap", "time_limit")
    try:
        if budgets:
            spread = {"n_jobs": options.jobs, "cache": options.cache}
            curve = trace_frontier(problem, budgets, **limits, **spread)
        if curve.ended:
            ended = curve.ended
        elif options.reach is not None:
            precision = options.precision or "1e-6"
            reach = min_epsilon(problem, options.reach, precision=precision, **limits)
    except InputError as error:
        raise error.inside_file(path) from None
    except (InfeasibleError, SolverError) as error:
        failure = str(error)
    except KeyboardInterrupt:
        if not curve.points:
            raise
        ended = "interrupted before a budget was found that reaches the loss"
    return _Answer(path, curve, reach, failure, ended)


def _write_table(path: Path, answers: list[_Answer], safe: bool) -> None:
    """Write a row for each budget; with several problems, a last column names them."""
    from mechdesign.files import write_atomically
    from mechdesign.writing.spreadsheets import spreadsheet_safe

    several, text = len(answers) > 1, io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, "problem"] if several else COLUMNS)
    for answer in answers:
        for point in answer.curve.to_json()["points"]:
            cells = [_cell(point[name]) for name in COLUMNS] + [answer.path] * several
            writer.writerow(map(spreadsheet_safe, cells) if safe else cells)
    write_atomically(path, text.getvalue())


def _cell(value: float | str | None) -> str:
    """Return a cell: a float with all digits, or an empty one if unknown."""
    return "" if value is None else value if isinstance(value, str) else repr(value)


def _draw(options: argparse.Namespace, answers: list[_Answer]) -> None:
    """Draw all frontiers on one picture, named by their notions, or by their files."""
    from mechdesign.plots import plot_frontier, save_plot
    from mechdesign.plots.frontiers import SIZE

    curves = [answer.curve for answer in answers]
    names = [curve.label for curve in curves]
    if len(set(names)) < len(names):
        names = [Path(answer.path).stem for answer in answers]
    draw = partial(
        plot_frontier,
        curves,
        title=curves[0].problem.title if len(curves) == 1 else "",
        labels=names,
        reached=[answer.reach for answer in answers if answer.reach is not None],
        logarithmic=options.logarithmic,
    )
    save_plot(options.plot, lambda ax: draw(ax=ax), SIZE)


COMMANDS = (
    Command(
        "frontier",
        _frontier,
        "the least loss at each of many budgets, or the least budget for a loss",
        f"""\
problems PROBLEM.toml ...
--epsilon BUDGETS     START:STOP:COUNT, as 0.1:5:25, or a list, as 0.5,1,2; in nats
--logarithmic         from START to STOP by factors, not by steps
--reach LOSS          find the least epsilon that reaches it (or a gain)
--precision NATS      of the epsilon that --reach finds; default 1e-6
{PLOT}{TABLE}{SPREADSHEET_SAFE}{GAP}\
--time-limit SECONDS  for all budgets of a problem, and again for --reach; what is found is
                      certified
--jobs N              processes to use; -1 for as many as processors
--cache FOLDER        keep each certificate here as soon as it is there, and take those that are
                      there and hold: what was interrupted goes on where it was
{JSON}{DATA}""",
        "Design the best channel at each of many epsilons, each certified; or, by --reach, find "
        "the least epsilon at which a loss can be had, with proof on both sides. Several problems "
        "with one objective make several lines on one picture.",
        {"jobs": _jobs},
    ),
)
