"""The commands that use a channel on files of records: mechanism, privatize, estimate."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING

from mechdesign.cli.common import (
    DONE,
    FileBar,
    add_data,
    add_spreadsheet_safe,
    check_writable,
    checked_file,
    cleared_when_ended,
    positive,
    warnings_in_a_line,
)
from mechdesign.errors import InputError

if TYPE_CHECKING:
    from mechdesign.cli.common import Commands
    from mechdesign.estimation import ScalarEstimate
    from mechdesign.files import SavedMechanism
    from mechdesign.reports import Tally

__all__ = ["add_commands"]

POLICY = "refuse (the default), drop or map:LABEL"


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    mechanism = commands.add_parser(
        "mechanism", help="save a structured mechanism, for domains too large for a matrix"
    )
    mechanism.add_argument("kind", metavar="KIND", help="as hadamard-response")
    mechanism.add_argument("problem", metavar="PROBLEM.toml", help="whose domain and privacy count")
    mechanism.add_argument("-o", "--output", metavar="FILE.json", required=True)
    mechanism.add_argument("--size", type=int, metavar="J", help="how many inputs a subset has")
    mechanism.add_argument(
        "--remap",
        metavar="LOSS",
        help="for noise: replace each report by what loses least at the prior (euclidean, "
        "absolute, squared or hamming)",
    )
    mechanism.add_argument("--json", action="store_true", help="print JSON instead of a line")
    mechanism.add_argument(
        "--key", metavar="PRIVATE.pem", help="sign it with this Ed25519 key, in FILE.json.sig"
    )
    add_data(mechanism)
    mechanism.set_defaults(run=_mechanism)

    privatize = commands.add_parser(
        "privatize",
        help="draw a report for each record of a file",
        description="Draw one report for each row of a file (.csv, .csv.gz or .parquet). Only the "
        "reports are written. The number and the order of the rows are not hidden.",
    )
    privatize.add_argument("channel", metavar="CHANNEL.json")
    privatize.add_argument("source", metavar="IN.csv")
    privatize.add_argument("target", metavar="OUT.csv")
    privatize.add_argument(
        "--seed", type=_whole, metavar="N", help="a simulation, not for release; the file says so"
    )
    privatize.add_argument(
        "--unknown",
        default="refuse",
        metavar="POLICY",
        help=f"what becomes of a cell that is no label: {POLICY}; or clip, to the nearer end of an "
        "interval; dropping a row shows that its value was outside the domain",
    )
    privatize.add_argument(
        "--missing", default="refuse", metavar="POLICY", help="the same for an empty cell"
    )
    privatize.add_argument(
        "--keep",
        type=_names,
        default=(),
        metavar="A,B",
        help="columns to copy as they are: they are not protected",
    )
    privatize.add_argument(
        "--ledger",
        metavar="FILE",
        help="record the draw in this file, and warn if the same records were drawn for before",
    )
    privatize.set_defaults(run=_privatize)

    estimate = commands.add_parser("estimate", help="estimate frequencies from a file of reports")
    estimate.add_argument("channel", metavar="CHANNEL.json")
    estimate.add_argument("source", metavar="REPORTS.csv")
    estimate.add_argument(
        "--method",
        default="unbiased",
        metavar="NAME",
        help="unbiased (the default), maximum-likelihood, projected or clipped",
    )
    estimate.add_argument(
        "--confidence", type=positive, default=0.95, metavar="NUMBER", help="default 0.95"
    )
    estimate.add_argument(
        "--target",
        default="population",
        metavar="NAME",
        help="population (the default: the records are a sample of it) or respondents",
    )
    estimate.add_argument(
        "--quantiles",
        type=_shares,
        default=(),
        metavar="Q,R",
        help="as 0.25,0.5,0.75: also print quantiles of an input that is a number",
    )
    estimate.add_argument("--plot", metavar="PICTURE", help="draw it (PNG, PDF or SVG)")
    estimate.add_argument("--csv", metavar="OUT.csv", help="write it as a table")
    estimate.set_defaults(run=_estimate)

    for command in (privatize, estimate):
        command.add_argument("--column", required=True, metavar="NAME", help="by name")
        command.add_argument(
            "--separator", metavar="LETTER", help="between the cells of a CSV file; default a comma"
        )
        add_spreadsheet_safe(command)
        command.add_argument("--json", action="store_true", help="print JSON instead of a report")


def _whole(text: str) -> int:
    """Read a whole number from 0 on."""
    if not text.isdecimal() or not text.isascii():
        raise argparse.ArgumentTypeError(f"expected a whole number >= 0, given {text!r}")
    return int(text)


def _names(text: str) -> tuple[str, ...]:
    """Read names of columns, quoted as in a CSV file where they hold commas."""
    import csv

    try:
        (names,) = csv.reader([text], strict=True)
    except (ValueError, csv.Error):
        expected = "names of columns with commas between them"
        raise argparse.ArgumentTypeError(f"expected {expected}, given {text!r}") from None
    return tuple(names)


def _shares(text: str) -> tuple[float, ...]:
    """Read numbers above 0 and below 1, with commas between them."""
    found = tuple(map(positive, text.split(",")))
    if max(found) >= 1:
        raise argparse.ArgumentTypeError(f"expected numbers above 0 and below 1, given {text!r}")
    return found


def _known(number: float) -> float | None:
    """Return a number as JSON has it: null where it is not known."""
    return number if math.isfinite(number) else None


def _mechanism(options: argparse.Namespace) -> int:
    from mechdesign.files import save
    from mechdesign.files.problems import load_setting
    from mechdesign.mechanisms import mechanism_for

    check_writable(options.output, None, options.problem)
    setting = load_setting(options.problem)
    try:
        if len(setting.privacy) != 1:
            raise InputError("privacy", "one notion", f"{len(setting.privacy)} of them")
        (notion,) = setting.privacy
        made = mechanism_for(
            options.kind,
            setting.domain,
            notion,
            setting.prior,
            size=options.size,
            remap=options.remap,
        )
    except InputError as error:
        if error.key in ("kind", "size", "remap", "loss"):
            raise
        raise error.inside_file(options.problem) from None
    save(made, options.output, key=options.key)
    if options.json:
        described = {
            "mechanism": made.name,
            "inputs": len(made.inputs),
            "privacy": made.privacy.to_table(),
            "leakage": made.leakage,
            "bits_per_report": made.bits_per_report,
        }
        print(json.dumps(described))
    else:
        print(made)
    return DONE


def _privatize(options: argparse.Namespace) -> int:
    from mechdesign.collection.records import privatize_file

    with cleared_when_ended(), warnings_in_a_line(), FileBar("privatize") as bar:
        done = privatize_file(
            options.channel,
            options.source,
            options.target,
            options.column,
            rng=options.seed,
            unknown=options.unknown,
            missing=options.missing,
            keep=options.keep,
            separator=options.separator,
            ledger=options.ledger,
            spreadsheet_safe=options.spreadsheet_safe,
            progress=bar,
        )
    print(json.dumps(done.to_json()) if options.json else done)
    return DONE


def _mean_read(saved: SavedMechanism, tally: Tally, target: str) -> ScalarEstimate | None:
    """Return the mean by the unbiased readings of a channel file; None for any other file."""
    from mechdesign.estimation import mean

    readings = saved.document.get("channel", {}).get("readings")
    if readings is None:
        return None
    bottom = int(readings["denominator"])
    v = [Fraction(int(top), bottom) for top in readings["numerators"]]
    values = saved.document["problem"]["utility"]["values"]
    return mean(saved.mechanism, tally, values, target=target, readings=v)


def _estimate(options: argparse.Namespace) -> int:
    from mechdesign.collection.records import check_table_name, save_estimate, tally_file
    from mechdesign.estimation import METHODS, TARGETS, estimate
    from mechdesign.estimation.options import choose
    from mechdesign.estimation.quantiles import normal_quantile

    choose(METHODS, options.method, "method")
    choose(TARGETS, options.target, "target")
    margin = normal_quantile(options.confidence)
    check_writable(options.csv, options.plot, options.source, options.channel)
    if options.csv is not None:
        check_table_name(options.csv, options.source)
    saved = checked_file(options.channel)
    mechanism = saved.mechanism
    with FileBar("estimate") as bar:
        tally = tally_file(
            mechanism,
            options.source,
            options.column,
            separator=options.separator,
            spreadsheet_safe=options.spreadsheet_safe,
            progress=bar,
        )
    average = _mean_read(saved, tally, options.target)
    try:
        found = estimate(mechanism, tally, method=options.method, target=options.target)
        quantiles = [found.quantile(q, options.confidence) for q in options.quantiles]
    except InputError as error:
        about_reports = error.key.partition("[")[0] in ("reports", "tally")
        file = options.source if about_reports else options.channel
        raise error.inside_file(file) from None
    if options.csv:
        safe = options.spreadsheet_safe
        save_estimate(found, options.csv, options.confidence, spreadsheet_safe=safe)
    if options.plot:
        from mechdesign.plots import save_estimate_plot

        save_estimate_plot(found, options.plot, confidence=options.confidence)
    if options.json:
        ends = [[_known(end) for end in pair] for pair in found.interval(options.confidence)]
        described = found.to_json() | {"confidence": options.confidence, "intervals": ends}
        if quantiles:
            described["quantiles"] = [
                {**asdict(each), "low": _known(each.low), "high": _known(each.high)}
                for each in quantiles
            ]
        if average is not None:
            interval = [_known(end) for end in average.interval(options.confidence)]
            described["mean"] = {**average.to_json(), "interval": interval}
        print(json.dumps(described))
    else:
        print(found)
        for each in quantiles:
            print(f"quantile {each.q:g}: {each.value:g}, within [{each.low:g}, {each.high:g}]")
        if average is not None:
            low, high = average.interval(options.confidence)
            print(f"{average}")
            print(f"the mean is between {low:.6g} and {high:.6g}")
        print(
            f"at confidence {options.confidence:g}, the truth is within "
            f"{margin:.4g} standard errors"
        )
    return DONE
