"""The command that traces loss against epsilon, and finds the least epsilon for a loss."""

from __future__ import annotations

import argparse
import json
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
    check_needed,
    check_writable,
    complain,
    keywords,
)
from mechdesign.errors import InfeasibleError, InputError, SolverError, shown
from mechdesign.exact import as_fraction

if TYPE_CHECKING:
    from mechdesign.designs.min_epsilon import Reach
    from mechdesign.problem import Problem
    from mechdesign.sweeps.frontier import Frontier

COLUMNS = ("epsilon", "value", "bound", "gap", "status", "route")
MOST_BUDGETS = 10_000
DIGITS = 12
"""Significant digits of a budget between START and STOP."""

NEEDED = [
    *((name, "epsilon") for name in ("plot", "csv", "logarithmic", "jobs", "cache")),
    ("precision", "reach"),
    ("spreadsheet_safe", "csv"),
]
"""Options, each with the option that it requires."""


@dataclass
class _Answer:
    """The result for one problem file.

    ``failure`` is the reason why no budget reaches the loss, ``ended`` a note on what is missing
    after Ctrl-C.
    """

    path: str
    curve: Frontier
    reach: Reach | None = None
    failure: str = ""
    ended: str = ""

    def to_json(self, wanted: str | None) -> dict[str, Any]:
        """Return plain data for JSON; the reach is null if it was not requested."""
        reach = None if self.reach is None else self.reach.to_json()
        if self.failure:
            reach = {"wanted": float(wanted or 0), "epsilon": None, "reason": self.failure}
        return {"problem": self.path, **self.curve.to_json(), "reach": reach}

    def __str__(self) -> str:
        curve = repr(self.curve) if self.curve.points else ""
        reach = "" if self.reach is None else repr(self.reach)
        return "\n".join(filter(None, [f"problem    {self.path}", curve, reach]))


def _frontier(options: argparse.Namespace) -> int:
    _check_options(options)
    budgets = [] if options.epsilon is None else _budgets(options.epsilon, options.logarithmic)
    answers = list[_Answer]()
    for path, problem in _problems(options.problems):
        answers.append(_answered(path, problem, budgets, options))
        if answers[-1].ended:
            break
    ended = answers[-1].ended
    if ended and not answers[-1].curve.points:
        answers.pop()  # nothing was found
        if not answers:
            raise KeyboardInterrupt
    if options.csv:
        _write_table(answers, options)
    if options.plot:
        _draw(answers, options)
    if options.json:
        print(json.dumps({"frontiers": [answer.to_json(options.reach) for answer in answers]}))
    else:
        print("\n\n".join(map(str, answers)))
    status = DONE
    for answer in answers:
        points = answer.curve.points
        if answer.failure or (points and not answer.curve.solutions):
            reason = answer.failure or f"no budget has a channel: {points[-1].reason}"
            complain(f"{answer.path}: {reason}")
            status = FAILED
    if ended:
        complain(f"{path}: {ended}")
        return INTERRUPTED
    return status


def _check_options(options: argparse.Namespace) -> None:
    """Raise InputError for incompatible options."""
    from mechdesign.collection.records import check_table_name

    if options.epsilon is None and options.reach is None:
        fault = "give --epsilon, --reach or both"
        raise InputError("frontier", "--epsilon or --reach", "neither", fault=fault)
    check_needed(options, NEEDED)
    if options.reach is not None:
        as_fraction(options.reach, "--reach")
        if as_fraction(options.precision or "1e-6", "--precision") <= 0:
            raise InputError("--precision", "a number > 0", options.precision)
    check_writable(options.csv, options.plot, *options.problems)
    if options.csv is not None:
        check_table_name(options.csv)


def _budgets(text: str, logarithmic: bool) -> list[float]:
    """Parse budgets: a range or a list."""
    import numpy as np  # on demand

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
    between = (np.geomspace if logarithmic else np.linspace)(start, stop, count)[1:-1]
    return [start, *(float(f"{epsilon:.{DIGITS}g}") for epsilon in between), stop]


def _budget(text: str) -> float:
    expected = "numbers >= 0, as 0.1:5:25 or 0.5,1,2"
    return float(as_fraction(text, "--epsilon", expected=expected, least=0))


def _problems(paths: list[str]) -> list[tuple[str, Problem]]:
    """Load the problems, which must have the same objective."""
    from mechdesign.files.problems import load_problem_on_labels

    read: list[tuple[str, Problem]] = []
    for path in paths:
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
    """Trace the frontier of a problem and find the least budget for a loss, as requested."""
    from mechdesign.designs.min_epsilon import min_epsilon
    from mechdesign.sweeps.frontier import Frontier, design_frontier

    answer = _Answer(path, Frontier(problem, ()))
    limits = keywords(options, "gap", "time_limit")
    try:
        if budgets:
            spread = {"n_jobs": options.jobs, "cache": options.cache, "errors": "return"}
            answer.curve = design_frontier(problem, budgets, **limits, **spread)
            answer.ended = answer.curve.ended
        if options.reach is not None and not answer.ended:
            precision = options.precision or "1e-6"
            answer.reach = min_epsilon(problem, options.reach, precision=precision, **limits)
    except InputError as error:
        raise error.inside_file(path) from None
    except (InfeasibleError, SolverError) as error:
        answer.failure = str(error)
    except KeyboardInterrupt:
        found = answer.curve.points
        missing = "a budget was found that reaches the loss" if found else "any budget was designed"
        answer.ended = f"interrupted before {missing}"
    return answer


def _write_table(answers: list[_Answer], options: argparse.Namespace) -> None:
    """Write one row per budget; for several problems the last column is the problem."""
    from mechdesign.collection.records.csv_files import save_table

    rows = [
        {**point, "problem": answer.path}
        for answer in answers
        for point in answer.curve.to_json()["points"]
    ]
    names = [*COLUMNS, "problem"] if len(answers) > 1 else COLUMNS
    # floats with all digits, None if unknown
    cells = [{n: repr(v) if isinstance(v, float) else v for n, v in row.items()} for row in rows]
    columns = {name: [row[name] for row in cells] for name in names}
    save_table(options.csv, columns, spreadsheet_safe=options.spreadsheet_safe)


def _draw(answers: list[_Answer], options: argparse.Namespace) -> None:
    """Plot all frontiers, labeled by their notions or by their files."""
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
--cache FOLDER        keep each certificate here, so that an interrupted run resumes
{JSON}{DATA}""",
        "Design the best channel at each of many epsilons, or find the least epsilon that reaches "
        "a loss, with proof. Problems with one objective make several lines on one picture.",
    ),
)
