"""A ledger knows each draw, warns of a second one for the same records, and adds them up."""

from __future__ import annotations

import json
import math
import os
import re
import stat
import threading
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import mechdesign.writing.atomic as atomic
from mechdesign.accounting.composition.composition import compose
from mechdesign.accounting.measure.leakages import leakages
from mechdesign.channel import Channel
from mechdesign.cli import main
from mechdesign.collection.records import privatize_file
from mechdesign.collection.records.ledger import (
    Draw,
    LedgerSum,
    add_draw,
    leakage_of_ledger,
    read_ledger,
)
from mechdesign.domain import Domain
from mechdesign.errors import InputError, RepeatedDrawWarning
from mechdesign.files import save
from mechdesign.mechanisms.composite.block_schemes import block_randomized_response
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from tests.records_support import save as save_table

WARNER = Channel.from_matrix(
    [["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"], outputs=["yes", "no"]
)
TRUTH = Channel.from_matrix([[1, 0], [0, 1]], inputs=["yes", "no"], outputs=["yes", "no"])
OTHER = Channel.from_matrix(
    [["2/3", "1/3"], ["1/3", "2/3"]], inputs=["yes", "no"], outputs=["yes", "no"]
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(WARNER, "channel.json")
    save_table(tmp_path / "in.csv", {"a": ["yes", "no", "no"], "name": ["A", "B", "C"]})
    return tmp_path


def draw(source: str = "in.csv", channel: Channel = WARNER, **options: Any) -> None:
    privatize_file(channel, source, "out.csv", "a", ledger="ledger.jsonl", **options)


def test_a_draw_is_recorded(folder: Path) -> None:
    draw()
    (line,) = read_ledger("ledger.jsonl").draws
    assert line.reports == 3
    stated = {row.notion: row.value for row in leakages(WARNER).rows}
    found = {notion: float(nats) for (notion, _), nats in line.leakages.items()}
    assert found == stated
    assert {"ldp", "maximal-leakage"} <= set(stated)
    assert Path("ledger.jsonl").read_text().count("\n") == 2
    assert sorted(p.name for p in folder.iterdir()) == [
        "channel.json", "in.csv", "ledger.jsonl", "out.csv",
    ]  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_only_its_owner_reads_a_ledger(folder: Path) -> None:
    draw()
    assert stat.S_IMODE(Path("ledger.jsonl").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "again",
    [
        {"a": ["yes", "no", "no"], "name": ["A", "B", "C"]},
        {"name": ["C", "B", "A"], "a": ["no", "no", "yes"]},
        {"a": [" yes", "no ", "no"]},
    ],
    ids=["the same file", "in another order", "otherwise written"],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_second_draw_for_the_same_records_is_told(
    again: dict[str, list[Any]], ending: str, folder: Path
) -> None:
    draw()
    save_table(folder / f"again.{ending}", again)
    with pytest.warns(RepeatedDrawWarning, match="drawn for 1 time before, last at 20.*Z"):
        draw(f"again.{ending}", OTHER)
    with pytest.warns(RepeatedDrawWarning, match="drawn for 2 times before"):
        draw()
    first, second, third = read_ledger("ledger.jsonl").draws
    assert first.records == second.records == third.records
    assert first.mechanism == third.mechanism != second.mechanism


def test_other_records_are_other_records(folder: Path) -> None:
    draw()
    save_table(folder / "other.csv", {"a": ["yes", "yes", "no"]})
    draw("other.csv")
    first, second = read_ledger("ledger.jsonl").draws
    assert first.records != second.records
    assert "yes" not in Path("ledger.jsonl").read_text()


def test_rows_that_are_dropped_were_not_drawn_for(folder: Path) -> None:
    draw()
    save_table(folder / "more.csv", {"a": ["yes", "maybe", "no", "no"]})
    with pytest.warns(RepeatedDrawWarning):
        draw("more.csv", unknown="drop")
    save_table(folder / "none.csv", {"a": ["maybe"]})
    draw("none.csv", unknown="drop")
    assert len(read_ledger("ledger.jsonl").draws) == 2


def test_digests_of_two_ledgers_tell_nothing_about_each_other(folder: Path) -> None:
    for name in ("one", "two"):
        add_draw(name, WARNER, {"yes": 1, "no": 2})
    one, two = read_ledger("one"), read_ledger("two")
    assert one.key != two.key
    assert one.draws[0].records != two.draws[0].records
    assert one.draws[0].mechanism == two.draws[0].mechanism


def test_one_channel_has_one_digest_whoever_says_it(folder: Path) -> None:
    add_draw("one", WARNER, {"yes": 1})
    save_table(folder / "one.csv", {"a": ["yes"]})
    with pytest.warns(RepeatedDrawWarning):
        privatize_file("channel.json", "one.csv", "out.csv", "a", ledger="one")
    first, second = read_ledger("one").draws
    assert first.mechanism == second.mechanism


def test_a_warning_taken_for_an_error_stops_the_draw(folder: Path) -> None:
    draw()
    before, ledger = Path("out.csv").read_bytes(), Path("ledger.jsonl").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedDrawWarning)
        with pytest.raises(RepeatedDrawWarning):
            draw()
    assert Path("out.csv").read_bytes() == before
    assert Path("ledger.jsonl").read_bytes() == ledger


def test_the_draw_is_recorded_before_the_reports_appear(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails after the last report is drawn, the ledger has it, or there is none."""
    real = atomic._finish

    def fail(stream: Any, target: Path, name: Path | None = None) -> None:
        if target.name == "out.csv":
            raise OSError(28, "No space left on device")
        real(stream, target, name)

    monkeypatch.setattr(atomic, "_finish", fail)
    with pytest.raises(InputError, match="No space left"):
        draw()
    assert not Path("out.csv").exists()
    assert len(read_ledger("ledger.jsonl").draws) == 1


def test_without_its_ledger_nothing_is_drawn(folder: Path) -> None:
    Path("ledger.jsonl").mkdir()
    with pytest.raises(InputError):
        draw()
    assert not Path("out.csv").exists()


def test_a_simulation_has_no_ledger(folder: Path) -> None:
    with pytest.raises(InputError, match="ledger: expected none for a simulation"):
        draw(rng=1)
    assert not Path("ledger.jsonl").exists()


@pytest.mark.parametrize("name", ["in.csv", "out.csv", "channel.json", "link"])
def test_a_ledger_is_a_file_of_its_own(name: str, folder: Path) -> None:
    Path("link").symlink_to("in.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match="another file than the one that is read"):
        privatize_file("channel.json", "in.csv", "out.csv", "a", ledger=name)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_many_draws_at_once_are_all_recorded(folder: Path) -> None:
    def one(number: int) -> None:
        add_draw("ledger.jsonl", WARNER, {"yes": number})

    threads = [threading.Thread(target=one, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(line.reports for line in read_ledger("ledger.jsonl").draws) == list(range(1, 9))


# --- sums ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::mechdesign.errors.RepeatedDrawWarning")
def test_what_draws_leak_adds_up_as_composition_has_it(folder: Path) -> None:
    for channel in (WARNER, OTHER, WARNER):
        draw(channel=channel)
    total = leakage_of_ledger("ledger.jsonl")
    (records,) = total.sets
    found = total.totals(records)["ldp", ""]
    exact = compose([WARNER, OTHER, WARNER])["ldp"].exact  # of the product of the channels
    assert exact <= found <= exact + 1e-12
    assert total.totals() == total.totals(records)


@pytest.mark.filterwarnings("ignore::mechdesign.errors.RepeatedDrawWarning")
def test_an_infinite_leakage_stays_infinite(folder: Path) -> None:
    for channel in (WARNER, TRUTH):
        draw(channel=channel)
    total = leakage_of_ledger("ledger.jsonl")
    assert total.totals()["ldp", ""] == math.inf
    (ldp,) = [row for row in total.to_json()["all"] if row["notion"] == "ldp"]
    assert ldp["nats"] is None


@given(st.lists(st.floats(0, 50), min_size=1, max_size=8))
def test_sums_are_never_below_the_exact_ones(parts: list[float]) -> None:
    lines = [Draw("", "r", "", 1, {("ldp", ""): repr(part)}) for part in parts]
    exact, found = sum(map(Fraction, map(repr, parts))), LedgerSum({"r": tuple(lines)}).totals()
    assert Fraction(found["ldp", ""]) >= exact
    assert found["ldp", ""] == pytest.approx(float(exact))


@pytest.mark.parametrize("nats", ["1e308", "1.7976931348623157e308", "1e999", "9" * 20 + "e999"])
def test_sums_beyond_floats_are_infinite(nats: str) -> None:
    lines = [Draw("", "r", "", 1, {("ldp", ""): part}) for part in (nats, "1")]
    total = LedgerSum({"r": tuple(lines)})
    assert total.totals()["ldp", ""] == math.inf
    assert "inf" in str(total)


def test_a_notion_adds_up_under_the_same_parameters_only(folder: Path) -> None:
    cells = GeneralizedRandomizedResponse(Domain(range(5)), 1)
    add_draw("l", cells, {"0": 2, "1": 1})
    add_draw("l", WARNER, {"yes": 1})
    total = leakage_of_ledger("l")
    assert {notion for notion, _ in total.totals()} == {"ldp"}  # a mechanism says no more
    assert len(total.sets) == 2
    text = str(total)
    assert "in every set" in text
    assert "2 draws for 2 sets of records" in text


@pytest.mark.filterwarnings("ignore::mechdesign.errors.RepeatedDrawWarning")
def test_a_notion_about_pairs_adds_up_with_equal_pairs_only(folder: Path) -> None:
    """Within blocks 1 + 2 = 3 nats; other blocks are another notion, and LDP fails between them."""
    counts = {"0": 1, "2": 1}
    for epsilon, blocks in ((1, [[0, 1], [2, 3]]), (2, [[0, 1], [2, 3]])):
        add_draw("l", block_randomized_response(4, epsilon, blocks), counts)
    totals = leakage_of_ledger("l").totals()
    assert totals["ldp", ""] == math.inf
    ((_, parameters),) = set(totals) - {("ldp", "")}
    assert parameters != ""
    assert totals["block", parameters] == pytest.approx(3)
    assert totals["block", parameters] >= sum(
        row.value
        for epsilon in (1, 2)
        for row in leakages(block_randomized_response(4, epsilon, [[0, 1], [2, 3]])).rows
        if row.notion == "block"
    )
    add_draw("l", block_randomized_response(4, 1, [[0, 1, 2], [3]]), counts)
    assert set(leakage_of_ledger("l").totals()) == {("ldp", "")}


# --- what is read -------------------------------------------------------------------------------


def changed(change: Callable[[list[str]], list[str]]) -> None:
    lines = Path("ledger.jsonl").read_text().splitlines(keepends=True)
    Path("ledger.jsonl").write_text("".join(change(lines)))


def edited(number: int, **keys: Any) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        lines[number] = json.dumps({**json.loads(lines[number]), **keys}) + "\n"
        return lines

    return change


ROW = {"notion": "ldp", "parameters": "", "nats": "1"}

DAMAGE: dict[str, Callable[[list[str]], list[str]]] = {
    "cut off": lambda lines: [lines[0], lines[1][:40]],
    "no head": lambda lines: lines[1:],
    "an empty line": lambda lines: [*lines, "\n"],
    "no JSON": lambda lines: [lines[0], "secret\n"],
    "a list": lambda lines: [lines[0], "[]\n"],
    "a key twice": lambda lines: [lines[0], lines[1].replace("{", '{"time": "", ', 1)],
    "another format": edited(0, format="mechdesign-channel"),
    "another version": edited(0, version=2),
    "version true": edited(0, version=True),
    "a short key": edited(0, key="00"),
    "a spare key": edited(1, note="secret"),
    "a time": edited(1, time="yesterday"),
    "a digest": edited(1, records="secret"),
    "a number as digest": edited(1, mechanism=7),
    "no reports": edited(1, reports=0),
    "reports true": edited(1, reports=True),
    "reports as text": edited(1, reports="3"),
    "leakages": edited(1, leakages={}),
    "a row": edited(1, leakages=[{**ROW, "more": ""}]),
    "a negative leakage": edited(1, leakages=[{**ROW, "nats": "-7"}]),
    "a leakage as number": edited(1, leakages=[{**ROW, "nats": 1}]),
    "nan": edited(1, leakages=[{**ROW, "nats": "nan"}]),
    "a huge exponent": edited(1, leakages=[{**ROW, "nats": "1e999999999"}]),
    "Unicode digits": edited(1, leakages=[{**ROW, "nats": "١"}]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_ledger_is_refused_in_one_line_before_anything_is_drawn(
    damage: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw()
    Path("out.csv").unlink()
    changed(DAMAGE[damage])
    for act in (lambda: read_ledger("ledger.jsonl"), draw):
        with pytest.raises(InputError, match=r"ledger\.jsonl: line [123]") as caught:
            act()
        assert "secret" not in str(caught.value)
    assert not Path("out.csv").exists()
    assert main(["leakage", "--ledger", "ledger.jsonl"]) == 2
    error = capsys.readouterr().err
    assert re.fullmatch(r"ledger\.jsonl: line [123].*\n", error)


@pytest.mark.filterwarnings("ignore::mechdesign.errors.RepeatedDrawWarning")
def test_lines_that_are_there_are_kept_as_they_are(folder: Path) -> None:
    before = b""
    for count in range(1, 5):
        draw()
        now = Path("ledger.jsonl").read_bytes()
        assert now.startswith(before)
        assert now.count(b"\n") == count + 1
        before = now


# --- the command line ---------------------------------------------------------------------------


def test_the_commands_record_warn_and_add_up(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "privatize",
        "channel.json",
        "in.csv",
        "out.csv",
        "--column",
        "a",
        "--ledger",
        "l",
        "--force",
    ]
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    assert main(words) == 0
    error = capsys.readouterr().err
    assert error.startswith("warning: l: the same records were drawn for 1 time before")
    assert error.count("\n") == 1
    assert main(["leakage", "--ledger", "l"]) == 0
    printed = capsys.readouterr().out
    assert "2 draws for 1 set of records" in printed
    assert "2.197225" in printed  # 2 ln 3 = 2.19722457..., rounded up
    assert main(["leakage", "--ledger", "l", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sets"][0]["draws"] == 2
    (ldp,) = [row["nats"] for row in found["all"] if row["notion"] == "ldp"]
    assert ldp == pytest.approx(2 * math.log(3))


@pytest.mark.parametrize("words", [["leakage"], ["leakage", "channel.json", "--ledger", "l"]])
def test_leakage_is_of_a_channel_or_of_a_ledger(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert "leakage: expected a channel or --ledger" in capsys.readouterr().err


@pytest.mark.parametrize("how", ["same", "link", "hard link"])
def test_privatize_never_writes_over_its_own_mechanism(
    how: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(WARNER, "channel.csv")
    target = Path("channel.csv")
    if how != "same":
        target = Path("target.csv")
        target.symlink_to("channel.csv") if how == "link" else target.hardlink_to("channel.csv")
    before = Path("channel.csv").read_bytes()
    words = ["privatize", "channel.csv", "in.csv", str(target), "--column", "a", "--force"]
    assert main(words) == 2
    assert "another file than the one that is read" in capsys.readouterr().err
    with pytest.raises(InputError, match="another file than the one that is read"):
        privatize_file("channel.csv", "in.csv", target, "a")
    assert Path("channel.csv").read_bytes() == before
    assert main(["estimate", "channel.csv", "in.csv", "--column", "a", "--csv", str(target)]) == 2
    assert Path("channel.csv").read_bytes() == before
