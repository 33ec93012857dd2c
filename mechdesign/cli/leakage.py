"""The command for the leakage of a channel under every notion."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from mechdesign.cli.common import DATA, DONE, JSON, Command
from mechdesign.errors import InputError

if TYPE_CHECKING:
    from mechdesign.channel import Channel
    from mechdesign.continuous import ContinuousChannel
    from mechdesign.domain import Domain
    from mechdesign.mechanisms import Mechanism
    from mechdesign.prior import Prior


def _leakage(options: argparse.Namespace) -> int:
    if (options.channel is None) == (options.ledger is None):
        given = "neither" if options.ledger is None else "both"
        fault = "give either a channel or --ledger"
        raise InputError("leakage", "a channel or --ledger", given, fault=fault)
    if (options.shuffled is None) != (options.delta is None):
        fault = "--shuffled and --delta need each other"
        raise InputError("leakage", "both or neither", "one", fault=fault)
    if options.ledger is not None:
        if options.shuffled is not None:
            fault = "needs a channel, not --ledger"
            raise InputError("--shuffled", "a channel", options.ledger, fault=fault)
        from mechdesign.collection.records.ledger import read_ledger

        total = read_ledger(options.ledger)
        print(json.dumps(total.to_json()) if options.json else total)
        return DONE
    from mechdesign.accounting.channel_leakage import leakages

    channel, own = read_mechanism(options.channel), _own_notions(options.channel)
    prior = None if options.prior is None else _prior(options.prior, channel.inputs)
    found = leakages(channel, prior)
    if options.shuffled is None:
        print(json.dumps(found.to_json()) if options.json else f"{found}{own}")
        return DONE
    from mechdesign.accounting.central.central import after_shuffling

    central = after_shuffling(channel, options.shuffled, options.delta)
    whole = found.to_json() | {"shuffled": central.to_json()}
    print(json.dumps(whole) if options.json else f"{found}{own}\n\n{central}")
    return DONE


def read_mechanism(path: str) -> Channel | Mechanism | ContinuousChannel:
    """Load and verify a saved channel, or read a matrix from a CSV file."""
    from mechdesign.files import load_mechanism

    matrix = Path(path).suffix.lower() == ".csv"
    return _matrix(path) if matrix else load_mechanism(path).mechanism


def _own_notions(path: str) -> str:
    """Return a line for each notion of the user's own in a saved file, which is not measured."""
    if Path(path).suffix.lower() == ".csv":
        return ""
    from mechdesign.files import load_mechanism

    tables = (load_mechanism(path).document.get("problem") or {}).get("privacy", [])
    names = [t["notion"] for t in tables if t.keys() & {"cone", "rows"}]
    return "".join(
        f"\n  {name:29} not measured: a notion of your own, see its leakage(channel)"
        for name in dict.fromkeys(names)
    )


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


COMMANDS = (
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
        "Exact leakage of a saved channel, whose claims are checked first, or of a matrix: a CSV "
        "file of probabilities without a header, a row for each input.",
    ),
)
