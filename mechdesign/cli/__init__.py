"""The command line: ``mechdesign solve``, ``verify``, ``privatize``, ``estimate`` and more.

Exit status: 0 success; 1 the problem is infeasible, or a certificate or an expectation failed; 2
invalid input, with one line on standard error; 129 the terminal was closed; 130 and 143 interrupted
and terminated.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from mechdesign.cli import design, explore, frontier, leakage, records
from mechdesign.cli.common import DONE, FAILED, INTERRUPTED, complain
from mechdesign.errors import InputError, MechdesignError, did_you_mean, known_word
from mechdesign.writing.text import VisibleStream

__all__ = ["main"]


START = """\
start with:
  mechdesign example ldp > problem.toml
  mechdesign solve problem.toml -o channel.json
  mechdesign verify channel.json
"""


class _Parser(argparse.ArgumentParser):
    """An argument parser with one-line errors."""

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with status 2."""
        raise SystemExit(complain(f"{self.prog}: {message}; see {self.prog} --help"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the words; errors about unknown ones show the name of the command."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            known = [name for name in self._option_string_actions if name.startswith("--")]
            option = rest[0].startswith("-")
            expected = "options of this command" if option else "no more words"
            hint = option and did_you_mean(rest[0], known)
            self.error(f"expected {expected}, given {rest[0]!r}" + (f"; {hint}" if hint else ""))
        return found, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None:
            return
        try:
            known_word(value, action.choices, "it")
        except InputError as error:
            raise argparse.ArgumentError(action, str(error).removeprefix("it: ")) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, by default from the words of the process, and return the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack characters
    out, errors = (VisibleStream(stream).as_text() for stream in (sys.stdout, sys.stderr))
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
        warnings.catch_warnings(),
    ):
        # an overflow only loses a candidate: the integers of the checker decide
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if "run" not in options:
        parser.error("expected a command, given none")
    from mechdesign.files.reading import reading_from
    from mechdesign.resources import allow

    try:
        data, paths = getattr(options, "data", None), getattr(options, "allow_path", ())
        with allow(**dict(options.allow)), reading_from(data, paths, ("--data", "--allow-path")):
            status: int = options.run(options) or DONE
        sys.stdout.flush()
    except InputError as error:
        status = complain(str(error))
    except MechdesignError as error:
        complain(str(error))
        status = FAILED
    except BrokenPipeError:  # the reader closed the pipe, which is not an error
        sys.stderr.close()
        status = DONE
    except OSError as error:
        complain(f"cannot write: {error.strerror}")
        status = FAILED
        with contextlib.suppress(OSError):
            sys.stdout.close()
    except KeyboardInterrupt:
        complain("interrupted")
        status = INTERRUPTED
    return status


def _parser() -> argparse.ArgumentParser:
    from mechdesign import __version__

    parser = _Parser(
        prog="mechdesign",
        description="Optimal local-privacy mechanisms, with proof.",
        epilog=START,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"mechdesign {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    for room in (design, frontier, records, leakage, explore):
        for command in room.COMMANDS:
            command.add_to(commands)
    return parser
