"""The page of problems by solvers: a row for each problem, a column for each solver, a summary."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.speed_tables import in_seconds, table

Record = dict[str, Any]

OURS = "ours"
GAP = 1e-6
"""Tolerance for equal values."""

TINY = 1e-9
"""Values below this are compared absolutely."""

NOISE = 1e-15
"""A smaller relative difference counts as none."""

BUSY = 1.3
"""The load above which other programs are mentioned: ours is one process at a time."""

INTRODUCTION = """\
---
description: Values, gaps and times of every solver on every problem, and the privacy of its answers
hide:
  - navigation
  - toc
---

# Problems by solvers

Written by `python -m benchmarks.problems_by_solvers`; all figures are in
`benchmarks/problems_by_solvers.json`.

Every problem of the library that stands alone, by our default route (`ours`, with its proof) and by
others: a paper's inequalities typed into cvxpy with loops (`textbook`, solved by Clarabel), the
same as matrices (`vectorised`, by four solvers), the linear programme written out for SciPy
(`direct-lp`), libqif, and brute force over extreme rays (`vertices`). Solvers are asked for more
digits than they give by default, 1e-10 where they can (`solvers/textbook.py`). Every pair runs in
a process of its own.

A cell holds

- the **value** that the solver reports, relative to our certified optimum and minus 1; in the
  column of ours, relative to the optimum in the problem's file, computed without the library;
- the **privacy of the matrix as the solver leaves it**, before any repair: `private` if every bound
  holds, the floats taken as the rationals that they are; else the largest log-ratio above its
  bound, in nats; `∞` where an output is possible for one input and not for another that should
  hide it. A large excess is one of an output of tiny probability, which tolerances leave behind;
- **seconds**, the median of {runs}, stating the problem included.

Empty: not for such problems. Our library returns the matrix after the repair, which is proved
private; the summary has the cost of the repair, for any solver's matrix."""

SUMMARY_NOTES = """\
`right`: within 1e-6 of our certified optimum and of the value in the file. `over by at most`: the
largest finite excess. `repair costs at most`: how much worse than the optimum, relatively, the
value is after our repair of the solver's matrix; {private} of {repaired} repaired matrices are
private, exactly. `seconds`, `CPU`: relative to ours with its proof, the median over problems that
both solved. `building`: the median share of stating the problem. `memory`: the largest peak above
that of the loaded packages."""

HEAD = (
    "solver",
    "taken",
    "solved",
    "right",
    "private before repair",
    "∞",
    "over by at most",
    "repair costs at most",
    "seconds",
    "CPU",
    "building",
    "memory, MB",
)


def page(document: Record) -> str:
    """Return the page of a document of :mod:`benchmarks.problems_by_solvers`."""
    found, problems = document["results"], document["problems"]
    solvers = list(dict.fromkeys(result["solver"] for result in found))
    solvers.sort(key=lambda name: name != OURS)
    runs = max((result["runs"] for result in found), default=1)
    private = [result["privacy"]["is_private"] for result in found if "privacy" in result]
    by_pair = {(result["problem"], result["solver"]): result for result in found}
    rows = [
        [
            f"`{name}`",
            str(problems[name]["inputs"]),
            *(_cell(by_pair.get((name, solver)), problems[name], by_pair) for solver in solvers),
        ]
        for name in sorted({result["problem"] for result in found})
    ]
    blocks = [
        INTRODUCTION.format(runs=f"up to {runs} runs" if runs > 1 else "one run"),
        _machine(document),
        "## Summary",
        table(HEAD, [_summary(solver, problems, by_pair) for solver in solvers]),
        SUMMARY_NOTES.format(private=sum(private), repaired=len(private)),
        "## Every problem",
        table(("problem", "inputs", *(name.replace(":", ":<br>") for name in solvers)), rows),
    ]
    failures = _failures(found)
    if failures:
        blocks += ["## Not solved", failures]
    return "\n\n".join(blocks) + "\n"


def _machine(document: Record) -> str:
    """Return the properties of the machine, and whether anything else was running."""
    packages = ", ".join(f"{name} {version}" for name, version in document["packages"].items())
    absent = [name for name, version in document["packages"].items() if version is None]
    said = (
        f"{document['cpus']} CPUs ({document['processor']}), {document['platform']}, Python "
        f"{document['python']}; {packages}; runs much over {document['limit']:g} s are ended."
    )
    loads = [r["load"] for r in document["results"] if r.get("load") is not None]
    if loads and statistics.median(loads) > BUSY:
        said += (
            f" The times are those of a shared machine: other programs ran beside (a load of "
            f"{statistics.median(loads):.1f} in the median), so that ratios are worth more than "
            "seconds, and those of CPU time most."
        )
    if absent:
        said += f" Not installed, and left out: {', '.join(absent)}."
    return said


def references(name: str, problem: Record, by_pair: dict[tuple[str, str], Record]) -> list[float]:
    """Return the reference optima: our certified one, and that in the file."""
    ours, expected = by_pair.get((name, OURS), {}), problem["expected"]
    certified = ours.get("certified") and ours["gap"] <= GAP
    return [
        *([ours["value"]] if certified else []),
        *([expected] if expected is not None else []),
    ]


def is_right(value: float, optima: Iterable[float]) -> bool:
    """Return whether a value is within 1e-6 of all optima."""
    return all(abs(value - optimum) <= max(GAP * abs(optimum), TINY) for optimum in optima)


def _off(value: float, optimum: float) -> float:
    return (value - optimum) / max(TINY, abs(optimum))


def _cell(result: Record | None, problem: Record, by_pair: dict[tuple[str, str], Record]) -> str:
    """Return the difference of the value, the privacy of the raw matrix, and the seconds."""
    if result is None or result["status"] == "unsuitable":
        return ""
    if result["status"] == "out of time":
        return str(result["reason"]).replace("more than", ">")
    if result["status"] != "solved":
        return str(result["status"])
    optima = references(result["problem"], problem, by_pair)
    optimum = optima[-1] if result["solver"] == OURS else optima[0]
    parts = [_small(_off(result["value"], optimum), "+") if optima else "?"]
    parts.append(_privacy(result.get("raw_privacy")))
    parts.append(f"{in_seconds(result['median']['seconds'])} s")
    return "<br>".join(parts)


def _small(value: float, sign: str = "") -> str:
    return "0" if abs(value) < NOISE else f"{value:{sign}.0e}"


def _privacy(raw: Record | None) -> str:
    if raw is None:
        return "?"
    if raw["is_private"]:
        return "private"
    excess = math.nan if raw["excess"] is None else float(raw["excess"])
    if math.isinf(excess):
        return "∞"
    return f"{excess:.0e}" if excess > 0 else "not private"


def _summary(
    solver: str, problems: dict[str, Record], by_pair: dict[tuple[str, str], Record]
) -> Sequence[str]:
    """Return the cells of one solver."""
    mine = [result for (_, name), result in by_pair.items() if name == solver]
    taken = [result for result in mine if result["status"] != "unsuitable"]
    solved = [result for result in taken if result["status"] == "solved"]
    optima = {r["problem"]: references(r["problem"], problems[r["problem"]], by_pair) for r in mine}
    right = [
        r for r in solved if optima[r["problem"]] and is_right(r["value"], optima[r["problem"]])
    ]
    judged = [result["raw_privacy"] for result in solved if "raw_privacy" in result]
    excesses = [
        float(raw["excess"])
        for raw in judged
        if raw["excess"] is not None
        and not raw["is_private"]
        and math.isfinite(float(raw["excess"]))
    ]
    costs = [
        _off(r["repaired_value"], optima[r["problem"]][0]) * (-1 if r["sense"] == "maximize" else 1)
        for r in solved
        if "repaired_value" in r and optima[r["problem"]]
    ]
    return [
        solver,
        str(len(taken)),
        str(len(solved)),
        str(len(right)),
        f"{sum(raw['is_private'] for raw in judged)} of {len(judged)}",
        str(sum(raw["excess"] == "inf" for raw in judged)),
        f"{max(excesses):.0e}" if excesses and max(excesses) > 0 else "",
        _small(max(0.0, *costs)) if costs else "",
        _ratio(solved, by_pair, "seconds"),
        _ratio(solved, by_pair, "cpu"),
        _building(solved),
        f"{max(r['peak_mb'] - r['base_mb'] for r in solved):.0f}" if solved else "",
    ]


def _ratio(solved: Iterable[Record], by_pair: dict[tuple[str, str], Record], key: str) -> str:
    """Return the median of seconds relative to ours."""
    ratios = []
    for result in solved:
        ours = by_pair.get((result["problem"], OURS), {})
        if ours.get("status") == "solved":
            ratios.append(result["median"][key] / ours["median"][key])
    return f"{statistics.median(ratios):.2g} ×" if ratios else ""


def _building(solved: Iterable[Record]) -> str:
    """Return the median share of the time that goes into stating the problem."""
    shares = [
        r["median"]["build"] / r["median"]["seconds"] for r in solved if "build" in r["median"]
    ]
    return f"{statistics.median(shares):.0%}" if shares else ""


def _failures(found: Iterable[Record]) -> str:
    """Return a line for each pair that ended without an answer."""
    lines = [
        f"- `{r['problem']}`, {r['solver']}: {r['status']}, {r.get('reason', '')}"
        for r in found
        if r["status"] not in ("solved", "unsuitable")
    ]
    return "\n".join(lines)
