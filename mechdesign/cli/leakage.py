"""The commands that measure and compare channels: leakage, compare, advise."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.cli.common import DATA, JSON, Command, check_needed, errors_in
from mechdesign.errors import InputError, shown

if TYPE_CHECKING:
    from mechdesign.accounting.central.result import Central
    from mechdesign.channel import Channel
    from mechdesign.continuous import ContinuousChannel
    from mechdesign.domain import Domain
    from mechdesign.mechanisms import Mechanism
    from mechdesign.prior import Prior


def _leakage(options: argparse.Namespace) -> None:
    if (options.channel is None) == (options.ledger is None):
        given = "neither" if options.ledger is None else "both"
        fault = "give either a channel or --ledger"
        raise InputError("leakage", "a channel or --ledger", given, fault=fault)
    check_needed(options, [("shuffled", "delta"), ("delta", "shuffled")])
    if options.ledger is not None:
        if options.shuffled is not None:
            fault = "needs a channel, not --ledger"
            raise InputError("--shuffled", "a channel", options.ledger, fault=fault)
        from mechdesign.collection.ledger import read_ledger

        total = read_ledger(options.ledger)
        print(json.dumps(total.to_json()) if options.json else total)
        return
    from mechdesign.accounting.channel_leakage import leakages

    channel, problem = _opened(options.channel)
    prior = None if options.prior is None else _prior(options.prior, channel.inputs)
    found = leakages(channel, prior)
    text, plain = "\n".join([repr(found), *_own_notions(problem)]), found.to_json()
    if options.shuffled is not None:
        from mechdesign.accounting.central.central import after_shuffling

        central = after_shuffling(channel, options.shuffled, options.delta)
        text, plain = f"{text}\n\n{central}", plain | {"shuffled": central.to_json()}
    print(json.dumps(plain) if options.json else text)


def _opened(path: str) -> tuple[Channel | Mechanism | ContinuousChannel, dict[str, Any]]:
    """Return a saved channel, verified, with its problem, or a matrix in a CSV file."""
    from mechdesign.files import load_mechanism

    if Path(path).suffix.lower() == ".csv":
        return _matrix(path), {}
    saved = load_mechanism(path)
    return saved.mechanism, saved.document.get("problem") or {}


def _own_notions(problem: dict[str, Any]) -> list[str]:
    """Return a line for each notion of the user's own, which is not measured."""
    tables = problem.get("privacy", [])
    names = dict.fromkeys(t["notion"] for t in tables if t.keys() & {"cone", "rows"})
    note = "not measured: a notion of your own, see its leakage(channel)"
    return [f"  {name:29} {note}" for name in names]


def _matrix(path: str) -> Channel:
    """Read a matrix of probabilities; fractions are exact."""
    from mechdesign.channel import Channel
    from mechdesign.files.data_files import read_numbers

    try:
        return Channel.from_matrix(read_numbers(Path(path)))
    except InputError as error:
        raise error if error.key.startswith(path) else error.inside_file(path) from None


def _prior(text: str, inputs: Domain) -> Prior:
    """Parse a prior: numbers, or the path of a problem."""
    from mechdesign.prior import Prior

    if not text.lower().endswith(".toml"):
        try:
            return Prior([part.strip() for part in text.split(",")])
        except InputError as error:
            raise error.at("--prior") from None
    from mechdesign.files.problems import load_setting

    setting = load_setting(text)
    if setting.domain != inputs:
        expected = f"the inputs of the channel, {inputs!r}"
        raise InputError(f"{text}: domain", expected, setting.domain)
    if setting.prior is None:
        fault = "the file has no table [prior]"
        raise InputError(f"{text}: prior", "a table [prior]", "none", fault=fault)
    return setting.prior


VERDICTS = {
    (True, True): "equivalent: each is the other with its output post-processed",
    (True, False): "the first is better: the second is the first with its output post-processed",
    (False, True): "the second is better: the first is the second with its output post-processed",
    (False, False): "incomparable: each is better for some decision",
}


def _compare(options: argparse.Namespace) -> None:
    first, second = _channel(options.first), _channel(options.second)
    try:
        there, back = first.refines(second), second.refines(first)
    except InputError as error:
        raise error.at(options.second) from None
    verdict = VERDICTS[bool(there), bool(back)]
    if options.json:
        found = {"first_refines_second": there.to_json(), "second_refines_first": back.to_json()}
        print(json.dumps({"verdict": verdict, **found}))
        return
    print(f"{verdict}\n\nfrom the first to the second: {there!r}")
    print(f"\nfrom the second (now the first) back: {back!r}")


def _channel(path: str) -> Channel:
    from mechdesign.channel import as_channel
    from mechdesign.mechanisms import Mechanism

    found, _ = _opened(path)
    with errors_in(path):
        return as_channel(found.dense() if isinstance(found, Mechanism) else found)


def _inputs(text: str) -> int | tuple[int, int]:
    """Parse a number of inputs, or the rows and columns of a grid such as ``125x350``."""
    rows, grid, columns = text.partition("x")
    try:
        return (int(rows), int(columns)) if grid else int(rows)
    except ValueError:
        expected = "a whole number, or a grid as 125x350"
        raise InputError("inputs", expected, shown(text)) from None


def _advise(options: argparse.Namespace) -> None:
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
        return
    print(found)
    if sums:
        print(f"if only the sum of all reports is seen, at delta = {float(options.only_sums):g}:")
    for kind, told in sums.items():
        low, high = math.floor(told.at_least * 1e6) / 1e6, math.ceil(told.epsilon * 1e6) / 1e6
        print(f"{kind:30} central epsilon from {low:.6f} to {high:.6f}, {told.local:.6g} a report")


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
inputs INPUTS       how many there are; or a grid as 125x350, for the error by the size of blocks
epsilon EPSILON     the budget in nats
reports REPORTS     how many people report
--only-sums DELTA   also what the sum of all reports leaks at this delta, as 1e-9
{JSON}""",
        "Exact error, bits of a report and decoding time of every structured mechanism.",
    ),
    Command(
        "leakage",
        _leakage,
        "print the leakage of a channel under every notion",
        f"""\
channel [CHANNEL.json|MATRIX.csv]
--ledger FILE  add up the draws that privatize recorded in this file
--prior 0.1,0.9|PROBLEM.toml  the distribution of the inputs, as numbers or as in a problem file
--shuffled N  the central epsilon of N shuffled reports, at the delta of --delta
--delta D  with --shuffled, as 1e-6
{JSON}{DATA}""",
        "Exact leakage of a saved channel, whose claims are checked first, or of a CSV file of "
        "probabilities without a header.",
    ),
    Command(
        "compare",
        _compare,
        "decide whether one channel is a post-processing of another",
        f"first FIRST.json|.csv\nsecond SECOND.json|.csv\n{JSON}{DATA}",
        "Decide exactly, in both directions, whether a channel, a saved one or a CSV file of "
        "probabilities, is another one followed by post-processing.",
    ),
)
