"""A ledger records each draw, warns of a second one for the same records, and adds them up."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sqlite3
import stat
import threading
import warnings
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import mechdesign as md
import mechdesign.collection.ledger as ledger
import mechdesign.writing.atomic as atomic
from mechdesign.accounting.channel_leakage import leakages
from mechdesign.accounting.composition import compose
from mechdesign.cli import main
from mechdesign.collection.ledger import Draw, Leakage, Ledger, add_draw, read_ledger
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from tests.cli_support import Run
from tests.mechanisms_support import block_randomized_response
from tests.records_support import privatize_file, save as save_table
from tests.refusals_support import check_refused
from tests.strategies import examples

WARNER, TRUTH, OTHER = (
    md.Channel.from_matrix([[p, q], [q, p]], inputs=["yes", "no"], outputs=["yes", "no"])
    for p, q in (("3/4", "1/4"), (1, 0), ("2/3", "1/3"))
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    md.save(WARNER, "channel.json")
    save_table(tmp_path / "in.csv", {"a": ["yes", "no", "no"], "name": ["A", "B", "C"]})
    return tmp_path


def draw(source: str = "in.csv", channel: md.Channel = WARNER, **options: Any) -> None:
    privatize_file(channel, source, "out.csv", "a", ledger="ledger.sqlite", **options)


def test_a_draw_is_recorded(folder: Path) -> None:
    """In a file that only its owner reads."""
    draw()
    assert os.name == "nt" or stat.S_IMODE(Path("ledger.sqlite").stat().st_mode) == 0o600
    (line,) = read_ledger("ledger.sqlite").draws
    assert line.reports == 3
    stated = {row.notion: row.value for row in leakages(WARNER).rows}
    found = {notion: float(nats) for (notion, _), nats in line.nats.items()}
    assert found == stated
    assert {"ldp", "maximal-leakage"} <= set(stated)
    files = {"channel.json", "in.csv", "ledger.sqlite", "out.csv"}
    assert {path.name for path in folder.iterdir()} == files


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
def test_a_second_draw_for_the_same_records_warns(
    again: dict[str, list[Any]], ending: str, folder: Path
) -> None:
    draw()
    save_table(folder / f"again.{ending}", again)
    with pytest.warns(
        md.RepeatedDrawWarning,
        match=r"of column '.*' were drawn before \(1 draw, the last at 20.*Z\)",
    ):
        draw(f"again.{ending}", OTHER)
    with pytest.warns(md.RepeatedDrawWarning, match=r"drawn before \(2 draws, "):
        draw()
    first, second, third = read_ledger("ledger.sqlite").draws
    assert first.records == second.records == third.records
    assert first.mechanism == third.mechanism != second.mechanism


def test_the_same_records_are_known_by_integers_and_floats(folder: Path) -> None:
    save_table(folder / "in.csv", {"a": ["1", "2.0", "2"]})
    draw(channel=md.Channel.from_matrix(WARNER.matrix, inputs=[1, 2]))
    with pytest.warns(md.RepeatedDrawWarning):
        draw(channel=md.Channel.from_matrix(WARNER.matrix, inputs=[1.0, 2.0]))


def test_the_same_records_are_known_where_each_person_is_asked_for_one_column(folder: Path) -> None:
    """Whoever is asked is drawn anew, so the records of a column are all that could be."""
    save_table(folder / "in.csv", {"a": ["yes", "no"] * 50, "b": ["no"] * 100})
    columns = {"a": WARNER, "b": OTHER}
    for known in (False, True):
        with pytest.warns(md.RepeatedDrawWarning) if known else contextlib.nullcontext():
            privatize_file(columns, "in.csv", "out.csv", one_each=True, ledger="ledger.sqlite")
    assert [len(draws) for draws in read_ledger("ledger.sqlite").sets.values()] == [2, 2]


def test_other_records_are_other_records_and_rows_that_are_dropped_are_none(folder: Path) -> None:
    draw()
    for name, cells, again in (
        ("other", ["yes", "yes", "no"], False),
        ("more", ["yes", "maybe", "no", "no"], True),
        ("none", ["maybe"], False),
    ):
        save_table(folder / f"{name}.csv", {"a": cells})
        with pytest.warns(md.RepeatedDrawWarning) if again else contextlib.nullcontext():
            draw(f"{name}.csv", unknown="drop")
    first, second, third = read_ledger("ledger.sqlite").draws
    assert first.records == third.records != second.records
    assert b"yes" not in Path("ledger.sqlite").read_bytes()


def test_a_draw_is_on_disk_before_its_reports(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """Level 3 also syncs the folder, without which a loss of power may undo a commit."""
    levels: list[int] = []

    def read(file: Path, database: sqlite3.Connection) -> Ledger:
        levels.extend(database.execute("PRAGMA synchronous").fetchone())
        return original(file, database)

    original = ledger._read
    monkeypatch.setattr(ledger, "_read", read)
    add_draw("ledger.sqlite", WARNER, {"yes": 1})
    assert levels == [3]


def test_digests_of_two_ledgers_are_unrelated(folder: Path) -> None:
    for name in ("one", "two"):
        add_draw(name, WARNER, {"yes": 1, "no": 2})
    one, two = read_ledger("one"), read_ledger("two")
    assert one.key != two.key
    assert one.draws[0].records != two.draws[0].records
    assert one.draws[0].mechanism == two.draws[0].mechanism


def test_a_warning_taken_for_an_error_stops_the_draw(folder: Path) -> None:
    draw()
    before, ledger = Path("out.csv").read_bytes(), Path("ledger.sqlite").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error", md.RepeatedDrawWarning)
        with pytest.raises(md.RepeatedDrawWarning):
            draw()
    assert Path("out.csv").read_bytes() == before
    assert Path("ledger.sqlite").read_bytes() == ledger


def test_the_draw_is_recorded_before_the_reports_appear(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If any step after the last draw fails, the ledger has the draw or no file appears."""

    def fail(target: Path) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic, "_mode", fail)
    check_refused("No space left", draw)
    assert not Path("out.csv").exists()
    assert len(read_ledger("ledger.sqlite").draws) == 1


def test_without_its_ledger_nothing_is_drawn(folder: Path) -> None:
    """A simulation has none."""
    check_refused("ledger: a simulation is not for release", draw, rng=1)
    Path("ledger.sqlite").mkdir()
    check_refused("", draw)
    assert not Path("out.csv").exists()


@pytest.mark.parametrize("name", ["in.csv", "out.csv", "channel.json", "link"])
def test_a_ledger_is_a_file_of_its_own(name: str, folder: Path) -> None:
    Path("link").symlink_to("in.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(md.InputError, match="this file is also read"):
        privatize_file("channel.json", "in.csv", "out.csv", "a", ledger=name)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_many_draws_at_once_are_all_recorded(folder: Path) -> None:
    def one(number: int) -> None:
        add_draw("ledger.sqlite", WARNER, {"yes": number})

    threads = [threading.Thread(target=one, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(line.reports for line in read_ledger("ledger.sqlite").draws) == list(range(1, 9))


# --- sums ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::mechdesign.errors.RepeatedDrawWarning")
def test_what_draws_leak_adds_up_as_composition_has_it(folder: Path) -> None:
    for channel in (WARNER, OTHER, WARNER):
        draw(channel=channel)
    total = read_ledger("ledger.sqlite")
    (records,) = total.sets
    found = total.totals(records)["ldp", ""]
    exact = compose([WARNER, OTHER, WARNER])["ldp"].exact  # of the product of the channels
    assert exact <= found <= exact + 1e-12
    assert total.totals() == total.totals(records)


@pytest.mark.filterwarnings("ignore::mechdesign.errors.RepeatedDrawWarning")
def test_an_infinite_leakage_stays_infinite(folder: Path) -> None:
    for channel in (WARNER, TRUTH):
        draw(channel=channel)
    total = read_ledger("ledger.sqlite")
    assert total.totals()["ldp", ""] == math.inf
    (ldp,) = [row for row in total.to_json()["all"] if row["notion"] == "ldp"]
    assert ldp["nats"] is None


@examples(30)
@given(st.lists(st.floats(0, 50), min_size=1, max_size=8))
def test_sums_are_never_below_the_exact_ones(parts: list[float]) -> None:
    lines = [Draw("", "r", "", 1, (Leakage("ldp", "", repr(part)),)) for part in parts]
    exact, found = sum(map(Fraction, map(repr, parts))), Ledger(b"", tuple(lines)).totals()
    assert Fraction(found["ldp", ""]) >= exact
    assert found["ldp", ""] == pytest.approx(float(exact))


@pytest.mark.parametrize("nats", ["1e308", "1.7976931348623157e308", "1e999", "9" * 20 + "e999"])
def test_sums_beyond_floats_are_infinite(nats: str) -> None:
    lines = [Draw("", "r", "", 1, (Leakage("ldp", "", part),)) for part in (nats, "1")]
    total = Ledger(b"", tuple(lines))
    assert total.totals()["ldp", ""] == math.inf
    assert "inf" in str(total)


def test_a_notion_adds_up_under_the_same_parameters_only(folder: Path) -> None:
    cells = GeneralizedRandomizedResponse(md.Domain(range(5)), 1)
    add_draw("l", cells, {"0": 2, "1": 1})
    add_draw("l", WARNER, {"yes": 1})
    total = read_ledger("l")
    assert {notion for notion, _ in total.totals()} == {"ldp", "maximal-leakage"}
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
    totals = read_ledger("l").totals()
    assert totals["ldp", ""] == math.inf
    (parameters,) = {parameters for notion, parameters in totals if notion == "block"}
    assert parameters != ""
    assert totals["block", parameters] == pytest.approx(3)
    assert totals["block", parameters] >= sum(
        row.value
        for epsilon in (1, 2)
        for row in leakages(block_randomized_response(4, epsilon, [[0, 1], [2, 3]])).rows
        if row.notion == "block"
    )
    add_draw("l", block_randomized_response(4, 1, [[0, 1, 2], [3]]), counts)
    assert set(read_ledger("l").totals()) == {("ldp", ""), ("maximal-leakage", "")}


# --- what is read -------------------------------------------------------------------------------


def leakages_are(**keys: Any) -> str:
    row = {"notion": "ldp", "parameters": "", "nats": "1", **keys}
    return f"UPDATE draws SET leakages = '{json.dumps([row])}'"


DAMAGE = {
    "no tables": "DROP TABLE draws",
    "a view": "CREATE VIEW more AS SELECT 1",
    "a trigger": "CREATE TRIGGER undo AFTER INSERT ON draws BEGIN DELETE FROM draws; END",
    "a computed column": "ALTER TABLE draws ADD COLUMN more AS (zeroblob(1000000000))",
    "no head": "DELETE FROM ledger",
    "two keys": "INSERT INTO ledger SELECT * FROM ledger",
    "another application": "PRAGMA application_id = 7",
    "another version": "PRAGMA user_version = 3",
    "a short key": "UPDATE ledger SET key = x'00'",
    "a key as text": f"UPDATE ledger SET key = '{'s' * 32}'",
    "a column less": "ALTER TABLE draws DROP COLUMN time",
    "a time": "UPDATE draws SET time = 'yesterday'",
    "a digest": "UPDATE draws SET records = 'secret'",
    "a number as digest": "UPDATE draws SET mechanism = 7",
    "bytes as digest": "UPDATE draws SET mechanism = x'ff'",
    "text that is not UTF-8": "UPDATE draws SET mechanism = CAST(x'ff' AS TEXT)",
    "no reports": "UPDATE draws SET reports = 0",
    "reports as text": "UPDATE draws SET reports = '3 secret'",
    "nothing": "UPDATE draws SET leakages = NULL",
    "no JSON": "UPDATE draws SET leakages = 'secret'",
    "leakages": "UPDATE draws SET leakages = '{}'",
    "a row": leakages_are(more=""),
    "a negative leakage": leakages_are(nats="-7"),
    "a leakage as number": leakages_are(nats=1),
    "nan": leakages_are(nats="nan"),
    "a huge exponent": leakages_are(nats="1e999999999"),
    "Unicode digits": leakages_are(nats="١"),
}


def changed(command: str) -> None:
    with closing(sqlite3.connect("ledger.sqlite", isolation_level=None)) as database:
        database.execute(command)


@pytest.mark.parametrize("damage", [*DAMAGE, "cut off", "another kind of file"])
def test_a_damaged_ledger_is_refused_in_one_line_before_anything_is_drawn(
    damage: str, folder: Path, refused: Run
) -> None:
    draw()
    Path("out.csv").unlink()
    file = Path("ledger.sqlite")
    if damage in DAMAGE:
        changed(DAMAGE[damage])
    else:
        file.write_bytes(file.read_bytes()[:5000] if damage == "cut off" else b'{"key": "secret"}')
    for act in (lambda: read_ledger("ledger.sqlite"), draw):
        assert "secret" not in str(check_refused(r"ledger\.sqlite", act))
    assert not Path("out.csv").exists()
    assert refused("leakage", "--ledger", "ledger.sqlite").startswith("ledger.sqlite")


def test_a_locked_ledger_is_a_one_line_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechdesign.collection.ledger.SECONDS", 0)
    draw()
    with closing(sqlite3.connect("ledger.sqlite", isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        with pytest.raises(md.InputError, match="cannot read the ledger: it is locked"):
            add_draw("ledger.sqlite", WARNER, {"yes": 1})
    assert len(read_ledger("ledger.sqlite").draws) == 1


# --- the command line ---------------------------------------------------------------------------


def test_the_commands_record_warn_and_add_up(
    folder: Path, printed: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--column=a", "--ledger=l", "--force"]
    words = ["privatize", "channel.json", "in.csv", "out.csv", *options]
    printed(*words)
    assert main(words) == 0
    error = capsys.readouterr().err
    assert error.startswith("warning: l: the same records of column '")
    assert error.count("\n") == 1
    text = printed("leakage", "--ledger", "l")
    assert "2 draws for 1 set of records" in text
    assert "2.197225" in text  # 2 ln 3 = 2.19722457..., rounded up
    found = json.loads(printed("leakage", "--ledger", "l", "--json"))
    assert found["sets"][0]["draws"] == 2
    (ldp,) = [row["nats"] for row in found["all"] if row["notion"] == "ldp"]
    assert ldp == pytest.approx(2 * math.log(3))
