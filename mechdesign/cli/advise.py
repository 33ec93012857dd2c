"""The command that ranks the structured mechanisms under LDP."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING

from mechdesign.cli.common import DONE, JSON, Command
from mechdesign.errors import InputError, shown

if TYPE_CHECKING:
    from mechdesign.accounting.central.result import Central


def _inputs(text: str) -> int | tuple[int, int]:
    """Parse a number of inputs, or the rows and columns of a grid such as ``125x350``."""
    rows, grid, columns = text.partition("x")
    try:
        return (int(rows), int(columns)) if grid else int(rows)
    except ValueError:
        expected = "a whole number, or a grid as 125x350"
        raise InputError("inputs", expected, shown(text)) from None


def _advise(options: argparse.Namespace) -> int:
    from mechdesign.domain import Domain
    from mechdesign.mechanisms import Advice, BlockAdvice, advise, advise_blocks

    inputs, rest = _inputs(options.inputs), (options.epsilon, options.reports)
    found: Advice | BlockAdvice
    sums: dict[str, Central] = {}
    try:
        if isinstance(inputs, int):
            found = advise(inputs, *rest)
            if options.only_sums is not None:
                sums = _sums(inputs, *rest, options.only_sums)
        elif options.only_sums is not None:
            raise InputError("--only-sums", "a number of inputs, not a grid", options.inputs)
        else:
            found = advise_blocks(Domain.grid(*inputs), *rest)
    except InputError as error:
        words = {"k": "INPUTS", "n": "REPORTS", "epsilon": "EPSILON", "delta": "--only-sums"}
        raise error.at(words.get(error.key, error.key)) from None
    if options.json:
        only_sums = {kind: told.to_json() for kind, told in sums.items()}
        print(json.dumps(found.to_json() | ({"only_sums": only_sums} if sums else {})))
        return DONE
    print(found)
    if sums:
        print(f"if only the sum of all reports is seen, at delta = {float(options.only_sums):g}:")
    for kind, told in sums.items():
        low, high = math.floor(told.at_least * 1e6) / 1e6, math.ceil(told.epsilon * 1e6) / 1e6
        print(f"{kind:30} central epsilon from {low:.6f} to {high:.6f}, {told.local:.6g} a report")
    return DONE


def _sums(inputs: int, epsilon: str, n: int, delta: str) -> dict[str, Central]:
    """Return the leakage of sums, for mechanisms with summable reports."""
    from mechdesign.accounting import after_aggregation
    from mechdesign.mechanisms import (
        GeneralizedRandomizedResponse,
        OptimizedUnaryEncoding,
        SymmetricUnaryEncoding,
    )

    kinds = (SymmetricUnaryEncoding, OptimizedUnaryEncoding, GeneralizedRandomizedResponse)
    return {kind.name: after_aggregation(kind(inputs, epsilon), n, delta) for kind in kinds}


COMMANDS = (
    Command(
        "advise",
        _advise,
        "rank the structured mechanisms under LDP, or sizes of blocks",
        f"""\
inputs INPUTS       how many inputs there are; or a grid as 125x350, for the error by the size of
                    blocks
epsilon EPSILON     the budget in nats
reports REPORTS     how many people report
--only-sums DELTA   also what the sum of all reports leaks at this delta, as 1e-9, where secure
                    aggregation shows nothing else
{JSON}""",
        "Exact error, bits of a report and decoding time of every structured mechanism under LDP, "
        "for many inputs; on a grid, the error to expect by the size of public blocks.",
    ),
)
