"""The figures of the benchmark of design speed as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.speed_cases import GAP, GOALS, TARGETS

Record = dict[str, Any]

COLUMNS = (
    "size",
    "inputs",
    "solver",
    "total, s",
    "build",
    "solve",
    "prove",
    "CPU, s",
    "runs",
    "peak, MB",
    "value",
    "off ours",
    "gap",
    "raw excess",
    "raw private",
    "proved",
    "file, MB",
    "verify, s",
)


def tables(report: Record, results: Sequence[Record]) -> str:
    """Return the whole report: a table for each suite, then the comparisons and the targets."""
    packages = ", ".join(f"{name} {version}" for name, version in report["packages"].items())
    blocks = [
        f"{report['date']}, {report['cpus']} CPUs ({report['processor']}), Python "
        f"{report['python']}, {packages}; at most {report['limit']:g} s a run.",
        "`off ours`: the value reported, relative to our certified one. `raw excess`: the largest "
        "log-ratio of the solver's own matrix above its bound, in nats, ∞ where an output tells an "
        "input apart for sure. `raw private`: whether that matrix keeps every bound exactly. "
        "`proved`: whether the saved file of ours is accepted by the checker.",
    ]
    for suite in dict.fromkeys(result["suite"] for result in results):
        rows = [result for result in results if result["suite"] == suite]
        blocks.append(f"## {suite}\n\n{table(COLUMNS, _cells(rows))}")
        left_out = _left_out(rows)
        if left_out:
            blocks.append("Left out: " + "; ".join(left_out) + ".")
    ends = {
        "Ratios to the peers": ratios(results),
        "Ours and the fastest peer": nearest(results),
        "Goals": goals(results),
    }
    for title, text in ends.items():
        if text:
            blocks.append(f"## {title}\n\n{text}")
    return "\n\n".join(blocks)


def _cells(rows: Iterable[Record]) -> Iterable[Sequence[str]]:
    """Yield the cells of each contender that got anywhere."""
    rows = list(rows)
    ours = {row["size"]: row["value"] for row in rows if row["solver"] == "ours" and "value" in row}
    for row in rows:
        if row["status"] in ("unsuitable", "skipped"):
            continue
        median, raw = row["median"], row.get("raw_privacy")
        value, best = row.get("value"), ours.get(row["size"])
        off = math.nan if value is None or best is None else (value - best) / max(1e-12, abs(best))
        head = [str(row["size"]), str(row.get("inputs", "")), row["solver"]]
        if not median:
            yield [*head, f"{row['status']}: {row.get('reason', '')}", *[""] * (len(COLUMNS) - 4)]
            continue
        yield [
            *head,
            *(in_seconds(median.get(key)) for key in ("seconds", "build", "solve", "prove", "cpu")),
            str(len(row["runs"])),
            f"{row['peak_mb']:.0f}",
            "" if value is None else f"{value:.9g}",
            "" if math.isnan(off) else f"{off:.0e}",
            f"{row['gap']:.0e}" if "gap" in row else "",
            _excess(raw),
            "" if raw is None else _yes(raw["is_private"]),
            _yes(row["certified"]) if "certified" in row else "",
            f"{row['megabytes']:.2f}" if "megabytes" in row else "",
            in_seconds(row.get("verify")),
        ]


def _left_out(rows: Iterable[Record]) -> list[str]:
    """Return, once for each contender, why it is absent, or absent from some size on."""
    unsuitable = [row["solver"] for row in rows if row["status"] == "unsuitable"]
    said = [f"not for such problems: {', '.join(dict.fromkeys(unsuitable))}"] if unsuitable else []
    late: dict[str, str] = {}
    for row in rows:
        if row["status"] == "skipped" and row["solver"] not in unsuitable:
            late.setdefault(
                row["solver"], f"{row['solver']} from size {row['size']}, being {row['reason']}"
            )
    return [*said, *late.values()]


def ratios(results: Sequence[Record]) -> str:
    """Return our speed relative to a peer's beside the target; empty without a target."""
    found = {(r["suite"], r["size"], r["solver"]): r for r in results}
    lines = []
    for target in TARGETS:
        ours = found.get((target.suite, target.size, "ours"))
        peer = found.get((target.suite, target.size, target.peer))
        if ours is None or peer is None or not ours["median"]:
            continue
        mine = ours["median"]["seconds"]
        if peer["median"]:
            theirs, sign = peer["median"]["seconds"], ""
        elif peer["status"] == "out of time":
            theirs, sign = peer["limit"], "> "
        else:
            continue
        ratio = theirs / mine
        met = "unknown" if sign and ratio < target.ratio else _yes(ratio >= target.ratio)
        lines.append(
            [
                f"{target.suite} {target.size}",
                target.peer,
                in_seconds(mine),
                sign + in_seconds(theirs),
                f"{sign}{ratio:.3g}",
                f"{target.ratio:g}",
                met,
                _by_cpu(ours["median"], peer["median"]),
            ]
        )
    head = ("problem", "peer", "ours, s", "peer, s", "ratio", "target", "met", "ratio by CPU")
    return table(head, lines) if lines else ""


def _by_cpu(ours: Record, peer: Record) -> str:
    """Return the ratio of CPU seconds, which a busy machine disturbs less."""
    return f"{peer['cpu'] / ours['cpu']:.3g}" if ours.get("cpu") and "cpu" in peer else ""


def nearest(results: Sequence[Record]) -> str:
    """Return ours beside the fastest peer that finds the same value; or nothing."""
    lines = []
    for ours in results:
        if ours["solver"] != "ours" or "value" not in ours:
            continue
        peers = [
            peer
            for peer in results
            if (peer["suite"], peer["size"]) == (ours["suite"], ours["size"])
            and not peer["solver"].startswith("ours")
            and "value" in peer
            and abs(peer["value"] - ours["value"]) <= GAP * abs(ours["value"])
        ]
        if peers:
            peer = min(peers, key=lambda record: record["median"]["seconds"])
            mine, theirs = ours["median"]["seconds"], peer["median"]["seconds"]
            name = f"{ours['suite']} {ours['size']}"
            raw = peer.get("raw_privacy")
            cells = [
                name,
                in_seconds(mine),
                peer["solver"],
                in_seconds(theirs),
                f"{theirs / mine:.3g}",
            ]
            lines.append([*cells, _excess(raw), "" if raw is None else _yes(raw["is_private"])])
    head = ("problem", "ours, s", "peer", "its s", "ratio", "its raw excess", "private")
    return table(head, lines) if lines else ""


def goals(results: Sequence[Record]) -> str:
    """Return our result beside the target; empty without a target."""
    lines = []
    for result in results:
        goal = GOALS.get((result["suite"], result["size"]))
        if goal is None or result["solver"] != "ours" or not result["median"]:
            continue
        seconds, gap = result["median"]["seconds"], result.get("gap", math.inf)
        size, verify = result.get("megabytes", 0.0), result.get("verify", 0.0)
        met = seconds <= goal.seconds and gap <= goal.gap
        met = met and size <= goal.megabytes and verify <= goal.verify
        name = f"{result['suite']} {result['size']}"
        cells = [in_seconds(seconds), f"{gap:.0e}", f"{size:.1f}", in_seconds(verify)]
        lines.append([name, *cells, f"{goal.seconds:g}", f"{goal.gap:.0e}", _yes(met)])
    head = ("problem", "ours, s", "gap", "file, MB", "verify, s", "goal, s", "goal gap", "met")
    return table(head, lines) if lines else ""


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def in_seconds(value: float | None) -> str:
    """Return seconds in as many digits as they are worth; nothing for None."""
    if value is None:
        return ""
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _excess(raw: Record | None) -> str:
    if raw is None or raw["excess"] is None:
        return ""
    if raw["excess"] == "inf":
        return f"∞ in {raw['mixed']} outputs"
    return f"{float(raw['excess']):.0e}"


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"
