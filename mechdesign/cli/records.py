"""The commands that use a channel on files of records: mechanism, privatize, estimate."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.cli.common import (
    DATA,
    JSON,
    PLOT,
    SPREADSHEET_SAFE,
    TABLE,
    Command,
    FileBar,
    check_writable,
    cleared_when_ended,
    errors_in,
    keywords,
    warnings_in_a_line,
)
from mechdesign.errors import InputError, choose
from mechdesign.writing.atomic import check_different

if TYPE_CHECKING:
    from mechdesign.collection.records.record_files import ColumnName
    from mechdesign.estimation import Estimate, ScalarEstimate
    from mechdesign.estimation.result import Quantile
    from mechdesign.files import SavedMechanism
    from mechdesign.reports import Tally

SECRET_BYTES = 65
"""Bytes of a key file to read: one more than allowed, so that longer keys are rejected."""


def _known(number: float) -> float | None:
    """Return a number for JSON: null if unknown."""
    return number if math.isfinite(number) else None


def _mechanism(options: argparse.Namespace) -> None:
    from mechdesign.files import save
    from mechdesign.files.problems import load_setting
    from mechdesign.mechanisms import mechanism_for

    check_writable(options.output, None, options.problem)
    setting = load_setting(options.problem)
    with errors_in(options.problem, "kind", "size", "remap", "loss", "copies", "field"):
        if len(setting.privacy) != 1:
            raise InputError("privacy", "one notion", f"{len(setting.privacy)} notions")
        (notion,) = setting.privacy
        made = mechanism_for(
            options.kind,
            setting.domain,
            notion,
            setting.prior,
            **keywords(options, "size", "remap", "copies", "field"),
        )
    save(made, options.output)
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


def _privatize(options: argparse.Namespace) -> None:
    from mechdesign.collection.records import privatize_file

    also = dict(options.also)
    columns = _columns(options, [name for name, _ in options.also])
    if options.key is not None:
        check_different(Path(options.key), Path(options.target))
    channels = {name: also.get(name, options.channel) for name in columns}
    with cleared_when_ended(), warnings_in_a_line(), FileBar("privatize") as bar:
        done = privatize_file(
            channels,
            options.source,
            options.target,
            key=None if options.key is None else _secret(options.key),
            **keywords(
                options,
                *("rng", "ids", "one_each", "form", "force", "stamp", "unknown", "missing"),
                *("separator", "ledger", "spreadsheet_safe"),
            ),
            keep=options.keep or (),
            progress=bar,
        )
    print(
        json.dumps(done.to_json()) if options.json else done,
        file=sys.stderr if options.target == "-" else sys.stdout,
    )


def _columns(options: argparse.Namespace, others: Sequence[str] = ()) -> list[ColumnName]:
    """Return the columns of the channel, names or the pair of a grid, and those of ``others``."""
    pair = options.columns is not None
    found = [*([tuple(options.columns)] if pair else options.column), *others]
    if len(set(found)) < len(found):
        raise InputError("column", "distinct columns", "one twice", fault="a column occurs twice")
    return found


def _secret(path: str) -> bytes:
    """Read the key of a collection."""
    from mechdesign.files.reading import open_plain

    with open_plain(Path(path)) as file:
        return file.read(SECRET_BYTES)


def _mean_read(saved: SavedMechanism, tally: Tally, target: str) -> ScalarEstimate | None:
    """Return the mean by the unbiased readings of a channel file; None if it has none."""
    from mechdesign.estimation import mean

    readings = saved.document.get("channel", {}).get("readings")
    if readings is None:
        return None
    v = [Fraction(int(top), int(readings["denominator"])) for top in readings["numerators"]]
    values = saved.document["problem"]["utility"].get("values")
    return mean(saved.mechanism, tally, values, target=target, readings=v)


@dataclass(frozen=True)
class ColumnEstimate:
    """The estimates from the reports of one column."""

    distribution: Estimate
    quantiles: Sequence[Quantile]
    average: ScalarEstimate | None

    def to_json(self, confidence: float) -> dict[str, Any]:
        """Return plain data for JSON, with intervals."""
        intervals = self.distribution.interval(confidence)
        ends = [[_known(end) for end in pair] for pair in intervals]
        described = self.distribution.to_json() | {"confidence": confidence, "intervals": ends}
        if self.quantiles:
            described["quantiles"] = [
                {**asdict(quantile), "low": _known(quantile.low), "high": _known(quantile.high)}
                for quantile in self.quantiles
            ]
        if self.average is not None:
            interval = [_known(end) for end in self.average.interval(confidence)]
            described["mean"] = {**self.average.to_json(), "interval": interval}
        return described

    def show(self, confidence: float) -> None:
        """Print the estimates."""
        print(self.distribution)
        for quantile in self.quantiles:
            low, high = quantile.low, quantile.high
            print(f"quantile {quantile.q:g}: {quantile.value:g}, within [{low:g}, {high:g}]")
        if self.average is not None:
            low, high = self.average.interval(confidence)
            print(f"{self.average}")
            if math.isfinite(low):
                print(f"the mean is between {low:.6g} and {high:.6g}")


def _estimate(options: argparse.Namespace) -> None:
    from mechdesign.collection.records import check_table_name, save_estimate, tally_file
    from mechdesign.collection.records.privatize import states_channel
    from mechdesign.estimation import METHODS, TARGETS, estimate
    from mechdesign.estimation.result import normal_quantile
    from mechdesign.files import load_mechanism

    choose(METHODS, options.method, "method")
    choose(TARGETS, options.target, "target")
    margin = normal_quantile(options.confidence)
    check_writable(options.csv, options.plot, options.source, options.channel)
    columns = _columns(options)
    if options.csv is not None:
        check_table_name(options.csv, options.source)
    if len(columns) > 1 and (options.csv or options.plot):
        raise InputError("column", "one column for --csv or --plot", f"{len(columns)} columns")
    saved = load_mechanism(options.channel)
    mechanism = saved.mechanism
    with FileBar("estimate") as bar:
        tallies = tally_file(
            dict.fromkeys(columns, mechanism),
            options.source,
            **keywords(options, "form", "one_each", "separator", "spreadsheet_safe"),
            check=not options.unchecked,
            progress=bar,
        )
    found: dict[ColumnName, ColumnEstimate] = {}
    for name, tally in tallies.items():
        average = _mean_read(saved, tally, options.target)
        try:
            how = keywords(options, "method", "target")
            made = estimate(mechanism, tally, **how, check=not options.unchecked)
            quantiles = [made.quantile(q, options.confidence) for q in options.quantiles or ()]
        except InputError as error:
            about_reports = error.key.partition("[")[0] in ("reports", "tally")
            file = options.source if about_reports else options.channel
            raise error.inside_file(file) from None
        found[name] = ColumnEstimate(made, quantiles, average)
    first = next(iter(found.values()))
    if options.csv:
        safe = options.spreadsheet_safe
        save_estimate(first.distribution, options.csv, options.confidence, spreadsheet_safe=safe)
    if options.plot:
        _draw(first.distribution, options.plot, options.confidence)
    if options.json:
        every = {_named(name): one.to_json(options.confidence) for name, one in found.items()}
        print(json.dumps(every if len(found) > 1 else first.to_json(options.confidence)))
        return
    for name, one in found.items():
        if len(found) > 1:
            print(f"column {name!r}")
        one.show(options.confidence)
    errors = [error for one in found.values() for error in one.distribution.standard_errors]
    if any(map(math.isfinite, errors)) or any(one.average is not None for one in found.values()):
        confident = f"at confidence {options.confidence:g}"
        print(f"{confident}, the truth is within {margin:.4g} standard errors")
    if not states_channel(options.source, columns, options.separator, options.form):
        print(
            f"{options.source} does not state the channel of its reports, so a wrong one is not "
            "noticed; privatize --stamp writes it"
        )


def _draw(found: Estimate, path: str, confidence: float) -> None:
    """Plot frequencies, on a map if the inputs have places."""
    from mechdesign.plots import plot_estimate, plot_map, save_plot
    from mechdesign.plots.estimates import has_map

    if has_map(found.inputs):
        save_plot(path, lambda ax: plot_map(found, ax=ax))
    else:
        save_plot(path, lambda ax: plot_estimate(found, ax, confidence))


def _named(name: ColumnName) -> str:
    return name if isinstance(name, str) else ", ".join(name)


RECORDS = f"""\
| --column NAME ...       by name; each of several is a draw of its own
| --columns ROW COLUMN    the two columns of the points of a grid or a box, or of coordinates
--one-each                each person is asked for one of the columns only
--format ENDING = csv -> form  what - holds: csv (the default), tsv, ndjson or arrows
--separator LETTER        between the cells of a CSV file; default a comma
{SPREADSHEET_SAFE}{JSON}"""
"""The common arguments of the commands that read files of records."""

COMMANDS = (
    Command(
        "mechanism",
        _mechanism,
        "save a structured mechanism, for domains too large for a matrix",
        f"""\
kind KIND                 as hadamard-response
problem PROBLEM.toml      whose domain and privacy count
-o --output FILE.json !
--size J                  how many inputs a subset has
--copies B                how many blocks Hadamard response has
--field Q                 the prime of projective geometry response
--remap LOSS              for noise: replace each report by what loses least at the prior
{JSON}{DATA}""",
    ),
    Command(
        "privatize",
        _privatize,
        "draw a report for each record of a file",
        f"""\
channel CHANNEL.json
source IN.csv
target OUT.csv
--seed N -> rng           a simulation, not for release; marked in the file
--unknown POLICY = refuse  for a cell that is no label: refuse (default), drop, map:LABEL or clip
--missing POLICY = refuse  the same for an empty cell
--keep A,B                columns to copy as they are: they are not protected
--ledger FILE             record the draw, and warn if the same records were drawn before
--also NAME CHANNEL.json ...  another column, with a channel of its own
--key FILE                a secret of 32 to 64 bytes: with the same ids it gives the same reports
--id NAME -> ids          with --key, the column of ids
--force                   replace the target, if there is one
--stamp                   add a column NAME_channel_sha256 that states the channel
{RECORDS}""",
        "Draw one report for each row of a file (.csv, .tsv, .ndjson, also .gz or .zst; .parquet, "
        ".arrow, .arrows), a folder or a pattern; - is standard input or output.",
    ),
    Command(
        "estimate",
        _estimate,
        "estimate frequencies from a file of reports",
        f"""\
channel CHANNEL.json
source REPORTS.csv
--method NAME = unbiased    unbiased (the default), maximum-likelihood, projected or clipped
--confidence NUMBER = 0.95  default 0.95
--target NAME = population  population (the default: the records are a sample of it) or respondents
--quantiles Q,R             as 0.25,0.5,0.75: also print quantiles of an input that is a number
{PLOT}{TABLE}\
--unchecked                 read reports of another channel, or that no records explain
{RECORDS}""",
    ),
)
