"""The command that ranks the structured mechanisms under LDP."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from mechdesign.cli.common import DONE

if TYPE_CHECKING:
    from mechdesign.cli.common import Commands

__all__ = ["add_commands"]


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    advise = commands.add_parser(
        "advise",
        help="rank the structured mechanisms under LDP",
        description="Exact error, bits of a report and decoding time of every structured mechanism "
        "under LDP, for many inputs.",
    )
    advise.add_argument("inputs", type=int, metavar="INPUTS", help="how many inputs there are")
    advise.add_argument("epsilon", metavar="EPSILON", help="the budget in nats")
    advise.add_argument("reports", type=int, metavar="REPORTS", help="how many people report")
    advise.add_argument("--json", action="store_true", help="print JSON instead of a table")
    advise.set_defaults(run=_advise)


def _advise(options: argparse.Namespace) -> int:
    from mechdesign.mechanisms import advise

    found = advise(options.inputs, options.epsilon, options.reports)
    print(json.dumps(found.to_json()) if options.json else found)
    return DONE
