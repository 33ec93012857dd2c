"""The commands that design a channel, check it and export it."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.cli.common import (
    DATA,
    DONE,
    FAILED,
    GAP,
    JSON,
    PLOT,
    WRONG_INPUT,
    Command,
    check_writable,
    complain,
    errors_in,
    keywords,
)
from mechdesign.errors import (
    CertificateError,
    InfeasibleError,
    InputError,
    SolverError,
    choose,
)

if TYPE_CHECKING:
    from mechdesign.continuous import ContinuousProblem
    from mechdesign.designs.solution import Solution
    from mechdesign.problem import Problem

LONGEST = 100
"""Maximum number of characters of a statement that `verify` prints in full."""


def _solve(options: argparse.Namespace) -> None:
    from mechdesign.files import load_problem, save

    check_writable(options.output, options.plot, options.problem)
    try:
        problem = load_problem(options.problem)  # its errors name the file
        solution = _designed(problem, options)
    except InfeasibleError as error:
        if options.json:
            print(json.dumps({"status": "infeasible", "reason": str(error)}))
        raise InfeasibleError(f"{options.problem}: {error}") from None
    if options.output:
        save(solution, options.output)
    if options.plot:
        _plot(solution, options.plot)
    print(json.dumps(solution.to_json()) if options.json else solution)


def _plot(solution: Solution, path: str) -> None:
    """Plot the channel or the kernel."""
    from mechdesign.plots import plot_channel, plot_kernel, save_plot, save_reports_plot

    title = solution.problem.title
    channel: Any = solution.channel
    sides = getattr(channel, "sides", ())  # of an interval or a box
    if len(sides) > 1:
        save_reports_plot(channel, path, title)
    else:
        draw: Any = plot_kernel if sides else plot_channel
        save_plot(path, lambda ax: draw(channel, ax, title))


def _designed(problem: Problem | ContinuousProblem, options: argparse.Namespace) -> Solution:
    """Design the optimal channel; errors about the problem name its file."""
    from mechdesign.designs.design import design
    from mechdesign.designs.progress import GapBar
    from mechdesign.kernel.documents import OPTIMAL_GAP

    with errors_in(options.problem, "route"), GapBar(options.gap or OPTIMAL_GAP) as bar:
        limits = keywords(options, "route", "gap", "time_limit", "memory_limit")
        return design(problem, progress=bar, **limits)


def _verify(options: argparse.Namespace) -> None:
    from mechdesign.files.reading import read_verified  # the kernel alone, which starts at once

    try:
        document, verified = read_verified(options.channel)
    except CertificateError as error:
        if options.json:
            reason = str(error).removeprefix(f"{options.channel}: refused: ")
            print(json.dumps({"verified": False, "reason": reason}))
        raise
    if options.json:
        print(json.dumps({"verified": True, "claims": list(verified.claims)}))
    else:
        print(verified)
        for key, value in _stated(document).items():
            text = json.dumps(value, ensure_ascii=False)
            short = text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"
            print(f"stated    {key:<8} {short}")


def _stated(document: dict[str, Any]) -> dict[str, Any]:
    """Return the problem proved in a file; its prior may be a continuous law."""
    problem = document.get("problem")
    if problem is None:  # a structured mechanism, given by its integers and possibly a prior
        law, design = document.get("law", {}), document.get("design", {})
        problem = {**law, **document, **design}
    keys = ("domain", "prior", "privacy", "utility")
    return {key: problem[key] for key in keys if problem.get(key) is not None}


def _check(options: argparse.Namespace) -> int:
    from mechdesign.designs.progress import tqdm_bar
    from mechdesign.writing.text import visible

    results = []
    bar = tqdm_bar(None, options.problems, unit="problem")
    for path in bar:
        bar.set_postfix_str(visible(Path(path).name))
        results.append(_check_one(path))
    if options.json:
        print(json.dumps(results))
    else:
        width = max(len(result["problem"]) for result in results)
        for result in results:
            print(f"{result['verdict']:<7} {result['problem']:<{width}}  {result['detail']}")
    for result in results:
        if result["verdict"] == "wrong":
            complain(result["detail"])
    verdicts = {result["verdict"] for result in results}
    return WRONG_INPUT if "wrong" in verdicts else FAILED if "failed" in verdicts else DONE


def _check_one(path: str) -> dict[str, Any]:
    """Solve one problem and compare it with its expectation."""
    from mechdesign.designs.design import design
    from mechdesign.files import load_problem

    try:
        problem = load_problem(path)
        solution = design(problem)
    except InputError as error:
        return {"problem": path, "verdict": "wrong", "detail": str(error)}
    except (InfeasibleError, SolverError, CertificateError) as error:
        return {"problem": path, "verdict": "failed", "detail": str(error)}
    value, expected = float(solution.value), problem.expected
    found = f"{value:.9g} ({solution.status}, gap {solution.gap:.1e}; {solution.route})"
    result = {"problem": path, "value": value, "status": solution.status, "gap": solution.gap}
    if expected is None:
        verdict = "ok" if solution.status == "optimal" else "failed"
        return {**result, "verdict": verdict, "detail": f"{found}, nothing expected"}
    close = math.isclose(value, expected.value, rel_tol=expected.rtol, abs_tol=1e-12)
    detail = f"{found}, expected {expected.value:.9g} within {expected.rtol:g}"
    return {**result, "verdict": "ok" if close else "failed", "detail": detail}


def _example(options: argparse.Namespace) -> None:
    from mechdesign.files.templates import CONTINUOUS, template
    from mechdesign.notions import NOTIONS

    notion = choose({**NOTIONS, "continuous": None}, options.notion, "NOTION")
    print(CONTINUOUS if notion is None else template(notion), end="")


def _export(options: argparse.Namespace) -> None:
    path, target = options.channel, options.listing
    if options.client is not None:
        from mechdesign.client import LANGUAGES, export_client
        from mechdesign.files import load_mechanism

        languages = LANGUAGES if options.language is None else (options.language,)
        for file in export_client(load_mechanism(path), options.client, languages):
            print(f"wrote     {file}, {file.stat().st_size} bytes")
        return
    from mechdesign.files.listing import listing
    from mechdesign.files.reading import read_document
    from mechdesign.writing.atomic import write_atomically

    check_writable(None if target == "-" else target, None, path)
    try:
        text = listing(read_document(Path(path)))
    except CertificateError as error:
        raise CertificateError(f"{path}: no listing: {error}") from None
    if target == "-":
        print(text, end="")
    else:
        write_atomically(Path(target), text)


COMMANDS = (
    Command(
        "solve",
        _solve,
        "design the best channel for a problem, with proof",
        f"""\
problem PROBLEM.toml
-o --output CHANNEL.json  save the channel and proof
--route NAME = auto       auto, closed-form, columns, coarse, noise, interior, linear-program:METHOD
                          (simplex or ipm), decoder-grid, extreme-rays, estimation, readings, conic,
                          or cvxpy:NAME (as CLARABEL)
{GAP}\
--time-limit SECONDS      end soon after, with the best channel and bound so far; so does Ctrl-C
--memory-limit SIZE       leave out routes that need more memory, as 2 GB; default half of it all
{PLOT}{JSON}{DATA}""",
    ),
    Command(
        "verify",
        _verify,
        "check a saved channel from the file alone",
        f"channel CHANNEL.json\n{JSON}",
    ),
    Command(
        "check",
        _check,
        "solve problems and compare with [expected]",
        f"problems PROBLEM.toml ...\n{JSON}{DATA}",
    ),
    Command("example", _example, "print a commented problem to start from", "notion NOTION\n"),
    Command(
        "export",
        _export,
        "write a sampler for devices, or a listing for the checker that is proved by machine",
        """\
channel CHANNEL.json
| --client FOLDER          a sampler for devices with its table of certified integers
| --listing [FILE]         the numbers of the file for formal/mechdesign-check; default: print them
--language {c,javascript}  of the sampler; default: both
""",
        "Write what other programs use of a saved channel or mechanism.",
    ),
)
