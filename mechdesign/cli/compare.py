"""The command that decides whether one channel is a post-processing of another."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from mechdesign.cli.common import DATA, DONE, JSON, Command
from mechdesign.cli.leakage import read_mechanism

if TYPE_CHECKING:
    from mechdesign.channel import Channel

VERDICTS = {
    (True, True): "equivalent: each is the other with its output post-processed",
    (True, False): "the first is better: the second is the first with its output post-processed",
    (False, True): "the second is better: the first is the second with its output post-processed",
    (False, False): "incomparable: each is better for some decision",
}


def _compare(options: argparse.Namespace) -> int:
    first, second = _channel(options.first), _channel(options.second)
    there, back = first.refines(second), second.refines(first)
    verdict = VERDICTS[bool(there), bool(back)]
    if options.json:
        found = {"first_refines_second": there.to_json(), "second_refines_first": back.to_json()}
        print(json.dumps({"verdict": verdict, **found}))
        return DONE
    print(f"{verdict}\n\nfrom the first to the second: {there!r}")
    print(f"\nfrom the second (now the first) back: {back!r}")
    return DONE


def _channel(path: str) -> Channel:
    from mechdesign.channel import as_channel
    from mechdesign.errors import InputError
    from mechdesign.mechanisms import Mechanism

    found = read_mechanism(path)
    try:
        return as_channel(found.dense() if isinstance(found, Mechanism) else found)
    except InputError as error:
        raise error.inside_file(path) from None


COMMANDS = (
    Command(
        "compare",
        _compare,
        "decide whether one channel is a post-processing of another",
        f"first FIRST.json|.csv\nsecond SECOND.json|.csv\n{JSON}{DATA}",
        "Decide exactly, in both directions, whether a channel is another one followed by "
        "post-processing, and so at most as good for everybody. Channels are saved ones, whose "
        "claims are checked first, or matrices: CSV files of probabilities without a header, a row "
        "for each input.",
    ),
)
