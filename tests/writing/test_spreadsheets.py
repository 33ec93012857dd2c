"""CSV for spreadsheets: no label is run, and every label is restored."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from mechdesign.channel import Channel
from mechdesign.collection.records import save_estimate, tally_file
from mechdesign.errors import InputError
from mechdesign.estimation import estimate
from mechdesign.files import save
from mechdesign.writing.text import spreadsheet_restored, spreadsheet_safe
from tests.cli_support import Run
from tests.records_support import identity, load, privatize_file, save as save_table
from tests.strategies import examples

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

CELLS = st.one_of(
    st.text(st.characters(codec="utf-8")),
    st.builds(str.__add__, st.sampled_from([*DANGEROUS, "'", " =", "''"]), st.text("ab1=' ")),
)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and not set(text) & set("_ naif\t\r\n")


@examples(60)
@given(CELLS, CELLS)
def test_no_cell_is_run_and_every_cell_comes_back(text: str, other: str) -> None:
    """So two cells never become one."""
    safe = spreadsheet_safe(text)
    assert (safe == spreadsheet_safe(other)) is (text == other)
    assert spreadsheet_restored(safe) == text
    assert not safe.lstrip(" ").startswith(DANGEROUS) or is_number(safe)
    if not text.lstrip().startswith(("'", *DANGEROUS)) and text[:1] not in DANGEROUS:
        assert safe == text


@pytest.mark.parametrize("text", ["-1", "+2.5", "-1e-05", "-.5", "3", "a=1", "", "x-y", "a'b"])
def test_numbers_and_plain_text_stay(text: str) -> None:
    assert spreadsheet_safe(text) == text


LABELS = st.lists(
    CELLS.filter(lambda text: text.strip() and "\0" not in text), min_size=2, max_size=6
).filter(lambda labels: len({label.strip() for label in labels}) == len(labels))


def cells_of(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as stream:
        return [cell for row in csv.reader(stream) for cell in row]


@examples(15)
@given(LABELS, st.sampled_from([*DANGEROUS, "x"]), st.sampled_from([None, ";"]))
def test_reports_come_back_as_they_were_drawn(
    labels: Sequence[str], start: str, separator: str | None
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, column = Path(name), f"{start}column".strip()
        source = folder / "in.csv"
        with source.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, quoting=csv.QUOTE_ALL, delimiter=separator or ",")
            writer.writerows([[column], *([label] for label in labels)])
        mechanism = identity(labels)
        options = {"separator": separator, "spreadsheet_safe": True}
        target = folder / "out.csv"
        done = privatize_file(mechanism, source, target, column, **options)
        assert done.reports == len(labels)
        with target.open(encoding="utf-8", newline="") as stream:
            cells = [row[0] for row in csv.reader(stream, delimiter=separator or ",")]
        assert cells == [spreadsheet_safe(text) for text in (column, *labels)]
        tally = tally_file(mechanism, target, column, **options)
        assert tally.counts.tolist() == [1] * len(labels)
        save_estimate(estimate(mechanism, tally), folder / "e.csv", spreadsheet_safe=True)
        found = load(folder / "e.csv")["input"]
        assert [spreadsheet_restored(cell) for cell in found] == list(mechanism.inputs.texts)
        mechanism.to_csv(folder / "c.csv", spreadsheet_safe=True)
        for cell in [*cells_of(folder / "c.csv"), *cells_of(folder / "e.csv")]:
            assert not cell.startswith(DANGEROUS) or is_number(cell)


def test_without_the_option_labels_are_written_as_they_are(tmp_path: Path) -> None:
    labels = ["=1+1", "'x", "@a"]
    source = save_table(tmp_path / "in.csv", {"=c": labels, "kept": ["-x", "+", "'"]})
    mechanism = identity(labels)
    privatize_file(mechanism, source, tmp_path / "out.csv", "=c", keep=["kept"])
    assert load(tmp_path / "out.csv") == {"=c": labels, "kept": ["-x", "+", "'"]}
    tally = tally_file(mechanism, tmp_path / "out.csv", "=c")
    save_estimate(estimate(mechanism, tally), tmp_path / "e.csv")
    assert load(tmp_path / "e.csv")["input"] == labels
    mechanism.to_csv(tmp_path / "c.csv")
    assert cells_of(tmp_path / "c.csv")[1:4] == labels


def test_kept_columns_and_numbers(tmp_path: Path) -> None:
    columns = {"a": ["x", "y"], "=k": ["-x", None], "n": [-1, 2], "f": [-0.5, None]}
    source = save_table(tmp_path / "in.parquet", columns)
    target = tmp_path / "out.csv"
    privatize_file(
        identity(["x", "y"]), source, target, "a", keep=["=k", "n", "f"], spreadsheet_safe=True
    )
    expected = {"a": ["x", "y"], "'=k": ["'-x", ""], "n": ["-1", "2"], "f": ["-0.5", ""]}
    assert load(target) == expected


def test_parquet_has_no_cells_that_a_spreadsheet_runs(tmp_path: Path) -> None:
    source = save_table(tmp_path / "in.csv", {"a": ["x"]})
    mechanism, target = identity(["x"]), tmp_path / "out.parquet"
    with pytest.raises(InputError, match="spreadsheet_safe: expected a CSV file"):
        privatize_file(mechanism, source, target, "a", spreadsheet_safe=True)
    privatize_file(mechanism, source, target, "a")
    with pytest.raises(InputError, match="spreadsheet_safe: expected a CSV file"):
        tally_file(mechanism, target, "a", spreadsheet_safe=True)


PROBLEM = """\
[domain]
values = ["=1+1", "b"]
[privacy]
notion = "ldp"
epsilon = 1.0
[utility]
objective = "hamming"
"""


def test_the_commands_have_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    labels = ["=1+1", "b"]
    save(Channel.from_matrix([["2/3", "1/3"], ["1/3", "2/3"]], inputs=labels, outputs=labels), "c")
    save_table(tmp_path / "in.csv", {"a": labels})
    for name in ("-p.toml", "q.toml"):
        Path(name).write_text(PROBLEM, encoding="utf-8")
    safe = "--spreadsheet-safe"
    words = ["privatize", "c", "in.csv", "out.csv", "--column", "a", safe, "--json"]
    assert json.loads(printed(*words))["reports"] == 2
    assert set(cells_of(tmp_path / "out.csv")) <= {"a", "'=1+1", "b"}
    printed("estimate", "c", "out.csv", "--column", "a", "--csv", "e.csv", safe)
    assert load(tmp_path / "e.csv")["input"] == ["'=1+1", "b"]
    words = ["frontier", "./-p.toml", "q.toml", "--epsilon", "0:1:2", "--csv", "f.csv"]
    printed(*words)
    exact = cells_of(tmp_path / "f.csv")
    printed(*words, safe)
    assert cells_of(tmp_path / "f.csv") == list(map(spreadsheet_safe, exact))
