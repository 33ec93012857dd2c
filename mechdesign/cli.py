"""The command line: ``mechdesign solve | verify | check | example``.

Exit status: 0 done; 1 the problem is infeasible, or a certificate or an expectation failed; 2 the
input is wrong, said in one line on standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from mechdesign.errors import (
    CertificateError,
    InfeasibleError,
    InputError,
    MechdesignError,
    SolverError,
    did_you_mean,
    shown,
)

__all__ = ["main"]

DONE, FAILED, WRONG_INPUT = 0, 1, 2


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with status 2."""
        raise SystemExit(_complain(f"{self.prog}: {message}; see {self.prog} --help"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments
        The words after ``mechdesign``; default those of the process.

    Returns
    -------
    int
        The exit status.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not have every letter
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except InputError as error:
        status = _complain(str(error))
    except MechdesignError as error:
        _complain(str(error))
        status = FAILED
    except BrokenPipeError:  # the reader of our output went away: not our failure
        sys.stderr.close()
        status = DONE
    except OSError as error:
        _complain(f"cannot write: {error.strerror}")
        status = FAILED
        with contextlib.suppress(OSError):
            sys.stdout.close()
    except KeyboardInterrupt:
        _complain("interrupted")
        status = 130
    return status


def _complain(message: str) -> int:
    print(" ".join(message.split()), file=sys.stderr)
    return WRONG_INPUT


def _parser() -> argparse.ArgumentParser:
    from mechdesign import __version__

    parser = _Parser(prog="mechdesign", description="Optimal local-privacy mechanisms, with proof.")
    parser.add_argument("--version", action="version", version=f"mechdesign {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    solve = commands.add_parser("solve", help="design the best channel for a problem, with proof")
    solve.add_argument("problem", metavar="PROBLEM.toml")
    solve.add_argument("-o", "--output", metavar="CHANNEL.json", help="save the channel and proof")
    solve.add_argument(
        "--route",
        default="auto",
        metavar="NAME",
        help="auto, closed-form, interior, columns, linear-program, conic, "
        "or cvxpy:SOLVER (as CLARABEL or ECOS)",
    )
    solve.add_argument(
        "--gap", type=_positive, metavar="NUMBER", help="a gap that is small enough, as 1e-4"
    )
    solve.add_argument(
        "--time-limit",
        type=_positive,
        metavar="SECONDS",
        help="end soon after, with the best channel and bound so far; so does Ctrl-C",
    )
    solve.add_argument("--plot", metavar="PICTURE", help="draw the channel (PNG, PDF or SVG)")
    solve.add_argument("--json", action="store_true", help="print JSON instead of a report")
    solve.set_defaults(run=_solve)

    verify = commands.add_parser("verify", help="check a saved channel from the file alone")
    verify.add_argument("channel", metavar="CHANNEL.json")
    verify.add_argument("--json", action="store_true", help="print JSON instead of sentences")
    verify.set_defaults(run=_verify)

    check = commands.add_parser("check", help="solve problems and compare with [expected]")
    check.add_argument("problems", metavar="PROBLEM.toml", nargs="+")
    check.add_argument("--json", action="store_true", help="print JSON instead of a table")
    check.set_defaults(run=_check)

    example = commands.add_parser("example", help="print a commented problem to start from")
    example.add_argument("notion", metavar="NOTION")
    example.set_defaults(run=_example)
    return parser


def _positive(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number > 0, given {shown(text)}")
    return number


def _solve(options: argparse.Namespace) -> int:
    from mechdesign.certify.saved import OPTIMAL_GAP
    from mechdesign.facade import design
    from mechdesign.files import load_problem, save
    from mechdesign.progress import GapBar

    _check_writable(options.output, options.plot)
    try:
        problem = load_problem(options.problem)
        with GapBar(options.gap or OPTIMAL_GAP) as bar:
            solution = design(
                problem,
                route=options.route,
                gap=options.gap,
                time_limit=options.time_limit,
                progress=bar,
            )
    except InfeasibleError as error:
        if options.json:
            print(json.dumps({"status": "infeasible", "reason": str(error)}))
        raise InfeasibleError(f"{options.problem}: {error}") from None
    except InputError as error:
        if error.key == "route" or options.problem in error.key:
            raise
        raise error.inside_file(options.problem) from None
    if options.output:
        save(solution, options.output)
    if options.plot:
        from mechdesign.plots import save_channel_plot

        save_channel_plot(solution.channel, options.plot, title=solution.problem.title)
    print(json.dumps(solution.to_json()) if options.json else solution)
    return DONE


def _check_writable(output: str | None, picture: str | None) -> None:
    """Refuse, before the work, to write where it cannot be done."""
    from mechdesign.plots import check_picture_name

    for path in (output, picture):
        if path is not None:
            folder = Path(path).parent
            if not path or Path(path).is_dir() or not os.access(folder, os.W_OK):
                raise InputError(path or "-o", "a file that can be written", shown(path))
    if picture is not None:
        check_picture_name(picture)


def _verify(options: argparse.Namespace) -> int:
    from mechdesign.files import load_channel

    try:
        saved = load_channel(options.channel)
    except CertificateError as error:
        if options.json:
            print(json.dumps({"verified": False, "reason": str(error)}))
        raise CertificateError(f"{options.channel}: refused: {error}") from None
    if options.json:
        print(json.dumps({"verified": True, "claims": list(saved.verified.claims)}))
    else:
        print(saved.verified)
    return DONE


def _check(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    results = []
    bar = tqdm(options.problems, unit="problem", disable=None, leave=False)
    for path in bar:
        bar.set_postfix_str(Path(path).name)
        results.append(_check_one(path))
    if options.json:
        print(json.dumps(results))
    else:
        width = max(len(result["problem"]) for result in results)
        for result in results:
            print(f"{result['verdict']:<7} {result['problem']:<{width}}  {result['detail']}")
    for result in results:
        if result["verdict"] == "wrong":
            _complain(result["detail"])
    verdicts = {result["verdict"] for result in results}
    return WRONG_INPUT if "wrong" in verdicts else FAILED if "failed" in verdicts else DONE


def _check_one(path: str) -> dict[str, Any]:
    """Solve one problem and say whether it is as expected."""
    from mechdesign.facade import design
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


def _example(options: argparse.Namespace) -> int:
    from mechdesign.notions import NOTIONS

    if options.notion not in NOTIONS:
        hint = did_you_mean(options.notion, NOTIONS)
        raise InputError("NOTION", f"one of {', '.join(NOTIONS)}", shown(options.notion), hint)
    from mechdesign.templates import template

    print(template(NOTIONS[options.notion]), end="")
    return DONE


if __name__ == "__main__":
    raise SystemExit(main())
